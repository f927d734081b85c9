package partiql

import (
	"strconv"
	"strings"
)

// Node is a part of a statement, or a statement. It prints back to a source that parses to the same node.
type Node interface {
	String() string
	// place is where the node begins in the source.
	place() Pos
	print(*printer)
	// name is the node's name in PartiQL's syntax tree, for errors about nodes that are not allowed where they stand.
	name() string
}

type (
	// literal is a text, a number, or one of the words true, false, null and missing.
	literal struct {
		kind tokenKind // tokText, tokNumber or tokKeyword
		text string    // the text of a number with its sign
		at   Pos
	}

	// parameter is the ? with this number, counted from 0.
	parameter struct {
		index int
		at    Pos
	}

	// path is a name, and steps from there.
	path struct {
		steps []step
		at    Pos
	}

	// step is a name, or an expression in brackets.
	step struct {
		name   string
		quoted bool
		index  Node // nil for a name
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

	// unary is not, + or - of something else than a number.
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
		star     bool   // count(*)
		args     []Node
		at       Pos
	}
)

// Verb is the verb of a statement.
type Verb string

// The verbs. Expression stands for a statement that consists of an expression alone: DynamoDB refuses it.
const (
	Select     Verb = "SELECT"
	Insert     Verb = "INSERT"
	Update     Verb = "UPDATE"
	Delete     Verb = "DELETE"
	Exists     Verb = "EXISTS"
	Expression Verb = ""
)

// Statement is a parsed statement. It holds no values of parameters, so it can be used again.
type Statement struct {
	verb    Verb
	columns []Node // the columns of a SELECT; nil for *
	source  Node   // the table that FROM, INTO or UPDATE names; nil for SET or REMOVE alone
	more    []Node // further sources
	aliased bool   // the source or a column has an alias
	value   Node   // the value of an INSERT; the expression of a statement that is only that
	bare    bool   // INSERT without VALUE
	changes []change
	early   bool // FROM ... WHERE ... SET
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
	opens  bool // it stands after SET or REMOVE, and not after a comma
}

type order struct {
	by         Node
	descending bool
}

// clause is a part of SELECT that DynamoDB does not have. It is read so that it can be refused.
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

// operators has the names of the operators.
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

func (n *literal) String() string    { return printed(n) }
func (n *parameter) String() string  { return printed(n) }
func (n *path) String() string       { return printed(n) }
func (n *collection) String() string { return printed(n) }
func (n *tuple) String() string      { return printed(n) }
func (n *unary) String() string      { return printed(n) }
func (n *binary) String() string     { return printed(n) }
func (n *between) String() string    { return printed(n) }
func (n *isType) String() string     { return printed(n) }
func (n *call) String() string       { return printed(n) }

// String prints the statement: the result parses to the same statement, without aliases and clauses that are refused.
func (s *Statement) String() string { return printed(s) }

// printer writes a source.
type printer struct{ strings.Builder }

func printed(n Node) string {
	var p printer
	n.print(&p)
	return p.String()
}

func (p *printer) quote(quote, text string) {
	p.WriteString(quote + strings.ReplaceAll(text, quote, quote+quote) + quote)
}

// within prints an operand of an operator, in parentheses if the operand does not bind tighter than the operator.
func (p *printer) within(n Node, precedence int) {
	if binding(n) > precedence {
		n.print(p)
		return
	}
	p.WriteByte('(')
	n.print(p)
	p.WriteByte(')')
}

func (p *printer) list(nodes []Node) {
	for i, n := range nodes {
		if i > 0 {
			p.WriteString(", ")
		}
		n.print(p)
	}
}

func (n *literal) print(p *printer) {
	switch n.kind {
	case tokText:
		p.quote("'", n.text)
	case tokKeyword:
		p.WriteString(strings.ToUpper(n.text))
	default:
		p.WriteString(n.text)
	}
}

func (n *parameter) print(p *printer) { p.WriteByte('?') }

func (n *path) print(p *printer) {
	for i, s := range n.steps {
		switch {
		case s.index != nil:
			p.WriteByte('[')
			s.index.print(p)
			p.WriteByte(']')
			continue
		case i > 0:
			p.WriteByte('.')
		}
		if s.quoted {
			p.quote(`"`, s.name)
		} else {
			p.WriteString(s.name)
		}
	}
}

var closes = map[string]string{"[": "]", "(": ")", "<<": ">>"}

