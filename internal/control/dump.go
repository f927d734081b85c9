package control

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// tableState is one table of a dump, its rows sorted by key.
type tableState struct {
	Region string           `json:"region"`
	Name   string           `json:"name"`
	Items  []map[string]any `json:"items"`
}

// newTableState returns a table of that name in the default region, or of that ARN, without its rows.
func newTableState(nameOrARN string) tableState {
	t := tableState{Region: ddbfake.DefaultRegion, Name: nameOrARN, Items: []map[string]any{}}
	if a, err := arn.Parse(nameOrARN); err == nil {
		t.Region, t.Name = a.Region, strings.TrimPrefix(a.Resource, "table/")
	}
	return t
}

// dump shows all rows, or those of one table, as they were at one instant.
func (a *api) dump(_ http.ResponseWriter, r *http.Request) (any, error) {
	query, err := parameters(r, "table")
	if err != nil {
		return nil, err
	}
	still := a.still()
	names := still.Tables()
	if one, ok := query["table"]; ok {
		if still.Items(one) == nil {
			return nil, missing("there is no such table", one, strings.Join(names, ", "), "")
		}
		names = []string{one}
	}
	out := struct {
		Tables []tableState `json:"tables"`
	}{[]tableState{}}
	for _, name := range names {
		t := newTableState(name)
		for _, it := range still.Items(name) {
			t.Items = append(t.Items, itemJSON(it))
		}
		out.Tables = append(out.Tables, t)
	}
	return out, nil
}

// change is a ddbfake.Change in JSON. Before and After are null for a missing row.
type change struct {
	Seq     int            `json:"seq"`
	Request int            `json:"request"`
	Time    time.Time      `json:"time"`
	Sent    time.Time      `json:"sent"`
	Actor   string         `json:"actor"`
	Cause   string         `json:"cause"`
	Region  string         `json:"region"`
	Table   string         `json:"table"`
	Key     map[string]any `json:"key"`
	Before  map[string]any `json:"before"`
	After   map[string]any `json:"after"`
}

// changes shows the change log from a position on, or the latest of it.
func (a *api) changes(_ http.ResponseWriter, r *http.Request) (any, error) {
	query, err := parameters(r, "since", "latest")
	if err != nil {
		return nil, err
	}
	since := 0
	if text, ok := query["since"]; ok {
		since, err = strconv.Atoi(text)
		if err != nil || since < 0 {
			return nil, badRequest("since is no position", text, "a whole number from 0: the seq of the last change that is known", "")
		}
	}
	latest, err := whole(query, "latest", math.MaxInt, math.MaxInt)
	if err != nil {
		return nil, err
	}
	log := a.db.Changes()
	out := struct {
		Changes []change `json:"changes"`
		Last    int      `json:"last"`
	}{Changes: []change{}}
	if n := len(log); n > 0 {
		out.Last = log[n-1].Seq
	}
	for _, c := range log[max(0, len(log)-latest):] {
		if c.Seq <= since {
			continue
		}
		out.Changes = append(out.Changes, newChange(c))
	}
	return out, nil
}

func newChange(c ddbfake.Change) change {
	return change{
		c.Seq, c.Request, c.Time.UTC(), c.Sent.UTC(), c.Actor, c.Cause.String(), c.Region, c.Table,
		itemJSON(c.Key), itemJSON(c.Before), itemJSON(c.After),
	}
}

// sweep makes TTL delete every row that has expired.
func (a *api) sweep(w http.ResponseWriter, r *http.Request) (any, error) {
	if err := nothing(w, r); err != nil {
		return nil, err
	}
	return struct {
		Deleted int `json:"deleted"`
	}{a.db.SweepExpired()}, nil
}
