package campaign_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// failing returns a run of the embedded scenario that violates an invariant under the protocol.
func failing(t testing.TB, name, protocol string) kernel.Run {
	t.Helper()
	s, p := scenariotest.Embedded(t, name), scenariotest.Protocol(t, protocol)
	r := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Protocol: p, Seed: 1})
	if r.Verdict != invariant.Violated {
		t.Fatalf("%s under %s: %v, want a violation to shrink", name, protocol, r.Verdict)
	}
	return kernel.Run{Scenario: s, Protocol: p, Seed: r.Failure.Result.Seed,
		Strategy: strategy.Replay(r.Failure.Result.Choices)}
}

func shrink(t testing.TB, k campaign.Shrink) *campaign.Shrunk {
	t.Helper()
	shrunk := scenariotest.Ran(t, k)
	return shrunk
}

func TestShrinkEveryProtocolThatIsCaught(t *testing.T) {
	effort.Long(t)
	caught := map[string]string{} // the first scenario that catches it
	for _, name := range slices.Backward(fixtures.Names()) {
		for _, protocol := range scenariotest.Embedded(t, name).Catches {
			caught[protocol] = name
		}
	}
	all := slices.Sorted(maps.Keys(caught))
	for _, protocol := range effort.Fewer(all, all[2:3]) {
		name := caught[protocol]
		t.Run(protocol+"/"+name, func(t *testing.T) {
			t.Parallel()
			run := failing(t, name, protocol)
			want := must.Of(run.Do(t.Context()))(t)
			shrunk := shrink(t, campaign.Shrink{Failed: run})
			if got := shrunk.Outcome.Violation.Invariant.Name; got != want.Violation.Invariant.Name {
				t.Errorf("it violates %s, want %s as before", got, want.Violation.Invariant.Name)
			}
			before, after := shrunk.Before, shrunk.After
			if after.Switches > before.Switches || after.Switches == before.Switches && after.Steps > before.Steps {
				t.Errorf("shrunk to %v from %v", after, before)
			}
			if shrunk.Bounded {
				t.Errorf("%d runs were not enough", shrunk.Runs)
			}
			again := replays(t, shrunk)

			// Shrinking the result again changes nothing.
			if twice := shrink(t, campaign.Shrink{Failed: again}); yamlOf(t, twice.Scenario) != yamlOf(t,
				shrunk.Scenario) {
				t.Errorf("shrunk twice (-once +twice):\n%s",
					cmp.Diff(yamlOf(t, shrunk.Scenario), yamlOf(t, twice.Scenario)))
			}
			// The scenario still tells the broken protocol from the right one.
			if r := scenariotest.Ran(t, campaign.Campaign{
				Scenario: again.Scenario, Seed: 1, Schedules: effort.Fewer(300, 30),
			}); r.Verdict != invariant.OK {
				t.Errorf("the scenario's own protocol: %s\n%s", prose.Report(r, "isr-sim", name),
					yamlOf(t, again.Scenario))
			}
		})
	}
}

// replays checks that the file of a shrunk run can be read, and that its replay entry is that run. It returns the run.
func replays(t *testing.T, shrunk *campaign.Shrunk) kernel.Run {
	t.Helper()
	s := scenariotest.Parsed(t, yamlOf(t, shrunk.Scenario))
	run := must.Of(kernel.Recorded(s))(t)
	_, o := scenariotest.Trace(t, run)
	if o.Verdict != invariant.Violated || o.Violation.Invariant.Name != shrunk.Outcome.Violation.Invariant.Name {
		t.Errorf("the file replays to %q", o.Explain(s.Name, run.Protocol.Name))
	}
	if o.Digest != s.Replay.Digest || o.Digest != shrunk.Outcome.Digest {
		t.Errorf("the file replays to a trace with the digest %s, says %s, want %s", o.Digest,
			s.Replay.Digest, shrunk.Outcome.Digest)
	}
	if !strings.Contains(s.About, shrunk.Outcome.Violation.Why) {
		t.Errorf("the file does not say what is violated: %q", s.About)
	}
	return run
}

func yamlOf(t testing.TB, s *spec.Scenario) string {
	t.Helper()
	yaml := must.Of(s.YAML())(t)
	return string(yaml)
}

