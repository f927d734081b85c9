package property

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/hooks/sim"
)

// patience is how long a run in a bubble may take in real time. Runs take milliseconds.
var patience = 20 * time.Second

// inBubble calls a run in a bubble of testing/synctest of its own, with the bubble's time at fakeclock.Epoch.
//
// A bubble waits for ever if a goroutine waits for a mutex. The first run in which that happens is given up. This run
// is made again, and like all later runs it then has a bubble that looks at the goroutines itself. That takes longer.
func (r runner) inBubble(run func(sim.Bubble)) error {
	err := r.inOneBubble(run)
	if stuck, ok := errors.AsType[*stuckError](err); ok && stuck.mutex && !r.limit.mutexes {
		r.limit.mutexes = true
		return r.inOneBubble(run)
	}
	return err
}

// farewell is how long package time moves on when a run is over: a goroutine may still sleep before it makes its last
// call, which is refused, and Close may wait for it.
const farewell = time.Minute

func (r runner) inOneBubble(run func(sim.Bubble)) error {
	var w watch
	return r.within(r.limit.patience(), &w, func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = &stuckError{why: fmt.Sprintf(": when the run was over, a goroutine was left that waits for "+
					"ever (%v): give the store a method Close() error that ends its goroutines, or have them end "+
					"with the context of Get%s", v, tell(goroutinesOf(w.name())))}
			}
		}()
		synctest.Test(r.t, func(t *testing.T) {
			w.begin()
			r.random.in = t
			time.Sleep(time.Until(fakeclock.Epoch)) //nolint:forbidigo // the bubble's time, which the simulator moves
			b := &bubble{}
			if r.limit.mutexes {
				b.name = w.name()
			}
			run(b)
			//nolint:forbidigo // the bubble's time, which stands still when this function has returned
			time.Sleep(farewell)
		})
		return nil
	})
}

// within calls run. It stops waiting for run after some real time, or when run's bubble will never go on. In these
// cases run and its goroutines stay. After that, failures are made smaller only if the run can be repeated.
func (r runner) within(most time.Duration, w *watch, run func() error) error {
	done := make(chan error, 1)
	go func() { done <- run() }()
	watchdog := time.NewTicker(min(look, most)) //nolint:forbidigo // it does not end a run that would end by itself
	defer watchdog.Stop()
	began := time.Now() //nolint:forbidigo // as above
	var since time.Time // when within first saw that the bubble does not go on
	for {
		var now time.Time
		select {
		case err := <-done:
			return err
		case now = <-watchdog.C:
		}
		mutex, waiting := w.stuck()
		if len(waiting) == 0 {
			since = time.Time{}
		} else if since.IsZero() {
			since = now
		}
		again := mutex && r.own != nil && !r.limit.mutexes // the run can be made again
		enough := outside
		if again {
			enough = look / 2
		}
		stuck := &stuckError{still: true, mutex: mutex}
		switch {
		case len(waiting) > 0 && now.Sub(since) >= enough && mutex:
			stuck.why = ": a goroutine waits for a mutex that is never unlocked" + tell(waiting)
		case len(waiting) > 0 && now.Sub(since) >= enough:
			stuck.why = ": a goroutine waits for the outside (a socket, a file, a channel made outside of newStore)" +
				tell(waiting)
		case now.Sub(began) >= most:
			stuck.why = fmt.Sprintf(": a run did not end within %v: a goroutine computes without end, waits for the "+
				"outside, or ticks on after Close%s",
				most, tell(goroutinesOf(w.name())))
		default:
			continue
		}
		r.random.left(r.t)
		stuck.stacks = string(stacks(nil))
		if !again {
			r.limit.stick(now.Sub(began))
		}
		return stuck
	}
}

// stuckError says that a run in a bubble did not end.
type stuckError struct {
	why    string // the text that follows "the store under test"
	still  bool   // the run still runs or waits, and keeps everything that it was given
	mutex  bool   // it waits for a mutex
	stacks string // the stacks of all goroutines, if they can explain something
}

func (e *stuckError) Error() string { return "the store under test" + e.why }

// bubble is the bubble of testing/synctest in which its methods are called.
type bubble struct {
	name    string // set if it looks at the goroutines itself
	room    []byte
	mutexes bool // the last time it looked, a goroutine waited for a mutex
}

var _ sim.Bubble = (*bubble)(nil)

