package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/scenario/isr"
)

// blindPublish puts META without asking whether the lease is still held. A writer
// that was paused past its lease overwrites the page of whoever took over.
//
// Seen in: awslabs/amazon-dynamodb-lock-client issue 1.
func blindPublish() isr.Protocol {
	return isr.Protocol{
		Name:    "blind-publish",
		Summary: "META is put without a fence, and the lease is released afterwards",
		Breaks:  "stale-writer",
		New:     onRecipeA(func(r *isr.RecipeA) isr.Store { return blindPublisher{r} }),
	}
}

type blindPublisher struct{ *isr.RecipeA }

func (s blindPublisher) Publish(ctx context.Context, l isr.Lease, m isr.Meta) error {
	cfg := s.Config()
	if _, err := cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &cfg.Table, Item: m.Item()}); err != nil {
		return err
	}
	_ = s.Release(ctx, l) // best effort, and by token: this is not the bug
	return nil
}
