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
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// noReduction switches everything off: the plain enumeration.
const noReduction = sim.SleepSets | sim.StateComparison | sim.PersistentSets

// AnswerFingerprint makes requests to registers comparable.
func (a *access) AnswerFingerprint() (uint64, bool) {
	h := fingerprint.Hash(0).Number(uint64(a.value))
	if a.missed {
		h = h.Number(1)
	}
	return uint64(h), true
}

// program is a small random system: actors that read and write registers, on clocks of their own, and what may befall them.
type program struct {
	registers int
	ticks     int
	sweeps    int  // how often a source may clear a register that is not 0
	forgets   bool // between commands, actors remember nothing but what they have read or written last
	actors    []programActor
}

type programActor struct {
	actor  sim.Actor
	script []command
}

// command is a read, a write of what was read last and one more and something that depends on the time, or a sleep.
type command struct {
	register int
	write    bool
	lossy    bool
	sleep    time.Duration
}

// drawProgram draws a program of so many commands at most.
func drawProgram(rng *rand.Rand, budget int) program {
	one := func(n int) int { return max(rng.IntN(n)-n+2, 0) } // 1 once in n, else 0
	p := program{registers: 1 + rng.IntN(2), ticks: one(3), sweeps: one(3), forgets: true}
	for range 2 + rng.IntN(2) {
		a := programActor{actor: sim.Actor{
			Pauses: one(8), PauseFor: time.Duration(rng.IntN(2)) * 3 * time.Second, Crashes: one(4), Restarts: one(2),
		}}
		if one(6) == 1 {
			a.actor.ClockSteps = []time.Duration{time.Minute}
		}
		for range 1 + rng.IntN(max(budget/3, 2)) {
			if budget--; budget < 0 {
				break
			}
			c := command{register: rng.IntN(p.registers), write: rng.IntN(2) == 0, lossy: one(4) == 1}
			if one(5) == 1 {
				c = command{sleep: time.Duration(1+rng.IntN(3)) * time.Second}
			}
			a.script = append(a.script, c)
		}
		p.actors = append(p.actors, a)
	}
	return p
}

// machine is the world of one run of a program.
type machine struct {
	clock     *fakeclock.Clock
	registers []register
	sweeps    int
	// saw is what each actor has been told and when, over all its lives.
	saw [][]int64
}

// run runs the program once. The whole past of the actors is part of the state if remember is set.
func (p program) run(strategy sim.Strategy, remember bool) (*machine, sim.Result) {
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
			last := 0
			note(last)
			for n, c := range a.script {
				if c.sleep > 0 {
					proc.Clock().Sleep(c.sleep)
					note(last)
					continue
				}
				r := &access{to: &m.registers[c.register], write: c.write, value: last + 1 + int(proc.Clock().Now().Unix()%3), lossy: c.lossy}
				proc.Do(r)
				if !r.missed {
					last = r.value
				}
				note(last)
				if p.forgets && !remember {
					proc.Forget(uint64(fingerprint.Hash(n).Number(uint64(last))))
				}
			}
		}
		s.Add(actor)
	}
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

func TestReductionsLeaveOutNoOutcome(t *testing.T) {
	const bound = 3_000
	reductions := []struct {
		name string
		off  sim.Reduction
	}{
		{"sleep sets", noReduction &^ sim.SleepSets},
		{"state comparison", noReduction &^ sim.StateComparison},
		{"persistent sets", noReduction &^ sim.PersistentSets},
		{"all", 0},
	}
	compared, plainly, reduced := 0, 0, make([]int, len(reductions))
	for seed := range uint64(60) {
		p := drawProgram(sim.Stream(seed, "program"), 6)
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
					t.Fatalf("seed %d, %s: complete %v, outcomes (-plain +reduced):\n%s%+v", seed, r.name, e.Complete, diff, p)
				}
				reduced[i] += e.Schedules
			}
		}
	}
	if compared < 35 {
		t.Errorf("%d programs compared, want at least 35", compared)
	}
	for i, r := range reductions {
		t.Logf("%s: %d schedules of %d", r.name, reduced[i], plainly)
		if reduced[i] >= plainly {
			t.Errorf("%s left out nothing: %d schedules of %d", r.name, reduced[i], plainly)
		}
	}
}

// Larger programs, which the plain enumeration does not get through: there the reductions have more to do with each other.
func TestTheReductionsAgreeWithSleepSetsAlone(t *testing.T) {
	const bound = 10_000
	compared, alone, all := 0, 0, 0
	for seed := range uint64(20) {
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
	if compared < 6 {
		t.Errorf("%d programs compared, want at least 6", compared)
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
					p.Do(write) // what an actor has observed counts until it ends
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
		for seed := range uint64(20) {
			_, e := drawProgram(sim.Stream(seed, "program"), 6).outcomes(t, 0, true, 1000)
			all = append(all, e)
		}
		return all
	}
	if diff := cmp.Diff(explore(1), explore(8)); diff != "" {
		t.Errorf("GOMAXPROCS 1 and 8 differ (-1 +8):\n%s", diff)
	}
}
