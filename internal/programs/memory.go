package programs

import (
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// memory is what the threads of one run share: variables and mutexes by name.
type memory struct {
	values map[string]int
	locked map[string]bool
	wrong  bool // an assertion has failed
}

// thread is what the code of a program sees.
type thread struct {
	*memory
	proc *sim.Proc
}

func (t thread) get(name string) (v int) {
	t.proc.Do(&access{at: name, do: func() { v = t.values[name] }})
	return v
}

func (t thread) set(name string, v int) {
	t.proc.Do(&access{at: name, write: true, do: func() { t.values[name] = v }})
}

// add is v++ as a machine does it: a read, then a write.
func (t thread) add(name string, n int) { t.set(name, t.get(name)+n) }

func (t thread) lock(name string) {
	t.proc.Do(&access{
		at: name, write: true,
		ready: func() bool { return !t.locked[name] },
		do:    func() { t.locked[name] = true },
	})
}

func (t thread) unlock(name string) {
	t.proc.Do(&access{at: name, write: true, do: func() { t.locked[name] = false }})
}

// wait waits until a variable is set.
func (t thread) wait(name string) {
	t.proc.Do(&access{at: name, ready: func() bool { return t.values[name] != 0 }, do: func() {}})
}

func (t thread) assert(holds bool) { t.wrong = t.wrong || !holds }

// access is one access to shared memory: a sim.Immediate.
type access struct {
	at    string
	write bool
	ready func() bool // nil is always
	do    func()
	touch [1]sim.Access
}

var once = []int{0}

// Outcomes implements sim.Request.
func (a *access) Outcomes() []int {
	if a.ready != nil && !a.ready() {
		return nil
	}
	return once
}

// Accesses implements sim.Request.
func (a *access) Accesses(int) []sim.Access {
	if a.touch[0].Object == 0 {
		a.touch[0] = sim.Access{Object: sim.ObjectNamed(a.at), Write: a.write}
	}
	return a.touch[:]
}

// Apply implements sim.Request.
func (a *access) Apply(int) { a.do() }

// Describe implements sim.Request.
func (a *access) Describe(int) string { return a.at }

// DescribeAnswer implements sim.Request.
func (*access) DescribeAnswer() string { return "" }

// Immediate implements sim.Immediate.
func (*access) Immediate() {}
