package property_test

import (
	"context"
	cryptorand "crypto/rand" //nolint:depguard // a store takes tokens from it
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/protocols/guard"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/property"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// twoWriters is a world that is small enough for a proof, and has the troubles that a cache must survive: another
// writer, the end of a lease while its holder works, and a lost answer.
const twoWriters = `name: two-writers
actors:
  - name: alice
    script: [get /home]
  - name: bob
    script: [get /home]
faults: [maybe response-lost]
bounds: {ticks: 1}
cache: {lease: 1s, attempts: 1, patience: 1}
`

// newForgetful makes articles whose tokens come from the given function instead of the schedule's node.
func newForgetful(token func() string) func(property.Node) (isr.Handler, error) {
	return func(n property.Node) (isr.Handler, error) {
		n.Tokens = token
		return &articles{Node: n}, nil
	}
}

// plainLock is a lock that can only be taken and given back.
type plainLock struct{ property.Lock }

func (l plainLock) Acquire(ctx context.Context, name string) (property.Held, error) {
	held, err := l.Lock.Acquire(ctx, name)
	if err != nil {
		return nil, err
	}
	return struct{ property.Held }{held}, nil
}

// proofs are the cases that TestChild runs if a name begins with "prove: ".
func proofs() map[string]func(t *testing.T, file string) {
	prove := func(c property.Check, newStore func(property.Node) (isr.Handler, error)) func(*testing.T, string) {
		return func(t *testing.T, file string) { c.Prove(t, file, newStore) }
	}
	rows := property.Check{Rows: articleRows}
	with := func(change func(c *property.Check)) property.Check {
		c := rows
		change(&c)
		return c
	}
	made := 0
	own := invariant.Invariant{Name: "own", Statement: "nothing", Check: func(invariant.Evidence) invariant.Finding {
		return invariant.Finding{Verdict: invariant.OK}
	}}
	lock := func(bugs turnstile) func(*testing.T, string) {
		return func(t *testing.T, file string) {
			property.LockCheck{Table: turnstileTable}.Prove(t, file, newTurnstiles(bugs))
		}
	}
	inPart := func(bug string) func(*testing.T, string) {
		return func(t *testing.T, file string) {
			property.LockCheck{Table: turnstileTable}.Prove(t, file, newTwoRows(bug))
		}
	}
	calls := func(bug string) func(*testing.T, string) {
		return func(t *testing.T, file string) { recordsCheck.Prove(t, file, newRecords(bug)) }
	}
	return map[string]func(*testing.T, string){
		"calls": calls(""), "no condition": calls("no condition"),
		"gone": inPart("gone"), "gives up": inPart("gives up"),
		"lock":  lock(turnstile{}),
		"grabs": lock(turnstile{grabs: true}),
		"a lock for each": func(t *testing.T, file string) {
			property.LockCheck{}.Prove(t, file, badLocks()["lock: a lock for each"])
		},
		"halfEarly": func(t *testing.T, file string) {
			property.LockCheck{Table: turnstileTable}.Prove(t, file, func(n property.Machine) (property.Lock, error) {
				lock, err := newTurnstiles(turnstile{halfEarly: true})(n)
				return plainLock{lock}, err
			})
		},
		"purged":       lock(turnstile{purgedBy: "purge_at"}),
		"wholeSeconds": lock(turnstile{wholeSeconds: true}),
		"neverOver":    lock(turnstile{neverOver: true}),
		"alwaysSure":   lock(turnstile{alwaysSure: true}),
		"countsBehind": lock(turnstile{countsBehind: true}),
		"correct": prove(with(func(c *property.Check) { c.Invariants = []invariant.Invariant{own} }),
			articlesWith(articles{})),
		"by a function": prove(property.Check{Rows: articleFunction}, articlesWith(articles{})),
		"without freshness": prove(with(func(c *property.Check) { c.Without = []string{"freshness"} }),
			articlesWith(articles{})),
		"unfenced": prove(rows, articlesWith(articles{unfenced: true})),
		//nolint:forbidigo // a store must not use it
		"random tokens": prove(rows, newForgetful(func() string { return strconv.FormatUint(rand.Uint64(), 36) })),
		"random ids": prove(rows, func(n property.Node) (isr.Handler, error) {
			n.Tokens = cryptorand.Text
			store, first := &articles{Node: n}, cryptorand.Text()
			return handler(func(ctx context.Context, key string) (isr.Served, error) {
				served, err := store.Get(ctx, key)
				if cryptorand.Text() == first {
					panic("one id twice")
				}
				return served, err
			}), nil
		}),
		"shares its pages": func() func(*testing.T, string) {
			pages := map[string]isr.Served{}
			return prove(rows, func(n property.Node) (isr.Handler, error) {
				store := &articles{Node: n}
				return handler(func(ctx context.Context, key string) (isr.Served, error) {
					if served, known := pages[key]; known {
						return served, nil
					}
					served, err := store.Get(ctx, key)
					if err == nil {
						pages[key] = served
					}
					return served, err
				}), nil
			})
		}(),
		"works behind its answers": prove(rows, func(n property.Node) (isr.Handler, error) {
			store, odd := &articles{Node: n}, atomic.Bool{}
			return handler(func(ctx context.Context, key string) (isr.Served, error) {
				was := odd.Load()
				go func() {
					for range 3000 { // it takes a while
						runtime.Gosched()
					}
					odd.Store(!was)
				}()
				if was {
					return isr.Served{}, errors.New("not now")
				}
				return store.Get(ctx, key)
			}), nil
		}),
		"asks twice at times": prove(rows, func(n property.Node) (isr.Handler, error) {
			store := &articles{Node: n}
			return handler(func(ctx context.Context, key string) (isr.Served, error) {
				if made++; made%50 == 0 {
					_, _ = store.Get(ctx, "/other")
				}
				return store.Get(ctx, key)
			}), nil
		}),
		"restores a table": prove(rows, func(n property.Node) (isr.Handler, error) {
			store, restored := &articles{Node: n}, false
			return handler(func(ctx context.Context, key string) (isr.Served, error) {
				if restored {
					return store.Get(ctx, key)
				}
				restored = true
				kept := &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)}
				_, err := n.Client.UpdateContinuousBackups(ctx,
					&dynamodb.UpdateContinuousBackupsInput{TableName: &n.Table, PointInTimeRecoverySpecification: kept})
				if err == nil {
					copied := "copy-of-" + n.Tokens()
					_, err = n.Client.RestoreTableToPointInTime(ctx, &dynamodb.RestoreTableToPointInTimeInput{
						SourceTableName: &n.Table, TargetTableName: &copied, UseLatestRestorableTime: aws.Bool(true),
					})
				}
				if err != nil {
					return isr.Served{}, err
				}
				return store.Get(ctx, key)
			}), nil
		}),
		"five schedules": prove(with(func(c *property.Check) { c.Schedules = 5 }), articlesWith(articles{})),
		"has a timeout":  prove(property.Check{}, badStores()["has a timeout"]),
		"panics":         prove(property.Check{}, badStores()["panics"]),
	}
}

