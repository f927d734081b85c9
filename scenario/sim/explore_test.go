package sim_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/fingerprint"
	"github.com/isr-sim/isr-sim/internal/race"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// noReduction switches everything off: the plain enumeration.
const noReduction = sim.SleepSets | sim.StateComparison | sim.PersistentSets

// AnswerFingerprint makes requests to registers comparable. Whether one was missed is its outcome, which package sim
// knows.
func (a *access) AnswerFingerprint() (uint64, bool) {
	return uint64(fingerprint.Hash(0).Number(uint64(a.value))), true
}

// program is a small random system: actors that read and write registers, on clocks of their own, and what may befall
// them.
type program struct {
	registers int
	ticks     int
	sweeps    int  // how often a source may clear a register that is not 0
	timeless  bool // written values do not depend on the time
	forgets   bool // between commands, actors remember only their last read or write
	actors    []programActor
}

type programActor struct {
	actor  sim.Actor
	script []command
}

// command is a read, a sleep, or a write of the value read last plus one plus a value that depends on the time.
type command struct {
	register int
	write    bool
	lossy    bool
	sleep    time.Duration
}

// drawProgram draws a program of so many commands at most. Each has odds of its own: one of all kinds of things has
// little of each.
func drawProgram(rng *rand.Rand, budget int) program {
	one := func(n int) int { return max(rng.IntN(n)-n+2, 0) } // 1 once in n, else 0
	odds := func() int { return 1 << rng.IntN(5) }
	pauses, crashes, restarts, steps, losses, sleeps, writes := odds(), odds(), odds(), odds(), odds(), odds(), odds()
	p := program{registers: 1 + rng.IntN(2), ticks: rng.IntN(3), sweeps: one(3), forgets: true, timeless: one(2) == 1}
	for range 2 + rng.IntN(2) {
		a := programActor{actor: sim.Actor{
			Pauses: one(2 * pauses), PauseFor: time.Duration(rng.IntN(2)) * 3 * time.Second, Crashes: one(crashes), Restarts: one(restarts),
		}}
		if one(2*steps) == 1 {
			a.actor.ClockSteps = []time.Duration{time.Minute}
		}
		for range 1 + rng.IntN(max(budget/2, 2)) {
			if budget--; budget < 0 {
				break
			}
			c := command{register: rng.IntN(p.registers), write: one(min(writes, 4)) == 1, lossy: one(losses) == 1}
			if one(1+sleeps) == 1 {
				c = command{sleep: time.Duration(1+rng.IntN(3)) * time.Second}
			}
			a.script = append(a.script, c)
		}
		p.actors = append(p.actors, a)
	}
	return p
}

// restless is a program in which time may pass while a machine is down, for nothing, or while another one has something
// to do, as one of the program's ticks. What is possible then is the same, but for the ticks that are left.
func restless() program {
	return program{registers: 1, ticks: 1, forgets: true, actors: []programActor{
		{actor: sim.Actor{Crashes: 1, Restarts: 1}, script: []command{{write: true}, {write: true}}},
		{script: []command{{sleep: time.Second}, {sleep: time.Second}}},
	}}
}

// machine is the world of one run of a program.
type machine struct {
	clock     *fakeclock.Clock
	registers []register
	sweeps    int
	// saw holds the answers that each actor got and their times, over all its lives.
	saw [][]int64
}

// run runs the program once. The whole past of the actors is part of the state if remember is set.
func (p program) run(strategy sim.Strategy, remember bool) (*machine, sim.Result) {
	return p.runAs(strategy, remember, func(*sim.Sim) {})
}

// runAs tells begin of the run before it begins.
func (p program) runAs(strategy sim.Strategy, remember bool, begin func(*sim.Sim)) (*machine, sim.Result) {
	m := &machine{clock: fakeclock.New(fakeclock.Epoch), registers: make([]register, p.registers), sweeps: p.sweeps, saw: make([][]int64, len(p.actors))}
	for i := range m.registers {
		m.registers[i].name = fmt.Sprint(i)
	}
	s := sim.New(sim.Config{Clock: m.clock, Strategy: strategy, Ticks: p.ticks, Fingerprint: func() uint64 {
		return m.fingerprint(remember)
	}})
	s.AddSource(m)
	for i, a := range p.actors {
		actor := a.actor
		actor.Name = string(rune('a' + i))
		actor.Run = func(proc *sim.Proc) {
			note := func(n int) {
				m.saw[i] = append(m.saw[i], int64(proc.Incarnation()), int64(n), proc.Now().Unix(), proc.Clock().Now().Unix())
			}
			forget := func(n, last int) {
				if p.forgets && !remember {
					proc.Forget(uint64(fingerprint.Hash(n).Number(uint64(last))))
				}
			}
			last := 0
			note(last)
			forget(-1, last)
			for n, c := range a.script {
				if c.sleep > 0 {
					proc.Clock().Sleep(c.sleep)
					note(last)
					forget(n, last)
					continue
				}
				r := &access{to: &m.registers[c.register], write: c.write, value: last + 1, lossy: c.lossy}
				if !p.timeless {
					r.value += int(proc.Clock().Now().Unix() % 3)
				}
				proc.Do(r)
				if !r.missed {
					last = r.value
				}
				note(last)
				forget(n, last)
			}
		}
		s.Add(actor)
	}
	begin(s)
	return m, s.Run()
}

