package audit

import (
	"cmp"
	"iter"
	"time"

	"github.com/tidwall/btree"

	"github.com/isr-sim/isr-sim/internal/audit/evidence"
)

// Window is the number of records within which Merge brings records into their order.
const Window = 1 << 14

// Source yields records roughly in their order.
type Source struct {
	Entries iter.Seq2[evidence.Entry, error]
	Once    bool // Entries can be read only once
}

// Merge yields the entries of all sources in the order of time and, where times are equal, of sequence numbers. A
// record that is out of its order by more than window records comes late. A source is open only while its records are
// due, so there may be many. An error ends the sequence.
func Merge(window int, sources ...Source) iter.Seq2[evidence.Entry, error] {
	return func(yield func(evidence.Entry, error) bool) {
		m := merging{
			due: btree.NewBTreeG(func(a, b *feed) bool { return a.head.compare(&b.head) < 0 }),
			// the records of the window, the first one first
			window: btree.NewBTreeG(func(a, b placed) bool { return a.compare(&b) < 0 }),
		}
		defer m.close()
		for i, s := range sources {
			f := &feed{Source: s, index: i}
			m.all = append(m.all, f)
			if !f.open() {
				if f.err != nil {
					yield(evidence.Entry{}, f.err)
					return
				}
				continue
			}
			m.due.Set(f)
			if !s.Once {
				f.close() // closed until its records are due
			}
		}
		for m.due.Len() > 0 || m.window.Len() > 0 {
			for m.due.Len() > 0 && m.window.Len() <= window {
				if err := m.read(); err != nil {
					yield(evidence.Entry{}, err)
					return
				}
			}
			next, _ := m.window.PopMin()
			if !yield(next.Entry, nil) {
				return
			}
		}
	}
}

// placed is an entry with its place in the order.
type placed struct {
	evidence.Entry
	at       time.Time
	sequence evidence.Sequence
	source   int
	number   int // in its source
}

func (p *placed) compare(q *placed) int {
	return cmp.Or(p.at.Compare(q.at), p.sequence.Compare(q.sequence), p.source-q.source, p.number-q.number)
}

// merging is a merge under way.
type merging struct {
	all    []*feed
	due    *btree.BTreeG[*feed]  // the sources with entries left, the one with the first entry first
	window *btree.BTreeG[placed] // the entries that wait for others that may come before them
}

// read takes the first entry of all sources into the window.
func (m *merging) read() error {
	f, _ := m.due.PopMin()
	if f.next == nil && !f.open() { // already opened once, to see when it begins
		return f.err
	}
	m.window.Set(f.head)
	if f.advance() {
		m.due.Set(f)
		return nil
	}
	f.close()
	return f.err
}

func (m *merging) close() {
	for _, f := range m.all {
		f.close()
	}
}

// batch is the number of entries that the goroutine of a source reads ahead at once.
const batch = 256

// feed is a source with its first entry that is not yet taken. While it is open, a goroutine reads ahead, so that
// several files are read on several cores.
type feed struct {
	Source
	index  int
	head   placed
	number int
	batch  []evidence.Entry
	err    error
	next   <-chan read
	stop   chan struct{}
}

// read is a batch, and the error after it.
type read struct {
	entries []evidence.Entry
	err     error
}

// open begins to read a source, and reports whether it has an entry.
func (f *feed) open() bool {
	c, stop := make(chan read, 2), make(chan struct{})
	f.next, f.stop, f.number, f.batch, f.head = c, stop, 0, nil, placed{source: f.index}
	go func() {
		defer close(c)
		send := func(r read) bool {
			select {
			case c <- r:
				return true
			case <-stop:
				return false
			}
		}
		var r read
		for e, err := range f.Entries {
			if r.err = err; err != nil {
				break
			}
			if r.entries = append(r.entries, e); len(r.entries) == batch {
				if !send(r) {
					return
				}
				r.entries = nil
			}
		}
		send(r)
	}()
	return f.advance()
}

// advance moves on to the next entry, and reports whether there is one. A gap follows the record before it.
func (f *feed) advance() bool {
	for len(f.batch) == 0 {
		if f.err != nil {
			return false
		}
		r, more := <-f.next
		if !more {
			return false
		}
		f.batch, f.err = r.entries, r.err
	}
	f.head.Entry, f.batch = f.batch[0], f.batch[1:]
	f.number++
	f.head.number = f.number
	if r := f.head.Record; r != nil {
		f.head.at, f.head.sequence = r.Time, r.Sequence
	}
	return true
}

func (f *feed) close() {
	if f.next == nil {
		return
	}
	close(f.stop)
	for range f.next { // until its goroutine has ended
	}
	f.next = nil
}
