package sim

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

// Actor is a node and the code it runs. Name and Run are required.
type Actor struct {
	Name string
	// Run is the node's code. It is called again, with another Proc, if the node restarts after a crash.
	Run func(p *Proc)
	// Drift says how the node's clock differs from true time.
	Drift fakeclock.Drift
	// ClockSteps are the jumps of the node's clock, in order; the schedule decides whether and when each happens.
	ClockSteps []time.Duration
	// Pauses, Crashes and Restarts bound how often the schedule may pause, crash or restart the node.
	Pauses, Crashes, Restarts int
	// PauseFor is the shortest time of a pause, in true time.
	PauseFor time.Duration
	// Planned are the events that happen to the node in every schedule.
	Planned []Planned
	// Class, if positive, says that the actor is interchangeable with the others of its class: they differ only in
	// their names. See Symmetry.
	Class int
}

// Request is a request of an actor to the world.
type Request interface {
	// Outcomes returns the ways in which the request can take effect now: 0 for the ordinary one, and a number that
	// keeps its meaning for each fault that the schedule may choose. If it returns none, the request waits for a step
	// of another actor, such as the release of a mutex. The caller only reads the slice, and only until the next step.
	Outcomes() []int
	// Accesses returns the reads and writes of the request if it takes effect in the given way, as things are now: a
	// compare-and-swap that would fail only reads. They must include the reads that decide what is accessed. Then the
	// accesses stay the same until a step that races with them is taken. Nil means that it may access anything. The
	// slice must not change later: an exploration keeps it.
	Accesses(outcome int) []Access
	// Apply lets the request take effect in the given way, and keeps the answer for its actor.
	Apply(outcome int)
	// Describe returns the effect of Apply in words. It is called right after Apply, and only for a trace.
	Describe(outcome int) string
	// DescribeAnswer returns the answer to the actor in words. It is called only for a trace.
	DescribeAnswer() string
}

// Immediate is implemented by a Request whose answer arrives in the same step as its effect: an access to memory and
// not to a service.
type Immediate interface {
	Immediate()
}

// Dated is implemented by a Request whose effect, or the record of it, depends on when it was sent.
type Dated interface {
	// DateSent returns that time, which does not change.
	DateSent() time.Time
}

// Deserted is implemented by a Request that must know if it takes effect after its sender crashed or dropped it.
type Deserted interface {
	// Orphaned is called right after Apply.
	Orphaned()
}

// Slow is implemented by a Request whose answer may be late.
type Slow interface {
	// Delay is called after Apply, and returns the least time for which the answer is under way, in true time.
	Delay() time.Duration
}

// Proc is one incarnation of an actor's node, as its code sees the world. Its methods are for the actor's own code
// only.
type Proc struct {
	sim         *Sim
	actor       *actor
	incarnation int
	name        string
	clock       NodeClock

	coroutine *coroutine // nil before the code starts and after it has come to its end

	state   procState
	request Request
	wake    time.Time
	arrives time.Time // no answer can arrive before this time

	// A Proc is an incarnation, or a lane of it: see NodeClock.Lane. In a Bubble, a lane is a parked goroutine of the
	// incarnation.
	lane    int
	work    func() // a lane's code, outside of a Bubble
	current *Proc  // the lane of this incarnation whose code is running
	life    context.Context
	die     context.CancelFunc
	atEnd   []func()
	back    chan struct{} // closed when a lane goes on
	answer  uint64        // the fingerprint of the latest answer, if outputs are remembered
	history *history      // the history of the incarnation; nil without memory
	running *incarnation  // the incarnation whose code runs
	over    bool          // the code has come to its end; guarded by gate.mu
	refused int           // requests since the end; guarded by gate.mu
	timers  int           // see bubbleClock.delay; guarded by gate.mu
	times   uint64        // how often the code was resumed, if its outputs are not remembered
	latest  int           // the number of its latest step
}

// actor is an Actor in a run: its node outlives its incarnations.
type actor struct {
	Actor
	index  int
	node   *fakeclock.Node
	proc   *Proc
	lanes  []*Proc // by Proc.lane
	first  Proc    // most nodes have no other incarnation
	paused bool
	until  time.Time // a paused node cannot resume before this time
	exact  bool      // a paused node resumes at that time, and not later
	// How often the schedule may still pause, crash or restart the node.
	pauses, crashes, restarts int
	clockSteps                []time.Duration
	planned                   []Planned        // the planned events that are left, in order
	observed                  fingerprint.Hash // see Sim.observe
	forgot                    fingerprint.Hash // what the code depends on since Forget in this step; 0 without
	unread                    bool             // the code has not read a clock since it was resumed
	place                     int              // see Proc.Place
	within                    int              // coroutines of this node whose code runs, or is being unwound
}

