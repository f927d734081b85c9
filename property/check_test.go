package property_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/mutant"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/show/record"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/property"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// The correct stores run in a tenth of the worlds that a check has by default, and in all of them every night. Child
// processes have the default.
func init() {
	if os.Getenv(effort.LongVariable) != "" || os.Getenv(childEnv) != "" {
		return
	}
	if err := flag.Set("rapid.checks", "10"); err != nil {
		panic(err)
	}
}

func TestReferencePasses(t *testing.T) {
	t.Parallel()
	property.Check{Schedules: effort.Fewer(10, 2)}.Run(t, newStore)
}

// TestBlindPublishFailsInEverySeed: the default effort of a check suffices,
// whatever rapid's seed.
func TestBlindPublishFailsInEverySeed(t *testing.T) {
	seeds := effort.Fewer(5, 2)
	for seed := range seeds {
		t.Run(fmt.Sprint(seed+1), func(t *testing.T) {
			t.Parallel()
			// Other tests cover shrinking.
			c := runChild(t, t.TempDir(), "blind-publish",
				[]string{fmt.Sprintf("-rapid.seed=%d", seed+1), "-rapid.shrinktime=0s"})
			broken, statement := "stale-writer", "stale-writer: the publisher has taken the lease"
			for _, rule := range []string{"atomic-publish", "expired-publish"} { // the mutant promises the recipe
				if strings.Contains(c.output, "\n    "+rule+": ") || strings.Contains(c.output, " "+rule+": ") {
					broken, statement = rule, rule+": "
				}
			}
			c.wantFailure(t, "violated: TestChild under blind-publish", statement)
			wantReplay(t, c, broken)
		})
	}
}

// breakers returns mutants. In worlds, only the invariant that a mutant
// names catches it. The embedded scenarios test that every mutant is caught.
func breakers() []isr.Protocol {
	var some []isr.Protocol
	names := []string{"acquire-a-second-early", "check-then-act-publish", "heartbeat-beats-once",
		"acquire-waits-for-ttl", "fresh-a-second-longer"}
	names = effort.Fewer(names, names[:1])
	for _, name := range names {
		some = append(some,
			mutant.All()[slices.IndexFunc(mutant.All(), func(m isr.Protocol) bool { return m.Name == name })])
	}
	return some
}

// TestMutantsFail checks mutants as stores: the invariant of each is named, and
// the file that is left replays.
func TestMutantsFail(t *testing.T) {
	effort.Long(t)
	for _, m := range breakers() {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			effort := []string{"-rapid.seed=1", "-rapid.shrinktime=" + effort.Fewer("2s", "0s")}
			c := runChild(t, dir, m.Name, effort)
			c.wantFailure(t, "violated: TestChild under "+m.Name, m.Breaks+": ", "found in schedule ", "seed ",
				"scenario: "+failFile, "replay: go test -v -run '^TestChild$' github.com/isr-sim/isr-sim/property\n",
				"replay: property.Replay(t, \""+failFile+"\", newStore)",
				"replay: isr-sim replay "+failFile, "search: -rapid.seed=")
			wantReplay(t, c, m.Breaks)

			if strings.Contains(c.output, "[rapid] failed") || strings.Count(c.output, "found in schedule") != 1 {
				t.Errorf("more than one failure is printed:\n%s", c.output)
			}
			if _, err := os.Stat(filepath.Join(dir, "testdata", "rapid")); !os.IsNotExist(err) {
				t.Errorf("rapid left files of its own (%v), want the scenario alone", err)
			}
			left, err := os.ReadDir(filepath.Join(dir, "testdata", "isr-sim"))
			if err != nil || len(left) != 2 {
				t.Errorf("testdata/isr-sim holds %v (%v), want the scenario and the record", left, err)
			}

			// The next check begins with the file, and prints the same trace, on any number of processors.
			one := runChild(t, dir, m.Name, nil, "GOMAXPROCS=1")
			one.wantFailure(t, "effect", "violated: TestChild under "+m.Name, m.Breaks+": ")
			eight := runChild(t, dir, m.Name, nil, "GOMAXPROCS=8")
			if diff := cmp.Diff(durations.ReplaceAllString(one.output, ""),
				durations.ReplaceAllString(eight.output, "")); diff != "" {
				t.Errorf("two replays differ (-1 processor +8):\n%s", diff)
			}
			// A store without the bug passes on the same file.
			property.Replay(t, c.file(), newStore)
		})
	}
}

