package exhaustive_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
)

// searched is the result of a search: the fingerprints of the states, in order of their discovery, and its runs.
type searched struct {
	States []uint64
	Runs   []sim.Result
	Ends   []uint64 // the machine at the end of each run
	All    exhaustive.Explored
}

// search explores a program, with memory or without, and returns how often code continued a history that was new.
func (p program) search(
	t *testing.T, x *exhaustive.Exploration, memory, remember bool, bound int,
) (all searched, ran int) {
	t.Helper()
	x.Off, x.MaxSchedules = x.Off|p.irreducible(), bound
	var run *sim.Sim
	var m *machine
	x.OnVisit(func(v exhaustive.Visit) {
		if v.Come {
			all.States = append(all.States, run.Fingerprint())
		}
	})
	var pool sim.Pool
	defer pool.Close()
	defer x.Close()
	for x.Next() {
		var before time.Time
		if m != nil {
			before = m.clock.Now()
		}
		if again := x.Rewind(); again != nil {
			if !memory || m.moved == before.Equal(m.clock.Now()) {
				t.Fatalf("got an earlier moment, moved %v from %v to %v, with memory %v", m.moved,
					before, m.clock.Now(), memory)
			}
			run = again
		} else {
			cfg := sim.Config{Strategy: x.Strategy()}
			if memory {
				cfg.Memory.Search, cfg.Pool = x, &pool
			}
			m, run = p.sim(cfg, remember)
		}
		result := run.Run()
		if result.Err != nil {
			t.Fatalf("%+v: %v", p, result.Err)
		}
		all.Runs = append(all.Runs, result)
		all.Ends = append(all.Ends,
			uint64(fingerprint.Hash(m.fingerprint(true)).Number(uint64(m.clock.Now().UnixNano()))))
	}
	if x.Remembers() != memory {
		t.Errorf("code ran for the memory: %v, with memory %v", x.Remembers(), memory)
	}
	all.All = x.Explored()
	return all, x.Histories().Runs()
}

func hasLanes(a programActor) bool {
	return slices.ContainsFunc(a.Script, func(c command) bool { return c.Lanes != nil })
}

// A search with memory, in which code runs only for new histories, equals the search in which all code runs: the same
// runs in the same order, the same states, and the same ends.
func TestMemoryChangesNoSearch(t *testing.T) {
	effort.Long(t)
	compared, ran, runs := 0, 0, 0
	compare := func(p program, name string, bound int) {
		if slices.ContainsFunc(p.Actors, hasLanes) {
			return
		}
		for i, x := range []exhaustive.Exploration{{}, {Off: noReduction}, {Off: sim.UnreadClocks, Backwards: true}} {
			for _, remember := range []bool{true, false} {
				plain, remembered := x, x
				want, _ := p.search(t, &plain, false, remember, bound)
				got, n := p.search(t, &remembered, true, remember, bound)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s, exploration %d, remember %v (-without memory +with):\n%s%+v", name, i, remember, diff,
						p)
				}
				compared, ran = compared+1, ran+n
				for _, r := range want.Runs {
					runs += r.Steps
				}
			}
		}
	}
	for _, c := range corners {
		compare(c.program, c.name, 3000)
	}
	compare(restless(), "restless", 3000)
	compare(program{Registers: 1, Ticks: 1, Actors: []programActor{
		{Drift: fakeclock.Drift{PPM: -fakeclock.MaxPPM}, Script: []command{{}, {}}},
		{Script: []command{{Sleep: time.Second}}},
	}}, "a clock that stands still", 3000)
	for seed := range uint64(effort.Fewer(600, 100)) {
		compare(drawProgram(sim.Stream(seed, "program"), seed, 2+int(seed/7%3)),
			fmt.Sprint("seed ", seed), effort.Fewer(300, 100))
	}
	t.Logf("%d comparisons, %d steps, code went on %d times", compared, runs, ran)
	if ran > runs/4 {
		t.Errorf("code went on %d times in %d steps, expected a fraction of it", ran, runs)
	}
}

// three is a program with enough to remember.
var three = program{Registers: 1, Ticks: 1, Actors: []programActor{
	{Crashes: 1, Restarts: 1, Script: []command{{}, {Sleep: time.Second}, {Write: true}}},
	{Script: []command{{}, {Write: true}, {}}},
}}

// A full memory is emptied, even while incarnations are under way, and the code runs again.
func TestAFullMemoryIsEmptied(t *testing.T) {
	var x, full exhaustive.Exploration
	want, once := three.search(t, &x, true, true, 0)
	full.Histories().Most = 3
	got, ran := three.search(t, &full, true, true, 0)
	if diff := cmp.Diff(want, got); diff != "" || once != 54 || ran != 814 {
		t.Errorf("code went on %d times, and %d times with room for three pasts, expected 54 and 814; the searches "+
			"(-full +emptied):\n%s", once, ran, diff)
	}
}

// A search that resumes from a file has no saved moments at first.
func TestAResumedSearchRemembers(t *testing.T) {
	var whole, first, rest exhaustive.Exploration
	want, _ := three.search(t, &whole, true, true, 0)
	got, _ := three.search(t, &first, true, true, 20)
	rest.Resume(first.Save())
	more, ran := three.search(t, &rest, true, true, 0)
	got.States, got.Runs, got.Ends, got.All = append(got.States, more.States...), append(got.Runs, more.Runs...),
		append(got.Ends, more.Ends...), more.All
	if diff := cmp.Diff(want, got); diff != "" || ran == 0 {
		t.Errorf("code went on %d times; the search (-in one go +in parts):\n%s", ran, diff)
	}
}

