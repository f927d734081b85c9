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
	"testing"
	"time"
)

var (
	flood       = flag.Bool("flood", false, "run TestFlood: 1,000 unfinished bodies of 14 MB, then 2,000 half-open requests, on isr-sim serve")
	floodOthers = flag.String("flood.others", "", "for TestFlood: the address that TestFloodOthers sends requests to")
)

// TestFlood measures how much memory isr-sim serve takes while it is flooded, and how long other clients wait. The
// tests of overload_test.go hold the same at a smaller size. It takes a minute and a quiet machine.
//
//	go test ./internal/serve -run TestFlood -flood -v
func TestFlood(t *testing.T) {
	if !*flood {
		t.Skip("it takes a minute: -flood")
	}
	const (
		wait  = 100 * time.Millisecond
		peak  = 600 << 10 // kB
		after = 150 << 10
	)
	address, pid := startProcess(t)
	calm, _ := startProcess(t) // is not flooded, and shows how long the busy machine alone makes clients wait
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
		waits, waitsOfCalm := others(), othersOfCalm()
		highest := resident(t, pid, "VmHWM")
		pause(t.Context(), 10*time.Second)
		left := resident(t, pid, "VmRSS")
		longest := waits[len(waits)-1]
		t.Logf("%d %s, over after %v: %d MB before, %d MB at the peak, %d MB ten seconds after; %d requests of others: median %v, longest %v, of a server that is not flooded %v",
			wave.clients, wave.name, took.Round(time.Millisecond), start>>10, highest>>10, left>>10, len(waits), waits[len(waits)/2], longest, waitsOfCalm[len(waitsOfCalm)-1])
		if longest > wait || highest > peak || left > after {
			t.Errorf("want %v, %d MB and %d MB at most", wait, peak>>10, after>>10)
		}
	}
}

// startOthers starts two well-behaved clients in a process of their own, so that they do not share the Go scheduler of
// the clients that flood. The function that it returns ends them, and returns how long their requests took, shortest
// first.
func startOthers(t *testing.T, address string) func() []time.Duration {
	t.Helper()
	others := exec.Command(os.Args[0], "-test.run", "^TestFloodOthers$", "-flood.others", address)
	others.Stderr = os.Stderr
	stop, err := others.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := others.StdoutPipe()
	if err == nil {
		err = others.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() (waits []time.Duration) {
		stop.Close()
		if err := json.NewDecoder(stdout).Decode(&waits); err != nil {
			t.Fatal(err)
		}
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
	if err := json.NewEncoder(os.Stdout).Encode(append(one, other...)); err != nil {
		t.Fatal(err)
	}
}

// behave sends small requests, one after the other, over one connection or over one each. It returns how long each
// took.
func behave(t *testing.T, keep bool, over chan struct{}) (waits []time.Duration) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: !keep}}
	for {
		select {
		case <-over:
			return waits
		default:
		}
		pause(t.Context(), 5*time.Millisecond)
		request, err := http.NewRequest(http.MethodPost, "http://"+*floodOthers, strings.NewReader("{}"))
		if err != nil {
			t.Error(err)
			return waits
		}
		request.Header.Set("Content-Type", "application/x-amz-json-1.0")
		request.Header.Set("X-Amz-Target", "DynamoDB_20120810.ListTables")
		request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=alice/20400101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
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

// startProcess builds and starts isr-sim serve.
func startProcess(t *testing.T) (address string, pid int) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "isr-sim")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/isr-sim").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := exec.Command(program, "serve")
	stdout, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	var printed struct{ Endpoint string }
	if err := json.NewDecoder(stdout).Decode(&printed); err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(printed.Endpoint, "http://"), server.Process.Pid
}

// resident reads a line of a process's status, in kB.
func resident(t *testing.T, pid int, name string) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(name + `:\s+(\d+) kB`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("no %s in %s", name, text)
	}
	n, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