func runProof(t *testing.T, dir, name, yaml string) child {
	t.Helper()
	return runChild(t, dir, "prove: "+name, []string{"-rapid.shrinktime=0s"}, replayEnv+"="+fileOf(t, yaml))
}

// small is a world without a lost answer.
var small = strings.Replace(twoWriters, "faults: [maybe response-lost]\n", "", 1)

// alone is a world of one writer.
var alone = strings.Replace(small, "  - name: bob\n    script: [get /home]\n", "", 1)

// twoHolders is a world in which a machine waits for a lock whose holder may have died.
const twoHolders = "name: two-holders\ncache: {lease: 10s, poll: 5s, patience: 4, attempts: 1}\nbounds: {ticks: 0}\n" +
	"actors:\n  - {name: alice, script: [hold job for 6s], crashes: 1}\n  - {name: bob, script: [hold job for 6s]}\n"

// inParts is a world in which a batch may be processed only in part.
const inParts = "name: in-parts\ncache: {lease: 10s, poll: 5s, patience: 4, attempts: 1}\nbounds: {ticks: 0}\n" +
	"faults: [maybe unprocessed]\n" +
	"reach: [hold-contended]\nactors:\n  - {name: alice, script: [hold job for 6s]}\n" +
	"  - {name: bob, script: [hold job for 6s]}\n"

