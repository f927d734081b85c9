package invariant

import (
	"fmt"
	"time"

	"github.com/isr-sim/isr-sim/internal/trace/mark"
)

// freeCall holds that a call is answered if no other call of its key is in the way. freeLock says when another call is
// in the way. A call is excused if its effect or its requests failed, or if it was no longer in progress when answered.
// That last excuse does not cover waiting by the layer itself: apart from its effect, its requests and pauses of its
// node, the layer may spend only the time that its terms allow.
var freeCall = Invariant{
	Name: "free-call",
	Statement: "a call that nobody else executes is answered in time, and not told to retry, unless its effect or " +
		"requests failed or were held up",
	Check: checkFreeCall,
}

func checkFreeCall(ev Evidence) Finding {
	if ev.Once == nil {
		return ok()
	}
	for _, k := range callsOf(ev) {
		asked := free{
			wait: ev.Once.Wait, takeover: ev.Once.Takeover, refused: mark.EventCallRefused,
			refusal: func(h *hold) string {
				return fmt.Sprintf("%s was told to try again with %s, which nobody else was at", h.actor, k.key)
			},
			delay: func(h *hold, waited time.Duration) string {
				return fmt.Sprintf("%s waited %v for the result of %s while nobody else was at it; the terms allow %v",
					h.actor, waited, k.key, ev.Once.Wait)
			},
		}
		for _, c := range k.all {
			c.late = c.heldUp(ev, 0, ev.Once.Wait)
			asked.all = append(asked.all, &c.hold)
		}
		if f := asked.check(ev); f.Verdict != OK {
			return f
		}
	}
	return ok()
}
