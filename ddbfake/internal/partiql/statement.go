package partiql

import (
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

// sources reads what FROM names.
func (p *parser) sources(s *Statement) {
	s.source = p.expression(0)
	s.aliased = p.alias() || s.aliased
	for p.accept(",") {
		s.more = append(s.more, p.expression(0))
		s.aliased = p.alias() || s.aliased
	}
}

// alias reads another name for the term before it.
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

// returning reads RETURNING.
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
