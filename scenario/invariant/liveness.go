package invariant

import (
	"fmt"

	"github.com/isr-sim/isr-sim/scenario/history"
)

// Liveness holds that what should happen does happen once nothing is in its way:
// no lock outlives whoever held it, and no mark of a failed regeneration keeps a
// page from being made. It is judged from the moment at which faults stopped and
// everybody else was done, if the history has one (history.Settled).
func Liveness() Invariant {
	return Invariant{
		Name:      "liveness",
		Statement: "once faults have stopped, every page that is asked for is served fresh within the time that the scenario gives it",
		Check:     checkLiveness,
		Memory:    rememberNothing, // what comes after the last step that a schedule decides follows from the rows
	}
}

func checkLiveness(ev Evidence) Finding {
	settled := history.Event{}
	var keys []string // asked for since, in order
	last := map[string]history.Event{}
	for _, e := range ev.History {
		switch {
		case e.Kind == history.Settled:
			settled = e
		case settled.Seq == 0:
		case e.Kind == history.Asked:
			if _, asked := last[e.Key]; !asked {
				keys = append(keys, e.Key)
			}
			if last[e.Key].As != history.Fresh {
				last[e.Key] = e
			}
		case e.Kind == history.Failed, e.Kind == history.Served && last[e.Key].As != history.Fresh:
			last[e.Key] = e
		}
	}
	for _, key := range keys {
		e := last[key]
		if e.As == history.Fresh && !e.Time.After(settled.Time.Add(ev.Settle)) {
			continue
		}
		return Finding{
			Verdict: Violated,
			Why: fmt.Sprintf("%v after faults had stopped nobody has been served a fresh page of %s; at most %v is allowed",
				e.Time.Sub(settled.Time), key, ev.Settle),
			Events: []int{settled.Seq, e.Seq},
		}
	}
	return ok()
}
