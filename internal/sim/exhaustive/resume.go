package exhaustive

import (
	"maps"
	"slices"

	"github.com/isr-sim/isr-sim/internal/sim"
)

// Saved is an Exploration between two runs. A file can keep it, and [Exploration.Resume] goes on with it.
type Saved struct {
	Path               sim.Choices   `json:"path"`
	Frames             []Frame       `json:"frames"`
	Schedules, TooLong int           `json:",omitempty"`        // also those of Others
	Moments            []savedMoment `json:"moments,omitempty"` // of the latest run, with Repeat
	Owed               *savedEnd     `json:",omitempty"`        // how the latest run ended, if it is to be repeated
	Sets               [][]uint64    `json:"sets"`              // sets of steps that were asleep
	Ends               []uint64      `json:",omitempty"`        // the states in which runs were over, ascending
	States             []uint64      `json:"-"`                 // ascending
	Asleep             []uint32      `json:"-"`                 // for each state, the number of its set

	Others []savedMember `json:",omitempty"` // the explorations among which this one was divided, without the first
}

// savedMember is one of several explorations among which one was divided.
type savedMember struct {
	Path               sim.Choices
	Frames             []Frame
	Schedules, TooLong int
}

// savedMoment is what a repetition of the latest run is compared with.
type savedMoment struct {
	State uint64
	Asked []string
	Step  string
	Taken int
}

// savedEnd is the end of a run.
type savedEnd struct {
	End   sim.End
	Steps int
}

// Save returns what the exploration has done. It is called between two runs.
func (x *Exploration) Save() *Saved {
	s := &Saved{
		Path: slices.Clone(x.path), Schedules: x.done.Schedules, TooLong: x.done.TooLong,
		Sets: slices.Clone(x.known().sets), States: x.States(), Frames: saved(x.frames),
		Ends: slices.Sorted(maps.Keys(x.known().ends)),
	}
	for _, m := range x.Members()[1:] {
		s.Schedules += m.done.Schedules
		s.TooLong += m.done.TooLong
		s.Others = append(s.Others,
			savedMember{slices.Clone(m.path), saved(m.frames), m.done.Schedules, m.done.TooLong})
	}
	for _, state := range s.States {
		s.Asleep = append(s.Asleep, x.known().states[state])
	}
	for _, m := range x.repeats.moments {
		s.Moments = append(s.Moments, savedMoment{m.state, m.asked, m.step, m.taken})
	}
	if x.repeats.owed {
		s.Owed = &savedEnd{x.repeats.last.End, x.repeats.last.Steps}
	}
	return s
}

// Resume makes the exploration go on where s was saved, before its first Next. Its fields, except for the bounds, and
// its runs must be those of the saved exploration.
func (x *Exploration) Resume(s *Saved) {
	if s.Schedules == 0 {
		return // nothing was done
	}
	x.begun, x.path, x.visited = true, slices.Clone(s.Path), newVisited()
	x.done.Schedules, x.done.TooLong = s.Schedules, s.TooLong
	x.frames = loaded(s.Frames)
	for n, ids := range s.Sets[1:] {
		x.visited.number[string(x.visited.key(ids))] = uint32(n + 1)
	}
	x.visited.sets = slices.Clone(s.Sets)
	for i, state := range s.States {
		x.visited.states[state] = s.Asleep[i]
	}
	for _, state := range s.Ends {
		x.visited.ends[state] = true
	}
	for _, m := range s.Moments {
		x.repeats.moments = append(x.repeats.moments, moment{m.State, m.Asked, m.Step, m.Taken})
	}
	if x.repeats.again = s.Owed == nil; !x.repeats.again {
		x.repeats.owed, x.repeats.last = true, sim.Result{End: s.Owed.End, Steps: s.Owed.Steps}
	}
	if len(s.Others) > 0 {
		x.Divide(1 + len(s.Others))
		for i, m := range x.Members()[1:] {
			was := s.Others[i]
			m.path, m.frames = slices.Clone(was.Path), loaded(was.Frames)
			m.done.Schedules, m.done.TooLong = was.Schedules, was.TooLong
			x.done.Schedules -= was.Schedules
			x.done.TooLong -= was.TooLong
		}
	}
}

func saved(frames []frame) (all []Frame) {
	for _, f := range frames {
		all = append(all, f.copied())
	}
	return all
}

func loaded(frames []Frame) (all []frame) {
	for _, f := range frames {
		all = append(all, frame{Frame: f.copied()})
	}
	return all
}

func (f Frame) copied() Frame {
	f.Todo, f.Asleep = slices.Clone(f.Todo), slices.Clone(f.Asleep)
	return f
}
