package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// presenceAsKnowledge takes a row that TTL may delete at any moment for a row like any other, and a row that is not
// there for one that has never been. Its answers depend on when DynamoDB finds the time to clean up.
func presenceAsKnowledge() isr.Protocol {
	return isr.Protocol{
		Name:    "presence-as-knowledge",
		Summary: "a row past its ttl is used for as long as it is there",
		Breaks:  "ttl-is-gc",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return believer{r} }),
	}
}

type believer struct{ *pagecache.RecipeA }

func (s believer) Read(ctx context.Context, key string) (pagecache.Meta, error) {
	row, err := s.GetRow(ctx, key, isr.SortMeta)
	if err != nil {
		return pagecache.Meta{}, err
	}
	if row == nil {
		return pagecache.Meta{}, isr.ErrMiss
	}
	return pagecache.ParseMeta(row)
}
