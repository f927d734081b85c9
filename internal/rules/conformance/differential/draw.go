package differential

import (
	"math/bits"

	"pgregory.net/rapid"
)

// draws is the source of everything random. Every choice is made of single bits because rapid's ranges and samples
// favour small values. These choices are uniform, and shrink towards the first alternative all the same.
type draws struct{ t *rapid.T }

var bit = rapid.Bool()

// below draws a number of 0 to n-1.
func (d draws) below(n int, label string) int {
	if n <= 1 {
		return 0
	}
	// A few bits more than needed even out the bias of the remainder.
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

// oneOf draws an element. The simplest stands first.
func oneOf[T any](d draws, label string, list ...T) T { return list[d.below(len(list), label)] }

// weighted is an alternative that is drawn weight times as often as one of weight 1.
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

// This file is for properties of others (package property/gen): single values, as JSON.

// Attribute is an attribute of drawn rows.
type Attribute struct{ Name, Kind string }

// Attributes are the attributes of drawn rows. Kind "" is any type.
func Attributes() (all []Attribute) {
	for _, a := range plain {
		all = append(all, Attribute{a.name, a.kind})
	}
	return all
}

// KeyTexts are the values of key attributes of type S: few, so that keys meet.
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
