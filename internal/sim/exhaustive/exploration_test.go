package exhaustive_test

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
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
)

// noReduction switches all reductions off. The rest is a plain enumeration.
const noReduction = sim.SleepSets | sim.StateComparison | sim.PersistentSets | sim.UnreadClocks | sim.OrphanedReads

// explored has everything that an exploration of a program has reached, each once, sorted: the fingerprints of the ends
// of its runs, of all states on the way, and the orders of its runs (see sim.Order).
type explored struct {
	Ends, States, Orders []uint64
}

// asked says what an exploration notes in addition to the ends.
type asked struct{ states, orders bool }

// explore explores the program.
func (p program) explore(
	t *testing.T, off sim.Reduction, remember bool, asked asked, bound int,
) (all explored, e exhaustive.Explored) {
	t.Helper()
	x := exhaustive.Exploration{Off: off | p.irreducible(), MaxSchedules: bound}
	var run *sim.Sim
	if asked.states {
		x.OnVisit(func(v exhaustive.Visit) {
			if v.Come {
				all.States = append(all.States, run.Fingerprint())
			}
		})
	}
	for x.Next() {
		m, result := p.runAs(x.Strategy(), remember, func(s *sim.Sim) { run = s })
		if result.Err != nil {
			t.Fatalf("%+v: %v", p, result.Err)
		}
		if result.End == sim.Finished {
			all.Ends = append(all.Ends,
				uint64(fingerprint.Hash(m.fingerprint(remember)).Number(uint64(m.clock.Now().UnixNano()))))
			if asked.orders {
				order := &sim.Order{}
				p.run(order.Of(strategy.Replay(result.Choices)), remember)
				all.Orders = append(all.Orders, order.Hash())
			}
		}
	}
	for _, list := range []*[]uint64{&all.Ends, &all.States, &all.Orders} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return all, x.Explored()
}

// No outcome is lost. Each reduction keeps every end; each but persistent sets keeps every state on the way; and each
// but state comparison keeps every order of steps that race.
func TestReductionsLeaveOutNoOutcome(t *testing.T) {
	effort.Long(t)
	reductions := []struct {
		name string
		off  sim.Reduction
	}{
		{"sleep sets", noReduction &^ sim.SleepSets},
		{"state comparison", noReduction &^ sim.StateComparison},
		{"persistent sets", noReduction &^ sim.PersistentSets},
		{"sleep sets and state comparison", sim.PersistentSets | sim.UnreadClocks | sim.OrphanedReads},
		{"state comparison and unread clocks", sim.SleepSets | sim.PersistentSets | sim.OrphanedReads},
		{"sleep sets and persistent sets", sim.StateComparison | sim.UnreadClocks | sim.OrphanedReads},
		{"orphaned reads", noReduction &^ sim.OrphanedReads},
		{"state comparison and orphaned reads", noReduction &^ (sim.StateComparison | sim.OrphanedReads)},
		{"all", 0},
	}
	compared, plainly, reduced := 0, 0, make([]int, len(reductions))
	compare := func(p program, name string, bound int) {
		for _, remember := range []bool{true, false} {
			// The orders do not depend on what counts as a state. A secret, which no answer shows, makes each order a
			// different state.
			may := asked{states: !p.Secret, orders: remember}
			want, e := p.explore(t, noReduction, remember, may, bound)
			if !e.Complete {
				break // too long for the plain enumeration
			}
			compared++
			plainly += e.Schedules
			for i, r := range reductions {
				persists := r.off&sim.PersistentSets == 0
				// The states differ if clocks count only where they are read.
				dropped := r.off&sim.OrphanedReads == 0 // and so is their place in the order
				noted := asked{
					states: may.states && !persists && r.off&sim.UnreadClocks != 0 && !dropped,
					orders: may.orders && r.off&sim.StateComparison != 0 && !(persists && p.outlived()) && !dropped,
				}
				got, e := p.explore(t, r.off, remember, noted, bound)
				if !noted.states {
					got.States = want.States
				}
				if !noted.orders {
					got.Orders = want.Orders
				}
				if diff := cmp.Diff(want, got); diff != "" || !e.Complete {
					t.Fatalf("%s, %s, remember %v: complete %v, outcomes (-plain +reduced):\n%s%+v", name, r.name,
						remember, e.Complete, diff, p)
				}
				reduced[i] += e.Schedules
			}
		}
	}
	for _, c := range corners {
		before := compared
		if compare(c.program, c.name, 20_000); compared != before+2 {
			t.Errorf("%s: too long", c.name)
		}
	}
	if effort.Fewer(true, false) {
		compare(restless(), "restless", 20_000)
	}
	for seed := range uint64(effort.Fewer(1000, 200)) {
		compare(drawProgram(sim.Stream(seed, "program"), seed, 2+int(seed/7%3)),
			fmt.Sprint("seed ", seed), effort.Fewer(600, 200))
	}
	t.Logf("%d comparisons", compared)
	if want := effort.Fewer(300, 20); compared < want {
		t.Errorf("%d comparisons, want at least %d", compared, want)
	}
	for i, r := range reductions {
		t.Logf("%s: %d schedules of %d", r.name, reduced[i], plainly)
		if reduced[i] >= plainly {
			t.Errorf("%s left out nothing: %d schedules of %d", r.name, reduced[i], plainly)
		}
	}
}

