package ddbfake

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// maxBatchWrites is the number of writes in a BatchWriteItem. The other limit, 16 MB per request, needs no check here:
// the doors bound requests, and 25 items of 400 KB are less.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
const maxBatchWrites = 25

// batchWriteItem serves BatchWriteItem: all writes are checked first, and then done one after the other, independently.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
func (db *DB) batchWriteItem(r *request, in *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemOutput, error) {
	writes, err := batchWrites(in)
	if err != nil {
		return nil, err
	}
	for i := range writes {
		if err := writes[i].prepare(db); err != nil {
			return nil, err
		}
	}
	for i := range writes {
		if err := writes[i].locate(db, r, writes[i].tableName); err != nil {
			return nil, err
		}
	}
	seen := batchKeys{}
	for i := range writes {
		if err := writes[i].resolve(seen); err != nil {
			return nil, err
		}
	}
	out := &dynamodb.BatchWriteItemOutput{UnprocessedItems: map[string][]types.WriteRequest{}}
	var units tableUnits
	touched := collections{asked: in.ReturnItemCollectionMetrics}
	var refused error
	done := 0
	for i := range writes {
		if name := writes[i].name; db.withholds(r, writes[i].table.name, writes[i].values) {
			db.countThrottled(r, writes[i].table, nil, true)
			out.UnprocessedItems[name] = append(out.UnprocessedItems[name], writes[i].request)
			continue
		}
		w, err := writes[i].run()
		if err != nil {
			return nil, err
		}
		if err := db.spendWrite(r, &w); err != nil {
			refused = cmp.Or(refused, err)
			name := writes[i].name
			out.UnprocessedItems[name] = append(out.UnprocessedItems[name], writes[i].request)
			continue
		}
		if done++; done > 1 {
			db.apart(r)
		}
		db.commit(r, w)
		units.addWrite(&w, 1)
		touched.add(&writes[i].action)
	}
	if done == 0 && r.withheld != nil {
		return nil, db.throttled(r, in, *r.withheld)
	}
	if done == 0 && refused != nil {
		return nil, refused
	}
	out.ConsumedCapacity = units.consumedByBatch(in.ReturnConsumedCapacity)
	out.ItemCollectionMetrics = touched.metrics
	return out, nil
}

// batchWrite is one write of a batch: an action without a condition.
type batchWrite struct {
	action
	name    string // the name of the table, or its ARN, as in the request
	request types.WriteRequest
}

// batchWrites checks the parameters and returns the writes.
func batchWrites(in *dynamodb.BatchWriteItemInput) ([]batchWrite, error) {
	names := sortedKeys(in.RequestItems)
	if err := checkBatchWrite(in, names); err != nil {
		return nil, err
	}
	var writes []batchWrite
	for _, name := range names {
		for _, q := range in.RequestItems[name] {
			w := batchWrite{name: name, request: q}
			switch {
			case (q.PutRequest == nil) == (q.DeleteRequest == nil):
				// The service answers with this text, although it describes another mistake. Source:
				// https://github.com/architect/dynalite/blob/main/test/batchWriteItem.js
				return nil, invalid("Supplied AttributeValue has more than one datatypes set, must contain exactly " +
					"one of the supported datatypes")
			case q.PutRequest != nil:
				w.action = action{kind: actionPut, tableName: name, values: q.PutRequest.Item}
			default:
				w.action = action{kind: actionDelete, tableName: name, values: q.DeleteRequest.Key}
			}
			writes = append(writes, w)
		}
	}
	if len(writes) > maxBatchWrites {
		return nil, invalid("Too many items requested for the BatchWriteItem call")
	}
	return writes, nil
}

