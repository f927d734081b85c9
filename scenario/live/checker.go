package live

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	engine "github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/trace/describe"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Options configure a Checker.
type Options struct {
	// Invariants are the invariants to check; nil means Invariants(), with the rules of the recipe only if
	// Promise.Recipe is set (breaking one serves no wrong page). With an empty list nothing is judged, so the verdict
	// is Unknown. A caller's own invariant needs a Watch, and a name that none of Invariants() has. If it has no Watch,
	// that is reported once, as a doubt.
	Invariants []invariant.Invariant
	Promise    invariant.Promise
	Start      time.Time // printed times of a Broken count from this instant; default: the first change of the log
	// OnBroken, if set, is called with each violation and doubt that Found keeps, before the Look that found it
	// returns. It must not call the Checker.
	OnBroken func(Broken)
	// Rows says how the caches keep their pages and locks, if not in META and LOCK. If it is set, only the rows that it
	// describes are judged, in tables with any keys. A wrong Schema is a doubt: see Found.
	Rows isr.Schema
	// Except are actors whose changes are not judged, such as a program that sets up rows. Their writes still count as
	// the past of later changes. Rows from DB.Load, or restored from a backup, are not judged either.
	Except []string
	// Clock is the clock of the DB. It gives the events of Tell their times. If it is nil, Tell refuses events.
	Clock ddbfake.Clock
}

// Invariants returns the invariants that can be checked while a change log is written: first those with a Watch, then
// those that also need a history from the clients (Checker.Tell).
func Invariants() []invariant.Invariant {
	all := slices.DeleteFunc(invariant.All(), func(inv invariant.Invariant) bool { return inv.Watch == nil })
	return append(all,
		slices.DeleteFunc(invariant.All(), func(inv invariant.Invariant) bool { return !byHistory(inv) })...)
}

// Broken is one violation or one doubt. A doubt is a reason why it is unknown whether there is a violation.
type Broken struct {
	Invariant invariant.Invariant
	Verdict   invariant.Verdict // invariant.Violated or invariant.Unknown
	Why       string
	Actor     string           // the actor of the decisive change; "" for TTL
	Changes   []ddbfake.Change // the few changes that show it, the decisive one last
	Events    []history.Event  // the few events of clients that show it
	start     time.Time
	rows      *rowmap.Mapping
}

// String prints invariant, actor, statement, reason and changes, over several lines. Times count from Options.Start.
func (b Broken) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s: %s", b.Verdict, b.Invariant.Name)
	if b.Actor != "" {
		fmt.Fprintf(&s, " by %s", b.Actor)
	}
	fmt.Fprintf(&s, "\n%s: %s\n%s\n", b.Invariant.Name, b.Invariant.Statement, b.Why)
	events := b.Events
	for _, c := range b.Changes {
		for ; len(events) > 0 && events[0].Change < c.Seq; events = events[1:] {
			fmt.Fprintf(&s, "  %s\n", describe.Event(events[0], b.start))
		}
		fmt.Fprintf(&s, "  %s\n", describe.Change(c, b.start, b.rows))
	}
	for _, e := range events {
		fmt.Fprintf(&s, "  %s\n", describe.Event(e, b.start))
	}
	return s.String()
}

// Found holds the findings of a Checker so far.
type Found struct {
	Changes    int      // the number of changes seen to rows that can belong to a cache
	Judged     int      // the number of these changes that were judged
	Violations int      // the number of violations
	Doubts     int      // the number of doubts
	Broken     []Broken // the first violations and the first doubts, at most 100 of each for an invariant
	Excepted   int      // the number of changes by actors in Options.Except; they are not among Changes
	Events     int      // the number of events that clients have told
	// Untold has one line for each invariant that judged nothing. It says what was missing: rows, or a history from the
	// clients.
	Untold   []string
	Unjudged []string // a line for each table in which nothing was judged, with its keys and some of its rows
	// Misfit says, in several lines, why Options.Rows does not fit the rows that were written, and names some of them.
	// It is "" if Options.Rows fits them, or if no rows were written.
	Misfit string

	lacks bool // an invariant that was asked for was not judged
}

