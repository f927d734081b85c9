package mutant

import (
	"context"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// free is the reference's condition for acquiring.
const free = "attribute_not_exists(pk) OR lease_expires_at <= :now"

// acquireIf acquires the lease that row holds as the reference does, but under another condition.
func acquireIf(ctx context.Context, r *pagecache.RecipeA, key string, row map[string]types.AttributeValue,
	condition string, values map[string]types.AttributeValue) (pagecache.Lease, error) {
	cfg := r.Config()
	lease := pagecache.Lease{Key: key}
	lease.Token, lease.ExpiresAt = leaseIn(row)
	_, err := cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &cfg.Table, Item: row, ConditionExpression: &condition, ExpressionAttributeValues: values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if row, refused := pagecache.Refused(err); refused {
		if token, _ := leaseIn(row); token == lease.Token {
			return lease, nil // it found its own commit: this is not the bug
		}
		return pagecache.Lease{}, pagecache.ErrHeld
	}
	if err != nil {
		return pagecache.Lease{}, err
	}
	return lease, nil
}

// leaseIn reads the lease of a LOCK row. If there is no row, the lease is over.
func leaseIn(row map[string]types.AttributeValue) (token string, expires pagecache.EpochSeconds) {
	if s, ok := row["lease_token"].(*types.AttributeValueMemberS); ok {
		token = s.Value
	}
	if n, ok := row["lease_expires_at"].(*types.AttributeValueMemberN); ok {
		if at, err := strconv.ParseInt(n.Value, 10, 64); err == nil {
			expires = pagecache.EpochSeconds(at)
		}
	}
	return token, expires
}

func seconds(e pagecache.EpochSeconds) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(int64(e), 10)}
}

// leaseFloored rounds the wrong way. A lease of one second that is taken late in a second lasts only a moment, and no
// page is ever made in time to be published.
//
// Seen in: a public lease helper, whose lease of one second can last a tenth of it.
var leaseFloored = isr.Protocol{
	Name:    "lease-floored",
	Summary: "the end of a lease is rounded down to whole seconds",
	Breaks:  "liveness",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return rounder{r} }),
}

type rounder struct{ *pagecache.RecipeA }

func (s rounder) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	cfg := s.Config()
	lock := s.NewLock(key, cfg.Tokens())
	lock.LeaseExpiresAt = pagecache.Floor(cfg.Clock.Now().Add(cfg.Lease))
	return acquireIf(ctx, s.RecipeA, key, lock.Item(), free, map[string]types.AttributeValue{":now": seconds(s.Now())})
}

// leaseInMilliseconds compares the row's epoch seconds with a clock read in milliseconds, so every lease seems long
// over.
//
// Seen in: aws-powertools/powertools-lambda-java issue 1281, where one "now" was compared in both units.
var leaseInMilliseconds = isr.Protocol{
	Name:    "lease-in-milliseconds",
	Summary: "acquire compares lease_expires_at, in seconds, with a clock in milliseconds",
	Breaks:  "lock-theft",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return millisecondAcquirer{r} }),
}

type millisecondAcquirer struct{ *pagecache.RecipeA }

func (s millisecondAcquirer) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	cfg := s.Config()
	row := s.NewLock(key, cfg.Tokens()).Item()
	return acquireIf(ctx, s.RecipeA, key, row, free, map[string]types.AttributeValue{
		":now": seconds(pagecache.EpochSeconds(cfg.Clock.Now().UnixMilli())),
	})
}

// zeroLeaseIsForEver counts a lease in whole seconds and takes zero for "without an end". The lock of a machine that
// dies within half a second stays for ever.
//
// Seen in: aws-powertools/powertools-lambda-python issue 4759, where a remaining time of zero was taken for no limit.
var zeroLeaseIsForEver = isr.Protocol{
	Name:    "zero-lease-is-for-ever",
	Summary: "a lease of less than a second is written without an end",
	Breaks:  "liveness",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return eternal{r} }),
}

type eternal struct{ *pagecache.RecipeA }

func (s eternal) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	cfg := s.Config()
	lock := s.NewLock(key, cfg.Tokens())
	if cfg.Lease/time.Second == 0 {
		lock.LeaseExpiresAt += 100 * 365 * 24 * 3600
		lock.TTL = 0
	}
	return acquireIf(ctx, s.RecipeA, key, lock.Item(), free, map[string]types.AttributeValue{":now": seconds(s.Now())})
}

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
