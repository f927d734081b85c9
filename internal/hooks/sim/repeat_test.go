package sim_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

func TestARepeatedExplorationIsTheSameOne(t *testing.T) {
	effort.OneAtATime(t)
	once, twice := &sim.Exploration{}, &sim.Exploration{Repeat: true}
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
		explored := func(x *sim.Exploration) sim.Explored {
			for x.Next() {
				p.runAs(x.Strategy(), true, func(*sim.Sim) {})
			}
			return x.Explored()
		}
		const most = 300
		once, twice := explored(&sim.Exploration{MaxSchedules: most}), explored(&sim.Exploration{
			MaxSchedules: most, Repeat: true,
		})
		if diff := cmp.Diff(once, twice); diff != "" {
			t.Errorf("seed %d: explored (-once +twice):\n%s", seed, diff)
		}
	}
}

func TestARunThatIsYetToBeRepeatedIsNotComplete(t *testing.T) {
	x := &sim.Exploration{Repeat: true}
	for _, complete := range []bool{false, true} {
		x.Next()
		incrementers(sim.Config{Strategy: x.Strategy()}, 1)
		if e := x.Explored(); e.Complete != complete || e.Schedules != 1 {
			t.Errorf("explored %+v, want one schedule, and complete %v", e, complete)
		}
	}
}

// A spared run is not repeated, and counts as if it had been.
func TestASparedRunIsNotRepeated(t *testing.T) {
	for actors := 1; actors <= 3; actors++ {
		x, repeated := &sim.Exploration{Repeat: true, Spare: func(n int) bool { return n%2 == 1 }}, 0
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

// TestWhatDiffersEndsARepeatedExploration has actors that depend on the number of runs before.
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
			x, runs := &sim.Exploration{Repeat: true}, 0
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
	x, runs := &sim.Exploration{Repeat: true}, 0
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
		if a, b := sim.FirstDifference(test.a, test.b); a != test.differs || b != test.other {
			t.Errorf("%q and %q differ in %q and %q, want %q and %q", test.a, test.b, a, b, test.differs, test.other)
		}
	}
}

