package campaign_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

func prove(t testing.TB, v campaign.Prove) *campaign.Proof {
	t.Helper()
	p := scenariotest.Ran(t, v)
	return p
}

func TestTheReferencesAreProved(t *testing.T) {
	effort.Long(t)
	names := []string{"prove-crashed-writer", "prove-two-writers", "prove-three-writers", "prove-lost-answer",
		"prove-recipe-b", "prove-regenerate"}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			if name != "prove-regenerate" {
				// The test of the pages proves the crashed writer, .ci/nodes the world of two writers, and
				// TestVisitsAreRemembered the lost answer; TestWhatCodeForgetsLeavesOutNoWorld searches recipe B.
				effort.Nightly(t)
			}
			t.Parallel()
			v := campaign.Prove{Scenario: scenariotest.Embedded(t, name), Seed: 1}
			p := prove(t, v)
			if !p.Passed() || !p.Explored.Complete || !strings.HasPrefix(prose.Extent(p), "complete: ") {
				t.Errorf("%s: %s\n%s", prose.ProofRow(p), prose.Extent(p), prose.Report(&p.Report, "isr-sim", name))
			}
			// With far fewer schedules the search would prove nothing; far more would mean that a reduction does not
			// work.
			for _, d := range p.Deadlines {
				if !d.Reached() {
					t.Errorf("%s: %s; want it reached on all sides", name, d)
				}
			}
			if e := p.Explored; e.States < 5_000 || e.States > 500_000 || e.Schedules > e.States {
				t.Errorf("%s: %s; want 5,000 to 500,000 states, and fewer schedules", name, prose.Extent(p))
			}
		})
	}
}

func TestProofsAreTheSameOnAnyNumberOfProcessors(t *testing.T) {
	search := func(processors int) exhaustive.Explored {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		return prove(t, campaign.Prove{
			Scenario: scenariotest.Embedded(t, "prove-three-writers"), MaxSchedules: effort.Fewer(3000, 300),
		}).Explored
	}
	if diff := cmp.Diff(search(1), search(8)); diff != "" {
		t.Errorf("GOMAXPROCS 1 and 8 differ (-1 +8):\n%s", diff)
	}
}

// A search finds every mutant that a scenario for proofs claims to catch, and its findings replay.
func TestProofsFindMutants(t *testing.T) {
	effort.Long(t)
	// the mutants are of recipe A
	for _, name := range effort.Fewer([]string{"prove-two-writers", "prove-three-writers", "prove-regenerate",
		"paused-writer", "prove-crashed-writer", "prove-lost-answer"}, []string{"prove-two-writers",
		"prove-three-writers", "prove-regenerate", "paused-writer"}) {
		s := scenariotest.Embedded(t, name)
		for _, caught := range effort.Fewer(s.Catches, s.Catches[:1]) {
			t.Run(name+"/"+caught, func(t *testing.T) {
				t.Parallel()
				m := scenariotest.Protocol(t, caught)
				p := prove(t, campaign.Prove{Scenario: s, Protocol: m, Seed: 1})
				if p.Verdict != invariant.Violated {
					t.Errorf("%s under %s: %s", name, caught, prose.Extent(p))
					return
				}
				if got := p.Failure.Violation.Invariant.Name; got != m.Breaks {
					t.Errorf("%s under %s: caught by %s, but the mutant is there to break %s", name, caught, got,
						m.Breaks)
				}
				again, err := kernel.Run{
					Scenario: s, Protocol: m, Seed: 1,
					Strategy: strategy.Replay(p.Failure.Result.Choices), Trace: io.Discard,
				}.Do(context.Background())
				must.OK(t, err)
				if again.Verdict != invariant.Violated || again.Digest != p.Failure.Digest ||
					again.Digest == "" {
					t.Errorf("%s under %s: the replay is %v with the digest %q, want violated with %q",
						name, caught, again.Verdict, again.Digest, p.Failure.Digest)
				}
			})
		}
	}
}

