package programs

import (
	"fmt"
	"testing"

	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
)

// counted is a program of the literature with published counts of its traces, by size.
type counted struct {
	name    string
	threads func(size int) []func(thread)
	runs    map[int]runs
}

// runs counts the runs of an exploration without states. An optimal one makes one run per trace. With sleep sets alone
// there are further runs, which are abandoned where every possible step is asleep.
type runs struct{ traces, blocked int }

const notCounted = 1 << 40 // blocked runs: they are too many

// The published counts are GenMC's under SC, and DPU's for mpat. Ours are equal.
//
// Source: https://github.com/MPI-SWS/genmc, tests/correct/synthetic/*/expected.sc.mo.in;
// https://github.com/cesaro/dpu, experiments/tacas18/table1; the programs are also in
// https://github.com/nidhugg/nidhugg, benchmarks/from_RCMC and benchmarks/from_CONCUERROR.
var exact = []counted{
	{"casrot", func(n int) []func(thread) {
		return each(n, func(t thread, i int) { t.proc.Do(t.swap("x", i, i+1)) })
	}, map[int]runs{
		2: {2, 0}, 3: {5, 0}, 4: {14, 1}, 5: {43, 8}, 6: {144, 46}, 7: {523, 240}, 8: {2048, 1227}, 9: {8597, 6348},
	}},
	{"casw", func(n int) []func(thread) {
		return each(n, func(t thread, i int) { t.proc.Do(t.swap("x", 0, 1)); t.set("x", i+3) })
	}, map[int]runs{2: {6, 0}, 3: {66, 0}, 4: {1200, 0}, 5: {32880, 0}}},
	{"ainc", func(n int) []func(thread) {
		return each(n, func(t thread, _ int) { t.proc.Do(&increment{access{to: t.at("x"), write: true}}) })
	}, map[int]runs{2: {2, 0}, 3: {6, 0}, 4: {24, 0}, 5: {120, 0}, 6: {720, 0}, 7: {5040, 0}}},
	// Each size of lastzero has 3.75 times as many blocked runs as the previous one, so 15 would have 300 million.
	// Remembering each state with its sleep set saves none: the read values distinguish nearly all prefixes (9 has
	// 325,987 such pairs, and 15 would have a billion). The optimal search runs it in half a minute.
	{"lastzero", func(n int) []func(thread) {
		return append(each(n, func(t thread, i int) { t.set(fmt.Sprint(i+1), t.get(fmt.Sprint(i))+1) }),
			func(t thread) {
				for i := n; t.get(fmt.Sprint(i)) != 0; i-- {
				}
			})
	}, map[int]runs{5: {64, 507}, 10: {3328, 410075}, 15: {147456, notCounted}}},
	{"mpat", func(n int) []func(thread) {
		a := func(i int) string { return fmt.Sprint("a", i) }
		return append(each(n, func(t thread, i int) { t.lock(a(i)); t.unlock(a(i)) }), each(n, func(t thread, i int) {
			t.lock("m")
			t.lock(a(i))
			t.unlock(a(i))
			t.unlock("m")
		})...)
	}, map[int]runs{4: {384, 8988}, 5: {3840, 184005}, 6: {46080, notCounted}}},
	// If a compare-and-swap counts as a write even when it fails, orders that nobody can distinguish become different
	// traces.
	{"casrot, all of them writes", func(n int) []func(thread) {
		return each(n, func(t thread, i int) { t.proc.Do(writing{t.swap("x", i, i+1)}) })
	}, map[int]runs{3: {6, 0}, 4: {24, 0}, 5: {120, 0}}},
}

// each returns n threads that run the same code.
func each(n int, run func(t thread, i int)) (threads []func(thread)) {
	for i := range n {
		threads = append(threads, func(t thread) { run(t, i) })
	}
	return threads
}

// swap is a compare-and-swap. A compare-and-swap that would fail in the present state only reads.
type swap struct {
	access
	old int
}

func (t thread) swap(name string, old, v int) *swap {
	return &swap{access{to: t.at(name), write: true, value: v}, old}
}

func (s *swap) Accesses(int) []sim.Access {
	if s.to.value == s.old {
		return s.to.writes[:]
	}
	return s.to.reads[:]
}

func (s *swap) Apply(int) {
	if s.to.value == s.old {
		s.to.value = s.value
	}
}

// writing is a swap that counts as a write, because its success is not known beforehand.
type writing struct{ *swap }

func (w writing) Accesses(outcome int) []sim.Access { return w.access.Accesses(outcome) }

// increment adds 1 in one step.
type increment struct{ access }

func (i *increment) Apply(int) { i.to.value++ }

