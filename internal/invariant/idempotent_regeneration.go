package invariant

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// idempotentRegeneration holds that a regeneration with an idempotency key happens once, however often it is asked for,
// and that a key stands for one set of inputs.
//
// The body of a publish shows its request, so the body store must have been observed. A key is forgotten together with
// its REQ row: from TTLBuffer before the row's ttl on, the key may be used for another request. A pointer that is set
// back to a version that has been visible publishes nothing.
//
// A rendering for other inputs is judged by the states that the REQ row has had since the request was asked for. It is
// a violation if no state had the request's hash, and some state had another hash and was not past its ttl.
var idempotentRegeneration = Invariant{
	Name: "idempotent-regeneration",
	Statement: "while its REQ row is kept, an idempotency key publishes at most once, and renders nothing for " +
		"inputs with another request_hash",
	Check:  onRows(checkRequests),
	Memory: func(p Promise) memory { return newRequested(p, nil) },
}

// requestOf names a regeneration.
type requestOf struct {
	pageOf
	id string
}

func requestNamed(e *history.Event) requestOf {
	return requestOf{pageOf{e.Tenant, e.Key}, e.Request}
}

// claim is a state of a REQ row, and the time for which the row had it.
type claim struct {
	seq         int // the number of the change that made it
	hash        string
	from, until time.Time
	ttl         time.Time // the time from which on the row may count as gone
}

type reqRow struct{ pk, sk string }

// requestRow names the REQ row of a request for a page in a partition.
func requestRow(pk, id string) reqRow { return reqRow{pk, sortRequest + id} }

// forever is an instant after all others.
var forever = time.Unix(math.MaxInt32*100, 0)

func checkRequests(ev Evidence) Finding {
	made := map[string]requestOf{} // the request for which each body was made; its id is "" if there was none
	several := map[string]bool{}   // bodies that were made for several requests, or both for one and for none
	asked := map[string]time.Time{}
	var renderings []*history.Event
	for i := range ev.History {
		e := &ev.History[i]
		if e.Kind != history.Rendered {
			continue
		}
		of, again := made[e.Body]
		made[e.Body] = requestNamed(e)
		several[e.Body] = several[e.Body] || again && of != made[e.Body]
		if e.Request != "" {
			renderings = append(renderings, e)
		}
	}
	if len(renderings) == 0 {
		return ok()
	}
	if slices.ContainsFunc(ev.Changes, func(c ddbfake.Change) bool { return c.Region != ev.Changes[0].Region }) {
		return unknown("the rows are in several regions: which REQ row a request was answered from is not known")
	}
	ofBodyStore := func(c ddbfake.Change) bool { return Publishes(&c) && leads(c.After) }
	if len(ev.Bodies) == 0 && slices.ContainsFunc(ev.Changes, ofBodyStore) {
		return unknown("the body store was not observed: the requests of the publishes are not known")
	}
	shown := bodiesOf(ev)
	early := ev.TTLBuffer + ev.MaxClockSkew
	claims := map[reqRow][]claim{}
	first := map[requestOf]publish{}
	where := places{ev: ev}
	finding, doubt := ok(), ok()
	l := newLedger(ev.promise())
	for request := range Requests(ev.Changes) {
		for i := range request {
			noteClaim(claims, &request[i], early)
		}
		l.take(request, func(s *step) {
			if !s.published || s.restored || finding.Verdict != OK {
				return
			}
			row, _ := s.generation()
			body := shown.by(row, s.onMeta.Seq)
			if body == "" && row != nil && !leads(row) {
				doubt = doubt.or(unknown("change %d publishes a row in which no body can be found that was made: "+
					"which request it is of is not known", s.onMeta.Seq).change(s.onMeta.Seq))
			}
			of := made[body]
			if several[body] {
				doubt = doubt.or(unknown("change %d publishes a body that was made for several requests, or for one "+
					"and for none: which of them it is of is not known", s.onMeta.Seq).change(s.onMeta.Seq))
			}
			if of.id == "" || several[body] {
				return
			}
			before, again := first[of]
			first[of] = publish{s.onMeta, request}
			if !again {
				return
			}
			if kept := keptUntil(claims[requestRow(s.pk, of.id)], before); s.onMeta.Time.Before(kept) {
				finding = Finding{
					Verdict: Violated,
					Why: fmt.Sprintf("%s published for the request %s, for which %s had published %v before",
						s.onMeta.Actor, of.id, before.Actor, s.onMeta.Time.Sub(before.Time)),
					Changes: Story(ev.Changes, []int{before.Seq, s.onMeta.Seq}),
				}
			}
		})
	}
	if finding.Verdict != OK {
		return finding
	}
	rendered := 0
	for i := range ev.History {
		e := &ev.History[i]
		if e.Kind == history.Asked {
			asked[e.Actor] = e.Time
		}
		if rendered == len(renderings) || e != renderings[rendered] {
			continue
		}
		rendered++
		since, known := asked[e.Actor]
		if !known {
			since = e.Time
		}
		pk := where.of(l, e)
		row := requestRow(pk, e.Request)
		if pk == "" || len(claims[row]) == 0 && inputsOf(renderings, e) > 1 {
			doubt = doubt.or(unknown("event %d: %s made %s for the request %s, of which no REQ row is known", e.Seq,
				e.Actor, e.Key, e.Request).event(e.Seq))
			continue
		}
		if other := otherInputs(claims[row], e, since); other != "" {
			return Finding{
				Verdict: Violated,
				Why: fmt.Sprintf("%s made %s for the request %s with the inputs %s, which REQ holds with the inputs %s",
					e.Actor, e.Key, e.Request, e.Inputs, other),
				Events: []int{e.Seq},
			}
		}
	}
	return doubt
}

