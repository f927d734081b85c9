package mutant

import (
	"context"
	"time"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// expiryRestartsOnLook does not trust the holder's clock, and measures by its own for how long the lock has not
// changed. It begins anew with every look: a machine that looks often enough never takes the lock of a dead one.
//
// Seen in: awslabs/amazon-dynamodb-lock-client issue 44.
func expiryRestartsOnLook() isr.Protocol {
	return isr.Protocol{
		Name:    "expiry-restarts-on-look",
		Summary: "a lock counts as over when it has not changed for a lease since the last look at it",
		Breaks:  "liveness",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return &watcher{RecipeA: r, since: map[string]time.Time{}} }),
	}
}

type watcher struct {
	*pagecache.RecipeA
	since map[string]time.Time // of the last look at a lock, by key
}

func (s *watcher) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	row, err := s.GetRow(ctx, key, isr.SortLock)
	if err != nil {
		return pagecache.Lease{}, err
	}
	cfg := s.Config()
	now := cfg.Clock.Now()
	last, looked := s.since[key]
	if s.since[key] = now; row != nil && (!looked || now.Sub(last) < cfg.Lease) {
		return pagecache.Lease{}, pagecache.ErrHeld
	}
	return s.RecipeA.Acquire(ctx, key)
}
