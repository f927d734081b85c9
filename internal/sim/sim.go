package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/base/schedule"
)

// Config says how to run. The zero Config walks at random from seed 0, on a new clock, for at most 10,000 steps.
type Config struct {
	// Clock is true time. Nil is a new one at fakeclock.Epoch.
	Clock *fakeclock.Clock
	// Seed is the source of all randomness of the run.
	Seed uint64
	// Strategy picks the steps. The zero Strategy is RandomWalk.
	Strategy Strategy
	// ExpectedSteps estimates the run's steps, at least 1. Some strategies need it.
	ExpectedSteps int
	// MaxSteps cuts a run that does not end. Default: 10,000.
	MaxSteps int
	// Ticks bounds how often time may move while something else could happen. When nothing else can, it moves freely.
	// It moves to the next instant at which something can change; in a search (package exhaustive), a tick may also go
	// on to any later one: see Step.Further.
	Ticks int
	// Fingerprint, if set, returns a number that is equal for equal states of the world, and hardly ever equal for
	// different ones. It makes Sim.Fingerprint and the comparison of states by a search possible: see there for
	// what it must cover.
	Fingerprint func() uint64
	// Off are the reductions that Fingerprint does without, in a run that is not part of a search.
	Off Reduction
	// Symmetry, if set, makes states equal that differ only in which of interchangeable actors is which: see
	// Actor.Class.
	Symmetry Symmetry
	// Ordered says that the run is judged by the order in which the code of its actors runs and crashes. Two such steps
	// of different actors then race, and each of them races with a request that accesses [Told].
	Ordered bool
	// Bubble, if set, contains the run, and actors may then have goroutines: see Bubble. An exploration cannot run in
	// one. The Clock must show the bubble's time.
	Bubble Bubble
	// Context is the parent of Proc.Life. It is needed with a Bubble.
	Context context.Context
	// Pool, if set, lends the coroutines of the actors' code. It serves one run at a time.
	Pool *Pool
	// Memory says whether the remembered outputs of nodes replace runs of their code.
	Memory Memory
	// Left, if set, is closed when the user no longer waits for the run. A node outside of this process may take long:
	// it then breaks the run with ErrLeft.
	Left <-chan struct{}
	// Cycles makes the run note its first cycles. A run that goes on from a kept moment notes those after that moment.
	Cycles bool
	// Keep keeps the state of the world, and returns the function that puts it back to that state, perhaps several
	// times. The parameter moved says that the clock showed another time before. It is for Memory.Search.
	Keep func() (restore func(moved bool))
	// Trace, if set, is called with every step.
	Trace func(TraceStep)
	// OnNode, if set, is called for each Pause, Resume, Crash, Restart and ClockStep of a node, and for each Orphan
	// that it left.
	OnNode func(k Kind, p *Proc, note string)
}

// Memory says how a node outside of this process may reuse the outputs of other runs. Between two requests a node is a
// function of its history. With the zero Memory, a node with the history of an earlier one has the same output, and its
// code does not run.
type Memory struct {
	Afresh bool // the code of every node runs
	// Search, if set, is the search that the run is part of. What the code of nodes in this process does is then
	// remembered, and a run starts at the first step in which it differs from earlier ones: see Search.Rewind. Each
	// Request must be Remembered, and a Fingerprinter; code must use Proc.Tell, and no lanes.
	Search Search
	// Drew, if set, says whether code has drawn random bytes since the last call. A *TakenError then breaks the run:
	// all nodes draw from one source, so the bytes of one depend on the draws of others.
	Drew func() bool
	// Seed, if set, is called with a seed each time before an actor's code goes on. So what the code draws depends on
	// its incarnation alone, and can be remembered.
	Seed func(uint64)
	// Check, if set, is called at the end of a node that did something new. Its parameter is a function that replays
	// the node's code and compares the output; the function may be called while further runs go on.
	Check func(again func() error)
}

// usualChoices is the initial capacity for the choices of a run.
const usualChoices = 24

// defaultMaxSteps is the default of Config.MaxSteps.
const defaultMaxSteps = 10_000

