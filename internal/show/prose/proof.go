package prose

import (
	"fmt"
	"strings"

	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// ProofRow prints a proof on one line: scenario, protocol, schedules, states, verdict, and the marks that were reached.
func ProofRow(p *campaign.Proof) string {
	return TableRow(p.Scenario.Name, p.Protocol.Name, fmt.Sprint(p.Schedules), fmt.Sprint(p.Explored.States),
		p.Summary(), p.Reached())
}

// Proof prints a proof: its row, how much it has searched, and what it has proved.
func Proof(p *campaign.Proof) string {
	text := ProofRow(p) + "\n" + Extent(p) + "\n"
	if p.Explored.Complete && p.Verdict != invariant.Violated && p.Explored.Split.Parts == 0 {
		text += Proved(p, "these bounds")
	}
	return text
}

// Extent prints on one line how much a proof has searched, and how much is left.
func Extent(p *campaign.Proof) string {
	e := p.Explored
	counts := fmt.Sprintf("%d schedules, %d states", e.Schedules, e.States)
	switch {
	case p.Verdict == invariant.Violated:
		return counts + " to the first violation"
	case e.Complete && e.Split.Parts > 0:
		return fmt.Sprintf("%v; complete: %s, 0 violations; isr-sim merge adds the parts up, which are no proof alone",
			e.Split, counts)
	case e.Complete:
		return "complete: " + counts + ", 0 violations"
	}
	var left []string
	if e.Schedules == 0 {
		left = append(left, "everything")
	}
	if e.Open > 0 {
		left = append(left,
			fmt.Sprintf("%d branches not taken, %d to %d choices deep", e.Open, e.Shallowest, e.Deepest))
	}
	if e.TooLong > 0 {
		left = append(left,
			fmt.Sprintf("%d schedules cut at the scenario's bound of %d steps", e.TooLong, p.Scenario.Bounds.Steps))
	}
	if len(left) == 0 {
		left = append(left, "the schedule that was left in its middle")
	}
	return fmt.Sprintf("not complete: %s, 0 violations; left: %s", Searched(e), strings.Join(left, ", "))
}

// Bounds names the bounds of a scenario that make its search long, for a hint.
func Bounds(s *scenario.Scenario) string {
	var pauses, crashes, restarts, steps, faults int
	for _, a := range s.Actors {
		pauses, crashes, restarts, steps = pauses+a.Pauses, crashes+a.Crashes, restarts+a.Restarts, steps+
			len(a.ClockSteps)
	}
	for _, f := range s.Faults {
		if f.Maybe {
			faults++
		}
	}
	has := []string{schedules.Plural(len(s.Actors), "actor")}
	for _, bound := range []struct {
		n    int
		name string
	}{
		{s.Bounds.Ticks, "tick"}, {s.Bounds.Sweeps, "sweep"}, {pauses, "pause"}, {crashes, "crash"},
		{restarts, "restart"}, {steps, "clock step"}, {faults, "possible fault"},
	} {
		if bound.n > 0 {
			has = append(has, schedules.Plural(bound.n, bound.name))
		}
	}
	if s.Lag.Scheduler && s.Bounds.Sweeps == 0 {
		has = append(has, "sweeps without a bound")
	}
	return fmt.Sprintf("narrower bounds in the scenario make a search short (it has %s)", strings.Join(has, ", "))
}

// Searched says how much a search has done so far.
func Searched(e sim.Explored) string {
	share := fmt.Sprintf("%.0f %% of the tree", 100*e.Share)
	if e.Share < 0.01 {
		share = "within the first 1 % of the tree, where most states are" // see sim.Explored.Share
	}
	return fmt.Sprintf("%d schedules, %d states, %s", e.Schedules, e.States, share)
}

// Proved prints the invariants that a complete proof has proved, those that had nothing to judge, those that no proof
// can judge, and the deadlines that it met. The parameter within names the bounds.
func Proved(p *campaign.Proof, within string) string {
	var b strings.Builder
	names := p.Proved()
	if len(names) == 0 {
		names = []string{"nothing"}
	}
	switch {
	case p.Verdict != invariant.OK:
		fmt.Fprintf(&b, "judged within %s, and not proved, because the verdict is %v: %s\n", within, p.Verdict,
			strings.Join(names, ", "))
	case p.Vacuous():
		fmt.Fprintf(&b, "judged within %s, and not proved, because the proof is vacuous: %s\n", within,
			strings.Join(names, ", "))
	default:
		fmt.Fprintf(&b, "proved within %s: %s\n", within, strings.Join(names, ", "))
	}
	if names := p.NothingToJudge(); len(names) > 0 {
		fmt.Fprintf(&b, "nothing to judge, and not proved: %s\n", strings.Join(names, ", "))
	}
	if names := p.LeftToCampaigns(); len(names) > 0 {
		fmt.Fprintf(&b, "left to campaigns, and not proved: %s\n", strings.Join(names, ", "))
	}
	if p.ReadsEventually() {
		b.WriteString("reads without ConsistentRead were judged as consistent ones: no replica was behind " +
			"(replica-lag in the scenario: 5s)\n")
	}
	if p.LeavesForLater() {
		b.WriteString("a timer was set when a script was over: it never fired, and what would follow is not proved " +
			"(one more command lets it fire)\n")
	}
	if p.TimeWaits() {
		b.WriteString("time passed only while no machine had anything else to do, besides what requests and sleeps " +
			"take: other moments are not proved (bounds: {ticks: 1})\n")
	}
	if drawn := p.Drawn(); len(drawn) > 0 {
		fmt.Fprintf(&b, "seed %d has drawn one of many, and the others are not proved: %s\n", p.Seed,
			strings.Join(drawn, ", "))
	}
	if p.NothingExpires() {
		fmt.Fprintf(&b, "TTL deleted no row, and what follows a deletion is not proved (ttl-lag in the scenario: %v)\n",
			p.Scenario.Lag)
	}
	for _, d := range p.Deadlines {
		fmt.Fprintf(&b, "%s\n", d)
	}
	return b.String()
}
