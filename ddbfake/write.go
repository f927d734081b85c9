package ddbfake

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

// write is the replacement of one row. It takes effect at commit.
type write struct {
	found
	after *row // nil if no row is left; the same row if nothing changes
	check bool // a condition check, which writes nothing
}

// replace makes record the row's next image, unless it equals the present one.
func (w *write) replace(record *packed.Record, sizeBytes int) {
	if w.row == nil || !w.row.record.Equal(record) {
		w.after = w.next(record, sizeBytes)
	}
}

// commit makes the writes of one request and logs those that change a row. It cannot fail: all checks came before.
func (db *DB) commit(r *request, writes ...write) {
	db.noteWrites(r, writes)
	for i := range writes {
		w := &writes[i]
		e := logEntry{
			request: r.id,
			time:    r.now,
			sent:    r.sent,
			actor:   r.actor,
			table:   w.table.tableID,
			before:  w.row,
			after:   w.after,
		}
		db.store(w, e)
		if w.table.members != nil && !w.check {
			db.replicate(w.table, w.key, e)
		}
	}
}

// apart gives the next write of a batch a new number. A client may see one write of a batch and not the next, so
// readers of the log must not take the batch for a transaction.
func (db *DB) apart(r *request) {
	db.state.requests++
	r.id = db.state.requests
}

// store makes a write and records it, unless it leaves the row unchanged. It reports whether the row changes.
func (db *DB) store(w *write, e logEntry) bool {
	switch w.after {
	case w.row:
		return false
	case nil:
		w.table.remove(w.row, w.at)
	default:
		w.table.put(w.row, w.after, w.at, e.time)
	}
	db.record(e)
	return true
}

