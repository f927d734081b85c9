package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/scenario/isr"
)

// metaTTLTooShort has TTL collect the page's row half way through its freshness: rows deleted
// early lose data as surely as rows that linger.
func metaTTLTooShort() isr.Protocol {
	return isr.Protocol{
		Name:    "meta-ttl-too-short",
		Summary: "TTL may delete META while the page is fresh",
		Breaks:  "ttl-well-formed",
		New:     onRecipeA(func(r *isr.RecipeA) isr.Store { return hastyCollector{r} }),
	}
}

type hastyCollector struct{ *isr.RecipeA }

func (s hastyCollector) Publish(ctx context.Context, l isr.Lease, m isr.Meta) error {
	m.TTL = m.GeneratedAt + isr.EpochSeconds(m.RevalidateSeconds/2)
	return s.RecipeA.Publish(ctx, l, m)
}
