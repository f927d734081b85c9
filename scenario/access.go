package scenario

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/rowmap"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// ordinary is the only outcome of a request that no fault can strike.
var ordinary = []int{0}

// The kinds of things in a world.
const (
	bodyObject   = "body"
	originObject = "origin"
	faultObject  = "fault"
	rowObject    = "row"
)

// eachRow calls visit with the key of each row that a call to DynamoDB names, or with the item that is put there. It
// returns false if the call may be about other rows, too.
func eachRow(input any, visit func(table *string, key map[string]types.AttributeValue, write bool)) (all bool) {
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		visit(in.TableName, in.Key, false)
	case *dynamodb.PutItemInput:
		visit(in.TableName, in.Item, true)
	case *dynamodb.UpdateItemInput:
		visit(in.TableName, in.Key, true)
	case *dynamodb.DeleteItemInput:
		visit(in.TableName, in.Key, true)
	case *dynamodb.TransactWriteItemsInput:
		for _, action := range in.TransactItems {
			switch {
			case action.Put != nil:
				visit(action.Put.TableName, action.Put.Item, true)
			case action.Update != nil:
				visit(action.Update.TableName, action.Update.Key, true)
			case action.Delete != nil:
				visit(action.Delete.TableName, action.Delete.Key, true)
			case action.ConditionCheck != nil:
				visit(action.ConditionCheck.TableName, action.ConditionCheck.Key, false)
			}
		}
	case *dynamodb.TransactGetItemsInput:
		for _, action := range in.TransactItems {
			if action.Get != nil {
				visit(action.Get.TableName, action.Get.Key, false)
			}
		}
		return false
	case *dynamodb.BatchGetItemInput:
		for _, table := range slices.Sorted(maps.Keys(in.RequestItems)) {
			for _, key := range in.RequestItems[table].Keys {
				visit(&table, key, false)
			}
		}
		return false
	default:
		return false
	}
	return true
}

// accesses returns what a call to DynamoDB reads and writes; nil if that could be anything in the table.
func accesses(input any) []sim.Access { return accessesTo(nil, input) }

// accessesTo is accesses for rows with names of their own, which the mapping knows; nil is META and LOCK.
func accessesTo(rows *rowmap.Mapping, input any) []sim.Access {
	touched := make([]sim.Access, 0, 2)
	all := eachRow(input, func(table *string, key map[string]types.AttributeValue, write bool) {
		if rows != nil {
			touched = append(touched, sim.Access{Object: sim.ObjectNamed(rowObject, rows.Name(aws.ToString(table), key)), Write: write})
			return
		}
		touched = append(touched, rowAccess(key, write))
	})
	if !all {
		return nil
	}
	return touched
}

func rowAccess(key map[string]types.AttributeValue, write bool) sim.Access {
	pk, _ := key["pk"].(*types.AttributeValueMemberS)
	sk, _ := key["sk"].(*types.AttributeValueMemberS)
	if pk == nil || sk == nil {
		return sim.Access{Object: sim.ObjectNamed(rowObject), Write: write} // it will be refused, whatever the rows are
	}
	return sim.Access{Object: sim.ObjectNamed(rowObject, pk.Value, sk.Value), Write: write}
}

// Accesses implements sim.Request.
func (r *storeRequest) Accesses(outcome int) []sim.Access {
	if r.touches == nil {
		if r.touches = accessesTo(r.node.world.rows.mapping(), r.call.Input); r.touches != nil {
			r.touches = r.node.world.withCertain(r.touches)
		}
	}
	if r.touches == nil {
		return nil
	}
	return withPossible(r.touches, outcome)
}