func TestAPausedBlindWriterNeedsFewContextSwitches(t *testing.T) {
	run := failing(t, "paused-writer", "blind-publish")
	if shrunk := shrink(t, campaign.Shrink{Failed: run}); shrunk.After.Switches > 4 {
		t.Errorf("shrunk to %v, want at most 4 context switches", shrunk.After)
	}
	// To publish over bob's page, alice must stop, he must publish, and she must go on.
	shrunk := shrink(t, campaign.Shrink{Failed: run, ScheduleOnly: true})
	if shrunk.After.Switches > 4 {
		t.Errorf("of the schedule alone: shrunk to %v, want at most 4 context switches", shrunk.After)
	}
	want := *run.Scenario
	want.File, want.About, want.Reach, want.Catches, want.Replay = "", shrunk.Scenario.About, nil,
		nil, shrunk.Scenario.Replay
	if diff := cmp.Diff(yamlOf(t, &want), yamlOf(t, shrunk.Scenario)); diff != "" {
		t.Errorf("shrinking the schedule alone changed the scenario:\n%s", diff)
	}
}

func TestAShrunkRunEndsAtTheStepThatViolates(t *testing.T) {
	run := failing(t, "paused-writer", "blind-publish")
	for _, bound := range []int{campaign.DefaultShrinkRuns, 1} { // the tail is removed under any bound
		shrunk := shrink(t, campaign.Shrink{Failed: run, ScheduleOnly: true, Runs: bound})
		recorded := shrunk.Scenario.Replay
		if recorded.Steps == 0 || recorded.Steps != shrunk.After.Steps || recorded.Steps >= shrunk.Before.Steps {
			t.Fatalf("it ends after step %d; shrunk to %v from %v", recorded.Steps, shrunk.After, shrunk.Before)
		}
		again := replays(t, shrunk)
		again.Steps--
		if o, err := again.Do(t.Context()); err != nil || o.Verdict != invariant.OK {
			t.Errorf("a step before that: %v, error %v; want ok", o, err)
		}
		again.Steps++
		again.Protocol = scenariotest.Protocol(t, "recipe-a")
		o := must.Of(again.Do(t.Context()))(t)
		if told := o.Explain("s", "mended"); o.Verdict != invariant.OK ||
			!strings.Contains(told, "what needs the end of a run was not judged") {
			t.Errorf("mended: %v\n%s", o.Verdict, told)
		}
		never := invariant.Invariant{Name: "never", Statement: "no run ends",
			Check: func(invariant.Evidence) invariant.Finding {
				return invariant.Finding{Verdict: invariant.Violated, Why: "it did"}
			}}
		again.Invariants = []invariant.Invariant{never}
		if o, err := again.Do(t.Context()); err != nil || o.Verdict != invariant.OK {
			t.Errorf("an invariant that needs the end: %v, error %v; want it not judged", o, err)
		}
	}
	waits := shrink(t, campaign.Shrink{Failed: failing(t, "lock-never-stale", "acquire-waits-for-ttl"), Runs: 100})
	if name := waits.Outcome.Violation.Invariant.Name; name != "liveness" || waits.Scenario.Replay.Steps != 0 {
		t.Errorf("%s, which needs the end of a run, is violated by step %d", name, waits.Scenario.Replay.Steps)
	}
}

