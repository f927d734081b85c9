package expr

import (
	"bytes"
	"math/big"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// FuzzCondition draws a row and conditions and compares Check and Eval with a model of every comparison and function,
// and with the laws of logic: a condition is true or false, even with missing values and wrong types.
//
// Each of these bugs is caught within a minute when it is planted, most of them by the seeds: "<>" is false for two
// missing attributes, "<" is true between types, BETWEEN leaves out its end or misses an equal path, IN finds a missing
// value, AND and NOT bind wrongly, contains and size count wrongly, numbers are compared as texts.
func FuzzCondition(f *testing.F) {
	seedBytes(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		d := newDraw(data)
		c, e := d.condition(2), d.condition(1)
		holds := func(source string) bool {
			t.Helper()
			parsed, err := ParseCondition(source)
			if err != nil {
				t.Fatalf("%s: %v", source, err)
			}
			if err := parsed.Check(d.args); err != nil {
				t.Fatalf("%s with %v: %v", source, d.args.Values, err)
			}
			got, err := parsed.Eval(d.item, d.args)
			if err != nil {
				t.Fatalf("%s with %v on %s: %v", source, d.args.Values, d.item, err)
			}
			return got
		}
		if c.refused || e.refused {
			parsed, err := ParseCondition(c.source + " AND " + e.source)
			if err != nil {
				t.Fatalf("%s AND %s: %v", c.source, e.source, err)
			}
			if parsed.Check(d.args) == nil {
				t.Fatalf("%s with %v: no error, want one", parsed, d.args.Values)
			}
			return
		}

		p, q := c.value(d.item), e.value(d.item)
		for _, law := range []struct {
			source string
			want   bool
		}{
			{c.source, p}, {e.source, q},
			{"NOT " + c.source, !p}, {"NOT NOT " + c.source, p},
			{c.source + " AND " + e.source, p && q}, {e.source + " AND " + c.source, p && q},
			{c.source + " OR " + e.source, p || q}, {e.source + " OR " + c.source, p || q},
			{"NOT (" + c.source + " AND " + e.source + ")", !p || !q}, {"NOT " + c.source + " OR NOT " + e.source, !p || !q},
			{"NOT (" + c.source + " OR " + e.source + ")", !p && !q}, {"NOT " + c.source + " AND NOT " + e.source, !p && !q},
			{c.source + " AND " + e.source + " OR " + e.source, q}, {c.source + " OR " + e.source + " AND " + c.source, p},
			{c.source + " OR NOT " + c.source + " AND " + e.source, p || q},
			{"(" + c.source + " OR " + e.source + ") AND NOT " + e.source, p && !q},
		} {
			if got := holds(law.source); got != law.want {
				t.Errorf("%s with %v on %s: got %t, want %t", law.source, d.args.Values, d.item, got, law.want)
			}
		}
		for _, same := range c.same {
			if got := holds(same); got != p {
				t.Errorf("%s is %t, but %s is %t, with %v on %s", c.source, p, same, got, d.args.Values, d.item)
			}
		}
	})
}

// drawnCondition is a condition and its value by the model.
type drawnCondition struct {
	source  string // in parentheses if it needs them
	refused bool   // whatever the row is
	same    []string
	value   func(attr.Item) bool
}

// drawnTerm is an operand of a condition.
type drawnTerm struct {
	source  string
	path    drawnPath // nil if it is not a path
	kind    attr.Kind // if it is known without a row
	value   func(attr.Item) attr.Value
	refused bool
}

func (d *draw) condition(levels int) drawnCondition {
	if levels == 0 {
		return d.leaf()
	}
	switch d.below(6) {
	case 0:
		x := d.condition(levels - 1)
		return drawnCondition{source: "(NOT " + x.source + ")", refused: x.refused, value: func(item attr.Item) bool { return !x.value(item) }}
	case 1:
		x, y := d.condition(levels-1), d.condition(levels-1)
		return drawnCondition{source: "(" + x.source + " AND " + y.source + ")", refused: x.refused || y.refused,
			value: func(item attr.Item) bool { return x.value(item) && y.value(item) }}
	case 2:
		x, y := d.condition(levels-1), d.condition(levels-1)
		return drawnCondition{source: "(" + x.source + " OR " + y.source + ")", refused: x.refused || y.refused,
			value: func(item attr.Item) bool { return x.value(item) || y.value(item) }}
	}
	return d.leaf()
}

