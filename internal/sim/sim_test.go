package sim_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
)

// register is a world of one number that actors read and write in requests.
type register struct {
	name  string
	value int
}

// access is a request to a register: a read, or a write of value.
type access struct {
	to     *register
	write  bool
	value  int
	lossy  bool // the schedule may also lose the request
	missed bool
}

func (a *access) Outcomes() []int {
	if a.lossy {
		return []int{0, 1}
	}
	return []int{0}
}

func (a *access) Accesses(int) []sim.Access {
	return []sim.Access{{Object: sim.ObjectNamed(a.to.name), Write: a.write}}
}

func (a *access) Apply(outcome int) {
	switch {
	case outcome == 1:
		a.missed = true
	case a.write:
		a.to.value = a.value
	default:
		a.value = a.to.value
	}
}

func (a *access) Describe(int) string    { return fmt.Sprintf("%+v", *a) }
func (a *access) DescribeAnswer() string { return fmt.Sprint(a.value) }

// AnswerFingerprint makes requests to registers comparable. Package sim itself knows whether an answer was lost: that
// is the outcome of the request.
func (a *access) AnswerFingerprint() (uint64, bool) {
	return uint64(fingerprint.Hash(0).Number(uint64(a.value))), true
}

// incrementers is the classic lost update: n actors read, then write one more.
func incrementers(cfg sim.Config, n int) (*register, sim.Result) {
	r, s := &register{}, sim.New(cfg)
	for i := range n {
		s.Add(sim.Actor{Name: string(rune('a' + i)), Run: func(p *sim.Proc) {
			read := &access{to: r}
			p.Do(read)
			p.Do(&access{to: r, write: true, value: read.value + 1})
		}})
	}
	return r, s.Run()
}

func TestEveryPlanFindsALostUpdateAndItsSchedulesReplay(t *testing.T) {
	for _, plan := range strategy.Plans() {
		t.Run(plan.Name, func(t *testing.T) {
			plan, found := plan.Begin(), 0
			for seed := range uint64(100) {
				way := plan.At(int(seed))
				r, result := incrementers(sim.Config{Seed: seed, Strategy: way, ExpectedSteps: 8}, 2)
				if result.End != sim.Finished {
					t.Fatalf("seed %d: run %v, want finished (%v)", seed, result.End, result.Err)
				}
				replayed, again := incrementers(sim.Config{Seed: seed, Strategy: strategy.Replay(result.Choices)}, 2)
				if replayed.value != r.value || !slices.Equal(again.Choices, result.Choices) {
					t.Fatalf("seed %d: replay of %v gives %d by %v, want %d", seed, result.Choices,
						replayed.value, again.Choices, r.value)
				}
				if r.value == 1 {
					found++
				}
			}
			if found == 0 || found == 100 {
				t.Errorf("the update was lost in %d of 100 runs, want some but not all", found)
			}
		})
	}
}

func TestTheSameSeedGivesTheSameTraceOnAnyNumberOfProcessors(t *testing.T) {
	trace := func(processors int) string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		var b strings.Builder
		for seed := range uint64(50) {
			cfg := sim.Config{Seed: seed, Strategy: strategy.PCT(3), ExpectedSteps: 10}
			cfg.Trace = func(t sim.TraceStep) {
				fmt.Fprintln(&b, t.N, t.Time.Unix(), t.Step.Name, t.Step.Kind, t.Options, t.Step.Thread)
			}
			incrementers(cfg, 3)
		}
		return b.String()
	}
	if diff := cmp.Diff(trace(1), trace(8)); diff != "" {
		t.Errorf("GOMAXPROCS 1 and 8 differ (-1 +8):\n%s", diff)
	}
}

func TestReplayOfAnImpossibleScheduleSaysWhere(t *testing.T) {
	_, result := incrementers(sim.Config{Strategy: strategy.Replay(sim.Choices{0, 7})}, 2)
	diverged, ok := errors.AsType[*sim.DivergedError](result.Err)
	if result.End != sim.Broken || !ok {
		t.Fatalf("run %v with %v, want broken with a DivergedError", result.End, result.Err)
	}
	if want := sim.DivergedAt(2, 7, 2); *diverged != want {
		t.Errorf("diverged: got %+v, want %+v", *diverged, want)
	}
}

