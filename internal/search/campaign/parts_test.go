package campaign

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// says is what a proof says, whatever its schedules are.
func says(p *Proof) string {
	doubt := ""
	if p.Doubt != nil {
		doubt = p.Doubt.Why
	}
	return fmt.Sprint(p.Summary(), p.Verdict, p.Why, p.Misfit, p.Explored.Complete, p.Explored.Open, p.Reached(),
		p.Missing, p.Unmet, p.Deadlines, p.Proved(), p.NothingToJudge(), p.States, doubt)
}

// searchPart searches a part, and is interrupted after each n schedules.
func searchPart(t *testing.T, v Prove, n int) *Search {
	t.Helper()
	for {
		ctx, interrupt := context.WithCancel(t.Context())
		var file []byte
		v.Keep = func(search func() (*Search, error), over bool) error {
			s, err := search()
			if err == nil && over {
				file, err = s.Bytes()
			}
			if err == nil && s.Reached.Schedules%n == 0 {
				interrupt()
			}
			return err
		}
		proof, err := v.Run(ctx)
		interrupt()
		must.OK(t, err)
		if len(proof.Proved())+len(proof.NothingToJudge()) > 0 {
			t.Fatalf("%v alone proves %v", v.Split, proof.Proved())
		}
		if proof.Explored.Complete && (len(proof.Missing)+len(proof.Unmet)+len(proof.Deadlines) > 0 ||
			proof.States != nil) {
			t.Fatalf("%v alone judges the whole: %+v", v.Split, proof)
		}
		search, err := ReadSearch(file)
		must.OK(t, err)
		if ended := proof.Explored.Open == 0 || proof.Verdict == invariant.Violated; search.Ended() != ended {
			t.Fatalf("%v has ended: %v, want %v", v.Split, search.Ended(), ended)
		}
		if v.From = search; search.Ended() {
			return search
		}
	}
}

// The parts of a proof say together what the proof in one piece says. Its certificate is theirs, and one without the
// states of a part is refused.
func TestPartsAreOneProof(t *testing.T) {
	effort.Long(t)
	parse := func(text string) *scenario.Scenario {
		s := scenariotest.Parsed(t, text)
		return s
	}
	thief := scenariotest.Protocol(t, "acquire-by-get-then-put")
	small := parse(interruptible)
	mini := parse("name: mini\ncache: {lease: 1s, attempts: 1, patience: 1}\nbounds: {ticks: 1}\n" +
		"actors: [{name: alice, script: [get /home]}, {name: bob, script: [change /home]}]\n")
	for name, v := range map[string]Prove{
		"small": {Scenario: small, Seed: 1, Certify: true},
		"mini":  {Scenario: mini, Seed: 1, Certify: true},
		"cut": {Scenario: parse(strings.Replace(interruptible, "ticks: 0", "ticks: 0, steps: 9", 1)),
			Seed: 1, Certify: true},
		"violated": {Scenario: small, Seed: 1, Protocol: thief, Certify: true},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "small" || name == "cut" {
				effort.Long(t)
			}
			whole := scenariotest.Ran(t, v)
			if (whole.Verdict == invariant.Violated) != (name == "violated") {
				t.Fatalf("the whole is %v", whole.Verdict)
			}
			for _, parts := range []int{1, 3} {
				var all []*Search
				for i := range parts {
					part := v
					part.Split, part.File = sim.Split{Part: i + 1, Parts: parts}, "f.yaml"
					all = append(all, searchPart(t, part, 1+whole.Schedules/5))
					if s := all[i]; s.Part().Part != i+1 || s.Part().Parts != parts || s.File != "f.yaml" ||
						s.Text == "" {
						t.Fatalf("part %d of %d says it is %v of %s", i+1, parts, s.Part(), s.File)
					}
				}
				sum := v
				sum.From = Sum(all)
				proof := scenariotest.Ran(t, sum)
				if name == "violated" {
					if proof.Verdict != invariant.Violated ||
						proof.Failure.Violation.Invariant.Name != whole.Failure.Violation.Invariant.Name ||
						proof.FailureStrategy != whole.FailureStrategy || proof.FailedAt == 0 {
						t.Errorf("%d parts: %v in schedule %d (%s), the whole is %v", parts, proof.Summary(),
							proof.FailedAt, proof.FailureStrategy, whole.Summary())
					}
					continue
				}
				if diff := cmp.Diff(says(whole), says(proof)); diff != "" {
					t.Errorf("%d parts (-whole +parts):\n%s", parts, diff)
				}
				if proof.Schedules < whole.Schedules || proof.Steps < whole.Steps ||
					len(proof.Metrics) != len(whole.Metrics) {
					t.Errorf("%d parts: %d schedules, %d steps; the whole has %d and %d", parts, proof.Schedules,
						proof.Steps, whole.Schedules, whole.Steps)
				}
				if name != "mini" || parts == 1 {
					continue
				}
				refused := 0
				for i := range all {
					without := *proof
					without.States = Sum(slices.Delete(slices.Clone(all), i, i+1)).Reached.States
					c := must.Of(without.Certificate())(t)
					if p, err := (Prove{Scenario: mini, Seed: 1, Against: c}).Run(t.Context()); err != nil {
						t.Fatal(err)
					} else if len(without.States) < len(proof.States) && p.Verdict == invariant.Unknown {
						refused++
					} else if len(without.States) < len(proof.States) {
						t.Errorf("without part %d: got %v, expected unknown", i+1, p.Verdict)
					}
				}
				if refused == 0 {
					t.Error("no part has a state that no other has: the test shows nothing")
				}
			}
		})
	}
}

func TestAPartThatDoesNotFitIsRefused(t *testing.T) {
	s := scenariotest.Parsed(t, interruptible)
	part := Prove{Scenario: s, Seed: 1, Split: sim.Split{Part: 1, Parts: 2}}
	kept := searchPart(t, part, 1000)
	for want, v := range map[string]Prove{
		"found a search of part 1 of 2": {Scenario: s, Seed: 1, Certify: true, From: kept},
		"expected part 2 of 2":          {Scenario: s, Seed: 1, Split: sim.Split{Part: 2, Parts: 2}, From: kept},
		"expected part 1 of 3":          {Scenario: s, Seed: 1, Split: sim.Split{Part: 1, Parts: 3}, From: kept},
		"no part is compared with repetition": {Scenario: s, Seed: 1, Split: part.Split,
			Options: scenario.Options{SDK: true}},
	} {
		if _, err := v.Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to say %q", err, want)
		}
	}
}
