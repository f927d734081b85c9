package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"time"
)

// limits are what a server puts up with.
type limits struct {
	header time.Duration // for a request's header to arrive
	body   time.Duration // for the whole request to arrive
	answer time.Duration // from the header's arrival until the answer has been taken
	idle   time.Duration // between two requests of a connection
	drain  time.Duration // for requests under way to end when the server stops

	headerBytes int // of a header; net/http adds 4 KB of its own
	connections int // open at a time; the next ones wait
}

// serveLimits are the limits of isr-sim serve. The largest body has 16 MB, and
// clients are near.
var serveLimits = limits{
	header:      10 * time.Second,
	body:        30 * time.Second,
	answer:      time.Minute,
	idle:        2 * time.Minute,
	drain:       3 * time.Second,
	headerBytes: 64 << 10,
	connections: 1000,
}

// ballast is memory that is taken and never touched, so that it costs address
// space only. The collector runs when the heap has doubled: with so much in it
// at least, that is seldom, where a few rows alone would have it run all the
// time. What it adds to the program's memory is as much garbage.
const ballast = 32 << 20

// serveHTTP serves until ctx is done. Requests under way may then end, within
// limits.drain; what is not done by then is cut off, which is no error.
func serveHTTP(ctx context.Context, listener net.Listener, handler http.Handler, l limits, diagnostics io.Writer) error {
	untouched := make([]byte, ballast)
	defer runtime.KeepAlive(untouched)
	slots := make(chan struct{}, l.connections)
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: l.header,
		ReadTimeout:       l.body,
		WriteTimeout:      l.answer,
		IdleTimeout:       l.idle,
		MaxHeaderBytes:    l.headerBytes,
		ErrorLog:          slog.NewLogLogger(slog.NewTextHandler(diagnostics, nil), slog.LevelWarn),
		// The server calls this with StateNew before it accepts another
		// connection, and waits: so the next ones queue where the system
		// queues them.
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				select {
				case slots <- struct{}{}:
				case <-ctx.Done():
				}
			case http.StateClosed, http.StateHijacked:
				select {
				case <-slots:
				default: // it never had a slot: the server is about to stop
				}
			case http.StateActive, http.StateIdle:
			}
		},
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.drain)
	defer cancel()
	if err := server.Shutdown(bound); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	// Cuts off what is left; the listener is closed already.
	_ = server.Close()
	return nil
}
