package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// lastPagePublishedAgain publishes its last page again when it cannot make a new one, and calls it new. Serving an old
// page is a policy; making it young is a lie that the next tier believes.
//
// Seen in: opennextjs/opennextjs-cloudflare issue 1281.
func lastPagePublishedAgain() isr.Protocol {
	return isr.Protocol{
		Name:    "last-page-published-again",
		Summary: "when the origin fails, the last page is published again as a new one",
		Breaks:  "freshness",
		New: func(cfg isr.Config) (isr.Handler, error) {
			if cfg.Render != nil {
				cfg.Render = orLast(cfg.Render)
			}
			return onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return r })(cfg)
		},
	}
}

func orLast(render isr.Renderer) isr.Renderer {
	last := map[string][]byte{}
	return func(ctx context.Context, key string, keepAlive func(context.Context) error) ([]byte, error) {
		body, err := render(ctx, key, keepAlive)
		if err != nil && last[key] != nil {
			return last[key], nil
		}
		if err == nil {
			last[key] = body
		}
		return body, err
	}
}
