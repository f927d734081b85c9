package sim_test

import (
	"testing"

	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
)

// places runs a plan on two actors: one writes a register five times, the other once, after some writes that nobody else
// sees. It returns how often the one write came at each place among the five.
func places(t *testing.T, plan sim.Plan, schedules int) (at [6]int) {
	t.Helper()
	plan = plan.Begin()
	for i := range schedules + 1 {
		shared, own, order := &register{name: "shared"}, &register{name: "own"}, []int(nil)
		s := sim.New(sim.Config{Seed: sim.Derive(1, i), Strategy: plan.At(i), ExpectedSteps: 36})
		for name, writes := range [2]int{5, 1} {
			s.Add(sim.Actor{Name: string(rune('a' + name)), Run: func(p *sim.Proc) {
				for range name * 5 {
					p.Do(&access{to: own, write: true})
				}
				for range writes {
					p.Do(&noted{access{to: shared, write: true}, func(*noted) { order = append(order, name) }})
				}
			}})
		}
		if result := s.Run(); result.End != sim.Finished {
			t.Fatal(result.End, result.Err)
		}
		for place, name := range order {
			if i > 0 && name == 1 {
				at[place]++
			}
		}
	}
	return at
}

// Other steps of the threads do not make an order of their accesses less likely. Under any other strategy they do.
func TestTheOrdersOfAccessesHaveTheSameChanceUnderSURW(t *testing.T) {
	n := effort.Fewer(3000, 600)
	for _, plan := range sim.Plans() {
		uniform, at := true, places(t, plan, n)
		for _, times := range at {
			uniform = uniform && times > n/6*2/3 && times < n/6*3/2
		}
		if uniform != (plan.Name == "surw") {
			t.Errorf("%s: the write came at the places %v, uniformly %v", plan.Name, at, uniform)
		}
	}
}
