package scenario

import (
	"context"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
)

// doIn does the same as Do, in the memory of earlier runs.
func (r Run) doIn(ctx context.Context, pool *hooks.Pool) (*Outcome, error) {
	if taken, ok := pool.Take().(*stage); ok {
		r.stage = taken
	} else {
		r.stage = newStage()
	}
	o, err := r.judged(ctx)
	if err != nil {
		r.stage.Close() // its state is not known
		return nil, err
	}
	pool.GiveBack(r.stage)
	return o, nil
}

// stage is the memory and the coroutines that one run after the other uses. To make them takes a good part of the time
// of a short run. A run cannot tell a used stage from a new one, and an Outcome keeps nothing of the stage.
type stage struct {
	pool      sim.Pool
	db        ddbfake.DB
	bodies    map[string][]byte
	bodyLog   []recorder.Body
	versions  map[page]int   // the versions of the origin's data
	ids       map[string]int // how many names of each kind have been given out
	marks     map[Mark]bool
	history   recorder.Log
	deadlines deadlines
	world     world

	other *stage // for a second run while the state of this one is still needed
}

func newStage() *stage {
	return &stage{
		bodies: map[string][]byte{}, bodyLog: []recorder.Body{}, versions: map[page]int{}, ids: map[string]int{}, marks: map[Mark]bool{},
	}
}

// second returns a stage for another run, while the state of this one is still needed.
func (s *stage) second() *stage {
	if s.other == nil {
		s.other = newStage()
	}
	return s.other
}

// dropSecond drops the second stage after a run on it broke off.
func (s *stage) dropSecond() {
	s.other.Close()
	s.other = nil
}

// Close ends the coroutines.
func (s *stage) Close() {
	s.pool.Close()
	if s.other != nil {
		s.other.Close()
	}
}

// clear removes the state of the run before.
func (s *stage) clear() {
	clear(s.bodies)
	clear(s.versions)
	clear(s.ids)
	clear(s.marks)
	s.bodyLog = s.bodyLog[:0]
	s.history.Reset()
	s.deadlines.at, s.deadlines.fine = s.deadlines.at[:0], s.deadlines.fine[:0]
	s.deadlines.windows = s.deadlines.windows[:0]
}
