package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// blindRelease deletes the lock without looking at its token. A writer that lost its lease and cleans up frees the lock
// of its successor.
var blindRelease = isr.Protocol{
	Name:    "blind-release",
	Summary: "LOCK is deleted without a check of its token, even if another node holds it by then",
	Breaks:  "lock-theft",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return blindReleaser{r} }),
}

type blindReleaser struct{ *pagecache.RecipeA }

func (s blindReleaser) Release(ctx context.Context, l pagecache.Lease) error {
	cfg := s.Config()
	_, err := cfg.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &cfg.Table, Key: pagecache.Key(s.PK(l.Key), isr.SortLock),
	})
	return err
}

// noReleaseAfterFailure leaves the lock in place when the origin fails: no machine may try again for the rest of the
// lease.
//
// Seen in: opennextjs/opennextjs-aws pull request 410, aws-powertools/powertools-lambda-python issue 1038.
var noReleaseAfterFailure = isr.Protocol{
	Name:    "no-release-after-failure",
	Summary: "the lease is kept when the page could not be made",
	Breaks:  "liveness",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return keeper{r} }),
}

type keeper struct{ *pagecache.RecipeA }

func (keeper) Release(context.Context, pagecache.Lease) error { return nil }

// noReleaseAfterPublish publishes under the lease and lets it run out. The lock becomes a window in which the page is
// not made again, even after an invalidation.
//
// Seen in: serverless-nextjs/serverless-next.js issue 2483, where a queue's window against duplicates swallowed a
// regeneration.
var noReleaseAfterPublish = isr.Protocol{
	Name:    "no-release-after-publish",
	Summary: "the publish checks LOCK and leaves it until its lease is over",
	Breaks:  "atomic-publish",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return sitter{r} }),
}

type sitter struct{ *pagecache.RecipeA }

func (s sitter) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	return publishChecked(ctx, s.RecipeA, l, m)
}
