package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// rollbackWithoutLease moves the pointer back without asking whether the lease is still its own, and gives the lease
// back in a request of its own. It is like an operator who edits the row while a machine is about to publish.
func rollbackWithoutLease() isr.Protocol {
	return isr.Protocol{
		Name:    "rollback-without-lease",
		Summary: "a rollback moves META without a check of its lease, and gives the lease back in a second request",
		Breaks:  "atomic-publish",
		New:     onRecipeB(func(r *pagecache.RecipeB) pagecache.Store { return handOnRow{r} }),
	}
}

type handOnRow struct{ *pagecache.RecipeB }

func (s handOnRow) Restore(ctx context.Context, l pagecache.Lease, _, older pagecache.Meta) error {
	if err := transact(ctx, s, pointTo(s.RecipeB, l, older)); err != nil {
		return err
	}
	_ = s.Release(ctx, l) // best effort, and by token: this is not the bug
	return nil
}
