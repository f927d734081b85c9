package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// staleInnerCache makes a page again from data that an inner cache still holds for fresh. Two windows add up: the page
// says that it is new, and its data is as old as both.
//
// Seen in: vercel/next.js issue 58909.
func staleInnerCache() isr.Protocol {
	return isr.Protocol{
		Name:    "stale-inner-cache",
		Summary: "the origin is read through a cache with a window of its own",
		Breaks:  "freshness",
		New: func(cfg isr.Config) (isr.Handler, error) {
			if cfg.Render != nil {
				cfg.Render = throughCache(cfg)
			}
			return onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return r })(cfg)
		},
	}
}

// throughCache renders again only when the inner window is over.
func throughCache(cfg isr.Config) isr.Renderer {
	type entry struct {
		body []byte
		at   pagecache.EpochSeconds
	}
	inner := map[string]entry{}
	return func(ctx context.Context, key string, keepAlive func(context.Context) error) ([]byte, error) {
		now := pagecache.Floor(cfg.Clock.Now())
		if e, ok := inner[key]; ok && now.Time().Sub(e.at.Time()) <= cfg.Revalidate {
			return e.body, nil
		}
		body, err := cfg.Render(ctx, key, keepAlive)
		if err == nil {
			inner[key] = entry{body, now}
		}
		return body, err
	}
}
