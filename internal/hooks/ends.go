package hooks

import "time"

// Ends says for each end that a row holds when requests to that row were sent.
type Ends map[End]Met

// End is the end of an actor's lease, or of a page's freshness.
type End struct {
	Page  string
	Actor string // "" is the end of the page's freshness
}

// Met says whether requests were sent in the last second before an end, at it, and after it.
type Met struct{ Before, At, After bool }

// Note adds the end of a row.
func (e Ends) Note(end End) {
	if _, known := e[end]; !known {
		e[end] = Met{}
	}
}

// Meet notes a request that was sent at the time sent to a row whose end is at the time at. "Before" is the last
// second.
func (e Ends) Meet(end End, at, sent time.Time) {
	met := e[end]
	switch {
	case sent.Before(at.Add(-time.Second)):
	case sent.Before(at):
		met.Before = true
	case sent.Equal(at):
		met.At = true
	default:
		met.After = true
	}
	e[end] = met
}
