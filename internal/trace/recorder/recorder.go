package recorder

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/storeop"
	"github.com/isr-sim/isr-sim/scenario/history"
)

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

// Reset empties the log but keeps its memory: slices that Events and Since have returned are no longer valid.
func (l *Log) Reset() { l.events = l.events[:0] }

// Cut keeps only the first n events.
func (l *Log) Cut(n int) { l.events = l.events[:n] }

// Events returns the history in order. The slice belongs to the log: do not change it.
func (l *Log) Events() []history.Event { return l.events }

// Since returns the events after the one numbered seq; Since(0) returns all of them.
func (l *Log) Since(seq int) []history.Event {
	if seq >= len(l.events) {
		return nil
	}
	return l.events[max(seq, 0):]
}

// Operations is a history of operations under construction. The zero Operations is empty and ready.
type Operations struct {
	all   []storeop.Operation
	order int
}

// Observer returns an observer that adds the operations of an actor. The function now returns true time.
func (l *Operations) Observer(actor string, now func() time.Time) storeop.Observer {
	return func(called storeop.Operation) func(storeop.Operation) {
		l.order++
		called.Actor, called.Began, called.Call = actor, now(), l.order
		place := len(l.all)
		l.all = append(l.all, called)
		return func(answered storeop.Operation) {
			l.order++
			answered.Actor, answered.Began, answered.Call = called.Actor, called.Began, called.Call
			answered.Ended, answered.Return = now(), l.order
			l.all[place] = answered
		}
	}
}

// Order returns the number of calls and answers.
func (l *Operations) Order() int { return l.order }

// All returns the operations in the order of their calls. The slice belongs to the history: do not change it.
func (l *Operations) All() []storeop.Operation { return l.all }

// Answered returns the true time of an operation's answer, or of its call if there was no answer.
func Answered(o storeop.Operation) time.Time {
	if o.Return == 0 {
		return o.Began
	}
	return o.Ended
}

// Describe prints an operation with its answer: "release alice-1 -> done". The function instant prints an epoch second.
func Describe(o storeop.Operation, instant func(second int64) string) string {
	var b strings.Builder
	b.WriteString(o.Verb.String())
	if o.Token != "" {
		b.WriteString(" " + o.Token)
	}
	if o.Page != "" && o.Verb != storeop.Read {
		b.WriteString(" " + o.Page)
	}
	b.WriteString(" -> ")
	switch {
	case o.Result == storeop.InDoubt:
		b.WriteString("in doubt")
	case o.Result == storeop.Refused && o.Verb == storeop.Read:
		b.WriteString("nothing")
	case o.Result == storeop.Refused:
		b.WriteString("refused")
	case o.Verb == storeop.Read:
		b.WriteString(o.Page)
	case o.Verb == storeop.Acquire || o.Verb == storeop.Refresh:
		b.WriteString("until " + instant(o.Expires))
	default:
		b.WriteString("done")
	}
	return b.String()
}

// Timeline is a list of lines of text, each with its instant. The zero Timeline is empty and ready.
type Timeline struct{ all []line }

type line struct {
	at   time.Time
	text string
}

// Add adds a line.
func (t *Timeline) Add(at time.Time, text string) { t.all = append(t.all, line{at, text}) }

// Lines returns the lines in order of time. Lines with the same instant keep the order in which they were added.
func (t *Timeline) Lines() []string {
	slices.SortStableFunc(t.all, func(a, b line) int { return a.at.Compare(b.at) })
	texts := make([]string, len(t.all))
	for i, l := range t.all {
		texts[i] = l.text
	}
	return texts
}

// Memory is the past that a check remembers in addition to the present rows. An exhaustive search needs it. The search
// merges two moments of different runs if the rows, the knowledge of every client and the memories are equal, and it
// continues only one of them. So the check must reach the same verdict after both.
type Memory interface {
	Change(ddbfake.Change) // the next entry of the change log
	Event(history.Event)   // the next entry of the history
	// Fingerprint is equal for equal memories, and hardly ever for different ones. It leaves out a past that no longer
	// matters after now (true time), and the order in which different nodes acted at the same instant.
	Fingerprint(now time.Time) uint64
}

// Body is one write or deletion of a body in the body store. Its Change is like that of a history.Event.
type Body struct {
	Time   time.Time // true time at which it took effect
	Actor  string    // the node
	Name   string    // the name under which the body is stored
	Body   string    // the rendering; "" if Gone
	Gone   bool      // the body was deleted
	Change int
}

// Lagged is the history of the same schedule under another lag of TTL.
type Lagged struct {
	Lag     string
	History []history.Event
	// Diverged names the step from which the schedule could not be followed, because the nodes had made other
	// decisions. It is "" if the run came to its end.
	Diverged string
}

// SameBytes is the name of a rendering whose bytes equal those of every rendering of the same data.
const SameBytes = "same"

// RenderingOf begins the number of a rendering. It follows the name of its node.
const RenderingOf = "-render"

// Rendering returns the body of a rendering: of a version of a page's data, under the name of the rendering.
func Rendering(page string, version int, name string) string {
	return fmt.Sprintf("%s@%d#%s", page, version, name)
}

// IsRendering reports whether a body is a rendering of the page, perhaps in another run.
func IsRendering(page, body string) bool {
	after, is := strings.CutPrefix(body, page)
	return is && rendering.MatchString(after)
}

var rendering = regexp.MustCompile(`^@\d+#(` + SameBytes + `|.+` + RenderingOf + `-\d+)$`)