func (b *bubble) Wait() {
	if b.name == "" {
		synctest.Wait()
		return
	}
	for {
		for range 4 {
			runtime.Gosched() // so that each goroutine that can park has parked
		}
		b.room = stacks(b.room)
		quiet, self := true, true
		was := b.mutexes
		b.mutexes = false
		headers(b.room, b.name, func(state, _ []byte) bool {
			switch {
			case self: // the first one is the goroutine that asks
				self = false
			case forMutex(state):
				b.mutexes = true
			case !bytes.Contains(state, []byte("(durable)")):
				quiet = false
			}
			return quiet
		})
		if quiet && was == b.mutexes { // a wait for a mutex that another test holds may be over soon
			break
		}
	}
	if !b.mutexes {
		synctest.Wait()
	}
}

func (b *bubble) Held() bool { return b.mutexes }

func (b *bubble) Waiting() string {
	all := goroutinesOf(bubbleOf())
	return tell(slices.DeleteFunc(all, func(g goroutine) bool { return g.runs() }))
}

func (*bubble) Now() time.Time {
	return time.Now().Round(0).UTC() //nolint:forbidigo // the bubble's time, which the simulator moves
}

func (b *bubble) Pass(until time.Time, woken <-chan struct{}) {
	timer := time.NewTimer(until.Sub(b.Now())) //nolint:forbidigo // the bubble's time, which the simulator moves
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-woken:
	}
}

func (*bubble) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop //nolint:forbidigo // the bubble's time, which the simulator moves
}

// A bubble does not notice every wait: a goroutine that waits for a mutex, a socket or a channel made outside of the
// bubble is not "durably blocked". The runtime knows, and its stacks say so.
//
// Source: https://github.com/golang/go/issues/77687

// goroutine is a goroutine of a bubble, as the runtime prints it.
type goroutine struct {
	state string // running, select, sync.Mutex.Lock
	// durable says that only time, or another goroutine of the bubble, can wake it.
	durable bool
	// labels are a machine and a command of its script: the goroutine was started for this command.
	labels struct{ Node, Call string }
	where  string // the innermost function that is neither Go's nor ours, and its place
}

// forMutex says whether the goroutine waits for a mutex.
func (g *goroutine) forMutex() bool { return forMutex([]byte(g.state)) }

func forMutex(state []byte) bool {
	return bytes.HasPrefix(state, []byte("sync.Mutex")) || bytes.HasPrefix(state, []byte("sync.RWMutex"))
}

// runs says whether the goroutine does not wait for anything.
func (g *goroutine) runs() bool {
	return slices.Contains([]string{"running", "runnable", "syscall"}, g.state)
}

func (g *goroutine) String() string {
	who := "a goroutine"
	if g.labels.Node != "" {
		who = fmt.Sprintf("%s (%s)", g.labels.Node, g.labels.Call)
	}
	return fmt.Sprintf("%s: %s in %s", who, g.state, g.where)
}

// labelled makes the runtime print the labels of goroutines, which name machine and command. They are in our messages,
// and in Go's own message when a goroutine of a store panics.
var labelled = sync.OnceFunc(func() {
	const setting = "tracebacklabels"
	if was := os.Getenv("GODEBUG"); !strings.Contains(was, setting) {
		_ = os.Setenv("GODEBUG", strings.TrimPrefix(was+","+setting+"=1", ",")) // messages are poorer without
	}
})

// stacks prints the stacks of all goroutines into room, or into more room.
func stacks(room []byte) []byte {
	for {
		if n := runtime.Stack(room[:cap(room)], true); n < cap(room) {
			return room[:n]
		}
		room = make([]byte, 2*cap(room)+1<<16)
	}
}

// headers calls visit with the state of each goroutine of a bubble, until it returns false.
func headers(text []byte, bubble string, visit func(state, stack []byte) bool) {
	in := []byte("synctest bubble " + bubble)
	for len(text) > 0 {
		stack, rest, _ := bytes.Cut(text, []byte("\n\n"))
		text = rest
		header, _, _ := bytes.Cut(stack, []byte("\n"))
		_, state, ok := bytes.Cut(header, []byte(" ["))
		if !ok {
			continue
		}
		_, after, inBubble := bytes.Cut(state, in)
		if !inBubble || len(after) > 0 && after[0] >= '0' && after[0] <= '9' {
			continue
		}
		if !visit(state, stack) {
			return
		}
	}
}

