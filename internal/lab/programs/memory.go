package programs

import (
	"github.com/isr-sim/isr-sim/internal/sim"
)

// memory is the shared memory of the threads of one run.
type memory struct {
	variables map[string]*variable
	wrong     bool // an assertion has failed
}

// variable is a place in memory. A mutex is a variable that is 1 while it is held.
type variable struct {
	name          string
	value         int
	reads, writes [1]sim.Access
}

// at returns the variable of that name, 0 at first.
func (m *memory) at(name string) *variable {
	v := m.variables[name]
	if v == nil {
		object := sim.ObjectNamed(name)
		v = &variable{
			name: name, reads: [1]sim.Access{{Object: object}}, writes: [1]sim.Access{{Object: object, Write: true}},
		}
		m.variables[name] = v
	}
	return v
}

// thread is the interface of a program's code to its run.
type thread struct {
	*memory
	proc interface{ Do(sim.Request) } // a *sim.Proc
}

func (t thread) get(name string) int {
	a := access{to: t.at(name)}
	t.proc.Do(&a)
	return a.value
}

func (t thread) set(name string, v int) { t.proc.Do(&access{to: t.at(name), write: true, value: v}) }

// add is v += n as a machine executes it: a read, then a write.
func (t thread) add(name string, n int) { t.set(name, t.get(name)+n) }

func (t thread) lock(mutex string) {
	t.proc.Do(&access{to: t.at(mutex), write: true, value: 1, waits: waitsForZero})
}

func (t thread) unlock(mutex string) { t.set(mutex, 0) }

// wait waits until a variable is set.
func (t thread) wait(name string) { t.proc.Do(&access{to: t.at(name), waits: waitsForOther}) }

func (t thread) assert(holds bool) { t.wrong = t.wrong || !holds }

// access is one access to a variable: a sim.Immediate.
type access struct {
	to    *variable
	write bool
	value int // written, or read
	waits waiting
}

// waiting is the condition under which an access can happen.
type waiting uint8

const (
	_ waiting = iota // nothing
	waitsForZero
	waitsForOther // than zero
)

var once = []int{0}

func (a *access) Outcomes() []int {
	if a.waits == waitsForZero && a.to.value != 0 || a.waits == waitsForOther && a.to.value == 0 {
		return nil
	}
	return once
}

func (a *access) Accesses(int) []sim.Access {
	if a.write {
		return a.to.writes[:]
	}
	return a.to.reads[:]
}

func (a *access) Apply(int) {
	if a.write {
		a.to.value = a.value
	} else {
		a.value = a.to.value
	}
}

func (a *access) Describe(int) string { return a.to.name }

func (*access) DescribeAnswer() string { return "" }

func (*access) Immediate() {}
