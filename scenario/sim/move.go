package sim

// Move identifies a step by its content, so that a schedule can be described for another run than its own, even in a
// world that was changed a little. Of the steps possible at one moment, no two have the same Move.
type Move struct {
	Kind    Kind
	Name    string // Step.Name
	Outcome int    // of an effect: 0 is the ordinary one
	item    uint64 // of a source's step
}

// Move returns the step's identity.
func (s Step) Move() Move { return Move{s.Kind, s.Name, s.outcome, s.item} }

// own reports whether the step is one of an actor's own code: it starts, its request takes effect, its answer arrives,
// or it wakes.
func (k Kind) own() bool { return k <= Timer }

// SchedulingPoint identifies a moment of a run by the steps that the actors have taken so far, and not by the number of
// choices: it means the same in a run that went another way for a while. No two moments of a run have the same.
type SchedulingPoint struct {
	actor string // the actor whose code took the latest step of any code; "" before the first
	steps int    // the number of steps that its code has taken
	since int    // the number of steps since then, which are of no actor's code
}

// Deviation is a moment at which a schedule leaves the default schedule, and the step that it takes there.
//
// The default schedule runs the current actor's code for as long as it can run, then that of the next actor in turn.
// When no code can run, time moves. Optional steps are never taken: no pause, no crash, no fault, no deletion.
type Deviation struct {
	At   SchedulingPoint
	Move Move
}

// place follows a run and knows its current moment.
type place struct {
	at     SchedulingPoint
	thread int   // of the code that ran last
	steps  []int // by actor
}

func (p *place) saw(s Step) {
	if !s.Kind.own() {
		p.at.since++
		return
	}
	index := s.proc.actor.index
	for len(p.steps) <= index {
		p.steps = append(p.steps, 0)
	}
	p.steps[index]++
	p.thread = s.Thread
	p.at = SchedulingPoint{actor: s.proc.actor.Name, steps: p.steps[index]}
}

// due returns the next step of the default schedule: of the running thread, or of the next one in turn. If no code can
// run, time moves. Optional steps are never due.
func due(steps []Step, running int) int {
	after, first := -1, -1
	for i, s := range steps {
		switch {
		case s.Kind == Tick && after < 0 && first < 0:
			return i
		case s.Kind.optional():
		case s.Thread == running:
			return i
		case s.Thread > running && after < 0:
			after = i
		case first < 0:
			first = i
		}
	}
	if after >= 0 {
		return after
	}
	return max(first, 0)
}

// Deviate takes the default schedule except for the given deviations. A deviation is left out if its moment does not
// come, or if its step is not possible then.
func Deviate(deviations []Deviation) Strategy {
	moves := make(map[SchedulingPoint]Move, len(deviations))
	for _, d := range deviations {
		moves[d.At] = d.Move
	}
	return strategyOf("deviate", func() Chooser { return &deviate{moves: moves} })
}

type deviate struct {
	place
	moves map[SchedulingPoint]Move
}

func (d *deviate) Watch(s Step) { d.saw(s) }

func (d *deviate) Choose(steps []Step) int {
	if move, ok := d.moves[d.at]; ok {
		if i := indexOf(steps, move); i >= 0 {
			return i
		}
	}
	return due(steps, d.thread)
}

// Follow takes the first of the given moves that is possible, each move once. Where none is possible, it takes the
// default schedule.
func Follow(moves []Move) Strategy {
	return strategyOf("follow", func() Chooser {
		left := make([]Move, len(moves))
		copy(left, moves)
		return &follow{left: left}
	})
}

type follow struct {
	place
	left []Move
}

func (f *follow) Watch(s Step) {
	f.saw(s)
	for i, move := range f.left {
		if move == s.Move() {
			f.left = append(f.left[:i], f.left[i+1:]...)
			return
		}
	}
}

func (f *follow) Choose(steps []Step) int {
	for _, move := range f.left {
		if i := indexOf(steps, move); i >= 0 {
			return i
		}
	}
	return due(steps, f.thread)
}

// indexOf returns the position of the step with that Move, or -1.
func indexOf(steps []Step, move Move) int {
	for i := range steps {
		if steps[i].Kind == move.Kind && steps[i].Move() == move {
			return i
		}
	}
	return -1
}
