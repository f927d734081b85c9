package report

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/show/record"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// story is a record in the form that a viewer shows. Steps are numbered by their position in the record.
type story struct {
	*record.Record
	actors     []actorLane
	rows       []rowLane
	tracks     []track
	changed    map[int][]place // the rows that each step changed
	lane       []int           // the index of each step's actor; -1 for a step of time or of the store
	requests   []request
	stops      []stop
	matters    map[int]bool // the steps with the changes and events that show the violation
	operations []string     // for each step, the operation that it is a part of, such as PutItem; "" if there is none
	decisive   int          // the step of the violation; -1 if there is none
	begins     int          // the step at which the violation began
	calls      []call
	chances    []float64 // the chance of the violation, by step; nil if not known
}

// actorLane is a node, or one goroutine of a node, through all its incarnations.
type actorLane struct{ name, clock string }

type rowLane struct {
	name    string
	changes []rowChange
	spans   []span
	role    string
	track   int
}

// track is a lane of the picture, for one row, for all versions of a page, or for all requests of a page.
type track struct {
	name   string
	role   string
	shared bool
	order  int // its position among the tracks of one role
}

// place is a change of a row.
type place struct {
	row    int
	change *record.Change
}

// rowChange is a change of the row of a lane, and its step.
type rowChange struct {
	step   int
	change *record.Change
}

// span is a time during which a lease lasted, a page was fresh, or the row of a lease or a page existed. until is the
// first step after the span.
type span struct {
	role, name, label string
	from, until       int
	ended             bool // it ended by the clock, not by a change
}

// request is a request: the step in which it was sent, the step in which it took effect, and the step that brought its
// answer. A step that the run does not have is -1.
type request struct {
	lane                 int
	sent, effect, answer int
	refused, orphan      bool
}

// call is an operation of an observed node: it took effect at some time between its call and its answer.
type call struct {
	lane, from, until int
	open              bool // it has no answer
	label             string
	moment            float64 // when it took effect, in steps, in an order that explains the answers; -1 if not known
	place, places     int     // its position in that order, and the length of the order
	unexplained       bool    // it is not in the order
}

// stop is a time during which a node did not run.
type stop struct {
	lane, from, until int
	crashed           bool
}

func read(r *record.Record) *story {
	s := &story{Record: r, matters: map[int]bool{}, decisive: -1, begins: -1}
	s.findActors()
	s.findRequests()
	s.findCalls()
	s.findOperations()
	s.findStops()
	s.findRows()
	if v := r.Violation; v != nil {
		for i, step := range r.Steps {
			for _, c := range step.Changes {
				s.matters[i] = s.matters[i] || slices.Contains(v.Changes, c.Seq)
			}
			if step.Operation > 0 && slices.Contains(v.Operations, step.Operation) {
				s.matters[i] = true
			}
			for _, e := range step.Events {
				s.matters[i] = s.matters[i] || slices.Contains(v.Events, e.Seq)
			}
			if step.N == v.Step {
				s.decisive = i
			}
		}
		s.begins = s.decisive
		if v.Invariant == invariant.Named("bounded-staleness").Name && s.decisive >= 0 {
			s.begins = s.stale(v)
		}
	}
	if x := r.Explanation; x != nil && x.Tails > 0 && len(x.After) <= len(r.Steps) {
		for _, violated := range x.After {
			s.chances = append(s.chances, min(1, max(0, float64(violated)/float64(x.Tails))))
		}
	}
	return s
}

// stale returns the step at which an outdated answer became outdated: the first change or invalidation of the page
// after its data was read from the origin, or else the step of that read.
func (s *story) stale(v *record.Violation) int {
	read, key := -1, ""
	for i, step := range s.Steps[:s.decisive] {
		for _, e := range step.Events {
			switch {
			case len(v.Events) > 0 && e.Seq == v.Events[0]:
				read, key = i, e.Key
			case read >= 0 && e.Key == key && (e.Kind == history.Changed.String() ||
				e.Kind == history.Invalidating.String()):
				return i
			}
		}
	}
	if read < 0 {
		return s.decisive
	}
	return read
}

