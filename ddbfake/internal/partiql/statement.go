package partiql

import (
	"strconv"
	"strings"
)

// selection reads what follows SELECT.
func (p *parser) selection(at Pos) Node {
	s := &Statement{verb: Select, at: at}
	if p.cur().isWord("distinct") {
		s.clauses = append(s.clauses, clause{"DISTINCT", nil, p.advance().pos})
	}
	if !p.accept("*") {
		for {
			s.columns = append(s.columns, p.expression(0))
			s.aliased = p.alias() || s.aliased
			if !p.accept(",") {
				break
			}
		}
	}
	if !p.acceptWord("from") {
		p.fail("Expected FROM after SELECT list")
		return s
	}
	p.sources(s)
	p.filter(s)
	for _, name := range []string{"group", "having"} {
		if t := p.cur(); p.acceptWord(name) {
			p.acceptWord("by")
			s.clauses = append(s.clauses, clause{strings.ToUpper(name), p.expression(0), t.pos})
		}
	}
	if p.acceptWord("order") {
		p.expectWord("by")
		for {
			o := order{by: p.expression(0)}
			if o.descending = p.acceptWord("desc"); !o.descending {
				p.acceptWord("asc")
			}
			s.order = append(s.order, o)
			if !p.accept(",") {
				break
			}
		}
	}
	if p.acceptWord("limit") {
		n := p.expression(0)
		s.clauses = append(s.clauses, clause{"LIMIT", n, n.place()})
	}
	return s
}

// sources reads the tables after FROM.
func (p *parser) sources(s *Statement) {
	s.source = p.expression(0)
	s.aliased = p.alias() || s.aliased
	for p.accept(",") {
		s.more = append(s.more, p.expression(0))
		s.aliased = p.alias() || s.aliased
	}
}

// alias reads an alias of the previous term.
func (p *parser) alias() bool {
	found := false
	for _, word := range []string{"as", "at", "by"} {
		if p.acceptWord(word) {
			if !p.cur().isName() {
				p.fail("Expected identifier for " + strings.ToUpper(word) + "-alias")
			}
			p.advance()
			found = true
		} else if word == "as" && p.cur().isName() {
			p.advance()
			found = true
		}
	}
	return found
}

func (p *parser) filter(s *Statement) {
	if p.acceptWord("where") {
		s.where = p.expression(0)
	}
}

// manipulation reads a statement that writes.
func (p *parser) manipulation(t token) Node {
	s := &Statement{verb: Update, at: t.pos}
	switch t.text {
	case "insert":
		p.advance()
		p.advance()
		s.verb, s.source = Insert, p.simplePath()
		s.bare = !p.acceptWord("value")
		s.value = p.expression(0)
		p.returning(s)
		return s
	case "delete":
		p.advance()
		if !p.acceptWord("from") {
			p.fail("Expected FROM after DELETE")
			return s
		}
		s.verb, s.source = Delete, p.simplePath()
		s.aliased = p.alias()
	case "update":
		p.advance()
		s.source = p.simplePath()
		s.aliased = p.alias()
		p.changes(s)
	case "from":
		p.advance()
		p.sources(s)
		p.filter(s)
		p.changes(s)
		p.returning(s)
		return s
	default: // SET and REMOVE without a table
		p.changes(s)
		return s
	}
	p.filter(s)
	p.returning(s)
	return s
}

// changes reads any number of SET and REMOVE clauses.
func (p *parser) changes(s *Statement) {
	for {
		set := p.acceptWord("set")
		if !set && !p.acceptWord("remove") {
			break
		}
		for {
			c := change{target: p.simplePath()}
			if set {
				if !p.accept("=") {
					p.fail("Expected '='")
					return
				}
				c.value = p.expression(0)
			}
			s.changes = append(s.changes, c)
			if !set || !p.accept(",") {
				break
			}
		}
	}
	if s.changes == nil {
		p.fail(noManipulation)
	}
}

func (p *parser) returning(s *Statement) {
	if !p.acceptWord("returning") {
		return
	}
	which, when := p.cur(), p.ahead()
	if !which.isWord("all") && !which.isWord("modified") || !when.isWord("old") && !when.isWord("new") {
		p.fail("Expected ( ALL | MODIFIED ) ( NEW | OLD )")
		return
	}
	p.advance()
	p.advance()
	s.returns = strings.ToUpper(which.text + " " + when.text)
	if !p.accept("*") {
		p.fail("Expected * in RETURNING")
	}
}

// Node is a part of a statement, or a statement.
type Node interface {
	// place returns the position of the node in the source.
	place() Pos
	// name returns the node's name in PartiQL's syntax tree, for errors about misplaced nodes.
	name() string
}

