package audit

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/audit/evidence"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
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
)

// promise is an invariant of which rows show something.
type promise struct {
	name   string
	shows  string // what is judged, counted in Outcome.Judged
	hidden string // what of the invariant rows do not show; "" is nothing
	// net says that the first and the last image of a row are enough.
	net          bool
	watched      bool // judged by package invariant
	notOfResults bool
	results      bool // only judged with Options.Results
	fence        bool // only judged with Options.Fence
}

// promises are in the order in which reports name them.
var promises = []promise{
	{name: lockTheft, watched: true, shows: "changes of a lock that was there",
		hidden: "who removed a lock, and who renewed it under its token"},
	{name: monotonic, watched: true, notOfResults: true, shows: "publishes",
		hidden: "the order of the leases under which pages were published"},
	{name: danglingPointer, shows: "pages that lead to a version",
		hidden: "bodies outside the table, and versions that are missing for less than 2 s"},
	{name: wellFormed, watched: true, net: true, shows: "rows with a ttl"},
	{name: lostInvalid, notOfResults: true, shows: "publishes after an invalidation",
		hidden: "what was served, and invalidations that remove the page's row"},
	{name: guardedWrite, fence: true, shows: "fencing tokens", hidden: "writes to what the lock guards"},
	{name: effectOnce, results: true, shows: "results that were there", hidden: "effects"},
	{name: sameResult, results: true, shows: "results that were there", hidden: "what callers were told"},
}

// The reasons why no source shows the other invariants.
const (
	noPublisher = "rows do not say who published; its harm, an older page in the place of a newer one, is judged as " +
		monotonic
	noReaders = "needs what callers asked for and were told"
)

// notJudged are the invariants of pages that rows do not show.
var notJudged = map[string]string{
	"stale-writer": noPublisher, "expired-publish": noPublisher, "atomic-publish": noPublisher,
	"ttl-is-gc": "needs the same run under another TTL lag",
}

// Outcome is what an audit says about one invariant.
type Outcome struct {
	Invariant string
	Verdict   invariant.Verdict // Unknown if nothing was there to judge
	Judged    int
	Shows     string // what was judged
	Hidden    string // what of the invariant was not
	Violated  int
	Doubts    int
}

// maxKept is the number of findings that are kept for one invariant and verdict.
const maxKept = 100

// Result is what an audit has found.
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

	o      Options
	judged map[string]int
	counts map[countOf]int
	units  map[time.Duration]bool
	net    bool
	tally  tally
}

type countOf struct {
	name    string
	verdict invariant.Verdict
}

func (res *Result) begin(o Options) {
	res.o, res.judged, res.counts = o, map[string]int{}, map[countOf]int{}
	res.units, res.NotJudged = map[time.Duration]bool{}, map[string]string{}
	if o.Results {
		return
	}
	for _, inv := range invariant.All() {
		if !slices.ContainsFunc(promises, func(p promise) bool { return p.name == inv.Name }) {
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
	res.units[r.Unit] = true
	res.net = res.net || r.Net
}

// count counts what the invariants have judged.
func (res *Result) count(r *evidence.Record, p *partition, sk string, c *ddbfake.Change, judge bool) {
	res.tally.count(r, p, sk, c, judge)
	if c.After["ttl"] != nil && (sk != sortLock || res.o.Promise.Recipe) && (judge || r.Net) {
		res.judged[wellFormed]++
	}
	if !judge {
		return
	}
	switch {
	case sk == sortLock && c.Before != nil && !r.TTL:
		res.judged[lockTheft]++
	case sk == sortMeta:
		if invariant.ShowsAnother(c) {
			res.judged[monotonic]++
			if !p.cut.IsZero() {
				res.judged[lostInvalid]++
			}
		}
		if res.o.Results && c.Before != nil {
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

// Result returns what has been found so far. Findings about what may still settle are made by End.
func (j *Judge) Result() Result {
	res := j.result
	res.Findings = slices.Clone(res.Findings)
	gaps := res.counts[countOf{"the history", invariant.Unknown}]
	for _, p := range promises {
		if p.results && !j.o.Results || p.notOfResults && j.o.Results || p.fence && j.o.Fence == "" {
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
	if j.translator != nil {
		res.Misfit = j.translator.Misfit()
	} else if res.Records > 0 && res.Others == res.Changes {
		res.Misfit = "no row is a page or a lock, META or LOCK\nhint: say what the rows mean: --rows " +
			"(docs/SCENARIOS.md, Rows of your own)"
	}
	res.Numbers = res.tally.numbers(j)
	return res
}

// End makes the findings that had waited for the next record of a row.
func (j *Judge) End() {
	for _, p := range j.sorted() {
		switch {
		case !p.leads:
		case j.result.To.Sub(p.since) > settle:
			j.dangles(p)
		default:
			j.say(p, danglingPointer, invariant.Unknown, "the history ends less than "+settle.String()+
				" after META began to lead to "+p.page.Version+", which is not there")
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
	if judged == 0 || res.Misfit != "" || res.counts[countOf{"the history", invariant.Unknown}] > 0 {
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

// byNumber is how package invariant names a change.
var byNumber = regexp.MustCompile(`^a client without a name `)

// anonymous returns a reason without the name that the row's writer does not have.
func anonymous(why string) string {
	why = byNumber.ReplaceAllString(why, "")
	return strings.TrimSpace(why)
}

// unit is the part of a second that a time in a row leaves out.
func unit(t time.Time) time.Duration {
	if t.Nanosecond() == 0 {
		return time.Second
	}
	return time.Millisecond
}

func span(from, to time.Time) string { return to.Sub(from).Round(time.Millisecond).String() }