// inputsOf counts the different inputs of the renderings for the request of e. If there is only one, the request cannot
// have been refused.
func inputsOf(renderings []*history.Event, e *history.Event) int {
	var inputs []string
	for _, r := range renderings {
		if requestNamed(r) == requestNamed(e) && !slices.Contains(inputs, r.Inputs) {
			inputs = append(inputs, r.Inputs)
		}
	}
	return len(inputs)
}

func noteClaim(claims map[reqRow][]claim, c *ddbfake.Change, early time.Duration) {
	id, sk := role(*c)
	if len(sk) <= len(sortRequest) || sk[:len(sortRequest)] != sortRequest {
		return
	}
	of := reqRow{id.pk, sk}
	if states := claims[of]; len(states) > 0 {
		states[len(states)-1].until = c.Time
	}
	if c.After == nil {
		return
	}
	now := claim{seq: c.Seq, from: c.Time, until: forever, ttl: forever}
	now.hash, _ = c.After.Str("request_hash")
	if ttl, has := c.After.Int("ttl"); has {
		now.ttl = time.Unix(ttl, 0).Add(-early)
	}
	claims[of] = append(claims[of], now)
}

// publish is the publish of a page that was made for a request, with all changes of the same transaction.
type publish struct {
	*ddbfake.Change
	with []ddbfake.Change
}

// keptUntil returns the time until which a request is remembered after its publish. Without a REQ row it is remembered
// for ever. If another state of the row was replaced at the very instant of the publish, the request may have been
// forgotten before.
func keptUntil(states []claim, p publish) time.Time {
	kept := forever
	for _, s := range states {
		own := s.seq >= p.with[0].Seq && s.seq <= p.with[len(p.with)-1].Seq
		switch {
		case s.from.After(p.Time):
		case !own && s.from.Equal(p.Time) && kept.Before(s.ttl):
			// only the order of the log says which of the two came first: the earlier end counts
		default:
			kept = s.ttl
		}
	}
	return kept
}

// otherInputs returns the hash of other inputs that the rendering contradicts, or "".
func otherInputs(states []claim, e *history.Event, since time.Time) (other string) {
	for _, s := range states {
		switch {
		case s.from.After(e.Time) || s.until.Before(since):
		case s.hash == e.Inputs:
			return ""
		case s.ttl.After(e.Time):
			other = s.hash
		}
	}
	return other
}

// requested is the memory of idempotentRegeneration. It begins with the first regeneration with a key. It has the
// renderings and publishes, the REQ rows, and the states that these rows have had since each open request was asked
// for. It lacks the order of changes and requests at the same instant, because the judgement does not depend on it.
type requested struct {
	on    bool
	log   ledger
	open  map[string]fingerprint.Hash // by actor: the states of REQ that its open request may have read
	rows  map[reqRow]reqStates
	last  instantSum // of the changes of REQ rows
	early instantSum // of the publishes before the first question
	sum   fingerprint.Hash
	text  words
	body  bodyNamed
}

// instantSum is the hash sum of the events at the latest instant.
type instantSum struct {
	at  time.Time
	sum fingerprint.Hash
}

func (s *instantSum) add(at time.Time, h fingerprint.Hash) {
	if !at.Equal(s.at) {
		s.at, s.sum = at, 0
	}
	s.sum += h
}

