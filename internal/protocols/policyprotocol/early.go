package policyprotocol

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// early is recipe A with a window of two parts. META's revalidate_seconds is the first part, in which the page must not
// be made again. In the rest of the window the page is still fresh, so that a new one can be made while no request has
// to wait or is served a stale page.
//
// If a page is made again in the first part, the rows show it: single-flight finds that.
type early struct {
	*pagecache.RecipeA
	untouched pagecache.EpochSeconds // the length of the first part, from generated_at
}

func (s *early) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	m.RevalidateSeconds = int64(s.untouched)
	return s.RecipeA.Publish(ctx, l, m)
}

// Fresh implements pagecache.Store: a page is fresh for the whole window. A row without a window was left by an
// invalidation.
func (s *early) Fresh(m pagecache.Meta, now time.Time) bool {
	return m.RevalidateSeconds > 0 && pagecache.Floor(now) < s.freshUntil(m)
}

func (s *early) freshUntil(m pagecache.Meta) pagecache.EpochSeconds {
	return m.GeneratedAt + window(s.RecipeA)
}

// mayMake reports whether the first part of the page's window is over.
func (s *early) mayMake(m pagecache.Meta, now time.Time) bool { return !s.RecipeA.Fresh(m, now) }

// refreshAhead makes the page again at a read after four fifths of the window, if the same node has read the page at
// most a window before. A page that is no longer read is left to expire. Other readers are served the old page, which
// is fresh.
//
// The published pattern makes the page without a lock, on every node at once. Here the refresh is recipe A's, with
// lease and second look.
var refreshAhead = isr.Protocol{
	Name: "policy-refresh-ahead",
	Summary: "a read after 0.8 of the window makes a recently read page again, under the lock, while others are " +
		"served the old one",
	New: func(cfg isr.Config) (isr.Handler, error) {
		reference, err := pagecache.NewRecipeA(cfg)
		if err != nil {
			return nil, err
		}
		store := &recentReader{
			early: early{RecipeA: reference, untouched: (4*window(reference) + 4) / 5}, reads: map[string]lastReads{},
		}
		cache, err := pagecache.NewOn(store, cfg)
		if err != nil {
			return nil, err
		}
		return &tracker{cache, store}, nil
	},
}

// tracker is a cache that reports each request to its store.
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

// lastReads are the times of the last two requests for a page; zero if there was none.
type lastReads struct{ last, before time.Time }

func (s *recentReader) note(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pk := s.PK(key)
	s.reads[pk] = lastReads{last: s.Config().Clock.Now(), before: s.reads[pk].last}
}

func (s *recentReader) Due(m pagecache.Meta, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	reads := s.reads[m.PK]
	recent := !reads.before.IsZero() && reads.last.Sub(reads.before) < s.Config().Revalidate
	return recent && s.mayMake(m, now)
}

// beta is how eagerly pages are made again: the larger, the earlier. The paper's value is 1.
const beta = 1

// xfetch draws at each read whether the read makes the page again before its window ends. The chance is
// exp(-left/(beta*delta)): left is the rest of the window, and delta is the time that it took to make the page, which
// META has as render_ms.
//
// The published algorithm has no lock: each read that draws yes makes the page. Here the lease and the second look are
// recipe A's, so each page is made again once. A page is never made again in the first half of its window. Without that
// bound, a page that takes longer to make than its window lasts would be made again by nearly every read.
//
// Source: Vattani, Chierichetti, Lowenstein: Optimal Probabilistic Cache Stampede Prevention (VLDB 2015).
var xfetch = isr.Protocol{
	Name:    "policy-xfetch",
	Summary: "a read makes a page again early, under the lock, with a chance that grows towards the end of the window",
	New: pagecache.OnRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
		return &drawer{early{RecipeA: r, untouched: (window(r) + 1) / 2}}
	}),
}

type drawer struct{ early }

var _ pagecache.Early = (*drawer)(nil)

// Publish records how long the page took to make. generated_at is a whole second, so the figure is up to a second too
// large, and pages are made again a little earlier.
func (s *drawer) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	m.RenderMillis = s.Config().Clock.Since(m.GeneratedAt.Time()).Milliseconds()
	return s.early.Publish(ctx, l, m)
}

func (s *drawer) Due(m pagecache.Meta, now time.Time) bool {
	if !s.mayMake(m, now) {
		return false
	}
	delta := time.Duration(m.RenderMillis) * time.Millisecond
	gap := time.Duration(beta * float64(delta) * -math.Log(s.draw(m, now)))
	return !now.Add(gap).Before(s.freshUntil(m).Time())
}

// draw returns a number in (0, 1): a hash of a token, which is unique, and of the page and the time. The page and the
// time are needed because tokens are alice-1 and alice-2 under every schedule of a run.
func (s *drawer) draw(m pagecache.Meta, now time.Time) float64 {
	sum := sha256.Sum256(fmt.Append(nil, s.Config().Tokens(), " ", m.S3Key, " ", now.UnixNano()))
	return (float64(binary.BigEndian.Uint64(sum[:8])>>11) + 0.5) / (1 << 53)
}