// wantReplay requires that the child's file is a scenario whose replay, under
// the built-in protocol that the child checked, violates the invariant with the
// same trace each time.
func wantReplay(t *testing.T, c child, want string) {
	t.Helper()
	s := must.Of(spec.Load(c.file()))(t)
	if s.Replay == nil {
		t.Fatal("the file has no replay entry")
	}
	p := scenariotest.Protocol(t, s.Replay.Protocol)
	var first bytes.Buffer
	for i := range 2 {
		var trace bytes.Buffer
		o, err := kernel.Run{
			Scenario: s, Protocol: p, Seed: s.Replay.Seed, Strategy: strategy.Replay(s.Replay.Choices), Trace: &trace,
		}.Do(t.Context())
		must.OK(t, err)
		if o.Verdict != invariant.Violated || o.Violation.Invariant.Name != want {
			t.Fatalf("the replay says %q, want a violation of %s", o.Explain(s.Name, p.Name), want)
		}
		if i == 0 {
			first = trace
		} else if diff := cmp.Diff(first.String(), trace.String()); diff != "" {
			t.Errorf("two traces of one replay differ:\n%s", diff)
		}
	}
}

// TestCheckIsDeterministic compares two whole checks, shrinking included.
func TestCheckIsDeterministic(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	var files [2]string
	for i, env := range []string{"GOMAXPROCS=1", "GOMAXPROCS=8"} {
		c := runChild(t, t.TempDir(), "blind-release",
			[]string{"-rapid.seed=2", effort.Fewer("-rapid.shrinktime=10m", "-rapid.shrinktime=0s")}, env)
		c.wantFailure(t, "violated: TestChild under blind-release")
		data := must.Of(os.ReadFile(c.file()))(t)
		files[i] = string(data)
	}
	if diff := cmp.Diff(files[0], files[1]); diff != "" {
		t.Errorf("one seed left two files (-1 processor +8):\n%s", diff)
	}
}

