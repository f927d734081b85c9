package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// acquireASecondEarly rounds now up where it has to be rounded down, and so takes a lease that has a second to go.
func acquireASecondEarly() isr.Protocol {
	return isr.Protocol{
		Name:    "acquire-a-second-early",
		Summary: "acquire takes a lease over one second before lease_expires_at",
		Breaks:  "lock-theft",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return earlyAcquirer{r} }),
	}
}

type earlyAcquirer struct{ *pagecache.RecipeA }

func (s earlyAcquirer) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	row := s.NewLock(key, s.Config().Tokens()).Item()
	return acquireIf(ctx, s.RecipeA, key, row, free, map[string]types.AttributeValue{":now": seconds(s.Now() + 1)})
}
