package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// requestCompletedLate publishes the page and writes down in a second request that it has. A machine that dies in
// between is asked again, and publishes again.
func requestCompletedLate() isr.Protocol {
	return isr.Protocol{
		Name:    "request-completed-late",
		Summary: "a requested page is published, and then the request is completed, in two requests",
		Breaks:  "idempotent-regeneration",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return lateCompleter{r} }),
	}
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
