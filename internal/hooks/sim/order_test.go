package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/hooks/sim"
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
		x, ends := sim.Exploration{Off: sim.StateComparison | sim.PersistentSets}, 0
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
