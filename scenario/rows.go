package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/inside"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// rows is a world's mapping of rows that have names of the cache's own. Nil means the rows META and LOCK.
type rows struct {
	*rowmap.Mapping
	translator *rowmap.Translator
	log        []ddbfake.Change // translated
}

// isMapped says whether rows have names of the cache's own.
func isMapped(s *Scenario) bool { return len(s.Rows.Rows) > 0 || s.Rows.Translate != nil }

// mapping returns the mapping; nil if r is nil.
func (r *rows) mapping() *rowmap.Mapping {
	if r == nil {
		return nil
	}
	return r.Mapping
}

// place returns a row's roles, and the partition of its translated rows.
func (r *rows) place(table *string, key map[string]types.AttributeValue) (pk string, roles rowmap.Roles) {
	return r.translator.Place(aws.ToString(table), key)
}

// say puts the cache's own names of rows into a sentence.
func (r *rows) say(text string) string { return r.mapping().Say(text) }

// fit sets Misfit and Pageless. A violation that rests on unread rows makes the run unknown. One that may rest on times
// in the wrong unit says so.
func (w *world) fit(o *Outcome) {
	in, r := inside.In(o), w.rows
	var rests bool
	if r == nil {
		in.Misfit = rowmap.Unnamed(w.db.Changes())
		rests = o.Violation != nil && inside.In(&o.Violation.Invariant).OnRows
	} else {
		in.Misfit, in.Pageless = r.translator.Misfit(), r.translator.Pageless()
		rests = o.Verdict != invariant.OK
	}
	if in.Misfit != "" && rests {
		o.unfounded()
	}
	if r == nil {
		return
	}
	if misread, hint := r.translator.Misread(); misread != "" && o.Violation != nil {
		o.Violation.Why += " (" + misread + ")\n" + hint
	}
}

// tableless sets Misfit if nothing was written, and a request was about a table that the world does not have. Then what
// went wrong is no evidence against the code, and a violation makes the run unknown.
func (w *world) tableless(o *Outcome) {
	const code = "ResourceNotFoundException"
	in := inside.In(o)
	missing := func(e history.Event) bool { return strings.Contains(e.Note, code) }
	if len(w.db.Changes()) > 0 || !slices.ContainsFunc(w.history.Events(), missing) {
		return
	}
	in.Misfit = fmt.Sprintf("nothing was written, and a request was about a table that is not there (%s): "+
		"expected %s\nhint: use the table that a node is given, or name yours: Rows, or in a file `rows` with `table` "+
		"(docs/SCENARIOS.md, Rows of your own)",
		code, strings.Join(w.db.Tables(), ", "))
	if o.Verdict != invariant.OK {
		o.unfounded()
	}
}

// unfounded makes the run unknown, because of its Misfit.
func (o *Outcome) unfounded() {
	in := inside.In(o)
	o.Verdict, o.Why, o.Violation, o.Broken, in.Doubtful = invariant.Unknown, in.Misfit, nil, nil, nil
}

// known are the mappings and the empty tables of the scenarios that ran last, the latest one first. To make them takes
// as long as a short run.
var known struct {
	mu   sync.Mutex
	last []knownRows
}

// mostKnown is how many scenarios with rows of their own may run side by side without making them again.
const mostKnown = 4

type knownRows struct {
	of      *Scenario
	list    []isr.Row // the rows that the scenario had then
	regions string    // as in tableKind
	rows    *rowmap.Mapping
	empty   *ddbfake.Snapshot
}

