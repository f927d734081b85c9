package sim_test

import (
	"testing"

	"github.com/isr-sim/isr-sim/internal/hooks/sim"
)

// nothing is a request without an effect.
type nothing struct{}

var (
	ordinary = []int{0}
	nowhere  = []sim.Access{}
)

func (nothing) Outcomes() []int           { return ordinary }
func (nothing) Accesses(int) []sim.Access { return nowhere }
func (nothing) Apply(int)                 {}
func (nothing) Describe(int) string       { return "nothing" }
func (nothing) DescribeAnswer() string    { return "nothing" }

// BenchmarkSteps is the bare scheduler's steps per second: three actors send a thousand requests each, which do
// nothing. In a random walk, each request takes two steps: its effect, and its answer. In the second step the actor's
// code runs until it sends the next request. One operation is such a run, with a seed of its own, its preparation
// included.
func BenchmarkSteps(b *testing.B) {
	b.ReportAllocs()
	steps := 0
	for seed := uint64(0); b.Loop(); seed++ {
		s := sim.New(sim.Config{Seed: seed})
		for _, name := range []string{"a", "b", "c"} {
			s.Add(sim.Actor{Name: name, Run: func(p *sim.Proc) {
				for range 1000 {
					p.Do(nothing{})
				}
			}})
		}
		result := s.Run()
		if result.End != sim.Finished {
			b.Fatal(result.End, result.Err)
		}
		steps += result.Steps
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
}
