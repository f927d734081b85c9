package ddbfake

import "maps"

// state is everything a snapshot holds. Rows and tokens live in trees that copy on write, so copying a state costs a
// few words of memory for each table.
type state struct {
	// The key of a table is its name if it is in the default region, and otherwise its ARN.
	tables   map[string]*table
	tokens   tokens
	log      changeLog
	requests int
	// loads are the numbers of the first request of each Load, or restore from a backup, and of the first after it, in
	// order. Snapshots share it.
	loads []int
	// streams are sorted by ARN, disabled ones included. The list is replaced, not changed: snapshots share it.
	streams []*stream
	// backups are sorted: see backup.compare. The list is replaced, not changed: snapshots share it.
	backups  []*backup
	underWay underWay
	// tablesCreated numbers tables, and backupsCreated backups, for their ids.
	tablesCreated, backupsCreated int
}

func newState() state {
	return state{tables: map[string]*table{}, tokens: newTokens()}
}

// copy returns a state that shares structure with s. Both may be changed later.
func (s *state) copy() state {
	c := *s
	c.tables = maps.Clone(s.tables)
	//isrsim:unordered each table is copied by itself
	for name, t := range c.tables {
		c.tables[name] = t.copy()
	}
	c.tokens = s.tokens.copy()
	c.log = s.log.copy()
	c.underWay = s.underWay.copy()
	return c
}
