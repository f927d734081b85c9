package sim

import (
	"encoding/binary"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
)

// Exploration runs every schedule, one after another: depth first, each run from the beginning, because the code of an
// actor cannot be copied. With [Memory].Search it is remembered, and a run goes on where it differs from those before.
//
//	x := sim.Exploration{}
//	for x.Next() {
//		s := sim.New(sim.Config{Strategy: x.Strategy(), Fingerprint: world.fingerprint})
//		... // add the actors, Run, and judge what has happened, however the run ended
//	}
//	fmt.Println(x.Explored())
//
// Every run must begin in the same state and be repeatable: same actors, same seed, same bounds. A run is Abandoned as
// soon as other runs cover its continuations. It must be judged by its events until then.
//
// # What is left out
//
// Seven reductions leave out schedules that can show nothing new. Each can be switched off.
//
//   - Sleep sets: of two steps that do not race ([Step.Races]) one order is run.
//   - State comparison, if Config.Fingerprint is set: the continuations of a state are explored once
//     ([Sim.Fingerprint]). If a state comes up again with fewer steps asleep than before, it is left only by the steps
//     that are no longer asleep.
//   - Unread clocks: the time at which an actor's code was resumed, and the time at which its request took effect, are
//     part of the state only if the code read a clock then. This makes states equal, and has no effect without state
//     comparison.
//   - Unread deadlines: no tick goes to an instant whose only reason is a hidden value (see [Veiled] and [Idle]).
//     Whatever could follow on it follows on the stop before it, unless code compares its clock with such an instant.
//   - Orphaned reads: a read whose sender is gone changes nothing. It is not taken, and is not part of the state.
//   - Symmetric actors, if Config.Symmetry is set: states that differ only by permuting such actors count as equal.
//   - Persistent sets: where time cannot move and nothing can befall a node, its own step ([Start], [Response],
//     [Timer]) is taken before those of others. An [Immediate] request in a run with steps that need not happen breaks
//     the run then: its effect may end the run, and cannot be put off.
//
// A tick goes to any instant at which something can change, and not only to the next one: see [Step.Further].
//
// But for the instants of unread deadlines, all states in which runs end remain, up to the names of interchangeable
// actors, and without persistent sets, all reachable states. Without state comparison, all orders of steps that race
// remain, with one exception: if the sender of a request is gone, the place of the request among the last steps of its
// node's next life. The order of events on different nodes at the same instant is not explored, so the judgement of a
// run must not depend on it, unless Config.Ordered is set. It must not depend on a past that Config.Fingerprint does
// not cover either: if two pasts lead to the same state, only one is continued.
//
// Source: Godefroid: Partial-order methods for the verification of concurrent systems (LNCS 1032, 1996), chapters 4 to
// 6, for all but the clocks; for these, see Sim.Fingerprint.
//
// # Limits
//
// It is complete within the bounds of the Config and of the actors (Ticks, Pauses, Crashes, Restarts, ClockSteps,
// MaxSteps), and up to collisions of fingerprints.
type Exploration struct {
	// MaxSchedules and MaxStates bound the exploration; 0 is no bound. The run that reaches MaxStates is the last. A
	// divided exploration ends at the meeting that finds a bound met.
	MaxSchedules, MaxStates int
	// Off holds the reductions that are switched off.
	Off Reduction
	// Repeat makes each run twice, and compares it, step by step, with its repetition and with the runs that begin like
	// it. A difference ends the exploration, and the run, with a *DivergedError. It is for code that may depend on
	// something that the Sim does not decide. A Request should be Sorted then: its content is compared, too.
	Repeat bool
	// Spare, if set, says whether a schedule (by its number from 1) need not be repeated, because something else shows
	// that its code is deterministic. It is still compared with the runs that begin like it.
	Spare func(schedule int) bool
	// Backwards takes the last of the possible steps first.
	Backwards bool
	// Visit, if set, is called with the fingerprint of each state that the exploration reaches for the first time. If
	// it returns false the exploration ends there, and is not complete.
	Visit func(state uint64) bool

	visited visited
	repeats repeats
	// path are the choices that the next run begins with; the last one is made at the last frame.
	path    Choices
	frames  []frame
	done    Explored
	begun   bool
	stopped bool        // by Visit
	err     error       // the error of the run that broke, or was left because of it
	onVisit func(visit) // for tests
	options []option    // possible now; reused between moments
	awake   []option    // those of them to explore; reused, too
	steps   []Step      // the steps that are possible now, with the further ticks; reused, too
	spare   *kept       // the moment of a frame that is done; reused
	pasts   pasts       // see Memory.Search
	team    *team       // see Divide; nil without
}