// putItem serves PutItem.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PutItem.html
func (db *DB) putItem(r *request, in *dynamodb.PutItemInput) (*dynamodb.PutItemOutput, error) {
	old := legacyWrite{in.Expected, in.ConditionalOperator, nil}
	var c constraints
	c.returnConsumedCapacity(in.ReturnConsumedCapacity)
	name := c.written(in.TableName, in.Item != nil)
	if in.Item == nil {
		c.null("item")
	}
	c.returnValues(in.ReturnValues, in.Item != nil)
	c.returnItemCollectionMetrics(in.ReturnItemCollectionMetrics)
	c.returnValuesOnFailure(in.ReturnValuesOnConditionCheckFailure, "")
	c.legacyWrite(&old)
	if err := c.err(); err != nil {
		return nil, err
	}
	if err := onlyOldValues(in.ReturnValues); err != nil {
		return nil, err
	}
	a := action{
		kind:         actionPut,
		tableName:    name,
		values:       in.Item,
		names:        in.ExpressionAttributeNames,
		placeholders: in.ExpressionAttributeValues,
		conditionSrc: in.ConditionExpression,
		returnOld:    in.ReturnValuesOnConditionCheckFailure == types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	out, err := a.performAlone(db, r, old, in.ReturnValues, in.ReturnConsumedCapacity, in.ReturnItemCollectionMetrics)
	return (*dynamodb.PutItemOutput)(out), err
}

// onlyOldValues checks ReturnValues of PutItem and DeleteItem.
func onlyOldValues(v types.ReturnValue) error {
	switch v {
	case "", types.ReturnValueNone, types.ReturnValueAllOld:
		return nil
	}
	return enveloped(invalid("ReturnValues can only be ALL_OLD or NONE"))
}

// updateItem serves UpdateItem. It creates a missing row, unless the update only removes. Without an UpdateExpression
// the new row has the key alone.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateItem.html
func (db *DB) updateItem(r *request, in *dynamodb.UpdateItemInput) (*dynamodb.UpdateItemOutput, error) {
	old := legacyWrite{in.Expected, in.ConditionalOperator, in.AttributeUpdates}
	var c constraints
	c.returnConsumedCapacity(in.ReturnConsumedCapacity)
	name := c.written(in.TableName, in.Key != nil)
	c.returnItemCollectionMetrics(in.ReturnItemCollectionMetrics)
	c.returnValues(in.ReturnValues, in.Key != nil)
	if in.Key != nil && c.alone == "" && !knownReturnValues(in.ReturnValues) {
		c.alone = badReturnValues
	}
	c.returnValuesOnFailure(in.ReturnValuesOnConditionCheckFailure, "")
	if in.Key == nil {
		c.null("key")
	}
	c.legacyWrite(&old)
	if err := c.err(); err != nil {
		return nil, err
	}
	a := action{
		kind:         actionUpdate,
		tableName:    name,
		values:       in.Key,
		names:        in.ExpressionAttributeNames,
		placeholders: in.ExpressionAttributeValues,
		conditionSrc: in.ConditionExpression,
		updateSrc:    in.UpdateExpression,
		returnOld:    in.ReturnValuesOnConditionCheckFailure == types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	return a.performAlone(db, r, old, in.ReturnValues, in.ReturnConsumedCapacity, in.ReturnItemCollectionMetrics)
}

// returned returns the attributes that ReturnValues asks for, or nil. For a nested path, UPDATED_OLD and UPDATED_NEW
// return that path alone; DynamoDB Local 3.3.1 returns more of the old item.
func (a *action) returned(v types.ReturnValue, w write) map[string]types.AttributeValue {
	r := w.row
	switch v {
	case types.ReturnValueAllOld:
		return w.row.toSDK()
	case types.ReturnValueAllNew:
		return w.after.toSDK()
	case types.ReturnValueUpdatedOld:
	case types.ReturnValueUpdatedNew:
		r = w.after
	default:
		return nil
	}
	if r == nil || a.update == nil {
		return nil
	}
	return a.update.Touched(itemOf(r), a.args).ToSDK()
}

// deleteItem serves DeleteItem. Deleting a row that does not exist succeeds.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DeleteItem.html
func (db *DB) deleteItem(r *request, in *dynamodb.DeleteItemInput) (*dynamodb.DeleteItemOutput, error) {
	old := legacyWrite{in.Expected, in.ConditionalOperator, nil}
	var c constraints
	c.returnConsumedCapacity(in.ReturnConsumedCapacity)
	name := c.written(in.TableName, in.Key != nil)
	c.returnValues(in.ReturnValues, in.Key != nil)
	c.returnItemCollectionMetrics(in.ReturnItemCollectionMetrics)
	c.returnValuesOnFailure(in.ReturnValuesOnConditionCheckFailure, "")
	if in.Key == nil {
		c.null("key")
	}
	c.legacyWrite(&old)
	if err := c.err(); err != nil {
		return nil, err
	}
	if err := onlyOldValues(in.ReturnValues); err != nil {
		return nil, err
	}
	a := action{
		kind:         actionDelete,
		tableName:    name,
		values:       in.Key,
		names:        in.ExpressionAttributeNames,
		placeholders: in.ExpressionAttributeValues,
		conditionSrc: in.ConditionExpression,
		returnOld:    in.ReturnValuesOnConditionCheckFailure == types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	out, err := a.performAlone(db, r, old, in.ReturnValues, in.ReturnConsumedCapacity, in.ReturnItemCollectionMetrics)
	return (*dynamodb.DeleteItemOutput)(out), err
}

// found is the table, key and row of a request on one row. Reads and writes look them up in the same way.
type found struct {
	table *table
	key   primaryKey
	keyed bool  // key, at and row are set
	at    *cell // the cell that holds or held the row; nil if unknown
	row   *row  // nil if there is none
}

// fits reports whether the table exists and the values are a valid key of it or, if whole, an item with a valid key. If
// so, f keeps the key and its row, which saves another lookup.
func (f *found) fits(db *DB, tableName string, values map[string]types.AttributeValue, whole bool) bool {
	var err error
	if f.table, err = db.find(&db.request, tableName); err != nil || f.table == nil {
		return false
	}
	schema := &f.table.schema
	if !whole && len(values) != schema.size() {
		return false
	}
	key, ok := schema.within(values)
	if ok {
		f.look(key)
	}
	return ok
}

// look finds the row of the key.
func (f *found) look(key primaryKey) {
	f.key, f.keyed = key, true
	if f.at = f.table.rows.cell(key); f.at != nil {
		f.row = f.at.row()
	}
}

// like returns an image that the row's next one probably resembles, nil if there is none.
func (f *found) like() *packed.Record {
	if f.at == nil {
		return nil
	}
	return &f.at.last.record
}

// next returns the row's next image.
func (f *found) next(record *packed.Record, sizeBytes int) *row {
	if f.at == nil {
		return (&place{key: f.key}).image(*record, sizeBytes)
	}
	return f.at.image(*record, sizeBytes)
}

func (f *found) locate(db *DB, r *request, tableName string) (err error) {
	if f.table == nil {
		f.table, err = db.table(r, tableName)
	}
	return err
}
