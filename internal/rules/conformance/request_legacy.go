package conformance

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// tests are the values of Expected, KeyConditions, QueryFilter or ScanFilter: an expectation for each attribute.
type tests map[string]types.ExpectedAttributeValue

// is compares an attribute with values.
func is(operator string, values ...any) types.ExpectedAttributeValue {
	e := types.ExpectedAttributeValue{ComparisonOperator: types.ComparisonOperator(operator)}
	for _, v := range values {
		e.AttributeValueList = append(e.AttributeValueList, valueOf(v))
	}
	return e
}

// listing does the same as is, but always sends the list of values, even an empty one.
func listing(operator string, values ...any) types.ExpectedAttributeValue {
	e := is(operator, values...)
	if e.AttributeValueList == nil {
		e.AttributeValueList = []types.AttributeValue{}
	}
	return e
}

// having expects an attribute to have a value, in the older form of Expected.
func having(value any) types.ExpectedAttributeValue {
	return types.ExpectedAttributeValue{Value: valueOf(value)}
}

// existing adds Exists to an element of Expected.
func existing(exists bool, e types.ExpectedAttributeValue) types.ExpectedAttributeValue {
	e.Exists = aws.Bool(exists)
	return e
}

// absent expects no attribute.
func absent() types.ExpectedAttributeValue {
	return existing(false, types.ExpectedAttributeValue{})
}

func (t tests) conditions() map[string]types.Condition {
	if t == nil {
		return nil
	}
	out := make(map[string]types.Condition, len(t))
	//isrsim:unordered a map becomes a map
	for name, e := range t {
		out[name] = types.Condition{ComparisonOperator: e.ComparisonOperator, AttributeValueList: e.AttributeValueList}
	}
	return out
}

func expected(t tests) option         { return set("Expected", map[string]types.ExpectedAttributeValue(t)) }
func queryFilter(t tests) option      { return set("QueryFilter", t.conditions()) }
func scanFilter(t tests) option       { return set("ScanFilter", t.conditions()) }
func keyConditions(t tests) option    { return set("KeyConditions", t.conditions()) }
func joinedBy(operator string) option { return set("ConditionalOperator", operator) }
func attributesToGet(names ...string) option {
	return set("AttributesToGet", append([]string{}, names...))
}

// changes are AttributeUpdates.
type changes map[string]types.AttributeValueUpdate

// by changes an attribute by an action with a value. The action may be "", and the value may be left out.
func by(action string, value ...any) types.AttributeValueUpdate {
	u := types.AttributeValueUpdate{Action: types.AttributeAction(action)}
	if len(value) > 0 {
		u.Value = valueOf(value[0])
	}
	return u
}

func updating(c changes) option {
	return set("AttributeUpdates", map[string]types.AttributeValueUpdate(c))
}

// legacyUpdate is an update without an expression.
func legacyUpdate(key attrs, c changes, options ...option) request {
	return update(key, "", append([]option{noUpdate(), updating(c)}, options...)...)
}

// legacyQuery is a query without an expression.
func legacyQuery(t tests, options ...option) request {
	return func(w *world) any {
		in := &dynamodb.QueryInput{KeyConditions: t.conditions(), ConsistentRead: aws.Bool(true)}
		return build(w, in, options)
	}
}
