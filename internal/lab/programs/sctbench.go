package programs

import (
	"fmt"
	"slices"
)

// All returns the programs in the order of the tables. They come from SCTBench. Each has the bug of its original, and
// its comment names the differences.
//
// Source: Thomson, Donaldson, Betts: Concurrency testing using controlled schedulers: an empirical study (TOPC 2016),
// https://github.com/mc-imperial/sctbench/tree/master/benchmarks
func All() []Program {
	return []Program{
		Reorder(3), Reorder(4), Reorder(5), Reorder(10), Reorder(20),
		twostage(), account(), stack(), wronglock(), stringbuffer(),
	}
}

// Reorder is reorder_N: setters write a = 1 and then b = -1. A checker, which is created last, must not see one without
// the other. One of N threads checks; in the original of reorder_20, ten do.
func Reorder(n int) Program {
	setter := func(t thread) {
		t.set("a", 1)
		t.set("b", -1)
	}
	checker := func(t thread) {
		t.assert(t.get("a") == 0 && t.get("b") == 0 || t.get("a") == 1 && t.get("b") == -1)
	}
	checkers := 1
	if n == 20 {
		checkers = 10
	}
	return Program{
		Name: fmt.Sprintf("reorder_%d", n),
		threads: append(slices.Repeat([]func(thread){setter}, n-checkers),
			slices.Repeat([]func(thread){checker}, checkers)...),
		joins: true,
	}
}

// twostage is twostage_bad: data2 is set after data1, under separate mutexes, and between the two writes they disagree.
func twostage() Program {
	writer := func(t thread) {
		t.lock("data1 mutex")
		t.set("data1", 1)
		t.unlock("data1 mutex")
		t.lock("data2 mutex")
		t.set("data2", t.get("data1")+1)
		t.unlock("data2 mutex")
	}
	reader := func(t thread) {
		t.lock("data1 mutex")
		if t.get("data1") == 0 {
			t.unlock("data1 mutex")
			return
		}
		one := t.get("data1")
		t.unlock("data1 mutex")
		t.lock("data2 mutex")
		two := t.get("data2")
		t.unlock("data2 mutex")
		t.assert(two == one+1)
	}
	return Program{Name: "twostage", threads: []func(thread){writer, reader}, joins: true}
}

// account is account_bad: the checker expects a balance that does not result from a deposit and a withdrawal, so it
// fails whenever it runs after both. The main thread creates it first and does not wait.
func account() Program {
	const x, y, z = 1, 2, 4
	move := func(amount int, done string) func(thread) {
		return func(t thread) {
			t.lock("m")
			t.add("balance", amount)
			t.set(done, 1)
			t.unlock("m")
		}
	}
	check := func(t thread) {
		t.lock("m")
		if t.get("deposit done") == 1 && t.get("withdraw done") == 1 {
			t.assert(t.get("balance") == (x-y)-z)
		}
		t.unlock("m")
	}
	return Program{
		Name: "account", initial: map[string]int{"balance": x},
		threads: []func(thread){check, move(y, "deposit done"), move(-z, "withdraw done")},
	}
}

// stack is stack_bad: the flag for a pushed element is never cleared, so a thread that pops faster than the other
// pushes finds nothing.
func stack() Program {
	const size = 10
	slot := func(i int) string { return fmt.Sprintf("slot %d", i) }
	push := func(t thread) {
		for i := range size {
			t.lock("m")
			overflow := t.get("top") == size
			t.assert(!overflow)
			if !overflow {
				t.set(slot(t.get("top")), i)
				t.add("top", 1)
			}
			t.set("flag", 1)
			t.unlock("m")
		}
	}
	pop := func(t thread) {
		for range size {
			t.lock("m")
			if t.get("flag") == 1 {
				underflow := t.get("top") == 0
				t.assert(!underflow)
				if !underflow {
					t.add("top", -1)
					t.get(slot(t.get("top")))
				}
			}
			t.unlock("m")
		}
	}
	return Program{Name: "stack", threads: []func(thread){push, pop}, joins: true}
}

// wronglock is wronglock_bad: one thread adds to a variable under a mutex and checks whether it was alone; seven others
// add under another mutex.
func wronglock() Program {
	checked := func(t thread) {
		t.lock("data mutex")
		x := t.get("data")
		t.add("data", 1)
		t.assert(t.get("data") == x+1)
		t.unlock("data mutex")
	}
	other := func(t thread) {
		t.lock("this mutex")
		t.add("data", 1)
		t.unlock("this mutex")
	}
	return Program{
		Name:    "wronglock",
		threads: append([]func(thread){checked}, slices.Repeat([]func(thread){other}, 7)...), joins: true,
	}
}

// stringbuffer is stringbuffer-jdk1.4: an append of one buffer to another reads its length, and then its characters,
// each under the buffer's mutex. Meanwhile a second thread erases it and puts its characters back. The main thread
// appends.
func stringbuffer() Program {
	const length = 3
	char := func(of string, i int) string { return fmt.Sprintf("%s char %d", of, i) }
	eraser := func(t thread) {
		t.lock("buffer mutex")
		t.add("buffer count", -length)
		t.unlock("buffer mutex")
		t.lock("buffer mutex")
		count := t.get("buffer count")
		for i := range length {
			t.set(char("buffer", count+i), 'a'+i)
		}
		t.set("buffer count", count+length)
		t.unlock("buffer mutex")
	}
	appender := func(t thread) {
		t.lock("sb mutex")
		t.lock("buffer mutex")
		taken := t.get("buffer count")
		t.unlock("buffer mutex")
		count := t.get("sb count")
		t.lock("buffer mutex")
		enough := taken <= t.get("buffer count")
		t.assert(enough)
		if enough {
			for i := range taken {
				t.set(char("sb", count+i), t.get(char("buffer", i)))
			}
		}
		t.unlock("buffer mutex")
		t.set("sb count", count+taken)
		t.unlock("sb mutex")
	}
	return Program{Name: "stringbuffer", initial: map[string]int{"buffer count": length},
		threads: []func(thread){eraser}, then: appender}
}
