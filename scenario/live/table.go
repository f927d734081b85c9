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

// Table is a table in which nothing was judged, and what was seen of it.
type Table struct {
	Region, Name string
	Changes      int
	Keys         []string // its key attributes with their types, such as "id (S)"
	Rows         []string // of tables with a sort key the first sort keys, else the first keys; at most MaxRows
}

// MaxRows is how many rows a Table names.
const MaxRows = 8

// String prints a table in one line.
func (t Table) String() string {
	name := t.Name
	if t.Region != ddbfake.DefaultRegion {
		name += " in " + t.Region
	}
	return fmt.Sprintf("table %s, keyed %s, changes: %d, rows such as %s", name, strings.Join(t.Keys, ", "), t.Changes, strings.Join(t.Rows, ", "))
}

// place is a table by its name.
type place struct{ region, name string }

// seen is what the checker knows of a table.
type seen struct {
	Table
	judged   int             // changes
	born     int             // of the table that has this name now
	created  int             // how often it was created again
	hasLocks bool            // a LOCK row was written, into this table or one before it
	clocks   map[string]bool // of each actor whose rows have said it: whether its clock is right

	toldNoLock, toldClock bool
}

// at returns what is known of a change's table.
func (c *Checker) at(change *ddbfake.Change) *seen {
	return c.tables[place{change.Region, change.Table}]
}

// see notes a change. A table that was created again is another one.
func (c *Checker) see(change *ddbfake.Change) {
	s := c.at(change)
	if s == nil {
		s = &seen{Table: Table{Region: change.Region, Name: change.Table}, born: change.Born, clocks: map[string]bool{}}
		c.tables[place{change.Region, change.Table}] = s
	}
	if s.born != change.Born {
		s.born, s.clocks, s.Keys = change.Born, map[string]bool{}, nil
		s.created++
	}
	s.note(change)
}

// note takes in one change.
func (s *seen) note(change *ddbfake.Change) {
	s.Changes++
	names := keyNames(change.Key)
	if s.Keys == nil {
		for _, name := range names {
			s.Keys = append(s.Keys, fmt.Sprintf("%s (%s)", name, change.Key[name].Kind()))
		}
	}
	name := names[len(names)-1]
	if sk, ok := change.Key.Str("sk"); ok {
		name = "sk"
		s.hasLocks = s.hasLocks || sk == "LOCK"
	}
	row, ok := change.Key.Str(name)
	if !ok {
		row = fmt.Sprint(change.Key[name])
	}
	if len(s.Rows) < MaxRows && !slices.Contains(s.Rows, row) {
		s.Rows = append(s.Rows, row)
	}
}

// keyNames are the names of a key's attributes, sorted.
func keyNames(key attr.Item) []string {
	names := make([]string, 0, len(key))
	//isrsim:unordered sorted below
	for name := range key {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// current returns a request as the watchers are to see it. To them a table that
// was created again has another name, so that they know nothing of its rows.
func (c *Checker) current(request []ddbfake.Change) []ddbfake.Change {
	copied := false
	for i := range request {
		if s := c.at(&request[i]); s.created > 0 {
			if !copied {
				request, copied = slices.Clone(request), true
			}
			request[i].Table = fmt.Sprintf("%s, created again %d times", s.Name, s.created)
		}
	}
	return request
}

// noLock stands for the invariants that judge by LOCK.
var noLock = invariant.Invariant{Name: "no lock seen", Statement: "a table that pages are published in has LOCK rows"}

// byLock says whether an invariant judges a publish by LOCK.
func byLock(inv invariant.Invariant) bool {
	switch inv.Name {
	case invariant.StaleWriter().Name, invariant.MonotonicPublication().Name, invariant.AtomicPublish().Name:
		return true
	default:
		return false
	}
}

// lockless reports whether a request publishes in a table in which nobody has ever
// written LOCK: the lock may have another name, or be elsewhere. It tells so once a
// table.
func (c *Checker) lockless(request []ddbfake.Change, judge bool) bool {
	without := false
	for i := range request {
		change := &request[i]
		s := c.at(change)
		if s.hasLocks || !invariant.Publishes(change) {
			continue
		}
		without = true
		if judge && c.byLock && !s.toldNoLock {
			s.toldNoLock = true
			c.note(Broken{
				Invariant: noLock, Verdict: invariant.Unknown, Actor: change.Actor, Changes: slices.Clone(request),
				Why: fmt.Sprintf("%s published in table %s, where no row LOCK was ever written, but %s: who held the lease is not known",
					change.Actor, s.Name, strings.Join(s.Rows, ", ")),
			})
		}
	}
	return without
}

// judges reports whether a change is one of those that are judged.
func judges(change *ddbfake.Change) bool {
	sk, _ := change.Key.Str("sk")
	return sk == "META" || sk == "LOCK" || strings.HasPrefix(sk, "VER#")
}

// unjudged are the tables in which nothing was judged, in the order of their names.
func (c *Checker) unjudged() []Table {
	var tables []Table
	//isrsim:unordered sorted below
	for _, s := range c.tables {
		if s.judged == 0 && s.Changes > 0 {
			t := s.Table
			t.Keys, t.Rows = slices.Clone(t.Keys), slices.Clone(t.Rows)
			tables = append(tables, t)
		}
	}
	slices.SortFunc(tables, func(a, b Table) int {
		return cmp.Or(strings.Compare(a.Region, b.Region), strings.Compare(a.Name, b.Name))
	})
	return tables
}
