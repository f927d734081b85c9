package pagecache

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/protocols/guard"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// leases is the part that the recipes share: the LOCK row of a key, and publishing under it.
type leases struct {
	cfg    isr.Config
	Guards guard.Set // the guards of a publish, the same on all nodes; recipes have guard.Token|guard.Expiry
	// PointerETag says that recipe B's pointer also holds the etag, for readers that need nothing else.
	PointerETag bool
	// last is the latest partition key, because one request for a page needs it many times.
	last atomic.Pointer[partition]
}

// partition maps a cache key to the partition of its rows.
type partition struct{ key, pk string }

func (s *leases) Config() isr.Config { return s.cfg }

// Now returns the present second of this node's clock.
func (s *leases) Now() EpochSeconds { return Floor(s.cfg.Clock.Now()) }

// PK returns the partition key of a cache key.
func (s *leases) PK(key string) string {
	if last := s.last.Load(); last != nil && last.key == key {
		return last.pk
	}
	made := &partition{key, isr.PartitionKey(s.cfg.Tenant, key)}
	s.last.Store(made)
	return made.pk
}

// GetRow reads a row of the key with strong consistency; nil if it is missing.
func (s *leases) GetRow(ctx context.Context, key, sk string) (map[string]types.AttributeValue, error) {
	out, err := s.cfg.Client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.cfg.Table, Key: Key(s.PK(key), sk), ConsistentRead: &consistent,
	})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// Fresh implements Store: by generated_at and revalidate_seconds, never by ttl or by presence. An invalidation leaves a
// window of zero seconds, which is over even for a clock that is behind.
func (s *leases) Fresh(m Meta, now time.Time) bool {
	return m.RevalidateSeconds > 0 && Floor(now) < m.FreshUntil()
}

// gone is the last ttl of rows that count as gone now. A row counts as gone from a TTLBuffer before its ttl on. At that
// time TTL has not deleted it yet, by any clock, and a later deletion makes no difference.
func (s *leases) gone() EpochSeconds { return s.Now() + buffer(&s.cfg) }

// Gone reports whether a row with the given ttl counts as gone.
func (s *leases) Gone(ttl EpochSeconds) bool { return ttl != 0 && ttl <= s.gone() }

// found reads a META row. If there is no row, the error is ErrMiss. If the row counts as gone or has no page, it is
// ErrMiss, and the Meta has the row's version.
func (s *leases) found(item map[string]types.AttributeValue) (Meta, error) {
	if item == nil {
		return Meta{}, isr.ErrMiss
	}
	m, err := ParseMeta(item)
	switch {
	case err != nil:
		return Meta{}, err
	case s.Gone(m.TTL), !m.hasPage():
		return m.nothing(), isr.ErrMiss
	default:
		return m, nil
	}
}

// nothing is the content of a row without a page: a publish builds on it.
func (m Meta) nothing() Meta { return Meta{PK: m.PK, Version: m.Version} }

// otherRecipe is the error for a META row that another protocol wrote.
func otherRecipe(missing, recipe string) error {
	return fmt.Errorf(
		"META row: attribute %s: found nothing, expected that of recipe %s (do all nodes run the same recipe?)",
		missing, recipe,
	)
}

// NewLock makes the LOCK row of a lease that begins now.
func (s *leases) NewLock(key, token string) Lock {
	expires := Ceil(s.cfg.Clock.Now().Add(s.cfg.Lease))
	return Lock{PK: s.PK(key), LeaseToken: token, LeaseExpiresAt: expires, TTL: s.lockTTL(expires)}
}

func (s *leases) lockTTL(expires EpochSeconds) EpochSeconds { return expires + buffer(&s.cfg) }

// These are the conditions of the writes, and what a refresh sets. The SDK takes pointers, and only reads through them.
var (
	ifFree = "attribute_not_exists(pk) OR lease_expires_at <= :now"
	ifOwn  = "lease_token = :token"
	// ifOwnAndHeld guards every write of a lease's holder except its release.
	ifOwnAndHeld = "lease_token = :token AND lease_expires_at > :now"
	setExpiry    = "SET lease_expires_at = :expires, #ttl = :ttl"
	consistent   = true
)

// Acquire implements Store.
//
// A put can be refused because of its own success: if the response is lost, the SDK sends the put again, and the put
// finds its own row. So a refused put asks for the row. If the row has the put's token, the put has succeeded.
//
// A put that conflicts with a transaction on LOCK counts as refused, too: only a publishing holder has such a
// transaction.
func (s *leases) Acquire(ctx context.Context, key string) (Lease, error) {
	lock := s.NewLock(key, s.cfg.Tokens())
	lease := Lease{Key: key, Token: lock.LeaseToken, ExpiresAt: lock.LeaseExpiresAt}
	_, err := s.cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                           &s.cfg.Table,
		Item:                                lock.Item(),
		ConditionExpression:                 &ifFree,
		ExpressionAttributeValues:           map[string]types.AttributeValue{":now": s.Now().attribute()},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if conflicts(err) {
		return Lease{}, storeError("acquire", key, ErrHeld)
	}
	if refused, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		if token, _ := refused.Item[attrLeaseToken].(*types.AttributeValueMemberS); token != nil &&
			token.Value == lease.Token {
			return lease, nil
		}
		return Lease{}, storeError("acquire", key, ErrHeld)
	}
	if err != nil {
		return Lease{}, storeError("acquire", key, err)
	}
	return lease, nil
}

func (s *leases) ownAndHeldValues(l Lease) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{":token": text(l.Token), ":now": s.Now().attribute()}
}

func (s *leases) Refresh(ctx context.Context, l Lease) (Lease, error) {
	var expires EpochSeconds
	err := s.pastConflicts(ctx, func() error {
		values := s.ownAndHeldValues(l)
		expires = Ceil(s.cfg.Clock.Now().Add(s.cfg.Lease))
		values[":expires"], values[":ttl"] = expires.attribute(), s.lockTTL(expires).attribute()
		_, err := s.cfg.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName:                 &s.cfg.Table,
			Key:                       Key(s.PK(l.Key), isr.SortLock),
			UpdateExpression:          &setExpiry,
			ConditionExpression:       &ifOwnAndHeld,
			ExpressionAttributeNames:  aliasTTL,
			ExpressionAttributeValues: values,
		})
		return err
	})
	if err != nil {
		return Lease{}, storeError("refresh", l.Key, leaseLost(err))
	}
	l.ExpiresAt = expires
	return l, nil
}

// Release implements Store. It needs only the token: releasing a lease that is over and was not taken over changes
// nothing for others.
func (s *leases) Release(ctx context.Context, l Lease) error {
	err := s.pastConflicts(ctx, func() error {
		_, err := s.cfg.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName:                 &s.cfg.Table,
			Key:                       Key(s.PK(l.Key), isr.SortLock),
			ConditionExpression:       &ifOwn,
			ExpressionAttributeValues: map[string]types.AttributeValue{":token": text(l.Token)},
		})
		return err
	})
	if err != nil {
		return storeError("release", l.Key, leaseLost(err))
	}
	return nil
}

// leaseLost turns the refusal of a guarded write into ErrLeaseLost, and returns any other error unchanged.
func leaseLost(err error) error {
	if _, refused := Refused(err); refused {
		return isr.ErrLeaseLost
	}
	return err
}
