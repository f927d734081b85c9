//go:build unix

package nodes_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/nodes"
	_ "github.com/isr-sim/isr-sim/internal/protocols/mutant" // for forgetful
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// TestMain runs the tests, or is a node: the tests start this binary as their program.
func TestMain(m *testing.M) {
	if behaviour := os.Getenv("ISR_SIM_TEST_NODE"); behaviour != "" {
		serveNode(behaviour)
		return
	}
	os.Exit(m.Run())
}

// program returns this binary as a program with the given behaviour.
func program(t *testing.T, behaviour string, limit time.Duration) *nodes.Program {
	t.Helper()
	self := must.Of(os.Executable())(t)
	p := &nodes.Program{
		Command: fmt.Sprintf("ISR_SIM_TEST_NODE='%s' exec '%s'", behaviour, self), Context: t.Context(),
		Limit: limit, Stderr: t.Output(),
	}
	t.Cleanup(p.Close)
	return p
}

// TestReferenceAsProgram runs the reference as processes, with faults, crashes and clock steps. Its verdicts equal
// those of the reference in this process. A repeated run has the same trace, even with requests as lines, with a whole
// history replayed at once, or with a new process for each incarnation because the old one ended at its reset.
func TestReferenceAsProgram(t *testing.T) {
	effort.NotShort(t)
	for n, name := range []string{"two-contenders", "lost-response", "crashed-holder", "skewed-clocks"} {
		t.Run(name, func(t *testing.T) {
			if n > 0 {
				effort.Long(t)
			}
			p, lines, s := program(t, "reference", 0), program(t, "lines", 0), scenariotest.Embedded(t, name)
			queue, retires := program(t, "queue", 0), program(t, "retires", 0)
			for i := range effort.Fewer(10, 2) {
				var traces [5]strings.Builder
				for k, of := range []*nodes.Program{p, p, lines, queue, retires} {
					run := kernel.Run{Scenario: s, Protocol: of.Protocol(), Seed: sim.Derive(1, i), Trace: &traces[k]}
					o := must.Of(run.Do(t.Context()))(t)
					if o.Violation != nil {
						t.Fatalf("got %s", o.Explain(name, "reference"))
					}
				}
				for k := range traces[1:] {
					if traces[0].String() != traces[k+1].String() {
						t.Fatalf("schedule %d: two runs differ:\n%s\n%s", i, traces[0].String(), traces[k+1].String())
					}
				}
			}
		})
	}
}

// forgetful is a cache that does not recognise its own lock when the answer to its put was lost.
const forgetful = "own-commit-as-conflict"

// TestOwnLockNotRecognised: the scenario of lost responses finds a program whose holder takes its own lock for
// another's. The reference passes under the same schedules.
func TestOwnLockNotRecognised(t *testing.T) {
	effort.Long(t)
	s := scenariotest.Embedded(t, "lost-response")
	for behaviour, want := range map[string]invariant.Verdict{
		forgetful: invariant.Violated, "reference": invariant.OK,
	} {
		p := program(t, behaviour, 0)
		r, err := campaign.Campaign{Scenario: s, Protocol: p.Protocol(), Seed: 1, Schedules: 30}.Run(t.Context())
		switch {
		case err != nil:
			t.Fatal(err)
		case r.Verdict != want:
			t.Errorf("%s: got %v, want %v", behaviour, r.Verdict, want)
		case want == invariant.Violated && r.Failure.Violation.Invariant.Name != "liveness":
			t.Errorf("%s: caught by %s, want liveness", behaviour, r.Failure.Violation.Invariant.Name)
		}
	}
}

