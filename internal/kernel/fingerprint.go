package kernel

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/kernel/symmetry"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/internal/trace/request"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// fingerprinter follows a world and knows the fingerprint of its rows, its bodies, its origin and the memory of its
// invariants. The rest of the state (the names that were given out, the strikes of certain faults) follows from the
// answers that the actors got, and package sim includes these answers.
type fingerprinter struct {
	// oldVersions says that stale reads can still see old versions of a row, which are then part of its fingerprint.
	oldVersions bool
	// ordered says that a read can see the order in which rows were last written (see showsOrder): order has it. If
	// lags is set, there is a replica lag, and order has a row once for each of its writes.
	ordered, lags bool
	order         []rowName

	regions  bool // there are several
	own      bool // rows have the cache's own names, and are judged in translated form
	rows     map[rowName]fingerprint.Hash
	sum      fingerprint.Hash // the sum over rows, bodies and versions, which have no order
	tables   fingerprint.Hash // see world.noteTables
	memories []recorder.Memory
	seen     int // events
	// shared says for each memory, and in its last entry for the rows, that a clone shares it until either side changes
	// it.
	shared    []bool
	symmetric symmetry.Actors
}

// memory has the methods that every recorder.Memory has: Clone, and Heeds, which reports whether a change (nil) or an
// event may alter it.
type memory interface {
	recorder.Memory
	Clone() recorder.Memory
	Heeds(*history.Event) bool
}

// clone returns a copy.
func (p *fingerprinter) clone() *fingerprinter {
	for i := range p.shared {
		p.shared[i] = true
	}
	c := *p
	c.memories, c.shared, c.order = slices.Clone(p.memories), slices.Clone(p.shared), slices.Clone(p.order)
	return &c
}

// tell passes a change or an event to the memories that heed it; the other parameter is nil.
func (p *fingerprinter) tell(c *ddbfake.Change, e *history.Event) {
	for i, m := range p.memories {
		if own, can := m.(memory); can && !own.Heeds(e) {
			continue
		} else if can && p.shared[i] {
			m = own.Clone()
			p.memories[i], p.shared[i] = m, false
		}
		if c != nil {
			m.Change(*c)
		} else {
			m.Event(*e)
		}
	}
}

// showsOrder says whether a read can see in which order different rows were written: a stale read of several rows sees
// them as they were before the last write of any of them.
func showsOrder(s *spec.Scenario) bool {
	return slices.ContainsFunc(s.Faults, func(f spec.Fault) bool {
		return f.Kind == ddbfake.FaultStaleRead &&
			slices.Contains([]string{"", "Query", "Scan", "ExecuteStatement", "BatchExecuteStatement"}, f.Op)
	})
}

// rowName names a row; region is "" if the table is in only one. A row may be translated to one with the same name.
type rowName struct {
	region, pk, sk string
	translated     bool
}

// rowOf returns the row of a key; false if the key's attributes are not pk and sk.
func rowOf(key map[string]types.AttributeValue) (rowName, bool) {
	pk, _ := key["pk"].(*types.AttributeValueMemberS)
	sk, _ := key["sk"].(*types.AttributeValueMemberS)
	if pk == nil || sk == nil {
		return rowName{}, false
	}
	return rowName{pk: pk.Value, sk: sk.Value}, true
}

// newFingerprinter returns the fingerprinter of a world. The parameter text removes the names of symmetric actors from
// a text, body returns a body of the world, and recipe says that the rules of the recipe are promised.
func newFingerprinter(s *spec.Scenario, recipe bool, text, body func(string) string) *fingerprinter {
	promise := invariant.Promise{MaxClockSkew: s.Skew, Revalidate: s.Cache.Revalidate}
	promise.Recipe = recipe
	p := &fingerprinter{
		oldVersions: s.ReplicaLag > 0, ordered: showsOrder(s), lags: s.ReplicaLag > 0, regions: s.Regions() != nil,
		own: isMapped(s), rows: map[rowName]fingerprint.Hash{},
		memories: s.Subject().Memories(subject.Past{Promise: promise, Asks: asking(s), Text: text, Body: body}),
	}
	p.shared = make([]bool, len(p.memories)+1)
	for _, f := range s.Faults {
		p.oldVersions = p.oldVersions || f.Kind == ddbfake.FaultStaleRead
	}
	return p
}

// change notes an entry of the change log that is judged.
func (p *fingerprinter) change(c ddbfake.Change) {
	p.symmetric.Text(c.Actor) // the actor counts as met, even if the row does not name it
	p.row(c, p.own)
	p.tell(&c, nil)
}

