package serve

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// forever is longer than any test runs.
const forever = time.Hour

// half returns a request with a body of bodyBytes bytes, but without its last byte.
func half(bodyBytes int) string {
	return head(bodyBytes) + putA + strings.Repeat(" ", bodyBytes-len(putA)-1)
}

// wantStatus sends a request over a connection and asserts the status of the answer, which must come in time.
func wantStatus(t *testing.T, what string, conn net.Conn, text string, want int) {
	t.Helper()
	must.OK(t, conn.SetDeadline(time.Now().Add(patience)))
	send(t, conn, text)
	if got := statusOf(t, bufio.NewReader(conn)); got != want {
		t.Errorf("%s: got %d, want %d", what, got, want)
	}
}

// stays asserts that the server does not close a connection.
func stays(t *testing.T, what string, conn net.Conn) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil { // a socket knows only real time
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%s: got %v, want it to wait", what, err)
	}
}

// If connections run out, clients that have not sent a complete request are dropped first.
func TestServerDropsUnprovenClientsFirst(t *testing.T) {
	t.Parallel()
	l := serveLimits
	l.connections = 10
	l.header, l.body, l.idle, l.silence = forever, forever, forever, forever
	s := startServer(t, l)
	var known []net.Conn
	for range 2 {
		conn := s.dial()
		wantStatus(t, "the first request", conn, head(len(putA))+putA, 200)
		known = append(known, conn)
	}
	for i := range 30 {
		conn := s.dial()
		send(t, conn, []string{"", "POST / HTTP/1.1\r\nHost:", head(len(putA)), half(4 * freeBody)}[i%4])
	}
	for range 20 {
		brief := s.dial()
		wantStatus(t, "a new client", brief, head(len(putA))+putA, 200)
		brief.Close()
		for _, conn := range known {
			wantStatus(t, "a client that was there before", conn, head(len(putA))+putA, 200)
		}
		known = append(known, s.dial())
		wantStatus(t, "a client that stays", known[len(known)-1], head(len(putA))+putA, 200)
		if len(known) == l.connections-2 {
			break
		}
	}
}

// If all clients have sent a complete request, the silent one is dropped.
func TestServerDropsSilentConnections(t *testing.T) {
	t.Parallel()
	l := serveLimits
	l.connections = 2
	l.header, l.body, l.idle, l.silence = forever, forever, forever, 300*time.Millisecond
	s := startServer(t, l)
	for range l.connections {
		wantStatus(t, "the first clients", s.dial(), head(len(putA))+putA, 200)
	}
	for range 2 {
		wantStatus(t, "the next client", s.dial(), head(len(putA))+putA, 200)
	}
}

// Long bodies share the available room. An unproven client that keeps the server waiting is dropped soon if a proven
// client waits for room, and later otherwise.
func TestServerBoundsBodies(t *testing.T) {
	t.Parallel()
	const long = 10 * freeBody
	l := serveLimits
	l.bodyBytes = long + long/2
	l.header, l.body, l.idle, l.silence = forever, forever, forever, forever
	s := startServer(t, l)
	whole := half(long) + " "

	known := s.dial()
	wantStatus(t, "a client", known, head(len(putA))+putA, 200)
	first := s.dial()
	send(t, first, half(long))
	stays(t, "half a body", first)
	second := s.dial()
	send(t, second, whole)
	stays(t, "a body without room", second)
	wantStatus(t, "a short body", s.dial(), head(len(putA))+putA, 200)
	wantStatus(t, "half a body, then whole", first, " ", 200)
	wantStatus(t, "what waited for it", second, "", 200)

	stalled := s.dial()
	send(t, stalled, half(long))
	stays(t, "half a body", stalled)
	wantStatus(t, "a proven client", known, whole, 200)
	must.OK(t, stalled.SetDeadline(time.Now().Add(patience)))
	cutOff(t, stalled)

	packed := s.dial() // unpacking may give any length
	send(t, packed, head(1, "Content-Encoding: gzip\r\n"))
	wantStatus(t, "a proven client", known, whole, 200)
}

// A body that gets no room in time is refused with a status.
func TestServerRefusesBodiesWithoutRoom(t *testing.T) {
	effort.NotShort(t)
	t.Parallel()
	const long = 10 * freeBody
	l := serveLimits
	l.bodyBytes = long
	l.body, l.silence = 4*time.Second, forever
	s := startServer(t, l)
	late, stalled := s.dial(), s.dial()
	text := half(long)
	send(t, late, text[:len(head(long))+1]) // its time starts
	stays(t, "a body that has begun", late)
	pause(t.Context(), l.body/2)
	send(t, stalled, text)
	stays(t, "a body that has begun", stalled)
	wantStatus(t, "a body without room", late, text[len(head(long))+1:], 503)
	wantStatus(t, "an object of the control API", s.dial(),
		"POST /_isr-sim/clock HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"+
			"Content-Length: 16\r\n\r\n"+`{"advance":"1s"}`, 200)
}

// However many clients start to send large bodies, few of these are in memory at once, and their memory is given back.
// The peak counts what each garbage collection found in use: on a busy machine there is more garbage, but not more
// bodies. TestFlood is the same at full size.
func TestServerMemory(t *testing.T) {
	const (
		clients = 40
		long    = 14 << 20
		peak    = 100 << 20 // all bodies together are 560 MB
		after   = 150 << 20
	)
	if testing.Short() {
		t.Skip("half a gigabyte of requests")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // whatever GOGC says
	l := serveLimits
	l.silence = 50 * time.Millisecond
	l.body = 2 * time.Second
	s := startServer(t, l)
	text := []byte(half(long))
	var flood sync.WaitGroup
	for range clients {
		conn := s.dial()
		flood.Go(func() {
			_, _ = conn.Write(text)
			_, _ = io.Copy(io.Discard, conn) // until it is dropped
		})
	}
	over := make(chan struct{})
	go func() { flood.Wait(); close(over) }()
	highest := uint64(0)
	deadline := time.Now().Add(6 * patience)
	for {
		highest = max(highest, marked())
		select {
		case <-over:
		default:
			if time.Now().After(deadline) {
				t.Fatal("the server did not end all requests")
			}
			pause(t.Context(), time.Millisecond)
			continue
		}
		break
	}
	if highest > peak {
		t.Errorf("up to %d MB in use, want %d at most", highest>>20, peak>>20)
	}
	left := residentHeap()
	for deadline = time.Now().Add(patience); left > after && time.Now().Before(deadline); left = residentHeap() {
		pause(t.Context(), 10*time.Millisecond)
	}
	if left > after {
		t.Errorf("%d MB of memory after it, want %d at most", left>>20, after>>20)
	}
	t.Logf("%d MB in use at the peak, %d MB of memory after it", highest>>20, left>>20)
}

// marked returns the number of bytes in use at the last garbage collection, without the ballast.
func marked() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64() - min(sample[0].Value.Uint64(), ballast)
}

// residentHeap returns how much system memory the heap uses. The ballast does not count, because it is never touched.
func residentHeap() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	total := samples[0].Value.Uint64() - samples[1].Value.Uint64()
	return total - min(total, ballast)
}