// teller is a request for a number, which its sender may keep and change.
type teller struct {
	nothing
	asks   string
	gets   *int
	answer []int
}

func (r *teller) Apply(int) {
	*r.gets++
	r.answer = []int{*r.gets}
}
func (r *teller) AnswerFingerprint() (uint64, bool) { return uint64(r.answer[0]), true }
func (r *teller) Accesses(int) []sim.Access         { return nil }
func (r *teller) Asks() string                      { return r.asks }
func (r *teller) Answer() any                       { return [2]any{r.answer, r.answer[0]} }
func (r *teller) Tell(answer any) bool {
	a := answer.([2]any)
	r.answer = a[0].([]int)
	return r.answer[0] == a[1].(int)
}

// tell explores two actors that run the code, and returns the error that ends the search.
func tell(code func(p *sim.Proc, get func(asks string) []int)) error {
	return tellOf(func(p *sim.Proc, asks func(string) *teller) {
		code(p, func(number string) []int {
			r := asks(number)
			p.Do(r)
			return r.answer
		})
	})
}

// tellOf does the same for code that sends the requests itself.
func tellOf(code func(p *sim.Proc, asks func(string) *teller)) error {
	return tellIn(sim.Memory{}, code)
}

// tellIn is tellOf with a given memory, whose Search it sets.
func tellIn(memory sim.Memory, code func(p *sim.Proc, asks func(string) *teller)) error {
	var x exhaustive.Exploration
	memory.Search = &x
	var pool sim.Pool
	defer pool.Close()
	defer x.Close()
	gets := 0
	for x.Next() {
		s := x.Rewind()
		if s == nil {
			s = sim.New(sim.Config{
				Strategy: x.Strategy(), Pool: &pool, Memory: memory,
				Fingerprint: func() uint64 { return uint64(gets) },
				Keep:        func() func(bool) { was := gets; return func(bool) { gets = was } },
			})
			for _, name := range []string{"a", "b"} {
				s.Add(sim.Actor{Name: name, Crashes: 1, Restarts: 1, Run: func(p *sim.Proc) {
					code(p, func(asks string) *teller { return &teller{asks: asks, gets: &gets} })
				}})
			}
		}
		if result := s.Run(); result.Err != nil {
			return result.Err
		}
	}
	if !x.Explored().Complete {
		return errors.New("it is not complete")
	}
	return nil
}

// hiding is a request whose answer holds a hidden deadline, which its sender is assumed not to inspect.
type hiding struct {
	*teller
	deadline int
}

func (r *hiding) Answer() any { return [2]any{r.teller.Answer(), r.deadline} }
func (r *hiding) Tell(answer any) bool {
	a := answer.([2]any)
	r.deadline = a[1].(int)
	return r.teller.Tell(a[0])
}
func (r *hiding) Hidden(answer any, _, _ time.Time) []any {
	if r.asks != "a deadline" {
		return nil
	}
	number := answer.([2]any)[0]
	return []any{[2]any{number, -1}, [2]any{number, 99}}
}

// Code that inspects a hidden deadline breaks the search, whatever it does with it, and whenever. Each way to hide a
// deadline is tried.
func TestCodeThatLooksAtAHiddenDeadlineIsFound(t *testing.T) {
	type get func(asks string) int
	late := func(deadline int) bool { return deadline < 0 }
	for name, code := range map[string]func(p *sim.Proc, get get){
		"it asks for something else": func(_ *sim.Proc, get get) {
			get(fmt.Sprint("a number ", late(get("a deadline"))))
		},
		"it asks no more": func(_ *sim.Proc, get get) {
			if !late(get("a deadline")) {
				get("a number")
			}
		},
		"it does so later": func(_ *sim.Proc, get get) {
			deadline := get("a deadline")
			get("a number")
			get(fmt.Sprint("a number ", late(deadline)))
		},
		"it meets it later": func(_ *sim.Proc, get get) {
			get("a number")
			get(fmt.Sprint("a number ", late(get("a deadline"))))
		},
		"it waits for it": func(p *sim.Proc, get get) {
			p.Clock().Sleep(time.Duration(get("a deadline")+2) * time.Second)
		},
		"it tells of it": func(p *sim.Proc, get get) {
			if late(get("a deadline")) {
				p.Tell(func() {})
			}
		},
		"it says so": func(p *sim.Proc, get get) { p.Says(fmt.Sprint(get("a deadline"))) },
		"it says so before it forgets": func(p *sim.Proc, get get) {
			p.Says(fmt.Sprint(get("a deadline")))
			p.Forget("", noState)
		},
		"it remembers it": func(p *sim.Proc, get get) {
			deadline := get("a deadline")
			p.Forget(fmt.Sprint(deadline), noState)
			get("a number")
			get(fmt.Sprint("a number ", late(deadline)))
		},
		"it reads a clock": func(p *sim.Proc, get get) {
			if late(get("a deadline")) {
				p.Now()
			} else {
				p.Tell(func() {})
			}
		},
		"it goes to another place": func(p *sim.Proc, get get) { p.SetPlace(max(get("a deadline"), 0)) },
		"only one of two looks at it": func(p *sim.Proc, get get) {
			deadline := get("a deadline")
			if p.Name() == "b" {
				get(fmt.Sprint("a number ", late(deadline)))
			}
			p.Forget("", noState)
		},
		"it looks at another one": func(p *sim.Proc, get get) {
			get("a deadline")
			p.Forget("", noState)
			get("a number")
			get(fmt.Sprint("a number ", late(get("a deadline"))))
		},
		"it panics": func(_ *sim.Proc, get get) {
			_ = []int{0, 1, 2, 3, 4, 5, 6, 7}[max(get("a deadline"), 0)]
		},
		"only one way shows it":  func(_ *sim.Proc, get get) { get(fmt.Sprint("a number ", get("a deadline") > 90)) },
		"it does not look at it": func(_ *sim.Proc, get get) { get("a deadline"); get("a number") },
		"it forgets it, and does not look at it": func(p *sim.Proc, get get) {
			for i := range uint64(3) {
				get("a deadline")
				p.Forget("", func() (uint64, uint64) { return i, i })
			}
		},
	} {
		begun, ended := 0, 0
		err := tellOf(func(p *sim.Proc, request func(string) *teller) {
			begun++
			defer func() { ended++ }()
			code(p, func(asks string) int {
				r := &hiding{request(asks), 7}
				p.Do(r)
				return r.deadline
			})
		})
		taken, is := errors.AsType[*sim.TakenError](err)
		if want := !strings.HasSuffix(name, "does not look at it"); is != want ||
			is && taken.Off != sim.UnreadDeadlines || !is && err != nil {
			t.Errorf("%s: error %v, want it to look at the deadline: %v", name, err, want)
		}
		if begun != ended {
			t.Errorf("%s: code was begun %d times, and ended %d times", name, begun, ended)
		}
	}
}

