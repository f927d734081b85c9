package sim_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/sim"
)

// place is a moment of a run: after the given steps from its beginning, each in the form "alice start".
type place struct {
	start time.Duration // of true time
	ticks int
	add   func(*sim.Sim)
	steps []string
	met   []string // the actors that the world knows by name
	apart bool     // it tells all actors apart
}

// Rank implements sim.Symmetry.
func (m place) Rank(actor string) int { return slices.Index(m.met, actor) + 1 }

// Broken implements sim.Symmetry.
func (m place) Broken() bool { return false }

// state returns the fingerprint of the moment. The world's own is the same everywhere.
func (m place) state(t *testing.T) (state uint64) {
	t.Helper()
	w := &wanted{steps: m.steps}
	var symmetry sim.Symmetry
	if !m.apart {
		symmetry = m
	}
	s := sim.New(sim.Config{
		Clock: fakeclock.New(fakeclock.Epoch.Add(m.start)), Ticks: m.ticks, Fingerprint: func() uint64 { return 7 },
		Strategy: w.strategy(), Symmetry: symmetry,
		Trace: w.took,
	})
	w.sim = s
	m.add(s)
	if len(m.steps) == 0 {
		return s.Fingerprint()
	}
	if r := s.Run(); !w.there {
		t.Fatalf("the run is %v (%v), with %q still to come", r.End, r.Err, w.steps)
	}
	if w.confused != "" {
		t.Errorf("after %q, one name stands for %s", m.steps, w.confused)
	}
	return w.state
}

// wanted is a chooser of given steps, which ends the run after them.
type wanted struct {
	steps []string // still to come
	sim   *sim.Sim
	state uint64
	there bool

	confused string // see Sim.Confused

	next    []sim.Step // possible after the last one
	further int        // instants of the last of these
}

func (w *wanted) Choose(steps []sim.Step) int {
	if w.there {
		w.next, w.further = slices.Clone(steps), len(steps[len(steps)-1].Further())
		w.confused = w.sim.Confused()
	}
	return slices.IndexFunc(steps,
		func(s sim.Step) bool { return len(w.steps) > 0 && s.Name+" "+s.Kind.String() == w.steps[0] })
}

func (w *wanted) strategy() sim.Strategy {
	return sim.Strategy{Name: "wanted", New: func(*rand.Rand, int) sim.Chooser { return w }}
}

func (w *wanted) took(s sim.TraceStep) {
	if len(w.steps) == 0 || s.Step.Name+" "+s.Step.Kind.String() != w.steps[0] {
		return
	}
	if w.steps = w.steps[1:]; len(w.steps) == 0 {
		w.state, w.there = w.sim.Fingerprint(), true
	}
}

// asks is a request with times and nothing else.
type asks struct {
	takes time.Duration
	sent  time.Time
}

func (asks) Outcomes() []int                   { return []int{0} }
func (asks) Accesses(int) []sim.Access         { return nil }
func (asks) Apply(int)                         {}
func (asks) Describe(int) string               { return "" }
func (asks) DescribeAnswer() string            { return "" }
func (asks) AnswerFingerprint() (uint64, bool) { return 0, true }
func (a asks) Delay() time.Duration            { return a.takes }
func (a asks) DateSent() time.Time             { return a.sent }

// named is a request whose answer holds the name of a twin.
type named struct {
	asks
	answer, upToNames uint64
	strange           bool // it does not know its answer
}

func (n named) AnswerFingerprint() (uint64, bool) { return n.answer, !n.strange }
func (n named) AnswerUpToNames() uint64           { return n.upToNames }

