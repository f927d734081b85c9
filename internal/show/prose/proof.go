package prose

import (
	"fmt"
	"strings"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
)

// ProofRow prints a proof on one line: scenario, protocol, schedules, states, verdict, and the marks that were reached.
func ProofRow(p *campaign.Proof) string {
	return TableRow(p.Scenario.Name, p.Protocol.Name, fmt.Sprint(p.Schedules), fmt.Sprint(p.Explored.States),
		Expected(p.Summary(), p.Verdict, p.Passed()), p.Reached())
}

// Proof prints a proof: its row, the extent of the search, and the proved invariants.
func Proof(p *campaign.Proof) string {
	text := ProofRow(p) + "\n" + Extent(p) + "\n"
	if p.Explored.Complete && p.Verdict != invariant.Violated {
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

// Bounds names, for a hint, the bounds of a scenario that make its search long.
func Bounds(s *spec.Scenario) string {
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

// Searched tells how much a search has done so far.
func Searched(e exhaustive.Explored) string {
	share := fmt.Sprintf("%.0f %% of the tree", 100*e.Share)
	if e.Share < 0.01 {
		share = "within the first 1 % of the tree, where most states are" // see exhaustive.Explored.Share
	}
	return fmt.Sprintf("%d schedules, %d states, %s", e.Schedules, e.States, share)
}

// Excused names, on one line, the invariants that are void because clocks may differ too much, or returns "".
func Excused(r *campaign.Report) string {
	names, why := r.Excused()
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("not judged, because %s: %s\n", why, strings.Join(names, ", "))
}

// Proved prints the proved and the unproved invariants of a complete proof, and the deadlines that it tried. The
// parameter within names the bounds.
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
	for _, line := range NotProved(p) {
		b.WriteString(line + "\n")
	}
	for _, d := range p.Deadlines {
		fmt.Fprintf(&b, "%s\n", d)
	}
	return b.String()
}

// NotProved lists the gaps of a complete proof: invariants that had nothing to judge, invariants that no proof can
// judge, and deadlines that the search did not try.
func NotProved(p *campaign.Proof) (lines []string) {
	say := func(is bool, text string, args ...any) {
		if is {
			lines = append(lines, fmt.Sprintf(text, args...))
		}
	}
	list := func(text string, names []string) { say(len(names) > 0, text, strings.Join(names, ", ")) }
	list("nothing to judge, and not proved: %s", p.NothingToJudge())
	say(Excused(&p.Report) != "", "%s", strings.TrimSpace(Excused(&p.Report)))
	list("left to campaigns, and not proved: %s", p.LeftToCampaigns())
	say(p.ReadsEventually(), "reads without ConsistentRead were judged as consistent ones: no replica was behind "+
		"(replica-lag in the scenario: 5s)")
	say(p.LeavesForLater(), "a timer was set when a script was over: it never fired, and what would follow is not "+
		"proved (one more command lets it fire)")
	say(p.TimeWaits(), "time passed only while no machine had anything else to do, besides what requests and sleeps "+
		"take: other moments are not proved (bounds: {ticks: 1})")
	list("parts of a second are not proved at %s: times that code rounds to seconds looked the same as others (sleep "+
		"300ms and sleep 400ms before commands of each script)", p.WholeSeconds())
	say(p.SomeParts(), "of the parts of a second, only those that sleeps make were met: rounding to seconds would "+
		"show, a time that is wrong by less is not proved (other sleeps meet others)")
	list("time did not stop at the times that rows have in %s: moments around them are not proved (a sleep that ends "+
		"then has time stop there)", p.PassedBy())
	say(len(p.Drawn()) > 0, "seed %d has drawn one of many, and the others are not proved: %s", p.Seed,
		strings.Join(p.Drawn(), ", "))
	say(p.NothingExpires(), "TTL deleted no row, and what follows a deletion is not proved (ttl-lag in the scenario: "+
		"%v)", p.Scenario.Lag)
	say(p.TTLWaits(), "TTL never deletes in this scenario, although rows have a time for it: what follows a deletion "+
		"is not proved (ttl-lag: 5s)")
	return lines
}
