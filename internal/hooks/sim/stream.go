package sim

import (
	"hash/fnv"
	"math/rand/v2"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

// Stream returns the random stream called name of seed. Streams of one seed are independent of each other: drawing more
// from one changes nothing in another.
func Stream(seed uint64, name string) *rand.Rand {
	return rand.New(rand.NewPCG(seed, nameHash(name)))
}

// Derive returns the seed of the n-th child of seed, such as the n-th schedule of a campaign. Children can be made in
// any order, on any machine.
func Derive(seed uint64, n int) uint64 {
	return fingerprint.Mix(seed, uint64(n))
}

func nameHash(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // a hash.Hash never fails
	return h.Sum64()
}
