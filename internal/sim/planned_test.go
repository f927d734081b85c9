package sim_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
)

// plannedRun runs a busy actor with planned events beside another busy one. It returns the events that happened, with
// their times, and the times at which the actor's code ran.
func plannedRun(
	t *testing.T, strategy sim.Strategy, seed uint64, events ...sim.Planned,
) (befell []string, ran []time.Duration) {
	t.Helper()
	clock := fakeclock.New(fakeclock.Epoch)
	at := func() time.Duration { return clock.Now().Sub(fakeclock.Epoch) }
	s := sim.New(sim.Config{Clock: clock, Seed: seed, Strategy: strategy, Ticks: 8, ExpectedSteps: 40,
		OnNode: func(k sim.Kind, p *sim.Proc, note string) {
			befell = append(befell, strings.TrimSpace(fmt.Sprintf("%v %v %s %s", at(), k, p.Name(), note)))
		}})
	busy := func(note func()) func(*sim.Proc) {
		return func(p *sim.Proc) {
			for range 6 {
				note()
				p.Clock().Sleep(3 * time.Second)
			}
		}
	}
	s.Add(sim.Actor{Name: "alice", Planned: events, Run: busy(func() { ran = append(ran, at()) })})
	s.Add(sim.Actor{Name: "bob", Run: busy(func() {})})
	if r := s.Run(); r.End != sim.Finished {
		t.Fatalf("the run ended as %v: %v", r.End, r.Err)
	}
	return befell, ran
}

func TestPlannedEventsComeAtTheirTime(t *testing.T) {
	const second = time.Second
	for _, test := range []struct {
		name   string
		events []sim.Planned
		want   string
		never  [2]time.Duration // the code does not run between them
	}{
		{"a crash and a restart, in any order of the list",
			[]sim.Planned{{Kind: sim.Restart, At: 20 * second}, {Kind: sim.Crash, At: 7 * second}},
			"7s crash alice loses its memory, 20s restart alice as alice.2",
			[2]time.Duration{7*second + 1, 20*second - 1}},
		{"a crash for good", []sim.Planned{{Kind: sim.Crash, At: 6 * second}}, "6s crash alice loses its memory",
			[2]time.Duration{6*second + 1, time.Hour}},
		{"a pause", []sim.Planned{{Kind: sim.Pause, At: 5 * second, For: 15 * second}},
			"5s pause alice for 15s, 20s resume alice runs on",
			[2]time.Duration{5*second + 1, 20*second - 1}},
		{"the longer of two pauses", []sim.Planned{{Kind: sim.Pause, At: 5 * second, For: 15 * second},
			{Kind: sim.Pause, At: 6 * second, For: second}},
			"5s pause alice for 15s, 6s pause alice for 1s, 20s resume alice runs on",
			[2]time.Duration{5*second + 1, 20*second - 1}},
		{"the later end of two pauses", []sim.Planned{{Kind: sim.Pause, At: 5 * second, For: 2 * second},
			{Kind: sim.Pause, At: 6 * second, For: 10 * second}},
			"5s pause alice for 2s, 6s pause alice for 10s, 16s resume alice runs on",
			[2]time.Duration{5*second + 1, 16*second - 1}},
		{"a pause after one that a crash has ended",
			[]sim.Planned{{Kind: sim.Pause, At: 5 * second, For: 15 * second}, {Kind: sim.Crash, At: 7 * second},
				{Kind: sim.Restart, At: 8 * second}, {Kind: sim.Pause, At: 9 * second, For: 2 * second}},
			"5s pause alice for 15s, 7s crash alice loses its memory, 8s restart alice as alice.2, 9s pause alice.2 " +
				"for 2s, 11s resume alice.2 runs on",
			[2]time.Duration{9*second + 1, 11*second - 1}},
		{"a clock that is set while its node is down", []sim.Planned{{Kind: sim.Crash, At: 7 * second},
			{Kind: sim.ClockStep, At: 10 * second, For: second}, {Kind: sim.Restart, At: 20 * second}},
			"7s crash alice loses its memory, 10s clock-step alice +1s, 20s restart alice as alice.2",
			[2]time.Duration{7*second + 1, 20*second - 1}},
		{"a clock of a node that is down for good",
			[]sim.Planned{{Kind: sim.Crash, At: 7 * second}, {Kind: sim.ClockStep, At: 10 * second, For: second}},
			"7s crash alice loses its memory", [2]time.Duration{7*second + 1, time.Hour}},
		{"a clock that is set", []sim.Planned{{Kind: sim.ClockStep, At: second, For: 2 * second},
			{Kind: sim.ClockStep, At: 2 * second, For: -second}},
			"1s clock-step alice +2s, 2s clock-step alice -1s", [2]time.Duration{time.Hour, time.Hour}},
		{"a clock that is hardly set",
			[]sim.Planned{{Kind: sim.ClockStep, At: second, For: 1}, {Kind: sim.ClockStep, At: 2 * second}},
			"1s clock-step alice +1ns, 2s clock-step alice 0s", [2]time.Duration{time.Hour, time.Hour}},
		{"nothing to crash or to restart", []sim.Planned{{Kind: sim.Restart, At: second},
			{Kind: sim.Crash, At: 2 * second}, {Kind: sim.Pause, At: 3 * second}, {Kind: sim.Crash, At: time.Hour}},
			"2s crash alice loses its memory", [2]time.Duration{2*second + 1, time.Hour}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, plan := range strategy.Plans() {
				for seed := range uint64(8) {
					befell, ran := plannedRun(t, plan.At(int(seed)), seed, test.events...)
					if got := strings.Join(befell, ", "); got != test.want {
						t.Fatalf("%s, seed %d: %q befell the node, want %q", plan.Name, seed, got, test.want)
					}
					if slices.ContainsFunc(ran,
						func(at time.Duration) bool { return at >= test.never[0] && at <= test.never[1] }) {
						t.Fatalf("%s, seed %d: the code ran at %v, want it not to between %v", plan.Name, seed, ran,
							test.never)
					}
				}
			}
		})
	}
}