// fingerprint is that of the registers, and of the past if that is to be remembered.
func (m *machine) fingerprint(remember bool) uint64 {
	h := fingerprint.Hash(0).Number(uint64(m.sweeps))
	for _, r := range m.registers {
		h = h.Number(uint64(r.value))
	}
	if !remember {
		return uint64(h)
	}
	for _, saw := range m.saw {
		for _, n := range saw {
			h = h.Number(uint64(n))
		}
		h = h.Number(0)
	}
	return uint64(h)
}

// The machine is a source of sweeps, too.

func (m *machine) Name() string { return "sweeper" }
func (m *machine) Steps() (steps []uint64) {
	for _, r := range m.registers {
		if m.sweeps > 0 && r.value != 0 {
			steps = append(steps, sim.ObjectNamed(r.name))
		}
	}
	return steps
}
func (m *machine) Accesses(step uint64) []sim.Access {
	return []sim.Access{{Object: step, Write: true}}
}
func (m *machine) Next(time.Time) (time.Time, bool) { return time.Time{}, false }
func (m *machine) Take(step uint64) string {
	m.sweeps--
	for i := range m.registers {
		if sim.ObjectNamed(m.registers[i].name) == step {
			m.registers[i].value = 0
		}
	}
	return ""
}

// outcomes explores the program and returns the states in which its runs end, by their fingerprints, each once, sorted.
func (p program) outcomes(t *testing.T, off sim.Reduction, remember bool, bound int) (ends []uint64, e sim.Explored) {
	t.Helper()
	x := sim.Exploration{Off: off, MaxSchedules: bound}
	for x.Next() {
		m, result := p.run(x.Strategy(), remember)
		if result.Err != nil {
			t.Fatalf("%+v: %v", p, result.Err)
		}
		if result.End == sim.Finished {
			ends = append(ends, uint64(fingerprint.Hash(m.fingerprint(remember)).Number(uint64(m.clock.Now().Unix()))))
		}
	}
	slices.Sort(ends)
	return slices.Compact(ends), x.Explored()
}

// fewer is n, or few under -short and for the race detector.
func fewer(n, few int) int {
	if testing.Short() {
		return few
	}
	return race.Fewer(n, few)
}