// TestBadStores checks stores that get no verdict, or one that means nothing.
func TestBadStores(t *testing.T) {
	checks := effort.Fewer("100", "10")
	for _, tc := range []struct {
		store string
		want  []string
		kept  bool // a schedule shows the failure, so there is a file
	}{
		{"panics",
			[]string{"property_test.badStores.func", "broken: the store under test: actor ",
				"panicked: no such page: /"}, true},
		{"calls from a goroutine",
			[]string{"broken: the store under test called DynamoDB (*dynamodb.GetItemInput) on ",
				" from a goroutine of its own"}, false},
		{"calls from a timer",
			[]string{"broken: the store under test called DynamoDB (*dynamodb.GetItemInput) on ",
				" from a goroutine of its own"}, false},
		{"sleeps by package time",
			[]string{"broken: the store under test waits by package time (time.Sleep, ", " (noticed when "}, false},
		{"leaves a sleeper",
			[]string{"broken: the store under test waits for a channel", "or it has left a goroutine behind"}, false},
		{"has a timeout",
			[]string{"broken: the store under test called ",
				" with a context that has a timeout: package time stands still"}, false},
		{"waits for ever", []string{"broken: the store under test waits for a channel", " (get /",
			"): chan receive in github.com/isr-sim/isr-sim/property_test.badStores"}, false},
		{"reads the wall clock", []string{"broken: the store under test read time.Now instead of the node's clock: ",
			" sends *dynamodb.PutItemInput with 9466848"}, false},
		{"waits for the outside, without goroutines", []string{
			"broken: the store under test: a goroutine waits for the outside", " (get /",
			"): chan receive in github.com/isr-sim/isr-sim/property_test.badStores",
		}, false},
		{"shares a mutex", []string{
			"broken: the store under test: a goroutine waits for a mutex that is never unlocked", " (get /",
			"): sync.Mutex.Lock in github.com/isr-sim/isr-sim/property_test.badStores",
		}, false},

		{"is shared", []string{"broken: the store under test: ", " used the client or the clock of ", "an earlier run",
			": newStore must make a new store at each call\n"}, false},
		{"uses a timer",
			[]string{"broken: the store under test: actor ", "clock.After is not available", "use Sleep"}, true},
		{"serves other bytes", []string{"unknown: TestChild under store-under-test: freshness: event ",
			" hint: serve the bytes of Render, which kits call origin, unchanged\n", " served /"}, true},
		{"never caches", []string{"unknown: TestChild under store-under-test", "single-flight: ",
			", and nothing tells which rows are that page's"}, true},
		{"always fails",
			[]string{"vacuous: TestChild under store-under-test: no request reached the node's Client: ",
				" answers was an error, such as: not today"}, true},
		{"has keys of its own", []string{"vacuous: ", " answers was an error, such as: ",
			"The provided key element does not match the schema", "hint: without Check.Rows the table has the string " +
				"keys pk and sk: "}, true},
		{"looks into another table", []string{"vacuous: ", " answers was an error, such as: ",
			"ResourceNotFoundException", "it asked for the table the-real-one; the world has isr-cache\n"}, true},
		{"another LOCK",
			[]string{"unknown: TestChild under store-under-test", "a LOCK row without lease_token (S)"}, true},
	} {
		t.Run(tc.store, func(t *testing.T) {
			t.Parallel()
			if slices.Contains([]string{"waits for the outside, without goroutines", "shares a mutex"}, tc.store) {
				longWait(t)
			}
			c := runChild(t, t.TempDir(), tc.store,
				[]string{"-rapid.seed=1", "-rapid.shrinktime=" + effort.Fewer("1s", "0s"), "-rapid.checks=" + checks})
			c.wantFailure(t, tc.want...)
			if _, err := os.Stat(c.file()); (err == nil) != tc.kept {
				t.Errorf("the file: %v, want it kept: %v", err, tc.kept)
			}
		})
	}
}

// If there are few worlds, it may be chance that none of them has reached a mark. A mark is needed because no invariant
// demands that a rollback does anything.
func TestFewWorldsAreNotVacuous(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	if c := runChild(t, t.TempDir(), "no ttl", []string{"-rapid.seed=1", "-rapid.checks=2"}); !c.passed {
		t.Errorf("ten worlds were held to reach everything:\n%s", c.output)
	}
	for store, want := range map[string][]string{
		"no ttl": {" worlds reached ttl-deletion: ", "hint: TTL deletes only rows with a number in their attribute " +
			"ttl; a store that needs none leaves ttl-deletion out of Check.Reach"},
		"rolls nothing back": {" worlds reached ", "rolled-back"},
	} {
		if store == "no ttl" || effort.Fewer(true, false) { // TestMissing covers the messages about other marks
			runChild(t, t.TempDir(), store, []string{"-rapid.seed=1", "-rapid.checks=10"}).wantFailure(t,
				append([]string{"vacuous: "}, want...)...)
		}
	}
}

func TestARollbackLeadsToTheNewestOlderVersion(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	for store, why := range map[string]string{
		"rolls back too far":   "set the page back to what was generated",
		"rolls back by name":   "had been visible and was still there",
		"rolls back to newest": "was asked for an older version, and set the page to one that was generated",
	} {
		runChild(t, t.TempDir(), store, []string{"-rapid.seed=3", "-rapid.checks=200", "-rapid.shrinktime=0s"}).
			wantFailure(t, "monotonic-publication: ", why)
	}
}

// TestReplayOfAnyScenario replays files that no check left.
func TestReplayOfAnyScenario(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "prose.yaml")
	yaml :=
		"name: prose\nactors:\n  - name: alice\n    script: [get /home]\nbounds: {schedules: 3, steps: 100, ticks: 1}\n"
	must.OK(t, os.WriteFile(file, []byte(yaml), 0o600))
	nodes := 0
	property.Replay(t, file, func(n property.Node) (isr.Handler, error) {
		nodes++
		return newStore(n)
	})
	if nodes != 3 {
		t.Errorf("a file without a replay entry ran %d schedules, want its 3", nodes)
	}
}

