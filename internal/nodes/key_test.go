package nodes

import (
	"net/http"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/subject"
)

// TestKeyOf: histories that differ in any input have different keys.
func TestKeyOf(t *testing.T) {
	line := func(change func(*toldLine)) []input {
		all := toldLine{
			Type: "init", Time: 1, Timer: 2, initial: &initial{
				Actor: "alice", Tenant: "t", Table: "table", Seed: 3, Config: configuration{Lease: 4},
			},
			Line: &subject.Line{ID: 5, Verb: "get", Key: "/home", Request: "r", Inputs: "i"},
		}
		change(&all)
		return []input{{line: &all}}
	}
	to := func(change func(*input)) []input {
		all := input{place: 1, to: &answer{status: 200, header: http.Header{"A": {"b"}}, body: []byte("body"), time: 6}}
		change(&all)
		return []input{all}
	}
	first, second := to(func(*input) {}), to(func(in *input) { in.place = 2 })
	seen := map[inputKey]string{}
	for _, test := range []struct {
		name   string
		inputs []input
	}{
		{"nothing", nil},
		{"a line", line(func(*toldLine) {})},
		{"another type", line(func(l *toldLine) { l.Type = "wake" })},
		{"another time", line(func(l *toldLine) { l.Time++ })},
		{"another timer", line(func(l *toldLine) { l.Timer++ })},
		{"another actor", line(func(l *toldLine) { l.Actor = "bob" })},
		{"another tenant", line(func(l *toldLine) { l.Tenant = "u" })},
		{"another seed", line(func(l *toldLine) { l.Seed++ })},
		{"another configuration", line(func(l *toldLine) { l.Config.Lease++ })},
		{"another command", line(func(l *toldLine) { l.ID++ })},
		{"another verb", line(func(l *toldLine) { l.Verb = "invalidate" })},
		{"another key", line(func(l *toldLine) { l.Key = "/" })},
		{"another request", line(func(l *toldLine) { l.Request = "s" })},
		{"other inputs", line(func(l *toldLine) { l.Inputs = "j" })},
		{"an answer", first},
		{"an answer to another request", second},
		{"another status", to(func(in *input) { in.to.status = 500 })},
		{"another header", to(func(in *input) { in.to.header = http.Header{"A": {"c"}} })},
		{"no header", to(func(in *input) { in.to.header = nil })},
		{"another body", to(func(in *input) { in.to.body = []byte("bodz") })},
		{"an answer at another time", to(func(in *input) { in.to.time++ })},
		{"a lost answer", to(func(in *input) { in.to = &answer{time: 6} })},
		{"two answers", append(to(func(*input) {}), second...)},
		{"two answers in the other order", append(to(func(in *input) { in.place = 2 }), first...)},
	} {
		key := keyOf(test.inputs)
		if other, taken := seen[key]; taken {
			t.Errorf("%s and %s have one key", test.name, other)
		}
		seen[key] = test.name
		if keyOf(test.inputs) != key {
			t.Errorf("%s has two keys", test.name)
		}
	}
}

// TestDiffers: two outputs differ if any action of the program differs, except random draws and counts that continue
// from an earlier incarnation.
func TestDiffers(t *testing.T) {
	whole := func(change func(d *output)) output {
		d := output{
			line: &said{Type: "reply", ID: 1, Reply: subject.Reply{Body: "body", Fresh: true}}, left: []int{1},
			quiet: &said{Timer: 1, After: new(float64)},
			asked: []*arrival{{
				method: "POST", path: "/", query: "a=b", number: 7, header: http.Header{
					"X-Amz-Target": {"DynamoDB_20120810.TransactWriteItems"},
				},
				body: []byte(`{"ClientRequestToken": "random", "A": 1, "B": 12345678901234567890}`),
			}},
		}
		change(&d)
		return d
	}
	was := whole(func(*output) {})
	for name, change := range map[string]func(d *output){
		"the line":         func(d *output) { d.line.Body = "other" },
		"no line":          func(d *output) { d.line = nil },
		"what is left":     func(d *output) { d.left = nil },
		"what is late":     func(d *output) { d.late = []int{1} },
		"the timer":        func(d *output) { d.quiet.Timer = 2 },
		"its time":         func(d *output) { *d.quiet.After = 5 },
		"one more timer":   func(d *output) { d.quiet.Also = []int{2} },
		"no timer":         func(d *output) { d.quiet = nil },
		"the method":       func(d *output) { d.asked[0].method = "GET" },
		"the path":         func(d *output) { d.asked[0].path, d.asked[0].header = "/other", nil },
		"the query":        func(d *output) { d.asked[0].query = "" },
		"the operation":    func(d *output) { d.asked[0].header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem") },
		"a number's value": func(d *output) { d.asked[0].body = []byte(`{"A": 1, "B": 12345678901234567891}`) },
		"no request":       func(d *output) { d.asked = nil },
		"one request more": func(d *output) { d.asked = append(d.asked, d.asked[0]) },
	} {
		if was.differs(whole(change)) == nil {
			t.Errorf("%s: got no difference", name)
		}
	}
	var m memory // the output after a known history is compared, too
	root := m.first(DefaultMemory)
	if _, isNew, err := m.note(root, inputKey{1}, was); !isNew || err != nil {
		t.Errorf("the first deed: new %v, %v", isNew, err)
	}
	for i, then := range []output{was, whole(func(d *output) { d.late = []int{1} })} {
		next, isNew, err := m.note(root, inputKey{1}, then)
		if isNew || next != m.known(root, inputKey{1}) || (err != nil) != (i > 0) {
			t.Errorf("deed %d at a known past: new %v, %v", i, isNew, err)
		}
	}
	same := whole(func(d *output) {
		d.asked[0].number, d.asked[0].body = 8,
			[]byte(`{"B": 12345678901234567890, "A": 1, "ClientRequestToken": "other"}`)
	})
	if err := was.differs(same); err != nil {
		t.Errorf("a token, an order of members and a number of the process: got %v, want no difference", err)
	}
	stored := func(signature, content string) output {
		sum := strings.Repeat(signature, 64)
		return output{asked: []*arrival{{
			method: "PUT", path: "/bodies/a",
			query:  "x-id=PutObject&X-Amz-Date=" + signature + "&X-Amz-Expires=900&X-Amz-Signature=" + sum,
			header: http.Header{"X-Amz-Content-Sha256": {"STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"}},
			body: []byte("4;chunk-signature=" + sum + "\r\n" + content + "\r\n0;chunk-signature=" + sum +
				"\r\nx-amz-checksum-crc32:AAAAAA==\r\n" +
				"x-amz-trailer-signature:" + sum + "\r\n\r\n"),
		}}}
	}
	if err := stored("a", "page").differs(stored("b", "page")); err != nil {
		t.Errorf("the signatures of a later time: got %v, want no difference", err)
	}
	if stored("a", "page").differs(stored("a", "pane")) == nil {
		t.Error("another page: got no difference")
	}
}
