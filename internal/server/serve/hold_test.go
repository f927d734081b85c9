package serve

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/server/control"
	"github.com/isr-sim/isr-sim/internal/server/hold"
)

func startHolding(t *testing.T, l limits) (s *served, desk *hold.Desk) {
	t.Helper()
	s = startWith(t, l, func(o *Options) {
		desk = hold.New(hold.Options{DB: o.DB, Clock: o.Control.Clock})
		o.Control.Holds = desk
	})
	return s, desk
}

// call sends a call over a new connection, and does not wait for its answer.
func (s *served) call(operation, actor, body string) (net.Conn, *bufio.Reader) {
	s.t.Helper()
	conn := s.dial()
	text := strings.ReplaceAll(head(len(body)), "PutItem", operation)
	send(s.t, conn, strings.ReplaceAll(text, "=alice/", "="+actor+"/")+body)
	return conn, bufio.NewReader(conn)
}

func (s *served) control(method, path, body string, want int) string {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.address+control.Prefix+path,
		strings.NewReader(body))
	must.OK(s.t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	must.OK(s.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != want {
		s.t.Fatalf("%s %s %s: got %d %s %v, want %d", method, path, body, response.StatusCode, text, err, want)
	}
	return string(text)
}

func (s *served) hold(fault string) {
	s.t.Helper()
	s.control("POST", "/faults", fmt.Sprintf(`{"faults":[%q]}`, fault), 200)
}

// putOf returns a conditional PutItem of one row.
func putOf(value string) string {
	return `{"TableName":"cache","Item":{"pk":{"S":"a"},"v":{"S":"` + value +
		`"}},"ConditionExpression":"attribute_not_exists(pk)"}`
}

// winner returns the attribute v of the row a, or "".
func (s *served) winner() string {
	for _, item := range s.db.Items("cache") {
		return fmt.Sprint(item["v"])
	}
	return ""
}

// A held request has no effect until it is released, and other requests overtake it. A test can choose either order of
// two requests.
func TestHoldDecidesTheOrder(t *testing.T) {
	for _, order := range []string{"[1,2]", "[2,1]"} {
		s, _ := startHolding(t, serveLimits)
		s.hold("hold op=PutItem key=a times=2")
		_, alice := s.call("PutItem", "alice", putOf("alice"))
		s.control("POST", "/held", `{"count":1}`, 200)
		_, bob := s.call("PutItem", "bob", putOf("bob"))
		s.control("POST", "/held", `{"count":2}`, 200)
		if got := s.winner(); got != "" {
			t.Fatalf("a held put has taken effect: %s", got)
		}
		_, other := s.call("Scan", "carol", `{"TableName":"cache"}`)
		if status := statusOf(t, other); status != 200 {
			t.Fatalf("Scan past held requests: got %d", status)
		}
		s.control("POST", "/release", `{"ids":`+order+`}`, 200)
		want, lucky, unlucky := "alice", alice, bob
		if order == "[2,1]" {
			want, lucky, unlucky = "bob", bob, alice
		}
		if got := s.winner(); !strings.Contains(got, want) {
			t.Errorf("order %s: got row of %q as soon as the release is answered, want %s", order, got, want)
		}
		if a, b := statusOf(t, lucky), statusOf(t, unlucky); a != 200 || b != 400 {
			t.Errorf("order %s: got %d and %d, want 200 and 400", order, a, b)
		}
	}
}

func TestHoldListsWhatIsHeld(t *testing.T) {
	s, _ := startHolding(t, serveLimits)
	s.hold(`hold op=PutItem key=a actor=alice for=20s then=go`)
	s.call("PutItem", "alice", putOf("1"))
	var got struct{ Held []map[string]any }
	if err := json.Unmarshal([]byte(s.control("POST", "/held", `{"count":1,"actor":"alice"}`, 200)),
		&got); err != nil || len(got.Held) != 1 {
		t.Fatalf("got %v %v", got, err)
	}
	text, err := json.Marshal(got.Held[0])
	const want = `{"actor":"alice","fault":"hold op=PutItem key=a actor=alice for=20s then=go","gone":false,"id":1,"limit":"20s",` +
		`"operation":"PutItem","region":"us-east-1","rows":[{"key":{"pk":{"S":"a"}},"table":"cache"}],"since":"2040-01-01T00:00:00Z","then":"go"}`
	if err != nil || string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	s.control("POST", "/release", `{"actor":"alice"}`, 200)
}

func TestHoldDrops(t *testing.T) {
	for lose, effect := range map[string]bool{"request": false, "response": true} {
		s, _ := startHolding(t, serveLimits)
		s.hold("hold op=PutItem")
		_, r := s.call("PutItem", "alice", putOf("1"))
		s.control("POST", "/held", `{"count":1}`, 200)
		s.control("POST", "/drop", `{"ids":[1],"lose":"`+lose+`"}`, 200)
		if _, err := r.ReadByte(); err == nil {
			t.Errorf("lose %s: the client got an answer", lose)
		}
		if got := s.winner() != ""; got != effect {
			t.Errorf("lose %s: got effect %t, want %t", lose, got, effect)
		}
	}
}

func TestHoldHasALimit(t *testing.T) {
	for then, effect := range map[string]bool{"fail": false, "go": true} {
		s, desk := startHolding(t, serveLimits)
		s.hold("hold op=PutItem for=20ms then=" + then)
		_, r := s.call("PutItem", "alice", putOf("1"))
		want := 400
		if effect {
			want = 200
		}
		if status := statusOf(t, r); status != want {
			t.Errorf("then=%s: got %d, want %d", then, status, want)
		}
		if got := s.winner() != ""; got != effect {
			t.Errorf("then=%s: got effect %t, want %t", then, got, effect)
		}
		if list, n := desk.Never(); n != 1 || list[0].Actor != "alice" {
			t.Errorf("then=%s: got %v as never released, want that of alice", then, list)
		}
		if got := s.control("GET", "/held", "", 200); !strings.Contains(got, `"neverReleasedCount": 1`) {
			t.Errorf("then=%s: got %s", then, got)
		}
		s.control("POST", "/release", `{"ids":[1]}`, 404)
	}
}

// A held request stays held when its client is gone: it may still take effect, like a request in the network.
func TestHoldOfClientThatGoes(t *testing.T) {
	s, _ := startHolding(t, serveLimits)
	s.hold("hold op=PutItem")
	conn, _ := s.call("PutItem", "alice", putOf("late"))
	s.control("POST", "/held", `{"count":1}`, 200)
	conn.Close()
	for until := time.Now().Add(patience); !strings.Contains(s.control("GET", "/held", "", 200), `"gone": true`); {
		if time.Now().After(until) {
			t.Fatal("the end of the connection is not seen")
		}
	}
	s.control("POST", "/release", `{"ids":[1]}`, 200)
	if got := s.winner(); !strings.Contains(got, "late") {
		t.Errorf("got %q after the release, want the late row", got)
	}
}

// A connection serves further requests after one was held.
func TestHoldKeepsTheConnection(t *testing.T) {
	effort.NotShort(t)
	l := serveLimits
	l.header = 200 * time.Millisecond // shorter than the hold
	s, _ := startHolding(t, l)
	s.hold("hold op=PutItem")
	conn, r := s.call("PutItem", "alice", putOf("1"))
	s.control("POST", "/held", `{"count":1}`, 200)
	pause(t.Context(), 2*l.header)
	s.control("POST", "/release", `{"all":true}`, 200)
	if status := statusOf(t, r); status != 200 {
		t.Fatalf("got %d", status)
	}
	send(t, conn, head(len(putA))+putA)
	if status := statusOf(t, r); status != 200 {
		t.Errorf("the next request: got %d", status)
	}
}

func TestHoldAndRestore(t *testing.T) {
	s, desk := startHolding(t, serveLimits)
	s.control("POST", "/snapshot", `{"name":"empty"}`, 200)
	s.hold("hold op=PutItem")
	_, r := s.call("PutItem", "alice", putOf("1"))
	s.control("POST", "/held", `{"count":1}`, 200)
	s.control("POST", "/restore", `{"name":"empty"}`, 200)
	if _, err := r.ReadByte(); err == nil || s.winner() != "" {
		t.Errorf("a request held at a restore: got error %v and row %q, want a broken connection and none", err,
			s.winner())
	}
	if _, n := desk.Never(); n != 0 || len(desk.Held()) != 0 {
		t.Errorf("got %d never released and %d held, want none", n, len(desk.Held()))
	}
}

func TestHoldEndsWithTheServer(t *testing.T) {
	s, desk := startHolding(t, serveLimits)
	s.hold("hold op=PutItem")
	s.call("PutItem", "alice", putOf("1"))
	s.control("POST", "/held", `{"count":1}`, 200)
	s.stop()
	must.OK(t, <-s.ended)
	s.ended <- nil
	if _, n := desk.Never(); n != 1 || s.winner() != "" {
		t.Errorf("got %d never released and row %q, want 1 and none", n, s.winner())
	}
}

func TestHoldRefusesNonsense(t *testing.T) {
	s, _ := startHolding(t, serveLimits)
	s.hold("hold op=PutItem")
	s.call("PutItem", "alice", putOf("1"))
	s.control("POST", "/held", `{"count":1}`, 200)
	for _, test := range []struct {
		path, body string
		want       int
	}{
		{"/release", `{"ids":[7]}`, 404},
		{"/release", `{"ids":[1,1]}`, 404},
		{"/release", `{"ids":[1,7]}`, 404},
		{"/release", `{"ids":[]}`, 400},
		{"/release", `{"ids":["1"]}`, 400},
		{"/release", `{"ids":[99999999999999999999]}`, 400},
		{"/release", `{"ids":null}`, 400},
		{"/release", `{}`, 400},
		{"/release", `{"all":false}`, 400},
		{"/release", `{"all":true,"ids":[1]}`, 400},
		{"/release", `{"actor":"bob"}`, 404},
		{"/release", `{"actor":""}`, 400},
		{"/drop", `{"ids":[1]}`, 400},
		{"/drop", `{"ids":[1],"lose":"both"}`, 400},
		{"/held", `{"count":0}`, 400},
		{"/held", `{"count":1e9}`, 400},
		{"/held", `{"count":"1"}`, 400},
		{"/held", `{"count":1,"within":"-1s"}`, 400},
		{"/held", `{"count":1,"within":"99h"}`, 400},
		{"/held", `{"count":2,"within":"10ms"}`, 409},
		{"/held", `{"count":1,"actor":"bob","within":"10ms"}`, 409},
		{"/faults", `{"faults":["hold opp=PutItem"]}`, 400},
		{"/faults", `{"faults":["hold op=Put"]}`, 400},
		{"/faults", `{"faults":["hold for=0s"]}`, 400},
		{"/faults", `{"faults":["hold for=2h"]}`, 400},
		{"/faults", `{"faults":["hold then=wait"]}`, 400},
		{"/faults", `{"faults":["hold then=go then=go"]}`, 400},
		{"/faults", `{"faults":["hold key=\"a"]}`, 400},
		{"/faults", `{"faults":["hold","nonsense"]}`, 400},
	} {
		s.control("POST", test.path, test.body, test.want)
	}
	if got := s.control("GET", "/faults", "", 200); strings.Contains(got, "hold") {
		t.Errorf("a refused request has added a hold: %s", got)
	}
	s.control("POST", "/release", `{"ids":[1]}`, 200) // nothing above has decided it
	if s.winner() == "" {
		t.Error("the released put has no effect")
	}
}

// Held requests do not count as open connections: other clients connect beyond the limit.
func TestHoldManyConnections(t *testing.T) {
	l := serveLimits
	l.connections = 20
	s, _ := startHolding(t, l)
	s.hold("hold op=PutItem times=always")
	for i := range 200 {
		s.call("PutItem", fmt.Sprint("a", i), putOf("1"))
		if i%10 == 9 { // until it is held, a request counts
			s.control("POST", "/held", fmt.Sprintf(`{"count":%d,"within":"1m"}`, i+1), 200)
		}
	}
	_, r := s.call("Scan", "carol", `{"TableName":"cache"}`)
	if status := statusOf(t, r); status != 200 {
		t.Errorf("Scan: got %d", status)
	}
	s.control("POST", "/release", `{"all":true}`, 200)
}

func TestParseClock(t *testing.T) {
	for text, want := range map[string]string{"wall": "wall", "manual": "manual", "2040-01-01T00:00:00Z": "manual"} {
		if _, mode, err := ParseClock(text); mode != want || err != nil {
			t.Errorf("%s: got %q and %v, want %q", text, mode, err, want)
		}
	}
	if _, _, err := ParseClock("noon"); err == nil {
		t.Error("noon is a clock, want an error")
	}
}

// A manual clock moves forward when told to, and back only by Reset.
func TestManualClock(t *testing.T) {
	parsed, _, err := ParseClock("2040-01-01T01:00:00+01:00")
	must.OK(t, err)
	clock := parsed.(control.Resetter)
	want := func(what string, at time.Time) {
		t.Helper()
		if got := clock.Now(); got != at {
			t.Errorf("%s: got %v, want %v", what, got, at)
		}
	}
	want("start", fakeclock.Epoch)
	clock.Advance(time.Minute)
	clock.Advance(-time.Hour)
	want("advanced", fakeclock.Epoch.Add(time.Minute))
	clock.AdvanceTo(fakeclock.Epoch)
	want("set to the past", fakeclock.Epoch.Add(time.Minute))
	clock.AdvanceTo(fakeclock.Epoch.Add(time.Hour))
	want("set ahead", fakeclock.Epoch.Add(time.Hour))
	clock.Reset(fakeclock.Epoch.Add(time.Second))
	want("reset", fakeclock.Epoch.Add(time.Second))
	if _, resets := control.Clock(newWallClock()).(control.Resetter); resets {
		t.Error("a wall clock can be reset")
	}
}
