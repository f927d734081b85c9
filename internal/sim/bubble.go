package sim

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// Bubble runs actors whose code has goroutines: a bubble of testing/synctest, made by a package that may import it. Its
// clock is the clock of package time, and is true time.
type Bubble interface {
	// Wait returns when every other goroutine of the bubble waits for time, or for another of them.
	Wait()
	// Held says whether, after Wait, a goroutine waits for a mutex: then no time can pass.
	Held() bool
	// Waiting lists the goroutines that wait, and where, for people to read: each on a line, with a line feed before
	// it.
	Waiting() string
	// Now returns the bubble's time.
	Now() time.Time
	// Pass lets time pass until the given instant, or until a value arrives on woken. It ends earlier if a timer's
	// goroutine waits for a mutex: see Held.
	Pass(until time.Time, woken <-chan struct{})
	// AfterFunc is time.AfterFunc, and returns its timer's Stop.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// ErrNodeDown is the error of a request from a node that has crashed, or whose run is over. Such a request has no
// effect.
var ErrNodeDown = errors.New("the node is down")

// Sorted is implemented by a Request that has an order among the requests that goroutines of one actor send at the same
// moment.
type Sorted interface {
	// SortKey returns the key of that order: everything about the request that is the same in every run.
	SortKey() string
}

// horizon is how far time moves to find out whether a goroutine waits for it: a Sim does not know the timers of package
// time.
const horizon = 100 * 24 * time.Hour

// enoughRefusals is the number of requests that return an error once their node is down. Code that sends more is a loop
// that nothing else would end.
const enoughRefusals = 50

// gate is where the goroutines of a run's actors park.
type gate struct {
	mu      sync.Mutex
	arrived []*Proc // since the last settle
	left    []*Proc // goroutines whose contexts have ended since
	woken   chan struct{}
}

// signal says that the run's goroutine has something to do.
func (g *gate) signal() {
	select {
	case g.woken <- struct{}{}:
	default:
	}
}

// Send is Do for any goroutine of an actor in a Bubble. It returns the error of ctx if ctx ends first, as a client's
// call does. The request is then still in the network, and may take effect or not.
func (p *Proc) Send(ctx context.Context, r Request) error {
	return p.wait(ctx, &Proc{state: calling, request: r})
}

// Sleep is Clock's Sleep for any goroutine of an actor in a Bubble, as a step of the schedule: no two wake at the same
// time.
func (p *Proc) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	return p.wait(ctx, &Proc{state: sleeping, wake: p.after(d)})
}

// Turn parks the actor's own goroutine until no other actor's goroutine runs. It is not a step of the schedule. The
// code after it runs in the order of actors.
func (p *Proc) Turn() {
	if p.wait(context.WithoutCancel(p.life), &Proc{state: turning}) != nil {
		panic(crashSignal{})
	}
}

// Life returns a context that ends with this incarnation of a node in a Bubble.
func (p *Proc) Life() context.Context { return p.life }

// AtEnd registers f for a node in a Bubble: f is called, in a new goroutine, when this incarnation has crashed or the
// run is over.
func (p *Proc) AtEnd(f func()) { p.atEnd = append(p.atEnd, f) }

// wait parks the calling goroutine at the gate as a lane of p.
func (p *Proc) wait(ctx context.Context, lane *Proc) error {
	if err := ctx.Err(); err != nil && p.life.Err() == nil {
		return err
	}
	g := p.sim.gate
	g.mu.Lock()
	if p.life.Err() != nil {
		p.refused++
		spent := p.refused > enoughRefusals
		g.mu.Unlock()
		if spent {
			runtime.Goexit()
		}
		return ErrNodeDown
	}
	lane.sim, lane.actor, lane.incarnation, lane.life = p.sim, p.actor, p.incarnation, p.life
	lane.back = make(chan struct{})
	g.arrived = append(g.arrived, lane)
	g.signal()
	g.mu.Unlock()

	select {
	case <-lane.back:
		return nil
	case <-p.life.Done():
		return ErrNodeDown
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-lane.back:
		return nil
	default:
	}
	if p.life.Err() != nil {
		return ErrNodeDown
	}
	g.left = append(g.left, lane)
	g.signal()
	return ctx.Err()
}

// goCode starts the actor's code in a goroutine.
func (p *Proc) goCode() {
	p.state = away
	go func() {
		defer func() {
			v := recover()
			g := p.sim.gate
			g.mu.Lock()
			defer g.mu.Unlock()
			switch v.(type) {
			case nil, crashSignal:
			default:
				p.sim.fail(&PanicError{actor: p.name, value: v, Stack: debug.Stack()})
			}
			p.over = true
			g.signal()
		}()
		growDeep(0)
		p.actor.Run(p)
	}()
}

