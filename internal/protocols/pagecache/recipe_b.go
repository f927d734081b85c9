package pagecache

import (
	"cmp"
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/protocols/guard"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// RecipeB keeps a row for each generation of a page, VER#<lease token>, and META as the pointer to the visible one. One
// transaction puts the version, moves the pointer and deletes LOCK, under the guards. A page can be rolled back to an
// older version as long as that version is kept.
//
// The pointer decides freshness: generated_at and revalidate_seconds are in both rows. The version's ttl is never
// before the pointer's.
type RecipeB struct{ leases }

var _ Store = (*RecipeB)(nil)

// NewRecipeB checks the configuration and returns the store.
func NewRecipeB(cfg isr.Config) (*RecipeB, error) {
	cfg, err := withDefaults(cfg)
	if err != nil {
		return nil, err
	}
	return &RecipeB{leases{cfg: cfg, Guards: guard.Token | guard.Expiry}}, nil
}

// Read implements Store: it reads META, and then the version that META leads to. A version is written once, so both
// show one moment. A pointer to a missing row is a miss.
func (r *RecipeB) Read(ctx context.Context, key string) (Meta, error) {
	m, err := r.pointer(ctx, key)
	if err != nil {
		return m, storeError("read", key, err)
	}
	item, err := r.GetRow(ctx, key, m.CurrentSK)
	if err != nil {
		return Meta{}, storeError("read", key, err)
	}
	if item == nil {
		return m.nothing(), storeError("read", key, isr.ErrMiss)
	}
	v, err := ParseVersion(item)
	if err != nil {
		return Meta{}, storeError("read", key, err)
	}
	if r.Gone(v.TTL) {
		return m.nothing(), storeError("read", key, isr.ErrMiss)
	}
	m.S3Key, m.ETag = v.S3Key, v.ETag
	return m, nil
}

// pointer reads META; the error is ErrMiss if it leads to nothing.
func (r *RecipeB) pointer(ctx context.Context, key string) (Meta, error) {
	item, err := r.GetRow(ctx, key, isr.SortMeta)
	if err != nil {
		return Meta{}, err
	}
	m, err := r.found(item)
	if err == nil && m.CurrentSK == "" {
		return Meta{}, otherRecipe(attrCurrentSK, "B")
	}
	return m, err
}

// NewVersion makes the VER# row of a page that the holder of a lease has made.
func (r *RecipeB) NewVersion(l Lease, m Meta) Version {
	return Version{
		PK: r.PK(l.Key), SK: SortVersion + l.Token, S3Key: m.S3Key, ETag: m.ETag, Version: m.Version,
		GeneratedAt: m.GeneratedAt, RevalidateSeconds: m.RevalidateSeconds, TTL: m.TTL,
	}
}

var ifNew = "attribute_not_exists(pk)"

// Publish implements Store.
func (r *RecipeB) Publish(ctx context.Context, l Lease, m Meta) error {
	m = r.numbered(l, m)
	v := r.NewVersion(l, m)
	m.CurrentSK = v.SK
	return r.commit(ctx, l, m, func() []types.TransactWriteItem {
		guard := r.onMeta(l, m)
		return []types.TransactWriteItem{
			{Put: &types.Put{TableName: &r.cfg.Table, Item: v.Item(), ConditionExpression: &ifNew}},
			{Update: r.PointTo(l.Key, m, guard.condition, guard.values)},
		}
	})
}

// PointTo makes the conditional update by which META leads to m.CurrentSK. The parameter values holds the values of the
// condition, and may be nil; in the condition, :gone is compared with #ttl.
func (r *RecipeB) PointTo(key string, m Meta, condition *string, values map[string]types.AttributeValue) *types.Update {
	if values == nil {
		values = map[string]types.AttributeValue{}
	}
	values[":current"], values[":revalidate"] = text(m.CurrentSK), number(m.RevalidateSeconds)
	values[":generated"] = m.GeneratedAt.attribute()
	set, remove := "SET current_sk = :current, generated_at = :generated, revalidate_seconds = :revalidate", []string{}
	either := func(name, alias, value string, is bool, v types.AttributeValue) {
		if is {
			set += ", " + alias + " = " + value
			values[value] = v
		} else if name != "" {
			remove = append(remove, alias)
		}
	}
	either(attrTTL, "#ttl", ":ttl", m.TTL != 0, m.TTL.attribute())
	either(attrETag, attrETag, ":etag", r.PointerETag && m.ETag != "", text(m.ETag))
	either("", attrVersion, ":version", m.Version != 0, number(m.Version))
	if len(remove) > 0 {
		set += " REMOVE " + strings.Join(remove, ", ")
	}
	return &types.Update{
		TableName: &r.cfg.Table, Key: Key(r.PK(key), isr.SortMeta), UpdateExpression: &set,
		ConditionExpression: condition, ExpressionAttributeNames: aliasTTL, ExpressionAttributeValues: values,
	}
}

// Older implements Store.
func (r *RecipeB) Older(ctx context.Context, key string) (visible, older Meta, err error) {
	visible, err = r.pointer(ctx, key)
	if err != nil {
		return Meta{}, Meta{}, storeError("roll back", key, err)
	}
	versions, err := r.Versions(ctx, key)
	if err != nil {
		return Meta{}, Meta{}, storeError("roll back", key, err)
	}
	now := age{visible.GeneratedAt, visible.CurrentSK}
	var newest *Version
	for i, v := range versions {
		at := age{v.GeneratedAt, v.SK}
		if !r.Gone(v.TTL) && at.before(now) && (newest == nil || (age{newest.GeneratedAt, newest.SK}).before(at)) {
			newest = &versions[i]
		}
	}
	if newest == nil {
		return Meta{}, Meta{}, storeError("roll back", key, isr.ErrMiss)
	}
	older = Meta{
		PK: newest.PK, CurrentSK: newest.SK, S3Key: newest.S3Key, ETag: newest.ETag,
		GeneratedAt: newest.GeneratedAt, RevalidateSeconds: newest.RevalidateSeconds, TTL: newest.TTL,
	}
	if has(r.Guards, guard.Version) {
		older.Version = visible.Version + 1
		if newest.Version <= visible.Invalidated {
			older.RevalidateSeconds = 0 // it is older than an invalidation
		}
	}
	return visible, older, nil
}

// age orders versions by generation time and, within a second, by sort key.
type age struct {
	generatedAt EpochSeconds
	sk          string
}

func (a age) before(b age) bool {
	return cmp.Or(cmp.Compare(a.generatedAt, b.generatedAt), strings.Compare(a.sk, b.sk)) < 0
}

// Versions reads the VER# rows of a key, page by page.
func (r *RecipeB) Versions(ctx context.Context, key string) ([]Version, error) {
	var versions []Version
	var from map[string]types.AttributeValue
	for {
		out, err := r.cfg.Client.Query(ctx, &dynamodb.QueryInput{
			TableName: &r.cfg.Table, ConsistentRead: &consistent, ExclusiveStartKey: from,
			KeyConditionExpression: &areVersions,
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":pk": text(r.PK(key)), ":versions": text(SortVersion),
			},
		})
		if err != nil {
			return nil, err
		}
		for _, item := range out.Items {
			v, err := ParseVersion(item)
			if err != nil {
				return nil, err
			}
			versions = append(versions, v)
		}
		if from = out.LastEvaluatedKey; from == nil {
			return versions, nil
		}
	}
}

