package differential

import (
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// expressions writes the expressions of one request, which share names and values, or one statement.
type expressions struct {
	draws
	table  table
	names  object
	values object
	// statement means that this is a PartiQL statement: names are in quotes, and values are literals or parameters.
	statement bool
	// parameters are in the order of the source, so a statement must be written from beginning to end.
	parameters []any
}

func newExpressions(d draws, t table) *expressions {
	return &expressions{draws: d, table: t, names: object{}, values: object{}}
}

var placeholders = regexp.MustCompile(`[#:][A-Za-z0-9_]+`)

// fill gives the request the names and values that its expressions use.
func (e *expressions) fill(body object) {
	used := map[string]bool{}
	eachExpression(body, func(text string) {
		for _, p := range placeholders.FindAllString(text, -1) {
			used[p] = true
		}
	})
	unused := func(name string, _ any) bool { return !used[name] }
	maps.DeleteFunc(e.names, unused)
	maps.DeleteFunc(e.values, unused)
	if len(e.names) > 0 {
		body["ExpressionAttributeNames"] = e.names
	}
	if len(e.values) > 0 {
		body["ExpressionAttributeValues"] = e.values
	}
}

// mustHide are the names that need a placeholder in an expression.
var mustHide = map[string]bool{"status": true, "a.b": true}

// name writes a name: as it is, as a placeholder, or in quotes.
func (e *expressions) name(name string) string {
	if !mustHide[name] && !e.chance(4, "placeholder") {
		return name
	}
	if e.statement {
		return `"` + name + `"`
	}
	placeholder := "#" + strings.NewReplacer(".", "_").Replace(name)
	e.names[placeholder] = name
	return placeholder
}

// put writes a value.
func (e *expressions) put(v object) string {
	if e.statement {
		return e.constant(v)
	}
	placeholder := fmt.Sprintf(":v%d", len(e.values)+1) // none is taken out before fill
	e.values[placeholder] = v
	return placeholder
}

// rooted are the attributes that a path may begin with, by the type wanted at its end.
var rooted = map[string][]string{
	"":  {"x", "y", "n", "m", "l", "ss", "ns", "bs", "status", "a.b", "g", "h", "b", "num", "str", "absent"},
	"S": {"str", "status", "g", "x", "m.k", "l[0]"},
	"N": {"num", "n", "a.b", "h", "m.x", "l[1]", "y"},
	"B": {"b", "x"}, "M": {"m", "x", "l[0]"}, "L": {"l", "y", "m.k"},
	"SS": {"ss", "x"}, "NS": {"ns", "y"}, "BS": {"bs", "x"},
	"BOOL": {"x", "y", "m.k"}, "NULL": {"x", "y", "l[2]"},
}

// path writes a path that may lead to a value of that type.
func (e *expressions) path(kind string) string {
	root := oneOf(e.draws, "path", rooted[kind]...)
	switch root {
	case "m.k", "m.x":
		return e.name("m") + "." + e.name(root[2:])
	case "l[0]", "l[1]", "l[2]":
		return e.name("l") + root[1:]
	}
	text := e.name(root)
	// A path into a key is an error; errors are generated elsewhere.
	if kind == "" && e.table.indexed(root) == "" && !e.table.isKey(root) && e.chance(4, "deeper") {
		for range 1 + e.below(2, "steps") {
			text += oneOf(e.draws, "step", ".k", "[0]", ".x", "[1]", "["+fmt.Sprint(e.below(5, "index"))+"]")
		}
	}
	return text
}

// other writes an operand that differs from the first one: two equal operands are an error, and errors are generated
// elsewhere.
func (e *expressions) other(kind, than string) string {
	if text := e.operand(kind); bare(text) != bare(than) {
		return text
	}
	return e.put(e.value(kind, 1))
}

// bare returns a path without the signs of placeholders and quoted names.
func bare(path string) string { return strings.NewReplacer("#", "", `"`, "").Replace(path) }

// ordered are the types with an order.
var ordered = []string{"N", "S", "B"}

// operand writes an operand of a comparison: a path, a value or a size.
func (e *expressions) operand(kind string) string {
	switch e.below(6, "operand") {
	case 0, 1, 2, 3:
		return e.put(e.value(kind, 1))
	case 4:
		if kind == "N" {
			return "size(" + e.path("") + ")"
		}
	}
	return e.path(kind)
}

func (e *expressions) condition(depth int) string {
	if depth > 0 {
		switch e.below(8, "connective") {
		case 1:
			return e.condition(depth-1) + oneOf(e.draws, "AND", " AND ", " and ") + e.condition(depth-1)
		case 2:
			return e.condition(depth-1) + " OR " + e.condition(depth-1)
		case 3:
			return "NOT " + e.condition(depth-1)
		case 4:
			return "(" + e.condition(depth-1) + " OR " + e.condition(depth-1) + ") AND " + e.condition(0)
		}
	}
	if e.statement && e.chance(5, "IS") {
		return e.path("") + " IS " + oneOf(e.draws, "type", "MISSING", "NOT MISSING", "NULL", "NOT NULL", "STRING",
			"NUMERIC", "BOOLEAN", "NOT LIST")
	}
	switch e.below(14, "condition") {
	case 0:
		return "attribute_exists(" + e.path("") + ")"
	case 1, 2:
		return "attribute_not_exists(" + e.path("") + ")"
	case 3:
		return "attribute_type(" + e.path("") + ", " + e.put(object{"S": e.kind("type")}) + ")"
	case 4:
		kind := oneOf(e.draws, "prefix", "S", "B")
		path := e.path(kind)
		return "begins_with(" + path + ", " + e.other(kind, path) + ")"
	case 5:
		path := e.path(oneOf(e.draws, "in", "", "S", "SS", "NS", "L"))
		return "contains(" + path + ", " + e.other(oneOf(e.draws, "type", "S", "N", "B"), path) + ")"
	case 6:
		return e.between(oneOf(e.draws, "type", ordered...))
	case 7:
		kind := e.kind("type")
		path, list := e.path(kind), []string{e.put(e.value(kind, 1))}
		for range e.below(3, "more") {
			list = append(list, e.other(kind, path))
		}
		return path + " IN (" + strings.Join(list, ", ") + ")"
	case 8, 9, 10:
		kind := e.kind("type")
		path := e.path(kind)
		return path + oneOf(e.draws, "operator", " = ", " <> ") + e.other(kind, path)
	case 11:
		return e.put(e.value("N", 0)) + oneOf(e.draws, "operator", " >= ", " < ", "=") + "size(" + e.path("") + ")"
	}
	kind := oneOf(e.draws, "type", ordered...)
	path := e.path(kind)
	return path + oneOf(e.draws, "operator", " < ", " <= ", " > ", " >= ") + e.other(kind, path)
}

// between writes a range.
func (e *expressions) between(kind string) string {
	low, high := inOrderOf(e.value(kind, 0), e.value(kind, 0))
	path, first := e.path(kind), e.put(low)
	if bound := e.path(kind); e.chance(3, "path as bound") && bare(bound) != bare(path) {
		return path + " BETWEEN " + first + " AND " + bound
	}
	return path + " BETWEEN " + first + " AND " + e.put(high)
}

// inOrderOf returns two values of one type, the lower one first. The wrong order would be an error, which is drawn
// elsewhere.
func inOrderOf(a, b object) (low, high object) {
	if order, ok := attr.Compare(valueOf(a), valueOf(b)); ok && order > 0 {
		return b, a
	}
	return a, b
}

// valueOf returns a scalar value.
func valueOf(v object) attr.Value {
	if text, ok := v["N"].(string); ok {
		n, err := attr.ParseNumber(text)
		if err != nil {
			panic(err) // the drawn numbers are valid
		}
		return attr.N{Number: n}
	}
	if text, ok := v["B"].(string); ok {
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			panic(err) // and so are the bytes
		}
		return attr.B(b)
	}
	text, _ := v["S"].(string)
	return attr.S(text)
}

