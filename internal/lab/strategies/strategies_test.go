package main

import (
	"io"
	"testing"

	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
)

func measured(t *testing.T, subjects []subject, name string, e limits, plans ...strategy.Plan) map[string]cell {
	t.Helper()
	for _, s := range subjects {
		if s.name != name {
			continue
		}
		rows := must.Of(measureAll(t.Context(), []subject{s}, plans, e, io.Discard))(t)
		cells := map[string]cell{}
		for _, c := range rows[0].cells {
			cells[c.plan] = c
		}
		return cells
	}
	t.Fatalf("nothing is called %s", name)
	return nil
}

// The ratios here are much smaller than the published ones, and than ours at 40 seeds, so they hold for the strategy,
// whatever the seeds.
func TestTheStrategiesRankAsPublished(t *testing.T) {
	effort.Long(t)
	const walk, pct, pos = "random-walk", "pct3", "pos"
	subjects := must.Of(smallPrograms())(t)
	for _, test := range []struct {
		program      string
		worse, than  string
		times        float64
		publishedAre string
	}{
		{"reorder_3", walk, pos, 5, "- and 86"},
		{"reorder_3", walk, pct, 5, "- and 185"},
		{"twostage", walk, pct, 5, "464 and 13"},
		{"twostage", walk, pos, 5, "464 and 15"},
		{"account", walk, pct, 5, "18 and 4"},
		{"stringbuffer", pct, pos, 5, "281 and 23"},
	} {
		cells := measured(t, subjects, test.program, limits{seeds: 12, schedules: 1000},
			strategy.Only(sim.RandomWalk), strategy.Only(strategy.PCT(3)), strategy.Only(strategy.POS))
		worse, _ := cells[test.worse].average()
		than, _ := cells[test.than].average()
		if worse < test.times*than {
			t.Errorf("%s: %s needs %.1f schedules and %s %.1f, want at least %.0f times as many (published: %s)",
				test.program, test.worse, worse, test.than, than, test.times, test.publishedAre)
		}
	}
}

// The published numbers are 6 to 17 schedules per program.
func TestSURWFindsTheBugOfEveryProgramAtOnce(t *testing.T) {
	subjects, err := smallPrograms()
	must.OK(t, err)
	surw, err := strategy.PlanNamed("surw")
	must.OK(t, err)
	for _, s := range subjects {
		c := measured(t, subjects, s.name, limits{seeds: 20, schedules: 1000}, surw)[surw.Name]
		if mean, _ := c.average(); mean > 50 {
			t.Errorf("%s: %.1f schedules, want 50 at most", s.name, mean)
		}
	}
}

// The hardest mutant publishes without a condition, after reading the lock.
func TestTheDefaultPlanFindsEveryMutant(t *testing.T) {
	effort.NotShort(t)
	subjects := must.Of(mutants())(t)
	for _, s := range subjects {
		seeds := effort.Quick(effort.Fewer(40, 10), 2)
		if s.name == "check-then-act-publish" {
			seeds = 40
		}
		c := must.Of(measure(t.Context(), s, strategy.Portfolio(), limits{seeds, 300}))(t)
		if mean, found := c.average(); found < seeds || s.name == "check-then-act-publish" && mean > 40 {
			t.Errorf("%s: %.1f schedules, found under %d of %d seeds; want all, within 300 schedules", s.name, mean,
				found, seeds)
		}
	}
}

func TestFindingsFallIntoBuckets(t *testing.T) {
	c := cell{found: []int{1, 10, 11, 100, 1000, 1001, 10_000, 0}, limit: 10_000}
	if got, want := c.counts(), [...]int{2, 2, 1, 2, 1}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, test := range []struct {
		found []int
		want  string
	}{
		{[]int{1, 2}, "1.5"},
		{[]int{100, 201}, "150"},
		{[]int{100, 0}, "5050 (1)"}, // a search without a finding has cost all schedules
		{[]int{0, 0}, "-"},
	} {
		if got := (cell{found: test.found, limit: 10_000}).mean(); got != test.want {
			t.Errorf("%v: got %q, want %q", test.found, got, test.want)
		}
	}
}
