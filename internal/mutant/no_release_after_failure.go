package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// noReleaseAfterFailure leaves the lock where it is when the origin fails: no machine may try again for the rest of the
// lease.
//
// Seen in: opennextjs/opennextjs-aws pull request 410, aws-powertools/powertools-lambda-python issue 1038.
func noReleaseAfterFailure() isr.Protocol {
	return isr.Protocol{
		Name:    "no-release-after-failure",
		Summary: "the lease is kept when the page could not be made",
		Breaks:  "liveness",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return keeper{r} }),
	}
}

type keeper struct{ *pagecache.RecipeA }

func (keeper) Release(context.Context, pagecache.Lease) error { return nil }
