package ddbfake

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/tidwall/btree"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

// Limits on indexes.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-secondary-indexes
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.DesignPattern.MultiAttributeKeys.html
const (
	maxGlobalIndexes       = 20
	maxLocalIndexes        = 5
	maxIndexKeyAttributes  = 4 // hash keys, and as many sort keys, in a global index
	maxProjectedAttributes = 20
	maxAllProjected        = 100 // for all indexes together
)

// index is a secondary index: the rows of its table that have all of its key attributes, in another order.
type index struct {
	name       string
	global     bool
	hash, sort []expr.Key
	keys       []types.KeySchemaElement
	projection types.Projection
	projected  []string // the attributes of an entry, with the keys of the index and of the table; nil if all
	throughput throughput
	ceiling    ceiling
	warmth     warmth

	entries *btree.BTreeG[*indexRow]
	bytes   int64
	order   scanOrder // the order of a Scan; nil until it is worked out
}

// indexRow is a row's place in an index.
type indexRow struct {
	indexKey
	row *row
}

// indexKey is the key of a row in an index; hash and sort are the tuples of its attributes.
type indexKey struct {
	hash, sort string
}

// compare orders an index. Rows with the same key are ordered by their primary keys.
//
// Deviation: the service's order of rows with the same key is not documented, except that it is always the same.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html (does not define the order)
func (e *indexRow) compare(o *indexRow) int {
	if c := strings.Compare(e.hash, o.hash); c != 0 {
		return c
	}
	if c := strings.Compare(e.sort, o.sort); c != 0 {
		return c
	}
	return e.row.key.compare(o.row.key)
}

func newEntries() *btree.BTreeG[*indexRow] {
	less := func(a, b *indexRow) bool { return a.compare(b) < 0 }
	return btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})
}

// copyIndexes returns indexes that share entries until one of them writes.
func copyIndexes(indexes []*index) []*index {
	if indexes == nil {
		return nil
	}
	copies := make([]*index, len(indexes))
	for i, x := range indexes {
		c := *x
		c.entries = x.entries.Copy()
		copies[i] = &c
	}
	return copies
}

// index returns the index of this name, nil if there is none.
func (t *table) index(name string) *index {
	for _, x := range t.indexes {
		if x.name == name {
			return x
		}
	}
	return nil
}

// all calls yield for each key attribute.
func (x *index) all(yield func(expr.Key) bool) {
	for _, key := range x.hash {
		if !yield(key) {
			return
		}
	}
	for _, key := range x.sort {
		if !yield(key) {
			return
		}
	}
}

// has reports whether an attribute is part of the key.
func (x *index) has(name string) bool {
	for key := range x.all {
		if key.Name == name {
			return true
		}
	}
	return false
}

func (x *index) projects(name string) bool {
	return x.projected == nil || slices.Contains(x.projected, name)
}

// setProjection records what the index holds. The keys of the table and of the index are always there.
func (x *index) setProjection(p *types.Projection, schema *keySchema) {
	x.projection = types.Projection{
		ProjectionType: p.ProjectionType, NonKeyAttributes: slices.Clone(p.NonKeyAttributes),
	}
	if p.ProjectionType == types.ProjectionTypeAll {
		return
	}
	x.projected = append(schema.names(), x.projection.NonKeyAttributes...)
	for key := range x.all {
		x.projected = append(x.projected, key.Name)
	}
	slices.Sort(x.projected)
	x.projected = slices.Compact(x.projected)
}

// project cuts a row down to the attributes of the index.
func (x *index) project(r *row) *row {
	if x.projected == nil {
		return r
	}
	record := r.record.Cut(x.projected)
	return r.image(record, record.Size())
}

// keyOf returns an item's key in the index. A row that lacks a key attribute is not in the index. Nor is a row with a
// value that cannot be a key, which may be older than the index.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.OnlineOps.ViolationDetection.html
func (x *index) keyOf(item packed.Attributes) (indexKey, bool) {
	hash, ok := tupleOf(item, x.hash, maxHashKeyBytes)
	if !ok {
		return indexKey{}, false
	}
	sort, ok := tupleOf(item, x.sort, maxSortKeyBytes)
	return indexKey{hash, sort}, ok
}

func tupleOf(item packed.Attributes, keys []expr.Key, maxBytes int) (string, bool) {
	var tuple []byte
	sizeBytes := 0
	for _, key := range keys {
		v := item.Get(key.Name)
		if v == nil || attr.KindOf(v) != key.Kind || emptyKind(v) != "" {
			return "", false
		}
		sizeBytes += keySize(v)
		tuple = appendPart(tuple, v)
	}
	return string(tuple), sizeBytes <= maxBytes
}

