package control

import (
	"iter"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// reading reads a snapshot piece by piece: see the HTTP door of ddbfake, which is one.
type reading interface {
	Read(s *ddbfake.Snapshot) (
		tables []string, rows func(table string) iter.Seq[attr.Item], changes func(seq, latest int) iter.Seq[ddbfake.Change], last int,
	)
}

// located returns the region and the name of a table of that name in the default region, or of that ARN.
func located(nameOrARN string) (region, name string) {
	if a, err := arn.Parse(nameOrARN); err == nil {
		return a.Region, strings.TrimPrefix(a.Resource, "table/")
	}
	return ddbfake.DefaultRegion, nameOrARN
}

// dump shows all rows, or those of one table, as they were at one instant.
func (a *api) dump(_ http.ResponseWriter, r *http.Request) (any, error) {
	query, err := parameters(r, "table")
	if err != nil {
		return nil, err
	}
	one, named := query["table"]
	if tables, rows, _, _ := a.reading.Read(a.db.Snapshot()); named && rows(one) == nil {
		return nil, missing("there is no such table", one, strings.Join(tables, ", "), "")
	}
	one = strings.Clone(one) // the request's memory is used again
	return a.newStream(r, func(e *jsontext.Encoder) error {
		names, rowsOf, _, _ := a.reading.Read(a.db.Snapshot())
		if named {
			names = []string{one}
		}
		return object(e, "tables", func() error {
			return list(e, slices.Values(names), func(address string) error {
				region, name := located(address)
				return object(e, "region", region, "name", name, "items", func() error {
					rows := rowsOf(address)
					if rows == nil { // it was deleted meanwhile
						rows = func(func(attr.Item) bool) {}
					}
					return list(e, rows, func(it attr.Item) error { return json.MarshalEncode(e, itemJSON(it)) })
				})
			})
		})
	}), nil
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
	return a.newStream(r, func(e *jsontext.Encoder) error {
		_, _, changes, last := a.reading.Read(a.db.Snapshot())
		return object(e, "changes", func() error {
			return list(e, changes(since, latest), func(c ddbfake.Change) error {
				return json.MarshalEncode(e, newChange(c))
			})
		}, "last", last)
	}), nil
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