// Code whose output differs after the same history has no verdict. A hidden deadline in an input is not blamed for it:
// the code is not deterministic.
func TestCodeThatDiffersIsNotTakenToLookAtADeadline(t *testing.T) {
	times := 0
	for name, test := range map[string]struct {
		code func(p *sim.Proc, get func(asks string) []int)
		want string
	}{
		"another request": {func(_ *sim.Proc, get func(string) []int) {
			get("a deadline")
			times++
			get(fmt.Sprint("a number of run ", times))
		}, "and request 2 was \"a number of run 1, after 0 events\", and is now \"a number of run 3"},
		"other words": {func(p *sim.Proc, get func(string) []int) {
			get("a deadline")
			times++
			p.Says(fmt.Sprint("run ", times))
			get("a number")
		}, "and request 2 was \"a number, after 0 events\", and is now"},
		"a panic": {func(_ *sim.Proc, get func(string) []int) {
			get("a deadline")
			if times++; times > 1 {
				panic("oh")
			}
			get("a number")
		}, "a panicked: oh"},
		"a changed answer": {func(_ *sim.Proc, get func(string) []int) {
			first := get("a number")
			get("a number")
			first[0]++
			get("a deadline")
			get("a number")
		}, "a changed the answer to \"a number\""},
	} {
		times = 0
		err := tellOf(func(p *sim.Proc, asks func(string) *teller) {
			test.code(p, func(number string) []int {
				r := &hiding{asks(number), 7}
				p.Do(r)
				return r.answer
			})
		})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got the error %v, want %s", name, err, test.want)
		}
	}
}

// Each piece of code, from one park to the next, always draws the same random bytes, which differ from those of other
// pieces. In a search that assumes that code draws none, it must not draw any.
func TestCodeDrawsRandomBytesOfItsOwn(t *testing.T) {
	effort.Long(t)
	seed, of, draws := uint64(0), map[string]uint64{}, false
	code := func(p *sim.Proc, asks func(string) *teller) {
		for i := range 3 {
			at := fmt.Sprint(p.Name(), " ", i)
			if was, met := of[at]; met && was != seed {
				t.Errorf("%s got the seeds %x and %x", at, was, seed)
			}
			of[at] = seed
			p.Do(asks("a number"))
		}
	}
	memory := sim.Memory{Seed: func(n uint64) { seed = n }, Drew: func() bool { return draws }}
	must.OK(t, tellIn(memory, code))
	all := slices.Compact(slices.Sorted(maps.Values(of)))
	if len(of) != 12 || len(all) != len(of) {
		t.Errorf("%d pieces of code got %d seeds, want 12 pieces with a seed each", len(of), len(all))
	}
	draws = true
	if taken, is := errors.AsType[*sim.TakenError](tellIn(memory, code)); !is || taken.Off != sim.NoRandomness {
		t.Errorf("code that draws: got the error %v, want a TakenError", taken)
	}
	err := tellIn(memory, func(*sim.Proc, func(string) *teller) { panic("oh") })
	if err == nil || !strings.Contains(err.Error(), "a panicked: oh") {
		t.Errorf("code that draws and panics: got the error %v, want the panic", err)
	}
}

// Code with other hidden values runs from the first such value until it has forgotten it. It does not run again where
// it is known not to inspect them.
func TestHiddenCodeEndsWhereItForgets(t *testing.T) {
	effort.Long(t)
	count := func(asks string, forgets bool) (begun, told int) {
		err := tellOf(func(p *sim.Proc, request func(string) *teller) {
			begun++
			for i := range uint64(3) {
				p.Do(&hiding{request(asks), 7})
				told++
				if forgets {
					p.Forget("", func() (uint64, uint64) { return i, i })
				}
			}
		})
		must.OK(t, err)
		return begun, told
	}
	// Code that forgets nothing runs twice more, to its end. Otherwise the 101 inputs with a deadline are checked once
	// each, by the state in which they arrive.
	begun, told := count("a number", false)
	if others, more := count("a deadline", false); others != 3*begun || more != 3*told {
		t.Errorf("code that forgets nothing was begun %d times, and told %d times, want three times %d and %d",
			others, more, begun, told)
	}
	begun, told = count("a number", true)
	if others, more := count("a deadline", true); others != begun+2*101 || more != told+406 {
		t.Errorf("code that forgets was begun %d times, and told %d times, want %d and %d", others, more, begun+2*101,
			told+406)
	}
}

