package policyprotocol

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Hasty is policy-xfetch with a bug: it does not look again once it has the lease.
func Hasty() isr.Protocol {
	return isr.Protocol{Name: "hasty", New: pagecache.OnRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
		return &hasty{drawer: drawer{early{RecipeA: r, untouched: (window(r) + 1) / 2}}}
	})}
}

type hasty struct {
	drawer
	acquired bool // the lease was acquired just now
}

func (s *hasty) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	l, err := s.drawer.Acquire(ctx, key)
	s.acquired = err == nil
	return l, err
}

func (s *hasty) Read(ctx context.Context, key string) (pagecache.Meta, error) {
	if s.acquired {
		s.acquired = false
		return pagecache.Meta{}, isr.ErrMiss
	}
	return s.drawer.Read(ctx, key)
}
