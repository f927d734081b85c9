package scenario

import (
	"context"
	"sync"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
)

// Pool makes many runs, any number of them at the same time. A run uses the memory and coroutines of earlier ones
// again, which cost a good part of a short run. Its outcome is the same as without a Pool. The zero Pool is ready;
// close it when the last run is over.
type Pool struct {
	mu   sync.Mutex
	idle []*stage
}

// Do is r.Do with the memory of earlier runs.
func (p *Pool) Do(ctx context.Context, r Run) (*Outcome, error) {
	r.stage = p.take()
	o, err := r.Do(ctx)
	if err != nil {
		r.stage.close() // its state is not known
		return nil, err
	}
	p.giveBack(r.stage)
	return o, nil
}

func (p *Pool) take() *stage {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.idle) - 1
	if last < 0 {
		return newStage()
	}
	taken := p.idle[last]
	p.idle = p.idle[:last]
	return taken
}

func (p *Pool) giveBack(taken *stage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, taken)
}

// Close ends the coroutines of all runs.
func (p *Pool) Close() {
	for _, idle := range p.idle {
		idle.close()
	}
	p.idle = nil
}

// stage is the memory and the coroutines that one run after the other uses. They cost a good part of a short run. A run
// cannot tell a used stage from a new one, and an Outcome keeps nothing of it.
type stage struct {
	pool      sim.Pool
	db        ddbfake.DB
	bodies    map[string][]byte
	bodyLog   []recorder.Body
	versions  map[page]int   // of the origin's data
	ids       map[string]int // how many names of each kind have been given out
	marks     map[Mark]bool
	history   recorder.Log
	deadlines deadlines
	world     world

	other *stage // for a second run while this one's is still needed
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

// dropSecond forgets a stage on which a run broke.
func (s *stage) dropSecond() {
	s.other.close()
	s.other = nil
}

// close ends the coroutines.
func (s *stage) close() {
	s.pool.Close()
	if s.other != nil {
		s.other.close()
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
