package invariant

import (
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// Promise has the bounds that a check of the log assumes.
type Promise struct {
	MaxClockSkew time.Duration // as in Evidence
	Revalidate   time.Duration // the same as in Evidence; 0 means not known
	Recipe       bool          // as in Evidence
}

func (ev *Evidence) promise() Promise { return Promise{ev.MaxClockSkew, ev.Revalidate, ev.Recipe} }

// Watcher judges a log while it is written. It is called for each request, from the beginning of the log, with the
// request's changes, which took effect at once. In a violation or a doubt, Finding.Changes has only the deciding
// changes; Story adds the changes that led to them. A watcher goes on after a violation.
//
// A watcher remembers every key that it has seen. It is not safe for concurrent use.
type Watcher func(request []ddbfake.Change) Finding

// rule judges one step. It has no memory of its own: the ledger remembers the past for all rules. Its finding has only
// the deciding changes.
type rule func(*step) Finding

func onLog(name, statement string, r rule) Invariant {
	return followed(Invariant{Name: name, Statement: statement, Memory: rememberPages, judge: r})
}

// followed sets the Check of an invariant and, if the invariant has a rule, its Watch.
func followed(inv Invariant) Invariant {
	if r := inv.judge; r != nil {
		inv.Watch = func(p Promise) Watcher {
			l := newLedger(p)
			return func(request []ddbfake.Change) Finding {
				finding := ok()
				l.take(request, func(s *step) { finding = finding.and(r(s)) })
				return finding
			}
		}
	}
	one := []Invariant{{judge: inv.judge, beyond: inv.beyond}}
	inv.Check = onRows(func(ev Evidence) Finding { return follow(ev, one)[0].found(ev) })
	return inv
}
