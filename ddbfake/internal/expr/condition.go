package expr

import (
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

// Condition is a parsed ConditionExpression or FilterExpression.
type Condition struct {
	lang   language
	root   condition
	tokens uses
	nested nested
}

// ParseCondition parses a ConditionExpression. The error is an [*Error].
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.ConditionExpressions.html
func ParseCondition(src string) (*Condition, error) {
	return parseCondition(conditionLanguage, src, parse)
}

// ParseFilter parses a FilterExpression: it is the same language with other messages.
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
	c.tokens = usesOf(src)
	c.nested.node(c.root)
	return c, nil
}

// root makes the review treat a whole expression as an operand of AND.
type root struct{ condition }

func (n *root) review(r *reviewer) { r.conditions(n.condition) }

// String prints the condition.
func (c *Condition) String() string { return printNode(c.root) }

// Names returns the "#a" in the condition.
func (c *Condition) Names() []string { return c.tokens.names }

// Values returns the ":v" in the condition.
func (c *Condition) Values() []string { return c.tokens.values }

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

// Eval reports whether the condition holds for an item; nil stands for a missing item, which has no attributes. A
// comparison with a missing value, or between two types, is false; only "<>" is then true.
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