func TestReplayTakesTheFirstStepWhereChoicesEnd(t *testing.T) {
	r, result := incrementers(sim.Config{Strategy: strategy.Replay(nil)}, 3)
	if r.value != 3 || result.End != sim.Finished {
		t.Errorf("actors one after another: value %d, run %v; want 3, finished", r.value, result.End)
	}
}

func TestSleepTakesTheNodesOwnTime(t *testing.T) {
	for _, test := range []struct {
		drift fakeclock.Drift
		want  time.Duration // true time that a sleep of 10 s takes
	}{
		{fakeclock.Drift{}, 10 * time.Second},
		{fakeclock.Drift{Offset: time.Hour}, 10 * time.Second},
		{fakeclock.Drift{PPM: 1_000_000}, 5 * time.Second},
		{fakeclock.Drift{PPM: -500_000}, 20 * time.Second},
	} {
		var took time.Duration
		s := sim.New(sim.Config{})
		s.Add(sim.Actor{Name: "a", Drift: test.drift, Run: func(p *sim.Proc) {
			start := p.Now()
			p.Clock().Sleep(10 * time.Second)
			took = p.Now().Sub(start)
		}})
		if result := s.Run(); result.End != sim.Finished || took != test.want {
			t.Errorf("drift %v: slept %v of true time, run %v; want %v, finished", test.drift, took, result.End,
				test.want)
		}
	}
}

func TestASleepThatNeverEndsBreaksTheRun(t *testing.T) {
	s := sim.New(sim.Config{})
	s.Add(sim.Actor{Name: "a", Drift: fakeclock.Drift{PPM: -fakeclock.MaxPPM},
		Run: func(p *sim.Proc) { p.Clock().Sleep(time.Second) }})
	if result := s.Run(); result.End != sim.Broken || result.Err == nil {
		t.Errorf("run %v with %v, want broken with an error", result.End, result.Err)
	}
}

func TestWaitingOnAChannelIsRefusedWithAnErrorThatNamesTheActor(t *testing.T) {
	s := sim.New(sim.Config{})
	s.Add(sim.Actor{Name: "alice", Run: func(p *sim.Proc) { <-p.Clock().After(time.Second) }})
	result := s.Run()
	if result.End != sim.Broken || result.Err == nil || !strings.Contains(result.Err.Error(), "alice") ||
		!strings.Contains(result.Err.Error(), "use Sleep") {
		t.Errorf("run %v with %q, want broken with an error that names alice and Sleep", result.End, result.Err)
	}
}

func TestAPanicOfAnActorEndsTheRunWithAnError(t *testing.T) {
	s := sim.New(sim.Config{})
	s.Add(sim.Actor{Name: "bob", Run: func(*sim.Proc) { panic("boom") }})
	s.Add(sim.Actor{Name: "carol", Run: func(p *sim.Proc) { p.Clock().Sleep(time.Hour) }})
	if result := s.Run(); result.End != sim.Broken || result.Err == nil ||
		result.Err.Error() != "actor bob panicked: boom" {
		t.Errorf("run %v with %v, want broken by bob's panic", result.End, result.Err)
	}
}

func TestARunThatDoesNotEndIsCut(t *testing.T) {
	s := sim.New(sim.Config{MaxSteps: 50})
	s.Add(sim.Actor{Name: "a", Run: func(p *sim.Proc) {
		for {
			p.Clock().Sleep(time.Second)
		}
	}})
	if result := s.Run(); result.End != sim.Cut || result.Steps != 50 {
		t.Errorf("run %v after %d steps, want cut after 50", result.End, result.Steps)
	}
}

// outcomes calls run with many seeds and counts its results.
func outcomes(seeds int, run func(seed uint64) string) map[string]int {
	counts := map[string]int{}
	for seed := range uint64(seeds) {
		counts[run(seed)]++
	}
	return counts
}

