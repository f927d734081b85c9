package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// leaseFloored rounds the wrong way. A lease of a second that is taken late in a second lasts a moment, and no page is
// ever made in time to be published.
//
// Seen in: a public lease helper, whose lease of one second can last a tenth of it.
func leaseFloored() isr.Protocol {
	return isr.Protocol{
		Name:    "lease-floored",
		Summary: "the end of a lease is rounded down to whole seconds",
		Breaks:  "liveness",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return rounder{r} }),
	}
}

type rounder struct{ *pagecache.RecipeA }

func (s rounder) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	cfg := s.Config()
	lock := s.NewLock(key, cfg.Tokens())
	lock.LeaseExpiresAt = pagecache.Floor(cfg.Clock.Now().Add(cfg.Lease))
	return acquireIf(ctx, s.RecipeA, key, lock.Item(), free, map[string]types.AttributeValue{":now": seconds(s.Now())})
}