// noStalePages is a team's own invariant. The team promises its users that nothing stale is served.
func noStalePages() invariant.Invariant {
	return invariant.Invariant{
		Name: "no-stale-pages", Statement: "nothing is served as stale",
		Check: func(ev invariant.Evidence) invariant.Finding {
			for _, e := range ev.History {
				if e.Kind == history.Served && e.As == history.Stale {
					return invariant.Finding{
						Verdict: invariant.Violated, Why: e.Actor + " was served a stale page", Events: []int{e.Seq},
					}
				}
			}
			return invariant.Finding{Verdict: invariant.OK}
		},
	}
}

// choices are checks without the usual invariants.
func choices() map[string]property.Check {
	own := []invariant.Invariant{noStalePages()}
	return map[string]property.Check{
		"an invariant of its own":            {Invariants: own, Without: []string{"atomic-publish"}, Schedules: 5},
		"without a name that is misspelt":    {Without: []string{"stale-writter"}},
		"without one twice":                  {Without: []string{"liveness", "liveness"}},
		"an invariant without a check":       {Invariants: []invariant.Invariant{{Name: "x", Statement: "y"}}},
		"an invariant with a name of ours":   {Invariants: []invariant.Invariant{invariant.Named("liveness")}},
		"an invariant that is also left out": {Invariants: own, Without: []string{"no-stale-pages"}},
	}
}

func TestChoicesOfInvariants(t *testing.T) {
	for store, want := range map[string][]string{
		"an invariant of its own": {"violated: TestChild under store-under-test",
			"no-stale-pages: nothing is served as stale", "was served a stale page",
			"not judged, left out by the scenario: atomic-publish"},
		"without a name that is misspelt": {`found "stale-writter", expected one of stale-writer, `,
			`did you mean "stale-writer"?`},
		"without one twice": {"found liveness twice"},
		"an invariant without a check": {
			`found "x" as number 1, expected an invariant with a name, a statement and a check`,
		},
		"an invariant with a name of ours":   {"found a second invariant with the name liveness"},
		"an invariant that is also left out": {"found no-stale-pages, which is one of Check.Invariants"},
	} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c := runChild(t, dir, store, []string{"-rapid.seed=1", "-rapid.shrinktime=0s", "-rapid.checks=20"})
			c.wantFailure(t, want...)
			if store != "an invariant of its own" {
				return
			}
			// The file says what is left out, and names no invariant that isr-sim does not know.
			s, err := spec.Load(c.file())
			if err == nil || !strings.Contains(err.Error(), "store-under-test") {
				t.Fatalf("got %v, %v, want an error about the protocol alone", s, err)
			}
			text := string(readFile(t, c.file()))
			if !strings.Contains(text, "atomic-publish") || strings.Contains(text, "violates:") {
				t.Errorf("the file is\n%s", text)
			}
			runChild(t, dir, store, nil).wantFailure(t, want...) // by the file
		})
	}
}

// TestWithout checks a store that keeps the rules of the recipe except atomic-publish: it publishes first, and gives
// the lease back later.
func TestWithout(t *testing.T) {
	effort.Long(t)
	p := scenariotest.Protocol(t, "two-transactions")
	check := property.Check{Without: []string{"atomic-publish"}, Schedules: 2, Reach: []spec.Mark{mark.Published},
		Promise: spec.Promise{Recipe: true}}
	check.Run(t, func(n property.Node) (isr.Handler, error) {
		store, err := p.New(n.Config)
		if err != nil {
			return nil, err
		}
		// its Publish does not complete requests with idempotency keys, so the store must not have Regenerate
		return handler(store.Get), nil
	})
}