// The parts of a schedule that scenario files and outcomes show are in package schedule.
type (
	// Kind is the kind of a step.
	Kind = schedule.Kind
	// Planned is a node's event at a set time.
	Planned = schedule.Planned
	// Choices are the choices of a strategy, step by step.
	Choices = schedule.Choices
)

// End says how a run ended: "finished" if every actor's code came to its end, or crashed for good; "cut" if its bound
// on steps was reached first; "broken" if an actor panicked, or a replayed schedule does not fit (see Result.Err);
// "abandoned" if a search needs no more of it.
type End string

// Result is the outcome of a run. Seed and Choices are enough to run it again.
type Result struct {
	Seed    uint64
	Choices Choices
	Steps   int
	// Switches is the number of context switches: steps of an actor's own code (Start, Effect, Response, Timer) that
	// follow a step of another actor's code. Pauses, crashes, steps of a source and the passing of time belong to no
	// actor's code.
	Switches int
	Elapsed  time.Duration // true time, from the start of the run to its end
	Cycles   []Cycle       // see Config.Cycles
	End      End
	Err      error
}

// How a run ends.
const (
	Finished  End = "finished"
	Cut       End = "cut"
	Broken    End = "broken"
	Abandoned End = "abandoned"
)

// Sim is one run in the making: add actors and sources, then Run once.
type Sim struct {
	cfg     Config
	clock   *fakeclock.Clock
	pool    *Pool
	actors  []*actor
	sources []Source
	orphans []orphan

	chooser Chooser
	watcher Watcher // the chooser, if it is one
	// explorer is the chooser if it explores: it is asked even where only one step is possible.
	explorer Explorer
	eager    bool // see UnreadClocks
	start    time.Time
	running  *actor // the actor that took the latest step of an actor's own code
	ticks    int
	steps    []Step // possible now; reused between moments
	later    []Step // see Step.Further; reused, too
	gathered bool   // later has been gathered for this moment
	// required says that a step that must happen is possible now; a tick does not count.
	required  bool
	due       bool // something planned happens before time moves
	result    Result
	gate      *gate
	histories *Histories // see Memory.Search; nil without
	passed    bool       // time went to the horizon, and no goroutine waited for it
	moments   []moment   // with Config.Cycles
}

// orphan is a request in the network whose sender has crashed.
type orphan struct {
	sender  *Proc
	request Request
	// history identifies the request by its sender's history when it was left, the lane and the time. A count would not
	// do: two paths to a state may leave requests in different orders.
	history fingerprint.Hash
	reads   bool // it only reads
}

// New prepares a run.
func New(cfg Config) *Sim {
	if cfg.Clock == nil {
		cfg.Clock = fakeclock.New(fakeclock.Epoch)
	}
	if cfg.Strategy.New == nil {
		cfg.Strategy = RandomWalk
	}
	pool := cfg.Pool
	if pool == nil {
		pool = new(Pool)
	}
	if cfg.MaxSteps <= 0 {
		cfg.MaxSteps = defaultMaxSteps
	}
	s := pool.room()
	clear(s.sources)
	*s = Sim{
		cfg: cfg, clock: cfg.Clock, pool: pool, steps: pool.steps, start: cfg.Clock.Now(), ticks: cfg.Ticks,
		actors: s.actors[:0], sources: s.sources[:0],
		chooser: cfg.Strategy.New(Stream(cfg.Seed, "schedule"), max(cfg.ExpectedSteps, 1)),
		result:  Result{Seed: cfg.Seed},
		gate:    new(gate),
	}
	if x := cfg.Memory.Search; x != nil {
		s.histories = x.Histories()
	}
	if cfg.Bubble != nil {
		s.eager = true
		s.gate.woken = make(chan struct{}, 1)
	}
	s.watcher, _ = s.chooser.(Watcher)
	if e, ok := s.chooser.(Explorer); ok {
		s.exploredBy(e)
	}
	return s
}

