package policyprotocol

import (
	"context"
	"sync"
	"time"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// refreshAhead has a read after four fifths of the window make the page again, if the same node has read the page at
// most a window before. A page that is no longer read is left to expire. Other readers are served the old page, which
// is fresh.
//
// The published pattern makes the page without a lock, on every node at once. Here the refresh is recipe A's, with
// lease and second look.
func refreshAhead() isr.Protocol {
	return isr.Protocol{
		Name:    "policy-refresh-ahead",
		Summary: "a read after 0.8 of the window makes a recently read page again, under the lock, while others are served the old one",
		New: func(cfg isr.Config) (isr.Handler, error) {
			reference, err := pagecache.NewRecipeA(cfg)
			if err != nil {
				return nil, err
			}
			store := &recentReader{early: early{RecipeA: reference, untouched: (4*window(reference) + 4) / 5}, reads: map[string]lastReads{}}
			cache, err := pagecache.NewOn(store, cfg)
			if err != nil {
				return nil, err
			}
			return &tracker{cache, store}, nil
		},
	}
}

// tracker is a cache that tells its store of each request.
type tracker struct {
	*pagecache.Cache
	store *recentReader
}

func (h *tracker) Get(ctx context.Context, key string) (isr.Served, error) {
	h.store.note(key)
	return h.Cache.Get(ctx, key)
}

type recentReader struct {
	early
	mu    sync.Mutex
	reads map[string]lastReads // by partition key
}

var _ pagecache.Early = (*recentReader)(nil)

// lastReads are the times of the last request for a page and of the one before it; zero is none.
type lastReads struct{ last, before time.Time }

func (s *recentReader) note(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pk := s.PK(key)
	s.reads[pk] = lastReads{last: s.Config().Clock.Now(), before: s.reads[pk].last}
}

// Due implements pagecache.Early.
func (s *recentReader) Due(m pagecache.Meta, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	reads := s.reads[m.PK]
	recent := !reads.before.IsZero() && reads.last.Sub(reads.before) < s.Config().Revalidate
	return recent && s.mayMake(m, now)
}
