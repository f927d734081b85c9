package isr

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// RecipeA keeps one META row a key and publishes it in place: one transaction
// puts META and deletes LOCK, under the guards. By default, they are that the
// lease is the publisher's own and not over.
type RecipeA struct{ leases }

var _ Store = (*RecipeA)(nil)

// NewRecipeA checks the configuration and returns the store.
func NewRecipeA(cfg Config) (*RecipeA, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &RecipeA{leases{cfg}}, nil
}

// Read implements Store.
func (r *RecipeA) Read(ctx context.Context, key string) (Meta, error) {
	item, err := r.GetRow(ctx, key, SortMeta)
	if err != nil {
		return Meta{}, storeError("read", key, err)
	}
	m, err := r.Found(item)
	if err != nil {
		return m, storeError("read", key, err)
	}
	return m, nil
}

// Found is what a META row says that was read: ErrMiss of no row, and of one
// that counts as gone.
func (s *leases) Found(item map[string]types.AttributeValue) (Meta, error) {
	if item == nil {
		return Meta{}, ErrMiss
	}
	m, err := ParseMeta(item)
	if err != nil {
		return Meta{}, err
	}
	if s.Gone(m.TTL) {
		return Meta{}, ErrMiss
	}
	return m, nil
}

// Publish implements Store.
func (r *RecipeA) Publish(ctx context.Context, l Lease, m Meta) error {
	m = r.numbered(m)
	return r.commit(ctx, l, func() []types.TransactWriteItem {
		put := &types.Put{TableName: &r.cfg.Table, Item: m.Item()}
		if put.ConditionExpression, put.ExpressionAttributeValues = r.onMeta(m); put.ConditionExpression != nil {
			put.ExpressionAttributeNames = aliasTTL
		}
		return append(make([]types.TransactWriteItem, 0, 2), types.TransactWriteItem{Put: put})
	})
}
