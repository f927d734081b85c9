package invariant

import (
	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/fingerprint"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// Memory is what a check remembers of the past beside the rows as they are now.
// It matters to whoever takes two moments of different runs for the same, because
// the rows are equal and so is what every client knows: of two such pasts, only
// one is continued, and a check must not have come to another verdict after the
// other one.
type Memory interface {
	Change(ddbfake.Change) // the next entry of the change log
	Event(history.Event)   // the next entry of the history
	// Fingerprint is equal for equal memories, and hardly ever for others.
	Fingerprint() uint64
}

// nothing is the memory of a check that judges by the rows, as far as schedules
// matter to it.
type nothing struct{}

func rememberNothing() Memory { return nothing{} }

func (nothing) Change(ddbfake.Change) {}
func (nothing) Event(history.Event)   {}
func (nothing) Fingerprint() uint64   { return 0 }

// holders remembers who put its token into each LOCK row: the row itself does not
// say.
type holders struct {
	locks locks
	sum   fingerprint.Hash // of the holders; rows have no order
}

func rememberHolders() Memory { return &holders{locks: locks{}} }

func (m *holders) Change(c ddbfake.Change) {
	id, sk := role(c)
	if sk != sortLock {
		return
	}
	m.sum -= holderOf(id, m.locks[id])
	m.locks.note(c)
	m.sum += holderOf(id, m.locks[id])
}

func holderOf(id rowID, l lease) fingerprint.Hash {
	if l.holder == "" {
		return 0
	}
	return fingerprint.Hash(0).Text(id.table).Text(id.pk).Text(l.holder)
}

func (*holders) Event(history.Event)   {}
func (m *holders) Fingerprint() uint64 { return uint64(m.sum) }

// renderings remembers when the origin was read for each body.
type renderings struct{ sum fingerprint.Hash }

func rememberRenderings() Memory { return &renderings{} }

func (*renderings) Change(ddbfake.Change) {}

func (m *renderings) Event(e history.Event) {
	if e.Kind == history.Rendered {
		m.sum += fingerprint.Hash(0).Text(e.Key).Text(e.Body).Number(uint64(e.Time.UnixNano()))
	}
}

func (m *renderings) Fingerprint() uint64 { return uint64(m.sum) }
