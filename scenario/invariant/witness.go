package invariant

import (
	"math/bits"
	"time"

	"github.com/isr-sim/isr-sim/scenario/history"
)

// explained looks for an order that explains the operations on a key. It keeps
// close to the order of the answers, remembers nothing and soon gives up: true is
// proof, and false says nothing. Nearly every history that has an order is
// explained so, at a tenth of what it costs to ask porcupine.
func explained(all []history.Operation, key string, skew time.Duration) bool {
	w := witness{skew: skew, tries: maxTries}
	var doubtful [maxWitness]*history.Operation
	doubts := 0
	for i := range all {
		o := &all[i]
		switch {
		case o.Key != key:
		case w.n+doubts == maxWitness:
			return false
		case o.Return != 0 && o.Result != history.InDoubt:
			w.insert(o)
		case o.Result == history.Done:
			return false // without an answer: no node says that
		case o.Verb != history.Read:
			doubtful[doubts] = o
			doubts++
		}
	}
	w.answered = 1<<w.n - 1
	w.n += copy(w.operations[w.n:], doubtful[:doubts])
	return w.place(1<<w.n-1, page{})
}

const (
	maxWitness = 48  // operations on a key: sets of them are in 64 bits
	maxTries   = 400 // what asking porcupine costs anyway
)

// witness is the search for an order.
type witness struct {
	// operations are those with an answer, in its order, and then those in doubt.
	operations [maxWitness]*history.Operation
	n          int
	answered   uint64 // which of them have an answer
	skew       time.Duration
	tries      int
}

func (w *witness) insert(o *history.Operation) {
	i := w.n
	for ; i > 0 && w.operations[i-1].Return > o.Return; i-- {
		w.operations[i] = w.operations[i-1]
	}
	w.operations[i] = o
	w.n++
}

// place says whether what is left can follow, with the page as it is.
func (w *witness) place(left uint64, p page) bool {
	if left&w.answered == 0 {
		return true // what is in doubt need not have happened
	}
	if w.tries--; w.tries < 0 {
		return false
	}
	first := w.operations[bits.TrailingZeros64(left)] // nobody who called after its answer comes before it
	for rest := left; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros64(rest)
		o := w.operations[i]
		if o.Call > first.Return {
			continue
		}
		next, n := p.after(o, w.skew)
		from := 0
		if w.answered&(1<<i) == 0 {
			from = 1 // one in doubt that changes nothing may as well be left
		}
		for _, q := range next[from:n] {
			if w.place(left&^(1<<i), q) {
				return true
			}
		}
	}
	return false
}
