// Package slab makes many of the SDK's attribute values with few allocations.
//
//	s := slab.Slab{Strings: 3, Numbers: 2} // how many are to come
//	v := s.String("META")
//	n := s.Number(s.Text(digits))
//
// # Limits
//
// A caller who keeps one value keeps the array that it came out of, of a few values.
package slab

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Slab makes the SDK's values. A read makes one for each attribute. Nearly all are strings and numbers. So these are
// taken from a few arrays instead of an allocation each, and the digits of numbers from one text. The zero Slab expects
// no values, and still makes them.
type Slab struct {
	// Strings and Numbers are about how many are still to come.
	Strings, Numbers int

	strings []types.AttributeValueMemberS
	numbers []types.AttributeValueMemberN
	digits  strings.Builder
}

// size bounds an array: a caller who keeps one value keeps its array.
const size = 4

// Both makes the first array of strings and the first array of numbers in one allocation.
func (s *Slab) Both() {
	arrays := new(struct {
		strings [size]types.AttributeValueMemberS
		numbers [size]types.AttributeValueMemberN
	})
	s.strings, s.numbers = arrays.strings[:], arrays.numbers[:]
}

// String makes a string.
func (s *Slab) String(text string) types.AttributeValue {
	if len(s.strings) == 0 {
		s.strings = make([]types.AttributeValueMemberS, min(max(s.Strings, 1), size))
	}
	s.Strings--
	m := &s.strings[0]
	s.strings = s.strings[1:]
	m.Value = text
	return m
}

// Number makes a number of its text.
func (s *Slab) Number(text string) types.AttributeValue {
	if len(s.numbers) == 0 {
		s.numbers = make([]types.AttributeValueMemberN, min(max(s.Numbers, 1), size))
	}
	s.Numbers--
	m := &s.numbers[0]
	s.numbers = s.numbers[1:]
	m.Value = text
	return m
}

// Text returns the digits of a number as a string. The text that a Builder has returned never changes, so all numbers
// share one Builder.
func (s *Slab) Text(digits []byte) string {
	if s.digits.Cap()-s.digits.Len() < len(digits) {
		s.digits = strings.Builder{}
		s.digits.Grow(min(max(s.Numbers, 1), size) * len(digits))
	}
	start := s.digits.Len()
	s.digits.Write(digits)
	return s.digits.String()[start:]
}
