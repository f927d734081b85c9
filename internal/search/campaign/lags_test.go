package campaign

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/scenario/isr"
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

// Marks count even if only the runs under other lags reach them. A probe sees only the run under the scenario's own
// lag.
func TestComparedLagsAreRunsOfTheSameSchedule(t *testing.T) {
	effort.Long(t)
	s := scenariotest.Parsed(t, lagging)
	r := scenariotest.Ran(t, Campaign{Scenario: s, Seed: 1})
	if !r.Passed() {
		t.Errorf("got %s, missing %v, unmet %v", r.Summary(), r.Missing, r.Unmet)
	}
	alone := clone(s)
	alone.CompareLags, alone.Reach = []ddbfake.Lag{ddbfake.LagNever}, nil
	a := scenariotest.Ran(t, Campaign{Scenario: alone, Seed: 1})
	all, one := exchanges(t, s), exchanges(t, alone)
	if a.Steps != r.Steps || one != all {
		t.Errorf("%d steps and %d exchanges with four lags, %d and %d with one", r.Steps, all, a.Steps, one)
	}
}

const ending = `
name: ending
protocol: fence-in-lock-row
cache: {lease: 10s, ttl-buffer: 1m, patience: 1, attempts: 1}
ttl-lag: fixed 10m
compare-lags: [at-once, never]
actors:
  - {name: alice, script: [get /home]}
  - {name: bob, script: [get /home]}
bounds: {ticks: 1}
`

// A search compares no lags. So its time stops where the lag of the scenario ends, as it does without compare-lags, and
// it finds the lock that needs its row. The schedule replays.
func TestASearchGoesToTheEndOfALag(t *testing.T) {
	s := scenariotest.Parsed(t, ending)
	p := scenariotest.Ran(t, Prove{Scenario: s, Protocol: scenariotest.Protocol(t, s.Protocol), Seed: 1})
	if p.Failure == nil || p.Failure.Violation.Invariant.Name != "stale-writer" {
		t.Fatalf("%s, want a violation of stale-writer", p.Summary())
	}
	found := p.Failure.Result
	run := kernel.Run{Scenario: s, Protocol: p.Protocol, Seed: 1, Strategy: strategy.Replay(found.Choices),
		Options: kernel.Options{AllStops: true}}
	again, err := run.Do(t.Context())
	if err != nil || again.Verdict != p.Verdict || again.Result.Steps != found.Steps {
		t.Errorf("the replay is %v (%v), want the violation again", again, err)
	}
}

// exchanges counts the exchanges of one run.
func exchanges(t *testing.T, s *spec.Scenario) int {
	t.Helper()
	recorded := hooks.Probe{Record: true}
	must.Done(t)(kernel.Run{Scenario: s, Protocol: recipe.Reference(), Seed: 1}.Do(hooks.With(t.Context(),
		&recorded)))
	return len(recorded.Exchanges)
}

// grabbing is a client that takes each lock that it sees. It sees the locks that a replica already has.
type grabbing struct{ isr.Client }

func (g grabbing) PutItem(
	ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.PutItemOutput, error) {
	out, err := g.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: in.TableName, Key: map[string]types.AttributeValue{"pk": in.Item["pk"], "sk": in.Item["sk"]},
	})
	if err != nil {
		return nil, err
	}
	if out.Item != nil {
		in = &dynamodb.PutItemInput{TableName: in.TableName, Item: in.Item}
	}
	return g.Client.PutItem(ctx, in, o...)
}

// Replicas get a lock only within the last second of its lease. A search lets time stop there.
func TestASearchGoesToWhereReplicasHear(t *testing.T) {
	s := scenariotest.Parsed(t, `
name: hearing
cache: {lease: 2s, patience: 1, attempts: 1}
replica-lag: 1500ms
actors:
  - {name: alice, script: [get /home]}
  - {name: bob, script: [get /home]}
bounds: {ticks: 1}
`)
	grabs := isr.Protocol{Name: "grabs", New: func(cfg isr.Config) (isr.Handler, error) {
		cfg.Client = grabbing{cfg.Client}
		return recipe.New(cfg)
	}}
	p := scenariotest.Ran(t, Prove{Scenario: s, Protocol: grabs, Seed: 1})
	if p.Failure == nil || p.Failure.Violation.Invariant.Name != "lock-theft" {
		t.Errorf("%s, want a violation of lock-theft", p.Summary())
	}
}

// rounding is a clock in whole seconds. It rounds up if at most by is missing to the next second.
type rounding struct {
	clockwork.Clock
	by time.Duration
}

func (c rounding) Now() time.Time { return c.Clock.Now().Add(c.by).Truncate(time.Second) }

// longPages is recipe A whose generated_at is rounded up, so that a page is fresh for a fraction of a second too long.
type longPages struct {
	*pagecache.RecipeA
	clock clockwork.Clock
}

func (s longPages) Fresh(m pagecache.Meta, _ time.Time) bool {
	return s.RecipeA.Fresh(m, s.clock.Now())
}

func newTooLong(cfg isr.Config) (isr.Handler, error) {
	exact := cfg.Clock
	cfg.Clock = rounding{exact, time.Second - 1}
	return pagecache.OnRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return longPages{r, exact} })(cfg)
}

// newTooShort makes a lock whose lease begins at the last whole second, so that it ends too early.
func newTooShort(cfg isr.Config) (isr.Handler, error) {
	cfg.Clock = rounding{cfg.Clock, 0}
	return scenariotest.Lock("").New(cfg)
}

