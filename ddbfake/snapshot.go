package ddbfake

import "sync"

// Snapshot is the state of a DB at one instant. It can be restored any number of times, into any DB.
type Snapshot struct {
	mu    sync.Mutex
	state state
}

// Snapshot copies tables, rows, TTL settings, idempotency tokens, the change log and the count of requests. It costs a
// few words per table, whatever the number of rows: the copy shares them until one side writes. The clock, the lag and
// the injected faults with their counters are not part of it.
func (db *DB) Snapshot() *Snapshot {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.expireByLag(db.clock.Now())
	return &Snapshot{state: db.state.copy()}
}

// Restore puts the DB back into the state of a snapshot, the change log included. If the clock has moved on, rows whose
// lag ends before now are deleted at the next call, as if nothing had been called in between. With Options.Throughput
// no units are spent then.
func (db *DB) Restore(s *Snapshot) {
	restored := newStateOf(s)
	db.mu.Lock()
	defer db.mu.Unlock()
	db.state = restored
	if db.overlaps != nil {
		db.overlaps.done = nil // its log belongs to the former state
	}
	if db.limits != nil {
		db.limits = newLimits() // the clock may have been set back, and units that come in later never would
	}
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
		t.wake()         // the lag may be another one here
		t.counters = nil // they may be those of another DB
	}
	return restored
}
