package scenario

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/internal/rowmap"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// rows is what a world knows of rows whose names are their own. Nil is META and LOCK.
type rows struct {
	*rowmap.Mapping
	translator *rowmap.Translator
	log        []ddbfake.Change // translated
}

// mapping is the mapping, nil for nil.
func (r *rows) mapping() *rowmap.Mapping {
	if r == nil {
		return nil
	}
	return r.Mapping
}

// place is what a row is, and the partition of its translated rows.
func (r *rows) place(table *string, key map[string]types.AttributeValue) (pk string, roles rowmap.Roles) {
	return r.translator.Place(aws.ToString(table), key)
}

// say puts the cache's own names into a sentence.
func (r *rows) say(text string) string { return r.mapping().Say(text) }

// fit sets Misfit, and has a run be unknown whose violation is one of rows that were not read.
func (r *rows) fit(o *Outcome) {
	if r == nil {
		return
	}
	if o.Misfit = r.translator.Misfit(); o.Misfit != "" && o.Verdict != invariant.OK {
		o.Verdict, o.Why, o.Violation, o.Broken = invariant.Unknown, o.Misfit, nil, nil
	}
}

// known is the mapping and the empty tables of the scenario that ran last. To make them costs as much as a short run.
var known struct {
	mu    sync.Mutex
	of    *Scenario
	list  []isr.Row // of the scenario, as it was then
	rows  *rowmap.Mapping
	empty *ddbfake.Snapshot
}

