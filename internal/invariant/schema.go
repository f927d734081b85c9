package invariant

import (
	"slices"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// ownRows maps the cache's own rows to those that the checks read, and says why it cannot.
type ownRows struct {
	mapping *rowmap.Mapping
	misfit  string
}

// translated returns the evidence with its log translated, or nil if the schema asks for no translation. A wrong schema
// fits no rows.
func (ev Evidence) translated() (Evidence, *ownRows) {
	m, err := rowmap.New(ev.Schema)
	if m == nil && err == nil {
		return ev, nil
	}
	rows := &ownRows{mapping: m}
	ev.Schema = isr.Schema{}
	if err != nil {
		rows.misfit = err.Error()
		ev.Changes = nil
		return ev, rows
	}
	t := m.Translator()
	var log []ddbfake.Change
	for i := range ev.Changes {
		log = t.Append(log, &ev.Changes[i])
	}
	rows.misfit = t.Misfit()
	ev.Changes, ev.History = log, placed(ev.History, log)
	return ev, rows
}

// placed returns the history without the partition keys that no translated row has: those are the cache's own.
func placed(events []history.Event, log []ddbfake.Change) []history.Event {
	known := map[string]bool{}
	for i := range log {
		id, _ := role(log[i])
		known[id.pk] = true
	}
	other := func(e history.Event) bool { return e.Partition != "" && !known[e.Partition] }
	if !slices.ContainsFunc(events, other) {
		return events
	}
	events = slices.Clone(events)
	for i := range events {
		if other(events[i]) {
			events[i].Partition = ""
		}
	}
	return events
}

// say puts the cache's own names of rows into a sentence.
func (r *ownRows) say(text string) string { return r.mapping.Say(text) }

// own returns a finding in the cache's own names. Rows outside the schema are not judged. If the schema does not fit
// the rows, the finding is unknown.
func (r *ownRows) own(f Finding) Finding {
	if r.misfit != "" {
		return Finding{Verdict: Unknown, Why: r.misfit}
	}
	f.Why = r.say(f.Why)
	return f
}

// hides reports whether the schema does not fit the rows that an invariant reads.
func (r *ownRows) hides(inv *Invariant) bool { return r != nil && r.misfit != "" && inv.judge != nil }

// onRows makes a check of META, LOCK and the like work on rows with any names.
func onRows(check func(Evidence) Finding) func(Evidence) Finding {
	return func(ev Evidence) Finding {
		ev, rows := ev.translated()
		f := check(ev)
		if rows != nil {
			f = rows.own(f)
		}
		return f
	}
}