// Whether a lease had time left depends on the promised skew. So two moments that differ only in that are different
// states: from one of them the next step violates single-flight, and from the other it does not.
func TestThePromisedSkewCountsInAState(t *testing.T) {
	s := scenariotest.Parsed(t, `name: skew
cache: {lease: 2s, revalidate: 10s, ttl-buffer: 1s, render: 0s, poll: 11s, patience: 1, attempts: 1}
max-clock-skew: 1s
bounds: {ticks: 1}
faults: [latency 2s op=PutItem actor=bob]
invariants: [single-flight]
actors:
  - {name: alice, script: [get /home]}
  - {name: bob, script: [sleep 1s, get /home], clock: {offset: 2s}}
`)
	if p := prove(t, campaign.Prove{Scenario: s, Seed: 1}); p.Verdict != invariant.Violated {
		t.Errorf("%s; want it violated: bob's clock breaks its promise", prose.Extent(p))
	}
}

// A proof names its gaps: invariants that no search proves, and eventually consistent reads in a scenario without
// replica lag.
func TestAProofSaysWhatItLeavesOut(t *testing.T) {
	const eventually = "reads without ConsistentRead were judged as consistent ones"
	for _, test := range []struct {
		protocol, more string
		left           []string
		eventually     bool
	}{
		{"recipe-a", "", []string{"ttl-is-gc", "linearizable", "monotonic-reads"}, false},
		{"recipe-a", "promise: {max-age: 1m}\nwithout: [linearizable, ttl-is-gc]\n",
			[]string{"monotonic-reads", "bounded-staleness"}, false},
		{"recipe-a", "invariants: [freshness]\n", nil, false},
		{"first-look-eventual", "", []string{"ttl-is-gc", "linearizable", "monotonic-reads"}, true},
		{"first-look-eventual", "replica-lag: 1s\n", []string{"ttl-is-gc", "linearizable", "monotonic-reads"}, false},
	} {
		p := prove(t, campaign.Prove{Scenario: scenariotest.Parsed(t, scenariotest.Lonely+"bounds: {ticks: 0}\n"+
			test.more), Protocol: scenariotest.Protocol(t, test.protocol)})
		said := prose.Proof(p)
		if diff := cmp.Diff(test.left, p.LeftToCampaigns()); diff != "" || !p.Explored.Complete ||
			strings.Contains(said, eventually) != test.eventually {
			t.Errorf("%s with %q: left to campaigns (-want +got):\n%s\n%s", test.protocol, test.more, diff, said)
		}
	}
}

// Further gaps are other draws of a random lag or delay, and a TTL that had nothing to delete.
func TestAProofSaysWhatTheSeedAndTTLLeaveOut(t *testing.T) {
	const drawn, unexpired = "the others are not proved: ", "TTL deleted no row"
	for _, test := range []struct{ more, drawn, unexpired string }{
		{more: ""},
		{more: "ttl-lag: fixed 1h\n", unexpired: "(ttl-lag in the scenario: fixed 1h0m0s)"},
		{more: "ttl-lag: uniform 1m 48h\n", drawn: "ttl-lag uniform 1m0s 48h0m0s", unexpired: "uniform"},
		{more: "faults: [latency 1s-2s op=PutItem]\n", drawn: "latency 1s-2s op=PutItem"},
		{
			more: "  - {name: bob, region: eu-west-1, script: [get /home]}\nregion-lag: exponential 1s\n" +
				"invariants: [ttl-well-formed]\n", drawn: "region-lag exponential 1s",
		},
	} {
		said := prose.Proof(prove(t,
			campaign.Prove{Scenario: scenariotest.Parsed(t, scenariotest.Lonely+test.more+"bounds: {ticks: 0}\n")}))
		for _, part := range []struct{ always, with string }{{drawn, test.drawn}, {unexpired, test.unexpired}} {
			if got := strings.Contains(said, part.always) &&
				strings.Contains(said, part.with); got != (part.with != "") {
				t.Errorf("with %q it says\n%s\nwant %q with %q in it: %v", test.more, said, part.always,
					part.with, part.with != "")
			}
		}
	}
}

