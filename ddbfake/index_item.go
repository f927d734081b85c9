package ddbfake

import (
	"crypto/md5"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

// This file has the rules about the index keys of items. A key attribute of an index may be absent. If present, it has
// the key's type, is not empty, and is not too long.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html

// checkIndexKeys refuses an item if a key attribute of an index has the wrong type, or is too long. Global indexes are
// checked first.
func (t *table) checkIndexKeys(item packed.Attributes) error {
	for _, x := range t.indexes {
		for key := range x.all {
			if v := item.Get(key.Name); v != nil && attr.KindOf(v) != key.Kind {
				return x.typeMismatch(key, attr.KindOf(v))
			}
		}
	}
	for _, x := range t.indexes {
		if longKey(attr.Item(nil), item, x.hash) > maxHashKeyBytes {
			return invalid(hashKeyTooLong)
		}
		if longKey(attr.Item(nil), item, x.sort) > maxSortKeyBytes {
			return invalid(sortKeyTooLong)
		}
	}
	return nil
}

func (x *index) typeMismatch(key expr.Key, actual attr.Kind) error {
	return badParameter("Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s", key.Name,
		key.Kind, actual, x.name)
}

// checkIndexWrites refuses an update whose expression alone shows that it gives a key attribute another type.
func (t *table) checkIndexWrites(writes []expr.Written) error {
	for _, x := range t.indexes {
		for key := range x.all {
			for _, w := range writes {
				if w.Name == key.Name && w.Kind != key.Kind {
					return x.typeMismatch(key, w.Kind)
				}
			}
		}
	}
	return nil
}

// longKey returns the total length of these key attributes, 0 if none of them has changed.
func longKey(before, item packed.Attributes, keys []expr.Key) int {
	n, changed := 0, false
	for _, key := range keys {
		if v := item.Get(key.Name); v != nil {
			n += keySize(v)
			changed = changed || !unchanged(before, key, v)
		}
	}
	if !changed {
		return 0
	}
	return n
}

func unchanged(before packed.Attributes, key expr.Key, v attr.Value) bool {
	old := before.Get(key.Name)
	return old != nil && attr.Equal(old, v)
}

// checkEmptyIndexKeys refuses an item with an empty key attribute. It is a separate function for the same reason as
// keySchema.checkEmpty.
func (t *table) checkEmptyIndexKeys(item packed.Attributes) error {
	for _, x := range t.indexes {
		for key := range x.all {
			if kind := emptyKind(item.Get(key.Name)); kind != "" {
				return invalid("One or more parameter values are not valid. A value specified for a secondary index "+
					"key is not supported. The AttributeValue for a key attribute cannot contain an empty %s value. "+
					"IndexName: %s, IndexKey: %s", kind, x.name, key.Name)
			}
		}
	}
	return nil
}

// checkUpdatedIndexKeys refuses an update that leaves key attributes invalid. It ignores attributes that the update has
// not changed: they may be older than the index.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html#API_TransactWriteItems_Errors
// Source: https://github.com/architect/dynalite/blob/main/test/updateItem.js
func (t *table) checkUpdatedIndexKeys(before, after packed.Attributes) error {
	const attempted = "The update expression attempted to update the secondary index key "
	for _, x := range t.indexes {
		for key := range x.all {
			if v := after.Get(key.Name); v != nil && attr.KindOf(v) != key.Kind && !unchanged(before, key, v) {
				return invalid(attempted + "to unsupported type")
			}
		}
	}
	for _, x := range t.indexes {
		if longKey(before, after, x.hash) > maxHashKeyBytes || longKey(before, after, x.sort) > maxSortKeyBytes {
			return invalid(attempted + "beyond allowed size limits")
		}
	}
	for _, x := range t.indexes {
		for key := range x.all {
			v := after.Get(key.Name)
			if kind := emptyKind(v); kind != "" && !unchanged(before, key, v) {
				return &requestError{invalid("One or more parameter values are not valid. The update expression "+
					"attempted to update a secondary index key to a value that is not supported. "+
					"The AttributeValue for a key attribute cannot contain an empty %s value.", kind)}
			}
		}
	}
	return nil
}

// requestError is an error of an action that a transaction reports for the whole request, not among its reasons.
type requestError struct{ error }

func (e *requestError) Unwrap() error { return e.error }

// emptyKind returns "string" for an empty string, "binary" for an empty binary, and "" for any other value.
func emptyKind(v attr.Value) string {
	switch v := v.(type) {
	case attr.S:
		if v == "" {
			return "string"
		}
	case attr.B:
		if len(v) == 0 {
			return "binary"
		}
	}
	return ""
}

// keySize returns the length of a value as a part of a key; 0 for a value that cannot be one.
func keySize(v attr.Value) int {
	switch v.(type) {
	case attr.S, attr.N, attr.B:
		return attr.Size(v)
	}
	return 0
}

// onIndex answers a Scan of an index, once its table is found. Select is checked after the form of the starting key,
// and before its values.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Scan.html#DDB-Scan-request-IndexName
// Source: https://github.com/architect/dynalite/blob/main/test/scan.js
func (s *scan) onIndex(db *DB, r *request) (*dynamodb.ScanOutput, error) {
	x, err := s.readableIndex(*s.in.IndexName, s.in.ConsistentRead, s.in.ExclusiveStartKey)
	if err != nil {
		return nil, err
	}
	p := &indexPage{page: s.newPage(r, s.in.Select, s.in.Limit), index: x}
	if err := p.check(s.in.Select); err != nil {
		return nil, err
	}
	var after *indexRow
	if s.in.ExclusiveStartKey != nil {
		if after, err = x.start(&s.table.schema, s.in.ExclusiveStartKey); err != nil {
			return nil, err
		}
		if err := s.part.checkStart(x.scanHash(after.hash)); err != nil {
			return nil, err
		}
	}
	x.scan(s.part, after, p.read)
	if p.failure != nil {
		return nil, p.failure
	}
	consumed, err := p.consumed(db, r, s.table, s.in.ReturnConsumedCapacity, aws.ToBool(s.in.ConsistentRead))
	if err != nil {
		return nil, err
	}
	return (*dynamodb.ScanOutput)(p.output(consumed)), nil
}

// scanHash returns the hash of a partition of the index. The service's hash of a key of several attributes is unknown.
func (x *index) scanHash(tuple string) [md5.Size]byte {
	if len(x.hash) > 1 {
		return scanHash(tuple, "B")
	}
	return scanHash(onlyPart(tuple), x.hash[0].Kind)
}

// scanOrder returns the order of the index's partitions, as table.scanOrder does.
func (x *index) scanOrder() scanOrder {
	if x.order != nil {
		return x.order
	}
	x.order = newScanOrder(func(yield func(string) bool) {
		x.entries.Scan(func(e *indexRow) bool { return yield(e.hash) })
	}, x.scanHash)
	return x.order
}

// scan visits the rows of a segment in order. If there is a start, it visits only the rows after it.
func (x *index) scan(s segment, start *indexRow, visit func(*row) bool) {
	order := x.scanOrder()
	if start != nil {
		order = order.from(partition{x.scanHash(start.hash), start.hash})
	}
	for _, p := range order {
		if !s.has(p.hash) {
			continue
		}
		var after *indexRow
		if start != nil && p.key == start.hash {
			after = start
		}
		more := true
		(&indexRange{hash: p.key}).scan(x, true, after, func(r *row) bool {
			more = visit(r)
			return more
		})
		if !more {
			return
		}
	}
}

// onlyPart undoes appendPart for a tuple of one part.
func onlyPart(tuple string) string {
	return strings.ReplaceAll(strings.TrimSuffix(tuple, "\x00"+string(rune(partEnd))), "\x00\xff", "\x00")
}

// indexUnits are the units of an index that a write consumes.
type indexUnits struct {
	index *index
	units float64
}

// indexUnits returns the units of each index that a write changes: one write puts, changes or deletes a row in the
// index, two move it.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations.Writes
// Source: https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/tier1/putItem/indexConsumedCapacity.test.ts
func (w *write) indexUnits() []indexUnits {
	var all []indexUnits
	for _, x := range w.table.indexes {
		if units := w.unitsOf(x); units > 0 {
			all = append(all, indexUnits{x, units})
		}
	}
	return all
}

func (w *write) unitsOf(x *index) float64 {
	var before, after indexKey
	var had, has bool
	if w.row != nil {
		before, had = x.keyOf(&w.row.record)
	}
	if w.after != nil {
		after, has = x.keyOf(&w.after.record)
	}
	switch {
	case !had && !has:
		return 0
	case !had:
		return blocks(x.sizeOf(w.after), writeBlockBytes)
	case !has:
		return blocks(x.sizeOf(w.row), writeBlockBytes)
	}
	old, now := x.project(w.row), x.project(w.after)
	switch {
	case before != after:
		return blocks(old.sizeBytes, writeBlockBytes) + blocks(now.sizeBytes, writeBlockBytes)
	case old.record.Equal(&now.record):
		return 0
	}
	return blocks(max(old.sizeBytes, now.sizeBytes), writeBlockBytes)
}

// addIndexes adds the units of indexes to those of a table. Like consumedBy, it does not say whether they were read or
// written.
func addIndexes(c *types.ConsumedCapacity, list []indexUnits) {
	for _, u := range list {
		*c.CapacityUnits += u.units
		if c.Table == nil {
			continue // the request asks for the total only
		}
		byName := &c.LocalSecondaryIndexes
		if u.index.global {
			byName = &c.GlobalSecondaryIndexes
		}
		if *byName == nil {
			*byName = map[string]types.Capacity{}
		}
		sum := u.units + aws.ToFloat64((*byName)[u.index.name].CapacityUnits)
		(*byName)[u.index.name] = types.Capacity{CapacityUnits: aws.Float64(sum)}
	}
}

// addWrite adds the units of a write, including those of indexes; times is 2 for the table within a transaction.
func (u *tableUnits) addWrite(w *write, times float64) {
	u.add(w.table.name, times*w.units())
	for _, x := range w.indexUnits() {
		if u.indexes == nil {
			u.indexes = map[string][]indexUnits{}
		}
		u.indexes[w.table.name] = append(u.indexes[w.table.name], x)
	}
}

// markIndexes reports the units of indexes as written.
func markIndexes(indexes map[string]types.Capacity) {
	//isrsim:unordered each by itself
	for name, c := range indexes {
		c.WriteCapacityUnits = c.CapacityUnits
		indexes[name] = c
	}
}

// An item collection is the rows of one partition, together with their entries in local secondary indexes. Tables
// without such an index have no collections.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LSI.html#LSI.ItemCollections

// maxCollectionBytes is the limit on a collection.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LSI.html#LSI.ItemCollections.SizeLimit
const maxCollectionBytes = 10 << 30

// localBytes returns the bytes that a row takes in its collection: its own size, and the size of its entry in each
// local index.
func (t *table) localBytes(r *row) int64 {
	n := int64(r.sizeBytes)
	for _, x := range t.indexes {
		if x.global {
			continue
		}
		if _, ok := x.keyOf(&r.record); ok {
			n += int64(x.sizeOf(r))
		}
	}
	return n
}

// hasCollections reports whether there is a local index.
func (t *table) hasCollections() bool {
	for _, x := range t.indexes {
		if !x.global {
			return true
		}
	}
	return false
}

// collectionBytes adds up the sizes of a collection's rows. It takes as long as reading them.
func (t *table) collectionBytes(hash string) int64 {
	var n int64
	t.rows.Ascend(primaryKey{hash: hash}, func(r *row) bool {
		if r.key.hash != hash {
			return false
		}
		n += t.localBytes(r)
		return true
	})
	return n
}

// checkCollection refuses a write that makes a collection grow beyond the limit. It looks at each write of a
// transaction by itself. The text is the one that AWS documents as a cancellation reason of a transaction.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html#API_TransactWriteItems_Errors
func (w *write) checkCollection() error {
	t := w.table
	if w.after == nil || !t.hasCollections() {
		return nil
	}
	// A collection in a small table is within the limit, and need not be added up.
	whole := t.bytes
	for _, x := range t.indexes {
		whole += x.bytes
	}
	growth := t.localBytes(w.after)
	if whole+growth <= maxCollectionBytes {
		return nil
	}
	if w.row != nil {
		growth -= t.localBytes(w.row)
	}
	if growth <= 0 || t.collectionBytes(w.key.hash)+growth <= maxCollectionBytes {
		return nil
	}
	return &types.ItemCollectionSizeLimitExceededException{Message: aws.String("Collection size exceeded.")}
}

// collectionMetrics describes the collection of a finished write; nil if the request did not ask, or there is no
// collection.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ItemCollectionMetrics.html
// Source:
// https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier1/putItem/itemCollectionMetrics.test.ts
func (a *action) collectionMetrics(asked types.ReturnItemCollectionMetrics) *types.ItemCollectionMetrics {
	if asked != types.ReturnItemCollectionMetricsSize || !a.table.hasCollections() {
		return nil
	}
	name := a.table.schema.hash.Name
	v, err := attr.FromSDK(a.values[name]) // as the service prints it
	if err != nil {
		return nil // such a row would not have been written
	}
	low := float64(a.table.collectionBytes(a.key.hash) >> 30)
	return &types.ItemCollectionMetrics{
		ItemCollectionKey:   map[string]types.AttributeValue{name: attr.ToSDK(v)},
		SizeEstimateRangeGB: []float64{low, low + 1},
	}
}

// collections lists the collections that several writes have touched, without repetitions.
type collections struct {
	asked types.ReturnItemCollectionMetrics
	seen  map[collection]bool
	// metrics is by table, as in an answer; nil if it is empty.
	metrics map[string][]types.ItemCollectionMetrics
}

type collection struct {
	table *table
	hash  string
}

// add adds the collection of a write that has been done.
func (c *collections) add(a *action) {
	at := collection{a.table, a.key.hash}
	if a.kind == actionCheck || c.seen[at] {
		return
	}
	m := a.collectionMetrics(c.asked)
	if m == nil {
		return
	}
	if c.seen == nil {
		c.seen, c.metrics = map[collection]bool{}, map[string][]types.ItemCollectionMetrics{}
	}
	c.seen[at] = true
	c.metrics[a.table.name] = append(c.metrics[a.table.name], *m)
}
