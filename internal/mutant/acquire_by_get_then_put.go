package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// acquireByGetThenPut looks whether the lock is free and then takes it, in two requests. A machine that acquires in
// between loses a live lease.
func acquireByGetThenPut() isr.Protocol {
	return isr.Protocol{
		Name:    "acquire-by-get-then-put",
		Summary: "LOCK is read, found free, and put without a condition",
		Breaks:  "lock-theft",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return getThenPutter{r} }),
	}
}

type getThenPutter struct{ *pagecache.RecipeA }

func (s getThenPutter) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	row, err := s.GetRow(ctx, key, isr.SortLock)
	if err != nil {
		return pagecache.Lease{}, err
	}
	if _, expires := leaseIn(row); expires > s.Now() {
		return pagecache.Lease{}, pagecache.ErrHeld
	}
	cfg := s.Config()
	lock := s.NewLock(key, cfg.Tokens())
	if _, err := cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &cfg.Table, Item: lock.Item()}); err != nil {
		return pagecache.Lease{}, err
	}
	return pagecache.Lease{Key: key, Token: lock.LeaseToken, ExpiresAt: lock.LeaseExpiresAt}, nil
}
