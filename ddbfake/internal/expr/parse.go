package expr

import (
	"math"
	"strconv"
)

const (
	// Source:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-expression-parameters
	maxExpressionBytes = 4096
	maxOperators       = 300
	maxInOperands      = 100
	maxPathElements    = 32
)

// parser reads one expression with one token of look-ahead (two for the text that the service prints as "near"). It
// stops at the first error. Its recursion is bounded by the size of the source.
type parser struct {
	lang      language
	lex       lexer
	prev, cur token
	ahead     token // the token after cur
	err       error
	operators int
	redundant bool // saw ((x))
}

// parse checks the size of a source and parses it.
func parse(lang language, src string, grammar func(*parser) []reviewed) error {
	if src == "" {
		return lang.errorf("The expression can not be empty;")
	}
	if len(src) > maxExpressionBytes {
		return lang.errorf("Expression size has exceeded the maximum allowed size; expression size: %d", len(src))
	}
	return parseAny(lang, src, grammar)
}

// parseAny runs one of the four grammars, and then the checks that need no Args (see reviewer).
func parseAny(lang language, src string, grammar func(*parser) []reviewed) error {
	p := &parser{lang: lang, lex: lexer{src: src}}
	p.cur = p.lex.next()
	p.ahead = p.lex.next()
	nodes := grammar(p)
	if p.cur.kind != tokEOF {
		p.fail()
	}
	switch {
	case p.redundant: // reported first, even before a syntax error
		return lang.errorf("The expression has redundant parentheses;")
	case p.err != nil:
		return p.err
	case p.operators > maxOperators:
		return lang.errorf("The expression contains too many operators; operator count: %d", maxOperators+1)
	}
	r := &reviewer{lang: lang}
	for _, n := range nodes {
		n.review(r)
	}
	if r.err == nil {
		r.err = r.late
	}
	return r.err
}

func (p *parser) advance() token {
	t := p.cur
	if p.err != nil {
		return t
	}
	p.prev, p.cur = p.cur, p.ahead
	if p.ahead.kind != tokEOF {
		p.ahead = p.lex.next()
	}
	return t
}

// fail reports the current token. The parser then moves to the end, so that every loop in it ends.
//
// If a name after a point is a ":v", the service may report the token after it: we have no source about that.
func (p *parser) fail() {
	if p.err != nil {
		return
	}
	src := p.lex.src // "near" runs from the previous token to the next
	p.err = p.lang.errorf(`Syntax error; token: "%s", near: "%s"`, p.cur.text, src[p.prev.start:p.ahead.end])
	p.cur = token{kind: tokEOF, start: len(src), end: len(src)}
	p.ahead = p.cur
}

func (p *parser) accept(punct string) bool {
	if !p.cur.is(punct) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expect(punct string) {
	if !p.accept(punct) {
		p.fail()
	}
}

// operand reads a path, a placeholder, a call, or any of these in parentheses.
func (p *parser) operand() operand {
	x, _ := p.operandGroup()
	return x
}

func (p *parser) operandGroup() (x operand, group bool) {
	if !p.accept("(") {
		return p.plainOperand(), false
	}
	x, inner := p.operandGroup()
	p.expect(")")
	p.regroup(inner)
	return x, true
}

// regroup sets redundant if parentheses contain only another pair of parentheses.
func (p *parser) regroup(inner bool) { p.redundant = p.redundant || inner && p.err == nil }

func (p *parser) plainOperand() operand {
	switch {
	case p.cur.kind == tokValue:
		return &placeholder{p.advance().text}
	case p.cur.kind == tokIdent && p.ahead.is("("):
		return p.call()
	}
	return p.path()
}

func (p *parser) call() *call {
	name := p.advance().text
	c := &call{name: name, f: functions[name]}
	p.operators++
	c.args = p.operands()
	return c
}

// operands reads a parenthesised list of at least one element.
func (p *parser) operands() []operand {
	p.expect("(")
	list := []operand{p.operand()}
	for p.accept(",") {
		list = append(list, p.operand())
	}
	p.expect(")")
	return list
}

func (p *parser) path() *path {
	out := &path{steps: []step{p.name()}}
	for {
		switch {
		case p.accept("."):
			out.steps = append(out.steps, p.name())
		case p.accept("["):
			if p.cur.kind != tokIndex {
				p.fail()
				return out
			}
			out.steps = append(out.steps, indexStep(p.advance().text))
			p.expect("]")
		default:
			return out
		}
	}
}

func (p *parser) name() step {
	if p.cur.kind != tokIdent && p.cur.kind != tokName {
		p.fail()
		return step{name: "?"}
	}
	return step{name: p.advance().text}
}

func indexStep(digits string) step {
	i, err := strconv.Atoi(digits)
	if err != nil {
		i = math.MaxInt
	}
	return step{index: i, digit: digits}
}

// The grammar, with AND before OR and NOT before AND:
//
//	or    = and { OR and }
//	and   = not { AND not }
//	not   = NOT not | term
//	term  = "(" or ")" | operand ( cmp operand | BETWEEN operand AND operand | IN list ) | call
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html#Expressions.OperatorsAndFunctions.Syntax

func (p *parser) condition() condition {
	n, _ := p.or(false)
	c, ok := n.(condition)
	if !ok {
		p.fail()
		return &not{}
	}
	return c
}

// or reads a condition. If it fills its parentheses, it may also be an operand. group says whether the result itself
// was in parentheses.
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

// setValue reads the value that SET assigns. group reports whether the value was in parentheses.
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
