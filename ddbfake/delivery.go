package ddbfake

import (
	"cmp"
	"slices"
	"time"

	"github.com/tidwall/btree"
)

// SetRegionLag changes how long a write of a global table takes to reach each other region. Each row travels by itself,
// even within one transaction. New and Reset set LagAtOnce: all regions are then equal. Under LagManual writes arrive
// by Replicate only, and under LagNever not at all: the regions are cut off from each other. LagPerItem takes the lag
// from an attribute of the row that is written or deleted.
//
// Writes that are due under the former lag arrive first. Those that are still under way then arrive by the new lag.
func (db *DB) SetRegionLag(l Lag) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.settle(db.clock.Now())
	db.regionLag = l
	db.retime()
}

// RegionLag returns the argument of the latest SetRegionLag; before that, LagAtOnce.
func (db *DB) RegionLag() Lag {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.regionLag
}

// Replicate makes all writes that are under way to other regions arrive now, in the order in which they were made, and
// returns the number of rows that changed. Under LagNever it does nothing.
func (db *DB) Replicate() int {
	db.mu.Lock()
	defer db.mu.Unlock()
	now := db.clock.Now()
	db.settle(now)
	changed := 0
	for _, d := range db.state.underWay.inOrder() {
		if db.regionLag != LagNever && db.arrive(d, now) {
			changed++
		}
	}
	return changed
}

// delivery is a write of a row that is under way to another region. It never changes, so snapshots share it.
//
// The last writer wins, by the order in which the writes were made. A write that is made in a region, or arrives there,
// ends every older delivery to the same row. So a delivery that is under way to a row is always younger than the row,
// and no row needs the time at which it was written.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html
//
// Deviation: the clocks of all regions agree, and of two writes at the same time the later call wins. AWS does not say
// what happens then.
type delivery struct {
	to      string // the region
	table   string
	key     primaryKey
	after   *row      // nil for a deletion
	lags    *row      // the row that decides the lag
	number  int       // its place in the order of writes
	written time.Time // when it was made
	sent    time.Time // when its caller made the call
	actor   string    // the caller, "" for TTL
	at      time.Time // when it arrives; zero if the passing of time does not bring it
}

// underWay holds the deliveries: byTime those with a time, in order of time, and byRow all of them, in order of their
// rows. It is empty until a row of a global table is written.
type underWay struct {
	byTime, byRow *btree.BTreeG[*delivery]
	numbers       int
}

func (d *delivery) compareOrder(other *delivery) int {
	return cmp.Or(cmp.Compare(d.number, other.number), cmp.Compare(d.to, other.to))
}

func sooner(a, b *delivery) bool { return cmp.Or(a.at.Compare(b.at), a.compareOrder(b)) < 0 }

func (d *delivery) compareRow(other *delivery) int {
	return cmp.Or(cmp.Compare(d.to, other.to), cmp.Compare(d.table, other.table), d.key.compare(other.key))
}

func lessByRow(a, b *delivery) bool {
	return cmp.Or(a.compareRow(b), cmp.Compare(a.number, b.number)) < 0
}

func (u *underWay) copy() underWay {
	c := *u
	if u.byRow != nil {
		c.byTime, c.byRow = u.byTime.Copy(), u.byRow.Copy()
	}
	return c
}

func (u *underWay) add(d *delivery) {
	if u.byRow == nil {
		u.byTime = btree.NewBTreeGOptions(sooner, btree.Options{NoLocks: true})
		u.byRow = btree.NewBTreeGOptions(lessByRow, btree.Options{NoLocks: true})
	}
	u.byRow.Set(d)
	if !d.at.IsZero() {
		u.byTime.Set(d)
	}
}

func (u *underWay) remove(d *delivery) {
	u.byRow.Delete(d)
	u.byTime.Delete(d)
}

// next returns the earliest delivery that has a time, or nil.
func (u *underWay) next() *delivery {
	if u.byTime == nil {
		return nil
	}
	d, _ := u.byTime.Min()
	return d
}

// inOrder returns all deliveries, in the order in which the writes were made.
func (u *underWay) inOrder() []*delivery {
	if u.byRow == nil {
		return nil
	}
	all := u.byRow.Items()
	slices.SortFunc(all, (*delivery).compareOrder)
	return all
}

// outlive removes d, and all older deliveries to the same row.
func (u *underWay) outlive(d *delivery) {
	if u.byRow == nil {
		return
	}
	var older []*delivery
	u.byRow.Ascend(&delivery{to: d.to, table: d.table, key: d.key}, func(other *delivery) bool {
		if d.compareRow(other) != 0 || other.number > d.number {
			return false
		}
		older = append(older, other)
		return true
	})
	for _, other := range older {
		u.remove(other)
	}
}

// alsoTo copies the deliveries to a table for its new replica in another region.
func (u *underWay) alsoTo(t *table, region string) {
	for _, d := range u.inOrder() {
		if d.to == t.region && d.table == t.name {
			other := *d
			other.to = region
			u.add(&other)
		}
	}
}

// abandon removes the deliveries to a deleted table.
func (u *underWay) abandon(t *table) {
	for _, d := range u.inOrder() {
		if d.to == t.region && d.table == t.name {
			u.remove(d)
		}
	}
}

