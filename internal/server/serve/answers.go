package serve

import (
	"bytes"
	"context"
	"runtime"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/isr-sim/isr-sim/internal/server/control"
)

// An answer longer than keepBody holds room until it is written, because its client may read slowly. An operation with
// a potentially long answer waits for room before it runs: it may take effect late, but memory stays bounded. Other
// operations never wait. If one of them only reads, and its answer is long while twice the limit is in use, its client
// gets "busy". The answer to a possible write always gets room: the client must learn that the write took effect.
//
// The control API writes a long answer piece by piece while it is made. Such an answer takes room for the bytes that it
// holds, from the same limit.

// answersLong reports whether the answer of an operation is likely to be long. The target ends with the operation's
// name.
func answersLong(target string) bool {
	switch operation(target) {
	case "Scan", "Query", "BatchGetItem", "TransactGetItems", "GetRecords":
		return true
	}
	return executes(target)
}

// executes reports whether an operation runs statements, which may read or write.
func executes(target string) bool {
	switch operation(target) {
	case "ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction":
		return true
	}
	return false
}

// onlyReads reports whether an operation changes nothing, so that its answer may be refused once it is made.
func onlyReads(target string) bool {
	name := operation(target)
	return answersLong(target) && !executes(target) || strings.HasPrefix(name, "Get") ||
		strings.HasPrefix(name, "List") || strings.HasPrefix(name, "Describe")
}

func operation(target string) string { return target[strings.LastIndexByte(target, '.')+1:] }

// make waits for room before an answer is made. It claims so much room that at most one such answer per processor is
// made at a time. So small requests do not wait behind many of them.
func (c *conn) make() (err error) {
	l := c.from.limits
	c.making, err = c.from.answers.take(c, l.answerBytes/runtime.GOMAXPROCS(0), time.Now().Add(l.answer))
	return err
}

// made is called with the body of a finished answer, or nil without an answer. It ends the claim of make and returns
// the room that the answer holds, or nil. If must is true, the answer gets room even if no bytes are free.
func (c *conn) made(answer []byte, must bool) *claim {
	if c == nil {
		return nil
	}
	room := c.making
	c.making = nil
	if room == nil && len(answer) == 0 {
		return nil
	}
	return c.from.answers.settle(c, room, cap(answer), must)
}

// settle sets the room of a body, which may have none, to the given number of bytes, whether or not they are free. If
// the number is 0, or if far too few bytes are free and must is false, settle gives the room back and returns nil.
func (b *bodies) settle(c *conn, room *claim, bytes int, must bool) *claim {
	b.mu.Lock()
	defer b.mu.Unlock()
	if room == nil {
		room = &claim{conn: c, proven: true}
		b.reading = append(b.reading, room)
	}
	if !must && b.free+room.bytes-bytes < -b.most {
		bytes = 0
	}
	b.free += room.bytes - bytes
	room.bytes = bytes
	if bytes == 0 {
		b.reading, room = remove(b.reading, room), nil
	}
	b.grant()
	b.keepWatch()
	return room
}

// holdAnswer makes body the body of an answer, and gives its room back once it is written. It reports whether there was
// room; if must is true, there always is.
func holdAnswer(r *fasthttp.Response, c *conn, body []byte, must bool) bool {
	if c == nil || cap(body) <= keepBody {
		c.made(nil, false)
		r.SwapBody(body)
		return true
	}
	room := c.made(body, must)
	if room == nil {
		return false
	}
	held := &heldAnswer{room: room}
	held.Reset(body)
	r.SetBodyStream(held, len(body))
	return true
}

// connKey is the key of a request's connection among the values of its context.
type connKey struct{}

// roomOf waits for room for an answer that is written piece by piece, because its client may read slowly, too.
func roomOf(ctx context.Context, bytes int) (control.Room, error) {
	c, _ := ctx.Value(connKey{}).(*conn)
	if c == nil {
		return unbounded{}, nil
	}
	room, err := c.from.answers.take(c, bytes, time.Now().Add(c.from.limits.answer))
	if err != nil {
		return nil, err
	}
	return &streamed{c, room}, nil
}

// streamed is the room of an answer that is written piece by piece.
type streamed struct {
	conn *conn
	room *claim
}

// Hold sets the size of the room, in bytes. A long row counts, too.
func (s *streamed) Hold(bytes int) { s.conn.from.answers.settle(s.conn, s.room, bytes, true) }

// Release gives the room back.
func (s *streamed) Release() { s.conn.from.answers.release(s.room) }

// unbounded is the room of a request that comes through no listener of this package.
type unbounded struct{}

func (unbounded) Hold(int) {}
func (unbounded) Release() {}

// heldAnswer is an answer that has room.
type heldAnswer struct {
	bytes.Reader
	room *claim
}

// Close gives the room back: the answer is written, or its client is gone.
func (a *heldAnswer) Close() error {
	if a.room != nil {
		a.Reset(nil)
		a.room.conn.from.answers.release(a.room)
		a.room = nil
	}
	return nil
}
