package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// invalidationDeletesMeta takes the page's row away, as if that stopped a fill that is under way. A fill that has read
// old data finds no page, as it did before, and publishes.
func invalidationDeletesMeta() isr.Protocol {
	return isr.Protocol{
		Name:    "invalidation-deletes-meta",
		Summary: "an invalidation deletes META, and leaves no row that could refuse a fill under way",
		Breaks:  "no-lost-invalidation",
		New: func(cfg isr.Config) (isr.Handler, error) {
			cfg.Guards = isr.GuardToken | isr.GuardExpiry
			return onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return eraser{r} })(cfg)
		},
	}
}

type eraser struct{ *pagecache.RecipeA }

func (s eraser) Invalidate(ctx context.Context, key string) error {
	cfg := s.Config()
	_, err := cfg.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &cfg.Table, Key: pagecache.Key(s.PK(key), isr.SortMeta)})
	return err
}
