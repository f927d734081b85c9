package control

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"maps"
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
	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/internal/server/hold"
	"github.com/isr-sim/isr-sim/internal/wire/httpbody"
)

// MaxSnapshots is the maximum number of states kept at a time. Each keeps the old images of rows that have changed
// since.
const MaxSnapshots = 1000

// maxNameBytes is the maximum length of a snapshot's name.
const maxNameBytes = 255

// kept is a state under a name.
type kept struct {
	state *ddbfake.Snapshot
	at    time.Time // its time, if there is a clock
}

type snapshotState struct {
	Snapshots []string `json:"snapshots"`
}

func (a *api) names() snapshotState {
	return snapshotState{append([]string{}, slices.Sorted(maps.Keys(a.snapshots))...)}
}

func (a *api) listSnapshots() (any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.names(), nil
}

func nameOf(w http.ResponseWriter, r *http.Request) (string, error) {
	found, err := members(w, r, "name")
	if err != nil {
		return "", err
	}
	name, err := str(found, "name", "empty")
	if err == nil && (name == "" || len(name) > maxNameBytes) {
		return "", badRequest("a snapshot has a name", fmt.Sprintf("%d bytes", len(name)),
			fmt.Sprintf("1 to %d bytes", maxNameBytes), "")
	}
	return name, err
}

// takeSnapshot keeps the state under a name, replacing an older one.
func (a *api) takeSnapshot(w http.ResponseWriter, r *http.Request) (any, error) {
	name, err := nameOf(w, r)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.snapshots[name]; !ok && len(a.snapshots) >= MaxSnapshots {
		return nil, conflict("too many snapshots are kept", fmt.Sprint(len(a.snapshots)),
			fmt.Sprintf("at most %d", MaxSnapshots),
			"DELETE "+Prefix+"/snapshot drops them")
	}
	of := kept{state: a.db.Snapshot()}
	if a.clock != nil {
		of.at = a.clock.Now()
	}
	a.snapshots[name] = of
	a.keepBodies(name)
	return a.names(), nil
}

func (a *api) dropSnapshots() (any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.snapshots)
	clear(a.bodies)
	return a.names(), nil
}

func (a *api) restore(w http.ResponseWriter, r *http.Request) (any, error) {
	name, err := nameOf(w, r)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	of, ok := a.snapshots[name]
	if !ok {
		names := a.names().Snapshots
		hint := suggest.Hint(name, names, "POST "+Prefix+"/snapshot takes one")
		expected := "a name under which a snapshot was taken: there is none"
		if len(names) > 0 {
			expected = "one of " + strings.Join(names, ", ")
		}
		return nil, missing("there is no snapshot of that name", name, expected, hint)
	}
	if a.holds != nil {
		a.holds.DecideAll(hold.LoseRequest, "") // they belong to the state that ends
	}
	a.restoring(func() {
		// The clock is set first: at the later time, TTL would delete rows of the restored state.
		if clock, ok := a.clock.(Resetter); ok {
			clock.Reset(of.at)
		}
		a.db.Restore(of.state)
	})
	a.restoreBodies(name)
	return map[string]any{"restored": name}, nil
}

// reading has the methods that read a snapshot piece by piece and that make a stream's shards roll over. The HTTP door
// of ddbfake implements it.
type reading interface {
	Read(s *ddbfake.Snapshot) (
		tables []string, rows func(table string) iter.Seq[attr.Item],
		changes func(seq, latest int) iter.Seq[ddbfake.Change], last int,
	)
	Settings(s *ddbfake.Snapshot, table string) (description []byte, ttl string, tags map[string]string)
	Roll(table string, split bool) (open []string, err error)
}

// settings are the settings of a table in a dump.
type settings struct {
	Table      jsontext.Value    `json:"table"`
	TimeToLive string            `json:"timeToLive,omitzero"`
	Tags       map[string]string `json:"tags,omitempty"`
}

// located splits a table's name in the default region, or its ARN, into region and name.
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
	one = strings.Clone(one) // the request's memory will be reused for another one
	return a.newStream(r, func(e *jsontext.Encoder) error {
		of := a.db.Snapshot()
		if named {
			return dumpTables(e, a.reading, of, []string{one})
		}
		names, _, _, _ := a.reading.Read(of)
		return dumpTables(e, a.reading, of, names)
	}), nil
}

