package invariant

import (
	"fmt"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/inside"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
)

// freeCall holds that a call is answered if no other call of its key is in the way. freeLock says when another call is
// in the way. A call is excused if its effect failed, if its requests failed, or if it was no longer in progress when
// it was answered. But the layer must not have waited for that itself: without the time in which its effect or its
// requests were under way, or its node stood still, it may spend the time that its terms allow.
var freeCall = Invariant{
	Name: "free-call",
	Statement: "a call that nobody else is at is not told to try again, unless its effect or its requests failed, " +
		"or held it up until it was no longer in progress, and does not wait longer than the layer's terms allow",
	Check: checkFreeCall,
}

func checkFreeCall(ev Evidence) Finding {
	if inside.In(&ev).Once == nil {
		return ok()
	}
	for _, k := range callsOf(ev) {
		asked := free{
			wait: inside.In(&ev).Once.Wait, takeover: inside.In(&ev).Once.Takeover, refused: mark.EventCallRefused,
			refusal: func(h *hold) string {
				return fmt.Sprintf("%s was told to try again with %s, which nobody else was at", h.actor, k.key)
			},
			delay: func(h *hold, waited time.Duration) string {
				return fmt.Sprintf("%s waited %v for the result of %s while nobody else was at it; the terms allow %v",
					h.actor, waited, k.key, inside.In(&ev).Once.Wait)
			},
		}
		for _, c := range k.all {
			c.late = c.heldUp(ev, 0, inside.In(&ev).Once.Wait)
			asked.all = append(asked.all, &c.hold)
		}
		if f := asked.check(ev); f.Verdict != OK {
			return f
		}
	}
	return ok()
}
