package property

import (
	"runtime"
	"testing"

	"github.com/isr-sim/isr-sim/internal/heap"
	"github.com/isr-sim/isr-sim/internal/probe"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// BenchmarkBubble runs schedules of two contenders through the real SDK, each in
// a bubble of its own, on all processors.
func BenchmarkBubble(b *testing.B) {
	// A bubble needs a *testing.T, which a benchmark has not. RunTests has its own idea of -cpu, and of how often.
	processors, done := runtime.GOMAXPROCS(0), false
	defer runtime.GOMAXPROCS(processors)
	ok := testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: b.Name(), F: func(t *testing.T) {
		if done {
			return
		}
		done = true
		defer heap.CollectRarely()() // as Check does
		runtime.GOMAXPROCS(processors)
		r := newRunner(t, Check{Protocol: DefaultName, Goroutines: true}, func(n Node) (isr.Handler, error) { return recipe.New(n.Config) })
		run := scenario.Run{
			Scenario: twelve(), Protocol: r.guard(r.answers, twelve()).protocol(r.name, r.newStore), Strategy: sim.POS,
			Options: scenario.Options{SDK: true, Bubble: r.own},
		}
		recorded := probe.Probe{Record: true}
		o, err := run.Do(probe.With(t.Context(), &recorded))
		if err != nil || o.Verdict != invariant.OK {
			t.Fatalf("got %+v, %v", o, err)
		}
		requests := len(recorded.Exchanges)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := run.Do(t.Context()); err != nil {
					b.Error(err)
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "schedules/s")
		b.ReportMetric(float64(requests), "requests")
	}}})
	if !ok {
		b.Fail()
	}
}

// twelve returns a world of a dozen requests.
func twelve() *scenario.Scenario {
	s := simple()
	s.Actors[0].Script = append(s.Actors[0].Script, scenario.Command{Verb: scenario.Get, Key: "/home"})
	return s
}
