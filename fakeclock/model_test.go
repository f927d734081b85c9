package fakeclock_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jonboulle/clockwork"
	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/fakeclock"
)

// A world is a clock with a few numbered timers. There are two: the real one, and a model so simple that a reader can
// see that it is right.
type world interface {
	now() time.Duration
	waiters() int
	next() (time.Duration, bool)
	advance(time.Duration)
	advanceTo(time.Duration)
	afterFunc(id int, d time.Duration, f func())
	newTimer(id int, d time.Duration)
	newTicker(id int, d time.Duration)
	stop(id int) bool
	reset(id int, d time.Duration) bool
	receive(id int) (time.Duration, bool)
}

const timers = 5

// An op is one operation on a world. Its field then has the operations of the function that it registers.
type op struct {
	kind string
	id   int
	d    time.Duration
	then []op
}

func (o op) String() string { return fmt.Sprintf("%s(%d, %d)%v", o.kind, o.id, o.d, o.then) }

// genOps draws operations in which functions are nested up to depth. Durations are small, so that deadlines collide.
func genOps(depth int) *rapid.Generator[[]op] {
	kinds := []string{"timer", "ticker", "func", "func", "stop", "reset", "advance", "advanceTo", "receive"}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) op {
		o := op{
			kind: rapid.SampledFrom(kinds).Draw(t, "kind"),
			id:   rapid.IntRange(0, timers-1).Draw(t, "id"),
			d:    time.Duration(rapid.IntRange(-1, 8).Draw(t, "d")),
		}
		if o.kind == "func" && depth > 0 {
			o.then = genOps(depth-1).Draw(t, "then")
		}
		return o
	}), 0, 12/(3-depth))
}

// run applies ops to w and returns everything observable.
func run(w world, ops []op) (log []string) {
	budget := 500 // for functions that restart themselves forever
	note := func(format string, args ...any) {
		log = append(log, fmt.Sprintf("%d: ", w.now())+fmt.Sprintf(format, args...))
	}
	started := [timers]string{}
	var apply func(ops []op)
	apply = func(ops []op) {
		for _, o := range ops {
			if budget--; budget < 0 {
				return
			}
			switch kind := started[o.id]; o.kind {
			case "timer", "ticker", "func":
				if kind != "" {
					w.stop(o.id)
				}
				started[o.id] = o.kind
				switch o.kind {
				case "timer":
					w.newTimer(o.id, o.d)
				case "ticker":
					w.newTicker(o.id, max(o.d, 1))
				case "func":
					w.afterFunc(o.id, o.d, func() {
						note("func %d begins", o.id)
						apply(o.then)
						note("func %d ends", o.id)
					})
				}
			case "stop":
				if kind != "" {
					note("stop %d: %v", o.id, w.stop(o.id))
				}
			case "reset":
				d := o.d
				if kind == "ticker" {
					d = max(d, 1)
				}
				if kind != "" {
					note("reset %d: %v", o.id, w.reset(o.id, d))
				}
			case "receive":
				if kind == "timer" || kind == "ticker" {
					t, ok := w.receive(o.id)
					note("receive %d: %v %v", o.id, t, ok)
				}
			case "advance":
				w.advance(o.d)
			case "advanceTo":
				w.advanceTo(4 * o.d)
			}
			next, ok := w.next()
			note("%d wait, next %v %v", w.waiters(), next, ok)
		}
	}
	apply(ops)
	return log
}

func TestClockAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ops := genOps(2).Draw(t, "ops")
		// The timers of a slow node take scale times longer in true time.
		for _, scale := range []time.Duration{1, 2, 4} {
			c := newClock()
			node := c.Node(fakeclock.Drift{PPM: int64(1_000_000/scale - 1_000_000)})
			got := run(&real{clock: c, node: node, scale: scale}, ops)
			want := run(&model{}, ops)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("node %d times slower: what happened (-model +clock):\n%s", scale, diff)
			}
		}
	})
}

// real drives a node in the model's unit: one true time unit is scale nanoseconds.
type real struct {
	clock  *fakeclock.Clock
	node   *fakeclock.Node
	scale  time.Duration
	timer  [timers]clockwork.Timer
	ticker [timers]clockwork.Ticker
}

func (r *real) unit(t time.Time) time.Duration { return t.Sub(fakeclock.Epoch) / r.scale }
func (r *real) now() time.Duration             { return r.unit(r.clock.Now()) }
func (r *real) waiters() int                   { return r.clock.Waiters() }
func (r *real) advance(d time.Duration)        { r.clock.Advance(d * r.scale) }
func (r *real) advanceTo(t time.Duration)      { r.clock.AdvanceTo(at(t * r.scale)) }

