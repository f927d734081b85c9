package kernel

import (
	"slices"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
)

// A scenario and its caller choose who judges: rules of the recipe judge where it is promised, or where they are named.
func TestJudges(t *testing.T) {
	own := []invariant.Invariant{{Name: "own", Statement: "pages are ours",
		Check: func(invariant.Evidence) invariant.Finding { return invariant.Finding{} }}}
	const rule, harm = "expired-publish", "stale-writer"
	list := func(names ...string) []string { return names }
	for name, c := range map[string]struct {
		s        spec.Scenario
		o        Options
		recipe   bool
		judge    []string // these do
		not      []string // and these do not
		out      []string
		chosen   bool
		complain string
	}{
		"harm":           {judge: list(harm), not: list(rule)},
		"the recipe":     {recipe: true, judge: list(harm, rule)},
		"a rule by name": {s: spec.Scenario{Invariants: list(rule)}, judge: list(rule), not: list(harm), chosen: true},
		"a rule alone":   {o: Options{Only: rule}, judge: list(rule), not: list(harm), chosen: true},
		"another alone":  {o: Options{Only: harm}, recipe: true, judge: list(harm), not: list(rule), chosen: true},
		"without": {s: spec.Scenario{Without: list(harm)}, recipe: true, judge: list(rule), not: list(harm),
			out: list(harm), chosen: true},
		"own": {o: Options{Invariants: own}, judge: list(harm, "own"), not: list(rule), chosen: true},
		"own is not chosen": {s: spec.Scenario{Invariants: list(harm)}, o: Options{Invariants: own},
			judge: list(harm, "own"), chosen: true},
		"own alone": {o: Options{Invariants: own, Only: "own"}, judge: list("own"), not: list(harm),
			chosen: true},
		"others alone": {o: Options{Invariants: own, Only: harm}, judge: list(harm), not: list("own"),
			chosen: true},
		"without own": {s: spec.Scenario{Without: list("own")}, o: Options{Invariants: own}, judge: list(harm),
			not: list("own"), out: list("own"), chosen: true},
		"nothing left": {s: spec.Scenario{Without: list(harm)}, o: Options{Only: harm},
			complain: "which the scenario leaves out"},
		"an unknown name": {s: spec.Scenario{Without: list("stale-writers")}, complain: "stale-writer"},
		"unknown alone":   {o: Options{Only: "freshnes"}, complain: "freshness"},
		"own without a name": {o: Options{Invariants: []invariant.Invariant{{Statement: "x", Check: own[0].Check}}},
			complain: "expected one with"},
		"own without words": {o: Options{Invariants: []invariant.Invariant{{Name: "x", Check: own[0].Check}}},
			complain: "expected one with"},
		"own without check": {o: Options{Invariants: []invariant.Invariant{{Name: "x", Statement: "x"}}},
			complain: "expected one with"},
	} {
		j, err := judgesOf(&c.s, c.o, c.recipe)
		if c.complain != "" {
			if err == nil || !strings.Contains(err.Error(), c.complain) {
				t.Errorf("%s: got the error %v, want one with %q", name, err, c.complain)
			}
			continue
		}
		var judge []string
		for _, inv := range slices.Concat(j.by, j.own) {
			judge = append(judge, inv.Name)
		}
		for _, want := range c.judge {
			if !slices.Contains(judge, want) {
				t.Errorf("%s: %v judge, want %s among them", name, judge, want)
			}
		}
		for _, none := range c.not {
			if slices.Contains(judge, none) {
				t.Errorf("%s: %v judge, want no %s", name, judge, none)
			}
		}
		// With a choice by the file, all others are out.
		if out := slices.DeleteFunc(slices.Clone(j.out), func(of string) bool {
			return c.s.Invariants != nil && !slices.Contains(c.s.Without, of)
		}); err != nil || !slices.Equal(out, c.out) || j.chosen != c.chosen {
			t.Errorf("%s: %v are left out, chosen: %t (%v), want %v, %t", name, j.out, j.chosen, err, c.out, c.chosen)
		}
	}
}