func TestTracesAreAsManyAsPublished(t *testing.T) {
	effort.NotShort(t)
	most := effort.Quick(effort.Fewer(1_000_000, 50_000), 10_000)
	for _, c := range exact {
		for size, want := range c.runs { //isrsim:unordered each is a program of its own
			if want.traces+want.blocked > most {
				continue
			}
			threads := c.threads(size)
			if got := explored(t, threads, &exhaustive.Exploration{}, make([]request, len(threads))); got != want {
				t.Errorf("%s(%d): %+v, want %+v", c.name, size, got, want)
			}
		}
	}
}

// If threads are interchangeable, all orders of their increments are one trace.
func TestIncrementsOfTwinsAreOneTrace(t *testing.T) {
	for n := 2; n <= 7; n++ {
		traces := 0
		for x := (exhaustive.Exploration{}); x.Next(); {
			m := &memory{variables: map[string]*variable{}}
			v := m.at("x")
			s := sim.New(sim.Config{
				Strategy: x.Strategy(), Fingerprint: func() uint64 { return uint64(v.value) }, Symmetry: nameless{},
			})
			for i := range n {
				run := func(proc *sim.Proc) { proc.Do(unanswered{&increment{access{to: v, write: true}}}) }
				s.Add(sim.Actor{Name: fmt.Sprint(i), Class: 1, Run: run})
			}
			if s.Run().End == sim.Finished {
				traces++
			}
		}
		if traces != 1 {
			t.Errorf("%d increments of twins: %d traces, want 1", n, traces)
		}
	}
}

// unanswered is an increment whose thread does not learn the result.
type unanswered struct{ *increment }

func (unanswered) AnswerFingerprint() (uint64, bool) { return 0, true }

// nameless is a memory in which threads leave no names.
type nameless struct{}

func (nameless) Rank(string) int { return 0 }

func (nameless) Broken() bool { return false }

// The optimal search has nothing in common with that of package sim. So each confirms the other, even for random
// programs.
func TestOptimalSearchRunsEachTraceOnce(t *testing.T) {
	effort.Long(t)
	once := func(name string, threads []func(thread), traces int) {
		x := &optimal{asked: make([]request, len(threads)), traces: map[uint64]bool{}}
		got := explored(t, threads, x, x.asked)
		if want := (runs{traces: traces}); got != want || len(x.traces) != traces {
			t.Errorf("%s: %+v of %d traces, want %+v", name, got, len(x.traces), want)
		}
	}
	for _, c := range exact {
		for size, counted := range c.runs { //isrsim:unordered each is a program of its own
			if counted.traces <= effort.Fewer(200_000, 10_000) {
				once(fmt.Sprintf("%s(%d)", c.name, size), c.threads(size), counted.traces)
			}
		}
	}
	for seed := range uint64(effort.Fewer(2000, 100)) {
		threads, x := drawn(seed), &exhaustive.Exploration{MaxSchedules: 1000}
		if all := explored(t, threads, x, make([]request, len(threads))); x.Explored().Complete {
			once(fmt.Sprint("drawn ", seed), threads, all.traces)
		}
	}
}

// drawn returns a random program of a few threads, none of whose runs can end in a deadlock.
func drawn(seed uint64) (threads []func(thread)) {
	rng := sim.Stream(seed, "program")
	for range 2 + rng.IntN(3) {
		var does []func(thread)
		for range 1 + rng.IntN(4) {
			x, y, v := fmt.Sprint("x", rng.IntN(3)), fmt.Sprint("x", rng.IntN(3)), rng.IntN(3)
			does = append(does, [...]func(thread){
				func(t thread) { t.get(x) },
				func(t thread) { t.set(x, v) },
				func(t thread) { t.proc.Do(t.swap(x, v, v+1)) },
				func(t thread) {
					if t.get(x) == v {
						t.set(y, v)
					}
				},
				func(t thread) { t.lock("m" + x); t.set(y, v); t.unlock("m" + x) },
				func(t thread) { t.lock("m"); t.lock("m" + x); t.unlock("m" + x); t.unlock("m") },
			}[rng.IntN(6)])
		}
		threads = append(threads, func(t thread) {
			for _, do := range does {
				do(t)
			}
		})
	}
	return threads
}

// search finds all schedules of a program that differ.
type search interface {
	Next() bool
	Strategy() sim.Strategy
}

// explored runs threads that all exist from the beginning. The search may look at what each of them asks for.
func explored(t *testing.T, threads []func(thread), x search, asked []request) (all runs) {
	t.Helper()
	var pool sim.Pool
	defer pool.Close()
	for x.Next() {
		m := &memory{variables: map[string]*variable{}}
		s := sim.New(sim.Config{Strategy: x.Strategy(), Pool: &pool})
		for i, run := range threads {
			s.Add(sim.Actor{Name: fmt.Sprint(i), Run: func(proc *sim.Proc) { run(thread{m, asking{proc, &asked[i]}}) }})
		}
		switch r := s.Run(); r.End {
		case sim.Finished:
			all.traces++
		case sim.Abandoned:
			all.blocked++
		default:
			t.Fatalf("a run ended %v: %v", r.End, r.Err)
		}
	}
	return all
}
