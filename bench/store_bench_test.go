package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// firstEnv makes this program print how long its first DB took to its first answer, in nanoseconds, and exit.
const firstEnv = "ISRSIM_BENCH_FIRST"

func TestMain(m *testing.M) {
	if os.Getenv(firstEnv) != "" {
		began := time.Now()
		if err := firstAnswer(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Fprintln(os.Stdout, time.Since(began).Nanoseconds())
		return
	}
	os.Exit(m.Run())
}

// firstAnswer starts a fake, makes a table, and puts and gets its first row.
func firstAnswer(ctx context.Context) error {
	c := ddbfake.New(ddbfake.Options{}).As("benchmark")
	if err := createTable(ctx, c); err != nil {
		return err
	}
	if err := send(ctx, c, &dynamodb.PutItemInput{TableName: aws.String(tableName), Item: meta(0, 0)}); err != nil {
		return err
	}
	return send(ctx, c,
		&dynamodb.GetItemInput{TableName: aws.String(tableName), Key: pagecache.Key(partitionKey(0), isr.SortMeta)})
}

// BenchmarkStart measures the time from nothing to the first row read, in a new process (cold), and in one that has
// done it before (warm).
func BenchmarkStart(b *testing.B) {
	b.Run("process=new", func(b *testing.B) {
		var times samples
		for b.Loop() {
			child := exec.CommandContext(b.Context(), os.Args[0])
			child.Env = append(os.Environ(), firstEnv+"=1")
			printed, err := child.Output()
			if err != nil {
				b.Fatal(err)
			}
			took, err := strconv.ParseInt(strings.TrimSpace(string(printed)), 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			times = append(times, time.Duration(took))
		}
		b.ReportMetric(times.median(), "ns/op") // without the start of the process
	})
	b.Run("process=warm", func(b *testing.B) {
		for b.Loop() {
			if err := firstAnswer(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkMemory measures the heap of a META row in a table of 100,000, with everything that the fake stores about it:
// the row, its place in the table, its entry in the change log.
func BenchmarkMemory(b *testing.B) {
	const rows = 100_000
	heap := func() int64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	for b.Loop() {
		db := ddbfake.New(ddbfake.Options{})
		c := db.As("benchmark")
		if err := createTable(b.Context(), c); err != nil {
			b.Fatal(err)
		}
		before := heap()
		for page := range rows {
			if err := send(b.Context(), c,
				&dynamodb.PutItemInput{TableName: aws.String(tableName), Item: meta(page, 0)}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(heap()-before)/rows, "heap-B/row")
		runtime.KeepAlive(db)
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkSnapshot measures a snapshot of the table, and its restore, each after a write, so that there is something
// to save and to restore. It also measures the first write after a snapshot, which copies the memory that it changes.
func BenchmarkSnapshot(b *testing.B) {
	db := ddbfake.New(ddbfake.Options{})
	c := filled(b, db.As("benchmark"))
	var write, snapshot, restore samples
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		taken := db.Snapshot()
		snapped := time.Now()
		if err := send(b.Context(), c, putLocks[i%pages]); err != nil {
			b.Fatal(err)
		}
		written := time.Now()
		db.Restore(taken)
		restored := time.Now()
		// This write gives the next snapshot a change that the last one lacks.
		if err := send(b.Context(), c, putLocks[i%pages]); err != nil {
			b.Fatal(err)
		}
		snapshot = append(snapshot, snapped.Sub(began))
		write = append(write, written.Sub(snapped))
		restore = append(restore, restored.Sub(written))
	}
	b.ReportMetric(snapshot.median(), "snapshot-ns/op")
	b.ReportMetric(write.median(), "write-ns/op")
	b.ReportMetric(restore.median(), "restore-ns/op")
	b.ReportMetric(0, "ns/op")
}

// samples are single wall-clock times, too short to be measured together. Other programs interrupt some of them, so the
// median counts, not the mean.
type samples []time.Duration

// median returns the middle sample, in nanoseconds.
func (s samples) median() float64 {
	slices.Sort(s)
	return float64(s[len(s)/2])
}

// connections is the number of connections that a raw client keeps open.
const connections = 8

// raw is a client that sends pre-encoded requests over persistent connections.
type raw struct {
	conns [connections]struct {
		net.Conn
		*bufio.Reader
	}
}

func dial(tb testing.TB, s *server) *raw {
	tb.Helper()
	at, err := url.Parse(s.Endpoint)
	if err != nil {
		tb.Fatal(err)
	}
	r := &raw{}
	for i := range r.conns {
		conn, err := net.Dial("tcp", at.Host)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { conn.Close() })
		r.conns[i].Conn, r.conns[i].Reader = conn, bufio.NewReaderSize(conn, 1<<14)
	}
	return r
}

// sendAll sends all requests. Each connection sends its share of them one after the other.
func (r *raw) sendAll(requests []*wired) error {
	var group errgroup.Group
	for i := range r.conns {
		group.Go(func() error {
			for n := i; n < len(requests); n += connections {
				if err := r.send(i, requests[n]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

func (r *raw) send(i int, request *wired) error {
	conn := r.conns[i]
	request.renew()
	if _, err := conn.Write(request.bytes); err != nil {
		return err
	}
	response, err := http.ReadResponse(conn.Reader, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(response.Body)
		return fmt.Errorf("%s: %s", response.Status, body)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// wired is a request as the SDK sends it, byte for byte, except for the ClientRequestToken. The token is new each time,
// as in the SDK: a transaction with an old token would count as a repetition.
type wired struct {
	bytes []byte
	token []byte // the part that changes; none if nil
}

var tokens atomic.Uint64

func (w *wired) renew() {
	if w.token != nil {
		copy(w.token, fmt.Appendf(nil, "%012x", tokens.Add(1)))
	}
}

// encode records what the SDK would send to the server.
func encode(tb testing.TB, s *server, inputs []any) (requests []*wired) {
	tb.Helper()
	// Twelve digits follow. The pid is in it because servers outlive this process.
	unique := fmt.Sprintf("%08x-0000-4000-8000-", os.Getpid())
	var last wired
	c := s.sdk(func(o *dynamodb.Options) {
		o.IdempotencyTokenProvider = fixedToken(unique + "000000000000")
		o.HTTPClient = doFunc(func(request *http.Request) (*http.Response, error) {
			var err error
			last, err = wire(request)
			if at := bytes.Index(last.bytes, []byte(unique)); at >= 0 {
				last.token = last.bytes[at+len(unique):][:12]
			}
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}"))}, err
		})
	})
	for _, in := range inputs {
		if err := send(tb.Context(), c, in); err != nil {
			tb.Fatal(err)
		}
		encoded := last
		requests = append(requests, &encoded)
	}
	return requests
}

func wire(request *http.Request) (wired, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return wired{}, err
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n",
		request.Method, request.URL.RequestURI(), request.URL.Host, len(body))
	if err := request.Header.WriteSubset(&text, map[string]bool{"Content-Length": true, "Host": true}); err != nil {
		return wired{}, err
	}
	text.WriteString("\r\n")
	text.Write(body)
	return wired{bytes: text.Bytes()}, nil
}

type doFunc func(*http.Request) (*http.Response, error)

// Do answers one request.
func (f doFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }

type fixedToken string

// GetIdempotencyToken returns the token.
func (f fixedToken) GetIdempotencyToken() (string, error) { return string(f), nil }