// TestBadPrograms: programs that misbehave end their run with an error that names actor, command and mistake, and leave
// no process behind.
func TestBadPrograms(t *testing.T) {
	effort.Long(t)
	tests := []struct{ behaviour, at, want string }{
		{"hang", "get /home", "said nothing for"},
		{"nonsense", "get /home", `printed "what?" on stdout, expected a line of JSON`},
		{"nonsense-first", "its start", `printed "what?" on stdout, expected a line of JSON`},
		{"die", "get /home",
			"its process ended: exit status 3; its last words on stderr:\nError: no lock\n    at hold"},
		{"die-first", "its start", "its process ended: exit status 3"},
		{"dies-at-reset", "its reset", "its process ended: exit status 3"},
		{"twice", "its reset", `printed a line of type "reply", expected ready`},
		{"other-reply", "get /home", "replied to command 7, expected 1"},
		{"id-as-text", "get /home", "on stdout, where id is a string, expected a whole number"},
		{"body-as-number", "get /home", "on stdout, where body is a number, expected "},
		{"connections", "get /home", "opened more than 100 connections"},
		{"flood", "get /home", "bytes on stderr"},
		{"flood-stdout", "get /home", "printed a line of more than"},
		{"busy-loop", "get /home", "requests that take no time"},
		{"wrong-key", "get /home", `signed GetItem with the access key "mallory", expected "alice"`},
		{"old", "its start", "speaks versions [0] of the protocol, expected 1"},
		{"unable", "get /home", "does not say that it can get"},
		{"deaf", "its start", "said nothing for"},
	}
	s := scenariotest.Parsed(t, "name: one\nabout: one\nactors: [{name: alice, script: [get /home]}]\n")
	for _, tt := range tests {
		t.Run(tt.behaviour, func(t *testing.T) {
			limit := time.Minute
			if strings.Contains(tt.want, "said nothing for") {
				limit = 2 * time.Second // the test waits for this limit
			}
			p := program(t, tt.behaviour, limit)
			_, err := kernel.Run{Scenario: s, Protocol: p.Protocol()}.Do(t.Context())
			var bad *nodes.Error
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, want an Error", err)
			}
			if bad.Actor != "alice" || bad.Command != tt.at || !strings.Contains(bad.Problem, tt.want) {
				t.Errorf("got %v, want alice at %s: ...%s", bad, tt.at, tt.want)
			}
			p.Close()
			var status syscall.WaitStatus
			if pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil); !errors.Is(err, syscall.ECHILD) {
				t.Errorf("a process is left: %d, %v", pid, err)
			}
		})
	}
}

// TestEndWithAChild: the end of a process is noticed although a child of it still holds stdout and stderr.
func TestEndWithAChild(t *testing.T) {
	effort.Long(t)
	const limit = 20 * time.Second
	p := &nodes.Program{Limit: limit, Context: t.Context(), Command: `echo '{"type":"hello","versions":[1],"can":["get"]}'
		read -r line
		sleep 100 &
		echo 'no memory' >&2
		kill -KILL $$`}
	t.Cleanup(p.Close)
	_, err := kernel.Run{Scenario: oneNode(t), Protocol: p.Protocol()}.Do(t.Context())
	if bad, ok := errors.AsType[*nodes.Error](err); !ok || !strings.HasPrefix(bad.Problem,
		"its process ended: signal: killed; its last words on stderr:\nno memory") {
		t.Errorf("got %v, want the end of the process", err)
	}
}

// TestAttempts: a program is told how often its client sends a request.
func TestAttempts(t *testing.T) {
	s := oneNode(t)
	s.Cache.Attempts = 2
	must.Done(t)(kernel.Run{Scenario: s, Protocol: program(t, "two-attempts", 0).Protocol()}.Do(t.Context()))
}

// TestHashes: the hashes of Python and Perl are the same in each process, unless the user has said something else.
func TestHashes(t *testing.T) {
	for _, own := range []string{"", "7"} {
		if own != "" {
			t.Setenv("PYTHONHASHSEED", own)
			t.Setenv("PERL_HASH_SEED", own)
		}
		p := &nodes.Program{Command: "echo seed $PERL_HASH_SEED$PYTHONHASHSEED >&2; exit 3", Context: t.Context()}
		_, err := p.Can("alice")
		p.Close()
		if want := "seed " + strings.Repeat(cmp.Or(own, "0"), 2); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("seeds %s: got %v, want ...%s", own, err, want)
		}
	}
}

