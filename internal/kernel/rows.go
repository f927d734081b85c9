package kernel

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/internal/trace/request"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// rows is a world's mapping of rows with the cache's own names. Nil means the rows META and LOCK.
type rows struct {
	*rowmap.Mapping
	translator *rowmap.Translator
	log        []ddbfake.Change // translated
}

// isMapped reports whether rows have the cache's own names.
func isMapped(s *spec.Scenario) bool { return len(s.Rows.Rows) > 0 || s.Rows.Translate != nil }

// mapping returns the mapping; nil if r is nil.
func (r *rows) mapping() *rowmap.Mapping {
	if r == nil {
		return nil
	}
	return r.Mapping
}

// place returns a row's roles, and the partition of its translated rows.
func (r *rows) place(table *string, key map[string]types.AttributeValue) (pk string, roles rowmap.Roles) {
	if r == nil {
		return (*rowmap.Translator)(nil).Place(aws.ToString(table), key)
	}
	return r.translator.Place(aws.ToString(table), key)
}

// say puts the cache's own names of rows into a sentence.
func (r *rows) say(text string) string { return r.mapping().Say(text) }

// ofLeases are the invariants that find fault with a log without leases.
var ofLeases = []string{"stale-writer", "expired-publish", "lock-theft", "atomic-publish", "single-flight"}

// unlocked says why a mapping does not suffice for an invariant: its lock may be among the rows without a meaning. The
// text is empty if the mapping suffices.
func (r *rows) unlocked(invariant string) string {
	if r == nil || !slices.Contains(ofLeases, invariant) {
		return ""
	}
	return r.translator.Unlocked()
}

// fit sets Misfit and Pageless. A violation that rests on unread rows makes the run unknown. One that may rest on times
// in the wrong unit says so.
func (w *world) fit(o *Outcome) {
	r := w.rows
	var rests bool
	if r == nil {
		o.Misfit = rowmap.Unnamed(w.db.Changes())
		rests = o.Violation != nil && o.Violation.Invariant.OnRows
	} else {
		o.Misfit, o.Pageless = r.translator.Misfit(), r.translator.Pageless()
		rests = o.Verdict != invariant.OK
	}
	if o.Misfit != "" && rests {
		o.unfounded()
	}
	if r == nil {
		return
	}
	if misread, hint := r.translator.Misread(); misread != "" && o.Violation != nil {
		o.Violation.Why += " (" + misread + ")\n" + hint
	}
}

// tableless sets Misfit if nothing was written, and a request named a table that the world lacks, or has only in
// another region. Then a failure is no evidence against the code, so a violation makes the run unknown. The code may
// hide the error, so the missing table counts as the cause only if clients were told of it, or if no request had
// another answer.
func (w *world) tableless(o *Outcome) {
	const code = "ResourceNotFoundException"
	absent := func(a answered) bool { return a.err != nil && strings.Contains(a.err.Error(), code) }
	at := slices.IndexFunc(w.answers, absent)
	if len(w.db.Changes()) > 0 || at < 0 {
		return
	}
	told := func(e history.Event) bool { return strings.Contains(e.Note, code) }
	others := slices.ContainsFunc(w.answers, func(a answered) bool { return !absent(a) })
	if others && !slices.ContainsFunc(w.history.Events(), told) {
		return
	}
	table, region, tables := request.TableOf(w.answers[at].in), w.answers[at].region, w.db.Tables()
	what, asked, has := "was about a table that is not there", table, strings.Join(tables, ", ")
	hint := "use the table that a node is given, or name yours: Rows, or in a file `rows` with `table` " +
		"(docs/SCENARIOS.md, Rows of your own)"
	if region != ddbfake.DefaultRegion && slices.Contains(tables, request.TableName(table)) {
		what, asked, has = "went to another region", table+" in "+region, has+" in "+ddbfake.DefaultRegion
		hint = "leave the region of the client that a node is given as it is, or give actors a `region` " +
			"(docs/SCENARIOS.md#regions)"
	}
	o.Tableless, o.Misfit = true, fmt.Sprintf("nothing was written, and a request %s (%s): it asked for the table "+
		"%s; the world has %s\nhint: %s", what, code, cmp.Or(asked, "of a batch"), has, hint)
	if o.Verdict != invariant.OK {
		o.unfounded()
	}
}

// unfounded makes the run unknown, because of its Misfit.
func (o *Outcome) unfounded() {
	o.Verdict, o.Why, o.Doubtful = invariant.Unknown, o.Misfit, nil
	if v := o.Violation; v != nil && o.Tableless { // it shows what the code did without a table
		o.Why, o.Doubtful = fmt.Sprintf("%s\n%s: %s", o.Misfit, v.Invariant.Name, v.Why), v.Lines
	}
	o.Violation, o.Broken, o.Harm = nil, nil, 0
}

// known are the mappings and the empty tables of the scenarios that ran last, the latest one first. Making them takes
// as long as a short run.
var known struct {
	mu   sync.Mutex
	last []knownRows
}

// mostKnown is how many scenarios with their own rows may run side by side without making the tables again.
const mostKnown = 4

type knownRows struct {
	of      *spec.Scenario
	list    []isr.Row // the rows that the scenario had then
	regions string    // as in tableKind
	rows    *rowmap.Mapping
	empty   *ddbfake.Snapshot
}

