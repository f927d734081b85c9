package mutant

import (
	"context"
	"time"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// freshAsOfRead decides on freshness once, when it reads META. A machine that stops between the decision and the answer
// calls a page fresh that has not been so for long.
//
// Seen in: etcd-io/etcd issue 20418, where a paused process served reads that were no longer true.
func freshAsOfRead() isr.Protocol {
	return isr.Protocol{
		Name:    "fresh-as-of-read",
		Summary: "a page is called fresh if it was fresh when META was read, no matter how long ago",
		Breaks:  "freshness",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return &rememberer{RecipeA: r} }),
	}
}

type rememberer struct {
	*pagecache.RecipeA
	read time.Time // when META was read last
}

func (s *rememberer) Read(ctx context.Context, key string) (pagecache.Meta, error) {
	s.read = s.Config().Clock.Now()
	return s.RecipeA.Read(ctx, key)
}

func (s *rememberer) Fresh(m pagecache.Meta, _ time.Time) bool { return s.RecipeA.Fresh(m, s.read) }