// If code that got a hidden deadline is replayed, so is the code that got other values.
func TestHiddenCodeIsBroughtToThePast(t *testing.T) {
	err := tellOf(func(p *sim.Proc, request func(string) *teller) {
		deadline, number := &hiding{request("a deadline"), 7}, request("a number")
		p.Do(&hiding{request("a deadline"), 7})
		p.Forget("", noState)
		p.Do(deadline)
		p.Do(number)
		// The first schedule with these two deadlines has the number 3.
		if p.Name() == "a" && deadline.answer[0] == 2 && number.answer[0] == 4 {
			p.Do(request(fmt.Sprint("a number ", deadline.deadline < 0)))
		}
	})
	if _, is := errors.AsType[*sim.TakenError](err); !is {
		t.Errorf("error %v, want that it looks at the deadline", err)
	}
}

// A restarted node begins at its place, and so does the code with other hidden values.
func TestHiddenCodeBeginsAtItsPlace(t *testing.T) {
	err := tellOf(func(p *sim.Proc, request func(string) *teller) {
		if p.Place() == 0 {
			p.Do(&hiding{request("a number"), 7})
			p.SetPlace(1)
		}
		p.Do(&hiding{request("a deadline"), 7})
		p.Do(&hiding{request("a number"), 7})
	})
	if err != nil {
		t.Error(err)
	}
}

// Code that does something else when its history is replayed has no verdict. The error names the node, the number of
// the request, and both requests.
func TestCodeThatIsBroughtToAPastDoesWhatItDid(t *testing.T) {
	effort.Long(t)
	times := 0
	fine := func(_ *sim.Proc, get func(string) []int) {
		for range 3 {
			get("a number")
		}
	}
	if err := tell(fine); err != nil {
		t.Errorf("got the error %v, expected none", err)
	}
	saysBefore := func(p *sim.Proc, get func(string) []int) {
		p.Says(fmt.Sprint("it was ", get("a number")[0]))
		p.Forget("", noState)
		get("a number")
	}
	if err := tell(saysBefore); err != nil {
		t.Errorf("what code says before it forgets: got the error %v, expected none", err)
	}
	for name, test := range map[string]struct {
		code func(p *sim.Proc, get func(string) []int)
		want []string
	}{
		"another request": {
			func(_ *sim.Proc, get func(string) []int) {
				get("a number")
				times++
				get(fmt.Sprintf("the number of run %d", times))
				get("a number")
			}, []string{" was told again what it had been told, and request 2 was \"the number of run ",
				", after 0 events\", and is now \"the number of run "},
		},
		"a sleep": {
			func(p *sim.Proc, get func(string) []int) {
				get("a number")
				if times++; times > 2 {
					p.Clock().Sleep(time.Second)
				}
				get("a number")
				get("a number")
			}, []string{"request 2 was \"a number, after 0 events\", and is now \"a sleep of 1s, after 0 events\""},
		},
		"the end": {
			func(_ *sim.Proc, get func(string) []int) {
				get("a number")
				if times++; times > 2 {
					return
				}
				get("a number")
				get("a number")
			}, []string{"request 2 was \"a number, after 0 events\", and is now \"none, after 0 events\""},
		},
		"other words": {
			func(p *sim.Proc, get func(string) []int) {
				get("a number")
				times++
				p.Says(fmt.Sprint("run ", times))
				get("a number")
				get("a number")
			}, []string{
				" was told again what it had been told, and answered its client otherwise than before, before " +
					"request 2, which was \"a number, after 0 events\"",
			},
		},
		"an event": {
			func(p *sim.Proc, get func(string) []int) {
				get("a number")
				if times++; times > 2 {
					p.Tell(func() {})
				}
				get("a number")
				get("a number")
			}, []string{"request 2 was \"a number, after 0 events\", and is now \"a number, after 1 events\""},
		},
		"a changed answer": {
			func(_ *sim.Proc, get func(string) []int) {
				get("a number")[0]++
				get("a number")
				get("a number")
			}, []string{" changed the answer to \"a number\""},
		},
		"what it has said it forgets": {
			func(p *sim.Proc, get func(string) []int) {
				n := get("a number")[0]
				p.Forget("", noState)
				get(fmt.Sprint("a number after ", n))
			}, []string{`" and for "a number after `,
				"after two pasts of which it depends on neither, as it says (Forget)"},
		},
		"what it has said it forgets, in what it says": {
			func(p *sim.Proc, get func(string) []int) {
				n := get("a number")[0]
				p.Forget("", noState)
				p.Says(fmt.Sprint("it was ", n))
				get("a number")
			}, []string{"it was ", "after two pasts of which it depends on neither, as it says (Forget)"},
		},
		"what it has said it forgets, later": {
			func(p *sim.Proc, get func(string) []int) {
				n := get("a number")[0]
				if p.Name() == "a" { // the other actor's memory tells the states apart
					p.Forget("", noState)
				}
				if get("a number")[0] == 4 && n == 3 {
					p.Clock().Sleep(time.Second)
				}
				if p.Name() == "b" {
					get("a number")
				}
			}, []string{"asked for ", `"none"`, `"a sleep of 1s"`},
		},
		"a panic": {func(_ *sim.Proc, get func(string) []int) { get("a number"); panic("oh") },
			[]string{"actor a panicked: oh"}},
		"its goroutine": {
			func(_ *sim.Proc, get func(string) []int) {
				get("a number")
				defer get("no more")
				panic(errors.New("oh"))
			}, []string{"actor a panicked: oh"},
		},
		"lanes": {
			func(p *sim.Proc, _ func(string) []int) { p.Clock().Lane(func() { t.Error("a lane runs") }) },
			[]string{"a has several things under way; expected a search with fewer reductions"},
		},
		"a strange request": {func(p *sim.Proc, _ func(string) []int) { p.Do(nothing{}) },
			[]string{"a sends a exhaustive_test.nothing, whose answer cannot be told again; expected a search"}},
		"one whose sender goes on": {
			func(p *sim.Proc, _ func(string) []int) {
				defer func() { _ = recover() }()
				p.Do(nothing{})
			}, []string{"a sends a exhaustive_test.nothing, whose answer cannot be told again; expected a search"},
		},
	} {
		times = 0
		err := tell(test.code)
		for _, want := range test.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got the error %v, want %s", name, err, want)
			}
		}
	}
}

