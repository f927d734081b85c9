package ddbfake

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
)

// legacyWrite is the legacy parameters of PutItem, UpdateItem and DeleteItem.
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
