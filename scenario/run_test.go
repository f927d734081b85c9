package scenario_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/race"
	"github.com/isr-sim/isr-sim/internal/scenariotest"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// TestOneSeedGivesOneTraceOnAnyNumberOfProcessors runs a thousand seeds one after the other on one processor, and at
// the same time on eight.
func TestOneSeedGivesOneTraceOnAnyNumberOfProcessors(t *testing.T) {
	seeds := race.Fewer(1000, 200)
	if testing.Short() {
		seeds = 100
	}
	var runs []scenario.Run
	plans, protocols := sim.Plans(), scenario.Protocols()
	for i := 0; len(runs) < seeds; i++ {
		for _, name := range fixtures.Names() {
			n := len(runs)
			runs = append(runs, scenario.Run{
				Scenario: scenariotest.Embedded(t, name), Protocol: protocols[i%len(protocols)], Seed: uint64(n),
				Strategy: plans[n%len(plans)].At(n), ExpectedSteps: 40, Options: scenario.Options{Swarm: n%2 == 0},
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
	protocols := scenario.Protocols()
	if testing.Short() || race.Enabled {
		protocols = protocols[:2]
	}
	for _, name := range fixtures.Names() {
		s := scenariotest.Embedded(t, name)
		for _, p := range protocols {
			run := scenario.Run{Scenario: s, Protocol: p, Seed: 11, Strategy: sim.PCT(3), ExpectedSteps: 40}
			want, o := scenariotest.Trace(t, run)
			run.Strategy = sim.Replay(o.Result.Choices)
			got, again := scenariotest.Trace(t, run)
			if o.Digest == "" || again.Digest != o.Digest {
				t.Errorf("%s under %s: digest %q of the run, %q of its replay", name, p.Name, o.Digest, again.Digest)
			}
			if got != want || !slices.Equal(again.Result.Choices, o.Result.Choices) {
				t.Errorf("%s under %s: replayed (-run +replay):\n%s", name, p.Name, cmp.Diff(want, got))
			}
		}
	}
}

func BenchmarkSchedules(b *testing.B) {
	s := scenariotest.Embedded(b, "two-contenders")
	p := recipe.Reference()
	seed := uint64(0)
	for b.Loop() {
		seed++
		if _, err := (scenario.Run{Scenario: s, Protocol: p, Seed: seed, Trace: nil}).Do(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(seed)/b.Elapsed().Seconds(), "schedules/s")
}

func TestAFaultOfAnActorIsOneOfAllItsIncarnations(t *testing.T) {
	s := scenariotest.Parsed(t, `
name: reborn
actors:
  - name: alice
    script: [get /home]
    crashes: 1
    restarts: 1
  - name: bob
    script: [sleep 1s, sleep 1s, sleep 1s]
faults: [throttled actor=alice times=always]
`)
	for seed := range uint64(200) {
		text, o := scenariotest.Trace(t, scenario.Run{Scenario: s, Protocol: recipe.Reference(), Seed: seed})
		if strings.Contains(text, "alice.2") && strings.Contains(text, "-> ok") {
			t.Fatalf("seed %d (%v): a call was served:\n%s", seed, o.Result.Choices, text)
		}
	}
}

func TestAScheduleThatDoesNotFitIsADivergedError(t *testing.T) {
	_, err := scenario.Run{
		Scenario: scenariotest.Embedded(t, "two-contenders"), Protocol: recipe.Reference(), Strategy: sim.Replay(sim.Choices{0, 30}),
	}.Do(context.Background())
	if _, ok := errors.AsType[*sim.DivergedError](err); !ok {
		t.Errorf("error %v, want a *sim.DivergedError", err)
	}
}