func TestACrashedNodesRequestMayTakeEffectLaterOrNever(t *testing.T) {
	counts := outcomes(300, func(seed uint64) string {
		r, restarted, unwound := &register{}, 0, false
		s := sim.New(sim.Config{Seed: seed})
		s.Add(sim.Actor{Name: "a", Crashes: 1, Restarts: 1, Run: func(p *sim.Proc) {
			if restarted++; p.Incarnation() > 1 {
				if p.Name() != "a.2" {
					t.Errorf("second incarnation is called %q, want a.2", p.Name())
				}
				p.Do(&access{to: r}) // gives the orphan time to arrive
				return
			}
			defer func() { unwound = true }()
			p.Do(&access{to: r, write: true, value: 1})
			p.Do(&access{to: r}) // keeps the node up while its write is done
		}})
		s.Add(sim.Actor{Name: "b", Run: func(p *sim.Proc) { p.Do(&access{to: &register{}}) }})
		if result := s.Run(); result.End != sim.Finished {
			t.Fatalf("seed %d: run %v (%v)", seed, result.End, result.Err)
		}
		if !unwound {
			t.Fatalf("seed %d: the crashed code's deferred calls did not run", seed)
		}
		return fmt.Sprintf("starts %d value %d", restarted, r.value)
	})
	for _, want := range []string{"starts 1 value 0", "starts 1 value 1", "starts 2 value 0", "starts 2 value 1"} {
		if counts[want] == 0 {
			t.Errorf("no schedule of 300 gave %q; got %v", want, counts)
		}
	}
}

func TestAPausedNodeHearsNothingUntilItsPauseIsOver(t *testing.T) {
	counts := outcomes(200, func(seed uint64) string {
		var took time.Duration
		s := sim.New(sim.Config{Seed: seed})
		s.Add(sim.Actor{Name: "a", Pauses: 1, PauseFor: 30 * time.Second, Run: func(p *sim.Proc) {
			start := p.Now()
			p.Do(&access{to: &register{}})
			took = p.Now().Sub(start)
		}})
		if result := s.Run(); result.End != sim.Finished {
			t.Fatalf("seed %d: run %v (%v)", seed, result.End, result.Err)
		}
		return took.String()
	})
	if len(counts) != 2 || counts["0s"] == 0 || counts["30s"] == 0 {
		t.Errorf("the request took %v, want 0s in some schedules and 30s in the others", counts)
	}
}

// A pause by chance may last longer than PauseFor: time may move past its end.
func TestAPauseByChanceMayEndLate(t *testing.T) {
	x, ends := &exhaustive.Exploration{}, map[time.Duration]bool{}
	for x.Next() {
		s := sim.New(sim.Config{Strategy: x.Strategy(), Ticks: 1, OnNode: func(k sim.Kind, p *sim.Proc, _ string) {
			if k == sim.Resume {
				ends[p.Now().Sub(fakeclock.Epoch)] = true
			}
		}})
		s.Add(sim.Actor{
			Name: "a", Pauses: 1, PauseFor: time.Second, Run: func(p *sim.Proc) { p.Do(&access{to: &register{}}) },
		})
		s.Add(sim.Actor{Name: "b", Run: func(p *sim.Proc) { p.Clock().Sleep(2 * time.Second) }})
		s.Run()
	}
	if got := slices.Sorted(maps.Keys(ends)); !slices.Equal(got,
		[]time.Duration{time.Second, 2 * time.Second, 3 * time.Second}) {
		t.Errorf("the pause ended at %v; want 1s, late at 2s, and 3s of one that began at 2s", got)
	}
}

func TestAPausedNodeMayCrash(t *testing.T) {
	counts := outcomes(300, func(seed uint64) string {
		befell := ""
		s := sim.New(sim.Config{
			Seed: seed, OnNode: func(k sim.Kind, _ *sim.Proc, _ string) { befell += k.String() + " " },
		})
		s.Add(sim.Actor{Name: "a", Pauses: 1, Crashes: 1, Run: func(p *sim.Proc) { p.Do(&access{to: &register{}}) }})
		if result := s.Run(); result.End != sim.Finished {
			t.Fatalf("seed %d: run %v (%v)", seed, result.End, result.Err)
		}
		return befell
	})
	for _, want := range []string{"", "crash ", "pause resume ", "pause crash ", "pause resume crash "} {
		if counts[want] == 0 {
			t.Errorf("no schedule of 300 gave %q; got %v", want, counts)
		}
	}
}

