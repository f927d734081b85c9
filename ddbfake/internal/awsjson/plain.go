package awsjson

import "math/bits"

// plain has the bytes that need no escape in a JSON string, and are valid UTF-8 whatever bytes surround them.
var plain = func() (bytes [256]bool) {
	for c := byte(' '); c < 0x7f; c++ {
		bytes[c] = c != '"' && c != '\\'
	}
	return bytes
}()

// plainPrefix returns how many bytes at the beginning of s are plain. It looks at eight bytes at a time;
// TestPlainPrefix tries every byte at every place.
//
// Source: https://graphics.stanford.edu/~seander/bithacks.html#ZeroInWord
func plainPrefix(s string) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
	)
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := s[i : i+8]
		x := uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
			uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
		quotes, escapes := x^'"'*ones, x^'\\'*ones
		// Only the lowest bit that is set can be trusted: a carry may have set the bits above it.
		found := x | (x + ones) | // 0x7f and above
			(x-' '*ones)&^x | (quotes-ones)&^quotes | (escapes-ones)&^escapes
		if found &= highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(s) && plain[s[i]] {
		i++
	}
	return i
}
