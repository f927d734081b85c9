package audit

import (
	"maps"
	"slices"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/audit/evidence"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

// chain is the last image of one row. Each record of the row must begin where the one before it ended.
type chain struct {
	last     fingerprint.Wide
	there    bool // the row exists
	sequence evidence.Sequence
	id       string
	time     int64 // Unix nanoseconds of the last record
}

// link is how a record follows the records of its row that came before it.
type link uint8

const (
	follows   link = iota
	first          // nothing is known of the row before the record
	duplicate      // the record, or one that it repeats, has been read
	broken         // records are missing before it
)

// link adds a record to the chain. The parameter known is false for a row's first record.
func (c *chain) link(r *evidence.Record, known bool) link {
	at := r.Time.UnixNano()
	if known && (r.ID != "" && r.ID == c.id || c.precedes(r, at)) {
		return duplicate
	}
	before, after := sum(r.Before), sum(r.After)
	how := follows
	switch {
	case !known:
		how = first
	case r.State:
		how = broken // an export in the middle of the history
		if c.there == (r.After != nil) && c.last == after {
			how = duplicate
		}
	case c.there != (r.Before != nil) || c.last != before:
		how = broken
	}
	*c = chain{last: after, there: r.After != nil, sequence: r.Sequence, id: r.ID, time: at}
	return how
}

// precedes reports whether a record is a copy of the last one that was read, or of an earlier one: a record that was
// missing would have broken the chain. Without sequence numbers, only an earlier time shows that.
func (c *chain) precedes(r *evidence.Record, at int64) bool {
	if r.Sequence != "" && c.sequence != "" {
		return r.Sequence.Compare(c.sequence) <= 0
	}
	return at < c.time
}

// sum is a hash of a row. Equal rows have equal sums.
func sum(row attr.Item) (s fingerprint.Wide) {
	var text [256]byte
	//isrsim:unordered a sum
	for name, v := range row {
		s = s.Plus(fingerprint.Of(appendValue(append(append(text[:0], name...), 0), v)))
	}
	return s
}

// appendValue appends a text that only equal values share.
func appendValue(to []byte, v attr.Value) []byte {
	to = append(append(to, attr.KindOf(v)...), ':')
	set := func(all []string) []byte {
		slices.Sort(all)
		for _, e := range all {
			to = append(append(to, e...), 0)
		}
		return to
	}
	switch v := v.(type) {
	case attr.S:
		return append(to, v...)
	case attr.N:
		return append(to, v.String()...)
	case attr.B:
		return append(to, v...)
	case attr.BOOL:
		if v {
			return append(to, '1')
		}
		return append(to, '0')
	case attr.SS:
		return set(slices.Clone(v))
	case attr.NS:
		all := make([]string, len(v))
		for i := range v {
			all[i] = v[i].String()
		}
		return set(all)
	case attr.BS:
		all := make([]string, len(v))
		for i := range v {
			all[i] = string(v[i])
		}
		return set(all)
	case attr.L:
		for _, e := range v {
			to = append(appendValue(to, e), 0)
		}
	case attr.M:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			to = append(appendValue(append(append(to, name...), 0), v[name]), 0)
		}
	}
	return to
}