// A repetition with the same number of steps and another end is another run.
func TestARepetitionThatEndsInAnotherWayIsNotTheSame(t *testing.T) {
	for _, breaks := range []int{0, 1} { // the first run, or its repetition
		x, runs := &sim.Exploration{Repeat: true}, 0
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

// After the last choice only the end is compared: a repetition that is longer or shorter is another run.
func TestARepetitionOfOtherLengthIsNotTheSame(t *testing.T) {
	for _, longer := range []int{0, 1} { // the first run, or its repetition
		x, runs := &sim.Exploration{Repeat: true}, 0
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

// TestASavedExplorationGoesOn saves explorations of drawn programs after each of their runs, as text, and goes on with
// another one: all that it does is what the first does.
func TestASavedExplorationGoesOn(t *testing.T) {
	effort.OneAtATime(t)
	for seed := range uint64(effort.Quick(40, 10)) {
		p := drawProgram(sim.Stream(seed, "saved program"), seed, 4)
		begin := func() *sim.Exploration {
			x := &sim.Exploration{MaxSchedules: 40, Repeat: seed%2 == 1}
			if seed%4 == 3 {
				x.Spare = func(n int) bool { return n%3 != 0 }
			}
			return x
		}
		// run makes one run, and says how it went.
		run := func(x *sim.Exploration) string {
			again := x.Repeating()
			_, result := p.runAs(x.Strategy(), true, func(*sim.Sim) {})
			return fmt.Sprint(again, result, x.Explored())
		}
		// later saves an exploration, and returns one that goes on with it.
		later := func(x *sim.Exploration) *sim.Exploration {
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

// part explores a part of the program, up to a number of schedules, and goes on with another Exploration after each few
// of them.
func (p program) part(t *testing.T, split sim.Split, bound, few int) (all explored, e sim.Explored) {
	t.Helper()
	begin := func() *sim.Exploration {
		return &sim.Exploration{Off: sim.PersistentSets, Split: split, MaxSchedules: bound}
	}
	x, share := begin(), 0.0
	for x.Next() {
		if x.Explored().Complete {
			t.Fatalf("%v: a complete exploration goes on after %+v", split, x.Explored())
		}
		m, result := p.run(x.Strategy(), true)
		if result.Err != nil {
			t.Fatalf("%v: %v: %+v", split, result.Err, p)
		}
		if result.End == sim.Finished {
			all.Ends = append(all.Ends,
				uint64(fingerprint.Hash(m.fingerprint(true)).Number(uint64(m.clock.Now().UnixNano()))))
		}
		e = x.Explored()
		if e.Share < share-1e-12 || e.Share > 1+1e-9 {
			t.Fatalf("%v: %g of the tree after %g", split, e.Share, share)
		}
		if share = e.Share; e.Schedules%few != 0 {
			continue
		}
		read := stored(t, x)
		x = begin()
		x.Resume(read)
		if diff := cmp.Diff(e, x.Explored()); diff != "" {
			t.Fatalf("%v (-saved +resumed):\n%s", split, diff)
		}
	}
	if e = x.Explored(); e.Complete != (math.Abs(e.Share-1) < 1e-9) {
		t.Errorf("%v: complete %v, and %g of its tree", split, e.Complete, e.Share)
	}
	slices.Sort(all.Ends)
	all.Ends = slices.Compact(all.Ends)
	all.States = x.States()
	return all, e
}

// stored returns an exploration as it is read from the file that keeps it.
func stored(t *testing.T, x *sim.Exploration) *sim.Saved {
	t.Helper()
	saved := x.Save()
	text := must.Of(json.Marshal(saved))(t)
	read := &sim.Saved{States: saved.States, Asleep: saved.Asleep}
	must.OK(t, json.Unmarshal(text, read))
	return read
}

// The parts reach together what the whole reaches, no part is needless, and each deals the same subtrees.
func TestPartsAreTheWhole(t *testing.T) {
	effort.Long(t)
	const bound = 3000
	compared, needed := 0, 0
	compare := func(p program, few int) {
		want, e := p.part(t, sim.Split{}, bound, few)
		if !e.Complete {
			return
		}
		compared++
		for _, parts := range []int{1, 2, 3} {
			var each []explored
			var before sim.Split
			for i := range parts {
				got, e := p.part(t, sim.Split{Part: i + 1, Parts: parts}, 0, few)
				each = append(each, got)
				s := e.Split
				if !e.Complete || s.Depth == 0 || i > 0 && (s.Subtrees != before.Subtrees || s.Depth != before.Depth ||
					s.Tops != before.Tops) || s.First != before.Last+1 {
					t.Fatalf("part %d of %d: %+v after %+v: %+v", i+1, parts, e, before, p)
				}
				if s.Subtrees > 0 && s.Subtrees < 8*parts {
					t.Errorf("found %d subtrees for %d parts, want 8 each", s.Subtrees, parts)
				}
				before = s
			}
			if before.Last != before.Subtrees {
				t.Fatalf("the last part ends with %+v: %+v", before, p)
			}
			for without := -1; without < parts; without++ {
				var sum explored
				for i, got := range each {
					if i != without {
						sum.Ends, sum.States = append(sum.Ends, got.Ends...), append(sum.States, got.States...)
					}
				}
				slices.Sort(sum.Ends)
				slices.Sort(sum.States)
				sum.Ends, sum.States = slices.Compact(sum.Ends), slices.Compact(sum.States)
				if p.Secret { // each order is a state of its own, and parts run other ones
					sum.States = want.States
				}
				diff := cmp.Diff(want, sum)
				if without < 0 && diff != "" {
					t.Fatalf("%d parts (-whole +parts):\n%s%+v", parts, diff, p)
				}
				if without >= 0 && parts > 1 && diff != "" {
					needed++
				}
			}
		}
	}
	for _, c := range corners {
		compare(c.program, 7)
	}
	for seed := range uint64(effort.Fewer(400, 60)) {
		compare(drawProgram(sim.Stream(seed, "program"), seed, 4), 1+int(seed%13))
	}
	t.Logf("%d programs; %d times a part was needed", compared, needed)
	if want := effort.Fewer(100, 15); compared < want || needed < want {
		t.Errorf("%d programs, and %d times a part was needed, want %d each", compared, needed, want)
	}
}

func TestPartsSayWhatTheyAre(t *testing.T) {
	for want, s := range map[string]sim.Split{
		"the whole":                       {},
		"part 2 of 3":                     {Part: 2, Parts: 3},
		"part 2 of 3: none of 1 subtrees": {Part: 2, Parts: 3, Depth: 4, First: 1, Last: 0, Subtrees: 1},
		"part 2 of 3: none of 0 subtrees": {Part: 2, Parts: 3, Depth: 4, First: 1},
		"part 1 of 3: the subtrees 1 to 9 of 29, 4 choices deep": {
			Part: 1, Parts: 3, Depth: 4, First: 1, Last: 9, Subtrees: 29,
		},
	} {
		if got := s.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// What is left of a part are the subtrees that were found and those that wait, too. Three actors that only begin have
// six orders: the top finds three subtrees, which are too few, and goes on below them.
func TestWhatIsLeftOfAPart(t *testing.T) {
	x := sim.Exploration{Off: noReduction, Split: sim.Split{Part: 1, Parts: 1}}
	want := [][3]int{{4, 0, 1}, {5, 0, 1}, {6, 1, 1}, {5, 1, 1}, {4, 1, 1}, {3, 1, 1}, {2, 1, 1}, {1, 1, 1}, {}}
	var got [][3]int
	for x.Next() {
		s := sim.New(sim.Config{Strategy: x.Strategy()})
		for _, name := range []string{"a", "b", "c"} {
			s.Add(sim.Actor{Name: name, Run: func(*sim.Proc) {}})
		}
		s.Run()
		e := x.Explored()
		got = append(got, [3]int{e.Open, e.Shallowest, e.Deepest})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("open branches, and the shallowest and the deepest of them (-want +got):\n%s", diff)
	}
	if e, want := x.Explored(), (sim.Split{Part: 1, Parts: 1, Depth: 2, First: 1}); !e.Complete || e.Split != want ||
		e.Share != 1 {
		t.Errorf("got %+v, want it complete, and no subtree left at a depth of 2", e)
	}
}

// Eight subtrees are enough for each part. Two actors of five steps each have 16 beginnings of four steps.
func TestPartsHaveEightSubtrees(t *testing.T) {
	writer := programActor{Script: []command{{Write: true}, {Write: true}}}
	x := sim.Exploration{Off: noReduction, Split: sim.Split{Part: 2, Parts: 2}}
	for x.Next() && x.Explored().Split.Depth == 0 {
		program{Registers: 1, Actors: []programActor{writer, writer}}.run(x.Strategy(), false)
	}
	e, want := x.Explored(), sim.Split{Part: 2, Parts: 2, Depth: 4, First: 9, Last: 16, Subtrees: 16}
	if want.Tops = e.Split.Tops; e.Split != want || e.Share != 0 {
		t.Errorf("got %+v, want the part %+v, and none of it explored", e, want)
	}
}
