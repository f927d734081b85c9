package ddbfake

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

// maxTTLAgeSeconds is the maximum age of a ttl. TTL takes an older one for a mistake and ignores it. Years count 365
// days.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/howitworks-ttl.html
const maxTTLAgeSeconds = 5 * 365 * 24 * 3600

// ttlSetting is a table's TimeToLiveSpecification.
type ttlSetting struct {
	attribute string
	enabled   bool
	since     time.Time // when it was enabled
}

// dueOf returns the epoch second that an item's ttl names, or noDue if TTL ignores the ttl. TTL accepts only a
// top-level Number, at most five years in the past. AWS makes no exception for fractions: a row is expired once the
// current time in whole seconds is greater than its ttl.
func (s *ttlSetting) dueOf(record *packed.Record, now time.Time) int64 {
	if !s.enabled {
		return noDue
	}
	due, ok := record.Int(s.attribute)
	if !ok {
		n, isNumber := record.Get(s.attribute).(attr.N)
		whole, _, _ := strings.Cut(n.String(), ".")
		seconds, err := strconv.ParseInt(whole, 10, 64)
		due, ok = seconds, isNumber && err == nil
	}
	if !ok || due < now.Unix()-maxTTLAgeSeconds {
		return noDue
	}
	return due
}

// expired reports whether TTL may delete a row: the current time in whole seconds is greater than the row's ttl, but by
// less than five years.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/howitworks-ttl.html
func (r *row) expired(now time.Time) bool {
	seconds := now.Unix()
	return r.due < seconds && r.due >= seconds-maxTTLAgeSeconds
}

// Row identifies a row, for example one that has expired and is not deleted yet.
type Row struct {
	// Region is the table's region: "" is DefaultRegion. Table is its name.
	Region, Table string
	// Key is the row's key attributes.
	Key attr.Item
	// Due is the second that the row's ttl names. The row is expired from the next second on.
	Due time.Time
}

// Expired returns the rows that TTL may delete now, ordered by due time, then region, table and key. Under LagNever
// there are none. Any other lag only decides when TTL deletes rows by itself, so the result has all expired rows.
func (db *DB) Expired() []Row {
	db.mu.Lock()
	defer db.mu.Unlock()
	now := db.clock.Now()
	db.settle(now)
	return db.expired(now)
}

func (db *DB) expired(now time.Time) []Row {
	if db.lag == LagNever {
		return nil
	}
	type candidate struct {
		table *table
		row   *row
	}
	var found []candidate
	oldest := &row{place: new(place), due: now.Unix() - maxTTLAgeSeconds}
	//isrsim:unordered sorted below
	for _, t := range db.state.tables {
		t.dues.Ascend(oldest, func(r *row) bool {
			if !r.expired(now) {
				return false
			}
			found = append(found, candidate{t, r})
			return true
		})
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.row.due, b.row.due), a.table.compare(b.table), a.row.key.compare(b.row.key))
	})
	rows := make([]Row, len(found))
	for i, c := range found {
		rows[i] = Row{Region: c.table.region, Table: c.table.name, Key: c.table.schema.idOf(c.row),
			Due: time.Unix(c.row.due, 0).UTC()}
	}
	return rows
}

// Sweep makes TTL look at one row now, and reports whether TTL deleted it. Like the service, it checks again: it does
// nothing if the row's ttl was raised, if the row is gone, or if the table's TTL was disabled. Under LagNever it
// deletes nothing.
func (db *DB) Sweep(r Row) bool {
	db.mu.Lock()
	defer db.mu.Unlock()
	now := db.clock.Now()
	db.settle(now)
	return db.sweep(r, now)
}

// SweepExpired sweeps every row of Expired, in that order, and returns how many it deleted.
func (db *DB) SweepExpired() int {
	db.mu.Lock()
	defer db.mu.Unlock()
	now := db.clock.Now()
	db.settle(now)
	n := 0
	for _, r := range db.expired(now) {
		if db.sweep(r, now) {
			n++
		}
	}
	return n
}

