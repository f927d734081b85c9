package differential

import (
	"fmt"
	"regexp"
	"strings"
)

// The operations whose requests contain PartiQL statements.
const statements = "ExecuteStatement BatchExecuteStatement ExecuteTransaction"

func newStatement(d draws, t table) *expressions {
	e := newExpressions(d, t)
	e.statement = true
	return e
}

// body returns the members of a request, or of a part of one, for a statement.
func (e *expressions) body(text string) object {
	body := object{"Statement": text}
	if e.parameters != nil {
		body["Parameters"] = e.parameters
	}
	return body
}

// constant writes a value as a literal or as a parameter.
func (e *expressions) constant(v object) string {
	const longest = 400 // a statement has 8,192 characters
	if text, ok := literal(v); ok && len(text) <= longest && e.chance(2, "literal") {
		return text
	}
	e.parameters = append(e.parameters, v)
	return "?"
}

// literal returns a value as a literal; false if PartiQL has none, as for bytes and empty sets.
func literal(v object) (string, bool) {
	kind := firstKey(v)
	switch v := v[kind].(type) {
	case bool:
		if kind == "NULL" {
			return "NULL", true
		}
		return fmt.Sprint(v), true
	case string:
		if kind == "S" {
			return quotedText(v), true
		}
		return v, kind == "N"
	case []any:
		if kind == "BS" {
			return "", false
		}
		var all []string
		for _, inner := range v {
			element, ok := inner.(object)
			if !ok {
				element = object{kind[:1]: inner}
			}
			text, ok := literal(element)
			if !ok {
				return "", false
			}
			all = append(all, text)
		}
		if kind == "L" {
			return "[" + strings.Join(all, ", ") + "]", true
		}
		return "<<" + strings.Join(all, ", ") + ">>", true
	case object:
		var all []string
		for _, name := range sortedKeys(v) {
			member, ok := literal(v[name].(object))
			if !ok {
				return "", false
			}
			all = append(all, quotedText(name)+": "+member)
		}
		return "{" + strings.Join(all, ", ") + "}", true
	}
	return "", false
}

func quotedText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// source writes the name of the table.
func (e *expressions) source() string { return `"` + e.table.name + `"` }

// grouped writes a condition that can be joined with others.
func (e *expressions) grouped() string {
	c := e.condition(1)
	if strings.Contains(c, " OR ") {
		return "(" + c + ")"
	}
	return c
}

// whereKey writes WHERE with a whole key and, once in oneIn times, with a condition; 0 is never.
func (e *expressions) whereKey(key object, oneIn int) string {
	var parts []string
	for _, a := range e.table.key {
		parts = append(parts, e.name(a.name)+" = "+e.put(key[a.name].(object)))
	}
	if oneIn > 0 && e.chance(oneIn, "conditional") {
		parts = append(parts, e.grouped())
	}
	return " WHERE " + strings.Join(parts, " AND ")
}

func (e *expressions) insert(item object) string {
	var fields []string
	for _, name := range sortedKeys(item) {
		fields = append(fields, quotedText(name)+": "+e.put(item[name].(object)))
	}
	return "INSERT INTO " + e.source() + " VALUE {" + strings.Join(fields, ", ") + "}"
}

// change writes an UPDATE.
func (e *expressions) change(key object) string {
	if e.chance(8, "FROM first") {
		return "FROM " + e.source() + e.whereKey(key, 3) + e.clauses()
	}
	return "UPDATE " + e.source() + e.clauses() + e.whereKey(key, 3)
}

// clauses writes the SET and REMOVE of an UPDATE.
func (e *expressions) clauses() string {
	take := e.targets()
	written, last := "", ""
	add := func(clause, text string) {
		if clause == "SET" && last == "SET" && e.chance(2, "comma") {
			written += ", " + text
		} else {
			written += " " + clause + " " + text
		}
		last = clause
	}
	for range 1 + e.below(3, "clauses") {
		switch e.below(8, "clause") {
		case 6:
			if target := take("ss", "ns", "bs"); target != "" {
				name := e.name(target)
				function := oneOf(e.draws, "function", "set_add", "set_delete")
				add("SET", name+" = "+function+"("+name+", "+e.put(e.value(strings.ToUpper(target), 1))+")")
			}
		case 7:
			if target := take("x", "y", "num", "str", "m", "l", "ss", "n", "g", "status"); target != "" {
				add("REMOVE", e.target(target))
			}
		default:
			if target := take("num", "x", "y", "str", "m", "l", "n", "g", "h", "b", "status",
				"a.b", "ss"); target != "" {
				path := e.target(target)
				add("SET", path+" = "+e.newValue(target, path))
			}
		}
	}
	return written
}

