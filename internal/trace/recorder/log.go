package recorder

import "github.com/isr-sim/isr-sim/scenario/history"

// Log is a history under construction. The zero Log is empty and ready.
type Log struct {
	events []history.Event
}

// Add appends e, gives it the next sequence number, and returns that number.
func (l *Log) Add(e history.Event) int {
	e.Seq = len(l.events) + 1
	l.events = append(l.events, e)
	return e.Seq
}

// Reset empties the log and keeps its memory: slices that Events and Since have returned are no longer valid.
func (l *Log) Reset() { l.events = l.events[:0] }

// Events returns the history in order. The slice is the log's own: read it only.
func (l *Log) Events() []history.Event { return l.events }

// Since returns the events after the one numbered seq; Since(0) returns all of them.
func (l *Log) Since(seq int) []history.Event {
	if seq >= len(l.events) {
		return nil
	}
	return l.events[max(seq, 0):]
}
