package study_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/cli/catalog"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/study/selftest"
)

// TestTheTesterIsTested checks that every mutant is caught by the invariant that it names, that every invariant has a
// mutant that no other invariant catches, and that the table has a row for each mutant. At night each mutant runs in
// every scenario that names it; otherwise in the first one only.
func TestTheTesterIsTested(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	scenarios, err := catalog.LoadAll(slices.Concat(fixtures.Names(), fixtures.Museum()))
	must.OK(t, err)
	for i, s := range effort.Fewer(nil, scenarios) {
		one := *s
		one.Catches = slices.DeleteFunc(slices.Clone(s.Catches), func(name string) bool {
			return slices.ContainsFunc(scenarios[:i], func(before *spec.Scenario) bool {
				return before.Broken == name || slices.Contains(before.Catches, name)
			})
		})
		scenarios[i] = &one
	}
	all, err := selftest.Run{Scenarios: scenarios, Seed: 1}.Mutants(t.Context(), func(*selftest.MutantResult) {})
	must.OK(t, err)
	alone := map[string]bool{}
	for _, c := range all {
		if !c.CaughtByNamed() {
			t.Errorf("%s is not caught by %s", c.Mutant.Name, c.Mutant.Breaks)
		}
		if onlyBy(c, c.Mutant.Breaks) {
			alone[c.Mutant.Breaks] = true
		}
	}
	for _, inv := range invariant.All() {
		if !alone[inv.Name] {
			t.Errorf("no mutant is caught by %s alone", inv.Name)
		}
	}
	page := selftest.Page(1, all)
	for _, c := range all {
		if !strings.Contains(page, "\n| "+c.Mutant.Name+" |") {
			t.Errorf("the table has no row of %s", c.Mutant.Name)
		}
	}
}

// onlyBy reports whether no other invariant caught the mutant. Two do not count, because they catch many of the same
// mutants. If a node publishes without the right to, often no order explains the other nodes' answers (linearizable),
// and usually its own lease is over by then (expired-publish).
func onlyBy(c *selftest.MutantResult, name string) bool {
	//isrsim:unordered any of them will do
	for other := range c.First {
		switch other {
		case name, invariant.Named("linearizable").Name, invariant.Named("expired-publish").Name:
		default:
			return false
		}
	}
	return c.CaughtByNamed()
}

func TestEachExhibitIsCaughtWhereItIsBrokenAndCleanWhereItIsNot(t *testing.T) {
	all := fixtures.Museum()
	for _, name := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := selftest.Exhibit{Scenario: scenariotest.Embedded(t, name), Seed: 1, Schedules: effort.Fewer(0, 50)}
			shown := scenariotest.Ran(t, e)
			if shown.Broken.Verdict != invariant.Violated {
				t.Errorf("%s does not violate %s in %d schedules", shown.Bug.Name,
					shown.Bug.Breaks, shown.Broken.Schedules)
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
	_, err := selftest.Exhibit{Scenario: scenariotest.Embedded(t, "paused-writer"), Seed: 1}.Run(t.Context())
	if !errors.Is(err, selftest.ErrNoExhibit) {
		t.Errorf("got %v, want ErrNoExhibit", err)
	}
}
