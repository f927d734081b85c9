package live

import (
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// ownRows translates the cache's own rows.
type ownRows struct {
	*rowmap.Mapping
	translator *rowmap.Translator
	sources    map[int]tableName // the tables of the changes of one request, by the numbers of the changes
	request    []ddbfake.Change  // the request as it was written
}

// wrongRows is reported instead of all invariants if Options.Rows is wrong.
var wrongRows = invariant.Invariant{Name: "the rows", Statement: "Options.Rows says which rows are pages and locks"}

func (r *ownRows) mapping() *rowmap.Mapping {
	if r == nil {
		return nil
	}
	return r.Mapping
}

// translate translates a request into changes of META and LOCK, and notes the tables of these rows.
func (c *Checker) translate(request []ddbfake.Change) []ddbfake.Change {
	c.rows.sources, c.rows.request = map[int]tableName{}, request
	var all []ddbfake.Change
	for i := range request {
		c.rows.sources[request[i].Seq] = tableName{request[i].Region, request[i].Table}
		n := len(all)
		if all = c.rows.translator.Append(all, &request[i]); len(all) > n {
			c.belongs(c.table(&request[i]))
		}
	}
	for i := range all {
		of := tableName{all[i].Region, all[i].Table}
		t := c.tables[of]
		if t == nil {
			t = &table{tableName: of, clocks: map[string]bool{}, translated: true}
			c.tables[of] = t
		}
		sk, _ := all[i].Key.Str("sk")
		t.hasLocks = t.hasLocks || sk == "LOCK" && (isLease(all[i].Before) || isLease(all[i].After))
	}
	return all
}

// isLease reports whether a mapping has found the holder and the end of a lease in a row.
func isLease(row attr.Item) bool { return row["lease_token"] != nil && row["lease_expires_at"] != nil }

// shown returns the given changes of the present request as they were written.
func (c *Checker) shown(changes []ddbfake.Change) []ddbfake.Change {
	if c.rows == nil {
		return slices.Clone(changes)
	}
	return slices.DeleteFunc(slices.Clone(c.rows.request), func(w ddbfake.Change) bool {
		return !slices.ContainsFunc(changes, func(t ddbfake.Change) bool { return t.Seq == w.Seq })
	})
}

// entries counts the entries of the log from which the changes come.
func entries(changes []ddbfake.Change) (n int) {
	for i := range changes {
		if i == 0 || changes[i].Seq != changes[i-1].Seq {
			n++
		}
	}
	return n
}

// place names a table for use in a sentence.
func (t *table) place() string {
	if t.translated && t.name == "" {
		return "the tables of the cache"
	}
	return "table " + t.name
}

// translated returns a log in the form that invariants read.
func (c *Checker) translated(log []ddbfake.Change) []ddbfake.Change {
	if c.rows == nil {
		return log
	}
	return c.rows.Log(log)
}

// countSource counts a judged change for the table in which it was made, if its translation belongs to another one.
func (c *Checker) countSource(seq int) {
	if c.rows == nil {
		return
	}
	if t := c.tables[c.rows.sources[seq]]; t != nil {
		t.judged++
	}
}

// belongs notes that a table has rows of the cache. Until then, it did not matter how often the table was created
// again.
func (c *Checker) belongs(t *table) {
	if !t.source {
		t.source, t.created = true, 0
	}
}

// created is how often a table was created again. If t stands for all tables of one cache, it is the sum over these
// tables.
func (c *Checker) created(t *table) (times int) {
	if !t.translated {
		return t.created
	}
	//isrsim:unordered a sum has no order
	for _, other := range c.tables {
		if other.region == t.region && other.source {
			times += other.created
		}
	}
	return times
}

// loader is the actor of loaded rows for the watchers: no client has this name, so no client holds a loaded lock.
const loader = "a load"

// unknownHolder is reported if a client changes a loaded lock as only its holder may.
var unknownHolder = invariant.Invariant{Name: "the holder", Statement: "the log shows who holds a lock"}

type lockOf struct{ region, table, pk string }

// byLoader notes the locks that were written by a DB.Load or by the restore of a backup. It returns the request with
// the actor loader.
func (c *Checker) byLoader(request []ddbfake.Change) []ddbfake.Change {
	request = slices.Clone(request)
	for i := range request {
		request[i].Actor = loader
		if of, is := lockIn(&request[i]); is && request[i].After != nil {
			c.loaded[of] = true
		}
	}
	return request
}

func lockIn(c *ddbfake.Change) (of lockOf, is bool) {
	pk, _ := c.Key.Str("pk")
	sk, _ := c.Key.Str("sk")
	return lockOf{c.Region, c.Table, pk}, sk == "LOCK"
}

// adopt looks for loaded locks that a client's request gives back or extends. The log does not show whether the client
// is the holder, which is a doubt. From then on the client counts as the holder: adopt returns requests by which the
// client would have taken these locks.
func (c *Checker) adopt(request []ddbfake.Change, judge bool) (taken [][]ddbfake.Change) {
	for i := range request {
		change := &request[i]
		of, is := lockIn(change)
		if !is || !c.loaded[of] {
			continue
		}
		delete(c.loaded, of)
		if change.Cause != ddbfake.CauseClient || !keeps(change, c.options.Promise.MaxClockSkew) {
			continue
		}
		gone, held := *change, *change
		gone.Actor, gone.After = loader, nil
		held.Before, held.After = nil, change.Before
		taken = append(taken, []ddbfake.Change{gone}, []ddbfake.Change{held})
		if judge {
			c.note(Broken{
				Invariant: unknownHolder, Verdict: invariant.Unknown, Actor: change.Actor,
				Changes: c.shown([]ddbfake.Change{*change}),
				Why: change.Actor +
					" gave back or extended a lock that was loaded, or restored from a backup: whether it held the " +
					"lock is not known",
			})
		}
	}
	return taken
}

// keeps reports whether a change gives a lock back, or leaves its token, before the end of its lease.
func keeps(c *ddbfake.Change, skew time.Duration) bool {
	before, _ := c.Before.Str("lease_token")
	after, _ := c.After.Str("lease_token")
	_, endless := c.Before["lease_expires_at"].(attr.NULL)
	until, known := rowmap.Instant(c.Before, "lease_expires_at")
	return before != "" && (after == "" || after == before) && (endless || known && until.After(c.Time.Add(skew)))
}
