package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// metaTTLTooShort has TTL collect the page's row half way through its freshness: rows deleted early lose data as surely
// as rows that linger.
func metaTTLTooShort() isr.Protocol {
	return isr.Protocol{
		Name:    "meta-ttl-too-short",
		Summary: "TTL may delete META while the page is fresh",
		Breaks:  "ttl-well-formed",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return hastyCollector{r} }),
	}
}

type hastyCollector struct{ *pagecache.RecipeA }

func (s hastyCollector) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	m.TTL = m.GeneratedAt + pagecache.EpochSeconds(m.RevalidateSeconds/2)
	return s.RecipeA.Publish(ctx, l, m)
}
