package programs

import (
	"math/rand/v2"
	"slices"

	"github.com/isr-sim/isr-sim/internal/sim"
)

// optimal is a search that runs each trace of a program once, and abandons no run. It has nothing in common with the
// search of package sim, which leaves orders out. This one adds them: for every two steps of a run that race and could
// be reversed, it adds a branch at the point where the first of them was taken.
//
// # Why each trace is run once
//
// A branch has the steps of the run that came after the first of the two but do not depend on it, and then the second
// one. A step that was already taken at that point is asleep. A branch is omitted if its traces are run anyway: if it
// can begin with a step that is asleep, or with all steps of an older branch. The source proves that every trace is
// run. No trace is run twice, because a run never begins with a step that is asleep. No run is abandoned, because each
// step that is asleep races with a step of the branch, and so wakes before the branch ends.
//
// A step that waits, as for a mutex, cannot come before the one that lets it happen. It can come before an earlier step
// that found the variable in the state that it needs. This is not in the algorithm of the source; the counts confirm it
// here.
//
// Source: Abdulla, Aronis, Jonsson, Sagonas: Optimal dynamic partial order reduction (POPL 2014), algorithm 2; Source
// sets: a foundation for optimal dynamic partial order reduction (Journal of the ACM 64(4), 2017).
type optimal struct {
	asked   []request // by thread: its next step
	moments []moment  // of the latest run
	n       int       // the number of moments that the run has reached
	chosen  bool      // the next step is chosen
	order   *sim.Order
	traces  map[uint64]bool // already run
}

// request is an access to one variable.
type request interface {
	sim.Request
	about() *variable
}

func (a *access) about() *variable { return a.to }

// asking tells a search what a thread asks for.
type asking struct {
	proc  *sim.Proc
	asked *request
}

func (a asking) Do(r sim.Request) {
	*a.asked = r.(request)
	a.proc.Do(r)
}

type step struct {
	thread int
	sim.Access
}

func (s step) races(o step) bool {
	return s.thread == o.thread || s.Object == o.Object && (s.Write || o.Write)
}

// moment is a moment of a run, with the step that was taken.
type moment struct {
	step
	request  request
	found    int      // the value of its variable
	before   uint64   // the moments whose steps come before it in all runs of this trace, including itself; at most 64
	asleep   []step   // traces that begin with them were already run
	branches []branch // the first is being run
}

// branch is a step to run, followed by one of the next branches, or by anything if there are none.
type branch struct {
	step
	next []branch
}

// Next prepares the next run. It ends the search after a trace that was run before.
func (x *optimal) Next() bool {
	if x.order == nil {
		return true
	}
	if trace := x.order.Hash(); !x.traces[trace] {
		x.traces[trace] = true
		x.reverse()
		for last := len(x.moments) - 1; last >= 0; last-- {
			m := &x.moments[last]
			m.asleep = append(m.asleep, m.step)
			if m.branches = m.branches[1:]; len(m.branches) > 0 {
				return true
			}
			x.moments = x.moments[:last]
		}
	}
	return false
}

// Strategy returns the strategy of the run that Next has prepared.
func (x *optimal) Strategy() sim.Strategy {
	x.n, x.order = 0, &sim.Order{}
	return x.order.Of(sim.Strategy{Name: "optimal", New: func(*rand.Rand, int) sim.Chooser { return x }})
}

// Choose implements sim.Chooser. The starts of the threads race with nothing, so they come first.
func (x *optimal) Choose(steps []sim.Step) int {
	if i := slices.IndexFunc(steps, func(s sim.Step) bool { return s.Kind == sim.Start }); i >= 0 {
		return i
	}
	if x.chosen = true; x.n == len(x.moments) {
		x.moments = append(x.moments, x.moment(steps))
	}
	m := &x.moments[x.n]
	if len(m.branches) == 0 { // all are asleep
		x.moments = x.moments[:x.n]
		return -1
	}
	x.n++
	now := &m.branches[0].step
	m.request = x.asked[now.thread]
	m.found, now.Access = m.request.about().value, m.request.Accesses(0)[0]
	m.step = *now
	return slices.IndexFunc(steps, func(s sim.Step) bool { return s.Thread == 2*now.thread })
}

// Watch implements sim.Watcher: Choose is not called if only one step is possible.
func (x *optimal) Watch(s sim.Step) {
	if s.Kind != sim.Start && !x.chosen {
		x.Choose([]sim.Step{s})
	}
	x.chosen = false
}

// moment returns the moment after the latest one.
func (x *optimal) moment(steps []sim.Step) (m moment) {
	if x.n > 0 {
		last := &x.moments[x.n-1]
		m.branches = last.branches[0].next
		for _, s := range last.asleep {
			if !s.races(last.step) {
				m.asleep = append(m.asleep, s)
			}
		}
	}
	for i := 0; i < len(steps) && len(m.branches) == 0; i++ {
		thread := steps[i].Thread / 2
		if !slices.ContainsFunc(m.asleep, func(s step) bool { return s.thread == thread }) {
			m.branches = []branch{{step: step{thread: thread}}}
		}
	}
	return m
}

// reverse makes the branches of the latest run. It consumes the record of that run.
func (x *optimal) reverse() {
	type race struct {
		first int
		then  step // its form if it comes first
	}
	var races []race
	for j := range x.moments {
		m := &x.moments[j]
		m.before = 1 << j
		own, waits := uint64(0), false // own is what must come before the thread's previous step
		for i := j - 1; i >= 0; i-- {
			first := &x.moments[i]
			if !first.races(m.step) {
				continue
			}
			between := m.before>>i&1 != 0 // another step must come between them
			m.before |= first.before
			switch m.request.about().value = first.found; {
			case first.thread == m.thread:
				own |= first.before
			case between && !(waits && own>>i&1 == 0):
			default:
				if waits = len(m.request.Outcomes()) == 0; !waits {
					races = append(races, race{i, step{m.thread, m.request.Accesses(0)[0]}})
				}
			}
		}
	}
	for _, r := range races {
		var way []step
		for _, m := range x.moments[r.first+1:] {
			if m.before>>r.first&1 == 0 {
				way = append(way, m.step)
			}
		}
		way = append(way, r.then)
		m := &x.moments[r.first]
		if !slices.ContainsFunc(m.asleep, func(s step) bool { return s.begins(way) >= 0 }) {
			m.branches = insert(m.branches, way)
		}
	}
}

// begins reports whether a way can begin with s. It returns the index of s, len(way) if s is not in it, or -1.
func (s step) begins(way []step) int {
	for i, o := range way {
		if o.thread == s.thread {
			return i
		}
		if s.races(o) {
			return -1
		}
	}
	return len(way)
}

// insert adds a way to the branches, unless they contain it.
func insert(branches []branch, way []step) []branch {
	for i := range branches {
		b := &branches[i]
		if at := b.begins(way); at >= 0 {
			if len(b.next) > 0 {
				b.next = insert(b.next, slices.Delete(way, at, min(at+1, len(way))))
			}
			return branches
		}
	}
	var next []branch
	for _, s := range slices.Backward(way) {
		next = []branch{{s, next}}
	}
	return append(branches, next...)
}
