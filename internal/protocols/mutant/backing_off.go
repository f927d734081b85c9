package mutant

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// backOffInStep is polite: a node says that it wants the lock, and takes its word back if somebody else wants it, too.
// Two nodes that have seen each other wait for equally long, and meet again. An order of names would part them.
var backOffInStep = isr.Protocol{
	Name:    "back-off-in-step",
	Summary: "two nodes that want the lock both step back, and come again after the same time",
	Breaks:  "liveness",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return politeAcquirer{r, false} }),
}

type politeAcquirer struct {
	*pagecache.RecipeA
	byName bool // the least name does not step back; for tests
}

func (s politeAcquirer) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	cfg := s.Config()
	me := cfg.Tokens()
	for {
		if err := s.want(ctx, key, "ADD", me); err != nil {
			return pagecache.Lease{}, err
		}
		row, err := s.GetRow(ctx, key, wanted)
		if err != nil {
			return pagecache.Lease{}, err
		}
		all, _ := row["contenders"].(*types.AttributeValueMemberSS)
		if all == nil || len(all.Value) < 2 || s.byName && slices.Min(all.Value) == me {
			lease, err := s.RecipeA.Acquire(ctx, key)
			_ = s.want(ctx, key, "DELETE", me)
			return lease, err
		}
		if err := s.want(ctx, key, "DELETE", me); err != nil {
			return pagecache.Lease{}, err
		}
		cfg.Clock.Sleep(cfg.Poll)
	}
}

// wanted is the sort key of the row with the names of those who want the lock.
const wanted = "WANTED"

func (s politeAcquirer) want(ctx context.Context, key, how, who string) error {
	cfg := s.Config()
	_, err := cfg.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &cfg.Table, Key: pagecache.Key(s.PK(key), wanted),
		UpdateExpression: aws.String(how + " contenders :who"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":who": &types.AttributeValueMemberSS{Value: []string{who}},
		},
	})
	return err
}