// Add adds an actor. Actors are offered their steps in the order of Add.
func (s *Sim) Add(a Actor) {
	s.actors = append(s.actors, s.roomForActor())
	node := s.actors[len(s.actors)-1]
	*node = actor{
		Actor: a, index: len(s.actors) - 1, node: s.clock.Node(a.Drift),
		pauses: a.Pauses, crashes: a.Crashes, restarts: a.Restarts, clockSteps: a.ClockSteps,
		planned: inOrder(a.Planned),
	}
	node.newIncarnation(s)
}

// roomForActor returns memory for the next actor: that of a former run's actor at this place, if there was one.
func (s *Sim) roomForActor() *actor {
	if n := len(s.actors); n < cap(s.actors) && s.actors[:n+1][n] != nil {
		return s.actors[:n+1][n]
	}
	return new(actor)
}

// AddSource adds a source of steps. Sources are asked in the order of AddSource.
func (s *Sim) AddSource(src Source) { s.sources = append(s.sources, src) }

// now returns true time.
func (s *Sim) now() time.Time {
	if s.cfg.Bubble != nil {
		return s.cfg.Bubble.Now() // the clock follows when the goroutines that time woke have parked
	}
	return s.clock.Now()
}

// Run runs until every actor is done, the bound is reached or something breaks, and unwinds what is left of the actors.
func (s *Sim) Run() Result {
	for s.result.End == "" {
		switch over := !s.collect(); {
		case over && s.explorer != nil && s.explorer.Over():
			s.result.End = Abandoned
		case over:
			s.result.End = Finished
		case len(s.steps) == 0:
			s.fail(s.deadlock())
		case s.result.Steps >= s.cfg.MaxSteps:
			s.result.End = Cut
		default:
			s.step()
		}
	}
	for _, a := range s.actors {
		if s.cfg.Bubble != nil {
			a.proc.down()
			continue
		}
		a.endLanes(s, false)
		if p := a.proc; s.histories == nil && p.state != notStarted && p.state != ended && p.state != crashed {
			p.state = crashed
			a.unwind(p.coroutine)
		}
	}
	clear(s.steps[:cap(s.steps)]) // they point to the run's actors
	if s.pool.steps = s.steps[:0]; s.cfg.Pool == nil {
		s.pool.Close()
	}
	s.result.Elapsed = s.clock.Now().Sub(s.start)
	if s.explorer != nil {
		if err := s.explorer.Ended(s.result); err != nil && s.result.Err == nil {
			s.result.End, s.result.Err = Broken, err
		}
	}
	return s.result
}

// step lets the strategy pick one of the collected steps, and takes it.
func (s *Sim) step() {
	i, n := 0, len(s.steps)
	if n > 1 || s.explorer != nil {
		switch i = s.chooser.Choose(s.steps); {
		case s.result.End != "":
			return
		case i == Abandon:
			s.result.End = Abandoned
			return
		case i < 0 || i >= n && i >= n+len(s.further()):
			s.fail(&DivergedError{Step: s.result.Steps + 1, choice: i, options: n + len(s.further())})
			return
		}
	}
	if n > 1 {
		if s.result.Choices == nil {
			s.result.Choices = make(Choices, 0, max(s.cfg.ExpectedSteps, usualChoices))
		}
		s.result.Choices = append(s.result.Choices, i)
	}
	step := s.at(i)
	s.result.Steps++
	if step.Own() {
		if s.running != nil && s.running != step.proc.actor {
			s.result.Switches++
		}
		s.running, step.proc.latest = step.proc.actor, s.result.Steps
	}
	if s.watcher != nil {
		s.watcher.Watch(*step)
	}
	text := s.take(step)
	if s.cfg.Cycles && step.Kind == Tick {
		s.noteCycle()
	}
	if s.cfg.Trace != nil {
		s.cfg.Trace(TraceStep{N: s.result.Steps, Time: s.clock.Now(), Step: *step, Options: n, Text: text})
	}
}

// fail ends the run with err, unless it has ended already.
func (s *Sim) fail(err error) {
	if s.result.End == "" {
		s.result.End, s.result.Err = Broken, err
	}
}

