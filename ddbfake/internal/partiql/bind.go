package partiql

import (
	"slices"
	"strconv"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
)

// Bound is a statement with the values of its parameters. Its methods translate parts of it into sources for package
// expr. Args then returns the names and values for these sources.
type Bound struct {
	*Statement
	parameters []attr.Value
	table      string
	index      string
	names      map[string]string
	values     map[string]attr.Value
}

// Bind gives a statement its parameters. There may be more of them than the statement needs. With an [*Error], Bind
// refuses what is wrong for any parameters and table: verbs, clauses and sources that DynamoDB does not have.
// Deviation: the service refuses joins, subqueries, GROUP BY, LIKE, arithmetic in WHERE and other parts of PartiQL. Its
// texts are known only for some of them; those for the others are invented in the same form.
//
// Source:
// https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/partiqlGrammar.test.ts
func (s *Statement) Bind(parameters []attr.Value) (*Bound, error) {
	b := &Bound{Statement: s, parameters: parameters, names: map[string]string{}, values: map[string]attr.Value{}}
	switch {
	case s.verb == Expression:
		return nil, refuse("Unsupported operation: %s", s.value.name())
	case s.bare:
		return nil, refuse("Unsupported operation: Insert")
	case s.aliased:
		return nil, refuse("Aliasing is not supported")
	case len(s.clauses) > 0:
		c := s.clauses[0]
		return nil, refuse("Unsupported clause: %s at %s", c.name, c.at)
	case s.verb == Insert && s.returns != "":
		return nil, refuse("RETURNING is not supported in INSERT")
	case s.verb == Delete && s.returns != "" && s.returns != "ALL OLD":
		return nil, refuse(
			"Invalid returning clause: RETURNING %s *. Only RETURNING ALL OLD * is allowed in DELETE statements.",
			s.returns,
		)
	}
	err := b.bindSource()
	return b, err
}

// bindSource reads the names of the table and of the index.
func (b *Bound) bindSource() error {
	p, ok := b.source.(*path)
	if !ok || b.more != nil {
		return errOneTable
	}
	for _, s := range p.steps {
		switch {
		case s.index != nil:
			return refuse("Unexpected path component at %s", s.index.place())
		case s.name == "":
			return refuse("Path component cannot be an empty string")
		}
	}
	b.table = p.steps[0].name
	if len(p.steps) == 1 {
		return nil
	}
	switch {
	case b.verb == Insert:
		return errOneTable
	case b.verb == Update, b.verb == Delete:
		return refuse("This operation is not supported on an index")
	case len(p.steps) > 2:
		return refuse("A path may contain at most 2 components in the FROM clause")
	}
	b.index = p.steps[1].name
	return nil
}

var errOneTable = &Error{"FROM clause may only contain a single table name"}

// Verb returns what the statement does.
func (s *Statement) Verb() Verb { return s.verb }

// Reads reports whether the statement is a SELECT.
func (s *Statement) Reads() bool { return s.verb == Select }

// Returning returns the words after RETURNING, "ALL OLD" for example; "" if there are none.
func (s *Statement) Returning() string { return s.returns }

// Table returns the name of the table.
func (b *Bound) Table() string { return b.table }

// Index returns the name of the index that a SELECT reads; "" if it reads the table.
func (b *Bound) Index() string { return b.index }

// Args returns the names and values in the sources so far.
func (b *Bound) Args() expr.Args { return expr.Args{Names: b.names, Values: b.values} }

// alias returns an alias such as "#0" for a name.
func (b *Bound) alias(name string) string {
	key := "#" + strconv.Itoa(len(b.names))
	b.names[key] = name
	return key
}

// placeholder returns a placeholder such as ":0" for a value.
func (b *Bound) placeholder(v attr.Value) string {
	key := ":" + strconv.Itoa(len(b.values))
	b.values[key] = v
	return key
}

func (b *Bound) path(p *path) (string, error) {
	var text strings.Builder
	for i, s := range p.steps {
		switch {
		case s.index != nil:
			n, err := s.element()
			if err != nil {
				return "", err
			}
			text.WriteString("[" + strconv.Itoa(n) + "]")
			continue
		case i > 0:
			text.WriteByte('.')
		}
		text.WriteString(b.alias(s.name))
	}
	return text.String(), nil
}

// Columns translates the list of a SELECT into a source for [expr.ParseColumns]; "" for *.
func (b *Bound) Columns() (string, error) {
	var texts []string
	seen := map[string]bool{}
	for _, n := range b.columns {
		p, ok := n.(*path)
		if !ok {
			return "", refuse("Unexpected path component at %s", n.place())
		}
		text, err := b.path(p)
		if err != nil {
			return "", err
		}
		column := ""
		for _, s := range p.steps {
			if s.index == nil {
				column = s.name
				continue
			}
			i, _ := s.element()
			column += "[" + strconv.Itoa(i) + "]"
		}
		if seen[column] {
			return "", refuse("Duplicate identifiers in select clause: %s", column)
		}
		seen[column] = true
		texts = append(texts, text)
	}
	return strings.Join(texts, ", "), nil
}

