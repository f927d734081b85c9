package serve

import (
	"container/list"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// listener accepts connections as long as there is room for them. Otherwise it closes a connection whose client keeps
// the server waiting. If there is no such client, new connections stay in the system's queue.
type listener struct {
	net.Listener
	limits  limits
	bodies  *bodies       // the bodies of requests
	answers *bodies       // the bodies of answers being written
	freed   chan struct{} // a connection has been closed
	closing context.Context
	close   context.CancelFunc

	turns chan struct{} // has an element for each lingering connection that is being read

	mu       sync.Mutex
	open     map[*conn]*list.Element // an element of unproven; nil for a proven client
	unproven list.List               // unproven clients' connections, oldest first
}

// lingering is the maximum number of connections that are read, at the same time, only so that their clients can read
// an answer. Hundreds of such reads would take the processor from other requests.
const lingering = 4

func newListener(ctx context.Context, socket net.Listener, l limits) *listener {
	closing, done := context.WithCancel(context.WithoutCancel(ctx))
	return &listener{
		Listener: socket, limits: l, bodies: newBodies(closing, l, l.bodyBytes),
		answers: newBodies(closing, l, l.answerBytes), freed: make(chan struct{}, 1),
		closing: closing, close: done, turns: make(chan struct{}, lingering), open: map[*conn]*list.Element{},
	}
}

// Close ends Accept. Connections stay open.
func (l *listener) Close() error {
	l.close()
	return l.Listener.Close()
}

// Accept waits for a connection, and then for room.
func (l *listener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if tcp, ok := accepted.(*net.TCPConn); ok {
			return l.admit(tcp)
		}
		if err == nil {
			_ = accepted.Close()
			err = errors.New("a connection that is not TCP")
		}
		if !passing(err) {
			return nil, err
		}
		pause(l.closing, 50*time.Millisecond)
	}
}

// passing reports whether the next Accept may succeed after this error: the client is already gone, or too many files
// are open.
func passing(err error) bool {
	temporary, ok := errors.AsType[interface {
		error
		Temporary() bool
	}](err)
	return ok && temporary.Temporary()
}

// admit returns the connection once there is room for it.
func (l *listener) admit(tcp *net.TCPConn) (net.Conn, error) {
	c := &conn{TCPConn: tcp, from: l, gone: make(chan struct{})}
	c.reads.slack, c.writes.slack = l.limits.header/64, l.limits.answer/64
	_ = tcp.SetReadBuffer(l.limits.unread) // if this fails, the system's default size is good enough
	for !l.enter(c) {
		const again = 5 * time.Millisecond // by then a client may have kept the server waiting for too long
		wait, cancel := context.WithTimeout(l.closing, again)
		select {
		case <-l.freed:
		case <-wait.Done():
		}
		cancel()
		if l.closing.Err() != nil {
			_ = tcp.Close()
			return nil, net.ErrClosed
		}
	}
	return c, nil
}

// enter reports whether there is room for a connection, and takes it.
func (l *listener) enter(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= l.limits.connections {
		other := l.overdue()
		if other == nil {
			return false
		}
		l.remove(other)
		other.abort()
	}
	l.open[c] = l.unproven.PushBack(c)
	return true
}

// overdue returns a connection that has kept the server waiting for too long, or nil. It prefers unproven clients, the
// oldest connection first, and then the proven client that has been silent the longest.
func (l *listener) overdue() *conn {
	now := uptime()
	for at := l.unproven.Front(); at != nil; {
		c, _ := at.Value.(*conn)
		next := at.Next()
		if c.proven.Load() {
			l.unproven.Remove(at)
			l.open[c] = nil
		} else if c.waits.until(now) >= l.limits.unproven {
			return c
		}
		at = next
	}
	var found *conn
	longest := l.limits.silence
	//isrsim:unordered the longest is found in any order
	for c, element := range l.open {
		if waited := c.waits.until(now); element == nil && waited >= longest {
			found, longest = c, waited
		}
	}
	return found
}

// remove removes a connection from the open ones.
func (l *listener) remove(c *conn) {
	if at := l.open[c]; at != nil {
		l.unproven.Remove(at)
	}
	delete(l.open, c)
}

// expendable marks a connection that is about to close: like that of an unproven client, it is dropped first if others
// wait for room.
func (l *listener) expendable(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.proven.Store(false)
	if at, open := l.open[c]; at != nil {
		l.unproven.MoveToFront(at)
	} else if open {
		l.open[c] = l.unproven.PushFront(c)
	}
}

// closed records that a connection is closed, which makes room for another one.
func (l *listener) closed(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(c)
	select {
	case l.freed <- struct{}{}:
	default:
	}
}

// cutOff closes all connections that are still open.
func (l *listener) cutOff() {
	l.mu.Lock()
	defer l.mu.Unlock()
	//isrsim:unordered all are closed
	for c := range l.open {
		c.abort()
	}
}

// pause waits for d, or until ctx is done.
func pause(ctx context.Context, d time.Duration) {
	wait, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-wait.Done()
}

