package differential

import (
	"slices"
	"strings"
)

// A fault is a mistake in a request: apply makes it, and reports whether there was something to break.
type fault struct {
	name  string
	apply func(d draws, b *broken) bool
}

// broken is a request that is being broken.
type broken struct {
	request Request
	// part is an object with TableName, a key and expressions: the body, or an action of a transaction.
	part object
	// list is the actions of a transaction, or a batch's requests for a table.
	list  []any
	table table
}

// broken breaks a request in one place, if there is something to break. With a single fault, the answer shows whether
// the store has found it.
func (d draws) broken(r Request) Request {
	b := &broken{request: r}
	var f fault
	for range 8 { // most faults apply only to a few operations
		f = pick(d, "fault", faultsOf(r))
		b.request = r
		b.request.Body = clone(r.Body).(object)
		b.find()
		// A read of an index may already ask for attributes that the index does not have, which is an error.
		sound := r.index() == "" || f.name == consistentIndex || f.name == consistentStatement
		if sound && f.apply(d, b) {
			break
		}
		f = fault{}
	}
	if f.apply == nil {
		return r
	}
	// If Local accepts the broken request, it remembers the token.
	delete(b.request.Body, "ClientRequestToken")
	b.request.Breaks = f.name
	return b.request
}

// faultsOf returns the faults from which that of a request is drawn.
func faultsOf(r Request) []weighted[fault] {
	switch {
	case contains(statements, r.Operation):
		return faultsOfStatements
	case contains(onTables+" "+onTTL+" "+onStreams, r.Operation):
		return madeFaults
	case isLegacy(r.Body):
		return faultsOfLegacy
	}
	return faults
}

var (
	faultsOfStatements = slices.Concat(faults, statementFaults)
	faultsOfLegacy     = slices.Concat(faults, legacyFaults, legacyFaults)
	allFaults          = slices.Concat(faults, statementFaults, legacyFaults, madeFaults)
)

// listOf has the member that holds a list of actions or statements.
var listOf = map[string]string{
	"TransactWriteItems": "TransactItems", "TransactGetItems": "TransactItems",
	"BatchExecuteStatement": "Statements", "ExecuteTransaction": "TransactStatements",
}

// find finds the parts of the request.
func (b *broken) find() {
	b.list, b.table = nil, table{}
	b.part = b.request.Body
	switch b.request.Operation {
	case "TransactWriteItems", "TransactGetItems":
		b.list, _ = b.request.Body[listOf[b.request.Operation]].([]any)
		b.part = inFirst(b.list)
	case "BatchGetItem":
		asked, _ := b.request.Body["RequestItems"].(object)
		name := firstKey(asked)
		b.table, _ = tableNamed(name)
		b.part, _ = asked[name].(object)
		b.list, _ = b.part["Keys"].([]any)
	case "BatchExecuteStatement", "ExecuteTransaction":
		b.list, _ = b.request.Body[listOf[b.request.Operation]].([]any)
		if b.part = nil; len(b.list) > 0 {
			b.part, _ = b.list[0].(object)
		}
	case "BatchWriteItem":
		asked, _ := b.request.Body["RequestItems"].(object)
		name := firstKey(asked)
		b.table, _ = tableNamed(name)
		b.list, _ = asked[name].([]any)
		b.part = inFirst(b.list)
	}
	if name, ok := b.part["TableName"].(string); ok {
		b.table, _ = tableNamed(name)
	}
}

// firstKey returns the first key of an object, "" if it has none.
func firstKey(o object) string {
	if keys := sortedKeys(o); len(keys) > 0 {
		return keys[0]
	}
	return ""
}

// inFirst returns the object in the first one of a list of actions.
func inFirst(list []any) object {
	if len(list) == 0 {
		return nil
	}
	action := list[0].(object)
	part, _ := action[firstKey(action)].(object)
	return part
}

// key returns the key or the item of the part, or nil.
func (b *broken) key() object {
	if item, ok := b.part["Item"].(object); ok {
		return item
	}
	key, _ := b.part["Key"].(object)
	if key == nil && b.request.Operation == "BatchGetItem" && len(b.list) > 0 {
		key, _ = b.list[0].(object)
	}
	return key
}

// value puts a value where any value is allowed: into an item, among the values of an expression, or as a parameter.
func (b *broken) value(v any) bool {
	if item, ok := b.part["Item"].(object); ok {
		item["x"] = v
		return true
	}
	if list, ok := b.part["Parameters"].([]any); ok {
		list[len(list)-1] = v
		return true
	}
	values, ok := b.part["ExpressionAttributeValues"].(object)
	if !ok {
		return false
	}
	values[firstKey(values)] = v
	return true
}

