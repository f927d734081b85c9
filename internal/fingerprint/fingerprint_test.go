package fingerprint_test

import (
	"testing"

	"github.com/isr-sim/isr-sim/internal/fingerprint"
)

// Hash is the fingerprint that the tests build on.
type hash = fingerprint.Hash

func TestWhatDiffersHasAnotherFingerprint(t *testing.T) {
	var h hash
	all := map[hash]string{}
	for name, f := range map[string]hash{
		"nothing": h, "0": h.Number(0), "0 0": h.Number(0).Number(0), "1": h.Number(1), "0 1": h.Number(0).Number(1),
		"1 0": h.Number(1).Number(0), "empty text": h.Text(""), "a": h.Text("a"), "a b": h.Text("a").Text("b"), "ab": h.Text("ab"),
		"b a": h.Text("b").Text("a"),
	} {
		if other, taken := all[f]; taken {
			t.Errorf("%q and %q have the fingerprint %x", name, other, f)
		}
		all[f] = name
	}
}

func TestSmallNumbersDoNotCollide(t *testing.T) {
	seen := map[hash]bool{}
	const n = 300
	for a := range uint64(n) {
		for b := range uint64(n) {
			seen[hash(0).Number(a).Number(b)] = true
		}
	}
	if len(seen) != n*n {
		t.Errorf("%d pairs of numbers have %d fingerprints", n*n, len(seen))
	}
}