// tablesOf returns the rows of a scenario's world, and the world's store at the beginning.
func tablesOf(ctx context.Context, s *Scenario, kind tableKind) (*rows, *ddbfake.Snapshot, error) {
	if !isMapped(s) {
		empty, err := emptyTable(ctx, kind)
		return nil, empty, err
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	at := slices.IndexFunc(known.last, func(k knownRows) bool {
		return k.of == s && k.regions == kind.regions && slices.Equal(k.list, s.Rows.Rows)
	})
	if at < 0 {
		m, err := rowmap.New(s.Rows)
		if err != nil {
			return nil, nil, fmt.Errorf("scenario %s: %w", s.Name, err)
		}
		empty, err := emptyTables(ctx, m, kind.regions)
		if err != nil {
			return nil, nil, err
		}
		made := knownRows{s, slices.Clone(s.Rows.Rows), kind.regions, m, empty}
		known.last, at = slices.Insert(known.last[:min(len(known.last), mostKnown-1)], 0, made), 0
	}
	k := &known.last[at]
	return &rows{Mapping: k.rows, translator: k.rows.Translator()}, k.empty, nil
}

func emptyTables(ctx context.Context, m *rowmap.Mapping, regions string) (*ddbfake.Snapshot, error) {
	db := ddbfake.New(ddbfake.Options{})
	tables := m.Tables(hooks.TableName)
	if len(tables) == 0 {
		if err := createTable(ctx, db.As(""), isr.TableInput(hooks.TableName), defaultTTL); err != nil {
			return nil, err
		}
	}
	for _, t := range tables {
		if _, err := db.As("").CreateTable(ctx, t.Create); err != nil {
			return nil, fmt.Errorf("scenario: create the table %s: %w", aws.ToString(t.Create.TableName), err)
		}
		if t.TTL == nil {
			continue
		}
		if _, err := db.As("").UpdateTimeToLive(ctx, t.TTL); err != nil {
			return nil, fmt.Errorf("scenario: enable TTL of %s: %w", aws.ToString(t.Create.TableName), err)
		}
	}
	if err := replicate(ctx, db, regions); err != nil {
		return nil, err
	}
	return db.Snapshot(), nil
}

// changes is the change log in the form that invariants read.
func (w *world) changes() []ddbfake.Change {
	if w.rows != nil {
		return w.rows.log
	}
	return w.db.Changes()
}

// noteOwn notes a change of a row with names of its own.
func (w *world) noteOwn(c *ddbfake.Change) {
	if w.fingerprinter != nil {
		w.fingerprinter.row(*c, false)
	}
	if c.Cause == ddbfake.CauseTTL {
		w.mark(mark.TTLDeletion)
	}
	from := len(w.rows.log)
	w.rows.log = w.rows.translator.Append(w.rows.log, c)
	for i := from; i < len(w.rows.log); i++ {
		to := &w.rows.log[i]
		if w.fingerprinter != nil {
			w.fingerprinter.change(*to)
		}
		w.markChange(to)
		w.noteEnd(to)
		w.noteDeadlines(to.After)
	}
	w.noteFate(c) // TTL deletes a row that is translated to nothing, or to a row without ttl, all the same
}

// noteFate makes time stop at the ttl of a row, whatever its table calls it.
func (w *world) noteFate(c *ddbfake.Change) {
	if due, _ := inside.In(&w.db).FateOf(c); c.After != nil && !due.IsZero() {
		w.addDeadline(due)
	}
}

// byRole reports whether a fault is about a role of rows. That is so if its key is META or LOCK in a world whose rows
// have other keys.
func (w *world) byRole(f ddbfake.Fault) bool {
	return w.rows != nil && (f.Key == isr.SortMeta || f.Key == isr.SortLock)
}

// matches does the same as DB.Matches, also for faults that are about roles of rows.
func (w *world) matches(f ddbfake.Fault, c ddbfake.Call) bool {
	if !w.byRole(f) {
		return inside.In(&w.db).Matches(f, c)
	}
	// If the row is the lock, too, a request that only gives the lock back is not one about the page.
	if in, is := c.Input.(*dynamodb.UpdateItemInput); is && f.Key == isr.SortMeta && !w.rows.Guesses() {
		if _, roles := w.rows.place(in.TableName, in.Key); roles.Has(rowmap.Lock) &&
			!w.rows.Publishes(aws.ToString(in.TableName), in.Key, in.UpdateExpression, in.ExpressionAttributeNames) {
			return false
		}
	}
	return inside.In(&w.db).Matches(f, c)
}

// ofRole says whether a row has the role that the key of a fault names: see byRole.
func (w *world) ofRole(key, table string, row map[string]types.AttributeValue) (is, known bool) {
	role := rowmap.Page
	switch key {
	case isr.SortMeta:
	case isr.SortLock:
		role = rowmap.Lock
	default:
		return false, false
	}
	_, roles := w.rows.place(&table, row)
	return roles.Has(role), true
}

// together says whether two rows of a table are in one page of a Query always, as two rows are that are all there ever
// are: 1 MB has room for them. So are a page's row and its lock. Of locks and calls the rows are not known here, and
// any two may be all.
func (w *world) together(table string, a, b map[string]types.AttributeValue) bool {
	if w.ofLocks || w.ofCalls {
		return true
	}
	one, is := w.pair(table, a)
	other, too := w.pair(table, b)
	return is && too && one == other
}

// pair returns the page to which a row belongs, if it is META or LOCK or has the role of one.
func (w *world) pair(table string, key map[string]types.AttributeValue) (page string, is bool) {
	if w.rows != nil {
		pk, roles := w.rows.place(&table, key)
		return pk, roles.Has(rowmap.Page) || roles.Has(rowmap.Lock)
	}
	row, _ := rowOf(key)
	return row.pk, row.sk == isr.SortMeta || row.sk == isr.SortLock
}

// parts is how many requests of a batch a fault may leave undone, of which the schedule chooses one; 0 if the fault
// says which.
func (f *Fault) parts(input any) (n int) {
	if f.Kind != ddbfake.FaultUnprocessed && !inStatements(f.Kind, input) || f.Key != "" || !f.Maybe {
		return 0
	}
	if batch, ok := input.(*dynamodb.BatchExecuteStatementInput); ok {
		// of any table: the fault leaves nothing undone if it is not about that of the chosen one
		return len(batch.Statements)
	}
	eachRow(input, func(table *string, _ map[string]types.AttributeValue, _ bool) {
		if f.isAbout(table) {
			n++
		}
	})
	return n
}

// inStatements says whether a fault is a conflict of statements of a batch. It leaves a part of the batch undone, as a
// FaultUnprocessed does, and refuses no whole request.
func inStatements(k ddbfake.FaultKind, input any) bool {
	_, is := input.(*dynamodb.BatchExecuteStatementInput)
	return is && k == ddbfake.FaultConflict
}

func (f *Fault) isAbout(table *string) bool {
	return f.Table == "" || nameOfTable(f.Table) == nameOfTable(aws.ToString(table))
}

// leaveUndone has the store leave one request of the next batch undone, the one with that number among those that the
// fault is about: see parts.
func (w *world) leaveUndone(f *Fault, nth int) {
	inside.In(&w.db).Undone(func(table string) bool {
		if !f.isAbout(&table) {
			return false
		}
		nth--
		return nth == -1
	})
}

// tableCreator is the part of a client that createTable needs.
type tableCreator interface {
	CreateTable(
		context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options),
	) (*dynamodb.CreateTableOutput, error)
	UpdateTimeToLive(
		context.Context, *dynamodb.UpdateTimeToLiveInput, ...func(*dynamodb.Options),
	) (*dynamodb.UpdateTimeToLiveOutput, error)
}