// dumpTables writes tables of a snapshot, with their settings and rows.
func dumpTables(e *jsontext.Encoder, reading reading, of *ddbfake.Snapshot, names []string) error {
	_, rowsOf, _, _ := reading.Read(of)
	return object(e, "tables", func() error {
		return list(e, slices.Values(names), func(address string) error {
			region, name := located(address)
			var own settings
			own.Table, own.TimeToLive, own.Tags = reading.Settings(of, address)
			return object(e, "region", region, "name", name, "settings", own, "items", func() error {
				rows := rowsOf(address)
				if rows == nil { // it was deleted meanwhile
					rows = func(func(attr.Item) bool) {}
				}
				return list(e, rows, func(it attr.Item) error { return json.MarshalEncode(e, itemJSON(it)) })
			})
		})
	})
}

// readingOf returns the further methods of a DB's HTTP door.
func readingOf(db *ddbfake.DB) reading {
	of, ok := db.Handler().(reading)
	if !ok {
		panic("control: the door of ddbfake does not read snapshots")
	}
	return of
}

// Dump writes all tables of a DB like the answer of GET /dump, which ddbfake.DB.Load reads.
func Dump(to io.Writer, db *ddbfake.DB) error {
	reading := readingOf(db)
	of := db.Snapshot()
	names, _, _, _ := reading.Read(of)
	return dumpTables(jsontext.NewEncoder(to, jsonOptions), reading, of, names)
}

// State returns a description of a DB's tables without their rows, with the number of the latest change of a row. As
// long as State is the same, so is Dump.
func State(db *ddbfake.DB) string {
	reading := readingOf(db)
	of := db.Snapshot()
	names, _, _, last := reading.Read(of)
	text := strconv.AppendInt(nil, int64(last), 10)
	for _, address := range names {
		description, ttl, tags := reading.Settings(of, address)
		text = fmt.Appendf(append(text, description...), " %q %q", ttl, tags)
	}
	return string(text)
}

// load loads tables and rows into the DB: an answer of /dump, or another form that ddbfake.DB.Load reads.
func (a *api) load(w http.ResponseWriter, r *http.Request) (any, error) {
	query, err := parameters(r, "region")
	if err != nil {
		return nil, err
	}
	text, err := readUpTo(w, r, httpbody.MaxBytes)
	if err != nil {
		return nil, err
	}
	if len(text) == 0 {
		return nil, badRequest("the request has no body", "nothing", "what GET "+Prefix+"/dump answers", "")
	}
	if err := a.db.Load(query["region"], bytes.NewReader(text)); err != nil {
		return nil, badRequest("the body cannot be loaded", strings.TrimPrefix(err.Error(), "ddbfake: load: "),
			"tables and rows in JSON", "docs/SERVE.md lists the forms; nothing was loaded")
	}
	return map[string]any{"tables": a.db.Tables()}, nil
}

// save writes the file of serve --data.
func (a *api) save() (any, error) {
	if a.saving == nil {
		return nil, conflict("this server keeps no file", "", "", "start it with --data FILE")
	}
	file, err := a.saving()
	if err != nil {
		return nil, err
	}
	return map[string]any{"saved": file}, nil
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

// changes shows the change log from a position on, or its latest changes.
func (a *api) changes(_ http.ResponseWriter, r *http.Request) (any, error) {
	query, err := parameters(r, "since", "latest")
	if err != nil {
		return nil, err
	}
	since := 0
	if text, ok := query["since"]; ok {
		since, err = strconv.Atoi(text)
		if err != nil || since < 0 {
			return nil, badRequest("since is no position", text,
				"a whole number from 0: the seq of the last change that is known", "")
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
func (a *api) sweep() (any, error) { return map[string]any{"deleted": a.db.SweepExpired()}, nil }

// roll closes the open shards of a table's stream, and opens their children: {"table":"cache","split":true}.
func (a *api) roll(w http.ResponseWriter, r *http.Request) (any, error) {
	found, err := members(w, r, "table", "split")
	if err != nil {
		return nil, err
	}
	table, err := str(found, "table", "cache")
	if err != nil {
		return nil, err
	}
	var split bool
	if raw, ok := found["split"]; ok && json.Unmarshal(raw, &split) != nil {
		return nil, badRequest("split is no boolean", excerpt(raw), "true or false", "")
	}
	open, err := a.reading.Roll(table, split)
	if err != nil {
		return nil, conflict(err.Error(), table,
			"the name of a table in "+ddbfake.DefaultRegion+" with a stream, or an ARN", "")
	}
	return map[string]any{"open": open}, nil
}
