package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/scenario/isr"
)

// onRecipeB makes the constructor of a mutant that replaces methods of recipe B.
func onRecipeB(mutate func(*isr.RecipeB) isr.Store) func(isr.Config) (isr.Handler, error) {
	return func(cfg isr.Config) (isr.Handler, error) {
		reference, err := isr.NewRecipeB(cfg)
		if err != nil {
			return nil, err
		}
		return isr.AsHandler(isr.NewOn(mutate(reference), cfg))
	}
}

// transact sends the actions at once.
func transact(ctx context.Context, cfg isr.Config, actions ...types.TransactWriteItem) error {
	_, err := cfg.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: actions})
	if _, refused := isr.Refused(err); refused {
		return isr.ErrLeaseLost
	}
	return err
}

// The actions of the reference's publish.

func putVersion(cfg isr.Config, v isr.Version) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{
		TableName: &cfg.Table, Item: v.Item(), ConditionExpression: aws.String("attribute_not_exists(pk)"),
	}}
}

func pointTo(r *isr.RecipeB, l isr.Lease, m isr.Meta) types.TransactWriteItem {
	return types.TransactWriteItem{Update: r.PointTo(l.Key, m, nil, nil)}
}

func giveBack(r *isr.RecipeB, l isr.Lease) types.TransactWriteItem {
	cfg := r.Config()
	return types.TransactWriteItem{Delete: &types.Delete{
		TableName:           &cfg.Table,
		Key:                 isr.Key(r.PK(l.Key), isr.SortLock),
		ConditionExpression: aws.String("lease_token = :token AND lease_expires_at > :now"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":token": &types.AttributeValueMemberS{Value: l.Token}, ":now": seconds(r.Now()),
		},
	}}
}