func TestShrinkIsBoundedByRunsAndByItsContext(t *testing.T) {
	run := failing(t, "row-lingers", "blind-release")
	bounded := shrink(t, campaign.Shrink{Failed: run, Runs: 60})
	if !bounded.Bounded || bounded.Runs != 60 {
		t.Errorf("%d runs, bounded %v; want 60, bounded", bounded.Runs, bounded.Bounded)
	}
	replays(t, bounded)

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (campaign.Shrink{Failed: run}).Run(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

// ending is a context that is cancelled while runs are tried.
type ending struct {
	context.Context
	left atomic.Int64 // how often it says that it is not cancelled
}

func (e *ending) Err() error {
	if e.left.Add(-1) < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

func TestShrinkKeepsWhatItHasFoundWhenItsContextEnds(t *testing.T) {
	effort.Long(t)
	run := failing(t, "row-lingers", "blind-release")
	whole := shrink(t, campaign.Shrink{Failed: run})
	ctx := &ending{Context: t.Context()}
	ctx.left.Store(int64(whole.Runs) / 2)
	partly := must.Of(campaign.Shrink{Failed: run}.Run(ctx))(t)
	if !partly.Bounded || partly.Runs >= whole.Runs || partly.After.Switches > partly.Before.Switches {
		t.Errorf("%d of %d runs, bounded %v, from %v to %v; want fewer runs, bounded, and no larger", partly.Runs,
			whole.Runs, partly.Bounded, partly.Before, partly.After)
	}
	replays(t, partly)
}

func TestThereIsNothingToShrinkInARunThatIsOK(t *testing.T) {
	run := kernel.Run{Scenario: scenariotest.Embedded(t, "paused-writer"),
		Protocol: scenariotest.Protocol(t, "recipe-a"), Seed: 1, Strategy: strategy.Replay(nil)}
	_, err := campaign.Shrink{Failed: run}.Run(t.Context())
	if e, ok := errors.AsType[*campaign.NotViolatedError](err); !ok || e.Verdict != invariant.OK {
		t.Errorf("error %v, want a NotViolatedError of the verdict ok", err)
	}
	run.Strategy = strategy.Replay(sim.Choices{99})
	_, err = campaign.Shrink{Failed: run}.Run(t.Context())
	if _, ok := errors.AsType[*sim.DivergedError](err); !ok {
		t.Errorf("error %v, want a DivergedError", err)
	}
}

// TestShrinkDropsWhatHappensAtATime: among the events at a time, only the pause that matters is left. The resulting
// file can be read, and violates the same invariant.
func TestShrinkDropsWhatHappensAtATime(t *testing.T) {
	s, err := spec.Parse("events.yaml", []byte(`
name: events
max-clock-skew: 1s
cache: {lease: 10s, revalidate: 60s, render: 3s}
actors:
  - {name: alice, script: [get /home], events: [clock +1s at 500ms, pause at 1s for 20s, crash at 40s, restart at 50s]}
  - {name: bob, script: [sleep 13s, change /home, get /home, sleep 40s], events: [pause at 40s for 2s, clock -1s at 45s]}
faults:
  - throttled op=GetItem actor=bob from 13s to 14s times=1
  - cut-off from 41s to 42s
  - latency 20ms-2s op=GetItem
bounds: {ticks: 0}
`))
	must.OK(t, err)
	p := scenariotest.Protocol(t, "blind-publish")
	r := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Protocol: p, Seed: 1})
	if r.Verdict != invariant.Violated {
		t.Fatal("nothing is violated")
	}
	run := kernel.Run{Scenario: s, Protocol: p, Seed: r.Failure.Result.Seed,
		Strategy: strategy.Replay(r.Failure.Result.Choices)}
	shrunk := shrink(t, campaign.Shrink{Failed: run})
	text := yamlOf(t, shrunk.Scenario)
	again, err := spec.Parse("shrunk.yaml", []byte(text))
	if err != nil {
		t.Fatalf("the shrunk file:\n%s\n%v", text, err)
	}
	var left []string
	for _, a := range again.Actors {
		for _, e := range a.Events {
			left = append(left, fmt.Sprint(a.Name, " ", e.Kind))
		}
	}
	if len(left) != 1 || left[0] != "alice pause" || len(again.Faults) > 0 {
		t.Errorf("left are %v and %v, want alice's pause:\n%s", left, again.Faults, text)
	}
	o, err := kernel.Replay(*again.Replay, again, p).Do(t.Context())
	if err != nil || o.Violation == nil || o.Violation.Invariant.Name != r.Failure.Violation.Invariant.Name {
		t.Errorf("the shrunk file replays as %+v, %v", o, err)
	}
}

// impatient is a client that repeats a put without its condition if it failed for another reason.
type impatient struct{ isr.Client }

func (c impatient) PutItem(
	ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options),
) (*dynamodb.PutItemOutput, error) {
	out, err := c.Client.PutItem(ctx, in, options...)
	if _, refused := errors.AsType[*types.ConditionalCheckFailedException](err); err == nil || refused {
		return out, err
	}
	again := *in
	again.ConditionExpression, again.ExpressionAttributeNames, again.ExpressionAttributeValues = nil, nil, nil
	return c.Client.PutItem(ctx, &again, options...)
}

