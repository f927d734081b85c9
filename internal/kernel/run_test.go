package kernel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// recorded is a scenario file with a recorded run: alice is paused until her lease is over, and still publishes.
const recorded = `
name: paused-writer
cache: {lease: 1s}
actors:
  - {name: alice, script: [get /home], pauses: 1, pause-for: 1s}
bounds: {ticks: 0}
replay: {protocol: blind-publish, seed: 1, choices: "000000001"}
`

// A file may have a recorded run, which is repeated exactly.
func Example() {
	s, err := spec.Parse("paused-writer.yaml", []byte(recorded))
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := kernel.Recorded(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	o, err := run.Do(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(o.Explain(s.Name, run.Protocol.Name))
	// Output:
	// violated: paused-writer under blind-publish
	//
	// expired-publish: a publish is sent before its own lease ends (lease_expires_at > S - e). Sent later, it replaces nothing newer while the token fences it (e is 0s, the promised max-clock-skew)
	// alice sent its publish at the end of its own lease (a rule of the recipe; nobody is harmed: nobody else has taken the lease or published since)
	//
	//   +0s         alice     LOCK of /home: absent => token alice-1 until +1s
	//   +0s         alice     paused: for at least 1s
	//   +1s         alice     resumed
	//   +1s         alice     META of /home: absent => body pages/alice-1 generated +0s fresh until +1m0s
}

// TestOneSeedGivesOneTraceOnAnyNumberOfProcessors runs a thousand seeds one after the other on one processor, and at
// the same time on eight.
func TestOneSeedGivesOneTraceOnAnyNumberOfProcessors(t *testing.T) {
	seeds := effort.Fewer(1000, 100)
	var runs []kernel.Run
	plans, protocols := strategy.Plans(), kernel.Protocols()
	for i := 0; len(runs) < seeds; i++ {
		for _, name := range fixtures.Names() {
			n := len(runs)
			runs = append(runs, kernel.Run{
				Scenario: scenariotest.Embedded(t, name), Protocol: protocols[i%len(protocols)], Seed: uint64(n),
				Strategy: plans[n%len(plans)].At(n), ExpectedSteps: 40, Options: kernel.Options{Swarm: n%2 == 0},
			})
		}
	}
	traces := func(processors int) []string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		all := make([]string, len(runs))
		var running sync.WaitGroup
		for worker := range processors {
			running.Go(func() {
				for i := worker; i < len(runs); i += processors {
					var b bytes.Buffer
					run := runs[i]
					run.Trace = &b
					if _, err := run.Do(t.Context()); err != nil {
						t.Error(err)
					}
					all[i] = b.String()
				}
			})
		}
		running.Wait()
		return all
	}
	one, eight := traces(1), traces(8)
	for i, r := range runs {
		if one[i] == "" || one[i] != eight[i] {
			t.Errorf("%s under %s, seed %d (-one processor +eight):\n%s", r.Scenario.Name, r.Protocol.Name, r.Seed,
				cmp.Diff(one[i], eight[i]))
		}
	}
}

func TestARunReplaysFromItsSeedAndChoices(t *testing.T) {
	protocols := effort.Fewer(kernel.Protocols(), kernel.Protocols()[:2])
	for _, name := range fixtures.Names() {
		s := scenariotest.Embedded(t, name)
		for _, p := range protocols {
			run := kernel.Run{Scenario: s, Protocol: p, Seed: 11, Strategy: strategy.PCT(3), ExpectedSteps: 40}
			want, o := scenariotest.Trace(t, run)
			run.Strategy = strategy.Replay(o.Result.Choices)
			got, again := scenariotest.Trace(t, run)
			if o.Digest == "" || again.Digest != o.Digest {
				t.Errorf("%s under %s: digest %q of the run, %q of its replay", name, p.Name, o.Digest,
					again.Digest)
			}
			if got != want || !slices.Equal(again.Result.Choices, o.Result.Choices) {
				t.Errorf("%s under %s: replayed (-run +replay):\n%s", name, p.Name, cmp.Diff(want, got))
			}
		}
	}
}

func TestAFaultOfAnActorIsOneOfAllItsIncarnations(t *testing.T) {
	s := scenariotest.Parsed(t, `
name: reborn
actors:
  - name: alice
    script: [get /home]
    crashes: 1
    restarts: 1
  - name: bob
    script: [sleep 1s, sleep 1s, sleep 1s]
faults: [throttled actor=alice times=always]
`)
	for seed := range uint64(200) {
		text, o := scenariotest.Trace(t, kernel.Run{Scenario: s, Protocol: recipe.Reference(), Seed: seed})
		if strings.Contains(text, "alice.2") && strings.Contains(text, "-> ok") {
			t.Fatalf("seed %d (%v): a call was served:\n%s", seed, o.Result.Choices, text)
		}
	}
}

func TestAScheduleThatDoesNotFitIsADivergedError(t *testing.T) {
	_, err := kernel.Run{
		Scenario: scenariotest.Embedded(t, "two-contenders"), Protocol: recipe.Reference(),
		Strategy: strategy.Replay(sim.Choices{0, 30}),
	}.Do(context.Background())
	if _, ok := errors.AsType[*sim.DivergedError](err); !ok {
		t.Errorf("error %v, want a *sim.DivergedError", err)
	}
}

func TestEmbeddedScenariosReadAsProse(t *testing.T) {
	for _, name := range fixtures.Names() {
		s := scenariotest.Embedded(t, name)
		if s.Name != name {
			t.Errorf("%s.yaml calls itself %q", name, s.Name)
		}
		if len(strings.Fields(s.About)) < 30 {
			t.Errorf("%s tells its story in %d words, want at least 30", name, len(strings.Fields(s.About)))
		}
		if len(s.Reach) == 0 {
			t.Errorf("%s does not say what it must reach: it could pass without doing anything", name)
		}
		if len(s.Catches) == 0 {
			t.Errorf("%s does not say which mutant it catches: it could pass whatever the protocol does", name)
		}
		scenariotest.SameAfterPrinting(t, s)
	}
}

// issue is how an exhibit names a public issue or pull request.
var issue = regexp.MustCompile(`^[\w.-]+/[\w.-]+#\d+$`)

func TestTheMuseumShowsRealBugs(t *testing.T) {
	issues := 0
	for _, name := range fixtures.Museum() {
		s := scenariotest.Embedded(t, name)
		if s.Name != name {
			t.Errorf("%s.yaml calls itself %q", name, s.Name)
		}
		if s.Broken == "" || len(strings.Fields(s.About)) < 15 {
			t.Errorf("%s does not say what the bug is", name)
		}
		for _, source := range s.Source {
			if issue.MatchString(source) {
				issues++
				break
			}
		}
		scenariotest.SameAfterPrinting(t, s)
	}
	if issues < 30 {
		t.Errorf("%d exhibits name an issue, want at least 30", issues)
	}
}

// A run in the reused memory of another scenario and protocol is the same as in new memory.
func TestARunInAPoolIsTheSameRun(t *testing.T) {
	var pool hooks.Pool
	defer pool.Close()
	protocols := kernel.Protocols()
	for i, name := range fixtures.Names() {
		run := kernel.Run{
			Scenario: scenariotest.Embedded(t, name), Protocol: protocols[i%len(protocols)], Seed: uint64(i),
			Strategy: strategy.POS, ExpectedSteps: 40,
		}
		var wantWire, gotWire hooks.Probe
		wantWire.Record, gotWire.Record = true, true
		var want bytes.Buffer
		run.Trace = &want
		alone, err := run.Do(hooks.With(t.Context(), &wantWire))
		must.OK(t, err)
		var got bytes.Buffer
		run.Trace = &got
		o, err := run.Do(pool.In(hooks.With(t.Context(), &gotWire)))
		must.OK(t, err)
		if got.String() != want.String() {
			t.Errorf("%s (-alone +in a pool):\n%s", name, cmp.Diff(want.String(), got.String()))
		}
		if o.Verdict != alone.Verdict || len(gotWire.Exchanges) != len(wantWire.Exchanges) ||
			len(gotWire.Rows) != len(wantWire.Rows) {
			t.Errorf("%s: in a pool %v, %d exchanges, %d rows; alone %v, %d, %d", name, o.Verdict,
				len(gotWire.Exchanges), len(gotWire.Rows),
				alone.Verdict, len(wantWire.Exchanges), len(wantWire.Rows))
		}
	}
}

func TestSwarmIsPartOfWhatDecidesARun(t *testing.T) {
	s := scenariotest.Parsed(t, `
name: swarmed
actors:
  - name: alice
    script: [get /home]
  - name: bob
    script: [get /home]
faults:
  - maybe throttled op=PutItem times=always
  - maybe response-lost op=TransactWriteItems times=always
`)
	kinds := map[string]int{}
	differ := 0
	for seed := range effort.Fewer[uint64](200, 60) {
		run := kernel.Run{
			Scenario: s, Protocol: recipe.Reference(), Seed: seed, Options: kernel.Options{Swarm: true},
		}
		text, o := scenariotest.Trace(t, run)
		kinds[fmt.Sprint(strings.Contains(text, "Throttling"), o.Marks)]++
		// The printed file and the printed line have everything that decides the run.
		recorded := o.Replay()
		file := *s
		file.Replay = &recorded
		data, err := file.YAML()
		must.OK(t, err)
		read, err := spec.Parse("swarmed.yaml", data)
		must.OK(t, err)
		again, _ := scenariotest.Trace(t, kernel.Replay(*read.Replay, read, recipe.Reference()))
		if again != text {
			t.Fatalf("seed %d: the file\n%s\nreplays another run", seed, data)
		}
		if line := prose.ReplayLine(recorded, "replay", "isr-sim", "swarmed.yaml"); !strings.Contains(line,
			" --swarm ") {
			t.Fatalf("the replay line does not say that it is a swarm's: %s", line)
		}
		// If the seed has switched off a fault, the same choices without swarm are another run.
		run = kernel.Replay(recorded, s, recipe.Reference())
		run.Swarm = false
		var b strings.Builder
		run.Trace = &b
		if _, err := run.Do(context.Background()); err != nil || b.String() != text {
			differ++
		}
	}
	if differ == 0 {
		t.Error("no run depends on the draw")
	}
	throttled, lost, neither := 0, 0, 0
	for marks, n := range kinds {
		switch {
		case strings.Contains(marks, "throttled"):
			throttled += n
		case strings.Contains(marks, "response-lost"):
			lost += n
		default:
			neither += n
		}
	}
	if throttled == 0 || lost == 0 || neither == 0 {
		t.Errorf("of 200 runs %d were throttled, %d lost a response, %d neither; want some of each", throttled, lost,
			neither)
	}
}

func TestARecordedRunNeedsAReplayEntryAndAKnownProtocol(t *testing.T) {
	s := scenariotest.Embedded(t, "paused-writer")
	if _, err := kernel.Recorded(s); err == nil || !strings.Contains(err.Error(), "no replay entry") {
		t.Errorf("error %v, want one that says so", err)
	}
	s.Replay = &spec.Replay{Protocol: "mine"}
	if _, err := kernel.Recorded(s); err == nil {
		t.Error("a run was made of an unknown protocol")
	}
}

// brokenIn runs the given number of schedules, and returns, each once, the names of the invariants that some of them
// violate.
func brokenIn(t *testing.T, s *spec.Scenario, p isr.Protocol, schedules int) (names []string) {
	t.Helper()
	var pool hooks.Pool
	defer pool.Close()
	for i := range schedules {
		o, err := kernel.Run{
			Scenario: s, Protocol: p, Seed: uint64(i), Strategy: strategy.Portfolio().At(i), ExpectedSteps: 60,
		}.Do(pool.In(t.Context()))
		must.OK(t, err)
		if len(o.Unmet) > 0 && i == 0 {
			t.Errorf("nothing meets %v", o.Unmet)
		}
		if o.Verdict == invariant.Violated && !slices.Contains(names, o.Violation.Invariant.Name) {
			names = append(names, o.Violation.Invariant.Name)
		}
	}
	return names
}

// Each of these files has a planned event of a machine. With this event a protocol with a bug is caught, and without it
// the protocol passes. The reference passes with the event.
var atTheirTime = []struct{ name, mutant, breaks, cause, file string }{
	{"a pause", "blind-publish", "stale-writer", "pause at 1s for 20s", `
name: paused-at-a-time
cache: {lease: 10s, revalidate: 60s, render: 3s}
actors:
  - {name: alice, script: [get /home], events: [CAUSE]}
  - {name: bob, script: [sleep 13s, change /home, get /home, sleep 10s]}
bounds: {ticks: 0}
`},
	{"a crash", "acquire-waits-for-ttl", "liveness", "crash at 2s", `
name: crashed-at-a-time
cache: {lease: 10s, revalidate: 60s, render: 3s}
actors:
  - {name: alice, script: [get /home], events: [CAUSE]}
  - {name: bob, script: [sleep 12s, get /home]}
settle: 20s
bounds: {ticks: 0}
`},
	{"a clock", "blind-publish", "stale-writer", "clock +12s at 1s", `
name: set-at-a-time
max-clock-skew: 12s
cache: {lease: 10s, revalidate: 60s, render: 3s}
actors:
  - {name: alice, script: [get /home], events: [pause at 1s for 6s]}
  - {name: bob, script: [sleep 2s, change /home, get /home], events: [CAUSE]}
bounds: {ticks: 0}
`},
	{"a slow answer", "blind-publish", "stale-writer", "latency 25s op=UpdateItem key=LOCK actor=alice", `
name: slow-answer
cache: {lease: 10s, revalidate: 60s, render: 6s, keep-alive: 6s}
actors:
  - {name: alice, script: [get /home]}
  - {name: bob, script: [sleep 17s, change /home, get /home, sleep 20s]}
faults: [CAUSE]
bounds: {ticks: 0}
`},
	{"an outage", "no-release-after-failure", "liveness", "error-before op=TransactWriteItems from 2s to 10s", `
name: outage
cache: {lease: 30s, revalidate: 60s, render: 3s, attempts: 1}
actors:
  - {name: alice, script: [get /home]}
  - {name: bob, script: [sleep 4s, get /home]}
faults: [CAUSE]
settle: 5s
bounds: {ticks: 0}
`},
	{"a machine cut off", "acquire-waits-for-ttl", "liveness", "cut-off actor=alice from 2s to 30s", `
name: cut-off-machine
cache: {lease: 10s, revalidate: 60s, render: 3s}
actors:
  - {name: alice, script: [get /home]}
  - {name: bob, script: [sleep 12s, get /home]}
faults: [CAUSE]
settle: 20s
bounds: {ticks: 0}
`},
}

func TestWhatHappensAtATimeCatchesProtocols(t *testing.T) {
	const schedules = 24
	for _, test := range atTheirTime {
		t.Run(test.name, func(t *testing.T) {
			bad, good := scenariotest.Protocol(t, test.mutant), scenariotest.Protocol(t, "recipe-a")
			with := scenariotest.Parsed(t, strings.Replace(test.file, "CAUSE", test.cause, 1))
			without := scenariotest.Parsed(t, strings.Replace(test.file, "[CAUSE]", "[]", 1))
			if got := brokenIn(t, with, bad, schedules); !slices.Equal(got, []string{test.breaks}) {
				t.Errorf("%s with %q breaks %v, want %s", test.mutant, test.cause, got, test.breaks)
			}
			if got := brokenIn(t, without, bad, schedules); len(got) > 0 {
				t.Errorf("%s without %q breaks %v, want nothing", test.mutant, test.cause, got)
			}
			if got := brokenIn(t, with, good, schedules); len(got) > 0 {
				t.Errorf("the reference with %q breaks %v, want nothing", test.cause, got)
			}
		})
	}
}

// The same run has the same bytes on any number of cores, even if it is repeated from the file that it prints.
func TestWhatHappensAtATimeRepeats(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	s := scenariotest.Parsed(t, `
name: all-of-it
cache: {lease: 10s, revalidate: 20s, render: 2s}
actors:
  - {name: alice, script: [get /home, sleep 30s, get /home], events: [crash at 2s, restart at 15s, clock -1s at 20s]}
  - {name: bob, count: 2, script: [sleep 1s, get /home, sleep 10s, get /home], events: [pause at 3s for 9s]}
faults:
  - throttled op=PutItem from 12s to 14s times=1
  - cut-off actor=bob-1 from 9s to 12s
  - maybe latency 100ms-2s op=GetItem times=always
  - latency 1s op=PutItem nth=2
  - origin-failed from 15s
max-clock-skew: 1s
bounds: {ticks: 3}
`)
	again := s
	for range 2 {
		text := must.Of(again.YAML())(t)
		again = scenariotest.Parsed(t, string(text))
	}
	again.File = s.File
	if !reflect.DeepEqual(s, again) {
		t.Fatalf("printed and read again:\n%+v\nwant\n%+v", again, s)
	}
	seen := map[spec.Mark]bool{}
	for seed := range uint64(10) {
		trace := func(s *spec.Scenario, strategy sim.Strategy, cores int) (string, *kernel.Outcome) {
			runtime.GOMAXPROCS(cores)
			var out bytes.Buffer
			o, err := kernel.Run{Scenario: s, Protocol: scenariotest.Protocol(t, "recipe-a"), Seed: seed,
				Strategy: strategy, Trace: &out}.Do(t.Context())
			must.OK(t, err)
			return out.String(), o
		}
		first, o := trace(s, sim.RandomWalk, 1)
		for _, mark := range o.Marks {
			seen[mark] = true
		}
		if second, _ := trace(s, sim.RandomWalk, 2); first != second {
			t.Fatalf("seed %d: on two cores (-one +two):\n%s", seed, cmp.Diff(first, second))
		}
		if replayed, _ := trace(again, strategy.Replay(o.Result.Choices), 2); first != replayed {
			t.Fatalf("seed %d: replayed from the printed file (-first +replayed):\n%s", seed, cmp.Diff(first, replayed))
		}
	}
	for _, mark := range []spec.Mark{mark.NodeCrashed, mark.NodeRestarted, mark.NodePaused, mark.ClockSet,
		mark.SlowAnswer, mark.CutOff, "throttled", "origin-failed"} {
		if !seen[mark] {
			t.Errorf("no run reached %s", mark)
		}
	}
}

// A fault with a window strikes the requests from the window's first instant to its last, and no others.
func TestAWindowHasItsEnds(t *testing.T) {
	for _, test := range []struct{ fault, want string }{
		{"throttled op=GetItem", "1s"},
		{"throttled op=GetItem from 2s to 4s", "2s 3s"},
		{"throttled op=GetItem to 2s from 0s", "1s"},
		{"throttled op=GetItem from 4s", "4s 5s 6s"},
		{"throttled op=GetItem from 2s to 6s times=1", "2s"},
		{"throttled op=GetItem from 2s to 6s nth=2 times=2", "3s 4s"},
		{"throttled op=GetItem from 1001ms to 1999ms", ""},
		{"cut-off from 2s to 3s", "2s"},
		{"cut-off actor=bob from 2s to 3s", ""},
		{"maybe throttled op=GetItem from 3s to 3001ms", "3s"},
	} {
		s := scenariotest.Parsed(t, fmt.Sprintf(`
name: windows
cache: {attempts: 1, failure: error}
actors:
  - {name: alice, script: [sleep 1s, get /home], repeat: 6}
  - {name: bob, script: [sleep 30s]}
faults: [%s]
bounds: {ticks: 0}
`, test.fault))
		var struck []string
		for seed := range uint64(8) {
			var out bytes.Buffer
			if _, err := (kernel.Run{
				Scenario: s, Protocol: scenariotest.Protocol(t, "recipe-a"), Seed: seed, Trace: &out,
			}).Do(t.Context()); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				if words := strings.Fields(line); len(words) > 4 && words[3] == "effect" &&
					(strings.Contains(line, "Throttling") || strings.Contains(line, "connection lost")) {
					struck = append(struck, strings.TrimPrefix(words[1], "+"))
				}
			}
		}
		slices.Sort(struck)
		if got := strings.Join(slices.Compact(struck), " "); got != test.want {
			t.Errorf("%s: struck at %q, want %q", test.fault, got, test.want)
		}
	}
}