var (
	areVersions = "pk = :pk AND begins_with(sk, :versions)"

	// ifPointer is the condition of a rollback: META is as it was found, including invalidations.
	ifPointer        = "current_sk = :from AND (attribute_not_exists(#ttl) OR #ttl > :gone)"
	ifPointerVersion = ifPointer + " AND version = :seen"
	ifPointerFirst   = ifPointer + " AND attribute_not_exists(version)"
)

// Restore implements Store.
func (r *RecipeB) Restore(ctx context.Context, l Lease, visible, older Meta) error {
	return r.commit(ctx, l, older, func() []types.TransactWriteItem {
		gone := r.gone().attribute()
		condition, values := &ifPointer, map[string]types.AttributeValue{
			":from": text(visible.CurrentSK), ":gone": gone,
		}
		switch {
		case !has(r.Guards, guard.Version):
		case visible.Version > 0:
			condition, values[":seen"] = &ifPointerVersion, number(visible.Version)
		default:
			condition = &ifPointerFirst
		}
		return []types.TransactWriteItem{
			{ConditionCheck: &types.ConditionCheck{
				TableName: &r.cfg.Table, Key: Key(r.PK(l.Key), older.CurrentSK),
				ConditionExpression: &ifThere, ExpressionAttributeNames: aliasTTL,
				ExpressionAttributeValues: map[string]types.AttributeValue{":gone": gone},
			}},
			{Update: r.PointTo(l.Key, older, condition, values)},
		}
	})
}
