package invariant

import (
	"fmt"
)

// effectOnce holds that the effect of a key happens at most once, as far as a layer can promise that.
//
// Once a caller has the result, no effect begins until the result may be forgotten (Evidence.Retention less 2e and a
// second, counted from before the call). That includes effects of earlier calls still in progress: a layer that lets
// one of them take over the key must not accept the first call's result. Until a caller has the result (the call is
// under way, its node died, or its end could not be written), the call is in progress for Evidence.Held less 2e,
// counted from before the call, and no other effect begins. A paused node may begin an effect after its own call has
// expired: no layer can prevent that. A failed effect did not happen. A call in progress does not repeat its own effect
// either, nor run it twice at once.
var effectOnce = Invariant{
	Name: "effect-once",
	Statement: "no second effect of a key begins while a call is in progress or its returned result must be " +
		"kept. Tolerance: 2e plus 1s",
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
							ev.Retention),
						Events: events(first.asked, first.effect, told, second.asked, second.begun, second.effect),
					}
				case at.Before(first.inProgress(ev)) && at.Before(second.inProgress(ev)):
					return Finding{
						Verdict: Violated,
						Why: fmt.Sprintf("the effect of %s happened twice, for %s and for %s, whose call had been "+
							"made %s before and was in progress; that lasts %v",
							k.key, first.actor, second.actor, span(first.asked.Time, at), ev.Held),
						Events: events(first.asked, first.begun, first.effect, second.asked,
							second.begun, second.effect),
					}
				}
			}
		}
	}
	return ok()
}
