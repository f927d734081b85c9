package exhaustive

import (
	"errors"
	"slices"

	"github.com/isr-sim/isr-sim/internal/sim"
)

// explorer is the chooser of one run of an Exploration.
type explorer struct {
	x         *Exploration
	sim       *sim.Sim
	cfg       *sim.Config
	replaying bool         // this run still follows a path of earlier runs
	n         int          // choices made so far
	asleep    []sim.Option // now
	moments   int          // so far; with Repeat
	step      string       // the step that led here; with Repeat
}

// visit is a moment at which a run does something new: it reaches a state, or leaves one by a new step.
type visit struct {
	steps  []sim.Step
	asleep []sim.Option // the steps asleep when the state was reached
	left   bool         // the state was reached before
	taken  int          // -1 means none
}

// Begin implements sim.Explorer.
func (e *explorer) Begin(s *sim.Sim) sim.Reduction {
	e.sim, e.cfg = s, s.Config()
	return e.x.Off
}

// Choose implements sim.Chooser.
func (e *explorer) Choose(steps []sim.Step) int {
	if later := steps[len(steps)-1].Further(); len(later) > 0 {
		e.x.steps = append(append(e.x.steps[:0], steps...), later...)
		steps = e.x.steps
	}
	if !e.x.Repeat {
		return e.choose(steps)
	}
	if err := e.compare(); err != nil {
		e.x.err = err
		return sim.Abandon
	}
	r := &e.x.repeats
	if !r.again {
		r.moments[e.moments-1].taken = e.choose(steps)
	}
	return r.moments[e.moments-1].taken
}

func (e *explorer) choose(steps []sim.Step) int {
	news, left, asleep := !e.replaying, e.replaying, e.asleep
	i := e.pick(steps)
	if on := e.x.onVisit; on != nil && (news || !e.replaying) {
		on(visit{steps, asleep, left, i})
	}
	if len(steps) > 1 {
		e.n++
	}
	return i
}

func (e *explorer) pick(steps []sim.Step) int {
	x := e.x
	if !e.replaying {
		return e.explore(steps)
	}
	switch {
	case len(steps) == 1:
		return 0
	case e.n < len(x.path):
		e.keep()
		return x.path[e.n]
	}
	e.keep()
	// Here the run differs from those before.
	f := &x.frames[len(x.frames)-1]
	m := f.Todo[0]
	if m.Position >= len(steps) || !m.Is(steps[m.Position]) {
		x.err = &sim.DivergedError{Step: e.sim.Taken(), Differs: "other steps are possible than there were before; " +
			"actors and requests must depend only on what they are told"}
		return sim.Abandon
	}
	e.replaying = false
	f.Todo = f.Todo[1:]
	e.asleep = e.still(f.Asleep, m)
	f.Asleep = append(f.Asleep, m)
	x.path = append(x.path, m.Position)
	return m.Position
}

// explore chooses the step at a moment that, as far as is known, no run has reached before.
func (e *explorer) explore(steps []sim.Step) int {
	x := e.x
	options, seen := e.collect(steps), false
	todo := x.awake[:0]
	for _, m := range options {
		if !contains(e.asleep, m.ID) {
			todo = append(todo, m)
		}
	}
	x.awake = todo
	// With Visit, orphaned reads are taken: the visitor sees that they lead back to the state that they started from.
	if x.Off&sim.OrphanedReads == 0 && x.Visit == nil {
		todo = slices.DeleteFunc(todo, func(m sim.Option) bool { return m.Kind == sim.Orphan && m.Reads() })
	}
	if x.Off&sim.UnreadDeadlines == 0 {
		todo = slices.DeleteFunc(todo, func(m sim.Option) bool { return steps[m.Position].Idle() })
	}
	if x.Backwards {
		slices.Reverse(todo)
	}
	if e.cfg.Fingerprint != nil && x.Off&sim.StateComparison == 0 {
		state := e.sim.Fingerprint()
		if symmetry := e.cfg.Symmetry; symmetry != nil && symmetry.Broken() {
			x.err = &sim.TakenError{Off: sim.InterchangeableActors, Why: "the order of the actors' names may matter"}
			return sim.Abandon
		}
		name := e.named(steps)
		var asleep []uint64
		if asleep, seen = x.visited.asleep(state); seen {
			// Earlier runs left this state by every step that was awake in it, so only steps that slept then are new.
			// Two interchangeable actors may share the name of a step: if one of them slept, both count as asleep.
			todo = slices.DeleteFunc(todo, func(m sim.Option) bool { return !slices.Contains(asleep, name(m)) })
			if len(todo) == 0 {
				return sim.Abandon
			}
			e.asleep = slices.DeleteFunc(slices.Clone(e.asleep),
				func(m sim.Option) bool { return !slices.Contains(asleep, name(m)) })
		} else if x.Visit != nil && !x.Visit(state) {
			x.stopped = true
			return sim.Abandon
		}
		ids := make([]uint64, len(e.asleep))
		for i, m := range e.asleep {
			ids[i] = name(m)
		}
		x.visited.put(state, ids)
	}
	if x.Off&sim.PersistentSets == 0 {
		only, err := e.sim.Persistent()
		if err != nil {
			x.err = err
			return sim.Abandon
		}
		if only >= 0 && !seen { // from a known state, every step that is no longer asleep is taken
			todo = slices.DeleteFunc(todo, func(m sim.Option) bool { return m.Position != only })
		}
	}
	if len(todo) == 0 {
		return sim.Abandon
	}
	m := todo[0]
	if len(todo) > 1 {
		x.frames = append(x.frames, frame{Frame: Frame{At: e.n, Each: x.branch() / float64(len(todo)),
			Todo: slices.Clone(todo[1:]), Asleep: append(slices.Clone(e.asleep), m)}})
		e.keep()
	}
	e.asleep = e.still(e.asleep, m)
	if len(steps) > 1 {
		x.path = append(x.path, m.Position)
	}
	return m.Position
}

