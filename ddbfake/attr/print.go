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

func appendHex(to []byte, b []byte) []byte {
	return hex.AppendEncode(append(to, "0x"...), b)
}

// appendName quotes a name unless it is plain, so that a trace can be read in one way only.
func appendName(to []byte, name string) []byte {
	plain := func(r rune) bool {
		return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return strconv.AppendQuote(to, name)
	}
	return append(to, name...)
}