type (
	// literal is a string, a number, or one of the words true, false, null and missing.
	literal struct {
		kind tokenKind // tokText, tokNumber or tokKeyword
		text string    // the text of a number with its sign
		at   Pos
	}

	// parameter is the ? with this number, from 0.
	parameter struct {
		index int
		at    Pos
	}

	// path is a name and the steps after it.
	path struct {
		steps []step
		at    Pos
	}

	// step is a name, or an expression in brackets.
	step struct {
		name  string
		index Node // nil for a name
	}

	// collection is a list, a list in parentheses, or a bag.
	collection struct {
		opens    string // [ ( or <<
		elements []Node
		at       Pos
	}

	// tuple is a map.
	tuple struct {
		fields []field
		at     Pos
	}

	field struct{ key, value Node }

	// unary is not, or + or - before anything but a number.
	unary struct {
		op string
		x  Node
		at Pos
	}

	// binary is an operator between two expressions. The right operand of IN is a collection.
	binary struct {
		op          string // in lower case
		not         bool   // NOT IN, NOT LIKE
		left, right Node
	}

	between struct {
		not          bool
		x, low, high Node
	}

	// isType is IS and a type.
	isType struct {
		not      bool
		x        Node
		typeName string
	}

	call struct {
		function string // in lower case
		args     []Node
		at       Pos
	}
)

// Verb is the verb of a statement.
type Verb string

// The verbs. Expression is a statement that is only an expression: DynamoDB refuses it.
const (
	Select     Verb = "SELECT"
	Insert     Verb = "INSERT"
	Update     Verb = "UPDATE"
	Delete     Verb = "DELETE"
	Exists     Verb = "EXISTS"
	Expression Verb = ""
)

// Statement is a parsed statement. It holds no values of parameters, so it can be reused.
type Statement struct {
	verb    Verb
	columns []Node // the columns of a SELECT; nil for *
	source  Node   // the table that FROM, INTO or UPDATE names; nil for SET or REMOVE alone
	more    []Node // further sources
	aliased bool   // the source or a column has an alias
	value   Node   // the value of an INSERT; the expression of an Expression statement
	bare    bool   // INSERT without VALUE
	changes []change
	where   Node // nil if there is none
	order   []order
	clauses []clause // clauses that DynamoDB does not have
	returns string   // "ALL OLD" and so on; "" if nothing
	at      Pos
}

// change is one assignment of SET, or one REMOVE.
type change struct {
	target *path
	value  Node // nil for REMOVE
}

type order struct {
	by         Node
	descending bool
}

// clause is a part of SELECT that DynamoDB does not have. It is parsed only to be refused.
type clause struct {
	name string
	of   Node // may be nil
	at   Pos
}

func (n *literal) place() Pos    { return n.at }
func (n *parameter) place() Pos  { return n.at }
func (n *path) place() Pos       { return n.at }
func (n *collection) place() Pos { return n.at }
func (n *tuple) place() Pos      { return n.at }
func (n *unary) place() Pos      { return n.at }
func (n *binary) place() Pos     { return n.left.place() }
func (n *between) place() Pos    { return n.x.place() }
func (n *isType) place() Pos     { return n.x.place() }
func (n *call) place() Pos       { return n.at }
func (s *Statement) place() Pos  { return s.at }

func (n *parameter) name() string { return "Parameter" }
func (n *tuple) name() string     { return "Struct" }
func (n *between) name() string   { return "Between" }
func (n *isType) name() string    { return "IsType" }
func (n *call) name() string      { return n.function }

func (n *literal) name() string {
	if n.text == "missing" && n.kind == tokKeyword {
		return "Missing"
	}
	return "Lit"
}

func (n *path) name() string {
	if len(n.steps) == 1 {
		return "Id"
	}
	return "Path"
}

func (n *collection) name() string {
	if n.opens == "<<" {
		return "Bag"
	}
	return "List"
}

var operators = map[string]string{
	"and": "And", "or": "Or", "not": "Not", "=": "Eq", "<>": "Ne", "<": "Lt", "<=": "Lte", ">": "Gt", ">=": "Gte",
	"+": "Plus", "-": "Minus", "*": "Times", "/": "Divide", "%": "Modulo", "||": "Concat",
	"in": "InCollection", "like": "Like",
}

func (n *unary) name() string {
	switch n.op {
	case "+":
		return "Pos"
	case "-":
		return "Neg"
	}
	return operators[n.op]
}

func (n *binary) name() string { return operators[n.op] }

func (s *Statement) name() string {
	switch s.verb {
	case Select:
		return "Select"
	case Expression:
		return s.value.name()
	}
	return "DataManipulation"
}

// attribute returns the name of a path that is one name alone.
func attribute(n Node) (string, bool) {
	p, ok := n.(*path)
	if !ok || len(p.steps) != 1 {
		return "", false
	}
	return p.steps[0].name, true
}

// element returns the index of a step in brackets: a whole number that fits in an int32.
func (s *step) element() (int, error) {
	n, ok := s.index.(*literal)
	if !ok || n.kind != tokNumber || strings.ContainsAny(n.text, ".eE") {
		return 0, refuse("Unexpected path component at %s", s.index.place())
	}
	i, err := strconv.ParseInt(n.text, 10, 32)
	if err != nil || i < 0 {
		return 0, refuse("List index is not within the allowable range; index: [%s] at %s", n.text, n.at)
	}
	return int(i), nil
}
