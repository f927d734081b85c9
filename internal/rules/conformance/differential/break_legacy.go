package differential

import "slices"

// legacyConditions are the parameters that hold conditions.
var legacyConditions = []string{"Expected", "KeyConditions", "QueryFilter", "ScanFilter"}

// legacyParameters are the legacy parameters.
var legacyParameters = append([]string{"AttributesToGet", "AttributeUpdates", "ConditionalOperator"},
	legacyConditions...)

// isLegacy says whether a request has legacy parameters.
func isLegacy(v any) bool {
	found := false
	eachMember(v, func(name string, _ any) { found = found || slices.Contains(legacyParameters, name) })
	return found
}

// eachMember calls f with the members of a request and of its parts, but not with those of items and conditions.
func eachMember(v any, f func(name string, value any)) {
	o, ok := v.(object)
	if !ok {
		return
	}
	for _, name := range sortedKeys(o) {
		f(name, o[name])
		if name == "RequestItems" {
			tables, _ := o[name].(object)
			for _, table := range sortedKeys(tables) {
				eachMember(tables[table], f)
			}
		}
	}
}

// comparison returns the first condition of legacy parameters, nil if there is none.
func (b *broken) comparison() object {
	for _, name := range legacyConditions {
		if all, ok := b.part[name].(object); ok {
			one, _ := all[firstKey(all)].(object)
			return one
		}
	}
	return nil
}

// compares is a fault of a condition.
func compares(operator any, values ...any) func(draws, *broken) bool {
	return func(_ draws, b *broken) bool {
		one := b.comparison()
		if one == nil {
			return false
		}
		delete(one, "Exists")
		delete(one, "Value")
		one["ComparisonOperator"], one["AttributeValueList"] = operator, values
		return true
	}
}

// legacyFaults are the faults of legacy parameters.
var legacyFaults = []weighted[fault]{
	{3, fault{"comparison that is none", compares("FOO", object{"S": "a"})}},
	{3, fault{"number of values", func(d draws, b *broken) bool {
		return oneOf(d, "operator", compares("EQ"), compares("BETWEEN", object{"S": "a"}),
			compares("LT", object{"N": "1"}, object{"N": "2"}), compares("NULL", object{"S": "a"}),
			compares("IN"))(d, b)
	}}},
	{3, fault{"types of values", func(d draws, b *broken) bool {
		return oneOf(d, "operator", compares("LT", object{"BOOL": true}),
			compares("BETWEEN", object{"S": "a"}, object{"N": "1"}), compares("BEGINS_WITH", object{"N": "1"}),
			compares("IN", object{"SS": []any{"a"}}),
			compares("BETWEEN", object{"N": "2"}, object{"N": "1"}))(d, b)
	}}},
	{3, fault{"legacy parameters and expressions", func(_ draws, b *broken) bool {
		for _, name := range legacyParameters {
			if b.part[name] != nil && b.part["ProjectionExpression"] == nil &&
				contains(writes+" Query Scan GetItem", b.request.Operation) {
				parameter := map[string]string{
					"Query": "FilterExpression", "Scan": "FilterExpression", "GetItem": "ProjectionExpression",
				}[b.request.Operation]
				if parameter == "" {
					parameter = "ConditionExpression"
				}
				b.part[parameter] =
					map[bool]string{true: "x", false: "attribute_exists(x)"}[parameter == "ProjectionExpression"]
				return true
			}
		}
		return false
	}}},
	{3, fault{"ConditionalOperator", func(d draws, b *broken) bool {
		if b.comparison() == nil {
			return false
		}
		b.part["ConditionalOperator"] = oneOf(d, "operator", "AND", "XOR")
		for _, name := range legacyConditions {
			if name != "KeyConditions" && d.chance(2, "alone") {
				delete(b.part, name)
			}
		}
		return true
	}}},
	{6, fault{"AttributesToGet", func(d draws, b *broken) bool {
		if b.part["AttributesToGet"] == nil {
			return false
		}
		b.part["AttributesToGet"] = oneOf(d, "list", []any{"x", "x"}, []any{}, []any{""})
		return true
	}}},
	{6, fault{"Exists and Value", func(d draws, b *broken) bool {
		all, ok := b.part["Expected"].(object)
		if ok {
			all[firstKey(all)] = oneOf(d, "expectation", object{}, object{"Exists": true},
				object{"Exists": false, "Value": object{"S": "a"}},
				object{"Exists": true, "ComparisonOperator": "NULL"},
				object{"AttributeValueList": []any{object{"S": "a"}}})
		}
		return ok
	}}},
	{12, fault{"action of AttributeUpdates", func(d draws, b *broken) bool {
		all, ok := b.part["AttributeUpdates"].(object)
		if ok {
			all[firstKey(all)] = oneOf(d, "action", object{"Action": "FOO", "Value": object{"S": "a"}},
				object{"Action": "PUT"}, object{"Action": "ADD", "Value": object{"S": "a"}},
				object{"Action": "DELETE", "Value": object{"N": "1"}},
				object{"Action": "ADD", "Value": object{"M": object{}}})
		}
		return ok
	}}},
	{6, fault{"key in AttributeUpdates", func(_ draws, b *broken) bool {
		all, ok := b.part["AttributeUpdates"].(object)
		if ok {
			all[b.table.key[0].name] = object{"Action": "PUT", "Value": keyValues[b.table.key[0].kind][0]}
		}
		return ok
	}}},
	{12, fault{"key in QueryFilter", func(_ draws, b *broken) bool {
		if b.part["KeyConditions"] == nil {
			return false
		}
		b.part["QueryFilter"] = object{b.table.key[0].name: object{"ComparisonOperator": "NOT_NULL"}}
		return true
	}}},
}
