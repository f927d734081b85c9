package sim

import (
	"hash/fnv"
	"math/rand/v2"
)

// Stream returns the random stream called name of seed. Streams of one seed are
// independent of each other: drawing more from one changes nothing in another.
func Stream(seed uint64, name string) *rand.Rand {
	return rand.New(rand.NewPCG(seed, nameHash(name)))
}

// Derive returns the seed of the n-th child of seed, such as the n-th schedule
// of a campaign. Children can be made in any order, on any machine.
func Derive(seed uint64, n int) uint64 {
	// SplitMix64's finaliser: consecutive n give unrelated seeds.
	// Source: Steele, Lea, Flood: Fast splittable pseudorandom number generators (OOPSLA 2014).
	return mix(seed, uint64(n))
}

// mix is the n-th value of the generator that starts at seed.
func mix(seed, n uint64) uint64 {
	z := seed + n*0x9e3779b97f4a7c15
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

func nameHash(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // a hash.Hash never fails
	return h.Sum64()
}
