package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/audit/evidence"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Options have the meaning of the rows, and the promises.
type Options struct {
	Rows    isr.Schema // how pages and locks are kept, if not in META and LOCK
	Promise invariant.Promise
	Of      Kind // what the rows are; the default is Pages
	// Fence is the attribute of a lock's row with its fencing token, a number that rises with each holder; "" is none.
	Fence string
	// Table is the one table to judge; "" is all tables.
	Table string
	// OnFinding, if set, is called with each finding as soon as it is made.
	OnFinding func(Finding)
}

// Finding is a violation, or a doubt: a part of the history that could not be judged.
type Finding struct {
	Invariant string
	Verdict   invariant.Verdict // invariant.Violated or invariant.Unknown
	Why       string            // one sentence
	Key       string            // the row, or the table
	// For a gap, From and To are the times between which the history is not known.
	From, To time.Time
	Steps    []Step // the last changes of the key, the decisive one last
}

// Judge judges records as they come. It is not safe for concurrent use.
type Judge struct {
	o          Options
	translator *rowmap.Translator // nil without a mapping
	watchers   *invariant.Watchers
	chains     map[string]*chain
	partitions map[place]*partition
	buffer     []ddbfake.Change
	again      bool // rows are taken in once more, after a gap
	result     Result
	complete   map[string]bool // tables whose state before the history is known from a full export
	blind      map[string]bool // tables with records that lack images
}

// place names the rows of one page or lock.
type place struct{ region, table, pk string }

// partition is the state of one page and its lock, as far as it is known.
type partition struct {
	place
	lease     invariant.LeaseFacts
	lockRow   string    // the name of the row with the lock
	holder    string    // the last token of the lock
	taken     time.Time // when the lease was taken, as far as it is known
	left      time.Time // when the lease ended because its row was removed or given back
	fence     attr.Value
	was, page invariant.PageFacts // before and after the last change of META
	another   bool                // that change showed another page than before
	ended     bool                // it ended the freshness of the page that it left
	removed   time.Time           // when a client last removed META
	ttl       attr.Item           // META, if it has a ttl
	cut       time.Time           // the last invalidation after which no newer page has come
	versions  map[string]presence // versions whose rows have been seen to come or go
	dangling  *dangling           // nil if META leads to nothing that is missing
	rows      int                 // the rows that exist
	gone      []string            // the versions whose rows went last
	rollback  bool                // the last change may have been a rollback
	changes   int
	steps     []Step
}

// New returns a judge. The error is about Options.Rows.
func New(o Options) (*Judge, error) {
	o.Of = cmp.Or(o.Of, Pages)
	mapping, err := rowmap.New(o.Rows)
	if err != nil {
		return nil, err
	}
	j := &Judge{
		o: o, chains: map[string]*chain{}, partitions: map[place]*partition{}, complete: map[string]bool{},
		blind: map[string]bool{},
	}
	if mapping != nil {
		j.translator = mapping.Translator()
	}
	j.watchers = invariant.WatchAll(o.Promise, watched(o)...)
	j.result.begin(o)
	return j, nil
}

// watched returns the invariants that package invariant judges by the rows alone, under the options.
func watched(o Options) (all []invariant.Invariant) {
	for _, p := range promises {
		if inv, known := invariant.Find(p.name); known && p.watched && p.judges(o) {
			all = append(all, inv)
		}
	}
	return all
}

// Take judges the next record. Of its images it keeps what later records are judged by, with long values shortened.
func (j *Judge) Take(r *evidence.Record) {
	if j.o.Table != "" && r.Table != j.o.Table {
		j.result.Foreign++
		return
	}
	if !r.Images {
		if !j.blind[r.Table] {
			j.blind[r.Table] = true
			j.gap(Finding{Key: r.Table, From: r.Time, Why: "the stream has no images of the rows before and after a " +
				"change: set its view to NEW_AND_OLD_IMAGES"})
		}
		return
	}
	if r.Key == nil {
		j.result.keyless = true
		return
	}
	name := rowName(r)
	key := r.Region + " " + name
	c := j.chains[key]
	known := c != nil
	if !known {
		c = &chain{}
	}
	before, was := c.time, c.there
	how := c.link(r, known)
	if how == duplicate {
		j.result.Duplicates++
		return
	}
	if !known {
		j.chains[key] = c
	}
	j.result.see(r)
	if r.State {
		j.complete[r.Table] = true
	}
	judge := !r.State && !r.Net
	switch {
	case how == broken && !r.Net:
		j.gap(Finding{Key: name, From: time.Unix(0, before).UTC(), To: r.Time, Why: "changes of " + name +
			" are missing: the record at " + r.Place.String() + " does not begin with the row as it was last seen"})
		j.again = was
		j.adopt(r, name, r.Before)
		j.again = false
	case how == first && r.Before != nil:
		j.adopt(r, name, r.Before)
	}
	j.take(r, name, r.Before, r.After, judge)
	j.forget(r)
}

