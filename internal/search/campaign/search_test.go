package campaign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/base/mistake"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// interruptible is a scenario with 63 schedules, marks, a fault that strikes and one that never can.
const interruptible = "name: small\ncache: {lease: 1s, render: 0s, attempts: 1, patience: 1}\nbounds: {ticks: 0}\n" +
	"faults: [maybe response-lost op=TransactWriteItems, throttled op=Query]\nreach: [lock-refused]\n" +
	"actors: [{name: alice, script: [get /home]}, {name: bob, script: [get /home]}]\n"

// show prints all that a proof has found.
func show(p *Proof) string {
	doubt := "no doubt"
	if p.Doubt != nil {
		doubt = fmt.Sprint(p.Doubt.Why, p.Doubt.Result.Choices)
	}
	explored := p.Explored
	explored.Share = math.Round(explored.Share * 1e9) // a sum of fractions that are added in another order
	return fmt.Sprint(p.Summary(), p.Verdict, p.Misfit, p.Schedules, p.Steps, explored, p.Reached(), p.Missing, p.Unmet,
		p.Deadlines, p.Metrics, p.Proved(), p.NothingToJudge(), p.FailedAt, p.States, doubt)
}

// inParts runs a proof that is interrupted after every n schedules, and resumed from what Bytes has written.
func inParts(t *testing.T, v Prove, n int) (proof *Proof, parts int) {
	t.Helper()
	for parts = 1; ; parts++ {
		ctx, interrupt := context.WithCancel(t.Context())
		var file []byte
		began, over := v.From, false
		v.Keep = func(search func() (*Search, error), last bool) error {
			s, err := search()
			if err != nil {
				return err
			}
			if over {
				t.Error("the search was over before")
			}
			if over = last; over {
				file, err = s.Bytes()
			}
			if from := began; from == nil && s.Reached.Schedules >= n ||
				from != nil && s.Reached.Schedules >= from.Reached.Schedules+n {
				interrupt()
			}
			return err
		}
		proof, err := v.Run(ctx)
		interrupt()
		must.OK(t, err)
		if !over || proof.Explored.Open == 0 {
			return proof, parts
		}
		if v.From, err = ReadSearch(file); err != nil {
			t.Fatal(err)
		}
		// Another part, without a schedule, returns the result in the file.
		nothing := v
		nothing.Keep, nothing.MaxSchedules = nil, v.From.Reached.Schedules
		same := scenariotest.Ran(t, nothing)
		if diff := cmp.Diff(show(proof), show(same)); diff != "" {
			t.Errorf("part %d (-found +read):\n%s", parts, diff)
		}
		if began != nil && v.From.Reached.Schedules == began.Reached.Schedules {
			t.Fatalf("part %d has run nothing", parts)
		}
	}
}

// A proof in parts has the same result as one without interruption, whatever it finds.
func TestAnInterruptedProofGoesOn(t *testing.T) {
	effort.Long(t)
	s := scenariotest.Parsed(t, interruptible)
	cut := scenariotest.Parsed(t, strings.Replace(interruptible, "ticks: 0", "ticks: 0, steps: 9", 1))
	blind := scenariotest.Protocol(t, "blind-publish")
	for name, v := range map[string]Prove{
		"complete":      {Scenario: s, Seed: 1},
		"cut":           {Scenario: cut, Seed: 1},
		"a certificate": {Scenario: s, Seed: 1, Certify: true},
		"the SDK":       {Scenario: s, Seed: 1, Options: kernel.Options{SDK: true}},
		"violated":      {Scenario: s, Seed: 1, Protocol: blind},
		"a team":        {Scenario: s, Seed: 1, crew: crew{alone: 15, size: 3, round: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "complete" || name == "the SDK" {
				effort.Nightly(t) // a certificate needs a complete search, too
			}
			whole := scenariotest.Ran(t, v)
			split, parts := inParts(t, v, 1+whole.Schedules/7)
			if parts < 4 {
				t.Errorf("%d parts, expected more", parts)
			}
			if diff := cmp.Diff(show(whole), show(split)); diff != "" {
				t.Errorf("in %d parts (-whole +parts):\n%s", parts, diff)
			}
			if whole.Explored.Complete && (len(whole.Unmet) != 1 || len(whole.Deadlines) == 0) {
				t.Errorf("%d faults cannot strike, and %d ends: the test compares too little",
					len(whole.Unmet), len(whole.Deadlines))
			}
		})
	}
}

