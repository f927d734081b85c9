package pagecache

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/protocols/guard"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// An invalidation ends the freshness of the page and increments META's version. If there is no page, it leaves a row
// with a version, so that the publish of a page that is being made is refused. That row expires when a page would, and
// then refuses nothing: no rendering may take that long.
var (
	ifThere = "attribute_exists(pk) AND (attribute_not_exists(#ttl) OR #ttl > :gone)"
	ifGone  = "attribute_not_exists(pk) OR #ttl <= :gone"

	countUp = "SET version = if_not_exists(version, :start) + :one, invalidated_version = if_not_exists(version, " +
		":start) + :one, revalidate_seconds = :zero"
	setNoPage = countUp + ", #ttl = :ttl REMOVE s3_key, current_sk, generated_at, etag"
)

// invalidateAttempts is how often a page may come or go between the two requests of an invalidation.
const invalidateAttempts = 4

// Invalidate implements Store. If it is sent again after a lost response, it increments the version again. This refuses
// at most one correct writer, which began in between, and its page is then made again.
//
// Without guard.Version no publish checks the version.
func (s *leases) Invalidate(ctx context.Context, key string) error {
	if !has(s.Guards, guard.Version) {
		return storeError("invalidate", key,
			fmt.Errorf("%w: Guards is %v, expected one with version: nothing else keeps a page "+
				"from being published that is being made now", isr.ErrUnsupported, s.Guards))
	}
	var err error
	for range invalidateAttempts {
		err = s.countUp(ctx, key, &ifThere, &countUp)
		if _, refused := Refused(err); !refused {
			break
		}
		err = s.countUp(ctx, key, &ifGone, &setNoPage)
		if _, refused := Refused(err); !refused {
			break
		}
	}
	if err != nil {
		return storeError("invalidate", key, err)
	}
	return nil
}

func (s *leases) countUp(ctx context.Context, key string, condition, update *string) error {
	return s.pastConflicts(ctx, func() error {
		now := s.Now()
		values := map[string]types.AttributeValue{
			":start": now.attribute(), ":zero": number(0), ":one": number(1),
			":gone": (now + buffer(&s.cfg)).attribute(),
		}
		if update == &setNoPage {
			values[":ttl"] = pageTTL(&s.cfg, now).attribute()
		}
		_, err := s.cfg.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName:                 aws.String(s.cfg.Table),
			Key:                       Key(s.PK(key), isr.SortMeta),
			UpdateExpression:          update,
			ConditionExpression:       condition,
			ExpressionAttributeNames:  aliasTTL,
			ExpressionAttributeValues: values,
		})
		return err
	})
}

// Invalidate implements Invalidator. It needs guard.Version, and returns ErrUnsupported without it. After any other
// error, the invalidation may have taken effect.
func (c *Cache) Invalidate(ctx context.Context, key string) error {
	return c.store.Invalidate(ctx, key)
}

// Rollback implements Rollbacker, for recipe B; for other protocols it returns ErrUnsupported. It waits while another
// node is regenerating the page. After an error other than these and ErrMiss, the rollback may have taken effect, and
// another call goes back further.
//
// A rollback lasts until the page is made again. An older version is fresh until its own window is over, which is
// usually the case already. It is never fresh if the page has been invalidated since it was made: then the next request
// makes the page again.
func (c *Cache) Rollback(ctx context.Context, key string) error {
	for look := 0; ; look++ {
		err := c.rollBack(ctx, key)
		if err == nil || !again(err) {
			return err
		}
		if look >= c.cfg.Patience {
			return fmt.Errorf("isr: roll back %s: %w: at each of %d looks, %w", key, ErrUnavailable, look+1, err)
		}
		c.cfg.Clock.Sleep(c.cfg.Poll)
	}
}

func (c *Cache) rollBack(ctx context.Context, key string) error {
	lease, err := c.store.Acquire(ctx, key)
	if err != nil {
		return err
	}
	visible, older, err := c.store.Older(ctx, key)
	if err == nil {
		err = c.store.Restore(ctx, lease, visible, older)
	}
	if err != nil {
		c.release(ctx, lease)
	}
	return err
}
