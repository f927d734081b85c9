package campaign_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
)

// everything prints a report with all its details.
func everything(r *campaign.Report) string {
	var b strings.Builder
	outcome := func(what string, o *kernel.Outcome) {
		if o != nil {
			fmt.Fprintf(&b, "%s: %+v %v %q %+v %v\n", what, o.Result, o.Verdict, o.Why, o.Replay(), o.Marks)
		}
	}
	fmt.Fprintf(&b, "%s\n%sfailed at %d (%s); marks %v missing %v unmet %v; %v %q\n",
		prose.Row(r), prose.Report(r, "isr-sim", "file"), r.FailedAt, r.FailureStrategy, r.Counts(), r.Missing,
		r.Unmet, r.Verdict, r.Why)
	outcome("doubt", r.Doubt)
	outcome("failure", r.Failure)
	return b.String()
}

func TestTheNumberOfWorkersChangesNothing(t *testing.T) {
	cut := scenariotest.Parsed(t, scenariotest.Lonely+"bounds: {schedules: 200, steps: 6}")
	many := effort.Quick(500, 100)
	for name, c := range map[string]campaign.Campaign{
		"passes": {Scenario: scenariotest.Embedded(t, "paused-writer"), Seed: 1, Schedules: many},
		"passes with swarm": {Scenario: scenariotest.Embedded(t, "lost-response"), Seed: 1, Schedules: many,
			Options: kernel.Options{Swarm: true}},
		"is violated early": {Scenario: scenariotest.Embedded(t, "two-contenders"),
			Protocol: scenariotest.Protocol(t, "acquire-by-get-then-put"), Seed: 1},
		"is violated late": {Scenario: scenariotest.Embedded(t, "paused-writer"),
			Protocol: scenariotest.Protocol(t, "blind-publish"), Seed: 4, Plan: strategy.Only(strategy.POS)},
		"never gets there": {Scenario: scenariotest.Parsed(t, scenariotest.Lonely+
			"reach: [ttl-deletion]\nfaults: [maybe throttled op=UpdateItem]"), Seed: 1, Schedules: 300},
		"is cut":          {Scenario: cut, Seed: 1},
		"is one schedule": {Scenario: scenariotest.Embedded(t, "two-contenders"), Seed: 1, Schedules: 1},
		"speaks through SDK": {Scenario: scenariotest.Embedded(t, "two-contenders"), Seed: 1, Schedules: 20,
			Options: kernel.Options{SDK: true}},
	} {
		c.Workers = 1
		want := everything(scenariotest.Ran(t, c))
		for _, workers := range effort.Fewer([]int{2, 8}, []int{8}) {
			c.Workers = workers
			if got := everything(scenariotest.Ran(t, c)); got != want {
				t.Errorf("a campaign that %s, %d workers (-one +many):\n%s", name, workers, cmp.Diff(want, got))
			}
		}
	}
}

func TestAProtocolThatBreaksInOneScheduleBreaksTheCampaignThere(t *testing.T) {
	var first string
	for _, workers := range []int{1, 2, 8} {
		// Schedules in which alice's publish is throttled make the store panic.
		c := campaign.Campaign{
			Scenario: scenariotest.Parsed(t, scenariotest.Lonely+
				"faults: [maybe throttled op=TransactWriteItems times=always]"), Protocol: scenariotest.Touchy(t),
			Seed: 1, Workers: workers,
		}
		_, err := c.Run(context.Background())
		if err == nil {
			t.Fatal("the campaign passed, want it broken")
		}
		if first == "" {
			first = err.Error()
		}
		if err.Error() != first {
			t.Errorf("%d workers: broken by %v, one worker: %v", workers, err, first)
		}
	}
}

func TestProgressIsHeardInOrder(t *testing.T) {
	last := 0
	scenariotest.Ran(t, campaign.Campaign{Scenario: scenariotest.Parsed(t, scenariotest.Lonely), Seed: 1,
		Schedules: 400, Workers: 8, Progress: func(done, of int) {
			if done != last+1 || of != 400 {
				t.Errorf("heard %d of %d after %d", done, of, last)
			}
			last = done
		}})
	if last != 400 {
		t.Errorf("heard of %d schedules, want 400", last)
	}
}
