package campaign_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

func TestACampaignThatNeverReachesWhatItDeclaresFails(t *testing.T) {
	// Nobody contends with alice, and TTL deletes nothing.
	r := scenariotest.Ran(t, campaign.Campaign{Scenario: scenariotest.Parsed(t, scenariotest.Lonely+
		"reach: [ttl-deletion, lock-refused]\nbounds: {schedules: 20}"), Seed: 1})
	if r.Verdict != invariant.OK || !r.Vacuous() || r.Passed() {
		t.Errorf("verdict %v, vacuous %v, passed %v; want ok, true, false", r.Verdict, r.Vacuous(), r.Passed())
	}
	want := "vacuous: lonely under recipe-a: no schedule of 20 (seed 1) reached ttl-deletion lock-refused, which " +
		"the scenario declares\n"
	if got := prose.Report(r, "isr-sim", "lonely"); got != want {
		t.Errorf("Explain\n got %swant %s", got, want)
	}
}

func TestAFaultThatCanNeverStrikeFails(t *testing.T) {
	for fault, want := range map[string]bool{
		"maybe error-before key=LOKC":   true,
		"throttled op=ListTables":       true,
		"maybe error-before key=LOCK":   false,
		"request-lost actor=alice":      false,
		"maybe throttled op=UpdateItem": true, // no lease is refreshed
	} {
		r := scenariotest.Ran(t, campaign.Campaign{
			Scenario: scenariotest.Parsed(t, scenariotest.Lonely+"faults: ["+fault+"]"), Seed: 1, Schedules: 20,
		})
		if r.Vacuous() != want {
			t.Errorf("%s: vacuous %v, want %v", fault, r.Vacuous(), want)
		}
		text := prose.Report(r, "isr-sim", "lonely")
		if mentioned := strings.Contains(text, fault); mentioned != want {
			t.Errorf("%s: explained as %q", fault, text)
		}
	}
}

func TestACampaignWithoutInvariantsIsVacuous(t *testing.T) {
	s := *scenariotest.Embedded(t, "two-contenders")
	for _, inv := range invariant.All() {
		s.Without = append(s.Without, inv.Name)
	}
	r := scenariotest.Ran(t, campaign.Campaign{Scenario: &s, Seed: 1, Schedules: 3})
	if r.Passed() || !r.Vacuous() || r.Summary() != "vacuous" {
		t.Errorf("got %s, passed %v, want it to be vacuous", r.Summary(), r.Passed())
	}
	if text := prose.Report(r, "isr-sim", "two-contenders"); !strings.Contains(text, "nothing was judged") {
		t.Errorf("it is not said why:\n%s", text)
	}
	s.Without = s.Without[1:]
	if r := scenariotest.Ran(t, campaign.Campaign{Scenario: &s, Seed: 1, Schedules: 3}); r.Vacuous() &&
		len(r.Missing) == 0 {
		t.Error("one is left that judges")
	}
}

// A campaign is vacuous, whatever its scenario declares, if no publish succeeded or was refused, or if no page was
// served: it has judged nothing.
func TestACampaignThatJudgesNothingIsVacuous(t *testing.T) {
	nothing := isr.Protocol{
		Name: "always-fails", New: func(isr.Config) (isr.Handler, error) { return noService{}, nil },
	}
	for _, test := range []struct {
		name     string
		protocol isr.Protocol
		cache    string
		missing  []spec.Mark
	}{
		{"a cache", recipe.Reference(), "", nil},
		{"a cache that may publish nothing", recipe.Reference(), "cache: {lease: 5s, render: 7s}", nil},
		{"a cache that always fails", nothing, "", []spec.Mark{mark.Published, mark.ServedFresh}},
	} {
		s := scenariotest.Parsed(t, "name: plain\nactors: [{name: alice, script: [get /home]}]\n"+test.cache)
		r := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Protocol: test.protocol, Seed: 1, Schedules: 20})
		if diff := cmp.Diff(test.missing, r.Missing); diff != "" {
			t.Errorf("%s: missing (-want +got):\n%s", test.name, diff)
		}
		if want := len(test.missing) > 0; r.Vacuous() != want || r.Passed() == want {
			t.Errorf("%s: vacuous %v, passed %v; want vacuous %v", test.name, r.Vacuous(), r.Passed(), want)
		}
		for _, m := range test.missing {
			if want := "reached " + string(m) +
				": nothing was there to be judged\n"; !strings.Contains(prose.Report(r, "isr-sim", "plain"), want) {
				t.Errorf("%s: %q does not say %q", test.name, prose.Report(r, "isr-sim", "plain"), want)
			}
		}
	}
}

