package partiql

import (
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// Condition translates WHERE into a source for [expr.ParseStatementCondition]; "" if there is none.
func (b *Bound) Condition() (string, error) {
	if b.where == nil {
		return "", nil
	}
	c, err := b.condition(b.where)
	return c.text, err
}

// Unless returns the condition that the item is missing or WHERE holds, as a source for [expr.ParseStatementCondition].
// hash is the name of the partition key.
func (b *Bound) Unless(hash string) (string, error) {
	absent := said{text: "attribute_not_exists(" + b.alias(hash) + ")"}
	if b.where == nil {
		return absent.text, nil
	}
	where, err := b.condition(b.where)
	return join("OR", absent, where).text, err
}

// said is a translated condition. A condition with AND or OR is loose: it needs parentheses within another condition.
type said struct {
	text  string
	loose bool
}

func (s said) tight() string {
	if s.loose {
		return "(" + s.text + ")"
	}
	return s.text
}

// negated returns the negation of the condition if not is true, and the condition itself otherwise.
func (s said) negated(not bool) said {
	if !not {
		return s
	}
	return said{text: "NOT " + s.tight()}
}

func join(op string, all ...said) said {
	texts := make([]string, len(all))
	for i, s := range all {
		texts[i] = s.tight()
	}
	return said{strings.Join(texts, " "+op+" "), len(all) > 1}
}

func (b *Bound) condition(n Node) (said, error) {
	switch n := n.(type) {
	case *unary:
		if n.op == "not" {
			x, err := b.condition(n.x)
			return x.negated(true), err
		}
	case *binary:
		return b.operator(n)
	case *between:
		if isCondition(n.x) || isCondition(n.low) || isCondition(n.high) {
			return said{}, wrongType("BETWEEN", "BOOL")
		}
		texts, err := b.operands(n.x, n.low, n.high)
		if err != nil {
			return said{}, err
		}
		return said{text: texts[0] + " BETWEEN " + texts[1] + " AND " + texts[2]}.negated(n.not), nil
	case *isType:
		return b.typeTest(n)
	case *call:
		if !tests[n.function] {
			return said{}, unrecognized(n)
		}
		text, err := b.call(n)
		return said{text: text}, err
	}
	return said{}, refuse("Unsupported operation: %s", n.name())
}

func wrongType(operator string, kind attr.Kind) error {
	return refuse("Incorrect operand type for operator or function; operator or function: %s, operand type: %s",
		operator, kind)
}

// isCondition reports whether a node is a condition, and not an operand.
func isCondition(n Node) bool {
	switch n := n.(type) {
	case *between, *isType:
		return true
	case *unary:
		return n.op == "not"
	case *binary:
		return precedences[n.op] < precedences["+"]
	case *call:
		return tests[n.function]
	}
	return false
}

// tests are the functions that are conditions.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-functions.html
var tests = wordsOf("attribute_exists attribute_not_exists attribute_type begins_with contains")

// operator translates an operator between two expressions.
func (b *Bound) operator(n *binary) (said, error) {
	switch n.op {
	case "and", "or":
		left, err := b.condition(n.left)
		if err != nil {
			return said{}, err
		}
		right, err := b.condition(n.right)
		return join(strings.ToUpper(n.op), left, right), err
	case "in":
		return b.in(n)
	case "=", "<>", "<", "<=", ">", ">=":
		switch {
		case isCondition(n.left):
			return b.truth(n.op, n.left, n.right)
		case isCondition(n.right):
			return b.truth(n.op, n.right, n.left)
		}
		texts, err := b.operands(n.left, n.right)
		if err != nil {
			return said{}, err
		}
		return said{text: texts[0] + " " + n.op + " " + texts[1]}, nil
	}
	return said{}, refuse("Unsupported operator in Condition Expression. Operator: %s", strings.ToUpper(n.op))
}

func (b *Bound) in(n *binary) (said, error) {
	list, ok := n.right.(*collection)
	if !ok || list.opens == "<<" {
		return said{}, refuse("Unsupported operation: %s", n.name())
	}
	if len(list.elements) == 0 {
		return said{}, noOperands("IN")
	}
	if isCondition(n.left) {
		all := make([]said, len(list.elements))
		for i, e := range list.elements {
			var err error
			if all[i], err = b.truth("=", n.left, e); err != nil {
				return said{}, err
			}
		}
		return join("OR", all...).negated(n.not), nil
	}
	x, err := b.operand(n.left)
	if err != nil {
		return said{}, err
	}
	texts, err := b.operands(list.elements...)
	return said{text: x + " IN (" + strings.Join(texts, ", ") + ")"}.negated(n.not), err
}

func noOperands(function string) error {
	return refuse(
		"Incorrect number of operands for operator or function; operator or function: %s, number of operands: 0",
		function,
	)
}

// maxCompared bounds the conditions that truth compares, in bytes. truth writes each of them twice, so each link of a
// chain of comparisons doubles its size.
const maxCompared = 1 << 14

// compared translates a condition that is an operand of a comparison.
func (b *Bound) compared(n Node) (said, error) {
	holds, err := b.condition(n)
	if err == nil && len(holds.text) > maxCompared {
		return said{}, refuse("The expression contains too many operators; operator count: 301")
	}
	return holds, err
}

// truth translates the comparison of a condition with a value, or with another condition. PartiQL treats the condition
// as a boolean; the languages of expressions cannot do that.
//
// Source:
// https://github.com/floci-io/floci/blob/main/src/test/java/io/github/hectorvent/floci/services/dynamodb/DynamoDbPartiQLEdgeCaseIntegrationTest.java
func (b *Bound) truth(op string, c, x Node) (said, error) {
	if op != "=" && op != "<>" {
		return said{}, wrongType(op, "BOOL")
	}
	holds, err := b.compared(c)
	if err != nil {
		return said{}, err
	}
	not := op == "<>"
	yes, no := b.placeholder(attr.BOOL(true)), b.placeholder(attr.BOOL(false))
	if isCondition(x) {
		other, err := b.compared(x)
		if err != nil {
			return said{}, err
		}
		same := join("OR", join("AND", holds, other), join("AND", holds.negated(true), other.negated(true)))
		return same.negated(not), nil
	}
	v, err := b.constant(x)
	if err != nil {
		return said{}, err
	}
	switch v {
	case attr.BOOL(true):
		return holds.negated(not), nil
	case attr.BOOL(false):
		return holds.negated(!not), nil
	case nil:
		value, err := b.operand(x)
		same := join("OR", join("AND", holds, said{text: value + " = " + yes}),
			join("AND", holds.negated(true), said{text: value + " = " + no}))
		return same.negated(not), err
	}
	return said{text: yes + " " + op + " " + no}, nil
}

// typeTest translates IS. A missing attribute has no type.
func (b *Bound) typeTest(n *isType) (said, error) {
	x, err := b.operand(n.x)
	if err != nil {
		return said{}, err
	}
	if n.typeName == "missing" {
		return said{text: "attribute_not_exists(" + x + ")"}.negated(n.not), nil
	}
	kind := types[n.typeName]
	if kind == "" {
		return said{}, refuse("Unsupported data type for IS operator: %s. Supported data types are "+
			"[MISSING, NULL, BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST]", strings.ToUpper(n.typeName))
	}
	return said{text: "attribute_type(" + x + ", " + b.placeholder(attr.S(kind)) + ")"}.negated(n.not), nil
}

func unrecognized(n *call) error {
	return refuse("Unrecognized function: %s at %s", n.function, n.at)
}

func (b *Bound) call(n *call) (string, error) {
	if len(n.args) == 0 {
		return "", noOperands(n.function)
	}
	texts, err := b.operands(n.args...)
	return n.function + "(" + strings.Join(texts, ", ") + ")", err
}

func (b *Bound) operands(nodes ...Node) ([]string, error) {
	texts := make([]string, len(nodes))
	for i, n := range nodes {
		var err error
		if texts[i], err = b.operand(n); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// operand translates a path, a value, or a call of size.
func (b *Bound) operand(n Node) (string, error) {
	switch n := n.(type) {
	case *path:
		return b.path(n)
	case *call:
		if n.function == "size" {
			return b.call(n)
		}
		return "", unrecognized(n)
	case *binary:
		return "", refuse("Unsupported operator in Condition Expression. Operator: %s", strings.ToUpper(n.op))
	}
	v, err := b.constant(n)
	switch {
	case err != nil:
		return "", err
	case v == nil:
		return "", refuse("Unsupported operation: %s", n.name())
	}
	return b.placeholder(v), nil
}

// Changes translates SET and REMOVE into a source for [expr.ParseStatementUpdate]. In that source, set_add and
// set_delete become ADD and DELETE.
func (b *Bound) Changes() (string, error) {
	sections := map[string][]string{}
	for i := range b.changes {
		section, text, err := b.change(&b.changes[i])
		if err != nil {
			return "", err
		}
		sections[section] = append(sections[section], text)
	}
	var texts []string
	for _, section := range []string{"SET", "REMOVE", "ADD", "DELETE"} {
		if list := sections[section]; list != nil {
			texts = append(texts, section+" "+strings.Join(list, ", "))
		}
	}
	return strings.Join(texts, " "), nil
}

func (b *Bound) change(c *change) (section, text string, err error) {
	target, err := b.path(c.target)
	if err != nil || c.value == nil {
		return "REMOVE", target, err
	}
	switch v := c.value.(type) {
	case *call:
		switch v.function {
		case "set_add":
			text, err = b.setOperand(c.target, v, "SET_ADD")
			return "ADD", target + " " + text, err
		case "set_delete":
			text, err = b.setOperand(c.target, v, "SET_DELETE")
			return "DELETE", target + " " + text, err
		}
	case *binary:
		if v.op == "+" || v.op == "-" {
			texts, err := b.newValues(v.left, v.right)
			if err != nil {
				return "", "", err
			}
			return "SET", target + " = " + texts[0] + " " + v.op + " " + texts[1], nil
		}
	}
	texts, err := b.newValues(c.value)
	if err != nil {
		return "", "", err
	}
	return "SET", target + " = " + texts[0], nil
}

// setOperand returns the set that a call of set_add or set_delete adds or deletes.
//
// Source:
// https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/partiqlFunctions.test.ts
func (b *Bound) setOperand(target *path, n *call, function string) (string, error) {
	if len(n.args) != 2 {
		return "", refuse("%s must have exactly two arguments at %s", function, n.at)
	}
	if first, ok := n.args[0].(*path); !ok || !slices.EqualFunc(first.steps, target.steps, sameStep) {
		return "", refuse("The first argument to %s must equal the assignment value at %s", function, n.at)
	}
	v, err := b.constant(n.args[1])
	if err != nil {
		return "", err
	}
	switch v.(type) {
	case attr.SS, attr.NS, attr.BS:
		return b.placeholder(v), nil
	}
	return "", refuse("The second argument to %s must be a value with type SET at %s", function, n.args[0].place())
}

func sameStep(a, b step) bool {
	if a.index == nil || b.index == nil {
		return a.index == nil && b.index == nil && a.name == b.name
	}
	i, wrong := a.element()
	j, alsoWrong := b.element()
	return i == j && (wrong == nil) == (alsoWrong == nil) // what is wrong is refused elsewhere
}

// newValues translates operands of an assignment: a path, a value, or a call of list_append.
func (b *Bound) newValues(nodes ...Node) ([]string, error) {
	texts := make([]string, len(nodes))
	for i, n := range nodes {
		var err error
		switch n := n.(type) {
		case *path:
			texts[i], err = b.path(n)
		case *call:
			switch {
			case n.function != "list_append":
				return nil, unrecognized(n)
			case len(n.args) == 0:
				return nil, noOperands(n.function)
			}
			var args []string
			args, err = b.newValues(n.args...)
			texts[i] = "list_append(" + strings.Join(args, ", ") + ")"
		case *binary:
			err = refuse("Unsupported operator in Update Expression. Operator: %s", strings.ToUpper(n.op))
		default:
			var v attr.Value
			if v, err = b.constant(n); err == nil && v == nil {
				err = refuse("Unsupported operation: %s", n.name())
			}
			texts[i] = b.placeholder(v)
		}
		if err != nil {
			return nil, err
		}
	}
	return texts, nil
}
