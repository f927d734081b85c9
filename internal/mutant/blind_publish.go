package mutant

import (
	"context"
	"errors"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// blindPublish publishes as the reference does, and if its lease is lost, puts META all the same. A writer that was
// paused past its lease overwrites the page of its successor.
//
// Seen in: awslabs/amazon-dynamodb-lock-client issue 1.
func blindPublish() isr.Protocol {
	return isr.Protocol{
		Name:    "blind-publish",
		Summary: "a publish that is refused because its lease is lost then puts META without a condition",
		Breaks:  "stale-writer",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return blindPublisher{r} }),
	}
}

type blindPublisher struct{ *pagecache.RecipeA }

func (s blindPublisher) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	err := s.RecipeA.Publish(ctx, l, m)
	if !errors.Is(err, isr.ErrLeaseLost) {
		return err
	}
	return putBlindly(ctx, s, m)
}
