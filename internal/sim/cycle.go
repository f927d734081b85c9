package sim

import (
	"math"
	"math/rand/v2"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

// Cycle is a part of a run that may go on for ever: the run looks the same before and after it ([Sim.looks]), no fault
// is in it, and each machine with something to do does something in it. GoRound shows whether it does go on.
type Cycle struct {
	From, To int      // its steps are those after From, up to To
	Choices  int      // the number of choices up to its end
	Waiting  []string // the names of the actors whose code has not come to its end
}

// moment is one at which a cycle may begin.
type moment struct {
	steps int
	looks uint64
}

// recent bounds the moments that a moment is compared with. A run notes only a few cycles: it ends, so most of what
// looks like a cycle is a poll of somebody who gives up in the end.
const (
	recent     = 32
	mostCycles = 4
)

// noteCycle notes the cycle that ends now, if there is one. Time has just moved: a cycle in which time stands still is
// no run of real machines.
func (s *Sim) noteCycle() {
	if len(s.result.Cycles) == mostCycles {
		return
	}
	since := s.result.Steps // every machine with something to do has taken a step since then
	for _, a := range s.actors {
		if _, planned := s.nextPlanned(a); planned {
			return
		}
		for i := -1; i < len(a.lanes); i++ {
			if p := a.at(i); !p.idles() {
				since = min(since, p.latest)
			}
		}
	}
	now := moment{s.result.Steps, s.looks()}
	for i := len(s.moments) - 1; i >= max(0, len(s.moments)-recent); i-- {
		if was := s.moments[i]; was.steps < since && was.looks == now.looks {
			if c := (Cycle{was.steps, now.steps, len(s.result.Choices), s.waiting()}); c.Waiting != nil {
				s.result.Cycles = append(s.result.Cycles, c)
			}
			break
		}
	}
	s.moments = append(s.moments, now)
}

// waiting returns the names of the actors whose code has not come to its end.
func (s *Sim) waiting() (names []string) {
	for _, a := range s.actors {
		if a.alive() {
			names = append(names, a.proc.name)
		}
	}
	return names
}

// at returns a lane of the present incarnation, and the incarnation itself for -1.
func (a *actor) at(lane int) *Proc {
	if lane < 0 {
		return a.proc
	}
	return a.lanes[lane]
}

// idles says that the proc has no step, and gets one only by a step of another.
func (p *Proc) idles() bool {
	switch p.state {
	case ended, crashed, away:
		return true
	case calling:
		return len(p.request.Outcomes()) == 0
	default:
		return false
	}
}

// looks returns a number that is equal if the machines are at the same places of their scripts, wait for as long as
// before, and have as many faults before them. It knows neither what their code remembers nor the world, except for the
// next instant at which each source changes.
func (s *Sim) looks() uint64 {
	now := s.clock.Now()
	h := fingerprint.Hash(len(s.orphans))
	for _, src := range s.sources {
		if next, has := src.Next(now); has {
			h = h.Number(uint64(next.Sub(now)))
		}
	}
	for _, a := range s.actors {
		h = h.Number(uint64(a.place)).Number(uint64(a.pauses)).Number(uint64(a.crashes)).
			Number(uint64(len(a.clockSteps)))
		for i := -1; i < len(a.lanes); i++ {
			p := a.at(i)
			if h = h.Number(uint64(p.state)); p.state != calling {
				h = h.Number(p.waitsFor(now))
			}
		}
	}
	return uint64(h)
}

// GoRound takes the given choices up to the end of a cycle, and then the steps of the cycle again and again, with as
// many ticks as that takes. At the beginning of the cycle, and after each round, it goes on if again says so. It leaves
// the run if a step of the cycle is a fault, or is not possible any more.
func GoRound(choices Choices, c Cycle, again func() bool) Strategy {
	return Strategy{Name: "go-round", New: func(*rand.Rand, int) Chooser {
		return &goRound{left: choices[:c.Choices], cycle: c, again: again}
	}}
}

type goRound struct {
	sim   *Sim
	left  Choices
	cycle Cycle
	again func() bool
	taken []turn
}

// turn is a step that was taken, by its position and by its owner.
type turn struct {
	position, outcome int
	kind              Kind
	name              string
}

// Begin implements Explorer: a cycle may have steps that only a search is offered.
func (g *goRound) Begin(s *Sim) Reduction {
	g.sim = s
	return ^Reduction(0)
}

// Choose implements Chooser.
func (g *goRound) Choose(steps []Step) int {
	n, round := len(g.taken), g.cycle.To-g.cycle.From
	if n >= g.cycle.From && (n-g.cycle.From)%round == 0 && !g.again() {
		return Abandon
	}
	i, was, repeats := 0, turn{}, n >= g.cycle.To
	switch {
	case repeats:
		was = g.taken[n-round]
		i = was.position
	case len(steps) > 1 && len(g.left) > 0:
		i, g.left = g.left[0], g.left[1:]
	}
	if i >= len(steps)+len(g.sim.further()) {
		return Abandon
	}
	step := g.sim.at(i)
	took := turn{i, step.outcome, step.Kind, step.Name}
	if repeats && (took.outcome > 0 || took != was) {
		return Abandon
	}
	if g.taken = append(g.taken, took); n >= g.cycle.To-1 {
		g.sim.ticks = math.MaxInt
	}
	return i
}

// Over implements Explorer. What follows a run in which the cycle has ended does not matter.
func (*goRound) Over() bool { return true }

// Ended implements Explorer.
func (*goRound) Ended(Result) error { return nil }
