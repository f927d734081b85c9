package ddbfake

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"sync"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

// Snapshot is the state of a DB at one instant. It can be restored any number of times, into any DB.
type Snapshot struct {
	mu    sync.Mutex
	state state
}

// Snapshot copies tables, rows, TTL settings, idempotency tokens, the change log and the count of requests. It costs a
// few words of memory per table, whatever the number of rows: the copy shares the rows until one side writes. The
// clock, the lag and the injected faults with their counters are not part of a snapshot.
func (db *DB) Snapshot() *Snapshot {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.settle(db.clock.Now())
	return &Snapshot{state: db.state.copy()}
}

// Restore puts the DB back into the state of a snapshot, including the change log. If the clock has moved on, the next
// call deletes the rows whose lag has ended, as if there had been no calls in between. Under Options.Throughput, no
// units count as spent after a Restore.
func (db *DB) Restore(s *Snapshot) {
	if all := db.aroundRestore(); all != nil {
		setBack(all, func() { db.restore(s) })
		return
	}
	db.restore(s)
}

func (db *DB) restore(s *Snapshot) {
	restored := newStateOf(s)
	db.mu.Lock()
	defer db.mu.Unlock()
	db.state = restored
	db.retime()
	if db.overlaps != nil {
		db.overlaps.done = nil // the effects belong to the former state
	}
	if db.limits != nil {
		db.limits = newLimits() // if the clock was set back, spent units would return much too late
	}
}

// OnRestore registers around, which replaces each later Restore and Reset. Its argument restore sets the state back.
// around reads the changes that are about to disappear, and then calls restore. Of several functions, the last one
// registered is called first. Nothing may write while around runs. stop removes around again.
func (db *DB) OnRestore(around func(restore func())) (stop func()) {
	registered := &around
	db.mu.Lock()
	defer db.mu.Unlock()
	db.onRestore = append(slices.Clip(db.onRestore), registered)
	return func() {
		db.mu.Lock()
		defer db.mu.Unlock()
		is := func(other *func(func())) bool { return other == registered }
		if db.onRestore = slices.DeleteFunc(slices.Clone(db.onRestore), is); len(db.onRestore) == 0 {
			db.onRestore = nil
		}
	}
}

// aroundRestore are the functions registered by OnRestore, or nil.
func (db *DB) aroundRestore() []*func(func()) {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.onRestore // never changed in place
}

// setBack calls restore through the functions of OnRestore.
func setBack(all []*func(func()), restore func()) {
	for _, around := range all {
		inner := restore
		restore = func() { (*around)(inner) }
	}
	restore()
}

// Keep records the present moment of a DB without Options.Conflicts and Options.Throughput: a Snapshot, the metrics and
// the injected faults. The function back returns the DB to it, any number of times; the clock must then show the time
// of that moment.
func (db *DB) Keep() (back func()) {
	db.mu.Lock()
	defer db.mu.Unlock()
	kept := &Snapshot{state: db.state.copy()}
	userErrors, injected := maps.Clone(db.userErrors), slices.Clone(db.injected)
	all := make(map[string]counters, len(db.counters))
	//isrsim:unordered each by itself
	for at, c := range db.counters {
		all[at] = c.copy()
	}
	return func() {
		db.restore(kept)
		db.mu.Lock()
		defer db.mu.Unlock()
		db.userErrors, db.injected = maps.Clone(userErrors), slices.Clone(injected)
		clear(db.counters)
		//isrsim:unordered each by itself
		for at, c := range all {
			now := c.copy()
			db.counters[at] = &now
		}
	}
}

func (c *counters) copy() counters {
	now := *c
	now.operations, now.indexes = slices.Clone(c.operations), maps.Clone(c.indexes)
	//isrsim:unordered each by itself
	for name, m := range now.indexes {
		own := *m
		now.indexes[name] = &own
	}
	return now
}

// newStateOf returns the state of a snapshot, or an empty one if it is nil.
func newStateOf(s *Snapshot) state {
	if s == nil {
		return newState()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	restored := s.state.copy()
	//isrsim:unordered each table wakes by itself
	for _, t := range restored.tables {
		t.wake()         // this DB may have a different lag
		t.counters = nil // they may belong to another DB
	}
	return restored
}

// Hash is a SHA-256 of the tables: names, key schemas, TTL settings, the definitions of indexes (their contents follow
// from the rows), the settings of an enabled stream (its records are history), and rows. It depends on nothing else,
// such as how the rows were written, the change log, the tokens, the clock or the process. It reads every row.
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

// printer encodes different values as different bytes: every text follows its length, and every value its type.
type printer []byte

func (f *printer) number(n int) { *f = binary.AppendUvarint(*f, uint64(n)) }

func (f *printer) text(s string) {
	f.number(len(s))
	*f = append(*f, s...)
}

func (f *printer) texts(list []string) {
	f.number(len(list))
	for _, s := range list {
		f.text(s)
	}
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

// hashedKinds lists the types. A type's place in it, from 1, stands for it in a hash.
var hashedKinds = []attr.Kind{"S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS"}

// attribute writes a value. It sorts sets; each number already has only one printed form.
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
