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
	w, err := a.performAlone(db, r, old)
	if err != nil {
		return nil, err
	}
	out := &dynamodb.PutItemOutput{
		ConsumedCapacity:      w.consumed(in.ReturnConsumedCapacity),
		ItemCollectionMetrics: a.collectionMetrics(in.ReturnItemCollectionMetrics),
	}
	if in.ReturnValues == types.ReturnValueAllOld {
		out.Attributes = w.row.toSDK()
	}
	return out, nil
}

// onlyOldValues checks ReturnValues of PutItem and DeleteItem.
func onlyOldValues(v types.ReturnValue) error {
	switch v {
	case "", types.ReturnValueNone, types.ReturnValueAllOld:
		return nil
	}
	return enveloped(invalid("ReturnValues can only be ALL_OLD or NONE"))
}