// A pause ends with the incarnation that it stopped: a restarted node runs at once.
func TestAPauseEndsWithACrash(t *testing.T) {
	counts := outcomes(300, func(seed uint64) string {
		began, befell := "", ""
		s := sim.New(sim.Config{
			Seed: seed, OnNode: func(k sim.Kind, _ *sim.Proc, _ string) { befell += k.String() + " " },
		})
		s.Add(sim.Actor{Name: "b", Run: func(p *sim.Proc) { p.Clock().Sleep(20 * time.Second) }})
		s.Add(sim.Actor{Name: "a", Pauses: 1, PauseFor: 30 * time.Second, Crashes: 1, Restarts: 1,
			Run: func(p *sim.Proc) {
				began += p.Now().Sub(fakeclock.Epoch).String() + " "
				p.Do(&access{to: &register{}})
			}})
		if result := s.Run(); result.End != sim.Finished {
			t.Fatalf("seed %d: run %v (%v)", seed, result.End, result.Err)
		}
		return befell + began
	})
	if counts["pause crash restart 0s 0s "] == 0 {
		t.Errorf("what befell it, and when its lives began: %v; want one that begins at once after a pause and a crash",
			counts)
	}
}

func TestARequestMayHaveSeveralOutcomes(t *testing.T) {
	counts := outcomes(100, func(seed uint64) string {
		a := &access{to: &register{}, lossy: true}
		s := sim.New(sim.Config{Seed: seed})
		s.Add(sim.Actor{Name: "a", Run: func(p *sim.Proc) { p.Do(a) }})
		s.Run()
		return fmt.Sprint(a.missed)
	})
	if counts["true"] == 0 || counts["false"] == 0 {
		t.Errorf("missed: %v, want both", counts)
	}
}

// memoryAccess is an access whose answer needs no separate step.
type memoryAccess struct{ access }

func (*memoryAccess) Immediate() {}

func TestAnImmediateRequestIsAnsweredInItsOwnStep(t *testing.T) {
	for _, test := range []struct {
		request sim.Request
		want    []sim.Kind
	}{
		{&access{to: &register{}}, []sim.Kind{sim.Start, sim.Effect, sim.Response}},
		{&memoryAccess{access{to: &register{}}}, []sim.Kind{sim.Start, sim.Effect}},
	} {
		var got []sim.Kind
		ended := false
		s := sim.New(sim.Config{Trace: func(taken sim.TraceStep) { got = append(got, taken.Step.Kind) }})
		s.Add(sim.Actor{Name: "a", Run: func(p *sim.Proc) {
			p.Do(test.request)
			ended = true
		}})
		s.Run()
		if !slices.Equal(got, test.want) || !ended {
			t.Errorf("%T: got steps %v, actor ended %v, want %v, true", test.request, got, ended, test.want)
		}
	}
}

// alarm is a source that can ring once its time has come.
type alarm struct {
	clock *fakeclock.Clock
	at    time.Time
	rung  []time.Time
}

func (a *alarm) Name() string { return "alarm" }
func (a *alarm) Steps() []uint64 {
	if a.clock.Now().Before(a.at) || len(a.rung) > 0 {
		return nil
	}
	return []uint64{1}
}
func (a *alarm) Accesses(uint64) []sim.Access { return nil }
func (a *alarm) Take(uint64) string           { a.rung = append(a.rung, a.clock.Now()); return "rings" }
func (a *alarm) Next(now time.Time) (time.Time, bool) {
	return a.at, a.at.After(now)
}

func TestTimeStopsAtTheBoundariesOfSources(t *testing.T) {
	counts := outcomes(100, func(seed uint64) string {
		clock := fakeclock.New(fakeclock.Epoch)
		bell := &alarm{clock: clock, at: fakeclock.Epoch.Add(7 * time.Second)}
		var ticks []string
		s := sim.New(sim.Config{Clock: clock, Seed: seed, Trace: func(t sim.TraceStep) {
			if t.Step.Kind == sim.Tick {
				ticks = append(ticks, t.Text)
			}
		}})
		s.AddSource(bell)
		s.Add(sim.Actor{Name: "a", Run: func(p *sim.Proc) { p.Clock().Sleep(10 * time.Second) }})
		s.Run()
		return fmt.Sprintf("%v rung %d", ticks, len(bell.rung))
	})
	for _, want := range []string{"[+7s +3s] rung 0", "[+7s +3s] rung 1"} {
		if counts[want] == 0 || len(counts) != 2 {
			t.Errorf("got %v, want both of [+7s +3s] with 0 and with 1 ring", counts)
		}
	}
}