// tablesOf returns the rows of a scenario's world, and the world's store at the beginning.
func tablesOf(ctx context.Context, s *spec.Scenario, kind tableKind) (*rows, *ddbfake.Snapshot, error) {
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

// Changes is the change log in the form that invariants read.
func (w *world) Changes() []ddbfake.Change {
	if w.rows != nil {
		return w.rows.log
	}
	return w.db.Changes()
}

// noteOwn notes a change of a row with the cache's own names.
func (w *world) noteOwn(c *ddbfake.Change) {
	if w.fingerprinter != nil {
		w.fingerprinter.row(*c, false)
	}
	if c.Cause == ddbfake.CauseTTL {
		w.Mark(mark.TTLDeletion)
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
	w.noteFate(c) // TTL also deletes a row whose translation is empty, or has no ttl
}

// noteFate makes time stop at the ttl of a row, whatever its table calls it.
func (w *world) noteFate(c *ddbfake.Change) {
	if due, _ := w.db.Fate(ddbfake.Row{Region: c.Region, Table: c.Table, Key: c.Key}); c.After != nil && !due.IsZero() {
		w.addDeadline(due)
	}
}

// byRole reports whether a fault names a role of rows: its key is that of a page or a lock, but the world's rows have
// other keys.
func (w *world) byRole(f ddbfake.Fault) bool {
	return w.rows != nil && rowmap.RoleOf(f.Key)&(rowmap.Page|rowmap.Lock) != 0
}

// matches does the same as DB.Matches, and knows faults that name roles of rows, too.
func (w *world) matches(f ddbfake.Fault, c ddbfake.Call) bool {
	if !w.byRole(f) {
		return w.db.Matches(f, c)
	}
	// If the row is also the lock, a request that only releases the lock does not concern the page.
	if in, is := c.Input.(*dynamodb.UpdateItemInput); is && rowmap.RoleOf(f.Key) == rowmap.Page && !w.rows.Guesses() {
		if _, roles := w.rows.place(in.TableName, in.Key); roles.Has(rowmap.Lock) &&
			!w.rows.Publishes(aws.ToString(in.TableName), in.Key, in.UpdateExpression, in.ExpressionAttributeNames) {
			return false
		}
	}
	return w.db.Matches(f, c)
}

// ofRole says whether a row has the role that the key of a fault names: see byRole.
func (w *world) ofRole(key, table string, row map[string]types.AttributeValue) (is, known bool) {
	role := rowmap.RoleOf(key) & (rowmap.Page | rowmap.Lock)
	if role == 0 {
		return false, false
	}
	_, roles := w.rows.place(&table, row)
	return roles.Has(role), true
}

// together says whether two rows of a table are always in one page of a Query: a page's row and its lock are, because 1
// MB has room for both. If rows are not judged, any two rows may be such a pair.
func (w *world) together(table string, a, b map[string]types.AttributeValue) bool {
	if !w.by.Rows {
		return true
	}
	one, is := w.rows.place(&table, a)
	other, too := w.rows.place(&table, b)
	return is&(rowmap.Page|rowmap.Lock) != 0 && too&(rowmap.Page|rowmap.Lock) != 0 && one == other
}

// partsOfBatch returns how many requests of a batch a fault may leave undone; the schedule chooses one of them. It is 0
// if the fault itself says which.
func partsOfBatch(f *spec.Fault, input any) (n int) {
	if f.Kind != ddbfake.FaultUnprocessed && !inStatements(f.Kind, input) || f.Key != "" || !f.Maybe {
		return 0
	}
	if batch, ok := input.(*dynamodb.BatchExecuteStatementInput); ok {
		// statements on all tables count: if the fault names another table than the chosen statement's, it has no
		// effect
		return len(batch.Statements)
	}
	request.EachRow(input, func(table *string, _ map[string]types.AttributeValue, _ bool) {
		if isAbout(f, table) {
			n++
		}
	})
	return n
}

// inStatements reports whether a fault is a conflict in a batch of statements. It leaves a part of the batch undone, as
// a FaultUnprocessed does, and refuses no whole request.
func inStatements(k ddbfake.FaultKind, input any) bool {
	_, is := input.(*dynamodb.BatchExecuteStatementInput)
	return is && k == ddbfake.FaultConflict
}

func isAbout(f *spec.Fault, table *string) bool {
	return f.Table == "" || request.TableName(f.Table) == request.TableName(aws.ToString(table))
}

// leavesUndone returns a function that picks the one request of a batch to leave undone: the nth, from 0, of those that
// the fault concerns (see partsOfBatch).
func leavesUndone(f *spec.Fault, nth int) func(table string) bool {
	return func(table string) bool {
		if !isAbout(f, &table) {
			return false
		}
		nth--
		return nth == -1
	}
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

// empty is the store at the beginning of every run, by the kind of its table. A kind whose field like is nil has the
// table of package isr. The store is made once in a process: restoring it takes a third of the time that making it
// takes.
var empty struct {
	mu     sync.Mutex
	tables map[tableKind]*ddbfake.Snapshot
}

// tableKind is how a table is created, and its attribute of TTL.
type tableKind struct {
	like    *dynamodb.CreateTableInput
	ttl     string
	regions string // see Scenario.Regions; separated by spaces
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