// defaultTTL is the attribute by which TTL deletes rows, unless the file names another attribute.
const defaultTTL = "ttl"

func createTable(ctx context.Context, client tableCreator, table *dynamodb.CreateTableInput, ttl string) error {
	if _, err := client.CreateTable(ctx, table); err != nil {
		return fmt.Errorf("scenario: create the table: %w", err)
	}
	if ttl == hooks.NoTTL {
		return nil
	}
	input := isr.TTLInput(hooks.TableName)
	input.TimeToLiveSpecification.AttributeName = &ttl
	if _, err := client.UpdateTimeToLive(ctx, input); err != nil {
		return fmt.Errorf("scenario: enable TTL: %w", err)
	}
	return nil
}

// empty is the store at the beginning of every run, by the kind of its table. If the kind has no like, the table is
// that of package isr. The store is made once in a process, because to restore it takes a third of the time that it
// takes to make it.
var empty struct {
	mu     sync.Mutex
	tables map[tableKind]*ddbfake.Snapshot
}

// tableKind is how a table is created, and its attribute of TTL.
type tableKind struct {
	like    *dynamodb.CreateTableInput
	ttl     string
	regions string // see Scenario.regions; separated by spaces
}

// replicate gives each table a replica in each region except the default region, which has the table already.
func replicate(ctx context.Context, db *ddbfake.DB, regions string) error {
	for _, table := range db.Tables() {
		for _, region := range strings.Fields(regions) {
			if region == ddbfake.DefaultRegion {
				continue
			}
			_, err := db.Client().UpdateTable(ctx,
				&dynamodb.UpdateTableInput{TableName: &table, ReplicaUpdates: []types.ReplicationGroupUpdate{
					{Create: &types.CreateReplicationGroupMemberAction{RegionName: &region}},
				}})
			if err != nil {
				return fmt.Errorf("scenario: replicate the table %s to %s: %w", table, region, err)
			}
		}
	}
	return nil
}

