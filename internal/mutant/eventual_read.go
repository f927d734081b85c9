package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// eventualRead reads META by an eventually consistent read, as GetItem does by default. A page that was just published
// is not seen yet, so it is made once more.
func eventualRead() isr.Protocol {
	return isr.Protocol{
		Name:    "eventual-read",
		Summary: "META is read with eventual consistency, even after the lock was taken",
		Breaks:  "linearizable",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return eventualReader{r} }),
	}
}

type eventualReader struct{ *pagecache.RecipeA }

func (s eventualReader) Read(ctx context.Context, key string) (pagecache.Meta, error) {
	cfg := s.Config()
	out, err := cfg.Client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &cfg.Table, Key: pagecache.Key(s.PK(key), isr.SortMeta)})
	if err != nil {
		return pagecache.Meta{}, err
	}
	return s.Found(out.Item)
}
