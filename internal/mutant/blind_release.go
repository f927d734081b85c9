package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// blindRelease deletes the lock without looking at its token. A writer that lost its lease, and cleans up behind
// itself, frees the lock of its successor.
func blindRelease() isr.Protocol {
	return isr.Protocol{
		Name:    "blind-release",
		Summary: "LOCK is deleted without a check of its token, even if another node holds it by then",
		Breaks:  "lock-theft",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return blindReleaser{r} }),
	}
}

type blindReleaser struct{ *pagecache.RecipeA }

func (s blindReleaser) Release(ctx context.Context, l pagecache.Lease) error {
	cfg := s.Config()
	_, err := cfg.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &cfg.Table, Key: pagecache.Key(s.PK(l.Key), isr.SortLock),
	})
	return err
}
