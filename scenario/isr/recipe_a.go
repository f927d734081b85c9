package isr

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// RecipeA keeps one META row a key and publishes it in place: one transaction
// puts META and deletes LOCK, on the condition that the lease is the publisher's
// own and not over.
type RecipeA struct{ cfg Config }

var _ Store = (*RecipeA)(nil)

// NewRecipeA checks the configuration and returns the store.
func NewRecipeA(cfg Config) (*RecipeA, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &RecipeA{cfg}, nil
}

// Config returns the configuration with its defaults filled in.
func (r *RecipeA) Config() Config { return r.cfg }

// Now returns the present second of this node's clock.
func (r *RecipeA) Now() EpochSeconds { return Floor(r.cfg.Clock.Now()) }

// PK returns the partition key of a cache key.
func (r *RecipeA) PK(key string) string { return PartitionKey(r.cfg.Tenant, key) }

// Read implements Store.
func (r *RecipeA) Read(ctx context.Context, key string) (Meta, error) {
	item, err := r.GetRow(ctx, key, SortMeta)
	if err != nil {
		return Meta{}, storeError("read", key, err)
	}
	if item == nil {
		return Meta{}, storeError("read", key, ErrMiss)
	}
	m, err := ParseMeta(item)
	if err != nil {
		return Meta{}, storeError("read", key, err)
	}
	return m, nil
}

// GetRow reads a row of the key, strongly consistent; nil if it is missing.
func (r *RecipeA) GetRow(ctx context.Context, key, sk string) (map[string]types.AttributeValue, error) {
	out, err := r.cfg.Client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &r.cfg.Table, Key: Key(r.PK(key), sk), ConsistentRead: &consistent,
	})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// Fresh implements Store: by generated_at and revalidate_seconds, never by ttl
// and never by presence.
func (r *RecipeA) Fresh(m Meta, now time.Time) bool { return Floor(now) < m.FreshUntil() }

// NewLock makes the LOCK row of a lease that begins now.
func (r *RecipeA) NewLock(key, token string) Lock {
	expires := Ceil(r.cfg.Clock.Now().Add(r.cfg.Lease))
	return Lock{PK: r.PK(key), LeaseToken: token, LeaseExpiresAt: expires, TTL: r.lockTTL(expires)}
}

func (r *RecipeA) lockTTL(expires EpochSeconds) EpochSeconds {
	return expires + Ceil(time.Unix(0, 0).Add(r.cfg.TTLBuffer))
}

// The conditions of the writes, and what a refresh sets. The SDK takes pointers,
// and only reads what they lead to.
var (
	ifFree       = "attribute_not_exists(pk) OR lease_expires_at <= :now"
	ifOwn        = "lease_token = :token"
	ifOwnAndHeld = "lease_token = :token AND lease_expires_at > :now" // guards every write of a lease's holder, but giving it back
	setExpiry    = "SET lease_expires_at = :expires, #ttl = :ttl"
	consistent   = true
)

// Acquire implements Store.
//
// A refusal can be the answer to one's own success: when the response to the put
// is lost, the SDK sends the put again, which then meets its own row. So the
// refused put asks for the row, and a row with the own token is a success.
//
// A put that meets a transaction on LOCK counts as refused, too: only a holder
// who publishes has one.
func (r *RecipeA) Acquire(ctx context.Context, key string) (Lease, error) {
	lock := r.NewLock(key, r.cfg.Tokens())
	lease := Lease{Key: key, Token: lock.LeaseToken, ExpiresAt: lock.LeaseExpiresAt}
	_, err := r.cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                           &r.cfg.Table,
		Item:                                lock.Item(),
		ConditionExpression:                 &ifFree,
		ExpressionAttributeValues:           map[string]types.AttributeValue{":now": r.Now().attribute()},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if conflicts(err) {
		return Lease{}, storeError("acquire", key, ErrHeld)
	}
	if refused, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		if token, _ := refused.Item[attrLeaseToken].(*types.AttributeValueMemberS); token != nil && token.Value == lease.Token {
			return lease, nil
		}
		return Lease{}, storeError("acquire", key, ErrHeld)
	}
	if err != nil {
		return Lease{}, storeError("acquire", key, err)
	}
	return lease, nil
}

func (r *RecipeA) ownAndHeldValues(l Lease) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{":token": text(l.Token), ":now": r.Now().attribute()}
}

// Refresh implements Store.
func (r *RecipeA) Refresh(ctx context.Context, l Lease) (Lease, error) {
	var expires EpochSeconds
	err := r.pastConflicts(ctx, func() error {
		values := r.ownAndHeldValues(l)
		expires = Ceil(r.cfg.Clock.Now().Add(r.cfg.Lease))
		values[":expires"], values[":ttl"] = expires.attribute(), r.lockTTL(expires).attribute()
		_, err := r.cfg.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName:                 &r.cfg.Table,
			Key:                       Key(r.PK(l.Key), SortLock),
			UpdateExpression:          &setExpiry,
			ConditionExpression:       &ifOwnAndHeld,
			ExpressionAttributeNames:  map[string]string{"#ttl": attrTTL},
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

// Publish implements Store. It is sent again if it meets a conflict, under the
// same guards, judged anew: a lease that ends meanwhile is not published.
func (r *RecipeA) Publish(ctx context.Context, l Lease, m Meta) error {
	err := r.pastConflicts(ctx, func() error {
		_, err := r.cfg.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			TransactItems: []types.TransactWriteItem{
				{Put: &types.Put{TableName: &r.cfg.Table, Item: m.Item()}},
				{Delete: &types.Delete{
					TableName:                 &r.cfg.Table,
					Key:                       Key(r.PK(l.Key), SortLock),
					ConditionExpression:       &ifOwnAndHeld,
					ExpressionAttributeValues: r.ownAndHeldValues(l),
				}},
			},
		})
		return err
	})
	if err != nil {
		return storeError("publish", l.Key, leaseLost(err))
	}
	return nil
}

// Release implements Store. It needs the token only: giving back a lease that is
// over, and that nobody took, harms nobody.
func (r *RecipeA) Release(ctx context.Context, l Lease) error {
	err := r.pastConflicts(ctx, func() error {
		_, err := r.cfg.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName:                 &r.cfg.Table,
			Key:                       Key(r.PK(l.Key), SortLock),
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

// leaseLost turns the refusal of a guarded write into ErrLeaseLost; any other
// error stays what it is.
func leaseLost(err error) error {
	if _, refused := Refused(err); refused {
		return ErrLeaseLost
	}
	return err
}
