// Package fingerprint folds a state into 64 bits, the same on every machine: equal states have equal fingerprints, and
// n different ones collide with a probability of about n*n/2^65.
package fingerprint

import (
	"encoding/binary"
	"math/bits"
)

// Hash is a fingerprint under construction; the zero Hash is the fingerprint of nothing. The order of the parts
// matters. For unordered parts, add up a separate Hash of each.
type Hash uint64

// Number adds n.
func (h Hash) Number(n uint64) Hash { return Hash(Mix(uint64(h), n+1)) }

// Text adds s.
func (h Hash) Text(s string) Hash {
	f := uint64(14695981039346656037) // FNV-1a
	for i := range len(s) {
		f = (f ^ uint64(s[i])) * 1099511628211
	}
	return h.Number(f)
}

// Mix returns the n-th number of the generator that starts at seed: consecutive n give unrelated numbers.
//
// Source: Steele, Lea, Flood: Fast splittable pseudorandom number generators (OOPSLA 2014): SplitMix64.
func Mix(seed, n uint64) uint64 {
	z := seed + n*0x9e3779b97f4a7c15
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

// Wide is a fingerprint for bytes that were not chosen to collide: two different texts have the same fingerprint with a
// probability of about 2^-128.
type Wide [2]uint64

// Plus returns the fingerprint of two things whose order does not matter.
func (w Wide) Plus(other Wide) Wide { return Wide{w[0] + other[0], w[1] + other[1]} }

// Of returns the fingerprint of data.
func Of(data []byte) Wide {
	// There are two sums, and each word is added to both reversibly: data that differ in one word differ in both sums.
	a, b := uint64(len(data)), ^uint64(len(data))
	take := func(word uint64) {
		a = bits.RotateLeft64((a^word)*0x9e3779b97f4a7c15, 29)
		b = bits.RotateLeft64((b+word)*0xd6e8feb86659fd93, 37)
	}
	for ; len(data) >= 8; data = data[8:] {
		take(binary.LittleEndian.Uint64(data))
	}
	if len(data) > 0 {
		var last [8]byte
		copy(last[:], data)
		take(binary.LittleEndian.Uint64(last[:]))
	}
	return Wide{Mix(a, b), Mix(b, a)}
}
