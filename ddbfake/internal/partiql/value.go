package partiql

import (
	"slices"
	"strconv"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// root is the beginning of the paths that errors about a value name.
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

// valueOf returns the value of a literal. Unlike a value on its own, an element of a collection cannot be a parameter.
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

// text returns the key of a field of m.
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

// bag returns a set.
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