// The place that a node kept from an earlier incarnation is one of its inputs: after a crash, it continues there.
func TestAPlaceOutlivesALife(t *testing.T) {
	script := func(asked *[]int) func(p *sim.Proc, m *machine) {
		return func(p *sim.Proc, m *machine) {
			for n := p.Place(); n < 3; n++ {
				p.Tell(func() { *asked = append(*asked, n) })
				p.Do(&request{m: m, proc: p, command: command{Write: true}, wants: n})
				if p.SetPlace(n + 1); p.Place() != n+1 {
					panic("it has another place than it has set")
				}
			}
		}
	}
	search := func(memory bool) (all [][]int) {
		var x exhaustive.Exploration
		var pool sim.Pool
		defer pool.Close()
		defer x.Close()
		var asked []int
		for x.Next() {
			s := x.Rewind()
			if s == nil {
				asked = nil
				m := &machine{
					program: program{Registers: 1}, clock: fakeclock.New(fakeclock.Epoch), cells: make([]cell, 1),
				}
				cfg := sim.Config{
					Strategy: x.Strategy(), Clock: m.clock, Fingerprint: func() uint64 { return m.fingerprint(true) },
				}
				if cfg.Pool = &pool; memory {
					cfg.Memory.Search, cfg.Keep = &x, func() func(bool) {
						back, was := m.keep(), slices.Clone(asked)
						return func(moved bool) { back(moved); asked = slices.Clone(was) }
					}
				}
				s = sim.New(cfg)
				for _, name := range []string{"a", "b"} {
					run := script(&asked)
					s.Add(sim.Actor{Name: name, Crashes: 1, Restarts: 1, Run: func(p *sim.Proc) { run(p, m) }})
				}
			}
			if result := s.Run(); result.Err != nil {
				t.Fatal(result.Err)
			}
			all = append(all, slices.Clone(asked))
		}
		return all
	}
	if diff := cmp.Diff(search(false), search(true)); diff != "" {
		t.Errorf("the places at which nodes asked (-without memory +with):\n%s", diff)
	}
}

// After a run, another one may visit its world, in the same memory and with actors at the same places. An answer that
// cannot be compared is new in each visit.
func TestVisitsOfRuns(t *testing.T) {
	two := program{Registers: 1, Sweeps: 1, Actors: []programActor{{Script: []command{{Write: true}, {}}},
		{Script: []command{{Write: true}, {Write: true}}}}}
	visits := func(memory, secret bool) (saw []int) {
		var x exhaustive.Exploration
		var pool sim.Pool
		defer pool.Close()
		defer x.Close()
		var m *machine
		for x.Next() {
			cfg := sim.Config{Strategy: x.Strategy(), Pool: &pool}
			if memory {
				cfg.Memory.Search = &x
			}
			s := x.Rewind()
			if s == nil {
				m, s = two.sim(cfg, true)
			}
			result := s.Run()
			cfg.Clock, cfg.Strategy = m.clock, strategy.DelayBound(0)
			visit := sim.New(cfg)
			visit.Add(sim.Actor{Name: "visitor", Run: func(p *sim.Proc) {
				r := &request{m: m, proc: p, command: command{Secret: secret}}
				p.Do(r)
				value := r.value
				p.Tell(func() { saw = append(saw, value) })
			}})
			if visited := visit.Run(); result.Err != nil || visited.Err != nil {
				t.Fatal(result.Err, visited.Err)
			}
		}
		return saw
	}
	for _, secret := range []bool{false, true} {
		if diff := cmp.Diff(visits(false, secret), visits(true, secret)); diff != "" {
			t.Errorf("secret %v: the visits saw (-without memory +with):\n%s", secret, diff)
		}
	}
}

// Code that never ends is unwound where it is parked.
func TestEndlessCodeIsUnwound(t *testing.T) {
	var x exhaustive.Exploration
	var pool sim.Pool
	defer pool.Close()
	x.MaxSchedules = 3
	for gets := 0; x.Next(); {
		s := x.Rewind()
		if s == nil {
			s = sim.New(sim.Config{Strategy: x.Strategy(), Pool: &pool, MaxSteps: 20, Memory: sim.Memory{Search: &x},
				Fingerprint: func() uint64 { return uint64(gets) },
				Keep:        func() func(bool) { was := gets; return func(bool) { gets = was } },
			})
			for _, name := range []string{"a", "b"} {
				s.Add(sim.Actor{Name: name, Run: func(p *sim.Proc) {
					for {
						p.Do(&teller{gets: &gets})
					}
				}})
			}
		}
		if result := s.Run(); result.End != sim.Cut {
			t.Errorf("got a run that is %s, expected it cut: %v", result.End, result.Err)
		}
	}
	x.Close()
}

