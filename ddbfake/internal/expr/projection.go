package expr

import (
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// Projection is a parsed ProjectionExpression.
type Projection struct {
	paths  []*path
	tokens uses
	nested nested
}

// ParseProjection parses a ProjectionExpression. The error is an [*Error].
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.ProjectionExpressions.html
func ParseProjection(src string) (*Projection, error) {
	out := &Projection{}
	err := parse(projectionLanguage, src, func(p *parser) []reviewed {
		out.paths = p.paths()
		nodes := make([]reviewed, len(out.paths))
		for i, path := range out.paths {
			nodes[i] = path
		}
		return nodes
	})
	if err != nil {
		return nil, err
	}
	out.tokens = usesOf(src)
	for _, path := range out.paths {
		out.nested.node(path)
	}
	return out, nil
}

// String prints the projection.
func (p *Projection) String() string {
	var b strings.Builder
	for i, path := range p.paths {
		if i > 0 {
			b.WriteString(", ")
		}
		path.print(&b)
	}
	return b.String()
}

// Names returns the "#a" in the projection.
func (p *Projection) Names() []string { return p.tokens.names }

// Values returns nil: projections have no values.
func (p *Projection) Values() []string { return nil }

// Attributes returns the top-level names that the projection reads, each once, as they occur.
func (p *Projection) Attributes(args Args) []string {
	var out names
	for _, path := range p.paths {
		out.path(path, args)
	}
	return out
}

// Nested returns the top-level names of the attributes into which paths of the projection lead, each once, as they
// occur. (No key attribute may be among them.)
func (p *Projection) Nested(args Args) []string { return p.nested.attributes(args) }

// Check finds the mistakes that DynamoDB refuses before it looks at any item.
func (p *Projection) Check(args Args) error {
	return checkAll(checker{lang: projectionLanguage, args: args}, p.paths)
}

// Apply cuts an item down to the paths that lead somewhere, which may be none of them. List elements keep their order
// and close their gaps. A missing item (nil) stays missing. The result shares values with the item.
func (p *Projection) Apply(item attr.Item, args Args) (attr.Item, error) {
	if item == nil {
		return nil, nil
	}
	t, err := treeOf(projectionLanguage, p.paths, args, noResult)
	if err != nil {
		return nil, err
	}
	return t.projectMap(item), nil
}
