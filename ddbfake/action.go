package ddbfake

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

// action is a conditional write on one row: PutItem, UpdateItem, DeleteItem or an action of a transaction. It goes
// through prepare, locate, resolve and run. This is the order in which the service finds errors.
type action struct {
	kind      actionKind
	tableName string

	// Copied from the request.
	values       map[string]types.AttributeValue // the item of a put, the key of the others
	names        map[string]string
	placeholders map[string]types.AttributeValue
	conditionSrc *string
	updateSrc    *string
	returnOld    bool         // ReturnValuesOnConditionCheckFailure is ALL_OLD
	transact     bool         // the action is one of TransactWriteItems
	legacy       *legacyWrite // nil if there are no legacy parameters, else there are no expressions
	// statement means that the action is a PartiQL statement: its args, condition and update are already set.
	statement bool
	insert    bool // an existing item makes this a duplicate

	// Set by prepare.
	args      expr.Args
	condition *expr.Condition
	update    *expr.Update
	item      packed.Record // the item of a put
	sizeBytes int           // the size of the item

	found // set by locate and resolve, or earlier by fits
}

type actionKind uint8

const (
	actionPut actionKind = iota
	actionUpdate
	actionDelete
	actionCheck
)

// expressions returns the expression parameters that the kind takes.
func (a *action) expressions() []expression {
	if a.kind == actionUpdate {
		return []expression{{"UpdateExpression", a.updateSrc}, {"ConditionExpression", a.conditionSrc}}
	}
	return []expression{{"ConditionExpression", a.conditionSrc}}
}

// prepare checks everything that needs no table: values, the size of a put, expressions.
func (a *action) prepare(db *DB) error {
	if (a.names != nil || a.placeholders != nil) && !a.transact {
		if err := checkPlaceholders(a.expressions(), a.names, a.placeholders); err != nil {
			return err
		}
	}
	fits := a.fits(db, a.tableName, a.values, a.kind == actionPut)
	if a.kind == actionPut {
		var err error
		if a.item, a.sizeBytes, err = packed.FromSDK(a.values, a.like()); err != nil {
			return refused(err)
		}
		if a.sizeBytes > maxItemBytes {
			return invalid(itemTooLarge)
		}
	} else if !fits {
		if err := checkValues(a.values); err != nil {
			return err
		}
	}
	switch {
	case a.statement:
		return nil
	case a.legacy != nil:
		return a.legacy.build(a)
	}
	var err error
	if a.args, err = db.callArgs(a.names, a.placeholders); err != nil {
		return err
	}
	if a.update, err = db.parsed.updates.get(a.updateSrc, parseUpdate); err != nil {
		return err
	}
	if a.condition, err = db.parsed.conditions.get(a.conditionSrc, parseCondition); err != nil {
		return err
	}
	switch {
	case a.update != nil && a.condition != nil:
		return checkExpressions(a.args, a.update, a.condition)
	case a.update != nil:
		return checkExpressions(a.args, a.update)
	case a.condition != nil:
		return checkExpressions(a.args, a.condition)
	}
	return nil
}

// resolve finds the row, and refuses a key or an item that does not fit the table. Empty key values are left to the
// caller.
func (a *action) resolve() error {
	schema := &a.table.schema
	if !a.keyed {
		key, err := a.lookFor(schema)
		if err != nil {
			return err
		}
		a.look(key)
	}
	if a.update != nil {
		if name := a.update.Writing(a.args, schema.has); name != "" {
			return invalid("One or more parameter values were invalid: "+
				"Cannot update attribute %s. This attribute is part of the key", name)
		}
		if err := a.table.checkNested(a.update, a.args); err != nil {
			return err
		}
	}
	if a.condition != nil {
		if err := a.table.checkNested(a.condition, a.args); err != nil {
			return err
		}
	}
	if err := schema.checkSize(a.key); err != nil {
		return err
	}
	if a.table.indexes != nil {
		return a.checkIndexKeys()
	}
	return nil
}

func (a *action) lookFor(schema *keySchema) (primaryKey, error) {
	if a.kind == actionPut {
		return schema.ofItem(a.newImage())
	}
	return schema.ofKey(a.values)
}

// newImage returns a copy of the attributes of a put's item. A pointer into the action would put every action on the
// heap.
func (a *action) newImage() packed.Attributes {
	item := a.item
	return &item
}

// checkIndexKeys refuses key attributes of indexes with impossible values, if the request alone shows them.
func (a *action) checkIndexKeys() error {
	switch {
	case a.kind == actionPut:
		return a.table.checkIndexKeys(a.newImage())
	case a.update != nil:
		return a.table.checkIndexWrites(a.update.Writes(a.args))
	}
	return nil
}

// checkEmpty refuses empty values of key attributes, including the keys of indexes.
func (a *action) checkEmpty() error {
	if err := a.table.schema.checkEmpty(a.key); err != nil || a.kind != actionPut || a.table.indexes == nil {
		return err
	}
	return a.table.checkEmptyIndexKeys(a.newImage())
}

