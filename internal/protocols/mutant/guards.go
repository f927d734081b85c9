package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/protocols/guard"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// guardAlone is recipe A under one guard.
func guardAlone(name, summary, breaks string, g guard.Set) isr.Protocol {
	return isr.Protocol{Name: name, Summary: summary, Breaks: breaks,
		New: pagecache.OnRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
			r.Guards = g
			return r
		})}
}

// guardExpiryAlone publishes as long as the lease in LOCK is not over, with any token. A writer that slept past its
// lease publishes under the lease of its successor, and removes that lease with the same request.
func guardExpiryAlone() isr.Protocol {
	return guardAlone("guard-expiry-alone",
		"a publish asks whether the lease in LOCK is over, and not whose it is", "stale-writer", guard.Expiry)
}

// guardMonotonicAlone publishes if the page in META was generated earlier, by the clocks of the two machines that made
// the pages. A writer that slept past its lease gets in before its successor, and a writer whose clock is ahead shuts
// out all others.
func guardMonotonicAlone() isr.Protocol {
	return guardAlone("guard-monotonic-alone",
		"a publish asks whether META was generated earlier, and not for its lease", "stale-writer", guard.Monotonic)
}

// guardTokenAlone publishes as long as LOCK has its token. LOCK still has it when the lease is over and no other
// machine has taken it. The page is late, and TTL decides whether it is published at all.
func guardTokenAlone() isr.Protocol {
	return guardAlone("guard-token-alone",
		"a publish asks for its token in LOCK, and not whether the lease is over", "expired-publish", guard.Token)
}

// guardVersionAlone publishes if no other machine has published since it looked. A writer that slept past its lease can
// then publish before its successor: the page is older than it could be, and the holder's render is wasted.
func guardVersionAlone() isr.Protocol {
	return guardAlone("guard-version-alone",
		"a publish asks for the version of META that was seen, and not for its lease", "stale-writer", guard.Version)
}

// fenceInLockRow guards a publish by a number that each acquisition raises, and keeps the number in LOCK. When a
// release or TTL deletes the row, the count begins again: a sleeper that held number 1 wakes up and finds the number 1
// of another machine.
var fenceInLockRow = isr.Protocol{
	Name:    "fence-in-lock-row",
	Summary: "a publish is guarded by a fence counter, which lives in LOCK and restarts when LOCK is deleted",
	Breaks:  "stale-writer",
	New: onRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
		return fencer{r, map[string]types.AttributeValue{}}
	}),
}

type fencer struct {
	*pagecache.RecipeA
	fences map[string]types.AttributeValue // by lease token
}

func (s fencer) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	cfg := s.Config()
	lock := s.NewLock(key, cfg.Tokens())
	lease := pagecache.Lease{Key: key, Token: lock.LeaseToken, ExpiresAt: lock.LeaseExpiresAt}
	out, err := cfg.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &cfg.Table,
		Key:       pagecache.Key(lock.PK, isr.SortLock),
		UpdateExpression: aws.String("SET lease_token = :token, lease_expires_at = :expires, #ttl = :ttl, " +
			"fence = if_not_exists(fence, :zero) + :one"),
		ConditionExpression:      aws.String(free),
		ExpressionAttributeNames: map[string]string{"#ttl": "ttl"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":token": &types.AttributeValueMemberS{Value: lock.LeaseToken}, ":now": seconds(s.Now()),
			":expires": seconds(lock.LeaseExpiresAt), ":ttl": seconds(lock.TTL),
			":zero": seconds(0), ":one": seconds(1),
		},
		ReturnValues:                        types.ReturnValueUpdatedNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if row, refused := pagecache.Refused(err); refused {
		if token, _ := leaseIn(row); token != lease.Token {
			return pagecache.Lease{}, pagecache.ErrHeld
		}
		s.fences[lease.Token] = row["fence"]
		return lease, nil
	}
	if err != nil {
		return pagecache.Lease{}, err
	}
	s.fences[lease.Token] = out.Attributes["fence"]
	return lease, nil
}

func (s fencer) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	return publishIf(ctx, s.RecipeA, l, m, "fence = :fence AND lease_expires_at > :now",
		map[string]types.AttributeValue{":fence": s.fences[l.Token], ":now": seconds(s.Now())})
}
