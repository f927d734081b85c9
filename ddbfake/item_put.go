package ddbfake

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

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
