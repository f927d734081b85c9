package scenario_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/racing"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// issue is how an exhibit names a public issue or pull request.
var issue = regexp.MustCompile(`^[\w.-]+/[\w.-]+#\d+$`)

func TestTheMuseumShowsRealBugs(t *testing.T) {
	issues := 0
	for _, name := range fixtures.Museum() {
		s := embedded(t, name)
		if s.Name != name {
			t.Errorf("%s.yaml calls itself %q", name, s.Name)
		}
		if s.Broken == "" || len(strings.Fields(s.About)) < 15 {
			t.Errorf("%s does not say what the bug is", name)
		}
		for _, source := range s.Source {
			if issue.MatchString(source) {
				issues++
				break
			}
		}
		sameAfterPrinting(t, s)
	}
	if issues < 30 {
		t.Errorf("%d exhibits name an issue, want at least 30", issues)
	}
}

func TestEachExhibitIsCaughtWhereItIsBrokenAndCleanWhereItIsNot(t *testing.T) {
	all := fixtures.Museum()
	for _, name := range racing.Fewer(all, all[:6]) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := scenario.Exhibit{Scenario: embedded(t, name), Seed: 1}
			if testing.Short() {
				e.Schedules = 50
			}
			shown, err := e.Show(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if shown.Broken.Verdict != invariant.Violated {
				t.Errorf("%s does not violate %s in %d schedules", shown.Bug.Name, shown.Bug.Breaks, shown.Broken.Schedules)
			} else if got := shown.Broken.Failure.Violation.Invariant.Name; got != shown.Bug.Breaks {
				t.Errorf("it violates %s, want %s", got, shown.Bug.Breaks)
			}
			if shown.Fixed.Verdict != invariant.OK || e.Schedules == 0 && !shown.Passed() {
				t.Error(shown.Fixed.Explain("isr-sim", name))
			}
		})
	}
}

func TestAScenarioThatIsNoExhibitIsNotShown(t *testing.T) {
	_, err := scenario.Exhibit{Scenario: embedded(t, "paused-writer"), Seed: 1}.Show(t.Context())
	if !errors.Is(err, scenario.ErrNoExhibit) {
		t.Errorf("got %v, want ErrNoExhibit", err)
	}
}
