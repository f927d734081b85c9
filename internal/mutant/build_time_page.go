package mutant

import (
	"context"
	"time"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// buildTimePage fills the cache when an instance starts, as if it were empty. A deployment, or a machine that comes up
// late, takes the site back to the day of the build.
//
// Seen in: caching-tools/next-shared-cache issue 1060.
func buildTimePage() isr.Protocol {
	return isr.Protocol{
		Name:    "build-time-page",
		Summary: "a new instance puts the page of its build, even over a newer META",
		Breaks:  "stale-writer",
		New: func(cfg isr.Config) (isr.Handler, error) {
			store, err := pagecache.NewRecipeA(cfg)
			if err != nil {
				return nil, err
			}
			inner, err := pagecache.NewOn(store, cfg)
			if err != nil {
				return nil, err
			}
			return &seeder{Cache: inner, store: store, seeded: map[string]bool{}}, nil
		},
	}
}

type seeder struct {
	*pagecache.Cache
	store  *pagecache.RecipeA
	seeded map[string]bool // by key
}

func (h *seeder) Get(ctx context.Context, key string) (isr.Served, error) {
	if !h.seeded[key] {
		h.seeded[key] = true
		if err := h.seed(ctx, key); err != nil {
			return isr.Served{}, err
		}
	}
	return h.Cache.Get(ctx, key)
}

func (h *seeder) seed(ctx context.Context, key string) error {
	cfg := h.store.Config()
	now := h.store.Now()
	body, err := cfg.Render(ctx, key, func(context.Context) error { return nil })
	if err != nil {
		return err
	}
	m := pagecache.Meta{
		PK: h.store.PK(key), S3Key: "pages/built-" + cfg.Tokens(), GeneratedAt: now,
		RevalidateSeconds: int64(cfg.Revalidate / time.Second), TTL: pagecache.Ceil(now.Time().Add(cfg.Revalidate + cfg.Retention)),
	}
	if err := cfg.Bodies.PutBody(ctx, m.S3Key, body); err != nil {
		return err
	}
	return putBlindly(ctx, h.store, m)
}