// targets returns a function that draws an attribute that it has not drawn yet, or "": overlapping paths would be an
// error.
func (e *expressions) targets() func(names ...string) string {
	free := []string{"x", "y", "num", "str", "m", "l", "ss", "ns", "bs", "n", "g", "h", "b", "status", "a.b"}
	return func(names ...string) string {
		left := slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(free, name) })
		if len(left) == 0 {
			return ""
		}
		chosen := oneOf(e.draws, "target", left...)
		free = slices.DeleteFunc(free, func(name string) bool { return name == chosen })
		return chosen
	}
}

func (e *expressions) update() string {
	take := e.targets()
	clauses := map[string][]string{}
	add := func(section, text string) { clauses[section] = append(clauses[section], text) }
	for range 1 + e.below(3, "actions") {
		switch e.below(10, "action") {
		case 7:
			if target := take("x", "y", "num", "str", "m", "l", "ss", "n", "g", "status"); target != "" {
				add("REMOVE", e.target(target))
			}
		case 8:
			if target := take("num", "ns", "ss", "bs", "x", "y", "a.b", "n"); target != "" {
				kind := map[string]string{"ns": "NS", "ss": "SS", "bs": "BS", "x": "N", "y": "SS"}[target]
				if kind == "" {
					kind = "N"
				}
				add("ADD", e.name(target)+" "+e.put(e.value(kind, 1)))
			}
		case 9:
			if target := take("ns", "ss", "bs"); target != "" {
				add("DELETE", e.name(target)+" "+e.put(e.value(strings.ToUpper(target), 1)))
			}
		default:
			target := take("num", "x", "y", "str", "m", "l", "n", "g", "h", "b", "status", "a.b", "ss")
			if target == "" {
				continue
			}
			path := e.target(target)
			add("SET", path+" = "+e.assigned(target, path))
		}
	}
	var sections []string
	for _, section := range []string{"SET", "REMOVE", "ADD", "DELETE"} {
		if list := clauses[section]; list != nil {
			sections = append(sections, section+" "+strings.Join(list, ", "))
		}
	}
	if len(sections) > 1 && e.chance(2, "other order") {
		sections[0], sections[1] = sections[1], sections[0]
	}
	return strings.Join(sections, " ")
}

