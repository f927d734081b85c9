package main

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// listener accepts connections as long as there is room for them: the next
// ones queue where the system queues them.
type listener struct {
	net.Listener
	limits  limits
	slots   chan struct{} // one for each connection that is open
	closing context.Context
	close   context.CancelFunc

	mu   sync.Mutex
	open map[*conn]struct{}
}

func newListener(ctx context.Context, socket net.Listener, l limits) *listener {
	closing, done := context.WithCancel(context.WithoutCancel(ctx))
	return &listener{
		Listener: socket, limits: l, slots: make(chan struct{}, l.connections),
		closing: closing, close: done, open: map[*conn]struct{}{},
	}
}

// Close ends Accept. Connections stay open.
func (l *listener) Close() error {
	l.close()
	return l.Listener.Close()
}

// Accept waits for room and then for a connection.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closing.Done():
		return nil, net.ErrClosed
	}
	for {
		accepted, err := l.Listener.Accept()
		if tcp, ok := accepted.(*net.TCPConn); ok {
			return l.opened(tcp), nil
		}
		if err == nil {
			_ = accepted.Close()
			err = errors.New("a connection that is none of TCP")
		}
		if !passing(err) {
			<-l.slots
			return nil, err
		}
		const pause = 50 * time.Millisecond
		wait, cancel := context.WithTimeout(l.closing, pause)
		<-wait.Done()
		cancel()
	}
}

// passing reports whether the next connection may do better: this one's caller
// has gone already, or too many files are open.
func passing(err error) bool {
	temporary, ok := errors.AsType[interface {
		error
		Temporary() bool
	}](err)
	return ok && temporary.Temporary()
}

func (l *listener) opened(tcp *net.TCPConn) *conn {
	c := &conn{TCPConn: tcp, from: l}
	c.reads.slack, c.writes.slack = l.limits.header/64, l.limits.answer/64
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[c] = struct{}{}
	return c
}

// closed makes room.
func (l *listener) closed(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.open[c]; ok {
		delete(l.open, c)
		<-l.slots
	}
}

// cutOff closes the connections that are left.
func (l *listener) cutOff() {
	l.mu.Lock()
	defer l.mu.Unlock()
	//isrsim:unordered all are closed
	for c := range l.open {
		_ = c.TCPConn.Close()
	}
}

// conn is a connection of the server. Only what serves it may use it, but for
// Close.
type conn struct {
	*net.TCPConn
	from          *listener
	reads, writes deadline
	failed        error // of Read, if any
	lingers       atomic.Bool
}

// deadline is one that is set when it counts, and not exactly: a server sets
// three for each request, most of which is there already when it is read.
type deadline struct {
	at, set time.Time
	slack   time.Duration // by how much what is set may be early
}

// due reports whether the deadline has to be set, and notes that it is.
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

// Read reads.
func (c *conn) Read(p []byte) (int, error) {
	if c.reads.due() {
		if err := c.TCPConn.SetReadDeadline(c.reads.at); err != nil {
			return 0, err
		}
	}
	n, err := c.TCPConn.Read(p)
	if err != nil {
		c.failed = err
	}
	return n, err
}

// Write writes.
func (c *conn) Write(p []byte) (int, error) {
	if c.writes.due() {
		if err := c.TCPConn.SetWriteDeadline(c.writes.at); err != nil {
			return 0, err
		}
	}
	return c.TCPConn.Write(p)
}

// Close closes the connection. If it lingers, then the client can still read
// its answer: with something unread on this side, closing resets the
// connection and takes the answer away.
//
// Source: https://www.rfc-editor.org/rfc/rfc9112#section-9.6
func (c *conn) Close() error {
	defer c.from.closed(c)
	if c.lingers.Load() && c.failed == nil && c.CloseWrite() == nil {
		const patience = 500 * time.Millisecond // as net/http has
		if c.TCPConn.SetReadDeadline(time.Now().Add(patience)) == nil {
			_, _ = io.Copy(io.Discard, c.TCPConn)
		}
	}
	return c.TCPConn.Close()
}
