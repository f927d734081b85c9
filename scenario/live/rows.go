package live

import (
	"slices"

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
