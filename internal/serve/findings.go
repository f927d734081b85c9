package serve

import (
	"github.com/isr-sim/isr-sim/ddbfake/control"
	"github.com/isr-sim/isr-sim/scenario/live"
)

// findings are what the control API shows.
func findings(checker *live.Checker) control.Findings {
	found := checker.Found()
	shown := control.Findings{Changes: found.Changes, Judged: found.Judged, Violations: found.Violations, Doubts: found.Doubts}
	for _, t := range found.Unjudged {
		shown.Unjudged = append(shown.Unjudged, t.String())
	}
	for _, inv := range checker.Invariants() {
		shown.Checked = append(shown.Checked, inv.Name)
	}
	for _, b := range found.Broken {
		shown.Found = append(shown.Found, control.Finding{
			Verdict: b.Verdict.String(), Invariant: b.Invariant.Name, Statement: b.Invariant.Statement,
			Why: b.Why, Actor: b.Actor, Changes: b.Changes,
		})
	}
	return shown
}
