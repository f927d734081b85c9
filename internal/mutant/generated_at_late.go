package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// generatedAtLate stamps the page when it is published, not before the origin is read: as long as the rendering took,
// the page claims to be younger than its data.
func generatedAtLate() isr.Protocol {
	return isr.Protocol{
		Name:    "generated-at-late",
		Summary: "generated_at is the time of the publish, not the time before the data was read",
		Breaks:  "freshness",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return lateStamper{r} }),
	}
}

type lateStamper struct{ *pagecache.RecipeA }

func (s lateStamper) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	late := s.Now() - m.GeneratedAt
	m.GeneratedAt += late
	m.TTL += late
	return s.RecipeA.Publish(ctx, l, m)
}
