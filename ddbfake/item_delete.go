package ddbfake

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

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