// end describes the registers at the end of a run. Equal actors have numbers in it, and no names.
func (m *machine) end() string {
	text := fmt.Sprint(m.clock.Now(), m.Sweeps, m.Losses, m.calls)
	var met []string
	for _, c := range m.cells {
		text += fmt.Sprint(" ", c.value, c.before)
		if c.by == "" {
			continue
		}
		if !slices.Contains(met, c.by) {
			met = append(met, c.by)
		}
		text += fmt.Sprint(" by ", m.class(int(c.by[0]-'a')), slices.Index(met, c.by))
	}
	return text
}

// upToNames returns the states that an exploration of a program has reached, and the ends of its runs, each once,
// sorted: states or ends that differ only in which of equal actors is which count as one.
func (p program) upToNames(
	t *testing.T, off sim.Reduction, memory bool, bound int,
) (states []uint64, ends []string, e exhaustive.Explored) {
	t.Helper()
	x := &exhaustive.Exploration{Off: off | p.irreducible(), MaxSchedules: bound}
	var pool sim.Pool
	defer pool.Close()
	defer x.Close()
	var m *machine
	var run *sim.Sim
	unknown := func(a, b string) bool {
		return a != b && a != "" && b != "" && p.class(int(a[0]-'a')) == p.class(int(b[0]-'a')) &&
			p.twin(a) && m.Rank(a)+m.Rank(b) == 0
	}
	x.OnVisit(func(v exhaustive.Visit) {
		if v.Come {
			states = append(states, run.Fingerprint())
		}
		if p.Twins {
			if confused := v.Confused(run, unknown); confused != "" {
				t.Fatalf("%s have one name\n%+v", confused, p)
			}
		}
	})
	for x.Next() {
		if run = x.Rewind(); run == nil {
			cfg := sim.Config{Strategy: x.Strategy()}
			if memory {
				cfg.Memory.Search, cfg.Pool = x, &pool
			}
			m, run = p.sim(cfg, false)
		}
		switch result := run.Run(); {
		case result.Err != nil:
			t.Fatalf("%+v: %v", p, result.Err)
		case result.End == sim.Finished:
			ends = append(ends, m.end())
		}
	}
	slices.Sort(states)
	slices.Sort(ends)
	return slices.Compact(states), slices.Compact(ends), x.Explored()
}

// If actors are interchangeable, every end remains, up to their names, and so does every state without persistent sets.
func TestInterchangeableActorsLeaveOutNothing(t *testing.T) {
	effort.Long(t)
	compared, without, with := 0, 0, 0
	compare := func(p program, name string, bound int) {
		p.Twins = true
		states, ends, plain := p.upToNames(t, noReduction&^sim.UnreadClocks, false, bound)
		if !plain.Complete {
			return
		}
		compared++
		for _, memory := range []bool{!slices.ContainsFunc(p.Actors, hasLanes), false} {
			const all = sim.PersistentSets | sim.OrphanedReads // the reductions that leave out states
			for _, off := range []sim.Reduction{all, all | sim.SleepSets, 0} {
				gotStates, gotEnds, e := p.upToNames(t, off, memory, bound)
				if off == 0 {
					gotStates = states
				}
				if !slices.Equal(states, gotStates) || !slices.Equal(ends, gotEnds) || !e.Complete {
					t.Fatalf("%s, memory %v, %d off: complete %v, %d states and %d ends, want %d and %d\n%+v",
						name, memory, off, e.Complete, len(gotStates), len(gotEnds), len(states), len(ends), p)
				}
				if off == 0 && !memory {
					with += e.Schedules
				}
			}
		}
		p.Twins = false
		_, _, e := p.upToNames(t, 0, false, bound)
		without += e.Schedules
	}
	for _, c := range corners {
		compare(c.program, c.name, 20_000)
	}
	once := programActor{Script: []command{{Sleep: time.Second}}}
	twice := programActor{Script: slices.Repeat(once.Script, 2)}
	compare(program{Registers: 1, Actors: []programActor{once, once, twice, twice}}, "two classes", 20_000)
	for seed := range uint64(effort.Fewer(1500, 400)) {
		rng := sim.Stream(seed, "twins")
		p := drawProgram(rng, seed, 2+int(seed/7%3))
		p.Signed = seed%2 == 0
		for i := range p.Actors[1:] { // two or three twins, or two twins and another actor
			if i == 0 || rng.IntN(2) == 0 {
				p.Actors[i+1] = p.Actors[0]
			}
		}
		if !p.Secret { // each answer would make a separate state
			compare(p, fmt.Sprint("seed ", seed), effort.Fewer(1500, 200))
		}
	}
	t.Logf("%d comparisons: %d schedules, and %d if twins are told apart", compared, with, without)
	if want := effort.Fewer(300, 60); compared < want || with >= without {
		t.Errorf("%d comparisons, want at least %d; %d schedules, want fewer than %d", compared, want, with, without)
	}
}

