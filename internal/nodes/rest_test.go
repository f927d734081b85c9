package nodes

import (
	"io"
	"net"
	"net/http"
	"slices"
	"testing"

	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// A program is at rest if its latest line quiet names exactly the requests that have arrived and are not answered, and
// it waits for one of them or for its timer.
func TestAtRest(t *testing.T) {
	const timer = 7
	for _, test := range []struct {
		name          string
		quiet         *said
		arrived, open []int
		want          bool
	}{
		{"it has not said a word", nil, []int{1}, nil, false},
		{"all have come", &said{Requests: []int{2, 1}}, []int{1, 2}, nil, true},
		{"all have come, some before", &said{Requests: []int{1, 2, 3}}, []int{3}, []int{1, 2}, true},
		{"one is under way", &said{Requests: []int{1, 2}}, []int{1}, nil, false},
		{"one came after the word", &said{Requests: []int{1}}, []int{1, 2}, nil, false},
		{"another one is under way, and one came after the word", &said{Requests: []int{1, 9}}, []int{1, 2}, nil,
			false},
		{"one is answered, which the word does not know", &said{Requests: []int{1, 9}}, []int{1}, []int{2}, false},
		{"it waits for its timer", &said{Timer: timer}, nil, nil, true},
		{"it waits for its timer and a request", &said{Requests: []int{1}, Timer: timer}, []int{1}, nil, true},
		{"it waits for its timer, and a request came after the word", &said{Timer: timer}, []int{1}, nil, false},
		{"it waits for nothing", &said{}, nil, nil, false},
	} {
		e := &reader{quiet: test.quiet}
		for _, number := range append(test.open, test.arrived...) {
			e.waits = append(e.waits, &arrival{number: number})
		}
		if got := e.atRest(); got != test.want {
			t.Errorf("%s: at rest %v, want %v", test.name, got, test.want)
		}
	}
}

// A history is replayed in one go if all requests in it were lines, including the last one, which has no answer yet.
func TestWhatIsToldInOneGo(t *testing.T) {
	last := &arrival{place: 2, number: 2}
	l := &incarnation{moved: []moment{
		{inputs: []input{{line: &toldLine{Type: "command"}}}, did: output{asked: []*arrival{{place: 1, number: 1}}}},
		{inputs: []input{{place: 1, to: &answer{status: 200}}}, did: output{asked: []*arrival{last}}},
	}}
	if lines, ok := l.lines(); !ok || len(lines) != 2 || lines[1].Type != "answer" {
		t.Errorf("got %+v, %v", lines, ok)
	}
	last.answer = make(chan *answer) // the request came over HTTP
	if _, ok := l.lines(); ok {
		t.Error("a request by HTTP may overtake the lines")
	}
}

// TestNumberCall: two processes replaying one history draw different invocation ids, so retries are numbered by the
// first attempt.
func TestNumberCall(t *testing.T) {
	numbers := func(ids ...string) (all []string) {
		var e reader
		for _, id := range ids { // each request comes alone
			a := &arrival{header: http.Header{}}
			if id != "" {
				a.header.Set(headerInvocation, id)
			}
			for _, a := range e.placed(output{asked: []*arrival{a}}, nil).asked {
				all = append(all, a.header.Get(headerInvocation))
			}
		}
		return all
	}
	if got, want := numbers("f00", "", "ba5", "f00"), numbers("c0d", "", "0dd", "c0d"); !slices.Equal(got, want) ||
		got[0] != got[3] || got[0] == got[2] || got[1] != "" {
		t.Errorf("got %q and %q, want the same twice, where the fourth is an attempt of the first call, and the "+
			"second of none", got, want)
	}
}

// TestNameToken: a transaction keeps the token drawn by the first process when another process, which draws its own,
// retries it. Tokens that the program set, and tokens of transactions that only one process sent, do not change.
func TestNameToken(t *testing.T) {
	asks := func(token string) *arrival {
		return &arrival{body: []byte(`{"Item": {"ClientRequestToken": {"S": "b"}}, "ClientRequestToken" :"` + token +
			`", "Last": 1}`)}
	}
	var first, second reader
	was := first.placed(output{asked: []*arrival{asks("a1"), asks("given")}}, nil)
	second.placed(output{asked: []*arrival{asks("b1"), asks("given")}}, &was)
	for token, want := range map[string]string{"b1": "a1", "given": "given", "b2": "b2"} {
		if got := second.placed(output{asked: []*arrival{asks(token)}}, nil).
			asked[0]; string(got.body) != string(asks(want).body) {
			t.Errorf("got %s, want the token %s", got.body, want)
		}
	}
}

// TestHalfClosed: a program that closes its half of a connection has dropped its request, and does not learn of its
// effect.
func TestHalfClosed(t *testing.T) {
	p := &process{program: &Program{}, events: make(chan event, 2), gone: make(chan struct{}),
		connections: map[net.Conn]connection{}}
	var err error
	p.listener, err = net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	p.serve()
	defer p.server.Close()
	c, err := net.Dial("tcp", p.listener.Addr().String())
	must.OK(t, err)
	must.Done(t)(io.WriteString(c, "PUT /_isr-sim/bodies/a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"))
	must.OK(t, c.(*net.TCPConn).CloseWrite())
	if got, _ := io.ReadAll(c); len(got) > 0 {
		t.Errorf("got %q, want a connection that is broken", got)
	}
}

// TestDeciding: headers that decide a request's effect at S3 are compared; random and dated headers of the SDK are not.
func TestDeciding(t *testing.T) {
	put := func(path string, headers ...string) *arrival {
		a := &arrival{method: http.MethodPut, path: path, header: http.Header{}}
		for i := 0; i < len(headers); i += 2 {
			a.header.Set(headers[i], headers[i+1])
		}
		return a
	}
	was := put("/bucket/key", "If-None-Match", "*", "X-Amz-Meta-Generation", "1", "X-Amz-Date", "20000101T000000Z")
	if same := put("/bucket/key", "x-amz-meta-generation", "1", "if-none-match", "*", "Amz-Sdk-Invocation-Id",
		"drawn"); was.asks(same) != 0 {
		t.Errorf("%q and %q differ", was.words(), same.words())
	}
	for _, other := range []*arrival{put("/bucket/key", "If-None-Match", "*"), put("/bucket/key", "If-Match", "e",
		"X-Amz-Meta-Generation", "1")} {
		if was.asks(other) == 0 || was.words() == other.words() {
			t.Errorf("%q and %q are the same", was.words(), other.words())
		}
	}
	if a, b := put(ours+"sleep", "Range", "1"), put(ours+"sleep"); a.asks(b) != 0 {
		t.Errorf("%q and %q differ", a.words(), b.words())
	}
}