// A search that has ended leaves no coroutine, neither of its runs nor of replayed code.
func TestAClosedSearchKeepsNoCode(t *testing.T) {
	before := runtime.NumGoroutine()
	for seed := range uint64(20) {
		var x exhaustive.Exploration
		if p := drawProgram(sim.Stream(seed, "program"), seed, 3); !slices.ContainsFunc(p.Actors, hasLanes) {
			p.search(t, &x, true, false, 100) // because nodes forget, runs end while their code is parked
			if n := x.Histories().Len(); n > 0 {
				t.Errorf("seed %d: %d pasts are left, expected none", seed, n)
			}
		}
	}
	if now := runtime.NumGoroutine(); now > before {
		t.Errorf("%d goroutines are left, expected none", now-before)
	}
}

// searcher explores a program, or the part of it that one of a team has.
type searcher struct {
	program
	x      *exhaustive.Exploration
	memory bool
	pool   sim.Pool
	m      machine
	ends   []uint64
	err    error
}

// advance makes n runs, or fewer if no run is left.
func (s *searcher) advance(n int) {
	for ; n > 0 && s.err == nil && s.x.Next(); n-- {
		run := s.x.Rewind()
		if run == nil {
			cfg := sim.Config{Strategy: s.x.Strategy()}
			if s.memory {
				cfg.Memory.Search, cfg.Pool = s.x, &s.pool
			}
			run = s.simOn(&s.m, cfg, !s.Twins)
		}
		result := run.Run()
		switch s.err = result.Err; {
		case result.End == sim.Finished && s.Twins:
			s.ends = append(s.ends, uint64(fingerprint.Hash(0).Text(s.m.end())))
		case result.End == sim.Finished:
			s.ends = append(s.ends,
				uint64(fingerprint.Hash(s.m.fingerprint(true)).Number(uint64(s.m.clock.Now().UnixNano()))))
		}
	}
}

// crew says after how many runs an exploration is divided, among how many members, and how many runs each member makes
// between two meetings.
type crew struct{ alone, size, round int }

// explore explores a program, and returns the ends of its runs, each once, sorted, and all that is known after each
// meeting. It calls turn for each round.
func (c crew) explore(
	t *testing.T, p program, off sim.Reduction, memory bool, turn func(team []*searcher),
) (ends []uint64, met []*exhaustive.Saved, e exhaustive.Explored) {
	t.Helper()
	x := &exhaustive.Exploration{Off: off | p.irreducible()}
	defer x.Close()
	team := []*searcher{{program: p, x: x, memory: memory}}
	team[0].advance(c.alone)
	x.Divide(c.size)
	for _, member := range x.Members()[1:] {
		team = append(team, &searcher{program: p, x: member, memory: memory})
	}
	defer func() {
		for _, s := range team {
			s.pool.Close()
		}
	}()
	for {
		left, saved := must.Of(x.Meet())(t), x.Save()
		saved.Sets, saved.Asleep = nil, nil // their order is that of the searches
		if met = append(met, saved); !left {
			break
		}
		turn(team)
		for _, s := range team {
			if s.err != nil {
				t.Fatalf("%+v, off %b: %v\n%+v", c, off, s.err, p)
			}
		}
	}
	for _, s := range team {
		ends = append(ends, s.ends...)
	}
	slices.Sort(ends)
	return slices.Compact(ends), met, x.Explored()
}

// A team reaches all ends, and what it has found after each meeting does not depend on which member is faster.
func TestATeamLeavesOutNoEnd(t *testing.T) {
	effort.Long(t)
	all := []sim.Reduction{0, sim.PersistentSets, sim.OrphanedReads, sim.PersistentSets | sim.SleepSets}
	compared, meetings, alone, together, given := 0, 0, 0, 0, 0
	compare := func(p program, name string, seed, bound int) {
		want, e := p.explore(t, noReduction, true, asked{}, bound)
		if !e.Complete {
			return
		}
		memory := !slices.ContainsFunc(p.Actors, hasLanes)
		for i, off := range all {
			c := crew{alone: 1 + (seed+i)%5, size: 2 + (seed+i)%3, round: 1 + (seed+i)/2%3}
			ends, met, e := c.explore(t, p, off, memory, func(team []*searcher) {
				var running sync.WaitGroup
				for _, s := range team {
					running.Go(func() { s.advance(c.round) })
				}
				running.Wait()
			})
			if !slices.Equal(want.Ends, ends) || !e.Complete || e.Share < 1 {
				t.Fatalf("%s, %+v, off %b: explored %+v, ends (-plain +team):\n%s%+v", name, c, off, e,
					cmp.Diff(want.Ends, ends), p)
			}
			_, again, _ := c.explore(t, p, off, memory && i%2 == 0, func(team []*searcher) {
				for _, s := range slices.Backward(team) {
					s.advance(c.round)
				}
			})
			if !reflect.DeepEqual(met, again) { // cmp takes far longer
				t.Fatalf("%s, %+v, off %b: after some meeting (-at the same time +one after the other):\n%s%+v", name,
					c, off, cmp.Diff(met, again), p)
			}
			if off&sim.SleepSets == 0 {
				_, e := p.explore(t, off, true, asked{}, 0)
				alone, together = alone+e.Schedules, together+met[len(met)-1].Schedules
				for _, m := range met[len(met)-1].Others {
					given += m.Schedules
				}
			}
			compared, meetings = compared+1, meetings+len(met)
		}
	}
	for i, c := range corners {
		compare(c.program, c.name, i, 20_000)
	}
	for seed := range effort.Fewer(1000, 200) {
		compare(drawProgram(sim.Stream(uint64(seed), "program"), uint64(seed), 2+seed/7%3), fmt.Sprint("seed ", seed),
			seed, effort.Fewer(600, 200))
	}
	t.Logf("%d searches, %d meetings, %d schedules alone, %d as a team, %d by others than the first", compared,
		meetings, alone, together, given)
	if given < together/4 {
		t.Error("hardly anything was given to others")
	}
	if together > alone*5/4 {
		t.Errorf("%d schedules as a team, %d alone; expected hardly more: a team knows what its members know", together,
			alone)
	}
}

