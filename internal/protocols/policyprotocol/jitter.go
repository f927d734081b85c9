package policyprotocol

import (
	"context"
	"crypto/sha256"
	"encoding/binary"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// mostJitter is the largest share of the window that a page may lose.
const mostJitter = 0.2

// jitter shortens the window of each page by a random share of up to a fifth, so that pages that were made together do not
// end together. META has the shorter window, and every reader goes by it.
func jitter() isr.Protocol {
	return isr.Protocol{
		Name:    "policy-jitter",
		Summary: "each page is fresh for 0.8 to 1 of the window, at random, and then made again while others wait",
		New: func(cfg isr.Config) (isr.Handler, error) {
			cfg.Contention = isr.Wait
			return pagecache.OnRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return &jittered{r} })(cfg)
		},
		Memoryless: true,
	}
}

type jittered struct{ *pagecache.RecipeA }

// Publish implements pagecache.Store. The draw is a hash of the lease's token, which is unique, and of the page.
func (s *jittered) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	sum := sha256.Sum256([]byte(l.Token + " " + m.S3Key + " " + m.PK))
	draw := float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
	whole := window(s.RecipeA)
	m.RevalidateSeconds = int64(whole) - int64(draw*mostJitter*float64(whole+1))
	return s.RecipeA.Publish(ctx, l, m)
}