// TestChildren: the children of a program end with the run if they are in its process group. A child in its own
// session, which keeps the program's stdout and stderr open, does not stop the run.
func TestChildren(t *testing.T) {
	for behaviour, lives := range map[string]bool{"forks": false, "detaches": true} {
		at := filepath.Join(t.TempDir(), "child")
		t.Setenv("ISR_SIM_TEST_CHILD", at)
		p := program(t, behaviour, time.Minute)
		must.Done(t)(kernel.Run{Scenario: oneNode(t), Protocol: p.Protocol()}.Do(t.Context()))
		p.Close()
		soon, stop := context.WithTimeout(t.Context(), 20*time.Second)
		c, err := net.Dial("unix", at)
		for ; err == nil && !lives && soon.Err() == nil; c, err = net.Dial("unix", at) {
			_ = c.Close() // the child was killed, but the system is slow
			wait(10 * time.Millisecond)
		}
		stop()
		if (err == nil) != lives {
			t.Errorf("%s: asked for the child after the run: %v, want that it lives: %v", behaviour, err, lives)
		}
		if err == nil {
			_ = c.Close()
		}
	}
}

// TestLeftBehind: no process outlives one that was killed before it could end them, even if the process never looks at
// its stdin.
func TestLeftBehind(t *testing.T) {
	at := filepath.Join(t.TempDir(), "child")
	dies := exec.Command(os.Args[0])
	dies.Env = append(os.Environ(), "ISR_SIM_TEST_NODE=dies", "ISR_SIM_TEST_CHILD="+at)
	if err := dies.Run(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("got %v, want that it was killed", err)
	}
	if _, err := os.Stat(at); err != nil {
		t.Fatal("its child never lived:", err)
	}
	soon, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	for ; soon.Err() == nil; wait(10 * time.Millisecond) {
		c, err := net.Dial("unix", at)
		if errors.Is(err, syscall.ECONNREFUSED) {
			return
		}
		if err == nil {
			_ = c.Close()
		}
	}
	t.Error("its child lives on")
}

// TestLeft: the user no longer waits for a run of a program that is never silent, or is silent for long. The run ends,
// even while the program starts, and no process stays.
func TestLeft(t *testing.T) {
	effort.NotShort(t)
	for _, behaviour := range []string{"many-steps", "hang", "deaf"} {
		left, stop := context.WithTimeout(t.Context(), 500*time.Millisecond)
		late, stopLate := context.WithTimeout(t.Context(), 20*time.Second)
		p := program(t, behaviour, time.Minute)
		_, err := kernel.Run{Scenario: oneNode(t), Protocol: p.Protocol()}.Do(hooks.Leave(t.Context(), left.Done()))
		if !errors.Is(err, sim.ErrLeft) || late.Err() != nil {
			t.Errorf("%s: got %v, want %v after half a second", behaviour, err, sim.ErrLeft)
		}
		stop()
		stopLate()
		p.Close()
		var status syscall.WaitStatus
		if pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil); !errors.Is(err, syscall.ECHILD) {
			t.Errorf("%s: a process is left: %d, %v", behaviour, pid, err)
		}
	}
}

// TestClose: an idle process that says something at that moment does not keep a program open.
func TestClose(t *testing.T) {
	p := &nodes.Program{
		Command: `echo '{"type":"hello","versions":[1],"can":["get","reset"]}'; while :; do echo '{"type":"real","what":"sockets"}'; done`, Context: t.Context(),
	}
	must.Done(t)(p.Can("alice"))
	soon, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	for len(p.Real()) == 0 && soon.Err() == nil {
		wait(time.Millisecond)
	}
	closed := make(chan struct{})
	go func() {
		p.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-soon.Done():
		t.Error("the program is still not closed")
	}
}

// TestReal: the unsimulated things that a program uses are known from its notes or its requests, even if its outputs
// are remembered.
func TestReal(t *testing.T) {
	for behaviour, want := range map[string][]string{
		"real": {"alarms", "what workers do"}, "unsupported": {"the operation ImportTable"}, "reference": nil,
	} {
		p := program(t, behaviour, 0)
		for range 2 {
			must.Done(t)(kernel.Run{Scenario: oneNode(t), Protocol: p.Protocol()}.Do(t.Context()))
		}
		if got := p.Real(); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", behaviour, got, want)
		}
	}
}

