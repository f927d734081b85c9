package scenario_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// TestOneSeedGivesOneTraceOnAnyNumberOfProcessors runs a thousand seeds one after the other on one processor, and at
// the same time on eight.
func TestOneSeedGivesOneTraceOnAnyNumberOfProcessors(t *testing.T) {
	seeds := effort.Fewer(1000, 100)
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
	protocols := effort.Fewer(scenario.Protocols(), scenario.Protocols()[:2])
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

// What a run finds on the memory of another one, of another scenario and protocol, changes nothing of it.
func TestARunInAPoolIsTheSameRun(t *testing.T) {
	var pool scenario.Pool
	defer pool.Close()
	protocols := scenario.Protocols()
	for i, name := range fixtures.Names() {
		run := scenario.Run{
			Scenario: scenariotest.Embedded(t, name), Protocol: protocols[i%len(protocols)], Seed: uint64(i), Strategy: sim.POS, ExpectedSteps: 40,
		}
		var wantWire, gotWire hooks.Probe
		wantWire.Record, gotWire.Record = true, true
		var want bytes.Buffer
		run.Trace = &want
		alone, err := run.Do(hooks.With(t.Context(), &wantWire))
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		run.Trace = &got
		o, err := pool.Do(hooks.With(t.Context(), &gotWire), run)
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("%s (-alone +in a pool):\n%s", name, cmp.Diff(want.String(), got.String()))
		}
		if o.Verdict != alone.Verdict || len(gotWire.Exchanges) != len(wantWire.Exchanges) || len(gotWire.Rows) != len(wantWire.Rows) {
			t.Errorf("%s: in a pool %v, %d exchanges, %d rows; alone %v, %d, %d", name, o.Verdict, len(gotWire.Exchanges), len(gotWire.Rows),
				alone.Verdict, len(wantWire.Exchanges), len(wantWire.Rows))
		}
	}
}

func TestSwarmIsPartOfWhatDecidesARun(t *testing.T) {
	s := scenariotest.Parsed(t, `
name: swarmed
actors:
  - name: alice
    script: [get /home]
  - name: bob
    script: [get /home]
faults:
  - maybe throttled op=PutItem times=always
  - maybe response-lost op=TransactWriteItems times=always
`)
	kinds := map[string]int{}
	differ := 0
	for seed := range effort.Fewer[uint64](200, 60) {
		run := scenario.Run{Scenario: s, Protocol: recipe.Reference(), Seed: seed, Options: scenario.Options{Swarm: true}}
		text, o := scenariotest.Trace(t, run)
		kinds[fmt.Sprint(strings.Contains(text, "Throttling"), o.Marks)]++
		// The printed file and the printed line carry all that decides the run.
		recorded := o.Replay()
		file := *s
		file.Replay = &recorded
		data, err := file.YAML()
		if err != nil {
			t.Fatal(err)
		}
		read, err := scenario.Parse("swarmed.yaml", data)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := scenariotest.Trace(t, read.Replay.Run(read, recipe.Reference()))
		if again != text {
			t.Fatalf("seed %d: the file\n%s\nreplays another run", seed, data)
		}
		if line := prose.ReplayLine(recorded, "replay", "isr-sim", "swarmed.yaml"); !strings.Contains(line, " --swarm ") {
			t.Fatalf("the replay line does not say that it is a swarm's: %s", line)
		}
		// Without the draw, the same choices are another run where a fault was off.
		run = recorded.Run(s, recipe.Reference())
		run.Swarm = false
		var b strings.Builder
		run.Trace = &b
		if _, err := run.Do(context.Background()); err != nil || b.String() != text {
			differ++
		}
	}
	if differ == 0 {
		t.Error("no run depends on the draw")
	}
	throttled, lost, neither := 0, 0, 0
	for marks, n := range kinds {
		switch {
		case strings.Contains(marks, "throttled"):
			throttled += n
		case strings.Contains(marks, "response-lost"):
			lost += n
		default:
			neither += n
		}
	}
	if throttled == 0 || lost == 0 || neither == 0 {
		t.Errorf("of 200 runs %d were throttled, %d lost a response, %d neither; want some of each", throttled, lost, neither)
	}
}

func TestARecordedRunNeedsAReplayEntryAndAKnownProtocol(t *testing.T) {
	s := scenariotest.Embedded(t, "paused-writer")
	if _, err := s.Recorded(); !errors.Is(err, scenario.ErrNotRecorded) {
		t.Errorf("error %v, want ErrNotRecorded", err)
	}
	s.Replay = &scenario.Replay{Protocol: "mine"}
	if _, err := s.Recorded(); err == nil {
		t.Error("a run was made of an unknown protocol")
	}
}
