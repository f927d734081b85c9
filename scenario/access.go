package scenario

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/scenario/sim"
)

// ordinary is the one way in which a request takes effect that no fault can befall.
var ordinary = []int{0}

// Things of the world beside rows.
const (
	bodyObject   = "body"
	originObject = "origin"
	faultObject  = "fault"
	rowObject    = "row"
)

// accesses returns what a call to DynamoDB reads and writes; nil if that could be
// anything in the table.
func accesses(input any) []sim.Access {
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		return []sim.Access{rowAccess(in.Key, false)}
	case *dynamodb.PutItemInput:
		return []sim.Access{rowAccess(in.Item, true)}
	case *dynamodb.UpdateItemInput:
		return []sim.Access{rowAccess(in.Key, true)}
	case *dynamodb.DeleteItemInput:
		return []sim.Access{rowAccess(in.Key, true)}
	case *dynamodb.TransactWriteItemsInput:
		all := make([]sim.Access, len(in.TransactItems), len(in.TransactItems)+1)
		for i, action := range in.TransactItems {
			switch {
			case action.Put != nil:
				all[i] = rowAccess(action.Put.Item, true)
			case action.Update != nil:
				all[i] = rowAccess(action.Update.Key, true)
			case action.Delete != nil:
				all[i] = rowAccess(action.Delete.Key, true)
			case action.ConditionCheck != nil:
				all[i] = rowAccess(action.ConditionCheck.Key, false)
			}
		}
		return all
	default:
		return nil
	}
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