// twoCalls is a world in which two machines make one call.
const twoCalls = "name: two-calls\ncache: {lease: 10s, render: 1s, poll: 5s, patience: 4, attempts: 1}\n" +
	"bounds: {ticks: 0}\nreach: [call-contended]\n" +
	"actors:\n  - {name: alice, script: [once order-7 with a]}\n  - {name: bob, script: [once order-7 with a]}\n"

// aTick is a world in which time may move on while a holder works.
const aTick = "name: a-tick\ncache: {lease: 10s, attempts: 1, patience: 1}\nbounds: {ticks: 1}\nactors:\n" +
	"  - {name: alice, script: [hold job for 20s]}\n  - {name: bob, script: [hold job for 1s]}\n"

// threeHolders has so many schedules, and so little code in them, that several searchers share them.
const threeHolders = "name: three-holders\ncache: {lease: 10s, attempts: 1, patience: 1}\nbounds: {ticks: 0}\n" +
	"faults: [maybe throttled]\nreach: [hold-contended]\nactors:\n  - {name: alice, script: [hold job for 1s]}\n" +
	"  - {name: bob, script: [hold job for 1s]}\n  - {name: carol, script: [hold job for 1s]}\n"

// aPurge is a world in which TTL may delete the row of a lock that nobody holds.
const aPurge = "name: a-purge\ncache: {lease: 10s, attempts: 1, patience: 1}\nttl-lag: scheduler\n" +
	"bounds: {ticks: 0}\nreach: [hold-taken]\n" +
	"actors:\n  - {name: alice, script: [hold job for 1s, sleep 80s, hold job for 1s]}\n" +
	"  - {name: bob, script: [hold job for 1s]}\n"

// TestProve proves caches with other rows, behind a real client of the SDK, in a world of two writers.
func TestProve(t *testing.T) {
	effort.Long(t)
	for _, test := range []struct {
		store, yaml string
		want        []string
	}{
		{"correct", effort.Fewer(twoWriters, small), []string{"complete: ", " schedules, ", " states, 0 violations",
			"proved within the bounds of ", "stale-writer, ", "freshness",
			"the end of alice's lease: before, at, after", "own: judged in these schedules, and not proved"}},
		{"by a function", small, []string{"complete: ", "proved within the bounds of "}},
		{"random ids", alone, []string{"complete: ", "proved within the bounds of "}},
		{"works behind its answers", strings.Replace(small, "[get /home]", "[get /home, get /home]", 1),
			[]string{"complete: ", "proved within the bounds of "}},
		{"lock", twoHolders,
			[]string{"complete: ", "proved within the bounds of ", "mutual-exclusion, guarded-write, ", "free-lock"}},
		{"lock", threeHolders, []string{"complete: ", "proved within the bounds of ", "mutual-exclusion"}},
		// Its clocks show only whole seconds, as docs/CHECK.md says.
		{"wholeSeconds", twoHolders, []string{"complete: ", "proved within the bounds of ",
			"parts of a second are not proved at the end of any lease: "}},
		{"gives up", inParts,
			[]string{"complete: ", "proved within the bounds of ", "mutual-exclusion, guarded-write, ", "free-lock"}},
		{"calls", twoCalls, []string{"complete: ", "proved within the bounds of ", "effect-once, same-result, "}},
		{"without freshness", alone, []string{"complete: ", "proved within the bounds of ", "freshness: not judged"}},
		{"correct", "ttl-lag: scheduler\n" + alone, []string{"complete: ",
			"TTL deleted no row, and what follows a deletion is not proved (ttl-lag in the scenario: scheduler)"}},
	} {
		t.Run(test.store, func(t *testing.T) {
			if test.store == "by a function" {
				effort.Nightly(t)
			}
			t.Parallel()
			c := runProof(t, t.TempDir(), test.store, test.yaml)
			c.passed = !c.passed // so that wantFailure looks for the words
			c.wantFailure(t, test.want...)
		})
	}
}

