package partiql

import (
	"fmt"
	"strings"
)

// Error is a statement that DynamoDB refuses. Its text is the message of the service's ValidationException.
type Error struct{ Message string }

// Error returns the message.
func (e *Error) Error() string { return e.Message }

func refuse(format string, a ...any) error { return &Error{fmt.Sprintf(format, a...)} }

const notWellFormed = "Statement wasn't well formed, can't be processed: "

// Details in the refusal of an ill-formed statement.
const (
	unexpectedToken   = "Unexpected token after expression"
	unexpectedTerm    = "Unexpected term"
	unexpectedKeyword = "Unexpected keyword"
	unexpectedSign    = "Unexpected operator"
	noRightSide       = "Missing right-hand side expression of infix operator"
	noManipulation    = "Expected data manipulation"
	noSimplePath      = "Expected identifier for simple path"
	noDot             = "Invalid path dot component"
	noType            = "Expected type name"
)

// parser reads one statement. At the first error it moves to the end, so that every loop in it ends. Its recursion is
// bounded by the size of the source.
type parser struct {
	tokens     []token // the last one is the end
	at         int
	parameters int
	err        error
}

// Parse reads a statement. The error is an [*Error].
func Parse(src string) (*Statement, error) {
	tokens, ok := lex(src)
	if !ok {
		return nil, refuse(notWellFormed)
	}
	p := &parser{tokens: tokens}
	n := p.expression(0)
	p.accept(";")
	if p.cur().kind != tokEOF {
		p.fail(unexpectedToken)
	}
	if p.err != nil {
		return nil, p.err
	}
	if s, ok := n.(*Statement); ok {
		return s, nil
	}
	if s := existence(n); s != nil {
		return s, nil
	}
	return &Statement{value: n, at: n.place()}, nil
}

// existence returns the statement EXISTS(SELECT ...) if a node is that call; nil for any other node.
func existence(n Node) *Statement {
	c, ok := n.(*call)
	if !ok || c.function != "exists" || len(c.args) != 1 {
		return nil
	}
	s, ok := c.args[0].(*Statement)
	if !ok || s.verb != Select {
		return nil
	}
	exists := *s
	exists.verb, exists.at = Exists, c.at
	return &exists
}

func (p *parser) cur() token { return p.tokens[p.at] }

// ahead returns the token after the current one.
func (p *parser) ahead() token { return p.tokens[min(p.at+1, len(p.tokens)-1)] }

func (p *parser) advance() token {
	t := p.cur()
	p.at = min(p.at+1, len(p.tokens)-1)
	return t
}

func (p *parser) fail(detail string) {
	if p.err == nil {
		p.err = refuse("%s", notWellFormed+detail)
	}
	p.at = len(p.tokens) - 1
}

func (p *parser) accept(punct string) bool {
	if !p.cur().is(punct) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) acceptWord(keyword string) bool {
	if !p.cur().isWord(keyword) {
		return false
	}
	p.advance()
	return true
}

// punctNames are the names of closing tokens in errors.
var punctNames = map[string]string{
	")": "RIGHT_PAREN", "]": "RIGHT_BRACKET", ">>": "RIGHT_DOUBLE_ANGLE_BRACKET", "}": "RIGHT_CURLY", ":": "COLON",
}

func (p *parser) expect(punct string) {
	if !p.accept(punct) {
		p.fail("Expected " + punctNames[punct])
	}
}

func (p *parser) expectWord(keyword string) {
	if !p.acceptWord(keyword) {
		p.fail("Expected " + strings.ToUpper(keyword))
	}
}

// precedences of the operators between two expressions, and of not.
var precedences = map[string]int{
	"or": 10, "and": 20, "not": 30, "=": 40, "<>": 40, "is": 40, "in": 40, "<": 50, "<=": 50, ">": 50, ">=": 50,
	"between": 50, "like": 50, "+": 60, "-": 60, "||": 60, "*": 70, "/": 70, "%": 70,
}

// infix returns the operator at the current token; not is true for NOT IN, NOT BETWEEN and NOT LIKE.
func (p *parser) infix() (op string, not bool) {
	t := p.cur()
	if t.isWord("not") {
		if t = p.ahead(); !t.isWord("in") && !t.isWord("between") && !t.isWord("like") {
			return "", false
		}
		not = true
	}
	if (t.kind == tokKeyword || t.kind == tokPunct) && precedences[t.text] > 0 && t.text != "not" {
		return t.text, not
	}
	return "", false
}

// expression reads everything that binds tighter than a precedence.
func (p *parser) expression(precedence int) Node {
	left := p.prefix()
	for p.err == nil {
		op, not := p.infix()
		if op == "" || precedences[op] <= precedence {
			break
		}
		if not {
			p.advance()
		}
		p.advance()
		left = p.infixed(op, not, left)
	}
	return left
}

// infixed reads what follows an operator.
func (p *parser) infixed(op string, not bool, left Node) Node {
	if op == "is" {
		return p.isType(left)
	}
	if p.cur().kind == tokEOF {
		p.fail(noRightSide)
		return left
	}
	switch {
	case op == "in" && p.cur().is("(") && !p.ahead().isWord("select"):
		at := p.advance().pos
		return &binary{op, not, left, &collection{"(", p.list(")"), at}}
	case op == "between":
		low := p.expression(precedences[op])
		p.expectWord("and")
		return &between{not, left, low, p.expression(precedences[op])}
	}
	return &binary{op, not, left, p.expression(precedences[op])}
}

