package expr

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// FuzzUpdate draws a row and an update and compares Check and Apply with a model that does one action after the other
// on a copy. In every case the old row does not change, a second Apply gives the same result, and the result is a valid
// row, such as a put could have written.
//
// Each of these bugs is caught within a minute when it is planted: the old row or one of its lists is written in place,
// an operand sees what another action has written, elements are appended in the order of the actions, ADD leaves
// duplicates, DELETE leaves an empty set, one level too many is allowed, one path treats a value as a map and another
// treats it as a list.
func FuzzUpdate(f *testing.F) {
	seedBytes(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		d := newDraw(data)
		u := d.update()
		src := u.text()
		parsed, err := ParseUpdate(src)
		if err != nil {
			if len(src) <= maxExpressionBytes {
				t.Fatalf("%s: %v", src, err)
			}
			return
		}
		if err := parsed.Check(d.args); (err != nil) != u.refused() {
			t.Fatalf("%s with %v: Check says %v, want an error: %t", src, d.args.Values, err, u.refused())
		} else if err != nil {
			return
		}
		if err := Unused(d.args, parsed); err != nil {
			t.Errorf("%s: %v", src, err)
		}

		before := d.item.String()
		got, err := parsed.Apply(d.item, d.args)
		want, errs := u.apply(d.item)
		if d.item.String() != before {
			t.Fatalf("%s changed the old row\nfrom %s\nto   %s", src, before, d.item)
		}
		switch {
		case err != nil && !slices.ContainsFunc(errs, func(e error) bool { return e.Error() == err.Error() }):
			t.Fatalf("%s with %v on %s: got error %v, want one of %v", src, d.args.Values, before, err, errs)
		case err == nil && len(errs) > 0:
			t.Fatalf("%s with %v on %s: got %s, want one of the errors %v", src, d.args.Values, before, got, errs)
		case err != nil:
			return
		case got == nil || !got.Equal(want):
			t.Fatalf("%s with %v on %s:\ngot  %s\nwant %s", src, d.args.Values, before, got, want)
		}
		if again, err := parsed.Apply(d.item, d.args); err != nil || again.String() != got.String() {
			t.Errorf("%s on %s a second time: %s, %v; want %s", src, before, again, err, got)
		}
		if stored, err := attr.ItemFromSDK(got.ToSDK()); err != nil || !stored.Equal(got) || stored.Size() != got.Size() {
			t.Errorf("%s on %s: %s is no row: %v", src, before, got, err)
		}
		fuzzTouched(t, u, parsed, got, d.args)
	})
}

// fuzzTouched asserts the properties on which UPDATED_NEW and the check of key attributes rely.
func fuzzTouched(t *testing.T, u drawnUpdate, parsed *Update, got attr.Item, args Args) {
	var written []string
	createsNothing, anything := true, false
	for _, a := range u {
		name, _ := a.target[0].(string)
		if !slices.Contains(written, name) {
			written = append(written, name)
		}
		createsNothing = createsNothing && (a.op == "REMOVE" || a.op == "DELETE")
		anything = anything || a.target.at(got) != nil
	}
	if attributes := parsed.Attributes(args); !slices.Equal(attributes, written) || parsed.CreatesNothing() != createsNothing {
		t.Errorf("%s writes %v, only removes: %t; want %v, %t", parsed, attributes, parsed.CreatesNothing(), written, createsNothing)
	}
	if touched := parsed.Touched(got, args); (touched != nil) != anything {
		t.Errorf("%s touched %s of %s, want anything: %t", parsed, touched, got, anything)
	}
}

// drawnUpdate is an update and its evaluation by the model.
type drawnUpdate []drawnAction

type drawnAction struct {
	op      string
	target  drawnPath
	source  string
	operand drawnOperand
	refused bool
}

// drawnOperand is an operand of an update: its text, its value in a row, and its mistakes there.
type drawnOperand struct {
	source   string
	path     drawnPath  // nil if it is none
	constant attr.Value // nil if it is none
	refused  bool       // whatever the row is
	value    func(attr.Item) (attr.Value, []error)
}

func (d *draw) update() drawnUpdate {
	var u drawnUpdate
	for _, op := range []string{"SET", "REMOVE", "ADD", "DELETE"} {
		for range d.below(4) {
			a := drawnAction{op: op}
			a.target, a.source = d.path()
			switch op {
			case "SET":
				a.operand = d.setValue()
				a.source += " = " + a.operand.source
				a.refused = a.operand.refused
			case "ADD", "DELETE":
				a.operand = d.constantLike(a.target.at(d.item))
				a.source += " " + a.operand.source
				kind := attr.KindOf(a.operand.constant)
				a.refused = !IsSet(kind) && (op == "DELETE" || kind != "N")
			}
			u = append(u, a)
		}
	}
	if u == nil {
		u = drawnUpdate{{op: "REMOVE", target: drawnPath{"a"}, source: "a"}}
	}
	return u
}

