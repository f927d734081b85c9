package study_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/study/explain"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// explained is the explanation of a protocol's first violation in an embedded scenario, after shrinking.
func explained(t *testing.T, name, protocol string, tails int) *explain.Explanation {
	t.Helper()
	s, p := scenariotest.Embedded(t, name), scenariotest.Protocol(t, protocol)
	found := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Protocol: p, Seed: 1})
	if found.Failure == nil {
		t.Fatalf("%s passes %s", protocol, name)
	}
	shrunk := scenariotest.Ran(t, campaign.Shrink{Failed: kernel.Replay(found.Failure.Replay(), s, p)})
	run := must.Of(kernel.Recorded(shrunk.Scenario))(t)
	x := scenariotest.Ran(t, explain.Explain{Failed: run, Tails: tails})
	return x
}

// TestTheKnownCauseIsNamedFirst: if the cause of a bug is known, it is named first. If a bug needs no event, none is
// named. Of machines that do the same, either may be the one that gives way.
func TestTheKnownCauseIsNamedFirst(t *testing.T) {
	for i, tc := range []struct{ scenario, mutant, cause string }{
		{"paused-after-acquire", "blind-publish", "alice pause"},
		{"own-commit-met", "own-commit-as-conflict", "fault response-lost op=PutItem key=LOCK"},
		{"timeout-leaves-in-progress", "no-release-after-failure", "fault origin-failed"},
		{"ttl-in-milliseconds", "lock-ttl-in-milliseconds", ""},
		{"paused-process-serves", "fresh-as-of-read", "alice pause"},
		{"body-deleted-under-the-row", "retry-without-token", "fault response-lost op=TransactWriteItems"},
		{"stale-page-in-the-second-tier", "last-page-published-again", "alice origin-failed"},
		{"failure-blocks-the-window", "no-release-after-failure", "alice origin-failed"},
		{"long-outage", "last-page-for-ever", "alice origin-failed"},
		{"dead-holder-costs-a-lease", "dead-holder-costs-two-leases", "alice crash"},
		{"expiry-timer-restarts", "expiry-restarts-on-look", "alice crash"},
		{"no-time-left-is-no-limit", "zero-lease-is-for-ever", "alice crash"},
		{"lock-never-stale", "acquire-waits-for-ttl", "alice crash"},
		{"crashed-holder", "reentrant-by-owner", "alice crash"},
		{"going-back", "first-look-eventual", "carol stale read"},
		{"replica-lags", "eventual-read", "alice stale read"},
		{"second-look-left-out", "no-second-look", "* gives way to *"},
		{"two-contenders", "acquire-by-get-then-put", "* gives way to *"},
		{"late-arrival", "check-then-act-publish", "alice gives way to bob"},
		{"invalidation-overtaken-by-a-fill", "invalidation-overtaken", "alice gives way to bob"},
		{"stepped-clock", "blind-publish", "time tick"},
		{"pointer-before-body", "body-after-pointer", ""},
		{"window-against-duplicates", "no-release-after-publish", ""},
		{"stale-inner-data", "stale-inner-cache", ""},
	} {
		t.Run(tc.scenario+"/"+tc.mutant, func(t *testing.T) {
			if i >= effort.Fewer(100, 4) {
				t.Skip("the first few are enough here")
			}
			x := explained(t, tc.scenario, tc.mutant, 40)
			got := ""
			if len(x.Events) > 0 && x.Events[0].Needed() {
				got = x.Events[0].What
			}
			printed := x.Text(false)
			if known := must.Of(path.Match(tc.cause, got))(t); !known {
				t.Errorf("found %q as the cause, want %q:\n%s", got, tc.cause, printed)
			}
			if got != "" && !strings.Contains(printed, "with it\n\n  needed: step ") {
				t.Errorf("what was needed is not first:\n%s", printed)
			}
			if i := slices.IndexFunc(x.Events, func(e explain.Event) bool { return !e.Needed() }); i >= 0 {
				if slices.ContainsFunc(x.Events[i:], explain.Event.Needed) {
					t.Errorf("an event that was not needed comes before one that was: %+v", x.Events)
				}
			}
		})
	}
}