func (d *draw) leaf() drawnCondition {
	switch d.below(6) {
	case 0:
		return d.between()
	case 1:
		return d.in()
	case 2, 3:
		return d.function()
	}
	return d.comparison(d.term(), pick(d, "=", "<>", "<", "<=", ">", ">="), d.term())
}

func (d *draw) comparison(x drawnTerm, op string, y drawnTerm) drawnCondition {
	c := drawnCondition{
		source:  x.source + " " + op + " " + y.source,
		refused: x.refused || y.refused || x.isPathOf(y),
		value: func(item attr.Item) bool {
			a, b := x.value(item), y.value(item)
			order, ordered := modelOrder(a, b)
			switch op {
			case "=":
				return modelEqual(a, b)
			case "<>":
				return !modelEqual(a, b)
			case "<":
				return ordered && order < 0
			case "<=":
				return ordered && order <= 0
			case ">":
				return ordered && order > 0
			}
			return ordered && order >= 0
		},
	}
	if op != "=" && op != "<>" {
		c.refused = c.refused || !x.orders() || !y.orders()
	}
	back := map[string]string{"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}[op]
	c.same = []string{y.source + " " + back + " " + x.source}
	return c
}

func (d *draw) between() drawnCondition {
	x, low, high := d.term(), d.term(), d.term()
	c := drawnCondition{
		source:  x.source + " BETWEEN " + low.source + " AND " + high.source,
		refused: x.refused || low.refused || high.refused || x.isPathOf(low) || x.isPathOf(high) || !x.orders() || !low.orders() || !high.orders(),
		value: func(item attr.Item) bool {
			v := x.value(item)
			a, above := modelOrder(low.value(item), v)
			b, below := modelOrder(v, high.value(item))
			return above && below && a <= 0 && b <= 0
		},
		same: []string{x.source + " >= " + low.source + " AND " + x.source + " <= " + high.source},
	}
	if strings.HasPrefix(low.source, ":") && strings.HasPrefix(high.source, ":") {
		order, ordered := modelOrder(low.value(nil), high.value(nil))
		c.refused = c.refused || !ordered || order > 0
	}
	return c
}

func (d *draw) in() drawnCondition {
	x := d.term()
	list := []drawnTerm{d.term()}
	for range d.below(4) {
		list = append(list, d.term())
	}
	c := drawnCondition{refused: x.refused, value: func(item attr.Item) bool {
		return slices.ContainsFunc(list, func(y drawnTerm) bool { return modelEqual(x.value(item), y.value(item)) })
	}}
	var sources, equals []string
	for _, y := range list {
		c.refused = c.refused || y.refused || x.isPathOf(y)
		sources = append(sources, y.source)
		equals = append(equals, x.source+" = "+y.source)
	}
	c.source = x.source + " IN (" + strings.Join(sources, ", ") + ")"
	c.same = []string{strings.Join(equals, " OR ")}
	return c
}

func (d *draw) function() drawnCondition {
	p, text := d.path()
	switch d.below(5) {
	case 0:
		return drawnCondition{source: "attribute_exists(" + text + ")", value: func(item attr.Item) bool { return p.at(item) != nil },
			same: []string{"NOT attribute_not_exists(" + text + ")"}}
	case 1:
		return drawnCondition{source: "attribute_not_exists(" + text + ")", value: func(item attr.Item) bool { return p.at(item) == nil }}
	case 2:
		kind := pick(d, "S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS")
		key := d.define(attr.S(kind))
		return drawnCondition{source: "attribute_type(" + text + ", " + key + ")", value: func(item attr.Item) bool {
			v := p.at(item)
			return v != nil && string(attr.KindOf(v)) == kind
		}}
	}
	x, y := d.term(), d.term()
	c := drawnCondition{refused: x.refused || y.refused || x.isPathOf(y)}
	if d.below(2) == 0 {
		c.source = "contains(" + x.source + ", " + y.source + ")"
		c.value = func(item attr.Item) bool { return modelContains(x.value(item), y.value(item)) }
		return c
	}
	c.source = "begins_with(" + x.source + ", " + y.source + ")"
	prefixes := func(k attr.Kind) bool { return k == "" || k == "S" || k == "B" }
	c.refused = c.refused || !prefixes(x.kind) || !prefixes(y.kind)
	c.value = func(item attr.Item) bool {
		whole, prefix := x.value(item), y.value(item)
		a, ok := modelBytes(whole)
		b, also := modelBytes(prefix)
		return ok && also && attr.KindOf(whole) == attr.KindOf(prefix) && len(a) >= len(b) && bytes.Equal(a[:len(b)], b)
	}
	return c
}

// term draws a path, a size, or a placeholder, which often has the value of a path.
func (d *draw) term() drawnTerm {
	p, text := d.path()
	at := func(item attr.Item) attr.Value { return p.at(item) }
	v := p.at(d.item)
	switch d.below(7) {
	case 0, 1:
		v = d.value(2)
	case 2:
		if v == nil {
			v = attr.Int(0)
		}
	case 3:
		v, key, refused := d.item["a"], "a", false
		if d.below(2) == 0 {
			v = d.value(2)
			key = d.define(v)
			k := attr.KindOf(v)
			refused = k == "N" || k == "BOOL" || k == "NULL"
		}
		return drawnTerm{source: "size(" + key + ")", kind: "N", refused: refused, value: func(attr.Item) attr.Value { return modelSize(v) }}
	default:
		return drawnTerm{source: text, path: p, value: at}
	}
	return drawnTerm{source: d.define(v), kind: attr.KindOf(v), value: func(attr.Item) attr.Value { return v }}
}

// isPathOf reports whether both operands are the same path: no operator takes such a pair.
func (x drawnTerm) isPathOf(y drawnTerm) bool {
	return x.path != nil && y.path != nil && slices.Equal(x.path, y.path)
}

// orders reports whether the operand may be of a type with an order.
func (x drawnTerm) orders() bool {
	switch x.kind {
	case "", "S", "N", "B":
		return true
	}
	return false
}

// modelEqual relies on values printing alike only if they are equal.
func modelEqual(a, b attr.Value) bool {
	return a != nil && b != nil && attr.KindOf(a) == attr.KindOf(b) && a.String() == b.String()
}

func modelOrder(a, b attr.Value) (order int, ordered bool) {
	if a == nil || b == nil || attr.KindOf(a) != attr.KindOf(b) {
		return 0, false
	}
	if attr.KindOf(a) == "N" {
		x, _ := new(big.Rat).SetString(a.String())
		y, _ := new(big.Rat).SetString(b.String())
		return x.Cmp(y), true
	}
	x, ordered := modelBytes(a)
	y, _ := modelBytes(b)
	return bytes.Compare(x, y), ordered
}

func modelBytes(v attr.Value) ([]byte, bool) {
	switch v := v.(type) {
	case attr.S:
		return []byte(v), true
	case attr.B:
		return v, true
	}
	return nil, false
}

func modelContains(x, y attr.Value) bool {
	if x == nil || y == nil {
		return false
	}
	if list, ok := x.(attr.L); ok {
		return slices.ContainsFunc(list, func(e attr.Value) bool { return modelEqual(e, y) })
	}
	if IsSet(attr.KindOf(x)) {
		_, ok := elementsOf(x)[y.String()]
		return ok && string(attr.KindOf(x)) == string(attr.KindOf(y))+"S"
	}
	whole, ok := modelBytes(x)
	part, _ := modelBytes(y)
	return ok && attr.KindOf(x) == attr.KindOf(y) && strings.Contains(string(whole), string(part))
}

func modelSize(v attr.Value) attr.Value {
	switch v := v.(type) {
	case attr.S:
		return attr.Int(int64(len(utf16.Encode([]rune(string(v))))))
	case attr.B:
		return attr.Int(int64(len(v)))
	case attr.M:
		return attr.Int(int64(len(v)))
	case attr.L:
		return attr.Int(int64(len(v)))
	case attr.SS, attr.NS, attr.BS:
		return attr.Int(int64(len(elementsOf(v))))
	}
	return nil
}
