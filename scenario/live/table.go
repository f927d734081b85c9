package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// unborn is the value of table.born after a restore, until the log of the restored state shows it.
const unborn = -1

// maxRows is the number of rows that the description of a table names.
const maxRows = 8

type tableName struct{ region, name string }

// table is the checker's knowledge of one table.
type table struct {
	tableName
	changes  int
	keys     []string        // the key attributes with their types, such as "id (S)"
	rows     []string        // the first sort keys or, in a table without a sort key, the first keys; at most maxRows
	judged   int             // the number of changes that were judged
	born     int             // ddbfake.Change.Born of the table that has this name now; unborn if not known
	created  int             // how often the table was created again
	hasLocks bool            // a LOCK row was written into this table, or into a former one of this name
	clocks   map[string]bool // by actor, whether its clock is right; only actors whose rows have shown it

	toldNoLock, toldClock bool
	translated            bool // it stands for all tables of one cache with its own rows
	source                bool // it has rows of such a cache
}

// String describes the table in one line.
func (t *table) String() string {
	name := t.name
	if t.region != ddbfake.DefaultRegion {
		name += " in " + t.region
	}
	return fmt.Sprintf("table %s, keyed %s, changes: %d, rows such as %s", name, strings.Join(t.keys, ", "), t.changes,
		strings.Join(t.rows, ", "))
}

func (c *Checker) table(change *ddbfake.Change) *table {
	return c.tables[tableName{change.Region, change.Table}]
}

// see notes a change. A table that was created again counts as another table.
func (c *Checker) see(change *ddbfake.Change) {
	t := c.table(change)
	if t == nil {
		t = &table{tableName: tableName{change.Region, change.Table}, born: change.Born, clocks: map[string]bool{}}
		c.tables[t.tableName] = t
	}
	if t.born != unborn && t.born != change.Born {
		t.clocks, t.keys = map[string]bool{}, nil
		t.created++
	}
	t.born = change.Born
	t.note(change)
}

func (t *table) note(change *ddbfake.Change) {
	t.changes++
	names := keyNames(change.Key)
	if t.keys == nil {
		for _, name := range names {
			t.keys = append(t.keys, fmt.Sprintf("%s (%s)", name, attr.KindOf(change.Key[name])))
		}
	}
	name := names[len(names)-1]
	if sk, ok := change.Key.Str("sk"); ok {
		name = "sk"
		t.hasLocks = t.hasLocks || sk == "LOCK"
	}
	row, ok := change.Key.Str(name)
	if !ok {
		row = fmt.Sprint(change.Key[name])
	}
	if len(t.rows) < maxRows && !slices.Contains(t.rows, row) {
		t.rows = append(t.rows, row)
	}
}

// keyNames returns the names of a key's attributes, sorted.
func keyNames(key attr.Item) []string {
	names := make([]string, 0, len(key))
	//isrsim:unordered sorted below
	for name := range key {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// current returns a request as the watchers get it: a table that was created again has another name, so that its rows
// are new to the watchers.
func (c *Checker) current(request []ddbfake.Change) []ddbfake.Change {
	copied := false
	for i := range request {
		if t := c.table(&request[i]); c.created(t) > 0 {
			if !copied {
				request, copied = slices.Clone(request), true
			}
			request[i].Table = fmt.Sprintf("%s, created again %d times", t.name, c.created(t))
		}
	}
	return request
}

// noLock is reported instead of the invariants that judge by LOCK.
var noLock = invariant.Invariant{Name: "no lock seen", Statement: "a table that pages are published in has LOCK rows"}

// byLock reports whether an invariant judges a publish by LOCK.
func byLock(inv invariant.Invariant) bool {
	switch inv.Name {
	case invariant.Named("stale-writer").Name, invariant.Named("monotonic-publication").Name,
		invariant.Named("expired-publish").Name, invariant.Named("atomic-publish").Name:
		return true
	default:
		return false
	}
}

// lockless reports whether a request publishes in a table that has never had a LOCK row: the lock may have another
// name, or be in another table. It reports one doubt for each table.
func (c *Checker) lockless(request []ddbfake.Change, judge bool) bool {
	without := false
	for i := range request {
		change := &request[i]
		t := c.table(change)
		if t.hasLocks || !invariant.Publishes(change) {
			continue
		}
		without = true
		if judge && c.byLock && !t.toldNoLock {
			t.toldNoLock = true
			c.note(Broken{
				Invariant: noLock, Verdict: invariant.Unknown, Actor: change.Actor, Changes: c.shown(request),
				Why: c.noLockIn(t, change.Actor),
			})
		}
	}
	return without
}

// noLockIn is the sentence for a table without locks.
func (c *Checker) noLockIn(t *table, actor string) string {
	if c.rows != nil {
		return actor + " published a page, and no lock was ever found in the rows: who held the lease is not known"
	}
	return fmt.Sprintf("%s published in table %s, where no row LOCK was ever written, but %s: who held the lease "+
		"is not known",
		actor, t.name, strings.Join(t.rows, ", "))
}

// judges reports whether the invariants judge changes of this row.
func judges(change *ddbfake.Change) bool {
	sk, _ := change.Key.Str("sk")
	return sk == "META" || sk == "LOCK" || strings.HasPrefix(sk, "VER#")
}

// unjudged describes the tables in which nothing was judged, in the order of their regions and names.
func (c *Checker) unjudged() []string {
	var tables []*table
	//isrsim:unordered sorted below
	for _, t := range c.tables {
		if t.judged == 0 && t.changes > 0 && !t.translated {
			tables = append(tables, t)
		}
	}
	slices.SortFunc(tables, func(a, b *table) int {
		return cmp.Or(strings.Compare(a.region, b.region), strings.Compare(a.name, b.name))
	})
	var texts []string
	for _, t := range tables {
		texts = append(texts, t.String())
	}
	return texts
}