// noService is a cache that serves nothing.
type noService struct{}

func (noService) Get(context.Context, string) (isr.Served, error) {
	return isr.Served{}, errors.New("no route to the store")
}

func TestARunCutAtItsBoundIsUnknown(t *testing.T) {
	r := scenariotest.Ran(t, campaign.Campaign{
		Scenario: scenariotest.Parsed(t, scenariotest.Lonely+"bounds: {schedules: 3, steps: 4}"), Seed: 1,
	})
	if r.Verdict != invariant.Unknown || r.Passed() || !strings.Contains(r.Why, "cut after 4 steps") {
		t.Errorf("verdict %v (%s), passed %v; want unknown because cut after 4 steps, false", r.Verdict, r.Why,
			r.Passed())
	}
	if text := prose.Report(r, "isr-sim", "lonely"); !strings.Contains(text,
		"\nreplay: isr-sim replay --protocol recipe-a --seed ") {
		t.Errorf("%q does not say how to see the run", text)
	}
}

func TestAnInterruptedCampaignReportsWhatItDid(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r, err := campaign.Campaign{
		Scenario: scenariotest.Parsed(t, scenariotest.Lonely), Seed: 1, Schedules: 1_000_000,
		Progress: func(done, _ int) {
			if done == 7 {
				cancel()
			}
		},
	}.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	// Runs under way when the interrupt comes are finished.
	want := fmt.Sprintf("interrupted after %d of 1000000 schedules", r.Schedules)
	if r.Verdict != invariant.Unknown || r.Schedules < 7 || r.Schedules > 1000 || r.Why != want {
		t.Errorf("verdict %v after %d schedules (%s), want unknown after 7 and a few", r.Verdict, r.Schedules, r.Why)
	}
}

func TestAScenarioMayExpectAViolation(t *testing.T) {
	text := `
name: known-bad
protocol: blind-publish
cache: {lease: 10s, render: 3s}
actors:
  - name: alice
    script: [get /home]
    pauses: 1
    pause-for: 15s
  - name: bob
    script: [sleep 5s, get /home]
`
	for _, test := range []struct {
		expect, protocol string
		want             bool
	}{
		{"violated", "", true},
		{"ok", "", false},
		{"violated", "recipe-a", true}, // the expectation concerns the scenario's own protocol
		{"violated", "blind-publish", true},
	} {
		c := campaign.Campaign{Scenario: scenariotest.Parsed(t, text+"expect: "+test.expect), Seed: 1}
		if test.protocol != "" {
			c.Protocol = scenariotest.Protocol(t, test.protocol)
		}
		if got := scenariotest.Ran(t, c).Passed(); got != test.want {
			t.Errorf("expect %s, protocol %q: passed %v, want %v", test.expect, test.protocol, got, test.want)
		}
	}
}

func TestClocksBeyondThePromiseAreReported(t *testing.T) {
	text := `
name: broken-promise
max-clock-skew: %s
actors:
  - name: alice
    clock: {offset: 5s}
    script: [get /home]
`
	for skew, want := range map[string]bool{"5s": false, "4s": true} {
		r := scenariotest.Ran(t,
			campaign.Campaign{Scenario: scenariotest.Parsed(t, fmt.Sprintf(text, skew)), Seed: 1, Schedules: 5})
		if got := r.Counts()[mark.SkewBroken] > 0; got != want {
			t.Errorf("a clock 5s ahead under a promise of %s: skew-broken %v, want %v", skew, got, want)
		}
	}
}

func TestAProtocolThatPanicsIsAnErrorNotAVerdict(t *testing.T) {
	p := isr.Protocol{Name: "panicky", New: func(isr.Config) (isr.Handler, error) { panic("boom") }}
	_, err := campaign.Campaign{
		Scenario: scenariotest.Parsed(t, scenariotest.Lonely), Protocol: p, Seed: 1,
	}.Run(context.Background())
	if err == nil || !strings.Contains(err.Error(), "scenario lonely, protocol panicky") ||
		!strings.Contains(err.Error(), "boom") {
		t.Errorf("error %v, want one that names scenario, protocol and panic", err)
	}
}