// TestProveRefutes checks what a search finds in broken stores, and how a search that broke off is reported.
func TestProveRefutes(t *testing.T) {
	effort.Long(t)
	for _, test := range []struct {
		store, yaml string
		want        []string
	}{
		{"unfenced", twoWriters, []string{"violated: two-writers under store-under-test", "stale-writer: ",
			"locked_until", "found in schedule ", "of a search through all", "seed 0, choices ",
			"scenario: " + failFile, "replay: go test -v -run '^TestChild$'",
			"replay: property.Replay(t, \"" + failFile + "\", newStore)"}},
		{"grabs", twoHolders,
			[]string{"violated: two-holders under lock-under-test", "kept-lease: ", "scenario: " + failFile}},
		{"countsBehind", "replica-lag: 1s\n" + strings.NewReplacer(", crashes: 1", "", "6s", "300ms", "5s", "500ms").
			Replace(twoHolders), []string{"violated: two-holders", "guarded-write: "}},
		{"wholeSeconds", aTick, []string{"violated: a-tick under lock-under-test", "kept-lease: "}},
		{"halfEarly", strings.Replace(aTick, "20s", "1s", 1),
			[]string{"violated: a-tick under lock-under-test", "mutual-exclusion: ", "9.998s before"}},
		{"neverOver", twoHolders,
			[]string{"vacuous: ", "reached hold-taken-over", "none of its ", " requests was malformed"}},
		{"lock", strings.Replace(twoHolders, ", crashes: 1", "", 1), []string{"vacuous: ", "reached hold-taken-over"}},
		{"gone", inParts, []string{"violated: in-parts under lock-under-test", "mutual-exclusion: "}},
		{"purged", aPurge, []string{"vacuous: ", "TTL deleted no row, and the row ", "has purge_at = ",
			`set LockCheck.TTL to "purge_at"`}},
		{"a lock for each", "name: alone\nbounds: {ticks: 0}\nreach: [hold-taken]\n" +
			"actors: [{name: alice, script: [hold job for 9s]}]\n",
			[]string{"vacuous: nothing was violated in the ", "no request reached the node's Client"}},
		{"no condition", twoCalls, []string{"violated: two-calls under calls-under-test", "effect-once: "}},
		{"random tokens", twoWriters,
			[]string{"broken: two-writers under store-under-test: the store under test is not deterministic",
				"the run cannot be repeated: at step ", "locked_by", "hint: "}},
		{"asks twice at times", twoWriters, []string{"is not deterministic", "the run cannot be repeated: at step "}},
		{"shares its pages", twoWriters, []string{"is not deterministic", "such as a package's variables"}},
		{"five schedules", twoWriters,
			[]string{"not complete: 5 schedules", "it ended because: the bound of 5 schedules was met"}},
		{"has a timeout", small,
			[]string{"broken: the store under test called DynamoDB ", " with a context that has a timeout"}},
		{"panics", twoWriters, []string{"broken: the store under test: actor ", "panicked: no such page"}},
		{"restores a table", strings.Replace(small, "bob\n    script: [get /home]", "bob\n    script: [sleep 5s]", 1),
			[]string{"unknown: ", "a machine read a stream, or restored a table", "prove nothing"}},
		{"by a function", strings.Replace(twoWriters, "response-lost", "response-lost key=LOCK", 1),
			[]string{"found a fault for key LOCK with Check.Rows as a function"}},
		{"correct", strings.Replace(small, "ticks: 1", "ticks: 0", 1) + "reach: [crash]\n",
			[]string{"vacuous: ", "reached crash, which the scenario declares"}},
		{"correct", strings.Replace(small, "ticks: 1", "ticks: 0", 1),
			[]string{"vacuous: ", "the end of bob's lease: before; not at, after", "hint: one tick"}},
	} {
		t.Run(test.store, func(t *testing.T) {
			t.Parallel()
			c := runProof(t, t.TempDir(), test.store, test.yaml)
			c.wantFailure(t, test.want...)
			if strings.Contains(c.output, " complete: ") && !slices.Contains(test.want, "vacuous: ") &&
				!strings.Contains(c.output, "not complete: ") {
				t.Errorf("it says complete:\n%s", c.output)
			}
		})
	}
}

