package invariant

import (
	"maps"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
)

type memory = recorder.Memory

// Memories returns one memory of each kind, for the invariants that an exhaustive search can prove. The promise must be
// that of the judged Evidence: otherwise two different histories could look the same. The function text maps a text
// before it is fingerprinted, for searches with symmetric actors; nil changes nothing. The function body returns the
// present body with a name; nil means no bodies. If requests is false, nothing is remembered for idempotency keys.
func Memories(p Promise, requests bool, text, body func(string) string) []recorder.Memory {
	pages, requested := newPages(p, text), newRequested(p, text)
	pages.body, requested.body = body, body
	all := []recorder.Memory{pages, &renderings{text: text}, newFlightsMemory(p, text),
		&invalidations{text: text}, &ownWrites{text: text}}
	if requests {
		all = append(all, requested)
	}
	return all
}

// words stands for texts in fingerprints.
type words func(string) string

func (w words) of(text string) string {
	if w == nil {
		return text
	}
	return w(text)
}

// bodyNamed returns a body of the body store by its name, as it is now; nil without a body store.
type bodyNamed func(name string) string

// of adds the content of a row, and the body that it leads to.
func (body bodyNamed) of(h fingerprint.Hash, row attr.Item, text words) fingerprint.Hash {
	h = h.Text(text.of(content(row)))
	if body != nil && row != nil && leads(row) {
		h = h.Text(text.of(body(named(row))))
	}
	return h
}

// pages remembers what the rows of a page do not show of its history: the actor behind LOCK's token, the order of the
// lease's holders, and the versions that have been visible.
type pages struct {
	log    ledger
	prints map[rowID]fingerprint.Hash // of partitions
	tags   map[fingerprint.Hash]bool
	sum    fingerprint.Hash // the sum of prints and tags, which have no order
	text   words
	body   bodyNamed
}

func rememberPages(p Promise) memory { return newPages(p, nil) }

func newPages(p Promise, text words) *pages {
	return &pages{
		log: *newLedger(p), prints: map[rowID]fingerprint.Hash{}, tags: map[fingerprint.Hash]bool{}, text: text,
	}
}

func (m *pages) Change(c ddbfake.Change) {
	m.log.take([]ddbfake.Change{c}, func(s *step) {
		now := s.partition.past(m.log.Promise, m.text)
		m.sum += now - m.prints[s.rowID]
		m.prints[s.rowID] = now
		m.tag(s)
	})
}

// tag remembers which etag has stood for which body. A version's row is in the log before META leads to it. Later the
// same name may stand for another body.
func (m *pages) tag(s *step) {
	if !s.published { // an arrival from another region needs no tag: its publish is known
		return
	}
	row, _ := s.generation()
	for _, from := range []attr.Item{s.meta, row} {
		if etag, has := from.Str("etag"); has {
			h := m.body.of(fingerprint.Hash(0).Text(s.pk).Text(m.text.of(etag)), row, m.text)
			if !m.tags[h] {
				m.tags[h] = true
				m.sum += h
			}
		}
	}
}

// Clone returns a copy. Every memory has one, for a search that goes back to an earlier moment.
func (m *pages) Clone() memory {
	c := &pages{prints: maps.Clone(m.prints), tags: maps.Clone(m.tags), sum: m.sum, text: m.text, body: m.body}
	m.log.copyTo(&c.log)
	return c
}

// Heeds reports whether the event may change the memory; a nil e stands for a change of a row.
func (*pages) Heeds(e *history.Event) bool    { return e == nil || e.Kind == history.RollingBack }
func (m *pages) Fingerprint(time.Time) uint64 { return uint64(m.sum) }

// Event remembers who was asked for a rollback.
func (m *pages) Event(e history.Event) {
	if h := fingerprint.Hash(0).Number(uint64(e.Kind)).Text(m.text.of(e.Actor)); e.Kind == history.RollingBack &&
		!m.tags[h] {
		m.tags[h] = true
		m.sum += h
	}
}

