package scenario

import (
	"context"
	"sync"
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
