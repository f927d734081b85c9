package tables

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxYAML is the maximum size of a YAML template: the parser takes quadratic time for many keys, and CloudFormation
// itself accepts no larger template.
//
// Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
const maxYAML = 1 << 20

// fromYAML reads a template. It expands the short forms of functions: !Ref X becomes {"Ref": "X"}.
func fromYAML(text []byte) (any, error) {
	if len(text) > maxYAML {
		return nil, fmt.Errorf("found %d bytes of YAML, expected at most %d", len(text), maxYAML)
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, fmt.Errorf("found no YAML: %w", err)
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, errors.New("found nothing in it")
	}
	return (&yamlReader{anchors: map[string]any{}}).value(file.Docs[0].Body)
}

type yamlReader struct{ anchors map[string]any }

func (y *yamlReader) value(n ast.Node) (any, error) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return y.mapping(n.Values)
	case *ast.MappingValueNode:
		return y.mapping([]*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		list := make([]any, len(n.Values))
		for i, element := range n.Values {
			var err error
			if list[i], err = y.value(element); err != nil {
				return nil, err
			}
		}
		return list, nil
	case *ast.TagNode:
		return y.tagged(n)
	case *ast.AnchorNode:
		v, err := y.value(n.Value)
		y.anchors[n.Name.String()] = v
		return v, err
	case *ast.AliasNode:
		v, ok := y.anchors[n.Value.String()]
		if !ok {
			return nil, at(n, "there is no anchor "+n.Value.String())
		}
		return v, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.StringNode:
		return n.Value, nil
	case *ast.BoolNode:
		return n.Value, nil
	case *ast.NullNode, nil:
		return nil, nil
	case ast.ScalarNode:
		return n.GetToken().Value, nil // a number keeps its text in the file
	}
	return nil, at(n, "this is none of a template's values")
}

func (y *yamlReader) mapping(values []*ast.MappingValueNode) (any, error) {
	found := object{}
	for _, pair := range values {
		if pair.Key.IsMergeKey() {
			return nil, at(pair, "a template has no <<")
		}
		v, err := y.value(pair.Value)
		if err != nil {
			return nil, err
		}
		key := pair.Key.GetToken().Value
		if key, ok := pair.Key.(*ast.StringNode); ok {
			found[key.Value] = v
			continue
		}
		found[key] = v
	}
	return found, nil
}

// tagged expands a function in its short form.
func (y *yamlReader) tagged(n *ast.TagNode) (any, error) {
	v, err := y.value(n.Value)
	if err != nil {
		return nil, err
	}
	name, ok := strings.CutPrefix(n.Start.Value, "!")
	switch {
	case !ok || strings.HasPrefix(name, "!"): // a tag of YAML itself
		return v, nil
	case name == "Ref" || name == "Condition":
		return object{name: v}, nil
	case name == "GetAtt":
		if text, ok := v.(string); ok {
			resource, attribute, _ := strings.Cut(text, ".")
			v = []any{resource, attribute}
		}
	}
	return object{"Fn::" + name: v}, nil
}

func at(n ast.Node, message string) error {
	return fmt.Errorf("line %d: %s", n.GetToken().Position.Line, message)
}
