package base_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

// Hash is the fingerprint that the tests build on.
type hash = fingerprint.Hash

func TestWhatDiffersHasAnotherFingerprint(t *testing.T) {
	var h hash
	all := map[hash]string{}
	for name, f := range map[string]hash{
		"nothing": h, "0": h.Number(0), "0 0": h.Number(0).Number(0), "1": h.Number(1), "0 1": h.Number(0).Number(1),
		"1 0": h.Number(1).Number(0), "empty text": h.Text(""), "a": h.Text("a"), "a b": h.Text("a").Text("b"),
		"ab": h.Text("ab"), "b a": h.Text("b").Text("a"),
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

func TestBytesThatDifferHaveAnotherWideFingerprint(t *testing.T) {
	all := map[fingerprint.Wide]string{}
	data := []string{""}
	for n := range 40 {
		long := strings.Repeat("a", n)
		data = append(data, long+"a", long+"\x00", long+"b", long+"ab", "b"+long+"a", "\x00"+long+"\x01")
	}
	for _, d := range slices.Compact(slices.Sorted(slices.Values(data))) {
		f := fingerprint.Of([]byte(d))
		if other, taken := all[f]; taken {
			t.Errorf("%q and %q have the fingerprint %x", d, other, f)
		}
		if f != fingerprint.Of([]byte(d)) {
			t.Errorf("%q has two fingerprints", d)
		}
		all[f] = d
	}
	a, b := fingerprint.Of([]byte("a")), fingerprint.Of([]byte("b"))
	if a.Plus(b) != b.Plus(a) || a.Plus(b) == a.Plus(a) {
		t.Error("a sum depends on the order, or does not on what is in it")
	}
}