// The delay of an answer is the delay in the file. If the file has two delays, it is drawn between them.
func TestHowLateAnAnswerIs(t *testing.T) {
	for _, test := range []struct {
		fault       string
		least, most time.Duration
		times       int
	}{
		{"latency 2s op=GetItem", 2 * time.Second, 2 * time.Second, 1},
		{"latency 100ms-2s op=GetItem times=always", 100 * time.Millisecond, 2 * time.Second, 6},
		{"latency 1s op=GetItem nth=2 times=2", time.Second, time.Second, 2},
		{"latency 1s key=META from 4s", time.Second, time.Second, 3},
	} {
		s := scenariotest.Parsed(t, fmt.Sprintf(`
name: late
cache: {attempts: 1}
actors: [{name: alice, script: [sleep 1s, get /home], repeat: 6}]
faults: [%s]
bounds: {ticks: 0}
`, test.fault))
		delays := map[time.Duration]bool{}
		for seed := range uint64(5) {
			var out bytes.Buffer
			if _, err := (kernel.Run{
				Scenario: s, Protocol: scenariotest.Protocol(t, "recipe-a"), Seed: seed, Trace: &out,
			}).Do(t.Context()); err != nil {
				t.Fatal(err)
			}
			found := regexp.MustCompile(`the answer takes (\S+)\)`).FindAllStringSubmatch(out.String(), -1)
			if len(found) < test.times {
				t.Errorf("%s, seed %d: %d late answers, want %d at least:\n%s", test.fault, seed, len(found),
					test.times, out.String())
			}
			for _, match := range found {
				d, err := time.ParseDuration(match[1])
				if delays[d] = true; err != nil || d < test.least || d > test.most || d%time.Millisecond != 0 {
					t.Errorf("%s, seed %d: an answer takes %q", test.fault, seed, match[1])
				}
			}
		}
		if drawn := len(delays) > 1; drawn != (test.least < test.most) {
			t.Errorf("%s: delays %v", test.fault, delays)
		}
	}
}

