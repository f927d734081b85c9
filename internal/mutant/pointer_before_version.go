package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// pointerBeforeVersion moves the pointer first, and puts the version that it leads to in a second request. Readers in
// between find nothing, and a machine that dies there leaves it so.
func pointerBeforeVersion() isr.Protocol {
	return isr.Protocol{
		Name:    "pointer-before-version",
		Summary: "META is pointed at a version that a second request puts",
		Breaks:  "no-dangling-pointer",
		New:     onRecipeB(func(r *pagecache.RecipeB) pagecache.Store { return pointingFirst{r} }),
	}
}

type pointingFirst struct{ *pagecache.RecipeB }

func (s pointingFirst) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	v := s.NewVersion(l, m)
	m.CurrentSK = v.SK
	if err := transact(ctx, s, pointTo(s.RecipeB, l, m), giveBack(s.RecipeB, l)); err != nil {
		return err
	}
	return transact(ctx, s, putVersion(s, v))
}