type procState uint8

const (
	notStarted procState = iota
	calling              // its request is under way to the world
	answered             // the answer is under way back
	sleeping
	ended
	crashed
	away    // it waits for its lanes
	turning // in a Bubble: a lane that waits for its turn
)

// Name returns the actor's name, with the incarnation after a restart: alice, alice.2.
func (p *Proc) Name() string { return p.name }

// Incarnation counts the starts of the actor's node, from 1.
func (p *Proc) Incarnation() int { return p.incarnation }

// Now returns true time, which no node can read: for recording, never for the decisions of the code under test. The
// record may be judged later, so the call counts as an observation.
func (p *Proc) Now() time.Time {
	if l := p.running; l != nil {
		l.reads()
		return l.input.true
	}
	p.actor.readClock()
	return p.sim.now()
}

// Clock returns the node's own clock. Its Sleep parks the actor.
func (p *Proc) Clock() NodeClock { return p.clock }

// Local returns the time of the node's own clock: for recording, like Now. Code under test reads Clock.
func (p *Proc) Local() time.Time {
	p.actor.readClock()
	return p.actor.node.Now()
}

// Own panics if its caller is not the node's own code: other code would read state that the state of its own machine
// does not cover, and a search would confuse different states. In a Bubble, all goroutines may call it.
func (p *Proc) Own() {
	if p.running == nil && p.sim.cfg.Bubble == nil {
		p.here()
	}
}

// Do sends r into the world and returns when its answer has arrived. In between, others run and time moves, as the
// schedule decides.
func (p *Proc) Do(r Request) {
	if l := p.running; l != nil {
		remembered, can := r.(Remembered)
		if !can {
			p.Wrong(&TakenError{RememberedCode,
				fmt.Sprintf("%s sends a %T, whose answer cannot be told again", p.name, r)})
		}
		l.doing.request = remembered
		l.park(calling)
		return
	}
	p = p.here()
	p.request = r
	p.park(calling)
	p.request = nil
}

// sleep parks the actor for d of its node's time.
func (p *Proc) sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	if l := p.running; l != nil {
		l.doing.sleep = d
		l.park(sleeping)
		return
	}
	p = p.here()
	p.wake = p.after(d)
	p.park(sleeping)
}

// after returns the true time at which d has passed on the node's clock.
func (p *Proc) after(d time.Duration) time.Time {
	wake, ok := p.actor.node.TrueTime(p.actor.node.Local(p.sim.now()).Add(d))
	if !ok {
		p.sim.gate.mu.Lock()
		defer p.sim.gate.mu.Unlock()
		p.sim.fail(fmt.Errorf("actor %s sleeps for %v, but its clock (%v) never gets there", p.name, d, p.actor.Drift))
	}
	return wake
}

// PanicError says that an actor's code panicked.
type PanicError struct {
	Stack []byte // for people: it differs from run to run
	actor string
	value any
}

func (e *PanicError) Error() string { return fmt.Sprintf("actor %s panicked: %v", e.actor, e.value) }

// Unwrap returns the value of the panic, if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.value.(error)
	return err
}

// StrangerError says that an actor's code used the client or the clock of a node whose code was not running: of another
// machine, or of an earlier run.
type StrangerError struct{ user, owner string }

func (e *StrangerError) Error() string {
	if e.user == e.owner {
		return e.user + " used the client or the clock of an earlier run, or of itself before a restart"
	}
	return fmt.Sprintf("%s used the client or the clock of %s, or of an earlier run", e.user, e.owner)
}

// BreaksRun implements runBreaker.
func (*StrangerError) BreaksRun() {}

// SharedError says that an actor's goroutine went on when only another actor had a step: what it waited for belongs to
// both.
type SharedError struct{ moved, other string }

func (e *SharedError) Error() string {
	return fmt.Sprintf("%s went on because %s did: they share something, such as a package's variable with a mutex, "+
		"a channel or a singleflight.Group, but machines share no memory", e.moved, e.other)
}

// owned panics if the code that calls it is not that of p's node.
func (p *Proc) owned() {
	if a := p.actor; a.within == 0 || p.coroutine == nil || a.proc.incarnation != p.incarnation {
		panic(&StrangerError{owner: p.name})
	}
}

// goOn resumes the code of a coroutine of the node.
func (a *actor) goOn(co *coroutine) {
	a.within++
	co.resume()
	a.within--
}

// unwind ends a coroutine of the node, and its code.
func (a *actor) unwind(co *coroutine) {
	a.within++
	co.stop()
	a.within--
}

// crashSignal unwinds the code of a node that crashed.
type crashSignal struct{}

