package nodes

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// output is everything that a program does after its inputs, until it waits again.
type output struct {
	line   *said      // its answer; nil if it waits
	asked  []*arrival // its new requests, in the order of their contents
	left   []int      // the requests for which it no longer waits, by their places
	late   []int      // the requests under way for which its time limit is over, by their places
	quiet  *said      // its line quiet, if it sends one: only the timer, by its place
	timers []int      // the numbers of the timers that it names for the first time, in the order of their places

	early []*arrival // left requests that have no place yet
}

// reader reads the output of a process.
type reader struct {
	p     *process
	waits []*arrival // the requests that the program waits for
	count int        // requests so far
	quiet *said      // the program's line quiet since its last input
	// timers are the numbers that the program gave its timers, by their places. A process may continue the numbers of
	// its previous incarnation.
	timers []int
	queued bool // the process already has all lines: see canQueue
	// calls are the invocation ids that the program's SDK has drawn, in the order of the places of their first
	// requests.
	calls []string
	// tokens maps the transaction tokens of this process to those that an earlier process drew for the same requests.
	tokens map[string][]byte
}

// tell passes a line on.
func (e *reader) tell(t toldLine) {
	if e.quiet = nil; e.queued {
		return
	}
	if t.Timer > 0 {
		t.Timer = e.timers[t.Timer-1]
	}
	e.p.tell(t)
}

// reply passes the answer on to a request of the given place.
func (e *reader) reply(place int, to *answer) {
	i := slices.IndexFunc(e.waits, func(a *arrival) bool { return a.place == place })
	if i < 0 {
		return // the program waits for it no longer
	}
	e.quiet = nil
	if e.queued {
		e.p.leave(e.waits[i])
	} else {
		e.p.reply(e.waits[i], to)
	}
	e.waits = slices.Delete(e.waits, i, i+1)
}

// listen waits until the program answers with a line, or waits only for its requests and its timer. want, if not nil,
// is the earlier output after the same history: a program that does not say when it is quiet is at rest once it has
// produced as much.
func (e *reader) listen(at string, want *output) (d output, err error) {
	says := slices.Contains(e.p.can, canQuiet)
	for !e.rests(says, &d, want) {
		heard, err := e.hear(at, !says && len(e.waits) > 0)
		if err != nil {
			return d, err
		}
		switch {
		case heard.left != nil:
			e.leave(&d, heard.left)
		case heard.late != nil:
			d.late = append(d.late, heard.late.place)
		case heard.arrival != nil:
			a := heard.arrival
			if says && a.number == 0 {
				return d, e.p.wrong(at,
					fmt.Sprintf("sent %s without the header %s, though its hello says that it can %q", a,
						headerNumber, canQuiet), "")
			}
			d.asked, e.waits = append(d.asked, a), append(e.waits, a)
			if a.alone {
				e.quiet = &said{Requests: []int{a.number}}
			}
		case heard.line == nil: // nothing came
			return e.placed(d, want), nil
		default:
			s, err := parseLine(heard.line)
			if err != nil {
				return d, e.p.wrong(at, err.Error(), "the program's own messages go to stderr")
			}
			if says && s.Type == "quiet" {
				e.quiet = &s
				continue
			}
			d.line = &s
			err = e.over(at, &d)
			return e.placed(d, want), err
		}
	}
	if e.quiet != nil && e.quiet.Timer != 0 {
		known := len(e.timers)
		d.quiet = &said{Timer: e.placeOf(e.quiet.Timer), After: e.quiet.After}
		for _, number := range e.quiet.Also {
			d.quiet.Also = append(d.quiet.Also, e.placeOf(number))
		}
		d.timers = slices.Clone(e.timers[known:])
	}
	return e.placed(d, want), nil
}

// placeOf returns the place of a timer, from 1.
func (e *reader) placeOf(timer int) int {
	i := slices.Index(e.timers, timer)
	if i < 0 {
		i, e.timers = len(e.timers), append(e.timers, timer)
	}
	return i + 1
}

// rests reports whether the program will do nothing more until its next input.
func (e *reader) rests(says bool, d, want *output) bool {
	switch {
	case says:
		return e.atRest()
	case !e.p.parallel():
		return len(d.asked) > 0
	default:
		return want != nil && want.line == nil && len(d.asked) == len(want.asked)
	}
}

// placed gives the new requests their order and their places. want is as in listen.
func (e *reader) placed(d output, want *output) output {
	slices.SortStableFunc(d.asked, compare)
	want = cmp.Or(want, &output{})
	for i, a := range d.asked {
		e.count++
		a.place = e.count
		e.numberCall(a)
		e.nameToken(a, at(want.asked, i))
	}
	for _, a := range d.early {
		d.left = append(d.left, a.place)
	}
	d.early = nil
	slices.Sort(d.left)
	slices.Sort(d.late)
	return d
}

// headerInvocation says which call a request belongs to: its attempts share the value.
const headerInvocation = "Amz-Sdk-Invocation-Id"

// numberCall replaces the random invocation id of a request by the number of the call: an incarnation may move to
// another process between two attempts.
func (e *reader) numberCall(a *arrival) {
	id := a.header.Get(headerInvocation)
	if id == "" {
		return
	}
	i := slices.Index(e.calls, id)
	if i < 0 {
		i, e.calls = len(e.calls), append(e.calls, id)
	}
	a.header.Set(headerInvocation, strconv.Itoa(i+1))
}