// Gap notes a part of the history that the source does not have.
func (j *Judge) Gap(g evidence.Gap) {
	key := g.Table
	if key == "" {
		key = g.Place.File
	}
	j.gap(Finding{Key: key, From: g.From, To: g.To, Why: g.Why})
}

func (j *Judge) gap(f Finding) {
	f.Invariant, f.Verdict = theHistory, invariant.Unknown
	j.tell(f)
}

// adopt takes in a row as it was before a record, without judging how it came.
func (j *Judge) adopt(r *evidence.Record, name string, row attr.Item) {
	j.take(r, name, nil, row, false)
}

// take translates a change, and judges it if asked to.
func (j *Judge) take(r *evidence.Record, name string, before, after attr.Item, judge bool) {
	j.result.Changes++
	cause := ddbfake.CauseClient
	if r.TTL {
		cause = ddbfake.CauseTTL
	}
	latest := r.Time.Add(r.Unit - 1)
	before, after = shrunk(before), shrunk(after)
	c := ddbfake.Change{
		Seq: j.result.Changes, Request: j.result.Changes, Time: latest, Sent: latest, Cause: cause,
		Region: r.Region, Table: r.Table, Key: r.Key, Before: before, After: after,
	}
	if j.o.Of == Calls {
		c.Actor = holderOf(after, before)
	}
	j.buffer = j.buffer[:0]
	if j.translator != nil {
		j.buffer = j.translator.Append(j.buffer, &c)
	} else if isRow(&c) {
		j.buffer = append(j.buffer, c)
	}
	if len(j.buffer) == 0 {
		j.result.Others++
		return
	}
	for i := range j.buffer {
		j.row(r, name, after, &j.buffer[i], judge)
	}
}

// shrunk returns a row in which long values are replaced by shorter ones, which are equal if the values are: a page may
// have hundreds of kilobytes, and the last row of each key is remembered.
func shrunk(row attr.Item) attr.Item {
	const long = 512
	copied := false
	//isrsim:unordered each by itself
	for name, v := range row {
		var size int
		switch v := v.(type) {
		case attr.S:
			size = len(v)
		case attr.B:
			size = len(v)
		}
		if size <= long {
			continue
		}
		if !copied {
			row, copied = maps.Clone(row), true
		}
		row[name] = attr.S(fmt.Sprintf("%x", fingerprint.Of(appendValue(nil, v))))
	}
	return row
}

// row judges the change of one translated row, which the table keeps as row.
func (j *Judge) row(r *evidence.Record, name string, row attr.Item, c *ddbfake.Change, judge bool) {
	pk, _ := c.Key.Str("pk")
	sk, _ := c.Key.Str("sk")
	p := j.partition(place{c.Region, c.Table, pk})
	if sk == isr.SortMeta {
		c.Before, c.After = unlocked(c.Before), unlocked(c.After)
		p.read(c, j.o.Promise)
	}
	p.note(p.step(r, name, sk, c, j.o.Of), judge)
	switch {
	case sk == isr.SortLock:
		p.lockRow = name
		c.Actor = tokenOf(c, p.holder)
		if now := invariant.Lease(c.After); now.Token != "" {
			j.fence(p, now.Token, row, judge)
		}
	case sk == isr.SortMeta:
		c.Actor = p.lease.Token
		if judge && j.o.Of == Calls {
			j.replaced(r, p, c)
		}
		j.undone(r, p, c, judge && j.o.Of == Pages)
	case rowmap.RoleOf(sk) == rowmap.Version:
		p.version(sk, c.After != nil)
	}
	// A version to which META may have led before is the older page of a rollback.
	p.rollback = sk == isr.SortMeta && p.page.Version != "" && p.versions[p.page.Version] != fresh
	j.watchers.Take([]ddbfake.Change{*c}, func(inv *invariant.Invariant, f invariant.Finding) {
		known := judge || (r.Net || r.State) && inv.Name == wellFormed // the last image alone decides
		if known && !(p.rollback && inv.Name == monotonic) {
			j.say(p, inv.Name, f.Verdict, reason(inv.Name, sk, c.Actor, f.Why))
		}
	})
	if sk == isr.SortMeta {
		p.led(p.page.Version, judge)
	}
	j.result.count(r, p, sk, c, judge)
	if sk == isr.SortLock {
		p.lock(r, c)
	}
	j.pointer(r, p, sk, judge)
	if p.rows += exists(c.After) - exists(c.Before); j.again {
		p.rows--
	}
}

