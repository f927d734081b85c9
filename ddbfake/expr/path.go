package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// path is a document path: a.b[0].#n.
type path struct{ steps []step }

// step is one element of a path: a name, a "#name" to be resolved, or a list
// index.
type step struct {
	name  string // "" for an index
	index int
	digit string // the index as written
}

func (s step) isIndex() bool { return s.name == "" }
func (s step) isAlias() bool { return s.name != "" && s.name[0] == '#' }

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

// attribute returns the name that a step stands for; false if it is an alias
// that Args do not define.
func (s step) attribute(args Args) (string, bool) {
	if !s.isAlias() {
		return s.name, true
	}
	name, ok := args.Names[s.name]
	return name, ok
}

// resolve replaces the aliases. A resolved name is never read as an alias
// again, whatever it begins with.
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

// value walks the path; a path that leads nowhere has no value.
func (p *path) value(item attr.Item, args Args) (attr.Value, error) {
	name, ok := p.steps[0].attribute(args)
	if !ok {
		return nil, undefinedName("", p.steps[0].name)
	}
	v := item[name]
	for _, s := range p.steps[1:] {
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

// pathText prints a resolved path as the service's messages do: [a, [0], b].
func pathText(p []element) string {
	parts := make([]string, len(p))
	for i, e := range p {
		parts[i] = e.name
		if e.isIndex {
			parts[i] = "[" + strconv.Itoa(e.index) + "]"
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// resolveAll resolves the paths of one expression, which may not clash. The
// service goes through them from the last to the first.
func resolveAll(l language, paths []*path, args Args) ([][]element, error) {
	out := make([][]element, len(paths))
	for i, p := range slices.Backward(paths) {
		resolved, err := p.resolve(l, args)
		if err != nil {
			return nil, err
		}
		for _, later := range out[i+1:] {
			if err := clash(l, resolved, later); err != nil {
				return nil, err
			}
		}
		out[i] = resolved
	}
	return out, nil
}

// clash reports two paths of one expression of which one contains the other,
// or which take one value for a map and for a list.
func clash(l language, one, two []element) error {
	for i := range min(len(one), len(two)) {
		if one[i].isIndex != two[i].isIndex {
			return l.errorf("Two document paths conflict with each other; must remove or rewrite one of these paths; path one: %s, path two: %s", pathText(one), pathText(two))
		}
		if one[i] != two[i] {
			return nil
		}
	}
	return l.errorf("Two document paths overlap with each other; must remove or rewrite one of these paths; path one: %s, path two: %s", pathText(one), pathText(two))
}
