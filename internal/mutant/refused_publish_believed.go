package mutant

import (
	"context"
	"errors"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// refusedPublishBelieved has its page, so it says that the request is done, although the store has refused to publish:
// the lease was over. The client who looks again finds the page from before.
func refusedPublishBelieved() isr.Protocol {
	return isr.Protocol{
		Name:    "refused-publish-believed",
		Summary: "a page that was asked for by name counts as made once it is rendered, although its publish is refused",
		Breaks:  "read-your-writes",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return optimist{r} }),
	}
}

type optimist struct{ *pagecache.RecipeA }

func (s optimist) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	err := s.RecipeA.Publish(ctx, l, m)
	if l.Request.ID != "" && errors.Is(err, isr.ErrLeaseLost) {
		return nil
	}
	return err
}
