package subject

import (
	"fmt"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/scenario/history"
)

// EventOf adds facts to an event, and the text of an error.
func EventOf(e history.Event, facts *history.Hold, err error) history.Event {
	if e.Hold = facts; err != nil {
		e.Note = err.Error()
	}
	return e
}

// Sent is what a node knows when it sends a request whose effect is an event with facts. If the node's code is
// remembered, it may have gone on in another run by the time of the effect.
type Sent struct {
	since time.Time     // when the node began to wait
	facts *history.Hold // as it was then; nil if the code is not remembered
}

// Note notes what the node knows now, if its code is remembered. The parameter waited is the time for which the node
// had already waited before the span that the facts describe.
func (s *Sent) Note(n Node, facts func() *history.Hold, waited time.Duration) {
	if !n.Proc().Remembers() {
		return
	}
	s.facts = facts()
	s.facts.Excused, s.since = n.Own().Waits(n.Proc().Now)
	s.facts.Excused -= waited
}

// String prints all fields.
func (s Sent) String() string { return fmt.Sprintf("since %d: %+v", s.since.UnixNano(), *s.facts) }

// Noted reports whether something was noted.
func (s *Sent) Noted() bool { return s.facts != nil }

// Facts are the facts at the effect, which is now: the node has waited until now, or until it crashed.
func (s *Sent) Facts(n Node) *history.Hold {
	facts, until := *s.facts, n.Proc().Now()
	for _, was := range slices.Backward(n.World().History()) {
		if was.Kind == history.Crashed && was.Actor == n.Proc().Name() {
			until = was.Time
			break
		}
	}
	facts.Excused += until.Sub(s.since)
	return &facts
}
