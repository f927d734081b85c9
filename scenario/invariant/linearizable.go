package invariant

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/isr-sim/isr-sim/scenario/history"
)

// Linearizable holds that what the nodes were told has an explanation: an order
// of all operations on a key, each between its call and its answer, in which a
// single page with a single lease would have given the same answers. An operation
// without an answer, or with one that says nothing, may have taken effect at any
// time since, or never.
//
// Time is part of what is checked: a lease is over for those who take it only
// when its end has come, and not over for those who publish under it, give or
// take e. A refusal needs no reason, and does not say that nothing happened: a
// request that meets a transaction is refused, and one that is sent again may meet
// its own success.
//
// The other invariants read the log of the store; this one reads what the nodes
// saw of it. An eventually consistent read is seen nowhere else.
//
// Source: Herlihy, Wing: Linearizability: a correctness condition for concurrent objects (TOPLAS 1990); the checker is
// porcupine, after Lowe: Testing for linearizability (2017).
func Linearizable() Invariant {
	return Invariant{
		Name: "linearizable",
		Statement: "the answers to all operations on a key are those of one page and one lease, each operation at one moment " +
			"between its call and its answer",
		Check: checkLinearizable,
	}
}

func checkLinearizable(ev Evidence) Finding {
	for _, key := range keysOf(ev.Operations) {
		if explained(ev.Operations, key, ev.MaxClockSkew) {
			continue
		}
		operations := onKey(ev.Operations, key)
		if !porcupine.CheckOperations(pageModel(ev.MaxClockSkew), porcupineOperations(operations)) {
			culprit := firstUnexplained(operations, ev.MaxClockSkew)
			return Finding{
				Verdict: Violated,
				Why: fmt.Sprintf("what %s was told when it called %s for %s has no explanation in any order of the operations before it",
					culprit.Actor, culprit.Verb, key),
				Operations: leadingTo(ev.Operations, culprit),
			}
		}
	}
	return ok()
}

// Visualize writes a page of HTML that shows the operations on every key, and the
// longest orders found that explain them.
func Visualize(ev Evidence, w io.Writer) error {
	model := pageModel(ev.MaxClockSkew)
	model.Partition = func(all []porcupine.Operation) [][]porcupine.Operation {
		var parts [][]porcupine.Operation
		for _, key := range keysOf(ev.Operations) {
			parts = append(parts, slices.DeleteFunc(slices.Clone(all), func(o porcupine.Operation) bool {
				operation, is := o.Input.(history.Operation)
				return !is || operation.Key != key
			}))
		}
		return parts
	}
	_, info := porcupine.CheckOperationsVerbose(model, porcupineOperations(ev.Operations), 0)
	return porcupine.Visualize(model, info, w)
}

// firstUnexplained returns the operation whose answer is the first that cannot be
// explained by those before it.
func firstUnexplained(operations []history.Operation, skew time.Duration) history.Operation {
	answered := slices.DeleteFunc(slices.Clone(operations), func(o history.Operation) bool { return o.Return == 0 })
	slices.SortFunc(answered, func(a, b history.Operation) int { return a.Return - b.Return })
	for _, last := range answered {
		// What had not been answered then is in doubt, and what had not been called does not count.
		var then []history.Operation
		for _, o := range operations {
			if o.Return == 0 || o.Return > last.Return {
				o.Return, o.Result = 0, history.InDoubt
			}
			if o.Call < last.Return {
				then = append(then, o)
			}
		}
		if !porcupine.CheckOperations(pageModel(skew), porcupineOperations(then)) {
			return last
		}
	}
	return answered[len(answered)-1]
}

// leadingTo returns the places, from 1, of the operations on the same key that did something and ended before the given one, and
// of the given one.
func leadingTo(all []history.Operation, o history.Operation) []int {
	var places []int
	for i, other := range all {
		effective := other.Result == history.Done && other.Verb != history.Read || other.Result == history.InDoubt
		if other.Key == o.Key && (other.Call == o.Call || effective && other.Call < o.Return) {
			places = append(places, i+1)
		}
	}
	if extra := len(places) - longestStory; extra > 0 {
		places = slices.Delete(places, 0, extra)
	}
	return places
}

func keysOf(operations []history.Operation) []string {
	var keys []string
	for _, o := range operations {
		if !slices.Contains(keys, o.Key) {
			keys = append(keys, o.Key)
		}
	}
	return keys
}