// A team that resumes from a file is where it was, and still counts the runs that were too long.
func TestAResumedTeamIsWhereItWas(t *testing.T) {
	for _, size := range []int{2, 3} {
		x := &exhaustive.Exploration{Off: noReduction}
		search := func(x *exhaustive.Exploration, runs int) {
			for ; runs > 0 && x.Next(); runs-- {
				s := sim.New(sim.Config{Strategy: x.Strategy(), MaxSteps: 5})
				for _, name := range []string{"a", "b", "c"} {
					s.Add(sim.Actor{Name: name, Run: func(p *sim.Proc) { p.Clock().Sleep(time.Second) }})
				}
				s.Run()
			}
		}
		search(x, 1)
		x.Divide(size)
		saved, left := x.Save(), true
		for left {
			left = must.Of(x.Meet())(t)
			saved = x.Save()
			resumed := exhaustive.Exploration{Off: x.Off}
			resumed.Resume(saved)
			if diff := cmp.Diff(saved, resumed.Save()); diff != "" || resumed.Explored() != x.Explored() {
				t.Fatalf("explored %+v, and %+v resumed (-saved +saved again):\n%s", x.Explored(), resumed.Explored(),
					diff)
			}
			for _, m := range x.Members() {
				search(m, 1)
			}
		}
		if last := saved.Others[size-2]; last.TooLong == 0 || saved.TooLong != saved.Schedules {
			t.Errorf("%d of %d runs are too long, %d of the last member; want all", saved.TooLong, saved.Schedules,
				last.TooLong)
		}
	}
}

// A team checks its bound when it meets. If a member checked between two meetings, its end would depend on how fast the
// others are.
func TestATeamLooksAtItsBoundWhenItMeets(t *testing.T) {
	writer := programActor{Script: []command{{Write: true}, {Write: true}, {Write: true}}}
	x := &exhaustive.Exploration{Off: noReduction, MaxSchedules: 3}
	defer x.Close()
	s := searcher{program: program{Registers: 1, Actors: []programActor{writer, writer}}, x: x}
	s.advance(2)
	x.Divide(2)
	if left := must.Of(x.Meet())(t); !left {
		t.Error("a search of 3 schedules was over after 2")
	}
	s.advance(5)
	left := must.Of(x.Meet())(t)
	if got := x.Save().Schedules; s.err != nil || left || got != 7 {
		t.Errorf("%d schedules, more: %v, error %v; want 2 and 5 up to the next meeting, and no more", got, left, s.err)
	}
}

// A team reaches all ends, up to the names of interchangeable actors, and without persistent sets all states.
func TestATeamOfTwinsLeavesOutNoEnd(t *testing.T) {
	effort.NotShort(t)
	effort.OneAtATime(t)
	compared, meetings, bound := 0, 0, effort.Fewer(1500, 200)
	for seed := range effort.Quick(effort.Fewer(1500, 300), 40) {
		rng := sim.Stream(uint64(seed), "a team of twins")
		p := drawProgram(rng, uint64(seed), 2+seed/7%3)
		if p.Twins, p.Signed = true, seed%2 == 0; p.Secret { // each answer would make a separate state
			continue
		}
		for i := range p.Actors[1:] { // two or three twins, or two twins and another actor
			if i == 0 || rng.IntN(2) == 0 {
				p.Actors[i+1] = p.Actors[0]
			}
		}
		states, texts, plain := p.upToNames(t, noReduction&^sim.UnreadClocks, false, bound)
		if !plain.Complete {
			continue
		}
		want := make([]uint64, 0, len(texts))
		for _, end := range texts {
			want = append(want, uint64(fingerprint.Hash(0).Text(end)))
		}
		slices.Sort(want)
		memory := !slices.ContainsFunc(p.Actors, hasLanes)
		const all = sim.PersistentSets | sim.OrphanedReads // the reductions that leave out states
		for i, off := range []sim.Reduction{0, all, all | sim.SleepSets} {
			c := crew{alone: 1 + (seed+i)%5, size: 2 + (seed+i)%3, round: 1 + (seed+i)/2%3}
			ends, met, e := c.explore(t, p, off, memory && seed%3 > 0, func(team []*searcher) {
				for _, s := range team {
					s.advance(c.round)
				}
			})
			got := met[len(met)-1].States
			if !slices.Equal(want, ends) || off != 0 && !slices.Equal(states, got) || !e.Complete {
				t.Fatalf("seed %d, %+v, off %b: explored %+v, %d states and %d ends, want %d and %d\n%+v",
					seed, c, off, e, len(got), len(ends), len(states), len(want), p)
			}
			compared, meetings = compared+1, meetings+len(met)
		}
	}
	t.Logf("%d searches, %d meetings", compared, meetings)
	if compared < effort.Quick(effort.Fewer(600, 120), 20) || meetings < 2*compared {
		t.Errorf("%d searches with %d meetings, expected more", compared, meetings)
	}
}

