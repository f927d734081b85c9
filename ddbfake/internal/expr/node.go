package expr

import (
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

// node is a part of an expression.
type node interface {
	print(*strings.Builder)
	reviewed // whatever the Args are
	// check reports the mistakes that are refused with these Args.
	check(checker) error
}

// operand is a node with a value; nil stands for a missing attribute.
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
	// AND binds tighter than OR, and both group to the left.
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
