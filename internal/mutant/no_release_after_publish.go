package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// noReleaseAfterPublish publishes under the lease and lets it run out. The lock becomes a window in which the page is
// not made again, even after an invalidation.
//
// Seen in: serverless-nextjs/serverless-next.js issue 2483, where a queue's window against duplicates swallowed a
// regeneration.
func noReleaseAfterPublish() isr.Protocol {
	return isr.Protocol{
		Name:    "no-release-after-publish",
		Summary: "the publish checks LOCK and leaves it until its lease is over",
		Breaks:  "atomic-publish",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return sitter{r} }),
	}
}

type sitter struct{ *pagecache.RecipeA }

func (s sitter) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	return publishChecked(ctx, s.RecipeA, l, m)
}