// Explorations that reach a state between the same two meetings do not know each other's steps from there. So if one
// visit had a step asleep, and the other visit another step, only one of the two steps counts as taken.
func TestAMeetingBelievesOneOfThoseWhoDidNotKnowOfEachOther(t *testing.T) {
	for _, test := range []struct {
		before []uint64
		since  [][]uint64
		want   []uint64
	}{
		{nil, [][]uint64{{1}, {2}}, []uint64{1}},
		{nil, [][]uint64{{1, 2}, {2, 3}, {3}}, []uint64{3}},
		{nil, [][]uint64{nil, {2}}, []uint64{2}},
		{[]uint64{1, 2, 3}, [][]uint64{{1, 2}, {3}}, []uint64{3}},
		{[]uint64{1, 2, 3}, [][]uint64{nil, {1, 2}}, []uint64{1, 2}},
		{[]uint64{1, 2}, [][]uint64{{}, {2}}, []uint64{}},
		{[]uint64{}, [][]uint64{nil, nil}, []uint64{}},
	} {
		if got := exhaustive.Learned(test.before, test.since...); !slices.Equal(got, test.want) {
			t.Errorf("asleep %v, then %v: %v, want %v", test.before, test.since, got, test.want)
		}
	}
}

// An idle exploration gets half of the branches left at one moment: the earliest moment with a branch to spare.
func TestATeamSharesWhatIsLeft(t *testing.T) {
	type frames = [][2]int
	for _, test := range []struct {
		before, after []frames
		left          bool
	}{
		{[]frames{{}, {}}, []frames{{}, {}}, false},
		{[]frames{{}, {{1, 0}}}, []frames{{}, {{1, 0}}}, false},
		{[]frames{{{2, 3}}, {}}, []frames{{{2, 1}}, {{2, 2}}}, true},
		{[]frames{{{2, 1}}, {}}, []frames{{{2, 1}}, {}}, true},
		{[]frames{{{0, 0}, {1, 1}, {3, 1}}, {}}, []frames{{{0, 0}, {1, 0}, {3, 1}}, {{1, 1}}}, true},
		{[]frames{{{4, 2}}, {{2, 2}, {5, 9}}, {{0, 0}}}, []frames{{{4, 2}}, {{2, 1}, {5, 9}}, {{2, 1}}}, true},
		{[]frames{{{1, 1}}, {{2, 2}}, {}}, []frames{{{1, 1}}, {{2, 1}}, {{2, 1}}}, true},
		{[]frames{{}, {{3, 2}}, {{3, 2}}}, []frames{{{3, 1}}, {{3, 1}}, {{3, 2}}}, true},
		{[]frames{{}, {{3, 4}}, {}}, []frames{{{3, 1}}, {{3, 2}}, {{3, 1}}}, true},
	} {
		after, left := exhaustive.Shared(test.before...)
		if left != test.left || !cmp.Equal(test.after, after, cmpopts.EquateEmpty()) {
			t.Errorf("%v became %v, left %v; want %v, %v", test.before, after, left, test.after, test.left)
		}
	}
}

// The code of only one actor runs at a time, because code may wrongly share state.
func TestATeamRunsCodeOneAtATime(t *testing.T) {
	var running, most, ran atomic.Int32
	code := func() {
		most.Store(max(most.Load(), running.Add(1)))
		for range 20 {
			runtime.Gosched()
		}
		running.Add(-1)
		ran.Add(1)
	}
	leader := &exhaustive.Exploration{}
	leader.Next()
	leader.Divide(4)
	defer leader.Close()
	var searching sync.WaitGroup
	for _, x := range leader.Members() {
		searching.Go(func() {
			var pool sim.Pool
			defer pool.Close()
			gets := 0
			s := sim.New(sim.Config{
				Strategy: x.Strategy(), Pool: &pool, Memory: sim.Memory{Search: x},
				Fingerprint: func() uint64 { return uint64(gets) },
				Keep:        func() func(bool) { return func(bool) {} },
			})
			s.Add(sim.Actor{Name: "a", Run: func(p *sim.Proc) {
				for range 10 {
					code()
					p.Do(&teller{asks: "a number", gets: &gets})
				}
			}})
			s.Run()
			x.Alone(code)
		})
	}
	searching.Wait()
	if most.Load() != 1 || ran.Load() != 44 {
		t.Errorf("code ran %d times, at most %d at the same time; want 44 and one", ran.Load(), most.Load())
	}
}

// A team whose members contradict what their code claims to forget has proved nothing, although nothing is left.
func TestATeamThatContradictsItselfIsNotComplete(t *testing.T) {
	var x exhaustive.Exploration
	defer x.Close()
	run := func(x *exhaustive.Exploration, asks string) {
		var pool sim.Pool
		s, gets := x.Rewind(), 0
		if s == nil {
			s = sim.New(sim.Config{
				Strategy: x.Strategy(), Pool: &pool, Memory: sim.Memory{Search: x},
				Fingerprint: func() uint64 { return uint64(gets) },
				Keep:        func() func(bool) { was := gets; return func(bool) { gets = was } },
			})
			for _, name := range []string{"a", "b"} {
				s.Add(sim.Actor{Name: name, Run: func(p *sim.Proc) {
					p.Forget("", noState)
					p.Do(&teller{asks: asks, gets: &gets})
				}})
			}
		}
		if result := s.Run(); result.Err != nil {
			t.Fatal(result.Err)
		}
	}
	x.Off = noReduction
	x.Next()
	run(&x, "a number")
	x.Divide(2)
	if _, err := x.Meet(); err != nil {
		t.Fatal(err)
	}
	for i, m := range x.Members() {
		for m.Next() {
			run(m, []string{"a number", "a name"}[i])
		}
	}
	if e := x.Explored(); !e.Complete || x.Members()[1].Schedules() == 0 {
		t.Fatalf("before they meet: %+v, and the second made %d", e, x.Members()[1].Schedules())
	}
	if left, err := x.Meet(); left || err == nil || x.Explored().Complete {
		t.Errorf("got left %v, error %v, and %+v; want an error, and the search not complete", left, err, x.Explored())
	}
}