// keep saves this moment if another run will go on from it.
func (e *explorer) keep() {
	if e.cfg.Memory.Search == nil {
		return
	}
	for i := range e.x.frames {
		if f := &e.x.frames[i]; f.At == e.n && f.kept == nil {
			f.kept, e.x.spare = e.sim.Keep(e.x.spare), nil
		}
	}
}

// collect turns steps into options.
func (e *explorer) collect(steps []sim.Step) []sim.Option {
	e.x.options = e.x.options[:0]
	for i, s := range steps {
		e.x.options = append(e.x.options, s.Option(i))
	}
	return e.x.options
}

// named returns a function that gives an option the same id in all states that count as equal.
func (e *explorer) named(steps []sim.Step) func(sim.Option) uint64 {
	return func(m sim.Option) uint64 {
		if e.cfg.Symmetry != nil {
			if i := slices.IndexFunc(e.x.options, func(now sim.Option) bool { return now.ID == m.ID }); i >= 0 {
				return e.sim.Canonical(&steps[i])
			}
		}
		return m.ID
	}
}

// still returns the options that remain asleep when m is taken.
func (e *explorer) still(asleep []sim.Option, m sim.Option) (rest []sim.Option) {
	if e.x.Off&sim.SleepSets != 0 {
		return nil
	}
	for _, other := range asleep {
		if !e.sim.Dependent(other, m) {
			rest = append(rest, other)
		}
	}
	return rest
}

// Over implements sim.Explorer: what a caller does after the end of a run depends on the state alone.
func (e *explorer) Over() bool {
	x, symmetry := e.x, e.cfg.Symmetry
	switch {
	case e.cfg.Fingerprint == nil || x.Off&sim.StateComparison != 0 || symmetry != nil && symmetry.Broken():
		return false
	case x.repeats.again:
		return x.repeats.last.End == sim.Abandoned
	default:
		return x.visited.over(e.sim.Fingerprint())
	}
}

// Ended implements sim.Explorer: it notes the run's result.
func (e *explorer) Ended(r sim.Result) error {
	e.ended(r)
	return e.x.err
}

func (e *explorer) ended(r sim.Result) {
	x := e.x
	if errors.Is(r.Err, sim.ErrLeft) {
		x.err = r.Err
		return
	}
	if x.Repeat && x.err == nil {
		x.err = e.compareEnds(r)
	}
	if x.repeats.again {
		return
	}
	x.done.Schedules++
	switch r.End {
	case sim.Cut:
		x.done.TooLong++
	case sim.Broken:
		x.err = r.Err
	}
}

func contains(options []sim.Option, id uint64) bool {
	return slices.ContainsFunc(options, func(m sim.Option) bool { return m.ID == id })
}

// branch returns the share of the tree that the branch of the latest frame has.
func (x *Exploration) branch() float64 {
	if n := len(x.frames); n > 0 {
		return x.frames[n-1].Each
	}
	return 1
}
