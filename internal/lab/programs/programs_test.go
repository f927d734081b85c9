package programs_test

import (
	"testing"

	"github.com/isr-sim/isr-sim/internal/lab/programs"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
)

// reach returns the schedule, from 1, in which the program first shows its bug; 0 if none does.
func reach(t *testing.T, p programs.Program, s sim.Strategy, schedules int) int {
	t.Helper()
	expected := 1
	for i := range schedules {
		shown, result := p.Run(sim.Config{Seed: sim.Derive(1, i), Strategy: s, ExpectedSteps: expected})
		if result.Err != nil || result.End != sim.Finished {
			t.Fatalf("%s, schedule %d: ended %v (%v), want it finished", p.Name, i+1, result.End, result.Err)
		}
		if shown {
			return i + 1
		}
		expected = max(result.Steps, 1)
	}
	return 0
}

func TestAProgramShowsItsBugInSomeScheduleAndNotWhenThreadsRunInTurn(t *testing.T) {
	for _, p := range programs.All() {
		if reach(t, p, strategy.DelayBound(0), 1) != 0 {
			t.Errorf("%s fails with one thread after the other", p.Name)
		}
		if reach(t, p, strategy.PCT(3), 20_000) == 0 {
			t.Errorf("%s shows its bug in none of 20,000 schedules of PCT", p.Name)
		}
	}
}
