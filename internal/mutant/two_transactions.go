package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// twoTransactions publishes under the lease and gives it back afterwards, in a request of its own. In between all
// machines see the new page and a lock that says that it is being made; a machine that dies there leaves the lock
// behind.
//
// Seen in: tristanls/dynamodb-lock-client issue 21, where a release and a commit were two requests.
func twoTransactions() isr.Protocol {
	return isr.Protocol{
		Name:    "two-transactions",
		Summary: "the publish only checks LOCK, which a second request then deletes",
		Breaks:  "atomic-publish",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return twoStepPublisher{r} }),
	}
}

type twoStepPublisher struct{ *pagecache.RecipeA }

func (s twoStepPublisher) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	if err := publishChecked(ctx, s.RecipeA, l, m); err != nil {
		return err
	}
	_ = s.Release(ctx, l)
	return nil
}