// names is a Symmetry of a world in which the order of names matters.
type names struct{}

func (names) Rank(string) int { return 0 }
func (names) Broken() bool    { return true }

// If the order of names matters to the world, the exploration breaks, and nothing that it explored counts.
func TestActorsWhoseNamesHaveAnOrderAreNotInterchangeable(t *testing.T) {
	var x exhaustive.Exploration
	var last sim.Result
	for x.Next() {
		s := sim.New(sim.Config{
			Strategy: x.Strategy(), Fingerprint: func() uint64 { return 0 }, Symmetry: names{},
		})
		for _, name := range []string{"a", "b"} {
			s.Add(sim.Actor{Name: name, Class: 1, Run: func(*sim.Proc) {}})
		}
		last = s.Run()
	}
	taken, is := errors.AsType[*sim.TakenError](last.Err)
	if !is || taken.Off != sim.InterchangeableActors || last.End != sim.Broken || x.Explored().Complete {
		t.Errorf("the run was %v with error %v, explored %+v", last.End, last.Err, x.Explored())
	}
}

// An Immediate request can end its actor, and so the run, in the very step that makes a sweep possible. Another node's
// own step, which would keep the run going, must not be taken before it.
func TestImmediateRequestsAndStepsThatNeedNotHappen(t *testing.T) {
	for _, off := range []sim.Reduction{0, sim.PersistentSets} {
		x, ends := exhaustive.Exploration{Off: off}, map[int]bool{}
		var err error
		for x.Next() {
			m, result := corners[0].run(x.Strategy(), false)
			if err = result.Err; result.End == sim.Finished {
				ends[m.cells[0].value] = true
			}
		}
		if refused := err != nil && strings.Contains(err.Error(), "Immediate"); refused != (off == 0) ||
			x.Explored().Complete == refused {
			t.Errorf("off %b: error %v, explored %+v; want it refused with persistent sets, and complete without", off,
				err, x.Explored())
		}
		if off != 0 && len(ends) != 2 {
			t.Errorf("off %b: the register ends as one of %v, want it written and swept", off, ends)
		}
	}
}

// The same is true of requests that a crash may leave in the network, and of a node that may come back.
func TestImmediateRequestsAreRefusedWhereANodeMayHaveLeftSomething(t *testing.T) {
	write, last := command{Write: true}, []command{{Write: true, Immediate: true}}
	for name, p := range map[string]program{
		"a request whose sender is gone": {
			Actors: []programActor{{Crashes: 1, Script: []command{write}}, {Script: last}},
		},
		"a node that may come back": {
			Actors: []programActor{{Crashes: 1, Restarts: 1, Script: []command{{Sleep: time.Second}}}, {Script: last}},
		},
		"neither": {Actors: []programActor{{Script: last}, {Script: last}}},
	} {
		p.Registers, p.Immediate, p.Timeless = 1, true, true
		x := exhaustive.Exploration{}
		var err error
		for x.Next() {
			_, result := p.run(x.Strategy(), false)
			err = result.Err
		}
		if refused := err != nil && strings.Contains(err.Error(), "Immediate"); refused != (name != "neither") ||
			x.Explored().Complete == refused {
			t.Errorf("%s: error %v, explored %+v", name, err, x.Explored())
		}
	}
}

// The reads of a crashed node are not taken, except by a search with Visit. There they lead back to the state that they
// started from.
func TestOrphanedReads(t *testing.T) {
	p := program{
		Registers: 1, Actors: []programActor{{Crashes: 1, Script: []command{{}}}, {Script: []command{{Write: true}}}},
	}
	for _, test := range []struct {
		off   sim.Reduction
		look  bool
		taken bool
	}{{0, false, false}, {sim.OrphanedReads, false, true}, {0, true, true}} {
		x := exhaustive.Exploration{Off: sim.SleepSets | sim.PersistentSets | test.off, Backwards: true}
		if test.look {
			x.Visit = func(uint64) bool { return true }
		}
		taken := false
		x.OnVisit(func(v exhaustive.Visit) { taken = taken || v.Taken >= 0 && v.Kind() == sim.Orphan })
		for x.Next() {
			p.run(x.Strategy(), false)
		}
		if e := x.Explored(); taken != test.taken || !e.Complete || test.off == 0 && e.States != 20 {
			t.Errorf("off %b, looking %v: an orphaned read is taken: %v, want %v; %+v", test.off, test.look, taken,
				test.taken, e)
		}
	}
}

// walker walks at random, and checks that equal states have equal futures: the same steps are possible, and each leads
// to equal states.
type walker struct {
	t        *testing.T
	rng      *rand.Rand
	sim      *sim.Sim
	possible map[uint64][]uint64  // by state
	leads    map[[2]uint64]uint64 // by state and step
	again    int                  // how often a state has come up again

	last [2]uint64
	on   bool
}