// findActors makes a lane for each node, in the scenario's order, and for each of its further goroutines.
func (s *story) findActors() {
	places := map[string]int{}
	add := func(key, name string) int {
		if i, known := places[key]; known {
			return i
		}
		places[key] = len(s.actors)
		s.actors = append(s.actors, actorLane{name: name})
		return places[key]
	}
	for _, a := range s.Actors {
		i := add(a.Name, a.Name)
		switch {
		case a.Offset != "" && !strings.HasPrefix(a.Offset, "-"):
			s.actors[i].clock = "clock +" + a.Offset
		case a.Offset != "":
			s.actors[i].clock = "clock " + a.Offset
		}
		if a.PPM != 0 {
			s.actors[i].clock = strings.TrimSpace(s.actors[i].clock + " drifts")
		}
	}
	s.lane = make([]int, len(s.Steps))
	for i, step := range s.Steps {
		s.lane[i] = -1
		if step.Actor == "" {
			continue
		}
		key := step.Actor
		if _, goroutine, has := strings.Cut(strings.TrimPrefix(step.Lane, step.Actor), "/"); has {
			key += "/" + goroutine
		}
		s.lane[i] = add(key, key)
	}
}

// findRequests pairs requests with their answers: a lane waits for one answer at a time.
func (s *story) findRequests() {
	runs := map[string]int{} // for each lane of the record, the last step in which its code ran
	waits := map[string]int{}
	for i, step := range s.Steps {
		switch step.Kind {
		case "start", "restart", "timer":
			runs[step.Lane] = i
		case "effect", "orphan":
			sent, known := runs[step.Lane]
			if !known {
				sent = -1
			}
			_, answer, _ := cutLast(step.Text, " -> ")
			at := -1
			if s.Watched { // of an observed request, only the effect is known
				sent, at = i, i
			}
			waits[step.Lane] = len(s.requests)
			s.requests = append(s.requests, request{
				lane: s.lane[i], sent: sent, effect: i, answer: at, orphan: step.Kind == "orphan",
				refused: refuses(answer),
			})
		case "response":
			if at, waiting := waits[step.Lane]; waiting {
				s.requests[at].answer = i
				delete(waits, step.Lane)
			}
			runs[step.Lane] = i
		}
	}
}

// findCalls pairs the calls of operations with their answers.
func (s *story) findCalls() {
	at := map[int]int{} // by operation
	for i, step := range s.Steps {
		switch step.Kind {
		case "call":
			at[step.Operation] = len(s.calls)
			s.calls = append(s.calls, call{
				lane: s.lane[i], from: i, until: len(s.Steps), open: true, label: step.Text + ": no answer", moment: -1,
			})
		case "answer":
			if n, known := at[step.Operation]; known {
				c := &s.calls[n]
				c.until, c.open, c.label = i, false, step.Text
			}
		}
	}
	s.findMoments(at)
	s.calls = slices.DeleteFunc(s.calls, func(c call) bool { return c.lane < 0 })
}

// findOperations names the operation to which each step belongs: a request and its answer, or the call of an operation
// and its answer.
func (s *story) findOperations() {
	s.operations = make([]string, len(s.Steps))
	for _, r := range s.requests {
		name, _, _ := strings.Cut(s.Steps[r.effect].Text, " ")
		if c := s.Steps[r.effect].Call; c != nil {
			name = c.Operation
		}
		s.operations[r.effect] = name
		if r.answer >= 0 {
			s.operations[r.answer] = name
		}
	}
	for _, c := range s.calls {
		name, _, _ := strings.Cut(s.Steps[c.from].Text, " ")
		s.operations[c.from] = name
		if !c.open {
			s.operations[c.until] = name
		}
	}
}

// findMoments gives each operation the earliest moment of its effect: after its call, and after its predecessor in the
// order that explains the answers of its key. An operation that is not in this order is unexplained if its answer came
// by the step of the violation. Later operations are not explained.
func (s *story) findMoments(at map[int]int) {
	const apart = 0.25 // in steps: the distance of operations that took effect between the same two steps
	for _, order := range s.Orders {
		moment := -1.0
		for n, operation := range order {
			i, known := at[operation]
			if !known {
				continue
			}
			c := &s.calls[i]
			moment = min(max(moment+apart, float64(c.from)), float64(c.until))
			c.moment, c.place, c.places = moment, n+1, len(order)
		}
	}
	for i := range s.calls {
		c := &s.calls[i]
		c.unexplained = len(s.Orders) > 0 && c.moment < 0 && !c.open && s.Violation != nil &&
			s.Steps[c.until].N <= s.Violation.Step
	}
}

