package sim_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/sim"
)

// prefers is the strategy that takes the first of the steps with the least rank.
func prefers(rank func(sim.Step) int) sim.Strategy {
	return sim.Strategy{Name: "prefers", New: func(*rand.Rand, int) sim.Chooser { return ranked(rank) }}
}

type ranked func(sim.Step) int

func (r ranked) Choose(steps []sim.Step) (least int) {
	for i := range steps {
		if r(steps[i]) < r(steps[least]) {
			least = i
		}
	}
	return least
}

// polls is an actor that asks the given number of times, and sleeps for a second after each.
func polls(name string, times int, lossy bool) sim.Actor {
	to := &register{name: "x"}
	return sim.Actor{Name: name, Run: func(p *sim.Proc) {
		for range times {
			p.Do(&access{to: to, lossy: lossy})
			p.Clock().Sleep(time.Second)
		}
	}}
}

// stuck is a request that waits for a step of another actor.
type stuck struct{ access }

func (*stuck) Outcomes() []int { return nil }

func TestACycleIsFairAndHasNoFault(t *testing.T) {
	inOrder := func(sim.Step) int { return 0 }
	bobLast := func(s sim.Step) int {
		if s.Actor() == "bob" && s.Kind != sim.Start {
			return 1
		}
		return 0
	}
	ranks := map[sim.Kind]int{sim.Pause: 1, sim.Effect: 2, sim.Tick: 3, sim.Resume: 4}
	restless := polls("alice", 0, false)
	restless.Run = func(p *sim.Proc) {
		for range 20 {
			p.Do(&access{to: &register{name: "x"}})
		}
	}
	pausing, planned, waits := polls("alice", 6, false), polls("bob", 6, false), polls("bob", 0, false)
	served := polls("alice", 6, false)
	served.Run = func(p *sim.Proc) {
		for n := range 6 {
			p.Do(&access{to: &register{name: "x"}})
			p.Clock().Sleep(time.Second)
			p.SetPlace(n + 1)
		}
	}
	pausing.Pauses = 100
	planned.Planned = []sim.Planned{{Kind: sim.Crash, At: time.Hour}}
	waits.Run = func(p *sim.Proc) { p.Do(&stuck{}) }
	for _, test := range []struct {
		name    string
		actors  []sim.Actor
		rank    func(sim.Step) int
		waiting []string // "" means no cycle
	}{
		{"both poll", []sim.Actor{polls("alice", 6, false), polls("bob", 6, false)}, inOrder, []string{"alice", "bob"}},
		{"one is done", []sim.Actor{polls("alice", 6, false), polls("bob", 0, false)}, inOrder, []string{"alice"}},
		{"one waits for the other", []sim.Actor{polls("alice", 6, false), waits}, inOrder, []string{"alice", "bob"}},
		{"one could go on and does not", []sim.Actor{polls("alice", 6, false), polls("bob", 1, false)}, bobLast, nil},
		{"time stands still", []sim.Actor{restless}, inOrder, nil},
		{"each round is another command", []sim.Actor{served}, inOrder, nil},
		{"a pause in each round", []sim.Actor{pausing}, func(s sim.Step) int { return ranks[s.Kind] }, nil},
		{"a crash is still to come", []sim.Actor{polls("alice", 6, false), planned}, inOrder, nil},
	} {
		s := sim.New(sim.Config{Strategy: prefers(test.rank), Ticks: 100, Cycles: true, MaxSteps: 100})
		for _, a := range test.actors {
			s.Add(a)
		}
		var got []string
		if r := s.Run(); len(r.Cycles) > 0 {
			got = r.Cycles[0].Waiting
		}
		if !slices.Equal(got, test.waiting) {
			t.Errorf("%s: a cycle in which %q wait, want %q", test.name, got, test.waiting)
		}
	}
}

func TestGoingRound(t *testing.T) {
	const enough = 30
	for _, test := range []struct {
		name   string
		polls  int
		other  int
		rank   func(sim.Step) int
		rounds int
	}{
		{"it never ends", 1000, 0, func(sim.Step) int { return 0 }, enough},
		{"it ends", 10, 0, func(sim.Step) int { return 0 }, 9},
		{"the other one ends", 1000, 10, func(sim.Step) int { return 0 }, 9},
		{"a fault in each round", 1000, 0, func(s sim.Step) int { return -s.Move().Outcome }, 1},
	} {
		again := func(strategy sim.Strategy, n int) sim.Result {
			s := sim.New(sim.Config{Strategy: strategy, Cycles: true, MaxSteps: n})
			s.Add(polls("alice", test.polls, true))
			s.Add(polls("bob", test.other, false))
			return s.Run()
		}
		first := again(prefers(test.rank), 20)
		if len(first.Cycles) == 0 {
			t.Fatalf("%s: no cycle", test.name)
		}
		rounds := -1
		r := again(sim.GoRound(first.Choices, first.Cycles[0], func() bool {
			rounds++
			return rounds < enough
		}), 0)
		if rounds != test.rounds || r.Err != nil {
			t.Errorf("%s: went round %d times, %v, want %d", test.name, rounds, r.Err, test.rounds)
		}
	}
}
