package mutant

import (
	"time"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// freshASecondLonger takes the first second at which a page is stale for the last one at which it is fresh.
func freshASecondLonger() isr.Protocol {
	return isr.Protocol{
		Name:    "fresh-a-second-longer",
		Summary: "a page counts as fresh at generated_at + revalidate_seconds, and not only before",
		Breaks:  "freshness",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return lingerer{r} }),
	}
}

type lingerer struct{ *pagecache.RecipeA }

func (lingerer) Fresh(m pagecache.Meta, now time.Time) bool {
	return pagecache.Floor(now) <= m.FreshUntil()
}
