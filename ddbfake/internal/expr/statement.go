package expr

import "github.com/isr-sim/isr-sim/ddbfake/attr"

// The parts of a statement in PartiQL are said in the languages of this package, with aliases for all names and values.
// Their meaning is the same. Their size is not limited: the statement's is.

// ParseStatementCondition parses the condition of a statement. The error is an [*Error], of which the service prints the
// Message alone.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-operators.html
func ParseStatementCondition(src string) (*Condition, error) {
	return parseCondition(conditionLanguage, src, parseAny)
}

// ParseStatementUpdate parses the changes of a statement. The error is an [*Error], of which the service prints the
// Message alone.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.update.html
func ParseStatementUpdate(src string) (*Update, error) { return parseUpdate(src, parseAny) }

// ParseColumns parses the list of a SELECT. Unlike those of a ProjectionExpression its paths may overlap, and each that
// leads somewhere is an attribute of the result, under the path's last name and what follows it: b[0] for a.b[0].
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
