package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// windowOpensBeforeRender stamps the old page as new before it makes the new one, to keep others from making it too.
// When the machine dies before it is done, the old page stays, and every machine takes it for fresh.
//
// Seen in: nitrojs/nitro issue 1198, where a refresh in the background was killed with its function.
func windowOpensBeforeRender() isr.Protocol {
	return isr.Protocol{
		Name:    "window-opens-before-render",
		Summary: "generated_at of the old page is set to now when its regeneration begins",
		Breaks:  "freshness",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return &opener{RecipeA: r} }),
	}
}

type opener struct {
	*pagecache.RecipeA
	acquired bool // just now
}

func (s *opener) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	l, err := s.RecipeA.Acquire(ctx, key)
	s.acquired = err == nil
	return l, err
}

// Read opens the window after the second look, which must still find the page stale.
func (s *opener) Read(ctx context.Context, key string) (pagecache.Meta, error) {
	m, err := s.RecipeA.Read(ctx, key)
	if !s.acquired || err != nil || s.RecipeA.Fresh(m, s.Config().Clock.Now()) {
		s.acquired = false
		return m, err
	}
	s.acquired = false
	cfg := s.Config()
	_, _ = cfg.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &cfg.Table,
		Key:                       pagecache.Key(s.PK(key), isr.SortMeta),
		UpdateExpression:          aws.String("SET generated_at = :now"),
		ConditionExpression:       aws.String("attribute_exists(pk)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":now": seconds(s.Now())},
	}) // others may then make it too
	return m, nil
}
