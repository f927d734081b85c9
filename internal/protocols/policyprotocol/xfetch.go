package policyprotocol

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// beta is how eagerly pages are made again: more is earlier. 1 is the value of the paper.
const beta = 1

// xfetch draws at each read whether the read makes the page again before its window ends. The chance is
// exp(-left/(beta*delta)): left is the rest of the window, and delta is the time that it took to make the page. META
// has delta in render_ms.
//
// The published algorithm has no lock: each read that draws so makes the page. Here the lease and the second look are
// recipe A's, so each page is made again once. A page is never made again in the first half of its window. Without that
// bound, nearly every read would make a page again that takes longer to make than its window lasts.
//
// Source: Vattani, Chierichetti, Lowenstein: Optimal Probabilistic Cache Stampede Prevention (VLDB 2015).
func xfetch() isr.Protocol {
	return isr.Protocol{
		Name:    "policy-xfetch",
		Summary: "a read makes a page again early, under the lock, with a chance that grows towards the end of the window",
		New: pagecache.OnRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
			return &drawer{early{RecipeA: r, untouched: (window(r) + 1) / 2}}
		}),
		Memoryless: true,
	}
}

type drawer struct{ early }

var _ pagecache.Early = (*drawer)(nil)

// Publish writes down how long the page took to make. generated_at is a whole second, so the figure is up to a second
// too large, and pages are made again a little earlier.
func (s *drawer) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	m.RenderMillis = s.Config().Clock.Since(m.GeneratedAt.Time()).Milliseconds()
	return s.early.Publish(ctx, l, m)
}

// Due implements pagecache.Early. It draws for each request anew.
func (s *drawer) Due(m pagecache.Meta, now time.Time) bool {
	if !s.mayMake(m, now) {
		return false
	}
	delta := time.Duration(m.RenderMillis) * time.Millisecond
	gap := time.Duration(beta * float64(delta) * -math.Log(s.draw(m, now)))
	return !now.Add(gap).Before(s.freshUntil(m).Time())
}

// draw returns a number in (0, 1): a hash of a token, which is unique. A run counts its tokens, alice-1 and alice-2
// under every schedule, so the hash is of the page and of the time, too.
func (s *drawer) draw(m pagecache.Meta, now time.Time) float64 {
	sum := sha256.Sum256(fmt.Append(nil, s.Config().Tokens(), " ", m.S3Key, " ", now.UnixNano()))
	return (float64(binary.BigEndian.Uint64(sum[:8])>>11) + 0.5) / (1 << 53)
}
