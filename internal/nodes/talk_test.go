//go:build unix

package nodes_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptrace"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/nodes"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
)

// several has the behaviours with several requests under way, and the further abilities in their hellos.
var several = map[string][]string{
	"three-parallel": {"parallel"}, "three-quiet": {"quiet"}, "stale-quiet": {"quiet"}, "reply-early": {"quiet"},
	"no-number": {"quiet"}, "bad-timer": {"quiet"}, "lets-go": {"quiet"}, "lets-go-last": {"quiet"},
	"lets-go-lines": {"quiet"}, "two-chains": {"parallel"},
	"three-timers": {"quiet"}, "queue": {"quiet", "queue", "abandon"}, "counts-on": {"quiet", "queue"},
}

// chance is kept from one run to the next.
var chance int

// askSeveral performs the behaviour within a command. It returns false if the node goes on as usual. The node's next
// lines are read from in.
func askSeveral(behaviour string, id int, c *clock, in *bufio.Scanner) (replied bool) {
	names := []string{"c", "b", "a"}
	switch behaviour {
	case "three-parallel", "three-quiet", "stale-quiet":
		var asking sync.WaitGroup
		for i, name := range names {
			if behaviour == "stale-quiet" && i == 2 {
				// The line is sent before the request, and is true once the request has arrived.
				say(map[string]any{"type": "quiet", "requests": []int{1, 2, 3}})
			}
			asking.Go(func() { c.ask(name, i+1) })
		}
		if behaviour == "three-quiet" {
			say(map[string]any{"type": "quiet", "requests": []int{2}}) // which was never so
			say(map[string]any{"type": "quiet", "requests": []int{1, 2, 3}, "timer": 7, "after": 1500})
		}
		if behaviour == "three-parallel" {
			asking.Wait()
			say(map[string]any{"type": "reply", "id": id, "body": "", "fresh": false})
			return true
		}
		select {} // which number is answered first is the schedule's choice
	case "two-chains":
		var asking sync.WaitGroup
		for _, chain := range []string{"a", "b"} {
			asking.Go(func() {
				for i := range 3 {
					c.read(fmt.Sprint(chain, i))
				}
			})
		}
		asking.Wait()
		say(map[string]any{"type": "reply", "id": id, "body": "", "fresh": false})
		return true
	case "lets-go", "lets-go-last":
		sent, asked := make(chan bool), make(chan bool)
		r, cancel := c.put("a", 1, func() { close(sent) })
		go func() {
			if answer, err := http.DefaultClient.Do(r); err == nil {
				_ = answer.Body.Close()
			}
			close(asked)
		}()
		<-sent
		say(map[string]any{"type": "quiet", "requests": []int{1}, "timer": 7, "after": 0})
		in.Scan() // the line that the timer has fired; the request has arrived by then
		cancel()
		<-asked
		if behaviour == "lets-go" {
			say(map[string]any{"type": "quiet", "requests": []int{2}})
			c.ask("b", 2)
		}
		say(map[string]any{"type": "reply", "id": id, "body": "", "fresh": false})
		return true
	case "lets-go-lines":
		request := func(number int, name string) map[string]any {
			return map[string]any{"type": "request", "number": number, "method": "PUT",
				"target": "/_isr-sim/bodies/" + name, "text": "body"}
		}
		say(request(1, "a"))
		say(map[string]any{"type": "quiet", "requests": []int{1}, "timer": 7, "after": 0})
		in.Scan()
		say(map[string]any{"type": "left", "number": 1})
		say(map[string]any{"type": "left", "number": 1}) // it was dropped already
		alone := request(2, "b")
		alone["quiet"] = true
		say(alone)
		in.Scan()
		say(map[string]any{"type": "reply", "id": id, "body": "", "fresh": false})
		return true
	case "three-timers":
		left, after, order := []int{7, 8, 9}, 1500, ""
		for ; len(left) > 0; after = 0 {
			say(map[string]any{
				"type": "quiet", "requests": []int{}, "timer": left[0], "after": after, "also": left[1:],
			})
			var fires struct{ Timer int }
			if in.Scan(); json.Unmarshal(in.Bytes(), &fires) != nil {
				panic("no line of type wake: " + in.Text())
			}
			left = slices.DeleteFunc(left, func(number int) bool { return number == fires.Timer })
			order += strconv.Itoa(fires.Timer)
		}
		say(map[string]any{"type": "reply", "id": id, "error": "in the order " + order})
		return true
	case "unnumbered-line":
		say(map[string]any{"type": "request", "method": "GET", "target": "/_isr-sim/time"})
		select {}
	case "relative-line":
		say(map[string]any{"type": "request", "number": 1, "method": "GET", "target": "time"})
		select {}
	case "other-line":
		say(map[string]any{"type": "request", "number": "one", "method": "GET", "target": "/_isr-sim/time"})
		select {}
	case "reply-early":
		one := make(chan bool)
		for number := range 2 {
			go func() { c.ask("a", number+1); one <- true }()
		}
		say(map[string]any{"type": "quiet", "requests": []int{1, 2}})
		<-one // the other one is under way
		say(map[string]any{"type": "reply", "id": id, "body": "", "fresh": false})
		return true
	case "no-number":
		c.ask("a", 0)
	case "bad-timer":
		say(map[string]any{"type": "quiet", "requests": []int{}, "timer": 7, "after": -1})
		select {}
	case "own-number":
		c.ask("first", 0)
		c.ask(strconv.Itoa(os.Getpid()), 0)
	case "random":
		c.ask("first", 0)
		chance++
		c.ask(strconv.Itoa(chance), 0)
	}
	return false
}

