package ddbfake

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

// Hash is a SHA-256 of the tables: names, key schemas, TTL settings, the definitions of indexes (their contents follow
// from the rows), the settings of an enabled stream (its records are history), and rows. It depends on nothing else:
// neither on the way the rows came to be, nor on the change log, the tokens, the clock or the process. It reads every
// row.
func (db *DB) Hash() [32]byte {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.settle(db.clock.Now())
	h := sha256.New()
	var p printer
	for _, name := range sortedKeys(db.state.tables) {
		t := db.state.tables[name]
		p = p[:0]
		p.text(t.address())
		p.text(t.schema.hash.Name)
		p.text(string(t.schema.hash.Kind))
		p.text(t.schema.sort.Name)
		p.text(string(cmp.Or(t.schema.sort.Kind, "invalid")))
		if t.ttl.enabled {
			p.number(1)
			p.text(t.ttl.attribute)
		} else {
			p.number(0)
		}
		for _, x := range t.indexes {
			p.index(x)
		}
		p.stream(t.stream)
		p.number(t.rows.Len())
		h.Write(p)
		t.rows.Scan(func(r *row) bool {
			p = p[:0]
			p.record(&r.record)
			h.Write(p)
			return true
		})
	}
	return [32]byte(h.Sum(nil))
}

func (f *printer) record(r *packed.Record) {
	f.number(r.Len())
	for name, v := range r.All {
		f.text(name)
		f.attribute(v)
	}
}

func (f *printer) item(m map[string]attr.Value) {
	f.number(len(m))
	for _, name := range sortedKeys(m) {
		f.text(name)
		f.attribute(m[name])
	}
}

// hashedKinds are the types in the order of the numbers that stand for them in a hash, from 1.
var hashedKinds = []attr.Kind{"S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS"}

// attribute writes a value. Sets are sorted, and each number has only one printed form.
func (f *printer) attribute(v attr.Value) {
	*f = append(*f, byte(1+slices.Index(hashedKinds, attr.KindOf(v))))
	switch v := v.(type) {
	case attr.S:
		f.text(string(v))
	case attr.N:
		f.text(v.String())
	case attr.B:
		f.text(string(v))
	case attr.BOOL:
		if v {
			f.number(1)
		} else {
			f.number(0)
		}
	case attr.M:
		f.item(v)
	case attr.L:
		f.number(len(v))
		for _, e := range v {
			f.attribute(e)
		}
	case attr.SS:
		f.texts(slices.Sorted(slices.Values(v)))
	case attr.NS:
		f.number(len(v))
		for _, e := range slices.SortedFunc(slices.Values(v), attr.Number.Cmp) {
			f.text(e.String())
		}
	case attr.BS:
		f.number(len(v))
		for _, e := range slices.SortedFunc(slices.Values(v), bytes.Compare) {
			f.text(string(e))
		}
	}
}
