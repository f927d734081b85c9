package exhaustive_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/sim"
)

// program is a small random system: actors with their own clocks that read and write registers, and the events that may
// happen to them. It can have everything that a world of package scenario has, on a small scale.
type program struct {
	Registers int
	Ticks     int
	Sweeps    int           // how often a source may clear a register that is not 0
	Lifetime  time.Duration // after a write the register is not swept before this has passed; time stops there
	Losses    int           // how many of the requests that may be lost are lost at most; negative: all of them
	Nth       int           // the request that a certain fault strikes: it is lost, or slow; 0 means none
	Slow      time.Duration
	Timeless  bool // written values do not depend on the time
	Forgets   bool // between commands, actors remember only their last read or write
	Mutex     bool // each actor has a mutex, held over a command
	Dated     bool // written values depend on when they are sent
	Secret    bool // some command is
	Immediate bool // some command is
	Signed    bool // a register has its writer's name, and its writer reads it differently than the others
	Twins     bool // actors that are equal count as interchangeable
	Actors    []programActor
}

type programActor struct {
	Pauses, Crashes, Restarts int
	PauseFor                  time.Duration
	ClockSteps                []time.Duration
	Drift                     fakeclock.Drift
	Planned                   []sim.Planned
	Script                    []command
}

// command is a read, a sleep, a write, or the scripts of several lanes. The written value is the value read last, plus
// one, plus a value that depends on the time.
type command struct {
	Register  int
	Also      int // 1: the request accesses the next register, too
	Write     bool
	Lossy     bool // the schedule may lose it
	Stale     bool // a read that may miss the latest write
	Blind     bool // the request does not say which things it accesses
	Secret    bool // its answer cannot be compared, either
	Immediate bool
	Takes     time.Duration // the delay of the answer
	Sleep     time.Duration
	Lock      int // 1 takes the mutex, 2 gives it back
	Lanes     [][]command
	Beats     bool // beside the lanes, one sleeps and writes, and is dropped when they are over
}

// feature is something that a program can have.
type feature func(rng *rand.Rand, p *program)