func TestAnEndedSearchHasNoVerdictAndSaysWhatIsLeft(t *testing.T) {
	s := scenariotest.Embedded(t, "prove-two-writers")
	over, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("lunch"))
	stopped, stop := context.WithCancel(context.Background())
	for _, test := range []struct {
		ctx  context.Context
		v    campaign.Prove
		why  string
		left string
	}{
		{context.Background(), campaign.Prove{Scenario: s, MaxSchedules: 20},
			"the bound of 20 schedules was met", "branches not taken"},
		{context.Background(), campaign.Prove{Scenario: s, MaxStates: 100},
			"the bound of 100 states was met", "branches not taken"},
		{over, campaign.Prove{Scenario: s}, "lunch", "everything"},
		{stopped, campaign.Prove{Scenario: s, Progress: func(e exhaustive.Explored) {
			if e.Schedules == 5 {
				stop()
			}
		}}, "interrupted", "branches not taken"},
	} {
		p := must.Of(test.v.Run(test.ctx))(t)
		if p.Verdict != invariant.Unknown || p.Passed() || p.Why != test.why ||
			!strings.HasPrefix(prose.Extent(p), "not complete: ") ||
			!strings.Contains(prose.Extent(p), test.left) {
			t.Errorf("verdict %v because %q, %s; want unknown because %q, not complete", p.Verdict, p.Why,
				prose.Extent(p), test.why)
		}
	}
}

func TestASearchThatNeverReachesWhatIsDeclaredIsVacuous(t *testing.T) {
	p := prove(t, campaign.Prove{Scenario: scenariotest.Parsed(t,
		scenariotest.Lonely+"reach: [lock-refused]\nfaults: [throttled op=Query]\nbounds: {ticks: 0}")})
	if p.Passed() || !p.Vacuous() || !p.Explored.Complete || len(p.Missing) != 1 || len(p.Unmet) != 1 {
		t.Errorf("%s, missing %v, unmet %v; want it complete and vacuous, without lock-refused and without a Query",
			prose.ProofRow(p), p.Missing, p.Unmet)
	}
}

func TestSchedulesCutAtTheScenariosBoundAreNotProved(t *testing.T) {
	p := prove(t, campaign.Prove{Scenario: scenariotest.Parsed(t, scenariotest.Lonely+"bounds: {ticks: 0, steps: 4}")})
	if p.Verdict != invariant.Unknown || p.Explored.Complete ||
		!strings.Contains(prose.Extent(p), "cut at the scenario's bound of 4 steps") {
		t.Errorf("%s: %s; want it unknown, because schedules were cut", prose.ProofRow(p), prose.Extent(p))
	}
}

// A search in which one invariant judges says nothing about the others, and fails if that one does not exist.
func TestTheOnlyInvariantIsTheOnlyOneProved(t *testing.T) {
	effort.Long(t)
	const two = "name: small\ncache: {lease: 10s, render: 0s, poll: 11s, patience: 1}\nbounds: {ticks: 1}\n" +
		"actors: [{name: alice, script: [get /home]}, {name: bob, script: [get /home]}]\n"
	for _, test := range []struct {
		yaml, only, want, err string
	}{
		{two, "freshness", "[freshness]", ""},
		{two, "no-lost-invalidation", "[]", ""},
		{two, "fresness", "", `found the invariant "fresness", expected one of stale-writer, `},
		{two + "without: [freshness]\n", "freshness", "",
			"found freshness as the only invariant, which the scenario leaves out"},
	} {
		v := campaign.Prove{Scenario: scenariotest.Parsed(t, test.yaml),
			Protocol: scenariotest.Protocol(t, "check-then-act-publish"), Seed: 1}
		v.Only = test.only
		proof, err := v.Run(t.Context())
		switch {
		case err != nil:
			if test.err == "" || !strings.Contains(err.Error(), test.err) {
				t.Errorf("only %s: %v", test.only, err)
			}
		case test.err != "" || fmt.Sprint(proof.Proved()) != test.want || proof.Vacuous() != (test.want == "[]"):
			t.Errorf("only %s: %s, proved %v; want %s", test.only, proof.Summary(), proof.Proved(), test.want)
		}
	}
}

// announced is a cache in which bob renders and another machine publishes what bob has announced, before he has put it.
type announced struct{ isr.Config }

func (a announced) Get(ctx context.Context, key string) (isr.Served, error) {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	pk := isr.PartitionKey("", key)
	row := func(sk string) map[string]types.AttributeValue {
		return map[string]types.AttributeValue{"pk": text(pk), "sk": text(sk)}
	}
	if strings.HasPrefix(a.Tokens(), "bob") {
		_, err := a.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &a.Table, Item: row("ANNOUNCED")})
		return isr.Served{}, errors.Join(err, a.Bodies.PutBody(ctx, "body", []byte("page")), isr.ErrMiss)
	}
	consistent := true
	out, err := a.Client.GetItem(ctx,
		&dynamodb.GetItemInput{TableName: &a.Table, Key: row("ANNOUNCED"), ConsistentRead: &consistent})
	if err == nil && out.Item != nil {
		meta := row(isr.SortMeta)
		meta["s3_key"], meta["generated_at"] = text("body"), &types.AttributeValueMemberN{
			Value: fmt.Sprint(a.Clock.Now().Unix()),
		}
		_, err = a.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &a.Table, Item: meta})
	}
	return isr.Served{}, errors.Join(err, isr.ErrMiss)
}

