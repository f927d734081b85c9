package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// heartbeatAfterRelease beats once more after the lease is gone. Its update has no condition: it revives the lock, or
// takes it from its new holder.
//
// Seen in: awslabs/amazon-dynamodb-lock-client pull request 116, tristanls/dynamodb-lock-client issue 1,
// cirello-io/dynamolock issue 560.
var heartbeatAfterRelease = isr.Protocol{
	Name:    "heartbeat-after-release",
	Summary: "one more heartbeat is sent after the lease was given back, and writes a new LOCK",
	Breaks:  "lock-theft",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return zombie{r} }),
}

type zombie struct{ *pagecache.RecipeA }

func (s zombie) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	if err := s.RecipeA.Publish(ctx, l, m); err != nil {
		return err
	}
	cfg := s.Config()
	lock := s.NewLock(l.Key, l.Token)
	_, _ = cfg.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                &cfg.Table,
		Key:                      pagecache.Key(lock.PK, isr.SortLock),
		UpdateExpression:         aws.String("SET lease_token = :token, lease_expires_at = :expires, #ttl = :ttl"),
		ExpressionAttributeNames: map[string]string{"#ttl": "ttl"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":token": &types.AttributeValueMemberS{Value: l.Token}, ":expires": seconds(lock.LeaseExpiresAt),
			":ttl": seconds(lock.TTL),
		},
	}) // it was only a heartbeat
	return nil
}

// heartbeatBeatsOnce extends a lease once, and from then on only reports success. The holder of a long rendering relies
// on a lease that has ended.
//
// Seen in: Clever/dynamodb-lock-go pull request 5, cirello-io/dynamolock issue 14.
var heartbeatBeatsOnce = isr.Protocol{
	Name:    "heartbeat-beats-once",
	Summary: "only the first refresh of a lease is sent; the others report success",
	Breaks:  "linearizable",
	New: onRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
		return onceBeater{r, map[string]bool{}}
	}),
}

type onceBeater struct {
	*pagecache.RecipeA
	beaten map[string]bool // by token
}

func (s onceBeater) Refresh(ctx context.Context, l pagecache.Lease) (pagecache.Lease, error) {
	if s.beaten[l.Token] {
		l.ExpiresAt = s.NewLock(l.Key, l.Token).LeaseExpiresAt
		return l, nil
	}
	s.beaten[l.Token] = true
	return s.RecipeA.Refresh(ctx, l)
}

// heartbeatWithoutToken extends the lease in LOCK without looking at its token. A holder that slept past its lease
// keeps the lock of its successor alive, and takes it for its own.
var heartbeatWithoutToken = isr.Protocol{
	Name:    "heartbeat-without-token",
	Summary: "a refresh extends any lease in LOCK that is not over, without a check of its token",
	Breaks:  "lock-theft",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return blindRefresher{r} }),
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