func (db *DB) sweep(r Row, now time.Time) bool {
	t := db.state.tables[address(cmp.Or(r.Region, DefaultRegion), r.Table)]
	if t == nil || db.lag == LagNever {
		return false
	}
	key, err := t.schema.ofItem(r.Key)
	if err != nil {
		return false
	}
	current := t.get(key)
	if current == nil || current.due == noDue || !current.expired(now) {
		return false
	}
	db.deleteByTTL(t, current, now)
	return true
}

// expireByLag deletes, in the order (instant, region, table, key), the rows whose lag ended at or before now. It runs
// before each call, so clients see a sweeper that works all the time. The change log shows the instant at which each
// deletion was due. But a row may already be expired when it is written, or when TTL is enabled, so the instant is
// never before that, nor before the log's last change. It stops when a write from another region arrives before the
// next deletion.
func (db *DB) expireByLag(now time.Time) {
	if !db.lag.deletes() {
		return
	}
	var ended []ending
	//isrsim:unordered sorted below
	for _, t := range db.state.tables {
		if now.Unix() >= t.quietUntil {
			ended = t.lagEnded(ended, db.lag, db.seed, now)
		}
	}
	slices.SortFunc(ended, func(a, b ending) int {
		return cmp.Or(a.at.Compare(b.at), a.table.compare(b.table), a.row.key.compare(b.row.key))
	})
	for i, e := range ended {
		if d := db.state.underWay.next(); d != nil && d.at.Before(e.at) {
			for _, later := range ended[i:] {
				later.table.wake()
			}
			return // settle makes that write arrive first
		}
		if e.at.Before(e.table.ttl.since) {
			e.at = e.table.ttl.since
		}
		if last := db.state.log.last(); last != nil && e.at.Before(last.time) {
			e.at = last.time
		}
		db.deleteByTTL(e.table, e.row, e.at)
	}
}

// ending is a row whose lag has ended, and when.
type ending struct {
	table *table
	row   *row
	at    time.Time
}

// lagEnded appends the rows whose lag ended at or before now, and sets quietUntil so that no other lag ends before it.
func (t *table) lagEnded(ended []ending, lag Lag, seed uint64, now time.Time) []ending {
	t.quietUntil = math.MaxInt64
	t.dues.Scan(func(r *row) bool {
		// TTL deletes a row only after the second that its ttl names.
		if r.due >= now.Unix() {
			t.quiet(r.due + 1)
			return false
		}
		at, ok := lag.ends(seed, t, r)
		if !ok {
			return true
		}
		if at.After(now) {
			t.quiet(at.Unix())
			return lag.kind != lagFixed // under a fixed lag rows are deleted in this order
		}
		ended = append(ended, ending{t, r, at})
		return true
	})
	return ended
}

// quiet lowers quietUntil to a second in which a lag may end.
func (t *table) quiet(until int64) { t.quietUntil = min(t.quietUntil, until) }

// wake resets quietUntil: any row may be due.
func (t *table) wake() { t.quietUntil = math.MinInt64 }

func (db *DB) deleteByTTL(t *table, r *row, at time.Time) {
	t.remove(r, nil)
	db.countersOf(t).own.TimeToLiveDeletedItemCount++
	e := logEntry{time: at, sent: at, table: t.tableID, before: r}
	db.record(e)
	if t.members != nil {
		db.replicate(t, r.key, e)
	}
}

// setTTL changes a table's setting and rebuilds the index of its rows.
func (t *table) setTTL(s ttlSetting, now time.Time) {
	t.ttl = s
	t.wake()
	t.dues = newDues()
	var changed []*row
	t.rows.Scan(func(r *row) bool {
		if due := s.dueOf(&r.record, now); due != r.due {
			r = r.image(r.record, r.sizeBytes)
			r.due = due
			changed = append(changed, r)
		}
		if r.due != noDue {
			t.dues.Set(r)
		}
		return true
	})
	for _, r := range changed {
		t.rows.Set(r, nil)
	}
}

// dropAncient removes from dues the rows that were never deleted and whose ttl is now too old.
func (t *table) dropAncient(now time.Time) {
	for {
		r, ok := t.dues.Min()
		if !ok || r.due >= now.Unix()-maxTTLAgeSeconds {
			return
		}
		t.dues.Delete(r)
	}
}

