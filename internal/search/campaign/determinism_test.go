package campaign_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

func TestAProtocolThatDoesNotRepeatItselfIsAnError(t *testing.T) {
	_, err := campaign.Campaign{
		Scenario: scenariotest.Embedded(t, "two-contenders"), Protocol: scenariotest.Fickle(t, 2), Seed: 1, Workers: 1,
	}.Run(context.Background())
	if _, ok := errors.AsType[*kernel.NondeterminismError](err); !ok {
		t.Fatalf("error %v, want a *scenario.NondeterminismError", err)
	}
	broken, ok := errors.AsType[*kernel.BrokenError](err)
	if !ok || broken.Replay().Choices == nil {
		t.Errorf("error %#v does not say which schedule it is", err)
	}
	if found := broken.Result.Err.(*kernel.NondeterminismError).Found; found == nil ||
		!strings.Contains(found.Explain("two-contenders", "fickle"), "LOCK of /home: ") {
		t.Errorf("error %#v does not show what was found first", err)
	}
	for _, part := range []string{"two-contenders", "fickle", "violated: lock-theft", "time.Now"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not name %q: %v", part, err)
		}
	}
}

// TestBeforeIsCalledWithTheSeedOfEachRun runs a protocol that depends on a variable, which is set before each run.
func TestBeforeIsCalledWithTheSeedOfEachRun(t *testing.T) {
	good, bad := scenariotest.Protocol(t, "recipe-a"), scenariotest.Protocol(t, "lease-in-milliseconds")
	var global uint64 // 0 means nothing was set
	p := isr.Protocol{Name: "listening", New: func(c isr.Config) (isr.Handler, error) {
		if global%2 == 1 {
			return bad.New(c)
		}
		return good.New(c)
	}}
	ctx := hooks.WithSetup(context.Background(), hooks.Setup{Before: func(seed uint64) { global = seed }})
	report, err := campaign.Campaign{
		Scenario: scenariotest.Embedded(t, "two-contenders"), Protocol: p, Seed: 1, Workers: 1,
	}.Run(ctx)
	if err != nil || report.Failure == nil || report.Failure.Result.Seed%2 != 1 {
		t.Fatalf("report %+v, error %v; want a run of an odd seed that fails each time", report, err)
	}
	failed := report.Failure
	global = 0
	run := failed.Replay().Run(report.Scenario, p)
	shrunk, err := campaign.Shrink{Failed: run, ScheduleOnly: true, Runs: 50}.Run(ctx)
	if err != nil || shrunk.Outcome.Violation == nil || global != failed.Result.Seed {
		t.Errorf("shrunk to %+v, error %v, after a run of seed %d", shrunk, err, global)
	}
}
