package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// heartbeatWithoutToken extends the lease in LOCK without looking at its token. A holder that slept past its lease
// keeps the lock of its successor alive, and takes it for its own.
func heartbeatWithoutToken() isr.Protocol {
	return isr.Protocol{
		Name:    "heartbeat-without-token",
		Summary: "a refresh extends any lease in LOCK that is not over, without a check of its token",
		Breaks:  "lock-theft",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return blindRefresher{r} }),
	}
}

type blindRefresher struct{ *pagecache.RecipeA }

func (s blindRefresher) Refresh(ctx context.Context, l pagecache.Lease) (pagecache.Lease, error) {
	cfg := s.Config()
	lock := s.NewLock(l.Key, l.Token)
	_, err := cfg.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                &cfg.Table,
		Key:                      pagecache.Key(lock.PK, isr.SortLock),
		UpdateExpression:         aws.String("SET lease_expires_at = :expires, #ttl = :ttl"),
		ConditionExpression:      aws.String("lease_expires_at > :now"),
		ExpressionAttributeNames: map[string]string{"#ttl": "ttl"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":now": seconds(s.Now()), ":expires": seconds(lock.LeaseExpiresAt), ":ttl": seconds(lock.TTL),
		},
	})
	if _, refused := pagecache.Refused(err); refused {
		return pagecache.Lease{}, isr.ErrLeaseLost
	}
	if err != nil {
		return pagecache.Lease{}, err
	}
	l.ExpiresAt = lock.LeaseExpiresAt
	return l, nil
}