// TestTwoRequests: a program that does not wait for its answers ends the run, here while another node works and the
// first request is under way.
func TestTwoRequests(t *testing.T) {
	s := scenariotest.Parsed(t,
		"name: two\nabout: two\nactors: [{name: alice, script: [get /home]}, {name: bob, script: [get /home]}]\n")
	p := program(t, "two-requests", 10*time.Second)
	for seed := range uint64(20) {
		_, err := kernel.Run{Scenario: s, Protocol: p.Protocol(), Seed: seed}.Do(t.Context())
		var bad *nodes.Error
		if errors.As(err, &bad) {
			if want := "while its GET /_isr-sim/origin was under way"; !strings.Contains(bad.Problem, want) {
				t.Errorf("got %v, want ...%s", bad, want)
			}
			return
		}
	}
	t.Error("no run of 20 found a request during another one")
}

// serveNode is a node.
func serveNode(behaviour string) {
	if behaviour == "nonsense-first" {
		printOut("what?\n")
	}
	if behaviour == "die-first" {
		os.Exit(3)
	}
	if behaviour == "child" {
		if l, err := net.Listen("unix", os.Getenv("ISR_SIM_TEST_CHILD")); err == nil {
			_, _ = l.Accept() // of its parent
			_, _ = l.Accept() // of the test, which ends it
		}
		os.Exit(0)
	}
	if behaviour == "deaf" {
		hang()
	}
	if behaviour == "dies" {
		p := &nodes.Program{
			Command: "ISR_SIM_TEST_NODE=lingers exec '" + os.Args[0] + "'", Context: context.Background(),
		}
		if _, err := p.Can("alice"); err != nil {
			panic(err)
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if behaviour == "lingers" {
		l, err := net.Listen("unix", os.Getenv("ISR_SIM_TEST_CHILD"))
		if err != nil {
			panic(err)
		}
		say(map[string]any{"type": "hello", "versions": []int{1}, "can": []string{"get"}})
		for {
			if c, err := l.Accept(); err == nil {
				_ = c.Close()
			}
		}
	}
	can, versions := []string{"get", "invalidate", "regenerate", "rollback", "reset"}, []int{1}
	if behaviour == "unable" {
		can = can[1:]
	}
	if behaviour == "old" {
		versions[0] = 0
	}
	can = append(can, several[behaviour]...)
	say(map[string]any{"type": "hello", "versions": versions, "can": can})
	in := bufio.NewScanner(os.Stdin)
	var c *clock
	var handler isr.Handler
	table, lives := "", 0
	for in.Scan() {
		var line struct {
			Type, Actor, Tenant, Endpoint, Table, Verb, Key, Request, Inputs string
			ID, Time                                                         int64
			Seed                                                             uint64
			Config                                                           struct {
				Lease, Revalidate, Retention, TTLBuffer, Poll float64
				Patience, Attempts                            int
				Contention                                    string
			}
		}
		if err := json.Unmarshal(in.Bytes(), &line); err != nil {
			panic(err)
		}
		if c != nil {
			c.now = time.UnixMilli(line.Time)
		}
		switch line.Type {
		case "init":
			seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
			c, table = &clock{endpoint: line.Endpoint, now: time.UnixMilli(line.Time)}, line.Table
			switch behaviour {
			case "counts-on":
				c.requests = 100 * lives
				fallthrough
			case "lines", "queue":
				c.lines = in
			}
			tokens := 0
			token := func() string { tokens++; return fmt.Sprintf("%s-%d-%d", line.Actor, line.Seed, tokens) }
			cfg := isr.Config{
				Client: dynamodb.New(dynamodb.Options{
					Region: "us-east-1", BaseEndpoint: &line.Endpoint, HTTPClient: c,
					Retryer: ddbfake.Retryer(line.Config.Attempts), IdempotencyTokenProvider: drawn(token),
					Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
						key := line.Actor
						if behaviour == "wrong-key" {
							key = "mallory"
						}
						return aws.Credentials{AccessKeyID: key, SecretAccessKey: "none"}, nil
					}),
				}),
				Clock: c, Bodies: c, Render: c.render, Table: line.Table, Tenant: line.Tenant,
				Tokens: token,
				Lease:  seconds(line.Config.Lease), Revalidate: seconds(line.Config.Revalidate),
				Retention: seconds(line.Config.Retention),
				TTLBuffer: seconds(line.Config.TTLBuffer), Poll: seconds(line.Config.Poll),
				Patience: line.Config.Patience,
			}
			if line.Config.Contention == "wait" {
				cfg.Contention = isr.Wait
			}
			if behaviour == "two-attempts" && line.Config.Attempts != 2 {
				panic(line.Config.Attempts)
			}
			protocol := "recipe-a"
			if behaviour == forgetful {
				protocol = behaviour
			}
			p, err := kernel.ProtocolNamed(protocol)
			if err != nil {
				panic(err)
			}
			if handler, err = p.New(cfg); err != nil {
				panic(err)
			}
			lives++
			if behaviour == "looks-first" {
				_, _ = c.do(http.MethodGet, "time", nil)
			}
			say(map[string]any{"type": "ready"})
		case "reset":
			switch behaviour {
			case "retires":
				return
			case "dies-at-reset":
				os.Exit(3)
			}
			say(map[string]any{"type": "ready"})
		case "end":
			return
		case "command":
			if askSeveral(behaviour, int(line.ID), c, in) {
				continue
			}
			if behaviour == "dates" {
				askDates(c, table)
			}
			misbehave(behaviour, c)
			served, err := get(handler, line.Key)
			if errors.Is(err, errReset) {
				say(map[string]any{"type": "ready"})
				continue
			}
			reply := map[string]any{"type": "reply", "id": line.ID, "body": string(served.Body), "fresh": served.Fresh}
			if err != nil {
				reply["error"] = err.Error()
			}
			if behaviour == "keeps" {
				reply["error"] = fmt.Sprintf("life %d", lives)
			}
			switch behaviour {
			case "names-port":
				_, port, _ := strings.Cut(c.endpoint, "127.0.0.1:")
				reply["error"] = strings.ReplaceAll("Pool(host='127.0.0.1', port=PORT), <Pool at 0x7fPORT>: "+
					"127.0.0.1:PORT at node.pl, <STDIN> line PORT.", "PORT", port)
			case "id-as-text":
				reply["id"] = "1"
			case "body-as-number":
				reply["body"] = 5
			}
			if behaviour == "other-reply" {
				reply["id"] = 7
			}
			say(reply)
			if behaviour == "twice" {
				say(reply)
			}
		}
	}
}

