package expr

// The grammar:
//
//	update  = section { section }
//	section = SET path "=" value {, ...} | REMOVE path {, ...} | ADD path :v {, ...} | DELETE path :v {, ...}
//	value   = operand [ ( "+" | "-" ) operand ] | "(" value ")"
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html

func (p *parser) update() []*action {
	var actions []*action
	for {
		op := p.cur.kind
		switch op {
		case tokSet, tokRemove, tokAdd, tokDelete:
			p.advance()
		default:
			p.fail()
			return actions
		}
		first := len(actions)
		for {
			actions = append(actions, p.action(op))
			if !p.accept(",") {
				break
			}
		}
		actions[first].opens = true
		if p.cur.kind == tokEOF {
			return actions
		}
	}
}

func (p *parser) action(op tokenKind) *action {
	a := &action{op: op, target: p.path()}
	switch op {
	case tokSet:
		p.expect("=")
		a.operand, _ = p.setValue()
	case tokAdd, tokDelete:
		if p.cur.kind != tokValue {
			p.fail()
			return a
		}
		a.operand = &placeholder{p.advance().text}
	}
	return a
}

// setValue reads the value that SET assigns. group says that it was in parentheses.
func (p *parser) setValue() (x operand, group bool) {
	if p.accept("(") {
		var inner bool
		x, inner = p.setValue()
		p.expect(")")
		p.regroup(inner)
		group = true
	} else {
		x = p.plainOperand()
	}
	if _, is := x.(*arithmetic); is || !p.cur.is("+") && !p.cur.is("-") {
		return x, group
	}
	op := p.advance().text
	p.operators++
	return &arithmetic{op: op, left: x, right: p.operand()}, false
}

// paths is the grammar of projections.
func (p *parser) paths() []*path {
	list := []*path{p.path()}
	for p.accept(",") {
		list = append(list, p.path())
	}
	return list
}