// replicate sends a write of a row to the other regions of its table. If the table is strongly consistent, the write
// arrives there before it is answered. The entry e of the change log has its actor and time. A write that leaves the
// row as it was still counts as the last write.
func (db *DB) replicate(t *table, key primaryKey, e logEntry) {
	u := &db.state.underWay
	u.numbers++
	lags := cmp.Or(e.after, e.before)
	if lags == nil {
		lags = &row{place: &place{key: key}, due: noDue}
	}
	d := delivery{
		to: t.region, table: t.name, key: key, after: e.after, lags: lags, number: u.numbers,
		written: e.time, sent: e.sent, actor: e.actor,
	}
	u.outlive(&d)
	for _, m := range t.members {
		if m.region == t.region {
			continue
		}
		one := d
		one.to = m.region
		if t.strong {
			db.takeIn(&one, e.time)
			continue
		}
		one.at = db.arrival(&one)
		u.add(&one)
	}
}

// arrival returns when a delivery arrives; zero if it has no time.
func (db *DB) arrival(d *delivery) time.Time {
	const odd = 0x9e3779b97f4a7c15 // each write of a row has a lag of its own
	to := db.state.tables[address(d.to, d.table)]
	if to == nil {
		return time.Time{}
	}
	lag, ok := db.regionLag.of(db.seed^uint64(d.number)*odd, to, d.lags)
	if !ok {
		return time.Time{}
	}
	return d.written.Add(lag)
}

// retime recomputes the times of all deliveries for the present lag.
func (db *DB) retime() {
	u := &db.state.underWay
	for _, d := range u.inOrder() {
		u.remove(d)
		timed := *d
		timed.at = db.arrival(d)
		u.add(&timed)
	}
}

// arrive makes a delivery take effect, and reports whether that changed the row. It evaluates no condition: the region
// of the write has done that.
//
// Deviation: a write that arrives takes no units and is in no metric.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html
func (db *DB) arrive(d *delivery, at time.Time) bool {
	u := &db.state.underWay
	if _, there := u.byRow.Get(d); !there {
		return false // a younger write has come
	}
	u.outlive(d)
	return db.takeIn(d, at)
}

// takeIn writes a delivery into its region, and reports whether that changed the row.
func (db *DB) takeIn(d *delivery, at time.Time) bool {
	w := write{found: found{table: db.state.tables[address(d.to, d.table)]}}
	w.look(d.key)
	w.after = w.row
	if d.after == nil {
		w.after = nil
	} else {
		w.replace(&d.after.record, d.after.sizeBytes)
	}
	if last := db.state.log.last(); last != nil && at.Before(last.time) {
		at = last.time
	}
	return db.store(&w, logEntry{
		request: replicated, time: at, sent: d.sent, actor: d.actor, table: w.table.tableID,
		before: w.row, after: w.after,
	})
}

// settle does everything that is due by now, in order of time: TTL deletes the rows whose lag has ended, and deliveries
// arrive in other regions. A deletion by TTL in one region is then under way to the other regions.
func (db *DB) settle(now time.Time) {
	u := &db.state.underWay
	for {
		d := u.next()
		if d == nil || d.at.After(now) {
			db.expireByLag(now)
			if d = u.next(); d == nil || d.at.After(now) {
				return
			}
			continue
		}
		db.expireByLag(d.at)
		if u.next() == d { // otherwise TTL has deleted the row and removed d
			db.arrive(d, d.at)
		}
	}
}

// UnderWay returns the writes that are under way to other regions, as the change log shows them once they have arrived,
// except for three fields: Before is nil; Seq is the number of the write among the writes to global tables; Time is
// when the write arrives by itself, or zero. Writes to the same row are adjacent, oldest first. For a deletion that
// found no row, Key is nil.
//
// A simulator delivers one of them as a step, and stops time where others arrive by themselves.
func (db *DB) UnderWay() []Change {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.settle(db.clock.Now())
	u := &db.state.underWay
	if u.byRow == nil || u.byRow.Len() == 0 {
		return nil
	}
	all := make([]Change, 0, u.byRow.Len())
	u.byRow.Scan(func(d *delivery) bool {
		c := Change{
			Seq: d.number, Time: d.at, Sent: d.sent, Actor: d.actor, Cause: CauseReplica, Region: d.to, Table: d.table,
			After: itemOf(d.after),
		}
		if t := db.state.tables[address(d.to, d.table)]; t != nil {
			if key := t.schema.idOf(d.lags); key[t.schema.hash.Name] != nil {
				c.Key = key
			}
		}
		all = append(all, c)
		return true
	})
	return all
}

// Sent returns the number of writes to global tables. The number of a write decides its random lag.
func (db *DB) Sent() int {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.state.underWay.numbers
}

// Deliver makes one of the writes of UnderWay arrive now, and reports whether that changed the row. Under LagNever
// nothing arrives.
func (db *DB) Deliver(c Change) bool {
	db.mu.Lock()
	defer db.mu.Unlock()
	now := db.clock.Now()
	db.settle(now)
	if db.regionLag == LagNever {
		return false
	}
	all := db.state.underWay.inOrder()
	i := slices.IndexFunc(all, func(d *delivery) bool { return d.number == c.Seq && d.to == c.Region })
	return i >= 0 && db.arrive(all[i], now)
}
