package property

import (
	"bytes"
	"encoding/json"
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
	"github.com/isr-sim/isr-sim/internal/sim"
)

// farewell is how long package time moves on when a run is over: a goroutine may still sleep before it makes its last
// call, which is refused, and Close may wait for it.
const farewell = time.Minute

// inBubble calls run in its own bubble of testing/synctest, with the bubble's time at fakeclock.Epoch.
func (r runner) inBubble(run func(sim.Bubble)) error {
	w := watch{woke: make(chan struct{}, 1)}
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
			r.random.begin(t)
			time.Sleep(time.Until(fakeclock.Epoch)) //nolint:forbidigo // the bubble's time, which the simulator moves
			b, end := newBubble(&w)
			defer end()
			run(b)
			//nolint:forbidigo // the bubble's time, which stands still when this function has returned
			time.Sleep(farewell)
		})
		return nil
	})
}

// bubble is the bubble of testing/synctest in which its methods are called.
type bubble struct {
	watch  *watch
	asking bool            // quiet has not yet answered ask
	ask    chan<- struct{} // asks for an answer once every goroutine waits for time, or for another one
	quiet  <-chan struct{} // the answer
	roused <-chan struct{} // no answer comes, and time does not pass: see runner.rouse

	mutexes bool // a goroutine waited for a mutex when Wait returned
	room    []byte
}

var _ sim.Bubble = (*bubble)(nil)

// newBubble returns the bubble in which it is called, and the function that ends it.
func newBubble(w *watch) (b *bubble, end func()) {
	ask, quiet := make(chan struct{}, 1), make(chan struct{}, 1)
	go func() { // not the caller: nothing can wake a goroutine out of synctest.Wait
		for range ask {
			synctest.Wait()
			quiet <- struct{}{}
		}
	}()
	roused, unwatch := w.rousable()
	return &bubble{watch: w, ask: ask, quiet: quiet, roused: roused}, func() {
		close(ask)
		unwatch()
	}
}

func (b *bubble) Wait() {
	asked := false
	for !b.mutexes || !b.held() {
		if !b.asking {
			b.ask <- struct{}{}
			b.asking, asked = true, true
		}
		b.watch.waits.Add(1)
		select {
		case <-b.quiet:
			b.asking = false
		case <-b.roused:
			b.mutexes = true
		}
		b.watch.waits.Add(1)
		if asked && !b.asking { // otherwise it was the answer to an earlier question
			return
		}
	}
}

// held waits until every goroutine is blocked, and reports whether one of them waits for a mutex. Another test may
// briefly hold a process-wide mutex, so the same wait must be seen several times.
func (b *bubble) held() bool {
	const enough = 6
	last, times := "", 0
	for {
		for range 4 {
			runtime.Gosched() // so that each goroutine that can park has parked
		}
		b.room = stacks(b.room)
		waiters, quiet := waits(b.room, b.watch.name())
		switch {
		case !quiet || waiters != last:
			last, times = waiters, 0
		case waiters == "" || times == enough:
			b.mutexes = waiters != ""
			return b.mutexes
		}
		times++
	}
}

// waits returns the stacks of a bubble's goroutines that wait for a mutex, and reports whether all goroutines except
// the caller wait for a mutex, for time, or for each other.
func waits(stacks []byte, bubble string) (waiters string, quiet bool) {
	quiet = true
	headers(stacks, bubble, func(state, stack []byte) bool {
		switch {
		case &stack[0] == &stacks[0]: // the first one is the goroutine that asks
		case forMutex(state):
			waiters += string(stack)
		case !bytes.Contains(state, []byte("(durable)")):
			quiet = false
		}
		return quiet
	})
	return waiters, quiet
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
	for {
		b.watch.waits.Add(1)
		roused := false
		select {
		case <-timer.C:
		case <-woken:
		case <-b.roused:
			roused = true
		}
		b.watch.waits.Add(1)
		if b.mutexes = false; !roused || b.held() { // else another test held the mutex
			return
		}
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
	// durable says that only time, or another goroutine of the bubble, can wake the goroutine.
	durable bool
	// labels are a machine and the command of its script for which the goroutine was started.
	labels struct{ Node, Call string }
	where  string // the innermost function that is neither Go's nor ours, and its source line
}

// forMutex reports whether the goroutine waits for a mutex.
func (g *goroutine) forMutex() bool { return forMutex([]byte(g.state)) }

func forMutex(state []byte) bool {
	return bytes.HasPrefix(state, []byte("sync.Mutex")) || bytes.HasPrefix(state, []byte("sync.RWMutex"))
}

// runs reports whether the goroutine waits for nothing.
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

// labelled makes the runtime print the labels of goroutines, which name machine and command. Our messages show them,
// and so does Go's own message when a goroutine of a store panics.
var labelled = sync.OnceFunc(func() {
	const setting = "tracebacklabels"
	if was := os.Getenv("GODEBUG"); !strings.Contains(was, setting) {
		_ = os.Setenv("GODEBUG", strings.TrimPrefix(was+","+setting+"=1", ",")) // without it, messages say less
	}
})

// stacks prints the stacks of all goroutines into room, or into a larger buffer if room is too small.
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

// goroutinesOf returns a bubble's goroutines, except those of Go itself and of the simulator.
func goroutinesOf(bubble string) (all []goroutine) {
	if bubble == "" {
		return nil
	}
	headers(stacks(nil), bubble, func(state, stack []byte) bool {
		g := goroutine{durable: bytes.Contains(state, []byte("(durable)")), where: where(string(stack))}
		text := string(state)
		if _, labels, ok := strings.Cut(text, " labels:"); ok {
			_ = json.Unmarshal([]byte(strings.TrimSuffix(labels, "]:")), &g.labels) // a store's labels may be anything
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

// skipped are beginnings of names of functions that do not belong to the store: those of Go's packages (goroutines wait
// in them), of the SDK, and our own.
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

// tell describes in a few lines which goroutines of a bubble wait, and where.
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