// settle returns once the goroutines of all actors are parked, and the goroutines that waited for their turn have had
// their turn. Only the goroutines of the given actor run; nil means that time has passed, which may wake those of any
// actor.
func (s *Sim) settle(of *actor) {
	b := s.cfg.Bubble
	if b == nil {
		return
	}
	for {
		if b.Held() {
			of = nil // another run may have held the mutex
		}
		b.Wait()
		next := s.admit(of)
		if next == nil {
			break
		}
		next.resumeLane()
		of = next.actor
	}
	select {
	case <-s.gate.woken:
	default:
	}
}

// admit makes lanes for the goroutines that have arrived at the gate, and returns a lane whose turn it is, if there is
// one. The run breaks if a goroutine of another actor than the one that ran has gone on: on real machines it would
// still wait, and races between the two would stay hidden.
func (s *Sim) admit(of *actor) (turn *Proc) {
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	alone := func(a *actor) {
		if of != nil && a != of {
			s.fail(&SharedError{moved: a.proc.name, other: of.proc.name})
		}
	}
	for _, a := range s.actors {
		if a.proc.state == away && a.proc.over {
			alone(a)
			a.proc.state = ended
		}
	}
	arrived := s.gate.arrived
	s.gate.arrived = nil
	if len(arrived) > 1 {
		slices.SortStableFunc(arrived, func(x, y *Proc) int {
			return cmp.Or(cmp.Compare(x.actor.index, y.actor.index), cmp.Compare(x.state, y.state),
				cmp.Compare(x.wake.UnixNano(), y.wake.UnixNano()), compareRequests(x, y))
		})
	}
	for _, p := range arrived {
		if p.life.Err() == nil {
			alone(p.actor)
			p.actor.addLane(p)
		}
	}
	for _, p := range s.gate.left {
		if i := slices.Index(p.actor.lanes, p); i >= 0 {
			p.actor.lanes = slices.Delete(p.actor.lanes, i, i+1)
			s.orphan(p)
		}
	}
	s.gate.left = nil
	for _, a := range s.actors {
		for _, p := range a.lanes {
			if p.state == turning {
				return p
			}
		}
	}
	return nil
}

func compareRequests(x, y *Proc) int {
	a, okA := x.request.(Sorted)
	b, okB := y.request.(Sorted)
	if okA && okB && x.actor == y.actor {
		return cmp.Compare(a.SortKey(), b.SortKey())
	}
	return 0
}

// addLane gives a parked goroutine the first lane that is free. The first lane has the name of the actor, so an actor
// that has one goroutine at a time looks like an actor without goroutines.
func (a *actor) addLane(p *Proc) {
	i := 0
	for i < len(a.lanes) && a.lanes[i].lane == i {
		i++
	}
	p.lane, p.name = i, a.proc.name
	if i > 0 {
		p.name = a.proc.name + "/" + string(rune('a'+min(i, 25)))
	}
	a.lanes = slices.Insert(a.lanes, i, p)
}

// resumeLane lets the goroutine that parked in a lane go on.
func (p *Proc) resumeLane() {
	g := p.sim.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(p.actor.lanes, p)
	p.actor.lanes = slices.Delete(p.actor.lanes, i, i+1)
	p.state = ended
	close(p.back)
}

// orphan leaves p's request in the network, if the request is under way to the world.
func (s *Sim) orphan(p *Proc) {
	if p.state != calling {
		return
	}
	history := p.actor.observed.Number(uint64(p.lane)).Number(sent(p.request))
	s.orphans = append(s.orphans, orphan{p, p.request, history, reads(p.request.Accesses(0))})
}

// down ends an incarnation of a node in a Bubble.
func (p *Proc) down() {
	for _, lane := range p.actor.lanes {
		p.sim.orphan(lane)
	}
	p.actor.lanes = nil
	p.sim.gate.mu.Lock()
	p.die()
	p.sim.gate.mu.Unlock()
	for _, f := range p.atEnd {
		go f()
	}
	p.atEnd = nil
	p.sim.settle(p.actor)
}

// threadOf numbers the threads of a lane: the first one is the actor's own.
func (s *Sim) threadOf(p *Proc) int {
	if p.lane == 0 {
		return 2 * p.actor.index
	}
	return 2*len(s.actors) + 2 + len(s.sources) + (p.lane-1)*len(s.actors) + p.actor.index
}

// collectLanes gathers the steps of a's goroutines, and says whether a goroutine waits for time to move.
func (s *Sim) collectLanes(a *actor) (waiting bool) {
	stopped := a.paused
	for _, p := range a.lanes {
		add := func(k Kind, outcome int) {
			s.steps = append(s.steps, Step{Kind: k, Thread: s.threadOf(p), Name: p.name, proc: p, outcome: outcome})
		}
		switch {
		case p.state == calling:
			outcomes := p.request.Outcomes()
			for _, outcome := range outcomes {
				add(Effect, outcome)
			}
			waiting = waiting || len(outcomes) == 0
		case stopped:
		case p.state == answered && s.clock.Now().Before(p.arrives):
			waiting = true
		case p.state == answered:
			add(Response, 0)
		case p.state == sleeping && s.clock.Now().Before(p.wake):
			waiting = true
		case p.state == sleeping:
			add(Timer, 0)
		}
	}
	return waiting || a.proc.state == away && len(a.lanes) == 0
}

