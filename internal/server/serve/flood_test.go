package serve

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/rules/must"
)

var (
	flood = flag.Bool("flood", false,
		"run TestFlood and TestFloodOfReaders: unfinished and half-open requests, and readers that stop, on "+
			"isr-sim serve")
	floodOthers = flag.String("flood.others", "", "for TestFlood: the address that TestFloodOthers sends requests to")
)

// The limits for a flooded server: how long other clients may wait, and how much memory it may take during and after
// the flood.
const (
	floodWait  = 100 * time.Millisecond
	floodPeak  = 600 << 10 // kB
	floodAfter = 150 << 10
)

// TestFlood measures how much memory isr-sim serve takes while it is flooded, and how long other clients wait. The
// tests of overload_test.go check the same on a smaller scale. TestFlood takes a minute and needs a quiet machine.
//
//	go test ./internal/server/serve -run TestFlood -flood -v
func TestFlood(t *testing.T) {
	if !*flood {
		t.Skip("it takes a minute: -flood")
	}
	address, pid := startProcess(t)
	calm, _ := startProcess(t) // a server without a flood: its clients wait only because the machine is busy
	start := resident(t, pid, "VmRSS")
	body := []byte(half(14 << 20))
	for _, wave := range []struct {
		name    string
		clients int
		text    []byte
	}{
		{"unfinished bodies of 14 MB", 1000, body},
		{"half-open requests", 2000, []byte("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-")},
	} {
		others, othersOfCalm := startOthers(t, address), startOthers(t, calm)
		pause(t.Context(), time.Second) // alone
		begun := time.Now()
		var all sync.WaitGroup
		for range wave.clients {
			all.Go(func() {
				conn, err := net.Dial("tcp", address)
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				_, _ = conn.Write(wave.text)
				_, _ = io.Copy(io.Discard, conn) // until it is dropped
			})
		}
		all.Wait()
		took := time.Since(begun)
		measured(t, fmt.Sprintf("%d %s, over after %v", wave.clients, wave.name, took.Round(time.Millisecond)), pid,
			start, others(), othersOfCalm())
	}
}

// TestFloodOfReaders measures the same while a hundred clients ask for 50 MB, read only a few bytes, and later ask
// again.
func TestFloodOfReaders(t *testing.T) {
	if !*flood {
		t.Skip("it takes a minute: -flood")
	}
	const (
		rows    = 500
		text    = 100_000
		readers = 100
		stay    = 10 * time.Second
	)
	for _, wave := range []struct{ name, text string }{
		{"a dump", getDump},
		{"a Scan", scan},
		{"eight Scans", strings.Repeat(scan, 8)}, // at once, without waiting for their answers
	} {
		t.Run(wave.name, func(t *testing.T) {
			address, pid := startProcess(t)
			calm, _ := startProcess(t)
			for _, server := range []string{address, calm} {
				for i := range rows {
					call(t, server, "PutItem", fmt.Sprintf(
						`{"TableName":"cache","Item":{"pk":{"S":"%d"},"html":{"S":%q}}}`, i, strings.Repeat("x", text),
					))
				}
			}
			start := resident(t, pid, "VmRSS")
			others, othersOfCalm := startOthers(t, address), startOthers(t, calm)
			pause(t.Context(), time.Second) // alone
			over := time.Now().Add(stay)
			var all sync.WaitGroup
			var asked, answered atomic.Int64
			for i := range readers {
				all.Go(func() {
					for time.Now().Before(over) {
						conn, err := net.Dial("tcp", address)
						if err != nil {
							t.Error(err)
							return
						}
						narrow(t, conn)
						asked.Add(1)
						_, _ = io.WriteString(conn, wave.text)
						begun := time.Now()
						takes := min(2*time.Second+time.Duration(i)*20*time.Millisecond, over.Sub(begun))
						_ = conn.SetReadDeadline(begun.Add(takes))
						if n, _ := io.ReadFull(conn, make([]byte, 100)); n > 0 {
							answered.Add(1)
						}
						pause(t.Context(), takes-time.Since(begun))
						conn.Close()
					}
				})
			}
			all.Wait()
			measured(t, fmt.Sprintf("%d readers of %s of %d MB, who asked %d times and took a few bytes %d times",
				readers, wave.name, rows*text/1_000_000, asked.Load(), answered.Load()), pid, start,
				others(), othersOfCalm())
			if answered.Load() == 0 {
				t.Error("no reader was answered")
			}
		})
	}
}

