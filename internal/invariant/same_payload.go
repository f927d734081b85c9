package invariant

import (
	"fmt"

	"github.com/isr-sim/isr-sim/internal/trace/mark"
)

// samePayload holds that a key stands for one payload, if the layer promises that. Then a caller with another payload
// is refused, instead of getting the result for other data. With or without that promise: if all calls of a key had the
// same payload, no caller is refused for its payload.
var samePayload = Invariant{
	Name: "same-payload",
	Statement: "where promised, no caller is told the result of another payload. A payload is refused " +
		"only if the key was used with another one",
	Check: checkSamePayload,
}

func checkSamePayload(ev Evidence) Finding {
	for _, k := range callsOf(ev) {
		for _, c := range k.all {
			switch {
			case c.answer == nil:
			case c.answer.Kind == mark.EventCallAnswered && ev.Once != nil && ev.Once.Payload:
				of := k.of(c.answer.Body)
				if of == nil || of.payload == c.payload {
					continue
				}
				return Finding{
					Verdict: Violated,
					Why: fmt.Sprintf("%s called %s with the payload %s, and was told the result of an effect for "+
						"the payload %s",
						c.actor, k.key, c.payload, of.payload),
					Events: events(of.asked, of.effect, c.asked, c.answer),
				}
			case c.answer.Kind == mark.EventCallOther:
				other := false
				for _, before := range k.all {
					other = other || before.asked.Seq < c.answer.Seq && before.payload != c.payload
				}
				if !other {
					return Finding{
						Verdict: Violated,
						Why: fmt.Sprintf(
							"%s was refused for the payload %s of %s, which all calls of that key have",
							c.actor, c.payload, k.key,
						),
						Events: events(c.asked, c.answer),
					}
				}
			}
		}
	}
	return ok()
}
