package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// firstLookEventual saves half the price of a read: only the look under the lease is consistent, because only there is
// anything decided. But a page that is served, too, comes from the first look, and the replica that answers may know
// less than the one that answered before.
func firstLookEventual() isr.Protocol {
	return isr.Protocol{
		Name:    "first-look-eventual",
		Summary: "META is read with eventual consistency, except under the lease",
		Breaks:  "monotonic-reads",
		New: onRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
			return &thriftyReader{RecipeA: r, eventual: eventualReader{r}}
		}),
	}
}

type thriftyReader struct {
	*pagecache.RecipeA
	eventual eventualReader
	acquired bool // just now
}

func (s *thriftyReader) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	l, err := s.RecipeA.Acquire(ctx, key)
	s.acquired = err == nil
	return l, err
}

func (s *thriftyReader) Read(ctx context.Context, key string) (pagecache.Meta, error) {
	if s.acquired {
		s.acquired = false
		return s.RecipeA.Read(ctx, key)
	}
	return s.eventual.Read(ctx, key)
}
