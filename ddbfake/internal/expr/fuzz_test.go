package expr

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// checkRoundTrip prints an expression and parses the result: the nodes must be the same.
func checkRoundTrip(t *testing.T, parameter string, e Expression) {
	t.Helper()
	printed := e.String()
	if len(printed) > maxExpressionBytes {
		return // the printed form of the longest source can be a little too long
	}
	again, err := parsers[parameter](printed)
	if err != nil {
		t.Errorf("%q does not parse back: %v", printed, err)
		return
	}
	opts := cmp.Options{
		cmp.AllowUnexported(Condition{}, Update{}, Projection{}, KeyCondition{}, uses{}, action{}, path{}, step{},
			placeholder{}, call{}, comparison{}, between{}, in{}, logic{}, not{}, arithmetic{}),
		cmpopts.IgnoreTypes((*function)(nil)),
	}
	if diff := cmp.Diff(e, again, opts); diff != "" {
		t.Errorf("%q parses back to other nodes (-want +got):\n%s", printed, diff)
	}
}

func seed(f *testing.F, sources ...string) {
	for _, s := range sources {
		f.Add(s)
	}
	for _, s := range []string{"", " ", "a", "((a))", "a.b[0].#n", "size(size(a)) = :n", "NOT", "é", "\x00", ":n :n", "a = :n AND b.c <> :s OR NOT d IN (:n, e)"} {
		f.Add(s)
	}
}

// fuzz asserts for every language: nothing panics, an expression that parses can be printed and parsed back, and
// evaluation leaves the item alone. The seeds catch each of these bugs when it is planted: groups of NOT and OR print
// without parentheses, a section prints without its space, an index prints as another one, begins_with binds the
// partition.
func fuzz(f *testing.F, parameter string, evaluate func(*testing.T, Expression, attr.Item, Args)) {
	item := attr.Item{
		"a": attr.Int(1), "b": attr.M{"c": attr.L{attr.S("x"), attr.M{"d": attr.Int(2)}}},
		"d": attr.SS{"a", "c"}, "e": attr.L{attr.Int(1), attr.Int(2)}, "f": attr.S("abc"),
	}
	before := item.String()
	f.Fuzz(func(t *testing.T, src string) {
		e, err := parsers[parameter](src)
		if err != nil {
			return
		}
		checkRoundTrip(t, parameter, e)
		for _, names := range []map[string]string{nil, {"#n": "a", "#m": "b"}} {
			given := args(e, names)
			checked := e.Check(given)
			evaluate(t, e, item, given)
			if checked == nil {
				evaluate(t, e, nil, given)
			}
		}
		if item.String() != before {
			t.Errorf("%q changed the item", src)
		}
	})
}

func FuzzParseCondition(f *testing.F) {
	seed(f, "attribute_not_exists(pk) OR lease_expires_at <= :now", "a BETWEEN :n AND :m", "contains(d, :s) AND begins_with(f, :s)", "attribute_type(e, :type)", "a = b AND (#n <> #m)", "NOT (a = b AND d = :n)", "a = b OR (d = :n OR e = :n)")
	fuzz(f, "ConditionExpression", func(_ *testing.T, e Expression, item attr.Item, args Args) {
		c := e.(*Condition)
		c.Eval(item, args)
		c.Attributes(args)
	})
}

func FuzzParseUpdate(f *testing.F) {
	seed(f, "SET a = a + :n, b.c[1].d = :s REMOVE e[0] ADD g :n DELETE d :ss", "SET e[9] = :n, e[0] = e[1]", "SET f = if_not_exists(g, f)", "SET e = list_append(e, :l)", "SET b.c[0] = :o")
	fuzz(f, "UpdateExpression", func(t *testing.T, e Expression, item attr.Item, args Args) {
		u := e.(*Update)
		if updated, err := u.Apply(item, args); err == nil {
			if updated == nil {
				t.Errorf("%s: no item and no error", u)
			}
			u.Touched(updated, args)
		}
	})
}

func FuzzParseProjection(f *testing.F) {
	seed(f, "a, b.c[1].d, e[1], e[0], #n", "b.c, b", "a.b, a[0]")
	fuzz(f, "ProjectionExpression", func(t *testing.T, e Expression, item attr.Item, args Args) {
		e.(*Projection).Apply(item, args)
	})
}

func FuzzParseKeyCondition(f *testing.F) {
	seed(f, "pk = :s AND sk BETWEEN :s AND :r", "begins_with(sk, :s) AND :s = pk", "pk = :s AND sk < :r", "begins_with(pk, :s) AND sk = :s")
	fuzz(f, "KeyConditionExpression", func(t *testing.T, e Expression, _ attr.Item, args Args) {
		b, err := e.(*KeyCondition).Bind(args, Key{"pk", "S"}, Key{"sk", "S"})
		if err == nil && b.Hash == nil {
			t.Errorf("%s: bound to no partition", e)
		}
	})
}

// draw makes rows, values and expressions out of a fuzzer's bytes. There are few names and few values, so that paths
// lead somewhere and values are equal often enough.
type draw struct {
	data []byte
	item attr.Item // most drawn paths follow it
	args Args
}

// newDraw draws a row first. Nil is a missing row.
func newDraw(data []byte) *draw {
	d := &draw{data: data, args: Args{Names: map[string]string{}, Values: map[string]attr.Value{}}}
	if d.below(8) == 7 {
		return d
	}
	d.item = attr.Item{}
	for _, name := range []string{"a", "b", "c", "x.y"} {
		if d.below(4) > 0 {
			d.item[name] = d.value(3)
		}
	}
	return d
}

