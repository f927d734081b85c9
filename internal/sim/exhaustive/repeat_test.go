package exhaustive_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
)

func TestARepeatedExplorationIsTheSameOne(t *testing.T) {
	effort.OneAtATime(t)
	once, twice := &exhaustive.Exploration{}, &exhaustive.Exploration{Repeat: true}
	finals, both := exploreIncrements(t, once), exploreIncrements(t, twice)
	if diff := cmp.Diff(once.Explored(), twice.Explored()); diff != "" {
		t.Errorf("explored (-once +twice):\n%s", diff)
	}
	for final, runs := range finals {
		if both[final] != 2*runs {
			t.Errorf("%d runs end in %d, want twice %d", both[final], final, runs)
		}
	}
	for seed := range uint64(30) {
		p := drawProgram(sim.Stream(seed, "repeated program"), seed, 4)
		explored := func(x *exhaustive.Exploration) exhaustive.Explored {
			for x.Next() {
				p.runAs(x.Strategy(), true, func(*sim.Sim) {})
			}
			return x.Explored()
		}
		const most = 300
		once, twice := explored(&exhaustive.Exploration{MaxSchedules: most}), explored(&exhaustive.Exploration{
			MaxSchedules: most, Repeat: true,
		})
		if diff := cmp.Diff(once, twice); diff != "" {
			t.Errorf("seed %d: explored (-once +twice):\n%s", seed, diff)
		}
	}
}

func TestARunThatIsYetToBeRepeatedIsNotComplete(t *testing.T) {
	x := &exhaustive.Exploration{Repeat: true}
	for _, complete := range []bool{false, true} {
		x.Next()
		incrementers(sim.Config{Strategy: x.Strategy()}, 1)
		if e := x.Explored(); e.Complete != complete || e.Schedules != 1 {
			t.Errorf("explored %+v, want one schedule, and complete %v", e, complete)
		}
	}
}

// A spared run is not repeated, but counts as if it had been.
func TestASparedRunIsNotRepeated(t *testing.T) {
	for actors := 1; actors <= 3; actors++ {
		x, repeated := &exhaustive.Exploration{Repeat: true, Spare: func(n int) bool { return n%2 == 1 }}, 0
		for x.Next() {
			if x.Repeating() {
				repeated++
			}
			incrementers(sim.Config{Strategy: x.Strategy()}, actors)
		}
		if e := x.Explored(); repeated != e.Schedules/2 || !e.Complete {
			t.Errorf("%d repeated, explored %+v; want every second one repeated, and complete", repeated, e)
		}
	}
}

// sorted is an access whose content is compared.
type sorted struct {
	sim.Request
	key string
}

func (s sorted) SortKey() string { return s.key }

// TestWhatDiffersEndsARepeatedExploration has actors that depend on how many runs came before.
func TestWhatDiffersEndsARepeatedExploration(t *testing.T) {
	for _, test := range []struct {
		name, want string
		do         func(p *sim.Proc, r *register, run int)
	}{
		{"what is written", `at step 5 "a effect" has led to two different states`,
			func(p *sim.Proc, r *register, run int) {
				p.Do(&access{to: r, write: true, value: run})
			}},
		{"what is asked", `a request was once "a one", and is now "a other"`, func(p *sim.Proc, r *register, run int) {
			p.Do(sorted{&access{to: r}, []string{"one", "other"}[run%2]})
		}},
		{"what a request does", `at step 5 "a effect one" has led to two different states`,
			func(p *sim.Proc, r *register, run int) {
				p.Do(sorted{&access{to: r, write: true, value: run}, "one"})
			}},
		{"how often", `at step 6 "a response" has led to two`, func(p *sim.Proc, r *register, run int) {
			for range 1 + run%2 {
				p.Do(&access{to: r})
			}
		}},
		{"less often in the end", `at step 4 "a response" has led to two`, func(p *sim.Proc, r *register, run int) {
			if run < 4 {
				p.Do(&access{to: r})
			}
		}},
		{"in every third pair of runs", `once "a 0", and is now "a 1"`, func(p *sim.Proc, r *register, run int) {
			value := run / 2 % 3
			p.Do(sorted{&access{to: r, write: true, value: value}, strconv.Itoa(value)})
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			x, runs := &exhaustive.Exploration{Repeat: true}, 0
			var last error
			for x.Next() {
				r := &register{}
				s := sim.New(sim.Config{Strategy: x.Strategy(), Fingerprint: func() uint64 { return uint64(r.value) }})
				for _, name := range []string{"a", "b"} {
					s.Add(sim.Actor{Name: name, Run: func(p *sim.Proc) {
						p.Do(&access{to: r, write: true, value: 7})
						test.do(p, r, runs)
					}})
				}
				last = s.Run().Err
				runs++
			}
			_, diverged := errors.AsType[*sim.DivergedError](last)
			if e := x.Explored(); !diverged || !strings.Contains(last.Error(), test.want) || e.Complete {
				t.Errorf("%d runs, the last with %v, explored %+v; want a DivergedError, %q, and not complete",
					runs, last, e, test.want)
			}
		})
	}
}

// A run without a choice is compared with its repetition like any other.
func TestARunWithoutAChoiceIsComparedToo(t *testing.T) {
	x, runs := &exhaustive.Exploration{Repeat: true}, 0
	var last error
	for x.Next() {
		s := sim.New(sim.Config{Strategy: x.Strategy()})
		s.Add(sim.Actor{
			Name: "a", Run: func(p *sim.Proc) { p.Do(sorted{&access{to: &register{}}, strconv.Itoa(runs)}) },
		})
		last = s.Run().Err
		runs++
	}
	if want := `a request was once "a 0", and is now "a 1"`; last == nil || !strings.Contains(last.Error(), want) ||
		runs != 2 {
		t.Errorf("%d runs, the last with %v; want 2, and %q", runs, last, want)
	}
}

