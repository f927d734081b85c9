package history

import (
	"fmt"
	"strings"
	"time"
)

// Kind says what happened.
type Kind uint8

// The kinds of events. The zero Kind is none of them.
const (
	Asked        Kind = iota + 1 // a client asked its node's cache for Key
	Served                       // the cache answered with Body, declaring it As fresh or stale
	Failed                       // the cache answered with an error; effects in the store are in doubt
	Rendered                     // a node read the origin's data for Key and made Body of it
	Changed                      // the origin's data behind Key changed
	Crashed                      // the node lost its memory and its open requests
	Restarted                    // the node came back under a new name
	Paused                       // the node stopped running (garbage collection, a frozen machine)
	Resumed                      // the node runs again and does not know that it stopped
	Stepped                      // the node's clock was set; Note says by how much
	Invalidating                 // a client asked for the page of Key to be invalidated: whatever was read before is not fresh any more
	Invalidated                  // ... and was told that it is
	Settled                      // faults have stopped, and all other nodes are done: from now on things must become well
)

var kindNames = [...]string{
	Asked: "asked", Served: "served", Failed: "failed", Rendered: "rendered", Changed: "changed",
	Crashed: "crashed", Restarted: "restarted", Paused: "paused", Resumed: "resumed", Stepped: "clock-stepped", Invalidating: "invalidating", Invalidated: "invalidated", Settled: "settled",
}

// String returns the kind as traces print it.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// ServedAs is what a cache claims of the body it serves.
type ServedAs uint8

// What a Served event claims. Unclaimed is the zero value, for all other kinds.
const (
	Unclaimed ServedAs = iota
	Fresh              // the cache holds the body to be within its freshness window
	Stale              // the cache serves it knowing that the window is over
)

// String returns "fresh", "stale" or "".
func (a ServedAs) String() string {
	switch a {
	case Fresh:
		return "fresh"
	case Stale:
		return "stale"
	default:
		return ""
	}
}

// Event is one thing that a client or its node saw or did.
type Event struct {
	Seq   int       // position in the history, from 1
	Time  time.Time // true time
	Actor string    // the node, with its incarnation after a restart
	Kind  Kind
	Key   string   // the cache key, where one is concerned
	As    ServedAs // for Served
	Body  string   // for Served and Rendered: which rendering
	Note  string   // an error's text, a clock step's size

	Tenant string // whose page it is; "" without tenants
	// Request is the idempotency key of the regeneration that was Asked for, and what came of it (Rendered, Served,
	// Failed); Inputs is the hash of its inputs. "" for a page that was only asked for.
	Request, Inputs string
	// Partition is the partition key of the META or LOCK rows that the node has named, for Rendered, since it was asked for
	// the page; "" if it has named none, or those of several pages.
	Partition string
	// Change is the sequence number of the last change in the store's log before the event, 0 if there is none.
	Change int
}

// String prints the event without its sequence and time, as a trace shows it
// behind them.
func (e Event) String() string {
	var b strings.Builder
	b.WriteString(e.Kind.String())
	for _, part := range []string{prefixed(" ", e.Key), prefixed(" as ", e.As.String()), prefixed(" body ", e.Body), prefixed(": ", e.Note)} {
		b.WriteString(part)
	}
	return b.String()
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// Log is a history under construction. The zero Log is empty and ready. It is
// not safe for concurrent use: one scheduler writes it.
type Log struct {
	events []Event
}

// Add appends e, gives it the next sequence number, and returns that number.
func (l *Log) Add(e Event) int {
	e.Seq = len(l.events) + 1
	l.events = append(l.events, e)
	return e.Seq
}

// Reset empties the history and keeps its memory: what Events and Since have
// returned is lost.
func (l *Log) Reset() { l.events = l.events[:0] }

// Events returns the history in order. The slice is the log's own: read it only.
func (l *Log) Events() []Event { return l.events }

// Since returns the events after the one numbered seq; Since(0) is all of them.
func (l *Log) Since(seq int) []Event {
	if seq >= len(l.events) {
		return nil
	}
	return l.events[max(seq, 0):]
}
