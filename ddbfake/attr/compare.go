package attr

import (
	"bytes"
	"cmp"
	"slices"
)

// Compare orders two values of one ordered type: N by number, S by UTF-8 bytes, B by unsigned bytes. Values of other
// types, or of two types, have no order: comparable is false. So "expires < :now" is false when expires is a string.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Condition.html
func Compare(a, b Value) (order int, comparable bool) {
	switch a := a.(type) {
	case N:
		if b, ok := b.(N); ok {
			return a.Cmp(b.Number), true
		}
	case S:
		if b, ok := b.(S); ok {
			return cmp.Compare(a, b), true
		}
	case B:
		if b, ok := b.(B); ok {
			return bytes.Compare(a, b), true
		}
	}
	return 0, false
}

// Equal reports whether two values have the same type and content. Numbers are equal by value, sets in any order, lists
// in order, maps by key. No value equals nil, except nil.
func Equal(a, b Value) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case S:
		b, ok := b.(S)
		return ok && a == b
	case N:
		b, ok := b.(N)
		return ok && a == b
	case B:
		b, ok := b.(B)
		return ok && bytes.Equal(a, b)
	case BOOL:
		b, ok := b.(BOOL)
		return ok && a == b
	case NULL:
		_, ok := b.(NULL)
		return ok
	case M:
		b, ok := b.(M)
		return ok && equalMaps(a, b)
	case L:
		b, ok := b.(L)
		return ok && slices.EqualFunc(a, b, Equal)
	case SS:
		b, ok := b.(SS)
		return ok && equalSets(a, b, cmp.Compare[string])
	case NS:
		b, ok := b.(NS)
		return ok && equalSets(a, b, Number.Cmp)
	case BS:
		b, ok := b.(BS)
		return ok && equalSets(a, b, bytes.Compare)
	}
	return false
}

// Equal reports whether two rows have the same attributes with equal values. An absent row (nil) is not an empty one.
func (it Item) Equal(other Item) bool {
	return (it == nil) == (other == nil) && equalMaps(it, other)
}

func equalMaps(a, b map[string]Value) bool {
	if len(a) != len(b) {
		return false
	}
	//isrsim:unordered all must be equal, whichever is looked at first
	for k, v := range a {
		if w, ok := b[k]; !ok || !Equal(v, w) {
			return false
		}
	}
	return true
}

func equalSets[E any](a, b []E, order func(E, E) int) bool {
	same := func(x, y E) bool { return order(x, y) == 0 }
	if len(a) != len(b) {
		return false
	}
	return slices.EqualFunc(sorted(a, order), sorted(b, order), same)
}

// sorted returns s in order: s itself if it is sorted already.
func sorted[E any](s []E, order func(E, E) int) []E {
	if slices.IsSortedFunc(s, order) {
		return s
	}
	s = slices.Clone(s)
	slices.SortFunc(s, order)
	return s
}
