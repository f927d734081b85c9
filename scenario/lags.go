package scenario

import (
	"context"
	"errors"
	"slices"

	"github.com/isr-sim/isr-sim/internal/probe"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// underOtherLags runs the run's schedule once more under each lag of TTL that the scenario compares, and returns the
// histories. Marks of these runs count as marks of the run.
//
// No deletion has time stop by itself, whatever the lag, so that equal decisions meet equal choices; time stops at each
// ttl anyway. A schedule that stops fitting has met another decision.
func (r Run) underOtherLags(ctx context.Context, o *Outcome) ([]invariant.Lagged, error) {
	s := r.Scenario
	if r.probe.Search { // which would not have this judged
		return nil, nil
	}
	own := r.stage
	if own == nil {
		own = newStage()
		defer own.close()
	}
	r.Trace, r.probe, r.Blind = nil, &probe.Probe{}, true
	lags := make([]invariant.Lagged, len(s.CompareLags))
	for i, lag := range s.CompareLags {
		r.lag, r.stage, r.Strategy = &lag, own.second(), sim.Replay(o.Result.Choices)
		w, other, err := r.perform(ctx)
		if err != nil {
			own.dropSecond()
			diverged, ok := errors.AsType[*sim.DivergedError](err)
			if !ok {
				return nil, err
			}
			lags[i] = invariant.Lagged{Lag: lag.String(), Diverged: diverged.Error()}
			continue
		}
		lags[i] = invariant.Lagged{Lag: lag.String(), History: slices.Clone(w.history.Events())}
		o.Marks = union(o.Marks, other.Marks)
	}
	return lags, nil
}

// union returns the marks in one of the sets, in the order of Marks.
func union(a, b []Mark) (both []Mark) {
	for _, m := range allMarks {
		if slices.Contains(a, m) || slices.Contains(b, m) {
			both = append(both, m)
		}
	}
	return both
}
