package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/scenario/isr"
)

// oldStockPublished publishes the first page that this node has ever made, each
// time anew, under a lease that is its own and with a time that is true: an
// artefact that was kept in a folder and goes out with every deployment.
func oldStockPublished() isr.Protocol {
	return isr.Protocol{
		Name:    "old-stock-published",
		Summary: "what a node has made first is what it publishes each time",
		Breaks:  "monotonic-publication",
		New: onRecipeA(func(r *isr.RecipeA) isr.Store {
			return stockist{r, map[string]isr.Meta{}}
		}),
	}
}

type stockist struct {
	*isr.RecipeA
	first map[string]isr.Meta // by key
}

func (s stockist) Publish(ctx context.Context, l isr.Lease, m isr.Meta) error {
	if _, made := s.first[l.Key]; !made {
		s.first[l.Key] = m
	}
	return s.RecipeA.Publish(ctx, l, s.first[l.Key])
}
