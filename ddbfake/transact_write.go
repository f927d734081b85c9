package ddbfake

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

// transactWriteItems serves TransactWriteItems: all actions or none, each judged by the state before the transaction.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
func (db *DB) transactWriteItems(
	r *request, in *dynamodb.TransactWriteItemsInput,
) (*dynamodb.TransactWriteItemsOutput, error) {
	if db.transaction == nil {
		db.transaction = new(transaction)
	}
	actions, err := db.transactActions(in)
	if err != nil {
		return nil, err
	}
	for i := range actions {
		if err := actions[i].prepare(db); err != nil {
			return nil, err
		}
	}
	print := func() fingerprint.Wide { return fingerprintOf(in) }
	units, replay, err := db.seen(r, in.ClientRequestToken, print)
	if err != nil {
		return nil, err
	}
	if replay {
		return &dynamodb.TransactWriteItemsOutput{
			ConsumedCapacity: db.replay(r, actions, units, in.ReturnConsumedCapacity)}, nil
	}
	for i := range actions {
		if err := actions[i].locate(db, r, actions[i].tableName); err != nil {
			return nil, err
		}
	}
	writes, err := db.transact(r, actions)
	if err != nil {
		return nil, err
	}
	db.remember(r, in.ClientRequestToken, print, writes)
	out := &dynamodb.TransactWriteItemsOutput{ConsumedCapacity: transacted(writes, in.ReturnConsumedCapacity)}
	touched := collections{asked: in.ReturnItemCollectionMetrics}
	for i := range actions {
		touched.add(&actions[i])
	}
	out.ItemCollectionMetrics = touched.metrics
	return out, nil
}

// transact makes the writes of a transaction once their tables are found.
func (db *DB) transact(r *request, actions []action) ([]write, error) {
	if err := resolveActions(actions); err != nil {
		return nil, err
	}
	row := func(i int) tableRow { return tableRow{actions[i].table, actions[i].key} }
	if err := db.checkConflicts(r, len(actions), row, false); err != nil {
		return nil, err
	}
	writes, err := db.runActions(actions)
	if err != nil {
		return nil, err
	}
	r.transaction = true
	if err := db.spendTransaction(r, writes); err != nil {
		return nil, err
	}
	db.commit(r, writes...)
	return writes, nil
}

// transacted reports what the writes of a transaction consumed.
func transacted(writes []write, asked types.ReturnConsumedCapacity) []types.ConsumedCapacity {
	if !wanted(asked) {
		return nil
	}
	var units tableUnits
	for i := range writes {
		units.addWrite(&writes[i], 2)
	}
	return units.consumed(asked, false)
}

// transaction is memory for serving a transaction. It has room for a few actions, and few transactions have more. The
// next transaction reuses it.
type transaction struct {
	actions [4]action
	writes  [4]write
}

// scratch returns n zero values, in room if they fit there.
func scratch[T any](room []T, n int) []T {
	if n > len(room) {
		return make([]T, n)
	}
	clear(room)
	return room[:n]
}

// replay returns the units for the repetition of a transaction that was done before. The repetition changes nothing.
// Its units are those of reading the images for which the transaction was charged.
//
// Source: https://github.com/nubo-db/dynoxide/pull/188 (measured at the service)
func (db *DB) replay(
	r *request, actions []action, units []float64, asked types.ReturnConsumedCapacity,
) []types.ConsumedCapacity {
	var sums tableUnits
	for i := range actions {
		a := &actions[i]
		if a.locate(db, r, a.tableName) == nil && a.resolve() == nil {
			db.take(r, &spending{table: a.table, hash: a.key.hash, keyed: true, units: units[i]})
			sums.add(a.table.name, units[i])
		}
	}
	return sums.consumed(asked, true)
}

