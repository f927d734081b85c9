// Package format lays out scenario files like the files that come with isr-sim: two spaces per level, one space where
// there were several, long lists wrapped. It does not change comments, the order of the keys, or the style of each
// list.
package format

import (
	"errors"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/isr-sim/isr-sim/internal/kernel/spec"
)

// width is the column at which lists are wrapped.
const width = 120

var errChanged = errors.New(
	"found a layout that cannot be changed without changing the scenario: write long texts as blocks (about: |)",
)

// Scenario returns the contents of a scenario file, laid out. The file name appears in errors, which are those of
// scenario.Parse.
func Scenario(file string, data []byte) ([]byte, error) {
	// A lone CR ends a line in YAML, too, but the library takes it for part of a text.
	data = []byte(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data)))
	before, err := spec.Parse(file, data)
	if err != nil {
		return nil, err
	}
	tree, err := parser.ParseBytes(data, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	for _, doc := range tree.Docs {
		indent(doc.Body, 1)
	}
	lines := strings.Split(strings.TrimRight(tree.String(), "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.Join(wrap(strings.TrimRight(line, " ")), "\n")
	}
	out := []byte(strings.Join(lines, "\n") + "\n")
	// The library's printer cannot print every file correctly, and a new layout must not change a run. So the result is
	// read again and compared.
	if after, err := spec.Parse(file, out); err != nil || !reflect.DeepEqual(before, after) ||
		comments(data) != comments(out) {
		return nil, errChanged
	}
	return out, nil
}

// comments counts the characters that may begin a comment.
func comments(data []byte) int { return strings.Count(string(data), "#") }

// indent makes a block begin in the given column, and the blocks within it further to the right.
func indent(n ast.Node, column int) {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle {
			n.Start.Position.Column = column
			for _, entry := range n.Values {
				indent(entry, column)
			}
		}
	case *ast.MappingValueNode:
		if !n.IsFlowStyle {
			n.Key.GetToken().Position.Column = column
			indent(n.Value, column+2)
		}
	case *ast.SequenceNode:
		if !n.IsFlowStyle {
			n.Start.Position.Column = column
			for _, item := range n.Values {
				indent(item, column+2)
			}
		}
	}
}

// wrap splits a line with a list in brackets that is too long, at its commas.
func wrap(line string) []string {
	key, list, ok := strings.Cut(line, ": [")
	if !ok || len(line) <= width || !strings.HasSuffix(list, "]") || strings.ContainsAny(line, `"'#{`) {
		return []string{line}
	}
	within := strings.Repeat(" ", len(key)-len(strings.TrimLeft(key, " -"))+2)
	var lines []string
	for len(line) > width {
		at := strings.LastIndex(line[:width], ", ")
		if at < 0 {
			break
		}
		lines, line = append(lines, line[:at+1]), within+line[at+2:]
	}
	return append(lines, line)
}
