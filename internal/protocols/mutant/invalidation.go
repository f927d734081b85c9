package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/internal/protocols/guard"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// invalidationDeletesMeta deletes the page's row, as if that stopped a fill that is under way. A fill that has read old
// data finds no page, as it did before, and publishes.
var invalidationDeletesMeta = isr.Protocol{
	Name:    "invalidation-deletes-meta",
	Summary: "an invalidation deletes META, and leaves no row that could refuse a fill under way",
	Breaks:  "no-lost-invalidation",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return eraser{r} }),
}

type eraser struct{ *pagecache.RecipeA }

func (s eraser) Invalidate(ctx context.Context, key string) error {
	cfg := s.Config()
	_, err := cfg.Client.DeleteItem(ctx,
		&dynamodb.DeleteItemInput{TableName: &cfg.Table, Key: pagecache.Key(s.PK(key), isr.SortMeta)})
	return err
}

// invalidationOvertaken counts versions when it invalidates, but does not compare them when it publishes. A page whose
// data was read before the invalidation is published after it, and every machine takes it for fresh.
//
// Seen in: vercel/next.js pull request 96726.
var invalidationOvertaken = isr.Protocol{
	Name:    "invalidation-overtaken",
	Summary: "a fill that was under way during an invalidation is published after it",
	Breaks:  "no-lost-invalidation",
	New: func(cfg isr.Config) (isr.Handler, error) {
		deaf, err := pagecache.NewRecipeA(cfg)
		if err != nil {
			return nil, err
		}
		return onRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
			r.Guards |= guard.Version
			return overtaker{r, deaf}
		})(cfg)
	},
}

type overtaker struct {
	*pagecache.RecipeA
	deaf *pagecache.RecipeA // ignores versions
}

func (s overtaker) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	return s.deaf.Publish(ctx, l, m)
}