// transactActions checks the parameters of a transaction and returns its actions.
func (db *DB) transactActions(in *dynamodb.TransactWriteItemsInput) ([]action, error) {
	var c constraints
	// The service checks the token first.
	// Source:
	// https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/validation-ordering/transactions.test.ts
	if t := in.ClientRequestToken; t != nil {
		if len(*t) < 1 {
			c.length(*t, "clientRequestToken", "greater", 1)
		}
		if len(*t) > maxTokenLength {
			c.length(*t, "clientRequestToken", "less", maxTokenLength)
		}
	}
	c.returnConsumedCapacity(in.ReturnConsumedCapacity)
	c.returnItemCollectionMetrics(in.ReturnItemCollectionMetrics)
	c.transactItems(len(in.TransactItems), in.TransactItems == nil)
	if len(in.TransactItems) > maxTransactItems {
		return nil, c.err()
	}
	actions := scratch(db.transaction.actions[:], len(in.TransactItems))
	for i := range in.TransactItems {
		c.transactItem(&in.TransactItems[i], i, &actions[i])
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	for i := range in.TransactItems {
		item := &in.TransactItems[i]
		switch n := given(item.ConditionCheck) + given(item.Put) + given(item.Update) + given(item.Delete); {
		case n == 0:
			return nil, invalid("Invalid Request: TransactWriteRequest should contain Delete or Put or Update request")
		case n > 1:
			return nil, invalid("TransactItems can only contain one of Check, Put, Update or Delete")
		}
	}
	return actions, nil
}

func given[T any](p *T) int {
	if p == nil {
		return 0
	}
	return 1
}

// transactItem checks one action of the request, and fills in the action.
func (c *constraints) transactItem(in *types.TransactWriteItem, i int, a *action) {
	var name *string
	var onFailure types.ReturnValuesOnConditionCheckFailure
	kind, values := "", "key"
	switch {
	case in.ConditionCheck != nil:
		p := in.ConditionCheck
		kind, name, onFailure = "conditionCheck", p.TableName, p.ReturnValuesOnConditionCheckFailure
		*a = action{kind: actionCheck, values: p.Key, names: p.ExpressionAttributeNames,
			placeholders: p.ExpressionAttributeValues, conditionSrc: p.ConditionExpression}
		if p.ConditionExpression == nil {
			c.null(member("transactItems", i, "conditionCheck.conditionExpression"))
		}
	case in.Put != nil:
		p := in.Put
		kind, values, name, onFailure = "put", "item", p.TableName, p.ReturnValuesOnConditionCheckFailure
		*a = action{kind: actionPut, values: p.Item, names: p.ExpressionAttributeNames,
			placeholders: p.ExpressionAttributeValues, conditionSrc: p.ConditionExpression}
	case in.Update != nil:
		p := in.Update
		kind, name, onFailure = "update", p.TableName, p.ReturnValuesOnConditionCheckFailure
		*a = action{kind: actionUpdate, values: p.Key, names: p.ExpressionAttributeNames,
			placeholders: p.ExpressionAttributeValues, conditionSrc: p.ConditionExpression,
			updateSrc: p.UpdateExpression}
		if p.UpdateExpression == nil {
			c.null(member("transactItems", i, "update.updateExpression"))
		}
	case in.Delete != nil:
		p := in.Delete
		kind, name, onFailure = "delete", p.TableName, p.ReturnValuesOnConditionCheckFailure
		*a = action{kind: actionDelete, values: p.Key, names: p.ExpressionAttributeNames,
			placeholders: p.ExpressionAttributeValues, conditionSrc: p.ConditionExpression}
	default:
		return
	}
	a.transact = true
	a.returnOld = onFailure == types.ReturnValuesOnConditionCheckFailureAllOld
	if a.values == nil {
		c.null(member("transactItems", i, kind+"."+values))
	}
	if onFailure != "" && !a.returnOld {
		c.returnValuesOnFailure(onFailure, member("transactItems", i, kind+"."))
	}
	if name != nil && plainTableName(*name) {
		a.tableName = *name
		return
	}
	c.tableName(name, member("transactItems", i, kind+".tableName"))
	if name != nil {
		a.tableName = *name
	}
}

// resolveActions finds the rows. A key that does not fit its table cancels the transaction. The whole request is
// refused for an empty key value, an item named twice, or too large a transaction.
func resolveActions(actions []action) error {
	unfit := -1
	var unfitError error
	for i := range actions {
		a := &actions[i]
		if err := a.resolve(); err != nil {
			if unfit < 0 {
				unfit, unfitError = i, err
			}
			a.key = primaryKey{}
			continue
		}
		if err := a.checkEmpty(); err != nil {
			return err
		}
		for j := range i {
			if b := &actions[j]; b.table == a.table && b.key == a.key {
				return invalid(oneOperationPerItem)
			}
		}
	}
	sizeBytes := 0
	for i := range actions {
		sizeBytes += actions[i].payloadBytes()
	}
	if err := checkTransactBytes(sizeBytes); err != nil {
		return err
	}
	if unfit >= 0 {
		return cancelledAt(unfit, len(actions), unfitError)
	}
	return nil
}

// payloadBytes is the number of bytes that an action adds to the size of its transaction. The limit applies to the
// request, not to the rows. AWS does not document this. Actions other than a put count as in DynamoDB Local 3.3.1.
//
// Source: https://github.com/scylladb/scylladb/blob/master/test/alternator/test_transact.py
func (a *action) payloadBytes() int {
	if a.kind == actionPut {
		return a.sizeBytes
	}
	schema := &a.table.schema
	n := len(schema.hash.Name) + len(a.key.hash) + len(schema.sort.Name) + len(a.key.sort) +
		len(aws.ToString(a.updateSrc)) + len(aws.ToString(a.conditionSrc))
	return n + a.args.Size()
}

// runActions evaluates every action, so that every failed condition gives a reason, and returns the writes if none
// failed.
func (db *DB) runActions(actions []action) ([]write, error) {
	writes := scratch(db.transaction.writes[:], len(actions))
	var reasons []types.CancellationReason
	invalidSeen := false
	for i := range actions {
		w, err := actions[i].run()
		if err == nil {
			writes[i] = w
			continue
		}
		if refused, ok := errors.AsType[*requestError](err); ok {
			return nil, refused.error
		}
		if reasons == nil {
			reasons = make([]types.CancellationReason, len(actions))
		}
		if !isConditionFailed(err) {
			if invalidSeen {
				continue
			}
			invalidSeen = true
		}
		reasons[i] = reasonFor(err)
	}
	if reasons != nil {
		return nil, cancelled(reasons)
	}
	return writes, nil
}

func isConditionFailed(err error) bool {
	var failed *types.ConditionalCheckFailedException
	var duplicate *types.DuplicateItemException
	return errors.As(err, &failed) || errors.As(err, &duplicate)
}
