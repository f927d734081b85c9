package campaign

import (
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// Vacuous says that nothing was violated, but that no schedule reached a mark which the scenario declares, that a fault
// which it declares could never strike, that it leaves out all invariants, or that a proof did not come to the end of a
// lease.
func (r *Report) Vacuous() bool {
	return r.Verdict == invariant.OK && len(r.Missing)+len(r.Unmet)+len(r.Unreached()) > 0 || r.unjudged
}

// Unreached returns the deadlines of leases to which a proof did not come from all sides: before the end, at it, and after
// it. Of a campaign there are none.
func (r *Report) Unreached() (leases []Deadline) {
	for _, d := range r.Deadlines {
		if d.Lease && !d.Reached() {
			leases = append(leases, d)
		}
	}
	return leases
}

// Passed says whether the campaign has the verdict that its scenario expects, and reached the marks that it declares.
// Under another protocol than the scenario's own, the expected verdict is ok.
func (r *Report) Passed() bool {
	return r.Verdict == Expected(r.Scenario, r.Protocol.Name) && !r.Vacuous()
}

// Expected is the verdict that a scenario expects of a protocol: Expect of its own, and ok of every other.
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
