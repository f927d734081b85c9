package invariant

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/base/storeop"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Verdict is the result of a check. It is not a bool: "unknown" is a separate result, and never passes for ok.
type Verdict uint8

// The verdicts.
const (
	OK       Verdict = iota + 1
	Violated         // the invariant's statement does not hold
	Unknown          // the evidence is not enough to decide
)

// String returns "ok", "violated" or "unknown".
func (v Verdict) String() string {
	switch v {
	case OK:
		return "ok"
	case Violated:
		return "violated"
	case Unknown:
		return "unknown"
	default:
		return fmt.Sprintf("Verdict(%d)", uint8(v))
	}
}

// Record is the record of one run, as scenario/invariant promises it. It is only read.
type Record struct {
	Changes []ddbfake.Change // the store's change log, from its beginning
	History []history.Event  // the events that the clients saw; invariants on the log alone do not need it
	// Schema says how the cache keeps its pages and locks, if not in META and LOCK. Findings then name changes of the
	// cache's own rows, by their own names. If there are rows that Schema does not fit, a violation counts as unknown.
	Schema isr.Schema
	// MaxClockSkew is the promised bound of |a node's clock - true time|: e in the statements.
	MaxClockSkew time.Duration
	// Revalidate is the freshness window. It also counts for rows that do not hold one.
	Revalidate time.Duration
	// TTLBuffer is a time before the ttl of a row. In this time, the row may already count as gone for the nodes.
	TTLBuffer time.Duration
	// Settle is the time after the end of all faults within which every page must be fresh again, and every lock must
	// have been taken.
	Settle time.Duration
	// AcrossNodes says that monotonic-reads is promised for all nodes together, not only for each node by itself.
	AcrossNodes bool
	// MaxAge is the age from which on a page may not be served, neither as fresh nor as stale; 0 states no age.
	MaxAge time.Duration
}

// Evidence is a record with further evidence, which only runs of the simulator have. An invariant that needs some of it
// does not judge a run without it.
type Evidence struct {
	Record
	// Operations are the operations of the nodes on their stores.
	Operations []storeop.Operation
	// Bodies are the writes and deletions in the body store, in order; nil if the body store was not observed.
	Bodies []recorder.Body
	// Lags are histories of the same schedule with other lags of TTL.
	Lags []recorder.Lagged
	// Overlapping says that a node may have several things under way at once.
	Overlapping bool
	// Held is how long a node may rely on what it has taken: a lease, or a key whose call is in progress.
	Held time.Duration
	// Lock has the promises of a lock besides Held, for the invariants of OfLocks. Nil promises nothing.
	Lock *promise.LockTerms
	// Retention is how long an idempotency layer keeps a result, and Once are its other promises, for the invariants of
	// OfCalls.
	Retention time.Duration
	Once      *promise.OnceTerms
	// Recipe says that the rules of the recipe are promised. Without it, an invariant that contains such a rule judges
	// harm alone; an invariant that is itself such a rule always judges.
	Recipe bool
	// Behind is how far reads without ConsistentRead may lag, for the invariants of OfLocks and OfCalls.
	Behind time.Duration

	shared *shared // shared by all checks of one Judge
}

// shared is the history as the checks of locks and of calls read it: each is nil until the first of them has read it.
type shared struct {
	locks []*lock
	calls []*keyed
}

// Finding is the outcome of one check.
type Finding struct {
	Verdict Verdict
	Why     string // one sentence; "" for ok
	// Changes and Events are the sequence numbers of the few changes and events that show the violation, or that leave
	// the doubt. The last of each is the decisive one.
	Changes, Events []int

	Operations []int // the positions, from 1, of the operations that show the violation
	// Answered says that the last event is an answer that the rows, and their last writers, explain.
	Answered bool
	Rule     bool // a rule of the recipe is broken, and nobody is harmed
	// Done says that the harm is done: a newer page is overwritten, there is a second holder, an old page is served.
	Done bool
	// Graded says that other violations of the invariant may do more harm, or less.
	Graded bool
}

// Harm is 0 if nobody is harmed by the violation, 1 if somebody may be, and 2 if the harm is done.
func (f *Finding) Harm() int {
	switch {
	case f.Rule:
		return 0
	case f.Done:
		return 2
	default:
		return 1
	}
}

// Said is the part of a finding that callers outside this module see: scenario/invariant.Finding.
type Said = struct {
	Verdict         Verdict
	Why             string
	Changes, Events []int
}

// Said returns that part.
func (f Finding) Said() Said { return Said{f.Verdict, f.Why, f.Changes, f.Events} }

// asRule is the violation of a rule of the recipe, with the reason why nobody is harmed.
func (f Finding) asRule(reason string) Finding {
	f.Why += " (a rule of the recipe; nobody is harmed: " + reason + ")"
	f.Rule, f.Graded = true, true
	return f
}

