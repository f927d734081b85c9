package exhaustive

import (
	"maps"
	"slices"

	"github.com/isr-sim/isr-sim/internal/sim"
)

// team is an exploration that several goroutines make.
type team struct {
	members []*Exploration // the first is the one that was divided
	known   visited
}

// Divide splits the rest of an exploration, between two runs, among n explorations. The first is x. Between one
// [Exploration.Meet] and the next, each may run in its own goroutine, in its own world. It knows what all have found
// until the latest Meet, and what it has found itself. So what it finds depends on how many runs each exploration makes
// between two Meets, and not on which one is faster. After a Meet, the counts of x are those of all.
//
// # Why the whole is explored
//
// A run visits a state with some steps asleep. Take an order of steps from there to the end of the run. Its openers are
// the steps of the order that could come first, and none of them is asleep. The visit may take an opener. Then no other
// opener is asleep after the first one that it takes. Or the visit takes no opener. Then it knows of visits that took
// all openers, or those that are in a persistent set. Each of these visits knew the ones before it: one exploration
// made both, or a Meet came between. Take the last of these visits that took an opener, and the first opener that it
// took. Suppose that another opener was asleep after it. Then a later one of these visits did not have that opener
// asleep, and took it. So the visit was not the last, which is a contradiction. By induction over its length, the end
// of the order is reached.
//
// Two rules follow. A known state is left by all steps that have slept in all visits so far, whatever the persistent
// set. And two explorations may visit a state between the same two meetings. Then the findings of one of them count,
// and the other has worked in vain.
func (x *Exploration) Divide(n int) {
	t := &team{known: x.visited}
	var others []*sim.Histories
	for i := range n {
		m := x
		if i > 0 {
			m = &Exploration{Off: x.Off, Backwards: x.Backwards, begun: true}
			others = append(others, &m.memory)
		}
		m.team, m.visited = t, newVisited()
		m.visited.known = &t.known
		t.members = append(t.members, m)
	}
	x.memory.Divide(others)
}

// Divided reports whether x was divided.
func (x *Exploration) Divided() bool { return x.team != nil }

// Members are the explorations among which x was divided; x alone if it was not.
func (x *Exploration) Members() []*Exploration {
	if x.team == nil {
		return []*Exploration{x}
	}
	return x.team.members
}

// known returns the states that all members know.
func (x *Exploration) known() *visited {
	if x.team == nil {
		return &x.visited
	}
	return &x.team.known
}

// Meet shares the findings of all explorations that x was divided into, and gives idle ones a part of the others' work.
// No run is under way then. It returns false if nothing is left, or if a bound of x is reached. An error says that the
// code of two of them contradicts sim.Proc.Forget.
func (x *Exploration) Meet() (left bool, err error) {
	for _, m := range x.team.members {
		if err := x.team.learn(m); err != nil {
			x.err = err
			return false, err
		}
	}
	for _, m := range x.team.members {
		if m.open() == 0 {
			x.team.share(m)
		}
		left = left || m.open() > 0
	}
	return left && !x.met(), nil
}

// learn adds the findings of a member to what all members know.
func (t *team) learn(m *Exploration) error {
	//isrsim:unordered each by itself; the numbers of sets mean nothing
	for state, n := range m.visited.states {
		ids := m.visited.sets[n]
		if asleep, seen := t.known.asleep(state); !seen || len(ids) < len(asleep) {
			t.known.put(state, ids)
		}
	}
	maps.Copy(t.known.ends, m.visited.ends)
	m.visited.forget()
	return m.memory.Meet()
}

// open counts the branches that are left.
func (x *Exploration) open() (n int) {
	for i := range x.frames {
		n += len(x.frames[i].Todo)
	}
	return n
}

// share gives half of a frame to a member that has nothing left to do. Of the frames with two branches or more, it
// takes the one with the fewest choices before it.
func (t *team) share(idle *Exploration) {
	var from *Exploration
	var top *frame
	for _, m := range t.members {
		if m.open() < 2 {
			continue
		}
		first := slices.IndexFunc(m.frames, func(f frame) bool { return len(f.Todo) > 0 })
		if f := &m.frames[first]; top == nil || f.At < top.At {
			from, top = m, f
		}
	}
	if top == nil {
		return
	}
	keep := len(top.Todo) / 2
	given := frame{Frame: Frame{At: top.At, Each: top.Each, Todo: slices.Clone(top.Todo[keep:])}}
	given.Asleep = slices.Concat(top.Asleep, top.Todo[:keep]) // they are taken first
	top.Todo = top.Todo[:keep]
	idle.path, idle.frames = slices.Clone(from.path[:given.At]), []frame{given}
}

// Alone calls f while no actor's code runs in the other explorations: code may wrongly share state within this process,
// which must be detected without crashing. Code that runs in f is not remembered.
func (x *Exploration) Alone(f func()) { x.memory.Alone(f) }
