package study_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/internal/study/compare"
)

func recorded(t testing.TB, s *spec.Scenario, seed uint64, n int) []kernel.Run {
	t.Helper()
	set, err := schedules.New(kernel.Run{Scenario: s, Seed: seed}, strategy.Plan{}, n, 0)
	must.OK(t, err)
	runs, err := set.First(t.Context(), n)
	if err != nil || len(runs) != n {
		t.Fatalf("got %d runs, %v; want %d", len(runs), err, n)
	}
	return runs
}

// TestEveryCallOfAScenarioCanBeCompared repeats the calls of the embedded scenarios on another fake.
func TestEveryCallOfAScenarioCanBeCompared(t *testing.T) {
	for _, name := range effort.Fewer(fixtures.Names(), fixtures.Names()[:2]) {
		if strings.HasPrefix(name, "two-regions") {
			continue // the other store is in one region
		}
		runs := recorded(t, scenariotest.Embedded(t, name), 2, 5)
		c, err := compare.Run(t.Context(), ddbfake.New(ddbfake.Options{}).Client(), runs, nil)
		if err != nil || len(c.Differences) > 0 || c.Requests == 0 {
			t.Errorf("%s: %d requests, differences %v, error %v", name, c.Requests, c.Differences, err)
		}
	}
}

// TestWhatHappensAtATimeCanBeCompared: the other store gets the requests that took effect, whatever happened to
// machines and requests meanwhile.
func TestWhatHappensAtATimeCanBeCompared(t *testing.T) {
	runs := recorded(t, scenariotest.Parsed(t, `
name: timed
max-clock-skew: 1s
cache: {lease: 10s, revalidate: 20s, render: 2s}
actors:
  - {name: alice, script: [get /home, sleep 30s, get /home], events: [crash at 1s, restart at 15s, clock +1s at 20s]}
  - {name: bob, script: [sleep 3s, get /home, sleep 12s, get /home], events: [pause at 4s for 9s]}
faults:
  - cut-off actor=bob from 14s to 16s
  - throttled op=PutItem from 15s to 17s
  - maybe error-after op=TransactWriteItems from 2s
  - latency 100ms-2s op=GetItem times=always
`), 1, 10)
	c, err := compare.Run(t.Context(), ddbfake.New(ddbfake.Options{}).Client(), runs, nil)
	if err != nil || len(c.Differences) > 0 || c.Requests == 0 {
		t.Errorf("%d requests, differences %v, error %v", c.Requests, c.Differences, err)
	}
}

// TestCompareSeesADifference compares with a store that is wrong on purpose: the fake without the conditions of puts.
func TestCompareSeesADifference(t *testing.T) {
	runs := recorded(t, scenariotest.Embedded(t, "two-contenders"), 1, 1)
	db := ddbfake.New(ddbfake.Options{})
	wrong := ddbfake.NewClient(func(ctx context.Context, c ddbfake.Call) (any, error) {
		if put, ok := c.Input.(*dynamodb.PutItemInput); ok {
			put.ConditionExpression, put.ExpressionAttributeValues = nil, nil
		}
		return db.Do(ctx, c)
	})
	c, err := compare.Run(context.Background(), wrong, runs, nil)
	must.OK(t, err)
	if len(c.Differences) < 2 {
		t.Fatalf("a store without conditions shows %d differences, want the refused put and what follows",
			len(c.Differences))
	}
	if text := c.Differences[0].String(); !strings.Contains(text, "PutItem LOCK of /home") ||
		!strings.Contains(text, "fake: ConditionalCheckFailedException") {
		t.Errorf("the first difference reads\n%s\nwant the refused put of LOCK", text)
	}
	again, err := compare.Run(context.Background(), ddbfake.New(ddbfake.Options{}).Client(), runs, nil)
	if err != nil || len(again.Differences) > 0 || again.Requests == 0 {
		t.Errorf("the fake against itself: %d requests, differences %v, error %v; want none",
			again.Requests, again.Differences, err)
	}
}

// TestCompareIsNotFooledByNoAnswer: a store that goes away, or a caller who loses patience, ends the comparison with an
// error, but is not a difference.
func TestCompareIsNotFooledByNoAnswer(t *testing.T) {
	runs := recorded(t, scenariotest.Embedded(t, "two-contenders"), 1, 2)
	for _, test := range []struct {
		name   string
		cancel bool
		want   error
	}{
		{"the store goes away", false, &ddbfake.NetworkError{Operation: "GetItem"}},
		{"the caller is interrupted", true, context.Canceled},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			db, calls := ddbfake.New(ddbfake.Options{}), 0
			client := ddbfake.NewClient(func(ctx context.Context, c ddbfake.Call) (any, error) {
				if calls++; calls > 5 { // CreateTable and four requests
					if test.cancel {
						cancel()
					}
					return nil, test.want
				}
				return db.Do(ctx, c)
			})
			c, err := compare.Run(ctx, client, runs, nil)
			if !errors.Is(err, test.want) {
				t.Errorf("got error %v, want %v", err, test.want)
			}
			if err != nil && !strings.Contains(err.Error(), "compare run 1: request 5") {
				t.Errorf("got error %q, want it to say how far it came", err)
			}
			if len(c.Differences) > 0 {
				t.Errorf("got the differences %v, want none", c.Differences)
			}
		})
	}
}