// Time does not stop for an event that nobody can notice any more.
func TestWhatIsPlannedForANodeThatIsDownForGoodTakesNoStep(t *testing.T) {
	steps := func(events ...sim.Planned) int {
		s := sim.New(sim.Config{})
		s.Add(sim.Actor{Name: "alice", Planned: events, Run: func(p *sim.Proc) { p.Clock().Sleep(time.Minute) }})
		s.Add(sim.Actor{Name: "bob", Run: func(p *sim.Proc) { p.Clock().Sleep(10 * time.Second) }})
		return s.Run().Steps
	}
	crash := sim.Planned{Kind: sim.Crash, At: time.Second}
	if alone, with := steps(crash), steps(crash, sim.Planned{Kind: sim.ClockStep, At: 5 * time.Second}); with != alone {
		t.Errorf("%d steps, want the %d of a run in which nothing more is planned", with, alone)
	}
}

// An actor does not change the list of planned events that it is given.
func TestTheListOfPlannedEventsIsOnlyRead(t *testing.T) {
	events := []sim.Planned{{Kind: sim.Restart, At: 20 * time.Second}, {Kind: sim.Crash, At: 7 * time.Second}}
	before := slices.Clone(events)
	if plannedRun(t, sim.RandomWalk, 1, events...); !slices.Equal(events, before) {
		t.Errorf("the list has become %v, want %v", events, before)
	}
}

func TestWhatEventsMayDoToANode(t *testing.T) {
	crash, set := sim.Planned{Kind: sim.Crash, At: time.Second}, sim.Planned{Kind: sim.ClockStep, At: time.Second}
	for _, test := range []struct {
		crashes, steps int
		planned        []sim.Planned
		by             time.Duration
		down, sets     bool
	}{
		{},
		{crashes: 1, down: true},
		{planned: []sim.Planned{crash}, by: time.Second, down: true},
		{planned: []sim.Planned{crash}, by: time.Second - 1},
		{planned: []sim.Planned{set}, by: time.Second, sets: true},
		{steps: 1, sets: true},
	} {
		down, sets := sim.MayBeDown(test.crashes, test.planned, test.by),
			sim.SetsClock(make([]time.Duration, test.steps), test.planned)
		if down != test.down || sets != test.sets {
			t.Errorf("%+v: may be down %v, sets the clock %v", test, down, sets)
		}
	}
}

