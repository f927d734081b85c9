package scenario_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/scenariotest"
)

func TestEmbeddedScenariosReadAsProse(t *testing.T) {
	for _, name := range fixtures.Names() {
		s := scenariotest.Embedded(t, name)
		if s.Name != name {
			t.Errorf("%s.yaml calls itself %q", name, s.Name)
		}
		if len(strings.Fields(s.About)) < 30 {
			t.Errorf("%s tells its story in %d words, want at least 30", name, len(strings.Fields(s.About)))
		}
		if len(s.Reach) == 0 {
			t.Errorf("%s does not say what it must reach: it could pass without doing anything", name)
		}
		if len(s.Catches) == 0 {
			t.Errorf("%s does not say which mutant it catches: it could pass whatever the protocol does", name)
		}
		sameAfterPrinting(t, s)
	}
}

// issue is how an exhibit names a public issue or pull request.
var issue = regexp.MustCompile(`^[\w.-]+/[\w.-]+#\d+$`)

func TestTheMuseumShowsRealBugs(t *testing.T) {
	issues := 0
	for _, name := range fixtures.Museum() {
		s := scenariotest.Embedded(t, name)
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