func TestReductionsLeaveOutNoOutcome(t *testing.T) {
	reductions := []struct {
		name string
		off  sim.Reduction
	}{
		{"sleep sets", noReduction &^ sim.SleepSets},
		{"state comparison", noReduction &^ sim.StateComparison},
		{"persistent sets", noReduction &^ sim.PersistentSets},
		{"sleep sets and state comparison", sim.PersistentSets},
		{"all", 0},
	}
	compared, plainly, reduced := 0, 0, make([]int, len(reductions))
	compare := func(p program, name string, bound int) {
		for _, remember := range []bool{true, false} {
			want, e := p.outcomes(t, noReduction, remember, bound)
			if !e.Complete {
				break // too long for the plain enumeration
			}
			compared++
			plainly += e.Schedules
			for i, r := range reductions {
				got, e := p.outcomes(t, r.off, remember, bound)
				if diff := cmp.Diff(want, got); diff != "" || !e.Complete {
					t.Fatalf("%s, %s: complete %v, outcomes (-plain +reduced):\n%s%+v", name, r.name, e.Complete, diff, p)
				}
				reduced[i] += e.Schedules
			}
		}
	}
	compare(restless(), "restless", 20_000)
	for seed := range uint64(fewer(900, 90)) {
		compare(drawProgram(sim.Stream(seed, "program"), 6), fmt.Sprint("seed ", seed), 600)
	}
	t.Logf("%d comparisons", compared)
	if want := fewer(300, 20); compared < want {
		t.Errorf("%d comparisons, want at least %d", compared, want)
	}
	for i, r := range reductions {
		t.Logf("%s: %d schedules of %d", r.name, reduced[i], plainly)
		if reduced[i] >= plainly {
			t.Errorf("%s left out nothing: %d schedules of %d", r.name, reduced[i], plainly)
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
		ids = append(ids, s.ID())
	}
	sorted := slices.Sorted(slices.Values(ids)) // the requests of crashed machines have no order of their own
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

// What a fingerprint leaves out of a state shows wherever two pasts lead to it: no search has to come to a wrong end.
func TestEqualStatesHaveEqualFutures(t *testing.T) {
	again := 0
	for seed := range uint64(fewer(300, 30)) {
		rng := sim.Stream(seed, "equal states")
		p := drawProgram(rng, 8)
		if seed == 0 {
			p = restless()
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

// A state need not be left by steps that are asleep, for another state is left by them. One that comes up again with
// fewer steps asleep is left by the others then: each state by all but those that were asleep each time.
func TestAStateIsLeftByAllStepsButThoseAlwaysAsleep(t *testing.T) {
	type left struct{ possible, asleep, taken []uint64 }
	again := 0
	for seed := range uint64(fewer(300, 30)) {
		p := drawProgram(sim.Stream(seed, "program"), 6)
		var run *sim.Sim
		states := map[uint64]*left{}
		x := sim.Exploration{Off: sim.PersistentSets, MaxSchedules: 600}
		x.OnVisit(func(m sim.Visit) {
			fingerprint := run.Fingerprint()
			state := states[fingerprint]
			if state == nil {
				state = &left{m.Possible, m.Asleep, nil}
				states[fingerprint] = state
			}
			if m.Come {
				before := len(state.asleep)
				state.asleep = slices.DeleteFunc(slices.Clone(state.asleep), func(id uint64) bool { return !slices.Contains(m.Asleep, id) })
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
			for _, id := range state.possible {
				if !slices.Contains(state.taken, id) && !slices.Contains(state.asleep, id) {
					t.Fatalf("seed %d: a state was never left by a step that was awake in it: %x of %x, %x taken: %+v", seed, id, state.possible, state.taken, p)
				}
			}
		}
	}
	if again == 0 {
		t.Error("no state came up again with fewer steps asleep")
	}
	t.Logf("%d times a state came up again with fewer steps asleep", again)
}

// Larger programs, which the plain enumeration does not get through: there the reductions have more to do with each
// other.
func TestTheReductionsAgreeWithSleepSetsAlone(t *testing.T) {
	const bound = 10_000
	compared, alone, all := 0, 0, 0
	for seed := range uint64(fewer(20, 5)) {
		p := drawProgram(sim.Stream(seed, "larger program"), 12)
		want, e := p.outcomes(t, noReduction&^sim.SleepSets, false, bound)
		if !e.Complete {
			continue
		}
		compared++
		alone += e.Schedules
		got, e := p.outcomes(t, 0, false, bound)
		if diff := cmp.Diff(want, got); diff != "" || !e.Complete {
			t.Fatalf("seed %d: complete %v, outcomes (-sleep sets +all):\n%s%+v", seed, e.Complete, diff, p)
		}
		all += e.Schedules
	}
	t.Logf("%d programs, %d schedules of %d", compared, all, alone)
	if want := fewer(6, 2); compared < want {
		t.Errorf("%d programs compared, want at least %d", compared, want)
	}
}

// exploreIncrements explores the incrementers.
func exploreIncrements(t *testing.T, x *sim.Exploration) (finals map[int]int) {
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
	x := &sim.Exploration{}
	finals := exploreIncrements(t, x)
	if len(finals) != 3 || finals[1] == 0 || finals[2] == 0 || finals[3] == 0 {
		t.Errorf("three increments end in %v, want 1, 2 and 3", finals)
	}
	if e := x.Explored(); !e.Complete || e.Open != 0 || e.Schedules >= 90 {
		t.Errorf("explored %+v, want it complete, with fewer schedules than the 90 orders of the accesses", e)
	}
}

func TestAnswersThatCannotBeComparedMakeStatesDifferent(t *testing.T) {
	// Writes of the same value race, but their order is without consequence.
	schedules := func(off sim.Reduction, comparable bool) int {
		x := sim.Exploration{Off: off}
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
		t.Errorf("%d schedules with comparable answers, %d without, %d without comparing; want fewer, and then as many", with, without, plain)
	}
}

func TestABoundLeavesBranchesOpenAndSaysSo(t *testing.T) {
	for _, x := range []*sim.Exploration{{MaxSchedules: 3}, {MaxStates: 12}} {
		for x.Next() {
			drawProgram(sim.Stream(3, "larger program"), 12).run(x.Strategy(), true)
		}
		if e := x.Explored(); e.Complete || e.Open == 0 || e.Deepest < e.Shallowest || e.Deepest == 0 {
			t.Errorf("bounds of %d schedules and %d states: explored %+v, want branches left, and where", x.MaxSchedules, x.MaxStates, e)
		}
	}
}

func TestRunsThatCannotBeRepeatedEndAnExploration(t *testing.T) {
	runs := 0
	x := sim.Exploration{}
	var last sim.Result
	for x.Next() {
		runs++
		s, r := sim.New(sim.Config{Strategy: x.Strategy()}), &register{name: "r"}
		for i := range 2 {
			s.Add(sim.Actor{Name: fmt.Sprint(i), Run: func(p *sim.Proc) {
				for range runs { // another number of requests each time
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

func TestARunCutAtItsBoundIsNotComplete(t *testing.T) {
	x := sim.Exploration{}
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
	explore := func(processors int) (all []sim.Explored) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		for seed := range uint64(fewer(20, 5)) {
			_, e := drawProgram(sim.Stream(seed, "program"), 6).outcomes(t, 0, true, 1000)
			all = append(all, e)
		}
		return all
	}
	if diff := cmp.Diff(explore(1), explore(8)); diff != "" {
		t.Errorf("GOMAXPROCS 1 and 8 differ (-1 +8):\n%s", diff)
	}
}
