package ddbfake

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

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

// collectionBytes adds up the sizes of a collection's rows, which takes as long as reading them.
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
	// As long as the table is small, nothing needs to be added up.
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
	// metrics is by table, as in an answer; nil if there are none.
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