// newValue writes the value that the SET of a statement assigns.
func (e *expressions) newValue(target, path string) string {
	kind := promised[target]
	switch {
	case strings.ContainsAny(path, "[") || target == "m" && strings.Contains(path, "."):
		kind = "" // a path into it
	case e.table.indexed(target) != "":
		return e.put(e.keyValue(attribute{target, e.table.indexed(target)}))
	}
	switch e.below(8, "assignment") {
	case 1:
		return e.path(kind)
	case 2, 3, 4:
		switch {
		case kind == "N" && e.chance(2, "mirrored"):
			return e.put(e.value("N", 0)) + " + " + e.path("N")
		case kind == "N":
			return e.path("N") + oneOf(e.draws, "sign", " + ", " - ") + e.put(e.value("N", 0))
		case kind == "L" && e.chance(2, "two values"), kind == "" && e.chance(6, "list"):
			return "list_append(" + e.put(e.value("L", 1)) + ", " + e.put(e.value("L", 1)) + ")"
		case kind == "L" && e.chance(2, "mirrored"):
			return "list_append(" + e.put(e.value("L", 1)) + ", " + e.path("L") + ")"
		case kind == "L":
			return "list_append(" + e.path("L") + ", " + e.put(e.value("L", 1)) + ")"
		}
	}
	return e.put(e.value(kind, 2))
}

// remove writes a DELETE.
func (e *expressions) remove(key object) string {
	return "DELETE FROM " + e.source() + e.whereKey(key, 3)
}

// columns writes the list of a SELECT.
func (e *expressions) columns() string {
	if e.chance(3, "columns") {
		return e.projection()
	}
	return "*"
}

// selectKey writes a SELECT of one item.
func (e *expressions) selectKey(key object) string {
	return "SELECT " + e.columns() + " FROM " + e.source() + e.whereKey(key, 0)
}

// exists writes the condition check of a transaction.
func (e *expressions) exists(key object) string {
	text := "EXISTS(SELECT * FROM " + e.source()
	if e.chance(2, "condition that holds") {
		return text + e.whereKey(key, 0) + " AND absent IS MISSING)"
	}
	return text + e.whereKey(key, 1) + ")"
}

// selection writes a SELECT of a table or an index. The rows have an order if it reads one partition of a table.
func (e *expressions) selection() (text string, ordered, global bool) {
	hash, sort, source := e.table.key[0], e.table.key[1:], e.source()
	var indexes []index
	for _, x := range e.table.indexes {
		if len(x.hash) == 1 { // others cannot be read by statements
			indexes = append(indexes, x)
		}
	}
	if len(indexes) > 0 && e.chance(3, "of an index") {
		x := oneOf(e.draws, "index", indexes...)
		hash, sort, source, global = x.hash[0], x.sort, source+`."`+x.name+`"`, !x.local
	}
	ofTable := source == e.source()
	text = "SELECT " + e.columns() + " FROM " + source
	switch e.below(10, "where") {
	case 1:
		return text, false, global
	case 2:
		return text + " WHERE " + e.condition(1), false, global
	case 3:
		text += " WHERE " + e.name(hash.name) + " IN " + e.keys(hash)
		if e.chance(2, "filtered") {
			text += " AND " + e.grouped()
		}
		// The order of partitions is not documented, nor is that of rows if ORDER BY has only the partition key.
		return text + oneOf(e.draws, "order", "", "", " ORDER BY "+hash.name), false, global
	case 4:
		first, second := e.differing(hash)
		text += " WHERE (" + e.equal(hash, first) + " AND " + e.grouped() + ") OR (" + e.equal(hash, second)
		if len(sort) > 0 {
			text += " AND " + e.ranged(sort[0])
		}
		return text + ")", false, global
	}
	text += " WHERE " + e.equal(hash, e.keyValue(hash))
	if len(sort) > 0 && e.chance(2, "range") {
		text += " AND " + e.ranged(sort[0])
	}
	if e.chance(3, "filtered") {
		text += " AND " + e.grouped()
	}
	if len(sort) > 0 && e.chance(3, "order") {
		text += " ORDER BY " + e.name(sort[0].name) + oneOf(e.draws, "direction", "", " ASC", " DESC")
	}
	return text, ofTable, global
}

func (e *expressions) equal(a attribute, v object) string { return e.name(a.name) + " = " + e.put(v) }

// differing draws two values of a key attribute: branches that overlap are an error.
func (e *expressions) differing(a attribute) (first, second object) {
	first, second = e.keyValue(a), e.keyValue(a)
	if string(encode(normal(first))) == string(encode(normal(second))) {
		second = keyValues[a.kind][2]
		if first[a.kind] == second[a.kind] {
			second = keyValues[a.kind][3]
		}
	}
	return first, second
}

// keys writes a list of two values of a key attribute.
func (e *expressions) keys(a attribute) string {
	first, second := e.differing(a)
	list := e.put(first) + ", " + e.put(second)
	if e.chance(2, "parentheses") {
		return "(" + list + ")"
	}
	return "[" + list + "]"
}

