package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// checkThenActPublish asks whether it still holds the lease, and publishes if the answer is yes. Between the answer and
// the arrival of its put, the lease ends and another machine takes it. Looking first makes the window smaller and does
// not close it.
func checkThenActPublish() isr.Protocol {
	return isr.Protocol{
		Name:    "check-then-act-publish",
		Summary: "LOCK is read and found to be the node's own; META is then published without a condition",
		Breaks:  "stale-writer",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return checkingPublisher{blindPublisher{r}} }),
	}
}

type checkingPublisher struct{ blindPublisher }

func (s checkingPublisher) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	row, err := s.GetRow(ctx, l.Key, isr.SortLock)
	if err != nil {
		return err
	}
	if token, expires := leaseIn(row); token != l.Token || expires <= s.Now() {
		return isr.ErrLeaseLost
	}
	return s.blindPublisher.Publish(ctx, l, m)
}