// Reduction is a set of ways to leave schedules out.
type Reduction uint16

// The reductions of an Exploration.
const (
	SleepSets Reduction = 1 << iota
	StateComparison
	PersistentSets
	UnreadClocks
	InterchangeableActors
	UnreadDeadlines
	OrphanedReads
	// RememberedCode and NoRandomness are no reductions. Without the one, the code of nodes runs in each schedule: see
	// Memory.Search. Without the other, code may draw random bytes: see Memory.Seed.
	RememberedCode
	NoRandomness
)

// Explored is the progress of an Exploration.
type Explored struct {
	Schedules int // the number of runs
	States    int // the number of distinct states; 0 without Config.Fingerprint
	// TooLong counts the runs that were cut at Config.MaxSteps.
	TooLong int
	// Complete says that nothing is left.
	Complete bool
	// Open counts the branches that are left: steps that were possible at some point and have not been taken from
	// there. Shallowest and Deepest are the numbers of choices before the first and the last of them.
	Open, Shallowest, Deepest int
	// Share is how much of the tree is searched, from 0 to 1, if the branches of a moment are equally large. It never
	// falls. They are not: what branches have in common is searched in the first of them. So the first hundredth of the
	// tree takes most of the time: in the embedded proofs, between 27 and 99 of a hundred schedules.
	//
	// Source: Simsa, Bryant and Gibson: Runtime estimation and resource allocation for concurrency testing
	// (CMU-PDL-12-113, 2012).
	Share float64
}

// frame is a moment with more than one step to explore.
type frame struct {
	at     int      // how many choices come before it
	each   float64  // the share of the tree that each of its branches has
	todo   []option // the steps that are left to take
	kept   *kept    // nil without Memory.Search
	asleep []option // the steps that need not be taken until a step races with them
}

// option is the memory of a step after its run.
type option struct {
	footprint
	id       uint64
	position int // its place among the steps of its moment
	accesses []Access
	mayEnd   bool // the actor's code runs on, and may be done
}

// Next prepares the next run. It returns false if no run is left, or a bound is met.
func (x *Exploration) Next() bool {
	if !x.begun {
		x.begun = true
		x.visited = newVisited()
		return true
	}
	if x.Repeat && x.err == nil && !x.repeats.again {
		if x.Spare == nil || !x.Spare(x.done.Schedules) {
			x.repeats.again = true
			return true
		}
		x.repeats.owed = false
	}
	x.repeats.again = false
	for len(x.frames) > 0 && len(x.frames[len(x.frames)-1].todo) == 0 {
		x.spare = x.frames[len(x.frames)-1].kept
		x.frames = x.frames[:len(x.frames)-1]
	}
	if len(x.frames) == 0 || x.err != nil || x.stopped || x.team == nil && x.met() {
		return false
	}
	x.path = x.path[:x.frames[len(x.frames)-1].at]
	return true
}

// met says that a bound is met.
func (x *Exploration) met() bool {
	schedules := 0
	for _, m := range x.Members() {
		schedules += m.done.Schedules
	}
	return x.MaxSchedules > 0 && schedules >= x.MaxSchedules || x.MaxStates > 0 && len(x.known().states) >= x.MaxStates
}

// Repeating says that the run which Next has prepared repeats the latest one.
func (x *Exploration) Repeating() bool { return x.repeats.again }

// Exhaustive is the name of an Exploration's strategy.
const Exhaustive = "exhaustive"

// Strategy returns the strategy of the run that Next has prepared. It is for one run.
func (x *Exploration) Strategy() Strategy {
	return Strategy{
		Name: Exhaustive,
		New:  func(*rand.Rand, int) Chooser { return &explorer{x: x, replaying: len(x.frames) > 0} },
	}
}

// Rewind puts the latest run back to where the run that Next has prepared begins to differ from it, and returns its
// Sim, whose Run goes on from there; nil if a run from the beginning is needed. The actors are in the state of then,
// and so is the world: see Config.Keep. See Memory.Search.
func (x *Exploration) Rewind() *Sim {
	if len(x.frames) == 0 {
		return nil
	}
	f := &x.frames[len(x.frames)-1]
	if f.kept == nil {
		return nil
	}
	s := f.kept.sim
	f.kept.restore()
	s.explorer = &explorer{x: x, sim: s, replaying: true, n: f.at}
	s.chooser = s.explorer
	return s
}

