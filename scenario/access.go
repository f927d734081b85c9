package scenario

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

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
func eachRow(input any, visit func(key map[string]types.AttributeValue, write bool)) (all bool) {
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		visit(in.Key, false)
	case *dynamodb.PutItemInput:
		visit(in.Item, true)
	case *dynamodb.UpdateItemInput:
		visit(in.Key, true)
	case *dynamodb.DeleteItemInput:
		visit(in.Key, true)
	case *dynamodb.TransactWriteItemsInput:
		for _, action := range in.TransactItems {
			switch {
			case action.Put != nil:
				visit(action.Put.Item, true)
			case action.Update != nil:
				visit(action.Update.Key, true)
			case action.Delete != nil:
				visit(action.Delete.Key, true)
			case action.ConditionCheck != nil:
				visit(action.ConditionCheck.Key, false)
			}
		}
	case *dynamodb.TransactGetItemsInput:
		for _, action := range in.TransactItems {
			if action.Get != nil {
				visit(action.Get.Key, false)
			}
		}
		return false
	case *dynamodb.BatchGetItemInput:
		//isrsim:unordered worlds have one table
		for _, keys := range in.RequestItems {
			for _, key := range keys.Keys {
				visit(key, false)
			}
		}
		return false
	default:
		return false
	}
	return true
}

// accesses returns what a call to DynamoDB reads and writes; nil if that could be anything in the table.
func accesses(input any) []sim.Access {
	touched := make([]sim.Access, 0, 2)
	all := eachRow(input, func(key map[string]types.AttributeValue, write bool) {
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
		if r.touches = accesses(r.call.Input); r.touches != nil {
			r.touches = r.node.world.withCertain(r.touches)
		}
	}
	if r.touches == nil {
		return nil
	}
	return withPossible(r.touches, outcome)
}
