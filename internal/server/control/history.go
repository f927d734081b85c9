package control

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/scenario/history"
)

const (
	maxEvents    = 1000 // per request
	maxTextBytes = 2048 // of a member other than a body; the service allows no longer partition key
)

// eventKinds are the kinds of events that clients post.
var eventKinds = map[string]history.Kind{
	"asked": history.Asked, "served": history.Served, "failed": history.Failed, "rendered": history.Rendered,
	"invalidating": history.Invalidating, "invalidated": history.Invalidated, "crashed": history.Crashed,
	"settled": history.Settled,
}

// eventMembers are the members that an event of each kind may have, besides kind and actor.
var eventMembers = map[history.Kind][]string{
	history.Asked:        {"key", "tenant", "call", "request"},
	history.Served:       {"key", "tenant", "call", "request", "body", "fresh"},
	history.Failed:       {"key", "tenant", "call", "request", "error"},
	history.Rendered:     {"key", "tenant", "call", "request", "body", "revalidate", "partition"},
	history.Invalidating: {"key", "tenant", "call"},
	history.Invalidated:  {"key", "tenant", "call"},
	history.Crashed:      {},
	history.Settled:      {"within"},
}

type historyState struct {
	Events     int `json:"events"`
	Violations int `json:"violations"`
	Doubts     int `json:"doubts"`
}

func (a *api) historyState() (any, error) {
	if a.findings == nil || a.tell == nil {
		return nil, conflict("the traffic is not checked", "", "", "start it with isr-sim serve --check")
	}
	all := a.findings()
	return historyState{all.Events, all.Violations, all.Doubts}, nil
}

// tellHistory passes on an event, or a list of them.
func (a *api) tellHistory(w http.ResponseWriter, r *http.Request) (any, error) {
	if _, err := parameters(r); err != nil {
		return nil, err
	}
	text, err := jsonText(w, r, "an event, or a list of events", `{"kind":"asked","actor":"alice","key":"/home"}`)
	if err != nil {
		return nil, err
	}
	if _, err := a.historyState(); err != nil {
		return nil, err
	}
	events, err := readEvents(text)
	if err != nil {
		return nil, err
	}
	if err := a.tell(events); err != nil {
		message, hint, _ := strings.Cut(err.Error(), "\nhint: ")
		return nil, conflict(message, "", "", hint)
	}
	return a.historyState()
}

// readEvents reads an event, or a list of them.
func readEvents(text []byte) ([]history.Event, error) {
	var found []jsontext.Value
	if text[0] != '[' {
		found = []jsontext.Value{text}
	} else if err := json.Unmarshal(text, &found); err != nil {
		return nil, badRequest("the body is no JSON", excerpt(text), "an event, or a list of events", "")
	}
	if n := len(found); n == 0 || n > maxEvents {
		return nil, badRequest("a request has some events", fmt.Sprint(n), fmt.Sprintf("1 to %d", maxEvents), "")
	}
	events := make([]history.Event, len(found))
	for i, text := range found {
		err := readEvent(text, &events[i])
		if f, ok := errors.AsType[*failure](err); ok {
			f.Message = fmt.Sprintf("event %d: %s", i+1, f.Message)
		}
		if err != nil {
			return nil, err
		}
	}
	return events, nil
}

func readEvent(text jsontext.Value, e *history.Event) error {
	var found body
	if err := json.Unmarshal(text, &found); err != nil || found == nil {
		return badRequest("an event is a JSON object", excerpt(text),
			`{"kind":"asked","actor":"alice","key":"/home"}`, "")
	}
	kinds := slices.Sorted(maps.Keys(eventKinds))
	kind, err := str(found, "kind", "asked")
	if err != nil {
		return err
	}
	var known bool
	if e.Kind, known = eventKinds[kind]; !known {
		return badRequest("there is no such kind of event", excerpt([]byte(kind)), strings.Join(kinds, ", "),
			suggest.Hint(kind, kinds, ""))
	}
	expected := append([]string{"kind", "actor"}, eventMembers[e.Kind]...)
	if err := only(found, kind+" has", expected); err != nil {
		return err
	}
	for _, member := range []struct {
		name string
		to   *string
	}{
		{"actor", &e.Actor}, {"key", &e.Key}, {"tenant", &e.Tenant}, {"call", &e.Call}, {"request", &e.Request},
		{"partition", &e.Partition}, {"error", &e.Note},
	} {
		if *member.to, err = optional(found, member.name); err != nil {
			return err
		}
		if *member.to == "" && found[member.name] != nil {
			return badRequest(member.name+" is empty", `""`, "a text, or no member "+member.name, "")
		}
		if !plain(*member.to) {
			return badRequest(member.name+" is no plain text", excerpt([]byte(*member.to)),
				fmt.Sprintf("at most %d bytes without control characters", maxTextBytes), "")
		}
	}
	return readClaims(found, e)
}

// readClaims reads the members that only some events have.
func readClaims(found body, e *history.Event) (err error) {
	if e.Body, err = optional(found, "body"); err != nil {
		return err
	}
	if e.Kind == history.Served {
		var fresh bool
		if json.Unmarshal(found["fresh"], &fresh) != nil {
			return badRequest("served says whether the cache took the page for fresh", shownValue(found["fresh"]),
				`"fresh": true or false`, "")
		}
		e.As = history.Stale
		if fresh {
			e.As = history.Fresh
		}
	}
	name := "revalidate"
	if e.Kind == history.Settled {
		name = "within"
	}
	text, err := optional(found, name)
	if err != nil || found[name] == nil {
		return err
	}
	if e.Within, err = time.ParseDuration(text); err != nil || e.Within <= 0 {
		return badRequest(name+" is no duration", excerpt([]byte(text)),
			"a number above 0 with a unit: 500ms, 90s, 10m, 1h30m", "")
	}
	return nil
}

func shownValue(raw jsontext.Value) string {
	if raw == nil {
		return "nothing"
	}
	return excerpt(raw)
}

// optional reads a member that is a string; "" if it is absent.
func optional(found body, name string) (string, error) {
	if found[name] == nil {
		return "", nil
	}
	return str(found, name, "...")
}

// plain reports whether a text fits in a line of a report.
func plain(text string) bool {
	return len(text) <= maxTextBytes && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// Findings are the findings of the traffic check so far.
type Findings struct {
	Verdict    string    // "ok", "violated" or "unknown": what the exit code would be now
	Checked    []string  // the names of the invariants
	Changes    int       // the number of changes seen
	Judged     int       // the number of changes judged
	Excepted   int       // the number of changes by actors that are not judged
	Violations int       // the number of violations
	Doubts     int       // the number of doubts
	Found      []Finding // the first violations and doubts
	Events     int       // the number of events posted by clients
	Untold     []string  // invariants that judged nothing, each with the missing events
	Unjudged   []string  // tables in which nothing was judged, with their contents
}

// Finding is one violation, or one doubt.
type Finding struct {
	Verdict              string // "violated" or "unknown"
	Invariant, Statement string
	Why                  string
	Actor                string           // the author; "" for TTL, or for none
	Changes              []ddbfake.Change // the few changes that show it, the decisive one last
	Events               []history.Event  // the few posted events that show it
}

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
