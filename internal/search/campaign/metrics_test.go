package campaign_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
)

// sum adds up a metric of a campaign.
func sum(r *campaign.Report, of func(ddbfake.Metrics) int) int {
	n := 0
	for _, m := range r.Metrics {
		n += of(m)
	}
	return n
}

// The metrics of a campaign do not depend on the number of workers, even if it ends before all have been run.
func TestMetricsOnAnyNumberOfWorkers(t *testing.T) {
	for name, text := range map[string]string{
		"ok":       scenariotest.Lonely + "faults: [maybe throttled op=UpdateItem, throttled op=PutItem]\n",
		"violated": pausedWriter,
	} {
		var reports []*campaign.Report
		for _, workers := range []int{1, 4} {
			r := scenariotest.Ran(t,
				campaign.Campaign{Scenario: scenariotest.Parsed(t, text), Seed: 1, Schedules: 100, Workers: workers})
			reports = append(reports, r)
		}
		if diff := cmp.Diff(reports[0].Metrics, reports[1].Metrics); diff != "" {
			t.Errorf("%s: 1 worker and 4 (-1 +4):\n%s", name, diff)
		}
		if len(reports[0].Metrics) == 0 {
			t.Errorf("%s: got no metrics", name)
		}
	}
}

// A fault that strikes each schedule once is counted once for each, and no other throttled request is.
func TestMetricsCountFaults(t *testing.T) {
	for fault, want := range map[string]int{"faults: [throttled op=PutItem]\n": 50, "": 0} {
		r := scenariotest.Ran(t,
			campaign.Campaign{Scenario: scenariotest.Parsed(t, scenariotest.Lonely+fault), Seed: 1, Schedules: 50})
		if got := sum(r, func(m ddbfake.Metrics) int { return m.ThrottledRequests }); got != want {
			t.Errorf("%q: got %d throttled requests in 50 schedules, want %d", fault, got, want)
		}
	}
}

const pausedWriter = `
name: paused-writer
protocol: blind-publish
cache: {lease: 10s, render: 3s}
actors:
  - {name: alice, script: [get /home], pauses: 1, pause-for: 15s}
  - {name: bob, script: [sleep 5s, get /home, sleep 10s, get /home]}
`

const contenders = `
name: contenders
protocol: recipe-a
cache: {lease: 10s, render: 3s}
faults: [throttled op=PutItem actor=alice]
actors:
  - {name: alice, script: [get /home]}
  - {name: bob, script: [get /home]}
`

// A test can assert that an operator's alarms would have rung, although no invariant was violated and no caller saw an
// error: the client has retried the throttled request, and the failed conditions are how a lock says no.
func ExampleReport() {
	s, err := spec.Parse("contenders.yaml", []byte(contenders))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := campaign.Campaign{Scenario: s, Seed: 1, Schedules: 100}.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	var throttled, refused, conflicts int
	for _, m := range r.Metrics {
		throttled += m.ThrottledRequests
		refused += m.ConditionalCheckFailedRequests
		conflicts += m.TransactionConflict
	}
	fmt.Println(r.Summary())
	fmt.Println("ThrottledRequests > 0:", throttled > 0)
	fmt.Println("ConditionalCheckFailedRequests > 0:", refused > 0)
	fmt.Println("TransactionConflict > 0:", conflicts > 0)
	// Output:
	// ok
	// ThrottledRequests > 0: true
	// ConditionalCheckFailedRequests > 0: true
	// TransactionConflict > 0: false
}
