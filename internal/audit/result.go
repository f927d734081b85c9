package audit

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/audit/evidence"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

const (
	lockTheft       = "lock-theft"
	monotonic       = "monotonic-publication"
	danglingPointer = "no-dangling-pointer"
	wellFormed      = "ttl-well-formed"
	lostInvalid     = "no-lost-invalidation"
	guardedWrite    = "guarded-write"
	effectOnce      = "effect-once"
	sameResult      = "same-result"

	theHistory = "the history" // in the place of an invariant, for a gap
)

// promise is an invariant of which rows show something.
type promise struct {
	name    string
	shows   string // what was judged; Outcome.Judged counts it
	hidden  string // the part of the invariant that rows do not show; "" is none
	watched bool   // judged by package invariant
	of      []Kind // the kinds of rows for which it is judged
	fence   bool   // only judged with Options.Fence
}

// judges reports whether the promise is judged under the options.
func (p *promise) judges(o Options) bool {
	return slices.Contains(p.of, o.Of) && (!p.fence || o.Fence != "")
}

// Kind is the kind of rows that an audit judges.
type Kind string

// The kinds.
const (
	Pages Kind = "pages" // pages, with or without locks
	Locks Kind = "locks"
	// Calls are idempotent calls: a lock is a call in progress, and a page a result, which is neither replaced nor
	// removed before it may be forgotten.
	Calls Kind = "calls"
)

// Flags are the flags that say what the rows are, if they are not pages.
var Flags = []struct {
	Kind
	Name, Usage string
}{
	{Locks, "lock", "the rows are locks, and no pages"},
	{Calls, "once", "the rows are those of idempotent calls: a lock is a call in progress, and a page its result"},
}

// promises are in the order in which reports name them.
var promises = []promise{
	{name: lockTheft, watched: true, of: []Kind{Pages, Locks, Calls}, shows: "changes of a lock that was there",
		hidden: "who removed a lock, and who renewed it under its token"},
	{name: monotonic, watched: true, of: []Kind{Pages}, shows: "publishes",
		hidden: "the order of the leases under which pages were published, and rollbacks"},
	{name: danglingPointer, of: []Kind{Pages}, shows: "pages that lead to a version",
		hidden: "bodies outside the table, and versions that are missing for less than 2 s"},
	{name: wellFormed, watched: true, of: []Kind{Pages, Locks, Calls}, shows: "rows with a ttl"},
	{name: lostInvalid, of: []Kind{Pages}, shows: "publishes after an invalidation",
		hidden: "what was served, and invalidations that remove the page's row"},
	{name: guardedWrite, fence: true, of: []Kind{Pages, Locks}, shows: "fencing tokens",
		hidden: "writes to what the lock guards"},
	{name: effectOnce, of: []Kind{Calls}, shows: "results that were there", hidden: "effects"},
	{name: sameResult, of: []Kind{Calls}, shows: "results that were there", hidden: "what callers were told"},
}

// The reasons why no source shows the other invariants.
const (
	noPublisher = "rows do not say who published; its harm, an older page in the place of a newer one, is judged as " +
		monotonic
	noReaders = "needs what callers asked for and were told"
)

// invariantsOf are the invariants of each kind.
var invariantsOf = map[Kind]func() []invariant.Invariant{
	Pages: invariant.All, Locks: invariant.OfLocks, Calls: invariant.OfCalls,
}

// notJudged has the reasons why rows cannot show an invariant. Invariants without one need readers.
var notJudged = map[string]string{
	"mutual-exclusion": "rows do not say how long a holder relied on its lock; its cause, a lock that is replaced " +
		"before its end, is judged as " + lockTheft,
	"stale-writer": noPublisher, "expired-publish": noPublisher, "atomic-publish": noPublisher,
	"ttl-is-gc": "needs the same run under another TTL lag",
}