// conn is a connection of the server. Only the goroutine that serves it may use it, except that others may call Close
// and abort.
type conn struct {
	*net.TCPConn
	from          *listener
	reads, writes deadline
	failed        error        // the error of Read, if any
	roomy         bool         // its body has room
	lingers       atomic.Int64 // how many bytes Close still reads
	making        *claim       // the room of the answer that is being made

	proven  atomic.Bool // the client has sent a complete request
	waits   waits       // since the client's last complete request, or the last piece of its answer
	gone    chan struct{}
	watched chan struct{} // set while a request is held; closed when the connection is no longer watched
	aborted sync.Once
}

// sent records that the last byte of a request has come.
func (c *conn) sent() {
	c.proven.Store(true)
	c.waits.reset()
}

// abort closes the connection while another goroutine serves it.
func (c *conn) abort() {
	c.aborted.Do(func() { close(c.gone) })
	_ = c.TCPConn.Close()
}

// waits measures how long the server has waited for a client.
type waits struct {
	past  atomic.Int64 // nanoseconds
	since atomic.Int64 // the uptime at which the present wait began; 0 without one
}

func (w *waits) begin() { w.since.Store(uptime()) }

func (w *waits) end() {
	w.past.Add(uptime() - w.since.Load())
	w.since.Store(0)
}

func (w *waits) reset() { w.past.Store(0) }

// until returns how long the server has waited for the client, up to an uptime; 0 if it is not waiting.
func (w *waits) until(now int64) time.Duration {
	since, past := w.since.Load(), w.past.Load()
	if since == 0 || w.since.Load() != since {
		return 0
	}
	return time.Duration(past + now - since)
}

var started = time.Now()

// uptime is how long the program has run, in nanoseconds, and never 0.
func uptime() int64 { return int64(time.Since(started)) + 1 }

// deadline is a deadline that is set on the socket only if necessary: the server asks for three deadlines per request,
// and most requests complete before any of them matters.
type deadline struct {
	at, set time.Time     // the deadline that the server asked for, and the socket's
	slack   time.Duration // how much earlier the socket's deadline may be than at
}

// due reports whether the socket's deadline has to be set, and records that it is.
func (d *deadline) due() bool {
	if early := d.at.Sub(d.set); early >= 0 && early <= d.slack {
		return false
	}
	d.set = d.at
	return true
}

// SetReadDeadline bounds the next Read.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.reads.at = t
	return nil
}

// SetWriteDeadline bounds the next Write.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.writes.at = t
	return nil
}

// SetDeadline bounds both.
func (c *conn) SetDeadline(t time.Time) error {
	c.reads.at, c.writes.at = t, t
	return nil
}

// unprovenRead is the number of bytes per read from an unproven client whose body has no room yet: enough for nearly
// every header, and little of a body that may have to wait.
const unprovenRead = 4 << 10

// Read reads.
func (c *conn) Read(p []byte) (int, error) {
	if c.reads.due() {
		if err := c.TCPConn.SetReadDeadline(c.reads.at); err != nil {
			return 0, err
		}
	}
	if !c.roomy && !c.proven.Load() {
		p = p[:min(len(p), unprovenRead)]
	}
	c.waits.begin()
	n, err := c.TCPConn.Read(p)
	c.waits.end()
	if err != nil {
		c.failed = err
	}
	return n, err
}

// pieceWritten is the number of bytes of its answer that a client must take for its waits to start again from 0.
const pieceWritten = 64 << 10

// Write writes.
func (c *conn) Write(p []byte) (written int, err error) {
	if c.writes.due() {
		if err := c.TCPConn.SetWriteDeadline(c.writes.at); err != nil {
			return 0, err
		}
	}
	for {
		c.waits.begin()
		n, err := c.TCPConn.Write(p[:min(len(p), pieceWritten)])
		c.waits.end()
		c.waits.reset()
		written += n
		if p = p[n:]; err != nil || len(p) == 0 {
			return written, err
		}
	}
}

// Close closes the connection. If it lingers, the client can still read its answer. Closing a connection with unread
// bytes resets it, and the client would lose the answer.
//
// Source: https://www.rfc-editor.org/rfc/rfc9112#section-9.6
func (c *conn) Close() error {
	defer c.from.closed(c)
	if most := c.lingers.Load(); most > 0 && c.failed == nil && c.CloseWrite() == nil {
		c.waits.begin()
		c.from.expendable(c)
		c.linger(most)
	}
	return c.TCPConn.Close()
}

// linger gives the client time to read its answer. When the connection has its turn, linger reads and drops the bytes
// that the client still sends.
func (c *conn) linger(most int64) {
	const patience = 500 * time.Millisecond // as net/http has
	bound, cancel := context.WithTimeout(context.WithoutCancel(c.from.closing), patience)
	defer cancel()
	select {
	case c.from.turns <- struct{}{}:
	case <-c.gone:
		return
	case <-bound.Done():
		return
	}
	until, _ := bound.Deadline()
	_ = c.TCPConn.SetReadDeadline(until)
	_, err := io.CopyN(io.Discard, c.TCPConn, most)
	<-c.from.turns
	if err != nil {
		return
	}
	select { // the rest is left unread
	case <-c.gone:
	case <-bound.Done():
	}
}
