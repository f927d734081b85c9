package serve

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// freeBody is the number of bytes of a body that are read without room (see bodies). Most bodies are no longer than
// that, so they never wait for long ones.
const freeBody = 16 << 10

// errNoRoom is the error for a body that got no room in time.
var errNoRoom = errors.New("too many large requests are under way at once")

// bodies bounds the memory of bodies that are in transfer at the same time: those of requests, or those of answers (see
// answers.go). The beginning of a request's body is read without room. Before the server reads more, the body takes
// room for the length in its header, or for the maximum length if the header has none. So bodies that are being read
// never wait for each other. While bodies wait for room, clients that keep the server waiting are dropped.
type bodies struct {
	closing context.Context
	limits  limits
	most    int // bytes

	mu      sync.Mutex
	free    int      // bytes; negative if answers have taken more room than there was
	waiting []*claim // for room
	reading []*claim // have room
	watched bool     // the goroutine of watch runs
	spent   int      // bytes that have had room since memory was last returned to the system
	tidying bool     // the goroutine of tidy runs
}

// claim is the claim of a body to room.
type claim struct {
	conn    *conn
	bytes   int
	proven  bool          // whether conn was proven when the claim was made
	granted chan struct{} // closed once there is room
	refused chan struct{} // closed once it is known that there will be no room
	dropped bool          // its connection has been closed
}

func newBodies(closing context.Context, l limits, most int) *bodies {
	return &bodies{closing: closing, limits: l, most: most, free: most}
}

// take waits for room until a deadline. It fails with errNoRoom, or with errDropped if the connection was dropped
// meanwhile.
func (b *bodies) take(c *conn, bytes int, until time.Time) (*claim, error) {
	wanted := &claim{conn: c, bytes: min(bytes, b.most), proven: c.proven.Load()}
	b.mu.Lock()
	if len(b.waiting) == 0 && wanted.bytes <= b.free { // the usual case
		b.free -= wanted.bytes
		b.reading = append(b.reading, wanted)
		b.mu.Unlock()
		return wanted, nil
	}
	wanted.granted, wanted.refused = make(chan struct{}), make(chan struct{})
	b.waiting = append(b.waiting, wanted)
	b.grant()
	b.refuse()
	b.keepWatch()
	b.mu.Unlock()
	if err := b.await(c, wanted, until); err != nil {
		return nil, err
	}
	return wanted, nil
}

// await waits until a claim is granted, and withdraws a claim that is not granted in time.
func (b *bodies) await(c *conn, wanted *claim, until time.Time) (err error) {
	bound, cancel := context.WithDeadline(context.WithoutCancel(b.closing), until)
	defer cancel()
	select {
	case <-wanted.granted:
		return nil
	case <-wanted.refused:
		return errNoRoom
	case <-bound.Done():
		err = errNoRoom
	case <-c.gone:
		err = errDropped
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-wanted.granted:
		return nil // granted since
	default:
	}
	b.waiting = remove(b.waiting, wanted)
	b.grant()
	return err
}

// errDropped is the error of a connection that the server has closed.
var errDropped = errors.New("the connection was dropped")

// release gives back the room that a claim has taken.
func (b *bodies) release(c *claim) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reading = remove(b.reading, c)
	b.free += c.bytes
	b.spent += c.bytes
	b.grant()
	if b.spent >= tidySpent && !b.tidying {
		b.tidying = true
		go b.tidy()
	}
}

// grant gives room to waiting claims, in turn, while there is enough.
func (b *bodies) grant() {
	for len(b.waiting) > 0 {
		next := b.next()
		if next.bytes > b.free {
			return
		}
		b.free -= next.bytes
		b.waiting = remove(b.waiting, next)
		b.reading = append(b.reading, next)
		close(next.granted)
	}
}

// next returns the claim whose turn it is. Claims of proven clients come first, in their order. Then come those of
// unproven clients, the latest one first: a client that has waited for a long time may be gone.
func (b *bodies) next() *claim {
	if i := slices.IndexFunc(b.waiting, func(c *claim) bool { return c.proven }); i >= 0 {
		return b.waiting[i]
	}
	return b.waiting[len(b.waiting)-1]
}

// refuse refuses the unproven client that has waited longest, if too many of them wait: the bytes that they have sent
// take the system's memory.
func (b *bodies) refuse() {
	unproven, first := 0, (*claim)(nil)
	for _, c := range b.waiting {
		if !c.proven {
			if unproven++; first == nil {
				first = c
			}
		}
	}
	if unproven > b.limits.queue {
		b.waiting = remove(b.waiting, first)
		close(first.refused)
	}
}

// short reports whether room is short: claims are waiting, or more was taken than exists.
func (b *bodies) short() bool { return len(b.waiting) > 0 || b.free < 0 }

// keepWatch starts watch if room is short.
func (b *bodies) keepWatch() {
	if b.short() && !b.watched {
		b.watched = true
		go b.watch()
	}
}

// watch drops clients that keep the server waiting, as long as room is short.
func (b *bodies) watch() {
	const often = 10 * time.Millisecond
	for b.drop() {
		pause(context.WithoutCancel(b.closing), often)
	}
}

// drop drops clients that have kept the server waiting for too long, until the next claim will get room. It reports
// whether room is short.
func (b *bodies) drop() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.watched = b.short(); !b.watched {
		return false
	}
	next := &claim{proven: true}
	if len(b.waiting) > 0 {
		next = b.next()
	}
	room := b.free
	for _, c := range b.reading {
		if c.dropped {
			room += c.bytes
		}
	}
	for room < next.bytes {
		slowest := b.slowest(next.proven)
		if slowest == nil {
			break
		}
		slowest.dropped = true
		slowest.conn.abort() // the goroutine that reads the body fails, and gives the room back
		room += slowest.bytes
	}
	return true
}

// slowest returns the claim whose client has kept the server waiting for the longest; nil if no wait is too long.
func (b *bodies) slowest(forProven bool) (found *claim) {
	var longest time.Duration
	for _, c := range b.reading {
		patience := b.limits.silence
		if forProven {
			patience = b.limits.patience(c.proven)
		}
		if waited := c.conn.waits.until(uptime()); !c.dropped && waited >= patience && waited > longest {
			found, longest = c, waited
		}
	}
	return found
}

// remove removes a claim, and keeps the order of the others.
func remove(claims []*claim, c *claim) []*claim {
	if i := slices.Index(claims, c); i >= 0 {
		return slices.Delete(claims, i, i+1)
	}
	return claims
}

// tidySpent is the number of bytes that bodies must have taken before tidy returns memory to the system.
const tidySpent = 32 << 20

// tidy returns the memory of bodies to the system once no body is in transfer. Without traffic the garbage collector
// does not run, and the memory would stay taken until the next large request.
func (b *bodies) tidy() {
	const quiet = 2 * time.Second
	for {
		pause(b.closing, quiet)
		b.mu.Lock()
		if b.closing.Err() != nil {
			b.tidying = false
			b.mu.Unlock()
			return
		}
		again := len(b.reading) > 0
		if !again {
			b.spent, b.tidying = 0, false
		}
		b.mu.Unlock()
		if !again {
			break
		}
	}
	debug.FreeOSMemory()
	debug.FreeOSMemory() // a sync.Pool frees its memory only in the second collection
}