// A search resumes only with the same inputs, and a file that was changed is refused.
func TestASearchThatDoesNotFitIsRefused(t *testing.T) {
	s := scenariotest.Parsed(t, interruptible)
	v := Prove{Scenario: s, Seed: 1, MaxSchedules: 20}
	var file []byte
	v.Keep = func(search func() (*Search, error), over bool) error {
		if !over {
			return nil
		}
		for range 10 {
			kept, err := search()
			if err != nil {
				return err
			}
			again, err := kept.Bytes()
			if file != nil && !bytes.Equal(file, again) {
				t.Error("one search has been written as two files")
			}
			if file = again; err != nil {
				return err
			}
		}
		return nil
	}
	if proof, err := v.Run(t.Context()); err != nil || proof.Verdict != invariant.Unknown {
		t.Fatal(proof, err)
	}
	read := func() *Search {
		return must.Of(ReadSearch(file))(t)
	}
	other := scenariotest.Parsed(t, strings.Replace(interruptible, "lease: 1s", "lease: 2s", 1))
	blind := scenariotest.Protocol(t, "blind-publish")
	rebuilt := read()
	rebuilt.Code = "another"
	for want, v := range map[string]Prove{
		"another scenario": {Scenario: other, Seed: 1, From: read()},
		"under seed 2":     {Scenario: s, Seed: 2, From: read()},
		"of recipe-a":      {Scenario: s, Seed: 1, Protocol: blind, From: read()},
		"other reductions": {Scenario: s, Seed: 1, Certify: true, From: read()},
		"another build":    {Scenario: s, Seed: 1, From: rebuilt},
		"such as one for":  {Scenario: s, Seed: 1, From: read(), Options: kernel.Options{SDK: true}},
	} {
		_, err := v.Run(t.Context())
		if told, is := errors.AsType[*mistake.Error](err); !is || !strings.Contains(told.Error(), want) {
			t.Errorf("got %v, expected a mistake: %s", err, want)
		}
	}
	for _, broken := range [][]byte{
		nil, []byte("{}\n"), file[:len(file)-1], file[:len(file)-12], append(slices.Clone(file), 0),
		bytes.Replace(file, []byte(`"Position":0`), []byte(`"Position":7`), 1),
		bytes.Replace(file, []byte(`"Marks":{"`), []byte(`"Marks":{"x`), 1),
	} {
		if _, err := ReadSearch(broken); err == nil {
			t.Errorf("read %d bytes of %d, expected an error", len(broken), len(file))
		}
	}
	misfit := read()
	misfit.Misfit = "a column is missing"
	if p, err := (Prove{Scenario: s, Seed: 1, MaxSchedules: 20, From: misfit}).Run(t.Context()); err != nil ||
		p.Misfit != misfit.Misfit {
		t.Errorf("got %v, %v; expected the misfit of the file", p, err)
	}
	if code := read().Code; len(code) != 64 {
		t.Errorf("the file names the build %q, expected a SHA-256", code)
	}
	full := errors.New("no space")
	v = Prove{Scenario: s, Seed: 1, Keep: func(func() (*Search, error), bool) error { return full }}
	if _, err := v.Run(t.Context()); !errors.Is(err, full) {
		t.Errorf("got %v, expected the error of Keep", err)
	}
}

// A check that resumes needs the same certificate, and no part of it counts a state as known that the certificate
// lacks.
func TestACertificateIsCheckedInParts(t *testing.T) {
	s := scenariotest.Parsed(t, interruptible)
	whole := scenariotest.Ran(t, Prove{Scenario: s, Seed: 1, Certify: true})
	of, err := subjectOf(s, whole.Protocol.Name, 1)
	must.OK(t, err)
	right := &Certificate{subject: of, States: whole.States}
	right.Sum = sum(right.numbers())
	// part checks a certificate, resuming from v.From, and returns the search that is kept at its end.
	part := func(v Prove) (*Proof, *Search, error) {
		v.Scenario, v.Seed = s, 1
		kept := v.From
		v.Keep = func(search func() (*Search, error), over bool) error {
			if !over {
				return nil
			}
			s, err := search()
			if s != nil {
				kept = s
			}
			return err
		}
		proof, err := v.Run(t.Context())
		return proof, kept, err
	}
	_, begun, err := part(Prove{Against: right, MaxSchedules: 20})
	must.OK(t, err)
	for i := 0; i < len(right.States); i += effort.Fewer(5, 1+len(right.States)/4) {
		wrong := *right
		wrong.States = slices.Delete(slices.Clone(right.States), i, i+1)
		wrong.Sum = sum(wrong.numbers())
		var kept *Search
		for range 2 {
			proof, far, err := part(Prove{Against: &wrong, From: kept})
			if must.OK(t, err); proof.Verdict != invariant.Unknown ||
				!strings.HasPrefix(proof.Why, "the certificate lacks state ") {
				t.Fatalf("without state %d: %v, %s; expected that it is missed", i, proof.Verdict, proof.Why)
			}
			kept = far
		}
		if _, _, err := part(Prove{Against: &wrong, From: begun}); err == nil ||
			!strings.Contains(err.Error(), "another certificate") {
			t.Fatalf("without state %d: got %v from a check of another certificate", i, err)
		}
	}
}

