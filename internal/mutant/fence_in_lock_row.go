package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// fenceInLockRow guards a publish by a number that each acquisition raises, and keeps the number in LOCK. A release or
// TTL deletes the row and the count begins again: a sleeper that held number 1 wakes up to the number 1 of another
// machine.
func fenceInLockRow() isr.Protocol {
	return isr.Protocol{
		Name:    "fence-in-lock-row",
		Summary: "a publish is guarded by a fence counter, which lives in LOCK and restarts when LOCK is deleted",
		Breaks:  "stale-writer",
		New: onRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
			return fencer{r, map[string]types.AttributeValue{}}
		}),
	}
}

type fencer struct {
	*pagecache.RecipeA
	fences map[string]types.AttributeValue // by lease token
}

func (s fencer) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	cfg := s.Config()
	lock := s.NewLock(key, cfg.Tokens())
	lease := pagecache.Lease{Key: key, Token: lock.LeaseToken, ExpiresAt: lock.LeaseExpiresAt}
	out, err := cfg.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &cfg.Table,
		Key:       pagecache.Key(lock.PK, isr.SortLock),
		UpdateExpression: aws.String("SET lease_token = :token, lease_expires_at = :expires, #ttl = :ttl, " +
			"fence = if_not_exists(fence, :zero) + :one"),
		ConditionExpression:      aws.String(free),
		ExpressionAttributeNames: map[string]string{"#ttl": "ttl"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":token": &types.AttributeValueMemberS{Value: lock.LeaseToken}, ":now": seconds(s.Now()),
			":expires": seconds(lock.LeaseExpiresAt), ":ttl": seconds(lock.TTL), ":zero": seconds(0), ":one": seconds(1),
		},
		ReturnValues:                        types.ReturnValueUpdatedNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if row, refused := pagecache.Refused(err); refused {
		if token, _ := leaseIn(row); token != lease.Token {
			return pagecache.Lease{}, pagecache.ErrHeld
		}
		s.fences[lease.Token] = row["fence"]
		return lease, nil
	}
	if err != nil {
		return pagecache.Lease{}, err
	}
	s.fences[lease.Token] = out.Attributes["fence"]
	return lease, nil
}

func (s fencer) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	return publishIf(ctx, s.RecipeA, l, m, "fence = :fence AND lease_expires_at > :now", map[string]types.AttributeValue{
		":fence": s.fences[l.Token], ":now": seconds(s.Now()),
	})
}
