package expr

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

// Bindings are names and values in lists. Nearly every request has few of them, and then lists cost less than maps. A
// caller that makes [Args] for one request after another reuses the same Bindings: values that are the same as in the
// previous request are not converted again. The zero value is empty.
type Bindings struct {
	names  []boundName
	values []boundValue
	// passed are the expressions that have passed Check with these names, and with values of these types.
	passed []Expression
}

type (
	boundName struct{ key, name string }

	boundValue struct {
		key       string
		value     attr.Value
		sizeBytes int
	}
)

// maxBindings is the maximum number of names, and of values.
const maxBindings = 8

// Bind takes the names and values of the next request; both may be nil. It reports whether it could: they must be few,
// and pass [Args.Validate], and no value may be refused.
func (b *Bindings) Bind(names map[string]string, values map[string]types.AttributeValue) bool {
	return b.bindNames(names) && b.bindValues(values)
}

func (b *Bindings) bindNames(names map[string]string) bool {
	if len(names) == len(b.names) && b.sameNames(names) {
		return names == nil || len(names) > 0
	}
	b.names, b.passed = b.names[:0], b.passed[:0]
	if len(names) > maxBindings {
		return false
	}
	//isrsim:unordered they are found by key
	for key, name := range names {
		if name == "" || len(name) > MaxNameBytes || !plainKey(key, '#') {
			return false
		}
		b.names = append(b.names, boundName{key, name})
	}
	return names == nil || len(names) > 0
}

func (b *Bindings) sameNames(names map[string]string) bool {
	for i := range b.names {
		if name, ok := names[b.names[i].key]; !ok || name != b.names[i].name {
			return false
		}
	}
	return true
}

func (b *Bindings) bindValues(values map[string]types.AttributeValue) bool {
	if len(values) == len(b.values) && b.sameKeys(values) {
		return values == nil || len(values) > 0
	}
	b.values, b.passed = b.values[:0], b.passed[:0]
	if len(values) > maxBindings {
		return false
	}
	//isrsim:unordered they are found by key
	for key, v := range values {
		value, err := attr.FromSDK(v)
		if err != nil || !plainKey(key, ':') {
			return false
		}
		b.values = append(b.values, boundValue{key, value, attr.Size(value)})
	}
	return values == nil || len(values) > 0
}

// sameKeys takes the values if their keys are those of the previous request.
func (b *Bindings) sameKeys(values map[string]types.AttributeValue) bool {
	for i := range b.values {
		bound := &b.values[i]
		v, ok := values[bound.key]
		if !ok {
			return false
		}
		value, same, err := packed.ValueFromSDK(v, bound.value)
		if err != nil {
			return false
		}
		if same {
			continue
		}
		if attr.KindOf(value) != attr.KindOf(bound.value) {
			b.passed = b.passed[:0]
		}
		bound.value, bound.sizeBytes = value, attr.Size(value)
	}
	return true
}

// plainKey reports whether a key is short and has only letters, digits and underscores after the sigil.
func plainKey(key string, sigil byte) bool {
	const short = 64
	if len(key) < 2 || len(key) > short || key[0] != sigil {
		return false
	}
	for i := 1; i < len(key); i++ {
		if c := key[i]; !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_') {
			return false
		}
	}
	return true
}

func (a *Args) name(key string) (string, bool) {
	if a.Bound == nil {
		name, ok := a.Names[key]
		return name, ok
	}
	for i := range a.Bound.names {
		if a.Bound.names[i].key == key {
			return a.Bound.names[i].name, true
		}
	}
	return "", false
}

// value returns the value for a key ":v".
func (a *Args) value(key string) (attr.Value, bool) {
	if a.Bound == nil {
		v, ok := a.Values[key]
		return v, ok
	}
	for i := range a.Bound.values {
		if a.Bound.values[i].key == key {
			return a.Bound.values[i].value, true
		}
	}
	return nil, false
}

// Len returns the number of names and the number of values.
func (a *Args) Len() (names, values int) {
	if a.Bound == nil {
		return len(a.Names), len(a.Values)
	}
	return len(a.Bound.names), len(a.Bound.values)
}

// Size returns the bytes that DynamoDB counts for the values.
func (a *Args) Size() int {
	n := 0
	//isrsim:unordered a sum has no order
	for _, v := range a.Values {
		n += attr.Size(v)
	}
	if a.Bound != nil {
		for i := range a.Bound.values {
			n += a.Bound.values[i].sizeBytes
		}
	}
	return n
}

// unbound returns equal Args with maps.
func (a Args) unbound() Args {
	if a.Bound == nil {
		return a
	}
	maps := Args{Names: map[string]string{}, Values: map[string]attr.Value{}}
	for _, n := range a.Bound.names {
		maps.Names[n.key] = n.name
	}
	for _, v := range a.Bound.values {
		maps.Values[v.key] = v.value
	}
	return maps
}

// uses are the names and values that an expression mentions.
type uses struct {
	names, values []string
	content       bool // Check may look into a value
}

// Names returns the "#a" in the expression.
func (u *uses) Names() []string { return u.names }

// Values returns the ":v" in the expression.
func (u *uses) Values() []string { return u.values }

func (u *uses) judgesTypes() bool { return !u.content }

func usesOf(src string) (u uses) {
	l := lexer{src: src}
	for t := l.next(); t.kind != tokEOF; t = l.next() {
		switch t.kind {
		case tokName:
			u.names = appendOnce(u.names, t.text)
		case tokValue:
			u.values = appendOnce(u.values, t.text)
		case tokBetween, tokIdent: // the bounds of BETWEEN, and the name of a type
			u.content = u.content || t.kind == tokBetween || t.text == "attribute_type"
		}
	}
	return u
}

func appendOnce(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// names collects the top-level attributes in nodes.
type names []string

func (out *names) path(p *path, args Args) {
	if name, ok := p.steps[0].attribute(args); ok {
		*out = appendOnce(*out, name)
	}
}

func (out *names) node(n node, args Args) { eachPath(n, func(p *path) { out.path(p, args) }) }

// nested collects the first step of each path that leads into an attribute.
type nested []step

func (out *nested) node(n node) {
	eachPath(n, func(p *path) {
		if len(p.steps) > 1 {
			*out = append(*out, p.steps[0])
		}
	})
}

// attributes returns the names of the attributes that the paths lead into, without repetitions.
func (out nested) attributes(args Args) (all []string) {
	for _, s := range out {
		if name, ok := s.attribute(args); ok {
			all = appendOnce(all, name)
		}
	}
	return all
}

// eachPath calls f with the paths below a node, in order of occurrence.
func eachPath(n node, f func(*path)) {
	switch n := n.(type) {
	case *path:
		f(n)
	case *call:
		for _, x := range n.args {
			eachPath(x, f)
		}
	case *arithmetic:
		eachPath(n.left, f)
		eachPath(n.right, f)
	case *comparison:
		eachPath(n.left, f)
		eachPath(n.right, f)
	case *between:
		eachPath(n.x, f)
		eachPath(n.low, f)
		eachPath(n.high, f)
	case *in:
		eachPath(n.x, f)
		for _, x := range n.list {
			eachPath(x, f)
		}
	case *logic:
		eachPath(n.left, f)
		eachPath(n.right, f)
	case *not:
		eachPath(n.x, f)
	}
}