func exists(row attr.Item) int {
	if row == nil {
		return 0
	}
	return 1
}

func (j *Judge) violated(p *partition, name, why string, args ...any) {
	j.say(p, name, invariant.Violated, fmt.Sprintf(why, args...))
}

// say makes a finding about a page or a lock.
func (j *Judge) say(p *partition, name string, verdict invariant.Verdict, why string) {
	j.tell(Finding{Invariant: name, Verdict: verdict, Why: why, Key: p.name(), Steps: slices.Clone(p.steps)})
}

func (j *Judge) tell(f Finding) {
	j.result.keep(f)
	if j.o.OnFinding != nil {
		j.o.OnFinding(f)
	}
}

// read notes what a change of META does to the page.
func (p *partition) read(c *ddbfake.Change, promise invariant.Promise) {
	p.was, p.page = invariant.Page(promise, c.Before), invariant.Page(promise, c.After)
	p.another = invariant.ShowsAnother(c)
	p.ended = c.After != nil && !p.another && p.was.FreshUntil.After(c.Time) && !p.page.FreshUntil.After(c.Time)
	p.ttl = nil
	if ttl := c.After["ttl"]; ttl != nil {
		p.ttl = attr.Item{"ttl": ttl}
	}
}

// undone judges whether a change of META undoes an invalidation.
func (j *Judge) undone(r *evidence.Record, p *partition, c *ddbfake.Change, judge bool) {
	switch generated := p.page.Generated; {
	case p.ended:
		p.cut = r.Time
	case !p.another, p.cut.IsZero(), generated.IsZero(), !p.page.FreshUntil.After(c.Time):
	case generated.Add(unit(generated) + j.o.Promise.MaxClockSkew).After(p.cut):
		p.cut = time.Time{}
	case judge:
		j.violated(p, lostInvalid, "a page was published as fresh whose data was read %s before the page was "+
			"invalidated", span(generated, p.cut))
	}
}

// replaced judges whether a change of META replaces or removes the result of a call before it may be forgotten.
func (j *Judge) replaced(r *evidence.Record, p *partition, c *ddbfake.Change) {
	if !p.was.Shown || r.TTL || !p.was.FreshUntil.After(c.Time.Add(j.o.Promise.MaxClockSkew)) {
		return
	}
	switch kept := span(c.Time, p.was.FreshUntil); {
	case !p.page.Shown:
		j.violated(p, effectOnce, "a result was removed %s before it may be forgotten", kept)
	case p.another && p.page.Content != p.was.Content:
		j.violated(p, sameResult, "a call was completed again with another result, %s before the first may be "+
			"forgotten", kept)
	}
}

// fence judges the fencing token of a lock that is held.
func (j *Judge) fence(p *partition, holder string, row attr.Item, judge bool) {
	token, is := row[j.o.Fence].(attr.N)
	if !is {
		return
	}
	j.result.fenced = true
	before, had := p.fence.(attr.N)
	if had && judge {
		switch {
		case token.Cmp(before.Number) < 0:
			j.violated(p, guardedWrite, "the fencing token fell from %s to %s", before, token)
		case holder != p.holder && token.Cmp(before.Number) == 0:
			j.violated(p, guardedWrite, "another holder got the same fencing token, %s", token)
		}
		j.result.judged[guardedWrite]++
	}
	if !had || judge || token.Cmp(before.Number) > 0 { // after a gap, the higher token counts as given
		p.fence = token
	}
}

// settle is how long META may lead to a version that is not there: the writes of one transaction are not marked in a
// stream, and their times may differ.
const settle = 2 * time.Second

// dangling is a pointer to a version that is not there. Only the next record of META shows whether the pointer was
// still there.
type dangling struct {
	since time.Time
	alone bool // TTL deleted the version, and TTL deletes each row by itself
	steps []Step
}

