package campaign

import (
	"testing"

	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/sim"
)

// TestOutcomesAreRenumberedWithoutFaults: the outcomes of an effect number the faults that the schedule may choose.
func TestOutcomesAreRenumberedWithoutFaults(t *testing.T) {
	faults := []kernel.Fault{{Maybe: true}, {Maybe: false}, {Maybe: true}, {Maybe: true}} // outcomes 1, none, 2, 3
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
	s := kernel.Defaults()
	s.Name = "s"
	s.Actors = []kernel.Actor{
		{Name: "alice", Script: []kernel.Command{{Verb: "get", Key: "/a"}, {Verb: "get", Key: "/b"}}, Pauses: 1},
		{Name: "bob"},
	}
	s.Faults = []kernel.Fault{{Maybe: true}, {}}
	before, err := s.YAML()
	must.OK(t, err)
	other := changed(s, func(s *kernel.Scenario) {
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
	if same := changed(s, func(*kernel.Scenario) {}); same != nil {
		t.Error("no change is a change")
	}
}
