package sim

import (
	"cmp"
	"slices"
	"time"
)

// signed prints the step of a clock.
func signed(d time.Duration) string {
	if d > 0 {
		return "+" + d.String()
	}
	return d.String()
}

// MayBeDown says whether a node may be down at a time. It may be if the schedule has crashes to choose, or if a crash
// is planned for that time or an earlier one.
func MayBeDown(crashes int, planned []Planned, by time.Duration) bool {
	return crashes > 0 || slices.ContainsFunc(planned, func(e Planned) bool { return e.Kind == Crash && e.At <= by })
}

// SetsClock says whether a node's clock may be set during a run.
func SetsClock(steps []time.Duration, planned []Planned) bool {
	return len(steps) > 0 || slices.ContainsFunc(planned, func(e Planned) bool { return e.Kind == ClockStep })
}

// inOrder returns the events in the order in which they happen.
func inOrder(events []Planned) []Planned {
	byTime := func(a, b Planned) int { return cmp.Compare(a.At, b.At) }
	if slices.IsSortedFunc(events, byTime) {
		return events // the actor never writes to it
	}
	events = slices.Clone(events)
	slices.SortStableFunc(events, byTime)
	return events
}

// collectPlanned offers the planned events of the node that must happen now.
func (s *Sim) collectPlanned(a *actor) {
	now := s.clock.Now()
	for len(a.planned) > 0 && !now.Before(s.start.Add(a.planned[0].At)) {
		if a.notices(a.planned[0]) {
			s.due = true
			s.offer(a.proc, a.planned[0].Kind, 0)
			s.steps[len(s.steps)-1].planned = true
			break
		}
		a.planned = a.planned[1:]
	}
}

// notices says whether the event changes anything for the node in its present state.
func (a *actor) notices(e Planned) bool {
	down := a.proc.state == crashed
	switch {
	case a.proc.state == ended:
		return false
	case e.Kind == Restart:
		return down
	case e.Kind == ClockStep: // a clock keeps running while its node is down
		return !down || a.restarts > 0 || a.comesBack()
	default:
		return !down
	}
}

// comesBack says whether a restart is planned.
func (a *actor) comesBack() bool {
	return slices.ContainsFunc(a.planned, func(e Planned) bool { return e.Kind == Restart })
}

// nextPlanned returns the time of the node's next planned event, if it can still matter.
func (s *Sim) nextPlanned(a *actor) (time.Time, bool) {
	if len(a.planned) == 0 || a.proc.state == ended || a.proc.state == crashed && a.restarts == 0 && !a.comesBack() {
		return time.Time{}, false
	}
	return s.start.Add(a.planned[0].At), true
}

// befallPlanned applies the next planned event, and returns its note.
func (s *Sim) befallPlanned(a *actor) (note string) {
	e := a.planned[0]
	a.planned = a.planned[1:]
	switch e.Kind {
	case Pause:
		if until := s.clock.Now().Add(e.For); !a.paused || until.After(a.until) {
			a.paused, a.until, a.exact = true, until, true
		}
		note = "for " + e.For.String()
	case Crash:
		note = s.crash(a)
	case Restart:
		note = s.restart(a)
	case ClockStep:
		a.node.Step(e.For)
		note = signed(e.For)
	}
	return note
}

// crash takes the node down.
func (s *Sim) crash(a *actor) (note string) {
	a.paused = false
	a.proc.crash()
	return "loses its memory"
}

// restart brings the node back.
func (s *Sim) restart(a *actor) (note string) {
	a.newIncarnation(s)
	return "as " + a.proc.name
}
