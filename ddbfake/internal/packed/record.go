// Package packed holds rows in the form in which the engine keeps them, and their conversion from and to the SDK's
// types.
//
//	record, sizeBytes, err := packed.FromSDK(in.Item, nil)
//	changed := record.With([]string{"ttl"}, []attr.Value{attr.Int(2209075200)})
//	out.Item = changed.ToSDK(nil)
//
// # Determinism
//
// A record has its attributes in the order of their names, so equal rows have equal records.
//
// # Fidelity
//
// [FromSDK] refuses the rows that [attr.ItemFromSDK] refuses, with the same errors.
package packed

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/slab"
)

// Attributes looks values up by name: an [attr.Item] or a [Record].
type Attributes interface {
	// Get returns the value of this name, nil if there is none.
	Get(name string) attr.Value
}

// Record is a row as a store keeps it: its attributes in one array, in the order of their names. Deriving a Record from
// another, comparing two, storing one and looking up a name each cost a fraction of the same with an [attr.Item]. A
// Record is immutable; the zero Record has no attributes.
type Record struct{ attributes []attribute }

type attribute struct {
	name  string
	value attr.Value
}

// few: up to this number of attributes, linear search is fastest.
const few = 16

// Of returns the record of a row.
func Of(it attr.Item) Record {
	attributes := make([]attribute, 0, len(it))
	//isrsim:unordered sorted next
	for name, v := range it {
		attributes = append(attributes, attribute{name, v})
	}
	return sortedRecord(attributes)
}

func sortedRecord(attributes []attribute) Record {
	slices.SortFunc(attributes, func(a, b attribute) int { return strings.Compare(a.name, b.name) })
	return Record{attributes}
}

// Item returns the row.
func (r *Record) Item() attr.Item {
	it := make(attr.Item, len(r.attributes))
	for i := range r.attributes {
		it[r.attributes[i].name] = r.attributes[i].value
	}
	return it
}

// Get returns the attribute's value, nil if it is missing.
func (r *Record) Get(name string) attr.Value {
	if i := r.index(name); i >= 0 {
		return r.attributes[i].value
	}
	return nil
}

// index returns the index of an attribute, or -1.
func (r *Record) index(name string) int {
	if len(r.attributes) > few {
		i, found := slices.BinarySearchFunc(r.attributes, name,
			func(a attribute, name string) int { return strings.Compare(a.name, name) })
		if !found {
			return -1
		}
		return i
	}
	for i := range r.attributes {
		if r.attributes[i].name == name {
			return i
		}
	}
	return -1
}

// Int is [attr.Item.Int].
func (r *Record) Int(name string) (int64, bool) {
	n, ok := r.Get(name).(attr.N)
	if !ok {
		return 0, false
	}
	return n.Int64()
}

// Len returns the number of attributes.
func (r *Record) Len() int { return len(r.attributes) }

// All yields the attributes in the order of their names.
func (r *Record) All(yield func(name string, v attr.Value) bool) {
	for i := range r.attributes {
		if !yield(r.attributes[i].name, r.attributes[i].value) {
			return
		}
	}
}

// Size is [attr.Item.Size].
func (r *Record) Size() int {
	n := 0
	for i := range r.attributes {
		n += len(r.attributes[i].name) + attr.Size(r.attributes[i].value)
	}
	return n
}

// Equal reports whether two records have the same attributes with equal values.
func (r *Record) Equal(other *Record) bool {
	if len(r.attributes) != len(other.attributes) {
		return false
	}
	if len(r.attributes) == 0 || &r.attributes[0] == &other.attributes[0] {
		return true // they are the same record
	}
	for i := range r.attributes {
		a, b := &r.attributes[i], &other.attributes[i]
		if a.name != b.name || !attr.Equal(a.value, b.value) {
			return false
		}
	}
	return true
}

// Cut returns the record with only these attributes. The names are sorted.
func (r *Record) Cut(names []string) Record {
	out := make([]attribute, 0, min(len(names), len(r.attributes)))
	for _, name := range names {
		if v := r.Get(name); v != nil {
			out = append(out, attribute{name, v})
		}
	}
	return Record{out}
}

// With returns the record with these attributes changed: names[i] gets values[i], and nil removes the attribute.
func (r *Record) With(names []string, values []attr.Value) Record {
	added := 0
	for i, name := range names {
		if values[i] != nil && r.index(name) < 0 {
			added++
		}
	}
	out := make([]attribute, len(r.attributes), len(r.attributes)+added)
	copy(out, r.attributes)
	changed := Record{out}
	for i, name := range names {
		at := changed.index(name)
		switch {
		case at >= 0 && values[i] != nil:
			changed.attributes[at].value = values[i]
		case at >= 0:
			changed.attributes = slices.Delete(changed.attributes, at, at+1)
		case values[i] != nil:
			at = 0
			for at < len(changed.attributes) && changed.attributes[at].name < name {
				at++
			}
			changed.attributes = slices.Insert(changed.attributes, at, attribute{name, values[i]})
		}
	}
	return changed
}

