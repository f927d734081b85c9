package ddbfake

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
)

// This file and the others with the prefix legacy_ serve the legacy parameters. Expressions have replaced them, but
// clients still send them. The fake turns them into the same parsed expressions.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LegacyConditionalParameters.html

// legacy is one of the legacy parameters that an operation takes.
type legacy struct {
	name  string
	given bool
}

// checkMixed refuses legacy parameters together with expressions. Both are listed in the operation's order.
//
// Source: https://github.com/ExtendDB/extenddb/pull/213 (texts of the service)
func checkMixed(expressions []expression, parameters ...legacy) error {
	var old, modern []string
	for _, p := range parameters {
		if p.given {
			old = append(old, p.name)
		}
	}
	if old == nil {
		return nil
	}
	for _, e := range expressions {
		if e.text != nil {
			modern = append(modern, e.name)
		}
	}
	if modern == nil {
		return nil
	}
	return invalid("Can not use both expression and non-expression parameters in the same request: "+
		"Non-expression parameters: {%s} Expression parameters: {%s}", strings.Join(old, ", "),
		strings.Join(modern, ", "))
}

// checkConditionalOperator refuses a ConditionalOperator that has nothing to join.
//
// Source: https://github.com/ExtendDB/extenddb/pull/213 (texts of the service)
func checkConditionalOperator(op types.ConditionalOperator, conditions int) error {
	switch {
	case op == "" || conditions > 1:
		return nil
	case conditions == 0:
		return invalid("ConditionalOperator cannot be used without Filter or Expected")
	}
	return invalid("ConditionalOperator can only be used when Filter or Expected has two or more elements")
}

// join returns the operator that joins conditions in expressions, as a ConditionalOperator does.
func join(op types.ConditionalOperator) string {
	if op == types.ConditionalOperatorOr {
		return "OR"
	}
	return "AND"
}

// checkName refuses an empty name and one of 64 KB, with the texts of DynamoDB Local 3.3.1.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
// Source: https://github.com/scylladb/scylladb/blob/master/test/alternator/test_limits.py
func checkName(name string) error {
	if name == "" {
		return invalid("Empty attribute name")
	}
	if len(name) > expr.MaxNameBytes {
		return invalid("Attribute name is too large, must be less than %d bytes", expr.MaxNameBytes+1)
	}
	return nil
}

// checkAttributesToGet refuses an attribute that is listed twice.
func checkAttributesToGet(names []string) error {
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if err := checkName(name); err != nil {
			return err
		}
		if seen[name] {
			return badParameter("Duplicate value in attribute name: %s", name)
		}
		seen[name] = true
	}
	return nil
}

// attributesToGet returns AttributesToGet as a projection.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LegacyConditionalParameters.AttributesToGet.html
func attributesToGet(names []string) (*expr.Projection, expr.Args, error) {
	if err := checkAttributesToGet(names); err != nil {
		return nil, expr.Args{}, err
	}
	var b expr.Builder
	p := b.Projection(names)
	return p, b.Args(), nil
}

// The enumerations of legacy parameters, in the order in which the service prints them.
var (
	comparisonOperatorValues = []string{"IN", "NULL", "BETWEEN", "LT", "NOT_CONTAINS", "EQ", "GT", "NOT_NULL", "NE",
		"LE", "BEGINS_WITH", "GE", "CONTAINS"}
	conditionalOperatorValues = []string{"OR", "AND"}
	attributeActionValues     = []string{"ADD", "PUT", "DELETE"}
)

func (c *constraints) conditionalOperator(op types.ConditionalOperator) {
	c.enum(string(op), "conditionalOperator", conditionalOperatorValues)
}

// attributesToGet refuses an empty list.
func (c *constraints) attributesToGet(names []string, member string) {
	if names != nil && len(names) == 0 {
		c.length("[]", member, "greater", 1)
	}
}

// conditions checks the operators of KeyConditions or of a filter.
func (c *constraints) conditions(conditions map[string]types.Condition, member string) {
	if conditions == nil {
		return
	}
	for _, name := range sortedKeys(conditions) {
		at := member + "." + name + ".member.comparisonOperator"
		if op := conditions[name].ComparisonOperator; op == "" {
			c.null(at)
		} else {
			c.enum(string(op), at, comparisonOperatorValues)
		}
	}
}

// legacyWrite checks the enumerations of a single write.
func (c *constraints) legacyWrite(l *legacyWrite) {
	if !l.given() {
		return
	}
	c.conditionalOperator(l.operator)
	for _, name := range sortedKeys(l.expected) {
		c.enum(string(l.expected[name].ComparisonOperator), "expected."+name+".member.comparisonOperator",
			comparisonOperatorValues)
	}
	for _, name := range sortedKeys(l.updates) {
		c.enum(string(l.updates[name].Action), "attributeUpdates."+name+".member.action", attributeActionValues)
	}
}

// valueOfSDK converts a value of a legacy parameter.
func valueOfSDK(v types.AttributeValue) (attr.Value, error) {
	value, err := attr.FromSDK(v)
	if err != nil {
		return nil, refused(err)
	}
	return value, nil
}
