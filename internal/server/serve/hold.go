package serve

import (
	"context"
	"net/http"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/server/hold"
	"github.com/isr-sim/isr-sim/internal/wire/httpdoor"
)

// gated returns the HTTP door of a fake with a desk in front of the engine. The desk closes when ctx is done, because
// held requests would keep the server from ending. The function did is called with the input of each successful call.
func gated(ctx context.Context, calls http.Handler, desk *hold.Desk, did func(input any)) http.Handler {
	door, ok := calls.(interface {
		Gated(gate func(
			ctx context.Context, c ddbfake.Call, serve func(context.Context, ddbfake.Call) (any, error),
		) (any, error)) http.Handler
		Rows(c ddbfake.Call) []httpdoor.Row
	})
	if !ok {
		panic("serve: the door of ddbfake has no gate")
	}
	context.AfterFunc(ctx, desk.Close)
	return door.Gated(func(
		ctx context.Context, c ddbfake.Call, serve func(context.Context, ddbfake.Call) (any, error),
	) (any, error) {
		out, err := desk.Serve(ctx, c, door.Rows, serve)
		if err == nil {
			did(c.Input)
		}
		return out, err
	})
}

// callContext is the context of a call. It provides the call's connection as an httpdoor.Parking.
type callContext struct {
	context.Context
	conn *conn
}

// Value returns the connection, or a value of the context around it.
func (c *callContext) Value(key any) any {
	if _, ok := key.(httpdoor.ParkingKey); ok {
		if c.conn == nil {
			return nil
		}
		return c.conn
	}
	return c.Context.Value(key)
}

// Park is called when the connection's request is held. The connection then does not count as open, so that other
// clients can connect. When it ends, Park calls gone.
func (c *conn) Park(gone func()) {
	c.made(nil, false) // while it waits, other answers may be made
	c.from.suspend(c)
	ended := make(chan struct{})
	c.watched = ended
	_ = c.TCPConn.SetReadDeadline(time.Time{})
	go func() {
		defer close(ended)
		if clientGone(c.TCPConn) {
			gone()
		}
	}()
}

// Unpark counts the connection again.
func (c *conn) Unpark() {
	_ = c.TCPConn.SetReadDeadline(time.Unix(1, 0)) // ends the watching read
	<-c.watched
	c.watched = nil
	_ = c.TCPConn.SetReadDeadline(c.reads.at)
	c.reads.set = c.reads.at
	c.from.resume(c)
}

// suspend removes a connection from the open ones.
func (l *listener) suspend(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(c)
	select {
	case l.freed <- struct{}{}:
	default:
	}
}

// resume counts a connection as open again. For a while, there may then be more open connections than the limit.
func (l *listener) resume(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing.Err() == nil {
		l.open[c] = nil // a proven client
	}
}
