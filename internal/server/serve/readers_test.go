package serve

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// The requests of slow readers.
const (
	getDump  = "GET /_isr-sim/dump HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
	scanBody = `{"TableName":"cache"}`
)

var scan = strings.Replace(head(len(scanBody)), "PutItem", "Scan", 1) + scanBody

// fill puts rows of 10 kB.
func (s *served) fill(rows int) {
	s.t.Helper()
	for i := range rows {
		must.OK(s.t,
			s.db.Put("cache", attr.Item{"pk": attr.S(fmt.Sprint(i)), "html": attr.S(strings.Repeat("x", 10_000))}))
	}
}

// narrow makes the system buffer only few of a client's unread bytes.
func narrow(t *testing.T, conn net.Conn) {
	t.Helper()
	if tcp, ok := conn.(*net.TCPConn); ok {
		must.OK(t, tcp.SetReadBuffer(16<<10))
	}
}

// Even if many clients do not read their long answers, only few of these bytes are in memory, and other clients are
// served. TestFloodOfReaders is the same at full size.
func TestServerBoundsAnswers(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // whatever GOGC says
	effort.Long(t)
	const (
		rows = 1500 // 15 MB
		most = 150 << 20
		left = 60 << 20        // in use after the readers are gone: the rows, the ballast and what other tests keep
		wait = 2 * time.Second // on a busy machine
	)
	for _, test := range []struct {
		name, request string
		clients       int
	}{{"dump", getDump, 40}, {"Scan", scan, 300}} {
		t.Run(test.name, func(t *testing.T) {
			l := serveLimits
			l.answerBytes, l.silence = 16<<20, 100*time.Millisecond
			s := startServer(t, l)
			s.fill(rows)
			var readers []net.Conn
			for range test.clients {
				conn := s.dial()
				narrow(t, conn)
				send(t, conn, test.request)
				readers = append(readers, conn)
			}
			highest := uint64(0)
			for range 50 {
				begun := time.Now()
				conn := s.dial()
				wantStatus(t, "another client", conn, head(len(putA))+putA, 200)
				conn.Close()
				if took := time.Since(begun); took > wait {
					t.Errorf("another client waited for %v", took)
				}
				highest = max(highest, marked())
				pause(t.Context(), 5*time.Millisecond)
			}
			t.Logf("%d MB in use at the peak", highest>>20)
			if highest > most {
				t.Errorf("up to %d MB in use, want %d at most", highest>>20, most>>20)
			}
			for _, conn := range readers {
				conn.Close()
			}
			for until := time.Now().Add(patience); ; pause(t.Context(), 50*time.Millisecond) {
				runtime.GC()
				if live := liveHeap(); live <= left {
					break
				} else if time.Now().After(until) {
					t.Errorf("%d MB in use after the readers have gone, want %d at most", live>>20, left>>20)
					break
				}
			}
			// Clients that read, fast or slowly, get their whole answers, whatever came before.
			var all sync.WaitGroup
			for range 4 {
				conn := s.dial()
				all.Go(func() {
					_ = conn.SetDeadline(time.Now().Add(3 * patience))
					_, _ = io.WriteString(conn, test.request)
					response, err := http.ReadResponse(bufio.NewReader(conn), nil)
					if err != nil {
						t.Error(err)
						return
					}
					defer response.Body.Close()
					n, err := io.Copy(io.Discard, response.Body)
					if response.StatusCode != http.StatusOK || err != nil || n < 1_000_000 {
						t.Errorf("got %s, %d bytes and %v", response.Status, n, err)
					}
				})
			}
			all.Wait()
		})
	}
}

// A write that took effect gets its answer, however many bytes other answers take. A read may get a refusal instead.
func TestServerAnswersWrites(t *testing.T) {
	t.Parallel()
	l := serveLimits
	l.answerBytes = 1 << 10 // less than any answer that takes room
	s := startServer(t, l)
	row := `{"TableName":"cache","Item":{"pk":{"S":"a"},"html":{"S":"` + strings.Repeat("x", 200_000) +
		`"}},"ReturnValues":"ALL_OLD"}`
	key := `{"TableName":"cache","Key":{"pk":{"S":"a"}}}`
	wantStatus(t, "the first write", s.dial(), head(len(row))+row, 200)
	wantStatus(t, "a read", s.dial(), strings.Replace(head(len(key)), "PutItem", "GetItem", 1)+key, 503)
	wantStatus(t, "a write with ALL_OLD", s.dial(), head(len(row))+row, 200)
	deletion := strings.TrimSuffix(key, "}") + `,"ReturnValues":"ALL_OLD"}`
	wantStatus(t, "a deletion with ALL_OLD", s.dial(),
		strings.Replace(head(len(deletion)), "PutItem", "DeleteItem", 1)+deletion, 200)
}

// The answers of calls share their room with the long answers of the control API: a Scan waits while clients do not
// read their dumps.
func TestServerHasOneRoomForAnswers(t *testing.T) {
	t.Parallel()
	const dumps = 16
	l := serveLimits
	l.answerBytes, l.silence, l.unproven = dumps*(128<<10), time.Hour, time.Hour // no client is dropped
	s := startServer(t, l)
	s.fill(1500)
	var readers []net.Conn
	for range dumps {
		conn := s.dial()
		narrow(t, conn)
		send(t, conn, getDump)
		if _, err := conn.Read(make([]byte, 1)); err != nil { // it has begun
			t.Fatal(err)
		}
		readers = append(readers, conn)
	}
	scanned := make(chan int, 1)
	conn := s.dial()
	send(t, conn, scan)
	go func() {
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Error(err)
			scanned <- 0
			return
		}
		defer response.Body.Close()
		_, _ = io.Copy(io.Discard, response.Body)
		scanned <- response.StatusCode
	}()
	for range 200 { // clients whose answers take no room are served meanwhile
		wantStatus(t, "another client", s.dial(), head(len(putA))+putA, 200)
		select {
		case status := <-scanned:
			t.Fatalf("the Scan is answered with %d while dumps hold the room", status)
		default:
		}
	}
	for _, reader := range readers {
		reader.Close()
	}
	if status := <-scanned; status != http.StatusOK {
		t.Errorf("the Scan is answered with %d once there is room", status)
	}
}

// liveHeap returns how many bytes the objects in use take, without the ballast.
func liveHeap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc - min(m.HeapAlloc, ballast)
}
