package sim_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/hooks/sim"
)

// sweeps is a source with one step, which writes one thing.
type sweeps struct {
	stops
	name, what string
}

func (s sweeps) Name() string    { return s.name }
func (s sweeps) Steps() []uint64 { return []uint64{1} }
func (s sweeps) Accesses(uint64) []sim.Access {
	return []sim.Access{{Object: sim.ObjectNamed(s.what), Write: true}}
}

// torn is a request that writes y, or z in another outcome.
type torn struct{ asks }

func (torn) Accesses(outcome int) []sim.Access {
	return []sim.Access{{Object: sim.ObjectNamed([]string{"y", "z"}[outcome]), Write: true}}
}

func TestWhichStepsRace(t *testing.T) {
	w := &wanted{steps: []string{"alice start", "bob start", "carol start", "erin start",
		"frank start", "frank crash", "frank restart", "frank.2 start", "frank.2 crash"}}
	s := sim.New(sim.Config{
		Ticks: 1, Fingerprint: func() uint64 { return 0 }, Trace: w.took,
		Strategy: sim.Strategy{Name: "wanted", New: func(*rand.Rand, int) sim.Chooser { return w }},
	})
	w.sim = s
	x, y := &register{name: "x"}, &register{name: "y"}
	does := func(r sim.Request) func(p *sim.Proc) { return func(p *sim.Proc) { p.Do(r) } }
	s.Add(sim.Actor{Name: "alice", Run: does(&access{to: x, write: true})})
	s.Add(sim.Actor{Name: "bob", Run: does(&access{to: x})})
	s.Add(sim.Actor{Name: "carol", Run: does(&access{to: y})})
	s.Add(sim.Actor{Name: "dave", Run: does(asks{})})
	s.Add(sim.Actor{Name: "erin", Run: func(p *sim.Proc) { p.Clock().Sleep(time.Second) }})
	s.Add(sim.Actor{Name: "frank", Crashes: 2, Restarts: 1, Run: does(torn{})})
	s.AddSource(sweeps{name: "sweeps x", what: "x"})
	s.AddSource(sweeps{name: "sweeps z", what: "z"})
	s.Run()

	steps, ids := map[string]sim.Step{}, map[uint64]string{}
	for _, step := range w.next {
		name := step.Name + " " + step.Kind.String()
		if same, taken := ids[step.ID()]; taken {
			t.Errorf("%s and %s have one ID", name, same)
		}
		steps[name], ids[step.ID()] = step, name
		actor, other := map[string]string{"time": "", "sweeps x": "", "sweeps z": "", "frank.2": "frank"}[step.Name]
		if !other {
			actor = step.Name
		}
		if step.Actor() != actor {
			t.Errorf("%s is a step of %q, want %q", name, step.Actor(), actor)
		}
		if step.Kind != sim.Tick && len(step.Further()) > 0 {
			t.Errorf("%s goes further: %v", name, step.Further())
		}
	}
	for _, test := range []struct {
		a, b  string
		races bool
	}{
		{"alice effect", "bob effect", true},
		{"alice effect", "carol effect", false},
		{"bob effect", "carol effect", false},
		{"alice effect", "sweeps x external", true},
		{"alice effect", "sweeps z external", false},
		{"sweeps x external", "sweeps z external", false},
		{"dave start", "alice effect", false},
		{"dave start", "time tick", true},
		{"sweeps z external", "time tick", true},
		{"frank orphan", "carol effect", true},
		{"frank orphan", "sweeps z external", false},
		{"frank orphan", "frank.2 orphan", true},
	} {
		a, isA := steps[test.a]
		b, isB := steps[test.b]
		if !isA || !isB || a.Races(b) != test.races || b.Races(a) != test.races {
			t.Errorf("%s and %s: possible %v and %v, want that they race: %v", test.a, test.b, isA, isB, test.races)
		}
	}
}

// A switch is a step of another actor's code than the one before: a start, an effect, an answer, the end of a sleep.
func TestSwitches(t *testing.T) {
	s := sim.New(sim.Config{Strategy: sim.Replay(sim.Choices{0})})
	for i, name := range []string{"alice", "bob"} {
		s.Add(sim.Actor{Name: name, Run: func(p *sim.Proc) { p.Clock().Sleep(time.Duration(i+1) * time.Second) }})
	}
	if r := s.Run(); r.Switches != 3 {
		t.Errorf("%d switches, want 3: alice and bob start, alice wakes, bob wakes", r.Switches)
	}
}
