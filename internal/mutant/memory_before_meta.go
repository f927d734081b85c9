package mutant

import (
	"context"
	"time"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// memoryBeforeMeta remembers META in the process for as long as its page is fresh. The machine that makes the page again
// within its window, because it was asked to, goes on serving the one before.
func memoryBeforeMeta() isr.Protocol {
	return isr.Protocol{
		Name:    "memory-before-meta",
		Summary: "META is remembered by each process while its page is fresh, whatever is published meanwhile",
		Breaks:  "read-your-writes",
		New: onRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
			return metaKeeper{r, map[string]pagecache.Meta{}}
		}),
	}
}

type metaKeeper struct {
	*pagecache.RecipeA
	seen map[string]pagecache.Meta // by key
}

func (s metaKeeper) Read(ctx context.Context, key string) (pagecache.Meta, error) {
	now := func() time.Time { return s.Config().Clock.Now() }
	if m, known := s.seen[key]; known && s.Fresh(m, now()) {
		return m, nil
	}
	m, err := s.RecipeA.Read(ctx, key)
	if err == nil && s.Fresh(m, now()) {
		s.seen[key] = m
	}
	return m, err
}
