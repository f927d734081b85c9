package campaign

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols"
)

// Vacuous says that nothing was violated, but too little was tested: no schedule reached a declared mark, a declared
// fault could never strike, no invariant judged anything (or a proof proved none), or a proof did not reach the end of
// a lease.
func (r *Report) Vacuous() bool {
	return r.Verdict == invariant.OK && (len(r.Missing)+len(r.Unmet)+len(r.Unreached()) > 0 || r.idle) || r.unjudged
}

// Idle returns the names of the invariants that should have judged, if they had nothing to judge; otherwise nil.
func (r *Report) Idle() (names []string) {
	if !r.idle {
		return nil
	}
	return r.asked(func(invariant.Invariant) bool { return true })
}

// asked returns the names of the invariants that judge and for which meant returns true.
func (r *Report) asked(meant func(invariant.Invariant) bool) (names []string) {
	for _, inv := range r.judges() {
		if meant(inv) {
			names = append(names, inv.Name)
		}
	}
	return names
}

func (r *Report) judges() (all []invariant.Invariant) {
	recipe := r.Scenario.Promise.Recipe || protocols.BuiltIn(r.Protocol.Name)
	for _, inv := range r.Scenario.Subject().All {
		named := slices.Contains(r.Scenario.Invariants, inv.Name)
		out := slices.Contains(r.Scenario.Without, inv.Name) || r.Scenario.Invariants != nil && !named
		rule := inv.Rule && !recipe && !named && r.only == ""
		if !out && !rule && (r.only == "" || inv.Name == r.only) {
			all = append(all, inv)
		}
	}
	return all
}

// Excused names, with the reason, the invariants that are void because clock skew is as long as a lease, or as the
// window in which a page is fresh. Their findings are violations, but their silence proves nothing.
func (r *Report) Excused() (names []string, why string) {
	ev := invariant.Evidence{Record: invariant.Record{
		MaxClockSkew: r.Scenario.Skew, Revalidate: r.Scenario.Cache.Revalidate, MaxAge: r.Scenario.Promise.MaxAge,
	}}
	ev.Held, ev.Retention = r.Scenario.Cache.Lease, r.Scenario.Cache.Retention
	return invariant.Excuses(r.judges(), ev)
}

// Unreached returns the lease deadlines that a proof did not try on all sides: before, at and after; nil for a
// campaign.
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
func Expected(s *spec.Scenario, protocol string) invariant.Verdict {
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

// Deadline is the end of a lease or of freshness in a row. Before, At and After say whether a request
// to the row was sent in the second before the deadline, at it, and after it, while the row still had it.
type Deadline struct {
	Of                string // "the end of alice's lease"
	Lease             bool   // the end of a lease, and not of a page's freshness
	Before, At, After bool
	// Part says that a request was sent where rounding to whole seconds would have shown: the end was not a whole
	// second.
	Part bool
}

// Reached says whether the search sent requests before, at and after the deadline.
func (d Deadline) Reached() bool { return d.Before && d.At && d.After }

// String names the deadline, and says when the search sent requests: before, at or after it, and when it did not.
func (d Deadline) String() string {
	var reached, not []string
	for _, at := range []struct {
		reached bool
		name    string
	}{{d.Before, "before"}, {d.At, "at"}, {d.After, "after"}} {
		if at.reached {
			reached = append(reached, at.name)
		} else {
			not = append(not, at.name)
		}
	}
	switch text := d.Of + ": " + strings.Join(reached, ", "); {
	case len(not) == 0:
		return text
	case len(reached) == 0:
		return text + "not reached"
	default:
		return text + "; not " + strings.Join(not, ", ")
	}
}

// deadlines lists the ends. The ends of leases come first.
func deadlines(ends hooks.Ends) (all []Deadline) {
	pages := map[string]bool{}
	//isrsim:unordered a set is made
	for end := range ends {
		pages[end.Page] = true
	}
	for _, end := range slices.SortedFunc(maps.Keys(ends), func(a, b hooks.End) int {
		return cmp.Or(-cmp.Compare(min(len(a.Actor), 1), min(len(b.Actor), 1)), cmp.Compare(a.Actor, b.Actor),
			cmp.Compare(a.Page, b.Page))
	}) {
		d := Deadline{Of: "the end of " + end.Page + "'s freshness", Lease: end.Actor != ""}
		if d.Lease {
			d.Of = "the end of " + end.Actor + "'s lease"
			if len(pages) > 1 {
				d.Of += " of " + end.Page
			}
		}
		tried := ends[end]
		d.Before, d.At, d.After, d.Part = tried.Before, tried.At, tried.After, tried.Part
		all = append(all, d)
	}
	return all
}
