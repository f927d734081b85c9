package nodes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/isr-sim/isr-sim/internal/base/mistake"
	"github.com/isr-sim/isr-sim/internal/wire/httpdoor"
)

// headerTime is the header of every answer with the node's own time, in milliseconds since 1970.
const headerTime = "X-Isr-Sim-Time"

// headerNumber is the header with a request's number, from a program that says when it is quiet.
const headerNumber = "X-Isr-Sim-Request"

// headerAlone marks a request of a quiet program that has no other request under way.
const headerAlone = "X-Isr-Sim-Quiet"

// maxBody bounds the body of a request: more than DynamoDB takes.
const maxBody = 17 << 20

// arrival is a request of a program.
type arrival struct {
	method string
	path   string
	raw    string // the path as it was sent
	query  string
	header http.Header
	body   []byte
	answer chan *answer // without a channel the request was a line, and so is its answer
	number int          // its number, from a program that says when it is quiet; else 0
	alone  bool         // the program says that it waits for nothing else
	late   func()       // notes that a time limit for it is over; may be nil
	place  int          // in the order of its incarnation's requests, from 1
}

// answer is the answer to an arrival.
type answer struct {
	status int // 0 breaks the connection
	header http.Header
	body   []byte
	time   int64
}

// String names the request for people.
func (a *arrival) String() string {
	if target := a.header.Get("X-Amz-Target"); target != "" {
		return target[strings.LastIndexByte(target, '.')+1:]
	}
	return a.method + " " + a.path
}

// serve serves the process's requests until it is killed.
func (p *process) serve() {
	p.server = &http.Server{
		// the general handler of OPTIONS would answer with today's date
		Handler: http.HandlerFunc(p.arrive), DisableGeneralOptionsHandler: true,
		ConnState: func(c net.Conn, s http.ConnState) {
			p.mu.Lock()
			switch s {
			case http.StateClosed, http.StateHijacked:
				delete(p.connections, c)
			default:
				p.connections[c] = connection{p.incarnation, s == http.StateIdle}
			}
			many := len(p.connections) > maxConnections
			p.mu.Unlock()
			if many {
				_ = c.Close() // there is nothing to tell it
				p.fail(fmt.Sprintf("opened more than %d connections", maxConnections),
					"keep connections alive, and use them again")
			}
		},
	}
	go func() { _ = p.server.Serve(p.listener) }() // until the listener is closed
}

// arrive accepts a request, and answers it when the schedule says so.
func (p *process) arrive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			p.fail(fmt.Sprintf("sent a body of more than %d bytes", maxBody), "")
		}
		httpdoor.Drop(w)
		return
	}
	a := &arrival{method: r.Method, path: r.URL.Path, raw: r.URL.EscapedPath(), query: r.URL.RawQuery, header: r.Header,
		body: body, answer: make(chan *answer, 1)}
	a.number, _ = strconv.Atoi(r.Header.Get(headerNumber)) // 0 if there is none
	a.alone = r.Header.Get(headerAlone) != ""
	if !p.takeIn(a) {
		httpdoor.Drop(w)
		return
	}
	select {
	case to := <-a.answer:
		if to.status == 0 {
			httpdoor.Drop(w)
			return
		}
		to.headers(a.method, w.Header().Set)
		w.WriteHeader(to.status)
		_, _ = w.Write(to.body) // a program that has gone is noticed elsewhere
	case <-r.Context().Done(): // the program no longer waits for the answer, or its incarnation is over
		p.say(event{left: a})
		httpdoor.Drop(w) // the program may have closed only its half, and would get a 200
	case <-p.gone:
		httpdoor.Drop(w)
	}
}

// headers gives each header of the answer.
func (to *answer) headers(method string, set func(name, value string)) {
	for name, values := range to.header { //isrsim:unordered each header is set on its own
		set(name, strings.Join(values, ", "))
	}
	set(headerTime, strconv.FormatInt(to.time, 10))
	// If it were far from the node's clock, SDKs would correct their clocks, and send refused requests again.
	set("Date", time.UnixMilli(to.time).UTC().Format(http.TimeFormat))
	if method != http.MethodHead { // the header of a HEAD response has the length of a body that is not sent
		set("Content-Length", strconv.Itoa(len(to.body)))
	}
}

