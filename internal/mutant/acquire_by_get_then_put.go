package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/scenario/isr"
)

// acquireByGetThenPut looks whether the lock is free and then takes it, in two
// requests. Whoever acquires in between loses a live lease.
func acquireByGetThenPut() isr.Protocol {
	return isr.Protocol{
		Name:    "acquire-by-get-then-put",
		Summary: "LOCK is read, found free, and put without a condition",
		Breaks:  "lock-theft",
		New:     onRecipeA(func(r *isr.RecipeA) isr.Store { return getThenPutter{r} }),
	}
}

type getThenPutter struct{ *isr.RecipeA }

func (s getThenPutter) Acquire(ctx context.Context, key string) (isr.Lease, error) {
	row, err := s.GetRow(ctx, key, isr.SortLock)
	if err != nil {
		return isr.Lease{}, err
	}
	if _, expires := leaseIn(row); expires > s.Now() {
		return isr.Lease{}, isr.ErrHeld
	}
	cfg := s.Config()
	lock := s.NewLock(key, cfg.Tokens())
	if _, err := cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &cfg.Table, Item: lock.Item()}); err != nil {
		return isr.Lease{}, err
	}
	return isr.Lease{Key: key, Token: lock.LeaseToken, ExpiresAt: lock.LeaseExpiresAt}, nil
}
