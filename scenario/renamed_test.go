package scenario_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/race"
	"github.com/isr-sim/isr-sim/internal/scenariotest"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// Every scenario, under its own protocol and under the mutants that it catches, comes to the same schedule, the same
// marks and the same verdict if every row, key and attribute has another name and a mapping says which.
func TestRenamedRowsAreJudgedAlike(t *testing.T) {
	runs, violated := 0, map[string]bool{}
	for _, file := range append(fixtures.Names(), fixtures.Museum()...) {
		data, err := fixtures.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := scenario.Parse(file, data)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range append([]string{s.Protocol}, s.Catches...) {
			p, err := scenario.ProtocolNamed(name)
			if err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(race.Fewer(3, 1)) {
				native := alike(t, s, p, seed)
				other := *s
				other.Rows = scenariotest.RenamedRows
				for i := range other.Faults {
					if strings.HasPrefix(other.Faults[i].Key, "VER#") || strings.HasPrefix(other.Faults[i].Key, "REQ#") || strings.HasPrefix(other.Faults[i].Key, "CACHE#") {
						t.Fatalf("%s: a fault of %s", s.Name, other.Faults[i].Key)
					}
				}
				if name == "policy-sliding" { // its refused extension of a page counts as a refused publish only where names are not known
					native.Marks = slices.DeleteFunc(native.Marks, func(m scenario.Mark) bool { return m == scenario.PublishRefused })
				}
				if diff := cmp.Diff(native, alike(t, &other, scenariotest.Renamed(p), seed)); diff != "" {
					t.Errorf("%s under %s, seed %d (-META and LOCK, +renamed):\n%s", s.Name, name, seed, diff)
				}
				runs++
				for _, inv := range native.Broken {
					violated[inv] = true
				}
			}
		}
	}
	t.Logf("%d runs, which violate %d invariants", runs, len(violated))
}

// judgedRun is what must be alike.
type judgedRun struct {
	Verdict string
	Broken  []string
	Steps   int
	Choices string
	Marks   []scenario.Mark
	Misfit  string
}

func alike(t *testing.T, s *scenario.Scenario, p isr.Protocol, seed uint64) judgedRun {
	t.Helper()
	o, err := scenario.Run{Scenario: s, Protocol: p, Seed: seed, Strategy: sim.PCT(3), ExpectedSteps: 200}.Do(t.Context())
	if err != nil {
		t.Fatalf("%s under %s: %v", s.Name, p.Name, err)
	}
	return judgedRun{fmt.Sprint(o.Verdict), o.Broken, o.Result.Steps, o.Result.Choices.String(), o.Marks, o.Misfit}
}
