package control

import (
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// Findings are the findings of a check of the traffic so far.
type Findings struct {
	Verdict    string    // "ok", "violated" or "unknown": what the exit code would say now
	Checked    []string  // the names of the invariants
	Changes    int       // how many were looked at
	Judged     int       // how many of them were judged
	Excepted   int       // how many changes were made by actors that are not judged
	Violations int       // how many were found
	Doubts     int       // how many doubts there were
	Found      []Finding // the first violations and doubts
	Events     int       // how many events clients have posted
	Untold     []string  // invariants that judged nothing, each with the events that are missing
	Unjudged   []string  // tables in which nothing was judged, with their contents
}

// Finding is one violation, or one doubt.
type Finding struct {
	Verdict              string // "violated" or "unknown"
	Invariant, Statement string
	Why                  string
	Actor                string           // the author; "" is TTL, or none
	Changes              []ddbfake.Change // the few changes that show it, the decisive one last
	Events               []history.Event  // the few posted events that show it
}

// finding is a Finding in JSON.
type finding struct {
	Verdict   string   `json:"verdict"`
	Invariant string   `json:"invariant"`
	Statement string   `json:"statement"`
	Why       string   `json:"why"`
	Actor     string   `json:"actor"`
	Changes   []change `json:"changes"`
	Events    []event  `json:"events"`
}

// event is a posted event in JSON.
type event struct {
	Seq    int       `json:"seq"`
	Time   time.Time `json:"time"`
	Change int       `json:"change"` // the seq of the last change before it
	Actor  string    `json:"actor"`
	Kind   string    `json:"kind"`
	Key    string    `json:"key,omitzero"`
	Tenant string    `json:"tenant,omitzero"`
	Call   string    `json:"call,omitzero"`
	As     string    `json:"as,omitzero"`
	Body   string    `json:"body,omitzero"` // its beginning
	Error  string    `json:"error,omitzero"`
}

func newEvent(e history.Event) event {
	return event{e.Seq, e.Time.UTC(), e.Change, e.Actor, e.Kind.String(), e.Key, e.Tenant, e.Call, e.As.String(),
		excerpt([]byte(e.Body)), e.Note}
}

// violations shows the findings.
func (a *api) violations() (any, error) {
	if a.findings == nil {
		return nil, conflict("the traffic is not checked", "", "", "start it with isr-sim serve --check")
	}
	all := a.findings()
	out := struct {
		Verdict    string    `json:"verdict"`
		Checked    []string  `json:"checked"`
		Changes    int       `json:"changes"`
		Judged     int       `json:"judged"`
		Excepted   int       `json:"excepted"`
		Violations int       `json:"violations"`
		Doubts     int       `json:"doubts"`
		Events     int       `json:"events"`
		Found      []finding `json:"found"`
		Unjudged   []string  `json:"unjudged"`
		Untold     []string  `json:"untold"`
	}{all.Verdict, append([]string{}, all.Checked...), all.Changes, all.Judged, all.Excepted, all.Violations,
		all.Doubts, all.Events, []finding{}, append([]string{}, all.Unjudged...), append([]string{}, all.Untold...)}
	for _, f := range all.Found {
		shown := finding{f.Verdict, f.Invariant, f.Statement, f.Why, f.Actor, []change{}, []event{}}
		for _, c := range f.Changes {
			shown.Changes = append(shown.Changes, newChange(c))
		}
		for _, e := range f.Events {
			shown.Events = append(shown.Events, newEvent(e))
		}
		out.Found = append(out.Found, shown)
	}
	return out, nil
}
