package sim_test

import (
	"fmt"
	"slices"

	"github.com/isr-sim/isr-sim/scenario/sim"
)

// The small programs that the literature compares schedulers on, as actors: each access to shared memory is a request.
//
// Source: Thomson, Donaldson, Betts: Concurrency testing using controlled schedulers (TOPC 2016), the suite SCTBench;
// Zhao and others: Selectively uniform concurrency testing (ASPLOS 2025) compares on it.
type program struct {
	name string
	// make returns the actors and the assertion: whether the run that is over has shown the bug.
	make func(m *memory) (actors []func(t thread), bug func() bool)
}

// memory is the shared memory of one run: variables and mutexes by name.
type memory struct {
	values map[string]int
	locked map[string]bool
}

// thread is what the code of a program sees.
type thread struct {
	m *memory
	p *sim.Proc
}

// memoryStep is one access to shared memory.
type memoryStep struct {
	at    string
	write bool
	ready func() bool // nil is always
	do    func()
}

func (s *memoryStep) Outcomes() []int {
	if s.ready != nil && !s.ready() {
		return nil
	}
	return []int{0}
}
func (s *memoryStep) Accesses(int) []sim.Access {
	return []sim.Access{{Object: sim.ObjectNamed(s.at), Write: s.write}}
}
func (s *memoryStep) Apply(int)              { s.do() }
func (s *memoryStep) Describe(int) string    { return s.at }
func (s *memoryStep) DescribeAnswer() string { return "" }

func (t thread) get(name string) (v int) {
	t.p.Do(&memoryStep{at: name, do: func() { v = t.m.values[name] }})
	return v
}

func (t thread) set(name string, v int) {
	t.p.Do(&memoryStep{at: name, write: true, do: func() { t.m.values[name] = v }})
}

func (t thread) lock(name string) {
	t.p.Do(&memoryStep{at: name, write: true, ready: func() bool { return !t.m.locked[name] }, do: func() { t.m.locked[name] = true }})
}

func (t thread) unlock(name string) {
	t.p.Do(&memoryStep{at: name, write: true, do: func() { t.m.locked[name] = false }})
}

// run runs the program once and says whether the bug was seen.
func (p program) run(cfg sim.Config) (bool, sim.Result) {
	m := &memory{values: map[string]int{}, locked: map[string]bool{}}
	actors, bug := p.make(m)
	s := sim.New(cfg)
	s.Add(sim.Actor{Name: "main", Run: func(p *sim.Proc) {
		for i := range actors {
			thread{m, p}.set(created(i), 1)
		}
	}})
	for i, run := range actors {
		s.Add(sim.Actor{Name: fmt.Sprintf("t%d", i), Run: func(p *sim.Proc) {
			t := thread{m, p}
			p.Do(&memoryStep{at: created(i), ready: func() bool { return m.values[created(i)] == 1 }, do: func() {}})
			run(t)
		}})
	}
	result := s.Run()
	return bug(), result
}

// created is the variable that lets a thread begin: the main thread creates one after another, so the first have a start.
func created(i int) string { return fmt.Sprintf("created%d", i) }

// reorder: n-1 setters write a = 1, then b = -1; the checker must never see one without the other.
func reorder(n int) program {
	return program{fmt.Sprintf("reorder_%d", n), func(*memory) ([]func(thread), func() bool) {
		bad := false
		setter := func(t thread) { t.set("a", 1); t.set("b", -1) }
		checker := func(t thread) {
			a, b := t.get("a"), t.get("b")
			bad = a != 0 && b == 0 || a == 0 && b != 0
		}
		return append(slices.Repeat([]func(thread){setter}, n-1), checker), func() bool { return bad }
	}}
}

var twostage = program{"twostage", func(*memory) ([]func(thread), func() bool) {
	bad := false
	write := func(t thread) {
		t.lock("A")
		t.set("data1", 1)
		t.unlock("A")
		t.lock("B")
		t.set("data2", t.get("data1")+1)
		t.unlock("B")
	}
	read := func(t thread) {
		t.lock("A")
		one := t.get("data1")
		t.unlock("A")
		if one == 0 {
			return
		}
		t.lock("B")
		two := t.get("data2")
		t.unlock("B")
		bad = two != one+1
	}
	return []func(thread){write, read}, func() bool { return bad }
}}

var account = program{"account", func(m *memory) ([]func(thread), func() bool) {
	m.values["balance"] = 10
	bad := false
	deposit := func(t thread) {
		t.lock("m")
		t.set("balance", t.get("balance")+5)
		t.unlock("m")
		t.set("deposited", 1)
	}
	withdraw := func(t thread) {
		t.lock("m")
		t.set("balance", t.get("balance")-3)
		t.set("withdrawn", 1) // before the mutex is given back, and of no use for the other
		t.unlock("m")
	}
	check := func(t thread) {
		t.lock("m")
		if t.get("withdrawn") == 1 && t.get("deposited") == 0 {
			bad = t.get("balance") != 7 // the deposit has been made, and is not yet told of
		}
		t.unlock("m")
	}
	return []func(thread){deposit, withdraw, check}, func() bool { return bad }
}}

var stack = program{"stack", func(*memory) ([]func(thread), func() bool) {
	bad := false
	push := func(t thread) {
		for range 3 {
			t.lock("m")
			top := t.get("top")
			t.set("top", top+1)
			t.unlock("m")
			t.set(fmt.Sprintf("slot%d", top+1), 1) // too late: others see the top
		}
	}
	pop := func(t thread) {
		for range 3 {
			t.lock("m")
			if top := t.get("top"); top > 0 {
				bad = bad || t.get(fmt.Sprintf("slot%d", top)) == 0
				t.set("top", top-1)
			}
			t.unlock("m")
		}
	}
	return []func(thread){push, pop}, func() bool { return bad }
}}

var wronglock = program{"wronglock", func(*memory) ([]func(thread), func() bool) {
	bad := false
	with := func(mutex string) func(thread) {
		return func(t thread) {
			t.lock(mutex)
			before := t.get("x")
			t.set("x", before+1)
			bad = bad || t.get("x") != before+1
			t.unlock(mutex)
		}
	}
	return []func(thread){with("A"), with("B"), with("B"), with("B")}, func() bool { return bad }
}}

var stringbuffer = program{"stringbuffer", func(m *memory) ([]func(thread), func() bool) {
	m.values["length"] = 5
	bad := false
	appendTo := func(t thread) {
		t.lock("other")
		length := t.get("length")
		t.unlock("other")
		t.lock("other")
		bad = t.get("length") < length
		t.unlock("other")
	}
	erase := func(t thread) {
		t.lock("other")
		t.set("length", 0)
		t.unlock("other")
	}
	return []func(thread){appendTo, erase}, func() bool { return bad }
}}

func programs() []program {
	return []program{reorder(3), reorder(4), reorder(5), reorder(10), reorder(20), twostage, account, stack, wronglock, stringbuffer}
}
