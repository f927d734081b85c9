package invariant

import (
	"fmt"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// Verdict is what a check comes to. There is no bool in it: "unknown" is a
// result of its own, and never passes for ok.
type Verdict uint8

// The verdicts.
const (
	OK       Verdict = iota + 1
	Violated         // the invariant's statement does not hold
	Unknown          // the evidence does not suffice to say
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

// Evidence is what happened in one run. It is only read.
type Evidence struct {
	Changes []ddbfake.Change // the store's change log, from its beginning
	History []history.Event  // what the clients saw; may be missing for invariants on the log alone
	// Operations is what the nodes saw of their stores; none is checked by none.
	Operations []history.Operation
	// Bodies is what happened in the body store, in order; nil where nobody has looked.
	Bodies []history.Body
	// Lags are histories of the same schedule with other lags of TTL.
	Lags []Lagged
	// MaxClockSkew is what is promised of |a node's clock - true time|: e in the statements.
	MaxClockSkew time.Duration
	// Revalidate is the freshness window, also of rows that do not say theirs.
	Revalidate time.Duration
	// TTLBuffer is how long before its ttl a row may count as gone for the nodes.
	TTLBuffer time.Duration
	// Settle is within how long everything must be well once faults have stopped.
	Settle time.Duration
}

// Lagged is what the clients saw of the same schedule under another lag of TTL.
type Lagged struct {
	Lag     string
	History []history.Event
	// Diverged says how the schedule came to an end that it cannot have under equal decisions: a step that it takes was
	// not possible. "" if it did not.
	Diverged string
}

// Finding is the outcome of one check.
type Finding struct {
	Verdict Verdict
	Why     string // one sentence, for anything but ok
	// Changes and Events are the sequence numbers of the few changes and events that show it, Operations the places from 1
	// of such operations; the decisive one is the last.
	Changes, Events, Operations []int
}

// Invariant is one promise.
type Invariant struct {
	Name      string
	Statement string // T is true time, e is the promised bound of clock skew
	Check     func(Evidence) Finding
	// Watch begins a check of a log that is still being written. Nil if the change log alone does not decide.
	Watch func(Promise) Watcher
	// Memory makes an empty memory of what Check remembers of the past, beside the rows. An exhaustive search proves only
	// invariants that have one. It runs one of many orders in which different nodes do something at the same instant, so
	// the check must come to the same verdict for each; changes of one row are in all of them in the same order.
	// Nil means that Check depends on such orders, or on too much of the past: it is for campaigns.
	Memory func() Memory

	rule rule // what Check and Watch are made of, if the log decides
	// beyond makes what else Check follows, with a ledger that knows the log so far; nil, and what it makes may be.
	beyond func(Evidence, *ledger) follower
}

// follows says whether the invariant is one that follows what happened.
func (inv *Invariant) follows() bool { return inv.rule != nil || inv.beyond != nil }

var all = []Invariant{
	StaleWriter(), LockTheft(), MonotonicPublication(), AtomicPublish(), NoDanglingPointer(), TTLWellFormed(),
	Freshness(), TTLIsGC(), SingleFlight(), NoLostInvalidation(), IdempotentRegeneration(), TenantIsolation(),
	Linearizable(), Liveness(),
}

// All returns the invariants in the order in which reports name them: first those
// that the change log alone decides.
func All() []Invariant { return slices.Clone(all) }

func ok() Finding { return Finding{Verdict: OK} }

func unknown(why string, args ...any) Finding {
	return Finding{Verdict: Unknown, Why: fmt.Sprintf(why, args...)}
}

// or returns f unless it is ok, and then other: the first thing to be said stays.
// A violation needs no such care, because it ends the check: what is unknown
// about one key does not hide what is known of another.
func (f Finding) or(other Finding) Finding {
	if f.Verdict != OK {
		return f
	}
	return other
}

// and returns the first violation of the two, or else the first doubt.
func (f Finding) and(other Finding) Finding {
	if f.Verdict != Violated && other.Verdict == Violated {
		return other
	}
	return f.or(other)
}
