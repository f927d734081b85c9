package explain

import "github.com/isr-sim/isr-sim/internal/show/record"

// Record is the explanation in the form of records.
func (x *Explanation) Record() *record.Explanation {
	r := &record.Explanation{
		Tails: x.Tails, Before: x.Before, After: make([]int, len(x.Steps)), Causes: make([]record.Cause, len(x.Events)),
	}
	for i, step := range x.Steps {
		r.After[i] = step.Violated
	}
	for i, e := range x.Events {
		from, to := Interval(e.Violated, x.Tails)
		r.Causes[i] = record.Cause{Step: x.Steps[e.Step].N, What: e.What, Effect: e.Effect(x.Tails),
			Without: e.Violated, From: from, To: to, With: e.With}
	}
	return r
}
