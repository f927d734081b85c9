package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// oldStockPublished publishes the first page that this node has ever made, again and again, under its own lease and
// with a true time. It is like an artefact that was kept in a folder and goes out with every deployment.
func oldStockPublished() isr.Protocol {
	return isr.Protocol{
		Name:    "old-stock-published",
		Summary: "a node publishes the first page that it made every time",
		Breaks:  "monotonic-publication",
		New: onRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
			return stockist{r, map[string]pagecache.Meta{}}
		}),
	}
}

type stockist struct {
	*pagecache.RecipeA
	first map[string]pagecache.Meta // by key
}

func (s stockist) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	if _, made := s.first[l.Key]; !made {
		s.first[l.Key] = m
	}
	return s.RecipeA.Publish(ctx, l, s.first[l.Key])
}