// updateTimeToLive serves UpdateTimeToLive.
//
// All replicas of a global table get the change.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateTimeToLive.html
// Source:
// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-replicas.md#ddb-table-230
//
// Deviation: a change takes effect at once, and the next may follow. The service takes up to an hour, and refuses
// another change meanwhile.
func (db *DB) updateTimeToLive(
	r *request, in *dynamodb.UpdateTimeToLiveInput,
) (*dynamodb.UpdateTimeToLiveOutput, error) {
	name, err := tableName(in.TableName)
	if err != nil {
		return nil, err
	}
	spec := in.TimeToLiveSpecification
	var c constraints
	if spec == nil {
		c.null("timeToLiveSpecification")
	} else {
		if spec.AttributeName == nil {
			c.null("timeToLiveSpecification.attributeName")
		} else if len(*spec.AttributeName) > 255 {
			c.length(*spec.AttributeName, "timeToLiveSpecification.attributeName", "less", 255)
		}
		if spec.Enabled == nil {
			c.null("timeToLiveSpecification.enabled")
		}
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	if *spec.AttributeName == "" {
		return nil, invalid("TimeToLiveSpecification.AttributeName must be non empty")
	}
	t, err := db.describedTable(r, name)
	if err != nil {
		return nil, err
	}
	switch {
	case t.ttl.enabled && t.ttl.attribute != *spec.AttributeName:
		return nil, invalid("TimeToLive is active on a different AttributeName: current AttributeName is %s",
			t.ttl.attribute)
	case t.ttl.enabled && *spec.Enabled:
		return nil, invalid("TimeToLive is already enabled")
	case !t.ttl.enabled && !*spec.Enabled:
		return nil, invalid("TimeToLive is already disabled")
	case t.strong:
		return nil, errTTLOfStrong
	}
	var setting ttlSetting
	if *spec.Enabled {
		setting = ttlSetting{attribute: *spec.AttributeName, enabled: true, since: r.now}
	}
	for _, one := range db.replicas(t) {
		one.setTTL(setting, r.now)
	}
	return &dynamodb.UpdateTimeToLiveOutput{TimeToLiveSpecification: &types.TimeToLiveSpecification{
		AttributeName: aws.String(*spec.AttributeName),
		Enabled:       aws.Bool(*spec.Enabled),
	}}, nil
}

// describeTimeToLive serves DescribeTimeToLive.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeTimeToLive.html
func (db *DB) describeTimeToLive(
	r *request, in *dynamodb.DescribeTimeToLiveInput,
) (*dynamodb.DescribeTimeToLiveOutput, error) {
	name, err := tableName(in.TableName)
	if err != nil {
		return nil, err
	}
	t, err := db.describedTable(r, name)
	if err != nil {
		return nil, err
	}
	d := &types.TimeToLiveDescription{TimeToLiveStatus: types.TimeToLiveStatusDisabled}
	if t.ttl.enabled {
		d.TimeToLiveStatus = types.TimeToLiveStatusEnabled
		d.AttributeName = aws.String(t.ttl.attribute)
	}
	return &dynamodb.DescribeTimeToLiveOutput{TimeToLiveDescription: d}, nil
}

// NextDeletion returns the first instant after a given one at which the lag deletes a row, if nothing else happens
// before then; false if there is none. A simulator stops time at this instant, because requests just before and just
// after it see different rows. It looks at every row that has a ttl.
func (db *DB) NextDeletion(after time.Time) (next time.Time, ok bool) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.settle(db.clock.Now())
	if !db.lag.deletes() {
		return time.Time{}, false
	}
	//isrsim:unordered a minimum has no order
	for _, t := range db.state.tables {
		t.dues.Scan(func(r *row) bool {
			lag, deleted := db.lag.of(db.seed, t, r)
			if !deleted || lag > (maxTTLAgeSeconds-1)*time.Second || r.due > latestDue {
				return true // by then its ttl is too old, or beyond what clocks show
			}
			// TTL deletes a row only after the second that its ttl names.
			if at := time.Unix(r.due, 0).UTC().Add(lag + time.Second); at.After(after) && (!ok || at.Before(next)) {
				next, ok = at, true
			}
			return true
		})
	}
	return next, ok
}

// latestDue is the last second that NextDeletion looks at: the end of year 9999.
const latestDue = 253402300799
