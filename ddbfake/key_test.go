package ddbfake

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// The encoding of numbers in keys keeps their order, and different numbers have different encodings.
func TestEncodeNumber(t *testing.T) {
	texts := []string{
		"0", "1", "-1", "1.5", "-1.5", "0.5", "-0.5", "10", "-10", "9", "99", "100", "101", "0.001", "0.0011", "-0.001",
		"9.9999999999999999999999999999999999999E+125", "-9.9999999999999999999999999999999999999E+125",
		"1E-130", "-1E-130", "1E125", "9223372036854775807", "9223372036854775808",
		"12345678901234567890123456789012345678",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var b strings.Builder
		if random.IntN(2) == 0 {
			b.WriteByte('-')
		}
		b.WriteByte('1' + byte(random.IntN(9)))
		for range random.IntN(12) {
			b.WriteByte('0' + byte(random.IntN(10)))
		}
		texts = append(texts, b.String()+[]string{"", "E-3", "E-20", "E30", "E-7"}[random.IntN(5)])
	}
	numbers := make([]attr.Number, len(texts))
	for i, text := range texts {
		n, err := attr.ParseNumber(text)
		if err != nil {
			t.Fatal(text, err)
		}
		numbers[i] = n
	}
	slices.SortFunc(numbers, attr.Number.Cmp)
	numbers = slices.Compact(numbers)
	for i := 1; i < len(numbers); i++ {
		low, high := encodeNumber(numbers[i-1].String()), encodeNumber(numbers[i].String())
		if low >= high {
			t.Errorf("%v < %v, but %x >= %x", numbers[i-1], numbers[i], low, high)
		}
	}
}
