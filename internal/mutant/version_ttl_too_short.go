package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// versionTTLTooShort has TTL collect a version a second after it went stale, and keeps the pointer to it for as long as
// pages are kept: META leads to a row that is gone.
func versionTTLTooShort() isr.Protocol {
	return isr.Protocol{
		Name:    "version-ttl-too-short",
		Summary: "TTL may delete a version while META still leads to it",
		Breaks:  "no-dangling-pointer",
		New:     onRecipeB(func(r *pagecache.RecipeB) pagecache.Store { return versionCollector{r} }),
	}
}

type versionCollector struct{ *pagecache.RecipeB }

func (s versionCollector) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	v := s.NewVersion(l, m)
	m.CurrentSK = v.SK
	v.TTL = m.FreshUntil() + 1
	return transact(ctx, s, putVersion(s, v), pointTo(s.RecipeB, l, m), giveBack(s.RecipeB, l))
}
