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
	"time"
)

// A bubble does not know of every wait: a goroutine that waits for a mutex, a socket or a channel made outside is not
// "durably blocked". The runtime knows, and tells by its stacks.
//
// Source: https://github.com/golang/go/issues/77687

// goroutine is one of a bubble's, as the runtime tells it.
type goroutine struct {
	state string // running, select, sync.Mutex.Lock
	// durable says that only time, or another goroutine of the bubble, can wake it.
	durable bool
	// labels are the machine and the command of its script for which it was started.
	labels struct{ Node, Call string }
	where  string // the innermost function that is neither Go's nor ours, and its place
}

// forMutex says whether it waits for a mutex.
func (g *goroutine) forMutex() bool { return forMutex([]byte(g.state)) }

func forMutex(state []byte) bool {
	return bytes.HasPrefix(state, []byte("sync.Mutex")) || bytes.HasPrefix(state, []byte("sync.RWMutex"))
}

// runs says whether it does not wait at all.
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

// labelled has the runtime print the labels of goroutines, which name machine and command: in our messages, and in Go's
// own when a goroutine that a store has started panics.
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

// bubbleOf returns the name of the bubble that it is called in.
func bubbleOf() string {
	var room [256]byte
	header := string(room[:runtime.Stack(room[:], false)])
	_, after, _ := strings.Cut(header, "synctest bubble ")
	end := strings.IndexFunc(after, func(r rune) bool { return r < '0' || r > '9' })
	return after[:max(end, 0)]
}

// goroutinesOf returns a bubble's goroutines, but for Go's and the simulator's own.
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

// skipped begins the names of functions that are not the store's: those in which goroutines of Go's own packages wait, of
// the SDK, and ours.
var skipped = []string{
	"bufio.", "context.", "crypto/", "encoding/", "internal/", "io.", "iter.", "net.", "net/", "os.", "reflect.", "runtime.", "slices.", "sync.", "sync/",
	"syscall.", "testing.", "testing/", "time.",
	"github.com/isr-sim/isr-sim/property.", "github.com/isr-sim/isr-sim/scenario", "github.com/isr-sim/isr-sim/internal/", "github.com/isr-sim/isr-sim/ddbfake",
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

// watch is what the watchdog of a run looks at.
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

// look is how often the watchdog looks, and outside for how long a goroutine may wait for something outside of its
// bubble. Runs do not wait.
const (
	look    = 500 * time.Millisecond
	outside = 5 * time.Second
)

// stuck returns the goroutines of a bubble that will not go on by itself: all of them wait, and one not for time or for
// another of them. None is returned of any other.
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
