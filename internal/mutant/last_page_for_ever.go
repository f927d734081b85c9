package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// lastPageForEver serves the last page that the process has seen when everything else fails, and never asks how old it
// is: stale-if-error without a limit.
func lastPageForEver() isr.Protocol {
	return isr.Protocol{
		Name:    "last-page-for-ever",
		Summary: "after a failure a process serves the last page that it has served, of whatever age",
		Breaks:  "bounded-staleness",
		New: func(cfg isr.Config) (isr.Handler, error) {
			inner, err := pagecache.New(cfg)
			if err != nil {
				return nil, err
			}
			return stockKeeper{inner, map[string][]byte{}}, nil
		},
	}
}

type stockKeeper struct {
	*pagecache.Cache
	last map[string][]byte // by key
}

func (h stockKeeper) Get(ctx context.Context, key string) (isr.Served, error) {
	served, err := h.Cache.Get(ctx, key)
	if err == nil {
		h.last[key] = served.Body
		return served, nil
	}
	if body, known := h.last[key]; known {
		return isr.Served{Body: body}, nil // as stale: it does not lie
	}
	return isr.Served{}, err
}