// bubbleOf returns the name of the bubble in which it is called.
func bubbleOf() string {
	var room [256]byte
	header := string(room[:runtime.Stack(room[:], false)])
	_, after, _ := strings.Cut(header, "synctest bubble ")
	end := strings.IndexFunc(after, func(r rune) bool { return r < '0' || r > '9' })
	return after[:max(end, 0)]
}

// count returns how many goroutines a bubble has.
func count(bubble string) (n int) {
	headers(stacks(nil), bubble, func(_, _ []byte) bool { n++; return true })
	return n
}

// goroutinesOf returns a bubble's goroutines, except those of Go and of the simulator.
func goroutinesOf(bubble string) (all []goroutine) {
	if bubble == "" {
		return nil
	}
	headers(stacks(nil), bubble, func(state, stack []byte) bool {
		g := goroutine{durable: bytes.Contains(state, []byte("(durable)")), where: where(string(stack))}
		text := string(state)
		if _, labels, ok := strings.Cut(text, " labels:"); ok {
			_ = json.Unmarshal([]byte(strings.TrimSuffix(labels, "]:")), &g.labels) // the store's own may be anything
		}
		g.state, _, _ = strings.Cut(strings.TrimRight(text, "]:"), ",")
		g.state = strings.TrimSuffix(g.state, " (durable)")
		if g.where != "" || g.runs() {
			all = append(all, g)
		}
		return true
	})
	return all
}

// skipped are beginnings of names of functions that do not belong to the store: functions of Go's packages, in which
// goroutines wait, of the SDK, and our own.
var skipped = []string{
	"bufio.", "context.", "crypto/", "encoding/", "internal/", "io.", "iter.", "net.", "net/", "os.", "reflect.",
	"runtime.", "slices.", "sync.", "sync/",
	"syscall.", "testing.", "testing/", "time.",
	"github.com/isr-sim/isr-sim/property.", "github.com/isr-sim/isr-sim/scenario",
	"github.com/isr-sim/isr-sim/internal/", "github.com/isr-sim/isr-sim/ddbfake",
	"github.com/aws/",
}

// where finds the innermost function on a stack that is neither Go's, the SDK's nor ours.
func where(stack string) string {
	lines := strings.Split(stack, "\n")
	for i := 1; i+1 < len(lines); i += 2 {
		function, place := lines[i], strings.TrimSpace(lines[i+1])
		function, created := strings.CutPrefix(function, "created by ")
		if !strings.Contains(function, ".") || created {
			continue
		}
		if slices.ContainsFunc(skipped, func(prefix string) bool { return strings.HasPrefix(function, prefix) }) {
			continue
		}
		if at := strings.LastIndex(function, "("); at > 0 {
			function = function[:at]
		}
		place, _, _ = strings.Cut(place, " ")
		return function + " (" + filepath.Base(place) + ")"
	}
	return ""
}

// tell says which goroutines of a bubble wait, and where, in a few lines.
func tell(all []goroutine) string {
	const most = 8
	var b strings.Builder
	for i := range all {
		if i == most {
			fmt.Fprintf(&b, "\n  and %d more", len(all)-most)
			break
		}
		fmt.Fprintf(&b, "\n  %s", &all[i])
	}
	return b.String()
}

// watch has the facts that the watchdog of a run looks at.
type watch struct {
	mu     sync.Mutex
	bubble string // the name of the bubble; "" before it begins
}

func (w *watch) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bubble = bubbleOf()
}

func (w *watch) name() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bubble
}

// look is how often the watchdog looks, and outside is how long a goroutine may wait for something outside of its
// bubble. Ordinary runs do not wait in real time.
const (
	look    = 500 * time.Millisecond
	outside = 5 * time.Second
)

// stuck returns the goroutines of a bubble if the bubble will not go on by itself: all of them wait, and at least one
// waits neither for time nor for another goroutine. Otherwise it returns none.
func (w *watch) stuck() (mutex bool, all []goroutine) {
	all = goroutinesOf(w.name())
	other := false
	for i := range all {
		switch g := &all[i]; {
		case g.runs():
			return false, nil
		case g.forMutex():
			mutex = true
		case !g.durable && g.state != "coroutine" && !strings.HasPrefix(g.state, "synctest."):
			other = true
		}
	}
	if !mutex && !other {
		return false, nil
	}
	return mutex, all
}