func (p *Proc) park(s procState) {
	if p.state == crashed {
		panic(crashSignal{}) // a deferred call in code that is being unwound: a dead node sends nothing
	}
	p.state = s
	if !p.coroutine.yield(struct{}{}) {
		panic(crashSignal{})
	}
}

// GoOn ends the calling code if its node has crashed. A crash unwinds the code by a panic; code that recovers from all
// panics would go on, although a dead node must not answer a client.
func (p *Proc) GoOn() {
	if p.state == crashed && p.running == nil {
		panic(crashSignal{})
	}
}

// run resumes the actor's code until it parks, ends or panics.
func (p *Proc) run() {
	if p.sim.cfg.Bubble != nil {
		if p.state == notStarted {
			p.goCode()
		} else {
			p.resumeLane()
		}
		p.sim.settle(p.actor)
		return
	}
	if p.sim.histories != nil {
		p.recall()
		return
	}
	if p.work != nil {
		p.runLane()
		return
	}
	p.times++
	p.seed(p.times)
	if p.state == notStarted {
		p.coroutine = p.sim.pool.lend(p)
	}
	p.actor.goOn(p.coroutine)
	if p.state == ended {
		p.sim.pool.back(p.coroutine)
		p.coroutine = nil
	}
}

// runBreaker is an error with which a node's code panics, to say why the run has no verdict. Its text says enough:
// nobody needs the stack.
type runBreaker interface {
	error
	BreaksRun()
}

// ErrLeft breaks a run that was left in its middle because the user does not want to wait for its end. It says nothing
// about the code under test.
var ErrLeft error = leftError{}

type leftError struct{}

func (leftError) Error() string { return "interrupted: the run was left in its middle" }

// BreaksRun implements runBreaker.
func (leftError) BreaksRun() {}

// code is the actor's Run, or the work of a lane, with its panics kept inside the run.
func (p *Proc) code() {
	work := p.work
	if work == nil {
		work = func() { p.actor.Run(p) }
	}
	p.guard(work, func(err error) {
		if p.state != crashed {
			p.state = ended
		}
		p.sim.fail(err)
	})
	if p.state != crashed {
		p.state = ended
	}
}

// guard runs code of the actor, and calls fail if it panics, or does not return.
func (p *Proc) guard(code func(), fail func(error)) {
	returned := false
	defer func() {
		switch v := recover().(type) {
		case nil:
			if !returned { // otherwise the node's remaining work would be skipped, and nobody would know
				fail(&PanicError{
					actor: p.name,
					value: errors.New("it ended its goroutine (runtime.Goexit, or Skip or FailNow of a test)"),
				})
			}
		case crashSignal:
		case error:
			if stranger, ok := errors.AsType[*StrangerError](v); ok && stranger.user == "" {
				stranger.user = p.name
			}
			var breaks runBreaker
			if errors.As(v, &breaks) {
				fail(v)
				return
			}
			fail(&PanicError{Stack: debug.Stack(), actor: p.name, value: v})
		default:
			fail(&PanicError{Stack: debug.Stack(), actor: p.name, value: v})
		}
	}()
	code()
	returned = true
}

// grow makes the coroutine's stack as large as most code needs. While the stack is empty, that is cheaper than doubling
// and copying it several times later.
//
//go:noinline
func grow(i int) byte {
	var room [6 << 10]byte
	return room[i]
}

// growDeep is grow for code that calls the SDK.
//
//go:noinline
func growDeep(i int) byte {
	var room [20 << 10]byte
	return room[i]
}

// crash unwinds the actor's code. If it has a request under way, that may take effect later, or never.
func (p *Proc) crash() {
	p.sim.orphan(p)
	started := p.state != notStarted
	p.state = crashed
	if p.sim.cfg.Bubble != nil {
		p.down()
		return
	}
	p.actor.endLanes(p.sim, true)
	if started && p.sim.histories == nil {
		p.actor.unwind(p.coroutine)
	}
}

// newIncarnation readies the node for a first or another start.
func (a *actor) newIncarnation(s *Sim) {
	p := &a.first
	if a.proc != nil {
		p = s.histories.after(a.proc)
	}
	*p = Proc{sim: s, actor: a, incarnation: 1, name: a.Name}
	if a.proc != nil {
		p.incarnation = a.proc.incarnation + 1
		p.name = fmt.Sprintf("%s.%d", a.Name, p.incarnation)
	}
	p.clock = actorClock{a.node, p}
	if s.cfg.Bubble != nil {
		p.clock = bubbleClock{actorClock{a.node, p}}
		p.life, p.die = context.WithCancel(s.cfg.Context)
	}
	a.proc = p
}