func (r *real) next() (time.Duration, bool) {
	t, ok := r.clock.Next()
	if !ok {
		return 0, false
	}
	return r.unit(t), true
}

func (r *real) set(id int, timer clockwork.Timer, ticker clockwork.Ticker) {
	r.timer[id], r.ticker[id] = timer, ticker
}

func (r *real) afterFunc(id int, d time.Duration, f func()) {
	r.set(id, r.node.AfterFunc(d, f), nil)
}
func (r *real) newTimer(id int, d time.Duration)  { r.set(id, r.node.NewTimer(d), nil) }
func (r *real) newTicker(id int, d time.Duration) { r.set(id, nil, r.node.NewTicker(d)) }

func (r *real) stop(id int) bool {
	if r.ticker[id] != nil {
		r.ticker[id].Stop()
		return false
	}
	return r.timer[id].Stop()
}

func (r *real) reset(id int, d time.Duration) bool {
	if r.ticker[id] != nil {
		r.ticker[id].Reset(d)
		return false
	}
	return r.timer[id].Reset(d)
}

func (r *real) receive(id int) (time.Duration, bool) {
	var ch <-chan time.Time
	if r.ticker[id] != nil {
		ch = r.ticker[id].Chan()
	} else {
		ch = r.timer[id].Chan()
	}
	select {
	case t := <-ch:
		return t.Sub(fakeclock.Epoch), true // the node's reading is in the model's unit
	default:
		return 0, false
	}
}

// model keeps its timers in a list in order of registration and searches all of it for the earliest.
type model struct {
	time, target time.Duration
	advancing    bool
	list         []*modelTimer
	ids          [timers]*modelTimer
}

type modelTimer struct {
	due, period time.Duration
	f           func()
	channel     []time.Duration
}

func (m *model) now() time.Duration { return m.time }
func (m *model) waiters() int       { return len(m.list) }

func (m *model) first() *modelTimer {
	if len(m.list) == 0 {
		return nil
	}
	return slices.MinFunc(m.list, func(a, b *modelTimer) int { return int(a.due - b.due) }) // the first among equals
}

func (m *model) next() (time.Duration, bool) {
	if t := m.first(); t != nil {
		return t.due, true
	}
	return 0, false
}

func (m *model) advance(d time.Duration) {
	if d >= 0 {
		m.moveTo(m.target + d)
	}
}

func (m *model) advanceTo(t time.Duration) {
	if t >= m.time {
		m.moveTo(t)
	}
}

func (m *model) moveTo(t time.Duration) {
	m.target = max(m.target, t)
	if m.advancing {
		return
	}
	m.advancing = true
	for t := m.first(); t != nil && t.due <= m.target; t = m.first() {
		m.remove(t)
		m.time = t.due
		m.fire(t)
	}
	m.time = m.target
	m.advancing = false
}

func (m *model) fire(t *modelTimer) {
	if t.f != nil {
		t.f()
		return
	}
	if len(t.channel) == 0 {
		t.channel = append(t.channel, m.time)
	}
	if t.period > 0 {
		m.start(t, t.period)
	}
}

func (m *model) remove(t *modelTimer) bool {
	i := slices.Index(m.list, t)
	if i >= 0 {
		m.list = slices.Delete(m.list, i, i+1)
	}
	return i >= 0
}

func (m *model) start(t *modelTimer, d time.Duration) {
	if d <= 0 && t.f == nil {
		m.fire(t)
		return
	}
	t.due = m.time + max(d, 0)
	m.list = append(m.list, t)
}

func (m *model) create(id int, d time.Duration, t *modelTimer) {
	m.ids[id] = t
	m.start(t, d)
}

func (m *model) afterFunc(id int, d time.Duration, f func()) { m.create(id, d, &modelTimer{f: f}) }
func (m *model) newTimer(id int, d time.Duration)            { m.create(id, d, &modelTimer{}) }
func (m *model) newTicker(id int, d time.Duration)           { m.create(id, d, &modelTimer{period: d}) }

func (m *model) stop(id int) bool {
	t := m.ids[id]
	active := m.remove(t) || len(t.channel) > 0
	t.channel = nil
	return active && t.period == 0
}

func (m *model) reset(id int, d time.Duration) bool {
	active := m.stop(id)
	t := m.ids[id]
	if t.period > 0 {
		t.period = d
	}
	m.start(t, d)
	return active
}

func (m *model) receive(id int) (time.Duration, bool) {
	t := m.ids[id]
	if len(t.channel) == 0 {
		return 0, false
	}
	got := t.channel[0]
	t.channel = nil
	return got, true
}