// appendPart appends an attribute to a tuple so that tuples are ordered like their bytes: 0 is escaped, and a part ends
// with bytes that are less than any that could follow.
func appendPart(tuple []byte, v attr.Value) []byte {
	part := encodeKey(v)
	for i := range len(part) {
		tuple = append(tuple, part[i])
		if part[i] == 0 {
			tuple = append(tuple, 0xff)
		}
	}
	return append(tuple, 0, partEnd)
}

const partEnd = 1

// afterTuple returns the first string after all tuples that begin with this one; false for the empty tuple, because all
// tuples begin with it.
func afterTuple(tuple []byte) (string, bool) {
	if len(tuple) == 0 {
		return "", false
	}
	after := slices.Clone(tuple)
	after[len(after)-1] = partEnd + 1
	return string(after), true
}

// reindex moves a row to its new places in the indexes. before is nil for a new row, and after for a deleted one.
func (t *table) reindex(before, after *row) {
	for _, x := range t.indexes {
		if before != nil {
			if key, ok := x.keyOf(&before.record); ok {
				x.entries.Delete(&indexRow{key, before})
				x.bytes -= int64(x.sizeOf(before))
			}
		}
		if after != nil {
			x.add(after)
		}
	}
}

// add adds a row, if it belongs in the index.
func (x *index) add(r *row) {
	if key, ok := x.keyOf(&r.record); ok {
		x.order = nil // there may be a new partition
		x.entries.Set(&indexRow{key, r})
		x.bytes += int64(x.sizeOf(r))
	}
}

// sizeOf returns the bytes that a row takes in the index.
func (x *index) sizeOf(r *row) int { return x.project(r).sizeBytes }

// lastKey returns the attributes from which the next page of the index continues: the keys of the table and of the
// index.
func (x *index) lastKey(schema *keySchema, r *row) attr.Item {
	id := schema.idOf(r)
	key := make(attr.Item, len(id)+len(x.keys))
	//isrsim:unordered a map is filled
	for name, v := range id {
		key[name] = v
	}
	for k := range x.all {
		key[k.Name] = r.record.Get(k.Name)
	}
	return key
}

func (t *table) describeIndexes(d *types.TableDescription) {
	status := types.IndexStatusActive
	switch d.TableStatus {
	case types.TableStatusCreating:
		status = types.IndexStatusCreating
	case types.TableStatusDeleting:
		status = types.IndexStatusDeleting
	}
	for _, x := range t.indexes {
		if x.global {
			d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, x.describe(d, status))
			continue
		}
		d.LocalSecondaryIndexes = append(d.LocalSecondaryIndexes, types.LocalSecondaryIndexDescription{
			IndexArn:       aws.String(x.arn(d)),
			IndexName:      aws.String(x.name),
			IndexSizeBytes: aws.Int64(x.bytes),
			ItemCount:      aws.Int64(int64(x.entries.Len())),
			KeySchema:      slices.Clone(x.keys),
			Projection:     x.describeProjection(),
		})
	}
}

func (x *index) describe(d *types.TableDescription, status types.IndexStatus) types.GlobalSecondaryIndexDescription {
	return types.GlobalSecondaryIndexDescription{
		IndexArn:              aws.String(x.arn(d)),
		IndexName:             aws.String(x.name),
		IndexSizeBytes:        aws.Int64(x.bytes),
		IndexStatus:           status,
		ItemCount:             aws.Int64(int64(x.entries.Len())),
		KeySchema:             slices.Clone(x.keys),
		Projection:            x.describeProjection(),
		ProvisionedThroughput: x.throughput.describe(),
		OnDemandThroughput:    x.ceiling.describe(),
		WarmThroughput:        x.warmth.describeOfIndex(),
	}
}

func (x *index) arn(d *types.TableDescription) string {
	return aws.ToString(d.TableArn) + "/index/" + x.name
}

func (x *index) describeProjection() *types.Projection {
	return &types.Projection{
		ProjectionType:   x.projection.ProjectionType,
		NonKeyAttributes: slices.Clone(x.projection.NonKeyAttributes),
	}
}

// index writes the definition of an index.
func (f *printer) index(x *index) {
	f.text("index")
	f.text(x.name)
	if x.global {
		f.text("global")
	}
	for key := range x.all {
		f.text(key.Name)
		f.text(string(key.Kind))
	}
	f.number(len(x.hash))
	f.text(string(x.projection.ProjectionType))
	f.texts(slices.Sorted(slices.Values(x.projection.NonKeyAttributes)))
}