// deadlock says why nothing can happen.
func (s *Sim) deadlock() error {
	switch b := s.cfg.Bubble; {
	case b == nil:
		return errors.New("deadlock: actors wait, but nothing can happen and time has nowhere to go")
	case b.Held():
		return fmt.Errorf("deadlock: a goroutine waits for a mutex whose holder waits for it too, or for time to pass "+
			"(or the mutex is a package's variable: machines share no memory):%s", b.Waiting())
	default:
		return fmt.Errorf("deadlock: actors wait, but nothing can happen and time has nowhere to go:%s", b.Waiting())
	}
}

// take takes the step and returns its effect in words. Words that cost work are made only for a trace.
func (s *Sim) take(step *Step) (text string) {
	p, traced := step.proc, s.cfg.Trace != nil
	s.observe(step)
	switch step.Kind {
	case Start:
		p.run()
		return "starts"
	case Effect:
		request := p.request
		request.Apply(step.outcome)
		p.state, p.arrives = answered, s.clock.Now()
		if slow, ok := request.(Slow); ok {
			p.arrives = p.arrives.Add(slow.Delay())
		}
		s.observeAnswer(p, step.outcome)
		if traced {
			text = request.Describe(step.outcome)
		}
		if _, at := request.(Immediate); at {
			s.observe(&Step{Kind: Response, proc: p})
			p.run()
		}
	case Response:
		if traced {
			text = p.request.DescribeAnswer()
		}
		p.run()
	case Timer:
		p.run()
		return "wakes"
	case Orphan:
		o := s.orphans[step.nth]
		s.orphans = slices.Delete(s.orphans, step.nth, step.nth+1)
		o.request.Apply(0)
		if r, is := o.request.(Deserted); is {
			r.Orphaned()
		}
		if s.cfg.OnNode != nil {
			s.cfg.OnNode(Orphan, o.sender, "")
		}
		if traced {
			text = o.request.Describe(0)
		}
	case External:
		return step.source.Take(step.item)
	case Tick:
		if s.required {
			s.ticks--
		}
		before := s.clock.Now()
		s.pass(step.until)
		if traced {
			text = "+" + s.clock.Now().Sub(before).String()
		}
	default:
		return s.befall(step)
	}
	return text
}

// befall applies a step of the environment to a node.
func (s *Sim) befall(step *Step) (note string) {
	a := step.proc.actor
	if step.planned {
		note = s.befallPlanned(a)
	} else {
		note = s.befallByChance(step, a)
	}
	if s.cfg.OnNode != nil {
		s.cfg.OnNode(step.Kind, step.proc, note)
	}
	return note
}

// befallByChance applies an event of the node that the schedule has chosen.
func (s *Sim) befallByChance(step *Step, a *actor) (note string) {
	switch step.Kind {
	case Pause:
		a.pauses--
		a.paused, a.until, a.exact = true, s.clock.Now().Add(a.PauseFor), false
		if a.PauseFor > 0 {
			note = "for at least " + a.PauseFor.String()
		}
	case Resume:
		a.paused = false
		note = "runs on"
	case Crash:
		a.crashes--
		note = s.crash(a)
	case Restart:
		a.restarts--
		note = s.restart(a)
	case ClockStep:
		d := a.clockSteps[0]
		a.clockSteps = a.clockSteps[1:]
		a.node.Step(d)
		note = signed(d)
	}
	return note
}

// Config returns the configuration of the run.
func (s *Sim) Config() *Config { return &s.cfg }

// Taken counts the steps so far.
func (s *Sim) Taken() int { return s.result.Steps }

// Asked returns the Sorted requests whose answers have not arrived, each after its actor's name.
func (s *Sim) Asked() (asked []string) {
	for _, a := range s.actors {
		for _, p := range append([]*Proc{a.proc}, a.lanes...) {
			if sorted, ok := p.request.(Sorted); ok {
				asked = append(asked, p.name+" "+sorted.SortKey())
			}
		}
	}
	return asked
}
