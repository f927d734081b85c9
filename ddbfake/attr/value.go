package attr

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Kind is the type of a [Value], as DynamoDB describes it: "S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS" or "BS".
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html#Programming.LowLevelAPI.DataTypeDescriptors
type Kind string

// KindOf returns the type of a value.
func KindOf(v Value) Kind { return v.kind() }

// Value is an attribute value: exactly one of [S], [N], [B], [BOOL], [NULL], [M], [L], [SS], [NS], [BS]. Values are
// immutable once handed over.
type Value interface {
	// String returns the form used in traces: see [Item.String].
	String() string
	kind() Kind
}

// S is a string: UTF-8, ordered by its bytes, possibly empty.
type S string

// N is a number. See [Number].
type N struct{ Number }

// B is a binary value, ordered by its unsigned bytes, possibly empty. The slice must not be written to after it is
// handed over.
type B []byte

// BOOL is a boolean.
type BOOL bool

// NULL is the null value: there is only one.
type NULL struct{}

// M is a map: a document within an item.
type M map[string]Value

// L is a list.
type L []Value

// SS is a set of strings: not empty, without duplicates, in any order.
type SS []string

// NS is a set of numbers: not empty, without duplicates, in any order.
type NS []Number

// BS is a set of binaries: not empty, without duplicates, in any order.
type BS [][]byte

// Item is a row of a table: attribute names to values. A nil Item stands for the absence of a row.
type Item map[string]Value

// Int returns i as an attribute value.
func Int(i int64) N { return N{fromInt64(i)} }

// No other type is a Value.

func (S) kind() Kind    { return "S" }
func (N) kind() Kind    { return "N" }
func (B) kind() Kind    { return "B" }
func (BOOL) kind() Kind { return "BOOL" }
func (NULL) kind() Kind { return "NULL" }
func (M) kind() Kind    { return "M" }
func (L) kind() Kind    { return "L" }
func (SS) kind() Kind   { return "SS" }
func (NS) kind() Kind   { return "NS" }
func (BS) kind() Kind   { return "BS" }

// Get returns the attribute's value, nil if it is missing.
func (it Item) Get(name string) Value { return it[name] }

// Str returns the attribute's string; false if it is missing or not an S.
func (it Item) Str(name string) (string, bool) {
	s, ok := it[name].(S)
	return string(s), ok
}

// Int returns the attribute's number; false if it is missing, not an N, not an integer, or beyond int64.
func (it Item) Int(name string) (int64, bool) {
	n, ok := it[name].(N)
	if !ok {
		return 0, false
	}
	return n.Int64()
}

// refusal is the error of a value that DynamoDB refuses. Its text is the message of the ValidationException that the
// service would answer with.
type refusal struct{ message string }

func (e *refusal) Error() string { return e.message }

// Size returns the bytes that DynamoDB counts for a value, without its attribute's name: strings and binaries by
// length, numbers by significant digits (two a byte, plus one), booleans and null 1, sets the sum of their elements,
// lists and maps 3 plus their content and 1 for each element.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
func Size(v Value) int {
	switch v := v.(type) {
	case S:
		return len(v)
	case N:
		return v.size()
	case B:
		return len(v)
	case BOOL, NULL:
		return 1
	case M:
		n := 3 + len(v)
		//isrsim:unordered a sum has no order
		for name, e := range v {
			n += len(name) + Size(e)
		}
		return n
	case L:
		n := 3 + len(v)
		for _, e := range v {
			n += Size(e)
		}
		return n
	case SS:
		n := 0
		for _, e := range v {
			n += len(e)
		}
		return n
	case NS:
		n := 0
		for _, e := range v {
			n += e.size()
		}
		return n
	case BS:
		n := 0
		for _, e := range v {
			n += len(e)
		}
		return n
	}
	return 0
}

// Size returns the bytes that DynamoDB counts for a row: its names and values.
func (it Item) Size() int {
	n := 0
	//isrsim:unordered a sum has no order
	for name, v := range it {
		n += len(name) + Size(v)
	}
	return n
}

