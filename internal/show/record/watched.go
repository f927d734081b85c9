package record

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/storeop"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/trace/describe"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
)

// Watched is the observed run of nodes without a schedule: they ran in real time, or in other programs.
type Watched struct {
	Name, About, Protocol string
	Seed                  uint64
	Start                 time.Time
	Evidence              invariant.Evidence
	Verdict               invariant.Verdict
	Why                   string // for anything but ok
	// Invariant, Finding and Lines describe the violation, if there is one.
	Invariant invariant.Invariant
	Finding   invariant.Finding
	Lines     []string
}

// OfWatched makes the record of an observed run: a step for each request that changed rows, for each event of a client,
// and for each call and answer of an operation, in order of time. If operations show a violation, the record has only
// the pages of these operations. The record cannot be replayed.
func OfWatched(w Watched, version string) (*Record, error) {
	r := &Record{
		Format: Format, Tool: "isr-sim " + version, Scenario: w.Name, About: w.About, Protocol: w.Protocol,
		Seed: strconv.FormatUint(w.Seed, 10), Watched: true, Start: w.Start, Verdict: w.Verdict.String(),
	}
	means, err := r.meanings(w.Evidence)
	if err != nil {
		return nil, err
	}
	if err := r.watch(w, means); err != nil {
		return nil, err
	}
	if len(r.Steps) == 0 {
		return nil, errors.New("nothing was seen: no row was changed, and no client told anything")
	}
	if len(w.Evidence.Operations) > 0 {
		for _, order := range w.Evidence.Orders() {
			if len(order) > 0 && slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Operation == order[0] }) {
				r.Orders = append(r.Orders, order)
			}
		}
	}
	names := map[string]bool{}
	r.Actors = []Actor{}
	for _, s := range r.Steps {
		if s.Actor != "" && !names[s.Actor] {
			names[s.Actor] = true
			r.Actors = append(r.Actors, Actor{Name: s.Actor, Script: []string{}})
		}
	}
	slices.SortFunc(r.Actors, func(a, b Actor) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name)) // node2 before node10
	})
	if w.Verdict != invariant.Violated {
		r.Why = w.Why
		return r, nil
	}
	r.Violation = &Violation{
		Invariant: w.Invariant.Name, Statement: w.Invariant.Statement, Why: w.Why,
		Changes: w.Finding.Changes, Events: w.Finding.Events, Operations: w.Finding.Operations,
		Lines: slices.Clone(w.Lines),
	}
	if r.Violation.Lines == nil {
		r.Violation.Lines = []string{}
	}
	r.Violation.Step = r.decisive(hooks.Shown{Changes: w.Finding.Changes, Events: w.Finding.Events})
	if n := len(w.Finding.Operations); r.Violation.Step == 0 && n > 0 {
		for _, s := range r.Steps { // the answer is the later step; without an answer, the call is the only one
			if s.Operation == w.Finding.Operations[n-1] {
				r.Violation.Step = s.N
			}
		}
	}
	return r, nil
}

// watch makes the steps.
func (r *Record) watch(w Watched, means map[int][]Meaning) error {
	words := describe.Words{Start: w.Start}
	if ev := w.Evidence; len(ev.Schema.Rows) > 0 || ev.Schema.Translate != nil {
		mapping, err := rowmap.New(ev.Schema)
		if err != nil {
			return err
		}
		words.Rows = mapping
	}
	type seen struct {
		Step
		after int // the number of the latest change by then
		place int // its position among calls and answers
	}
	var all []seen
	for _, c := range w.Evidence.Changes {
		change := changeOf(c, words.Change(c))
		change.Means = means[c.Seq]
		if last := len(all) - 1; last >= 0 && c.Cause == ddbfake.CauseClient && c.Request != 0 &&
			all[last].Changes[0].Request == c.Request {
			all[last].Changes = append(all[last].Changes, change)
			all[last].after = c.Seq
			continue
		}
		s := Step{Time: c.Time, Actor: c.Actor, Lane: c.Actor, Kind: "effect", Text: change.Text,
			Changes: []Change{change}, Options: 1}
		if c.Cause == ddbfake.CauseTTL {
			s.Actor, s.Lane, s.Kind = "", "ttl", "external"
		}
		all = append(all, seen{Step: s, after: c.Seq})
	}
	about := map[string]bool{}
	for _, place := range w.Finding.Operations {
		about[w.Evidence.Operations[place-1].Key] = true
	}
	for _, e := range w.Evidence.History {
		if len(about) > 0 && !about[e.Key] {
			continue
		}
		event := eventOf(e)
		all = append(all, seen{
			Step: Step{Time: e.Time, Actor: e.Actor, Lane: e.Actor, Kind: "note", Text: event.Text,
				Events: []Event{event}, Options: 1}, after: e.Change,
		})
	}
	for i, o := range w.Evidence.Operations {
		if len(about) > 0 && !about[o.Key] {
			continue
		}
		s := Step{
			Time: o.Began, Actor: o.Actor, Lane: o.Actor, Kind: "call", Text: called(o), Operation: i + 1, Options: 1,
		}
		all = append(all, seen{Step: s, place: o.Call})
		if o.Return != 0 {
			s.Time, s.Kind, s.Text = o.Ended, "answer", recorder.Describe(o, words.Second)+" of "+o.Key
			all = append(all, seen{Step: s, place: o.Return})
		}
	}
	slices.SortStableFunc(all, func(a, b seen) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.after, b.after), cmp.Compare(a.place, b.place))
	})
	r.Steps = make([]Step, len(all))
	for i, s := range all {
		s.N, s.Time = i+1, w.Start.Add(s.Time.Sub(w.Start).Truncate(time.Millisecond)) // events have exact times
		r.Steps[i] = s.Step
	}
	return nil
}

// called is an operation that has no answer yet.
func called(o storeop.Operation) string {
	text := o.Verb.String()
	if o.Token != "" {
		text += " " + o.Token
	}
	return text + " of " + o.Key
}
