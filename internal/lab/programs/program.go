package programs

import (
	"fmt"

	"github.com/isr-sim/isr-sim/internal/sim"
)

// Program is one of the small programs.
type Program struct {
	Name    string
	threads []func(thread) // in the order in which the main thread creates them
	initial map[string]int
	then    func(thread) // the further actions of the main thread, or nil
	joins   bool         // the main thread waits for the others at its end
}

// creation is the number of steps that the main thread takes to create a thread: pthread_create allocates a stack, maps
// it, and hands over. So threads that are created earlier are ahead, which makes these programs hard for a random walk.
const creation = 4

// Run runs the program once and reports whether it has shown its bug, that is, whether an assertion failed.
func (p Program) Run(cfg sim.Config) (shown bool, result sim.Result) {
	m := &memory{variables: map[string]*variable{}}
	//isrsim:unordered each is another variable
	for name, v := range p.initial {
		m.at(name).value = v
	}
	s := sim.New(cfg)
	s.Add(sim.Actor{Name: "main", Run: func(proc *sim.Proc) {
		t := thread{m, proc}
		for i := range p.threads {
			for range creation {
				t.add("stack of main", 1)
			}
			t.set(created(i), 1)
		}
		if p.then != nil {
			p.then(t)
		}
		for i := range p.threads {
			if p.joins {
				t.wait(ended(i))
			}
		}
	}})
	for i, run := range p.threads {
		s.Add(sim.Actor{Name: fmt.Sprintf("t%d", i+1), Run: func(proc *sim.Proc) {
			t := thread{m, proc}
			t.wait(created(i))
			run(t)
			t.set(ended(i), 1)
		}})
	}
	result = s.Run()
	return m.wrong, result
}

func created(i int) string { return fmt.Sprintf("t%d created", i+1) }
func ended(i int) string   { return fmt.Sprintf("t%d ended", i+1) }