// ranged writes a condition on a sort key.
func (e *expressions) ranged(a attribute) string {
	name := e.name(a.name)
	switch k := e.below(8, "range"); {
	case k == 0 && a.kind != "N":
		return "begins_with(" + name + ", " + e.put(e.keyValue(a)) + ")"
	case k <= 2:
		low, high := inOrderOf(e.keyValue(a), e.keyValue(a))
		return name + " BETWEEN " + e.put(low) + " AND " + e.put(high)
	case k == 3:
		return e.put(e.keyValue(a)) + oneOf(e.draws, "mirrored", " < ", " = ", " >= ") + name
	}
	return name + oneOf(e.draws, "operator", " = ", " < ", " <= ", " > ", " >= ", " <> ") + e.put(e.keyValue(a))
}

// returning sometimes writes RETURNING.
func (e *expressions) returning(verbs ...string) string {
	if !e.chance(2, "returning") {
		return ""
	}
	return " RETURNING " + oneOf(e.draws, "which", verbs...) + " *"
}

var updateReturns = []string{"ALL NEW", "ALL OLD", "MODIFIED NEW", "MODIFIED OLD"}

// write writes a statement that writes, and returns the key of its item.
func (e *expressions) write(returns bool) (text string, key object) {
	switch e.below(6, "verb") {
	case 0, 1:
		item := e.item(e.table)
		return e.insert(item), object{"Item": item}
	case 2:
		key = e.key(e.table)
		if text = e.remove(key); returns {
			text += e.returning("ALL OLD")
		}
		return text, object{"Key": key}
	}
	key = e.key(e.table)
	if text = e.change(key); returns {
		text += e.returning(updateReturns...)
	}
	return text, object{"Key": key}
}

func (d draws) executeStatement() Request {
	e := newStatement(d, d.someTable())
	r := Request{Operation: "ExecuteStatement"}
	if d.chance(2, "writes") {
		text, _ := e.write(true)
		r.Body = e.body(text)
		d.some(r.Body, 3, "ReturnValuesOnConditionCheckFailure", "ALL_OLD", "NONE")
	} else {
		text, ordered, global := e.selection()
		r.Body, r.Ordered = e.body(text), ordered
		if !global {
			r.Body["ConsistentRead"] = true
		}
		if d.chance(3, "limited") {
			r.Body["Limit"] = 1 + d.below(4, "Limit")
			r.Pages = true
		}
	}
	d.capacity(r.Body)
	return r
}

// several draws statements on different items, each with its other members.
func (d draws) several(one func(e *expressions) (text string, key, options object)) []any {
	list := []any{}
	used := map[string]bool{}
	for range 1 + d.below(4, "statements") {
		t := d.someTable()
		e := newStatement(d, t)
		text, key, options := one(e)
		name := t.name + string(encode(keyOf(t, key)))
		if used[name] {
			continue
		}
		used[name] = true
		body := e.body(text)
		for _, member := range sortedKeys(options) {
			body[member] = options[member]
		}
		list = append(list, body)
	}
	return list
}

func (e *expressions) read() (text string, key, options object) {
	key = e.key(e.table)
	return e.selectKey(key), object{"Key": key}, nil
}

func (d draws) batchExecuteStatement() Request {
	write := func(e *expressions) (text string, key, options object) {
		text, key = e.write(true)
		options = object{}
		e.some(options, 3, "ReturnValuesOnConditionCheckFailure", "ALL_OLD", "NONE")
		return text, key, options
	}
	read := func(e *expressions) (text string, key, options object) {
		text, key, _ = e.read()
		return text, key, object{"ConsistentRead": true}
	}
	body := object{"Statements": d.several(oneOf(d, "reads", write, read))}
	d.capacity(body)
	return Request{Operation: "BatchExecuteStatement", Body: body}
}

func (d draws) executeTransaction() Request {
	write := func(e *expressions) (text string, key, options object) {
		if e.chance(5, "check") {
			key = e.key(e.table)
			text, key = e.exists(key), object{"Key": key}
		} else {
			text, key = e.write(false)
		}
		options = object{}
		e.some(options, 3, "ReturnValuesOnConditionCheckFailure", "ALL_OLD", "NONE")
		return text, key, options
	}
	body := object{}
	if d.chance(3, "reads") {
		body["TransactStatements"] = d.several((*expressions).read)
	} else {
		body["TransactStatements"] = d.several(write)
		if d.chance(3, "token") {
			body["ClientRequestToken"] = oneOf(d, "ClientRequestToken", "three-$RUN", "four-$RUN")
		}
	}
	d.capacity(body)
	return Request{Operation: "ExecuteTransaction", Body: body}
}

var indexInStatement = regexp.MustCompile(`FROM "[^"]*"\."([^"]*)"`)

// index returns the name of the index that a request reads, or "".
func (r Request) index() string {
	if name, ok := r.Body["IndexName"].(string); ok {
		return name
	}
	text, _ := r.Body["Statement"].(string)
	if m := indexInStatement.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}
