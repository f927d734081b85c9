package mutant

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/scenario/isr"
)

// blindPublish publishes and releases in one transaction if LOCK is its own, and
// if that is refused, puts META all the same. A writer that was paused past its lease overwrites the page of
// whoever took over.
//
// Seen in: awslabs/amazon-dynamodb-lock-client issue 1.
func blindPublish() isr.Protocol {
	return isr.Protocol{
		Name:    "blind-publish",
		Summary: "a publish that finds LOCK not its own puts META all the same, without a fence",
		Breaks:  "stale-writer",
		New:     onRecipeA(func(r *isr.RecipeA) isr.Store { return blindPublisher{r} }),
	}
}

type blindPublisher struct{ *isr.RecipeA }

func (s blindPublisher) Publish(ctx context.Context, l isr.Lease, m isr.Meta) error {
	err := publishIf(ctx, s.RecipeA, l, m, "lease_token = :token", map[string]types.AttributeValue{
		":token": &types.AttributeValueMemberS{Value: l.Token},
	})
	if !errors.Is(err, isr.ErrLeaseLost) {
		return err
	}
	return putBlindly(ctx, s, m)
}
