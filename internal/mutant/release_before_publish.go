package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// releaseBeforePublish gives the lease back when the page is made, and publishes then. A machine that was waiting
// begins at once, finds the old page, and makes it again.
//
// Seen in: nitrojs/nitro issue 1812, where the response went out and the waiting ended before the cache was written.
func releaseBeforePublish() isr.Protocol {
	return isr.Protocol{
		Name:    "release-before-publish",
		Summary: "the lease is given back first, and the page published after it",
		Breaks:  "stale-writer",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return earlyReleaser{r} }),
	}
}

type earlyReleaser struct{ *pagecache.RecipeA }

func (s earlyReleaser) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	if err := s.Release(ctx, l); err != nil {
		return err
	}
	return putBlindly(ctx, s, m)
}
