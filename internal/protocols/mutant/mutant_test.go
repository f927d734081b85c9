package mutant_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/protocols/mutant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

func TestMutantsAreNamedSortedAndSayWhatTheyBreak(t *testing.T) {
	var invariants []string
	for _, inv := range invariant.All() {
		invariants = append(invariants, inv.Name)
	}
	names := []string{recipe.Reference().Name}
	var sorted []string
	for _, m := range mutant.All() {
		if m.Name == "" || strings.TrimSpace(m.Summary) == "" {
			t.Errorf("%q, %q: want a name and a summary", m.Name, m.Summary)
		}
		if slices.Contains(names, m.Name) {
			t.Errorf("the name %s is taken", m.Name)
		}
		if !slices.Contains(invariants, m.Breaks) {
			t.Errorf("%s breaks %q, want one of %q", m.Name, m.Breaks, invariants)
		}
		names, sorted = append(names, m.Name), append(sorted, m.Name)
	}
	if !slices.IsSorted(sorted) {
		t.Errorf("got %q, want them sorted", sorted)
	}
}

func TestAMutantRefusesABadConfig(t *testing.T) {
	for _, m := range mutant.All() {
		if h, err := m.New(isr.Config{}); err == nil {
			t.Errorf("%s: got %v, want an error", m.Name, h)
		}
	}
}