func TestAViolationIsExplainedInOrder(t *testing.T) {
	s := scenariotest.Embedded(t, "paused-writer")
	r := scenariotest.Ran(t,
		campaign.Campaign{Scenario: s, Protocol: scenariotest.Protocol(t, "blind-publish"), Seed: 1})
	text := prose.Report(r, "isr-sim", "paused-writer")
	at := 0
	for _, part := range []string{
		"violated: paused-writer under blind-publish",
		"stale-writer: " + invariant.Named("stale-writer").Statement,
		"alice published",
		"LOCK of /home: absent => token alice-",
		"META of /home:",
		"of seed 1",
		"replay: isr-sim replay --protocol blind-publish --seed ",
	} {
		i := strings.Index(text[at:], part)
		if i < 0 {
			t.Fatalf("%q is missing, or not in its place, in\n%s", part, text)
		}
		at += i
	}
}

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
	setup := kernel.Setup{Before: func(seed uint64) { global = seed }}
	report, err := campaign.Campaign{
		Scenario: scenariotest.Embedded(t, "two-contenders"), Protocol: p, Seed: 1, Workers: 1,
		Options: kernel.Options{Setup: setup},
	}.Run(t.Context())
	if err != nil || report.Failure == nil || report.Failure.Result.Seed%2 != 1 {
		t.Fatalf("report %+v, error %v; want a run of an odd seed that fails each time", report, err)
	}
	failed := report.Failure
	global = 0
	run := kernel.Replay(failed.Replay(), report.Scenario, p)
	run.Setup = setup
	shrunk, err := campaign.Shrink{Failed: run, ScheduleOnly: true, Runs: 50}.Run(t.Context())
	if err != nil || shrunk.Outcome.Violation == nil || global != failed.Result.Seed {
		t.Errorf("shrunk to %+v, error %v, after a run of seed %d", shrunk, err, global)
	}
}

func TestTheReferencePassesEveryEmbeddedScenario(t *testing.T) {
	effort.OneAtATime(t)
	for _, name := range fixtures.Names() {
		t.Run(name, func(t *testing.T) {
			s := scenariotest.Embedded(t, name)
			// With fewer schedules, a declared mark may remain unreached.
			r := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Seed: 1, Schedules: effort.Fewer(500, 50)})
			if !r.Passed() && !(effort.Fewer(false, true) && r.Verdict == s.Expect) {
				t.Error(prose.Report(r, "isr-sim", name))
			}
		})
	}
}

// The seed differs from that of package selftest, which runs every mutant in each of its scenarios under seed 1.
func TestEmbeddedScenariosCatchTheMutantsTheyName(t *testing.T) {
	effort.OneAtATime(t)
	for _, name := range fixtures.Names() {
		s := scenariotest.Embedded(t, name)
		for _, caught := range effort.Fewer(s.Catches, s.Catches[:1]) {
			t.Run(name+"/"+caught, func(t *testing.T) {
				p := scenariotest.Protocol(t, caught)
				r := scenariotest.Ran(t,
					campaign.Campaign{Scenario: s, Protocol: p, Seed: 2, Options: kernel.Options{Only: p.Breaks}})
				if r.Verdict != invariant.Violated {
					t.Errorf("verdict %v, want violated", r.Verdict)
				} else if got := r.Failure.Violation.Invariant.Name; got != p.Breaks && p.Breaks != "" {
					t.Errorf("caught by %s, but the mutant is there to break %s", got, p.Breaks)
				}
			})
		}
	}
}

func TestTheSDKChangesNoScheduleAndNoVerdict(t *testing.T) {
	effort.NotShort(t)
	s := scenariotest.Embedded(t, "lost-response")
	for _, p := range effort.Fewer(kernel.Protocols(), recipe.References()) {
		c := campaign.Campaign{Scenario: s, Protocol: p, Seed: 5, Schedules: 30}
		plain := scenariotest.Ran(t, c)
		c.SDK = true
		sdk := scenariotest.Ran(t, c)
		if prose.Row(plain) != prose.Row(sdk) {
			t.Errorf("%s\n own client %s\nSDK client %s", p.Name, prose.Row(plain), prose.Row(sdk))
		}
	}
}
