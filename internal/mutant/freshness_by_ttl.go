package mutant

import (
	"time"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// freshnessByTTL takes a row that TTL has no right to delete yet for a fresh one. ttl is a horizon for garbage
// collection, hours or days after the page went stale.
func freshnessByTTL() isr.Protocol {
	return isr.Protocol{
		Name:    "freshness-by-ttl",
		Summary: "a page counts as fresh until its ttl, not until generated_at + revalidate_seconds",
		Breaks:  "freshness",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return ttlReader{r} }),
	}
}

type ttlReader struct{ *pagecache.RecipeA }

func (ttlReader) Fresh(m pagecache.Meta, now time.Time) bool { return pagecache.Floor(now) < m.TTL }