// In a search that has tried only whole seconds, a time rounded to seconds looks right. So the proof names the ends of
// which that is true. Once a world has fractions of seconds, the rounded time is found to be wrong.
func TestProofsInWholeSecondsSaySo(t *testing.T) {
	effort.Long(t)
	const pages = "name: p\nbounds: {ticks: 1}\ncache: {lease: 1s, attempts: 1, patience: 1}\nactors:\n" +
		"  - {name: alice, script: [get /home]}\n  - {name: bob, script: [get /home]}\n"
	const locks = "name: l\nbounds: {ticks: 1}\ncache: {lease: 10s, attempts: 1, patience: 1}\nactors:\n" +
		"  - {name: alice, script: [hold job for 9s]}\n  - {name: bob, script: [hold job for 1s]}\n"
	inParts := strings.NewReplacer("[get /home]", "[sleep 300ms, get /home, sleep 400ms, get /home]",
		"[hold job", "[sleep 300ms, hold job").Replace
	tooLong, tooShort := isr.Protocol{Name: "too long", New: newTooLong}, isr.Protocol{Name: "short", New: newTooShort}
	freshness, lease := "the end of /home's freshness", "the end of any lease"
	for _, test := range []struct {
		name, yaml string
		protocol   isr.Protocol
		breaks     string // or which invariant breaks
		whole      string
	}{
		{"cache in seconds", pages, isr.Protocol{}, "", freshness},
		{"cache in parts", inParts(pages), isr.Protocol{}, "", ""},
		{"fresh too long in seconds", pages, tooLong, "", freshness},
		{"fresh too long in parts", inParts(pages), tooLong, "freshness", ""},
		{"lock in seconds", locks, scenariotest.Lock(""), "", lease},
		{"lock in parts", inParts(locks), scenariotest.Lock(""), "", ""},
		{"lease too short in seconds", locks, tooShort, "", lease},
		{"lease too short in parts", inParts(locks), tooShort, "kept-lease", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := scenariotest.Parsed(t, test.yaml)
			p := scenariotest.Ran(t, Prove{Scenario: s, Protocol: test.protocol, Seed: 1})
			switch whole := strings.Join(p.WholeSeconds(), ", "); {
			case test.breaks != "" && p.Failure == nil:
				t.Errorf("%s is proved", test.breaks)
			case test.breaks != "" && p.Failure.Violation.Invariant.Name == test.breaks:
			case p.SomeParts() != (test.name == "cache in parts"): // the lock's rows have milliseconds
				t.Errorf("only parts of seconds that sleeps make were met: %v", p.SomeParts())
			case p.Summary() != "ok", !strings.HasSuffix(whole, test.whole), test.whole == "" && whole != "":
				t.Errorf("%s, in whole seconds at %q; want %q, or a violation of %q", p.Summary(), whole, test.whole,
					test.breaks)
			}
		})
	}
}

// If clocks may differ by as much as a lease lasts, nothing that is promised about leases is proved.
func TestALargeSkewProvesNothingAboutLeases(t *testing.T) {
	const pages, lock, call = "get /home", "hold job for 1s", "once order with a"
	for _, test := range []struct{ script, skew, want string }{
		{pages, "9s", ""}, {pages, "10s", "lock-theft, single-flight"},
		{pages, "1h", "lock-theft, freshness, single-flight"},
		{lock, "4s", ""}, {lock, "5s", "mutual-exclusion, guarded-write, kept-lease"},
		{call, "5s", ""}, {call, "15s", "effect-once"},
	} {
		s := scenariotest.Parsed(t, "name: skewed\ncache: {lease: 10s, retention: 30s, attempts: 1, patience: 1}\n"+
			"bounds: {ticks: 0}\nmax-clock-skew: "+test.skew+"\nactors: [{name: alice, script: ["+test.script+
			"]}, {name: bob, script: ["+test.script+"]}]\n")
		r := Report{Scenario: s}
		names, _ := r.Excused()
		if got := strings.ReplaceAll(strings.Join(names, ", "), "expired-publish, ", ""); got != test.want {
			t.Errorf("%s, clocks off by %s: %q is excused, want %q", test.script, test.skew, got, test.want)
		}
		if test.script == call {
			continue
		}
		protocol := isr.Protocol{}
		if test.script == lock {
			protocol = scenariotest.Lock("")
		}
		c := scenariotest.Ran(t, Campaign{Scenario: s, Protocol: protocol, Schedules: 2})
		if want := test.want == ""; (c.Verdict == invariant.OK) != want {
			t.Errorf("%s, clocks off by %s: %v (%s), want ok %t", test.script, test.skew, c.Verdict, c.Why, want)
		}
		s.Without, _ = c.Excused()
		if c = scenariotest.Ran(t, Campaign{Scenario: s, Protocol: protocol, Schedules: 2}); c.Verdict != invariant.OK {
			t.Errorf("%s, clocks off by %s, without %q: %v (%s)", test.script, test.skew, s.Without, c.Verdict, c.Why)
		}
		if s.Without = nil; test.script != pages {
			continue
		}
		p := scenariotest.Ran(t, Prove{Scenario: s, Protocol: scenariotest.Protocol(t, "acquire-by-get-then-put")})
		for _, name := range names {
			if slices.Contains(p.Proved(), name) || slices.Contains(p.NothingToJudge(), name) {
				t.Errorf("clocks off by %s: %s is proved, or had nothing to judge", test.skew, name)
			}
		}
		if p.Verdict == invariant.OK && len(names) > 0 {
			t.Errorf("clocks off by %s: the proof is %s", test.skew, p.Summary())
		}
	}
}
