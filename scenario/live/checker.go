package live

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/describe"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// Options configure a Checker.
type Options struct {
	Invariants []invariant.Invariant // nil is Invariants()
	Promise    invariant.Promise
	Start      time.Time // from when instants are counted where a Broken is printed
	// Told, if set, hears of every violation and of every doubt that Found keeps, before the Look that found it returns.
	// It must not call the Checker.
	Told func(Broken)
}

// Invariants returns those that can be checked while they hold.
func Invariants() []invariant.Invariant {
	return slices.DeleteFunc(invariant.All(), func(inv invariant.Invariant) bool { return inv.Watch == nil })
}

// Broken is one violation, or something that makes it unknown whether there is one.
type Broken struct {
	Invariant invariant.Invariant
	Verdict   invariant.Verdict // invariant.Violated or invariant.Unknown
	Why       string
	Actor     string           // who did it; "" is TTL, or nobody
	Changes   []ddbfake.Change // the few that show it, the decisive one last
	start     time.Time
}

// String prints invariant, actor, statement, reason and changes, over several
// lines. Instants count from Options.Start.
func (b Broken) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s: %s", b.Verdict, b.Invariant.Name)
	if b.Actor != "" {
		fmt.Fprintf(&s, " by %s", b.Actor)
	}
	fmt.Fprintf(&s, "\n%s: %s\n%s\n", b.Invariant.Name, b.Invariant.Statement, b.Why)
	for _, c := range b.Changes {
		fmt.Fprintf(&s, "  %s\n", describe.Change(c, b.start))
	}
	return s.String()
}

// Found is what a Checker has found so far.
type Found struct {
	Changes    int      // how many were looked at, of rows that can be a cache's
	Judged     int      // how many of them were judged
	Violations int      // how many there were
	Doubts     int      // how often something was unknown
	Broken     []Broken // the first violations and doubts, at most Kept of each invariant
	Unjudged   []Table  // where nothing was judged
}

// Verdict is what it comes to. Where nothing was judged, nothing is known.
func (f Found) Verdict() invariant.Verdict {
	switch {
	case f.Violations > 0:
		return invariant.Violated
	case f.Doubts > 0 || f.Judged == 0:
		return invariant.Unknown
	default:
		return invariant.OK
	}
}

// Kept is how many violations of an invariant are kept, and how many doubts.
const Kept = 100

// Checker judges the traffic of one fake.
type Checker struct {
	db      *ddbfake.DB
	options Options

	mu       sync.Mutex
	watchers []invariant.Watcher
	seen     int // changes
	found    Found
	kept     map[kind]int
	tables   map[place]*seen
	byLock   bool // some invariant judges by LOCK
}

// kind is what is kept up to a bound.
type kind struct {
	name    string
	verdict invariant.Verdict
}

// New returns a checker of what db does from now on. What its log holds already is
// known, and not judged.
func New(db *ddbfake.DB, o Options) *Checker {
	if o.Invariants == nil {
		o.Invariants = Invariants()
	}
	c := &Checker{db: db, options: o, kept: map[kind]int{}, tables: map[place]*seen{}, byLock: slices.ContainsFunc(o.Invariants, byLock)}
	c.begin()
	return c
}

// Invariants returns what is checked.
func (c *Checker) Invariants() []invariant.Invariant { return slices.Clone(c.options.Invariants) }

// begin reads the log as it is, without judging it.
func (c *Checker) begin() {
	c.watchers, c.seen = nil, 0
	for _, inv := range c.options.Invariants {
		c.watchers = append(c.watchers, inv.Watch(c.options.Promise))
	}
	c.read(c.db.Changes(), false)
}

// Look judges what has changed since the last Look.
func (c *Checker) Look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read(c.db.ChangesSince(c.seen), true)
}

// Restore has restore set the fake back to another state, and begins anew from
// there. What was found stays.
func (c *Checker) Restore(restore func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read(c.db.ChangesSince(c.seen), true)
	restore()
	c.begin()
}

// Found returns what has been found so far.
func (c *Checker) Found() Found {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.found
	found.Broken = slices.Clone(found.Broken)
	found.Unjudged = c.unjudged()
	return found
}

// read takes in the changes after seen.
func (c *Checker) read(log []ddbfake.Change, judge bool) {
	if len(log) > 0 && log[0].Seq > c.seen+1 {
		c.note(Broken{Invariant: missed, Verdict: invariant.Unknown,
			Why: fmt.Sprintf("changes %d to %d were dropped from the log before they were looked at", c.seen+1, log[0].Seq-1)})
	}
	for request := range invariant.Requests(log) {
		c.seen = request[len(request)-1].Seq
		for i := range request {
			c.see(&request[i])
		}
		if request = cacheRows(request); len(request) == 0 {
			continue
		}
		off, lockless := c.offClock(request, judge), c.lockless(request, judge)
		if judge {
			c.found.Changes += len(request)
			c.count(request, off, lockless)
		}
		current := c.current(request)
		for i, watch := range c.watchers {
			f := watch(current)
			if judge && f.Verdict != invariant.OK && !off && !(lockless && byLock(c.options.Invariants[i])) {
				c.tell(c.options.Invariants[i], f, request)
			}
		}
	}
}

// count counts what is judged of a request.
func (c *Checker) count(request []ddbfake.Change, off, lockless bool) {
	for i := range request {
		if judges(&request[i]) && !off && !(lockless && c.byLock) {
			c.found.Judged++
			c.at(&request[i]).judged++
		}
	}
}

// missed stands for all invariants, of which nothing is known.
var missed = invariant.Invariant{Name: "the log", Statement: "all changes are looked at, from the first"}

// tell notes a finding with the changes that show it.
func (c *Checker) tell(inv invariant.Invariant, f invariant.Finding, request []ddbfake.Change) {
	b := Broken{Invariant: inv, Verdict: f.Verdict, Why: f.Why}
	deciding := request[len(request)-1]
	if f.Verdict == invariant.Violated {
		log := c.db.Changes()
		if born := deciding.Born - log[0].Seq + 1; born > 0 {
			log = log[born:] // what a table of that name held before is another story
		}
		for _, seq := range invariant.Story(log, f.Changes) {
			if at := seq - log[0].Seq; at >= 0 && at < len(log) {
				b.Changes = append(b.Changes, log[at])
			}
		}
		for _, change := range request {
			if change.Seq == f.Changes[len(f.Changes)-1] {
				deciding = change
			}
		}
	} else {
		b.Changes = slices.Clone(request)
	}
	b.Actor = deciding.Actor
	c.note(b)
}

// note counts, keeps and tells.
func (c *Checker) note(b Broken) {
	b.start = c.options.Start
	if b.Verdict == invariant.Violated {
		c.found.Violations++
	} else {
		c.found.Doubts++
	}
	of := kind{b.Invariant.Name, b.Verdict}
	if c.kept[of]++; c.kept[of] > Kept {
		return
	}
	c.found.Broken = append(c.found.Broken, b)
	if c.options.Told != nil {
		c.options.Told(b)
	}
}

// cacheRows returns the changes of rows that can be a cache's: their keys are pk
// and sk.
func cacheRows(request []ddbfake.Change) []ddbfake.Change {
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