// features are the features of actors and their commands, each put at a random place.
var features = []feature{
	func(rng *rand.Rand, p *program) {
		a := p.anActor(rng)
		a.Pauses, a.PauseFor = 1, time.Duration(rng.IntN(2))*3*time.Second
	},
	func(rng *rand.Rand, p *program) { p.anActor(rng).Crashes = 1 },
	func(rng *rand.Rand, p *program) { a := p.anActor(rng); a.Crashes, a.Restarts = 1, 1+rng.IntN(2) },
	func(rng *rand.Rand, p *program) { // two that may crash: either can be the last one alive
		for i := range p.Actors {
			p.Actors[i].Crashes = 1
		}
	},
	func(rng *rand.Rand, p *program) { p.anActor(rng).ClockSteps = steps[rng.IntN(len(steps))] },
	func(rng *rand.Rand, p *program) { p.anActor(rng).Drift = drifts[rng.IntN(len(drifts))] },
	func(rng *rand.Rand, p *program) {
		a := p.anActor(rng)
		for range 1 + rng.IntN(2) {
			a.Planned = append(a.Planned, sim.Planned{
				Kind: []sim.Kind{sim.Pause, sim.Crash, sim.Restart, sim.ClockStep}[rng.IntN(4)],
				At:   time.Duration(rng.IntN(3)) * time.Second, For: time.Duration(1+rng.IntN(2)) * time.Second,
			})
		}
	},
	func(rng *rand.Rand, p *program) { p.Ticks = 1 + rng.IntN(2) },
	func(rng *rand.Rand, p *program) {
		p.Sweeps, p.Lifetime = 1+rng.IntN(2), time.Duration(rng.IntN(3))*time.Second
	},
	func(rng *rand.Rand, p *program) {
		p.Losses = 2*rng.IntN(2) - 1
		p.each(rng, func(c *command) { c.Lossy = true })
	},
	func(rng *rand.Rand, p *program) {
		p.Nth, p.Slow = 1+rng.IntN(3), time.Duration(rng.IntN(2))*2*time.Second
	},
	func(rng *rand.Rand, p *program) { p.each(rng, func(c *command) { c.Write, c.Stale = false, true }) },
	func(rng *rand.Rand, p *program) { p.each(rng, func(c *command) { c.Blind = true }) },
	func(rng *rand.Rand, p *program) { p.each(rng, func(c *command) { c.Secret, p.Secret = true, true }) },
	func(rng *rand.Rand, p *program) {
		p.each(rng, func(c *command) { c.Immediate, p.Immediate = true, true })
	},
	func(rng *rand.Rand, p *program) {
		p.each(rng, func(c *command) { c.Takes = time.Duration(rng.IntN(3)) * time.Second })
	},
	func(rng *rand.Rand, p *program) { p.Registers = 2; p.each(rng, func(c *command) { c.Also = 1 }) },
	func(rng *rand.Rand, p *program) { // sleeps
		for i := range p.Actors {
			a := &p.Actors[i]
			c := command{Sleep: time.Duration(1+rng.IntN(2)) * time.Second}
			a.Script = slices.Insert(a.Script, rng.IntN(len(a.Script)+1), c)
		}
	},
	func(rng *rand.Rand, p *program) { // lanes in place of a command that follows another
		a := p.anActor(rng)
		if len(a.Script) == 1 {
			a.Script = append(a.Script, drawCommand(rng, p))
		}
		rest := a.Script[len(a.Script)-1:]
		a.Script = append(slices.Clip(a.Script[:len(a.Script)-1]),
			command{Lanes: [][]command{rest, {drawCommand(rng, p)}}, Beats: rng.IntN(2) == 0})
		for range rng.IntN(2) {
			a.Script = append(a.Script, drawCommand(rng, p))
		}
	},
	func(_ *rand.Rand, p *program) { p.Mutex = true },
	func(_ *rand.Rand, p *program) { p.Dated, p.Timeless, p.Ticks = true, true, 1 },
}

var (
	steps  = [][]time.Duration{{time.Minute}, {-time.Second}, {time.Second, -time.Second}}
	drifts = []fakeclock.Drift{{Offset: time.Second}, {Offset: -time.Minute}, {PPM: 1_000_000}, {PPM: -500_000}}
)

func (p *program) anActor(rng *rand.Rand) *programActor { return &p.Actors[rng.IntN(len(p.Actors))] }

// each applies change to one request, or to each request.
func (p *program) each(rng *rand.Rand, change func(*command)) {
	odds := 1 + rng.IntN(3)
	for i := range p.Actors {
		for j := range p.Actors[i].Script {
			if c := &p.Actors[i].Script[j]; c.Sleep == 0 && c.Lanes == nil && c.Lock == 0 && rng.IntN(odds) == 0 {
				change(c)
			}
		}
	}
}

func drawCommand(rng *rand.Rand, p *program) command {
	return command{Register: rng.IntN(p.Registers), Write: rng.IntN(2) == 0}
}

// drawProgram draws a program with the given number of commands, and a few more that some features need. A program has
// few features: with all of them it would have little of each. The n-th program has the n-th feature for sure.
func drawProgram(rng *rand.Rand, nth uint64, commands int) program {
	p := program{Registers: 1 + rng.IntN(2), Forgets: true, Timeless: rng.IntN(2) == 0}
	n := 2 + rng.IntN(4)/3
	for i := range n {
		var a programActor
		for range max((commands+i)/n, 1) {
			a.Script = append(a.Script, drawCommand(rng, &p))
		}
		p.Actors = append(p.Actors, a)
	}
	features[nth%uint64(len(features))](rng, &p)
	for range rng.IntN(3) {
		features[rng.IntN(len(features))](rng, &p)
	}
	if p.Mutex = p.Mutex && !slices.ContainsFunc(p.Actors, mayDie); p.Mutex {
		for i := range p.Actors {
			a := &p.Actors[i]
			at := rng.IntN(len(a.Script))
			a.Script = slices.Concat(a.Script[:at:at], []command{{Lock: 1}, a.Script[at], {Lock: 2}}, a.Script[at+1:])
		}
	}
	return p
}

