package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// ownCommitAsConflict does not look at the token of the row that has refused it. When the answer to the put is lost,
// the SDK sends the put again, and it meets its own commit. Then no machine knows that it holds the lock, and the page
// has to wait until the lease ends.
//
// Seen in: aws/aws-sdk-java issue 2667, cirello-io/dynamolock issue 280.
func ownCommitAsConflict() isr.Protocol {
	return isr.Protocol{
		Name:    "own-commit-as-conflict",
		Summary: "an acquire that meets its own row takes it for another node's",
		Breaks:  "liveness",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return stranger{r} }),
	}
}

type stranger struct{ *pagecache.RecipeA }

func (s stranger) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	cfg := s.Config()
	lock := s.NewLock(key, cfg.Tokens())
	_, err := cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &cfg.Table, Item: lock.Item(), ConditionExpression: aws.String(free),
		ExpressionAttributeValues: map[string]types.AttributeValue{":now": seconds(s.Now())},
	})
	if _, refused := pagecache.Refused(err); refused {
		return pagecache.Lease{}, pagecache.ErrHeld
	}
	if err != nil {
		return pagecache.Lease{}, err
	}
	return pagecache.Lease{Key: key, Token: lock.LeaseToken, ExpiresAt: lock.LeaseExpiresAt}, nil
}
