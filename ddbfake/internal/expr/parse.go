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

// parser reads one expression with one token of look-ahead (two for the text that the service prints as "near"). The
// first error ends it: later tokens are not looked at. Its recursion is bounded by the size of the source.
type parser struct {
	lang      language
	lex       lexer
	prev, cur token
	ahead     token // the token after cur
	err       error
	operators int
	redundant bool // saw ((x))
}

// parse runs one of the four grammars and then the reviews that need no Args.
func parse(lang language, src string, grammar func(*parser) []reviewed) error {
	if src == "" {
		return lang.errorf("The expression can not be empty;")
	}
	if len(src) > maxExpressionBytes {
		return lang.errorf("Expression size has exceeded the maximum allowed size; expression size: %d", len(src))
	}
	p := &parser{lang: lang, lex: lexer{src: src}}
	p.cur = p.lex.next()
	p.ahead = p.lex.next()
	nodes := grammar(p)
	if p.cur.kind != tokEOF {
		p.fail()
	}
	switch {
	case p.redundant: // before any error that follows them
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
// Deviation: where a ":v" stands for a name after a point, the service reports the token after it.
func (p *parser) fail() {
	if p.err != nil {
		return
	}
	src := p.lex.src // "near" runs from the token before to the token after
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

// operand reads a path, a placeholder, a call, or one of them in parentheses.
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

// regroup notes parentheses that hold nothing but parentheses.
func (p *parser) regroup(inner bool) {
	p.redundant = p.redundant || inner && p.err == nil
}

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

// operands reads a list in parentheses; it has one element at least.
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
