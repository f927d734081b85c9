package selftest

import (
	"errors"
	"testing"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

func TestEachExhibitIsCaughtWhereItIsBrokenAndCleanWhereItIsNot(t *testing.T) {
	all := fixtures.Museum()
	for _, name := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := Exhibit{Scenario: scenariotest.Embedded(t, name), Seed: 1, Schedules: effort.Fewer(0, 50)}
			shown, err := e.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if shown.Broken.Verdict != invariant.Violated {
				t.Errorf("%s does not violate %s in %d schedules", shown.Bug.Name, shown.Bug.Breaks, shown.Broken.Schedules)
			} else if got := shown.Broken.Failure.Violation.Invariant.Name; got != shown.Bug.Breaks {
				t.Errorf("it violates %s, want %s", got, shown.Bug.Breaks)
			}
			if shown.Fixed.Verdict != invariant.OK || e.Schedules == 0 && !shown.Passed() {
				t.Error(prose.Report(shown.Fixed, "isr-sim", name))
			}
		})
	}
}

func TestAScenarioThatIsNoExhibitIsNotShown(t *testing.T) {
	_, err := Exhibit{Scenario: scenariotest.Embedded(t, "paused-writer"), Seed: 1}.Run(t.Context())
	if !errors.Is(err, ErrNoExhibit) {
		t.Errorf("got %v, want ErrNoExhibit", err)
	}
}