// below draws from 0 to n-1; 0 when the bytes are used up, so that everything drawn ends.
func (d *draw) below(n int) int {
	if len(d.data) == 0 {
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return int(b) % n
}

func pick[E any](d *draw, from ...E) E { return from[d.below(len(from))] }

func (d *draw) name() string { return pick(d, "a", "b", "c", "x.y", "e") }

func (d *draw) text() string { return pick(d, "", "a", "ab", "b", "é", "😀", "N", "\x00") }

func (d *draw) number() attr.Number {
	text := pick(d, "0", "1", "-1", "2", "1.5", "1E-130", "-9.9E+125", "12345678901234567890123456789012345678", "9223372036854775807", "9E125", "0.1")
	n, err := attr.ParseNumber(text)
	if err != nil {
		panic(err)
	}
	return n
}

// value draws a value with at most the given number of levels or, seldom, a value with as many levels as are allowed.
func (d *draw) value(levels int) attr.Value {
	switch kind := d.below(13); {
	case kind == 0:
		return attr.S(d.text())
	case kind == 1:
		return attr.N{Number: d.number()}
	case kind == 2:
		return attr.B(d.text())
	case kind == 3:
		return attr.BOOL(d.below(2) == 0)
	case kind == 4:
		return attr.NULL{}
	case kind == 5:
		return attr.SS(distinctOf(d, d.text))
	case kind == 6:
		return attr.NS(distinctOf(d, d.number))
	case kind == 7:
		var set attr.BS
		for _, s := range distinctOf(d, d.text) {
			set = append(set, []byte(s))
		}
		return set
	case kind == 8 && levels == 3:
		v := attr.Value(attr.S("deep"))
		for range attr.MaxDepth - 1 - d.below(3) {
			v = attr.L{v}
		}
		return v
	case levels <= 1:
		return attr.Int(int64(d.below(256)))
	case kind%2 == 0:
		list := attr.L{}
		for range d.below(4) {
			list = append(list, d.value(levels-1))
		}
		return list
	}
	m := attr.M{}
	for range d.below(4) {
		m[d.name()] = d.value(levels - 1)
	}
	return m
}

// distinctOf draws the elements of a set: sorted, not empty.
func distinctOf[E string | attr.Number](d *draw, element func() E) []E {
	out := []E{element()}
	for range d.below(4) {
		if e := element(); !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b E) int { order, _ := attr.Compare(scalar(a), scalar(b)); return order })
	return out
}

func scalar(v any) attr.Value {
	if n, ok := v.(attr.Number); ok {
		return attr.N{Number: n}
	}
	s, _ := v.(string)
	return attr.S(s)
}

// drawnPath is a path with its aliases resolved: names and indexes.
type drawnPath []any

// at walks the path in the simplest way; nil if it leads nowhere.
func (p drawnPath) at(item attr.Item) attr.Value {
	v := attr.Value(attr.M(item))
	for _, step := range p {
		switch step := step.(type) {
		case string:
			m, _ := v.(attr.M)
			v = m[step]
		case int:
			list, _ := v.(attr.L)
			if step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

// overlaps reports whether one path contains the other, or one path treats a value as a map and the other treats it as
// a list.
func (p drawnPath) overlaps(q drawnPath) bool {
	for i := range min(len(p), len(q)) {
		_, name := p[i].(string)
		_, also := q[i].(string)
		if name != also {
			return true
		}
		if p[i] != q[i] {
			return false
		}
	}
	return true
}

// path draws a path, with its text. It mostly follows the row.
func (d *draw) path() (drawnPath, string) {
	p := drawnPath{d.name()}
	for d.below(3) > 0 && len(p) < maxPathElements {
		switch v := p.at(d.item).(type) {
		case attr.L:
			p = append(p, d.below(len(v)+2))
		case attr.M:
			p = append(p, d.name())
		default:
			p = append(p, pick[any](d, 0, "a", 1, "b"))
		}
		if _, ok := p.at(d.item).(attr.L); ok && d.below(8) == 7 { // to the depths
			for len(p) < maxPathElements-1 {
				p = append(p, 0)
			}
		}
	}
	var text strings.Builder
	for i, step := range p {
		switch step := step.(type) {
		case int:
			text.WriteString("[" + strconv.Itoa(step) + "]")
		case string:
			if i > 0 {
				text.WriteByte('.')
			}
			alias := "#" + strings.ReplaceAll(step, ".", "_")
			if step == "x.y" || d.below(4) == 0 {
				d.args.Names[alias] = step
				step = alias
			}
			text.WriteString(step)
		}
	}
	return p, text.String()
}

// placeholder draws a value and its name.
func (d *draw) placeholder() (attr.Value, string) {
	v := d.value(2)
	return v, d.define(v)
}

// define gives a value a name.
func (d *draw) define(v attr.Value) string {
	key := ":v" + strconv.Itoa(len(d.args.Values))
	d.args.Values[key] = v
	return key
}

// seedBytes returns the first input for a fuzzer that reads bytes; it is the same every time.
func seedBytes(f *testing.F) {
	f.Add([]byte{})
	stream := rand.NewChaCha8([32]byte{})
	for range 200 {
		data := make([]byte, 150)
		_, _ = stream.Read(data) // never fails
		f.Add(data)
	}
}