// put returns a request that stores a body, and a function by which the node stops waiting for it. sent is called when
// the request has been written.
func (c *clock) put(name string, number int, sent func()) (*http.Request, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	ctx = httptrace.WithClientTrace(ctx,
		&httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { sent() }})
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, c.endpoint+"/_isr-sim/bodies/"+name,
		strings.NewReader("body"))
	if err != nil {
		panic(err)
	}
	r.Header.Set("X-Isr-Sim-Request", strconv.Itoa(number))
	return r, cancel
}

// ask reads a body, by a request with the given number; 0 means no number.
func (c *clock) ask(name string, number int) {
	r, err := http.NewRequest(http.MethodGet, c.endpoint+"/_isr-sim/bodies/"+name, nil)
	if err != nil {
		panic(err)
	}
	if number > 0 {
		r.Header.Set("X-Isr-Sim-Request", strconv.Itoa(number))
	}
	answer, err := http.DefaultClient.Do(r)
	if err == nil {
		_ = answer.Body.Close()
	}
}

// read reads a row of the table.
func (c *clock) read(pk string) {
	body := fmt.Sprintf(`{"TableName": %q, "Key": {"pk": {"S": %q}, "sk": {"S": "row"}}}`, hooks.TableName, pk)
	r, err := http.NewRequest(http.MethodPost, c.endpoint+"/", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	answer, err := http.DefaultClient.Do(r)
	if err == nil {
		_ = answer.Body.Close()
	}
}

// TestRequestsOverlap: one request of a node stays under way while others come and go. Each takes effect once.
func TestRequestsOverlap(t *testing.T) {
	effort.NotShort(t)
	t.Parallel() // it waits more than it works
	p, s := program(t, "two-chains", 0), oneNode(t)
	for seed := range uint64(4) {
		var trace strings.Builder
		must.Done(t)(kernel.Run{Scenario: s, Protocol: p.Protocol(), Seed: seed, Trace: &trace}.Do(t.Context()))
		for _, pk := range []string{"a0", "a1", "a2", "b0", "b1", "b2"} {
			if n := strings.Count(trace.String(), "effect      GetItem row of "+pk+" "); n != 1 {
				t.Fatalf("seed %d: %s was read %d times, want once:\n%s", seed, pk, n, trace.String())
			}
		}
	}
}

func oneNode(t *testing.T) *spec.Scenario {
	t.Helper()
	s := scenariotest.Parsed(t, "name: one\nabout: one\nactors: [{name: alice, script: [get /home]}]\n")
	return s
}

// TestRequestsAtOnce: requests of a program that come at the same time happen in every order, one at a time. Where the
// schedule does not choose, their contents decide. One seed has one trace.
func TestRequestsAtOnce(t *testing.T) {
	effort.Long(t)
	t.Parallel() // it waits more than it works
	p, s := program(t, "three-parallel", 0), oneNode(t)
	p.Settle = 300 * time.Millisecond // for a busy machine
	orders, seeds := map[string]bool{}, effort.Fewer[uint64](6, 3)
	for seed := range seeds {
		var before string
		for i := range 2 {
			var trace strings.Builder
			must.Done(t)(kernel.Run{Scenario: s, Protocol: p.Protocol(), Seed: seed, Trace: &trace}.Do(t.Context()))
			if i > 0 && trace.String() != before {
				t.Fatalf("seed %d: two runs differ:\n%s\n%s", seed, before, trace.String())
			}
			before = trace.String()
		}
		order := ""
		for line := range strings.Lines(before) {
			if _, name, is := strings.Cut(line, "effect      GetBody "); is && len(order) < 3 {
				order += name[:1]
			}
		}
		orders[order] = true
		if !strings.Contains(before, "alice/c") {
			t.Fatalf("seed %d has no three lanes:\n%s", seed, before)
		}
	}
	if len(orders) < 2 {
		t.Errorf("got the orders %v in %d seeds, want at least 2 of the 6", orders, seeds)
	}
}

// TestWordsOfQuiet: a line of type quiet counts when all the requests that it names have come, and not before. A timer
// may fire while requests are under way.
func TestWordsOfQuiet(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	for _, behaviour := range []string{"three-quiet", "stale-quiet"} {
		var trace strings.Builder
		p := program(t, behaviour, 2*time.Second)
		_, err := kernel.Run{Scenario: oneNode(t), Protocol: p.Protocol(), Trace: &trace}.Do(t.Context())
		var bad *nodes.Error
		// after its first answer or timer
		if !errors.As(err, &bad) || !strings.Contains(bad.Problem, "said nothing for") {
			t.Errorf("%s: got %v, want a program that says nothing more", behaviour, err)
		}
		if got := strings.Count(trace.String(), " effect "); got == 0 ||
			strings.Count(trace.String(), "alice/c") == 0 && !strings.Contains(trace.String(), "GetBody") {
			t.Errorf("%s: got\n%s\nwant requests in lanes", behaviour, trace.String())
		}
	}
}

// TestTimersAtOnce: timers that are due in one millisecond fire in every order.
func TestTimersAtOnce(t *testing.T) {
	t.Parallel()
	p, orders := program(t, "three-timers", 0), map[string]bool{}
	for seed := range uint64(60) {
		var trace strings.Builder
		must.Done(t)(kernel.Run{
			Scenario: oneNode(t), Protocol: p.Protocol(), Seed: seed, Trace: &trace,
		}.Do(t.Context()))
		_, order, _ := strings.Cut(trace.String(), "in the order ")
		orders[order[:min(3, len(order))]] = true
	}
	if want := map[string]bool{
		"789": true, "798": true, "879": true, "897": true, "978": true, "987": true,
	}; !maps.Equal(orders, want) {
		t.Errorf("got the orders %v, want %v", orders, want)
	}
}

// TestRequestsLetGo: a request that the program has dropped, as after a timeout, neither stops the run nor is under way
// at the reply. It may still take effect.
func TestRequestsLetGo(t *testing.T) {
	t.Parallel()
	for _, behaviour := range []string{"lets-go", "lets-go-last", "lets-go-lines"} {
		p := program(t, behaviour, 5*time.Second)
		took := 0
		for seed := range uint64(4) {
			var traces [2]strings.Builder
			for i := range traces {
				if _, err := (kernel.Run{
					Scenario: oneNode(t), Protocol: p.Protocol(), Seed: seed, Trace: &traces[i],
				}).Do(t.Context()); err != nil {
					t.Fatalf("%s: %v", behaviour, err)
				}
			}
			if traces[0].String() != traces[1].String() {
				t.Fatalf("%s: two runs differ:\n%s\n%s", behaviour, &traces[0], &traces[1])
			}
			took += strings.Count(traces[0].String(), "PutBody a")
		}
		if took == 0 && behaviour != "lets-go-last" { // there, the dropped request is the last of its run
			t.Errorf("%s: no request that was let go took effect", behaviour)
		}
	}
}

// TestBadTalk: programs that break the rules of simultaneous requests end their run with an error that says so.
func TestBadTalk(t *testing.T) {
	for behaviour, want := range map[string]string{
		"reply-early": `while its GET /_isr-sim/bodies/a was under way`,
		"no-number":   "sent GET /_isr-sim/bodies/a without the header X-Isr-Sim-Request",
		"bad-timer":   "said that a timer fires after -1 ms",

		"unnumbered-line": "expected a request with a number above 0",
		"relative-line":   "and a target such as \"/\"",
		"other-line":      "found string as number",
	} {
		p := program(t, behaviour, 5*time.Second)
		_, err := kernel.Run{Scenario: oneNode(t), Protocol: p.Protocol()}.Do(t.Context())
		var bad *nodes.Error
		if !errors.As(err, &bad) || !strings.Contains(bad.Problem, want) {
			t.Errorf("%s: got %v, want %s", behaviour, err, want)
		}
	}
}

// TestProgramThatListensToChance: a run that differs when it is repeated names the request that differs, although all
// its runs are ok.
func TestProgramThatListensToChance(t *testing.T) {
	for behaviour, want := range map[string]string{"random": `request 2 of alice was "GetBody `, "reference": ""} {
		p := program(t, behaviour, 0)
		_, err := campaign.Campaign{Scenario: oneNode(t), Protocol: p.Protocol(), Schedules: 3}.Run(t.Context())
		var chance *kernel.NondeterminismError
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: got %v, want nothing", behaviour, err)
		case want != "" && (!errors.As(err, &chance) || !strings.Contains(chance.Difference, want)):
			t.Errorf("%s: got %v, want ...%s", behaviour, err, want)
		}
	}
}