// Even while its node is down, a clock is set at the planned time, if the node may come back.
func TestTheClockOfANodeThatIsDownIsSetAtItsTime(t *testing.T) {
	x, set := &exhaustive.Exploration{}, map[string]bool{}
	for x.Next() {
		clock, down := fakeclock.New(fakeclock.Epoch), false
		s := sim.New(sim.Config{Clock: clock, Strategy: x.Strategy(), OnNode: func(k sim.Kind, _ *sim.Proc, _ string) {
			switch k {
			case sim.Crash:
				down = true
			case sim.Restart:
				down = false
			default:
				set[fmt.Sprintf("%v after %v, down %v", k, clock.Now().Sub(fakeclock.Epoch), down)] = true
			}
		}})
		s.Add(sim.Actor{Name: "alice", Crashes: 1, Restarts: 1,
			Planned: []sim.Planned{{Kind: sim.ClockStep, At: time.Second, For: time.Second}},
			Run:     func(p *sim.Proc) { p.Clock().Sleep(3 * time.Second) }})
		s.Add(sim.Actor{Name: "bob", Run: func(p *sim.Proc) { p.Clock().Sleep(5 * time.Second) }})
		s.Run()
	}
	if got, want := slices.Sorted(maps.Keys(set)),
		[]string{"clock-step after 1s, down false", "clock-step after 1s, down true"}; !slices.Equal(got, want) {
		t.Errorf("the clock was set: %q, want %q", got, want)
	}
}

// At the instant of a planned crash, the schedule decides whether the node's code still runs before it.
func TestWhatElseHappensAtThatMomentIsForTheSchedule(t *testing.T) {
	ran := map[int]bool{}
	for seed := range uint64(40) {
		_, at := plannedRun(t, sim.RandomWalk, seed, sim.Planned{Kind: sim.Crash, At: 6 * time.Second})
		ran[len(at)] = true
	}
	if !ran[2] || !ran[3] {
		t.Errorf("the code ran so often: %v, want some runs with the turn at 6s and some without", ran)
	}
}

// late is a request whose answer comes late.
type late struct {
	by time.Duration
	at func() time.Duration

	took time.Duration // when it took effect
}

func (*late) Outcomes() []int           { return []int{0} }
func (*late) Accesses(int) []sim.Access { return nil }
func (l *late) Apply(int)               { l.took = l.at() }
func (*late) Describe(int) string       { return "late" }
func (*late) DescribeAnswer() string    { return "late" }
func (l *late) Delay() time.Duration    { return l.by }

func TestASlowAnswerArrivesLater(t *testing.T) {
	for _, by := range []time.Duration{0, time.Millisecond, 2 * time.Second} {
		for seed := range uint64(20) {
			clock := fakeclock.New(fakeclock.Epoch)
			r := &late{by: by, at: func() time.Duration { return clock.Now().Sub(fakeclock.Epoch) }}
			var arrived time.Duration
			s := sim.New(sim.Config{Clock: clock, Seed: seed})
			s.Add(sim.Actor{Name: "alice", Run: func(p *sim.Proc) { p.Do(r); arrived = r.at() }})
			s.Add(sim.Actor{Name: "bob", Run: func(p *sim.Proc) { p.Clock().Sleep(time.Second) }})
			if result := s.Run(); result.End != sim.Finished {
				t.Fatal(result.Err)
			}
			if arrived != r.took+by {
				t.Errorf("seed %d: the answer arrived at %v, want it %v after %v", seed, arrived, by, r.took)
			}
		}
	}
}

