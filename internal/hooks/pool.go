package hooks

import (
	"context"
	"sync"
)

// Pool keeps the memory and coroutines of runs for later ones: making them takes a good part of a short run's time. A
// run's outcome is the same without it. The zero Pool is ready, for any number of runs at the same time; close it when
// the last one is over.
type Pool struct {
	mu   sync.Mutex
	idle []Stage
}

// Stage is memory that runs use one after another.
type Stage interface{ Close() }

// Take returns a stage that no run uses; nil if there is none.
func (p *Pool) Take() Stage {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.idle) - 1
	if last < 0 {
		return nil
	}
	taken := p.idle[last]
	p.idle = p.idle[:last]
	return taken
}

// GiveBack takes the stage of a run that is over.
func (p *Pool) GiveBack(taken Stage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, taken)
}

// Close ends the coroutines of all runs.
func (p *Pool) Close() {
	for _, idle := range p.idle {
		idle.Close()
	}
	p.idle = nil
}

type poolKey struct{}

// In returns a context for one run, which uses the pool.
func (p *Pool) In(ctx context.Context) context.Context { return context.WithValue(ctx, poolKey{}, p) }

// PoolOf returns the pool of a context's run; nil if there is none.
func PoolOf(ctx context.Context) *Pool {
	p, _ := ctx.Value(poolKey{}).(*Pool)
	return p
}