// tablesOf returns the rows of a scenario's world, and its store as it is at the beginning.
func tablesOf(ctx context.Context, s *Scenario, like *dynamodb.CreateTableInput) (*rows, *ddbfake.Snapshot, error) {
	if len(s.Rows.Rows) == 0 && s.Rows.Translate == nil {
		empty, err := emptyTable(ctx, like)
		return nil, empty, err
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	if known.of != s || !slices.Equal(known.list, s.Rows.Rows) {
		m, err := rowmap.New(s.Rows)
		if err != nil {
			return nil, nil, fmt.Errorf("scenario %s: %w", s.Name, err)
		}
		empty, err := emptyTables(ctx, m)
		if err != nil {
			return nil, nil, err
		}
		known.of, known.list, known.rows, known.empty = s, slices.Clone(s.Rows.Rows), m, empty
	}
	return &rows{Mapping: known.rows, translator: known.rows.Translator()}, known.empty, nil
}

func emptyTables(ctx context.Context, m *rowmap.Mapping) (*ddbfake.Snapshot, error) {
	db := ddbfake.New(ddbfake.Options{})
	tables := m.Tables(TableName)
	if len(tables) == 0 {
		if err := createTable(ctx, db.As(""), isr.TableInput(TableName)); err != nil {
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
	return db.Snapshot(), nil
}

// changes is the change log as invariants read it.
func (w *world) changes() []ddbfake.Change {
	if w.rows != nil {
		return w.rows.log
	}
	return w.db.Changes()
}

// noteOwn takes in a change of a row with names of its own.
func (w *world) noteOwn(c *ddbfake.Change) {
	if w.fingerprinter != nil {
		w.fingerprinter.row(*c)
	}
	if c.Cause == ddbfake.CauseTTL {
		w.mark(TTLDeletion)
	}
	from := len(w.rows.log)
	w.rows.log = w.rows.translator.Append(w.rows.log, c)
	for i := from; i < len(w.rows.log); i++ {
		to := &w.rows.log[i]
		if w.fingerprinter != nil {
			w.fingerprinter.change(*to)
		}
		w.markChange(to)
		w.noteDeadlines(to.After)
	}
}

// noteDeadlines has time stop at the deadlines of a translated row.
func (w *world) noteDeadlines(row attr.Item) {
	step := w.rows.Resolution()
	add := func(t time.Time, known bool) {
		switch {
		case !known || t.Unix() < 1 || t.Unix() > latest:
		case step >= time.Second:
			w.deadlines.add(t.Unix())
		default:
			w.deadlines.addFine(t, step)
		}
	}
	add(rowmap.Instant(row, "lease_expires_at"))
	add(rowmap.Instant(row, "ttl"))
	until, ends := rowmap.Instant(row, "fresh_until")
	generated, known := rowmap.Instant(row, "generated_at")
	window, isWindow := rowmap.Instant(row, "revalidate_seconds")
	switch {
	case ends:
		add(until, true)
	case known && isWindow:
		add(generated.Add(window.Sub(time.Unix(0, 0))), true)
	case known:
		add(generated.Add(w.scenario.Cache.Revalidate), true)
	}
}

// addFine adds a deadline of rows whose times are finer than seconds: a second before it, the smallest step before it,
// the deadline, and a second after it.
func (d *deadlines) addFine(t time.Time, step time.Duration) {
	for _, stop := range []time.Time{t.Add(-time.Second), t.Add(-step), t, t.Add(time.Second)} {
		at := stop.UnixNano()
		if i, exists := slices.BinarySearch(d.fine, at); !exists {
			d.fine = slices.Insert(d.fine, i, at)
		}
	}
}

// byRole reports whether a fault is about a role of rows: its key is META or LOCK, where no row has that key.
func (w *world) byRole(f ddbfake.Fault) bool {
	return w.rows != nil && (f.Key == isr.SortMeta || f.Key == isr.SortLock)
}

// matches is DB.Matches for faults of any rows.
func (w *world) matches(f ddbfake.Fault, c ddbfake.Call) bool {
	if !w.byRole(f) {
		return w.db.Matches(f, c)
	}
	role := rowmap.Page
	if f.Key == isr.SortLock {
		role = rowmap.Lock
	}
	f.Key = ""
	if !w.db.Matches(f, c) {
		return false
	}
	found := false
	eachRow(c.Input, func(table *string, key map[string]types.AttributeValue, _ bool) {
		_, roles := w.rows.place(table, key)
		found = found || roles.Has(role)
	})
	return found
}

// markOwn is markCall for rows with names of their own.
func (w *world) markOwn(r *storeRequest, changed int) {
	row, refused := pagecache.Refused(r.err)
	isRequest := func(table *string, key map[string]types.AttributeValue) bool {
		_, roles := w.rows.place(table, key)
		return roles.Has(rowmap.Request)
	}
	switch in := r.call.Input.(type) {
	case *dynamodb.GetItemInput:
		out, ok := r.out.(*dynamodb.GetItemOutput)
		if ok && w.ownExpired(out.Item) {
			w.mark(ExpiredRowRead)
		}
		if ok && out.Item != nil && isRequest(in.TableName, in.Key) && !r.node.asked {
			w.mark(RequestRepeated)
		}
	case *dynamodb.QueryInput:
		if out, ok := r.out.(*dynamodb.QueryOutput); ok && slices.ContainsFunc(out.Items, w.ownExpired) {
			w.mark(ExpiredRowRead)
		}
	case *dynamodb.PutItemInput:
		if isRequest(in.TableName, in.Item) {
			if refused && r.attempt == 1 && !r.twice && !r.node.asked {
				w.mark(RequestRepeated)
			}
			r.node.asked = r.node.asked || changed > 0
			return
		}
		if !refused {
			return
		}
		if w.metOwn(r, row, w.rows.Token) {
			w.mark(OwnCommitMet)
			return
		}
		w.markRefused(in.TableName, in.Item, w.rows.Writes(aws.ToString(in.TableName), in.Item, nil, nil))
	case *dynamodb.UpdateItemInput:
		if refused {
			w.markRefused(in.TableName, in.Key, w.rows.Writes(aws.ToString(in.TableName), in.Key, in.UpdateExpression, in.ExpressionAttributeNames))
		}
	case *dynamodb.TransactWriteItemsInput:
		if refused {
			w.mark(PublishRefused)
		}
	}
}

// markRefused notes that a write was refused which would have set a page or a lock. A write that sets both is a publish.
// Where a function reads the rows, it is not known what the write sets: of a row that may be both, it counts as both.
func (w *world) markRefused(table *string, key map[string]types.AttributeValue, sets rowmap.Roles) {
	_, roles := w.rows.place(table, key)
	switch {
	case sets == 0 && w.rows.Guesses() && roles.Has(rowmap.Page|rowmap.Lock):
		w.mark(PublishRefused)
		w.mark(LockRefused)
	case sets == 0 && w.rows.Guesses():
		w.markRefusedRole(roles)
	default:
		w.markRefusedRole(sets)
	}
}

func (w *world) markRefusedRole(sets rowmap.Roles) {
	switch {
	case sets.Has(rowmap.Page):
		w.mark(PublishRefused)
	case sets.Has(rowmap.Lock):
		w.mark(LockRefused)
	}
}

// ownExpired is isExpired for rows with names of their own.
func (w *world) ownExpired(row map[string]types.AttributeValue) bool {
	ttl, ok := w.rows.TTL(row).(*types.AttributeValueMemberN)
	if !ok {
		return false
	}
	expires, err := strconv.ParseInt(ttl.Value, 10, 64)
	return err == nil && expires < w.clock.Now().Unix()
}