func (w *walker) Choose(steps []sim.Step) int {
	state := w.sim.Fingerprint()
	var ids []uint64
	for _, s := range steps {
		ids = append(ids, s.Option(0).ID)
	}
	sorted := slices.Sorted(slices.Values(ids)) // requests of crashed machines are not ordered
	if before, known := w.possible[state]; !known {
		w.possible[state] = sorted
	} else if w.again++; !slices.Equal(before, sorted) {
		w.t.Errorf("equal states, but once %x is possible, and once %x", before, sorted)
	}
	if w.on {
		if before, known := w.leads[w.last]; known && before != state {
			w.t.Errorf("equal states, but step %x leads to different ones", w.last[1])
		}
		w.leads[w.last] = state
	}
	i := w.rng.IntN(len(steps))
	w.last, w.on = [2]uint64{state, ids[i]}, true
	return i
}

// A fingerprint that leaves out a part of the state is noticed wherever two histories lead to that state, even if no
// search misses an end.
func TestEqualStatesHaveEqualFutures(t *testing.T) {
	again := 0
	for seed := range uint64(effort.Fewer(300, 30)) {
		rng := sim.Stream(seed, "equal states")
		p := drawProgram(rng, seed, 4)
		if seed < uint64(len(corners)) {
			p = corners[seed].program
		} else if seed == uint64(len(corners)) {
			p = restless()
		}
		if p.Secret {
			continue // a fact that no answer shows splits one state into two
		}
		for _, remember := range []bool{true, false} {
			w := &walker{t: t, rng: rng, possible: map[uint64][]uint64{}, leads: map[[2]uint64]uint64{}}
			strategy := sim.Strategy{Name: "walker", New: func(*rand.Rand, int) sim.Chooser { return w }}
			for range 60 {
				w.on = false
				p.runAs(strategy, remember, func(s *sim.Sim) { w.sim = s })
			}
			if t.Failed() {
				t.Fatalf("seed %d, remember %v: %+v", seed, remember, p)
			}
			again += w.again
		}
	}
	if again == 0 {
		t.Error("no state came up again: nothing was compared")
	}
}

// The explorer need not take the steps that are asleep in a state: it takes them in another state. If a state comes
// up again with fewer steps asleep, the steps that woke are taken then. So each step that was not asleep every time is
// taken once in the state.
func TestAStateIsLeftByAllStepsButThoseAlwaysAsleep(t *testing.T) {
	effort.NotShort(t)
	effort.OneAtATime(t)
	t.Run("actors that are told apart", func(t *testing.T) {
		leavesAllAwake(t, func(seed uint64) program { return drawProgram(sim.Stream(seed, "program"), seed, 4) })
	})
	t.Run("twins", func(t *testing.T) {
		leavesAllAwake(t, func(seed uint64) program {
			p := drawProgram(sim.Stream(seed, "program"), seed, 2+int(seed%3))
			p.Twins, p.Secret = true, false
			for i := range p.Actors[1:] {
				p.Actors[i+1] = p.Actors[0]
			}
			return p
		})
	})
}

// leavesAllAwake checks what state comparison with sleep sets relies on: equal states have the same steps under the
// same names, and every step that was once awake in a state is taken from it.
func leavesAllAwake(t *testing.T, draw func(seed uint64) program) {
	type left struct{ possible, asleep, taken []uint64 }
	again := 0
	for seed := range uint64(effort.Fewer(3000, 80)) {
		if seed == 0 {
			seed = 2418 // lanes leave requests, and two paths to a state leave them in different orders
		}
		p := draw(seed)
		var run *sim.Sim
		states := map[uint64]*left{}
		x := exhaustive.Exploration{Off: sim.PersistentSets | sim.OrphanedReads, MaxSchedules: 600}
		x.OnVisit(func(m exhaustive.Visit) {
			if p.Twins { // the states are those up to names
				m = m.UpToNames(run)
			}
			fingerprint := run.Fingerprint()
			state := states[fingerprint]
			if state == nil {
				state = &left{m.Possible, m.Asleep, nil}
				states[fingerprint] = state
			}
			if !slices.Equal(inOrder(m.Possible), inOrder(state.possible)) {
				t.Fatalf("seed %d: two visits of a state name its steps %x and %x: %+v", seed,
					state.possible, m.Possible, p)
			}
			if m.Come {
				before := len(state.asleep)
				state.asleep = slices.DeleteFunc(slices.Clone(state.asleep),
					func(id uint64) bool { return !slices.Contains(m.Asleep, id) })
				if len(state.asleep) < before {
					again++
				}
			}
			if m.Taken >= 0 {
				state.taken = append(state.taken, m.Possible[m.Taken])
			}
		})
		for x.Next() {
			p.runAs(x.Strategy(), false, func(s *sim.Sim) { run = s })
		}
		if !x.Explored().Complete {
			continue
		}
		for _, state := range states { //isrsim:unordered the first failure is not the point
			slices.Sort(state.taken)
			// steps of twins share names
			if !p.Twins && len(slices.Compact(slices.Clone(state.taken))) < len(state.taken) {
				t.Fatalf("seed %d: a state was left twice by the same step: %x taken: %+v", seed, state.taken, p)
			}
			for _, id := range state.possible {
				if !slices.Contains(state.taken, id) && !slices.Contains(state.asleep, id) {
					t.Fatalf("seed %d: a state was never left by a step that was awake in it: %x of %x, %x taken: %+v",
						seed, id, state.possible, state.taken, p)
				}
			}
		}
	}
	if again == 0 {
		t.Error("no state came up again with fewer steps asleep")
	}
	t.Logf("%d times a state came up again with fewer steps asleep", again)
}

