package expr

import (
	"encoding/base64"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// checker finds the mistakes that DynamoDB refuses, with these Args, before it looks at any item. It checks operands
// before the nodes that contain them. It is passed by value, so that a check allocates nothing: every call with an
// expression makes one.
type checker struct {
	lang language
	args Args
}

func (p *path) check(c checker) error {
	for i := range p.steps {
		s := &p.steps[i]
		if _, ok := s.attribute(c.args); !ok {
			return undefinedName(c.lang, s.name)
		}
	}
	return nil
}

func (p *placeholder) check(c checker) error {
	if _, ok := c.args.value(p.key); !ok {
		return undefinedValue(c.lang, p.key)
	}
	return nil
}

func (n *call) check(c checker) error {
	if err := c.all(n.args...); err != nil {
		return err
	}
	if len(n.args) != n.f.operands {
		return c.lang.errorf(
			"Incorrect number of operands for operator or function; operator or function: %s, number of operands: %d",
			n.name, len(n.args),
		)
	}
	if n.f.distinct {
		if err := c.distinct(n.name, n.args[0], n.args[1:]); err != nil {
			return err
		}
	}
	return n.f.check(c, n)
}

func (n *comparison) check(c checker) error {
	if err := c.all(n.left, n.right); err != nil {
		return err
	}
	if err := c.distinct(n.op, n.left, []operand{n.right}); err != nil {
		return err
	}
	if n.op == "=" || n.op == "<>" {
		return nil
	}
	return c.ordered(n.op, n.left, n.right)
}

func (n *between) check(c checker) error {
	if err := c.all(n.x, n.low, n.high); err != nil {
		return err
	}
	if err := c.ordered("BETWEEN", n.x, n.low, n.high); err != nil {
		return err
	}
	if err := c.distinct("BETWEEN", n.x, []operand{n.low, n.high}); err != nil {
		return err
	}
	low, high := c.constant(n.low), c.constant(n.high)
	if low == nil || high == nil {
		return nil
	}
	switch order, ok := attr.Compare(low, high); {
	case !ok:
		return c.lang.errorf("The BETWEEN operator requires same data type for lower and upper bounds; lower bound "+
			"operand: %s, upper bound operand: %s", constantText(low), constantText(high))
	case order > 0:
		return c.lang.errorf("The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "+
			"lower bound operand: %s, upper bound operand: %s", constantText(low), constantText(high))
	}
	return nil
}

func (n *in) check(c checker) error {
	if err := c.all(n.x); err != nil {
		return err
	}
	if err := c.all(n.list...); err != nil {
		return err
	}
	return c.distinct("IN", n.x, n.list)
}

func (n *logic) check(c checker) error {
	if err := n.left.check(c); err != nil {
		return err
	}
	return n.right.check(c)
}

func (n *not) check(c checker) error { return n.x.check(c) }

func (n *arithmetic) check(c checker) error {
	if err := c.all(n.left, n.right); err != nil {
		return err
	}
	for _, x := range []operand{n.left, n.right} {
		if v := c.constant(x); v != nil && attr.KindOf(v) != "N" {
			return c.wrongType(n.op, attr.KindOf(v))
		}
	}
	return nil
}

func (c checker) all(list ...operand) error {
	for _, x := range list {
		if err := x.check(c); err != nil {
			return err
		}
	}
	return nil
}

// distinct refuses an operation whose first operand is a path if another operand is the same path.
func (c checker) distinct(op string, first operand, rest []operand) error {
	p, ok := first.(*path)
	if !ok {
		return nil
	}
	if err := p.check(c); err != nil {
		return err
	}
	for _, x := range rest {
		q, ok := x.(*path)
		if !ok || len(q.steps) != len(p.steps) {
			continue
		}
		if err := q.check(c); err != nil {
			return err
		}
		if p.agrees(q, c.args) == len(p.steps) {
			return c.lang.errorf("The first operand must be distinct from the remaining operands for this operator "+
				"or function; operator: %s, first operand: %s", op, p.text(c.args))
		}
	}
	return nil
}

// ordered refuses operands of unordered types.
func (c checker) ordered(op string, list ...operand) error {
	for _, x := range list {
		switch k := c.kind(x); k {
		case "", "S", "N", "B":
		default:
			return c.wrongType(op, k)
		}
	}
	return nil
}

func (c checker) wrongType(op string, k attr.Kind) error {
	return c.lang.errorf("Incorrect operand type for operator or function; operator or function: %s, operand type: %s",
		op, k)
}

// constant returns a placeholder's value, and nil for other operands.
func (c checker) constant(x operand) attr.Value {
	if p, ok := x.(*placeholder); ok {
		v, _ := c.args.value(p.key)
		return v
	}
	return nil
}

// kind returns an operand's type if it is known without an item.
func (c checker) kind(x operand) attr.Kind {
	if v := c.constant(x); v != nil {
		return attr.KindOf(v)
	}
	if n, ok := x.(*call); ok {
		return n.f.result
	}
	return ""
}

// constantText prints a value of an ordered type as the service's messages do.
//
// Deviation: in a message about BETWEEN the service prints a binary as an address in its memory.
//
// Source: https://github.com/architect/dynalite/blob/main/test/query.js
func constantText(v attr.Value) string {
	text := v.String()
	switch v := v.(type) {
	case attr.S:
		text = string(v)
	case attr.B:
		text = base64.StdEncoding.EncodeToString(v)
	}
	return "AttributeValue: {" + string(attr.KindOf(v)) + ":" + text + "}"
}
