package control

import (
	"net/http"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// Findings are the findings of a check of the traffic so far.
type Findings struct {
	Checked    []string  // the names of the invariants
	Changes    int       // how many were looked at
	Judged     int       // how many of them were judged
	Excepted   int       // how many changes were made by actors that are not judged
	Violations int       // how many were found
	Doubts     int       // how many doubts there were
	Found      []Finding // the first violations and doubts
	Unjudged   []string  // tables in which nothing was judged, with their contents
}

// Finding is one violation, or one doubt.
type Finding struct {
	Verdict              string // "violated" or "unknown"
	Invariant, Statement string
	Why                  string
	Actor                string           // the author; "" is TTL, or none
	Changes              []ddbfake.Change // the few that show it, the decisive one last
}

// finding is a Finding in JSON.
type finding struct {
	Verdict   string   `json:"verdict"`
	Invariant string   `json:"invariant"`
	Statement string   `json:"statement"`
	Why       string   `json:"why"`
	Actor     string   `json:"actor"`
	Changes   []change `json:"changes"`
}

// violations shows the findings.
func (a *api) violations(w http.ResponseWriter, r *http.Request) (any, error) {
	if err := nothing(w, r); err != nil {
		return nil, err
	}
	if a.findings == nil {
		return nil, conflict("the traffic is not checked", "", "", "start it with isr-sim serve --check")
	}
	all := a.findings()
	out := struct {
		Checked    []string  `json:"checked"`
		Changes    int       `json:"changes"`
		Judged     int       `json:"judged"`
		Excepted   int       `json:"excepted"`
		Violations int       `json:"violations"`
		Doubts     int       `json:"doubts"`
		Found      []finding `json:"found"`
		Unjudged   []string  `json:"unjudged"`
	}{append([]string{}, all.Checked...), all.Changes, all.Judged, all.Excepted, all.Violations, all.Doubts, []finding{}, append([]string{}, all.Unjudged...)}
	for _, f := range all.Found {
		shown := finding{f.Verdict, f.Invariant, f.Statement, f.Why, f.Actor, []change{}}
		for _, c := range f.Changes {
			shown.Changes = append(shown.Changes, newChange(c))
		}
		out.Found = append(out.Found, shown)
	}
	return out, nil
}