// The search leaves some schedules before their end. If no body was put until then, the run has no verdict: perhaps the
// check cannot see the cache's bodies. If the whole run is violated, that counts.
func TestTheEndOfARunMayTellMore(t *testing.T) {
	p := isr.Protocol{Name: "announced", New: func(cfg isr.Config) (isr.Handler, error) { return announced{cfg}, nil }}
	for _, actors := range []string{"{name: alice, script: [get /home]}, {name: bob, script: [get /home]}",
		"{name: bob, script: [get /home]}, {name: alice, script: [get /home]}"} {
		s := scenariotest.Parsed(t, "name: small\nbounds: {ticks: 0}\ninvariants: [no-dangling-pointer]\nactors: ["+
			actors+", {name: zed, script: [sleep 9s]}]\n")
		if proof := prove(t, campaign.Prove{Scenario: s, Protocol: p, Seed: 1}); proof.Verdict != invariant.Violated {
			t.Errorf("%s: %v %s; want it violated", actors, proof.Verdict, proof.Why)
		}
	}
}

// An invariant of the caller may concern the end of a run: that no lock is left, or that each machine has an answer. A
// schedule that the search abandons says nothing about that.
func TestACallersInvariantMayBeAboutTheEndOfARun(t *testing.T) {
	s := scenariotest.Parsed(t,
		"name: small\ncache: {lease: 10s, render: 0s, poll: 11s, patience: 1}\nbounds: {ticks: 0}\n"+
			"actors:\n  - {name: alice, script: [get /home]}\n  - {name: bob, script: [get /home]}\n")
	judge := func(when invariant.Verdict, open func(locks, answers int) bool) *campaign.Proof {
		check := func(ev invariant.Evidence) invariant.Finding {
			locks, answers := 0, 0
			for _, c := range ev.Changes {
				if sk, _ := c.Key.Str("sk"); sk == isr.SortLock && c.After != nil {
					locks++
				} else if sk == isr.SortLock {
					locks--
				}
			}
			for _, e := range ev.History {
				if e.Kind == history.Served || e.Kind == history.Failed {
					answers++
				}
			}
			if open(locks, answers) {
				return invariant.Finding{Verdict: when, Why: "it is open"}
			}
			return invariant.Finding{Verdict: invariant.OK}
		}
		own := []invariant.Invariant{{Name: "own", Statement: "nothing is open", Check: check}}
		return prove(t, campaign.Prove{Scenario: s, Protocol: scenariotest.Protocol(t, "recipe-a"), Seed: 1,
			Options: kernel.Options{Invariants: own}})
	}
	for _, verdict := range []invariant.Verdict{invariant.Violated, invariant.Unknown} {
		if p := judge(verdict, func(locks, answers int) bool {
			return locks > 0 ||
				answers < 2
		}); p.Verdict != invariant.OK || !p.Explored.Complete {
			t.Errorf("%v %q, %s; want it ok: at the end of each run nothing is open", p.Verdict, p.Why, prose.Extent(p))
		}
		p := judge(verdict, func(locks, answers int) bool { return answers == 2 })
		if p.Verdict != verdict {
			t.Errorf("%v; want %v, as at the end of each run", p.Verdict, verdict)
		}
		if text := prose.Proof(p); strings.Contains(text, "proved within") ||
			verdict == invariant.Unknown && !strings.Contains(text, "not proved, because the verdict is unknown: ") {
			t.Errorf("it is %v, and says that something is proved:\n%s", verdict, text)
		}
	}
}

