package mutant

import (
	"time"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// refillRestartsWindow measures freshness from when this node first saw the page: after a restart, or on a node that
// had nothing to do, everything old is new.
//
// Seen in: vercel/next.js issues 24806 and 24088.
func refillRestartsWindow() isr.Protocol {
	return isr.Protocol{
		Name:    "refill-restarts-window",
		Summary: "a page counts as fresh for a whole window from the moment a node first reads it",
		Breaks:  "freshness",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return refiller{r, map[string]time.Time{}} }),
	}
}

type refiller struct {
	*pagecache.RecipeA
	seen map[string]time.Time // by body
}

func (s refiller) Fresh(m pagecache.Meta, now time.Time) bool {
	first, known := s.seen[m.S3Key]
	if !known {
		s.seen[m.S3Key], first = now, now
	}
	return now.Before(first.Add(s.Config().Revalidate))
}
