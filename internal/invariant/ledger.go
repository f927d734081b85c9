package invariant

import (
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// ledger holds the past of every key according to the log. All rules share it.
type ledger struct {
	Promise
	first      partition            // most runs have one
	partitions map[rowID]*partition // all partitions; nil as long as there is only the first
	last       *partition           // the latest one that was looked up, and usually the next one, too
	step       step
}

func newLedger(p Promise) *ledger { return &ledger{Promise: p} }

func (l *ledger) copyTo(c *ledger) {
	*c = ledger{Promise: l.Promise, first: l.first.copy()}
	if l.last == nil {
		return
	}
	c.last = &c.first
	if l.partitions == nil {
		return
	}
	c.partitions = make(map[rowID]*partition, len(l.partitions))
	//isrsim:unordered each by itself
	for id, p := range l.partitions {
		if p == &l.first {
			c.partitions[id] = &c.first
			continue
		}
		own := p.copy()
		c.partitions[id] = &own
	}
}

func (p *partition) copy() partition {
	c := *p
	c.took, c.versions = slices.Clone(p.took), slices.Clone(p.versions)
	return c
}

// partition holds the past of one key according to the log.
type partition struct {
	rowID
	lock  lease
	murky int // the change that left LOCK without a token; 0 if LOCK has a token, is gone, or is nobody's

	turns int    // how often the lease has been taken
	blur  int    // the last change in this turn that left LOCK without a token, or 0
	took  []turn // each actor's last turn, in the order of their first turns

	meta      attr.Item
	shown     int       // the change since which META shows its page
	request   int       // the request that made META show its page; 0 if it came from another region
	newest    turn      // the turn of the newest generation that has been visible
	generated time.Time // the latest generated_at that has been visible
	versions  []version
}

// turn is an actor's hold of the lease, from one taking of it. Turns are numbered from 1; the zero turn means none.
type turn struct {
	actor string
	n     int
}

// version is a VER row.
type version struct {
	sk    string
	row   attr.Item // nil if META leads to a row that is not there
	shown bool      // META has led to it
	// generated is the latest generated_at with which META has led to it.
	generated time.Time
	there     bool // its row was there when META began to show its present page
	change    int  // the latest change that made META lead to it
}

// step is the effect of one request on one key.
type step struct {
	Promise
	*partition                   // the state after the request
	was        partition         // the state before the request, except its slices
	rows       []*ddbfake.Change // the changes of the key's rows
	// onMeta and onLock are the changes of META and LOCK, or nil.
	onMeta, onLock *ddbfake.Change
	// published says that META shows another generation than before. restored says that META has led to this generation
	// before.
	published, restored bool
	// back is set if META is made to lead to an earlier visible version, unchanged, in place of another.
	back *setBack
	by   turn // the publisher's last turn; zero if it has never taken the lease
	held turn // the last turn before the request of the actor that made it; zero if it had never taken the lease
	// arrived says that META shows another generation than before, and that this generation was published in another
	// region.
	arrived bool
}

// setBack is a rollback or its undoing: a change of META from one version to another.
type setBack struct {
	from, to time.Time // the generated_at of the two
	// skipped is the newest version between them, to which a rollback should have led; nil if there is none.
	skipped *version
}

// take reads the changes of one request and calls judge for each key. A step is valid until judge returns.
func (l *ledger) take(request []ddbfake.Change, judge func(*step)) {
	for i := range request {
		id, _ := role(request[i])
		if i > 0 && within(request[:i], id) {
			continue // it was taken in together with the first change of its key
		}
		s := &l.step
		*s = step{Promise: l.Promise, partition: l.at(id), rows: s.rows[:0]}
		s.was, s.held = *s.partition, s.lastOf(request[i].Actor)
		for j := i; j < len(request); j++ {
			if other, sk := role(request[j]); j == i || other == id {
				s.note(&request[j], sk)
			}
		}
		s.publish()
		judge(s)
	}
}

// within reports whether one of the changes belongs to the key.
func within(changes []ddbfake.Change, id rowID) bool {
	return slices.ContainsFunc(changes, func(c ddbfake.Change) bool {
		other, _ := role(c)
		return other == id
	})
}

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

// find returns the partition with this key, or nil. A history concerns one table.
func (l *ledger) find(pk string) *partition {
	for p := range l.all {
		if p.pk == pk {
			return p
		}
	}
	return nil
}

// all yields the partitions in any order.
func (l *ledger) all(yield func(*partition) bool) {
	if l.partitions == nil {
		if l.last != nil {
			yield(l.last)
		}
		return
	}
	//isrsim:unordered the callers' results do not depend on it
	for _, p := range l.partitions {
		if !yield(p) {
			return
		}
	}
}

// note reads the change of one row.
func (s *step) note(c *ddbfake.Change, sk string) {
	s.rows = append(s.rows, c)
	switch {
	case sk == sortLock:
		s.onLock = c
		s.noteLock(c, s.MaxClockSkew)
	case sk == sortMeta:
		if s.onMeta != nil { // a page and a row that marks it, translated from one request
			both := *c
			both.Before = s.onMeta.Before
			c = &both
		}
		s.onMeta = c
		s.meta = c.After
	case strings.HasPrefix(sk, sortVersion):
		s.noteVersion(c, sk)
	}
}

// noteLock reads a change of LOCK. A lease belongs to the actor that put its token into the row, until another one puts
// the same token there when the lease is over.
func (p *partition) noteLock(c *ddbfake.Change, skew time.Duration) {
	before := p.lock
	p.lock, p.murky = lease{}, 0
	if c.After == nil {
		return
	}
	now, held := readLease(c.After)
	if !held {
		if p.turns == 0 || !isNobodys(c.After, c.Time) {
			p.murky, p.blur = c.Seq, c.Seq
		}
		return
	}
	if now.open != 0 {
		now.open = c.Seq
	}
	if over := !before.expires.After(c.Time.Add(skew)); now.token == before.token &&
		(c.Actor == before.holder || before.open != 0 || !over) {
		now.holder, now.copied = before.holder, before.copied
	} else {
		now.holder, now.copied = c.Actor, c.Cause == ddbfake.CauseReplica
		p.turns++
		p.blur = 0
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
		v := &p.versions[i]
		v.there = v.there || v.row == nil && c.Request != 0 && c.Request == p.request
		if v.row = c.After; c.After == nil {
			p.versions = slices.Delete(p.versions, i, i+1)
		}
	} else if c.After != nil {
		p.versions = append(p.versions, version{sk: sk, row: c.After})
	}
}

// versionAt returns the position of a VER row, or -1.
func (p *partition) versionAt(sk string) int {
	for i := range p.versions {
		if p.versions[i].sk == sk {
			return i
		}
	}
	return -1
}

// publish reads the page that META shows now. If the page was published in another region, only the partition in that
// region knows whose turn it was.
func (s *step) publish() {
	if s.onMeta == nil || !ShowsAnother(s.onMeta) {
		return
	}
	switch s.onMeta.Cause {
	case ddbfake.CauseClient:
		s.published, s.by = true, s.lastOf(s.onMeta.Actor)
	case ddbfake.CauseReplica:
		s.arrived = true
	default:
		return
	}
	s.shown, s.request = s.onMeta.Seq, s.onMeta.Request
	if sk, is := s.meta.Str("current_sk"); is {
		i := s.versionAt(sk)
		if i < 0 {
			i = len(s.versions)
			s.versions = append(s.versions, version{sk: sk})
		}
		s.lead(&s.versions[i])
	}
	if s.by.n > s.newest.n {
		s.newest = s.by
	}
	if at, is := s.generatedAt(s.meta); is && at.After(s.generated) {
		s.generated = at
	}
}

// lead reads the version that META leads to now. If META has a later generated_at than it ever had with this version,
// the version is a new one with an old name.
func (s *step) lead(v *version) {
	s.restored = v.shown
	at, known := s.generatedAt(s.meta)
	if s.published && v.shown && known && !at.After(v.generated) {
		s.back = s.setBack(v)
	}
	v.shown, v.change = true, s.onMeta.Seq
	if known && at.After(v.generated) {
		v.generated = at
	}
	for i := range s.versions {
		s.versions[i].there = s.versions[i].row != nil
	}
}

// setBack compares a version with the one that META led to before; nil if META led to none.
//
// A rollback may have been decided at any time since META first led to the version it replaces, so it need not lead to
// a version written after that. Versions within 2e of each other have no order. A cache may treat a row as gone before
// its ttl, but not one that expires no earlier than the chosen version.
func (s *step) setBack(to *version) *setBack {
	before := s.onMeta.Before
	sk, points := before.Str("current_sk")
	from, known := s.generatedAt(before)
	if i := s.versionAt(sk); i >= 0 && s.versions[i].shown {
		from, known = s.versions[i].generated, !s.versions[i].generated.IsZero()
	}
	if !points || !known || to.generated.IsZero() {
		return nil
	}
	b := &setBack{from: from, to: to.generated}
	for i := range s.versions {
		v := &s.versions[i]
		if v.shown && v.there && v.row != nil && s.older(b.to, v.generated) && s.older(v.generated, from) &&
			outlasts(v.row, to.row, s.onMeta.Time) && (b.skipped == nil || b.skipped.generated.Before(v.generated)) {
			b.skipped = v
		}
	}
	return b
}

// older reports whether a generated_at is before another by any clocks within the promise.
func (p Promise) older(a, b time.Time) bool {
	return farther(a, b, roundedUp(2*p.MaxClockSkew, grain(a, b)))
}

// outlasts reports whether row is not past its ttl at t, and its ttl is not before that of other.
func outlasts(row, other attr.Item, t time.Time) bool {
	ttl, has := row.Int("ttl")
	least, ends := other.Int("ttl")
	return !has || ends && ttl >= least && !Expired(row, t)
}

// generation returns the row of the page that META shows, and its sort key: META itself, or the version that META leads
// to. The row is nil if that version is gone.
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

// visible reports whether META shows a page at t: the row exists, is not past its ttl, and has a page.
func (p *partition) visible(t time.Time) bool { return isPage(p.meta) && !Expired(p.meta, t) }
