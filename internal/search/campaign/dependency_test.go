package campaign

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

func TestThereIsARunForEachPossibleDependencyFault(t *testing.T) {
	faults := "maybe body-put-failed, maybe body-put-lost actor=alice times=2, maybe body-get-failed times=always, maybe origin-failed"
	s, err := scenario.Parse("f.yaml", []byte(scenariotest.Troubled(faults)))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(schedules.FaultTexts(s.Faults), ", "); got != faults {
		t.Errorf("the faults print %q, want %q", got, faults)
	}
	r, err := Campaign{Scenario: s, Seed: 1}.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !r.Passed() {
		t.Errorf("got %s, missing %v, unmet %v", r.Summary(), r.Missing, r.Unmet)
	}
	for _, fault := range mark.DependencyFaults() {
		if !slices.Contains(r.Reached(), scenario.Mark(fault)) {
			t.Errorf("no schedule met %s", fault)
		}
	}
}

// A fault that strikes the second call makes the order of the calls matter. A search must see that: sleep sets leave
// out no state.
func TestSearchesCountDependencyFaults(t *testing.T) {
	for _, faults := range []string{"maybe origin-failed, maybe body-put-lost", "body-put-failed nth=2, throttled op=PutItem nth=2"} {
		s, err := scenario.Parse("f.yaml", []byte(strings.Replace(scenariotest.Troubled(faults), "sleep 1s, ", "", 1)))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := Prove{Scenario: s, off: sim.SleepSets | sim.PersistentSets}.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		reduced, err := Prove{Scenario: s, off: sim.PersistentSets}.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if !plain.Explored.Complete || !reduced.Explored.Complete || plain.Explored.States != reduced.Explored.States || reduced.Verdict != invariant.OK {
			t.Errorf("%s: %+v without sleep sets, %+v with them", faults, plain.Explored, reduced.Explored)
		}
	}
}
