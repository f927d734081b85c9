package mutant

import (
	"context"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/scenario/isr"
)

// free is the reference's condition for acquiring.
const free = "attribute_not_exists(pk) OR lease_expires_at <= :now"

// acquireIf is the reference's Acquire of the lease that row holds, under another
// condition.
func acquireIf(ctx context.Context, r *isr.RecipeA, key string, row map[string]types.AttributeValue, condition string, values map[string]types.AttributeValue) (isr.Lease, error) {
	cfg := r.Config()
	lease := isr.Lease{Key: key}
	lease.Token, lease.ExpiresAt = leaseIn(row)
	_, err := cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &cfg.Table, Item: row, ConditionExpression: &condition, ExpressionAttributeValues: values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if row, refused := isr.Refused(err); refused {
		if token, _ := leaseIn(row); token == lease.Token {
			return lease, nil // its own commit, met again: this is not the bug
		}
		return isr.Lease{}, isr.ErrHeld
	}
	if err != nil {
		return isr.Lease{}, err
	}
	return lease, nil
}

// publishIf is the reference's publish under another condition on LOCK.
func publishIf(ctx context.Context, r *isr.RecipeA, l isr.Lease, m isr.Meta, condition string, values map[string]types.AttributeValue) error {
	cfg := r.Config()
	_, err := cfg.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: &cfg.Table, Item: m.Item()}},
			{Delete: &types.Delete{
				TableName:                 &cfg.Table,
				Key:                       isr.Key(r.PK(l.Key), isr.SortLock),
				ConditionExpression:       &condition,
				ExpressionAttributeValues: values,
			}},
		},
	})
	if _, refused := isr.Refused(err); refused {
		return isr.ErrLeaseLost
	}
	return err
}

// publishChecked is the reference's publish, but for LOCK: it is checked, and stays.
func publishChecked(ctx context.Context, r *isr.RecipeA, l isr.Lease, m isr.Meta) error {
	cfg := r.Config()
	_, err := cfg.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: &cfg.Table, Item: m.Item()}},
			{ConditionCheck: &types.ConditionCheck{
				TableName:           &cfg.Table,
				Key:                 isr.Key(r.PK(l.Key), isr.SortLock),
				ConditionExpression: aws.String("lease_token = :token AND lease_expires_at > :now"),
				ExpressionAttributeValues: map[string]types.AttributeValue{
					":token": &types.AttributeValueMemberS{Value: l.Token}, ":now": seconds(r.Now()),
				},
			}},
		},
	})
	if _, refused := isr.Refused(err); refused {
		return isr.ErrLeaseLost
	}
	return err
}

// leaseIn reads the lease of a LOCK row; of no row, none, which is over.
func leaseIn(row map[string]types.AttributeValue) (token string, expires isr.EpochSeconds) {
	if s, ok := row["lease_token"].(*types.AttributeValueMemberS); ok {
		token = s.Value
	}
	if n, ok := row["lease_expires_at"].(*types.AttributeValueMemberN); ok {
		if at, err := strconv.ParseInt(n.Value, 10, 64); err == nil {
			expires = isr.EpochSeconds(at)
		}
	}
	return token, expires
}

func seconds(e isr.EpochSeconds) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(int64(e), 10)}
}