// An event is needed if neither a tail nor the rest of the schedule violates the invariant without it.
func TestNeeded(t *testing.T) {
	for _, tc := range []struct {
		violated int
		rest     bool
		want     bool
	}{{0, false, true}, {1, false, false}, {0, true, false}, {1, true, false}} {
		if e := (explain.Event{Violated: tc.violated, Rest: tc.rest}); e.Needed() != tc.want {
			t.Errorf("%+v is needed: %v, want %v", e, e.Needed(), tc.want)
		}
	}
}

// A number of tails has grown if the difference exceeds three standard errors. From 10 to 25 of 100 tails it is 15%,
// which is less than three errors (15.8%). From 10 to 26 it is 16%, which is more than three errors (15.9%).
func TestGrew(t *testing.T) {
	for _, tc := range []struct {
		before, after int
		want          bool
	}{{10, 26, true}, {10, 25, false}, {26, 10, false}, {0, 100, true}, {100, 0, false}, {50, 50, false},
		{0, 0, false}, {100, 100, false}} {
		if got := (&explain.Explanation{Tails: 100}).Grew(tc.before, tc.after); got != tc.want {
			t.Errorf("from %d to %d of 100: grew %v, want %v", tc.before, tc.after, got, tc.want)
		}
	}
}

// TestInterval compares with published figures of Wilson's interval.
func TestInterval(t *testing.T) {
	for _, tc := range []struct {
		violated, n int
		from, to    float64
	}{{0, 200, 0, 0.0188}, {200, 200, 0.9812, 1}, {100, 200, 0.4314, 0.5686}, {1, 10, 0.0179, 0.4042}} {
		from, to := explain.Interval(tc.violated, tc.n)
		if math.Abs(from-tc.from) > 0.0001 || math.Abs(to-tc.to) > 0.0001 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", tc.violated, tc.n, from, to, tc.from, tc.to)
		}
	}
}

// TestCausesOfTheWholeWorld: wrong clocks, deletions outside of the schedule and planned events of the file are found,
// although the schedule has no step for them.
func TestCausesOfTheWholeWorld(t *testing.T) {
	effort.NotShort(t)
	for _, tc := range []struct{ name, mutant, text, cause string }{
		{"a clock ahead", "recipe-a", `
name: ahead
actors:
  - {name: alice, script: [get /home]}
  - {name: bob, script: [get /home], clock: {offset: 30s}}
bounds: {ticks: 0}
`, "bob clock error"},
		{"deleted at once", "lock-ttl-too-short", `
name: at-once
actors:
  - {name: alice, script: [get /home]}
  - {name: bob, script: [sleep 15s, get /home]}
ttl-lag: at-once
cache: {lease: 30s, render: 20s}
bounds: {ticks: 0}
invariants: [single-flight]
`, "deletion by TTL"},
		{"a pause at a time", "blind-publish", `
name: paused-at-a-time
cache: {render: 3s}
actors:
  - {name: alice, script: [get /home], events: [pause at 1s for 20s]}
  - {name: bob, script: [sleep 13s, change /home, get /home, sleep 10s], events: [clock +1s at 2s]}
max-clock-skew: 1s
bounds: {ticks: 0}
`, "alice pause at 1s for 20s"},
		{"a slow answer", "blind-publish", `
name: slow-answer
cache: {render: 6s, keep-alive: 6s}
actors:
  - {name: alice, script: [get /home]}
  - {name: bob, script: [sleep 17s, change /home, get /home, sleep 20s]}
faults: [latency 25s op=UpdateItem key=LOCK actor=alice, throttled op=GetItem from 30s to 31s]
bounds: {ticks: 0}
`, "fault latency 25s op=UpdateItem key=LOCK actor=alice"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, p := scenariotest.Parsed(t, tc.text), scenariotest.Protocol(t, tc.mutant)
			found := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Protocol: p, Seed: 1})
			if found.Failure == nil {
				t.Fatal("it passes")
			}
			x := scenariotest.Ran(t, explain.Explain{Failed: kernel.Replay(found.Failure.Replay(), s, p), Tails: 40})
			if len(x.Events) == 0 || x.Events[0].What != tc.cause || !x.Events[0].Needed() {
				t.Errorf("want %q first:\n%s", tc.cause, x.Text(true))
			}
		})
	}
}