func inOrder(ids []uint64) []uint64 { return slices.Sorted(slices.Values(ids)) }

// Larger programs, too large for the plain enumeration: here the reductions interact more.
func TestTheReductionsAgreeWithSleepSetsAlone(t *testing.T) {
	effort.NotShort(t)
	effort.OneAtATime(t)
	const bound = 10_000
	compared, alone, all := 0, 0, 0
	for seed := range uint64(effort.Fewer(20, 5)) {
		p := drawProgram(sim.Stream(seed, "larger program"), seed, 7)
		want, e := p.explore(t, noReduction&^sim.SleepSets, false, asked{}, bound)
		if !e.Complete {
			continue
		}
		compared++
		alone += e.Schedules
		got, e := p.explore(t, 0, false, asked{}, bound)
		if diff := cmp.Diff(want, got); diff != "" || !e.Complete {
			t.Fatalf("seed %d: complete %v, outcomes (-sleep sets +all):\n%s%+v", seed, e.Complete, diff, p)
		}
		all += e.Schedules
	}
	t.Logf("%d programs, %d schedules of %d", compared, all, alone)
	if want := effort.Fewer(6, 2); compared < want {
		t.Errorf("%d programs compared, want at least %d", compared, want)
	}
}

// exploreIncrements explores the incrementers.
func exploreIncrements(t *testing.T, x *exhaustive.Exploration) (finals map[int]int) {
	t.Helper()
	finals = map[int]int{}
	for x.Next() {
		r, result := incrementers(sim.Config{Strategy: x.Strategy()}, 3)
		if result.End == sim.Finished {
			finals[r.value]++
		} else if result.End != sim.Abandoned {
			t.Fatalf("run %v: %v", result.End, result.Err)
		}
	}
	return finals
}

func TestAnExplorationFindsEveryOutcomeOfALostUpdate(t *testing.T) {
	x := &exhaustive.Exploration{}
	finals := exploreIncrements(t, x)
	if len(finals) != 3 || finals[1] == 0 || finals[2] == 0 || finals[3] == 0 {
		t.Errorf("three increments end in %v, want 1, 2 and 3", finals)
	}
	if e := x.Explored(); !e.Complete || e.Open != 0 || e.Schedules >= 90 {
		t.Errorf("explored %+v, want it complete, with fewer schedules than the 90 orders of the accesses", e)
	}
}

// Of the runs of three writers, two with the same value, one is Finished for each end, with repetitions, too.
func TestOneRunFinishesInEachState(t *testing.T) {
	for _, repeat := range []bool{false, true} {
		finished, x := map[int]int{}, &exhaustive.Exploration{Repeat: repeat}
		for x.Next() {
			r, again := &register{}, x.Repeating()
			s := sim.New(sim.Config{Strategy: x.Strategy(), Fingerprint: func() uint64 { return uint64(r.value) }})
			for i := range 3 {
				s.Add(sim.Actor{Name: string(rune('a' + i)),
					Run: func(p *sim.Proc) { p.Do(&access{to: r, write: true, value: i / 2}) }})
			}
			if result := s.Run(); result.End == sim.Finished && !again {
				finished[r.value]++
			} else if result.Err != nil {
				t.Fatal(result.Err)
			}
		}
		if want := map[int]int{0: 1, 1: 1}; !maps.Equal(finished, want) {
			t.Errorf("repeat %v: runs finished with the values %v, want %v", repeat, finished, want)
		}
	}
}

func TestAnswersThatCannotBeComparedMakeStatesDifferent(t *testing.T) {
	// Writes of the same value race, but their order does not matter.
	schedules := func(off sim.Reduction, comparable bool) int {
		x := exhaustive.Exploration{Off: off}
		for x.Next() {
			r := &register{}
			s := sim.New(sim.Config{Strategy: x.Strategy(), Fingerprint: func() uint64 { return uint64(r.value) }})
			for _, name := range []string{"a", "b", "c"} {
				s.Add(sim.Actor{Name: name, Run: func(p *sim.Proc) {
					var write sim.Request = &access{to: r, write: true, value: 1}
					if !comparable {
						write = struct{ sim.Request }{write}
					}
					p.Do(write)
					p.Do(write) // the observations of an actor count until it ends
				}})
			}
			s.Run()
		}
		return x.Explored().Schedules
	}
	with, without, plain := schedules(0, true), schedules(0, false), schedules(sim.StateComparison, true)
	if with >= without || without != plain {
		t.Errorf("%d schedules with comparable answers, %d without, %d without comparing; want fewer, and then as many",
			with, without, plain)
	}
}

