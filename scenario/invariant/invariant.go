// Package invariant judges a run: it reads a change log and a history, and tells which promise of the ISR protocol was
// broken, by which actor and when.
//
//	evidence := invariant.Evidence{Changes: db.Changes(), MaxClockSkew: time.Second}
//	invariant.Judge(evidence, func(inv invariant.Invariant, f invariant.Finding) {
//		fmt.Println(f.Verdict, inv.Name, "-", inv.Statement)
//		fmt.Println(f.Why)
//	})
//
// It needs no simulator: any implementation in any language that writes META and LOCK rows into a ddbfake can be judged
// by its change log. An invariant with a Watch can also judge the log while it is written. If a cache has other rows,
// describe them in Evidence.Schema.
//
// # Limits
//
// The log shows who holds a token: a lease belongs to the actor that put its token into the LOCK row. So an actor that
// comes back after a crash must have another name. Otherwise the requests that it sent before the crash are taken for
// new ones. The log must reach back to the creation of the table: the holder of a lock that is older than the log is
// not known.
//
// # Determinism
//
// A check depends on the evidence alone. It reports the first violation in the order of the log, or the first doubt if
// there is no violation.
package invariant

import (
	"slices"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/invariant"
)

// Verdict is the result of a check. It is not a bool: "unknown" is a separate result, and never passes for ok.
type Verdict = invariant.Verdict

// The verdicts.
const (
	OK       Verdict = invariant.OK
	Violated Verdict = invariant.Violated // the invariant's statement does not hold
	Unknown  Verdict = invariant.Unknown  // the evidence is not enough to decide
)

// Evidence is the record of one run. It is only read.
type Evidence = invariant.Record

// Promise has the bounds that a check of the log assumes.
type Promise = invariant.Promise

// Finding is the outcome of one check.
type Finding struct {
	Verdict Verdict
	Why     string // one sentence; "" for ok
	// Changes and Events are the sequence numbers of the few changes and events that show the violation, or that leave
	// the doubt. The last of each is the decisive one.
	Changes, Events []int
}

// Watcher judges a log while it is written. It is called for each request, from the beginning of the log, with the
// request's changes, which took effect at once. In a violation or a doubt, Finding.Changes has only the deciding
// changes; Story adds the changes that led to them. A watcher goes on after a violation.
//
// A watcher remembers every key that it has seen. It is not safe for concurrent use.
type Watcher func(request []ddbfake.Change) Finding

// Invariant is one promise.
type Invariant struct {
	Name      string
	Statement string // T is true time, e is the promised bound of clock skew
	Check     func(Evidence) Finding
	// Watch begins a check of a log that is still being written: of the part that the log alone decides. It is nil if
	// there is no such part.
	Watch func(Promise) Watcher

	of *invariant.Invariant // nil for the caller's own
}

// All returns the invariants in the order in which reports name them. The rules of the recipe come last:
// breaking one serves no wrong page.
func All() []Invariant { return outside(invariant.All()...) }

// Named returns the invariant of [All] with this name, or panics.
func Named(name string) Invariant { return outside(invariant.Named(name))[0] }

// OfLocks returns the invariants of locks in the order in which reports name them. They are not among All, because a
// run concerns either pages or locks. Pass them to Judge.
func OfLocks() []Invariant { return outside(invariant.OfLocks()...) }

// OfCalls returns the invariants of idempotent calls in the order in which reports name them. Like the invariants of
// OfLocks, they are not among All.
func OfCalls() []Invariant { return outside(invariant.OfCalls()...) }

// outside returns the engine's invariants as callers see them.
func outside(engine ...invariant.Invariant) (all []Invariant) {
	for _, of := range engine {
		inv := Invariant{
			Name: of.Name, Statement: of.Statement, of: &of,
			Check: func(ev Evidence) Finding { return of.Check(invariant.Evidence{Record: ev}).Said() },
		}
		if of.Watch != nil {
			inv.Watch = func(p Promise) Watcher {
				watch := of.Watch(p)
				return func(request []ddbfake.Change) Finding { return watch(request).Said() }
			}
		}
		all = append(all, inv)
	}
	return all
}

// Judge checks the given invariants, and reports the findings that are not ok, in the order of the invariants. If none
// is given, it checks All without the rules of the recipe. The findings are those of Check, but the log is read only
// once for all invariants that need it. If a check gives no verdict, the verdict is unknown. An invariant that is not
// one of All sees the cache's own rows, whatever Schema says.
func Judge(ev Evidence, report func(Invariant, Finding), by ...Invariant) {
	var engine []invariant.Invariant
	for _, inv := range by {
		of := invariant.Own(inv.Name, inv.Statement, inv.Check)
		if inv.of != nil { // perhaps with a name, a statement or a check that the caller changed
			own := of
			of = *inv.of
			of.Name, of.Statement, of.Check = own.Name, own.Statement, own.Check
		}
		engine = append(engine, of)
	}
	invariant.Judge(invariant.Evidence{Record: ev}, func(of invariant.Invariant, f invariant.Finding) {
		inv := outside(of)[0]
		if i := slices.IndexFunc(by, func(given Invariant) bool { return given.Name == of.Name }); i >= 0 {
			inv = by[i]
			inv.Statement = of.Statement // with the names of the cache's own rows
		}
		report(inv, f.Said())
	}, engine...)
}

// Publishes reports whether a change is a publish: a client made META show another page than before.
func Publishes(c *ddbfake.Change) bool { return invariant.Publishes(c) }

// Story returns the changes that led to the last deciding change: the deciding changes, and all changes of the same key
// since that change's actor last wrote LOCK there, or since the beginning of the log. If the story is long, it returns
// the first change and the last ones. The log may lack its beginning.
func Story(log []ddbfake.Change, deciding []int) []int { return invariant.Story(log, deciding) }
