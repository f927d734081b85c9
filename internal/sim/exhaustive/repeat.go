package exhaustive

import (
	"fmt"
	"slices"

	"github.com/isr-sim/isr-sim/internal/sim"
)

// repeats knows the latest run of an Exploration, so that another run can be compared with it.
type repeats struct {
	moments []moment
	last    sim.Result
	again   bool // the run that is prepared, or under way, repeats the latest one
	owed    bool // the latest run has not been repeated
}

// moment is the moment before a step of a run.
type moment struct {
	state uint64   // see sim.Sim.Fingerprint
	asked []string // the requests that have been sent
	step  string   // the step that led here
	taken int      // the choice
}

// compare compares the moment with the same moment of the latest run, in everything that must be equal, and notes it.
func (e *explorer) compare() *sim.DivergedError {
	r := &e.x.repeats
	now := moment{state: e.sim.Fingerprint(), asked: e.sim.Asked(), step: e.step}
	n := e.moments
	e.moments++
	switch {
	case !r.again && !e.replaying:
		r.moments = append(r.moments[:n], now)
		return nil
	case n == len(r.moments):
		return &sim.DivergedError{Step: n + 1, Differs: "the run was over once, and goes on now"}
	default:
		return r.moments[n].differs(now, n)
	}
}

// differs says how the moment after n steps differs from the same moment in the latest run.
func (m moment) differs(now moment, n int) *sim.DivergedError {
	switch {
	case m.step != now.step:
		return &sim.DivergedError{Step: n, Differs: fmt.Sprintf("there was once %q, and now %q", m.step, now.step)}
	case !slices.Equal(m.asked, now.asked):
		was, is := firstDifference(m.asked, now.asked)
		return &sim.DivergedError{Step: n, Differs: fmt.Sprintf("a request was once %q, and is now %q", was, is)}
	case m.state != now.state:
		return &sim.DivergedError{Step: n, Differs: fmt.Sprintf("%q has led to two different states", m.step)}
	default:
		return nil
	}
}

// firstDifference returns the first texts in which two lists differ; "" for a list that has ended.
func firstDifference(a, b []string) (ofA, ofB string) {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	if i < len(a) {
		ofA = a[i]
	}
	if i < len(b) {
		ofB = b[i]
	}
	return ofA, ofB
}

// compareEnds compares the end of a repetition with that of the latest run, or notes it.
func (e *explorer) compareEnds(now sim.Result) error {
	r := &e.x.repeats
	if r.owed = !r.again; r.owed {
		r.moments, r.last = r.moments[:e.moments], now
		return nil
	}
	if now.End != r.last.End || now.Steps != r.last.Steps {
		return &sim.DivergedError{Step: now.Steps, Differs: fmt.Sprintf(
			"the run was %v, and had been %v after %d steps", now.End, r.last.End, r.last.Steps)}
	}
	return nil
}

// Watch implements sim.Watcher: it notes the step that is about to be taken.
func (e *explorer) Watch(s sim.Step) {
	if !e.x.Repeat {
		return
	}
	e.step = s.Name + " " + s.Kind.String()
	if key := s.SortKey(); key != "" {
		e.step += " " + key
	}
}