// FromSDK converts a row, with the errors of [attr.ItemFromSDK], and measures it as [attr.Item.Size] does: conversion
// and measurement both go through the map, so one pass does both. The result shares values and names with like where it
// can. like is a record that is probably similar, such as the row's former image, or nil.
func FromSDK(m map[string]types.AttributeValue, like *Record) (r Record, sizeBytes int, err error) {
	if like != nil {
		if r, sizeBytes, ok := recordLike(m, like); ok {
			return r, sizeBytes, nil
		}
	}
	attributes, longest := make([]attribute, 0, len(m)), 0
	//isrsim:unordered sorted below; ItemFromSDK chooses the error
	for name, e := range m {
		v, err := attr.FromSDK(e)
		if err != nil || name == "" {
			_, err = attr.ItemFromSDK(m)
			return Record{}, 0, err
		}
		attributes, longest = append(attributes, attribute{name, v}), max(longest, len(name))
		sizeBytes += len(name) + attr.Size(v)
	}
	if longest > usualName {
		if _, err := attr.ItemFromSDK(m); err != nil {
			return Record{}, 0, err
		}
	}
	return sortedRecord(attributes), sizeBytes, nil
}

// usualName: names up to this length are never refused. For longer ones, ItemFromSDK decides.
const usualName = 255

// recordLike converts a row with the same attribute names as like. It reuses like's names, order and unchanged values.
// ok is false if the names differ or a value is refused.
func recordLike(m map[string]types.AttributeValue, like *Record) (r Record, sizeBytes int, ok bool) {
	if len(m) != len(like.attributes) {
		return Record{}, 0, false
	}
	r = *like
	for i := range like.attributes {
		a := &like.attributes[i]
		e, ok := m[a.name]
		if !ok {
			return Record{}, 0, false
		}
		v, same, err := ValueFromSDK(e, a.value)
		if err != nil {
			return Record{}, 0, false
		}
		if !same {
			if &r.attributes[0] == &like.attributes[0] {
				r.attributes = make([]attribute, len(like.attributes))
				copy(r.attributes, like.attributes)
			}
			r.attributes[i].value = v
		}
		sizeBytes += len(a.name) + attr.Size(v)
	}
	return r, sizeBytes, true
}

// ValueFromSDK is [attr.FromSDK]. like is nil, or a value that is probably equal. If v and like are equal strings or
// numbers, same is true: ValueFromSDK returns like, and allocates nothing.
func ValueFromSDK(v types.AttributeValue, like attr.Value) (value attr.Value, same bool, err error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		if s, ok := like.(attr.S); ok && v != nil && string(s) == v.Value {
			return like, true, nil
		}
	case *types.AttributeValueMemberN:
		if n, ok := like.(attr.N); ok && v != nil {
			parsed, err := attr.ParseNumber(v.Value)
			if err != nil || n.Number == parsed {
				return like, err == nil, err
			}
			return attr.N{Number: parsed}, false, nil
		}
	}
	value, err = attr.FromSDK(v)
	return value, false, err
}

// Texts are the printed numbers of a record. They save time when the record is converted many times.
type Texts struct{ texts []string }

// Texts prints the record's numbers.
func (r *Record) Texts() *Texts {
	_, numbers := r.count()
	t := &Texts{make([]string, 0, numbers)}
	s := slab.Slab{Numbers: numbers}
	for i := range r.attributes {
		if n, ok := r.attributes[i].value.(attr.N); ok {
			t.texts = append(t.texts, textOf(&s, n))
		}
	}
	return t
}

// ToSDK converts the record as [attr.Item.ToSDK] does. If t is not nil, it uses t's texts and does not print the
// numbers again.
func (r *Record) ToSDK(t *Texts) map[string]types.AttributeValue {
	var s slab.Slab
	s.Strings, s.Numbers = r.count()
	if s.Strings > 0 && s.Numbers > 0 {
		s.Both()
	}
	out := make(map[string]types.AttributeValue, len(r.attributes))
	number := 0
	for i := range r.attributes {
		a := &r.attributes[i]
		switch v := a.value.(type) {
		case attr.S:
			out[a.name] = s.String(string(v))
		case attr.N:
			if t == nil {
				out[a.name] = s.Number(textOf(&s, v))
				continue
			}
			out[a.name] = s.Number(t.texts[number])
			number++
		default:
			out[a.name] = attr.ToSDK(v)
		}
	}
	return out
}

// count returns the number of strings and the number of numbers among the attributes.
func (r *Record) count() (strings, numbers int) {
	for i := range r.attributes {
		switch r.attributes[i].value.(type) {
		case attr.S:
			strings++
		case attr.N:
			numbers++
		}
	}
	return strings, numbers
}

// textOf prints a number.
func textOf(s *slab.Slab, n attr.N) string {
	var digits [maxTextBytes]byte
	return s.Text(n.Append(digits[:0]))
}

// maxTextBytes is enough for most numbers: 38 digits, a sign and a point.
const maxTextBytes = 40
