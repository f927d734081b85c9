package scenario_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/scenario/isr"
)

// The hashes of "abc" and of nothing are test vectors of the standard.
//
// Source: https://csrc.nist.gov/projects/cryptographic-standards-and-guidelines/example-values
func TestPartitionKey(t *testing.T) {
	const ofABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	const ofNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	for _, test := range []struct{ tenant, key, want string }{
		{"", "abc", "CACHE#" + ofABC},
		{"t1", "abc", "TENANT#t1#CACHE#" + ofABC},
		{"", "", "CACHE#" + ofNothing},
		{"a#b", "", "TENANT#a#b#CACHE#" + ofNothing},
	} {
		if got := isr.PartitionKey(test.tenant, test.key); got != test.want {
			t.Errorf("PartitionKey(%q, %q) = %s, want %s", test.tenant, test.key, got, test.want)
		}
	}
}

// A tenant's name is not escaped. Even so, no tenant reaches another's partitions, whatever the names contain.
func TestPartitionKeysOfDifferentPagesDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tenant := rapid.SampledFrom([]string{"", "a", "a#CACHE", "a#CACHE#", "TENANT#a", "#",
			isr.PartitionKey("", "/x"), isr.PartitionKey("a", "/")})
		cacheKey := rapid.SampledFrom([]string{"", "/", "/x", "CACHE#", "a", isr.PartitionKey("a", "/")})
		tenant1, key1 := tenant.Draw(t, "tenant 1"), cacheKey.Draw(t, "key 1")
		tenant2, key2 := tenant.Draw(t, "tenant 2"), cacheKey.Draw(t, "key 2")
		same := isr.PartitionKey(tenant1, key1) == isr.PartitionKey(tenant2, key2)
		if want := tenant1 == tenant2 && key1 == key2; same != want {
			t.Errorf("partition keys equal: %v, want %v", same, want)
		}
	})
}