// pointer judges whether META leads to a version that is there. Versions whose rows were never seen may be older than
// the history.
func (j *Judge) pointer(r *evidence.Record, p *partition, sk string, judge bool) {
	if d := p.dangling; d != nil && sk == isr.SortMeta {
		if judge && (d.alone || r.Time.Sub(d.since) > settle+r.Unit) {
			j.tell(Finding{Invariant: danglingPointer, Verdict: invariant.Violated, Key: p.name(), Steps: d.steps,
				Why: fmt.Sprintf("META led to %s, whose row was not there", p.was.Version)})
		}
		p.dangling = nil
	}
	there, seen := p.versions[p.page.Version]
	switch {
	case p.page.Version == "", !p.page.Shown, invariant.Expired(p.ttl, r.Time.Add(settle)),
		seen && there != gone, !seen && !j.complete[r.Table]:
		p.dangling = nil
	case p.dangling == nil && judge:
		p.dangling = &dangling{r.Time, r.TTL, slices.Clone(p.steps)}
	}
}

// presence says what is known of a version's row.
type presence uint8

const (
	gone  presence = iota
	there          // META may have led to it before
	fresh          // META has never led to it
)

// version notes that a version's row came or went.
func (p *partition) version(sk string, is bool) {
	if p.versions == nil {
		p.versions = map[string]presence{}
	}
	switch was := p.versions[sk]; {
	case !is:
		p.versions[sk] = gone
		if p.gone = append(p.gone, sk); len(p.gone) > keptGone {
			if p.versions[p.gone[0]] == gone && p.gone[0] != p.page.Version {
				delete(p.versions, p.gone[0])
			}
			p.gone = p.gone[1:]
		}
	case sk == p.page.Version:
		p.versions[sk] = there
	case was == gone:
		p.versions[sk] = fresh
	}
}

// keptGone is the number of a page's versions that are remembered when their rows are gone.
const keptGone = 32

// led notes that META leads to a version or, after a gap, that it may have led to any.
func (p *partition) led(to string, judge bool) {
	for sk, is := range p.versions { //isrsim:unordered each by itself
		if is == fresh && (sk == to || !judge) {
			p.versions[sk] = there
		}
	}
}

// lock notes the lease after a change of LOCK.
func (p *partition) lock(r *evidence.Record, c *ddbfake.Change) {
	now := invariant.Lease(c.After)
	switch {
	case now.Token == "" && p.lease.Token != "":
		p.left = r.Time
	case now.Token != p.lease.Token:
		p.taken = r.Time
	}
	if p.lease = now; now.Token != "" {
		p.holder = now.Token
	}
}

// maxSteps is the number of changes that a finding shows.
const maxSteps = 8

// note keeps a change for the findings to come.
func (p *partition) note(s Step, judged bool) {
	s.Adopted = !judged
	if len(p.steps) == maxSteps {
		p.steps = append(p.steps[:0], p.steps[1:]...)
	}
	p.steps = append(p.steps, s)
	p.changes++
}

// partition returns the rows of a page or lock.
func (j *Judge) partition(at place) *partition {
	p := j.partitions[at]
	if p == nil {
		p = &partition{place: at}
		j.partitions[at] = p
	}
	return p
}

// forgotten is how long the end of a row is remembered.
const forgotten = 24 * time.Hour

// sweepEvery is the number of records between two removals of rows that are gone.
const sweepEvery = 1 << 16

// forget drops, now and then, the rows that are gone for long.
func (j *Judge) forget(r *evidence.Record) {
	if j.result.Records%sweepEvery != 0 {
		return
	}
	before := r.Time.Add(-forgotten)
	//isrsim:unordered each by itself
	for name, c := range j.chains {
		if !c.there && c.time < before.UnixNano() {
			delete(j.chains, name)
		}
	}
	//isrsim:unordered each by itself
	for at, p := range j.partitions {
		if p.rows <= 0 && (len(p.steps) == 0 || p.steps[len(p.steps)-1].Time.Before(before)) {
			j.watchers.Forget(&ddbfake.Change{Region: at.region, Table: at.table,
				Key: attr.Item{"pk": attr.S(at.pk), "sk": attr.S(isr.SortMeta)}})
			j.result.retire(p)
			delete(j.partitions, at)
		}
	}
}
