package campaign

import (
	"slices"

	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// Vacuous says that nothing was violated, but too little was tested: no schedule reached a declared mark, a declared
// fault could never strike, no invariant judged anything (or a proof proved none), or a proof did not reach the end of
// a lease.
func (r *Report) Vacuous() bool {
	return r.Verdict == invariant.OK && (len(r.Missing)+len(r.Unmet)+len(r.Unreached()) > 0 || r.idle) || r.unjudged
}

// Idle returns the names of the invariants that should have judged, if that was nothing.
func (r *Report) Idle() (names []string) {
	if !r.idle {
		return nil
	}
	return r.asked(func(invariant.Invariant) bool { return true })
}

// asked returns the names of the invariants that the scenario does not leave out, and that are meant.
func (r *Report) asked(meant func(invariant.Invariant) bool) (names []string) {
	for _, inv := range invariant.All() {
		out := slices.Contains(r.Scenario.Without, inv.Name) || r.Scenario.Invariants != nil && !slices.Contains(r.Scenario.Invariants, inv.Name)
		if !out && meant(inv) {
			names = append(names, inv.Name)
		}
	}
	return names
}

// Unreached returns the deadlines of leases that a proof did not meet on all sides: before the end, at it, and after
// it. A campaign has none.
func (r *Report) Unreached() (leases []Deadline) {
	for _, d := range r.Deadlines {
		if d.Lease && !d.Reached() {
			leases = append(leases, d)
		}
	}
	return leases
}

// Passed says whether the campaign has the verdict that its scenario expects, and reached the marks that it declares.
// If the protocol is not the scenario's own, the expected verdict is ok.
func (r *Report) Passed() bool {
	return r.Verdict == Expected(r.Scenario, r.Protocol.Name) && !r.Vacuous()
}

// Expected is the verdict that a scenario expects of a protocol: Expect for its own protocol, and ok for every other.
func Expected(s *scenario.Scenario, protocol string) invariant.Verdict {
	if protocol == s.Protocol {
		return s.Expect
	}
	return invariant.OK
}

// Summary is the verdict in a few words.
func (r *Report) Summary() string {
	switch {
	case r.Vacuous():
		return "vacuous"
	case r.Verdict == invariant.Violated:
		return "violated: " + r.Failure.Violation.Invariant.Name
	default:
		return r.Verdict.String()
	}
}