func TestWhatMakesAState(t *testing.T) {
	node := func(a sim.Actor) func(*sim.Sim) {
		a.Name = "alice"
		if a.Run == nil {
			a.Run = func(p *sim.Proc) { p.Clock().Sleep(time.Minute) }
		}
		return func(s *sim.Sim) {
			s.Add(a)
			// otherwise the run would be over
			s.Add(sim.Actor{Name: "bob", Run: func(p *sim.Proc) { p.Clock().Sleep(5 * time.Second) }})
		}
	}
	alone := func(d fakeclock.Drift) func(*sim.Sim) {
		return func(s *sim.Sim) {
			s.Add(sim.Actor{Name: "alice", Drift: d, Run: func(p *sim.Proc) { p.Clock().Sleep(time.Minute) }})
		}
	}
	asking := func(a asks) func(*sim.Sim) { return node(sim.Actor{Run: func(p *sim.Proc) { p.Do(a) }}) }
	sleeps := func(d time.Duration) func(*sim.Sim) {
		return node(sim.Actor{Run: func(p *sim.Proc) { p.Clock().Sleep(d) }})
	}
	lane := func(d time.Duration) func(*sim.Sim) {
		return node(sim.Actor{Run: func(p *sim.Proc) {
			here := p.Clock()
			here.Lane(func() { p.Clock().Sleep(d) })
			here.Lane(func() { p.Clock().Sleep(time.Hour) })
			here.Join()
		}})
	}
	planned := func(events ...sim.Planned) func(*sim.Sim) { return node(sim.Actor{Planned: events}) }
	pause := func(d time.Duration) sim.Planned { return sim.Planned{Kind: sim.Pause, For: d} }
	restart := sim.Planned{Kind: sim.Restart, At: time.Hour}
	started := []string{"alice start"}
	down := []string{"alice start", "alice crash"}
	lives := node(sim.Actor{Crashes: 2, Restarts: 2, Run: func(p *sim.Proc) {
		p.Forget("", noState)
		p.Do(asks{})
	}})
	both := node(sim.Actor{Crashes: 1, Restarts: 1, Run: func(p *sim.Proc) {
		here := p.Clock()
		here.Lane(func() { p.Do(asks{}) })
		here.Lane(func() { p.Do(asks{}) })
		here.Join()
	}})
	secret := func(s *sim.Sim) { // there is nothing to choose
		s.Add(sim.Actor{Name: "alice", Run: func(p *sim.Proc) {
			for range 3 {
				p.Forget("", noState)
				p.Do(&late{at: func() time.Duration { return 0 }})
			}
		}})
	}
	twin := sim.Actor{Class: 1, Crashes: 2, Restarts: 2, Run: func(p *sim.Proc) {
		p.Forget("", noState)
		p.Do(asks{})
	}}
	twins := func(s *sim.Sim) {
		for _, twin.Name = range []string{"alice", "bob"} {
			s.Add(twin)
		}
	}
	// dated adds twins whose first and second incarnations sent their requests at these times.
	dated := func(alice1, alice2, bob1, bob2 int) func(*sim.Sim) {
		return func(s *sim.Sim) {
			for i, sent := range [][]int{{alice1, alice2, 0}, {bob1, bob2, 0}} {
				s.Add(sim.Actor{Name: []string{"alice", "bob"}[i], Class: 1, Crashes: 2, Restarts: 2,
					Run: func(p *sim.Proc) {
						p.Forget("", noState)
						p.Do(asks{sent: fakeclock.Epoch.Add(time.Duration(sent[p.Incarnation()-1]))})
					}})
			}
		}
	}
	told := func(n named) func(*sim.Sim) {
		return func(s *sim.Sim) {
			for _, name := range []string{"alice", "bob"} {
				s.Add(sim.Actor{Name: name, Class: 1, Run: func(p *sim.Proc) { p.Do(n) }})
			}
		}
	}
	answered := []string{"alice start", "alice effect"}
	unlike := func(s *sim.Sim) {
		for _, a := range []sim.Actor{{Name: "alice", Run: twin.Run}, {Name: "bob", Run: twin.Run}} {
			s.Add(a)
		}
	}
	// life returns the steps of one incarnation. At its end the request is still in the network (left), or has taken
	// effect.
	life := func(name, next string, left bool) []string {
		if left {
			return []string{name + " start", name + " crash", next + " restart"}
		}
		return []string{name + " start", name + " effect", name + " crash", next + " restart"}
	}
	lived := func(alice1, alice2, bob1, bob2 bool) []string {
		return slices.Concat(life("alice", "alice", alice1), life("alice.2", "alice.2", alice2),
			life("bob", "bob", bob1), life("bob.2", "bob.2", bob2),
			[]string{"alice.3 start", "bob.3 start"})
	}
	for _, test := range []struct {
		name string
		a, b place
		same bool
	}{
		{"which of two has begun that only look like twins", place{add: unlike, steps: []string{"alice start"}},
			place{add: unlike, steps: []string{"bob start"}}, false},
		{"which of two has begun where there are no twins",
			place{add: twins, apart: true, steps: []string{"alice start"}},
			place{add: twins, apart: true, steps: []string{"bob start"}}, false},
		{"which of two twins has begun", place{add: twins, steps: []string{"alice start"}},
			place{add: twins, steps: []string{"bob start"}}, true},
		{"which of two twins has begun, if the world knows the first",
			place{add: twins, met: []string{"alice"}, steps: []string{"alice start"}},
			place{add: twins, met: []string{"alice"}, steps: []string{"bob start"}}, false},
		{"which of two twins has begun, who is known to the world",
			place{add: twins, met: []string{"alice"}, steps: []string{"alice start"}},
			place{add: twins, met: []string{"bob"}, steps: []string{"bob start"}}, true},
		{"how many of two twins have begun", place{add: twins, steps: []string{"alice start"}},
			place{add: twins, steps: []string{"alice start", "bob start"}}, false},
		{"whose of two twins' requests are left", place{add: twins, steps: lived(true, true, false, false)},
			place{add: twins, steps: lived(false, false, true, true)}, true},
		{"whether they are of one twin", place{add: twins, steps: lived(true, true, false, false)},
			place{add: twins, steps: lived(true, false, false, true)}, false},
		{"which of two requests a twin sent at which time",
			place{add: dated(1, 2, 3, 4), steps: lived(true, true, true, true)},
			place{add: dated(1, 4, 3, 2), steps: lived(true, true, true, true)}, false},
		{"whose name an answer has", place{add: told(named{answer: 1}), steps: answered},
			place{add: told(named{answer: 2}), steps: answered}, true},
		{"whose name it has where there are no twins", place{add: told(named{answer: 1}), apart: true, steps: answered},
			place{add: told(named{answer: 2}), apart: true, steps: answered}, false},
		{"which run it is, if an answer is not known",
			place{add: told(named{strange: true}), steps: slices.Concat(answered, []string{"bob start"})},
			place{add: told(named{strange: true}), steps: []string{"bob start", "alice start", "alice effect"}}, false},
		{"true time", place{add: alone(fakeclock.Drift{})},
			place{start: time.Second, add: alone(fakeclock.Drift{Offset: -time.Second})}, false},
		{"the node's clock", place{add: node(sim.Actor{})},
			place{add: node(sim.Actor{Drift: fakeclock.Drift{Offset: 1}})}, false},
		{"ticks", place{add: node(sim.Actor{})}, place{ticks: 1, add: node(sim.Actor{})}, false},
		{"pauses", place{add: node(sim.Actor{Pauses: 1})}, place{add: node(sim.Actor{Pauses: 2})}, false},
		{"crashes", place{add: node(sim.Actor{Crashes: 1})}, place{add: node(sim.Actor{Crashes: 2})}, false},
		{"restarts", place{add: node(sim.Actor{Restarts: 1})}, place{add: node(sim.Actor{Restarts: 2})}, false},
		{"clock steps", place{add: node(sim.Actor{ClockSteps: []time.Duration{1}})},
			place{add: node(sim.Actor{})}, false},
		{"what is planned", place{add: planned(restart)}, place{add: planned(restart, restart)}, false},
		{"the code has begun", place{add: node(sim.Actor{})}, place{add: node(sim.Actor{}), steps: started}, false},
		{"the end of a pause", place{add: planned(pause(1)), steps: []string{"alice start", "alice pause"}},
			place{add: planned(pause(2)), steps: []string{"alice start", "alice pause"}}, false},
		{"a pause ends at that time, or later",
			place{add: planned(pause(time.Second)), steps: []string{"alice start", "alice pause"}},
			place{
				add: node(sim.Actor{Pauses: 1, PauseFor: time.Second}), steps: []string{"alice start", "alice pause"},
			}, false},
		{"after a pause, how it would have ended",
			place{add: planned(pause(0)), steps: []string{"alice start", "alice pause", "alice resume"}},
			place{add: node(sim.Actor{Pauses: 1}), steps: []string{"alice start", "alice pause", "alice resume"}},
			true},
		{"how long a sleep lasts", place{add: sleeps(time.Second), steps: started},
			place{add: sleeps(2 * time.Second), steps: started}, false},
		{"when a sleep was over", place{
			add: sleeps(time.Second), ticks: 2, steps: []string{"alice start", "bob start", "time tick", "time tick"},
		},
			place{add: sleeps(2 * time.Second), ticks: 2, steps: []string{"alice start", "bob start",
				"time tick", "time tick"}}, true},
		{"a sleep that is over, and one that is nearly",
			place{add: sleeps(5 * time.Second), steps: []string{"alice start", "bob start", "time tick"}},
			place{add: sleeps(5*time.Second + 1), steps: []string{"alice start", "bob start", "time tick"}}, false},
		{"how long a sleep of a lane lasts", place{add: lane(time.Second), steps: started},
			place{add: lane(2 * time.Second), steps: started}, false},
		{"when an answer arrives", place{add: asking(asks{takes: 1}), steps: []string{"alice start", "alice effect"}},
			place{add: asking(asks{takes: 2}), steps: []string{"alice start", "alice effect"}}, false},
		{"when a request was sent", place{add: asking(asks{sent: fakeclock.Epoch}), steps: started},
			place{add: asking(asks{sent: fakeclock.Epoch.Add(1)}), steps: started}, false},
		{"the clock of a node that will come back",
			place{add: node(sim.Actor{Crashes: 1, Planned: []sim.Planned{restart}}), steps: down},
			place{add: node(sim.Actor{
				Crashes: 1, Planned: []sim.Planned{restart}, Drift: fakeclock.Drift{Offset: 1},
			}), steps: down}, false},
		{"the clock of a node that is down for good", place{add: node(sim.Actor{Crashes: 1}), steps: down},
			place{add: node(sim.Actor{Crashes: 1, Drift: fakeclock.Drift{Offset: 1}}), steps: down}, true},
		{"whose request is left in the network",
			place{add: lives, steps: []string{"alice start", "alice crash", "alice restart", "alice.2 start",
				"alice.2 effect", "alice.2 crash", "alice.2 restart", "alice.3 start"}},
			place{add: lives, steps: []string{"alice start", "alice effect", "alice crash", "alice restart",
				"alice.2 start", "alice.2 crash", "alice.2 restart", "alice.3 start"}}, false},
		{"which request is left in the network",
			place{add: both, steps: []string{"alice start", "alice crash", "alice orphan"}},
			place{add: both, steps: []string{"alice start", "alice crash", "alice/b orphan"}}, false},
		{"how often an answer has come that cannot be compared",
			place{add: secret, steps: []string{"alice start", "alice effect"}},
			place{add: secret, steps: []string{"alice start", "alice effect", "alice response", "alice effect"}},
			false},
	} {
		a, b := test.a.state(t), test.b.state(t)
		if (a == b) != test.same {
			t.Errorf("%s: %x and %x, want the same state: %v", test.name, a, b, test.same)
		}
	}
}

func TestWithoutAFingerprintOfTheWorldThereIsNoneOfTheRun(t *testing.T) {
	if state := sim.New(sim.Config{}).Fingerprint(); state != 0 {
		t.Errorf("found %x, want 0", state)
	}
}

// noState is the state of code that depends on nothing.
func noState() (state, named uint64) { return 0, 0 }
