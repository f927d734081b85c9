package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// etagOfAnotherBody keeps the etag that META has. A client that holds the old body is told that it has the new one.
func etagOfAnotherBody() isr.Protocol {
	return isr.Protocol{
		Name:    "etag-of-another-body",
		Summary: "the etag of the page before is published with the new body",
		Breaks:  "no-dangling-pointer",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return etagKeeper{r} }),
	}
}

type etagKeeper struct{ *pagecache.RecipeA }

func (s etagKeeper) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	if before, err := s.Read(ctx, l.Key); err == nil && before.ETag != "" {
		m.ETag = before.ETag
	}
	return s.RecipeA.Publish(ctx, l, m)
}