func TestTicksBoundHowOftenTimeMovesOfItsOwnAccord(t *testing.T) {
	for seed := range uint64(100) {
		s, start := sim.New(sim.Config{Seed: seed, Ticks: 2}), time.Time{}
		busy := &register{}
		s.Add(sim.Actor{Name: "sleeper", Run: func(p *sim.Proc) {
			start = p.Now()
			for range 10 {
				p.Clock().Sleep(time.Second)
			}
		}})
		var most time.Duration
		s.Add(sim.Actor{Name: "busy", Run: func(p *sim.Proc) {
			for range 10 {
				p.Do(&access{to: busy})
				most = p.Now().Sub(fakeclock.Epoch)
			}
		}})
		if result := s.Run(); result.End != sim.Finished || start.IsZero() {
			t.Fatalf("seed %d: run %v (%v)", seed, result.End, result.Err)
		}
		if most > 2*time.Second {
			t.Errorf("seed %d: time moved by %v while something else could happen, want at most 2s", seed, most)
		}
	}
}

func TestClockStepsMoveTheNodeNotTrueTime(t *testing.T) {
	counts := outcomes(100, func(seed uint64) string {
		var skew time.Duration
		s := sim.New(sim.Config{Seed: seed})
		s.Add(sim.Actor{Name: "a", ClockSteps: []time.Duration{-3 * time.Second}, Run: func(p *sim.Proc) {
			p.Do(&access{to: &register{}})
			skew = p.Clock().Now().Sub(p.Now())
		}})
		s.Run()
		return skew.String()
	})
	if len(counts) != 2 || counts["0s"] == 0 || counts["-3s"] == 0 {
		t.Errorf("skews %v, want 0s in some schedules and -3s in the others", counts)
	}
}

func TestAResultCountsContextSwitchesAndTime(t *testing.T) {
	// a starts; b starts; a's effect and response; b to its end; a to its end.
	_, result := incrementers(sim.Config{Strategy: strategy.Replay(sim.Choices{0, 1, 0, 0, 1, 1, 1, 1})}, 2)
	if result.Switches != 4 || result.Elapsed != 0 {
		t.Errorf("%d switches in %v, want 4 in no time", result.Switches, result.Elapsed)
	}
	s := sim.New(sim.Config{})
	s.Add(sim.Actor{Name: "a", Run: func(p *sim.Proc) { p.Clock().Sleep(time.Minute) }})
	if result := s.Run(); result.Elapsed != time.Minute || result.Switches != 0 {
		t.Errorf("a sleep of a minute: %d switches in %v", result.Switches, result.Elapsed)
	}
}

// TestARunCannotTellItsPool uses one pool for all runs. Runs that crash, panic or are cut come in between.
func TestARunCannotTellItsPool(t *testing.T) {
	var pool sim.Pool
	defer pool.Close()
	run := func(seed uint64, pool *sim.Pool) (trace []string, end sim.End) {
		r := &register{}
		s := sim.New(sim.Config{Seed: seed, Pool: pool, MaxSteps: 9 + int(seed%8), Trace: func(taken sim.TraceStep) {
			trace = append(trace, fmt.Sprintf("%s %v: %d", taken.Step.Name, taken.Step.Kind, r.value))
		}})
		for _, a := range []sim.Actor{{Name: "a", Crashes: 1, Restarts: 1}, {Name: "b"}} {
			a.Run = func(p *sim.Proc) {
				read := &access{to: r}
				p.Do(read)
				if p.Do(&access{to: r, write: true, value: read.value + 1}); r.value == 2 {
					panic("two")
				}
			}
			s.Add(a)
		}
		return trace, s.Run().End
	}
	ends := map[sim.End]int{}
	for seed := range uint64(300) {
		want, _ := run(seed, nil)
		got, end := run(seed, &pool)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: from a pool that served others\n%q\nwant\n%q", seed, got, want)
		}
		ends[end]++
	}
	if ends[sim.Finished] == 0 || ends[sim.Broken] == 0 || ends[sim.Cut] == 0 {
		t.Errorf("ends %v, want some of each: the pool had nothing to hide", ends)
	}
}