// past is the fingerprint of a page's history beyond its rows: the order of the turns, and which of them published.
func (p *partition) past(promise Promise, text words) (h fingerprint.Hash) {
	if p.lock.holder != "" {
		h = h.Text(text.of(p.lock.holder))
	}
	if p.lock.copied {
		h = h.Number(1)
	}
	if p.blur != 0 {
		h = h.Number(2)
	}
	var parts fingerprint.Hash // these have no order
	for _, t := range p.took {
		rank := 0
		switch {
		case t.n == p.newest.n:
			rank = 1
		case t.n > p.newest.n:
			rank = 2
			for _, other := range p.took {
				if other.n > p.newest.n && other.n < t.n {
					rank++
				}
			}
		}
		parts += fingerprint.Hash(0).Text(text.of(t.actor)).Number(uint64(rank))
	}
	for _, v := range p.versions {
		if !v.shown {
			continue
		}
		one := fingerprint.Hash(0).Text(text.of(v.sk))
		if at, has := promise.generatedAt(v.row); !has || !at.Equal(v.generated) {
			one = one.Number(uint64(v.generated.Unix())).Number(uint64(v.generated.Nanosecond()))
		}
		if v.there != (v.row != nil) {
			one = one.Number(1)
		}
		parts += one
	}
	if at, has := promise.generatedAt(p.meta); !p.generated.IsZero() && (!has || !at.Equal(p.generated)) {
		h = h.Number(uint64(p.generated.Unix())).Number(uint64(p.generated.Nanosecond()))
	}
	if h == 0 && parts == 0 {
		return 0
	}
	return h.Text(p.region).Text(p.table).Text(p.pk).Number(uint64(parts))
}

// ofTold gives a memory of the clients' history to the invariants that judge it.
func ofTold(all ...Invariant) []Invariant {
	for i := range all {
		all[i].Memory = func(Promise) memory { return &wasTold{wrote: map[string]fingerprint.Hash{}} }
	}
	return all
}

// wasTold is the memory of the invariants of locks and of calls: the clients' history in order, with crashes, and the
// times at which each node's writes were sent and took effect.
type wasTold struct {
	events fingerprint.Hash
	wrote  map[string]fingerprint.Hash // by node
	writes fingerprint.Hash            // the sum of wrote, which has no order
}

func (m *wasTold) Clone() memory { return &wasTold{m.events, maps.Clone(m.wrote), m.writes} }

func (*wasTold) Heeds(*history.Event) bool { return true }

func (m *wasTold) Change(c ddbfake.Change) {
	if c.Cause != ddbfake.CauseClient {
		return
	}
	before := m.wrote[c.Actor]
	now := before.Text(c.Actor).Number(uint64(c.Sent.UnixNano())).Number(uint64(c.Time.UnixNano()))
	m.wrote[c.Actor], m.writes = now, m.writes-before+now
}

func (m *wasTold) Event(e history.Event) {
	h := m.events.Number(uint64(e.Kind)).Number(uint64(e.Time.UnixNano())).Text(e.Actor).Text(e.Key).Text(e.Inputs).
		Text(e.Body)
	if e.Note != "" {
		h = h.Number(1)
	}
	if facts := e.Hold; facts != nil {
		h = h.Text(facts.ID).Number(uint64(facts.Token)).Number(uint64(facts.Excused)).Number(uint64(facts.Silent))
		for _, is := range []bool{facts.Fenced, facts.Troubled, facts.Done} {
			if h = h.Number(0); is {
				h = h.Number(1)
			}
		}
	} else if e.Kind != history.Crashed {
		return
	}
	m.events = h
}

func (m *wasTold) Fingerprint(time.Time) uint64 { return uint64(m.events.Number(uint64(m.writes))) }

// nothing is the memory of a check that depends on the schedule only through the rows.
type nothing struct{}

func rememberNothing(Promise) memory { return nothing{} }

func (nothing) Change(ddbfake.Change)        {}
func (nothing) Event(history.Event)          {}
func (nothing) Fingerprint(time.Time) uint64 { return 0 }

// renderings remembers, for each body, the page that it was made for and the time at which the origin was read.
type renderings struct {
	sum  fingerprint.Hash
	text words
}

func rememberRenderings(Promise) memory { return &renderings{} }

func (m *renderings) Clone() memory { return &renderings{m.sum, m.text} }

func (*renderings) Heeds(e *history.Event) bool { return e != nil && e.Kind == history.Rendered }

func (*renderings) Change(ddbfake.Change) {}

func (m *renderings) Event(e history.Event) {
	if e.Kind == history.Rendered {
		m.sum += fingerprint.Hash(0).Text(e.Tenant).Text(e.Key).Text(m.text.of(e.Body)).
			Number(uint64(e.Time.UnixNano()))
	}
}

func (m *renderings) Fingerprint(time.Time) uint64 { return uint64(m.sum) }