// After Forget, two states count as equal even if the actors observed different things before it.
func TestWhatIsForgottenMakesNoStates(t *testing.T) {
	states := func(forgets bool) int {
		x := exhaustive.Exploration{}
		for x.Next() {
			r := &register{}
			s := sim.New(sim.Config{Strategy: x.Strategy(), Fingerprint: func() uint64 { return uint64(r.value) }})
			for _, value := range []int{1, 2} {
				s.Add(sim.Actor{Name: fmt.Sprint(value), Run: func(p *sim.Proc) {
					p.Do(&access{to: r})
					if forgets {
						p.Forget("", noState)
					}
					p.Do(&access{to: r, write: true, value: value})
				}})
			}
			s.Run()
		}
		return x.Explored().States
	}
	if with, without := states(true), states(false); with >= without {
		t.Errorf("%d states where what was read is forgotten, %d where it is not; want fewer", with, without)
	}
}

func TestABoundLeavesBranchesOpenAndSaysSo(t *testing.T) {
	for _, x := range []*exhaustive.Exploration{{MaxSchedules: 3}, {MaxStates: 12}} {
		for x.Next() {
			drawProgram(sim.Stream(3, "larger program"), 3, 12).run(x.Strategy(), true)
		}
		if e := x.Explored(); e.Complete || e.Open == 0 || e.Deepest < e.Shallowest || e.Deepest == 0 {
			t.Errorf("bounds of %d schedules and %d states: explored %+v, want branches left, and where",
				x.MaxSchedules, x.MaxStates, e)
		}
	}
}

func TestRunsThatCannotBeRepeatedEndAnExploration(t *testing.T) {
	runs := 0
	x := exhaustive.Exploration{}
	var last sim.Result
	for x.Next() {
		runs++
		s, r := sim.New(sim.Config{Strategy: x.Strategy()}), &register{name: "r"}
		for i := range 2 {
			s.Add(sim.Actor{Name: fmt.Sprint(i), Run: func(p *sim.Proc) {
				for range runs { // a different number of requests each time
					p.Do(&access{to: r, write: true, lossy: runs > 1})
				}
			}})
		}
		last = s.Run()
	}
	if e := x.Explored(); last.End != sim.Broken || last.Err == nil || e.Complete {
		t.Errorf("run %v with %v, explored %+v; want broken, and not complete", last.End, last.Err, e)
	}
}

// A run that the user does not wait for is not explored, nor are the runs that would follow.
func TestARunThatIsLeftEndsTheExploration(t *testing.T) {
	x, runs := exhaustive.Exploration{}, 0
	for x.Next() {
		runs++
		s := sim.New(sim.Config{Strategy: x.Strategy()})
		s.Add(sim.Actor{Name: "a", Run: func(*sim.Proc) {
			if runs == 1 {
				panic(sim.ErrLeft)
			}
		}})
		s.Add(sim.Actor{Name: "b", Crashes: 1, Run: func(p *sim.Proc) { p.Clock().Sleep(time.Second) }})
		s.Run()
	}
	if e := x.Explored(); runs != 1 || e.Schedules != 0 || e.Complete {
		t.Errorf("%d runs, explored %+v; want none explored, and none after the first", runs, e)
	}
}

// The step that was left to be taken no longer exists.
func TestRunsWithFewerStepsThanThereWereEndAnExploration(t *testing.T) {
	names, x := []string{"a", "b", "c"}, exhaustive.Exploration{Off: noReduction}
	var last sim.Result
	for runs := 1; x.Next(); runs++ {
		s := sim.New(sim.Config{Strategy: x.Strategy()})
		if runs == 5 { // the first run that begins with c
			names = names[:2]
		}
		for _, name := range names {
			s.Add(sim.Actor{Name: name, Run: func(*sim.Proc) {}})
		}
		last = s.Run()
	}
	_, diverged := errors.AsType[*sim.DivergedError](last.Err)
	if e := x.Explored(); !diverged || last.End != sim.Broken || e.Schedules != 5 {
		t.Errorf("run %v with %v, explored %+v; want the fifth broken by a DivergedError", last.End, last.Err, e)
	}
}

// This is the plain enumeration of three actors that only begin: six runs. After every second run, all branches that
// are left are at the beginning.
func TestWhatIsLeftOpenIsCountedAfterEachRun(t *testing.T) {
	if e := new(exhaustive.Exploration).Explored(); e.Complete || e.Share != 0 {
		t.Errorf("before the first run an exploration is at %+v, want nothing explored", e)
	}
	want := []exhaustive.Explored{
		{Open: 3, Deepest: 1}, {Open: 2}, {Open: 2, Deepest: 1}, {Open: 1},
		{Open: 1, Shallowest: 1, Deepest: 1}, {Complete: true},
	}
	for bound := 1; bound <= 7; bound++ {
		x, runs := exhaustive.Exploration{Off: noReduction, MaxSchedules: bound}, 0
		for x.Next() {
			s := sim.New(sim.Config{Strategy: x.Strategy()})
			for _, name := range []string{"a", "b", "c"} {
				s.Add(sim.Actor{Name: name, Run: func(*sim.Proc) {}})
			}
			s.Run()
			want[runs].Schedules, want[runs].Share = runs+1, float64(runs+1)/6
			if diff := cmp.Diff(want[runs], x.Explored(), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("after run %d (-want +got):\n%s", runs+1, diff)
			}
			runs++
		}
		if most := min(bound, 6); runs != most {
			t.Errorf("%d runs with MaxSchedules %d, want %d", runs, bound, most)
		}
	}
}

