package sim

import (
	"fmt"
	"slices"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

// DivergedAt is the error of a replay that does not fit.
func DivergedAt(step, choice, options int) DivergedError {
	return DivergedError{step: step, choice: choice, options: options}
}

// ID identifies the step among those possible now.
func (s Step) ID() uint64 { return s.id() }

// FirstDifference returns the first difference of two lists of requests.
var FirstDifference = firstDifference

// RememberedSets puts a state with each of the given sets of sleeping steps, and returns how many different sets are
// kept.
func RememberedSets(asleep ...[]uint64) int {
	v := newVisited()
	for i, ids := range asleep {
		v.put(uint64(i), slices.Clone(ids))
	}
	return len(v.sets)
}

// Learned lets explorations of a team reach one state between two meetings, each with some steps asleep (nil: no
// visit), and returns the steps asleep in it for later visitors.
func Learned(before []uint64, since ...[]uint64) (asleep []uint64) {
	x := &Exploration{visited: newVisited()}
	if before != nil {
		x.visited.put(1, before)
	}
	x.Divide(len(since))
	for i, m := range x.Members() {
		if since[i] != nil {
			m.visited.put(1, since[i])
			if own, _ := m.visited.asleep(1); !slices.Equal(own, since[i]) {
				panic("what was found since the meeting is not known")
			}
		}
	}
	if _, err := x.Meet(); err != nil {
		panic(err)
	}
	for _, m := range x.Members() {
		if asleep, _ = m.visited.asleep(1); m.visited.states[1] != 0 {
			panic("what was found before a meeting was not dropped")
		}
	}
	return asleep
}

// Shared has a team meet whose members have frames, each with so many choices before it (the first number) and so many
// branches that are left (the second), and returns the frames after the meeting.
func Shared(before ...[][2]int) (after [][][2]int, left bool) {
	x := &Exploration{visited: newVisited()}
	x.Divide(len(before))
	for i, m := range x.Members() {
		for _, f := range before[i] {
			m.frames = append(m.frames, frame{at: f[0], todo: make([]option, f[1])})
		}
		m.path = make(Choices, 9)
	}
	left, err := x.Meet()
	if err != nil {
		panic(err)
	}
	e := x.Explored()
	for _, m := range x.Members() {
		frames := [][2]int{}
		for _, f := range m.frames {
			if len(f.todo) > 0 && (f.at < e.Shallowest || f.at > e.Deepest) {
				panic("a branch is left elsewhere than it is said to be")
			}
			frames = append(frames, [2]int{f.at, len(f.todo)})
		}
		after = append(after, frames)
	}
	return after, left
}

// Agree lets the code of each exploration of a team send a request ("" for none) after the same history: first one
// after the other, with meetings between them, and then all between two meetings.
func Agree(asked ...string) (oneByOne, together error) {
	meet := func(apart bool) (err error) {
		x := &Exploration{visited: newVisited(), done: Explored{Schedules: 1}}
		x.Divide(len(asked))
		for i, m := range x.Members() {
			if asked[i] != "" {
				m.pasts.same = map[fingerprint.Hash]did{7: {"a", asked[i], 3}}
			}
			if apart && err == nil {
				_, err = x.Meet()
			}
		}
		if !apart {
			_, err = x.Meet()
		}
		if x.Explored().Complete != (err == nil) {
			panic("complete with an error, or not without one")
		}
		return err
	}
	return meet(true), meet(false)
}

// KeptOf gives a team of three, with room for a number of histories, a request after each of many histories, one at a
// meeting, and returns how many it still has.
func KeptOf(room, asked int) int {
	x := &Exploration{visited: newVisited()}
	x.pasts.most = room
	x.Divide(3)
	for i := range asked {
		x.pasts.same = map[fingerprint.Hash]did{fingerprint.Hash(i): {is: "a"}}
		if _, err := x.Meet(); err != nil {
			panic(err)
		}
	}
	return len(x.team.same)
}

// Visit is a moment of an exploration: a run reaches a new state, with some steps asleep, and leaves it by one possible
// step or none; or a run leaves a known state by a step not taken from there before.
type Visit struct {
	Possible, Asleep []uint64
	Come             bool
	Taken            int // -1 is none

	steps []Step
}

// Kind is the kind of the step that is taken.
func (v Visit) Kind() Kind { return v.steps[v.Taken].Kind }

// UpToNames returns the visit with the names that its steps have in all states that count as equal.
func (v Visit) UpToNames(s *Sim) Visit {
	name := func(ids []uint64) (names []uint64) {
		for _, id := range ids {
			names = append(names,
				s.canonical(&v.steps[slices.IndexFunc(v.steps, func(step Step) bool { return step.id() == id })]))
		}
		return names
	}
	v.Possible, v.Asleep = name(v.Possible), name(v.Asleep)
	return v
}

// OnVisit sets the function that an exploration calls with each of its visits, in the order of the runs.
func (x *Exploration) OnVisit(on func(Visit)) {
	x.onVisit = func(v visit) {
		m := Visit{Come: !v.left, Taken: v.taken, steps: v.steps}
		for _, s := range v.steps {
			m.Possible = append(m.Possible, s.id())
		}
		for _, o := range v.asleep {
			m.Asleep = append(m.Asleep, o.id)
		}
		on(m)
	}
}

// Ran returns how often code went on from a past that was new. See Memory.Search.
func (x *Exploration) Ran() int { return x.pasts.runs }

// Confused names two possible steps that share a name in equal states although they are not steps of two symmetric
// actors in the same state; otherwise "".
func (s *Sim) Confused() string {
	for i := range s.steps {
		for j := range i {
			a, b := &s.steps[i], &s.steps[j]
			if s.canonical(a) != s.canonical(b) {
				continue
			}
			if a.proc != nil && b.proc != nil {
				x, y := a.proc.actor, b.proc.actor
				unknown := s.interchangeable(x) && s.interchangeable(y) &&
					s.cfg.Symmetry.Rank(x.Name)+s.cfg.Symmetry.Rank(y.Name) == 0
				if x != y && unknown && x.Class == y.Class && x.fingerprint() == y.fingerprint() {
					continue
				}
			}
			return fmt.Sprintf("%s %v and %s %v", a.Name, a.Kind, b.Name, b.Kind)
		}
	}
	return ""
}

// Remembered returns how many outputs are remembered.
func (x *Exploration) Remembered() int { return len(x.pasts.next) + len(x.pasts.same) }

// Bound sets how many pasts are remembered.
func (x *Exploration) Bound(pasts int) { x.pasts.most = pasts }