// A resumed search cannot know that its program is unchanged, so it repeats some earlier runs. Here the few schedules
// left would not violate anything under a program that has lost a condition.
func TestASearchOfAnotherProgramDoesNotGoOn(t *testing.T) {
	effort.NotShort(t)
	s := scenariotest.Parsed(t, interruptible)
	program := func(name string) isr.Protocol {
		p := scenariotest.Protocol(t, name)
		return isr.Protocol{Name: "exec node", New: p.New}
	}
	var kept *Search
	v := Prove{Scenario: s, Seed: 1, Protocol: program("recipe-a"),
		Keep: func(search func() (*Search, error), over bool) (err error) {
			if over {
				kept, err = search()
			}
			return err
		}}
	whole := scenariotest.Ran(t, v)
	v.MaxSchedules = whole.Schedules - 3
	must.Done(t)(v.Run(t.Context()))
	file, err := kept.Bytes()
	if err == nil {
		v.From, err = ReadSearch(file)
	}
	must.OK(t, err)
	v.MaxSchedules = 0
	if p, err := v.Run(t.Context()); err != nil {
		t.Errorf("the same program: %v", err)
	} else if !p.Explored.Complete {
		t.Errorf("the same program: %s, want a complete search", p.Summary())
	}
	v.Protocol = program("publish-at-expiry")
	if _, err := v.Run(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "a program that does something else now") {
		t.Errorf("another program: %v; want an error that says so", err)
	}
}

// Of many runs, evenly spaced ones are kept.
func TestWitnesses(t *testing.T) {
	var w witnesses
	for n := 1; n <= 1000; n++ {
		if w.due(n) {
			w.Runs = append(w.Runs, witness{Steps: n})
		}
	}
	for i, run := range w.Runs {
		if run.Steps != (i+1)*w.Every {
			t.Errorf("run %d is that of schedule %d, want %d", i, run.Steps, (i+1)*w.Every)
		}
	}
	if w.Every != 16 || len(w.Runs) != 1000/16 {
		t.Errorf("one of %d schedules, %d in all; want one of 16, 62 in all", w.Every, len(w.Runs))
	}
}

// TestOutcomesAreRenumberedWithoutFaults: the outcomes of an effect number the faults that the schedule may choose.
func TestOutcomesAreRenumberedWithoutFaults(t *testing.T) {
	faults := []spec.Fault{{Maybe: true}, {Maybe: false}, {Maybe: true}, {Maybe: true}} // outcomes 1, none, 2, 3
	for _, test := range []struct {
		without []int
		want    [4]int // by outcome
	}{
		{nil, [4]int{0, 1, 2, 3}},
		{[]int{0}, [4]int{0, 0, 1, 2}},
		{[]int{1}, [4]int{0, 1, 2, 3}},
		{[]int{2}, [4]int{0, 1, 0, 2}},
		{[]int{3}, [4]int{0, 1, 2, 0}},
		{[]int{0, 2}, [4]int{0, 0, 0, 1}},
		{[]int{0, 1, 2, 3}, [4]int{}},
	} {
		for outcome, want := range test.want {
			got := withoutOutcomes(sim.Move{Kind: sim.Effect, Name: "alice", Outcome: outcome}, faults, test.without)
			if got != (sim.Move{Kind: sim.Effect, Name: "alice", Outcome: want}) {
				t.Errorf("without %v: outcome %d becomes %+v, want outcome %d", test.without, outcome, got, want)
			}
		}
	}
}

// TestAnActorIsAllItsIncarnations and no other actor's.
func TestAnActorIsAllItsIncarnations(t *testing.T) {
	for name, want := range map[string]bool{
		"alice": true, "alice.2": true, "alice2": false, "alic": false, "time": false,
	} {
		if got := ofActor(sim.Move{Name: name}, "alice"); got != want {
			t.Errorf("%s is of alice: %v, want %v", name, got, want)
		}
	}
}

// TestChangesLeaveTheScenarioAlone: no attempt changes the scenario that it starts from.
func TestChangesLeaveTheScenarioAlone(t *testing.T) {
	s := spec.Defaults()
	s.Name = "s"
	s.Actors = []spec.Actor{
		{Name: "alice", Script: []spec.Command{{Verb: "get", Key: "/a"}, {Verb: "get", Key: "/b"}}, Pauses: 1},
		{Name: "bob"},
	}
	s.Faults = []spec.Fault{{Maybe: true}, {}}
	before, err := s.YAML()
	must.OK(t, err)
	other := changed(s, func(s *spec.Scenario) {
		s.Actors[0].Script[0] = s.Actors[0].Script[1]
		s.Actors[0].Pauses = 0
		s.Actors = s.Actors[:1]
		s.Faults[0] = s.Faults[1]
		s.Cache.Lease = 0
	})
	after, err := s.YAML()
	must.OK(t, err)
	if other == nil || string(before) != string(after) {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	if same := changed(s, func(*spec.Scenario) {}); same != nil {
		t.Error("no change is a change")
	}
}
