package reschedule_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/isr-sim/isr-sim/internal/search/reschedule"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
)

// lostUpdate attempts to lose an update among n incrementers.
func lostUpdate(n int, attempts *int) reschedule.Attempt {
	return func(s sim.Strategy) (sim.Result, bool) {
		*attempts++
		r, result := incrementers(sim.Config{Seed: 1, Strategy: s, ExpectedSteps: 10}, n)
		return result, result.Err == nil && r.value < n
	}
}

// fewest runs every schedule and returns the least number of context switches among those that lose an update.
func fewest(n int) int {
	least := -1
	for schedule, more := (sim.Choices{}), true; more; {
		var options []int
		r, result := incrementers(sim.Config{Strategy: strategy.Replay(schedule), Trace: func(t sim.TraceStep) {
			if t.Options > 1 {
				options = append(options, t.Options)
			}
		}}, n)
		if r.value < n && (least < 0 || result.Switches < least) {
			least = result.Switches
		}
		schedule, more = slices.Clone(result.Choices), false
		for i := len(schedule) - 1; i >= 0 && !more; i-- {
			if schedule[i]+1 < options[i] {
				schedule, more = append(schedule[:i:i], schedule[i]+1), true
			}
		}
	}
	return least
}

func TestShrinkComesToTheFewestContextSwitches(t *testing.T) {
	const actors = 2
	want, started := fewest(actors), map[int]bool{}
	for seed := range uint64(200) {
		attempts := 0
		attempt := lostUpdate(actors, &attempts)
		_, found := incrementers(sim.Config{Seed: seed}, actors)
		from, ok := reschedule.Record(strategy.Replay(found.Choices), attempt)
		if !ok {
			continue
		}
		started[from.Result.Switches] = true
		if got := reschedule.Shrink(from, attempt); got.Result.Switches != want {
			t.Errorf("seed %d: from %d switches to %d, want %d, which is the least there is", seed,
				from.Result.Switches, got.Result.Switches, want)
		}
		if attempts > 1000 {
			t.Errorf("seed %d: %d attempts", seed, attempts)
		}
	}
	if len(started) < 3 {
		t.Errorf("the schedules to shrink had one of the numbers of switches %v only", started)
	}
}

func TestShrinkingTwiceChangesNothing(t *testing.T) {
	for seed := range uint64(50) {
		attempts := 0
		attempt := lostUpdate(4, &attempts)
		_, found := incrementers(sim.Config{Seed: seed}, 4)
		from, ok := reschedule.Record(strategy.Replay(found.Choices), attempt)
		if !ok {
			continue
		}
		once := reschedule.Shrink(from, attempt)
		again, ok := reschedule.Record(strategy.Replay(once.Result.Choices), attempt)
		if !ok {
			t.Fatalf("seed %d: the shrunk schedule %v does not replay", seed, once.Result.Choices)
		}
		if twice := reschedule.Shrink(again, attempt); !slices.Equal(twice.Result.Choices, once.Result.Choices) {
			t.Errorf("seed %d: shrunk to %v, and that to %v", seed, once.Result.Choices, twice.Result.Choices)
		}
		if order := cmp.Or(cmp.Compare(once.Result.Switches, from.Result.Switches),
			cmp.Compare(once.Result.Steps, from.Result.Steps)); order > 0 {
			t.Errorf("seed %d: shrunk to %+v from %+v", seed, once.Result, from.Result)
		}
	}
}

// troubled is a run with everything that a schedule can do: losses, pauses, crashes, restarts, clock steps, orphans,
// sleeps and ticks.
func troubled(seed uint64, strategy sim.Strategy) sim.Result {
	s := sim.New(sim.Config{Seed: seed, Strategy: strategy, ExpectedSteps: 20, Ticks: 4})
	r := &register{}
	for _, name := range []string{"a", "b", "c"} {
		s.Add(sim.Actor{
			Name: name, Pauses: 1, PauseFor: 2 * time.Second, Crashes: 1, Restarts: 1,
			ClockSteps: []time.Duration{time.Second},
			Run: func(p *sim.Proc) {
				p.Do(&access{to: r, lossy: true})
				p.Clock().Sleep(3 * time.Second)
				p.Do(&access{to: r, write: true, value: 1, lossy: true})
			},
		})
	}
	return s.Run()
}

