package exhaustive_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
)

// stops is a source at whose seconds time stops.
type stops []int

func (stops) Name() string                 { return "stops" }
func (stops) Steps() []uint64              { return nil }
func (stops) Accesses(uint64) []sim.Access { return nil }
func (stops) Take(uint64) string           { return "" }
func (s stops) Next(after time.Time) (time.Time, bool) {
	for _, second := range s {
		if at := fakeclock.Epoch.Add(time.Duration(second) * time.Second); at.After(after) {
			return at, true
		}
	}
	return time.Time{}, false
}

// idle is a source that makes time stop at some seconds only because of a hidden value.
type idle struct {
	stops
	unread []int
}

func (s idle) Idle(t time.Time) bool {
	return slices.Contains(s.unread, int(t.Sub(fakeclock.Epoch)/time.Second))
}

// No tick goes to an instant whose only reason is a hidden value. If something else changes there, a tick goes there.
func TestNoTickGoesToAnIdleInstant(t *testing.T) {
	for _, test := range []struct {
		off    sim.Reduction
		memory bool // without it, nothing tells whether code reads hidden values
		want   []int
	}{{0, true, []int{3, 5}}, {0, false, []int{1, 3, 5}}, {sim.UnreadDeadlines, true, []int{1, 3, 5}}} {
		x := exhaustive.Exploration{Off: test.off}
		waited := 0
		var pool sim.Pool
		first := map[int]bool{} // where the first tick went while something else could happen
		gets, ticked := 0, false
		for x.Next() {
			s := x.Rewind()
			if s == nil {
				clock, remembers := fakeclock.New(fakeclock.Epoch), sim.Memory{}
				if ticked = false; test.memory {
					remembers.Search = &x
				}
				s = sim.New(sim.Config{
					Clock: clock, Strategy: x.Strategy(), Pool: &pool, Memory: remembers, Ticks: 1,
					Fingerprint: func() uint64 { return uint64(gets) },
					Keep: func() func(bool) {
						had, did := gets, ticked
						return func(bool) { gets, ticked = had, did }
					},
					Trace: func(step sim.TraceStep) {
						if step.Step.Kind == sim.Tick && step.Options > 1 && !ticked {
							ticked, first[int(clock.Now().Sub(fakeclock.Epoch)/time.Second)] = true, true
						}
					},
				})
				s.AddSource(idle{stops{1, 3, 5}, []int{1, 5}})
				s.Add(sim.Actor{Name: "a", Run: func(p *sim.Proc) { p.Do(&teller{asks: "a number", gets: &gets}) }})
				s.Add(sim.Actor{Name: "b", Run: func(p *sim.Proc) { p.Clock().Sleep(5 * time.Second) }})
			}
			result := s.Run()
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			if result.End == sim.Finished && !ticked {
				waited++
			}
		}
		x.Close()
		pool.Close()
		if diff := cmp.Diff(test.want, slices.Sorted(maps.Keys(first))); diff != "" || waited == 0 {
			t.Errorf("off %b, memory %v: %d runs wait for the end of the sleep, time goes first to (-want +got):\n%s",
				test.off, test.memory, waited, diff)
		}
	}
}
