package campaign_test

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/scenario/isr"
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

// writer answers each request for a page by writing it: it takes the lease, stores a body and publishes, with recipe
// A's methods. It reads no row before or after.
type writer struct {
	store  *pagecache.RecipeA
	bodies isr.BodyStore
}

func newWriter(cfg isr.Config) (isr.Handler, error) {
	store, err := pagecache.NewRecipeA(cfg)
	return writer{store, cfg.Bodies}, err
}

func (w writer) Get(ctx context.Context, key string) (isr.Served, error) {
	lease, err := w.store.Acquire(ctx, key)
	if err != nil {
		return isr.Served{}, err
	}
	body := "pages/" + lease.Token
	if err := w.bodies.PutBody(ctx, body, []byte("a page")); err != nil {
		return isr.Served{}, err
	}
	if err := w.store.Publish(ctx, lease, pagecache.Meta{
		PK: w.store.PK(key), S3Key: body, GeneratedAt: w.store.Now(), RevalidateSeconds: 60,
	}); err != nil {
		return isr.Served{}, err
	}
	return isr.Served{}, pagecache.ErrUnavailable // it writes, and serves nothing
}

// BenchmarkWriters measures the schedules per second of two recipe-A writers in Go, on one core: run it with -cpu 1.
//
// A schedule is a run of a scenario from an empty table to a verdict: two nodes take the lease of the one page (a
// conditional put). A node that gets it stores a body and publishes (a transaction that puts META and deletes LOCK).
// All this happens under a random walk; each schedule has its own seed. Then every invariant judges the run, except
// linearizability, because no operation is observed (kernel.Setup.Blind). One operation is a campaign of a thousand of
// them, by one worker. The garbage collector is set as isr-sim sets it for campaigns.
func BenchmarkWriters(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	s := spec.Defaults()
	s.Name = "two-writers"
	for _, name := range []string{"alice", "bob"} {
		s.Actors = append(s.Actors, spec.Actor{Name: name, Script: []spec.Command{{Verb: "get", Key: "/home"}}})
	}
	c := campaign.Campaign{
		Scenario: s, Protocol: isr.Protocol{Name: "writer", New: newWriter},
		Plan: strategy.Only(sim.RandomWalk), Schedules: 1000, Workers: 1,
		Options: kernel.Options{Setup: kernel.Setup{Blind: true}},
	}
	b.ReportAllocs()
	schedules, steps := 0, 0
	for b.Loop() {
		c.Seed++
		r, err := c.Run(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if r.Verdict != invariant.OK {
			b.Fatal(r.Why)
		}
		schedules += r.Schedules
		steps += r.Steps
	}
	b.ReportMetric(float64(schedules)/b.Elapsed().Seconds(), "schedules/s")
	b.ReportMetric(float64(steps)/float64(schedules), "steps/schedule")
}
