package mutant

import (
	"context"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/pagecache"
)

// free is the reference's condition for acquiring.
const free = "attribute_not_exists(pk) OR lease_expires_at <= :now"

// acquireIf is the reference's Acquire of the lease that row holds, under another condition.
func acquireIf(ctx context.Context, r *pagecache.RecipeA, key string, row map[string]types.AttributeValue, condition string, values map[string]types.AttributeValue) (pagecache.Lease, error) {
	cfg := r.Config()
	lease := pagecache.Lease{Key: key}
	lease.Token, lease.ExpiresAt = leaseIn(row)
	_, err := cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &cfg.Table, Item: row, ConditionExpression: &condition, ExpressionAttributeValues: values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if row, refused := pagecache.Refused(err); refused {
		if token, _ := leaseIn(row); token == lease.Token {
			return lease, nil // its own commit, met again: this is not the bug
		}
		return pagecache.Lease{}, pagecache.ErrHeld
	}
	if err != nil {
		return pagecache.Lease{}, err
	}
	return lease, nil
}

// leaseIn reads the lease of a LOCK row; of no row, none, which is over.
func leaseIn(row map[string]types.AttributeValue) (token string, expires pagecache.EpochSeconds) {
	if s, ok := row["lease_token"].(*types.AttributeValueMemberS); ok {
		token = s.Value
	}
	if n, ok := row["lease_expires_at"].(*types.AttributeValueMemberN); ok {
		if at, err := strconv.ParseInt(n.Value, 10, 64); err == nil {
			expires = pagecache.EpochSeconds(at)
		}
	}
	return token, expires
}

func seconds(e pagecache.EpochSeconds) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(int64(e), 10)}
}