// Outcome is the result of an audit for one invariant.
type Outcome struct {
	Invariant string
	Verdict   invariant.Verdict // Unknown if nothing was there to judge
	Judged    int
	Shows     string // what was judged
	Hidden    string // the part of the invariant that was not judged
	Violated  int
	Doubts    int
}

// maxKept is the number of findings that are kept for one invariant and verdict.
const maxKept = 100

// Result is the result of an audit.
type Result struct {
	Records    int // the records that were read, without copies
	Changes    int
	Duplicates int // copies of records that had been read
	Others     int // records of rows that are neither pages nor locks
	Foreign    int // records of other tables
	From, To   time.Time
	Outcomes   []Outcome
	NotJudged  map[string]string // by invariant, why no source shows it
	Findings   []Finding         // the first ones of each kind
	Misfit     string            // why Options.Rows does not fit; "" if it does
	Numbers    Numbers

	o       Options
	judged  map[string]int
	counts  map[countOf]int
	tally   tally
	keyless bool // rows of a full export were left out, because nothing told their keys
	fenced  bool // a lock has had a fencing token
}

type countOf struct {
	name    string
	verdict invariant.Verdict
}

func (res *Result) begin(o Options) {
	res.o, res.judged, res.counts = o, map[string]int{}, map[countOf]int{}
	res.NotJudged = map[string]string{}
	for _, inv := range invariantsOf[o.Of]() {
		if !slices.ContainsFunc(promises, func(p promise) bool { return p.name == inv.Name && p.judges(o) }) {
			res.NotJudged[inv.Name] = cmp.Or(notJudged[inv.Name], noReaders)
		}
	}
}

// see counts a record.
func (res *Result) see(r *evidence.Record) {
	res.Records++
	if res.From.IsZero() || r.Time.Before(res.From) {
		res.From = r.Time
	}
	if r.Time.After(res.To) {
		res.To = r.Time
	}
}

// count counts what the invariants have judged.
func (res *Result) count(r *evidence.Record, p *partition, sk string, c *ddbfake.Change, judge bool) {
	res.tally.count(r, p, sk, c, judge)
	if c.After["ttl"] != nil && (sk != isr.SortLock || res.o.Promise.Recipe) && (judge || r.Net || r.State) {
		res.judged[wellFormed]++
	}
	if !judge {
		return
	}
	switch {
	case sk == isr.SortLock && c.Before != nil && !r.TTL:
		res.judged[lockTheft]++
	case sk == isr.SortMeta:
		if p.another {
			if !p.rollback {
				res.judged[monotonic]++
			}
			if !p.cut.IsZero() {
				res.judged[lostInvalid]++
			}
		}
		if c.Before != nil {
			res.judged[effectOnce]++
			res.judged[sameResult]++
		}
		if p.page.Version != "" {
			res.judged[danglingPointer]++
		}
	}
}

// keep keeps a finding, if not too many of its kind are kept.
func (res *Result) keep(f Finding) {
	of := countOf{f.Invariant, f.Verdict}
	if res.counts[of]++; res.counts[of] <= maxKept {
		res.Findings = append(res.Findings, f)
	}
}

// Result returns what has been found so far. Call End first for findings that wait for a next record.
func (j *Judge) Result() Result {
	res := j.result
	res.Findings = slices.Clone(res.Findings)
	gaps := res.Gaps()
	for _, p := range promises {
		if !p.judges(j.o) {
			continue
		}
		o := Outcome{
			Invariant: p.name, Verdict: invariant.OK, Judged: res.judged[p.name], Shows: p.shows, Hidden: p.hidden,
			Violated: res.counts[countOf{p.name, invariant.Violated}],
			Doubts:   res.counts[countOf{p.name, invariant.Unknown}],
		}
		switch {
		case o.Violated > 0:
			o.Verdict = invariant.Violated
		case o.Doubts > 0 || gaps > 0 || o.Judged == 0:
			o.Verdict = invariant.Unknown
		}
		res.Outcomes = append(res.Outcomes, o)
	}
	switch {
	case res.keyless:
		res.Misfit = "a full export does not say which attributes are the key\nhint: name records of its table, too"
	case j.translator != nil && j.translator.Misfit() != "":
		res.Misfit = j.translator.Misfit()
	case j.translator == nil && res.Records > 0 && res.Others == res.Changes:
		res.Misfit = "no row is a page or a lock, META or LOCK\nhint: say what the rows mean: --rows " +
			"(docs/SCENARIOS.md, Rows of your own)"
	case j.o.Fence != "" && res.Records > 0 && !res.fenced:
		res.Misfit = "no lock has the number " + j.o.Fence + ", its fencing token"
	}
	res.Numbers = res.tally.numbers(j)
	return res
}

