package invariant

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"github.com/isr-sim/isr-sim/internal/base/storeop"
)

// linearizable holds that the answers that nodes got can be explained. An explanation is an order of all operations on
// a key in which a single page with a single lease would have given the same answers; each operation has its place
// between its call and its answer. An operation without an answer, or with an answer that leaves the outcome open, may
// have taken effect at any time since its call, or never.
//
// Time is part of the check: an acquire finds the lease over only after its end, within e. A publish needs its own
// token, whose lease may be over: see expiredPublish. A refusal needs no reason, and does not prove that nothing
// happened: a request that conflicts with a transaction is refused, and so is one that is sent again after it
// succeeded.
//
// The other invariants read the log of the store; this one reads the operations as the nodes saw them. Only this
// invariant sees eventually consistent reads.
//
// The search for the order is bounded. If it ends at the bound, the verdict is unknown, and the finding names the
// operations that were under way.
//
// Source: Herlihy, Wing: Linearizability: a correctness condition for concurrent objects (TOPLAS 1990).
var linearizable = Invariant{
	Name: "linearizable",
	Statement: "all answers about a key are those of one page and one lease, each operation taking effect once " +
		"between its call and its answer",
	Check: func(ev Evidence) Finding { return checkLinearizable(ev, maxWork) },
}

func checkLinearizable(ev Evidence, work int) Finding {
	found, operations := ok(), ev.Operations
	for _, key := range keysOf(operations) {
		at, open, end := explain(operations, key, ev.MaxClockSkew, work)
		switch {
		case at == nil:
		case end == complete:
			return Finding{
				Verdict: Violated,
				Why: fmt.Sprintf("what %s was told when it called %s for %s has no explanation in any order of the "+
					"operations before it",
					at.Actor, at.Verb, key),
				Operations: leadingTo(operations, *at),
			}
		default:
			found = found.or(givenUp(operations, at, open, end, work))
		}
	}
	return found
}

// givenUp is the finding of a search that reached its bound at an operation. The operations in open were under way
// then.
func givenUp(all []storeop.Operation, at *storeop.Operation, open []*storeop.Operation, end ended, work int) Finding {
	f := unknown("no order was found in %d steps that explains what %s was told when it called %s for %s", work,
		at.Actor, at.Verb, at.Key)
	if end == outOfPlaces {
		f = unknown("more than %d operations on %s were under way when %s called %s", maxOpen, at.Key, at.Actor,
			at.Verb)
	}
	var names []string
	for i := range all {
		if o := &all[i]; o != at && slices.Contains(open, o) {
			names = append(names, fmt.Sprintf("%s of %s", o.Verb, o.Actor))
			f.Operations = append(f.Operations, i+1)
		}
	}
	if extra := len(names) - longestStory; extra > 0 {
		f.Operations = f.Operations[extra:]
		names = append(names[extra:], fmt.Sprintf("%d more", extra))
	}
	if len(names) > 0 {
		f.Why += "; under way or in doubt with it: " + strings.Join(names, ", ")
	}
	f.Operations = append(f.Operations,
		1+slices.IndexFunc(all, func(o storeop.Operation) bool { return o.Call == at.Call }))
	return f
}

// Visualize writes a page of HTML that shows the operations on every key, and the longest orders found that explain
// them. The orders come from porcupine's search, which is bounded here. If the bound is too small, the page may show an
// operation as unexplained although an order explains it. The verdict comes from Linearizable alone.
//
// Source: https://github.com/anishathalye/porcupine
func (ev *Evidence) Visualize(w io.Writer) error {
	model, info := ev.orders()
	return porcupine.Visualize(model, info, w)
}

// Orders returns an order of operations for each key: the longest order found in which a single page with a single
// lease would have given their answers. An operation is named by its place in Evidence.Operations, from 1. Operations
// that are not part of the order are left out. Visualize makes the same search.
func (ev *Evidence) Orders() [][]int {
	places := map[int]int{} // by call
	for i, o := range ev.Operations {
		places[o.Call] = i + 1
	}
	_, info := ev.orders()
	var all [][]int
	for _, found := range info.PartialLinearizationsOperations() {
		var longest []porcupine.Operation
		for _, order := range found {
			if len(order) > len(longest) {
				longest = order
			}
		}
		var order []int
		for _, op := range longest {
			if o, ok := op.Input.(storeop.Operation); ok {
				order = append(order, places[o.Call])
			}
		}
		all = append(all, order)
	}
	return all
}

// orders searches for an order of the operations on each key.
func (ev *Evidence) orders() (porcupine.Model, porcupine.LinearizationInfo) {
	model := pageModel(ev.MaxClockSkew)
	keys := keysOf(ev.Operations)
	model.Partition = func(all []porcupine.Operation) [][]porcupine.Operation {
		var parts [][]porcupine.Operation
		for _, key := range keys {
			parts = append(parts, slices.DeleteFunc(slices.Clone(all), func(o porcupine.Operation) bool {
				operation, is := o.Input.(storeop.Operation)
				return !is || operation.Key != key
			}))
		}
		return parts
	}
	left := map[string]*int{} // each key has its own goroutine
	for _, key := range keys {
		steps := maxDrawn
		left[key] = &steps
	}
	bounded, step := model, model.Step
	bounded.StepContext = nil
	bounded.Step = func(state, input, output any) (bool, any) {
		o, _ := input.(storeop.Operation)
		steps := left[o.Key]
		if *steps--; *steps < 0 {
			return false, nil // with no steps left, the search ends
		}
		return step(state, input, output)
	}
	_, info := porcupine.CheckOperationsVerbose(bounded, porcupineOperations(ev.Operations), 0)
	return model, info
}

// maxDrawn bounds the steps of the search for the picture of one key.
const maxDrawn = 1 << 14

// leadingTo returns the places, from 1, of the operations that led to the given one, and of the given one as the last.
// These are the latest operations on the same key that had an effect and were called before the given one was answered.
func leadingTo(all []storeop.Operation, o storeop.Operation) []int {
	var places []int
	own := 0
	for i, other := range all {
		effective := other.Result == storeop.Done && other.Verb != storeop.Read || other.Result == storeop.InDoubt
		switch {
		case other.Call == o.Call:
			own = i + 1
		case other.Key == o.Key && effective && other.Call < o.Return:
			places = append(places, i+1)
		}
	}
	if extra := len(places) + 1 - longestStory; extra > 0 {
		places = slices.Delete(places, 0, extra)
	}
	return append(places, own)
}

func keysOf(operations []storeop.Operation) []string {
	var keys []string
	for _, o := range operations {
		if !slices.Contains(keys, o.Key) {
			keys = append(keys, o.Key)
		}
	}
	return keys
}

// porcupineOperations converts the operations to those of porcupine.
func porcupineOperations(operations []storeop.Operation) []porcupine.Operation {
	all := make([]porcupine.Operation, 0, len(operations))
	var actors []string
	for _, o := range operations {
		client := slices.Index(actors, o.Actor)
		if client < 0 {
			client = len(actors)
			actors = append(actors, o.Actor)
		}
		op := porcupine.Operation{
			ClientId: client, Input: o, Call: int64(o.Call), Return: int64(o.Return), Output: o.Result,
		}
		if o.Return == 0 || o.Result == storeop.InDoubt {
			if o.Verb == storeop.Read {
				continue
			}
			op.Return = math.MaxInt64
		}
		all = append(all, op)
	}
	return all
}
