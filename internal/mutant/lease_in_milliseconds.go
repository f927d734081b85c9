package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// leaseInMilliseconds compares the row's epoch seconds with a clock read in milliseconds, so every lease looks long
// over.
//
// Seen in: aws-powertools/powertools-lambda-java issue 1281, where one "now" was compared in both units.
func leaseInMilliseconds() isr.Protocol {
	return isr.Protocol{
		Name:    "lease-in-milliseconds",
		Summary: "acquire compares lease_expires_at, in seconds, with a clock in milliseconds",
		Breaks:  "lock-theft",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return millisecondAcquirer{r} }),
	}
}

type millisecondAcquirer struct{ *pagecache.RecipeA }

func (s millisecondAcquirer) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	cfg := s.Config()
	row := s.NewLock(key, cfg.Tokens()).Item()
	return acquireIf(ctx, s.RecipeA, key, row, free, map[string]types.AttributeValue{
		":now": seconds(pagecache.EpochSeconds(cfg.Clock.Now().UnixMilli())),
	})
}
