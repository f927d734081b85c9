package attr

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

// Only these ten types are values.

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
