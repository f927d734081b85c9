package sim_test

import (
	"fmt"

	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
)

// counter is a world of one number.
type counter struct{ n int }

// read and write are requests to it, for Proc.Do.
type (
	read struct {
		from  *counter
		value int
	}
	write struct {
		to    *counter
		value int
	}
)

// theCounter tells the scheduler that all requests touch one thing.
var theCounter = sim.ObjectNamed("counter")

func (r *read) Outcomes() []int           { return []int{0} } // the ordinary one, and no faults
func (r *read) Accesses(int) []sim.Access { return []sim.Access{{Object: theCounter}} }
func (r *read) Apply(int)                 { r.value = r.from.n }
func (r *read) Describe(int) string       { return fmt.Sprintf("reads %d", r.value) }
func (r *read) DescribeAnswer() string    { return "has read" }

func (w *write) Outcomes() []int           { return []int{0} }
func (w *write) Accesses(int) []sim.Access { return []sim.Access{{Object: theCounter, Write: true}} }
func (w *write) Apply(int)                 { w.to.n = w.value }
func (w *write) Describe(int) string       { return fmt.Sprintf("writes %d", w.value) }
func (w *write) DescribeAnswer() string    { return "has written" }

// increment is the code under test. Another actor may run between its two requests.
func increment(p *sim.Proc, c *counter) {
	r := &read{from: c}
	p.Do(r)
	p.Do(&write{to: c, value: r.value + 1})
}

// run lets alice and bob increment a counter, and returns the counter's final value.
func run(cfg sim.Config) (sim.Result, int) {
	var c counter
	s := sim.New(cfg)
	for _, name := range []string{"alice", "bob"} {
		s.Add(sim.Actor{Name: name, Run: func(p *sim.Proc) { increment(p, &c) }})
	}
	return s.Run(), c.n
}

// Two actors increment a counter by a read and a write. A random walk finds the schedule in which an increment is lost,
// and its choices show it again.
func Example() {
	var found sim.Result
	for seed := uint64(1); ; seed++ {
		result, n := run(sim.Config{Seed: seed, Strategy: sim.RandomWalk})
		if n != 2 {
			fmt.Printf("seed %d: 2 increments made %d\n", seed, n)
			found = result
			break
		}
	}
	_, n := run(sim.Config{
		Strategy: strategy.Replay(found.Choices),
		Trace: func(step sim.TraceStep) {
			if step.Step.Kind == sim.Effect {
				fmt.Println(step.Step.Name, step.Text)
			}
		},
	})
	fmt.Println("replayed:", n)
	// Output:
	// seed 2: 2 increments made 1
	// bob reads 0
	// alice reads 0
	// alice writes 1
	// bob writes 1
	// replayed: 1
}

// An exploration runs every schedule, up to the order of steps that cannot matter.
func ExampleExploration() {
	var x exhaustive.Exploration
	lost := 0
	for x.Next() {
		if result, n := run(sim.Config{Strategy: x.Strategy()}); result.End == sim.Finished && n != 2 {
			lost++
		}
	}
	explored := x.Explored()
	fmt.Printf("complete: %v, %d schedules, %d of them lose an increment\n", explored.Complete,
		explored.Schedules, lost)
	// Output:
	// complete: true, 4 schedules, 2 of them lose an increment
}
