package describe

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/storeop"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// Line is a step that led to a finding, and that the finding itself does not name.
type Line struct {
	Time        time.Time
	Actor, Text string
	// Events and Change are the numbers of events, and of changes, before it.
	Events, Change int
}

// Run is what happened in a run.
type Run struct {
	Changes    []ddbfake.Change
	History    []history.Event
	Operations []storeop.Operation
}

// Shown prints the changes, events and operations of a run that a finding names, and the lines that led to it, one per
// line, in order of time.
func (r Run) Shown(words Words, f hooks.Shown, led ...Line) []string {
	var all recorder.Timeline
	events := f.Events
	to := func(seq, change int) { // adds the events before both, because many things happen at the same time
		for len(events) > 0 && events[0] <= seq && r.History[events[0]-1].Change < change {
			e := r.History[events[0]-1]
			all.Add(e.Time, eventLine(words, e))
			events = events[1:]
		}
	}
	until := func(change int) { // adds everything before a change
		for len(led) > 0 && led[0].Change < change {
			l := led[0]
			to(l.Events, math.MaxInt)
			all.Add(l.Time, fmt.Sprintf("%-10s  %-8s  %s", words.Instant(l.Time), l.Actor, l.Text))
			led = led[1:]
		}
		to(math.MaxInt, change)
	}
	for _, seq := range f.Changes {
		until(seq)
		c := r.Changes[seq-1]
		sent := ""
		if !c.Sent.Equal(c.Time) {
			sent = " (sent at " + words.Instant(c.Sent) + ")"
		}
		if words.Untold != nil {
			if what := words.Untold(seq); what != "" {
				sent += " (" + what + ")"
			}
		}
		all.Add(c.Time, lineOf(words, c, sent))
	}
	until(math.MaxInt)
	for _, place := range f.Operations {
		o := r.Operations[place-1]
		at := recorder.Answered(o)
		all.Add(at, fmt.Sprintf("%-10s  %-8s  %s (called at %s)",
			words.Instant(at), o.Actor, recorder.Describe(o, words.Second), words.Instant(o.Began)))
	}
	return all.Lines()
}

// Change prints an entry of the change log on one line: its time in milliseconds since start, its author, and the row
// before and after. rows knows the rows with other names; if it is nil, only META and LOCK are known.
func Change(c ddbfake.Change, start time.Time, rows *rowmap.Mapping) string {
	c.Time = start.Add(c.Time.Sub(start).Truncate(time.Millisecond))
	return lineOf(Words{Start: start, Rows: rows}, c, "")
}

// shownBody is the number of bytes of a body that a line shows.
const shownBody = 60

// Event prints an event of a history on one line, as Change does. It prints only the beginning of a body.
func Event(e history.Event, start time.Time) string {
	e.Time = start.Add(e.Time.Sub(start).Truncate(time.Millisecond))
	if e.Body != "" {
		e.Body = strconv.QuoteToGraphic(strings.ToValidUTF8(e.Body[:min(len(e.Body), shownBody)], ""))
	}
	return eventLine(Words{Start: start}, e)
}

func eventLine(words Words, e history.Event) string {
	return fmt.Sprintf("%-10s  %-8s  %s", words.Instant(e.Time), e.Actor, history.Event.String(e))
}

func lineOf(words Words, c ddbfake.Change, sent string) string {
	actor := c.Actor
	if c.Cause == ddbfake.CauseTTL || c.Cause == ddbfake.CauseReplica && actor == "" { // TTL, of any region
		actor = "ttl"
	}
	return fmt.Sprintf("%-10s  %-8s  %s%s", words.Instant(c.Time), actor, words.Change(c), sent)
}