// measured prints the memory and the waits of a finished flood, and fails if they exceed their limits.
func measured(t *testing.T, flood string, pid, start int, waits, waitsOfCalm []time.Duration) {
	t.Helper()
	highest := resident(t, pid, "VmHWM")
	pause(t.Context(), 10*time.Second)
	left := resident(t, pid, "VmRSS")
	longest := waits[len(waits)-1]
	t.Logf("%s: %d MB before, %d MB at the peak, %d MB ten seconds after; %d requests of others: median %v, longest "+
		"%v, of a server that is not flooded %v",
		flood, start>>10, highest>>10, left>>10, len(waits), waits[len(waits)/2], longest,
		waitsOfCalm[len(waitsOfCalm)-1])
	if longest > floodWait || highest > floodPeak || left > floodAfter {
		t.Errorf("want %v, %d MB and %d MB at most", floodWait, floodPeak>>10, floodAfter>>10)
	}
}

// startOthers starts two well-behaved clients in another process, so that they do not share a Go scheduler with the
// flood. The returned function stops them and returns the durations of their requests, shortest first.
func startOthers(t *testing.T, address string) func() []time.Duration {
	t.Helper()
	others := exec.Command(os.Args[0], "-test.run", "^TestFloodOthers$", "-flood.others", address)
	others.Stderr = os.Stderr
	stop, err := others.StdinPipe()
	must.OK(t, err)
	stdout, err := others.StdoutPipe()
	if err == nil {
		err = others.Start()
	}
	must.OK(t, err)
	return func() (waits []time.Duration) {
		stop.Close()
		must.OK(t, json.NewDecoder(stdout).Decode(&waits))
		_, _ = io.Copy(io.Discard, stdout)
		if err := others.Wait(); err != nil {
			t.Fatalf("the other clients: %v", err)
		}
		slices.Sort(waits)
		return waits
	}
}

// TestFloodOthers is the process that startOthers starts.
func TestFloodOthers(t *testing.T) {
	if *floodOthers == "" {
		t.Skip("TestFlood runs it")
	}
	over := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(over)
	}()
	var one, other []time.Duration
	var both sync.WaitGroup
	both.Go(func() { one = behave(t, true, over) })
	both.Go(func() { other = behave(t, false, over) })
	both.Wait()
	must.OK(t, json.NewEncoder(os.Stdout).Encode(append(one, other...)))
}

// behave sends small requests, one after the other, over one connection or each over a new one. It returns how long
// each took.
func behave(t *testing.T, keep bool, over chan struct{}) (waits []time.Duration) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: !keep}}
	for {
		select {
		case <-over:
			return waits
		default:
		}
		pause(t.Context(), 5*time.Millisecond)
		request := asked(*floodOthers, "GetItem", `{"TableName":"cache","Key":{"pk":{"S":"0"}}}`)
		begun := time.Now()
		response, err := client.Do(request)
		if err != nil {
			t.Errorf("keeps its connection: %t: %v", keep, err)
			continue
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("got %s, want 200", response.Status)
		}
		waits = append(waits, time.Since(begun))
	}
}

func asked(address, operation, body string) *http.Request {
	request, err := http.NewRequest(http.MethodPost, "http://"+address, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	request.Header.Set("Authorization",
		"AWS4-HMAC-SHA256 Credential=alice/20400101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
	return request
}

// call sends a request that must succeed.
func call(t *testing.T, address, operation, body string) {
	t.Helper()
	response, err := http.DefaultClient.Do(asked(address, operation, body))
	must.OK(t, err)
	defer response.Body.Close()
	if text, _ := io.ReadAll(response.Body); response.StatusCode != http.StatusOK {
		t.Fatalf("%s: got %s: %s", operation, response.Status, text)
	}
}

// startProcess builds and starts isr-sim serve, with an empty table.
func startProcess(t *testing.T) (address string, pid int) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "isr-sim")
	if out, err := exec.Command("go", "build", "-o", program, "../../../cmd/isr-sim").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := exec.Command(program, "serve")
	stdout, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	must.OK(t, err)
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	var printed struct{ Endpoint string }
	must.OK(t, json.NewDecoder(stdout).Decode(&printed))
	address = strings.TrimPrefix(printed.Endpoint, "http://")
	call(t, address, "CreateTable", `{"TableName":"cache","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],`+
		`"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"BillingMode":"PAY_PER_REQUEST"}`)
	return address, server.Process.Pid
}

// resident reads a number of kB from a line of a process's status file.
func resident(t *testing.T, pid int, name string) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	must.OK(t, err)
	found := regexp.MustCompile(name + `:\s+(\d+) kB`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("no %s in %s", name, text)
	}
	n, err := strconv.Atoi(string(found[1]))
	must.OK(t, err)
	return n
}
