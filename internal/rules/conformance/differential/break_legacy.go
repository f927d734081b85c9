package differential

import (
	"slices"
	"strings"
)

// legacyConditions are the parameters that hold conditions.
var legacyConditions = []string{"Expected", "KeyConditions", "QueryFilter", "ScanFilter"}

var legacyParameters = append([]string{"AttributesToGet", "AttributeUpdates", "ConditionalOperator"},
	legacyConditions...)

// isLegacy reports whether a request has legacy parameters.
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

// comparison returns the first condition of legacy parameters, or nil.
func (b *broken) comparison() object {
	for _, name := range legacyConditions {
		if all, ok := b.part[name].(object); ok {
			one, _ := all[firstKey(all)].(object)
			return one
		}
	}
	return nil
}

// compares returns a fault of a condition.
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

// alters returns a fault of a whole request: f breaks its body, and reports whether it could.
func alters(operations string, f func(d draws, body object) bool) func(draws, *broken) bool {
	return func(d draws, b *broken) bool {
		return contains(operations, b.request.Operation) && f(d, b.request.Body)
	}
}

func puts(operations, member string, values ...any) func(draws, *broken) bool {
	return alters(operations, func(d draws, body object) bool {
		if body[member] = oneOf(d, member, values...); body[member] == nil {
			delete(body, member)
		}
		return true
	})
}

// inObject is alters for a member of an object in the body.
func inObject(operations, of, member string, values ...any) func(draws, *broken) bool {
	return alters(operations, func(d draws, body object) bool {
		o, ok := body[of].(object)
		if ok {
			if o[member] = oneOf(d, member, values...); o[member] == nil {
				delete(o, member)
			}
		}
		return ok
	})
}

// madeFaults are the faults of requests on tables, TTL and streams.
var madeFaults = []weighted[fault]{
	{4, fault{"missing table to change",
		puts("UpdateTable DescribeTable DeleteTable "+onTTL, "TableName", "differential-none")}},
	{4, fault{"table that is there", alters("CreateTable", func(_ draws, body object) bool {
		body["TableName"] = tables[0].name
		return true
	})}},
	{3, fault{"nothing to change", alters("UpdateTable", func(_ draws, body object) bool {
		for _, name := range sortedKeys(body) {
			if name != "TableName" {
				delete(body, name)
			}
		}
		return true
	})}},
	{3, fault{"index that is not there to delete",
		puts("UpdateTable", "GlobalSecondaryIndexUpdates", []any{object{"Delete": object{"IndexName": "byNothing"}}})}},
	{3, fault{"change of no index", puts("UpdateTable", "GlobalSecondaryIndexUpdates", []any{}, []any{object{}})}},
	{3, fault{"view",
		inObject("CreateTable UpdateTable", "StreamSpecification", "StreamViewType", nil, "EVERYTHING", "KEYS_ONLY")}},
	{3, fault{"stream on or off",
		inObject("CreateTable UpdateTable", "StreamSpecification", "StreamEnabled", nil, false, true)}},
	{3, fault{"setting of TTL", puts("UpdateTimeToLive", "TimeToLiveSpecification", nil, object{},
		object{"AttributeName": "n"}, object{"Enabled": true}, object{"AttributeName": "", "Enabled": true},
		object{"AttributeName": strings.Repeat("t", 256), "Enabled": true})}},
	{3, fault{"kind of iterator",
		puts("GetShardIterator", "ShardIteratorType", nil, "NEXT", "AT_SEQUENCE_NUMBER", "LATEST")}},
	{3, fault{"number",
		puts("GetShardIterator", "SequenceNumber", "1", "x", strings.Repeat("x", 30), strings.Repeat("9", 30))}},
	{3, fault{"iterator", puts("GetRecords", "ShardIterator", nil, "", "none", theStream+"|1|none")}},
}