// run evaluates the condition and works out the write, without doing it. A condition check comes out as a write that
// changes nothing.
func (a *action) run() (write, error) {
	w := write{found: a.found, after: a.row, check: a.kind == actionCheck}
	if a.condition != nil {
		holds, err := a.condition.Eval(attributesOf(a.row), a.args)
		if err != nil {
			return w, invalid("%s", err.Error())
		}
		if !holds && a.insert {
			return w, duplicateItem()
		}
		if !holds {
			var old map[string]types.AttributeValue
			if a.returnOld {
				old = a.row.toSDK()
			}
			return w, conditionFailed(old)
		}
	}
	switch a.kind {
	case actionPut:
		w.replace(&a.item, a.sizeBytes)
	case actionDelete:
		w.after = nil
	case actionUpdate:
		if err := a.runUpdate(&w); err != nil {
			return w, err
		}
	}
	if a.table.indexes != nil && a.kind != actionCheck {
		if err := w.checkCollection(); err != nil {
			return w, err
		}
	}
	return w, nil
}

// runUpdate works out the write of an update.
func (a *action) runUpdate(w *write) error {
	after, err := a.updated()
	if err != nil {
		return err
	}
	sizeBytes := after.Size()
	if sizeBytes > maxItemBytes {
		return invalid("Item size to update has exceeded the maximum allowed size")
	}
	if after.Len() > 0 {
		w.replace(&after, sizeBytes)
	}
	if a.table.indexes != nil && w.after != nil {
		return a.table.checkUpdatedIndexKeys(attributesOf(a.row), attributesOf(w.after))
	}
	return nil
}

// updated applies the update expression. On a missing row it starts from an empty item and adds the key. An update that
// only removes creates no row, and its result is empty; DynamoDB Local 3.3.1 creates one even then. REMOVE may name a
// path that a missing row lacks: that is no mistake.
//
// Source: https://github.com/scylladb/scylladb/blob/master/test/alternator/test_update_expression.py
// (test_nested_attribute_remove_from_missing_item)
func (a *action) updated() (packed.Record, error) {
	var base *packed.Record
	if a.row != nil {
		base = &a.row.record
	} else {
		key, _, err := packed.FromSDK(a.values, nil)
		if err != nil {
			return packed.Record{}, invalid("%s", err.Error())
		}
		base = &key
	}
	if a.update == nil {
		return *base, nil
	}
	if a.row == nil && a.update.OnlyREMOVE() {
		return packed.Record{}, nil
	}
	after, err := a.update.ApplyRecord(base, a.args)
	if err != nil {
		return packed.Record{}, invalid("%s", err.Error())
	}
	if a.row == nil && a.update.CreatesNothing() {
		return packed.Record{}, nil
	}
	return after, nil
}

// performAlone is perform for a request that consists of this action alone, and makes the answer. The request may also
// carry legacy parameters. The answers of PutItem and DeleteItem have the same form.
func (a *action) performAlone(db *DB, r *request, old legacyWrite, values types.ReturnValue,
	capacity types.ReturnConsumedCapacity,
	metrics types.ReturnItemCollectionMetrics) (*dynamodb.UpdateItemOutput, error) {
	if old.given() {
		if err := old.check(a); err != nil {
			return nil, enveloped(err)
		}
		kept := old // a copy, so that old is not on the heap in every call
		a.legacy = &kept
	}
	if err := a.prepare(db); err != nil {
		return nil, enveloped(err)
	}
	w, err := a.performPrepared(db, r)
	if err != nil {
		return nil, err
	}
	return &dynamodb.UpdateItemOutput{
		Attributes: a.returned(values, w), ConsumedCapacity: w.consumed(capacity),
		ItemCollectionMetrics: a.collectionMetrics(metrics),
	}, nil
}

// perform runs an action that is a request by itself.
func (a *action) perform(db *DB, r *request) (write, error) {
	if err := a.prepare(db); err != nil {
		return write{}, err
	}
	return a.performPrepared(db, r)
}

// performPrepared is perform after prepare.
func (a *action) performPrepared(db *DB, r *request) (write, error) {
	if err := a.locate(db, r, a.tableName); err != nil {
		return write{}, err
	}
	if err := a.resolve(); err != nil {
		return write{}, err
	}
	if err := a.checkEmpty(); err != nil {
		return write{}, err
	}
	if err := db.checkConflict(r, a.table, a.key); err != nil {
		return write{}, err
	}
	w, err := a.run()
	if err != nil {
		var refused *requestError
		if errors.As(err, &refused) {
			err = refused.error
		}
		if isConditionFailed(err) {
			if refused := db.spendFailed(r, a); refused != nil {
				return write{}, refused
			}
		}
		return write{}, err
	}
	if err := db.spendWrite(r, &w); err != nil {
		return write{}, err
	}
	db.commit(r, w)
	return w, nil
}
