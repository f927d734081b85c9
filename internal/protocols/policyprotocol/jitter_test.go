package policyprotocol_test

import (
	"testing"

	"github.com/isr-sim/isr-sim/scenario/isr"
)

// TestJitteredWindowsDiffer: the page is read every second. It lasts for eight to ten seconds, and not always as long.
func TestJitteredWindowsDiffer(t *testing.T) {
	r := newRig(t)
	alice, bob := r.node("policy-jitter", "alice"), r.node("policy-jitter", "bob")
	for second := range 300 {
		r.at(second)
		for _, node := range []isr.Handler{alice, bob} {
			if served, err := node.Get(t.Context(), key); err != nil || !served.Fresh {
				t.Fatalf("second %d: served %+v, %v, want a fresh page", second, served, err)
			}
		}
	}
	lasted := map[int]int{}
	for i, at := range r.rendered[1:] {
		lasted[at-r.rendered[i]]++
	}
	if len(lasted) != 3 || lasted[8] == 0 || lasted[9] == 0 || lasted[10] == 0 {
		t.Errorf("windows by their length: %v, want some of 8, 9 and 10 s, and no others", lasted)
	}
}
