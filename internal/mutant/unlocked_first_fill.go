package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// unlockedFirstFill believes that a page without a row has never been, so that no other machine can be making it. But
// TTL has deleted the row, or two machines start at the same time.
func unlockedFirstFill() isr.Protocol {
	return isr.Protocol{
		Name:    "unlocked-first-fill",
		Summary: "a missing page is made without a lease, as if no page could have existed before",
		Breaks:  "stale-writer",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return &firstFiller{RecipeA: r} }),
	}
}

type firstFiller struct {
	*pagecache.RecipeA
	unlocked string // the token of a lease that is none
}

func (s *firstFiller) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	row, err := s.GetRow(ctx, key, isr.SortMeta)
	if err != nil {
		return pagecache.Lease{}, err
	}
	if row != nil {
		return s.RecipeA.Acquire(ctx, key)
	}
	lock := s.NewLock(key, s.Config().Tokens())
	s.unlocked = lock.LeaseToken
	return pagecache.Lease{Key: key, Token: lock.LeaseToken, ExpiresAt: lock.LeaseExpiresAt}, nil
}

func (s *firstFiller) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	if l.Token != s.unlocked {
		return s.RecipeA.Publish(ctx, l, m)
	}
	return putBlindly(ctx, s, m)
}
