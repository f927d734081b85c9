package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// recipe is the part of its store that a publish needs to know.
type recipe interface {
	Config() isr.Config
	Now() pagecache.EpochSeconds
	PK(key string) string
}

// transact sends the actions of a publish at once.
func transact(ctx context.Context, r recipe, actions ...types.TransactWriteItem) error {
	_, err := r.Config().Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: actions})
	if _, refused := pagecache.Refused(err); refused {
		return isr.ErrLeaseLost
	}
	return err
}

// publishIf is recipe A's publish under another condition on LOCK.
func publishIf(ctx context.Context, r *pagecache.RecipeA, l pagecache.Lease, m pagecache.Meta, condition string, values map[string]types.AttributeValue) error {
	return transact(ctx, r, putMeta(r, m), deleteLock(r, l, condition, values))
}

// publishChecked is recipe A's publish, but for LOCK: it is checked, and stays.
func publishChecked(ctx context.Context, r *pagecache.RecipeA, l pagecache.Lease, m pagecache.Meta) error {
	cfg := r.Config()
	return transact(ctx, r, putMeta(r, m), types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: &cfg.Table, Key: pagecache.Key(r.PK(l.Key), isr.SortLock),
		ConditionExpression: aws.String(ownAndHeld), ExpressionAttributeValues: ownAndHeldValues(r, l),
	}})
}

// putBlindly puts META without a condition on META or on the lease.
func putBlindly(ctx context.Context, r recipe, m pagecache.Meta) error {
	cfg := r.Config()
	_, err := cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &cfg.Table, Item: m.Item()})
	return err
}

// The actions of the references' publishes, and their condition on LOCK.

const ownAndHeld = "lease_token = :token AND lease_expires_at > :now"

func ownAndHeldValues(r recipe, l pagecache.Lease) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{":token": &types.AttributeValueMemberS{Value: l.Token}, ":now": seconds(r.Now())}
}

func putMeta(r recipe, m pagecache.Meta) types.TransactWriteItem {
	cfg := r.Config()
	return types.TransactWriteItem{Put: &types.Put{TableName: &cfg.Table, Item: m.Item()}}
}

func putVersion(r recipe, v pagecache.Version) types.TransactWriteItem {
	cfg := r.Config()
	return types.TransactWriteItem{Put: &types.Put{
		TableName: &cfg.Table, Item: v.Item(), ConditionExpression: aws.String("attribute_not_exists(pk)"),
	}}
}

func pointTo(r *pagecache.RecipeB, l pagecache.Lease, m pagecache.Meta) types.TransactWriteItem {
	return types.TransactWriteItem{Update: r.PointTo(l.Key, m, nil, nil)}
}

func deleteLock(r recipe, l pagecache.Lease, condition string, values map[string]types.AttributeValue) types.TransactWriteItem {
	cfg := r.Config()
	return types.TransactWriteItem{Delete: &types.Delete{
		TableName: &cfg.Table, Key: pagecache.Key(r.PK(l.Key), isr.SortLock),
		ConditionExpression: &condition, ExpressionAttributeValues: values,
	}}
}

func giveBack(r recipe, l pagecache.Lease) types.TransactWriteItem {
	return deleteLock(r, l, ownAndHeld, ownAndHeldValues(r, l))
}
