package expr

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

// path is a document path: a.b[0].#n.
type path struct{ steps []step }

// step is one element of a path: a name, a "#name" to be resolved, or a list index.
type step struct {
	name  string // "" for an index
	index int
	digit string // the index as written
}

func (s *step) isIndex() bool { return s.name == "" }
func (s *step) isAlias() bool { return s.name != "" && s.name[0] == '#' }

func (p *path) print(b *strings.Builder) {
	for i, s := range p.steps {
		switch {
		case s.isIndex():
			b.WriteString("[" + s.digit + "]")
		case i > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
}

// attribute returns the name of a step; false if the step is an alias that Args do not define.
func (s *step) attribute(args Args) (string, bool) {
	if !s.isAlias() {
		return s.name, true
	}
	return args.name(s.name)
}

// is reports whether two steps are the same after resolving aliases. A resolved name is never taken for an alias, even
// if it begins with "#".
func (s *step) is(o *step, args Args) bool {
	if s.isIndex() || o.isIndex() {
		return s.isIndex() == o.isIndex() && s.index == o.index
	}
	one, _ := s.attribute(args)
	two, _ := o.attribute(args)
	return one == two
}

// agrees returns the number of steps that two paths have in common from the start.
func (p *path) agrees(q *path, args Args) int {
	n := min(len(p.steps), len(q.steps))
	for i := range n {
		if !p.steps[i].is(&q.steps[i], args) {
			return i
		}
	}
	return n
}

// resolve replaces the aliases of a path.
func (p *path) resolve(l language, args Args) ([]element, error) {
	out := make([]element, len(p.steps))
	for i, s := range p.steps {
		name, ok := s.attribute(args)
		if !ok {
			return nil, undefinedName(l, s.name)
		}
		out[i] = element{name: name, index: s.index, isIndex: s.isIndex()}
	}
	return out, nil
}

func undefinedName(l language, key string) error {
	return l.errorf("An expression attribute name used in the document path is not defined; attribute name: %s", key)
}

func undefinedValue(l language, key string) error {
	return l.errorf("An expression attribute value used in expression is not defined; attribute value: %s", key)
}

// value returns the value at the path, or nil if the path leads nowhere.
func (p *path) value(item packed.Attributes, args Args) (attr.Value, error) {
	name, ok := p.steps[0].attribute(args)
	if !ok {
		return nil, undefinedName("", p.steps[0].name)
	}
	v := item.Get(name)
	for i := range p.steps[1:] {
		s := &p.steps[1+i]
		if s.isIndex() {
			list, _ := v.(attr.L)
			if s.index >= len(list) {
				return nil, nil
			}
			v = list[s.index]
			continue
		}
		name, ok := s.attribute(args)
		if !ok {
			return nil, undefinedName("", s.name)
		}
		m, _ := v.(attr.M)
		v = m[name]
	}
	return v, nil
}

// element is a step of a path without aliases.
type element struct {
	name    string
	index   int
	isIndex bool
}

// text prints a path as the service's messages do: [a, [0], b].
func (p *path) text(args Args) string {
	parts := make([]string, len(p.steps))
	for i, s := range p.steps {
		parts[i], _ = s.attribute(args)
		if s.isIndex() {
			parts[i] = "[" + strconv.Itoa(s.index) + "]"
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// checkAll checks the paths of one expression, which must not clash. The service goes through them from last to first.
func checkAll(c checker, paths []*path) error {
	for i, p := range slices.Backward(paths) {
		if err := p.check(c); err != nil {
			return err
		}
		for _, later := range paths[i+1:] {
			if err := clash(c, p, later); err != nil {
				return err
			}
		}
	}
	return nil
}

// clash refuses two paths of one expression if one contains the other, or if one treats a value as a map and the other
// as a list.
func clash(c checker, one, two *path) error {
	i := one.agrees(two, c.args)
	switch {
	case i == min(len(one.steps), len(two.steps)):
		return c.lang.errorf("Two document paths overlap with each other; must remove or rewrite one of these "+
			"paths; path one: %s, path two: %s", one.text(c.args), two.text(c.args))
	case one.steps[i].isIndex() != two.steps[i].isIndex():
		return c.lang.errorf("Two document paths conflict with each other; must remove or rewrite one of these "+
			"paths; path one: %s, path two: %s", one.text(c.args), two.text(c.args))
	}
	return nil
}

// treeOf merges the paths of an expression, which have passed checkAll. result returns the value at the end of path i.
func treeOf(l language, paths []*path, args Args, result func(i int) attr.Value) (*tree, error) {
	t := &tree{}
	for i, p := range paths {
		resolved, err := p.resolve(l, args)
		if err != nil {
			return nil, err
		}
		t.insert(resolved, result(i))
	}
	return t, nil
}

// noResult is the result of expressions that only read their paths.
func noResult(int) attr.Value { return nil }

// Projection is a parsed ProjectionExpression.
type Projection struct {
	paths []*path
	uses
	nested nested
	// columns means that each path becomes an attribute of the result.
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
	out.uses = usesOf(src)
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

// Apply cuts an item down to those of the paths that it has. List elements keep their order and close gaps. For a
// missing item (nil), the result is nil. The result shares values with the item.
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

// tree merges the paths of an expression. They have passed clash, so a node is either the end of one path, or has only
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

// project cuts a value down to the paths. Lists keep the order of the elements and close the gaps. An empty result is
// nil.
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

// apply returns the value after an update; nil if the update removes it. Parts outside the paths are shared with the
// old value. The paths exist: the evaluation of the actions has checked that.
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

// cloneMap is like maps.Clone, which copies a small map as one block of memory, but never returns nil.
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

// applyList takes every index as one of the old list. Elements set past the end are appended, in the order of their
// indexes. Removals close gaps last.
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
