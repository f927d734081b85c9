package campaign

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
)

// Proof is the result of a search. Its verdict is ok only if the search is complete.
type Proof struct {
	Report
	Explored exhaustive.Explored
	// States are all reachable states, ascending, after a complete search with Prove.Certify.
	States []uint64

	judged    map[string]bool // the invariants that had something to judge
	witnesses witnesses       // of a program whose search is kept
}

// byOrphanedRead reports whether a read whose sender is gone may reach the mark.
func byOrphanedRead(m spec.Mark) bool {
	return m == mark.OrphanTookPlace || m == mark.ExpiredRowRead || m == mark.RequestRepeated
}

// Proved returns the names of the invariants that the search is exhaustive for and that had something to judge. The
// search is not exhaustive for invariants that depend on the order of different nodes at the same instant: it runs one
// of these orders.
func (p *Proof) Proved() []string { return p.provable(true) }

// NothingToJudge returns the names of the invariants that the search is exhaustive for but that had nothing to judge in
// any schedule, such as no-lost-invalidation where nothing is invalidated: their result means nothing.
func (p *Proof) NothingToJudge() []string { return p.provable(false) }

func (p *Proof) provable(judged bool) []string {
	excused, _ := p.Excused()
	return p.asked(func(inv invariant.Invariant) bool {
		return inv.Memory != nil && p.judged[inv.Name] == judged && !slices.Contains(excused, inv.Name) &&
			(p.Scenario.Settle > 0 || !inv.OfLiveness())
	})
}

// LeftToCampaigns returns the names of the invariants that no search proves, because they depend on more than states
// hold. At most, they have judged the schedules that were run.
func (p *Proof) LeftToCampaigns() []string {
	return p.asked(func(inv invariant.Invariant) bool {
		return inv.Memory == nil && (p.Scenario.Promise.MaxAge > 0 ||
			inv.Name != invariant.Named("bounded-staleness").Name)
	})
}

// ReadsEventually reports whether the code sent eventually consistent reads although the scenario has no replica lag.
// Then the proof does not cover stale reads.
func (p *Proof) ReadsEventually() bool { return p.judged[hooks.EventualReads] }

// TimeWaits reports whether time passed only when no machine had anything else to do, and no deadline of a page shows
// which moments the search tried. So the search may never have tried to take a lock too early.
func (p *Proof) TimeWaits() bool { return p.Scenario.Bounds.Ticks == 0 && len(p.Deadlines) == 0 }

// WholeSeconds names the kinds of deadlines that the search tried only at whole seconds, so the proof does not cover
// rounding to seconds: leases and freshness, or locks and calls in progress.
func (p *Proof) WholeSeconds() (ends []string) {
	for _, d := range p.Deadlines {
		if !d.Part {
			ends = append(ends, d.Of)
		}
	}
	if len(p.Deadlines) == 0 && !p.judged[hooks.MeetsParts] {
		ends = append(ends, "the end of any lease")
	}
	return ends
}

// SomeParts reports whether the search tried fractions of seconds, but only those that sleeps made: no row has times
// finer than seconds. Then the proof covers rounding to seconds, but no smaller error.
func (p *Proof) SomeParts() bool { return p.judged[hooks.SomeParts] }

// TTLWaits reports whether rows had a time for TTL in a scenario whose TTL never deletes.
func (p *Proof) TTLWaits() bool { return p.judged[hooks.NeverDeleted] }

// PassedBy names the attributes in which rows had times at which time did not stop: deadlines that only the code knows.
func (p *Proof) PassedBy() (attributes []string) {
	for _, name := range slices.Sorted(maps.Keys(p.judged)) {
		if attribute, is := strings.CutPrefix(name, hooks.Passed); is {
			attributes = append(attributes, attribute)
		}
	}
	return attributes
}

// LeavesForLater reports whether a program had a timer set when its script was over. The timer never fires, so the
// proof does not cover it.
func (p *Proof) LeavesForLater() bool { return p.judged[hooks.LeftForLater] }

// Drawn names what the scenario leaves to the seed, such as a lag that is uniform. The search had one draw of each, so
// the proof says nothing about the others.
func (p *Proof) Drawn() (all []string) {
	s := p.Scenario
	random := func(l spec.Lag) bool {
		kind, _, _ := strings.Cut(l.String(), " ")
		return kind == "uniform" || kind == "exponential"
	}
	if random(s.Lag) {
		all = append(all, fmt.Sprintf("ttl-lag %v", s.Lag))
	}
	if random(s.RegionLag) {
		all = append(all, fmt.Sprintf("region-lag %v", s.RegionLag))
	}
	for _, f := range s.Faults {
		if f.LatencyUpTo > f.Latency {
			all = append(all, f.String())
		}
	}
	return all
}

// NothingExpires reports whether the scenario has a TTL, but no schedule deleted a row: perhaps no row has the TTL
// attribute. Then the proof does not cover deletions.
func (p *Proof) NothingExpires() bool {
	return p.Scenario.Lag != (spec.Lag{Fixed: ddbfake.LagNever}) && !p.total.Marks.Has(mark.TTLDeletion)
}