func TestTheShareOfTheTreeGrowsToOne(t *testing.T) {
	for n := range effort.Quick(20, 5) {
		x, before := exhaustive.Exploration{}, 0.0
		p := drawProgram(sim.Stream(uint64(n), "share of the tree"), 3, 8)
		for x.Next() {
			p.run(x.Strategy(), true)
			if share := x.Explored().Share; share < before-1e-12 || share > 1+1e-9 {
				t.Fatalf("program %d, schedule %d: %g of the tree after %g", n, x.Explored().Schedules, share, before)
			} else {
				before = share
			}
		}
		if e := x.Explored(); e.Complete != (before > 1-1e-9) {
			t.Errorf("program %d: %g of the tree is searched, complete: %t", n, before, e.Complete)
		}
	}
}

func TestTheRunInWhichMaxStatesIsReachedIsTheLast(t *testing.T) {
	for bound := 1; bound < 40; bound++ {
		x, before := exhaustive.Exploration{MaxStates: bound}, 0
		for x.Next() {
			if before >= bound {
				t.Fatalf("a run begins with %d states, want none from %d on", before, bound)
			}
			drawProgram(sim.Stream(3, "larger program"), 3, 12).run(x.Strategy(), true)
			before = x.Explored().States
		}
		if e := x.Explored(); !e.Complete && before < bound {
			t.Errorf("the exploration ends with %d states, and is not complete; want %d states", before, bound)
		}
	}
}

// A state costs a few bytes: a set of steps that slept in several states is kept once, whatever the order in which they
// fell asleep.
func TestSleepSetsAreKeptOnce(t *testing.T) {
	if n := exhaustive.RememberedSets(nil, []uint64{1, 2}, []uint64{2, 1}, []uint64{3}, []uint64{1, 2},
		[]uint64{3}, nil); n != 3 {
		t.Errorf("%d sets are kept, want the empty one, {1, 2} and {3}", n)
	}
}

func TestASearchBackwardsComesToTheSameStates(t *testing.T) {
	effort.OneAtATime(t)
	explore := func(backwards bool) (first, all []uint64) {
		x := exhaustive.Exploration{Backwards: backwards, Off: sim.PersistentSets, Visit: func(state uint64) bool {
			first = append(first, state)
			return true
		}}
		for x.Next() {
			drawProgram(sim.Stream(3, "larger program"), 3, effort.Fewer(12, 8)).run(x.Strategy(), true)
		}
		return first, x.States()
	}
	first, forth := explore(false)
	last, back := explore(true)
	if !slices.Equal(forth, back) || slices.Equal(first, last) {
		t.Errorf("%d states and %d backwards, want the same ones; in the same order: %v, want another one", len(forth),
			len(back), slices.Equal(first, last))
	}
}

func TestAVisitEndsTheExploration(t *testing.T) {
	for stop := 1; stop < 10; stop++ {
		told, ended := map[uint64]bool{}, false
		x := exhaustive.Exploration{Visit: func(state uint64) bool {
			if told[state] {
				t.Errorf("state %x is told again", state)
			}
			told[state] = true
			ended = len(told) == stop
			return !ended
		}}
		for x.Next() {
			if ended {
				t.Fatalf("a run begins after state %d, in which Visit ends the exploration", stop)
			}
			drawProgram(sim.Stream(3, "larger program"), 3, 12).run(x.Strategy(), true)
		}
		if x.Explored().Complete || len(told) != stop {
			t.Errorf("complete %v after %d states, want it to end at %d, and not complete",
				x.Explored().Complete, len(told), stop)
		}
	}
}

func TestARunCutAtItsBoundIsNotComplete(t *testing.T) {
	x := exhaustive.Exploration{}
	for x.Next() {
		s := sim.New(sim.Config{Strategy: x.Strategy(), MaxSteps: 3})
		s.Add(sim.Actor{Name: "a", Run: func(p *sim.Proc) {
			for range 5 {
				p.Clock().Sleep(time.Second)
			}
		}})
		s.Run()
	}
	if e := x.Explored(); e.Complete || e.TooLong != 1 || e.Open != 0 {
		t.Errorf("explored %+v, want it not complete for 1 run that was too long", e)
	}
}

