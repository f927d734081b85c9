package worlds

import (
	"slices"

	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/internal/subject/list"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
)

// WithoutTTL leaves TTLDeletion out of the marks: TTL deletes nothing from a table whose rows have no ttl attribute.
func WithoutTTL(marks []spec.Mark) []spec.Mark {
	return slices.DeleteFunc(marks, func(m spec.Mark) bool { return m == mark.TTLDeletion })
}

// WithoutLocks leaves out the marks of a cache's locks, which no world reaches where no row is a lock.
func WithoutLocks(marks []spec.Mark) []spec.Mark {
	return slices.DeleteFunc(marks, func(m spec.Mark) bool {
		return m == mark.LockTakenOver || m == mark.LockRefused || m == mark.PublishRefused
	})
}

// DefaultSchedules is the number of schedules of each world: property.DefaultSchedules says how it was measured.
const DefaultSchedules = 20

// Plan is the plan of a check of a program: four schedules, with zero, one, two and three delays, and then PCT 3, PCT
// 5, POS and PCT 5 in turn.
//
// It was chosen by a measurement with the 43 mutants that drawn worlds show, and six seeds for each. On average it
// takes 181 schedules to find a mutant. The default plan of that time, with a random walk in place of one PCT 5, took
// 224. For the mutant shared-body-name, PCT 5 alone takes 526 schedules, PCT 3 764, POS 2,309, the random walk over
// 4,000, and the former default plan 1,336, each the mean of 20 seeds. The worlds have changed since: in some of them,
// one machine alone asked for a page.
func Plan() strategy.Plan {
	turns := [...]sim.Strategy{strategy.PCT(3), strategy.PCT(5), strategy.POS, strategy.PCT(5)}
	return strategy.Plan{Name: "drawn", At: func(i int) sim.Strategy {
		if i < len(turns) {
			return strategy.DelayBound(i)
		}
		return turns[i%len(turns)]
	}}
}

// From EnoughWorlds and EnoughSchedules on, a mark that was never reached means something. With fewer it may be chance:
// with the reference, one world of two schedules in thirty reaches a crash. A basic mark means something even after
// one world: if nothing was published, served as fresh or taken, nothing was judged.
const (
	EnoughWorlds    = 50
	EnoughSchedules = EnoughWorlds * DefaultSchedules
)

// Missing returns the wanted marks that no world has reached. They are missing if there were enough worlds and
// schedules to expect them, and untested otherwise. The map reached has the number of worlds that reached each mark.
func Missing(
	wanted []spec.Mark, reached map[spec.Mark]int, worlds, schedules int,
) (missing, untested []spec.Mark) {
	few := worlds < EnoughWorlds || schedules < EnoughSchedules
	for _, m := range wanted {
		switch {
		case reached[m] > 0:
		case few && !list.Basic(string(m)):
			untested = append(untested, m)
		default:
			missing = append(missing, m)
		}
	}
	return missing, untested
}

// Steadier returns the world with slower drifts, if a clock has drifted by more than the world promises in the run of
// o; nil otherwise. A world is drawn for runs of the usual length for its configuration. A store that waits longer than
// that gives a clock more time to drift, which is not the store's fault.
func Steadier(s *spec.Scenario, o *kernel.Outcome) *spec.Scenario {
	if !slices.Contains(o.Marks, mark.SkewBroken) {
		return nil
	}
	steadier, slowed := *s, false
	steadier.Actors = slices.Clone(s.Actors)
	for i := range steadier.Actors {
		drift := &steadier.Actors[i].Drift
		slowed = slowed || drift.PPM != 0
		drift.PPM /= 2
	}
	if !slowed {
		return nil
	}
	return &steadier
}
