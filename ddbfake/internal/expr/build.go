package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

// Builder makes expressions from parts instead of a source. It is for DynamoDB's legacy parameters, which are another
// form of expressions. Its expressions are evaluated like any other, with [Builder.Args]. They are not checked, because
// legacy parameters have their own checks and texts.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LegacyConditionalParameters.html
type Builder struct{ args Args }

// Args returns the names and values of everything built so far.
func (b *Builder) Args() Args { return b.args }

// Test is a condition on one top-level attribute.
type Test struct {
	Attribute string
	// Operator is one of the API's comparison operators: EQ, NE, LE, LT, GE, GT, NOT_NULL, NULL, CONTAINS,
	// NOT_CONTAINS, BEGINS_WITH, IN, BETWEEN.
	Operator string
	// Values has as many elements as the operator takes.
	Values []attr.Value
}

// Change is an update of one top-level attribute.
type Change struct {
	Attribute string
	Action    string     // PUT, ADD or DELETE
	Value     attr.Value // nil deletes the attribute
}

// Condition joins tests by "AND" or "OR". It returns nil if there are no tests.
func (b *Builder) Condition(join string, tests []Test) *Condition {
	if len(tests) == 0 {
		return nil
	}
	root := b.test(tests[0])
	for _, t := range tests[1:] {
		root = &logic{join, root, b.test(t)}
	}
	c := &Condition{lang: conditionLanguage, root: root}
	c.uses = usesOf(c.String())
	return c
}

// KeyCondition joins tests on key attributes. Bind refuses operators that a key condition cannot have, with the text
// for legacy parameters.
func (b *Builder) KeyCondition(tests []Test) *KeyCondition {
	k := &KeyCondition{built: make([]term, len(tests))}
	if c := b.Condition("AND", tests); c != nil {
		k.root, k.uses = c.root, c.uses
	}
	for i, t := range tests {
		k.built[i] = term{t.Attribute, keyOperators[t.Operator], t.Values}
	}
	return k
}

// Projection takes top-level attributes.
func (b *Builder) Projection(attributes []string) *Projection {
	p := &Projection{}
	for _, name := range attributes {
		p.paths = append(p.paths, b.path(name))
	}
	p.uses = usesOf(p.String())
	return p
}

// Update makes changes to different attributes. It returns nil if there are no changes.
func (b *Builder) Update(changes []Change) *Update {
	if len(changes) == 0 {
		return nil
	}
	u := &Update{mismatch: errTypeMismatch}
	for _, c := range changes {
		u.actions = append(u.actions, b.action(c))
	}
	slices.SortStableFunc(u.actions, func(x, y *action) int { return int(x.op) - int(y.op) })
	for i, a := range u.actions {
		a.opens = i == 0 || u.actions[i-1].op != a.op
		u.targets = append(u.targets, a.target)
	}
	u.uses = usesOf(u.String())
	return u
}

// errTypeMismatch is the error of a legacy update if the value to ADD or DELETE has another type than the attribute.
//
// Source: https://github.com/scylladb/scylladb/blob/master/test/alternator/test_item.py (run on AWS)
var errTypeMismatch = &Error{Message: "Type mismatch for attribute to update"}

// comparators and keyOperators translate the API's operators.
var (
	comparators  = map[string]string{"EQ": "=", "NE": "<>", "LE": "<=", "LT": "<", "GE": ">=", "GT": ">"}
	keyOperators = map[string]string{"EQ": "=", "LE": "<=", "LT": "<", "GE": ">=", "GT": ">",
		"BEGINS_WITH": "begins_with", "BETWEEN": "BETWEEN"}
)

func (b *Builder) test(t Test) condition {
	x := b.path(t.Attribute)
	values := make([]operand, len(t.Values))
	for i, v := range t.Values {
		values[i] = b.value(v)
	}
	switch t.Operator {
	case "NOT_NULL":
		return callOf("attribute_exists", x)
	case "NULL":
		return callOf("attribute_not_exists", x)
	case "CONTAINS":
		return callOf("contains", x, values[0])
	case "NOT_CONTAINS":
		// NOT_CONTAINS and CONTAINS are both false for a missing attribute. Source:
		// https://github.com/scylladb/scylladb/blob/master/test/alternator/test_expected.py (run on AWS)
		return &logic{"AND", callOf("attribute_exists", x), &not{callOf("contains", x, values[0])}}
	case "BEGINS_WITH":
		return callOf("begins_with", x, values[0])
	case "IN":
		return &in{x, values}
	case "BETWEEN":
		return &between{x, values[0], values[1]}
	}
	return &comparison{comparators[t.Operator], x, values[0]}
}