// pass lets time pass, in the bubble first if there is one: a goroutine that waits for package time may have something
// to do before until.
func (s *Sim) pass(until time.Time) {
	b := s.cfg.Bubble
	if b == nil {
		s.clock.AdvanceTo(until)
		return
	}
	_, known := s.boundary(s.clock.Now())
	b.Pass(until, s.gate.woken)
	s.clock.AdvanceTo(b.Now())
	s.passed = !known && !s.clock.Now().Before(until)
	s.settle(nil)
}

// bubbleClock is a node's clock for code in a Bubble, with all methods of a clock. Its Sleep is a step of the schedule.
// Timers and tickers go by the bubble's time, so a timer that does nothing costs no step. No two timers of one node
// fire at the same instant, because their order would be undefined.
type bubbleClock struct{ actorClock }

func (c bubbleClock) Now() time.Time                  { return c.proc.actor.node.Local(c.proc.Now()) }
func (c bubbleClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
func (c bubbleClock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

// Sleep returns at once if the node is down: the end of the wait would never come.
func (c bubbleClock) Sleep(d time.Duration) {
	_ = c.proc.Sleep(context.WithoutCancel(c.proc.life), d) // it has no error to return
}

func (c bubbleClock) After(d time.Duration) <-chan time.Time { return c.NewTimer(d).Chan() }

func (c bubbleClock) NewTimer(d time.Duration) clockwork.Timer {
	t := &bubbleTimer{clock: c, tick: make(chan time.Time, 1)}
	t.Reset(d)
	return t
}

func (c bubbleClock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	t := &bubbleTimer{clock: c, f: f}
	t.Reset(d)
	return t
}

func (c bubbleClock) NewTicker(d time.Duration) clockwork.Ticker {
	if d <= 0 {
		panic("sim: non-positive interval for NewTicker")
	}
	t := &bubbleTimer{clock: c, tick: make(chan time.Time, 1), period: d}
	t.Reset(d)
	return bubbleTicker{t}
}

// apart is the number of timers of one node that are kept apart, by a nanosecond each.
const apart = 1000

// delay converts d from the node's time to true time, and adds a little that differs for each timer.
func (c bubbleClock) delay(d time.Duration) time.Duration {
	p := c.proc
	p.sim.gate.mu.Lock()
	p.timers = p.timers%apart + 1
	nth := time.Duration(p.timers)
	p.sim.gate.mu.Unlock()
	return p.after(max(d, 0)).Sub(p.Now()) + nth
}

// bubbleTimer is a timer, or a ticker if it has a period.
type bubbleTimer struct {
	clock  bubbleClock
	tick   chan time.Time
	f      func()
	period time.Duration

	mu   sync.Mutex
	stop func() bool
	nth  int // number of the setting of the timer; earlier settings no longer count
	late int // ticks since the node has been down
}

func (t *bubbleTimer) Chan() <-chan time.Time { return t.tick }

func (t *bubbleTimer) Stop() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.clear()
}

func (t *bubbleTimer) Reset(d time.Duration) bool {
	delay := t.clock.delay(d)
	t.mu.Lock()
	defer t.mu.Unlock()
	active := t.clear()
	if t.period > 0 {
		t.period = d
	}
	t.start(delay)
	return active
}

// clear stops the timer and removes the value that it has sent.
func (t *bubbleTimer) clear() (active bool) {
	t.nth++
	if t.stop != nil {
		active = t.stop()
	}
	select {
	case <-t.tick:
	default:
	}
	return active
}

func (t *bubbleTimer) start(delay time.Duration) {
	nth := t.nth
	t.stop = t.clock.proc.sim.cfg.Bubble.AfterFunc(delay, func() { t.fire(nth) })
}

func (t *bubbleTimer) fire(nth int) {
	t.mu.Lock()
	if nth != t.nth {
		t.mu.Unlock()
		return
	}
	p := t.clock.proc
	if t.period > 0 {
		// Without this, the ticks of a node that is down would never end.
		if p.life.Err() != nil {
			t.late++
		}
		if t.late <= 2*enoughRefusals {
			t.start(p.after(t.period).Sub(p.Now()))
		}
	}
	if t.tick != nil {
		select {
		case t.tick <- t.clock.Now():
		default:
		}
	}
	t.mu.Unlock()
	if t.f != nil {
		t.f()
	}
}

// bubbleTicker makes a bubbleTimer a clockwork.Ticker, whose methods return nothing.
type bubbleTicker struct{ t *bubbleTimer }

func (t bubbleTicker) Chan() <-chan time.Time { return t.t.tick }
func (t bubbleTicker) Stop()                  { t.t.Stop() }
func (t bubbleTicker) Reset(d time.Duration)  { t.t.Reset(d) }