// checkBatchWrite checks the parameters one by one: enumerations, then RequestItems.
//
// Source:
// https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/validation-ordering/batchOperations.test.ts
func checkBatchWrite(in *dynamodb.BatchWriteItemInput, names []string) error {
	var c constraints
	c.returnConsumedCapacity(in.ReturnConsumedCapacity)
	c.returnItemCollectionMetrics(in.ReturnItemCollectionMetrics)
	if in.RequestItems == nil {
		c.null("requestItems")
	}
	if err := c.err(); err != nil {
		return err
	}
	if len(names) == 0 {
		return invalid("The requestItems parameter is required for BatchWriteItem")
	}
	echo := func() string { return printWrites(in.RequestItems, names) }
	c.mapKeys(names, echo)
	for _, name := range names {
		if n := len(in.RequestItems[name]); n < 1 || n > maxBatchWrites {
			c.add("'"+echo()+"'", "requestItems", "Map value must satisfy constraint: "+
				"[Member must have length less than or equal to 25, Member must have length greater than or "+
				"equal to 1]")
			break
		}
	}
	for _, name := range names {
		for i, q := range in.RequestItems[name] {
			member := fmt.Sprintf("requestItems.%s.member.%d.member.", name, i+1)
			if q.DeleteRequest != nil && q.DeleteRequest.Key == nil {
				c.null(member + "deleteRequest.key")
			}
			if q.PutRequest != nil && q.PutRequest.Item == nil {
				c.null(member + "putRequest.item")
			}
		}
	}
	return c.err()
}

// printWrites prints RequestItems as the service echoes it.
//
// Deviation: in an error about RequestItems the service also echoes the writes, in a form that depends on the region.
//
// Source:
// https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/batchWriteItem.test.ts
func printWrites(items map[string][]types.WriteRequest, names []string) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = name + "=[]"
		if len(items[name]) > 0 {
			parts[i] = name + "=[...]"
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// resolve finds the row. The service answers that the key does not match, even for the item of a put.
//
// Source:
// https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/batchWriteItem.test.ts
func (w *batchWrite) resolve(seen batchKeys) error {
	schema := &w.table.schema
	if w.kind == actionPut {
		if _, err := schema.ofItem(&w.item); err != nil {
			return invalid(keyMismatch)
		}
	}
	if err := w.action.resolve(); err != nil {
		return err
	}
	if err := w.checkEmpty(); err != nil {
		return err
	}
	return seen.add(w.table, w.key)
}

// BatchGetItem and BatchWriteItem share the code that follows. The tables of a batch come in a map. They are served in
// the order of their names; AWS promises no order.

// duplicateKeys is the answer to a batch that names an item twice.
//
// Source:
// https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/batchWriteItem.test.ts
const duplicateKeys = "Provided list of item keys contains duplicates"

// mapKeys refuses RequestItems if the name of a table is not valid. echo returns RequestItems as the service prints it.
func (c *constraints) mapKeys(tables []string, echo func() string) {
	for _, name := range tables {
		if plainTableName(name) || strings.HasPrefix(name, "arn:") && len(name) <= maxTableARN &&
			plainTableName(nameInARN(name)) {
			continue
		}
		c.add("'"+echo()+"'", "requestItems",
			"Map keys must satisfy constraint: [Member must have length less than or equal to 255, "+
				"Member must have length greater than or equal to 3, Member must satisfy regular expression pattern: "+
				tableNamePattern+"]")
		return
	}
}

// batchKeys are the keys that a batch has named so far.
type batchKeys map[tableRow]bool

// add refuses a key that was named before.
func (k batchKeys) add(t *table, key primaryKey) error {
	if k[tableRow{t, key}] {
		return invalid(duplicateKeys)
	}
	k[tableRow{t, key}] = true
	return nil
}

// withholds reports whether a fault leaves this request of a batch undone.
func (db *DB) withholds(r *request, table string, values map[string]types.AttributeValue) bool {
	switch {
	case r.withheld == nil:
		return false
	case r.undone != nil:
		return r.undone(table)
	default:
		return db.hits(*r.withheld, r.region, target{table, values})
	}
}

// consumedByBatch reports units by table, without saying whether they were read or written.
func (u *tableUnits) consumedByBatch(asked types.ReturnConsumedCapacity) []types.ConsumedCapacity {
	if !wanted(asked) {
		return nil
	}
	out := make([]types.ConsumedCapacity, len(u.tables))
	for i, name := range u.tables {
		out[i] = *consumedBy(asked, name, u.units[name])
		addIndexes(&out[i], u.indexes[name])
	}
	return out
}
