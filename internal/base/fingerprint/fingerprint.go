// Package fingerprint folds a state into 64 bits, the same on every machine: equal states have equal fingerprints, and
// n different ones collide with a probability of about n*n/2^65.
package fingerprint

import "math/bits"

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

// Digest is a Wide under construction. The order of the parts matters. The zero Digest is the fingerprint of nothing.
type Digest struct{ a, b uint64 }

// Number adds n.
func (d *Digest) Number(n uint64) { d.a, d.b = add(d.a, d.b, n) }

// add adds n to each of two sums reversibly: data that differ in one number differ in both sums.
func add(a, b, n uint64) (uint64, uint64) {
	return bits.RotateLeft64((a^n)*0x9e3779b97f4a7c15, 29), bits.RotateLeft64((b+n)*0xd6e8feb86659fd93, 37)
}

// Text adds the length of s, and then s, eight bytes at a time.
func (d *Digest) Text(s string) {
	a, b := add(d.a, d.b, uint64(len(s)))
	for ; len(s) >= 8; s = s[8:] {
		w := s[:8]
		a, b = add(a, b, uint64(w[0])|uint64(w[1])<<8|uint64(w[2])<<16|uint64(w[3])<<24|
			uint64(w[4])<<32|uint64(w[5])<<40|uint64(w[6])<<48|uint64(w[7])<<56)
	}
	if s != "" {
		var last uint64
		for i := range len(s) {
			last = last<<8 | uint64(s[i])
		}
		a, b = add(a, b, last)
	}
	d.a, d.b = a, b
}

// Wide returns the fingerprint of what was added.
func (d *Digest) Wide() Wide { return Wide{Mix(d.a, d.b), Mix(d.b, d.a)} }

// Of returns the fingerprint of data.
func Of(data []byte) Wide {
	var d Digest
	d.Text(string(data))
	return d.Wide()
}