// A search takes every order at the instant of a planned event, whichever reductions are on.
func TestSearchesKnowPlannedEvents(t *testing.T) {
	effort.OneAtATime(t)
	outcomes := func(off sim.Reduction) (seen []string, schedules int) {
		x := exhaustive.Exploration{Off: off}
		for x.Next() {
			var log []string
			turns := [2]uint64{}
			s := sim.New(sim.Config{
				Strategy: x.Strategy(), Ticks: 2, Fingerprint: func() uint64 { return turns[0]<<8 | turns[1] },
			})
			for i, name := range []string{"alice", "bob"} {
				var planned []sim.Planned
				if i == 0 {
					planned = []sim.Planned{{Kind: sim.Crash, At: time.Second},
						{Kind: sim.Restart, At: 2 * time.Second},
						{Kind: sim.Pause, At: 3 * time.Second, For: time.Second}}
				}
				s.Add(sim.Actor{Name: name, Planned: planned, Run: func(p *sim.Proc) {
					for range 3 {
						turns[i]++
						if i == 0 {
							log = append(log, fmt.Sprint(p.Name(), p.Now().Sub(fakeclock.Epoch)))
						}
						p.Clock().Sleep(time.Second)
					}
				}})
			}
			if r := s.Run(); r.End == sim.Finished {
				seen = append(seen, strings.Join(log, " "))
			} else if r.End != sim.Abandoned {
				t.Fatal(r.Err)
			}
		}
		e := x.Explored()
		if !e.Complete {
			t.Fatalf("the search is not complete: %+v", e)
		}
		slices.Sort(seen)
		return slices.Compact(seen), e.Schedules
	}
	all, most := outcomes(sim.SleepSets | sim.StateComparison | sim.PersistentSets)
	if len(all) < 2 {
		t.Errorf("all schedules come to %q, want several", all)
	}
	// With the comparison of states, only one of two histories that lead to the same state is continued.
	for _, off := range []sim.Reduction{sim.StateComparison, sim.StateComparison | sim.PersistentSets,
		sim.StateComparison | sim.SleepSets} {
		reduced, schedules := outcomes(off)
		if diff := cmp.Diff(all, reduced); diff != "" {
			t.Errorf("without reductions %b: %d schedules of %d (-all +reduced):\n%s", off, schedules, most, diff)
		}
	}
}

// stops is a source at whose seconds time stops.
type stops []int

func (stops) Name() string                 { return "stops" }
func (stops) Steps() []uint64              { return nil }
func (stops) Accesses(uint64) []sim.Access { return nil }
func (stops) Take(uint64) string           { return "" }
func (s stops) Next(after time.Time) (time.Time, bool) {
	for _, second := range s {
		if at := fakeclock.Epoch.Add(time.Duration(second) * time.Second); at.After(after) {
			return at, true
		}
	}
	return time.Time{}, false
}

// waiting runs a world with a request under way and a sleep of five seconds. In this world time may stop at other
// instants, too. It returns the seconds at which the answer arrives and the sleep is over.
func waiting(cfg sim.Config, s sim.Source, b sim.Actor) (answered, awake int, result sim.Result) {
	run, r := sim.New(cfg), &register{}
	run.AddSource(s)
	second := func(p *sim.Proc) int { return int(p.Now().Sub(fakeclock.Epoch) / time.Second) }
	run.Add(sim.Actor{Name: "a", Run: func(p *sim.Proc) {
		p.Do(&access{to: r})
		answered = second(p)
	}})
	b.Name, b.Run = "b", func(p *sim.Proc) {
		p.Clock().Sleep(5 * time.Second)
		awake = second(p)
	}
	run.Add(b)
	result = run.Run()
	return answered, awake, result
}

// One tick gets to each instant at which something can change, and not only to the next one. Events that it passes over
// are late; it does not pass over planned ones.
func TestATickOfASearchGoesToAnyInstant(t *testing.T) {
	for _, test := range []struct {
		name  string
		b     sim.Actor
		ticks int
		want  []int
	}{
		{name: "one tick", ticks: 1, want: []int{0, 5, 9, 10, 11}},
		{name: "no tick", ticks: 0, want: []int{0}},
		{name: "up to what is planned", ticks: 1,
			b:    sim.Actor{Planned: []sim.Planned{{Kind: sim.ClockStep, At: 10 * time.Second}}},
			want: []int{0, 5, 9, 10}},
		{name: "up to the end of a planned pause", ticks: 1,
			b: sim.Actor{Planned: []sim.Planned{{Kind: sim.Pause, For: 9 * time.Second}}}, want: []int{0, 5, 9}},
		{name: "after a planned pause", ticks: 2,
			b:    sim.Actor{Planned: []sim.Planned{{Kind: sim.Pause, For: 3 * time.Second}}},
			want: []int{0, 3, 5, 8, 9, 10, 11}},
		{name: "past a pause by chance", ticks: 1, b: sim.Actor{Pauses: 1, PauseFor: 7 * time.Second},
			want: []int{0, 5, 7, 9, 10, 11}},
	} {
		t.Run(test.name, func(t *testing.T) {
			x, came, late := exhaustive.Exploration{}, map[int]bool{}, false
			for x.Next() {
				cfg := sim.Config{Strategy: x.Strategy(), Ticks: test.ticks}
				answered, awake, result := waiting(cfg, stops{9, 10, 11}, test.b)
				if result.Err != nil {
					t.Fatal(result.Err)
				}
				if result.End != sim.Finished {
					continue
				}
				came[answered] = true
				late = late || awake == answered && awake > 5
				cfg.Strategy = strategy.Replay(result.Choices)
				if again, wakes, other := waiting(cfg, stops{9, 10, 11}, test.b); again != answered || wakes != awake ||
					!slices.Equal(other.Choices, result.Choices) {
					t.Errorf("choices %v: answered at %d and awake at %d, and in the replay %d and %d", result.Choices,
						answered, awake, again, wakes)
				}
			}
			if got := slices.Sorted(maps.Keys(came)); !slices.Equal(got, test.want) || !x.Explored().Complete {
				t.Errorf("the answer arrives at the seconds %d, want %d", got, test.want)
			}
			if wants := test.ticks > 0; late != wants {
				t.Errorf("a sleep that a tick passes over ends late: %v, want %v", late, wants)
			}
		})
	}
}

