package expr

// The grammar, with AND before OR and NOT before AND:
//
//	or    = and { OR and }
//	and   = not { AND not }
//	not   = NOT not | term
//	term  = "(" or ")" | operand ( cmp operand | BETWEEN operand AND operand | IN list ) | call
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html#Expressions.OperatorsAndFunctions.Syntax

func (p *parser) condition() condition {
	n, _ := p.or(false)
	c, ok := n.(condition)
	if !ok {
		p.fail()
		return &not{}
	}
	return c
}

// or reads a condition, or, when it stands alone in parentheses, an operand. group says that the result itself was in
// parentheses.
func (p *parser) or(inGroup bool) (n node, group bool) {
	n, group = p.and(inGroup)
	for p.cur.kind == tokOr {
		n, group = p.join(n, "OR", func() (node, bool) { return p.and(false) }), false
	}
	return n, group
}

func (p *parser) and(inGroup bool) (n node, group bool) {
	n, group = p.not(inGroup)
	for p.cur.kind == tokAnd {
		n, group = p.join(n, "AND", func() (node, bool) { return p.not(false) }), false
	}
	return n, group
}

// join reads the operator and its right side.
func (p *parser) join(left node, op string, side func() (node, bool)) node {
	l, ok := left.(condition)
	if !ok {
		p.fail()
		return left
	}
	p.advance()
	p.operators++
	right, _ := side()
	r, ok := right.(condition)
	if !ok {
		p.fail()
		return left
	}
	return &logic{op: op, left: l, right: r}
}

func (p *parser) not(inGroup bool) (n node, group bool) {
	if p.cur.kind != tokNot {
		return p.term(inGroup)
	}
	p.advance()
	p.operators++
	x, _ := p.not(false)
	c, ok := x.(condition)
	if !ok {
		p.fail()
		return x, false
	}
	return &not{c}, false
}

func (p *parser) term(inGroup bool) (n node, group bool) {
	if p.accept("(") {
		var inner bool
		n, inner = p.or(true)
		p.expect(")")
		p.regroup(inner)
		group = true
	} else {
		n = p.plainOperand()
	}
	x, ok := n.(operand)
	if !ok {
		return n, group // a condition in parentheses
	}
	switch {
	case p.cur.kind == tokPunct && isComparator(p.cur.text):
		op := p.advance().text
		p.operators++
		return &comparison{op: op, left: x, right: p.operand()}, false
	case p.cur.kind == tokBetween:
		p.advance()
		p.operators++
		low := p.operand()
		if p.cur.kind != tokAnd {
			p.fail()
			return n, false
		}
		p.advance()
		return &between{x: x, low: low, high: p.operand()}, false
	case p.cur.kind == tokIn:
		p.advance()
		p.operators++
		return &in{x: x, list: p.operands()}, false
	}
	if _, isCall := n.(*call); !isCall && !(inGroup && p.cur.is(")")) {
		p.fail()
	}
	return n, group
}

func isComparator(s string) bool {
	switch s {
	case "=", "<>", "<", "<=", ">", ">=":
		return true
	}
	return false
}