// Close ends the code that the exploration keeps.
func (x *Exploration) Close() {
	for _, m := range x.Members() {
		m.pasts.close()
	}
}

// Schedules counts the runs of this exploration alone: see Divide.
func (x *Exploration) Schedules() int { return x.done.Schedules }

// Remembers says that code of actors has run for the memory: see Memory.Search.
func (x *Exploration) Remembers() bool { return x.pasts.runs > 0 }

// Explored returns the progress of the exploration.
func (x *Exploration) Explored() Explored {
	e := Explored{States: len(x.known().states)}
	broke := false
	for _, m := range x.Members() {
		e.Schedules += m.done.Schedules
		e.TooLong += m.done.TooLong
		broke = broke || m.err != nil
		for _, f := range m.frames {
			if left := len(f.todo); left > 0 {
				if e.Open == 0 {
					e.Shallowest = f.at
				}
				e.Open, e.Shallowest, e.Deepest = e.Open+left, min(e.Shallowest, f.at), max(e.Deepest, f.at)
				e.Share -= f.each * float64(left)
			}
		}
	}
	if e.Schedules > 0 {
		e.Share++
	}
	e.Complete = e.Schedules > 0 && e.Open == 0 && e.TooLong == 0 && !broke && !x.stopped && !x.repeats.owed
	return e
}

// States returns the fingerprints of the states that the exploration has reached, ascending.
func (x *Exploration) States() []uint64 { return slices.Sorted(maps.Keys(x.known().states)) }

// explorer is the chooser of one run of an Exploration.
type explorer struct {
	x         *Exploration
	sim       *Sim
	replaying bool     // this run still follows a path of earlier runs
	n         int      // choices made so far
	asleep    []option // now
	moments   int      // so far; with Repeat
	step      string   // the step that led here; with Repeat
}

// visit is a moment at which a run does something new: it reaches a state, or leaves one by a new step.
type visit struct {
	steps  []Step
	asleep []option // the steps asleep when the state was reached
	left   bool     // the state was reached before
	taken  int      // -1 is none
}

// Choose implements Chooser.
func (e *explorer) Choose(steps []Step) int {
	if later := e.sim.further(); len(later) > 0 {
		e.x.steps = append(append(e.x.steps[:0], steps...), later...)
		steps = e.x.steps
	}
	if !e.x.Repeat {
		return e.choose(steps)
	}
	if err := e.compare(); err != nil {
		e.x.err = err
		return abandon
	}
	r := &e.x.repeats
	if !r.again {
		r.moments[e.moments-1].taken = e.choose(steps)
	}
	return r.moments[e.moments-1].taken
}

