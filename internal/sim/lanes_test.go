package sim_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
)

// noReduction switches all reductions off. The rest is a plain enumeration.
const noReduction = sim.SleepSets | sim.StateComparison | sim.PersistentSets | sim.UnreadClocks | sim.OrphanedReads

// twoLanes runs an actor that increments the register in two lanes, while a third sleeps, and others that only read.
func twoLanes(cfg sim.Config, more sim.Actor, readers int) (*register, sim.Result) {
	r := &register{}
	cfg.Fingerprint = func() uint64 { return uint64(fingerprint.Hash(0).Number(uint64(r.value))) }
	s := sim.New(cfg)
	increment := func(p *sim.Proc) {
		read := &access{to: r}
		p.Do(read)
		p.Do(&access{to: r, write: true, value: read.value + 1})
	}
	more.Name, more.Run = "a", func(p *sim.Proc) {
		here := p.Clock()
		left := 2
		stop := here.Lane(func() { p.Clock().Sleep(time.Hour); r.value = -100 })
		for range 2 {
			here.Lane(func() { increment(p); left-- })
		}
		for left > 0 {
			here.Join()
		}
		stop()
		p.Do(&access{to: r, write: true, value: r.value * 10})
	}
	s.Add(more)
	for i := range readers {
		s.Add(sim.Actor{Name: fmt.Sprint("reader", i), Run: func(p *sim.Proc) {
			for range 5 {
				p.Do(&access{to: r})
			}
		}})
	}
	return r, s.Run()
}

// TestLanesInterleave: an exploration finds both results of two lanes of one actor, with and without reductions, and no
// other. The dropped lane never goes on.
func TestLanesInterleave(t *testing.T) {
	for _, off := range []sim.Reduction{0, noReduction} {
		x := &exhaustive.Exploration{Off: off}
		results := map[int]bool{}
		for x.Next() {
			r, result := twoLanes(sim.Config{Strategy: x.Strategy()}, sim.Actor{}, 0)
			if result.End == sim.Finished {
				results[r.value] = true
				replayed, again := twoLanes(sim.Config{Strategy: strategy.Replay(result.Choices)}, sim.Actor{}, 0)
				if replayed.value != r.value || again.Steps != result.Steps {
					t.Fatalf("a replay gives %d in %d steps, want %d in %d", replayed.value, again.Steps, r.value,
						result.Steps)
				}
			}
		}
		if got := slices.Sorted(maps.Keys(results)); !slices.Equal(got, []int{10, 20}) {
			t.Errorf("without %v: got results %v, want 10 and 20 (%v)", off, got, x)
		}
	}
}

// TestLanesOfACrashedNode: if a node crashes, the requests of its lanes stay in the network, as separate steps.
func TestLanesOfACrashedNode(t *testing.T) {
	orphans := map[int]bool{}
	for seed := range uint64(300) {
		n := 0
		_, result := twoLanes(sim.Config{Seed: seed, Trace: func(s sim.TraceStep) {
			if s.Step.Kind == sim.Orphan {
				n++
			}
		}}, sim.Actor{Crashes: 1, Restarts: 1}, 1)
		if result.End != sim.Finished {
			t.Fatalf("seed %d: %v: %v", seed, result.End, result.Err)
		}
		orphans[n] = true
	}
	if !orphans[0] || !orphans[1] || !orphans[2] {
		t.Errorf("got %v orphans in 300 runs, want runs with 0, 1 and 2 among them", slices.Sorted(maps.Keys(orphans)))
	}
}

// TestWhatADroppedLaneAsksFor drops a lane with a request under way. The request takes effect before the drop, after it
// or never, like a request of a crashed node.
func TestWhatADroppedLaneAsksFor(t *testing.T) {
	for _, off := range []sim.Reduction{0, noReduction} {
		x := &exhaustive.Exploration{Off: off}
		results := map[string]bool{}
		for x.Next() {
			r := &register{}
			after := &access{to: r}
			s := sim.New(sim.Config{Strategy: x.Strategy(),
				Fingerprint: func() uint64 { return uint64(r.value + 10*after.value) }})
			s.Add(sim.Actor{Name: "a", Run: func(p *sim.Proc) {
				drop := p.Clock().Lane(func() { p.Do(&access{to: r, write: true, value: 5}) })
				p.Do(&access{to: r})
				drop()
				p.Do(after)
			}})
			if result := s.Run(); result.End == sim.Finished {
				results[fmt.Sprintf("%d then %d", after.value, r.value)] = true
			}
		}
		if got := slices.Sorted(maps.Keys(results)); !slices.Equal(got, []string{"0 then 0", "0 then 5", "5 then 5"}) {
			t.Errorf("without %v: the register was %q, want all three courses", off, got)
		}
	}
}

// TestAHeartbeatLane: a lane sleeps while another lane has a request under way, and a panic in a lane ends the run.
func TestAHeartbeatLane(t *testing.T) {
	beats := 0
	s := sim.New(sim.Config{})
	s.Add(sim.Actor{Name: "a", Run: func(p *sim.Proc) {
		here := p.Clock()
		done := false
		here.Lane(func() {
			p.Clock().Sleep(10 * time.Second)
			done = true
		})
		for !done {
			drop := here.Lane(func() { p.Clock().Sleep(3 * time.Second); beats++ })
			here.Join()
			drop()
		}
	}})
	if result := s.Run(); result.End != sim.Finished || beats != 3 || result.Elapsed != 10*time.Second {
		t.Errorf("got %d beats in %v (%v, %v), want 3 in 10s", beats, result.Elapsed, result.End, result.Err)
	}

	s = sim.New(sim.Config{})
	s.Add(sim.Actor{Name: "a", Run: func(p *sim.Proc) {
		here := p.Clock()
		here.Lane(func() { p.Clock().Sleep(time.Second); panic("trouble") })
		here.Join()
	}})
	if result := s.Run(); result.End != sim.Broken || !strings.Contains(fmt.Sprint(result.Err), "trouble") {
		t.Errorf("got %v: %v, want a run that is broken by trouble", result.End, result.Err)
	}
}
