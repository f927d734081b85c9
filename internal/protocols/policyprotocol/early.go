package policyprotocol

import (
	"context"
	"time"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
)

// early is recipe A with a window in two parts. META's revalidate_seconds is the untouched part, in which the page may
// not be made again. In the rest of the window the page is still fresh, so that a new one can be made while no request
// has to wait, or is served a stale page.
//
// The rows show a page that is made again in its untouched part: single-flight finds it.
type early struct {
	*pagecache.RecipeA
	untouched pagecache.EpochSeconds // from generated_at
}

// Publish implements pagecache.Store.
func (s *early) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	m.RevalidateSeconds = int64(s.untouched)
	return s.RecipeA.Publish(ctx, l, m)
}

// Fresh implements pagecache.Store: a page is fresh for the whole window. A row without a window is left by an
// invalidation.
func (s *early) Fresh(m pagecache.Meta, now time.Time) bool {
	return m.RevalidateSeconds > 0 && pagecache.Floor(now) < s.freshUntil(m)
}

func (s *early) freshUntil(m pagecache.Meta) pagecache.EpochSeconds {
	return m.GeneratedAt + window(s.RecipeA)
}

// mayMake says whether the untouched part of the page's window is over.
func (s *early) mayMake(m pagecache.Meta, now time.Time) bool { return !s.RecipeA.Fresh(m, now) }
