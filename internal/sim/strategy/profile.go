package strategy

import (
	"math/rand/v2"
	"slices"

	"github.com/isr-sim/isr-sim/internal/sim"
)

// profile counts how often each thread accesses each thing in a run.
type profile struct {
	sim.Chooser
	things  []thing // in the order of their first accesses
	threads []int   // by thread: its own steps
	steps   [][]int // for each step that accesses things: their places in things
}

// thing is a thing of the world in a profile.
type thing struct {
	object   uint64
	written  bool
	accesses []int // by thread
	sum      int
}

// of returns a strategy that takes the same steps as s, and counts them.
func (p *profile) of(s sim.Strategy) sim.Strategy {
	return sim.Strategy{Name: s.Name, New: func(rng *rand.Rand, expectedSteps int) sim.Chooser {
		*p = profile{Chooser: s.New(rng, expectedSteps)}
		return p
	}}
}

// Watch implements Watcher.
func (p *profile) Watch(s sim.Step) {
	if w, ok := p.Chooser.(sim.Watcher); ok {
		w.Watch(s)
	}
	if s.Own() {
		*at(&p.threads, s.Thread)++
	}
	var touched []int
	for _, a := range s.Accesses() {
		i := slices.IndexFunc(p.things, func(t thing) bool { return t.object == a.Object })
		if i < 0 {
			i = len(p.things)
			p.things = append(p.things, thing{object: a.Object})
		}
		t := &p.things[i]
		*at(&t.accesses, s.Thread)++
		t.sum++
		t.written = t.written || a.Write
		touched = append(touched, i)
	}
	if touched != nil {
		p.steps = append(p.steps, touched)
	}
}

// races returns the things about which steps of several threads raced in the trial, and how many steps did.
func (p *profile) races() (races map[uint64]bool, steps int) {
	races = map[uint64]bool{}
	for _, t := range p.things {
		if t.written && positive(t.accesses) > 1 {
			races[t.object] = true
		}
	}
	for _, s := range p.steps {
		if slices.ContainsFunc(s, func(thing int) bool { return races[p.things[thing].object] }) {
			steps++
		}
	}
	return races, steps
}

// draw draws a thing of interest, and returns it with its accesses by each thread; 0 if there is none.
func (p *profile) draw(rng *rand.Rand) (object uint64, accesses []int) {
	few := max(2, positive(p.threads)/2)
	weights := make([]int, len(p.things))
	for i, t := range p.things {
		if t.written && positive(t.accesses) >= few {
			weights[i] = t.sum
		}
	}
	i := drawWeighted(rng, weights)
	if i < 0 {
		return 0, nil
	}
	return p.things[i].object, slices.Clone(p.things[i].accesses)
}

// positive returns how many of the numbers are positive.
func positive(numbers []int) (n int) {
	for _, number := range numbers {
		n += min(number, 1)
	}
	return n
}

// at returns a pointer to the i-th value, and lengthens the slice if needed.
func at(values *[]int, i int) *int {
	for len(*values) <= i {
		*values = append(*values, 0)
	}
	return &(*values)[i]
}
