package gen

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// Model is a table as a map of rows. It has no conditions, TTL or indexes: the property decides what a request should
// change, and makes that change in the model.
type Model struct {
	table Table
	rows  map[string]attr.Item
}

// NewModel returns an empty model of a table.
func NewModel(t Table) *Model { return &Model{table: t, rows: map[string]attr.Item{}} }

// name is the text of a row's key. Sorted by it, rows are in byte order of partition key and then sort key.
func (m *Model) name(row attr.Item) string {
	partition, _ := row.Str(m.table.Partition)
	sort, _ := row.Str(m.table.Sort)
	return partition + "\x00" + sort
}

// Put adds a row, or replaces the row with the same key.
func (m *Model) Put(row attr.Item) { m.rows[m.name(row)] = maps.Clone(row) }

// Delete deletes the row with a key, if there is one. The key may be a whole row.
func (m *Model) Delete(key attr.Item) { delete(m.rows, m.name(key)) }

// Get returns the row with a key, or nil. The key may be a whole row. The caller may change the row.
func (m *Model) Get(key attr.Item) attr.Item { return maps.Clone(m.rows[m.name(key)]) }

// Rows returns all rows in byte order of partition key and then sort key, as ddbfake.DB.Items does.
func (m *Model) Rows() []attr.Item {
	rows := []attr.Item{}
	for _, name := range slices.Sorted(maps.Keys(m.rows)) {
		rows = append(rows, maps.Clone(m.rows[name]))
	}
	return rows
}

// Query returns the rows of a partition in the order of their sort keys, as the service's Query does.
func (m *Model) Query(partition string) []attr.Item {
	return slices.DeleteFunc(m.Rows(), func(row attr.Item) bool {
		of, _ := row.Str(m.table.Partition)
		return of != partition
	})
}

// Diff compares the rows of the table in db with those of the model. It returns one line for each row that differs; ""
// if all are equal. If db lacks the table, that is a difference even from an empty model.
func (m *Model) Diff(db *ddbfake.DB) string {
	var b strings.Builder
	if tables := db.Tables(); !slices.Contains(tables, m.table.Name) {
		fmt.Fprintf(&b, "table %s: got none, want one; there are %q\n", m.table.Name, tables)
	}
	left := maps.Clone(m.rows)
	for _, got := range db.Items(m.table.Name) {
		name := m.name(got)
		want, ok := left[name]
		delete(left, name)
		switch {
		case !ok:
			fmt.Fprintf(&b, "row %s: got %s, want none\n", m.table.key(got), got)
		case !got.Equal(want):
			fmt.Fprintf(&b, "row %s: got %s, want %s\n", m.table.key(got), got, want)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		fmt.Fprintf(&b, "row %s: got none, want %s\n", m.table.key(left[name]), left[name])
	}
	return b.String()
}