func (b *broken) expression(d draws) (parameter, text string, ok bool) {
	var have []string
	for _, name := range []string{"ConditionExpression", "FilterExpression", "UpdateExpression", "ProjectionExpression",
		"KeyConditionExpression"} {
		if _, ok := b.part[name].(string); ok {
			have = append(have, name)
		}
	}
	if have == nil {
		return "", "", false
	}
	parameter = oneOf(d, "parameter", have...)
	text, _ = b.part[parameter].(string)
	return parameter, text, true
}

// condition adds a term to a condition or a filter.
func (b *broken) condition(term string) bool {
	for _, name := range []string{"ConditionExpression", "FilterExpression"} {
		if _, ok := b.part[name].(string); ok {
			b.part[name] = term + " AND " + b.part[name].(string)
			return true
		}
	}
	return false
}

// define adds to the names or values of the part.
func (b *broken) define(parameter, name string, value any) {
	m, ok := b.part[parameter].(object)
	if !ok {
		m = object{}
		b.part[parameter] = m
	}
	m[name] = value
}

// breaksValue returns a fault of a value.
func breaksValue(values ...any) func(draws, *broken) bool {
	return func(d draws, b *broken) bool { return b.value(oneOf(d, "value", values...)) }
}

// breaksCondition returns a fault of a condition, with the values that the condition uses.
func breaksCondition(values object, terms ...string) func(draws, *broken) bool {
	return func(d draws, b *broken) bool {
		if !b.condition(oneOf(d, "term", terms...)) {
			return false
		}
		for _, name := range sortedKeys(values) {
			b.define("ExpressionAttributeValues", name, values[name])
		}
		return true
	}
}

const (
	writes       = "PutItem UpdateItem DeleteItem"
	reads        = "Query Scan"
	transactions = "TransactWriteItems TransactGetItems"
	batches      = "BatchGetItem BatchWriteItem"
	singles      = writes + " GetItem " + reads
)

// consistentIndex is the fault of reads of indexes.
const consistentIndex = "consistent read of a global index"