// End makes the findings that had waited for the next record of a row.
func (j *Judge) End() {
	for _, p := range j.sorted() {
		if d := p.dangling; d != nil {
			j.tell(Finding{Invariant: danglingPointer, Verdict: invariant.Unknown, Key: p.name(), Steps: d.steps,
				Why: "META leads to " + p.page.Version + ", whose row is not there, and no later record of META " +
					"confirms it"})
		}
	}
}

// sorted returns the partitions in the order of their names.
func (j *Judge) sorted() []*partition {
	all := make([]*partition, 0, len(j.partitions))
	//isrsim:unordered sorted below
	for _, p := range j.partitions {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *partition) int {
		return cmp.Or(cmp.Compare(a.region, b.region), cmp.Compare(a.table, b.table), cmp.Compare(a.pk, b.pk))
	})
	return all
}

// Verdict sums up: Violated, or Unknown if part of the history could not be judged or nothing was there to judge.
func (res *Result) Verdict() invariant.Verdict {
	judged := 0
	verdict := invariant.OK
	for _, o := range res.Outcomes {
		judged += o.Judged
		switch {
		case o.Violated > 0:
			return invariant.Violated
		case o.Doubts > 0:
			verdict = invariant.Unknown
		}
	}
	if judged == 0 || res.Misfit != "" || res.Gaps() > 0 {
		return invariant.Unknown
	}
	return verdict
}

// unlocked returns a row of META that belongs to no lease: its publisher is not known.
func unlocked(row attr.Item) attr.Item {
	if row == nil {
		return nil
	}
	row = maps.Clone(row)
	row[rowmap.Unlocked] = attr.BOOL(true)
	return row
}

// reason returns why an invariant is violated, without a name for a page's writer: only locks say who changed them.
func reason(name, sk, actor, why string) string {
	why = strings.ReplaceAll(why, ".000000001s", "s") // a time counts as the last nanosecond of its second
	rest, named := strings.CutPrefix(why, actor+" ")
	switch {
	case sk == isr.SortLock || !named:
		return why
	case name == monotonic:
		return "a stale write " + rest
	default:
		return "a write " + rest
	}
}

// unit is the part of a second that a time in a row leaves out.
func unit(t time.Time) time.Duration {
	if t.Nanosecond() == 0 {
		return time.Second
	}
	return time.Millisecond
}

func span(from, to time.Time) string { return to.Sub(from).Round(time.Millisecond).String() }

// Violations is the number of all violations, including those that are not kept.
func (res *Result) Violations() (n int) {
	for _, o := range res.Outcomes {
		n += o.Violated
	}
	return n
}

// Gaps is the number of parts of the history that are not known.
func (res *Result) Gaps() int { return res.counts[countOf{theHistory, invariant.Unknown}] }

// Statement is the statement of an invariant; "" if there is none of this name.
func Statement(name string) string {
	for _, kind := range []Kind{Pages, Locks, Calls} {
		for _, inv := range invariantsOf[kind]() {
			if inv.Name == name {
				return inv.Statement
			}
		}
	}
	return ""
}

// Of is the kind of the rows.
func (res *Result) Of() Kind { return res.o.Of }
