package strategy

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/isr-sim/isr-sim/internal/sim"
)

// racing is a PCT in which threads fall at r steps that race and at d steps of any kind. A step races if it accesses
// something that several threads access and one of them writes, as the trial has shown. Few steps race, so each order
// of some of them has a far better chance. The steps of any kind are for bugs that an order of requests alone does not
// show, such as a clock that is read too early.
//
// Source: Ozkan, Majumdar, Oraee: Trace aware random testing for distributed systems (OOPSLA 2019),
// https://doi.org/10.1145/3360606, whose chance of finding a bug depends on the number of racing events alone.
//
// Deviation: they learn online which events race; here a trial shows it. Without a trial it is PCT.
func racing(r, d int, trial func() (races map[uint64]bool, steps int)) sim.Strategy {
	return sim.Strategy{
		Name: fmt.Sprintf("racing%d+%d", r, d),
		New: func(rng *rand.Rand, expectedSteps int) sim.Chooser {
			races, n := trial()
			if n == 0 {
				return PCT(1+r+d).New(rng, expectedSteps)
			}
			return &racingPCT{pct{rng: rng, changes: drawMoments(rng, d, expectedSteps)}, races, drawMoments(rng, r, n)}
		},
	}
}

type racingPCT struct {
	pct
	races map[uint64]bool // the things about which steps race
	among moments         // steps that race
}

func (p *racingPCT) Watch(s sim.Step) {
	p.changes.pass()
	if p.race(s) {
		p.among.pass()
	}
}

func (p *racingPCT) Choose(steps []sim.Step) int {
	best := p.fall(steps, p.best(steps), p.changes.come())
	if p.race(steps[best]) {
		best = p.fall(steps, best, p.among.come())
	}
	return p.take(steps, best)
}

// race says whether a step races, while there are still threads to fall.
func (p *racingPCT) race(s sim.Step) bool {
	return len(p.among.left) > 0 &&
		slices.ContainsFunc(s.Accesses(), func(a sim.Access) bool { return p.races[a.Object] })
}