// irreducible returns the reductions that the program does not allow: see exhaustive.Exploration about Immediate
// requests.
func (p program) irreducible() sim.Reduction {
	optional := p.Sweeps > 0
	for _, a := range p.Actors {
		optional = optional || a.Restarts > 0 || mayDie(a) ||
			slices.ContainsFunc(a.Script, func(c command) bool { return c.Beats })
	}
	if p.Immediate && optional {
		return sim.PersistentSets
	}
	return 0
}

// outlived says whether a request may take effect after its sender is gone, while its node runs on. Its place among the
// steps of the node's next incarnation counts as an order, but nobody can observe it: see exhaustive.Exploration.
func (p program) outlived() bool {
	return slices.ContainsFunc(p.Actors, func(a programActor) bool {
		return a.Restarts > 0 || len(a.Planned) > 1 ||
			slices.ContainsFunc(a.Script, func(c command) bool { return c.Beats })
	})
}

// mayDie says whether an actor may die while others wait for something that it holds.
func mayDie(a programActor) bool { return a.Crashes > 0 || len(a.Planned) > 0 }

// restless is a program in which time may pass in two ways: while a machine is down, at no cost, or while another one
// has something to do, at the cost of a tick. The same steps are possible afterwards, but the ticks that are left
// differ.
func restless() program {
	return program{Registers: 1, Ticks: 1, Forgets: true, Actors: []programActor{
		{Crashes: 1, Restarts: 1, Script: []command{{Write: true}, {Write: true}}},
		{Script: []command{{Sleep: time.Second}, {Sleep: time.Second}}},
	}}
}

