package control

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

type tableInfo struct {
	// Address is the name of the table in requests to other resources: the plain name in the default region, and the
	// ARN elsewhere.
	Address string   `json:"address"`
	Region  string   `json:"region"`
	Name    string   `json:"name"`
	Keys    []string `json:"keys"` // the partition key, and the sort key if there is one
	TTL     string   `json:"ttl"`  // the attribute; "" if TTL is off
	Rows    int      `json:"rows"`
}

// copyOf returns a copy of a DB at one instant. Nothing changes it: its lag is manual, so TTL deletes nothing. Reading
// it does not count as a call of the service.
func copyOf(s *ddbfake.Snapshot) *ddbfake.DB {
	still := ddbfake.New(ddbfake.Options{})
	still.Restore(s)
	return still
}

// tableOf describes a table of a copy, or returns nil if there is none.
func tableOf(r *http.Request, still *ddbfake.DB, address string) (*tableInfo, error) {
	region, name := located(address)
	door := still.As("").In(region)
	described, err := door.DescribeTable(r.Context(), &dynamodb.DescribeTableInput{TableName: &name})
	if err != nil {
		return nil, err
	}
	ttl, err := door.DescribeTimeToLive(r.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	if err != nil {
		return nil, err
	}
	t := &tableInfo{Address: address, Region: region, Name: name, Rows: len(still.Items(address))}
	for _, k := range described.Table.KeySchema {
		t.Keys = append(t.Keys, *k.AttributeName)
	}
	if at := ttl.TimeToLiveDescription.AttributeName; at != nil {
		t.TTL = *at
	}
	return t, nil
}

func (a *api) tables(w http.ResponseWriter, r *http.Request) (any, error) {
	if err := nothing(w, r); err != nil {
		return nil, err
	}
	still := copyOf(a.db.Snapshot())
	out := struct {
		Tables []*tableInfo `json:"tables"`
	}{[]*tableInfo{}}
	for _, address := range still.Tables() {
		t, err := tableOf(r, still, address)
		if err != nil {
			return nil, err
		}
		out.Tables = append(out.Tables, t)
	}
	return out, nil
}

// rowState is a row, with its fate under TTL.
type rowState struct {
	Item     map[string]any `json:"item"`
	Due      *time.Time     `json:"due"`      // the second that its ttl names; null: TTL ignores it
	Deletion *time.Time     `json:"deletion"` // when the lag deletes it; null: not by itself
}

// The default number of rows in /rows, and the maximum that a request may give.
const (
	defaultRows = 100
	maxRows     = 1000
)

// rows shows rows of a table with their fate under TTL.
func (a *api) rows(_ http.ResponseWriter, r *http.Request) (any, error) {
	query, err := parameters(r, "table", "contains", "limit")
	if err != nil {
		return nil, err
	}
	limit, err := whole(query, "limit", defaultRows, maxRows)
	if err != nil {
		return nil, err
	}
	still := a.db.Snapshot()
	address, named := query["table"]
	tables, rowsOf, _, _ := a.reading.Read(still)
	rows := rowsOf(address)
	if rows == nil {
		hint := ""
		if !named {
			hint = "for example " + Prefix + "/rows?table=cache"
		}
		return nil, missing("there is no such table", address, strings.Join(tables, ", "), hint)
	}
	t, err := tableOf(r, copyOf(still), address)
	if err != nil {
		return nil, err
	}
	address, text := strings.Clone(address), strings.Clone(query["contains"]) // the request's memory is reused
	return a.newStream(r, func(e *jsontext.Encoder) error {
		found := 0
		for item := range rows {
			if contains(item, text) {
				found++
			}
		}
		first := func(yield func(attr.Item) bool) {
			left := min(limit, found)
			for item := range rows {
				if left == 0 {
					return
				}
				if contains(item, text) {
					if left--; !yield(item) {
						return
					}
				}
			}
		}
		return object(e, "table", address, "found", found, "rows", func() error {
			return list(e, first, func(item attr.Item) error {
				key := attr.Item{}
				for _, name := range t.Keys {
					key[name] = item[name]
				}
				due, deletion := a.db.Fate(ddbfake.Row{Table: address, Key: key})
				return json.MarshalEncode(e, rowState{itemJSON(item), instant(due), instant(deletion)})
			})
		})
	}), nil
}

// contains reports whether a text is part of the row, as the row is shown.
func contains(item attr.Item, text string) bool {
	if text == "" {
		return true
	}
	shown, err := json.Marshal(itemJSON(item))
	return err == nil && strings.Contains(strings.ToLower(string(shown)), strings.ToLower(text))
}

func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// whole reads a parameter that is a whole number from 1 to most.
func whole(query map[string]string, name string, otherwise, most int) (int, error) {
	text, ok := query[name]
	if !ok {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, badRequest(name+" is no such number", text, fmt.Sprintf("a whole number from 1 to %d", most), "")
	}
	return n, nil
}