// action translates a change. Unlike the ADD of an UpdateExpression, this ADD also appends to lists, as list_append
// does.
//
// Source: https://github.com/scylladb/scylladb/blob/master/test/alternator/test_item.py (run on AWS)
func (b *Builder) action(c Change) *action {
	a := &action{op: tokSet, target: b.path(c.Attribute)}
	switch {
	case c.Value == nil:
		a.op = tokRemove
		return a
	case c.Action == "DELETE":
		a.op = tokDelete
	case c.Action == "ADD" && attr.KindOf(c.Value) == "L":
		old := callOf("if_not_exists", a.target, b.value(attr.L{}))
		a.operand = callOf("list_append", old, b.value(c.Value))
		return a
	case c.Action == "ADD":
		a.op = tokAdd
	}
	a.operand = b.value(c.Value)
	return a
}

func callOf(name string, args ...operand) *call {
	return &call{name: name, f: functions[name], args: args}
}

// path returns an alias for an attribute, because not every name can be written in a source.
func (b *Builder) path(attribute string) *path {
	if b.args.Names == nil {
		b.args.Names = map[string]string{}
	}
	key := "#" + strconv.Itoa(len(b.args.Names))
	b.args.Names[key] = attribute
	return &path{steps: []step{{name: key}}}
}

func (b *Builder) value(v attr.Value) *placeholder {
	if b.args.Values == nil {
		b.args.Values = map[string]attr.Value{}
	}
	key := ":" + strconv.Itoa(len(b.args.Values))
	b.args.Values[key] = v
	return &placeholder{key}
}

// node is a part of an expression.
type node interface {
	print(*strings.Builder)
	reviewed // for any Args
	// check returns the mistakes that are refused with these Args.
	check(checker) error
}

// operand is a node with a value; nil is a missing attribute.
type operand interface {
	node
	value(packed.Attributes, Args) (attr.Value, error)
}

// condition is a node that is true or false.
type condition interface {
	node
	test(packed.Attributes, Args) (bool, error)
}

type (
	// placeholder is a ":v".
	placeholder struct{ key string }

	// call is a function call: an operand (size, if_not_exists, list_append) or a condition.
	call struct {
		name string
		f    *function // nil if there is no function of this name
		args []operand
	}

	// comparison is = <> < <= > or >=.
	comparison struct {
		op          string
		left, right operand
	}

	between struct{ x, low, high operand }

	in struct {
		x    operand
		list []operand
	}

	// logic is "AND" or "OR".
	logic struct {
		op          string
		left, right condition
	}

	not struct{ x condition }

	// arithmetic is + or -, in SET only.
	arithmetic struct {
		op          string
		left, right operand
	}
)

func (p *placeholder) print(b *strings.Builder) { b.WriteString(p.key) }

func (n *call) print(b *strings.Builder) {
	b.WriteString(n.name)
	printList(b, n.args)
}

func (n *comparison) print(b *strings.Builder) {
	n.left.print(b)
	b.WriteString(" " + n.op + " ")
	n.right.print(b)
}

func (n *between) print(b *strings.Builder) {
	n.x.print(b)
	b.WriteString(" BETWEEN ")
	n.low.print(b)
	b.WriteString(" AND ")
	n.high.print(b)
}

func (n *in) print(b *strings.Builder) {
	n.x.print(b)
	b.WriteString(" IN ")
	printList(b, n.list)
}

func (n *logic) print(b *strings.Builder) {
	// AND binds tighter than OR, and both are left-associative.
	left, leftIs := n.left.(*logic)
	right, rightIs := n.right.(*logic)
	printGroup(b, n.left, leftIs && n.op == "AND" && left.op == "OR")
	b.WriteString(" " + n.op + " ")
	printGroup(b, n.right, rightIs && (n.op == "AND" || right.op == "OR"))
}

func (n *not) print(b *strings.Builder) {
	b.WriteString("NOT ")
	_, is := n.x.(*logic)
	printGroup(b, n.x, is)
}

func (n *arithmetic) print(b *strings.Builder) {
	n.left.print(b)
	b.WriteString(" " + n.op + " ")
	n.right.print(b)
}

func printGroup(b *strings.Builder, n node, parentheses bool) {
	if parentheses {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	n.print(b)
}

func printList(b *strings.Builder, list []operand) {
	b.WriteByte('(')
	for i, x := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		x.print(b)
	}
	b.WriteByte(')')
}

func printNode(n node) string {
	var b strings.Builder
	n.print(&b)
	return b.String()
}
