package sim_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
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

// fair takes a step of the thread that has waited for longest: time, too, moves while others could do something.
func fair() sim.Strategy {
	return sim.Strategy{Name: "fair", New: func(*rand.Rand, int) sim.Chooser { return &inTurn{} }}
}

type inTurn struct {
	taken  int
	latest [100]int // by thread
}

func (f *inTurn) Choose(steps []sim.Step) int {
	i := ranked(func(s sim.Step) int { return f.latest[s.Thread] }).Choose(steps)
	f.taken++
	f.latest[steps[i].Thread] = f.taken
	return i
}

// cycles prints the lengths of the cycles of a run, and who waits in the first one.
func cycles(all []sim.Cycle) (text string) {
	for _, c := range all {
		text += fmt.Sprintln(c.To - c.From)
	}
	if text != "" {
		text = strings.Join(all[0].Waiting, ", ") + ": " + strings.Join(strings.Fields(text), " ")
	}
	return text
}

func TestACycleIsFairAndHasNoFault(t *testing.T) {
	inOrder := prefers(func(sim.Step) int { return 0 })
	bobLast := prefers(func(s sim.Step) int {
		if s.Actor() == "bob" && s.Kind != sim.Start {
			return 1
		}
		return 0
	})
	does := func(name string, code func(*sim.Proc)) sim.Actor { return sim.Actor{Name: name, Run: code} }
	polled := func(p *sim.Proc, every time.Duration) {
		p.Do(&access{to: &register{name: "x"}})
		p.Clock().Sleep(every)
	}
	alice, bob := polls("alice", 6, false), polls("bob", 6, false)
	pausing, crashing, set, planned := alice, alice, alice, bob
	pausing.Pauses, crashing.Crashes, crashing.Restarts = 100, 100, 100
	for range 100 {
		set.ClockSteps = append(set.ClockSteps, time.Second)
	}
	planned.Planned = []sim.Planned{{Kind: sim.Crash, At: time.Hour}}
	down := alice
	down.Planned = []sim.Planned{{Kind: sim.Crash, At: 500 * time.Millisecond}}
	for _, test := range []struct {
		name     string
		actors   []sim.Actor
		strategy sim.Strategy
		want     string // see cycles; "" means no cycle
		stops    stops
	}{
		{"both poll", []sim.Actor{alice, bob}, inOrder, "alice, bob: 7 7 7 7", nil},
		{"one is done", []sim.Actor{alice, polls("bob", 0, false)}, inOrder, "alice: 4 4 4 4", nil},
		{"one is down", []sim.Actor{bob, down}, inOrder, "bob: 4 4 4 4", nil},
		{"one waits for the other", []sim.Actor{alice, does("bob", func(p *sim.Proc) { p.Do(&stuck{}) })}, inOrder,
			"alice, bob: 4 4 4 4", nil},
		{"one waits for a lane", []sim.Actor{does("alice", func(p *sim.Proc) {
			p.Clock().Lane(func() {
				for range 6 {
					polled(p, time.Second)
				}
			})
			p.Clock().Join()
		})}, inOrder, "alice: 4 4 4 4", nil},
		{"they meet every six seconds", []sim.Actor{
			does("alice", func(p *sim.Proc) {
				for range 9 {
					polled(p, 2*time.Second)
				}
			}),
			does("bob", func(p *sim.Proc) {
				for range 6 {
					polled(p, 3*time.Second)
				}
			}),
		}, inOrder, "alice, bob: 19 19 19 19", nil},
		{"one could go on and does not", []sim.Actor{alice, polls("bob", 1, false)}, bobLast, "", nil},
		{"one could wake up and does not", []sim.Actor{alice, does("bob", func(p *sim.Proc) {
			p.Clock().Sleep(time.Millisecond)
		})}, bobLast, "", nil},
		{"time stands still", []sim.Actor{does("alice", func(p *sim.Proc) {
			for range 20 {
				p.Do(&access{to: &register{name: "x"}})
			}
		})}, inOrder, "", nil},
		{"each round is another command", []sim.Actor{does("alice", func(p *sim.Proc) {
			for n := range 6 {
				polled(p, time.Second)
				p.SetPlace(n + 1)
			}
		})}, inOrder, "", nil},
		{"a deadline comes closer", []sim.Actor{alice}, inOrder, "", stops{20}},
		{"a pause in each round", []sim.Actor{pausing}, fair(), "", nil},
		{"a crash in each round", []sim.Actor{crashing, bob}, fair(), "", nil},
		{"a step of the clock in each round", []sim.Actor{set}, fair(), "", nil},
		{"a crash is still to come", []sim.Actor{alice, planned}, inOrder, "", nil},
	} {
		s := sim.New(sim.Config{Strategy: test.strategy, Ticks: 100, Cycles: true, MaxSteps: 100})
		for _, a := range test.actors {
			s.Add(a)
		}
		s.AddSource(test.stops)
		if got := cycles(s.Run().Cycles); got != test.want {
			t.Errorf("%s: got the cycles %q, want %q", test.name, got, test.want)
		}
	}
}

func TestGoingRound(t *testing.T) {
	const enough = 30
	inOrder := prefers(func(sim.Step) int { return 0 })
	lastFirst := prefers(func(s sim.Step) int { return -s.Thread })
	for _, test := range []struct {
		name     string
		polls    int
		other    int
		strategy sim.Strategy
		ticks    int
		then     int // the second run has as many further actors
		rounds   int
	}{
		{"it never ends", 1000, 0, inOrder, 0, 0, enough},
		{"all never end, in another order", 1000, 1000, lastFirst, 0, 0, enough},
		{"all never end, and some are slow", 1000, 1000, fair(), 9, 0, enough},
		{"it ends", 10, 0, inOrder, 0, 0, 9},
		{"the other one ends", 1000, 10, inOrder, 0, 0, 9},
		{"a fault in each round", 1000, 0, prefers(func(s sim.Step) int { return -s.Move().Outcome }), 0, 0, 1},
		{"a second run with more choices", 1000, 1000, inOrder, 0, 1, 1},
		{"a second run with fewer choices", 1000, 1000, lastFirst, 0, -1, -1},
	} {
		again := func(strategy sim.Strategy, n, more int) sim.Result {
			s := sim.New(sim.Config{Strategy: strategy, Cycles: true, MaxSteps: n, Ticks: test.ticks})
			for i := range 4 + more {
				s.Add(polls(fmt.Sprint("actor", i), []int{test.polls, test.other}[min(i, 1)], i == 0))
			}
			return s.Run()
		}
		once := again(test.strategy, 60, 0)
		if len(once.Cycles) == 0 {
			t.Fatalf("%s: no cycle", test.name)
		}
		rounds := -1
		r := again(sim.GoRound(once.Choices, once.Cycles[0], func() bool {
			rounds++
			return rounds < enough
		}), 0, test.then)
		if rounds != test.rounds || r.End != sim.Abandoned {
			t.Errorf("%s: went round %d times, %v %v, want %d", test.name, rounds, r.End, r.Err, test.rounds)
		}
	}
}
