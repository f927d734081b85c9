package mutant

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// zeroLeaseIsForEver counts a lease in whole seconds and takes none for "without an end". The lock of a machine that
// dies within half a second stays.
//
// Seen in: aws-powertools/powertools-lambda-python issue 4759, where no time left was taken for no limit.
func zeroLeaseIsForEver() isr.Protocol {
	return isr.Protocol{
		Name:    "zero-lease-is-for-ever",
		Summary: "a lease of less than a second is written without an end",
		Breaks:  "liveness",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return eternal{r} }),
	}
}

type eternal struct{ *pagecache.RecipeA }

func (s eternal) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	cfg := s.Config()
	lock := s.NewLock(key, cfg.Tokens())
	if cfg.Lease/time.Second == 0 {
		lock.LeaseExpiresAt += 100 * 365 * 24 * 3600
		lock.TTL = 0
	}
	return acquireIf(ctx, s.RecipeA, key, lock.Item(), free, map[string]types.AttributeValue{":now": seconds(s.Now())})
}
