package mutant

import (
	"context"
	"errors"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/scenario/isr"
)

// leaseInMilliseconds compares the row's epoch seconds with a clock read in
// milliseconds, so every lease looks long over.
//
// Seen in: aws-powertools/powertools-lambda-java issue 1281, where one "now" was
// compared in both units.
func leaseInMilliseconds() isr.Protocol {
	return isr.Protocol{
		Name:    "lease-in-milliseconds",
		Summary: "acquire compares lease_expires_at, in seconds, with a clock in milliseconds",
		Breaks:  "lock-theft",
		New:     onRecipeA(func(r *isr.RecipeA) isr.Store { return millisecondAcquirer{r} }),
	}
}

type millisecondAcquirer struct{ *isr.RecipeA }

func (s millisecondAcquirer) Acquire(ctx context.Context, key string) (isr.Lease, error) {
	cfg := s.Config()
	lock := s.NewLock(key, cfg.Tokens())
	nowMillis := strconv.FormatInt(cfg.Clock.Now().UnixMilli(), 10)
	_, err := cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                 &cfg.Table,
		Item:                      lock.Item(),
		ConditionExpression:       aws.String("attribute_not_exists(pk) OR lease_expires_at <= :now"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":now": &types.AttributeValueMemberN{Value: nowMillis}},
	})
	if _, refused := errors.AsType[*types.ConditionalCheckFailedException](err); refused {
		return isr.Lease{}, isr.ErrHeld
	}
	if err != nil {
		return isr.Lease{}, err
	}
	return isr.Lease{Key: key, Token: lock.LeaseToken, ExpiresAt: lock.LeaseExpiresAt}, nil
}
