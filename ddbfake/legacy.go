package ddbfake

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
)

// This file and legacy_condition.go serve the legacy parameters. Expressions have replaced them, but clients still send
// them. The fake turns them into the same parsed expressions.
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

// checkConditionalOperator refuses a ConditionalOperator without conditions to join.
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

// legacyQuery checks the legacy parameters of a Query one by one.
func (c *constraints) legacyQuery(in *dynamodb.QueryInput) {
	c.conditions(in.QueryFilter, "queryFilter")
	c.conditionalOperator(in.ConditionalOperator)
	c.attributesToGet(in.AttributesToGet, "attributesToGet")
	c.conditions(in.KeyConditions, "keyConditions")
}

// legacyParts makes a filter out of QueryFilter and a projection out of AttributesToGet. For a Query, the service
// checks the filter before the projection; for a Scan, after it.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LegacyConditionalParameters.QueryFilter.html
func (q *query) legacyParts() error {
	in := q.in
	if err := checkConditionalOperator(in.ConditionalOperator, len(in.QueryFilter)); err != nil {
		return err
	}
	if in.QueryFilter == nil && in.AttributesToGet == nil {
		return nil
	}
	tests, err := legacyConditions(in.QueryFilter)
	if err != nil {
		return err
	}
	if err := checkAttributesToGet(in.AttributesToGet); err != nil {
		return err
	}
	q.filter, q.projection, q.args = buildRead(in.ConditionalOperator, tests, in.AttributesToGet)
	return nil
}

// filterText is the name of the filter in errors.
func (q *query) filterText() string {
	if q.in.QueryFilter != nil {
		return "QueryFilter"
	}
	return "Filter Expression"
}

// legacyKeys makes the key condition out of KeyConditions, which have one or two attributes. For an index, the number
// is checked together with the key, as in DynamoDB Local 3.3.1.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LegacyConditionalParameters.KeyConditions.html
func (q *query) legacyKeys() error {
	if q.in.KeyConditions == nil {
		return nil
	}
	tests, err := legacyConditions(q.in.KeyConditions)
	if err != nil {
		return err
	}
	if len(tests) == 0 || len(tests) > 2 && q.in.IndexName == nil {
		return invalid("Conditions can be of length 1 or 2 only")
	}
	var b expr.Builder // its Args are unused: a built key condition contains its values
	q.keys = b.KeyCondition(tests)
	return nil
}

// legacyParts makes a filter out of ScanFilter and a projection out of AttributesToGet.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LegacyConditionalParameters.ScanFilter.html
// Source: https://github.com/architect/dynalite/blob/main/test/scan.js (order)
func (s *scan) legacyParts() error {
	in := s.in
	if err := checkConditionalOperator(in.ConditionalOperator, len(in.ScanFilter)); err != nil {
		return err
	}
	if in.ScanFilter == nil && in.AttributesToGet == nil {
		return nil
	}
	if err := checkAttributesToGet(in.AttributesToGet); err != nil {
		return err
	}
	tests, err := legacyConditions(in.ScanFilter)
	if err != nil {
		return err
	}
	s.filter, s.projection, s.args = buildRead(in.ConditionalOperator, tests, in.AttributesToGet)
	return nil
}

// buildRead builds the filter and the projection of a read; each is nil if the request has none.
func buildRead(
	op types.ConditionalOperator, tests []expr.Test, attributesToGet []string,
) (*expr.Condition, *expr.Projection, expr.Args) {
	var b expr.Builder
	filter := b.Condition(join(op), tests)
	var projection *expr.Projection
	if attributesToGet != nil {
		projection = b.Projection(attributesToGet)
	}
	return filter, projection, b.Args()
}

// legacyWrite holds the legacy parameters of PutItem, UpdateItem and DeleteItem.
type legacyWrite struct {
	expected map[string]types.ExpectedAttributeValue
	operator types.ConditionalOperator
	updates  map[string]types.AttributeValueUpdate // the AttributeUpdates of UpdateItem
}

func (l *legacyWrite) given() bool {
	return l.expected != nil || l.operator != "" || l.updates != nil
}

// check checks the parameters against each other, and refuses them together with expressions.
func (l *legacyWrite) check(a *action) error {
	if err := checkMixed(a.expressions(), legacy{"AttributeUpdates", l.updates != nil},
		legacy{"Expected", l.expected != nil}, legacy{"ConditionalOperator", l.operator != ""}); err != nil {
		return err
	}
	if err := checkPlaceholders(a.expressions(), a.names, a.placeholders); err != nil {
		return err
	}
	return checkConditionalOperator(l.operator, len(l.expected))
}

// build gives the action the expressions for the parameters.
func (l *legacyWrite) build(a *action) error {
	var b expr.Builder
	changes, err := legacyUpdates(l.updates)
	if err != nil {
		return err
	}
	tests, err := legacyExpected(l.expected)
	if err != nil {
		return err
	}
	a.update, a.condition = b.Update(changes), b.Condition(join(l.operator), tests)
	a.args = b.Args()
	return nil
}

// legacyUpdates checks AttributeUpdates and returns them as changes. If several attributes are wrong it reports the
// first by name.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LegacyConditionalParameters.AttributeUpdates.html
// Source: https://github.com/architect/dynalite/blob/main/test/updateItem.js
func legacyUpdates(updates map[string]types.AttributeValueUpdate) ([]expr.Change, error) {
	changes := make([]expr.Change, 0, len(updates))
	for _, name := range sortedKeys(updates) {
		if err := checkName(name); err != nil {
			return nil, err
		}
		c := expr.Change{Attribute: name, Action: string(updates[name].Action)}
		if c.Action == "" {
			c.Action = "PUT"
		}
		if v := updates[name].Value; v != nil {
			var err error
			if c.Value, err = valueOfSDK(v); err != nil {
				return nil, err
			}
		}
		if err := checkChange(c); err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// checkChange refuses values that an action does not take. ADD takes lists, although the documentation does not say so.
//
// Source: https://github.com/scylladb/scylladb/blob/master/test/alternator/test_item.py (run on AWS)
func checkChange(c expr.Change) error {
	if c.Value == nil {
		if c.Action != "DELETE" {
			return badParameter("Only DELETE action is allowed when no attribute value is specified")
		}
		return nil
	}
	switch k := attr.KindOf(c.Value); {
	case c.Action == "DELETE" && !expr.IsSet(k):
		return badParameter("DELETE action with value is not supported for the type %s", k)
	case c.Action == "ADD" && !expr.IsSet(k) && k != "N" && k != "L":
		return badParameter("ADD action is not supported for the type %s", k)
	}
	return nil
}
