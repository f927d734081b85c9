package scenario_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

const text = `name: two-machines
actors:
  - {name: alice, script: [get /home, sleep 20s, get /home]}
  - {name: bob, script: [get /home]}
`

// A program runs a file: the same seed gives the same trace, and the caller's own invariant judges, too.
func TestRun(t *testing.T) {
	s := must.Of(scenario.Parse("two-machines.yaml", []byte(text)))(t)
	run := func(by ...invariant.Invariant) (string, *scenario.Outcome) {
		var trace strings.Builder
		o, err := scenario.Run{Scenario: s, Protocol: recipe.Reference(), Seed: 7, Invariants: by, Trace: &trace}.
			Do(t.Context())
		return trace.String(), must.Of(o, err)(t)
	}
	first, o := run()
	if o.Verdict != invariant.OK || !slices.Contains(o.Marks, "published") || first == "" {
		t.Errorf("got %v, marks %v, a trace of %d bytes, want ok and a page", o.Verdict, o.Marks, len(first))
	}
	if again, _ := run(); again != first {
		t.Errorf("the same seed gave another trace:\n%s\nand\n%s", first, again)
	}
	const name = "no-page-at-all"
	_, o = run(invariant.Invariant{Name: name, Statement: "nothing is ever written", Check: refused})
	if !slices.Equal(o.Broken, []string{name}) || !strings.Contains(o.Text, "a page was written") {
		t.Errorf("got %v and\n%s\nwant %s broken", o.Broken, o.Text, name)
	}
}

func refused(ev invariant.Evidence) invariant.Finding {
	if len(ev.Changes) == 0 {
		return invariant.Finding{Verdict: invariant.OK}
	}
	return invariant.Finding{Verdict: invariant.Violated, Why: "a page was written", Changes: []int{ev.Changes[0].Seq}}
}