func TestStreamsDependOnSeedAndNameOnly(t *testing.T) {
	draw := func(seed uint64, name string) uint64 { return sim.Stream(seed, name).Uint64() }
	if draw(1, "a") != draw(1, "a") {
		t.Error("the same stream drew two different first numbers")
	}
	if draw(1, "a") == draw(1, "b") || draw(1, "a") == draw(2, "a") {
		t.Error("streams of another name or seed drew the same first number")
	}
}

func TestDerivedSeedsDiffer(t *testing.T) {
	seen := map[uint64]int{}
	for n := range 10_000 {
		seed := sim.Derive(1, n)
		if other, dup := seen[seed]; dup {
			t.Fatalf("children %d and %d have the same seed", other, n)
		}
		seen[seed] = n
	}
}

// sweeps is a source with one step, which writes one thing.
type sweeps struct {
	stops
	name, what string
}

func (s sweeps) Name() string    { return s.name }
func (s sweeps) Steps() []uint64 { return []uint64{1} }
func (s sweeps) Accesses(uint64) []sim.Access {
	return []sim.Access{{Object: sim.ObjectNamed(s.what), Write: true}}
}

// torn is a request that writes y, or z in another outcome.
type torn struct{ asks }

func (torn) Accesses(outcome int) []sim.Access {
	return []sim.Access{{Object: sim.ObjectNamed([]string{"y", "z"}[outcome]), Write: true}}
}

func TestWhichStepsRace(t *testing.T) {
	w := &wanted{steps: []string{"alice start", "bob start", "carol start", "erin start",
		"frank start", "frank crash", "frank restart", "frank.2 start", "frank.2 crash"}}
	s := sim.New(sim.Config{
		Ticks: 1, Fingerprint: func() uint64 { return 0 }, Trace: w.took,
		Strategy: w.strategy(),
	})
	w.sim = s
	x, y := &register{name: "x"}, &register{name: "y"}
	does := func(r sim.Request) func(p *sim.Proc) { return func(p *sim.Proc) { p.Do(r) } }
	s.Add(sim.Actor{Name: "alice", Run: does(&access{to: x, write: true})})
	s.Add(sim.Actor{Name: "bob", Run: does(&access{to: x})})
	s.Add(sim.Actor{Name: "carol", Run: does(&access{to: y})})
	s.Add(sim.Actor{Name: "dave", Run: does(asks{})})
	s.Add(sim.Actor{Name: "erin", Run: func(p *sim.Proc) { p.Clock().Sleep(time.Second) }})
	s.Add(sim.Actor{Name: "frank", Crashes: 2, Restarts: 1, Run: does(torn{})})
	s.AddSource(sweeps{name: "sweeps x", what: "x"})
	s.AddSource(sweeps{name: "sweeps z", what: "z"})
	s.Run()

	steps, ids := map[string]sim.Step{}, map[uint64]string{}
	for _, step := range w.next {
		name := step.Name + " " + step.Kind.String()
		if same, taken := ids[step.ID()]; taken {
			t.Errorf("%s and %s have one ID", name, same)
		}
		steps[name], ids[step.ID()] = step, name
		actor, other := map[string]string{"time": "", "sweeps x": "", "sweeps z": "", "frank.2": "frank"}[step.Name]
		if !other {
			actor = step.Name
		}
		if step.Actor() != actor {
			t.Errorf("%s is a step of %q, want %q", name, step.Actor(), actor)
		}
		if step.Kind != sim.Tick && len(step.Further()) > 0 {
			t.Errorf("%s goes further: %v", name, step.Further())
		}
	}
	for _, test := range []struct {
		a, b  string
		races bool
	}{
		{"alice effect", "bob effect", true},
		{"alice effect", "carol effect", false},
		{"bob effect", "carol effect", false},
		{"alice effect", "sweeps x external", true},
		{"alice effect", "sweeps z external", false},
		{"sweeps x external", "sweeps z external", false},
		{"dave start", "alice effect", false},
		{"dave start", "time tick", true},
		{"sweeps z external", "time tick", true},
		{"frank orphan", "carol effect", true},
		{"frank orphan", "sweeps z external", false},
		{"frank orphan", "frank.2 orphan", true},
	} {
		a, isA := steps[test.a]
		b, isB := steps[test.b]
		if !isA || !isB || a.Races(b) != test.races || b.Races(a) != test.races {
			t.Errorf("%s and %s: possible %v and %v, want that they race: %v", test.a, test.b, isA, isB, test.races)
		}
	}
}