// corners are programs in which the order of two steps matters although they touch different things: because a run may
// end before an optional step, because lanes share memory, or because a fingerprint might forget a part of the state.
var corners = []struct {
	name string
	program
}{
	{"a start ends it", program{Registers: 1, Sweeps: 1, Immediate: true,
		Actors: []programActor{{Script: []command{{Write: true, Immediate: true}}}, {}}}},
	{"an access to memory ends it", program{Registers: 2, Sweeps: 1, Immediate: true, Actors: []programActor{
		{Script: []command{{Write: true}, {Register: 1, Immediate: true}}},
	}}},
	{"an answer ends it", program{Registers: 1, Sweeps: 1, Actors: []programActor{{Script: []command{{Write: true}}}}}},
	{"the end of a sleep ends it", program{Registers: 1, Sweeps: 1, Lifetime: time.Second, Actors: []programActor{
		{Script: []command{{Write: true}, {Sleep: time.Second}}},
	}}},
	{"a crash ends it",
		program{Registers: 1, Sweeps: 1, Actors: []programActor{{Crashes: 1, Script: []command{{Write: true}}}}}},
	{"an answer ends it while another is down", program{Registers: 1, Actors: []programActor{
		{Script: []command{{Write: true}}}, {Crashes: 1, Restarts: 1, Script: []command{{}, {Write: true}}},
	}}},
	{"two lanes of one actor", program{Registers: 2, Actors: []programActor{
		{Script: []command{{Lanes: [][]command{{{}}, {{Write: true, Register: 1}}}}, {Write: true}}},
		{Script: []command{{Write: true}}},
	}}},
	{"a pause at the end of a sleep", program{Registers: 1, Actors: []programActor{
		{Pauses: 1, PauseFor: 3 * time.Second, Script: []command{{Sleep: time.Second}}},
		{Script: []command{{Sleep: time.Second}, {}}},
	}}},
	{"a clock is set before an answer or after it", program{Registers: 1, Actors: []programActor{
		{ClockSteps: []time.Duration{time.Minute}, Script: []command{{}}}, {Script: []command{{}}},
	}}},
	{"a node crashes before an answer or after it", program{Registers: 1, Actors: []programActor{
		{Crashes: 1, Script: []command{{}}}, {Script: []command{{}}},
	}}},
	{"one of two answers is late", program{Registers: 1, Nth: 1, Slow: time.Nanosecond,
		Actors: []programActor{{Script: []command{{}}}, {Script: []command{{}}}}}},
	{"one of two late answers is later", program{Registers: 1, Nth: 1, Slow: time.Second, Actors: []programActor{
		{Script: []command{{Takes: time.Second}}}, {Script: []command{{Takes: time.Second}}},
	}}},
	{"the first says nothing of itself", program{
		Registers: 1, Actors: []programActor{{Script: []command{{Write: true, Blind: true}}}, {Script: []command{{}}}},
	}},
	{"the second says nothing of itself", program{
		Registers: 1, Actors: []programActor{{Script: []command{{Write: true}}}, {Script: []command{{Blind: true}}}},
	}},
	{"a crash as planned or by chance", program{Registers: 1, Actors: []programActor{
		{Crashes: 1, Restarts: 1, Planned: []sim.Planned{{Kind: sim.Crash}}, Script: []command{{Sleep: time.Second}}},
		{Pauses: 1, Script: []command{{Sleep: time.Second}}},
	}}},
	{"a restart as planned or by chance", program{Registers: 1, Actors: []programActor{
		{Crashes: 1, Restarts: 1, Planned: []sim.Planned{{Kind: sim.Crash}, {Kind: sim.Restart}},
			Script: []command{{Sleep: time.Second}}},
		{Pauses: 1, Script: []command{{Sleep: time.Second}}},
	}}},
	{"a pause of no time",
		program{Registers: 1, Actors: []programActor{{Pauses: 1, Script: []command{{}}}, {Script: []command{{}}}}}},
	{"an answer is heard before time moves, or after it", program{Registers: 1, Ticks: 2, Actors: []programActor{
		{Script: []command{{}, {Write: true}}}, {Script: []command{{Sleep: time.Second}, {Sleep: time.Second}}},
	}}},
	{"a clock that is set there and back", program{Registers: 1, Actors: []programActor{
		{ClockSteps: []time.Duration{time.Second, -time.Second}, Script: []command{{}}}, {Script: []command{{}}},
	}}},
	{"an answer ends it while another goes down as planned", program{Registers: 1, Actors: []programActor{
		{Script: []command{{Sleep: time.Second}, {Write: true}}},
		{Restarts: 1, Planned: []sim.Planned{{Kind: sim.Crash, At: time.Second}},
			Script: []command{{Sleep: time.Second}, {}, {Write: true}}},
	}}},
	{"a clock is read before time moves, or after it", program{Registers: 1, Ticks: 1, Actors: []programActor{
		{Script: []command{{Write: true}}}, {Script: []command{{Sleep: time.Second}}},
	}}},
	{"a request is sent before time moves, or after it",
		program{Registers: 1, Ticks: 1, Timeless: true, Dated: true, Actors: []programActor{
			{Script: []command{{Write: true}}}, {Script: []command{{Sleep: time.Second}}},
		}}},
	{"a request that outlives its sender was sent before time moves, or after it", program{
		Registers: 1, Ticks: 1, Timeless: true, Dated: true, Actors: []programActor{
			{Crashes: 1, Script: []command{{Write: true}}}, {Script: []command{{Sleep: time.Second}}},
			{Script: []command{{}}},
		},
	}},
}

// machine is the world of one run of a program.
type machine struct {
	program
	clock  *fakeclock.Clock
	cells  []cell
	calls  int // up to program.Nth
	locked bool
	moved  bool // the latest restore of the machine changed its time
	// saw holds the answers that each actor got and their times, over all its incarnations.
	saw [][]int64
	met []string // the names in registers, in order of appearance
}

