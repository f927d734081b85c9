package ddbfake

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// updateItem serves UpdateItem. If there is no row with the key, it creates one, unless the update only removes.
// Without an UpdateExpression it creates a row with the key alone.
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