// of is the sum of an instant; 0 if it is not the latest one.
func (s *instantSum) of(at time.Time) fingerprint.Hash {
	if !s.at.Equal(at) {
		return 0
	}
	return s.sum
}

// publish notes a publish after the first question, or at the same instant.
func (m *requested) publish(h fingerprint.Hash, at time.Time) {
	if m.on {
		m.sum += h
	} else {
		m.early.add(at, h)
	}
}

func newRequested(p Promise, text words) *requested {
	return &requested{log: *newLedger(p), text: text}
}

// reqStates are the hashes of a REQ row.
type reqStates struct {
	before, now fingerprint.Hash // before the row's latest change, and since then
	at          time.Time        // when that change was made
}

func (m *requested) Change(c ddbfake.Change) {
	m.log.take([]ddbfake.Change{c}, func(s *step) {
		if row, sk := s.generation(); s.published && !s.restored {
			version := fingerprint.Hash(0).Text(s.pk).Text(m.text.of(sk))
			m.publish(m.body.of(version, row, m.text).Number(uint64(c.Time.UnixNano())), c.Time)
		}
	})
	id, sk := role(c)
	if len(sk) <= len(sortRequest) || sk[:len(sortRequest)] != sortRequest {
		return
	}
	if m.rows == nil {
		m.rows = map[reqRow]reqStates{}
	}
	hash, _ := c.After.Str("request_hash")
	ttl, _ := c.After.Int("ttl") // by the sender's clock, so it does not follow from the time alone: see keptUntil
	h := fingerprint.Hash(0).Text(m.text.of(hash)).Number(uint64(c.Time.UnixNano())).Number(uint64(ttl))
	states := m.rows[reqRow{id.pk, sk}]
	if !c.Time.Equal(states.at) {
		states.before, states.at = states.now, c.Time
	}
	states.now = h
	m.rows[reqRow{id.pk, sk}] = states
	m.last.add(c.Time, h)
	m.sum += h.Text(id.pk).Text(sk) // even before the first question, which will note these states
	//isrsim:unordered each by itself
	for actor := range m.open {
		m.open[actor] += h // may belong to another request; that makes more states, but hides no violation
	}
}

func (m *requested) Heeds(e *history.Event) bool {
	return e == nil || e.Request != "" || len(m.open) > 0
}

func (m *requested) Clone() memory {
	c := &requested{on: m.on, open: maps.Clone(m.open), rows: maps.Clone(m.rows), last: m.last, early: m.early,
		sum: m.sum, text: m.text, body: m.body}
	m.log.copyTo(&c.log)
	return c
}

func (m *requested) Event(e history.Event) {
	switch {
	case e.Kind == history.Rendered && e.Request != "":
		m.sum += fingerprint.Hash(0).Text(e.Tenant).Text(e.Key).Text(e.Request).Text(e.Inputs).Text(m.text.of(e.Body))
	case e.Kind == history.Asked && e.Request != "":
		if !m.on {
			m.sum += m.early.of(e.Time)
		}
		m.on = true
		if m.open == nil {
			m.open = map[string]fingerprint.Hash{}
		}
		m.text.of(e.Actor) // numbers names in the order of events, which Fingerprint does not have
		m.open[e.Actor] = m.claimed(&e).Text(e.Request).Number(uint64(e.Time.UnixNano()))
		m.open[e.Actor] += m.last.of(e.Time)
	case e.Kind == history.Served, e.Kind == history.Failed, e.Kind == history.Crashed:
		delete(m.open, e.Actor)
	}
}

// claimed is the REQ row of a request before this instant. If a cache has its own partition keys, the row may be in
// any partition.
func (m *requested) claimed(e *history.Event) (sum fingerprint.Hash) {
	before := func(s reqStates) fingerprint.Hash {
		if s.at.Equal(e.Time) {
			return s.before
		}
		return s.now
	}
	if s, known := m.rows[requestRow(isr.PartitionKey(e.Tenant, e.Key), e.Request)]; known {
		return before(s)
	}
	//isrsim:unordered a sum has no order
	for row, s := range m.rows {
		if row.sk == sortRequest+e.Request {
			sum += before(s)
		}
	}
	return sum
}

func (m *requested) Fingerprint(now time.Time) uint64 {
	h := m.sum
	if !m.on { // a question at this instant will note them
		h += m.early.of(now)
	}
	//isrsim:unordered a sum has no order
	for actor, read := range m.open {
		h += read.Text(m.text.of(actor))
	}
	if m.on { // then it will note the next publish
		h = h.Number(1)
	}
	return uint64(h)
}
