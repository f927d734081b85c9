package attr

import "slices"

// Kind is the type of a [Value].
type Kind uint8

// The kinds, one for each of DynamoDB's data type descriptors.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html#Programming.LowLevelAPI.DataTypeDescriptors
const (
	KindInvalid Kind = iota // the kind of no value
	KindS
	KindN
	KindB
	KindBOOL
	KindNULL
	KindM
	KindL
	KindSS
	KindNS
	KindBS
)

var kindNames = [...]string{"invalid", "S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS"}

// String returns DynamoDB's descriptor of the type: "S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS" or "BS".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[KindInvalid]
}

// ParseKind returns the kind with this descriptor; false if there is none.
func ParseKind(descriptor string) (Kind, bool) {
	i := slices.Index(kindNames[1:], descriptor)
	return Kind(i + 1), i >= 0
}

// IsSet reports whether values of this kind are sets.
func (k Kind) IsSet() bool { return k == KindSS || k == KindNS || k == KindBS }

// Value is an attribute value: exactly one of [S], [N], [B], [BOOL], [NULL], [M], [L], [SS], [NS], [BS]. Values are
// immutable once handed over.
type Value interface {
	Kind() Kind
	// String returns the form used in traces: see [Item.String].
	String() string
	value()
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
func Int(i int64) N { return N{FromInt64(i)} }

// Kind returns [KindS].
func (S) Kind() Kind { return KindS }

// Kind returns [KindN].
func (N) Kind() Kind { return KindN }

// Kind returns [KindB].
func (B) Kind() Kind { return KindB }

// Kind returns [KindBOOL].
func (BOOL) Kind() Kind { return KindBOOL }

// Kind returns [KindNULL].
func (NULL) Kind() Kind { return KindNULL }

// Kind returns [KindM].
func (M) Kind() Kind { return KindM }

// Kind returns [KindL].
func (L) Kind() Kind { return KindL }

// Kind returns [KindSS].
func (SS) Kind() Kind { return KindSS }

// Kind returns [KindNS].
func (NS) Kind() Kind { return KindNS }

// Kind returns [KindBS].
func (BS) Kind() Kind { return KindBS }

// Only these ten types are values.

func (S) value()    {}
func (N) value()    {}
func (B) value()    {}
func (BOOL) value() {}
func (NULL) value() {}
func (M) value()    {}
func (L) value()    {}
func (SS) value()   {}
func (NS) value()   {}
func (BS) value()   {}

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

// Error says that DynamoDB refuses a value. Its text is the message of the ValidationException that the service would
// answer with.
type Error struct{ message string }

// Error returns the message.
func (e *Error) Error() string { return e.message }