// errReset says that a reset came in the place of an answer.
var errReset = errors.New("reset")

// get asks the handler for a page.
func get(of isr.Handler, key string) (served isr.Served, err error) {
	defer func() {
		if r := recover(); r == errReset {
			err = errReset
		} else if r != nil {
			panic(r)
		}
	}()
	return of.Get(context.Background(), key)
}

// drawn provides tokens for transactions: the SDK's own are really random, so that no proof with a crash can be
// repeated.
type drawn func() string

func (d drawn) GetIdempotencyToken() (string, error) { return d(), nil }

// hang never returns. It waits for a signal: without cgo the runtime ends a program that waits for nothing.
func hang() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGUSR1)
	select {}
}

// wait waits in real time.
func wait(d time.Duration) {
	over, stop := context.WithTimeout(context.Background(), d)
	defer stop()
	<-over.Done()
}

// misbehave performs the behaviour within a command.
func misbehave(behaviour string, c *clock) {
	switch behaviour {
	case "real":
		say(map[string]any{"type": "real", "what": "what workers do"})
		say(map[string]any{"type": "real", "what": "alarms"})
	case "unsupported":
		r, err := http.NewRequest(http.MethodPost, c.endpoint, strings.NewReader("{}"))
		if err != nil {
			panic(err)
		}
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810.ImportTable")
		if answer, err := c.Do(r); err == nil {
			_ = answer.Body.Close()
		}
	case "hang":
		hang()
	case "nonsense":
		printOut("what?\n")
	case "die":
		fmt.Fprintf(os.Stderr, "%s\nError: no lock\n    at hold\n", strings.Repeat("dots ", 600))
		os.Exit(3)
	case "connections":
		at := strings.TrimPrefix(c.endpoint, "http://")
		for range 10_000 {
			if _, err := net.Dial("tcp", at); err != nil {
				break
			}
		}
		hang()
	case "flood":
		for {
			fmt.Fprintln(os.Stderr, strings.Repeat("x", 200))
		}
	case "flood-stdout":
		for {
			printOut(strings.Repeat("x", 4096))
		}
	case "forks", "detaches":
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "ISR_SIM_TEST_NODE=child")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: behaviour == "detaches"}
		if err := child.Start(); err != nil {
			panic(err)
		}
		for {
			if c, err := net.Dial("unix", os.Getenv("ISR_SIM_TEST_CHILD")); err == nil {
				_ = c.Close() // it is there
				return
			}
		}
	case "two-requests":
		for range 2 {
			go func() {
				for {
					_, _ = c.do(http.MethodGet, "origin?key=/a", nil)
				}
			}()
		}
		hang()
	case "many-steps":
		for {
			wait(10 * time.Millisecond)
			_, _ = c.do(http.MethodGet, "origin?key=/a", nil)
		}
	case "busy-loop":
		for {
			_, _ = c.do(http.MethodGet, "time", nil)
		}
	}
}