// requestToken is the token of a transaction. An attribute of that name has no text after it.
var requestToken = regexp.MustCompile(`"ClientRequestToken"\s*:\s*"([^"\\]+)"`)

// nameToken gives all attempts of a transaction the same token. Each process draws its own tokens. If another process
// made the first attempt, the parameter was, the token of that attempt is kept.
func (e *reader) nameToken(a, was *arrival) {
	at := requestToken.FindSubmatchIndex(a.body)
	if at == nil {
		return
	}
	own := string(a.body[at[2]:at[3]])
	if was != nil {
		if e.tokens == nil {
			e.tokens = map[string][]byte{}
		}
		if first := requestToken.FindSubmatch(was.body); first != nil {
			e.tokens[own] = first[1]
		}
	}
	if first := e.tokens[own]; first != nil {
		a.body = slices.Concat(a.body[:at[2]], first, a.body[at[3]:])
	}
}

// leave notes that the program no longer waits for a request.
func (e *reader) leave(d *output, a *arrival) {
	i := slices.Index(e.waits, a)
	if i < 0 {
		return // it has been answered
	}
	e.waits = slices.Delete(e.waits, i, i+1)
	e.p.leave(a)
	if a.place == 0 {
		d.early = append(d.early, a)
		return
	}
	d.left = append(d.left, a.place)
}

// over waits for the requests that the program has dropped: a closed connection may be noticed later than the program's
// line.
func (e *reader) over(at string, d *output) error {
	noticed := newDeadline(defaultSettle)
	defer noticed.stop()
	for len(e.waits) > 0 {
		heard, err := e.p.nextWithin(at, noticed.over())
		if err != nil {
			return err
		}
		if heard.left == nil {
			break
		}
		e.leave(d, heard.left)
	}
	if len(e.waits) > 0 {
		return e.p.wrong(at,
			fmt.Sprintf("printed a line of type %q while its %s was under way", d.line.Type, e.waits[0]),
			"a node has done its work when it replies: await all requests before")
	}
	return nil
}

// hear waits for the program's next event, or, if the program may settle, for silence.
func (e *reader) hear(at string, maySettle bool) (event, error) {
	var settled <-chan time.Time
	if maySettle {
		rest := newDeadline(cmp.Or(e.p.program.Settle, defaultSettle))
		defer rest.stop()
		settled = rest.over()
	}
	return e.p.nextWithin(at, settled)
}

// atRest reports whether the program waits only for the requests that have arrived, and for its timer.
func (e *reader) atRest() bool {
	if e.quiet == nil || len(e.quiet.Requests) != len(e.waits) || len(e.quiet.Requests) == 0 && e.quiet.Timer == 0 {
		return false
	}
	for _, a := range e.waits {
		if !slices.Contains(e.quiet.Requests, a.number) {
			return false
		}
	}
	return true
}

// The signatures of a request to S3, in a presigned URL and between the chunks of a body, follow from the time and the
// rest of the request.
var (
	signed       = regexp.MustCompile(`(^|&)X-Amz-(Credential|Date|Security-Token|Signature)=[^&]*`)
	signedChunks = regexp.MustCompile(`;chunk-signature=[0-9a-f]{64}\r\n|x-amz-trailer-signature:[0-9a-f]{64}\r\n`)
)

// content is the body of a request, without signatures. A body in JSON is returned without the order of its members,
// and without the token that SDKs draw at random for a transaction.
func (a *arrival) content() string {
	if strings.HasPrefix(a.header.Get("X-Amz-Content-Sha256"), "STREAMING-AWS4-") {
		return string(signedChunks.ReplaceAll(a.body, []byte("\r\n")))
	}
	var members map[string]any
	if len(a.body) == 0 || a.header.Get("X-Amz-Target") == "" {
		return string(a.body)
	}
	d := json.NewDecoder(bytes.NewReader(a.body))
	d.UseNumber()
	if d.Decode(&members) != nil || d.More() {
		return string(a.body)
	}
	delete(members, "ClientRequestToken")
	sorted, err := json.Marshal(members)
	if err != nil {
		return string(a.body)
	}
	return string(sorted)
}

// deciding are the headers of a request to S3 that decide its effect.
func (a *arrival) deciding() string {
	if a.header.Get("X-Amz-Target") != "" || strings.HasPrefix(a.path, ours) {
		return ""
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(a.header)) {
		if name == "Range" || strings.HasPrefix(name, "If-") || strings.HasPrefix(name, "X-Amz-Meta-") ||
			strings.HasPrefix(name, "X-Amz-Copy-Source") {
			all = append(all, name+": "+strings.Join(a.header[name], ", "))
		}
	}
	return strings.Join(all, ", ")
}

// params is the query of a request, without its signature.
func (a *arrival) params() string {
	if !strings.Contains(a.query, "X-Amz-Signature=") {
		return a.query
	}
	return signed.ReplaceAllString(a.query, "")
}

// compare orders requests that are under way at the same time by their contents. Equal ones come in the order in which
// the program numbered them, if it did.
func compare(a, b *arrival) int { return cmp.Or(a.asks(b), cmp.Compare(a.number, b.number)) }

// asks compares the contents of two requests; 0 means that they are equal.
func (a *arrival) asks(b *arrival) int {
	c := cmp.Or(cmp.Compare(a.String(), b.String()), cmp.Compare(a.params(), b.params()),
		cmp.Compare(a.deciding(), b.deciding()))
	if c != 0 || bytes.Equal(a.body, b.body) {
		return c
	}
	return cmp.Compare(a.content(), b.content())
}
