package invariant

import (
	"fmt"

	"github.com/isr-sim/isr-sim/scenario/history"
)

// sameResult holds that all callers of a key are told the same result, and that the result comes from an effect that
// took place for the key.
//
// If an effect happened twice, which the layer cannot always prevent, one of the two results goes to everybody. The
// other call has lost, and is told so. Both results may be returned on two conditions: the second effect began when the
// first result could be forgotten (see effectOnce), and once the second result was returned, later callers do not get
// the first.
var sameResult = Invariant{
	Name: "same-result",
	Statement: "all callers of a key are told the result of one effect of that key, until the result may be " +
		"forgotten",
	Check: checkSameResult,
}

func checkSameResult(ev Evidence) Finding {
	for _, k := range callsOf(ev) {
		for i, c := range k.all {
			if !c.answered() {
				continue
			}
			of := k.of(c.answer.Body)
			if of == nil || of.effect.Seq > c.answer.Seq {
				return Finding{
					Verdict: Violated,
					Why: fmt.Sprintf("%s was told %q for %s, which is the result of no effect of that key",
						c.actor, c.answer.Body, k.key),
					Events: events(c.asked, c.answer),
				}
			}
			for _, other := range k.all[:i] {
				if !other.answered() || other.answer.Body == c.answer.Body {
					continue
				}
				if f := twoResults(ev, k, other, c); f.Verdict != OK {
					return f
				}
			}
		}
	}
	return ok()
}

// twoResults judges two callers of a key who were told different results.
func twoResults(ev Evidence, k *keyed, a, b *call) Finding {
	first, second := k.of(a.answer.Body), k.of(b.answer.Body) // both calls exist: that has been judged before
	if first.begun.Seq > second.begun.Seq {
		first, second, a, b = second, first, b, a
	}
	forgotten := !second.begun.Time.Before(first.forgotten(ev))
	if forgotten && a.asked.Seq < k.told(second.effect.Body).Seq {
		return ok()
	}
	shown := []*history.Event{first.effect, second.effect, a.asked, a.answer, b.asked, b.answer}
	if a.answer.Seq > b.answer.Seq {
		a, b = b, a
	}
	return Finding{
		Verdict: Violated,
		Why: fmt.Sprintf("%s was told %s for %s, and %s was told %s before: all callers of a key are told one result",
			b.actor, b.answer.Body, k.key, a.actor, a.answer.Body),
		Events: events(shown...),
	}
}
