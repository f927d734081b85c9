package campaign_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/prose"
	"github.com/isr-sim/isr-sim/internal/race"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// embedded returns an embedded scenario.
func embedded(t testing.TB, name string) *scenario.Scenario {
	t.Helper()
	data, err := fixtures.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Parse(name+".yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// protocolNamed returns a protocol.
func protocolNamed(t testing.TB, name string) isr.Protocol {
	t.Helper()
	p, err := scenario.ProtocolNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ran runs a campaign and returns its report.
func ran(t testing.TB, c campaign.Campaign) *campaign.Report {
	t.Helper()
	r, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fewer is few under the race detector and in short runs, where the same things are looked at less often.
func fewer[T any](n, few T) T {
	if testing.Short() {
		return few
	}
	return race.Fewer(n, few)
}

// seeds are those under which every embedded scenario must hold what it says.
var seeds = []uint64{1, 2, 3}

func TestTheReferencePassesEveryEmbeddedScenario(t *testing.T) {
	for _, name := range fixtures.Names() {
		t.Run(name, func(t *testing.T) {
			s := embedded(t, name)
			// Fewer schedules may well not reach all that is declared.
			r := ran(t, campaign.Campaign{Scenario: s, Seed: 1, Schedules: race.Fewer(500, 50)})
			if !r.Passed() && !(race.Enabled && r.Verdict == invariant.OK) {
				t.Error(prose.Report(r, "isr-sim", name))
			}
		})
	}
}

func TestEmbeddedScenariosCatchTheMutantsTheyName(t *testing.T) {
	for _, name := range fixtures.Names() {
		s := embedded(t, name)
		for _, caught := range race.Fewer(s.Catches, s.Catches[:1]) {
			t.Run(name+"/"+caught, func(t *testing.T) {
				p := protocolNamed(t, caught)
				for _, seed := range fewer(seeds, seeds[:1]) {
					r := ran(t, campaign.Campaign{Scenario: s, Protocol: p, Seed: seed, Options: scenario.Options{Only: p.Breaks}})
					if r.Verdict != invariant.Violated {
						t.Errorf("seed %d: verdict %v, want violated", seed, r.Verdict)
					} else if got := r.Failure.Violation.Invariant.Name; got != p.Breaks {
						t.Errorf("seed %d: caught by %s, but the mutant is there to break %s", seed, got, p.Breaks)
					}
				}
			})
		}
	}
}

func TestEveryMutantIsCaughtBySomeEmbeddedScenario(t *testing.T) {
	caught := map[string]bool{}
	for _, name := range slices.Concat(fixtures.Names(), fixtures.Museum()) {
		s := embedded(t, name)
		for _, p := range append(s.Catches, s.Broken) {
			caught[p] = true
		}
	}
	for _, p := range scenario.Protocols() {
		if p.Breaks != "" && !caught[p.Name] {
			t.Errorf("no embedded scenario catches %s", p.Name)
		}
	}
}

// trace runs once and returns what the run prints.
func trace(t testing.TB, r scenario.Run) (string, *scenario.Outcome) {
	t.Helper()
	var b bytes.Buffer
	r.Trace = &b
	o, err := r.Do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), o
}

func TestTheSDKChangesNoScheduleAndNoVerdict(t *testing.T) {
	s := embedded(t, "lost-response")
	for _, p := range fewer(scenario.Protocols(), recipe.References()) {
		c := campaign.Campaign{Scenario: s, Protocol: p, Seed: 5, Schedules: 30}
		plain := ran(t, c)
		c.SDK = true
		sdk := ran(t, c)
		if prose.Row(plain) != prose.Row(sdk) {
			t.Errorf("%s\n own client %s\nSDK client %s", p.Name, prose.Row(plain), prose.Row(sdk))
		}
	}
}
