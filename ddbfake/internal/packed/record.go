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

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// Attributes looks values up by name: an [attr.Item] or a [Record].
type Attributes interface {
	// Get returns the value of this name, nil if there is none.
	Get(name string) attr.Value
}

// Record is a row as a store keeps it: its attributes in one array, in the order of their names. To make a Record from
// another, to compare two, to keep one, and to find a name in it: each costs a fraction of the same with an
// [attr.Item]. A Record is immutable; the zero Record has no attributes.
type Record struct{ attributes []attribute }

type attribute struct {
	name  string
	value attr.Value
}

// few: up to this number of attributes, a linear search is the fastest.
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

// index returns where an attribute is, -1 if it is missing.
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
		return true // they are one
	}
	for i := range r.attributes {
		a, b := &r.attributes[i], &other.attributes[i]
		if a.name != b.name || !attr.Equal(a.value, b.value) {
			return false
		}
	}
	return true
}

// Cut returns the record with these of its attributes only. The names are sorted.
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
