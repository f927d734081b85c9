package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// heartbeatBeatsOnce extends a lease once, and from then on only reports that it has. The holder of a long rendering
// relies on a lease that has ended.
//
// Seen in: Clever/dynamodb-lock-go pull request 5, cirello-io/dynamolock issue 14.
func heartbeatBeatsOnce() isr.Protocol {
	return isr.Protocol{
		Name:    "heartbeat-beats-once",
		Summary: "only the first refresh of a lease is sent; the others report success",
		Breaks:  "linearizable",
		New: onRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
			return onceBeater{r, map[string]bool{}}
		}),
	}
}

type onceBeater struct {
	*pagecache.RecipeA
	beaten map[string]bool // by token
}

func (s onceBeater) Refresh(ctx context.Context, l pagecache.Lease) (pagecache.Lease, error) {
	if s.beaten[l.Token] {
		l.ExpiresAt = s.NewLock(l.Key, l.Token).LeaseExpiresAt
		return l, nil
	}
	s.beaten[l.Token] = true
	return s.RecipeA.Refresh(ctx, l)
}
