package packed

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/slab"
)

// FromSDK converts a row, with the errors of [attr.ItemFromSDK], and measures it as [attr.Item.Size] does: conversion
// and measurement both go through the map, so one pass does both. The record shares values and names with like where it
// can: a record that is probably similar, such as the row's former image. A nil like shares nothing.
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

// usualName: no attribute name of at most this length is refused. ItemFromSDK knows the limit.
const usualName = 255

// recordLike converts a row that has the same attribute names as like. It takes over the names, the order and unchanged
// values. ok is false if the names differ or a value is refused.
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
		v := a.value
		if !unchanged(e, v) {
			var err error
			if v, err = attr.FromSDK(e); err != nil {
				return Record{}, 0, false
			}
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

// ValueFromSDK is [attr.FromSDK], with a value like that is probably equal, or nil. If both are equal texts or numbers,
// it returns like, and allocates nothing.
func ValueFromSDK(v types.AttributeValue, like attr.Value) (attr.Value, error) {
	if unchanged(v, like) {
		return like, nil
	}
	return attr.FromSDK(v)
}

// unchanged reports whether a value is equal to another one, for the types that are cheap to compare: strings and
// numbers.
func unchanged(v types.AttributeValue, like attr.Value) bool {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		s, ok := like.(attr.S)
		return ok && v != nil && string(s) == v.Value
	case *types.AttributeValueMemberN:
		n, ok := like.(attr.N)
		if !ok || v == nil || v.Value == "" {
			return false
		}
		parsed, err := attr.ParseNumber(v.Value)
		return err == nil && n.Number == parsed
	}
	return false
}

// Texts are the printed numbers of a record. They save time if the record is converted many times.
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

// ToSDK converts the record as [attr.Item.ToSDK] does. If texts is not nil, its texts are used, and the numbers are not
// printed again.
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

// count returns how many attributes are strings and how many are numbers.
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

// maxTextBytes suffices for most numbers: 38 digits, a sign and a point.
const maxTextBytes = 40