// A switch is a step of one actor's code after a step of another's: a start, an effect, an answer, the end of a sleep.
func TestSwitches(t *testing.T) {
	s := sim.New(sim.Config{Strategy: strategy.Replay(sim.Choices{0})})
	for i, name := range []string{"alice", "bob"} {
		s.Add(sim.Actor{Name: name, Run: func(p *sim.Proc) { p.Clock().Sleep(time.Duration(i+1) * time.Second) }})
	}
	if r := s.Run(); r.Switches != 3 {
		t.Errorf("%d switches, want 3: alice and bob start, alice wakes, bob wakes", r.Switches)
	}
}

// twoSweeps is a source with two steps, which write different things.
type twoSweeps struct{ sweeps }

func (twoSweeps) Steps() []uint64 { return []uint64{1, 2} }
func (twoSweeps) Accesses(step uint64) []sim.Access {
	return []sim.Access{{Object: step, Write: true}}
}

// arrivals is a source whose steps are apart. The third writes what the first does.
type arrivals struct{ sweeps }

func (arrivals) Apart()          {}
func (arrivals) Steps() []uint64 { return []uint64{2, 4, 6, 1<<63 + 2} }
func (arrivals) Accesses(step uint64) []sim.Access {
	return []sim.Access{{Object: step%4 + step>>63, Write: true}}
}

// looking is a chooser that looks at the steps.
type looking func([]sim.Step)

func (l looking) Choose(steps []sim.Step) int { l(steps); return 0 }

func TestStepsOfASourceRaceUnlessTheyAreApart(t *testing.T) {
	for _, test := range []struct {
		source sim.Source
		races  map[[2]int]bool
	}{
		{twoSweeps{sweeps{name: "sweeps"}}, map[[2]int]bool{{0, 1}: true}},
		{arrivals{sweeps{name: "arrivals"}},
			map[[2]int]bool{{0, 1}: false, {1, 2}: false, {0, 2}: true, {0, 3}: false}},
	} {
		looked := false
		s := sim.New(sim.Config{Strategy: sim.Strategy{Name: "looking", New: func(*rand.Rand, int) sim.Chooser {
			return looking(func(steps []sim.Step) {
				first := steps[0] // the start of alice, or what she asks
				steps = slices.DeleteFunc(slices.Clone(steps), func(s sim.Step) bool { return s.Kind != sim.External })
				looked = true
				if first.Kind == sim.Start && first.Races(steps[0]) {
					t.Errorf("%s: the start of alice races with %s", test.source.Name(), steps[0].Name)
				}
				//isrsim:unordered each by itself
				for pair, races := range test.races {
					if got := steps[pair[0]].Races(steps[pair[1]]); got != races {
						t.Errorf("%s: steps %v race: %v, want %v", test.source.Name(), pair, got, races)
					}
				}
			})
		}}})
		s.Add(sim.Actor{Name: "alice", Run: func(p *sim.Proc) { p.Do(asks{}) }})
		s.AddSource(test.source)
		if s.Run(); !looked {
			t.Errorf("%s: no step was chosen", test.source.Name())
		}
	}
}

// nothing is a request without an effect.
type nothing struct{}

var (
	ordinary = []int{0}
	nowhere  = []sim.Access{}
)

func (nothing) Outcomes() []int           { return ordinary }
func (nothing) Accesses(int) []sim.Access { return nowhere }
func (nothing) Apply(int)                 {}
func (nothing) Describe(int) string       { return "nothing" }
func (nothing) DescribeAnswer() string    { return "nothing" }