// row notes a changed row, as the table has it or as it is translated.
func (p *fingerprinter) row(c ddbfake.Change, translated bool) {
	name := rowName{translated: translated}
	var pk, sk bool
	name.pk, pk = c.Key.Str("pk")
	name.sk, sk = c.Key.Str("sk")
	own := !pk || !sk || c.Table != hooks.TableName
	if own { // the key has other names, or the row is in another table
		name.pk, name.sk = c.Table, c.Key.String()
	}
	if p.regions {
		name.region = c.Region
	}
	p.symmetric.Key(name.pk)
	p.symmetric.Key(name.sk)
	if p.ordered && !translated {
		if i := slices.Index(p.order, name); i >= 0 && !p.lags {
			p.order = slices.Delete(p.order, i, i+1)
		}
		p.order = append(p.order, name)
	}
	before, now := p.rows[name], fingerprint.Hash(0)
	if p.oldVersions {
		now = before.Number(uint64(c.Time.UnixNano()))
	}
	if c.After != nil || p.oldVersions {
		now = now.Number(uint64(request.ItemFingerprint(c.After, p.symmetric.Value)))
	}
	if own && now != 0 { // a row with this key may be in several tables
		now = now.Text(c.Table)
	}
	if p.regions && now != 0 { // the same row may be in several regions
		now = now.Text(name.region)
	}
	if translated && now != 0 {
		now = now.Number(1)
	}
	if rows := len(p.memories); p.shared[rows] {
		p.rows, p.shared[rows] = maps.Clone(p.rows), false
	}
	p.rows[name] = now
	p.sum += now - before
}

// named is the fingerprint of the rows that a request to a region names; false if the keys of some rows are not pk and
// sk.
func (p *fingerprinter) named(region string, in any) (sum fingerprint.Hash, known bool) {
	known = true
	every := request.EachRow(in, func(table *string, key map[string]types.AttributeValue, _ bool) {
		row, is := rowOf(key)
		is = is && aws.ToString(table) == hooks.TableName
		row.region = region
		sum += p.rows[row].Text(row.pk).Text(row.sk)
		known = known && is
	})
	return sum, known && every
}

// events notes the new events of the history. A memory must hear of an event before it hears of changes that came after
// the event.
func (p *fingerprinter) events(all []history.Event) {
	for i := range all {
		p.seen = all[i].Seq
		p.tell(nil, &all[i])
	}
}

// thing notes a change of a body or of the origin's data, by the hashes before and after; 0 means nothing.
func (p *fingerprinter) thing(before, now fingerprint.Hash) { p.sum += now - before }

// ofToken returns a function to call when a request has been served. A ClientRequestToken that code chose may come
// again from a node that did not observe the first transaction, so the world's fingerprint covers what the token stands
// for.
func (w *world) ofToken(input any) (served func()) {
	token := ""
	if w.fingerprinter != nil {
		token = w.givenToken(input)
	}
	if token == "" {
		return func() {}
	}
	before := w.db.Token(token)
	return func() {
		if now := w.db.Token(token); now != before {
			w.fingerprinter.thing(fingerprint.Hash(before), fingerprint.Hash(now))
			w.told = w.changed()
		}
	}
}

// noteTables notes a request that may have changed more than rows: the tables, their settings, streams and tags, and
// their backups, which hold old rows. The sequence of such requests determines all of that. Such a request counts even
// when its sender is done.
func (w *world) noteTables(r *storeRequest) {
	if w.fingerprinter == nil || !request.ChangesTables(r.call.Input) || r.err != nil && !takesEffect(w.struck) {
		return
	}
	p := w.fingerprinter
	p.tables = p.tables.Text(r.call.Region).Text(r.SortKey()).Number(uint64(w.clock.Now().UnixNano())).
		Number(uint64(p.sum))
	w.told = w.changed()
}

func bodyFingerprint(name string, body []byte, text request.Text) fingerprint.Hash {
	if body == nil {
		return 0
	}
	return fingerprint.Hash(0).Text(bodyObject).Text(text("", name)).Text(text("", string(body)))
}