// A failed check leaves the record of the run that its file replays.
func TestAFailureLeavesTheRecordOfItsRun(t *testing.T) {
	effort.Long(t)
	for _, tc := range []struct{ store, invariant string }{
		{"blind-release", "lock-theft"},
		{"articles, unfenced", "stale-writer"},
	} {
		t.Run(tc.store, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			runChild(t, dir, tc.store, []string{"-rapid.seed=1", "-rapid.shrinktime=0s"}).wantFailure(t,
				"record: testdata/isr-sim/TestChild.json\n")
			data, err := os.ReadFile(filepath.Join(dir, "testdata", "isr-sim", "TestChild.json"))
			must.OK(t, err)
			r, err := record.Read(bytes.NewReader(data))
			must.OK(t, err)
			if r.Violation == nil || r.Violation.Invariant != tc.invariant || r.Violation.Step == 0 || r.File == "" {
				t.Errorf("the record has %+v, want a violation of %s", r.Violation, tc.invariant)
			}
		})
	}
}

// onePause is a world in which a lease can end only because of the pause.
const onePause = `name: one-pause
actors:
  - name: alice
    script: [get /home]
    pauses: 1
    pause-for: 11s
  - name: bob
    script: [sleep 11s, get /home]
bounds: {schedules: 400, steps: 2000, ticks: 0}
`

// TestExplain: the command that a failure prints explains it, the same way each time.
func TestExplain(t *testing.T) {
	effort.Long(t)
	pause := regexp.MustCompile(`needed: step \d+, alice pause: without it 0 of 100 `)
	for _, tc := range []struct {
		store string
		env   []string
		want  *regexp.Regexp
		racy  bool // the order of the store's goroutines is not decided, so its random tails may differ between runs
	}{
		{"blind-release", []string{replayEnv + "=" + fileOf(t, onePause)}, pause, false},
		{"heartbeat after release", nil, regexp.MustCompile("last jump: step "), true},
	} {
		t.Run(tc.store, func(t *testing.T) {
			if tc.racy {
				effort.Nightly(t)
			}
			t.Parallel()
			dir := t.TempDir()
			runChild(t, dir, tc.store, []string{"-rapid.seed=1", "-rapid.shrinktime=2s"}, tc.env...).wantFailure(t,
				"explain: go test -v -run '^TestChild$' github.com/isr-sim/isr-sim/property -isrsim.explain\n")
			explained := func() string {
				c := runChild(t, dir, tc.store, []string{"-isrsim.explain"}, tc.env...)
				c.wantFailure(t, "violated: ", "what had to happen")
				_, text, _ := strings.Cut(c.output, "what had to happen")
				text, _, _ = strings.Cut(text, "--- FAIL")
				return text
			}
			first := explained()
			made, err := os.Open(filepath.Join(dir, filepath.FromSlash(recordOf(first))))
			if err != nil {
				t.Fatalf("%v in:\n%s", err, first)
			}
			defer made.Close()
			if r, err := record.Read(made); err != nil || r.Explanation == nil || r.Explanation.Tails != 100 ||
				len(r.Explanation.After) == 0 {
				t.Errorf("the record has the explanation %+v, %v", r.Explanation, err)
			}
			if !strings.Contains(first, "the chance of it after each step, from 100 random tails each\n") ||
				!tc.want.MatchString(first) {
				t.Errorf("want %s in:\n%s", tc.want, first)
			}
			if tc.racy || effort.Fewer(false, true) { // package explain tests that a seed explains a run in one way
				return
			}
			if again := explained(); again != first {
				t.Errorf("another explanation:\n%s", again)
			}
		})
	}
}

// recordOf returns the file that a text names after "record: ".
func recordOf(text string) string {
	_, name, _ := strings.Cut(text, "record: ")
	name, _, _ = strings.Cut(name, "\n")
	return name
}

// newStore makes the cache of one node. A team uses its own here.
func newStore(n property.Node) (isr.Handler, error) { return recipe.New(n.Config) }

func ExampleCheckStore() {
	// In a file that ends in _test.go, this is func TestStore.
	_ = func(t *testing.T) {
		property.CheckStore(t, newStore)
	}
}

func ExampleCheck_Run() {
	_ = func(t *testing.T) {
		property.Check{Schedules: 500}.Run(t, newStore)
	}
}

func ExampleReplay() {
	_ = func(t *testing.T) {
		property.Replay(t, "testdata/isr-sim/TestStore.yaml", newStore)
	}
}