func TestARecordedRunIsTheSameByItsDeviationsAndByItsMoves(t *testing.T) {
	for seed := range uint64(300) {
		attempt := func(s sim.Strategy) (sim.Result, bool) { return troubled(seed, s), true }
		want, _ := reschedule.Record(strategy.POS, attempt)
		for name, strategy := range map[string]sim.Strategy{
			"deviations": reschedule.Deviate(want.Deviations), "moves": reschedule.Follow(want.Moves),
			"choices": strategy.Replay(want.Result.Choices),
		} {
			got, _ := reschedule.Record(strategy, attempt)
			if diff := gocmp.Diff(want.Moves, got.Moves, cmpopts.EquateComparable(sim.Move{})); diff != "" ||
				!slices.Equal(got.Result.Choices, want.Result.Choices) {
				t.Fatalf("seed %d, by its %s (-recorded +again):\n%s", seed, name, diff)
			}
			if diff := gocmp.Diff(want.Deviations, got.Deviations,
				cmpopts.EquateComparable(reschedule.Deviation{})); diff != "" {
				t.Fatalf("seed %d, by its %s, deviations (-recorded +again):\n%s", seed, name, diff)
			}
		}
	}
}

func TestMovesThatAreNotPossibleAreLeftOut(t *testing.T) {
	elsewhere := sim.Move{Kind: sim.Crash, Name: "mallory"}
	plain := troubled(1, reschedule.Deviate(nil))
	for name, strategy := range map[string]sim.Strategy{
		"deviate": reschedule.Deviate([]reschedule.Deviation{{At: reschedule.Point{}, Move: elsewhere},
			{At: reschedule.PointAfter("mallory", 3), Move: elsewhere}}),
		"follow": reschedule.Follow([]sim.Move{elsewhere}),
	} {
		if got := troubled(1, strategy); got.Err != nil || !slices.Equal(got.Choices, plain.Choices) {
			t.Errorf("%s: %v %v, want the default schedule %v", name, got.Choices, got.Err, plain.Choices)
		}
	}
	if plain.Switches != 4 { // a, b and c to their sleeps, then c, a and b
		t.Errorf("the default schedule has %d context switches, want 4", plain.Switches)
	}
}

// late is a run in which one tick may pass over several instants.
func late(strategy sim.Strategy) sim.Result {
	s := sim.New(sim.Config{Strategy: strategy, Ticks: 1})
	r := &register{}
	for i := range 3 {
		s.Add(sim.Actor{Name: string(rune('a' + i)), Run: func(p *sim.Proc) {
			p.Do(&access{to: r})
			p.Clock().Sleep(time.Duration(i+1) * time.Second)
		}})
	}
	return s.Run()
}

func TestATickOfASearchIsRecordedAndFollowed(t *testing.T) {
	attempt := func(s sim.Strategy) (sim.Result, bool) { return late(s), true }
	x, passed := exhaustive.Exploration{MaxSchedules: 2000}, 0
	for x.Next() {
		found := late(x.Strategy())
		want, _ := reschedule.Record(strategy.Replay(found.Choices), attempt)
		if slices.ContainsFunc(want.Moves,
			func(m sim.Move) bool { return m != sim.Move{Kind: sim.Tick, Name: "time"} && m.Kind == sim.Tick }) {
			passed++
		}
		for name, strategy := range map[string]sim.Strategy{
			"deviations": reschedule.Deviate(want.Deviations), "moves": reschedule.Follow(want.Moves),
		} {
			if got := late(strategy); !slices.Equal(got.Choices, found.Choices) {
				t.Fatalf("by its %s the run %v is %v", name, found.Choices, got.Choices)
			}
		}
	}
	if passed == 0 {
		t.Error("no tick has passed over an instant")
	}
}

// What happens after a step of an actor comes later, and so does all that the actor meets after it.
func TestLater(t *testing.T) {
	happen := []reschedule.Deviation{
		{At: reschedule.PointAfter("a", 1), Move: sim.Move{Kind: sim.Pause, Name: "a"}},
		{At: reschedule.PointAfter("a", 2), Move: sim.Move{Kind: sim.Crash, Name: "a"}},
		{At: reschedule.PointAfter("b", 2), Move: sim.Move{Kind: sim.Pause, Name: "b"}},
	}
	attempt := func(s sim.Strategy) (sim.Result, bool) { return troubled(1, s), true }
	from, _ := reschedule.Record(reschedule.Deviate(happen), attempt)
	var got [][3]int // the steps of the actor before each
	for s := range from.Later {
		later, _ := reschedule.Record(s, attempt)
		var before [3]int
		for i, d := range happen {
			for _, m := range later.Moves[:max(slices.Index(later.Moves, d.Move), 0)] {
				if m.Kind <= sim.Timer && m.Name == d.Move.Name {
					before[i]++
				}
			}
		}
		if got = append(got, before); len(got) == 4 {
			break
		}
	}
	if want := [][3]int{{2, 3, 2}, {1, 3, 2}, {1, 2, 3}, {3, 4, 2}}; !slices.Equal(got, want) {
		t.Errorf("they happen after %v, want %v", got, want)
	}
}
