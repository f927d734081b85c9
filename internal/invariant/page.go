package invariant

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/isr-sim/isr-sim/internal/base/storeop"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
)

// page is the state of one key: the page that is visible, and the lease.
type page struct {
	name  string // "" is none
	ttl   int64
	token string // "" is no lease
	// The lease ends at some second from earliest to latest. The two differ after an operation in doubt.
	earliest, latest int64
	// since is the end of the last lease that was found expired. No later operation was answered before it.
	since int64
}

func (p page) String() string {
	text := "no page"
	if p.name != "" {
		text = p.name
	}
	if p.token == "" {
		return text + ", free"
	}
	return fmt.Sprintf("%s, leased to %s until %d", text, p.token, p.latest)
}

// released returns the page after its lease was given back.
func (p page) released() page {
	p.token, p.earliest, p.latest = "", 0, 0
	return p
}

// pageModel is the behaviour of one page with one lease.
func pageModel(skew time.Duration) porcupine.Model {
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{page{}} },
		Step: func(state, input, _ any) []any {
			p, _ := state.(page)
			o, _ := input.(storeop.Operation)
			next, n := p.after(&o, skew)
			all := make([]any, n)
			for i := range all {
				all[i] = next[i]
			}
			return all
		},
		DescribeOperation: func(input, _ any) string {
			o, _ := input.(storeop.Operation)
			return recorder.Describe(o, func(second int64) string { return strconv.FormatInt(second, 10) })
		},
		DescribeState: func(state any) string { return fmt.Sprint(state) },
	}
	return model.ToModel()
}

// covers reports whether p explains everything that q explains.
func (p page) covers(q page) bool {
	return p.name == q.name && p.ttl == q.ttl && p.token == q.token &&
		p.earliest <= q.earliest && p.latest >= q.latest && p.since <= q.since
}

// concerns reports whether it matters that an optional write takes effect now. A write that found another node's lease
// expired makes nothing possible that was not possible without it.
func (p page) concerns(o *storeop.Operation) bool {
	return o.Verb == storeop.Refresh || p.token == o.Token
}

// after returns the possible pages after the operation: the first n of next. If n is 0, this answer to the operation is
// not possible. If the operation may have had no effect, next[0] is the unchanged page.
func (p page) after(o *storeop.Operation, skew time.Duration) (next [2]page, n int) {
	if o.Verb == storeop.Read {
		if read, possible := p.read(o, skew); possible {
			next[0], n = read, 1
		}
		return next, n
	}
	if o.Result != storeop.Done {
		next[0], n = p, 1
	}
	if changed, possible := p.effect(o, skew); possible {
		next[n] = changed
		n++
	}
	return next, n
}

// read returns the page after a read, or false if the read found another page. If it found none, TTL may have deleted
// the page, or it may count as gone by the reader's clock.
func (p page) read(o *storeop.Operation, skew time.Duration) (page, bool) {
	switch {
	case o.Ended.Add(skew).Unix() < p.since:
		return p, false
	case o.Result == storeop.Done:
		return p, p.name == o.Page
	case o.Result == storeop.Refused && (p.name == "" || p.ttl != 0 && p.ttl <= o.Ended.Add(skew).Unix()):
		if p.ttl <= o.Began.Add(-skew).Unix() { // otherwise a reader whose clock is behind may still find it
			p.name, p.ttl = "", 0
		}
		return p, true
	default:
		return p, false
	}
}

// effect returns the page after a write that took effect, or false if it cannot have taken effect.
func (p page) effect(o *storeop.Operation, skew time.Duration) (page, bool) {
	ended := o.Ended
	if o.Return == 0 || o.Result == storeop.InDoubt {
		ended = endOfTime
	}
	begins, ends := o.Began.Add(-skew).Unix(), ended.Add(skew).Unix()
	if ends < p.since {
		return p, false
	}
	if o.Verb == storeop.Publish {
		own := p.token == o.Token
		p.name, p.ttl = o.Page, o.TTL
		return p.released(), own
	}
	// An operation on a lease that has ended changes nothing. The sender of an unsuccessful acquire knows neither token
	// nor end.
	nobodys := o.Verb == storeop.Acquire && o.Result != storeop.Done
	takes := true
	if p.token != "" && (p.token != o.Token || nobodys) {
		takes = p.earliest <= ends
		p.since = max(p.since, p.earliest)
	}
	switch {
	case o.Verb == storeop.Release:
		return p.released(), takes
	case nobodys:
		p.token, p.earliest, p.latest = fmt.Sprintf("a lease of %s", o.Actor), begins, math.MaxInt64
	case o.Result != storeop.Done: // a refresh
		p.token, p.latest = o.Token, math.MaxInt64
	default:
		p.token, p.earliest, p.latest = o.Token, o.Expires, o.Expires
	}
	return p, takes
}

// endOfTime is later than any operation.
var endOfTime = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
