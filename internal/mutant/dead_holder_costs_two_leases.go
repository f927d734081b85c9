package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// deadHolderCostsTwoLeases waits for one more lease after the lease is over, to be sure.
//
// Seen in: awslabs/amazon-dynamodb-lock-client issue 34.
func deadHolderCostsTwoLeases() isr.Protocol {
	return isr.Protocol{
		Name:    "dead-holder-costs-two-leases",
		Summary: "a lock is taken over a whole lease after its end",
		Breaks:  "liveness",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return patient{r} }),
	}
}

type patient struct{ *pagecache.RecipeA }

func (s patient) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	cfg := s.Config()
	row := s.NewLock(key, cfg.Tokens()).Item()
	return acquireIf(ctx, s.RecipeA, key, row, free, map[string]types.AttributeValue{
		":now": seconds(pagecache.Floor(cfg.Clock.Now().Add(-cfg.Lease))),
	})
}
