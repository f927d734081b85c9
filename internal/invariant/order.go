package invariant

import (
	"math"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/storeop"
)

const (
	maxWork = 1 << 23 // steps of one search: a second or so
	maxOpen = 256     // operations that are under way at once, or in doubt
)

// search looks for an order that explains the operations on a key. It reads calls and answers in their order, and keeps
// the results of the orders that explain all answers so far. Such an order contains an operation only if some answer
// already needs it: an unanswered operation can wait until one does. If no order is left after an answer, this is the
// first answer without an explanation. Later operations cannot change that, because an order of a history contains an
// order of each beginning of the history.
//
// When no operation is under way, the search keeps only the possible states of the page, and so cuts the history there.
//
// Source: Lowe: Testing for linearizability (2017), the just-in-time algorithm.
type search struct {
	skew time.Duration
	work int // how many steps are left

	open                   [maxOpen]*storeop.Operation // nil is a free place
	top                    int                         // all places from here on are free
	reads, optional, doubt set                         // the places of the reads, the optional and the doubtful ones
	// settable is, by token, the last moment at which an operation can give the token to the lease.
	settable map[string]int
	now      []prefix

	next, seen, todo []prefix // memory for the prefixes while an answer is processed
}

// prefix is the result of one order of the operations so far.
type prefix struct {
	page page
	in   set // the open operations that are in it
}

// ended tells whether a search is complete, or why it gave up.
type ended uint8

const (
	complete ended = iota
	outOfWork
	outOfPlaces
)

// moment is a call or an answer.
type moment struct {
	order    int
	answered bool
	o        *storeop.Operation
}

// explain returns the operation with the first answer that no order explains, or nil. If the search gave up, at is the
// operation at whose call or answer it did, and open has the operations then under way.
func explain(
	all []storeop.Operation, key string, skew time.Duration, work int,
) (at *storeop.Operation, open []*storeop.Operation, end ended) {
	moments, settable := momentsOf(all, key)
	s := search{skew: skew, work: work, settable: settable, now: []prefix{{}}}
	for _, m := range moments {
		switch {
		case !m.answered:
			if !s.call(m.o) {
				return m.o, s.underWay(), outOfPlaces
			}
		case !s.answer(s.placeOf(m.o)):
			return m.o, s.underWay(), outOfWork
		}
		if len(s.now) == 0 {
			return m.o, nil, complete
		}
		s.settle(m.order)
	}
	return nil, nil, complete
}

// momentsOf returns the calls and answers on the key that matter, in their order. At the same moment, calls come before
// answers.
func momentsOf(all []storeop.Operation, key string) (moments []moment, settable map[string]int) {
	moments = make([]moment, 0, 2*len(all))
	for i := range all {
		o := &all[i]
		answered := answeredBy(o) < math.MaxInt
		if o.Key != key || needless(o) || !answered && o.Verb == storeop.Read {
			continue
		}
		moments = append(moments, moment{o.Call, false, o})
		if answered {
			moments = append(moments, moment{o.Return, true, o})
		} else if settable == nil {
			settable = map[string]int{}
		}
	}
	slices.SortStableFunc(moments, func(a, b moment) int {
		switch {
		case a.order != b.order:
			return a.order - b.order
		case a.answered == b.answered:
			return 0
		case b.answered:
			return -1
		default:
			return 1
		}
	})
	if settable != nil { // something is in doubt
		for _, m := range moments {
			if !m.answered && (m.o.Verb == storeop.Acquire || m.o.Verb == storeop.Refresh) {
				settable[m.o.Token] = max(settable[m.o.Token], answeredBy(m.o))
			}
		}
	}
	return moments, settable
}

// answeredBy is the time after which the operation can no longer take effect.
func answeredBy(o *storeop.Operation) int {
	if o.Return == 0 || o.Result == storeop.InDoubt {
		return math.MaxInt
	}
	return o.Return
}

// needless reports whether the history can be explained just as well without the operation. That is so for an acquire
// whose token no other operation names: it found the lease free or over, and a node that can take the lease after it
// could also have taken it before.
func needless(o *storeop.Operation) bool {
	return o.Verb == storeop.Acquire && o.Result != storeop.Done
}

