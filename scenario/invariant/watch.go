package invariant

import (
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// Promise is what a check of the log alone takes for granted.
type Promise struct {
	MaxClockSkew time.Duration // as in Evidence
	Revalidate   time.Duration // as in Evidence; 0 is not known
}

// Watcher judges a log while it is written: it is given what took effect at once,
// the changes of one request, request after request from the beginning of the
// log. Of a violation or a doubt, Finding.Changes are only the changes that
// decide; Story tells what led to them. It goes on after a violation.
//
// A watcher remembers every key that it has seen. It is not safe for concurrent use.
type Watcher func(request []ddbfake.Change) Finding

// rule judges one step. It has no memory of its own: what it needs to know of the
// past, the pages remember for all rules. Of a finding's changes it names those
// that decide.
type rule func(*step) Finding

// onLog makes an invariant of a rule.
func onLog(name, statement string, r rule) Invariant {
	return followed(Invariant{Name: name, Statement: statement, Memory: rememberPages, rule: r})
}

// followed gives an invariant that has a rule, or something else that follows what
// happened, its Check, and its Watch if it has a rule.
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
	inv.Check = func(ev Evidence) Finding { return follow(ev, one)[0].found(ev) }
	return inv
}