// Verdict sums up the findings. Without a violation it is invariant.Unknown if there is a doubt, if Misfit is set, or
// if nothing was judged. It is also Unknown if an invariant in Options.Invariants judged nothing, or if liveness judged
// nothing after an event history.Settled. If Options.Invariants is nil, it is Unknown if no publish was judged; if the
// rows hold only locks, an existing lock must have changed instead.
func (f Found) Verdict() invariant.Verdict {
	switch {
	case f.Violations > 0:
		return invariant.Violated
	case f.Doubts > 0 || f.lacks || f.Misfit != "":
		return invariant.Unknown
	default:
		return invariant.OK
	}
}

// maxKept is the largest number of violations that are kept for one invariant, and also the largest number of doubts.
const maxKept = 100

// Checker judges the traffic of one fake.
type Checker struct {
	db      *ddbfake.DB
	options Options

	mu       sync.Mutex
	watchers []invariant.Watcher // nil for invariants without a Watch
	told     told
	seen     int            // the sequence number of the last change that was read
	last     ddbfake.Change // that change
	first    ddbfake.Change // the last change before the Checker was made
	found    Found
	kept     map[brokenKind]int
	tables   map[tableName]*table
	loaded   map[lockOf]bool // locks that a Load wrote and no client has written since
	byLock   bool            // some invariant judges by LOCK
	rows     *ownRows
	lease    time.Duration // the longest lease that a change has begun
	watched  []int         // how often each of Options.Invariants with a Watch had something to judge
	// restoring says that a Restore is under way. The function stop ends the calls by which the DB reports its
	// restores.
	restoring atomic.Bool
	stop      func()
}

// brokenKind is a kind of Broken. maxKept of each kind are kept.
type brokenKind struct {
	name    string
	verdict invariant.Verdict
}

// New returns a checker of the changes that db makes from now on. Changes that are already in its log are read, but not
// judged.
func New(db *ddbfake.DB, o Options) *Checker {
	named := o.Invariants != nil
	if !named {
		o.Invariants = slices.DeleteFunc(Invariants(), func(inv invariant.Invariant) bool {
			return known(inv).Rule && !o.Promise.Recipe
		})
	}
	c := &Checker{
		db: db, options: o, told: told{named: named}, kept: map[brokenKind]int{}, tables: map[tableName]*table{},
		byLock: slices.ContainsFunc(o.Invariants, byLock), watched: make([]int, len(o.Invariants)),
	}
	rows, err := rowmap.New(o.Rows)
	if rows != nil {
		c.rows = &ownRows{Mapping: rows}
	}
	if err != nil {
		c.note(Broken{Invariant: wrongRows, Verdict: invariant.Unknown, Why: err.Error()})
	}
	c.begin()
	for _, inv := range o.Invariants {
		if inv.Watch == nil && !byHistory(inv) {
			c.note(Broken{Invariant: inv, Verdict: invariant.Unknown,
				Why: inv.Name + " is not judged: it has no Watch, and so it needs a log that has come to its end"})
		}
	}
	c.first = c.last
	c.stop = db.OnRestore(c.restored)
	return c
}

// Invariants returns the invariants that are checked.
func (c *Checker) Invariants() []invariant.Invariant { return slices.Clone(c.options.Invariants) }

// begin reads the log without judging it.
func (c *Checker) begin() {
	c.watchers, c.seen, c.last, c.loaded = nil, 0, ddbfake.Change{}, map[lockOf]bool{}
	if c.rows != nil {
		c.rows.translator = c.rows.Translator()
	}
	for _, inv := range c.options.Invariants {
		var watch invariant.Watcher
		if inv.Watch != nil {
			watch = inv.Watch(c.options.Promise)
		}
		c.watchers = append(c.watchers, watch)
	}
	c.told.begin(c.options)
	//isrsim:unordered each by itself
	for _, t := range c.tables {
		t.born, t.created = unborn, 0
	}
	c.read(c.db.Changes(), false)
}

// Look judges the changes since the last Look.
func (c *Checker) Look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read(c.db.ChangesSince(c.seen), true)
}

// Restore calls the function restore, which sets the fake back to another state, and then reads the log of that state
// from its beginning. Findings stay. A Restore or Reset called on the DB has the same effect.
func (c *Checker) Restore(restore func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read(c.db.ChangesSince(c.seen), true)
	c.restoring.Store(true)
	defer c.restoring.Store(false)
	restore()
	c.begin()
	if c.last.Seq < c.first.Seq {
		c.first = c.last
	}
}

