package expr

import (
	"bytes"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

// Condition is a parsed ConditionExpression or FilterExpression.
type Condition struct {
	lang language
	root condition
	uses
	nested nested
}

// ParseCondition parses a ConditionExpression. The error is an [*Error].
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.ConditionExpressions.html
func ParseCondition(src string) (*Condition, error) {
	return parseCondition(conditionLanguage, src, parse)
}

// ParseFilter parses a FilterExpression, which is the same language with other messages.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.FilterExpression.html
func ParseFilter(src string) (*Condition, error) {
	return parseCondition(filterLanguage, src, parse)
}

// reading is parse or parseAny.
type reading func(lang language, src string, grammar func(*parser) []reviewed) error

func parseCondition(lang language, src string, read reading) (*Condition, error) {
	c := &Condition{lang: lang}
	err := read(lang, src, func(p *parser) []reviewed {
		c.root = p.condition()
		return []reviewed{&root{c.root}}
	})
	if err != nil {
		return nil, err
	}
	c.uses = usesOf(src)
	c.nested.node(c.root)
	return c, nil
}

// root makes the review treat a whole expression as an operand of AND.
type root struct{ condition }

func (n *root) review(r *reviewer) { r.conditions(n.condition) }

// String prints the condition.
func (c *Condition) String() string { return printNode(c.root) }

// Check finds the mistakes that DynamoDB refuses before it looks at any item.
func (c *Condition) Check(args Args) error {
	return c.root.check(checker{lang: c.lang, args: args})
}

// Attributes returns the top-level names that the condition reads, each once, in the order of the source. (A filter may
// not read key attributes.)
func (c *Condition) Attributes(args Args) []string {
	var out names
	out.node(c.root, args)
	return out
}

// Nested returns the top-level names of the attributes whose inner values the condition reads, each once, in the order
// of the source. (No key attribute may be among them.)
func (c *Condition) Nested(args Args) []string { return c.nested.attributes(args) }

// Eval reports whether the condition holds for an item; a nil item is missing, and has no attributes. A comparison with
// a missing value, or between different types, is false, except that "<>" is true.
//
// Args must have passed Check. With other Args, Eval returns an error or false.
func (c *Condition) Eval(item packed.Attributes, args Args) (bool, error) {
	if item == nil {
		item = attr.Item(nil)
	}
	return c.root.test(item, args)
}

func (p *placeholder) value(_ packed.Attributes, args Args) (attr.Value, error) {
	v, ok := args.value(p.key)
	if !ok {
		return nil, undefinedValue("", p.key)
	}
	return v, nil
}

func (n *comparison) test(item packed.Attributes, args Args) (bool, error) {
	x, err := n.left.value(item, args)
	if err != nil {
		return false, err
	}
	y, err := n.right.value(item, args)
	if err != nil {
		return false, err
	}
	if x == nil || y == nil {
		return n.op == "<>", nil
	}
	switch n.op {
	case "=":
		return attr.Equal(x, y), nil
	case "<>":
		return !attr.Equal(x, y), nil
	}
	order, ok := attr.Compare(x, y)
	if !ok {
		return false, nil
	}
	switch n.op {
	case "<":
		return order < 0, nil
	case "<=":
		return order <= 0, nil
	case ">":
		return order > 0, nil
	}
	return order >= 0, nil
}

func (n *between) test(item packed.Attributes, args Args) (bool, error) {
	x, err := n.x.value(item, args)
	if err != nil {
		return false, err
	}
	low, err := n.low.value(item, args)
	if err != nil {
		return false, err
	}
	high, err := n.high.value(item, args)
	if err != nil {
		return false, err
	}
	below, ok := attr.Compare(low, x)
	if !ok || below > 0 {
		return false, nil
	}
	above, ok := attr.Compare(x, high)
	return ok && above <= 0, nil
}

func (n *in) test(item packed.Attributes, args Args) (bool, error) {
	x, err := n.x.value(item, args)
	if err != nil {
		return false, err
	}
	found := false
	for _, e := range n.list {
		y, err := e.value(item, args)
		if err != nil {
			return false, err
		}
		found = found || x != nil && attr.Equal(x, y)
	}
	return found, nil
}

func (n *logic) test(item packed.Attributes, args Args) (bool, error) {
	left, err := n.left.test(item, args)
	if err != nil || left == (n.op == "OR") {
		return left, err
	}
	return n.right.test(item, args)
}

func (n *not) test(item packed.Attributes, args Args) (bool, error) {
	ok, err := n.x.test(item, args)
	return !ok && err == nil, err
}

// function describes a function of the languages. Names are case-sensitive.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html#Expressions.OperatorsAndFunctions.Functions
type function struct {
	operands int
	update   bool      // for updates; otherwise for conditions
	operand  bool      // may be an operand of another function or an operator
	distinct bool      // the first operand must not be repeated
	result   attr.Kind // if it is known without looking at an item
	check    func(checker, *call) error
	test     func(x, y attr.Value) bool // for conditions
}

var functions map[string]*function

func init() { // not a literal, because the checks use this map
	functions = map[string]*function{
		"attribute_exists": {operands: 1, result: "BOOL", check: checkPath,
			test: func(x, _ attr.Value) bool { return x != nil }},
		"attribute_not_exists": {operands: 1, result: "BOOL", check: checkPath,
			test: func(x, _ attr.Value) bool { return x == nil }},
		"attribute_type": {operands: 2, result: "BOOL", distinct: true, check: checkType, test: hasType},
		"begins_with":    {operands: 2, result: "BOOL", distinct: true, check: checkPrefix, test: beginsWith},
		"contains":       {operands: 2, result: "BOOL", distinct: true, check: checkNothing, test: contains},
		"size":           {operands: 1, result: "N", operand: true, check: checkSize},
		"if_not_exists":  {operands: 2, update: true, operand: true, distinct: true, check: checkPath},
		"list_append":    {operands: 2, update: true, result: "L", check: checkLists},
	}
}

func checkNothing(checker, *call) error { return nil }

func checkPath(c checker, n *call) error {
	if _, ok := n.args[0].(*path); !ok {
		return c.lang.errorf("Operator or function requires a document path; operator or function: %s", n.name)
	}
	return nil
}

func checkType(c checker, n *call) error {
	switch k := c.kind(n.args[1]); k {
	case "S":
	case "":
		return c.lang.errorf("Incorrect operand type for operator or function; operator or function: %s, operand "+
			"type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}", n.name)
	default:
		return c.wrongType(n.name, k)
	}
	name, _ := c.constant(n.args[1]).(attr.S)
	switch name {
	case "S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS":
	default:
		return c.lang.errorf("Invalid attribute type name found; type: %s, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}",
			string(name))
	}
	return nil
}

func checkPrefix(c checker, n *call) error {
	for _, x := range n.args {
		switch k := c.kind(x); k {
		case "", "S", "B":
		default:
			return c.wrongType(n.name, k)
		}
	}
	return nil
}

func checkSize(c checker, n *call) error {
	switch k := c.kind(n.args[0]); k {
	case "N", "BOOL", "NULL":
		return c.wrongType(n.name, k)
	}
	return nil
}

func checkLists(c checker, n *call) error {
	for _, x := range n.args {
		if v := c.constant(x); v != nil && attr.KindOf(v) != "L" {
			return c.wrongType(n.name, attr.KindOf(v))
		}
	}
	return nil
}

func (n *call) test(item packed.Attributes, args Args) (bool, error) {
	f := n.f
	if f.test == nil || len(n.args) != f.operands {
		return false, plainError("The function is not allowed to be used this way in an expression; function: %s",
			n.name)
	}
	x, err := n.args[0].value(item, args)
	if err != nil {
		return false, err
	}
	var y attr.Value
	if f.operands == 2 {
		if y, err = n.args[1].value(item, args); err != nil {
			return false, err
		}
	}
	return f.test(x, y), nil
}

func hasType(x, y attr.Value) bool {
	name, ok := y.(attr.S)
	return ok && x != nil && attr.KindOf(x) == attr.Kind(name)
}

func beginsWith(x, y attr.Value) bool {
	switch x := x.(type) {
	case attr.S:
		y, ok := y.(attr.S)
		return ok && strings.HasPrefix(string(x), string(y))
	case attr.B:
		y, ok := y.(attr.B)
		return ok && bytes.HasPrefix(x, y)
	}
	return false
}

// contains reports whether y is a part of the string or binary x, or an element of the set or list x.
func contains(x, y attr.Value) bool {
	switch x := x.(type) {
	case attr.S:
		y, ok := y.(attr.S)
		return ok && strings.Contains(string(x), string(y))
	case attr.B:
		y, ok := y.(attr.B)
		return ok && bytes.Contains(x, y)
	case attr.SS:
		y, ok := y.(attr.S)
		return ok && slices.Contains(x, string(y))
	case attr.NS:
		y, ok := y.(attr.N)
		return ok && slices.Contains(x, y.Number)
	case attr.BS:
		y, ok := y.(attr.B)
		return ok && slices.ContainsFunc(x, func(e []byte) bool { return bytes.Equal(e, y) })
	case attr.L:
		return y != nil && slices.ContainsFunc(x, func(e attr.Value) bool { return attr.Equal(e, y) })
	}
	return false
}

// value evaluates the functions that are operands.
func (n *call) value(item packed.Attributes, args Args) (attr.Value, error) {
	if len(n.args) != n.f.operands {
		return nil, plainError(
			"Incorrect number of operands for operator or function; operator or function: %s, number of operands: %d",
			n.name, len(n.args),
		)
	}
	x, err := n.args[0].value(item, args)
	if err != nil {
		return nil, err
	}
	switch n.name {
	case "size":
		size, ok := sizeOf(x)
		if !ok {
			return nil, nil
		}
		return attr.Int(int64(size)), nil
	case "if_not_exists":
		// The service evaluates the second operand in any case, so it must exist even if its value is not used (learnt
		// from DynamoDB Local 3.3.1).
		y, err := present(n.args[1], item, args)
		if err != nil {
			return nil, err
		}
		if x != nil {
			return x, nil
		}
		return y, nil
	case "list_append":
		return listAppend(n.args, item, args)
	}
	return nil, plainError("The function is not allowed to be used this way in an expression; function: %s", n.name)
}

// sizeOf implements size(): UTF-16 units of a string, bytes of a binary, elements of a set, list or map. Other types
// have no size, which a comparison treats as a missing value.
//
// Source: https://github.com/ExtendDB/extenddb/issues/60 (strings; seen on the service)
func sizeOf(v attr.Value) (int, bool) {
	switch v := v.(type) {
	case attr.S:
		units := 0
		for _, r := range string(v) {
			units++
			if r > 0xFFFF {
				units++
			}
		}
		return units, true
	case attr.B:
		return len(v), true
	case attr.M:
		return len(v), true
	case attr.L:
		return len(v), true
	case attr.SS:
		return len(v), true
	case attr.NS:
		return len(v), true
	case attr.BS:
		return len(v), true
	}
	return 0, false
}