// A tick may pass over the end of a pause that came by chance, which then ends late. It does not pass over the end of a
// planned pause.
func TestATickPassesOverAPauseByChance(t *testing.T) {
	for _, test := range []struct {
		b       sim.Actor
		further int
	}{
		{sim.Actor{Pauses: 1, PauseFor: 7 * time.Second}, 4}, // from 5 to 7, 9, 10 and 11
		{sim.Actor{Planned: []sim.Planned{{Kind: sim.Pause, For: 7 * time.Second}}}, 1},
	} {
		w := &wanted{steps: []string{"a start", "b start", "b pause"}}
		cfg := sim.Config{Ticks: 1, Trace: w.took, Strategy: w.strategy()}
		w.sim = sim.New(cfg) // nobody asks for its state
		waiting(cfg, stops{9, 10, 11}, test.b)
		if w.further != test.further {
			t.Errorf("%+v: a tick to 5 goes to %d further instants, want %d", test.b, w.further, test.further)
		}
	}
}

// A timer on the run's own clock is an instant at which something can change.
func TestTimeStopsAtATimerOfItsClock(t *testing.T) {
	clock, ticks := fakeclock.New(fakeclock.Epoch), []string{}
	s := sim.New(sim.Config{Clock: clock, Trace: func(step sim.TraceStep) {
		if step.Step.Kind == sim.Tick {
			ticks = append(ticks, step.Text)
		}
	}})
	clock.AfterFunc(time.Second, func() {})
	s.Add(sim.Actor{Name: "a", Run: func(p *sim.Proc) { p.Clock().Sleep(3 * time.Second) }})
	if s.Run(); !slices.Equal(ticks, []string{"+1s", "+2s"}) {
		t.Errorf("time moves by %q, want it to stop after a second", ticks)
	}
}

// Other strategies are not offered such ticks: their schedules are the same as before.
func TestATickOfARandomWalkGoesToTheNextInstant(t *testing.T) {
	came := map[int]bool{}
	for seed := range uint64(200) {
		answered, _, _ := waiting(sim.Config{Seed: seed, Ticks: 1}, stops{9, 10, 11}, sim.Actor{})
		came[answered] = true
	}
	if got := slices.Sorted(maps.Keys(came)); !slices.Equal(got, []int{0, 5, 9}) { // 9 if b has not begun to sleep
		t.Errorf("the answer arrives at the seconds %d, want 0, 5 and 9", got)
	}
}

// endless is a source whose instants have no end.
type endless struct{ stops }

func (endless) Next(after time.Time) (time.Time, bool) { return after.Add(time.Second), true }

func TestASourceWithoutALastInstantEndsASearch(t *testing.T) {
	x, ends := exhaustive.Exploration{}, []string{}
	for x.Next() {
		_, _, result := waiting(sim.Config{Strategy: x.Strategy(), Ticks: 1}, endless{}, sim.Actor{})
		if result.Err != nil {
			ends = append(ends, result.Err.Error())
		}
	}
	if len(ends) != 1 || !strings.Contains(ends[0], "Next must come to an end") || x.Explored().Complete {
		t.Errorf("errors %q and complete %v, want one that says what is wrong", ends, x.Explored().Complete)
	}
}