func (e *explorer) choose(steps []Step) int {
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

func (e *explorer) pick(steps []Step) int {
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
	m := f.todo[0]
	if m.position >= len(steps) || steps[m.position].id() != m.id {
		x.err = &DivergedError{step: e.sim.result.Steps, differs: "other steps are possible than there were before; " +
			"actors and requests must depend only on what they are told"}
		return abandon
	}
	e.replaying = false
	f.todo = f.todo[1:]
	e.asleep = e.still(f.asleep, m)
	f.asleep = append(f.asleep, m)
	x.path = append(x.path, m.position)
	return m.position
}

// explore chooses the step at a moment that, as far as is known, no run has reached before.
func (e *explorer) explore(steps []Step) int {
	x := e.x
	options, seen := e.collect(steps), false
	todo := x.awake[:0]
	for _, m := range options {
		if !contains(e.asleep, m.id) {
			todo = append(todo, m)
		}
	}
	x.awake = todo
	// who looks at each state sees that they lead back to where they came from
	if x.Off&OrphanedReads == 0 && x.Visit == nil {
		todo = slices.DeleteFunc(todo, func(m option) bool { return m.kind == Orphan && reads(m.accesses) })
	}
	if x.Off&UnreadDeadlines == 0 && e.sim.pasts != nil && e.sim.required {
		todo = slices.DeleteFunc(todo,
			func(m option) bool { return m.kind == Tick && e.sim.idle(e.sim.at(m.position).until) })
	}
	if x.Backwards {
		slices.Reverse(todo)
	}
	if e.sim.cfg.Fingerprint != nil && x.Off&StateComparison == 0 {
		state := e.sim.Fingerprint()
		if symmetry := e.sim.cfg.Symmetry; symmetry != nil && symmetry.Broken() {
			x.err = &TakenError{InterchangeableActors, "the order of the actors' names may matter"}
			return abandon
		}
		name := e.named(steps)
		var asleep []uint64
		if asleep, seen = x.visited.asleep(state); seen {
			// Earlier runs left this state by every step that was awake in it, so only steps that slept then are new.
			// Two interchangeable actors may share the name of a step: if one of them slept, both count as asleep.
			todo = slices.DeleteFunc(todo, func(m option) bool { return !slices.Contains(asleep, name(m)) })
			if len(todo) == 0 {
				return abandon
			}
			e.asleep = slices.DeleteFunc(slices.Clone(e.asleep),
				func(m option) bool { return !slices.Contains(asleep, name(m)) })
		} else if x.Visit != nil && !x.Visit(state) {
			x.stopped = true
			return abandon
		}
		ids := make([]uint64, len(e.asleep))
		for i, m := range e.asleep {
			ids[i] = name(m)
		}
		x.visited.put(state, ids)
	}
	if x.Off&PersistentSets == 0 {
		if e.sim.endsInEffects() {
			x.err = errEndsInEffects
			return abandon
		}
		if only := e.sim.persistent(); only >= 0 && !seen { // a known state is left by all that is no longer asleep
			todo = slices.DeleteFunc(todo, func(m option) bool { return m.position != only })
		}
	}
	if len(todo) == 0 {
		return abandon
	}
	m := todo[0]
	if len(todo) > 1 {
		x.frames = append(x.frames, frame{at: e.n, each: x.branch() / float64(len(todo)), todo: slices.Clone(todo[1:]),
			asleep: append(slices.Clone(e.asleep), m)})
		e.keep()
	}
	e.asleep = e.still(e.asleep, m)
	if len(steps) > 1 {
		x.path = append(x.path, m.position)
	}
	return m.position
}

// keep keeps this moment, if it is one from which another run will go on.
func (e *explorer) keep() {
	if e.sim.pasts == nil {
		return
	}
	for i := range e.x.frames {
		if f := &e.x.frames[i]; f.at == e.n && f.kept == nil {
			f.kept, e.x.spare = e.sim.keep(e.x.spare), nil
		}
	}
}

// collect turns steps into options.
func (e *explorer) collect(steps []Step) []option {
	e.x.options = e.x.options[:0]
	for i, s := range steps {
		e.x.options = append(e.x.options, option{s.footprint(), s.id(), i, s.accesses(), s.mayEnd()})
	}
	return e.x.options
}

// named returns the function that names options as all states that count as equal name them.
func (e *explorer) named(steps []Step) func(option) uint64 {
	return func(m option) uint64 {
		if e.sim.cfg.Symmetry != nil {
			if i := slices.IndexFunc(e.x.options, func(now option) bool { return now.id == m.id }); i >= 0 {
				return e.sim.canonical(&steps[i])
			}
		}
		return m.id
	}
}

// TakenError says that something does not hold which reductions take for granted. What was explored does not count: a
// search without them may do.
type TakenError struct {
	Off Reduction
	Why string
}

func (e *TakenError) Error() string { return e.Why + "; expected a search with fewer reductions" }

// BreaksRun implements runBreaker.
func (*TakenError) BreaksRun() {}

// still returns the options that remain asleep when m is taken.
func (e *explorer) still(asleep []option, m option) (rest []option) {
	if e.x.Off&SleepSets != 0 {
		return nil
	}
	for _, other := range asleep {
		if !e.sim.dependent(other, m) {
			rest = append(rest, other)
		}
	}
	return rest
}

// ended notes the run's result.
func (e *explorer) ended(r Result) {
	x := e.x
	if errors.Is(r.Err, ErrLeft) {
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
	case Cut:
		x.done.TooLong++
	case Broken:
		x.err = r.Err
	}
}

// dependent reports whether two options that are both possible now are dependent: they race, or one could leave no
// actor alive, which ends the run before the other.
func (s *Sim) dependent(a, b option) bool {
	race, known := a.races(b.footprint)
	if !known {
		race = interfere(a.accesses, b.accesses)
	}
	return race || s.endsBefore(a, b) || s.endsBefore(b, a)
}

// mayEnd says whether the actor may be done after the step.
func (s Step) mayEnd() bool {
	switch s.Kind {
	case Start, Response, Timer, Crash:
		return true
	case Effect:
		_, at := s.proc.request.(Immediate)
		return at
	default:
		return false
	}
}

// endsBefore says whether the run may end after a, so that the optional step b does not happen.
func (s *Sim) endsBefore(a, b option) bool {
	if !a.mayEnd {
		return false
	}
	others := 0
	for i, other := range s.actors {
		if i != a.actor && other.alive() && (b.kind != Crash || i != b.actor) {
			others++
		}
	}
	return others == 0
}

// persistent returns the position of a step that need not wait for any other, because it races with nothing that can
// happen earlier. It returns -1 if there is no such step, as in every run with Config.Ordered.
//
// It is a node's own step. Other nodes do not see it; time cannot move before it is taken; and nothing can happen to
// the node. It might end its actor and with it the run, which would keep optional steps from happening. So another
// actor must be alive that cannot crash, and whose last step can come after all optional steps.
func (s *Sim) persistent() int {
	if s.ticks > 0 || s.cfg.Ordered {
		return -1
	}
	for i, step := range s.steps {
		switch step.Kind {
		case Start, Response, Timer:
		default:
			continue
		}
		a := step.proc.actor
		// Before its code runs, nothing can happen to a node.
		if len(a.lanes) > 0 { // they race with one another
			continue
		}
		if s.dueFor(a) {
			continue
		}
		if step.Kind != Start && (a.pauses > 0 || a.crashes > 0 || len(a.clockSteps) > 0) {
			continue
		}
		for _, other := range s.actors {
			if other != a && other.alive() && other.crashes == 0 && !s.dueFor(other) {
				return i
			}
		}
	}
	return -1
}

var errEndsInEffects = errors.New("an Exploration found an Immediate request, whose effect may end its actor, in a " +
	"run with steps that need not happen (of a source, a restart, or of a request whose sender is gone); expected " +
	"one or the other, or PersistentSets off")

// endsInEffects says whether the effect of a request may end its actor, and with it the run, before a step that the
// effect makes possible. If so, a node's own step may not be taken before others: see persistent.
func (s *Sim) endsInEffects() bool {
	optional := len(s.sources) > 0 || len(s.orphans) > 0 ||
		slices.ContainsFunc(s.actors, func(a *actor) bool { return a.restarts > 0 })
	return optional && slices.ContainsFunc(s.steps,
		func(step Step) bool { return step.Kind == Effect && step.mayEnd() })
}

// dueFor says whether a planned event of the actor's node is due at this moment.
func (s *Sim) dueFor(a *actor) bool {
	return s.due && slices.ContainsFunc(s.steps, func(step Step) bool { return step.planned && step.proc.actor == a })
}

func contains(options []option, id uint64) bool {
	return slices.ContainsFunc(options, func(m option) bool { return m.id == id })
}

// branch returns the share of the tree that the branch of the latest frame has.
func (x *Exploration) branch() float64 {
	if n := len(x.frames); n > 0 {
		return x.frames[n-1].each
	}
	return 1
}

// visited holds the states that an exploration has reached, each with the steps that were asleep when it left the
// state. A state costs about 25 bytes: its fingerprint and the number of its sleep set. There are few different sleep
// sets.
type visited struct {
	known  *visited          // the states that all of a team knew at its latest meeting; nil without a team
	states map[uint64]uint32 // fingerprint to place in sets
	sets   [][]uint64        // sets of step IDs, each sorted; the first is the empty one
	number map[string]uint32 // the number of a set, by its bytes
	bytes  []byte
}

func newVisited() visited {
	return visited{states: map[uint64]uint32{}, sets: [][]uint64{nil}, number: map[string]uint32{}}
}

// asleep returns the steps that were asleep in a state; false if it is new.
func (v *visited) asleep(state uint64) (ids []uint64, seen bool) {
	n, seen := v.states[state]
	if !seen && v.known != nil {
		return v.known.asleep(state)
	}
	return v.sets[n], seen
}

// put notes the steps that are asleep when a state is left.
func (v *visited) put(state uint64, ids []uint64) {
	if len(ids) == 0 {
		v.states[state] = 0
		return
	}
	slices.Sort(ids)
	key := v.key(ids)
	n, known := v.number[string(key)]
	if !known {
		n = uint32(len(v.sets))
		v.sets = append(v.sets, ids)
		v.number[string(key)] = n
	}
	v.states[state] = n
}

// key returns the bytes of a set, until the next call.
func (v *visited) key(ids []uint64) []byte {
	v.bytes = v.bytes[:0]
	for _, id := range ids {
		v.bytes = binary.LittleEndian.AppendUint64(v.bytes, id)
	}
	return v.bytes
}
