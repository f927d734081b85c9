package ddbfake

import (
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
)

// legacyConditions checks KeyConditions, QueryFilter or ScanFilter and returns them as tests. If several attributes are
// wrong it reports the first by name.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LegacyConditionalParameters.Conditions.html
// Source: https://github.com/architect/dynalite/blob/main/test/scan.js
func legacyConditions(conditions map[string]types.Condition) ([]expr.Test, error) {
	tests := make([]expr.Test, 0, len(conditions))
	for _, name := range sortedKeys(conditions) {
		if err := checkName(name); err != nil {
			return nil, err
		}
		c := conditions[name]
		t := expr.Test{Attribute: name, Operator: string(c.ComparisonOperator)}
		var err error
		if t.Values, err = legacyValues(c.AttributeValueList); err != nil {
			return nil, err
		}
		if err := checkOperands(t); err != nil {
			return nil, err
		}
		tests = append(tests, t)
	}
	return tests, nil
}

// legacyExpected checks Expected and returns it as tests.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LegacyConditionalParameters.Expected.html
// Source: https://github.com/architect/dynalite/blob/main/test/putItem.js
func legacyExpected(expected map[string]types.ExpectedAttributeValue) ([]expr.Test, error) {
	tests := make([]expr.Test, 0, len(expected))
	for _, name := range sortedKeys(expected) {
		t, err := legacyExpectation(name, expected[name])
		if err == nil {
			err = checkName(name)
		}
		if err != nil {
			return nil, err
		}
		tests = append(tests, t)
	}
	return tests, nil
}

// legacyExpectation checks one element of Expected. The element has a ComparisonOperator with values, or a Value, or
// Exists, or Value and Exists. The documentation excludes a Value with an operator, but the service accepts it.
//
// Deviation: a Value without a type counts as absent here; the service refuses it as empty.
//
// Source: https://github.com/floci-io/floci/issues/2126 (run on AWS)
func legacyExpectation(name string, e types.ExpectedAttributeValue) (expr.Test, error) {
	t := expr.Test{Attribute: name, Operator: string(e.ComparisonOperator)}
	listed, valued := e.AttributeValueList != nil, e.Value != nil
	takesNone := e.ComparisonOperator == types.ComparisonOperatorNull ||
		e.ComparisonOperator == types.ComparisonOperatorNotNull
	switch {
	case listed && valued:
		return t, badParameter("Value and AttributeValueList cannot be used together for Attribute: %s", name)
	case t.Operator == "":
		return legacyExists(name, e)
	case e.Exists != nil:
		return t, badParameter("Exists and ComparisonOperator cannot be used together for Attribute: %s", name)
	case !listed && !valued && !takesNone:
		return t, badParameter("Value or AttributeValueList must be used with ComparisonOperator: %s for Attribute: %s",
			t.Operator, name)
	}
	list := e.AttributeValueList
	if valued {
		list = []types.AttributeValue{e.Value}
	}
	var err error
	if t.Values, err = legacyValues(list); err != nil {
		return t, err
	}
	return t, checkOperands(t)
}

// legacyExists is legacyExpectation for an element without an operator.
func legacyExists(name string, e types.ExpectedAttributeValue) (expr.Test, error) {
	t := expr.Test{Attribute: name, Operator: "EQ"}
	exists, text := true, "null"
	if e.Exists != nil {
		exists = *e.Exists
		text = strconv.FormatBool(exists)
	}
	switch {
	case e.AttributeValueList != nil:
		return t, badParameter("AttributeValueList can only be used with a ComparisonOperator for Attribute: %s", name)
	case exists && e.Value == nil:
		return t, badParameter("Value must be provided when Exists is %s for Attribute: %s", text, name)
	case !exists && e.Value != nil:
		return t, badParameter("Value cannot be used when Exists is false for Attribute: %s", name)
	case !exists:
		t.Operator = "NULL"
		return t, nil
	}
	value, err := valueOfSDK(e.Value)
	t.Values = []attr.Value{value}
	return t, err
}

func legacyValues(list []types.AttributeValue) ([]attr.Value, error) {
	values := make([]attr.Value, len(list))
	for i, v := range list {
		var err error
		if values[i], err = valueOfSDK(v); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// The types that operators other than EQ and NE take.
var (
	scalars  = []attr.Kind{"S", "N", "B"}
	prefixes = []attr.Kind{"S", "B"}
)

// checkOperands refuses values that an operator does not take: too many or too few, of different types, of types that
// it cannot compare, or bounds in the wrong order.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Condition.html
// Source: https://github.com/architect/dynalite/blob/main/test/scan.js
func checkOperands(t expr.Test) error {
	n := len(t.Values)
	fits := n == 1
	kinds := scalars
	switch t.Operator {
	case "NULL", "NOT_NULL":
		fits = n == 0
	case "IN":
		fits = n > 0
	case "BETWEEN":
		fits = n == 2
	case "EQ", "NE":
		kinds = nil
	case "BEGINS_WITH":
		kinds = prefixes
	}
	if !fits {
		return badParameter("Invalid number of argument(s) for the %s ComparisonOperator", t.Operator)
	}
	for _, v := range t.Values {
		if attr.KindOf(v) != attr.KindOf(t.Values[0]) {
			return badParameter("AttributeValues inside AttributeValueList must be of same type")
		}
	}
	for _, v := range t.Values {
		if kinds != nil && !slices.Contains(kinds, attr.KindOf(v)) {
			return badParameter("ComparisonOperator %s is not valid for %s AttributeValue type",
				t.Operator, attr.KindOf(v))
		}
	}
	if t.Operator == "BETWEEN" {
		if order, _ := attr.Compare(t.Values[0], t.Values[1]); order > 0 {
			return invalid(
				"The BETWEEN condition was provided a range where the lower bound is greater than the upper bound",
			)
		}
	}
	return nil
}