func (u drawnUpdate) text() string {
	var b strings.Builder
	for i, a := range u {
		switch {
		case i == 0 || a.op != u[i-1].op:
			b.WriteString(" " + a.op + " ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(a.source)
	}
	return b.String()
}

func (u drawnUpdate) refused() bool {
	for i, a := range u {
		if a.refused || slices.ContainsFunc(u[:i], func(b drawnAction) bool { return a.target.overlaps(b.target) }) {
			return true
		}
	}
	return false
}

func (d *draw) setValue() drawnOperand {
	switch d.below(5) {
	case 0, 1:
		return d.operand(3)
	case 2:
		left, right := d.operand(2), d.operand(2)
		return drawnOperand{
			source:  "list_append(" + left.source + ", " + right.source + ")",
			refused: left.refused || right.refused || left.isNo("L") || right.isNo("L"),
			value: func(item attr.Item) (attr.Value, []error) {
				x, y, errs := both(left, right, item)
				list, ok := x.(attr.L)
				more, also := y.(attr.L)
				if x != nil && !ok || y != nil && !also {
					errs = append(errs, errOperandType)
				}
				return slices.Concat(attr.L{}, list, more), errs
			},
		}
	}
	left, right := d.operand(2), d.operand(2)
	op := pick(d, " + ", " - ")
	return drawnOperand{
		source:  left.source + op + right.source,
		refused: left.refused || right.refused || left.isNo("N") || right.isNo("N"),
		value: func(item attr.Item) (attr.Value, []error) {
			x, y, errs := both(left, right, item)
			a, ok := x.(attr.N)
			b, also := y.(attr.N)
			if x != nil && !ok || y != nil && !also {
				errs = append(errs, errOperandType)
			}
			added := b.Number
			if op == " - " {
				added = added.Neg()
			}
			n, err := a.Add(added)
			if err != nil {
				errs = append(errs, err)
			}
			return attr.N{Number: n}, errs
		},
	}
}

// isNo reports whether an operand is known not to be of a type.
func (x drawnOperand) isNo(k attr.Kind) bool {
	return x.constant != nil && attr.KindOf(x.constant) != k
}

func both(left, right drawnOperand, item attr.Item) (x, y attr.Value, errs []error) {
	x, errs = left.value(item)
	y, more := right.value(item)
	errs = append(errs, more...)
	if x == nil || y == nil {
		errs = append(errs, errNoOperand)
	}
	return x, y, errs
}

// operand draws an operand that may stand anywhere, with at most that many levels of if_not_exists.
func (d *draw) operand(levels int) drawnOperand {
	switch d.below(4) {
	case 0:
		return d.constantOperand()
	case 1:
		if levels > 0 {
			return d.ifNotExists(levels)
		}
	}
	p, text := d.path()
	return drawnOperand{source: text, path: p, value: func(item attr.Item) (attr.Value, []error) { return p.at(item), nil }}
}

// constantLike draws a value. If ADD or DELETE could change old, it mostly draws old itself.
func (d *draw) constantLike(old attr.Value) drawnOperand {
	if old == nil || !IsSet(attr.KindOf(old)) && attr.KindOf(old) != "N" || d.below(3) == 0 {
		return d.constantOperand()
	}
	return constantOperand(old, d.define(old))
}

func (d *draw) constantOperand() drawnOperand { return constantOperand(d.placeholder()) }

func constantOperand(v attr.Value, key string) drawnOperand {
	return drawnOperand{source: key, constant: v, value: func(attr.Item) (attr.Value, []error) { return v, nil }}
}

func (d *draw) ifNotExists(levels int) drawnOperand {
	p, text := d.path()
	other := d.operand(levels - 1)
	return drawnOperand{
		source:  "if_not_exists(" + text + ", " + other.source + ")",
		refused: other.refused || slices.Equal(p, other.path),
		value: func(item attr.Item) (attr.Value, []error) {
			y, errs := other.value(item)
			if y == nil {
				errs = append(errs, errNoOperand)
			}
			if x := p.at(item); x != nil {
				return x, errs
			}
			return y, errs
		},
	}
}

// apply does every action on a copy, with the values of the old row. Elements are appended in the order of their
// indexes, and those that are removed keep their places until all is done.
func (u drawnUpdate) apply(old attr.Item) (attr.Item, []error) {
	var errs []error
	results := make([]attr.Value, len(u))
	for i, a := range u {
		v, failed := a.result(old)
		results[i], errs = v, append(errs, failed...)
	}
	if errs != nil {
		return nil, errs
	}
	byIndex := make([]int, len(u))
	for i := range byIndex {
		byIndex[i] = i
	}
	last := func(i int) int { n, _ := u[i].target[len(u[i].target)-1].(int); return n }
	slices.SortStableFunc(byIndex, func(i, j int) int { return cmp.Compare(last(i), last(j)) })
	row := thaw(attr.M(old))
	for _, i := range byIndex {
		row.set(u[i].target, results[i])
	}
	m, _ := row.freeze().(attr.M)
	return attr.Item(m), nil
}

// result is the value that the target gets, nil to remove it.
func (a drawnAction) result(old attr.Item) (v attr.Value, errs []error) {
	if a.operand.value != nil {
		if v, errs = a.operand.value(old); v == nil {
			errs = append(errs, errNoOperand)
		}
	}
	for i := range a.target {
		holder := a.target[:i].at(old)
		_, isMap := holder.(attr.M)
		_, isList := holder.(attr.L)
		if _, name := a.target[i].(string); name && !isMap || !name && !isList {
			errs = append(errs, errInvalidPath)
		}
	}
	before := a.target.at(old)
	if before != nil && (a.op == "ADD" || a.op == "DELETE") && attr.KindOf(before) != attr.KindOf(v) {
		return nil, append(errs, errOperandType)
	}
	switch a.op {
	case "ADD":
		if n, ok := before.(attr.N); ok {
			by, _ := v.(attr.N)
			sum, err := n.Add(by.Number)
			if err != nil {
				errs = append(errs, err)
			}
			v = attr.N{Number: sum}
		} else if before != nil {
			elements := elementsOf(before)
			maps.Copy(elements, elementsOf(v))
			v = setOf(attr.KindOf(v), elements)
		}
	case "DELETE":
		elements := elementsOf(before)
		for key := range elementsOf(v) {
			delete(elements, key)
		}
		v = setOf(attr.KindOf(v), elements)
	}
	if len(a.target)-1+depth(v) > attr.MaxDepth {
		errs = append(errs, errNestedTooFar)
	}
	return v, errs
}

// elementsOf takes a set apart, keyed by the text of each element.
func elementsOf(set attr.Value) map[string]attr.Value {
	out := map[string]attr.Value{}
	add := func(v attr.Value) { out[v.String()] = v }
	switch set := set.(type) {
	case attr.SS:
		for _, e := range set {
			add(attr.S(e))
		}
	case attr.NS:
		for _, e := range set {
			add(attr.N{Number: e})
		}
	case attr.BS:
		for _, e := range set {
			add(attr.B(e))
		}
	}
	return out
}

func setOf(k attr.Kind, elements map[string]attr.Value) attr.Value {
	var ss attr.SS
	var ns attr.NS
	var bs attr.BS
	for _, key := range slices.Sorted(maps.Keys(elements)) {
		switch e := elements[key].(type) {
		case attr.S:
			ss = append(ss, string(e))
		case attr.N:
			ns = append(ns, e.Number)
		case attr.B:
			bs = append(bs, e)
		}
	}
	switch {
	case len(elements) == 0:
		return nil
	case k == "SS":
		return ss
	case k == "NS":
		return ns
	}
	return bs
}

// box is a value that can be written to.
type box struct {
	value attr.Value // nil once it is removed; for a map or list, the value at the beginning
	m     map[string]*box
	l     []*box
}

func thaw(v attr.Value) *box {
	b := &box{value: v}
	switch v := v.(type) {
	case attr.M:
		b.m = map[string]*box{}
		for name, e := range v {
			b.m[name] = thaw(e)
		}
	case attr.L:
		b.l = []*box{}
		for _, e := range v {
			b.l = append(b.l, thaw(e))
		}
	}
	return b
}

func (b *box) set(p drawnPath, v attr.Value) {
	for _, step := range p[:len(p)-1] {
		if name, ok := step.(string); ok {
			b = b.m[name]
		} else if i, ok := step.(int); ok {
			b = b.l[i]
		}
	}
	switch step := p[len(p)-1].(type) {
	case string:
		b.m[step] = thaw(v)
	case int:
		if step < len(b.l) {
			b.l[step] = thaw(v)
		} else {
			b.l = append(b.l, thaw(v))
		}
	}
}

func (b *box) freeze() attr.Value {
	switch {
	case b.m != nil:
		m := attr.M{}
		for name, e := range b.m {
			if v := e.freeze(); v != nil {
				m[name] = v
			}
		}
		return m
	case b.l != nil:
		list := attr.L{}
		for _, e := range b.l {
			if v := e.freeze(); v != nil {
				list = append(list, v)
			}
		}
		return list
	}
	return b.value
}
