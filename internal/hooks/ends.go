package hooks

import "time"

// Ends are the ends that rows hold, by what they are the ends of, each with where requests have met it: a request meets
// the end of a row that it reads or writes.
type Ends map[End]Met

// End is the end of an actor's lease, or of a page's freshness.
type End struct {
	Page  string
	Actor string // "" is the end of the page's freshness
}

// Met says when the requests were sent that met an end.
type Met struct{ Before, At, After bool }

// Note takes in a row that has an end.
func (e Ends) Note(end End) {
	if _, known := e[end]; !known {
		e[end] = Met{}
	}
}

// Meet takes in a request that was sent at some time to a row whose end is at another. "Before" is the last second.
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