// cell is a register, its former value, and the time at which it may be swept.
type cell struct {
	value, before int
	until         time.Time
	by            string // its writer, if the program is Signed
}

// request is a request to the machine.
type request struct {
	m    *machine
	proc *sim.Proc
	command
	actor  string
	wants  int // the value to write
	value  int
	missed bool
	late   time.Duration
	sent   time.Time
}

const (
	kept  = iota // outcomes
	lost         // it has no effect
	stale        // it reads what was there before
)

func (r *request) Outcomes() (ways []int) {
	if r.Lock == 1 && r.m.locked {
		return nil
	}
	ways = []int{kept}
	if r.Lossy && r.m.Losses != 0 {
		ways = append(ways, lost)
	}
	if r.Stale {
		ways = append(ways, stale)
	}
	return ways
}

func (r *request) Accesses(outcome int) (all []sim.Access) {
	if r.Blind {
		return nil
	}
	if r.Lock > 0 {
		return []sim.Access{{Object: sim.ObjectNamed("mutex"), Write: true}}
	}
	for i := range 1 + r.Also {
		all = append(all, sim.Access{Object: cellNamed((r.Register + i) % r.m.Registers), Write: r.Write})
	}
	if r.m.Nth > 0 {
		all = append(all, sim.Access{Object: sim.ObjectNamed("calls"), Write: true})
	}
	if outcome == lost {
		all = append(all, sim.Access{Object: sim.ObjectNamed("losses"), Write: true})
	}
	return all
}

func cellNamed(i int) uint64 { return sim.ObjectNamed(fmt.Sprint("register ", i)) }

func (r *request) Apply(outcome int) {
	m := r.m
	if !r.proc.True().Equal(m.clock.Now()) {
		panic("the world has another time than its actor")
	}
	if r.Lock > 0 {
		m.locked = r.Lock == 1
		return
	}
	r.missed, r.late, r.value = outcome == lost, r.Takes, r.wants
	if m.calls < m.Nth {
		if m.calls++; m.calls == m.Nth {
			r.missed, r.late = r.missed || m.Slow == 0, r.late+m.Slow
		}
	}
	if outcome == lost && m.Losses > 0 {
		m.Losses--
	}
	if m.Dated && r.Write {
		r.value += int(r.sent.Unix() % 3)
	}
	if r.missed {
		return
	}
	sum := 0
	for i := range 1 + r.Also {
		c := &m.cells[(r.Register+i)%m.Registers]
		switch {
		case r.Write:
			c.before, c.value, c.until = c.value, r.value+i, m.clock.Now().Add(m.Lifetime)
			r.sign(c)
		case outcome == stale:
			sum = 5*sum + c.before
		default:
			if sum = 5*sum + c.value; c.by == r.actor {
				sum += 7
			}
		}
	}
	if !r.Write {
		r.value = sum
	}
}

// sign writes the name of the actor, which the world then knows.
func (r *request) sign(c *cell) {
	if !r.m.Signed {
		return
	}
	if c.by = r.actor; r.m.twin(c.by) && !slices.Contains(r.m.met, c.by) {
		r.m.met = append(slices.Clip(r.m.met), c.by)
	}
}

// Rank implements sim.Symmetry.
func (m *machine) Rank(actor string) int { return slices.Index(m.met, actor) + 1 }

// Broken implements sim.Symmetry.
func (m *machine) Broken() bool { return false }

// twin says whether an actor has a twin.
func (p program) twin(actor string) bool { return actor != "" && p.class(int(actor[0]-'a')) > 0 }

// upToNames returns the rank of a twin among those that the world knows; for another actor, its name.
func (m *machine) upToNames(actor string) string {
	if m.twin(actor) {
		return strconv.Itoa(m.Rank(actor))
	}
	return actor
}

// class returns the place of the first actor that is equal to the i-th, from 1; 0 if there is no other.
func (p program) class(i int) (class int) {
	equal := 0
	for j, a := range slices.Backward(p.Actors) {
		if reflect.DeepEqual(a, p.Actors[i]) {
			equal++
			class = j + 1
		}
	}
	if equal == 1 {
		return 0
	}
	return class
}