// done returns f, a violation; is says whether its harm is done.
func (f Finding) done(is bool) Finding {
	f.Done, f.Graded = is, true
	return f
}

// Invariant is one promise.
type Invariant struct {
	Name      string
	Statement string // T is true time, S that of sending, e the promised clock skew
	Check     func(Evidence) Finding
	// Watch begins a check of a log that is still being written: of the part that the log alone decides. It is nil if
	// there is no such part.
	Watch func(Promise) Watcher

	// Follow begins a check of a log and a history that are still being written. It is nil if the log alone decides, or
	// if the check needs more than events.
	Follow func(Promise) teller
	// Memory makes an empty memory: what Check depends on besides the rows, for evidence with the given promise. An
	// exhaustive search proves only invariants that have a memory. If different nodes act at the same instant, the
	// search runs only one of the possible orders. So the check must come to the same verdict for all these orders;
	// changes of the same row have the same order in all of them. Nil means that Check depends on such orders, or on
	// too much of the past: such an invariant is for campaigns.
	Memory func(Promise) memory
	// OnRows says that Check finds fault with a log that lacks rows. If the cache names its rows differently, those may
	// be the rows that it lacks.
	OnRows bool
	// Rule says that the whole invariant is a rule of the recipe: no violation of it harms anybody.
	Rule bool

	judge rule // set if the log decides; then Check and Watch are made from it
	// beyond makes the part of Check that needs more than the log. The ledger knows the log so far. The field is nil if
	// Check has no such part; the function returns nil if the evidence has nothing for it.
	beyond func(Evidence, *ledger) follower
}

// OfLiveness says that the invariant is the liveness of a subject. Code that sends no request at all violates it, too.
func (inv *Invariant) OfLiveness() bool { return strings.HasSuffix(inv.Name, "liveness") }

// Own returns an invariant written by a caller. Its check sees the record alone.
func Own[F ~Said](name, statement string, check func(Record) F) Invariant {
	inv := Invariant{Name: name, Statement: statement}
	if check != nil {
		inv.Check = func(ev Evidence) Finding {
			f := Said(check(ev.Record))
			return Finding{Verdict: f.Verdict, Why: f.Why, Changes: f.Changes, Events: f.Events}
		}
	}
	return inv
}

// follows reports whether Check is made from judge, from beyond, or from both.
func (inv *Invariant) follows() bool { return inv.judge != nil || inv.beyond != nil }

var all = []Invariant{
	staleWriter(), lockTheft(), monotonicPublication(), noDanglingPointer(), ttlWellFormed(),
	freshness, ttlIsGC, singleFlight(), noLostInvalidation, idempotentRegeneration, tenantIsolation,
	linearizable, monotonicReads, readYourWrites, boundedStaleness, liveness,
	expiredPublish(), atomicPublish(),
}

var harmful = slices.DeleteFunc(All(), func(inv Invariant) bool { return inv.Rule })

// All returns the invariants in the order in which reports name them. The rules of the recipe come last:
// breaking one serves no wrong page.
func All() []Invariant { return slices.Clone(all) }

// Named returns the invariant of [All] with this name, or panics.
func Named(name string) Invariant {
	inv, known := Find(name)
	if !known {
		panic(fmt.Sprintf("invariant: found %q, expected the name of one of All", name))
	}
	return inv
}

// Find returns the invariant of [All] with this name, or false.
func Find(name string) (Invariant, bool) {
	i := slices.IndexFunc(all, func(inv Invariant) bool { return inv.Name == name })
	if i < 0 {
		return Invariant{}, false
	}
	return all[i], true
}

func ok() Finding { return Finding{Verdict: OK} }

func unknown(why string, args ...any) Finding {
	return Finding{Verdict: Unknown, Why: fmt.Sprintf(why, args...)}
}

// change adds the change to a doubt whose text names its number.
func (f Finding) change(seq int) Finding {
	f.Changes = append(f.Changes, seq)
	return f
}

// event adds the event to a doubt whose text names its number.
func (f Finding) event(seq int) Finding {
	f.Events = append(f.Events, seq)
	return f
}

// answered says that the last event of a finding is an answer which the rows explain.
func (f Finding) answered() Finding {
	f.Answered = true
	return f
}

// or returns f, unless f is ok: then it returns other. So the first doubt is kept. No violation is lost in this way,
// because a violation ends the check. A doubt about one key does not hide a violation on another.
func (f Finding) or(other Finding) Finding {
	if f.Verdict != OK {
		return f
	}
	return other
}

// and returns the first of f and other that is a harmful violation, or else the first violation, or else the first
// doubt.
func (f Finding) and(other Finding) Finding {
	if other.Verdict == Violated && (f.Verdict != Violated || f.Rule && !other.Rule) {
		return other
	}
	return f.or(other)
}