// takeIn accepts a request. It returns false if nobody will answer the request.
func (p *process) takeIn(a *arrival) bool {
	p.mu.Lock()
	var other *arrival
	if len(p.underWay) > 0 && !p.parallel() {
		other = p.underWay[0]
	} else {
		p.underWay = append(p.underWay, a)
	}
	p.mu.Unlock()
	if other != nil {
		p.fail(fmt.Sprintf("sent %s while its %s was under way", a, other),
			"await each request before the next one, or have the node's hello say that it can \"quiet\" or "+
				"\"parallel\"")
		return false
	}
	return p.say(event{arrival: a})
}

// takeInLine accepts a request in the form of a line, the note that the program has dropped one, or the note that it
// uses something real. It returns false for any other line.
func (p *process) takeInLine(line []byte) bool {
	var r request
	err := json.Unmarshal(line, &r)
	switch {
	case !slices.Contains([]string{"request", "left", "late", "real"}, r.Type):
		return false
	case err != nil:
		p.fail(fmt.Sprintf("printed %s on stdout: %v", excerpt(line), mistake.JSON(err)), "")
	case r.Type == "real":
		p.program.Uses(r.What)
	case r.Type == "left":
		if a := p.takenIn(r.Number); a != nil {
			p.say(event{left: a})
		}
	case r.Type == "late":
		if a := p.takenIn(r.Number); a != nil {
			p.say(event{late: a})
		}
	default:
		p.takeInRequest(r, line)
	}
	return true
}

// takenIn returns the request of a line that is under way; nil if it has been answered.
func (p *process) takenIn(number int) *arrival {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.underWay, func(a *arrival) bool { return a.answer == nil && a.number == number })
	if i < 0 {
		return nil
	}
	return p.underWay[i]
}

// takeInRequest accepts the request of a line.
func (p *process) takeInRequest(r request, line []byte) {
	target, err := url.ParseRequestURI(r.Target)
	if err != nil || r.Number <= 0 {
		p.fail(
			fmt.Sprintf("printed %s on stdout, expected a request with a number above 0 and a target such as \"/\"",
				excerpt(line)), "",
		)
		return
	}
	a := &arrival{method: r.Method, path: target.Path, raw: target.EscapedPath(), query: target.RawQuery,
		header: http.Header{}, body: append(r.Body, r.Text...), number: r.Number, alone: r.Quiet}
	if len(a.body) > maxBody {
		p.fail(fmt.Sprintf("sent a body of more than %d bytes", maxBody), "")
		return
	}
	for name, value := range r.Headers { //isrsim:unordered each header is set on its own
		a.header.Set(name, value)
	}
	p.takeIn(a)
}

// reply answers the request that is under way.
func (p *process) reply(a *arrival, to *answer) {
	p.leave(a)
	if a.answer != nil {
		a.answer <- to
		return
	}
	p.tell(a.line(to))
}

// line is the line that answers the request of a line.
func (a *arrival) line(to *answer) toldLine {
	line := toldLine{Type: "answer", Time: to.time, response: &response{Number: a.number, Status: to.status}}
	if to.status != 0 {
		line.Headers = map[string]string{}
		to.headers(a.method, func(name, value string) { line.Headers[strings.ToLower(name)] = value })
		if utf8.Valid(to.body) {
			line.Text = string(to.body)
		} else {
			line.Body = to.body
		}
	}
	return line
}

// leave notes that a request is no longer under way.
func (p *process) leave(a *arrival) {
	p.mu.Lock()
	p.underWay = slices.DeleteFunc(p.underWay, func(other *arrival) bool { return other == a })
	p.mu.Unlock()
}

// connection is the state of a program's connection.
type connection struct {
	incarnation int // the incarnation that used it last
	idle        bool
}

// closeUnused closes the connections that the last incarnation did not use: a cache that creates a client in each
// incarnation leaves old connections behind. A connection in use may belong to a surviving client. p.mu is held.
func (p *process) closeUnused() {
	for c, state := range p.connections { //isrsim:unordered each is closed on its own
		if state.idle && state.incarnation < p.incarnation {
			_ = c.Close() // no request is under way on it
		}
	}
}

// signer returns the access key and the region in an Authorization header, or "".
func signer(authorization string) (key, region string) {
	_, scope, _ := strings.Cut(authorization, "Credential=")
	parts := strings.Split(scope, "/")
	if len(parts) < 5 {
		return "", ""
	}
	return parts[0], parts[2]
}

// reader reads the request's body.
func (a *arrival) reader() io.Reader { return bytes.NewReader(a.body) }