func (r *request) Delay() time.Duration   { return r.late }
func (r *request) Describe(int) string    { return fmt.Sprintf("%+v", r.command) }
func (r *request) DescribeAnswer() string { return fmt.Sprint(r.value, r.missed) }

// DateSent implements sim.Dated, for a program in which it counts.
func (r *request) DateSent() time.Time {
	if !r.m.Dated {
		return time.Time{}
	}
	return r.sent
}

// Asks implements sim.Remembered.
func (r *request) Asks() string { return fmt.Sprintf("%+v of %d at %v", r.command, r.wants, r.sent) }

// Answer implements sim.Remembered.
func (r *request) Answer() any { return [2]any{r.value, r.missed} }

// Tell implements sim.Remembered.
func (r *request) Tell(answer any) bool {
	a := answer.([2]any)
	r.value, r.missed = a[0].(int), a[1].(bool)
	return true
}

// AnswerFingerprint makes requests comparable, except for the secret ones.
func (r *request) AnswerFingerprint() (uint64, bool) {
	h := fingerprint.Hash(0).Number(uint64(r.value))
	if r.missed {
		h = h.Number(1)
	}
	return uint64(h), !r.Secret
}

// immediate is a request whose answer is there at once.
type immediate struct{ *request }

func (immediate) Immediate() {}

// node is the code of an actor, in one incarnation.
type node struct {
	m     *machine
	proc  *sim.Proc
	actor int
	// remember says that the whole history of the actors is a part of the state.
	remember bool
}

func (n node) note(value int) {
	if !n.remember {
		return // otherwise every clock would be read all the time
	}
	seen := []int64{int64(n.proc.Incarnation()), int64(value), n.proc.Now().UnixNano(), n.proc.Clock().Now().UnixNano()}
	n.proc.Tell(func() {
		if n.proc.Remembers() {
			panic("the code runs, and not the world")
		}
		n.m.saw[n.actor] = append(n.m.saw[n.actor], seen...)
	})
}

// carryOut carries out a script. The value is the actor's memory; ended is called at the end of each command.
func (n node) carryOut(script []command, value *int, ended func(i int)) {
	for i, c := range script {
		switch {
		case c.Lanes != nil:
			n.fork(c, value)
		case c.Sleep > 0:
			n.proc.Clock().Sleep(c.Sleep)
		default:
			r := &request{
				m: n.m, proc: n.proc, command: c, actor: nameOf(n.actor), wants: *value + 1, sent: n.proc.True(),
			}
			if !n.m.Timeless {
				r.wants += int(n.proc.Clock().Now().Unix() % 3)
			}
			r.value = r.wants
			if c.Immediate {
				n.proc.Do(immediate{r})
			} else {
				n.proc.Do(r)
			}
			if !r.missed {
				*value = r.value
			}
		}
		n.note(*value)
		ended(i)
	}
}

// fork carries out several scripts, each in its own lane. They share what the actor remembers.
func (n node) fork(c command, value *int) {
	here := n.proc.Clock()
	left, drop := len(c.Lanes), func() {}
	if c.Beats {
		drop = here.Lane(func() { n.carryOut([]command{{Sleep: time.Second}, {Write: true}}, value, func(int) {}) })
	}
	for _, script := range c.Lanes {
		here.Lane(func() { n.carryOut(script, value, func(int) {}); left-- })
	}
	for left > 0 {
		here.Join()
	}
	drop()
}

// run runs the program once. The whole history of the actors is part of the state if remember is set.
func (p program) run(strategy sim.Strategy, remember bool) (*machine, sim.Result) {
	return p.runAs(strategy, remember, func(*sim.Sim) {})
}

// runAs runs the program, and calls begin with the Sim before the run begins.
func (p program) runAs(strategy sim.Strategy, remember bool, begin func(*sim.Sim)) (*machine, sim.Result) {
	m, s := p.sim(sim.Config{Strategy: strategy}, remember)
	begin(s)
	return m, s.Run()
}

