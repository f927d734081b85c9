package mutant

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// requestCompletedLate publishes the page, and records that in a second request. If a machine dies in between, the
// request is repeated and publishes again.
var requestCompletedLate = isr.Protocol{
	Name:    "request-completed-late",
	Summary: "a requested page is published, and then the request is completed, in two requests",
	Breaks:  "idempotent-regeneration",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return lateCompleter{r} }),
}

type lateCompleter struct{ *pagecache.RecipeA }

func (s lateCompleter) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	r := l.Request
	l.Request = isr.Request{}
	if err := s.RecipeA.Publish(ctx, l, m); err != nil || r.ID == "" {
		return err
	}
	cfg := s.Config()
	_, err := cfg.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                &cfg.Table,
		Key:                      pagecache.Key(s.PK(l.Key), pagecache.SortRequest+r.ID),
		UpdateExpression:         aws.String("SET #status = :completed, result_s3_key = :result"),
		ExpressionAttributeNames: map[string]string{"#status": "status"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":completed": &types.AttributeValueMemberS{Value: string(pagecache.RequestCompleted)},
			":result":    &types.AttributeValueMemberS{Value: m.S3Key},
		},
	})
	return err
}

// requestHashIgnored takes an idempotency key for the whole request. A client that uses one key for two different
// requests gets the first result for both.
var requestHashIgnored = isr.Protocol{
	Name:    "request-hash-ignored",
	Summary: "an idempotency key that was used with other inputs is accepted",
	Breaks:  "idempotent-regeneration",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return &careless{RecipeA: r} }),
}

type careless struct {
	*pagecache.RecipeA
	hash string // the hash in the row
}

func (s *careless) Begin(ctx context.Context, key string, r isr.Request) (pagecache.RequestRow, error) {
	row, err := s.RecipeA.Begin(ctx, key, r)
	if errors.Is(err, isr.ErrOtherInputs) {
		return s.whatever(ctx, key, r)
	}
	s.hash = r.Hash
	return row, err
}

func (s *careless) Asked(ctx context.Context, key string, r isr.Request) (pagecache.RequestRow, error) {
	return s.whatever(ctx, key, r)
}

// whatever returns the row even if it has other inputs.
func (s *careless) whatever(ctx context.Context, key string, r isr.Request) (pagecache.RequestRow, error) {
	item, err := s.GetRow(ctx, key, pagecache.SortRequest+r.ID)
	if err != nil {
		return pagecache.RequestRow{}, err
	}
	if item == nil {
		return pagecache.RequestRow{}, isr.ErrMiss
	}
	row, err := pagecache.ParseRequestRow(item)
	s.hash = row.RequestHash
	return row, err
}

func (s *careless) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	if l.Request.ID != "" {
		l.Request.Hash = s.hash
	}
	return s.RecipeA.Publish(ctx, l, m)
}
