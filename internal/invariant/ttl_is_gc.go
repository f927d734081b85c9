package invariant

import (
	"fmt"

	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// ttlIsGC holds that TTL is only garbage collection. The protocol treats a row past its use as gone, so no decision
// depends on its deletion.
//
// The evidence has histories of the same schedule under other lags of TTL, in which only rows past their ttl were
// deleted. Without them, nothing is compared.
var ttlIsGC = Invariant{
	Name:      "ttl-is-gc",
	Statement: "the cache decides the same under any TTL lag, as long as TTL deletes only rows past their ttl",
	Check:     checkLags,
}

func checkLags(ev Evidence) Finding {
	for _, other := range ev.Lags {
		if f := compareLag(ev.History, other); f.Verdict != OK {
			return f
		}
	}
	return ok()
}

// compareLag looks for the first event that differs.
func compareLag(history []history.Event, other recorder.Lagged) Finding {
	violated := func(events []int, why string, args ...any) Finding {
		return Finding{
			Verdict: Violated, Why: "under the TTL lag " + other.Lag + ", " + fmt.Sprintf(why, args...), Events: events,
		}
	}
	for i := range min(len(history), len(other.History)) {
		if here, there := history[i], other.History[i]; !sameDecision(here, there) {
			return violated([]int{here.Seq}, "event %d is another one: %s %s", here.Seq, there.Actor, there)
		}
	}
	switch {
	case other.Diverged != "":
		return violated(lastEvent(history), "the schedule cannot be followed: %s", other.Diverged)
	case len(history) > len(other.History):
		return violated([]int{history[len(other.History)].Seq},
			"nothing happens any more after %d events", len(other.History))
	case len(history) < len(other.History):
		next := other.History[len(history)]
		return violated(lastEvent(history), "more happens: %s %s", next.Actor, next)
	default:
		return ok()
	}
}

// sameDecision compares all fields except the place in the log, which changes with deletions.
func sameDecision(a, b history.Event) bool {
	a.Change, b.Change = 0, 0
	sameTime := a.Time.Equal(b.Time)
	a.Time = b.Time
	return sameTime && a == b
}

func lastEvent(events []history.Event) []int {
	if len(events) == 0 {
		return nil
	}
	return []int{events[len(events)-1].Seq}
}
