package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// heartbeatAfterRelease beats once more after the lease is gone. Its update has no condition: it brings the lock back
// to life, or takes it from its new holder.
//
// Seen in: awslabs/amazon-dynamodb-lock-client pull request 116, tristanls/dynamodb-lock-client issue 1,
// cirello-io/dynamolock issue 560.
func heartbeatAfterRelease() isr.Protocol {
	return isr.Protocol{
		Name:    "heartbeat-after-release",
		Summary: "one more heartbeat is sent after the lease was given back, and writes a new LOCK",
		Breaks:  "lock-theft",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return zombie{r} }),
	}
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
			":token": &types.AttributeValueMemberS{Value: l.Token}, ":expires": seconds(lock.LeaseExpiresAt), ":ttl": seconds(lock.TTL),
		},
	}) // it was only a heartbeat
	return nil
}