// target writes the target of an update: an attribute, or a path into one.
func (e *expressions) target(name string) string {
	switch {
	case name == "m" && e.chance(2, "into"):
		return e.name("m") + oneOf(e.draws, "step", ".k", ".x", ".spare", ".k.x", ".k[0]")
	case name == "l" && e.chance(2, "into"):
		return e.name("l") + oneOf(e.draws, "step", "[0]", "[1]", "[7]", "[0].k")
	}
	return e.name(name)
}

// promised are the types that attribute names suggest.
var promised = map[string]string{
	"num": "N", "n": "N", "h": "N", "a.b": "N", "str": "S", "g": "S", "status": "S", "b": "B", "m": "M", "l": "L",
	"ss": "SS",
}

// assigned writes the value that a SET assigns.
func (e *expressions) assigned(target, path string) string {
	kind := promised[target]
	switch {
	case path != target && (target == "m" || target == "l") && !strings.HasPrefix(path, "#"):
		kind = "" // a path into it
	case e.table.indexed(target) != "":
		return e.put(e.keyValue(attribute{target, e.table.indexed(target)}))
	}
	switch e.below(8, "assignment") {
	case 1:
		return "if_not_exists(" + e.path(kind) + ", " + e.put(e.value(kind, 2)) + ")"
	case 2, 3, 5:
		if kind == "L" {
			list := e.put(e.value("L", 1))
			switch e.below(6, "order") {
			case 1:
				return "list_append(" + list + ", " + e.path("L") + ")"
			case 2, 3, 4, 5:
				return "list_append(" + list + ", if_not_exists(" + e.name("l") + ", " + list + "))"
			}
			return "list_append(if_not_exists(" + e.path("L") + ", " + list + "), " + e.path("L") + ")"
		}
		if kind == "N" {
			return e.number() + oneOf(e.draws, "sign", " + ", " - ", "+") + e.number()
		}
	case 4:
		return e.path(kind)
	}
	return e.put(e.value(kind, 2))
}

// number writes an operand of a sum.
func (e *expressions) number() string {
	switch e.below(8, "number") {
	case 6:
		return e.path("N")
	case 2, 3, 4, 5:
		return "if_not_exists(" + e.path("N") + ", " + e.put(e.value("N", 0)) + ")"
	}
	return e.put(e.value("N", 0))
}

// projection writes a list of paths.
func (e *expressions) projection() string {
	roots := []string{"x", "pk", "m", "l", "num", "y", "g", "status", "a.b", "sk"}
	first, n := e.below(len(roots), "first"), 1+e.below(4, "paths")
	var list []string
	for i := range n {
		name := roots[(first+i)%len(roots)]
		text := e.name(name)
		switch {
		case name == "m" && e.chance(2, "into"):
			text += oneOf(e.draws, "step", ".k", ".x", ".k.x")
		case name == "l" && e.chance(2, "into"):
			text += oneOf(e.draws, "step", "[0]", "[1]", "[2]", "[0].k")
		}
		list = append(list, text)
	}
	if e.chance(3, "two steps into one") {
		list = append(list, "ns")
		if !e.chance(2, "list") {
			list = append(list, "ss")
		}
	}
	return strings.Join(list, ", ")
}

// keyCondition writes the condition of a query on a key of these attributes.
func (e *expressions) keyCondition(hash, sort []attribute) string {
	var parts []string
	for _, a := range hash {
		parts = append(parts, e.name(a.name)+" = "+e.put(e.keyValue(a)))
	}
	n := e.below(len(sort)+1, "sort attributes")
	for i, a := range sort[:n] {
		if i < n-1 {
			parts = append(parts, e.name(a.name)+" = "+e.put(e.keyValue(a)))
			continue
		}
		switch k := e.below(8, "range"); {
		case k == 0 && a.kind != "N":
			parts = append(parts, "begins_with("+e.name(a.name)+", "+e.put(e.keyValue(a))+")")
		case k <= 2:
			low, high := inOrderOf(e.keyValue(a), e.keyValue(a))
			parts = append(parts, e.name(a.name)+" BETWEEN "+e.put(low)+" AND "+e.put(high))
		case k == 3:
			parts = append(parts, e.put(e.keyValue(a))+oneOf(e.draws, "mirrored", " < ", " = ", " >= ")+e.name(a.name))
		default:
			parts = append(parts,
				e.name(a.name)+oneOf(e.draws, "operator", " = ", " < ", " <= ", " > ", " >= ")+e.put(e.keyValue(a)))
		}
	}
	if len(parts) > 1 && e.chance(3, "order") {
		parts[0], parts[1] = parts[1], parts[0]
	}
	return strings.Join(parts, " AND ")
}
