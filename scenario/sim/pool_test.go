package sim_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/isr-sim/isr-sim/scenario/sim"
)

// TestARunCannotTellItsPool has one pool serve runs that crash, that panic and that are cut, in between.
func TestARunCannotTellItsPool(t *testing.T) {
	var pool sim.Pool
	defer pool.Close()
	run := func(seed uint64, pool *sim.Pool) (trace []string, end sim.End) {
		r := &register{}
		s := sim.New(sim.Config{Seed: seed, Pool: pool, MaxSteps: 9 + int(seed%8), Trace: func(taken sim.TraceStep) {
			trace = append(trace, fmt.Sprintf("%s %v: %d", taken.Step.Name, taken.Step.Kind, r.value))
		}})
		for _, a := range []sim.Actor{{Name: "a", Crashes: 1, Restarts: 1}, {Name: "b"}} {
			a.Run = func(p *sim.Proc) {
				read := &access{to: r}
				p.Do(read)
				if p.Do(&access{to: r, write: true, value: read.value + 1}); r.value == 2 {
					panic("two")
				}
			}
			s.Add(a)
		}
		return trace, s.Run().End
	}
	ends := map[sim.End]int{}
	for seed := range uint64(300) {
		want, _ := run(seed, nil)
		got, end := run(seed, &pool)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: from a pool that served others\n%q\nwant\n%q", seed, got, want)
		}
		ends[end]++
	}
	if ends[sim.Finished] == 0 || ends[sim.Broken] == 0 || ends[sim.Cut] == 0 {
		t.Errorf("ends %v, want some of each: the pool had nothing to hide", ends)
	}
}
