package pagecache

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/protocols/guard"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// RecipeA keeps one META row per key and publishes it in place: one transaction puts META and deletes LOCK, under the
// guards. By default, the lease must be the publisher's own and not over.
type RecipeA struct{ leases }

var _ Store = (*RecipeA)(nil)

// Older implements Store: recipe A keeps no older pages.
func (r *RecipeA) Older(_ context.Context, key string) (visible, older Meta, err error) {
	return Meta{}, Meta{}, storeError("roll back", key, errNoVersions)
}

// Restore implements Store: there is nothing to go back to.
func (r *RecipeA) Restore(_ context.Context, l Lease, _, _ Meta) error {
	return storeError("roll back", l.Key, errNoVersions)
}

var errNoVersions = fmt.Errorf("%w: recipe A keeps no older versions", isr.ErrUnsupported)

// NewRecipeA checks the configuration and returns the store.
func NewRecipeA(cfg isr.Config) (*RecipeA, error) {
	cfg, err := withDefaults(cfg)
	if err != nil {
		return nil, err
	}
	return &RecipeA{leases{cfg: cfg, Guards: guard.Token | guard.Expiry}}, nil
}

// Read implements Store.
func (r *RecipeA) Read(ctx context.Context, key string) (Meta, error) {
	item, err := r.GetRow(ctx, key, isr.SortMeta)
	if err != nil {
		return Meta{}, storeError("read", key, err)
	}
	m, err := r.Found(item)
	if err != nil {
		return m, storeError("read", key, err)
	}
	return m, nil
}

// Found reads a META row. If there is no row, the error is ErrMiss. If the row counts as gone or has no page, it is
// ErrMiss, and the Meta has the row's Version.
func (r *RecipeA) Found(item map[string]types.AttributeValue) (Meta, error) {
	m, err := r.found(item)
	if err == nil && m.S3Key == "" {
		return Meta{}, otherRecipe(attrS3Key, "A")
	}
	return m, err
}

// Publish implements Store.
func (r *RecipeA) Publish(ctx context.Context, l Lease, m Meta) error {
	m = r.numbered(l, m)
	return r.commit(ctx, l, m, func() []types.TransactWriteItem {
		guard := r.onMeta(l, m)
		put := &types.Put{
			TableName: &r.cfg.Table, Item: m.Item(), ConditionExpression: guard.condition,
			ExpressionAttributeNames: guard.names, ExpressionAttributeValues: guard.values,
		}
		return append(make([]types.TransactWriteItem, 0, 2), types.TransactWriteItem{Put: put})
	})
}
