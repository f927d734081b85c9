// Package slab makes many of the SDK's attribute values with few allocations.
//
//	s := slab.Slab{Strings: 3, Numbers: 2} // how many are to come
//	v := s.String("META")
//	n := s.Number(s.Text(digits))
//
// # Limits
//
// A caller that keeps one value keeps an array of a few values in memory.
package slab

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Slab makes the SDK's values. A read makes one per attribute, nearly always a string or a number. So strings and
// numbers are elements of a few arrays, not allocated one by one, and the digits of all numbers share one text. A zero
// Slab works, too; its arrays grow as needed.
type Slab struct {
	// Strings and Numbers estimate how many values are still to come.
	Strings, Numbers int

	strings []types.AttributeValueMemberS
	numbers []types.AttributeValueMemberN
	digits  strings.Builder
}

// size is the length of an array. It is small, because a caller that keeps one value keeps its array.
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

// Number makes a number from its text.
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

// Text returns the digits of a number as a string. A text that a Builder has returned never changes, so all numbers
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
