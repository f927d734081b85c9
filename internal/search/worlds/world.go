// Package worlds draws the worlds in which a cache or a lock is checked: nodes and their scripts, durations, clocks,
// pauses, crashes, lags and faults. A check in Go and a check of a program draw the same worlds.
package worlds

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// World is a scenario that rapid drew.
type World struct{ *spec.Scenario }

// Extras are features of worlds that only some code under test has, and its terms.
type Extras struct {
	Rows    isr.Schema  // of a cache
	Verbs   []spec.Verb // the verbs that a cache knows besides get
	Tenants bool        // a cache takes its node's tenant
	Promise spec.Promise
	Without []string // names of invariants that do not judge
	Exact   bool     // all clocks of a cache's worlds show true time
	S3Store string   // see spec.Scenario

	Terms
	Leases     []time.Duration // of a lock, or how long a call counts as in progress; without any, the usual ones
	Retentions []time.Duration // how long results of calls are kept; without any, the usual ones
	// Goroutines and Program say that the code has goroutines, or is a program, so its requests may have time limits.
	Goroutines, Program bool
}

// Terms are the promises of code under test that decide which worlds are drawn.
type Terms = subject.Terms

// Text returns the scenario as the text of its file.
func Text(s *spec.Scenario) string {
	yaml, err := s.YAML()
	if err != nil {
		return err.Error()
	}
	return "\n" + string(yaml)
}

// OfSeed makes a world of pages render the same bytes from unchanged data under one seed in four: a cache that compares
// contents may then leave out a write. The seed decides, so that the draws of the world stay the same.
func (w World) OfSeed(seed uint64) World {
	w.Cache.SameBytes = seed%4 == 3 && w.Scenario.Subject().Judged().Rows
	return w
}

// GoString describes the world on one line: rapid prints each value that it draws with %#v, and for a world that did
// not fail one line is enough.
func (w World) GoString() string {
	keys := map[subject.Key]bool{}
	for _, a := range w.Actors {
		for _, c := range a.Script {
			if c.Key != "" {
				keys[subject.Key{Tenant: a.Tenant, Name: c.Key}] = true
			}
		}
	}
	return fmt.Sprintf("%d machines, %d %s, %d faults", len(w.Actors), len(keys), w.Scenario.Subject().Name(),
		len(w.Faults))
}

// MaxSteps cuts a run that does not end. A run of these worlds that ends has some hundreds of steps.
const MaxSteps = 10_000

// Draw generates worlds. In every list that worlds draw from, the simplest value comes first, because rapid shrinks
// towards the first value.
func (s *Subject) Draw(name, protocol string, schedules int, extra Extras) *rapid.Generator[World] {
	return rapid.Custom(func(t *rapid.T) World {
		w := spec.Defaults()
		w.Name, w.Protocol, w.Rows, w.Promise = name, protocol, extra.Rows, extra.Promise
		w.Without, w.S3Store = slices.Clone(extra.Without), extra.S3Store
		w.Bounds = spec.Bounds{Schedules: schedules, Steps: MaxSteps}
		w.Bounds.Ticks = Pick(t, "ticks", 0, 2, 4, 8)
		s.Fill(t, w, extra)
		w.Settle = s.Settle(w, extra)
		return World{w}
	})
}

// Checked returns the world as written to its file, so that the file replays the run exactly.
func Checked(w *spec.Scenario) (*spec.Scenario, error) {
	yaml, err := w.YAML()
	if err != nil {
		return nil, err
	}
	s, err := spec.Parse(w.Name+".yaml", yaml, isr.Protocol{Name: w.Protocol})
	if err != nil {
		return nil, fmt.Errorf("the world that was drawn is not valid: either a duration of the check is out of "+
			"bounds, or isr-sim has made a mistake: %w", err)
	}
	s.File, s.Rows = "", w.Rows // the file may not have all of them
	return s, nil
}
