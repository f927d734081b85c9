package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// acquireWaitsForTTL takes a lock only if there is none, and leaves it to TTL to delete the lock of a machine that
// died. TTL takes days.
//
// Seen in: mohankishore/python_dynamodb_lock issue 2793.
func acquireWaitsForTTL() isr.Protocol {
	return isr.Protocol{
		Name:    "acquire-waits-for-ttl",
		Summary: "acquire takes a lock only where there is no row, even if its lease is over",
		Breaks:  "liveness",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return patientAcquirer{r} }),
	}
}

type patientAcquirer struct{ *pagecache.RecipeA }

func (s patientAcquirer) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	row := s.NewLock(key, s.Config().Tokens()).Item()
	return acquireIf(ctx, s.RecipeA, key, row, "attribute_not_exists(pk)", nil)
}
