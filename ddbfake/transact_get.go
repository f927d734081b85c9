package ddbfake

import (
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// transactGetItems serves TransactGetItems: all reads see the same state.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactGetItems.html
func (db *DB) transactGetItems(
	r *request, in *dynamodb.TransactGetItemsInput,
) (*dynamodb.TransactGetItemsOutput, error) {
	gets, err := transactGets(in)
	if err != nil {
		return nil, err
	}
	for i := range gets {
		if err := gets[i].prepare(db); err != nil {
			return nil, err
		}
	}
	for i := range gets {
		if err := gets[i].locate(db, r, gets[i].tableName); err != nil {
			return nil, err
		}
	}
	if err := resolveGets(gets); err != nil {
		return nil, err
	}
	responses, units, err := db.runGets(r, gets)
	if err != nil {
		return nil, err
	}
	return &dynamodb.TransactGetItemsOutput{
		Responses: responses, ConsumedCapacity: units.consumed(in.ReturnConsumedCapacity, true),
	}, nil
}

// runGets makes the reads of a transaction once their rows are found.
func (db *DB) runGets(r *request, gets []get) (responses []types.ItemResponse, units tableUnits, err error) {
	row := func(i int) tableRow { return tableRow{gets[i].table, gets[i].key} }
	if err := db.checkConflicts(r, len(gets), row, true); err != nil {
		return nil, units, err
	}
	if err := db.spendGets(r, gets); err != nil {
		return nil, units, err
	}
	responses = make([]types.ItemResponse, len(gets))
	for i := range gets {
		g := &gets[i]
		item, err := g.run()
		if err != nil {
			return nil, units, cancelledAt(i, len(gets), err)
		}
		// An item without projected attributes is left out here; GetItem returns an empty one.
		// Source: https://github.com/nubo-db/dynoxide/issues/39 (seen at the service)
		if len(item) > 0 || !g.transact {
			responses[i].Item = item
		}
		units.add(g.table.name, g.transactUnits())
	}
	return responses, units, nil
}

// transactUnits returns the units of a read in a transaction.
func (g *get) transactUnits() float64 { return 2 * readUnits(sizeOf(g.row), true) }

// spendGets takes the units of all reads of a transaction, or of none.
func (db *DB) spendGets(r *request, gets []get) error {
	spendingOf := func(g *get) spending {
		return spending{table: g.table, hash: g.key.hash, keyed: true, units: g.transactUnits()}
	}
	if db.limits != nil {
		var all refusals
		for i := range gets {
			s := spendingOf(&gets[i])
			all.add(db, r, &s, i, len(gets))
		}
		if err := all.err(); err != nil {
			return err
		}
	}
	for i := range gets {
		s := spendingOf(&gets[i])
		db.take(r, &s)
	}
	return nil
}

// transactGets checks the parameters and returns the reads.
func transactGets(in *dynamodb.TransactGetItemsInput) ([]get, error) {
	var c constraints
	c.returnConsumedCapacity(in.ReturnConsumedCapacity)
	c.transactItems(len(in.TransactItems), in.TransactItems == nil)
	if len(in.TransactItems) > maxTransactItems {
		return nil, c.err()
	}
	gets := make([]get, len(in.TransactItems))
	for i := range in.TransactItems {
		p := in.TransactItems[i].Get
		if p == nil {
			c.null(member("transactItems", i, "get"))
			continue
		}
		gets[i] = get{values: p.Key, names: p.ExpressionAttributeNames, projectionSrc: p.ProjectionExpression,
			transact: true}
		if p.Key == nil {
			c.null(member("transactItems", i, "get.key"))
		}
		c.tableName(p.TableName, member("transactItems", i, "get.tableName"))
		if p.TableName != nil {
			gets[i].tableName = *p.TableName
		}
	}
	return gets, c.err()
}

// resolveGets finds the rows. Its errors refuse the request or cancel the transaction, as those of resolveActions do.
func resolveGets(gets []get) error {
	unfit := -1
	var unfitError error
	sizeBytes := 0
	for i := range gets {
		g := &gets[i]
		if err := g.resolve(); err != nil {
			if unfit < 0 {
				unfit, unfitError = i, err
			}
			g.key = primaryKey{}
			continue
		}
		if err := g.table.schema.checkEmpty(g.key); err != nil {
			return err
		}
		for j := range i {
			if h := &gets[j]; h.table == g.table && h.key == g.key {
				return invalid(oneOperationPerItem)
			}
		}
		sizeBytes += sizeOf(g.row)
	}
	if unfit >= 0 {
		return cancelledAt(unfit, len(gets), unfitError)
	}
	return checkTransactBytes(sizeBytes)
}

// Limits of both transactional operations.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-dynamodb-transactions
const (
	maxTransactItems = 100
	maxTransactBytes = 4 << 20
)

// transactItems checks the number of items.
//
// Deviation: for a transaction with too many items, the service echoes the whole list.
//
// Source:
// https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/transactWriteItems.test.ts
func (c *constraints) transactItems(n int, missing bool) {
	switch {
	case missing:
		c.null("transactItems")
	case n < 1:
		c.length("[]", "transactItems", "greater", 1)
	case n > maxTransactItems:
		c.length("[...]", "transactItems", "less", maxTransactItems)
	}
}

const oneOperationPerItem = "Transaction request cannot include multiple operations on one item"

// checkTransactBytes refuses a transaction of more than 4 MB. AWS documents the limit but not the text; this is
// DynamoDB Local 3.3.1's.
func checkTransactBytes(sizeBytes int) error {
	if sizeBytes > maxTransactBytes {
		return invalid("Transaction payload size cannot exceed 4MB. Payload Size: %d", sizeBytes)
	}
	return nil
}

// Codes of cancellation reasons.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html#API_TransactWriteItems_Errors
const (
	reasonNone            = "None"
	reasonConditionFailed = "ConditionalCheckFailed"
	reasonDuplicate       = "DuplicateItem"
	reasonNoTable         = "ResourceNotFound"
	reasonValidation      = "ValidationError"
	reasonThrottled       = "ProvisionedThroughputExceeded"
	reasonScaling         = "ThrottlingError"
	reasonConflict        = "TransactionConflict"
	reasonCollection      = "ItemCollectionSizeLimitExceeded"
)

// cancelled returns a TransactionCanceledException: reasons are in the order of the request, with None for an action
// that did not fail.
func cancelled(reasons []types.CancellationReason) error {
	codes := make([]string, len(reasons))
	for i := range reasons {
		if reasons[i].Code == nil {
			reasons[i].Code = aws.String(reasonNone)
		}
		codes[i] = *reasons[i].Code
	}
	return &types.TransactionCanceledException{
		Message: aws.String("Transaction cancelled, please refer cancellation reasons for specific reasons [" +
			strings.Join(codes, ", ") + "]"),
		CancellationReasons: reasons,
	}
}

// cancelledWhere cancels a transaction of n actions; hit reports which of them have the reason.
func cancelledWhere(n int, hit func(i int) bool, code string, message *string) error {
	reasons := make([]types.CancellationReason, n)
	for i := range reasons {
		if hit(i) {
			reasons[i] = types.CancellationReason{Code: aws.String(code), Message: message}
		}
	}
	return cancelled(reasons)
}

// cancelledAt cancels a transaction of n actions because of an error of action i. If several actions have an error, the
// service reports the first; DynamoDB Local 3.3.1 reports all.
func cancelledAt(i, n int, err error) error {
	reasons := make([]types.CancellationReason, n)
	reasons[i] = reasonFor(err)
	return cancelled(reasons)
}

// reasonFor turns an action's own error into a cancellation reason.
func reasonFor(err error) types.CancellationReason {
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return types.CancellationReason{
			Code: aws.String(reasonConditionFailed), Message: failed.Message, Item: failed.Item,
		}
	}
	if duplicate, ok := errors.AsType[*types.DuplicateItemException](err); ok {
		return types.CancellationReason{Code: aws.String(reasonDuplicate), Message: duplicate.Message}
	}
	if large, ok := errors.AsType[*types.ItemCollectionSizeLimitExceededException](err); ok {
		return types.CancellationReason{Code: aws.String(reasonCollection), Message: large.Message}
	}
	return types.CancellationReason{Code: aws.String(reasonValidation), Message: aws.String(messageOf(err))}
}
