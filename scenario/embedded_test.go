package scenario_test

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/racing"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/sim"
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

// campaign runs a campaign.
func campaign(t testing.TB, c scenario.Campaign) *scenario.Report {
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
	return racing.Fewer(n, few)
}

// seeds are those under which every embedded scenario must hold what it says.
var seeds = []uint64{1, 2, 3}

func TestEmbeddedScenariosReadAsProse(t *testing.T) {
	for _, name := range fixtures.Names() {
		s := embedded(t, name)
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

func TestTheReferencePassesEveryEmbeddedScenario(t *testing.T) {
	for _, name := range fixtures.Names() {
		t.Run(name, func(t *testing.T) {
			s := embedded(t, name)
			// Fewer schedules may well not reach all that is declared.
			r := campaign(t, scenario.Campaign{Scenario: s, Seed: 1, Schedules: racing.Fewer(500, 50)})
			if !r.Passed() && !(racing.Enabled && r.Verdict == invariant.OK) {
				t.Error(r.Explain("isr-sim", name))
			}
		})
	}
}

func TestEmbeddedScenariosCatchTheMutantsTheyName(t *testing.T) {
	for _, name := range fixtures.Names() {
		s := embedded(t, name)
		for _, caught := range racing.Fewer(s.Catches, s.Catches[:1]) {
			t.Run(name+"/"+caught, func(t *testing.T) {
				p := protocolNamed(t, caught)
				for _, seed := range fewer(seeds, seeds[:1]) {
					r := campaign(t, scenario.Campaign{Scenario: s, Protocol: p, Seed: seed, Only: p.Breaks})
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

// TestOneSeedGivesOneTraceOnAnyNumberOfProcessors runs a thousand seeds one after the other on one processor, and at the
// same time on eight.
func TestOneSeedGivesOneTraceOnAnyNumberOfProcessors(t *testing.T) {
	seeds := racing.Fewer(1000, 200)
	if testing.Short() {
		seeds = 100
	}
	var runs []scenario.Run
	plans, protocols := sim.Plans(), scenario.Protocols()
	for i := 0; len(runs) < seeds; i++ {
		for _, name := range fixtures.Names() {
			n := len(runs)
			runs = append(runs, scenario.Run{
				Scenario: embedded(t, name), Protocol: protocols[i%len(protocols)], Seed: uint64(n),
				Strategy: plans[n%len(plans)].At(n), ExpectedSteps: 40, Swarm: n%2 == 0,
			})
		}
	}
	traces := func(processors int) []string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		all := make([]string, len(runs))
		var running sync.WaitGroup
		for worker := range processors {
			running.Go(func() {
				for i := worker; i < len(runs); i += processors {
					var b bytes.Buffer
					run := runs[i]
					run.Trace = &b
					if _, err := run.Do(t.Context()); err != nil {
						t.Error(err)
					}
					all[i] = b.String()
				}
			})
		}
		running.Wait()
		return all
	}
	one, eight := traces(1), traces(8)
	for i, r := range runs {
		if one[i] == "" || one[i] != eight[i] {
			t.Errorf("%s under %s, seed %d (-one processor +eight):\n%s", r.Scenario.Name, r.Protocol.Name, r.Seed, cmp.Diff(one[i], eight[i]))
		}
	}
}

func TestARunReplaysFromItsSeedAndChoices(t *testing.T) {
	for _, name := range fixtures.Names() {
		s := embedded(t, name)
		for _, p := range racing.Fewer(scenario.Protocols(), scenario.Protocols()[:2]) {
			run := scenario.Run{Scenario: s, Protocol: p, Seed: 11, Strategy: sim.PCT(3), ExpectedSteps: 40}
			want, o := trace(t, run)
			run.Strategy = sim.Replay(o.Result.Choices)
			got, again := trace(t, run)
			if o.Digest == "" || again.Digest != o.Digest {
				t.Errorf("%s under %s: digest %q of the run, %q of its replay", name, p.Name, o.Digest, again.Digest)
			}
			if got != want || !slices.Equal(again.Result.Choices, o.Result.Choices) {
				t.Errorf("%s under %s: replayed (-run +replay):\n%s", name, p.Name, cmp.Diff(want, got))
			}
		}
	}
}

func TestTheSDKChangesNoScheduleAndNoVerdict(t *testing.T) {
	s := embedded(t, "lost-response")
	for _, p := range fewer(scenario.Protocols(), isr.References()) {
		c := scenario.Campaign{Scenario: s, Protocol: p, Seed: 5, Schedules: 30}
		plain := campaign(t, c)
		c.SDK = true
		sdk := campaign(t, c)
		if plain.Row() != sdk.Row() {
			t.Errorf("%s\n own client %s\nSDK client %s", p.Name, plain.Row(), sdk.Row())
		}
	}
}

func BenchmarkSchedules(b *testing.B) {
	s := embedded(b, "two-contenders")
	p := isr.Reference()
	seed := uint64(0)
	for b.Loop() {
		seed++
		if _, err := (scenario.Run{Scenario: s, Protocol: p, Seed: seed, Trace: nil}).Do(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(seed)/b.Elapsed().Seconds(), "schedules/s")
}