// refuses reports whether the words of an answer are an error.
func refuses(answer string) bool {
	word, _, _ := strings.Cut(answer, " ")
	return strings.HasSuffix(strings.TrimRight(word, ":,;"), "Exception") ||
		strings.HasSuffix(strings.TrimRight(word, ":,;"), "Error")
}

func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}

func (s *story) findStops() {
	open := map[string]int{}
	end := func(actor string, at int) {
		if i, is := open[actor]; is {
			s.stops[i].until = at
			delete(open, actor)
		}
	}
	for i, step := range s.Steps {
		switch step.Kind {
		case "pause", "crash":
			end(step.Actor, i)
			open[step.Actor] = len(s.stops)
			s.stops = append(s.stops,
				stop{lane: s.lane[i], from: i, until: len(s.Steps), crashed: step.Kind == "crash"})
		case "resume", "restart":
			end(step.Actor, i)
		}
	}
}

func (s *story) findRows() {
	places := map[string]int{}
	s.changed = map[int][]place{}
	for i := range s.Steps {
		for k := range s.Steps[i].Changes {
			c := &s.Steps[i].Changes[k]
			key, err := json.Marshal([]any{c.Region, c.Table, c.Key})
			if err != nil {
				continue // impossible: a record that was read can be written
			}
			at, known := places[string(key)]
			if !known {
				name, _, _ := strings.Cut(c.Text, ": ")
				at = len(s.rows)
				places[string(key)] = at
				s.rows = append(s.rows, rowLane{name: name})
			}
			r := &s.rows[at]
			for _, m := range c.Means {
				if r.role == "" || rank(m.Role) < rank(r.role) {
					r.role = m.Role
				}
			}
			r.changes = append(r.changes, rowChange{i, c})
			s.changed[i] = append(s.changed[i], place{at, c})
		}
	}
	for i := range s.rows {
		s.rows[i].findSpans(s.Record)
	}
	s.findTracks()
}

// findTracks gives each row a lane. There may be many versions and requests, so all versions of one page share a lane,
// and so do all its requests.
func (s *story) findTracks() {
	of := map[string]int{} // the shared tracks, by name
	at := make([]int, len(s.rows))
	for i, r := range s.rows {
		t := track{name: r.name, role: r.role, order: len(s.tracks)}
		if r.role == "version" || r.role == "request" {
			first, page, _ := strings.Cut(r.name, " of ")
			kind, _, _ := strings.Cut(first, "#")
			t.name, t.shared = kind+" of "+page, true
			if known, is := of[t.name]; is {
				at[i] = known
				continue
			}
			of[t.name] = t.order
		}
		at[i] = t.order
		s.tracks = append(s.tracks, t)
	}
	slices.SortStableFunc(s.tracks, func(a, b track) int { return rank(a.role) - rank(b.role) })
	places := make([]int, len(s.tracks))
	for i, t := range s.tracks {
		places[t.order] = i
	}
	for i := range s.rows {
		s.rows[i].track = places[at[i]]
	}
}

// rank orders roles: locks first, then pages.
func rank(role string) int {
	if i := slices.Index([]string{"lock", "page", "version", "request"}, role); i >= 0 {
		return i
	}
	return 4
}

func (r *rowLane) findSpans(rec *record.Record) {
	for k, c := range r.changes {
		next := len(rec.Steps)
		if k+1 < len(r.changes) {
			next = r.changes[k+1].step
		}
		for _, m := range c.change.Means {
			if m.Gone || m.Until == nil {
				continue
			}
			sp := span{role: m.Role, from: c.step, until: next, name: m.Token, label: m.Token}
			if m.Role != "lock" {
				sp.name, sp.label = "fresh", "fresh"
			}
			for i := c.step; i < next; i++ {
				if !rec.Steps[i].Time.Before(*m.Until) {
					sp.until, sp.ended = i, true
					break
				}
			}
			sp.label += " until " + since(rec.Start, *m.Until)
			r.spans = append(r.spans, sp)
		}
	}
}

// since prints a time as its distance from the start.
func since(start, t time.Time) string {
	d := t.Sub(start)
	if d < 0 {
		return d.String()
	}
	return "+" + d.String()
}
