package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// noSecondLook makes the page as soon as it has the lease. A node that saw the old page, and acquires just after the
// winner has published, makes the page once more: all nodes of a fleet do, one after the other.
//
// Measured in a public ISR runtime: its own test of "one regeneration" fails on real rows in half the runs.
func noSecondLook() isr.Protocol {
	return isr.Protocol{
		Name:    "no-second-look",
		Summary: "META is not read again once the lease is acquired",
		Breaks:  "single-flight",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return &hastyRenderer{RecipeA: r} }),
	}
}

type hastyRenderer struct {
	*pagecache.RecipeA
	acquired bool // just now
}

func (s *hastyRenderer) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	l, err := s.RecipeA.Acquire(ctx, key)
	s.acquired = err == nil
	return l, err
}

func (s *hastyRenderer) Read(ctx context.Context, key string) (pagecache.Meta, error) {
	if s.acquired {
		s.acquired = false
		return pagecache.Meta{}, isr.ErrMiss
	}
	return s.RecipeA.Read(ctx, key)
}
