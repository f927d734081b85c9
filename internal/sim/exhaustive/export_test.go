package exhaustive

import (
	"fmt"
	"slices"

	"github.com/isr-sim/isr-sim/internal/sim"
)

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

// Shared makes a team meet, and returns its frames after the meeting. A frame is two numbers: the choices before it,
// and the branches that are left.
func Shared(before ...[][2]int) (after [][][2]int, left bool) {
	x := &Exploration{visited: newVisited()}
	x.Divide(len(before))
	for i, m := range x.Members() {
		for _, f := range before[i] {
			m.frames = append(m.frames, frame{Frame: Frame{At: f[0], Todo: make([]sim.Option, f[1])}})
		}
		m.path = make(sim.Choices, 9)
	}
	left, err := x.Meet()
	if err != nil {
		panic(err)
	}
	e := x.Explored()
	for _, m := range x.Members() {
		frames := [][2]int{}
		for _, f := range m.frames {
			if len(f.Todo) > 0 && (f.At < e.Shallowest || f.At > e.Deepest) {
				panic("a branch is left elsewhere than it is said to be")
			}
			frames = append(frames, [2]int{f.At, len(f.Todo)})
		}
		after = append(after, frames)
	}
	return after, left
}

// Visit is a moment of an exploration: a run reaches a new state, with some steps asleep, and leaves it by one possible
// step or none; or a run leaves a known state by a step not taken from there before.
type Visit struct {
	Possible, Asleep []uint64
	Come             bool
	Taken            int // -1 means none

	steps []sim.Step
}

// Kind is the kind of the step that is taken.
func (v Visit) Kind() sim.Kind { return v.steps[v.Taken].Kind }

// UpToNames returns the visit with the names that its steps have in all states that count as equal.
func (v Visit) UpToNames(s *sim.Sim) Visit {
	name := func(ids []uint64) (names []uint64) {
		for _, id := range ids {
			same := func(step sim.Step) bool { return step.Option(0).ID == id }
			names = append(names, s.Canonical(&v.steps[slices.IndexFunc(v.steps, same)]))
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
			m.Possible = append(m.Possible, s.Option(0).ID)
		}
		for _, o := range v.asleep {
			m.Asleep = append(m.Asleep, o.ID)
		}
		on(m)
	}
}

// Confused names two possible steps that share a name in equal states although they are not steps of two symmetric
// actors that the world does not know; otherwise "". symmetric reports whether two actors are.
func (v Visit) Confused(s *sim.Sim, symmetric func(a, b string) bool) string {
	for i := range v.steps {
		for j := range i {
			a, b := &v.steps[i], &v.steps[j]
			if s.Canonical(a) == s.Canonical(b) && !symmetric(a.Actor(), b.Actor()) {
				return fmt.Sprintf("%s %v and %s %v", a.Name, a.Kind, b.Name, b.Kind)
			}
		}
	}
	return ""
}