// printOut prints on stdout, whose reader may have gone.
func printOut(text string) { _, _ = os.Stdout.WriteString(text) }

func say(line map[string]any) {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	printOut(string(text) + "\n")
}

// clock is the node's own clock, its body store and its origin, over HTTP.
type clock struct {
	clockwork.Clock
	endpoint string
	now      time.Time
	lines    *bufio.Scanner // requests and answers are lines; nil means HTTP
	requests int
}

func (c *clock) Now() time.Time                  { return c.now }
func (c *clock) Since(t time.Time) time.Duration { return c.now.Sub(t) }
func (c *clock) Sleep(d time.Duration) {
	if _, err := c.do(http.MethodPost, "sleep?ms="+strconv.FormatFloat(float64(d)/1e6, 'f', -1, 64), nil); err != nil {
		panic(err)
	}
}

// Do implements the SDK's HTTPClient.
func (c *clock) Do(r *http.Request) (*http.Response, error) {
	if c.lines != nil {
		return c.exchange(r)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	ms, err := strconv.ParseInt(answer.Header.Get("X-Isr-Sim-Time"), 10, 64)
	if err != nil {
		return nil, err
	}
	c.now = time.UnixMilli(ms)
	return answer, nil
}

// exchange does the same as Do, with lines.
func (c *clock) exchange(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c.requests++
	headers := map[string]string{}
	for name, values := range r.Header {
		headers[name] = values[0]
	}
	say(map[string]any{"type": "request", "number": c.requests, "quiet": true, "method": r.Method,
		"target": r.URL.RequestURI(), "headers": headers, "body": body})
	var line struct {
		Type    string
		Number  int
		Time    int64
		Status  int
		Headers map[string]string
		Body    []byte
		Text    string
	}
	if !c.lines.Scan() {
		return nil, io.EOF
	}
	err = json.Unmarshal(c.lines.Bytes(), &line)
	if line.Type == "reset" {
		panic(errReset)
	}
	if err != nil || line.Type != "answer" || line.Number != c.requests || line.Time == 0 {
		panic(fmt.Sprintf("%s is no answer: %v", c.lines.Bytes(), err))
	}
	c.now = time.UnixMilli(line.Time)
	if line.Status == 0 {
		return nil, errors.New("the connection is broken")
	}
	answer := &http.Response{StatusCode: line.Status, Header: http.Header{},
		Body: io.NopCloser(strings.NewReader(string(line.Body) + line.Text))}
	for name, value := range line.Headers {
		answer.Header.Set(name, value)
	}
	return answer, nil
}

func (c *clock) do(method, path string, body []byte) ([]byte, error) {
	r, err := http.NewRequest(method, c.endpoint+"/_isr-sim/"+path, strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	answer, err := c.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	switch {
	case answer.StatusCode == http.StatusNotFound:
		return nil, isr.ErrNoBody
	case answer.StatusCode >= 300:
		return nil, errors.New(string(text))
	}
	return text, err
}

func (c *clock) PutBody(_ context.Context, name string, body []byte) error {
	_, err := c.do(http.MethodPut, "bodies/"+url.PathEscape(name), body)
	return err
}

func (c *clock) GetBody(_ context.Context, name string) ([]byte, error) {
	return c.do(http.MethodGet, "bodies/"+url.PathEscape(name), nil)
}

func (c *clock) render(_ context.Context, key string, _ func(context.Context) error) ([]byte, error) {
	return c.do(http.MethodGet, "origin?key="+url.QueryEscape(key), nil)
}