// The DB calls restored when its state is set back.
func (c *Checker) restored(restore func()) {
	if c.restoring.Load() {
		restore()
		return
	}
	c.Restore(restore)
}

// Found returns the findings so far.
func (c *Checker) Found() Found {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.options.Clock != nil {
		c.judgeLiveness(c.options.Clock.Now())
	}
	found := c.found
	found.Broken = slices.Clone(found.Broken)
	found.Unjudged = c.unjudged()
	c.sumUp(&found)
	if c.rows != nil {
		found.Misfit = c.rows.translator.Misfit()
	}
	return found
}

// read takes in the next changes, and judges them if asked to.
func (c *Checker) read(log []ddbfake.Change, judge bool) {
	if len(log) > 0 && log[0].Seq > c.seen+1 {
		c.note(Broken{Invariant: incomplete, Verdict: invariant.Unknown,
			Why: fmt.Sprintf("changes %d to %d were dropped from the log before they were looked at",
				c.seen+1, log[0].Seq-1)})
	}
	for request := range engine.Requests(log) {
		c.last = request[len(request)-1]
		c.seen = c.last.Seq
		for i := range request {
			c.see(&request[i])
		}
		written := request
		loaded := c.db.Loaded(request[0].Request)
		judge := judge && !loaded
		c.judgeOwn(written, judge)
		if request = c.cacheRows(request); len(request) == 0 {
			continue
		}
		judged := judge && !slices.Contains(c.options.Except, request[0].Actor)
		if judge && !judged {
			c.found.Excepted += entries(request)
		}
		off, lockless := !loaded && c.offClock(request, judged), c.lockless(request, judged)
		if judged {
			c.found.Changes += entries(request)
			c.count(request, off, lockless)
		}
		current := c.current(request)
		if loaded {
			current = c.byLoader(current)
		} else {
			for _, taken := range c.adopt(current, judged && !off) {
				c.watch(taken, func(int, invariant.Finding) {})
			}
		}
		c.watch(current, func(i int, f invariant.Finding) {
			if judged && f.Verdict != invariant.OK && !off && !(lockless && byLock(c.options.Invariants[i])) {
				c.tell(c.options.Invariants[i], f, request, written)
			}
		})
	}
}

// watch passes a request to the watchers, and their findings to the function found.
func (c *Checker) watch(request []ddbfake.Change, found func(i int, f invariant.Finding)) {
	c.told.request(request)
	for i, watch := range c.watchers {
		if watch != nil && !isOwn(c.options.Invariants[i]) {
			found(i, watch(request))
		}
	}
}

// judgeOwn passes a request to the caller's own invariants. They see all its rows, under the rows' own names.
func (c *Checker) judgeOwn(request []ddbfake.Change, judge bool) {
	for i, watch := range c.watchers {
		if inv := c.options.Invariants[i]; watch != nil && isOwn(inv) {
			f := watch(request)
			if !judge || slices.Contains(c.options.Except, request[0].Actor) {
				continue
			}
			if f.Verdict != invariant.OK && f.Verdict != invariant.Violated && f.Verdict != invariant.Unknown {
				f = invariant.Finding{Verdict: invariant.Unknown,
					Why: fmt.Sprintf("the Watch of %s gave the verdict %v, expected ok, violated or unknown", inv.Name,
						f.Verdict)}
			}
			if c.watched[i]++; f.Verdict != invariant.OK {
				c.tell(inv, f, request, request)
			}
		}
	}
}

func isOwn(inv invariant.Invariant) bool {
	return !slices.ContainsFunc(Invariants(), func(known invariant.Invariant) bool { return known.Name == inv.Name })
}

func (c *Checker) count(request []ddbfake.Change, off, lockless bool) {
	for i := range request {
		if judges(&request[i]) && !off && !(lockless && c.byLock) {
			if i == 0 || request[i].Seq != request[i-1].Seq {
				c.found.Judged++
			}
			c.table(&request[i]).judged++
			c.countSource(request[i].Seq)
		}
		if off {
			continue
		}
		if until, known := rowmap.Instant(request[i].After, "lease_expires_at"); known {
			c.lease = max(c.lease, until.Sub(request[i].Time))
		} else if _, endless := request[i].After["lease_expires_at"].(attr.NULL); endless {
			c.lease = math.MaxInt64
		}
		for j, inv := range c.options.Invariants {
			if !(lockless && byLock(inv)) && concerns(inv, &request[i]) {
				c.watched[j]++
			}
		}
	}
}