func (n *collection) print(p *printer) {
	p.WriteString(n.opens)
	p.list(n.elements)
	p.WriteString(closes[n.opens])
}

func (n *tuple) print(p *printer) {
	p.WriteByte('{')
	for i, f := range n.fields {
		if i > 0 {
			p.WriteString(", ")
		}
		f.key.print(p)
		p.WriteString(": ")
		f.value.print(p)
	}
	p.WriteByte('}')
}

func (n *unary) print(p *printer) {
	p.WriteString(strings.ToUpper(n.op) + " ")
	if n.op == "not" {
		p.within(n.x, precedences["not"]-1) // NOT NOT x
	} else {
		p.within(n.x, tightest-1)
	}
}

func (n *binary) print(p *printer) {
	precedence := precedences[n.op]
	p.within(n.left, precedence-1)
	p.WriteByte(' ')
	p.not(n.not)
	p.WriteString(strings.ToUpper(n.op) + " ")
	p.within(n.right, precedence)
}

func (n *between) print(p *printer) {
	precedence := precedences["between"]
	p.within(n.x, precedence-1)
	p.WriteByte(' ')
	p.not(n.not)
	p.WriteString("BETWEEN ")
	p.within(n.low, precedence)
	p.WriteString(" AND ")
	p.within(n.high, precedence)
}

func (n *isType) print(p *printer) {
	p.within(n.x, precedences["is"]-1)
	p.WriteString(" IS ")
	p.not(n.not)
	p.WriteString(strings.ToUpper(n.typeName))
}

func (p *printer) not(not bool) {
	if not {
		p.WriteString("NOT ")
	}
}

func (n *call) print(p *printer) {
	p.WriteString(n.function + "(")
	if n.star {
		p.WriteByte('*')
	}
	p.list(n.args)
	p.WriteByte(')')
}

func (s *Statement) print(p *printer) {
	switch s.verb {
	case Select, Exists:
		if s.verb == Exists {
			p.WriteString("EXISTS (")
			defer p.WriteByte(')')
		}
		p.WriteString("SELECT ")
		s.printColumns(p)
		p.WriteString(" FROM ")
	case Insert:
		p.WriteString("INSERT INTO ")
	case Update:
		switch {
		case s.source == nil:
			s.printChanges(p)
			return
		case s.early:
			p.WriteString("FROM ")
		default:
			p.WriteString("UPDATE ")
		}
	case Delete:
		p.WriteString("DELETE FROM ")
	case Expression:
		s.value.print(p)
		return
	}
	s.printRest(p)
}

func (s *Statement) printColumns(p *printer) {
	if s.columns == nil {
		p.WriteByte('*')
	}
	p.list(s.columns)
}

// printRest prints the statement from the source on.
func (s *Statement) printRest(p *printer) {
	s.source.print(p)
	if s.verb == Insert {
		if !s.bare {
			p.WriteString(" VALUE")
		}
		p.WriteByte(' ')
		s.value.print(p)
	}
	if s.early {
		s.printWhere(p)
	}
	s.printChanges(p)
	if !s.early {
		s.printWhere(p)
	}
	for i, o := range s.order {
		p.WriteString([]string{" ORDER BY ", ", "}[min(i, 1)])
		o.by.print(p)
		if o.descending {
			p.WriteString(" DESC")
		}
	}
	if s.returns != "" {
		p.WriteString(" RETURNING " + s.returns + " *")
	}
}

func (s *Statement) printChanges(p *printer) {
	for i := range s.changes {
		s.changes[i].print(p)
	}
}

func (s *Statement) printWhere(p *printer) {
	if s.where != nil {
		p.WriteString(" WHERE ")
		s.where.print(p)
	}
}

func (c *change) print(p *printer) {
	switch {
	case !c.opens:
		p.WriteString(", ")
	case c.value == nil:
		p.WriteString(" REMOVE ")
	default:
		p.WriteString(" SET ")
	}
	c.target.print(p)
	if c.value != nil {
		p.WriteString(" = ")
		c.value.print(p)
	}
}

// attribute returns the name of a path that is one name alone.
func attribute(n Node) (string, bool) {
	p, ok := n.(*path)
	if !ok || len(p.steps) != 1 {
		return "", false
	}
	return p.steps[0].name, true
}

// element returns the index of a step in brackets, which must be a whole number that an int32 can hold.
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
