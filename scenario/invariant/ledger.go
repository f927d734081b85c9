package invariant

import (
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// ledger is what the log has said so far of every key: what all rules need to
// know of the past, kept once for all.
type ledger struct {
	Promise
	first      partition            // most runs have one
	partitions map[rowID]*partition // all of them; nil while there is only the first
	last       *partition           // the last that was asked for: mostly the next one, too
	step       step
}

func newLedger(p Promise) *ledger { return &ledger{Promise: p} }

// partition is what the log has said so far of one key.
type partition struct {
	rowID
	lock  lease
	murky int // the change that left LOCK malformed, 0 if it is well-formed or gone

	turns int    // how often the lease has been taken
	took  []turn // each actor's last, in the order of actors' first

	meta      attr.Item
	shown     int   // the change by which META shows what it shows
	newest    turn  // of the newest generation that has been visible
	generated int64 // the latest generated_at that has been visible
	versions  []version
}

// turn is one time that an actor has taken the lease. They are numbered from 1; the zero turn is none.
type turn struct {
	actor string
	n     int
}

// version is a VER row.
type version struct {
	sk    string
	row   attr.Item // nil if META leads to a row that is not there
	shown bool      // META has led to it
}

// step is what one request did to one key.
type step struct {
	Promise
	*partition                   // as the request has left it
	was        partition         // as it was before; its slices are not
	rows       []*ddbfake.Change // what the request changed of the key
	// onMeta and onLock are the changes of META and LOCK, nil if there is none.
	onMeta, onLock *ddbfake.Change
	// published says that META shows another generation than before, and restored that it is one that it led to before.
	published, restored bool
	by                  turn // the publisher's last; zero if it has never taken the lease
}

// take takes in what took effect at once, and has the rules judge it key by key.
// The step is theirs until judge returns.
func (l *ledger) take(request []ddbfake.Change, judge func(*step)) {
	for i := range request {
		id, _ := role(request[i])
		if i > 0 && within(request[:i], id) {
			continue // taken in with the first of that key
		}
		s := &l.step
		*s = step{Promise: l.Promise, partition: l.at(id), rows: s.rows[:0]}
		s.was = *s.partition
		for j := i; j < len(request); j++ {
			if other, sk := role(request[j]); j == i || other == id {
				s.note(&request[j], sk)
			}
		}
		s.publish()
		judge(s)
	}
}

// within says whether one of the changes is of the key.
func within(changes []ddbfake.Change, id rowID) bool {
	return slices.ContainsFunc(changes, func(c ddbfake.Change) bool {
		other, _ := role(c)
		return other == id
	})
}

// at returns what is known of a key.
func (l *ledger) at(id rowID) *partition {
	if l.last == nil {
		l.first.rowID = id
		l.last = &l.first
	}
	if l.last.rowID == id {
		return l.last
	}
	if l.partitions == nil {
		l.partitions = map[rowID]*partition{l.first.rowID: &l.first}
	}
	p := l.partitions[id]
	if p == nil {
		p = &partition{rowID: id}
		l.partitions[id] = p
	}
	l.last = p
	return p
}

// find returns what is known of the key with this partition key, nil if nothing
// is. Histories are of one table.
func (l *ledger) find(pk string) *partition {
	for p := range l.all {
		if p.pk == pk {
			return p
		}
	}
	return nil
}

// all are the keys that are known, in any order.
func (l *ledger) all(yield func(*partition) bool) {
	if l.partitions == nil {
		if l.last != nil {
			yield(l.last)
		}
		return
	}
	//isrsim:unordered whoever asks does not mind
	for _, p := range l.partitions {
		if !yield(p) {
			return
		}
	}
}

// note takes in the change of one row.
func (s *step) note(c *ddbfake.Change, sk string) {
	s.rows = append(s.rows, c)
	switch {
	case sk == sortLock:
		s.onLock = c
		s.noteLock(c)
	case sk == sortMeta:
		s.onMeta = c
		s.meta = c.After
	case strings.HasPrefix(sk, sortVersion):
		s.noteVersion(c, sk)
	}
}

// noteLock takes in a change of LOCK. A lease belongs to the actor that put its
// token into the row.
func (p *partition) noteLock(c *ddbfake.Change) {
	before := p.lock
	p.lock, p.murky = lease{}, 0
	if c.After == nil {
		return
	}
	now, wellFormed := readLease(c.After)
	if !wellFormed {
		p.murky = c.Seq
		return
	}
	if now.token == before.token {
		now.holder = before.holder
	} else {
		now.holder = c.Actor
		p.turns++
		p.takes(turn{c.Actor, p.turns})
	}
	p.lock = now
}

func (p *partition) takes(t turn) {
	for i := range p.took {
		if p.took[i].actor == t.actor {
			p.took[i] = t
			return
		}
	}
	p.took = append(p.took, t)
}

// lastOf returns the last turn of an actor.
func (p *partition) lastOf(actor string) turn {
	for _, t := range p.took {
		if t.actor == actor {
			return t
		}
	}
	return turn{}
}

func (p *partition) noteVersion(c *ddbfake.Change, sk string) {
	if i := p.versionAt(sk); i >= 0 {
		if p.versions[i].row = c.After; c.After == nil {
			p.versions = slices.Delete(p.versions, i, i+1)
		}
	} else if c.After != nil {
		p.versions = append(p.versions, version{sk: sk, row: c.After})
	}
}

// versionAt returns the place of a VER row, -1 if there is none.
func (p *partition) versionAt(sk string) int {
	for i := range p.versions {
		if p.versions[i].sk == sk {
			return i
		}
	}
	return -1
}

// publish takes in what META shows now.
func (s *step) publish() {
	if s.onMeta == nil || !isPublish(*s.onMeta) {
		return
	}
	s.shown = s.onMeta.Seq
	s.published, s.by = true, s.lastOf(s.onMeta.Actor)
	if sk, is := s.meta.Str("current_sk"); is {
		i := s.versionAt(sk)
		if i < 0 {
			i = len(s.versions)
			s.versions = append(s.versions, version{sk: sk})
		}
		s.restored, s.versions[i].shown = s.versions[i].shown, true
	}
	if s.by.n > s.newest.n {
		s.newest = s.by
	}
	if at, is := s.meta.Int("generated_at"); is {
		s.generated = max(s.generated, at)
	}
}

// generation is the row that says what META shows: META itself, or the version
// that it leads to, nil if that is gone. The second value is its sort key.
func (p *partition) generation() (attr.Item, string) {
	sk, points := p.meta.Str("current_sk")
	if !points {
		return p.meta, sortMeta
	}
	if i := p.versionAt(sk); i >= 0 {
		return p.versions[i].row, sk
	}
	return nil, sk
}

// visible says whether META shows something at t: there is a row, it is not one
// that an invalidation left of none, and it is not past its ttl.
func (p *partition) visible(t time.Time) bool {
	return isPage(p.meta) && !expired(p.meta, t)
}