// concerns reports whether the invariant inv, which has a Watch, has something to judge in a change.
func concerns(inv invariant.Invariant, c *ddbfake.Change) bool {
	sk, _ := c.Key.Str("sk")
	switch inv.Name {
	case lockTheft:
		return sk == "LOCK" && c.Before != nil && c.Cause == ddbfake.CauseClient
	case danglingPointer:
		return judges(c) && sk != "LOCK"
	case malformedTTL:
		return judges(c) && c.After != nil && c.Cause == ddbfake.CauseClient
	default:
		return byLock(inv) && invariant.Publishes(c)
	}
}

// These invariants with a Watch can judge changes other than publishes.
var (
	lockTheft       = invariant.Named("lock-theft").Name
	danglingPointer = invariant.Named("no-dangling-pointer").Name
	malformedTTL    = invariant.Named("ttl-well-formed").Name
)

// incomplete is reported instead of all invariants: if some changes are missing, no invariant can be judged.
var incomplete = invariant.Invariant{Name: "the log", Statement: "all changes are looked at, from the first"}

// tell makes a Broken from a finding, with the changes that show it.
func (c *Checker) tell(inv invariant.Invariant, f invariant.Finding, request, written []ddbfake.Change) {
	b := Broken{Invariant: inv, Verdict: f.Verdict, Why: f.Why}
	deciding := request[len(request)-1]
	if f.Verdict == invariant.Violated {
		b.Changes = c.story(f.Changes, deciding.Born)
		for _, change := range request {
			if n := len(f.Changes); n > 0 && change.Seq == f.Changes[n-1] {
				deciding = change
			}
		}
	} else {
		b.Changes = slices.Clone(written)
	}
	b.Actor = deciding.Actor
	c.note(b)
}

// story returns the changes that led to the last of the deciding changes. The table was created at the change with the
// number born.
func (c *Checker) story(deciding []int, born int) (shown []ddbfake.Change) {
	log := c.db.Changes()
	if len(log) == 0 {
		return nil
	}
	if born := born - log[0].Seq + 1; born > 0 {
		log = log[born:] // without the changes of a former table with the same name
	}
	for _, seq := range invariant.Story(c.translated(log), deciding) {
		if at := seq - log[0].Seq; at >= 0 && at < len(log) {
			shown = append(shown, log[at])
		}
	}
	return shown
}

// note counts a Broken. If there are not too many of its kind, it keeps it and passes it to Options.OnBroken.
func (c *Checker) note(b Broken) {
	b.start, b.rows = c.options.Start, c.rows.mapping()
	if b.start.IsZero() {
		if log := c.db.Changes(); len(log) > 0 {
			b.start = log[0].Time
		}
	}
	b.Why, b.Invariant.Statement = b.rows.Say(b.Why), b.rows.Say(b.Invariant.Statement)
	if b.Verdict == invariant.Violated {
		c.found.Violations++
	} else {
		c.found.Doubts++
	}
	of := brokenKind{b.Invariant.Name, b.Verdict}
	if c.kept[of]++; c.kept[of] > maxKept {
		return
	}
	c.found.Broken = append(c.found.Broken, b)
	if c.options.OnBroken != nil {
		c.options.OnBroken(b)
	}
}

// cacheRows returns the changes of rows that can belong to a cache: rows with the keys pk and sk, or the rows that
// Options.Rows finds, translated.
func (c *Checker) cacheRows(request []ddbfake.Change) []ddbfake.Change {
	if c.rows != nil {
		return c.translate(request)
	}
	other := func(c ddbfake.Change) bool {
		_, pk := c.Key["pk"].(attr.S)
		_, sk := c.Key["sk"].(attr.S)
		return !pk || !sk
	}
	if !slices.ContainsFunc(request, other) {
		return request
	}
	return slices.DeleteFunc(slices.Clone(request), other)
}