// TestShrinkKeepsTheFaultThatMatters has a protocol that fails under one of many faults only, and only for an actor
// that is not the first.
func TestShrinkKeepsTheFaultThatMatters(t *testing.T) {
	s, err := spec.Parse("faults.yaml", []byte(`
name: faults
cache: {lease: 10s, revalidate: 20s, render: 1s, attempts: 1, contention: wait}
actors:
  - {name: zoe, script: [sleep 1h, get /home]}
  - {name: alice, script: [get /home], pauses: 1}
  - {name: bob, script: [get /home, get /home], crashes: 1}
faults:
  - maybe response-lost op=TransactWriteItems
  - maybe error-after op=GetItem actor=zoe times=2
  - request-lost op=DeleteItem
  - maybe throttled op=PutItem key=LOCK actor=bob times=3
  - maybe throttled op=UpdateItem
bounds: {ticks: 2}
`))
	must.OK(t, err)
	p := isr.Protocol{Name: "recipe-a", New: func(cfg isr.Config) (isr.Handler, error) {
		cfg.Client = impatient{cfg.Client}
		return pagecache.AsHandler(pagecache.New(cfg))
	}}
	r := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Protocol: p, Seed: 1})
	if r.Verdict != invariant.Violated {
		t.Fatal("nothing is violated")
	}
	run := kernel.Run{Scenario: s, Protocol: p, Seed: r.Failure.Result.Seed,
		Strategy: strategy.Replay(r.Failure.Result.Choices)}
	shrunk := shrink(t, campaign.Shrink{Failed: run})
	got := shrunk.Scenario
	if len(got.Faults) != 1 || got.Faults[0].String() != "maybe throttled op=PutItem key=LOCK actor=bob" {
		t.Errorf("faults %v, want the one that bob's put of the lock is throttled by", got.Faults)
	}
	if shrunk.After.Actors != 2 || shrunk.After.Commands != 2 || got.Cache.Attempts != 1 ||
		got.Cache.Contention != isr.ServeStale {
		t.Errorf("shrunk to %v:\n%s", shrunk.After, yamlOf(t, got))
	}
	for _, a := range got.Actors {
		if a.Pauses+a.Crashes > 0 || a.Name == "zoe" {
			t.Errorf("actor %+v, want nothing to befall alice and bob", a)
		}
	}
}

func TestARunOfASwarmShrinksToOneWithoutIt(t *testing.T) {
	effort.OneAtATime(t)
	s := scenariotest.Parsed(t, `
name: swarmed
cache: {lease: 10s}
actors:
  - name: alice
    script: [get /home]
    pauses: 1
    pause-for: 15s
  - name: bob
    script: [sleep 11s, get /home]
faults:
  - maybe response-lost op=PutItem
  - maybe error-before op=TransactWriteItems
`)
	p := scenariotest.Protocol(t, "blind-release")
	r := scenariotest.Ran(t,
		campaign.Campaign{Scenario: s, Protocol: p, Seed: 1, Options: kernel.Options{Swarm: true}})
	if r.Verdict != invariant.Violated {
		t.Fatalf("%v, want a violation to shrink", r.Verdict)
	}
	shrunk := shrink(t, campaign.Shrink{Failed: kernel.Replay(r.Failure.Replay(), s, p)})
	if shrunk.Scenario.Replay.Swarm || shrunk.Scenario.Replay.Violates != r.Failure.Violation.Invariant.Name {
		t.Errorf("shrunk to %+v, want no swarm, and the same invariant", shrunk.Scenario.Replay)
	}
	run, err := kernel.Recorded(shrunk.Scenario)
	must.OK(t, err)
	o, err := run.Do(context.Background())
	if err != nil || o.Verdict != invariant.Violated {
		t.Errorf("the shrunk scenario replays to %+v (%v), want a violation", o, err)
	}
}

// A shrunk scenario in which no cache can have a fresh page would accuse correct caches, too.
func TestShrinkKeepsAWorldInWhichPagesCanBeFresh(t *testing.T) {
	effort.NotShort(t)
	s := scenariotest.Parsed(t,
		"name: drawn\nsettle: 150s\ncache: {lease: 10m, revalidate: 10m, render: 1m}\n"+
			"faults: [origin-failed from 0s to 5m]\n"+
			"actors: [{name: alice, script: [get /home], events: [pause at 3m for 1m]}, {name: bob, script: [sleep "+
			"4m, get /home]}]\n")
	only := kernel.Options{Only: "liveness"}
	p := scenariotest.Protocol(t, "no-release-after-failure")
	r := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Protocol: p, Seed: 1, Options: only})
	if r.Verdict != invariant.Violated {
		t.Fatal("nothing is violated")
	}
	run := kernel.Run{Scenario: s, Protocol: p, Options: only, Seed: r.Failure.Result.Seed,
		Strategy: strategy.Replay(r.Failure.Result.Choices)}
	again := replays(t, shrink(t, campaign.Shrink{Failed: run}))
	if r := scenariotest.Ran(t,
		campaign.Campaign{Scenario: again.Scenario, Seed: 1, Schedules: 100}); r.Verdict != invariant.OK {
		t.Errorf("the reference protocol in the shrunk scenario: %v\n%s", r.Verdict, yamlOf(t, again.Scenario))
	}
}

// unpublished is violated by every page. The harm is done if a second machine overwrites the first one's page.
var unpublished = invariant.Invariant{
	Name: "unpublished", Statement: "no page is published",
	Check: func(ev invariant.Evidence) (f invariant.Finding) {
		f.Verdict = invariant.OK
		author := ""
		for i := range ev.Changes {
			c := &ev.Changes[i]
			if !invariant.Publishes(c) {
				continue
			}
			f.Verdict, f.Why, f.Changes = invariant.Violated, "a page was published", append(f.Changes, c.Seq)
			f.Graded = true
			f.Done = f.Done || author != "" && author != c.Actor
			author = c.Actor
		}
		return f
	},
}

