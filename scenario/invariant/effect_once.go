package invariant

import (
	"fmt"

	"github.com/isr-sim/isr-sim/internal/base/inside"
)

// effectOnce holds that the effect of a key happens at most once, as far as a layer can promise that.
//
// If somebody was told the result of a call, no effect begins until the result may be forgotten (Evidence.Retention
// less 2e and a second, counted from before the call was made). Calls that were made earlier, and are still in
// progress, begin none either: a layer that let one of them take the key over must not take the first call's result. If
// nobody was told the result, because the call is under way, its node has died, or its end could not be written, the
// call is in progress for Evidence.Lease less 2e, counted from before it was made. No other effect begins until then. A
// node that stands still may begin an effect when its own call is no longer in progress, and nobody can prevent that.
// An effect that failed did not happen. A call that was told that its effect has happened does not run it again either,
// as long as it is in progress, nor does one begin its effect while it is under way for it.
var effectOnce = Invariant{
	Name: "effect-once",
	Statement: "the effect of a key happens once: no other one begins while the call is in progress (for its " +
		"time less 2e), nor after somebody was told its result, until that may be forgotten (its time less 2e " +
		"and a second)",
	Check: checkEffectOnce,
}

func checkEffectOnce(ev Evidence) Finding {
	for _, k := range callsOf(ev) {
		for _, c := range k.all {
			if c.once != nil && c.twice != nil && c.again.Time.Before(c.inProgress(ev)) {
				why := fmt.Sprintf("%s had the effect of %s happen again in the same call, "+
					"%s after it had happened, of which the call had been told", c.actor, k.key,
					span(c.once.Time, c.again.Time))
				if c.again.Seq < c.once.Seq {
					why = fmt.Sprintf("%s had the effect of %s happen twice in the same call, which began it again "+
						"while it was under way",
						c.actor, k.key)
				}
				return Finding{Verdict: Violated, Why: why, Events: events(c.asked, c.once, c.again, c.twice)}
			}
		}
		effects := k.effects()
		for i, first := range effects {
			told := k.told(first.effect.Body)
			for _, second := range effects[i+1:] {
				at := second.begun.Time
				switch {
				case told != nil && told.Seq < second.begun.Seq && at.Before(first.forgotten(ev)) &&
					(told.Seq < second.asked.Seq || at.Before(second.inProgress(ev))):
					return Finding{
						Verdict: Violated,
						Why: fmt.Sprintf("the effect of %s happened again, for %s: that of %s had happened %s "+
							"before, and its result had been told; it is kept for %v",
							k.key, second.actor, first.actor, span(first.effect.Time, second.effect.Time),
							inside.In(&ev).Retention),
						Events: events(first.asked, first.effect, told, second.asked, second.begun, second.effect),
					}
				case at.Before(first.inProgress(ev)) && at.Before(second.inProgress(ev)):
					return Finding{
						Verdict: Violated,
						Why: fmt.Sprintf("the effect of %s happened twice, for %s and for %s, whose call had been "+
							"made %s before and was in progress; that lasts %v",
							k.key, first.actor, second.actor, span(first.asked.Time, at), inside.In(&ev).Lease),
						Events: events(first.asked, first.begun, first.effect, second.asked,
							second.begun, second.effect),
					}
				}
			}
		}
	}
	return ok()
}