// inPart is a cache that leaves a wrong row behind if a batch is processed only in part.
type inPart struct{ isr.Config }

func (h inPart) Get(ctx context.Context, key string) (isr.Served, error) {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	client, lock := h.Client.(*dynamodb.Client), map[string]types.AttributeValue{
		"pk": text(isr.PartitionKey("", key)), "sk": text(isr.SortLock),
	}
	lock["lease_token"], lock["lease_expires_at"], lock["ttl"] = text(h.Tokens()),
		&types.AttributeValueMemberN{Value: "2"}, &types.AttributeValueMemberN{Value: "1"}
	var batch []types.WriteRequest
	for _, sk := range []string{"A", "B"} {
		batch = append(batch, types.WriteRequest{
			PutRequest: &types.PutRequest{Item: map[string]types.AttributeValue{"pk": text("notes"), "sk": text(sk)}},
		})
	}
	out, err := client.BatchWriteItem(ctx,
		&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{h.Table: batch}})
	if err == nil && len(out.UnprocessedItems) > 0 {
		_, err = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &h.Table, Item: lock})
	}
	return isr.Served{}, cmp.Or(err, errors.New("it makes no page"))
}

// TestAFaultOfABatchIsOneCause: whichever request of the batch the fault strikes, the cause has the name of the fault,
// and leaving it out leaves out all of them.
func TestAFaultOfABatchIsOneCause(t *testing.T) {
	effort.NotShort(t)
	s := scenariotest.Parsed(t,
		"name: batch\ninvariants: [ttl-well-formed]\npromise: {recipe: true}\n"+
			"faults: [maybe unprocessed]\nbounds: {ticks: 0}\n"+
			"actors:\n  - {name: alice, script: [get /home]}\n  - {name: bob, script: [sleep 1s]}\n")
	p := isr.Protocol{Name: "in-part", New: func(cfg isr.Config) (isr.Handler, error) { return inPart{cfg}, nil }}
	for seed := range uint64(8) { // each seed draws one request of the batch
		found := scenariotest.Ran(t,
			campaign.Campaign{Scenario: s, Protocol: p, Seed: seed, Options: kernel.Options{SDK: true}})
		if found.Failure == nil {
			t.Fatal("it passes")
		}
		run := kernel.Replay(found.Failure.Replay(), s, p)
		run.SDK = true
		x := scenariotest.Ran(t, explain.Explain{Failed: run, Tails: 40})
		if len(x.Events) == 0 || x.Events[0].What != "alice unprocessed" || !x.Events[0].Needed() {
			t.Errorf("seed %d: want alice unprocessed, as needed:\n%s", seed, x.Text(true))
		}
	}
}

// TestReadsAfterTheEndAreNoEvents: the run ends at its violation; reads that its machines would make later are no
// events.
func TestReadsAfterTheEndAreNoEvents(t *testing.T) {
	s := scenariotest.Parsed(t, "name: reads\nreplica-lag: 1s\nactors:\n"+
		"  - {name: alice, script: [get /home], repeat: 5}\n  - {name: bob, script: [get /home], repeat: 5}\n")
	p := scenariotest.Protocol(t, "eventual-read")
	found := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Protocol: p, Seed: 1})
	if found.Failure == nil {
		t.Fatal("eventual-read passes")
	}
	shrunk := scenariotest.Ran(t,
		campaign.Shrink{Failed: kernel.Replay(found.Failure.Replay(), s, p), ScheduleOnly: true})
	run := must.Of(kernel.Recorded(shrunk.Scenario))(t)
	x := scenariotest.Ran(t, explain.Explain{Failed: run, Tails: 20})
	reads := 0
	for _, event := range x.Events {
		if event.Step >= len(x.Steps) {
			t.Errorf("%s is in step %d of %d", event.What, event.Step+1, len(x.Steps))
		}
		if strings.HasSuffix(event.What, " stale read") {
			reads++
		}
	}
	if reads == 0 {
		t.Error("no stale read is an event")
	}
	_ = x.Text(true)
}