// A run with less harm is smaller, but it is not a smaller example of the bug. Shrinking ends in the harmful run, from
// whichever run it begins.
func TestShrinkingKeepsTheHarm(t *testing.T) {
	s := scenariotest.Parsed(t, "{name: harm, protocol: recipe-a, invariants: [freshness], bounds: {ticks: 0}, "+
		"actors: [{name: alice, script: [get /home]}, {name: bob, crashes: 1, script: [sleep 2m, get /home]}]}")
	run := kernel.Run{Scenario: s, Protocol: scenariotest.Protocol(t, "recipe-a"),
		Options: kernel.Options{Invariants: []invariant.Invariant{unpublished}}}
	began := map[int]bool{}
	for seed := uint64(0); seed < 200 && len(began) < 2; seed++ {
		run.Seed = seed
		run.Strategy = strategy.Portfolio().Begin().At(int(seed)).From(sim.Stream(seed, "harm"))
		o := must.Of(run.Do(t.Context()))(t)
		if o.Verdict != invariant.Violated || began[o.Harm] {
			continue
		}
		began[o.Harm] = true
		run.Strategy = strategy.Replay(o.Result.Choices)
		var sizes [2]string
		for i := range sizes {
			small := must.Of(campaign.Shrink{Failed: run}.Run(t.Context()))(t)
			if sizes[i] = small.After.String(); small.Outcome.Harm != 2 {
				t.Errorf("from harm %d it ends in harm %d:\n%s", o.Harm, small.Outcome.Harm,
					small.Outcome.Explain("harm", "recipe-a"))
			}
		}
		if sizes[0] != sizes[1] {
			t.Errorf("one run ends in %s and in %s", sizes[0], sizes[1])
		}
	}
	if len(began) < 2 {
		t.Errorf("the runs began with the harms %v, want two of them", began)
	}
}

// A proof of a cache with other names for every row, key and attribute searches the same states, and finds the
// same mutants.
func TestProofsOfRenamedRows(t *testing.T) {
	effort.Long(t)
	for name, most := range map[string]int{
		"prove-crashed-writer": effort.Fewer(0, 300), "prove-two-writers": effort.Fewer(1000, 300),
		"prove-recipe-b": effort.Fewer(1000, 300), "prove-regenerate": 1000,
	} {
		s := scenariotest.Embedded(t, name)
		own := *s
		own.Rows = scenariotest.RenamedRows
		// Without memory nothing tells whether code reads the ttl of locks, so ticks go there in both searches.
		native := prove(t, campaign.Prove{Scenario: s, Seed: 1, MaxSchedules: most, Forgetful: true})
		renamed := prove(t, campaign.Prove{Scenario: &own,
			Protocol: scenariotest.Renamed(scenariotest.Protocol(t, s.Protocol)), Seed: 1, MaxSchedules: most})
		if most == 0 && (!renamed.Passed() || !renamed.Explored.Complete) {
			t.Errorf("%s: %v, %+v", name, renamed.Verdict, renamed.Explored)
		}
		if diff := cmp.Diff(native.Explored, renamed.Explored); diff != "" {
			t.Errorf("%s: the search is another one (-META and LOCK +renamed):\n%s", name, diff)
		}
		if diff := cmp.Diff(native.Deadlines, renamed.Deadlines); diff != "" {
			t.Errorf("%s: the search came to other deadlines (-META and LOCK +renamed):\n%s", name, diff)
		}
		if name != "prove-two-writers" {
			continue // the mutants of one scenario are enough
		}
		for _, of := range effort.Fewer(s.Catches, s.Catches[:1]) {
			if of == "generated-at-late" {
				continue // it takes a long search
			}
			p := scenariotest.Protocol(t, of)
			want := prove(t, campaign.Prove{Scenario: s, Protocol: p, Seed: 1})
			got := prove(t, campaign.Prove{Scenario: &own, Protocol: scenariotest.Renamed(p), Seed: 1})
			if diff := cmp.Diff(broken(want), broken(got)); diff != "" {
				t.Errorf("%s under %s (-META and LOCK +renamed):\n%s", name, of, diff)
			}
		}
	}
}

// broken returns the invariants that a proof has found to be violated.
func broken(p *campaign.Proof) []string {
	if p.Failure == nil {
		return nil
	}
	return p.Failure.Broken
}
