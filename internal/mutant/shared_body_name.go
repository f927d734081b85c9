package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// sharedBodyName stores the body under the page's name and not under the generation's. The row is fenced and the body
// is not: a writer that has lost its lease puts its old body under the new row.
//
// Seen in: a public body cache that writes without a condition.
func sharedBodyName() isr.Protocol {
	return isr.Protocol{
		Name:    "shared-body-name",
		Summary: "all bodies of a page are stored under one name, and the last write wins",
		Breaks:  "freshness",
		New: func(cfg isr.Config) (isr.Handler, error) {
			render := cfg.Render
			one := &oneBody{BodyStore: cfg.Bodies}
			if cfg.Bodies != nil && render != nil {
				cfg.Bodies = one
				cfg.Render = func(ctx context.Context, key string, keepAlive func(context.Context) error) ([]byte, error) {
					one.key = key
					return render(ctx, key, keepAlive)
				}
			}
			return onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return sameNamePublisher{r} })(cfg)
		},
	}
}

// oneBody stores every body of a key under one name.
type oneBody struct {
	isr.BodyStore
	key string // of the page that is being made
}

func (b *oneBody) PutBody(ctx context.Context, _ string, body []byte) error {
	return b.BodyStore.PutBody(ctx, "pages"+b.key, body)
}

type sameNamePublisher struct{ *pagecache.RecipeA }

func (s sameNamePublisher) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	m.S3Key = "pages" + l.Key
	return s.RecipeA.Publish(ctx, l, m)
}