// fingerprint is the fingerprint of the world, for sim.Config.
func (w *world) fingerprint() uint64 {
	p := w.fingerprinter
	p.events(w.history.Since(p.seen))
	h := p.sum
	if p.tables != 0 {
		h = h.Number(uint64(p.tables))
	}
	for _, row := range p.order {
		h = h.Text(row.region).Text(row.pk).Text(row.sk)
	}
	for _, m := range p.memories {
		h = h.Number(m.Fingerprint(w.clock.Now()))
	}
	for _, f := range w.possible {
		h = h.Number(uint64(f.left))
	}
	for _, f := range w.certain {
		h = h.Number(uint64(f.calls))
	}
	h = h.Number(uint64(w.swept))
	if w.replicator != nil {
		h = h.Number(uint64(w.replicator.fingerprint()))
	}
	now := w.clock.Now().Unix()
	for _, at := range w.deadlines.At {
		if at > now { // time will still stop at this instant
			h = h.Number(uint64(at))
		}
	}
	if at := w.deadlines.Last(); at > now {
		h = h.Number(uint64(at))
	}
	for _, at := range w.deadlines.Fine {
		if at > w.clock.Now().UnixNano() {
			h = h.Number(uint64(at))
		}
	}
	return uint64(h)
}

func (r *storeRequest) AnswerFingerprint() (uint64, bool) { return r.print(request.AsItIs) }

// AnswerUpToNames implements sim.UpToNames.
func (r *storeRequest) AnswerUpToNames() uint64 {
	print, _ := r.print(r.node.world.fingerprinter.symmetric.Value)
	return print
}

func (r *storeRequest) print(value request.Text) (uint64, bool) {
	h, known := request.AnswerFingerprint(r.out, r.err, value)
	in, transacts := r.call.Input.(*dynamodb.TransactWriteItemsInput)
	once := transacts && in.ClientRequestToken != nil
	if once && r.hidden && r.changed == 0 {
		// The transaction changed no row, but it may have taken effect all the same and used up its token. Its rows
		// decide that, so the fingerprint covers them.
		rows, known := r.node.world.fingerprinter.named(r.call.Region, in)
		if !known {
			return 0, false
		}
		h = h.Number(uint64(rows))
	}
	if once && (r.err == nil || r.hidden) { // its token is used up for some minutes from now on, so the time matters
		h = h.Number(uint64(r.node.world.clock.Now().UnixNano()))
	}
	if r.err != nil && request.Retryable(r.err) { // the next attempt counts as sent with this one
		h = h.Number(uint64(r.call.Sent.UnixNano()))
	}
	return uint64(h.Number(uint64(r.changed))), known
}

var (
	_ sim.Fingerprinter = (*storeRequest)(nil)
	_ sim.Fingerprinter = (*bodyRequest)(nil)
	_ sim.UpToNames     = (*storeRequest)(nil)
	_ sim.UpToNames     = (*bodyRequest)(nil)
)

// symmetricOf finds the actors that differ only by name. The protocol must do the same under any name.
func symmetricOf(s *spec.Scenario) symmetry.Actors {
	t := symmetry.Actors{Class: map[string]int{}}
	// A fault may name one actor, and delays are drawn by the actor's name.
	if s.Regions() != nil || slices.ContainsFunc(s.Faults,
		func(f spec.Fault) bool { return f.Actor != "" || f.LatencyUpTo > 0 }) {
		return t
	}
	for _, a := range s.Actors {
		same := func(b spec.Actor) bool {
			b.Name = a.Name
			return reflect.DeepEqual(a, b)
		}
		first := slices.IndexFunc(s.Actors, same)
		if slices.ContainsFunc(s.Actors[first+1:], same) && !strings.Contains(fmt.Sprint(a.Script), a.Name) {
			t.Class[a.Name] = first + 1
			t.Names = append(t.Names, a.Name)
		}
	}
	return t
}

// Rank implements sim.Symmetry.
func (w *world) Rank(actor string) int { return w.fingerprinter.symmetric.Rank(actor) }

// Broken implements sim.Symmetry.
func (w *world) Broken() bool { return w.fingerprinter.symmetric.Keyed }

// classOf returns the class of a symmetric actor, or 0.
func (w *world) classOf(actor string) int {
	if w.fingerprinter == nil {
		return 0
	}
	return w.fingerprinter.symmetric.Class[actor]
}

// covered measures the coverage of a run.
type covered struct {
	sim    *sim.Sim
	order  sim.Order
	states []uint64
}

// by wraps a strategy so that c measures the coverage of its run.
func (c *covered) by(s sim.Strategy) sim.Strategy {
	if s.New == nil {
		s = sim.RandomWalk
	}
	ordered := c.order.Of(s)
	return sim.Strategy{Name: s.Name, New: func(rng *rand.Rand, expectedSteps int) sim.Chooser {
		return &watcher{ordered.New(rng, expectedSteps), c}
	}}
}

type watcher struct {
	sim.Chooser
	covered *covered
}

func (w *watcher) Watch(s sim.Step) {
	w.covered.states = append(w.covered.states, w.covered.sim.Fingerprint())
	if next, ok := w.Chooser.(sim.Watcher); ok {
		next.Watch(s)
	}
}
