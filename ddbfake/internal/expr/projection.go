package expr

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// Projection is a parsed ProjectionExpression.
type Projection struct {
	paths  []*path
	tokens uses
	nested nested
	// columns says that each path becomes an attribute of the result.
	columns bool
}

// ParseProjection parses a ProjectionExpression. The error is an [*Error].
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.ProjectionExpressions.html
func ParseProjection(src string) (*Projection, error) { return parseProjection(src, parse) }

func parseProjection(src string, read reading) (*Projection, error) {
	out := &Projection{}
	err := read(projectionLanguage, src, func(p *parser) []reviewed {
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

// Attributes returns the top-level names that the projection reads, without repetitions, in the order of the source.
func (p *Projection) Attributes(args Args) []string {
	var out names
	for _, path := range p.paths {
		out.path(path, args)
	}
	return out
}

// Nested returns the top-level names of the attributes whose inner values the projection reads, without repetitions, in
// the order of the source. (No key attribute may be among them.)
func (p *Projection) Nested(args Args) []string { return p.nested.attributes(args) }

// Check finds the mistakes that DynamoDB refuses before it looks at any item.
func (p *Projection) Check(args Args) error {
	if p.columns {
		return nil // they may overlap
	}
	return checkAll(checker{lang: projectionLanguage, args: args}, p.paths)
}

// Apply cuts an item down to the paths that it has; it may have none of them. List elements keep their order and close
// their gaps. For a missing item (nil), the result is nil. The result shares values with the item.
func (p *Projection) Apply(item attr.Item, args Args) (attr.Item, error) {
	switch {
	case item == nil:
		return nil, nil
	case p.columns:
		return p.columnsOf(item, args)
	}
	t, err := treeOf(projectionLanguage, p.paths, args, noResult)
	if err != nil {
		return nil, err
	}
	return t.projectMap(item), nil
}

// tree merges the paths of an expression. They passed clash. So a node is either the end of one path, or it has only
// names or only indexes below it.
type tree struct {
	end      bool
	result   attr.Value // the new value at the end of an update's path; nil to remove it
	children []branch   // indexes ascending
}

type branch struct {
	element
	tree *tree
}

func (t *tree) insert(p []element, result attr.Value) {
	for _, e := range p {
		t = t.child(e)
	}
	t.end, t.result = true, result
}

func (t *tree) child(e element) *tree {
	i := slices.IndexFunc(t.children, func(b branch) bool { return b.element == e })
	if i >= 0 {
		return t.children[i].tree
	}
	next := &tree{}
	t.children = append(t.children, branch{e, next})
	slices.SortStableFunc(t.children, func(a, b branch) int { return cmp.Compare(a.index, b.index) })
	return next
}

// project cuts a value down to the paths. Lists keep the order of the elements and close the gaps. A value that becomes
// empty is nil.
func (t *tree) project(v attr.Value) attr.Value {
	if t.end {
		return v
	}
	if len(t.children) > 0 && t.children[0].isIndex {
		var out attr.L
		list, _ := v.(attr.L)
		for _, b := range t.children {
			if b.index >= len(list) {
				break
			}
			if e := b.tree.project(list[b.index]); e != nil {
				out = append(out, e)
			}
		}
		if out == nil {
			return nil
		}
		return out
	}
	m, _ := v.(attr.M)
	if out := t.projectMap(m); len(out) > 0 {
		return attr.M(out)
	}
	return nil
}

func (t *tree) projectMap(m map[string]attr.Value) map[string]attr.Value {
	out := make(map[string]attr.Value, len(t.children))
	for _, b := range t.children {
		v, ok := m[b.name]
		if !ok || b.isIndex {
			continue
		}
		if e := b.tree.project(v); e != nil {
			out[b.name] = e
		}
	}
	return out
}

// apply returns the value after an update; nil if the update removes it. Parts to which no path leads are shared with
// the old value. The paths can be walked: the evaluation of the actions has checked that.
func (t *tree) apply(old attr.Value) attr.Value {
	if t.end {
		return t.result
	}
	switch old := old.(type) {
	case attr.L:
		return t.applyList(old)
	case attr.M:
		return attr.M(t.applyMap(old))
	}
	return old
}

func (t *tree) applyMap(old map[string]attr.Value) map[string]attr.Value {
	out := cloneMap(old)
	for _, b := range t.children {
		setOrDelete(out, b.name, b.tree.apply(old[b.name]))
	}
	return out
}

// cloneMap is maps.Clone, which copies a small map as one block of memory, but it never returns nil.
func cloneMap[M ~map[string]attr.Value](m M) M {
	if m == nil {
		return M{}
	}
	return maps.Clone(m)
}

func setOrDelete(m map[string]attr.Value, name string, v attr.Value) {
	if v == nil {
		delete(m, name)
	} else {
		m[name] = v
	}
}

// applyList counts every index in the old list. Elements set past the end are appended, in the order of their indexes.
// Removals close their gaps last.
func (t *tree) applyList(old attr.L) attr.L {
	out := slices.Clone(old)
	for _, b := range t.children {
		if b.index < len(old) {
			out[b.index] = b.tree.apply(old[b.index])
		} else {
			out = append(out, b.tree.apply(nil))
		}
	}
	return slices.DeleteFunc(out, func(v attr.Value) bool { return v == nil })
}