func TestTheFirstDifferenceOfTwoLists(t *testing.T) {
	for _, test := range []struct {
		a, b           []string
		differs, other string
	}{
		{[]string{"x"}, []string{"y"}, "x", "y"},
		{[]string{"x", "y"}, []string{"x", "z"}, "y", "z"},
		{[]string{"x"}, []string{"x", "z"}, "", "z"},
		{[]string{"x", "y"}, []string{"x"}, "y", ""},
		{nil, []string{"z"}, "", "z"},
	} {
		if a, b := exhaustive.FirstDifference(test.a, test.b); a != test.differs || b != test.other {
			t.Errorf("%q and %q differ in %q and %q, want %q and %q", test.a, test.b, a, b, test.differs, test.other)
		}
	}
}

// A repetition with the same number of steps but another end differs.
func TestARepetitionThatEndsInAnotherWayIsNotTheSame(t *testing.T) {
	for _, breaks := range []int{0, 1} { // the first run, or its repetition
		x, runs := &exhaustive.Exploration{Repeat: true}, 0
		var last sim.Result
		for x.Next() {
			r := &register{}
			s := sim.New(sim.Config{Strategy: x.Strategy(), Fingerprint: func() uint64 { return uint64(r.value) }})
			s.Add(sim.Actor{Name: "a", Run: func(p *sim.Proc) {
				p.Do(&access{to: r, write: true, value: 7})
				if runs == breaks {
					panic("in the last step")
				}
			}})
			last = s.Run()
			runs++
		}
		if x.Explored().Complete || runs != breaks+1 || last.Err == nil {
			t.Errorf(
				"run %d breaks: %d runs, the last with %v, explored %+v; want an error in that run, and not complete",
				breaks, runs, last.Err, x.Explored(),
			)
		}
	}
}

// After the last choice only the end is compared: a longer or shorter repetition differs.
func TestARepetitionOfOtherLengthIsNotTheSame(t *testing.T) {
	for _, longer := range []int{0, 1} { // the first run, or its repetition
		x, runs := &exhaustive.Exploration{Repeat: true}, 0
		var last error
		for x.Next() {
			r := &register{}
			s := sim.New(sim.Config{Strategy: x.Strategy(), Fingerprint: func() uint64 { return uint64(r.value) }})
			s.Add(sim.Actor{Name: "a", Run: func(p *sim.Proc) {
				p.Do(&access{to: r, write: true, value: 7})
				if runs == longer {
					p.Do(&access{to: r})
				}
			}})
			last = s.Run().Err
			runs++
		}
		if _, diverged := errors.AsType[*sim.DivergedError](last); !diverged || x.Explored().Complete || runs != 2 {
			t.Errorf(
				"run %d is longer: %d runs, the last with %v, explored %+v; want a DivergedError, and not complete",
				longer, runs, last, x.Explored(),
			)
		}
		if want := "step 4"; longer == 1 && !strings.Contains(last.Error(), want) {
			t.Errorf("the longer repetition fails with %v, want it in %s, which follows on the last one of the run",
				last, want)
		}
	}
}

// TestASavedExplorationGoesOn saves explorations of drawn programs after each of their runs, as text, and resumes each
// in another exploration, which does all that the first one does.
func TestASavedExplorationGoesOn(t *testing.T) {
	effort.OneAtATime(t)
	for seed := range uint64(effort.Quick(40, 10)) {
		p := drawProgram(sim.Stream(seed, "saved program"), seed, 4)
		begin := func() *exhaustive.Exploration {
			x := &exhaustive.Exploration{MaxSchedules: 40, Repeat: seed%2 == 1}
			if seed%4 == 3 {
				x.Spare = func(n int) bool { return n%3 != 0 }
			}
			return x
		}
		// run makes one run, and says how it went.
		run := func(x *exhaustive.Exploration) string {
			again := x.Repeating()
			_, result := p.runAs(x.Strategy(), true, func(*sim.Sim) {})
			return fmt.Sprint(again, result, x.Explored())
		}
		// later saves an exploration, and returns one that goes on with it.
		later := func(x *exhaustive.Exploration) *exhaustive.Exploration {
			resumed := begin()
			resumed.Resume(stored(t, x))
			if diff := cmp.Diff(x.Explored(), resumed.Explored()); diff != "" {
				t.Fatalf("seed %d (-saved +resumed):\n%s", seed, diff)
			}
			return resumed
		}
		whole, parts := begin(), later(begin())
		for whole.Next() {
			want := run(whole)
			if !parts.Next() {
				t.Fatalf("seed %d: the saved exploration is over after %+v", seed, parts.Explored())
			}
			if diff := cmp.Diff(want, run(parts)); diff != "" {
				t.Fatalf("seed %d (-whole +saved):\n%s", seed, diff)
			}
			parts = later(parts)
		}
		if parts.Next() || !slices.Equal(whole.States(), parts.States()) {
			t.Errorf("seed %d: explored %+v, saved and resumed %+v", seed, whole.Explored(), parts.Explored())
		}
	}
}

// stored returns an exploration as it is read from the file that keeps it.
func stored(t *testing.T, x *exhaustive.Exploration) *exhaustive.Saved {
	t.Helper()
	saved := x.Save()
	text := must.Of(json.Marshal(saved))(t)
	read := &exhaustive.Saved{States: saved.States, Asleep: saved.Asleep}
	must.OK(t, json.Unmarshal(text, read))
	return read
}
