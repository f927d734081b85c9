package serve

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// freeBody is how much of a body needs no room among the others: most requests
// have no more, and so never wait for those that have.
const freeBody = 16 << 10

// errNoRoom is for a body that has found no room in time.
var errNoRoom = errors.New("too many large requests are under way at once")

// bodies bounds the request bodies that are under way at once. A body takes room
// for all that it says it has, or may have, before more than its beginning is
// read: so those that are read never wait for each other. If others wait, whoever
// has kept the server waiting for long is dropped.
type bodies struct {
	closing context.Context
	limits  limits

	mu      sync.Mutex
	free    int // bytes; less than nothing never
	waiting []*claim
	reading []*claim
	watched bool // a goroutine watches over who is waited for
	spent   int  // bytes that had room since memory was given back
	tidying bool
}

// claim is a body's claim to room.
type claim struct {
	conn    *conn
	bytes   int
	proven  bool          // the client has sent a whole request before
	granted chan struct{} // closed once there is room
	refused chan struct{} // closed once there will be none
	dropped bool          // its connection has been closed
}

func newBodies(closing context.Context, l limits) *bodies {
	return &bodies{closing: closing, limits: l, free: l.bodyBytes}
}

// take waits for room, up to the connection's deadline. Errors are errNoRoom, and
// net.ErrClosed for a connection that was dropped meanwhile.
func (b *bodies) take(c *conn, bytes int) (*claim, error) {
	wanted := &claim{conn: c, bytes: min(bytes, b.limits.bodyBytes), proven: c.whole.Load(), granted: make(chan struct{}), refused: make(chan struct{})}
	b.mu.Lock()
	b.waiting = append(b.waiting, wanted)
	b.grant()
	b.refuse()
	if len(b.waiting) > 0 && !b.watched {
		b.watched = true
		go b.watch()
	}
	b.mu.Unlock()

	c.waits.begin()
	var err error
	select {
	case <-wanted.granted: // without a timer, mostly
	default:
		err = b.await(c, wanted)
	}
	c.waits.end()
	if err != nil {
		return nil, err
	}
	c.waits.reset() // for the body it has not been waited yet
	_ = c.SetReadDeadline(time.Now().Add(b.limits.body))
	return wanted, nil
}

// await waits for a claim to be granted. If it is not, it is withdrawn.
func (b *bodies) await(c *conn, wanted *claim) (err error) {
	bound, cancel := context.WithDeadline(context.WithoutCancel(b.closing), c.reads.at)
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
		return nil // just in time
	default:
	}
	b.waiting = remove(b.waiting, wanted)
	b.grant()
	return err
}

// errDropped is for a connection that the server has closed.
var errDropped = errors.New("the connection was dropped")

// release gives back what was taken.
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

// grant gives room to the claims whose turn it is.
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

// next is the claim whose turn it is: those of proven clients first, in their
// order. Of the others the last one is first, because whoever has waited for long
// may have gone.
func (b *bodies) next() *claim {
	if i := slices.IndexFunc(b.waiting, func(c *claim) bool { return c.proven }); i >= 0 {
		return b.waiting[i]
	}
	return b.waiting[len(b.waiting)-1]
}

// refuse refuses the first of the unproven clients that wait, if they are many.
// What they have sent fills the memory of the system meanwhile.
func (b *bodies) refuse() {
	strangers, first := 0, (*claim)(nil)
	for _, c := range b.waiting {
		if !c.proven {
			if strangers++; first == nil {
				first = c
			}
		}
	}
	if strangers > b.limits.queue {
		b.waiting = remove(b.waiting, first)
		close(first.refused)
	}
}

// watch drops whoever keeps the server waiting, as long as others wait for room.
func (b *bodies) watch() {
	const often = 10 * time.Millisecond
	for b.dropped() {
		pause(context.WithoutCancel(b.closing), often)
	}
}

// dropped drops who has kept the server waiting for too long, until there is
// room for the next one. It reports whether anybody still waits for room.
func (b *bodies) dropped() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.watched = len(b.waiting) > 0; !b.watched {
		return false
	}
	next := b.next()
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
		slowest.conn.abort() // who reads it learns, and gives back its room
		room += slowest.bytes
	}
	return true
}

// slowest returns the body that the server has waited for the longest, if that
// was too long.
func (b *bodies) slowest(forProven bool) (found *claim) {
	var longest time.Duration
	for _, c := range b.reading {
		patience := b.limits.silence
		if forProven {
			patience = b.limits.patience(c.proven)
		}
		if waited := c.conn.waits.sofar(); !c.dropped && waited >= patience && waited > longest {
			found, longest = c, waited
		}
	}
	return found
}

// remove removes one, and keeps the order of the others.
func remove(claims []*claim, c *claim) []*claim {
	if i := slices.Index(claims, c); i >= 0 {
		return slices.Delete(claims, i, i+1)
	}
	return claims
}

// tidySpent is how many bytes of bodies are worth giving memory back.
const tidySpent = 32 << 20

// tidy gives the memory of bodies back to the system once none is under way:
// without traffic, the collector would have time until the next large request.
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
	debug.FreeOSMemory() // what pools hold goes with the second
}
