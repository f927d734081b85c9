package sim_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
)

// noted is an access that says when it took effect.
type noted struct {
	access
	took func(*noted)
}

func (n *noted) Apply(outcome int) {
	n.access.Apply(outcome)
	n.took(n)
}

// partialOrder runs actors on two registers and a clock, and returns the hash of the run's partial order, and the
// order itself: every pair of steps that depend on each other, in the order in which they were taken.
func partialOrder(seed uint64) (hash uint64, pairs string) {
	type event struct {
		name string // whose step it is, and which of theirs
		kind sim.Kind
		of   string
		did  *noted
	}
	var events []event
	var latest *noted
	count := map[string]int{}
	var order sim.Order
	s := sim.New(sim.Config{Seed: seed, Strategy: order.Of(sim.RandomWalk), Ticks: 1, Trace: func(t sim.TraceStep) {
		count[t.Step.Name]++
		e := event{name: fmt.Sprint(t.Step.Name, count[t.Step.Name]), kind: t.Step.Kind, of: t.Step.Name}
		if e.kind == sim.Effect {
			e.did = latest
		}
		events = append(events, e)
	}})
	x, y := &register{name: "x"}, &register{name: "y"}
	took := func(n *noted) { latest = n }
	read := func(p *sim.Proc, r *register) { p.Do(&noted{access{to: r}, took}) }
	write := func(p *sim.Proc, r *register) { p.Do(&noted{access{to: r, write: true}, took}) }
	s.Add(sim.Actor{Name: "a", Run: func(p *sim.Proc) { read(p, x); write(p, x) }})
	s.Add(sim.Actor{Name: "b", Run: func(p *sim.Proc) { read(p, x); write(p, y) }})
	s.Add(sim.Actor{Name: "c", Run: func(p *sim.Proc) { p.Clock().Sleep(time.Second) }})
	s.Run()
	var all []string
	for i, e := range events {
		for _, f := range events[i+1:] {
			conflict := e.did != nil && f.did != nil && e.did.to == f.did.to && (e.did.write || f.did.write)
			if conflict || e.of == f.of || e.kind == sim.Tick || f.kind == sim.Tick {
				all = append(all, e.name+"<"+f.name)
			}
		}
	}
	slices.Sort(all)
	return order.Hash(), strings.Join(all, " ")
}

func TestAnOrderIsHashedAlikeHoweverItsIndependentStepsAreInterleaved(t *testing.T) {
	hashes, orders := map[uint64]string{}, map[string]uint64{}
	const runs = 3000
	for seed := range uint64(runs) {
		hash, pairs := partialOrder(seed)
		if other, known := hashes[hash]; known && other != pairs {
			t.Fatalf("two orders have one hash:\n%s\n%s", other, pairs)
		}
		if other, known := orders[pairs]; known && other != hash {
			t.Fatalf("seed %d: one order has two hashes: %s", seed, pairs)
		}
		hashes[hash], orders[pairs] = pairs, hash
	}
	if len(hashes) < 20 || len(hashes) > runs/2 {
		t.Errorf("%d orders in %d runs: the test compares too little", len(hashes), runs)
	}
}

func TestOrdersOfALostUpdate(t *testing.T) {
	for _, test := range []struct{ actors, want int }{{1, 1}, {2, 4}, {3, 36}} {
		seen := map[uint64]bool{}
		for seed := range uint64(300) {
			var order sim.Order
			incrementers(sim.Config{Seed: seed, Strategy: order.Of(sim.RandomWalk)}, test.actors)
			seen[order.Hash()] = true
		}
		// Two reads and two writes have six interleavings. Two pairs of these differ only in the order of the reads.
		if len(seen) != test.want {
			t.Errorf("%d actors that read and then write: %d partial orders, want %d", test.actors, len(seen),
				test.want)
		}
		// Sleep sets run each of them once.
		x, ends := exhaustive.Exploration{Off: sim.StateComparison | sim.PersistentSets}, 0
		for x.Next() {
			if _, result := incrementers(sim.Config{Strategy: x.Strategy()}, test.actors); result.End == sim.Finished {
				ends++
			}
		}
		if ends != test.want {
			t.Errorf("%d actors that read and then write: %d runs end, want one for each of %d orders",
				test.actors, ends, test.want)
		}
	}
}

// held is a request that waits in the network.
type held struct {
	access
	lets func() bool // it may take effect
}

func (h *held) Outcomes() []int {
	if !h.lets() {
		return nil
	}
	return []int{0}
}

// moves is a chooser that finds steps with the same Move: neither a search nor another world could tell them apart.
type moves struct {
	t *testing.T
	sim.Chooser
}

