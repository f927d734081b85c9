package invariant

import (
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/inside"
)

// Promise holds the bounds that a check of the log alone assumes.
type Promise struct {
	MaxClockSkew time.Duration // as in Evidence
	Revalidate   time.Duration // as in Evidence; 0 means not known
}

// Watcher judges a log while it is written. It is called with the changes of one request, which took effect at once,
// request after request from the beginning of the log. Finding.Changes of a violation or a doubt are the deciding
// changes only; Story adds those that led to them. A watcher goes on after a violation.
//
// A watcher remembers every key that it has seen. It is not safe for concurrent use.
type Watcher func(request []ddbfake.Change) Finding

// rule judges one step. It has no memory of its own: the ledger remembers the past for all rules. The changes of its
// finding are only those that decide.
type rule func(*step) Finding

// onLog makes an invariant of a rule.
func onLog(name, statement string, r rule) Invariant {
	return followed(Invariant{Name: name, Statement: statement, ours: inside.Put(own{Memory: rememberPages}), rule: r})
}

// followed gives an invariant its Check, and its Watch if it has a rule.
func followed(inv Invariant) Invariant {
	if r := inv.rule; r != nil {
		inv.Watch = func(p Promise) Watcher {
			l := newLedger(p)
			return func(request []ddbfake.Change) Finding {
				finding := ok()
				l.take(request, func(s *step) { finding = finding.and(r(s)) })
				return finding
			}
		}
	}
	one := []Invariant{{rule: inv.rule, beyond: inv.beyond}}
	inv.Check = onRows(func(ev Evidence) Finding { return follow(ev, one)[0].found(ev) })
	return inv
}