func TestExplorationsAreTheSameOnAnyNumberOfProcessors(t *testing.T) {
	explore := func(processors int) (all []exhaustive.Explored) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		for seed := range uint64(effort.Fewer(20, 5)) {
			_, e := drawProgram(sim.Stream(seed, "program"), seed, 4).explore(t, 0, true, asked{}, 1000)
			all = append(all, e)
		}
		return all
	}
	if diff := cmp.Diff(explore(1), explore(8)); diff != "" {
		t.Errorf("GOMAXPROCS 1 and 8 differ (-1 +8):\n%s", diff)
	}
}

// A larger search has lost a reduction, and a smaller one may have lost an outcome. The numbers are sums over all
// programs. A commit that changes these numbers says why the searches differ.
func TestSearchesAreAsLargeAsTheyWere(t *testing.T) {
	effort.Long(t)
	for _, test := range []struct {
		name string
		off  sim.Reduction
		want [3]int // schedules, states, branches left open at the bound
	}{
		{"all reductions", 0, [3]int{4517, 8103, 122}},
		{"without sleep sets", sim.SleepSets, [3]int{5583, 7065, 211}},
		{"without state comparison", sim.StateComparison, [3]int{5960, 0, 253}},
		{"without persistent sets", sim.PersistentSets, [3]int{5638, 9870, 162}},
		{"without unread clocks", sim.UnreadClocks, [3]int{4640, 8383, 122}},
		{"without orphaned reads", sim.OrphanedReads, [3]int{4665, 8050, 164}},
	} {
		got := [3]int{}
		search := func(p program) {
			_, e := p.explore(t, test.off, false, asked{}, 200)
			got[0], got[1], got[2] = got[0]+e.Schedules, got[1]+e.States, got[2]+e.Open
		}
		for _, c := range corners {
			search(c.program)
		}
		for seed := range uint64(60) {
			search(drawProgram(sim.Stream(seed, "search"), seed, 2+int(seed%5)))
		}
		if got != test.want {
			t.Errorf("%s: %d schedules, states and open branches, want %d", test.name, got, test.want)
		}
	}
}

// A run with Config.Ordered is judged by the order in which the code of its actors runs and crashes: no such order is
// lost, whatever else the steps touch, even if the exploration goes on from a file.
func TestOrderedRunsLoseNoOrderOfWhatIsTold(t *testing.T) {
	p := program{Registers: 2, Actors: []programActor{
		{Crashes: 1, Script: []command{{}, {Sleep: time.Second}}}, {Script: []command{{}, {Sleep: time.Second}}}, {},
	}}
	told := func(off sim.Reduction) (orders []string, schedules int) {
		x := exhaustive.Exploration{Off: off}
		for x.Next() {
			order := ""
			_, s := p.sim(sim.Config{Strategy: x.Strategy(), Ordered: true, Trace: func(step sim.TraceStep) {
				switch k := step.Step.Kind; k {
				case sim.Start, sim.Response, sim.Timer, sim.Crash:
					order += step.Step.Name + " " + k.String() + ", "
				}
			}}, false)
			if s.Run().End == sim.Finished {
				orders = append(orders, order)
			}
			saved := x.Save()
			x = exhaustive.Exploration{Off: off}
			x.Resume(saved)
		}
		slices.Sort(orders)
		return slices.Compact(orders), x.Explored().Schedules
	}
	want, plainly := told(noReduction)
	for _, on := range []sim.Reduction{sim.SleepSets, sim.PersistentSets} {
		if got, n := told(noReduction &^ on); !slices.Equal(want, got) || (n < plainly) != (on == sim.SleepSets) {
			t.Errorf("%b: %d orders in %d schedules, and %d in %d without reduction", on, len(got), n, len(want),
				plainly)
		}
	}
}

// Requests left by two incarnations of a node are different steps, even without fingerprints of states.
func TestRequestsOfTwoLivesAreTwoSteps(t *testing.T) {
	writes := func(off sim.Reduction) map[string]bool {
		x, all := exhaustive.Exploration{Off: off, Backwards: true}, map[string]bool{}
		for x.Next() {
			order, r := "", [2]register{{name: "r"}, {name: "s"}}
			s := sim.New(sim.Config{Strategy: x.Strategy(), Trace: func(step sim.TraceStep) {
				if k := step.Step.Kind; step.Step.Name != "a" && (k == sim.Effect || k == sim.Orphan) { // to s
					order += step.Step.Name + " " + k.String() + ", "
				}
			}})
			s.Add(sim.Actor{Name: "b", Run: func(p *sim.Proc) { p.Do(&access{to: &r[1], write: true}) }})
			s.Add(sim.Actor{Name: "a", Crashes: 2, Restarts: 1, Run: func(p *sim.Proc) {
				p.Do(&access{to: &r[p.Incarnation()-1], write: true, value: 1})
			}})
			if s.Run().End == sim.Finished {
				all[fmt.Sprint(order, r[0].value)] = true
			}
		}
		return all
	}
	if want, got := writes(noReduction), writes(noReduction&^sim.SleepSets); !maps.Equal(want, got) {
		t.Errorf("the writes are %v, want %v", got, want)
	}
}
