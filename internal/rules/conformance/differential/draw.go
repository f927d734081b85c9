package differential

import (
	"math/bits"
	"strings"

	"pgregory.net/rapid"
)

// draws is the source of all randomness. Every choice is made of single bits, because rapid's ranges and samples favour
// small values. These choices are uniform, but still shrink towards the first alternative.
type draws struct{ t *rapid.T }

var bit = rapid.Bool()

// below draws a number from 0 to n-1.
func (d draws) below(n int, label string) int {
	if n <= 1 {
		return 0
	}
	// A few more bits than needed even out the bias of the remainder.
	width := bits.Len(uint(n-1)) + 3
	v := 0
	for range width {
		v <<= 1
		if bit.Draw(d.t, label) {
			v |= 1
		}
	}
	return v % n
}

// chance is true with a probability of 1/oneIn.
func (d draws) chance(oneIn int, label string) bool { return d.below(oneIn, label) == oneIn-1 }

// oneOf draws an element. The simplest one comes first.
func oneOf[T any](d draws, label string, list ...T) T { return list[d.below(len(list), label)] }

// weighted is an alternative that is drawn weight times as often as one with weight 1.
type weighted[T any] struct {
	weight int
	value  T
}

// pick draws one of the alternatives by weight.
func pick[T any](d draws, label string, list []weighted[T]) T {
	total := 0
	for _, w := range list {
		total += w.weight
	}
	n := d.below(total, label)
	for _, w := range list {
		if n < w.weight {
			return w.value
		}
		n -= w.weight
	}
	panic("differential: no alternatives")
}

// The functions below are for the properties of other packages (property/gen): they draw single values, as JSON.

// Attribute is an attribute of drawn rows.
type Attribute struct{ Name, Kind string }

// Attributes are the attributes of drawn rows. Kind "" is any type.
func Attributes() (all []Attribute) {
	for _, a := range plain {
		all = append(all, Attribute{a.name, a.kind})
	}
	return all
}

// KeyTexts are the values of key attributes of type S: few, so that keys collide.
func KeyTexts() (all []string) {
	for _, v := range keyValues["S"] {
		all = append(all, v["S"].(string))
	}
	return all
}

// Value draws a value of any type.
func Value(t *rapid.T) map[string]any { return draws{t}.value("", 2) }

// Row draws the attributes of a row other than its key.
func Row(t *rapid.T) map[string]any {
	item, d := object{}, draws{t}
	for _, a := range plain {
		if d.chance(2, "has "+a.name) {
			item[a.name] = d.attributeValue(table{}, a)
		}
	}
	return item
}

// Values of each type. The first is the plainest.
var (
	someStrings = []string{"a", "b", "ab", "", "é", "\U00010000", "\uffff", "A", "0", "S", "abc\u0000d",
		strings.Repeat("s", 300)}
	someNumbers = []string{
		"1", "0", "2", "-1", "10", "1.0", "1e1", "0.1", "-0", "100", "00.50", "1E-130", "-1E-130",
		"9.9999999999999999999999999999999999999E+125", "-9.9999999999999999999999999999999999999E+125",
		"12345678901234567890123456789012345678", "0.12345678901234567890123456789012345678", "1E+30",
		"99999999999999999999", "5",
	}
	someBytes = []string{"YQ==", "YWI=", "", "AA==", "/w==", "/wA=", "gA=="}
	badNumber = []string{
		"1.23456789012345678901234567890123456789", "-123456789012345678901234567890123456789",
		"1E126", "1E-131", "123456789012345678901234567890123456789", "abc", "", "NaN", "Infinity", " 1", "0x1",
		"1e", "--1", "1_0", "1,5",
	}
)

// kinds are the kinds of values, the plainest first.
var kinds = []string{"S", "N", "BOOL", "M", "L", "SS", "NS", "BS", "B", "NULL"}

func (d draws) kind(label string) string { return oneOf(d, label, kinds...) }

// value draws a value of a type, as JSON; "" is any type. depth is the maximum depth of nested values.
func (d draws) value(kind string, depth int) object {
	if kind == "" {
		kind = d.kind("type")
	}
	if depth <= 0 && (kind == "M" || kind == "L") {
		kind = "N"
	}
	switch kind {
	case "S":
		return object{"S": oneOf(d, "S", someStrings...)}
	case "N":
		return object{"N": oneOf(d, "N", someNumbers...)}
	case "B":
		return object{"B": oneOf(d, "B", someBytes...)}
	case "BOOL":
		return object{"BOOL": d.chance(2, "BOOL")}
	case "NULL":
		return object{"NULL": true}
	case "SS":
		return object{"SS": distinct(d, "SS", []string{"a", "b", "ab", "", "é", "0", "\U00010000"})}
	case "NS":
		// Two texts of one number would be a duplicate.
		return object{"NS": distinct(d, "NS", []string{"1", "2", "-1", "0.10", "100", "1E-130"})}
	case "BS":
		return object{"BS": distinct(d, "BS", someBytes[:5])}
	case "L":
		list := []any{}
		for range d.below(4, "length") {
			list = append(list, d.value("", depth-1))
		}
		return object{"L": list}
	}
	m := object{}
	for _, name := range []string{"k", "x", "a.b"} {
		if d.chance(2, "member") {
			m[name] = d.value("", depth-1)
		}
	}
	return object{"M": m}
}

// distinct draws one to three of the texts.
func distinct(d draws, label string, from []string) []any {
	first, step := d.below(len(from), label), 1+d.below(2, label)
	list := []any{}
	for i := range 1 + d.below(3, label) {
		list = append(list, from[(first+i*step)%len(from)])
	}
	return list
}

// keyValues are the few values of key attributes.
var keyValues = map[string][]object{
	"S": {{"S": "a"}, {"S": "b"}, {"S": "ab"}, {"S": "é"}},
	"N": {{"N": "1"}, {"N": "1.0"}, {"N": "-2"}, {"N": "10"}, {"N": "1E-130"}},
	"B": {{"B": "YQ=="}, {"B": "YWI="}, {"B": "/w=="}, {"B": "AA=="}},
}

func (d draws) keyValue(a attribute) object { return oneOf(d, a.name, keyValues[a.kind]...) }

func (d draws) key(t table) object {
	k := object{}
	for _, a := range t.key {
		k[a.name] = d.keyValue(a)
	}
	return k
}

// plain are the attributes of items other than their keys. Mostly, each has the type that its name suggests.
var plain = []attribute{
	{"x", ""}, {"y", ""}, {"n", "N"}, {"g", "S"}, {"h", "N"}, {"b", "B"}, {"m", "M"}, {"l", "L"},
	{"ss", "SS"}, {"ns", "NS"}, {"bs", "BS"}, {"status", "S"}, {"a.b", "N"}, {"num", "N"}, {"str", "S"},
}

// attributeValue draws a value of one of an item's attributes.
func (d draws) attributeValue(t table, a attribute) object {
	if kind := t.indexed(a.name); kind != "" {
		return d.keyValue(attribute{a.name, kind})
	}
	kind := a.kind
	if kind != "" && d.chance(12, "another type") {
		kind = ""
	}
	return d.value(kind, 2)
}

func (d draws) item(t table) object {
	item := d.key(t)
	for _, a := range plain {
		if t.isKey(a.name) {
			continue
		}
		if d.chance(2, "has "+a.name) {
			item[a.name] = d.attributeValue(t, a)
		}
	}
	return item
}
