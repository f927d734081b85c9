package differential

import "strings"

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

// value draws a value of a type, as JSON; "" is any type. Nested values are at most so deep.
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
		// Texts of one number twice would be a duplicate.
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

func (d draws) keyValue(a attribute) object {
	return oneOf(d, a.name, keyValues[a.kind]...)
}

// key draws a key of the table.
func (d draws) key(t table) object {
	k := object{}
	for _, a := range t.key {
		k[a.name] = d.keyValue(a)
	}
	return k
}

// plain are the attributes of items other than their keys: each of the type that its name promises, most of the time.
var plain = []attribute{
	{"x", ""}, {"y", ""}, {"n", "N"}, {"g", "S"}, {"h", "N"}, {"b", "B"}, {"m", "M"}, {"l", "L"},
	{"ss", "SS"}, {"ns", "NS"}, {"bs", "BS"}, {"status", "S"}, {"a.b", "N"}, {"num", "N"}, {"str", "S"},
}

// attributeValue draws a value for one of an item's attributes.
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

// item draws an item of the table.
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
