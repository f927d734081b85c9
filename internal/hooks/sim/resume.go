package sim

import (
	"fmt"
	"slices"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

// Saved is an Exploration between two runs. A file can keep it, and [Resume] goes on with it.
type Saved struct {
	Path               Choices       `json:"path"`
	Frames             []SavedFrame  `json:"frames"`
	Schedules, TooLong int           `json:",omitempty"`        // also those of Others
	Moments            []SavedMoment `json:"moments,omitempty"` // of the latest run, with Repeat
	Owed               *SavedEnd     `json:",omitempty"`        // how the latest run ended, if it is to be repeated
	Sets               [][]uint64    `json:"sets"`              // sets of steps that were asleep
	States             []uint64      `json:"-"`                 // ascending
	Asleep             []uint32      `json:"-"`                 // for each state, the number of its set

	Frontier *SavedFrontier `json:",omitempty"` // of a Split
	Others   []SavedMember  `json:",omitempty"` // among which the exploration was divided, besides the first
}

// SavedMember is one of several explorations among which one was divided.
type SavedMember struct {
	Path               Choices
	Frames             []SavedFrame
	Schedules, TooLong int
}

// SavedFrame is a moment with steps that are left to take.
type SavedFrame struct {
	At           int
	Each         float64
	Todo, Asleep []SavedStep
}

// SavedStep is a step that was possible.
type SavedStep struct {
	Kind          Kind
	Thread, Actor int
	ID            uint64
	Position      int
	Accesses      []Access `json:",omitempty"`
	MayEnd        bool     `json:",omitempty"`
}

// SavedMoment is what a repetition of the latest run is compared with.
type SavedMoment struct {
	State uint64
	Asked []string
	Step  string
	Taken int
}

// SavedEnd is the end of a run.
type SavedEnd struct {
	End   End
	Steps int
}

// Save returns what the exploration has done. It is called between two runs.
func (x *Exploration) Save() *Saved {
	s := &Saved{
		Path: slices.Clone(x.path), Schedules: x.done.Schedules, TooLong: x.done.TooLong,
		Sets: slices.Clone(x.known().sets), States: x.States(), Frontier: x.saveFrontier(),
		Frames: saveFrames(x.frames),
	}
	for _, m := range x.Members()[1:] {
		s.Schedules += m.done.Schedules
		s.TooLong += m.done.TooLong
		s.Others = append(s.Others,
			SavedMember{slices.Clone(m.path), saveFrames(m.frames), m.done.Schedules, m.done.TooLong})
	}
	for _, state := range s.States {
		s.Asleep = append(s.Asleep, x.known().states[state])
	}
	for _, m := range x.repeats.moments {
		s.Moments = append(s.Moments, SavedMoment{m.state, m.asked, m.step, m.taken})
	}
	if x.repeats.owed {
		s.Owed = &SavedEnd{x.repeats.last.End, x.repeats.last.Steps}
	}
	return s
}

// Resume makes the exploration go on where s was saved, before its first Next. Its fields and its runs must be those of
// the saved exploration, but for its bounds.
func (x *Exploration) Resume(s *Saved) {
	if s.Schedules == 0 {
		return // nothing was done
	}
	x.begun, x.path, x.visited = true, slices.Clone(s.Path), newVisited()
	x.done.Schedules, x.done.TooLong = s.Schedules, s.TooLong
	x.frames = loadFrames(s.Frames)
	x.resumeFrontier(s.Frontier)
	for n, ids := range s.Sets[1:] {
		x.visited.number[string(x.visited.key(ids))] = uint32(n + 1)
	}
	x.visited.sets = slices.Clone(s.Sets)
	for i, state := range s.States {
		x.visited.states[state] = s.Asleep[i]
	}
	for _, m := range s.Moments {
		x.repeats.moments = append(x.repeats.moments, moment{m.State, m.Asked, m.Step, m.Taken})
	}
	if x.repeats.again = s.Owed == nil; !x.repeats.again {
		x.repeats.owed, x.repeats.last = true, Result{End: s.Owed.End, Steps: s.Owed.Steps}
	}
	if len(s.Others) > 0 {
		x.Divide(1 + len(s.Others))
		for i, m := range x.Members()[1:] {
			was := s.Others[i]
			m.path, m.frames = slices.Clone(was.Path), loadFrames(was.Frames)
			m.done.Schedules, m.done.TooLong = was.Schedules, was.TooLong
			x.done.Schedules -= was.Schedules
			x.done.TooLong -= was.TooLong
		}
	}
}

func saveFrames(frames []frame) (saved []SavedFrame) {
	for _, f := range frames {
		saved = append(saved, saveFrame(f))
	}
	return saved
}

func loadFrames(saved []SavedFrame) (frames []frame) {
	for _, f := range saved {
		frames = append(frames, loadFrame(f))
	}
	return frames
}

func saveFrame(f frame) SavedFrame {
	return SavedFrame{At: f.at, Each: f.each, Todo: save(f.todo), Asleep: save(f.asleep)}
}

func loadFrame(f SavedFrame) frame {
	return frame{at: f.At, each: f.Each, todo: load(f.Todo), asleep: load(f.Asleep)}
}

func save(options []option) (saved []SavedStep) {
	for _, m := range options {
		saved = append(saved, SavedStep{m.kind, m.thread, m.actor, m.id, m.position, m.accesses, m.mayEnd})
	}
	return saved
}

func load(saved []SavedStep) (options []option) {
	for _, m := range saved {
		options = append(options, option{footprint{m.Kind, global(m.Kind) || m.Accesses != nil, m.Thread, m.Actor},
			m.ID, m.Position, m.Accesses, m.MayEnd})
	}
	return options
}

// Split has an Exploration explore one part of the tree, for a proof that several machines make. The zero Split is the
// whole.
//
// The tree has the same top for each part: the exploration goes down choice by choice until it has left enough
// subtrees, or none. All parts come to the same list of them, and each explores a row of the list, neighbours, which
// have most states in common. Parts do not know each other's states, so several may explore the same ones.
//
// # Why the parts are the whole
//
// Take a state, as it was reached with some steps asleep, and any order of steps after it that begins with none of
// them, nor with a step that could come first as well. Of the steps that could come first, each is taken from the state
// at some time. Take the one that is taken in the last visit that takes any, and there first. None of the others is
// asleep after it. So by induction over the length the end of the order is reached, whatever the order of the visits:
// it matters only that a visit which leaves steps out because an earlier one took them knows that visit. The top is
// known to all parts, and a part knows its own subtrees. This is why each part begins with the states of the whole top.
// It takes persistent sets to be off.
type Split struct {
	Part, Parts int // the Part-th of so many, from 1
	// The rest is set when the top is explored. The subtrees are at a depth of so many choices, and the part explores
	// those from First to Last, from 1; there is none if Last is less.
	Depth, First, Last, Subtrees int `json:",omitempty"`
	// Tops is equal for equal lists of subtrees.
	Tops uint64 `json:",omitempty"`
}

// subtreesEach is how many subtrees there must be for each part: some are much larger than others.
const subtreesEach = 8

// String says which part it is.
func (s Split) String() string {
	text := fmt.Sprintf("part %d of %d", s.Part, s.Parts)
	switch {
	case s.Parts == 0:
		return "the whole"
	case s.Depth == 0:
		return text
	case s.Last < s.First:
		return fmt.Sprintf("%s: none of %d subtrees", text, s.Subtrees)
	default:
		return fmt.Sprintf("%s: the subtrees %d to %d of %d, %d choices deep", text, s.First, s.Last, s.Subtrees,
			s.Depth)
	}
}

// subtree is what can follow a moment.
type subtree struct {
	path Choices
	top  frame
}

// frontier is what an exploration knows of subtrees that it is not in.
type frontier struct {
	deeper int       // the choices before the subtrees that are being found; 0 if all are dealt
	found  []subtree // at that depth
	queue  []subtree // to explore
}

// cuts says that a moment with several steps is the top of a subtree that is left for later.
func (e *explorer) cuts(todo []option) bool {
	f := &e.x.frontier
	if f.deeper == 0 || e.n < f.deeper {
		return false
	}
	f.found = append(f.found, subtree{slices.Clone(e.x.path),
		frame{at: e.n, each: 1 / float64(len(todo)), todo: slices.Clone(todo), asleep: slices.Clone(e.asleep)}})
	return true
}

// nextSubtree goes to the next subtree, if there is one. At the end of the top it deals the subtrees, or goes deeper.
func (x *Exploration) nextSubtree() {
	f := &x.frontier
	if len(f.queue) == 0 && f.deeper > 0 {
		if n, s := len(f.found), &x.Split; n == 0 || n >= subtreesEach*s.Parts {
			s.Depth, s.Subtrees, s.First, s.Last = f.deeper, n, n*(s.Part-1)/s.Parts+1, n*s.Part/s.Parts
			for _, t := range f.found {
				s.Tops = fingerprint.Mix(s.Tops, uint64(t.top.at))
				for _, m := range t.top.todo {
					s.Tops = fingerprint.Mix(s.Tops, m.id)
				}
			}
			f.queue, f.deeper = f.found[s.First-1:s.Last], 0
		} else {
			f.queue = f.found
			f.deeper++
		}
		f.found = nil
	}
	if len(f.queue) > 0 {
		x.path, x.frames = f.queue[0].path, []frame{f.queue[0].top}
		f.queue = f.queue[1:]
	}
}

// count adds the subtrees that are left, and makes Share that of the whole part.
func (f *frontier) count(s Split, e *Explored) {
	e.Split = s
	for _, t := range slices.Concat(f.queue, f.found) {
		e.leave(len(t.top.todo), t.top.at)
	}
	switch all := s.Last - s.First + 1; {
	case s.Parts == 0:
	case s.Depth == 0:
		e.Share = 0
	case all > 0:
		e.Share = (float64(all-len(f.queue)-1) + e.Share) / float64(all)
	}
}

// SavedFrontier is what is kept of the subtrees of a part.
type SavedFrontier struct {
	Split

	Deeper       int            `json:",omitempty"`
	Found, Queue []SavedSubtree `json:",omitempty"`
}

// SavedSubtree is a subtree that is left.
type SavedSubtree struct {
	Path Choices
	SavedFrame
}

func (x *Exploration) saveFrontier() *SavedFrontier {
	if x.Split.Parts == 0 {
		return nil
	}
	s := &SavedFrontier{Split: x.Split, Deeper: x.frontier.deeper}
	for _, kind := range []struct {
		from []subtree
		to   *[]SavedSubtree
	}{{x.frontier.found, &s.Found}, {x.frontier.queue, &s.Queue}} {
		for _, t := range kind.from {
			*kind.to = append(*kind.to, SavedSubtree{t.path, saveFrame(t.top)})
		}
	}
	return s
}

func (x *Exploration) resumeFrontier(s *SavedFrontier) {
	if s == nil {
		return
	}
	x.Split, x.frontier.deeper = s.Split, s.Deeper
	for _, kind := range []struct {
		from []SavedSubtree
		to   *[]subtree
	}{{s.Found, &x.frontier.found}, {s.Queue, &x.frontier.queue}} {
		for _, t := range kind.from {
			*kind.to = append(*kind.to, subtree{t.Path, loadFrame(t.SavedFrame)})
		}
	}
}