func emptyTable(ctx context.Context, kind tableKind) (*ddbfake.Snapshot, error) {
	empty.mu.Lock()
	defer empty.mu.Unlock()
	if made := empty.tables[kind]; made != nil {
		return made, nil
	}
	input := isr.TableInput(hooks.TableName)
	if kind.like != nil {
		named := *kind.like
		named.TableName = input.TableName
		input = &named
	}
	db := ddbfake.New(ddbfake.Options{})
	if err := createTable(ctx, db.As(""), input, kind.ttl); err != nil {
		return nil, err
	}
	if err := replicate(ctx, db, kind.regions); err != nil {
		return nil, err
	}
	if empty.tables == nil {
		empty.tables = map[tableKind]*ddbfake.Snapshot{}
	}
	made := db.Snapshot()
	empty.tables[kind] = made
	return made, nil
}

// LoadRows reads a file with the single key rows, in the form of scenario files. A mistake in its contents is a
// *SyntaxError.
func LoadRows(file string) (isr.Schema, error) {
	f, err := os.Open(file)
	if err != nil {
		return isr.Schema{}, fmt.Errorf("rows: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return isr.Schema{}, fmt.Errorf("rows: %w", err)
	}
	r := reader{file: file, kind: ofRows}
	var s isr.Schema
	var found yamlNode
	if root := r.open(data); root != nil && !r.foreignKeys(root) {
		r.mapping(root, field{"rows", func(n yamlNode) { found, s = n, r.schema(n) }})
		if found == nil && r.err == nil && !r.cut {
			r.fail(root, "rows: dynamolock", "found no rows, expected some")
		}
	}
	if err := r.failed(); err != nil {
		return isr.Schema{}, err
	}
	return s, nil
}

// rowField is a field of isr.Row, and the key that it has in files.
type rowField struct {
	name string
	of   func(*isr.Row) *string
}

var rowFields = []rowField{
	{"table", func(r *isr.Row) *string { return &r.Table }},
	{"partition", func(r *isr.Row) *string { return &r.Partition }},
	{"sort", func(r *isr.Row) *string { return &r.Sort }},
	{"index", func(r *isr.Row) *string { return &r.Index }},
	{"when", func(r *isr.Row) *string { return &r.When }},
	{"body", func(r *isr.Row) *string { return &r.Body }},
	{"body-key", func(r *isr.Row) *string { return &r.BodyKey }},
	{"generated", func(r *isr.Row) *string { return &r.Generated }},
	{"window", func(r *isr.Row) *string { return &r.Window }},
	{"fresh-until", func(r *isr.Row) *string { return &r.FreshUntil }},
	{"current", func(r *isr.Row) *string { return &r.Current }},
	{"invalidated", func(r *isr.Row) *string { return &r.Invalidated }},
	{"etag", func(r *isr.Row) *string { return &r.ETag }},
	{"version", func(r *isr.Row) *string { return &r.Version }},
	{"token", func(r *isr.Row) *string { return &r.Token }},
	{"expires", func(r *isr.Row) *string { return &r.Expires }},
	{"lasts", func(r *isr.Row) *string { return &r.Lasts }},
	{"renews", func(r *isr.Row) *string { return &r.Renews }},
	{"request-hash", func(r *isr.Row) *string { return &r.RequestHash }},
	{"request-status", func(r *isr.Row) *string { return &r.RequestStatus }},
	{"request-body", func(r *isr.Row) *string { return &r.RequestBody }},
	{"ttl", func(r *isr.Row) *string { return &r.TTL }},
}

// schema reads rows: the name of a ready-made schema, or a list of entries.
func (r *reader) schema(n yamlNode) isr.Schema {
	if r.shape != nil {
		r.ready(n)
		r.describeAlso(func(n yamlNode) { r.list(n, func(n yamlNode) { r.row(n) }) })
		return isr.Schema{}
	}
	if _, isName := oneLine(n); isName {
		return r.ready(n)
	}
	var s isr.Schema
	var places []rowPlace
	r.list(n, func(n yamlNode) {
		row, place, ready := r.row(n)
		if ready == nil {
			s.Rows, places = append(s.Rows, row), append(places, place)
			return
		}
		for i := range ready {
			if ready[i].Table = row.Table; r.err == nil {
				s.Rows, places = append(s.Rows, ready[i]), append(places, place)
			}
		}
	})
	if r.err != nil {
		return s
	}
	if len(s.Rows) == 0 {
		r.fail(n, "leave rows out for META and LOCK", "found no rows, expected at least one")
		return s
	}
	_, err := rowmap.New(s)
	if wrong, ok := errors.AsType[*rowmap.Error](err); ok {
		at, is := places[wrong.Row].fields[wrong.Field]
		if !is {
			at = places[wrong.Row].row
		}
		r.fail(at, wrong.Hint, "%s", wrong.Problem)
	}
	return s
}

// ready reads the name of a ready-made schema.
func (r *reader) ready(n yamlNode) isr.Schema {
	var names []string
	for _, s := range isr.Schemas() {
		names = append(names, s.Name)
	}
	name := r.word(n, "rows", names)
	if r.err != nil {
		return isr.Schema{}
	}
	s, _ := isr.SchemaNamed(name) // there is no error: the name is one of them
	return s
}

// rowPlace is the place of an entry and of its fields in the file.
type rowPlace struct {
	row    yamlNode
	fields map[string]yamlNode
}

// row reads an entry: a row, or the rows of a ready-made schema in a table.
func (r *reader) row(n yamlNode) (row isr.Row, place rowPlace, ready []isr.Row) {
	place = rowPlace{n, map[string]yamlNode{}}
	fields := []field{{"ready", func(n yamlNode) {
		s := r.ready(n)
		place.fields["ready"] = n
		if ready = s.Rows; len(ready) == 0 && r.err == nil {
			r.fail(n, "leave rows out for META and LOCK",
				"found %s, whose rows are not translated, among others", s.Name)
		}
	}}}
	for _, f := range rowFields {
		fields = append(fields, field{f.name, func(n yamlNode) {
			place.fields[f.name] = n
			if *f.of(&row) = r.text(n); r.err == nil && *f.of(&row) == "" {
				r.fail(n, "leave the key out", "found an empty text for %s", f.name)
			}
		}})
	}
	r.mapping(n, fields...)
	if ready != nil && r.err == nil {
		for _, f := range rowFields {
			if at := place.fields[f.name]; at != nil && f.name != "table" {
				r.fail(at, "write the rows out to change them", "found %s beside ready, expected table at most", f.name)
			}
		}
	}
	return row, place, ready
}

// rowsDocument is the form of a schema in a file; nil if no file can hold it.
func rowsDocument(s isr.Schema) any {
	if s.Translate != nil {
		return nil
	}
	if ready, err := isr.SchemaNamed(s.Name); err == nil && reflect.DeepEqual(ready.Rows, s.Rows) {
		return s.Name
	}
	if len(s.Rows) == 0 {
		return nil
	}
	entries := make([]document, len(s.Rows))
	for i := range s.Rows {
		for _, f := range rowFields {
			text := *f.of(&s.Rows[i])
			entries[i].add(f.name, text, text != "")
		}
	}
	return entries
}

// tableNames are the tables of a scenario's rows.
func tableNames(s isr.Schema) []string {
	var names []string
	for i := range s.Rows {
		if name := s.Rows[i].Table; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if names == nil || slices.ContainsFunc(s.Rows, func(r isr.Row) bool { return r.Table == "" }) {
		names = append(names, hooks.TableName)
	}
	return names
}

// oneOf lists alternatives.
func oneOf(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return "one of " + strings.Join(names, ", ")
}