// isType reads a type, whose name may be two words.
func (p *parser) isType(x Node) Node {
	n := &isType{not: p.acceptWord("not"), x: x}
	n.typeName = p.cur().text
	if two := n.typeName + " " + p.ahead().text; hasType(two) {
		p.advance()
		n.typeName = two
	}
	if p.cur().kind != tokKeyword || !hasType(n.typeName) {
		p.fail(noType)
		return x
	}
	p.advance()
	return n
}

func hasType(name string) bool {
	_, ok := types[name]
	return ok
}

// prefix reads signs and NOT before a term. A sign before a number is part of the number.
func (p *parser) prefix() Node {
	t := p.cur()
	switch {
	case t.isWord("not"):
		p.advance()
		return &unary{"not", p.expression(precedences["not"]), t.pos}
	case t.is("+"), t.is("-"):
		p.advance()
		x := p.prefix()
		n, ok := x.(*literal)
		if !ok || n.kind != tokNumber {
			return &unary{t.text, x, t.pos}
		}
		if positive, negative := strings.CutPrefix(n.text, "-"); t.is("-") && negative {
			n.text = positive
		} else if t.is("-") {
			n.text = "-" + n.text
		}
		return n
	}
	return p.path(p.term())
}

// path reads the steps that follow a term.
func (p *parser) path(n Node) Node {
	start, ok := n.(*path)
	if !ok {
		return n
	}
	for p.err == nil {
		switch {
		case p.accept("."):
			if !p.cur().isName() {
				p.fail(noDot)
				return n
			}
			t := p.advance()
			start.steps = append(start.steps, step{name: t.text})
		case p.accept("["):
			start.steps = append(start.steps, step{index: p.expression(0)})
			p.expect("]")
		default:
			return n
		}
	}
	return n
}

// simplePath reads a path that begins with a name.
func (p *parser) simplePath() *path {
	t := p.cur()
	if !t.isName() {
		p.fail(noSimplePath)
		return &path{steps: []step{{name: "?"}}}
	}
	p.advance()
	n := nameOf(t)
	p.path(n)
	return n
}

func nameOf(t token) *path { return &path{[]step{{name: t.text}}, t.pos} }

func (p *parser) term() Node {
	t := p.cur()
	switch t.kind {
	case tokText, tokNumber:
		p.advance()
		return &literal{t.kind, t.text, t.pos}
	case tokName, tokQuoted:
		p.advance()
		if t.kind == tokName && p.cur().is("(") {
			return p.call(t)
		}
		return nameOf(t)
	case tokKeyword:
		return p.keyword(t)
	case tokPunct:
		if n := p.enclosed(t); n != nil {
			return n
		}
	case tokEOF:
	}
	if t.kind == tokPunct && precedences[t.text] > 0 && t.text != "*" {
		p.fail(unexpectedSign)
	} else {
		p.fail(unexpectedTerm)
	}
	return &literal{kind: tokKeyword, text: "null", at: t.pos}
}

// keyword reads a term that begins with a keyword.
func (p *parser) keyword(t token) Node {
	switch t.text {
	case "true", "false", "null", "missing":
		p.advance()
		return &literal{t.kind, t.text, t.pos}
	case "select":
		p.advance()
		return p.selection(t.pos)
	case "insert", "update", "delete", "from", "set", "remove":
		if t.text != "insert" || p.ahead().isWord("into") {
			return p.manipulation(t)
		}
	}
	if functionKeywords[t.text] && p.ahead().is("(") {
		p.advance()
		return p.call(t)
	}
	if precedences[t.text] > 0 {
		p.fail(unexpectedSign)
	} else {
		p.fail(unexpectedKeyword)
	}
	return &literal{kind: tokKeyword, text: "null", at: t.pos}
}

// enclosed reads a term that begins with a punctuation mark; nil if the mark begins none.
func (p *parser) enclosed(t token) Node {
	switch t.text {
	case "?":
		p.advance()
		p.parameters++
		return &parameter{p.parameters - 1, t.pos}
	case "(":
		p.advance()
		switch elements := p.list(")"); len(elements) {
		case 0:
			p.fail("Expression group cannot be empty")
			return &collection{"(", nil, t.pos}
		case 1:
			return elements[0]
		default:
			return &collection{"(", elements, t.pos}
		}
	case "[":
		p.advance()
		return &collection{"[", p.list("]"), t.pos}
	case "<<":
		p.advance()
		return &collection{"<<", p.list(">>"), t.pos}
	case "{":
		p.advance()
		return p.tuple(t.pos)
	}
	return nil
}

// list reads expressions up to a closing mark.
func (p *parser) list(closing string) []Node {
	var nodes []Node
	if p.accept(closing) {
		return nodes
	}
	for {
		nodes = append(nodes, p.expression(0))
		if !p.accept(",") {
			break
		}
	}
	p.expect(closing)
	return nodes
}

func (p *parser) tuple(at Pos) Node {
	n := &tuple{at: at}
	if p.accept("}") {
		return n
	}
	for {
		f := field{key: p.expression(0)}
		p.expect(":")
		f.value = p.expression(0)
		n.fields = append(n.fields, f)
		if !p.accept(",") {
			break
		}
	}
	p.expect("}")
	return n
}

// call reads the operands of a function whose name was already read.
func (p *parser) call(name token) Node {
	n := &call{function: strings.ToLower(name.text), at: name.pos}
	p.expect("(")
	if p.accept("*") {
		p.expect(")")
		return n
	}
	n.args = p.list(")")
	return n
}