func (m moves) Choose(steps []sim.Step) int {
	known := map[sim.Move]bool{}
	for _, s := range steps {
		if known[s.Move()] {
			m.t.Errorf("two steps are %v of %s", s.Kind, s.Name)
		}
		known[s.Move()] = true
	}
	return m.Chooser.Choose(steps)
}

// An exploration reaches exactly these outcomes, with its reductions and without. The outcomes are written down,
// because in a comparison of two searches, a step that is never offered would be missing on both sides.
func TestAnExplorationComesToEachOutcome(t *testing.T) {
	const step = 2 * time.Second
	since := func(p *sim.Proc, at time.Time) int { return int(p.Clock().Now().Sub(at) / time.Second) }
	for _, test := range []struct {
		name string
		// add adds the actors, and returns a function for the outcome
		add  func(s *sim.Sim, clock *fakeclock.Clock) func() string
		want []string
	}{
		{"a clock that is set during a request or a sleep", func(s *sim.Sim, _ *fakeclock.Clock) func() string {
			var asked, slept int
			s.Add(sim.Actor{Name: "a", ClockSteps: []time.Duration{step}, Run: func(p *sim.Proc) {
				began := p.Clock().Now()
				p.Do(&access{to: &register{}})
				asked, began = since(p, began), p.Clock().Now()
				p.Clock().Sleep(time.Second)
				slept = since(p, began)
			}})
			return func() string { return fmt.Sprintf("the request took %d s, the sleep %d s", asked, slept) }
		}, []string{"the request took 0 s, the sleep 1 s", "the request took 0 s, the sleep 3 s",
			"the request took 2 s, the sleep 1 s"}},
		{"a request that waits for time to pass", func(s *sim.Sim, clock *fakeclock.Clock) func() string {
			done := "no answer"
			s.AddSource(&alarm{clock: clock, at: fakeclock.Epoch.Add(step)})
			s.Add(sim.Actor{Name: "a", Run: func(p *sim.Proc) {
				late := func() bool { return !clock.Now().Before(fakeclock.Epoch.Add(step)) }
				p.Do(&held{access{to: &register{}}, late})
				done = fmt.Sprintf("an answer after %d s", since(p, fakeclock.Epoch))
			}})
			return func() string { return done }
		}, []string{"an answer after 2 s"}},
		{"two requests of one moment that nobody waits for", func(s *sim.Sim, _ *fakeclock.Clock) func() string {
			r, left := [2]register{{name: "r"}, {name: "s"}}, false
			read := &held{access{to: &r[1]}, func() bool { return left }}
			s.Add(sim.Actor{Name: "a", Run: func(p *sim.Proc) {
				here := p.Clock()
				for i := range r { // the second lane takes the place of the first
					here.Lane(func() { p.Do(&access{to: &r[i], write: true, value: 1}) })()
				}
				left = true
				p.Do(&access{to: &register{name: "t"}})
			}})
			s.Add(sim.Actor{Name: "b", Run: func(p *sim.Proc) { p.Do(read) }})
			return func() string { return fmt.Sprint(r[0].value, r[1].value, " read ", read.value) }
		}, []string{"0 0 read 0", "0 1 read 0", "0 1 read 1", "1 0 read 0", "1 1 read 0", "1 1 read 1"}},
	} {
		for seed := range uint64(20) {
			clock := fakeclock.New(fakeclock.Epoch)
			s := sim.New(sim.Config{Clock: clock, Seed: seed, Strategy: sim.Strategy{Name: "moves",
				New: func(rng *rand.Rand, n int) sim.Chooser { return moves{t, sim.RandomWalk.New(rng, n)} }}})
			test.add(s, clock)
			s.Run()
		}
		for _, x := range []exhaustive.Exploration{{}, {Backwards: true},
			{Off: noReduction &^ sim.SleepSets, Backwards: true}, {Off: noReduction}} {
			found := map[string]bool{}
			for x.Next() {
				clock := fakeclock.New(fakeclock.Epoch)
				var outcome func() string
				s := sim.New(sim.Config{Clock: clock, Strategy: x.Strategy(), Fingerprint: func() uint64 {
					return uint64(fingerprint.Hash(0).Text(outcome()))
				}})
				outcome = test.add(s, clock)
				switch r := s.Run(); {
				case r.Err != nil:
					t.Fatalf("%s: %v", test.name, r.Err)
				case r.End == sim.Finished:
					found[outcome()] = true
				}
			}
			if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, test.want) {
				t.Errorf("%s, without reductions %b: got %q, want %q", test.name, x.Off, got, test.want)
			}
		}
	}
}
