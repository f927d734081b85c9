package expr

import "github.com/isr-sim/isr-sim/ddbfake/attr"

// The parts of a statement in PartiQL are translated into the languages of this package, with aliases for all names and
// values. Their meaning is the same. Their size is not limited, but the size of the statement is.

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
// path that leads somewhere is an attribute of the result. The attribute's name is the path from its last name on: b[0]
// for a.b[0].
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