// behind is a client whose reads any replica may answer.
type behind struct{ isr.Client }

func (c behind) GetItem(
	ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.GetItemOutput, error) {
	same := *in
	same.ConsistentRead = nil
	return c.Client.GetItem(ctx, &same, o...)
}

// keeper serves what it has served before, without looking at the table again.
type keeper struct {
	isr.Handler
	kept map[string]isr.Served
}

func (k keeper) Get(ctx context.Context, key string) (isr.Served, error) {
	if kept, is := k.kept[key]; is {
		return kept, nil
	}
	served, err := k.Handler.Get(ctx, key)
	if err == nil {
		k.kept[key] = served
	}
	return served, err
}

func (k keeper) Invalidate(ctx context.Context, key string) error {
	return k.Handler.(isr.Invalidator).Invalidate(ctx, key)
}

// The story of an answer names the rows behind it, their last writers, and stale reads.
func TestStoriesTellWhyAnAnswerWasGiven(t *testing.T) {
	recipe := scenariotest.Protocol(t, "recipe-a-guarded")
	eventual := isr.Protocol{Name: "eventual", New: func(cfg isr.Config) (isr.Handler, error) {
		cfg.Client = behind{cfg.Client}
		return recipe.New(cfg)
	}}
	keeps := isr.Protocol{Name: "keeps", New: func(cfg isr.Config) (isr.Handler, error) {
		handler, err := recipe.New(cfg)
		return keeper{handler, map[string]isr.Served{}}, err
	}}
	locks := func(first string) string {
		return "cache: {lease: 10s}, invariants: [free-lock], actors: [{name: a, " + first +
			"}, {name: b, script: [sleep 60s, hold job for 1s]}]"
	}
	calls := func(first string) string {
		return "cache: {lease: 10s}, invariants: [free-call], actors: [{name: a, " + first +
			"}, {name: b, script: [sleep 60s, once pay with 7]}]"
	}
	pages := func(first, second string) string {
		return "invariants: [no-lost-invalidation], actors: [{name: a, script: [" + first +
			"]}, {name: b, script: [" + second + "]}]"
	}
	for name, test := range map[string]struct {
		world    string
		protocol isr.Protocol
		want     string // of one campaign in 30
	}{
		"a crashed holder": {locks("crashes: 1, script: [hold job for 1s]"), scenariotest.Lock("never ends"),
			`(?s) a +takes lock.* a +crashed.* b +asks for lock.* b +UpdateItem ROW of job .*` +
				`-> ConditionalCheckFailedException, row: .*held_by: "a-1".* b +is refused lock`},
		"an abandoned request": {locks("crashes: 1, script: [hold job for 1ms]"), scenariotest.Lock("never ends"),
			`(?s) a +asks for lock.* a +crashed.* a +ROW of job: absent => [^\n]*` +
				`\(its sender no longer waited for the answer\).* b +is refused lock`},
		"a lost answer": {"faults: [maybe response-lost op=UpdateItem actor=b], " + locks("script: [sleep 1s]"),
			scenariotest.Lock("forgets to release"), `(?s) b +ROW of job: absent => [^\n]*\(its answer was lost\).*` +
				`-> ConditionalCheckFailedException.* b +is refused lock`},
		"a call that is done": {calls("script: [once pay with 7]"), scenariotest.Once("refuses what is done"),
			`(?s) a +calls pay.* a +ROW of pay: .*its_result: "a-effect-1".* a +has the result.* b +UpdateItem .*` +
				`-> ConditionalCheckFailedException, row: .* b +is told to try again`},
		"a crashed call": {calls("crashes: 1, script: [once pay with 7]"), scenariotest.Once("never ends"),
			`(?s) a +begins the effect.* a +crashed.* b +UpdateItem .*row: .*tried_by: "a-1".* b +is told to try again`},
		"a call that is taken over while its effect lasts": {
			"cache: {lease: 10s, render: 20s}, bounds: {ticks: 0}, invariants: [same-result], actors: [{name: a, " +
				"script: [once pay with 7]}, {name: b, script: [sleep 11s, once pay with 7]}]",
			scenariotest.Once("tells its own result"),
			`(?s) a +begins the effect.* b +begins the effect.* a +has the result`,
		},
		"an old page that is published": {
			pages("get /home, get /home", "get /home, invalidate /home, get /home"),
			scenariotest.Protocol(t, "invalidation-overtaken"),
			`(?s) b +invalidated.* a +META of /home: .*=> body pages/a-1.* b +GetItem META of /home -> body pages/a-1`,
		},
		"a stale read": {
			"replica-lag: 5s, " + pages("get /home", "sleep 6s, invalidate /home, get /home"), eventual,
			`(?s) b +invalidated /home\n[^\n]* b +asked /home\n[^\n]* b +GetItem META of /home ` +
				`\(eventually consistent\) -> body [^\n]*, from a replica that is behind\n[^\n]* b +served /home as fresh`,
		},
		"a copy in memory": {pages("get /home, sleep 9s, get /home", "sleep 6s, invalidate /home"), keeps,
			`(?s) b +invalidating /home\n[^\n]* b +META of /home: .* asked /home\n` +
				`[^\n]*had sent no request for it: the answer came from its memory\n[^\n]*served /home`},
	} {
		s, want := scenariotest.Parsed(t, "{name: story, "+test.world+"}"), regexp.MustCompile(test.want)
		last := "no violation"
		for seed := uint64(0); seed < 30 && !want.MatchString(last); seed++ {
			r := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Protocol: test.protocol, Seed: seed, Schedules: 50})
			if r.Verdict == invariant.Violated {
				last = r.Failure.Explain(s.Name, test.protocol.Name)
			}
		}
		if !want.MatchString(last) {
			t.Errorf("%s: want a story like %q, the last one is\n%s", name, want, last)
		}
	}
}

// TestNames: a protocol whose name is missing could not be named in a file, and a name without a protocol could not be
// run.
func TestNames(t *testing.T) {
	var linked []string
	for _, p := range kernel.Protocols() {
		linked = append(linked, p.Name)
	}
	if diff := cmp.Diff(linked, protocols.Names()); diff != "" {
		t.Errorf("names (-protocols +names):\n%s", diff)
	}
}