// TestProofsOfLocksReplay: a violation occurs again when its file is replayed, even if it needs a tick to an instant at
// which only proofs stop.
func TestProofsOfLocksReplay(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	c := runProof(t, t.TempDir(), "alwaysSure", aTick)
	c.wantFailure(t, "mutual-exclusion: ")
	text, err := os.ReadFile(c.file())
	if err != nil || !strings.Contains(string(text), "all-stops: true") {
		t.Errorf("the file does not say where time stops: %v\n%s", err, text)
	}
	again := runChild(t, t.TempDir(), "lock: always sure", nil, replayEnv+"="+c.file())
	again.wantFailure(t, "mutual-exclusion: ")
}

// TestProveEndsBeforeItsTest: a search that runs out of time says so, and ends before the test's timeout makes the test
// panic.
func TestProveEndsBeforeItsTest(t *testing.T) {
	t.Parallel()
	c := runChild(t, t.TempDir(), "prove: correct", []string{"-test.timeout=10050ms"},
		replayEnv+"="+fileOf(t, twoWriters))
	c.wantFailure(t, "not complete: ", "left: ",
		"it ended because: the time of the test is nearly over (go test -timeout)")
}

// TestProveBeginsWithItsFile: a violation is kept, and found again at once.
func TestProveBeginsWithItsFile(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	dir := t.TempDir()
	runProof(t, dir, "unfenced", twoWriters).wantFailure(t, "found in schedule ")
	runProof(t, dir, "unfenced", twoWriters).wantFailure(t, "effect",
		"violated: two-writers under store-under-test", "stale-writer: ")
	if file := string(readFile(t, child{dir: dir}.file())); !strings.Contains(file, "Found by property.Check.Prove") {
		t.Errorf("the file does not say where it comes from:\n%s", file)
	}
}

// tokenOnly publishes on the condition that LOCK has its token, and ignores the end of the lease.
var tokenOnly = pagecache.OnRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
	r.Guards = guard.Token
	return r
})

// A publish after the end of one's own lease harms nobody as long as the token fences it: a check passes, a proof
// covers stale-writer, and both fail where the recipe is promised.
func TestATokenIsFenceEnough(t *testing.T) {
	effort.NotShort(t)
	for _, promised := range []string{"false", "true"} {
		t.Run("check, promised: "+promised, func(t *testing.T) {
			t.Parallel()
			c := runChild(t, t.TempDir(), "token only, promised: "+promised,
				[]string{"-rapid.seed=1", "-rapid.shrinktime=0s", "-rapid.checks=" + effort.Fewer("100", "10")})
			if promised == "true" {
				c.wantFailure(t, "violated: ", "expired-publish: ", "a rule of the recipe; nobody is harmed")
			} else if !c.passed {
				t.Errorf("it fails:\n%s", c.output)
			}
		})
		t.Run("proof, promised: "+promised, func(t *testing.T) {
			t.Parallel()
			s := scenariotest.Parsed(t, "name: small\ncache: {lease: 1s, attempts: 1, patience: 1}\n"+
				"bounds: {ticks: 1}\npromise: {recipe: "+promised+"}\n"+
				"actors:\n  - {name: alice, script: [get /home]}\n  - {name: bob, script: [get /home]}\n")
			p := isr.Protocol{Name: "token-only", New: tokenOnly}
			proof := scenariotest.Ran(t, campaign.Prove{Scenario: s, Protocol: p, Seed: 1})
			if promised == "true" {
				if proof.Failure == nil || !slices.Equal(proof.Failure.Broken, []string{"expired-publish"}) ||
					proof.Failure.Harm != 0 {
					t.Errorf("got %s, want expired-publish alone to be violated, and no harm", proof.Summary())
				}
				return
			}
			if proved := proof.Proved(); proof.Verdict != invariant.OK || !slices.Contains(proved, "stale-writer") ||
				slices.Contains(proved, "expired-publish") || slices.Contains(proved, "atomic-publish") {
				t.Errorf("got %s, proved %v; want stale-writer proved, and no rule of the recipe", proof.Summary(),
					proved)
			}
		})
	}
}
