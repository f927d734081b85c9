package scenario_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/isr-sim/isr-sim/internal/racing"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// touchy panics when its publish fails.
func touchy(t testing.TB) isr.Protocol {
	p := protocolNamed(t, "recipe-a")
	return isr.Protocol{Name: "touchy", New: func(c isr.Config) (isr.Handler, error) {
		handler, err := p.New(c)
		return panicky{handler}, err
	}}
}

type panicky struct{ isr.Handler }

func (p panicky) Get(ctx context.Context, key string) (isr.Served, error) {
	served, err := p.Handler.Get(ctx, key)
	if err != nil {
		panic(err)
	}
	return served, nil
}

// fickle is broken in every other run: each run of the scenario makes as many nodes.
func fickle(t testing.TB, nodes int64) isr.Protocol {
	good, bad := protocolNamed(t, "recipe-a"), protocolNamed(t, "lease-in-milliseconds")
	var made atomic.Int64
	return isr.Protocol{Name: "fickle", New: func(c isr.Config) (isr.Handler, error) {
		if (made.Add(1)-1)/nodes%2 == 0 {
			return bad.New(c)
		}
		return good.New(c)
	}}
}

func TestAProtocolThatDoesNotRepeatItselfIsAnError(t *testing.T) {
	_, err := scenario.Campaign{Scenario: embedded(t, "two-contenders"), Protocol: fickle(t, 2), Seed: 1, Workers: 1}.Run(context.Background())
	if _, ok := errors.AsType[*scenario.NondeterminismError](err); !ok {
		t.Fatalf("error %v, want a *scenario.NondeterminismError", err)
	}
	broken, ok := errors.AsType[*scenario.BrokenError](err)
	if !ok || broken.Replay().Choices == nil {
		t.Errorf("error %#v does not say which schedule it is", err)
	}
	if found := broken.Result.Err.(*scenario.NondeterminismError).Found; found == nil || !strings.Contains(found.Explain("two-contenders", "fickle"), "LOCK of /home: ") {
		t.Errorf("error %#v does not show what was found first", err)
	}
	for _, part := range []string{"two-contenders", "fickle", "violated: lock-theft", "time.Now"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not name %q: %v", part, err)
		}
	}
}

// TestBeforeIsCalledWithTheSeedOfEachRun has a protocol listen to something that is set before each run.
func TestBeforeIsCalledWithTheSeedOfEachRun(t *testing.T) {
	good, bad := protocolNamed(t, "recipe-a"), protocolNamed(t, "lease-in-milliseconds")
	var global uint64 // 0 is nothing
	p := isr.Protocol{Name: "listening", New: func(c isr.Config) (isr.Handler, error) {
		if global%2 == 1 {
			return bad.New(c)
		}
		return good.New(c)
	}}
	set := func(seed uint64) { global = seed }
	report, err := scenario.Campaign{Scenario: embedded(t, "two-contenders"), Protocol: p, Seed: 1, Workers: 1, Before: set}.Run(context.Background())
	if err != nil || report.Failure == nil || report.Failure.Result.Seed%2 != 1 {
		t.Fatalf("report %+v, error %v; want a run of an odd seed that fails each time", report, err)
	}
	failed := report.Failure
	global = 0
	run := failed.Replay().Run(report.Scenario, p)
	run.Before = set
	shrunk, err := scenario.Shrink{Run: run, ScheduleOnly: true, Runs: 50}.Do(context.Background())
	if err != nil || shrunk.Outcome.Violation == nil || global != failed.Result.Seed {
		t.Errorf("shrunk to %+v, error %v, after a run of seed %d", shrunk, err, global)
	}
}

func TestSwarmIsPartOfWhatDecidesARun(t *testing.T) {
	s := parsed(t, `
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
	for seed := range racing.Fewer[uint64](200, 60) {
		run := scenario.Run{Scenario: s, Protocol: isr.Reference(), Seed: seed, Swarm: true}
		text, o := trace(t, run)
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
		again, _ := trace(t, read.Replay.Run(read, isr.Reference()))
		if again != text {
			t.Fatalf("seed %d: the file\n%s\nreplays another run", seed, data)
		}
		if line := recorded.Line("replay", "isr-sim", "swarmed.yaml"); !strings.Contains(line, " --swarm ") {
			t.Fatalf("the replay line does not say that it is a swarm's: %s", line)
		}
		// Without the draw, the same choices are another run where a fault was off.
		run = recorded.Run(s, isr.Reference())
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
