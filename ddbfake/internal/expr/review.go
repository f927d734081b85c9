package expr

import "github.com/isr-sim/isr-sim/ddbfake/attr"

// reviewed is a part of an expression that a grammar returns: a node, or an action of an update.
type reviewed interface{ review(*reviewer) }

// reviewer finds mistakes that are refused with any Args. The nodes are visited in the order of the source, and the
// first mistake counts.
type reviewer struct {
	lang     language
	err      error
	late     error // reported only if nothing else is found
	sections [tokDelete + 1]bool
}

func (r *reviewer) fail(format string, a ...any) {
	if r.err == nil {
		r.err = r.lang.errorf(format, a...)
	}
}

func (r *reviewer) failLate(format string, a ...any) {
	if r.late == nil {
		r.late = r.lang.errorf(format, a...)
	}
}

// misused refuses a call in a place where its result cannot be used.
func (r *reviewer) misused(n node, allowed func(*function) bool) {
	c, ok := n.(*call)
	if !ok {
		return
	}
	if c.f != nil && c.f.update == (r.lang == updateLanguage) && !allowed(c.f) {
		r.fail("The function is not allowed to be used this way in an expression; function: %s", c.name)
	}
}

func asOperand(f *function) bool   { return f.operand }
func asCondition(f *function) bool { return !f.operand }

// maxListIndex is the largest index that an expression may contain, whatever the list's length.
//
// Source: https://github.com/floci-io/floci/issues/3073 (measured at the service)
const maxListIndex = 1<<32 - 2

func (p *path) review(r *reviewer) {
	for _, s := range p.steps {
		switch {
		case s.isIndex():
			if uint64(s.index) > maxListIndex {
				r.fail("List index is not within the allowable range; index: [%s]", s.digit)
			}
		case !s.isAlias() && isReserved(s.name):
			r.fail("Attribute name is a reserved keyword; reserved keyword: %s", s.name)
		}
	}
	if len(p.steps) > maxPathElements {
		r.fail("The document path has too many nesting levels; nesting levels: %d", len(p.steps))
	}
}

func (p *placeholder) review(*reviewer) {}

func (n *call) review(r *reviewer) {
	switch {
	case n.f == nil:
		r.fail("Invalid function name; function: %s", n.name)
	case n.f.update && r.lang != updateLanguage:
		r.fail("The function is not allowed in a condition expression; function: %s", n.name)
	case !n.f.update && r.lang == updateLanguage:
		r.fail("The function is not allowed in an update expression; function: %s", n.name)
	}
	r.operands(n.args...)
}

func (n *comparison) review(r *reviewer) { r.operands(n.left, n.right) }

func (n *between) review(r *reviewer) { r.operands(n.x, n.low, n.high) }

func (n *in) review(r *reviewer) {
	r.operands(n.x)
	r.operands(n.list...)
	if len(n.list) > maxInOperands {
		r.failLate("The IN operator is provided with too many operands; number of operands: %d", len(n.list))
	}
}

func (n *arithmetic) review(r *reviewer) { r.operands(n.left, n.right) }

func (r *reviewer) operands(list ...operand) {
	for _, x := range list {
		r.misused(x, asOperand)
		x.review(r)
	}
}

func (n *logic) review(r *reviewer) { r.conditions(n.left, n.right) }

func (n *not) review(r *reviewer) { r.conditions(n.x) }

func (r *reviewer) conditions(list ...condition) {
	for _, x := range list {
		r.misused(x, asCondition)
		x.review(r)
	}
}

func (a *action) review(r *reviewer) {
	if a.opens {
		if r.sections[a.op] {
			r.failLate(`The "%s" section can only be used once in an update expression;`, a.section())
		}
		r.sections[a.op] = true
	}
	a.target.review(r)
	if a.operand != nil {
		a.operand.review(r)
	}
}

// The parts of a PartiQL statement are translated into the languages of this package, with aliases for all names and
// values. They mean the same. Their size is not limited, but that of the statement is.

// ParseStatementCondition parses the condition of a statement. The error is an [*Error]; the service prints only its
// Message.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-operators.html
func ParseStatementCondition(src string) (*Condition, error) {
	return parseCondition(conditionLanguage, src, parseAny)
}

// ParseStatementUpdate parses the changes of a statement. The error is an [*Error]; the service prints only its
// Message.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.update.html
func ParseStatementUpdate(src string) (*Update, error) { return parseUpdate(src, parseAny) }

// ParseColumns parses the list of a SELECT. Unlike the paths of a ProjectionExpression, its paths may overlap. Each
// path that exists in the item becomes an attribute of the result, named by the end of the path from its last name on:
// b[0] for a.b[0].
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.select.html
// Source: https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/tier2/partiql/executeStatement.test.ts
func ParseColumns(src string) (*Projection, error) {
	p, err := parseProjection(src, parseAny)
	if err == nil {
		p.columns = true
	}
	return p, err
}

// columnsOf returns the attributes of the result.
func (p *Projection) columnsOf(item attr.Item, args Args) (attr.Item, error) {
	out := attr.Item{}
	for _, path := range p.paths {
		v, err := path.value(item, args)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		column := ""
		for i := range path.steps {
			if s := &path.steps[i]; s.isIndex() {
				column += "[" + s.digit + "]"
			} else {
				column, _ = s.attribute(args)
			}
		}
		out[column] = v
	}
	return out, nil
}