// Item returns the item of an INSERT.
func (b *Bound) Item() (attr.Item, error) {
	if t, ok := b.value.(*tuple); ok {
		item := attr.Item{}
		for _, f := range t.fields {
			key, err := f.text(attr.M(item), root)
			if err != nil {
				return nil, err
			}
			v, err := b.constant(f.value)
			if err == nil && v == nil {
				err = unsupported(f.value, root)
			}
			if err != nil {
				return nil, err
			}
			item[key] = v
		}
		return item, nil
	}
	v, err := b.constant(b.value)
	if err != nil {
		return nil, err
	}
	m, ok := v.(attr.M)
	if !ok {
		return nil, unsupported(b.value, root)
	}
	return attr.Item(m), nil
}

// root begins the paths in errors about a value.
const root = "root"

// constant returns the value of a literal, of a parameter, or of a collection of literals; nil for any other node.
func (b *Bound) constant(n Node) (attr.Value, error) {
	switch n := n.(type) {
	case *parameter:
		if n.index >= len(b.parameters) {
			return nil, refuse("Number of parameters in request and statement don't match.")
		}
		return b.parameters[n.index], nil
	case *literal, *collection, *tuple:
		return valueOf(n, root, 1)
	}
	return nil, nil
}

// valueOf returns the value of a literal. Inside a collection, an element cannot be a parameter.
//
// Source:
// https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/partiqlGrammar.test.ts
// Source:
// https://github.com/floci-io/floci/blob/main/src/test/java/io/github/hectorvent/floci/services/dynamodb/DynamoDbPartiQLEdgeCaseIntegrationTest.java
func valueOf(n Node, under string, depth int) (attr.Value, error) {
	if depth > attr.MaxDepth {
		return nil, refuse("Nesting Levels have exceeded supported limits under %s", under)
	}
	switch n := n.(type) {
	case *literal:
		return n.value(under)
	case *collection:
		if n.opens == "<<" {
			return n.bag(under)
		}
		list := attr.L{}
		for i, e := range n.elements {
			v, err := valueOf(e, under+"["+strconv.Itoa(i)+"]", depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case *tuple:
		m := attr.M{}
		for _, f := range n.fields {
			key, err := f.text(m, under)
			if err != nil {
				return nil, err
			}
			if m[key], err = valueOf(f.value, under+"."+key, depth+1); err != nil {
				return nil, err
			}
		}
		return m, nil
	}
	return nil, unsupported(n, under)
}

func unsupported(n Node, under string) error {
	return refuse("Unsupported data type: %s under key %s at %s", n.name(), under, n.place())
}

func (f *field) text(m attr.M, under string) (string, error) {
	key, ok := f.key.(*literal)
	if !ok || key.kind != tokText {
		return "", unsupported(f.key, under)
	}
	if _, twice := m[key.text]; twice {
		return "", refuse("Duplicate keys in tuple. Key: %s under %s", key.text, under)
	}
	return key.text, nil
}

func (n *literal) value(under string) (attr.Value, error) {
	switch {
	case n.kind == tokText:
		return attr.S(n.text), nil
	case n.kind == tokNumber:
		number, err := attr.ParseNumber(n.text)
		if err != nil {
			return nil, refuse("%s under %s", err.Error(), under)
		}
		return attr.N{Number: number}, nil
	case n.text == "null":
		return attr.NULL{}, nil
	case n.text == "missing":
		return nil, unsupported(n, under)
	}
	return attr.BOOL(n.text == "true"), nil
}

func (n *collection) bag(under string) (attr.Value, error) {
	if len(n.elements) == 0 {
		return nil, refuse("Empty bags are not supported")
	}
	var texts []string
	var strs attr.SS
	var numbers attr.NS
	for _, e := range n.elements {
		l, ok := e.(*literal)
		if !ok || l.kind == tokKeyword {
			return nil, errBag
		}
		v, err := l.value(under)
		if err != nil {
			return nil, err
		}
		texts = append(texts, l.text)
		switch v := v.(type) {
		case attr.S:
			strs = append(strs, string(v))
		case attr.N:
			numbers = append(numbers, v.Number)
		}
	}
	const invalid = "One or more parameter values were invalid: Input collection [%s] contains duplicates"
	switch {
	case strs != nil && numbers != nil:
		return nil, errBag
	case strs != nil:
		slices.Sort(strs)
		if len(slices.Compact(slices.Clone(strs))) < len(strs) {
			return nil, refuse(invalid+".", strings.Join(texts, ", "))
		}
		return strs, nil
	}
	slices.SortFunc(numbers, attr.Number.Cmp)
	if len(slices.Compact(slices.Clone(numbers))) < len(numbers) {
		return nil, refuse(invalid+"! under %s", strings.Join(texts, ", "), under)
	}
	return numbers, nil
}

var errBag = &Error{"Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags"}