// TestProofsOfForeignCode checks that code is proved in the same way with and without the SDK, and that options under
// which no proof is possible are refused.
func TestProofsOfForeignCode(t *testing.T) {
	s := scenariotest.Embedded(t, "prove-two-writers")
	most := effort.Fewer(300, 50)
	plain := prove(t, campaign.Prove{Scenario: s, MaxSchedules: most}).Explored
	if diff := cmp.Diff(plain, prove(t,
		campaign.Prove{Scenario: s, MaxSchedules: most, Options: kernel.Options{SDK: true}}).Explored); diff != "" {
		t.Errorf("explored (-plain +SDK):\n%s", diff)
	}
	refused := func(options kernel.Options, want string) {
		if _, err := (campaign.Prove{Scenario: s, Options: options}).Run(t.Context()); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	refused(kernel.Options{Swarm: true}, "Prove.Swarm: found true, expected false")
	bubble := func(func(sim.Bubble)) error { return nil }
	refused(kernel.Options{Setup: kernel.Setup{Bubble: bubble}}, "Prove: found a bubble, expected none:")
}

// TestAProofOfCodeThatIsNotDeterministicIsNone proves a cache that is not deterministic, because it counts the runs.
func TestAProofOfCodeThatIsNotDeterministicIsNone(t *testing.T) {
	reference, other := scenariotest.Protocol(t, "recipe-a"), scenariotest.Protocol(t, "lease-in-milliseconds")
	made := 0
	changing := isr.Protocol{Name: "recipe-a", New: func(cfg isr.Config) (isr.Handler, error) {
		if made++; made > 40 {
			return other.New(cfg)
		}
		return reference.New(cfg)
	}}
	proof, err := campaign.Prove{
		Scenario: scenariotest.Embedded(t, "prove-two-writers"), Protocol: changing, MaxSchedules: 1000,
		Options: kernel.Options{SDK: true},
	}.Run(t.Context())
	if _, unstable := errors.AsType[*kernel.NondeterminismError](err); !unstable {
		t.Errorf("got %v and the error %v, want a NondeterminismError", proof, err)
	}
}

// TestProofsComeToTheEndsOfLeases searches copies of the references. Each copy has a bug at or after the end of a
// lease.
func TestProofsComeToTheEndsOfLeases(t *testing.T) {
	effort.Long(t)
	for _, test := range []struct{ scenario, twin, breaks string }{
		{"prove-two-writers", "publish-at-expiry", "expired-publish"},
		{"prove-two-writers", "guard-token-alone", "expired-publish"},
		{"prove-two-writers", "acquire-a-second-early", "lock-theft"},
		{"prove-three-writers", "publish-at-expiry", "expired-publish"},
		{"prove-three-writers", "guard-token-alone", "expired-publish"},
		{"prove-crashed-writer", "publish-at-expiry", "expired-publish"},
		{"prove-crashed-writer", "guard-token-alone", "expired-publish"},
		{"prove-crashed-writer", "acquire-waits-for-ttl", "liveness"},
		{"prove-lost-answer", "publish-at-expiry", "expired-publish"},
		{"prove-lost-answer", "guard-token-alone", "expired-publish"},
		{"prove-recipe-b", "publish-at-expiry", "expired-publish"},
		{"prove-recipe-b", "guard-token-alone", "expired-publish"},
		{"prove-regenerate", "guard-token-alone", "expired-publish"},
		{"prove-regenerate", "acquire-a-second-early", "lock-theft"},
		{"../../../examples/programs/two-writers.yaml", "publish-at-expiry", "expired-publish"},
		{"../../../examples/programs/two-writers.yaml", "guard-token-alone", "expired-publish"},
		{"../../../examples/programs/two-writers.yaml", "acquire-a-second-early", "lock-theft"},
	} {
		s, err := spec.Load(test.scenario)
		if err != nil {
			s = scenariotest.Embedded(t, test.scenario)
		}
		p := prove(t, campaign.Prove{Scenario: s, Protocol: scenariotest.Protocol(t, test.twin), Seed: 1})
		if p.Failure == nil || p.Failure.Violation.Invariant.Name != test.breaks {
			t.Errorf("%s under %s: %s, want a violation of %s", test.scenario, test.twin, p.Summary(), test.breaks)
		}
	}
}

// If every lock is released and no machine crashes, liveness never meets a lock that has to be taken over. The missing
// mark shows that none was.
func TestAProofInWhichNoLockIsTakenOverIsVacuous(t *testing.T) {
	effort.Long(t)
	for _, name := range effort.Fewer([]string{"../../../examples/programs/two-writers.yaml", "prove-two-writers"},
		[]string{"../../../examples/programs/two-writers.yaml"}) {
		s, err := spec.Load(name)
		if err != nil {
			s = scenariotest.Embedded(t, name)
		}
		p := prove(t, campaign.Prove{Scenario: s, Protocol: scenariotest.Protocol(t, "acquire-waits-for-ttl"), Seed: 1})
		if p.Passed() || !slices.Contains(p.Missing, mark.LockTakenOver) {
			t.Errorf("%s: %s, want it vacuous, for no lock was taken over", name, prose.ProofRow(p))
		}
	}
}

// A proof without a tick never reaches the end of a lease whose holder runs on, and says so.
func TestAProofThatComesToNoEndOfALeaseIsVacuous(t *testing.T) {
	s := scenariotest.Parsed(t,
		"name: still\nactors: [{name: alice, script: [get /home]}, {name: bob, script: [get /home]}]\n"+
			"bounds: {ticks: 0}\n")
	p := prove(t, campaign.Prove{Scenario: s})
	if !p.Explored.Complete || p.Passed() || !p.Vacuous() || len(p.Unreached()) != 2 {
		t.Errorf("%s, unreached %v; want it vacuous, for the leases of alice and bob", prose.ProofRow(p), p.Unreached())
	}
	for _, name := range []string{"tenant-isolation", "no-lost-invalidation"} {
		if slices.Contains(p.Proved(), name) || !slices.Contains(p.NothingToJudge(), name) {
			t.Errorf("%s is proved, in a world that has nothing for it", name)
		}
	}
}

// TestARegionThatDecidesIsProved: in two regions of a global table, both may give away the same lease. If one region
// decides about leases, that cannot happen, in whatever order the writes reach the other region.
func TestARegionThatDecidesIsProved(t *testing.T) {
	effort.Long(t)
	for _, test := range []struct{ scenario, protocol, breaks string }{
		{"two-regions-home", "recipe-a-home", ""},
		{"two-regions", "recipe-a", "single-flight"},
		{"two-regions-home", "recipe-a", "single-flight"},
		{"two-regions-home", "recipe-b", "no-dangling-pointer"},
	} {
		t.Run(test.scenario+"/"+test.protocol, func(t *testing.T) {
			if test.breaks == "" || test.scenario == "two-regions-home" && test.protocol == "recipe-a" {
				effort.Nightly(t) // where nothing breaks, the proof takes half a million steps
			}
			t.Parallel()
			p := prove(t, campaign.Prove{Scenario: scenariotest.Embedded(t, test.scenario),
				Protocol: scenariotest.Protocol(t, test.protocol), Seed: 1, Options: kernel.Options{Only: test.breaks}})
			if test.breaks != "" {
				if p.Verdict != invariant.Violated || p.Failure.Violation.Invariant.Name != test.breaks {
					t.Errorf("%s; want it to violate %s", prose.ProofRow(p), test.breaks)
				}
				return
			}
			if !p.Passed() || !p.Explored.Complete || len(p.Deadlines) == 0 {
				t.Errorf("%s: %s\n%s", prose.ProofRow(p), prose.Extent(p),
					prose.Report(&p.Report, "isr-sim", test.scenario))
			}
			for _, d := range p.Deadlines {
				if d.Lease && !d.Reached() {
					t.Errorf("%s; want it reached on all sides", d)
				}
			}
		})
	}
}

// TestTTLOfAnotherRegionTakesALiveLock: TTL of one region deletes the copy of an old lock, and this deletion is the
// last write of the row.
func TestTTLOfAnotherRegionTakesALiveLock(t *testing.T) {
	const text = "name: x\nprotocol: recipe-a-home\nttl-lag: scheduler\n" +
		"cache: {lease: 10s, revalidate: 10s, retention: 1s, ttl-buffer: 1s}\nactors:\n" +
		"  - {name: alice, script: [get /home, sleep 15s, get /home]}\n" +
		"  - {name: bob, region: eu-west-1, script: [get /home, sleep 15s, get /home]}\n"
	r := scenariotest.Ran(t, campaign.Campaign{Scenario: scenariotest.Parsed(t, text), Seed: 1})
	if r.Verdict != invariant.Violated || !strings.HasPrefix(r.Failure.Violation.Why,
		"TTL of another region removed the lock of ") {
		t.Errorf("got %s", prose.Report(r, "isr-sim", "x"))
	}
}