// BenchmarkSteps is the bare scheduler's steps per second: three actors send a thousand requests each, which do
// nothing. In a random walk, each request takes two steps: its effect, and its answer. In the second step the actor's
// code runs until it sends the next request. One operation is such a run with its own seed, including its preparation.
func BenchmarkSteps(b *testing.B) {
	b.ReportAllocs()
	steps := 0
	for seed := uint64(0); b.Loop(); seed++ {
		s := sim.New(sim.Config{Seed: seed})
		for _, name := range []string{"a", "b", "c"} {
			s.Add(sim.Actor{Name: name, Run: func(p *sim.Proc) {
				for range 1000 {
					p.Do(nothing{})
				}
			}})
		}
		result := s.Run()
		if result.End != sim.Finished {
			b.Fatal(result.End, result.Err)
		}
		steps += result.Steps
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
}

// TestTheNodeOfAnotherIsRefused: code that uses the clock or the requests of another node, or of an earlier run, ends
// the run with an error that says so.
func TestTheNodeOfAnotherIsRefused(t *testing.T) {
	for _, test := range []struct{ name, want string }{
		{"sleeps", "bob used the client or the clock of alice, or of an earlier run"},
		{"is over", "bob used the client or the clock of alice, or of an earlier run"},
		{"is of an earlier run", "bob used the client or the clock of an earlier run, or of itself before a restart"},
	} {
		for _, use := range []func(p *sim.Proc){
			func(p *sim.Proc) { p.Clock().Sleep(time.Second) },
			func(p *sim.Proc) { p.Do(&access{to: &register{}}) },
			func(p *sim.Proc) { p.Clock().Now() },
		} {
			var other *sim.Proc
			s := sim.New(sim.Config{})
			if test.name == "is of an earlier run" {
				before := sim.New(sim.Config{})
				before.Add(sim.Actor{Name: "bob", Run: func(p *sim.Proc) { other = p; p.Clock().Sleep(time.Second) }})
				before.Run()
			} else {
				s.Add(sim.Actor{Name: "alice", Run: func(p *sim.Proc) {
					other = p
					if test.name == "sleeps" {
						p.Clock().Sleep(time.Hour)
					}
				}})
			}
			s.Add(sim.Actor{Name: "bob", Run: func(p *sim.Proc) {
				p.Clock().Sleep(time.Second)
				use(other)
			}})
			if result := s.Run(); result.End != sim.Broken || result.Err == nil || result.Err.Error() != test.want {
				t.Errorf("the other %s: run %v with %v, want broken with %q", test.name, result.End, result.Err,
					test.want)
			}
		}
	}
}

// places runs a plan on two actors. The first actor writes a register five times. The second one writes it once, after
// some writes to a register that nobody else sees. The result says how often that one write came at each place among
// the five.
func places(t *testing.T, plan strategy.Plan, schedules int) (at [6]int) {
	t.Helper()
	plan = plan.Begin()
	for i := range schedules + 1 {
		shared, own, order := &register{name: "shared"}, &register{name: "own"}, []int(nil)
		s := sim.New(sim.Config{Seed: sim.Derive(1, i), Strategy: plan.At(i), ExpectedSteps: 36})
		for name, writes := range [2]int{5, 1} {
			s.Add(sim.Actor{Name: string(rune('a' + name)), Run: func(p *sim.Proc) {
				for range name * 5 {
					p.Do(&access{to: own, write: true})
				}
				for range writes {
					p.Do(&noted{access{to: shared, write: true}, func(*noted) { order = append(order, name) }})
				}
			}})
		}
		if result := s.Run(); result.End != sim.Finished {
			t.Fatal(result.End, result.Err)
		}
		for place, name := range order {
			if i > 0 && name == 1 {
				at[place]++
			}
		}
	}
	return at
}

// Other steps of the threads do not make an order of their accesses less likely. Under any other strategy they do.
func TestTheOrdersOfAccessesHaveTheSameChanceUnderSURW(t *testing.T) {
	n := effort.Fewer(3000, 600)
	for _, plan := range strategy.Plans() {
		uniform, at := true, places(t, plan, n)
		for _, times := range at {
			uniform = uniform && times > n/6*2/3 && times < n/6*3/2
		}
		if uniform != (plan.Name == "surw") {
			t.Errorf("%s: the write came at the places %v, uniformly %v", plan.Name, at, uniform)
		}
	}
}
