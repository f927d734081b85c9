package ddbfake

import (
	"bytes"
	"iter"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/awsjson"
)

// Settings returns, for the control API, everything that a snapshot has of a table, except its rows: its description,
// as DescribeTable answers it, in JSON; the attribute by which TTL deletes, "" if it does not; and its tags. DB.Load
// reads the description.
func (h *handler) Settings(s *Snapshot, table string) (description []byte, ttl string, tags map[string]string) {
	t := s.state.at(table)
	if t == nil {
		return []byte("null"), "", nil
	}
	whole := awsjson.Append(nil, &dynamodb.DescribeTableOutput{Table: t.describe(types.TableStatusActive)})
	if t.ttl.enabled {
		ttl = t.ttl.attribute
	}
	return bytes.TrimSuffix(bytes.TrimPrefix(whole, []byte(`{"Table":`)), []byte("}")), ttl, t.tags
}

// Read returns, for the control API, the content of a snapshot: the addresses of its tables; the rows of one table,
// sorted as by DB.Items (nil if there is no such table); the latest changes whose Seq is greater than a given one; and
// the Seq of the last change. Rows and changes are made one by one: a slow reader keeps only the snapshot and one row
// or change in memory. Nothing else may use the snapshot meanwhile.
func (h *handler) Read(s *Snapshot) (
	tables []string, rows func(table string) iter.Seq[attr.Item],
	changes func(seq, latest int) iter.Seq[Change], last int,
) {
	rows = func(table string) iter.Seq[attr.Item] {
		t := s.state.at(table)
		if t == nil {
			return nil
		}
		return func(yield func(attr.Item) bool) {
			t.rows.Scan(func(r *row) bool { return yield(r.passing()) })
		}
	}
	log := &s.state.log
	changes = func(seq, latest int) iter.Seq[Change] {
		start := max(seq-log.dropped, log.length-latest, 0)
		return func(yield func(Change) bool) {
			for i, e := range log.from(start) {
				if !yield(e.passing(log.dropped + i + 1)) {
					return
				}
			}
		}
	}
	return s.state.addresses(), rows, changes, log.lastSeq()
}