// sim makes a run.
func (p program) sim(cfg sim.Config, remember bool) (*machine, *sim.Sim) {
	m := new(machine)
	return m, p.simOn(m, cfg, remember)
}

// simOn makes a run on a machine that earlier runs have used: what is remembered of them points to it.
func (p program) simOn(m *machine, cfg sim.Config, remember bool) *sim.Sim {
	*m = machine{program: p, clock: fakeclock.New(fakeclock.Epoch), cells: make([]cell, p.Registers),
		saw: make([][]int64, len(p.Actors))}
	cfg.Clock, cfg.Ticks, cfg.Keep, cfg.Fingerprint = m.clock, p.Ticks, m.keep,
		func() uint64 { return m.fingerprint(remember) }
	cfg.Off = sim.OrphanedReads // outside of an exploration, states with other steps differ
	if p.Twins {
		cfg.Symmetry = m
	}
	s := sim.New(cfg)
	if p.Sweeps > 0 {
		s.AddSource(m)
	}
	for i, a := range p.Actors {
		class := 0
		if p.Twins {
			class = p.class(i)
		}
		s.Add(sim.Actor{
			Name: nameOf(i), Class: class, Drift: a.Drift, ClockSteps: a.ClockSteps, Pauses: a.Pauses,
			PauseFor: a.PauseFor, Crashes: a.Crashes, Restarts: a.Restarts, Planned: a.Planned,
			Run: func(proc *sim.Proc) {
				n, value := node{m, proc, i, remember}, 0
				ended := func(i int) {
					if p.Forgets && !remember {
						state := uint64(fingerprint.Hash(i).Number(uint64(value)))
						proc.Forget(fmt.Sprint(state), func() (uint64, uint64) { return state, state })
					}
				}
				n.note(0)
				ended(-1)
				n.carryOut(a.Script, &value, ended)
			},
		})
	}
	return s
}

func nameOf(actor int) string { return string(rune('a' + actor)) }

// keep implements sim.Config.Keep.
func (m *machine) keep() func(bool) {
	was, cells, saw := *m, slices.Clone(m.cells), slices.Clone(m.saw)
	return func(moved bool) {
		*m = was
		m.moved = moved
		m.cells, m.saw = slices.Clone(cells), slices.Clone(saw)
	}
}

// fingerprint covers the registers and, if remember is set, the history of the actors.
func (m *machine) fingerprint(remember bool) uint64 {
	h := fingerprint.Hash(0).Number(uint64(m.Sweeps)).Number(uint64(m.Losses)).Number(uint64(m.calls))
	if m.locked {
		h = h.Number(1)
	}
	for _, c := range m.cells {
		h = h.Number(uint64(c.value)).Number(uint64(c.before))
		if m.Twins {
			h = h.Text(m.upToNames(c.by))
		} else {
			h = h.Text(c.by)
		}
		if m.Sweeps > 0 && c.until.After(m.clock.Now()) {
			h = h.Number(uint64(c.until.Unix()))
		}
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
	for i, c := range m.cells {
		if m.Sweeps > 0 && c.value != 0 && !c.until.After(m.clock.Now()) {
			steps = append(steps, cellNamed(i))
		}
	}
	return steps
}
func (m *machine) Accesses(step uint64) []sim.Access {
	return []sim.Access{{Object: step, Write: true}}
}
func (m *machine) Next(now time.Time) (next time.Time, ok bool) {
	for _, c := range m.cells {
		if m.Sweeps > 0 && c.until.After(now) && (!ok || c.until.Before(next)) {
			next, ok = c.until, true
		}
	}
	return next, ok
}
func (m *machine) Take(step uint64) string {
	m.Sweeps--
	for i := range m.cells {
		if cellNamed(i) == step {
			m.cells[i].before, m.cells[i].value = m.cells[i].value, 0
		}
	}
	return ""
}