// call adds the operation to the open ones, or returns false if there is no place. If a read finds the present page, it
// is put into the order at once: it changes nothing, so a later place is no better. If a read finds no page where there
// was one, TTL has deleted the page. That is a change, so the read stays open and, like a write, may come before any
// answer.
func (s *search) call(o *storeop.Operation) bool {
	place := slices.Index(s.open[:], nil)
	if place < 0 {
		return false
	}
	s.open[place], s.top = o, max(s.top, place+1)
	switch {
	case o.Verb == storeop.Read:
		s.reads.add(place)
		for i := range s.now {
			s.read(&s.now[i], place)
		}
	case o.Result != storeop.Done:
		s.optional.add(place)
		if answeredBy(o) == math.MaxInt {
			s.doubt.add(place)
		}
	}
	return true
}

// read puts the open read into the order if it finds the present page and does not change it.
func (s *search) read(p *prefix, place int) {
	s.work--
	if next, n := p.page.after(s.open[place], s.skew); n == 1 && next[0] == p.page {
		p.in.add(place)
	}
}

func (s *search) placeOf(o *storeop.Operation) int { return slices.Index(s.open[:], o) }

// answer keeps the orders that contain the operation, those that can be extended by it after other open operations, and
// those that may do without it. It returns false if the limit of work is reached first.
func (s *search) answer(place int) bool {
	next, seen := s.next[:0], s.seen[:0]
	for _, p := range s.now {
		if p.in.has(place) || s.optional.has(place) {
			s.keep(&next, p)
		}
		if !p.in.has(place) {
			s.keep(&seen, p)
		}
	}
	s.todo = append(s.todo[:0], seen...)
	for todo := s.todo; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for i := range s.top {
			o := s.open[i]
			if o == nil || p.in.has(i) || s.optional.has(i) && !p.page.concerns(o) {
				continue
			}
			if s.work--; s.work < 0 {
				return false
			}
			pages, n := p.page.after(o, s.skew)
			if s.optional.has(i) {
				pages[0], n = pages[1], n-1 // without an effect it need not be in the order
			}
			if n == 0 {
				continue
			}
			q := prefix{pages[0], p.in}
			q.in.add(i)
			s.readAll(&q)
			if q.in.has(place) {
				s.keep(&next, q)
			} else if s.keep(&seen, q) {
				todo = append(todo, q)
			}
		}
	}
	s.now, s.next, s.seen = next, s.now, seen
	s.forget(place)
	return s.work >= 0
}

func (s *search) readAll(p *prefix) {
	for i := range s.top {
		if s.reads.has(i) && !p.in.has(i) {
			s.read(p, i)
		}
	}
}

// forget frees the place of an operation that no longer matters.
func (s *search) forget(place int) {
	s.open[place] = nil
	for s.top > 0 && s.open[s.top-1] == nil {
		s.top--
	}
	for _, of := range []*set{&s.reads, &s.optional, &s.doubt} {
		of.remove(place)
	}
	left := s.next[:0]
	for _, p := range s.now {
		p.in.remove(place)
		s.keep(&left, p)
	}
	s.now, s.next = left, s.now
}

// settle forgets the operations in doubt that can no longer take effect: their lease is gone and cannot come back.
func (s *search) settle(order int) {
	for i := range s.top {
		if !s.doubt.has(i) || s.open[i].Verb == storeop.Refresh || s.settable[s.open[i].Token] >= order {
			continue
		}
		if !slices.ContainsFunc(s.now, func(p prefix) bool { return p.page.token == s.open[i].Token }) {
			s.forget(i)
		}
	}
}

// keep adds p to some, unless one of them covers p. It drops those that p covers.
func (s *search) keep(some *[]prefix, p prefix) bool {
	kept := (*some)[:0]
	for _, other := range *some {
		s.work--
		if s.covers(other, p) {
			return false // then p covers none of the earlier ones: other would cover them, too
		}
		if !s.covers(p, other) {
			kept = append(kept, other)
		}
	}
	kept = append(kept, p)
	*some = kept
	return true
}

// covers reports whether a explains everything that b explains. For that, the page of a must cover the page of b, a
// must contain every read that b contains, and it must contain only those optional operations that b contains. All
// other operations must be the same.
func (s *search) covers(a, b prefix) bool {
	if !a.page.covers(b.page) {
		return false
	}
	for i := range a.in {
		more, less := a.in[i]&^b.in[i], b.in[i]&^a.in[i]
		if more&^s.reads[i] != 0 || less&^s.optional[i] != 0 {
			return false
		}
	}
	return true
}

func (s *search) underWay() []*storeop.Operation {
	return slices.DeleteFunc(slices.Clone(s.open[:s.top]), func(o *storeop.Operation) bool { return o == nil })
}

// set is a set of places.
type set [maxOpen / 64]uint64

func (s *set) has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }
func (s *set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s *set) remove(i int)   { s[i/64] &^= 1 << (i % 64) }
