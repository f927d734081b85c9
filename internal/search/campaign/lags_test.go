package campaign

import (
	"context"
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

const lagging = `
name: lagging
protocol: recipe-a
cache: {lease: 5s, revalidate: 20s, retention: 5s, ttl-buffer: 4s, render: 1s, contention: wait}
compare-lags: [at-once, 1h, 48h, never]
actors:
  - {name: alice, script: [get /home, sleep 28s, get /home, sleep 50h, get /home], crashes: 1, restarts: 1}
  - {name: bob, script: [sleep 2s, get /home, sleep 7s, get /home, sleep 50h, get /home], pauses: 3, pause-for: 1s}
settle: 30s
reach: [ttl-deletion, expired-row-read]
bounds: {ticks: 0, schedules: 200}
`

// Marks count even if only the runs under other lags reach them. A probe sees only the schedule's own run.
func TestComparedLagsAreRunsOfTheSameSchedule(t *testing.T) {
	effort.Long(t)
	s, err := scenario.Parse("f.yaml", []byte(lagging))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Campaign{Scenario: s, Seed: 1}.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !r.Passed() {
		t.Errorf("got %s, missing %v, unmet %v", r.Summary(), r.Missing, r.Unmet)
	}
	alone := clone(s)
	alone.CompareLags, alone.Reach = []ddbfake.Lag{ddbfake.LagNever}, nil
	a, err := Campaign{Scenario: alone, Seed: 1}.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	all, one := exchanges(t, s), exchanges(t, alone)
	if a.Steps != r.Steps || one != all {
		t.Errorf("%d steps and %d exchanges with four lags, %d and %d with one", r.Steps, all, a.Steps, one)
	}
}

// exchanges counts the exchanges of one run.
func exchanges(t *testing.T, s *scenario.Scenario) int {
	t.Helper()
	recorded := hooks.Probe{Record: true}
	if _, err := (scenario.Run{Scenario: s, Protocol: recipe.Reference(), Seed: 1}).Do(hooks.With(t.Context(), &recorded)); err != nil {
		t.Fatal(err)
	}
	return len(recorded.Exchanges)
}
