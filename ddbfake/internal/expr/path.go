package expr

import (
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

// attribute returns the name that a step stands for; false if it is an alias that Args do not define.
func (s *step) attribute(args Args) (string, bool) {
	if !s.isAlias() {
		return s.name, true
	}
	return args.name(s.name)
}

// is reports whether two steps of paths are the same once their aliases are resolved. A resolved name is never read as
// an alias again, even if it begins with "#".
func (s *step) is(o *step, args Args) bool {
	if s.isIndex() || o.isIndex() {
		return s.isIndex() == o.isIndex() && s.index == o.index
	}
	one, _ := s.attribute(args)
	two, _ := o.attribute(args)
	return one == two
}

// agrees counts the steps that two paths have in common from the start.
func (p *path) agrees(q *path, args Args) int {
	n := min(len(p.steps), len(q.steps))
	for i := range n {
		if !p.steps[i].is(&q.steps[i], args) {
			return i
		}
	}
	return n
}

// resolve replaces the aliases.
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

// value walks the path, and returns nil if it leads nowhere.
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

// element is a step of a path whose aliases are resolved.
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

// checkAll checks the paths of one expression. They must not clash. The service goes through them from the last to the
// first.
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
// treats it as a list.
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

// treeOf merges the paths of an expression, which have passed checkAll. result returns the value for the end of each
// path.
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

// noResult is for expressions that only read their paths.
func noResult(int) attr.Value { return nil }