func onKey(operations []history.Operation, key string) []history.Operation {
	var some []history.Operation
	for _, o := range operations {
		if o.Key == key {
			some = append(some, o)
		}
	}
	return some
}

// porcupineOperations puts the operations into porcupine's words.
func porcupineOperations(operations []history.Operation) []porcupine.Operation {
	all := make([]porcupine.Operation, 0, len(operations))
	var actors []string
	for _, o := range operations {
		client := slices.Index(actors, o.Actor)
		if client < 0 {
			client = len(actors)
			actors = append(actors, o.Actor)
		}
		op := porcupine.Operation{ClientId: client, Input: o, Call: int64(o.Call), Return: int64(o.Return), Output: o.Result}
		if o.Return == 0 || o.Result == history.InDoubt {
			if o.Verb == history.Read {
				continue
			}
			op.Return = math.MaxInt64
		}
		all = append(all, op)
	}
	return all
}

// page is the state of one key: the page that is visible, and the lease.
type page struct {
	name  string // "" is none
	ttl   int64
	token string // "" is no lease
	// The lease is over at some second from earliest to latest; they differ after an operation in doubt.
	earliest, latest int64
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

// released is the page with its lease given back.
func (p page) released() page {
	p.token, p.earliest, p.latest = "", 0, 0
	return p
}

// pageModel is how one page with one lease behaves.
func pageModel(skew time.Duration) porcupine.Model {
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{page{}} },
		Step: func(state, input, _ any) []any {
			p, _ := state.(page)
			o, _ := input.(history.Operation)
			next, n := p.after(&o, skew)
			all := make([]any, n)
			for i := range all {
				all[i] = next[i]
			}
			return all
		},
		DescribeOperation: func(input, _ any) string { return fmt.Sprint(input) },
		DescribeState:     func(state any) string { return fmt.Sprint(state) },
	}
	return model.ToModel()
}

// after returns what the page can be after the operation: of next, the first n,
// none if it cannot have been answered so. Of an operation that may have had no
// effect, the page as it was is the first.
func (p page) after(o *history.Operation, skew time.Duration) (next [2]page, n int) {
	if o.Verb == history.Read {
		if read, possible := p.read(o, skew); possible {
			next[0], n = read, 1
		}
		return next, n
	}
	if o.Result != history.Done {
		next[0], n = p, 1
	}
	if changed, possible := p.effect(o, skew); possible {
		next[n] = changed
		n++
	}
	return next, n
}

// read returns the page as it is, false if it is not what was read. One that was
// not found may have been deleted by TTL, or count as gone by the reader's clock.
func (p page) read(o *history.Operation, skew time.Duration) (page, bool) {
	switch {
	case o.Result == history.Done:
		return p, p.name == o.Page
	case o.Result == history.Refused && (p.name == "" || p.ttl != 0 && p.ttl <= o.Ended.Add(skew).Unix()):
		if p.ttl <= o.Began.Add(-skew).Unix() { // else a clock that is behind may still find it
			p.name, p.ttl = "", 0
		}
		return p, true
	default:
		return p, false
	}
}

// effect returns the page after a write that took effect, false if it could not.
func (p page) effect(o *history.Operation, skew time.Duration) (page, bool) {
	ended := o.Ended
	if o.Return == 0 || o.Result == history.InDoubt {
		ended = endOfTime
	}
	begins, ends := o.Began.Add(-skew).Unix(), ended.Add(skew).Unix()
	// Who takes, extends or gives back what is nobody's by now does no harm.
	takes := p.token == "" || p.token == o.Token || p.earliest <= ends
	switch o.Verb {
	case history.Acquire:
		p.token, p.earliest, p.latest = o.Token, o.Expires, o.Expires
		if o.Result != history.Done { // its sender has neither heard of a token nor of an end
			p.token, p.earliest, p.latest = fmt.Sprintf("a lease of %s", o.Actor), begins, math.MaxInt64
		}
		return p, takes
	case history.Refresh:
		if o.Result != history.Done {
			p.token, p.latest = o.Token, math.MaxInt64
		} else {
			p.token, p.earliest, p.latest = o.Token, o.Expires, o.Expires
		}
		return p, takes
	case history.Publish:
		own := p.token == o.Token && p.latest > begins
		p.name, p.ttl = o.Page, o.TTL
		return p.released(), own
	default:
		return p.released(), takes
	}
}

// endOfTime is later than any operation.
var endOfTime = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