var faults = []weighted[fault]{
	// Faults of the names in a request.
	{1, fault{"table that is not there", func(_ draws, b *broken) bool { return b.rename("differential-missing") }}},
	{1, fault{"name of a table", func(_ draws, b *broken) bool { return b.rename("x!") }}},
	{4, fault{"no name of a table", func(_ draws, b *broken) bool {
		if _, ok := b.part["TableName"]; !ok {
			return false
		}
		delete(b.part, "TableName")
		return true
	}}},
	{12, fault{consistentIndex, func(_ draws, b *broken) bool {
		for _, x := range b.table.indexes {
			if x.name == b.part["IndexName"] && !x.local {
				b.part["ConsistentRead"] = true
				return true
			}
		}
		return false
	}}},

	// Keys.
	{5, fault{"key", func(d draws, b *broken) bool {
		key := b.key()
		if key == nil || b.table.key == nil {
			return false
		}
		a := oneOf(d, "attribute", b.table.key...)
		switch d.below(4, "how") {
		case 0:
			delete(key, a.name)
		case 1:
			key["other"] = object{"S": "x"}
			return b.part["Item"] == nil
		case 2:
			key[a.name] = object{"S": "a"}
			if a.kind == "S" {
				key[a.name] = object{"N": "1"}
			}
		default:
			key[a.name] = object{a.kind: ""}
			return a.kind != "N"
		}
		return true
	}}},
	{1, fault{"index key of another type", func(_ draws, b *broken) bool {
		item, ok := b.part["Item"].(object)
		if !ok || len(b.table.indexes) == 0 {
			return false
		}
		item["n"] = object{"S": "a"}
		return true
	}}},
	{4, fault{"update of a key", func(_ draws, b *broken) bool {
		if b.part["UpdateExpression"] == nil || b.table.key == nil {
			return false
		}
		b.part["UpdateExpression"] = "REMOVE " + b.table.key[0].name
		delete(b.part, "ExpressionAttributeValues")
		delete(b.part, "ExpressionAttributeNames")
		delete(b.part, "ConditionExpression")
		return true
	}}},

	// Values.
	{6, fault{"bad number",
		func(d draws, b *broken) bool { return b.value(object{"N": oneOf(d, "N", badNumber...)}) }}},
	{1, fault{"empty set", breaksValue(object{"SS": []any{}}, object{"NS": []any{}}, object{"BS": []any{}})}},
	{1, fault{"duplicate in a set", breaksValue(object{"SS": []any{"a", "b", "a"}}, object{"NS": []any{"1", "1.0"}},
		object{"BS": []any{"YQ==", "YQ=="}})}},
	{1, fault{"two types", breaksValue(object{"S": "a", "N": "1"})}},
	{1, fault{"no type", breaksValue(object{})}},
	{1, fault{"null that is false", breaksValue(object{"NULL": false})}},

	// Expressions.
	{3, fault{"text of an expression", func(d draws, b *broken) bool {
		name, text, ok := b.expression(d)
		if ok {
			b.part[name] = oneOf(d, "text", "", strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz0123456789)]:_#."),
				text+oneOf(d, "token", " )", " AND", " =", ",", " ;", " x y", "[a]", ".."))
		}
		return ok
	}}},
	{6, fault{"clause of an update", func(d draws, b *broken) bool {
		text, ok := b.part["UpdateExpression"].(string)
		clause := oneOf(d, "clause", "SET spare = size(x)", "SET spare = x + :bad", "ADD spare :bad",
			"DELETE spare :bad", "REMOVE spare REMOVE spare2", "REMOVE spare, spare.x", "REMOVE spare.x, spare[0]")
		section, _, _ := strings.Cut(clause, " ")
		if !ok || strings.Contains(text, section+" ") {
			return false
		}
		if b.part["UpdateExpression"] = text + " " + clause; strings.Contains(clause, ":bad") {
			b.define("ExpressionAttributeValues", ":bad", object{"BOOL": true})
		}
		return true
	}}},
	{2, fault{"path of a projection", func(d draws, b *broken) bool {
		text, ok := b.part["ProjectionExpression"].(string)
		if ok {
			b.part["ProjectionExpression"] = text + oneOf(d, "path", ", #undefined", ", spare, spare.x")
		}
		return ok
	}}},
	{2, fault{"name of a name", func(d draws, b *broken) bool {
		_, _, ok := b.expression(d)
		if ok {
			b.define("ExpressionAttributeNames", oneOf(d, "name", "#unused", "bad", "#", "##a", "#a-b"), "a")
		}
		return ok
	}}},
	{8, fault{"no names or values", func(d draws, b *broken) bool {
		parameter, _, ok := b.expression(d)
		member := oneOf(d, "member", "ExpressionAttributeNames", "ExpressionAttributeValues")
		if !ok || b.part[member] != nil || member == "ExpressionAttributeValues" &&
			(parameter == "ProjectionExpression" || !contains(writes+" Scan", b.request.Operation)) {
			return false
		}
		b.part[member] = object{}
		return true
	}}},
	{1, fault{"undefined value", breaksCondition(nil, "x = :undefined")}},
	{1, fault{"undefined name",
		breaksCondition(nil, "attribute_exists(#undefined)", "attribute_exists(m.#undefined)")}},
	{1, fault{"unused value", func(d draws, b *broken) bool {
		if _, _, ok := b.expression(d); !ok || b.request.Operation == "GetItem" ||
			b.list != nil && b.request.Operation != "TransactWriteItems" {
			return false
		}
		b.define("ExpressionAttributeValues", ":unused", object{"S": "a"})
		return true
	}}},
	{4, fault{"names without an expression", func(d draws, b *broken) bool {
		if _, _, ok := b.expression(d); ok || !contains(singles, b.request.Operation) {
			return false
		}
		b.define("ExpressionAttributeNames", "#unused", "a")
		return true
	}}},
	{1, fault{"reserved word", breaksCondition(nil, "attribute_exists(status)", "attribute_exists(m.Comment)")}},
	{1, fault{"redundant parentheses", breaksCondition(nil, "((attribute_exists(x)))")}},
	{1, fault{"unknown function", breaksCondition(nil, "unknown(x)", "Size(x) = y")}},
	{1, fault{"function out of place",
		breaksCondition(nil, "size(x)", "if_not_exists(x, y)", "attribute_exists(x) = y", "NOT size(x)")}},
	{1, fault{"number of operands",
		breaksCondition(nil, "attribute_exists(x, y)", "begins_with(x)", "size(x, y) = y")}},
	{1, fault{"type of an operand", breaksCondition(object{":bad": object{"N": "1"}}, "begins_with(x, :bad)",
		"attribute_type(x, :bad)", "size(:bad) = x")}},
	{1, fault{"type that is none", breaksCondition(object{":bad": object{"S": "Z"}}, "attribute_type(x, :bad)")}},
	{1, fault{"order of what has none",
		breaksCondition(object{":bad": object{"BOOL": true}}, "x < :bad", "x BETWEEN :bad AND :bad")}},
	{1, fault{"bounds of two types",
		breaksCondition(object{":low": object{"N": "1"}, ":high": object{"S": "a"}}, "x BETWEEN :low AND :high")}},
	{1, fault{"bounds upside down",
		breaksCondition(object{":low": object{"N": "1e1"}, ":high": object{"N": "1.0"}}, "x BETWEEN :low AND :high")}},
	{1, fault{"value as a path", breaksCondition(object{":bad": object{"S": "a"}}, "attribute_exists(:bad)")}},
	{1, fault{"one operand twice", breaksCondition(nil, "x = x", "m.k IN (m.k)", "contains(x, x)")}},
	{4, fault{"path into a key",
		breaksCondition(nil, "attribute_exists(pk.x)", "attribute_exists(id[0])", "attribute_exists(n.x)")}},

	// Parameters.
	{4, fault{"index that is not there", puts(reads, "IndexName", "byNothing")}},
	{4, fault{"ReturnValues", puts("PutItem DeleteItem", "ReturnValues", "SOME", "UPDATED_NEW", "ALL_NEW")}},
	{1, fault{"ReturnValues of an update", puts("UpdateItem", "ReturnValues", "SOME")}},
	{1, fault{"ReturnConsumedCapacity",
		puts(singles+" "+transactions+" "+batches+" "+statements, "ReturnConsumedCapacity", "SOME")}},
	{4, fault{"Select",
		puts(reads, "Select", "SOME", "SPECIFIC_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES")}},
	{4, fault{"Limit", puts(reads, "Limit", 0)}},
	{1, fault{"ReturnValuesOnConditionCheckFailure", func(_ draws, b *broken) bool {
		if b.part["ConditionExpression"] == nil {
			return false
		}
		b.part["ReturnValuesOnConditionCheckFailure"] = "SOME"
		return true
	}}},
	{1, fault{"JSON of a member", func(d draws, b *broken) bool {
		b.request.Body[oneOf(d, "member", "TableName", "ReturnConsumedCapacity")] = oneOf[any](d, "value", 5,
			true, []any{}, object{})
		return contains(singles, b.request.Operation)
	}}},

	// Lists.
	{1, fault{"one item twice", func(_ draws, b *broken) bool {
		if len(b.list) == 0 {
			return false
		}
		// Local refuses a batch with one item twice after it has made the first of the two writes. So this fault reads
		// the item.
		if first, is := b.list[0].(object); is && b.request.Operation == "BatchExecuteStatement" {
			if text, _ := first["Statement"].(string); !strings.HasPrefix(text, "SELECT") {
				return false
			}
		}
		b.lists(append(b.list, b.list[0]))
		return true
	}}},
	{1, fault{"nothing in a list", func(_ draws, b *broken) bool {
		if b.list == nil {
			return false
		}
		b.lists([]any{})
		return true
	}}},
	{1, fault{"action of nothing", func(_ draws, b *broken) bool {
		if b.list == nil || b.request.Operation == "BatchGetItem" {
			return false
		}
		b.lists(append(b.list, object{}))
		return true
	}}},
	{4, fault{"action of two", func(_ draws, b *broken) bool {
		if b.request.Operation != "TransactWriteItems" || len(b.list) == 0 {
			return false
		}
		one := b.list[0].(object)
		for _, name := range []string{"Put", "Delete"} {
			if one[name] == nil {
				one[name] = object{"TableName": tables[1].name, "Key": object{"id": object{"N": "1"}}, "Item": object{
					"id": object{"N": "1"},
				}}
				delete(one[name].(object), map[string]string{"Put": "Key", "Delete": "Item"}[name])
				return true
			}
		}
		return false
	}}},
}

// rename replaces the table's name.
func (b *broken) rename(name string) bool {
	if _, ok := b.part["TableName"]; ok {
		b.part["TableName"] = name
		return true
	}
	asked, ok := b.request.Body["RequestItems"].(object)
	if !ok || b.table.name == "" {
		return false
	}
	asked[name] = asked[b.table.name]
	delete(asked, b.table.name)
	return true
}

// lists replaces the present list.
func (b *broken) lists(list []any) {
	switch b.request.Operation {
	case "BatchGetItem":
		b.part["Keys"] = list
	case "BatchWriteItem":
		b.request.Body["RequestItems"].(object)[b.table.name] = list
	default:
		b.request.Body[listOf[b.request.Operation]] = list
	}
}

// clone copies a JSON value.
func clone(v any) any {
	switch v := v.(type) {
	case object:
		out := make(object, len(v))
		for name, inner := range v { //isrsim:unordered a map is filled
			out[name] = clone(inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = clone(inner)
		}
		return out
	}
	return v
}