// size counts the significant digits before and after the point separately, two per byte, plus one byte, plus one for
// the sign. The guide says only "about one byte per two significant digits plus one"; the exact rule was measured on
// the service.
//
// Source: https://github.com/nubo-db/dynamodb-conformance/blob/main/src/item-size.ts
func (n Number) size() int {
	coef, exp := n.coef, int(n.exp)
	if coef == (uint128{}) {
		return 1
	}
	if exp == 0 { // integers keep their trailing zeros
		for coef.hi == 0 && coef.lo%10 == 0 { // such an integer has at most 64 bits
			coef.lo, exp = coef.lo/10, exp+1
		}
	}
	whole, fraction := coef.digits(), 0
	if exp < 0 {
		fraction = min(-exp, whole)
		whole -= fraction
	}
	size := 1 + (whole+1)/2 + (fraction+1)/2
	if n.neg {
		size++
	}
	return size
}

// Compare orders two values of one ordered type: N by number, S by UTF-8 bytes, B by unsigned bytes. Values of other
// types, or of two different types, have no order: comparable is false. So "expires < :now" is false if expires is a
// string.
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

// sorted returns s in order: s itself if it is already sorted.
func sorted[E any](s []E, order func(E, E) int) []E {
	if slices.IsSortedFunc(s, order) {
		return s
	}
	s = slices.Clone(s)
	slices.SortFunc(s, order)
	return s
}

// String prints the row on one line, for traces: names sorted, strings quoted, binaries in hexadecimal, sets sorted in
// << >>. An absent row (nil) prints as "absent". Two rows print alike only if they are equal.
//
//	{lease_expires_at: 12, pk: "CACHE#1", tags: <<"a", "b">>}
func (it Item) String() string {
	if it == nil {
		return "absent"
	}
	return M(it).String()
}

// String quotes the string.
func (v S) String() string { return string(appendValue(nil, v)) }

// String prints hexadecimal digits after 0x.
func (v B) String() string { return string(appendValue(nil, v)) }

// String prints true or false.
func (v BOOL) String() string { return strconv.FormatBool(bool(v)) }

// String prints null.
func (v NULL) String() string { return "null" }

// String prints as [Item.String] does.
func (v M) String() string { return string(appendValue(nil, v)) }

// String prints the elements between brackets.
func (v L) String() string { return string(appendValue(nil, v)) }

// String prints the sorted set.
func (v SS) String() string { return string(appendValue(nil, v)) }

// String prints the sorted set.
func (v NS) String() string { return string(appendValue(nil, v)) }

// String prints the sorted set.
func (v BS) String() string { return string(appendValue(nil, v)) }

func appendValue(to []byte, v Value) []byte {
	switch v := v.(type) {
	case S:
		return strconv.AppendQuote(to, string(v))
	case B:
		return appendHex(to, v)
	case M:
		to = append(to, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			to = appendName(appendComma(to, i), name)
			to = appendValue(append(to, ": "...), v[name])
		}
		return append(to, '}')
	case L:
		to = append(to, '[')
		for i, e := range v {
			to = appendValue(appendComma(to, i), e)
		}
		return append(to, ']')
	case SS:
		return appendSet(to, sorted(v, cmp.Compare), strconv.AppendQuote)
	case NS:
		return appendSet(to, sorted(v, Number.Cmp), func(to []byte, n Number) []byte {
			return append(to, n.String()...)
		})
	case BS:
		return appendSet(to, sorted(v, bytes.Compare), appendHex)
	case nil:
		return append(to, "missing"...)
	default: // N, BOOL, NULL
		return append(to, v.String()...)
	}
}

func appendSet[E any](to []byte, set []E, element func([]byte, E) []byte) []byte {
	to = append(to, "<<"...)
	for i, e := range set {
		to = element(appendComma(to, i), e)
	}
	return append(to, ">>"...)
}

func appendComma(to []byte, i int) []byte {
	if i > 0 {
		to = append(to, ", "...)
	}
	return to
}

func appendHex(to []byte, b []byte) []byte { return hex.AppendEncode(append(to, "0x"...), b) }

// appendName quotes a name unless it is plain, so that a trace can be read in only one way.
func appendName(to []byte, name string) []byte {
	plain := func(r rune) bool {
		return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return strconv.AppendQuote(to, name)
	}
	return append(to, name...)
}
