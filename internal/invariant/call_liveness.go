package invariant

import (
	"fmt"
	"slices"

	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// callLiveness holds that every key gets a result after faults have stopped and its callers are done or dead. It is
// judged from the event history.Settled on, which marks that moment.
var callLiveness = Invariant{
	Name:      "call-liveness",
	Statement: "once faults stop, every call is answered within the scenario's time",
	Check:     checkCallLiveness,
}

func checkCallLiveness(ev Evidence) Finding {
	at := slices.IndexFunc(ev.History, func(e history.Event) bool { return e.Kind == history.Settled })
	if at < 0 {
		return ok()
	}
	settled, asked := &ev.History[at], false
	for _, k := range callsOf(ev) {
		last := k.all[len(k.all)-1]
		if last.asked.Seq < settled.Seq {
			continue
		}
		asked = true
		end := last.end()
		done := last.answer != nil && last.answer.Kind != mark.EventCallRefused
		if done && !end.Time.After(settled.Time.Add(ev.Settle)) {
			continue
		}
		return Finding{
			Verdict: Violated,
			Why: fmt.Sprintf("%v after faults had stopped, the call %s had no result, and nobody was at it; at most "+
				"%v is allowed",
				end.Time.Sub(settled.Time), k.key, ev.Settle),
			Events: events(settled, last.asked, end),
		}.answered()
	}
	if !asked {
		return unknown("no call was made after faults had stopped (event %d)", settled.Seq)
	}
	return ok()
}
