package campaign

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Of all moments with the same fingerprint, a search continues only one. So whatever a fingerprint leaves out, from a
// row to the memory of an invariant, can hide a violation. No other test of a search would notice: the search is
// complete, and its verdict is wrong. These tests walk through small worlds at random, and check that the same step
// from the same state always has the same result.

// follower notes each step of a walk.
type follower struct {
	sim.Chooser
	walks    *walks
	possible fingerprint.Hash // all steps that the next one is chosen from; 0 if it is the only one
	steps    []followed
}

type followed struct {
	move     uint64
	possible fingerprint.Hash
}

func (f *follower) Choose(steps []sim.Step) int {
	for _, s := range steps { // a sum, because the steps of equal states may come in any order
		f.possible += fingerprint.Hash(0).Number(f.walks.number(s.Move()))
	}
	return f.Chooser.Choose(steps)
}

// Watch implements sim.Watcher.
func (f *follower) Watch(s sim.Step) {
	f.walks.taken[s.Kind]++
	f.steps = append(f.steps, followed{f.walks.number(s.Move()), f.possible})
	f.possible = 0
	if next, ok := f.Chooser.(sim.Watcher); ok {
		next.Watch(s)
	}
}

type transition struct{ state, move uint64 }

// successor is the state after a transition.
type successor struct {
	state    uint64 // 0 if the run is over
	possible fingerprint.Hash
	found    string // the violation, or the doubt, that the step brought about
	choices  sim.Choices
	step     int
}

// difference says what differs between two successors of the same transition; "" if nothing does.
func (s successor) difference(o successor) string {
	switch {
	case s.found != o.found:
		return fmt.Sprintf("it comes to %q, and to %q", s.found, o.found)
	case s.found == "" && s.state != o.state:
		return "it leads to different states"
	case s.possible != o.possible:
		return "other steps are possible beside it"
	default:
		return ""
	}
}

// walks are walks through one world.
type walks struct {
	scenario *spec.Scenario
	protocol isr.Protocol
	pool     hooks.Pool
	numbers  map[sim.Move]uint64
	known    map[transition]successor
	walked   int
	repeated int // transitions that were known already
	found    int // walks with a violation or a doubt
	taken    map[sim.Kind]int
}

func (w *walks) number(m sim.Move) uint64 {
	n, known := w.numbers[m]
	if !known {
		n = uint64(len(w.numbers) + 1)
		w.numbers[m] = n
	}
	return n
}

// outcome is the error of a run, or "".
func outcome(o *kernel.Outcome) string {
	switch o.Verdict {
	case invariant.OK:
		return ""
	case invariant.Violated:
		return "violated: " + strings.Join(o.Broken, ", ")
	default:
		return "unknown: " + o.Why
	}
}

func (w *walks) run(t *testing.T, strategy sim.Strategy, steps int) (*kernel.Outcome, []uint64, error) {
	probe := &hooks.Probe{Coverage: true}
	o, err := kernel.Run{Scenario: w.scenario, Protocol: w.protocol, Seed: 1, Strategy: strategy, Steps: steps}.
		Do(w.pool.In(hooks.With(t.Context(), probe)))
	return o, probe.States, err
}

// walk walks once more, and returns how a step's result differs from an earlier one, or "".
func (w *walks) walk(t *testing.T, rng *rand.Rand) string {
	var f *follower
	o, states, err := w.run(t, sim.Strategy{Name: "followed", New: func(_ *rand.Rand, expected int) sim.Chooser {
		f = &follower{Chooser: sim.RandomWalk.New(rng, expected), walks: w}
		return f
	}}, 0)
	w.walked++
	if err != nil {
		t.Fatalf("%s: %v", w.protocol.Name, err)
	}
	choices, until, found := slices.Clone(o.Result.Choices), len(f.steps), outcome(o)
	if found != "" {
		w.found++
		// The step that brought it about is the last one of the shortest run that has it.
		until = 1 + sort.Search(len(f.steps)-1, func(n int) bool {
			cut, _, err := w.run(t, strategy.Replay(choices), n+1)
			if err != nil {
				t.Fatalf("%s: %d steps of %v: %v", w.protocol.Name, n+1, choices, err)
			}
			now := outcome(cut)
			if now != "" {
				found = now
			}
			return now != ""
		})
	}
	for i, s := range f.steps[:until] {
		now := successor{possible: s.possible, choices: choices, step: i + 1}
		if i+1 < len(states) {
			now.state = states[i+1]
		}
		if i+1 == until {
			now.found = found
		}
		from := transition{states[i], s.move}
		before, known := w.known[from]
		if !known {
			w.known[from] = now
			continue
		}
		w.repeated++
		if d := now.difference(before); d != "" {
			return fmt.Sprintf("from equal states, the same step differs: %s\nstep %d of %v\nstep %d of %v", d,
				now.step, now.choices, before.step, before.choices)
		}
	}
	return ""
}

// through walks through a world until a step differs, at most the given number of times.
func through(t *testing.T, s *spec.Scenario, p isr.Protocol, seed uint64, times int) (*walks, string) {
	w := &walks{scenario: s, protocol: p, numbers: map[sim.Move]uint64{}, known: map[transition]successor{},
		taken: map[sim.Kind]int{}}
	defer w.pool.Close()
	for n := range times {
		if differs := w.walk(t, rand.New(rand.NewPCG(seed, uint64(n)))); differs != "" {
			return w, differs
		}
	}
	return w, ""
}

// unproved are the invariants that no search proves: their memory is not a part of the states.
var unproved = []string{"monotonic-reads", "bounded-staleness", "linearizable", "ttl-is-gc"}

// drawnKinds are texts that a drawn world may have. The n-th world has the n-th of them, counting round and round.
var drawnKinds = []string{
	"[get", "sleep", "change", "invalidate", "rollback", "regenerate", "as y", "with q", "/b", "tenant", "carol",
	"ttl-lag: at-once", "ttl-lag: fixed", "ttl-lag: scheduler", "replica-lag", "region: ", "region-lag: scheduler",
	"region-lag: fixed", "max-clock-skew: 1s",
	"pauses: 1", "crashes: 1", "restarts: 1", "crash at 1s, restart", "pause at", "clock +1s", "offset: 1s",
	"offset: -1s", "offset: 500ms", "steps:", "drift-ppm",
	"response-lost", "request-lost", "throttled", "error-after", "duplicate", "stale-read", "body-put-failed",
	"body-put-lost", "body-get-failed", "origin-failed", "latency", "cut-off", "conflict", "[maybe", "times=2",
	"nth=2", " from 1s to 3s",
}

// drawnProtocols are the protocols of drawn worlds: references, policies, and mutants that break what proofs check.
var drawnProtocols = []string{
	"recipe-a", "recipe-a-guarded", "recipe-b", "recipe-b-guarded", "acquire-a-second-early", "acquire-by-get-then-put",
	"reentrant-by-owner", "blind-publish", "check-then-act-publish", "publish-at-expiry", "blind-release",
	"lease-floored", "heartbeat-without-token", "two-transactions", "request-hash-ignored",
	"request-completed-late", "shared-body-name", "invalidation-overtaken", "invalidation-deletes-meta",
	"eventual-read", "generated-at-late", "rollback-without-lease", "last-page-published-again", "old-stock-published",
	"etag-of-another-body", "release-before-publish", "no-second-look",
	"unlocked-first-fill", "policy-unprotected", "policy-hybrid", "policy-swr", "fence-in-lock-row",
	"retry-without-token", "pointer-before-version",
	"tenant-missing", "own-commit-as-conflict",
}

func oneOf[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

// drawnWorld draws the file of a scenario. It may not be a valid one.
func drawnWorld(r *rand.Rand) string {
	var b strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	add("name: small\ncache: {lease: %s, revalidate: %s, retention: %s, ttl-buffer: 1s, render: %s, keep-alive: %s, ",
		oneOf(r, "1s", "2s", "3s"), oneOf(r, "1s", "2s", "10s"), oneOf(r, "1s", "3s"), oneOf(r, "0s", "0s", "1s", "2s"),
		oneOf(r, "0s", "0s", "1s"))
	add("contention: %s, failure: %s, poll: %s, patience: %d, attempts: %d}\n",
		oneOf(r, "serve-stale", "wait"), oneOf(r, "serve-last", "error"), oneOf(r, "1s", "2s", "500ms"),
		oneOf(r, 1, 1, 2), oneOf(r, 1, 1, 2, 3))
	regions := r.IntN(6) == 0
	if regions {
		add("ttl-lag: never\nregion-lag: %s\n", oneOf(r, "scheduler", "fixed 1s", "fixed 2s"))
	} else {
		add("ttl-lag: %s\n", oneOf(r, "never", "never", "at-once", "fixed 1s", "scheduler"))
	}
	if r.IntN(5) == 0 {
		add("replica-lag: 1s\n")
	}
	add("max-clock-skew: %s\nbounds: {ticks: %d, sweeps: 2}\n", oneOf(r, "0s", "0s", "1s", "2s"), r.IntN(3))
	var faults []string
	for range r.IntN(3) {
		faults = append(faults, drawnFault(r))
	}
	add("faults: [%s]\nactors:\n", strings.Join(faults, ", "))
	keys := oneOf(r, []string{"/a"}, []string{"/a"}, []string{"/a"}, []string{"/a"}, []string{"/a", "/b"})
	for i, name := range []string{"alice", "bob", "carol"}[:oneOf(r, 2, 2, 2, 3)] {
		var script []string
		for range oneOf(r, 1, 2, 2, 3) {
			script = append(script, drawnCommand(r, oneOf(r, keys...), regions))
		}
		add("  - {name: %s, script: [%s]", name, strings.Join(script, ", "))
		if r.IntN(4) == 0 {
			add(", pauses: 1, pause-for: %s", oneOf(r, "0s", "1s", "2s"))
		}
		if r.IntN(4) == 0 {
			add(", crashes: 1%s", oneOf(r, "", ", restarts: 1"))
		}
		if r.IntN(4) == 0 {
			add(", clock: {%s}", oneOf(r, "offset: 1s", "offset: -1s", "offset: 500ms", "steps: [1s]", "steps: [-1s]",
				"steps: [2s]", "drift-ppm: 200000"))
		}
		if r.IntN(8) == 0 {
			add(", events: [%s]",
				oneOf(r, "crash at 1s", "pause at 1s for 2s", "clock +1s at 1s", "crash at 1s, restart at 2s"))
		}
		if r.IntN(12) == 0 && !regions {
			add(", tenant: t1")
		}
		if regions && i == 1 {
			add(", region: eu-west-1")
		}
		add("}\n")
	}
	return b.String()
}

func drawnFault(r *rand.Rand) string {
	fault := oneOf(r, "response-lost", "request-lost", "throttled", "error-after", "duplicate", "stale-read",
		"body-put-failed", "body-put-lost", "body-get-failed",
		"origin-failed", "latency 1s", "cut-off", "conflict")
	if slices.Contains([]string{"response-lost", "request-lost", "throttled", "error-after", "latency 1s"}, fault) {
		fault += oneOf(r, "", " op=TransactWriteItems", " op=PutItem", " op=GetItem", " op=UpdateItem",
			" op=DeleteItem", " actor=bob", " actor=alice")
	}
	if r.IntN(3) > 0 {
		fault = "maybe " + fault + oneOf(r, "", "", " times=2")
	} else {
		fault += oneOf(r, "", "", " times=2", " nth=2")
	}
	return fault + oneOf(r, "", "", "", " from 1s to 3s")
}

func drawnCommand(r *rand.Rand, key string, regions bool) string {
	command := oneOf(r, "get", "get", "get", "sleep", "change", "invalidate", "rollback", "regenerate", "regenerate")
	switch {
	case command == "sleep":
		return "sleep " + oneOf(r, "1s", "2s", "3s", "500ms")
	case regions && (command == "rollback" || command == "regenerate"):
		return "get " + key
	case command == "regenerate":
		return fmt.Sprintf("regenerate %s as %s with %s", key, oneOf(r, "x", "x", "y"), oneOf(r, "p", "p", "q"))
	default:
		return command + " " + key
	}
}

// drawnAs draws the n-th world. It is a valid one.
func drawnAs(t *testing.T, n int) (text string, s *spec.Scenario, p isr.Protocol) {
	rng, kind := rand.New(rand.NewPCG(uint64(n), 7)), drawnKinds[n%len(drawnKinds)]
	for range 10_000 {
		text = drawnWorld(rng)
		if !strings.Contains(text, kind) {
			continue
		}
		s, err := spec.Parse("f.yaml", []byte(text))
		if err != nil {
			continue
		}
		s.Without = unproved
		name := oneOf(rng, drawnProtocols...)
		if s.Actors[1].Region != "" && strings.HasPrefix(name, "recipe-a") {
			name = oneOf(rng, "recipe-a", "recipe-a-home")
		}
		return text, s, scenariotest.Protocol(t, name)
	}
	t.Fatalf("no drawn world has %q", kind)
	return "", nil, isr.Protocol{}
}

func TestEqualStatesHaveEqualSuccessors(t *testing.T) {
	effort.Long(t)
	worlds, each := effort.Fewer(1000, 50), effort.Fewer(200, 50)
	var walked, repeated, found int
	taken := map[sim.Kind]int{}
	for n := range worlds {
		text, s, p := drawnAs(t, n)
		w, differs := through(t, s, p, uint64(n), each)
		if differs != "" {
			t.Errorf("world %d, %s: %s\n%s", n, p.Name, differs, text)
		}
		walked, repeated, found = walked+w.walked, repeated+w.repeated, found+w.found
		for kind, times := range w.taken {
			taken[kind] += times
		}
	}
	t.Logf(
		"%d walks, %d steps were taken again from an equal state, %d walks came to a violation or a doubt; steps: %v",
		walked, repeated, found, taken,
	)
	if repeated < 10*walked || found < walked/20 {
		t.Errorf("in %d walks %d steps were compared, and %d walks came to a violation or a doubt: that is too "+
			"little to find anything", walked, repeated, found)
	}
	for kind := sim.Start; kind <= sim.Tick; kind++ {
		if taken[kind] < worlds {
			t.Errorf("%d steps are a %v, want %d", taken[kind], kind, worlds)
		}
	}
}

// Each of these worlds has equal states with different successors if states leave out a part that they once left out.
func TestEqualStatesThatOnceDiffered(t *testing.T) {
	effort.NotShort(t)
	effort.OneAtATime(t)
	for name, c := range map[string]struct {
		protocol, text string
		seed           uint64
		does           func(ctx context.Context, h doing, key string) error // in place of a protocol
	}{
		// How many rows TTL has deleted says whether it may delete another one.
		"how many rows TTL has deleted": {"", `
cache: {render: 0s, patience: 1, attempts: 1}
ttl-lag: scheduler
bounds: {ticks: 0, sweeps: 1}
actors:
  - {name: alice, script: [get /a]}
  - {name: bob, script: [sleep 1s, get /a]}
`, 1, swept},
		// Bob's clock is ahead by more than is promised, so he takes a lease that has time left: how much decides
		// whether that counts as a second flight.
		"the promised skew, to the memory of single-flight": {"recipe-a", `
cache: {lease: 2s, revalidate: 10s, ttl-buffer: 1s, render: 0s, poll: 11s, patience: 1, attempts: 1}
max-clock-skew: 1s
bounds: {ticks: 1}
faults: [latency 2s op=PutItem actor=bob]
invariants: [single-flight] # others are violated before
actors:
  - {name: alice, script: [get /a]}
  - {name: bob, script: [sleep 1s, get /a], clock: {offset: 2s}}
`, 1, nil},
		// Alice's clock decides when her request may be forgotten. Carol's page hides all else that it decided, and bob
		// takes the place of the request's row.
		"the ttl of a REQ row that is replaced": {"recipe-a", `
cache: {lease: 3s, retention: 4s, ttl-buffer: 1s, render: 0s, patience: 1, attempts: 1}
bounds: {ticks: 0}
actors:
  - {name: alice, script: [regenerate /a as x with p], clock: {steps: [1s]}}
  - {name: bob, script: [sleep 4s, regenerate /a as x with p], clock: {offset: 1s}}
  - {name: carol, script: [regenerate /b as y with p, sleep 1s, regenerate /a as z with p]}
`, 3, nil},
		// The only trace of bob is whether he has asked for a regeneration, which has changed nothing.
		"whether a request has been asked for": {"recipe-a", `
cache: {render: 0s, patience: 1, attempts: 1}
bounds: {ticks: 0}
faults: [request-lost actor=bob times=always]
actors:
  - {name: alice, script: [get /a]}
  - {name: bob, script: [get /a, regenerate /a as x with p], crashes: 1}
`, 1, nil},
		// Whether bob wrote the row of his own request no longer matters once he asks for something else.
		"what a node notes of its own request": {"recipe-a", `
cache: {lease: 2s, revalidate: 1s, retention: 1s, ttl-buffer: 1s, render: 0s, poll: 2s, patience: 1, attempts: 1}
bounds: {ticks: 1}
actors:
  - {name: alice, script: [regenerate /a as x with p]}
  - {name: bob, script: [regenerate /a as x with p, sleep 2s, get /a]}
`, 1, nil},
		// A call hit by one fault is not counted by another; a crashed node forgets both.
		"calls that a possible fault has hit": {"recipe-a", `
cache: {render: 0s, patience: 1, attempts: 1}
bounds: {ticks: 0}
faults: [maybe request-lost actor=bob times=always, conflict]
actors:
  - {name: alice, script: [get /a]}
  - {name: bob, script: [regenerate /a as x with p], crashes: 1}
`, 1, nil},
		"calls that a certain fault has hit": {"recipe-a", `
cache: {render: 0s, patience: 1, attempts: 1}
bounds: {ticks: 0}
faults: [request-lost nth=2, conflict op=PutItem]
actors:
  - {name: alice, script: [get /a]}
  - {name: bob, script: [get /a], crashes: 1}
  - {name: carol, script: [regenerate /a as x with p], crashes: 1}
`, 1, nil},
	} {
		s := scenariotest.Parsed(t, "name: small"+c.text)
		s.Without = unproved
		p := does(c.does)
		if c.does == nil {
			p = scenariotest.Protocol(t, c.protocol)
		}
		w, differs := through(t, s, p, c.seed, 60)
		if differs != "" {
			t.Errorf("%s: %s", name, differs)
		}
		t.Logf("%s: %d steps compared", name, w.repeated)
	}
}

// keeper is a node's cache that keeps the first page that it got in memory, and serves it again.
type keeper struct {
	isr.Handler
	kept *isr.Served
}

func (k keeper) Get(ctx context.Context, key string) (isr.Served, error) {
	if k.kept.Body != nil {
		return *k.kept, nil
	}
	page, err := k.Handler.Get(ctx, key)
	*k.kept = page
	return page, err
}

// Walks notice an incomplete state: a protocol that wrongly declares its nodes memoryless. Whether alice got the page
// is known only to her memory.
func TestEqualStatesOfCodeWithMemoryDiffer(t *testing.T) {
	s := scenariotest.Parsed(t, "name: small\ncache: {render: 0s, patience: 1, attempts: 1}\nbounds: {ticks: 0}\n"+
		"faults: [maybe request-lost actor=alice times=always]\n"+
		"actors:\n  - {name: alice, script: [sleep 1s, get /a, sleep 1s, get /a]}\n  - {name: bob, script: [get /a]}\n")
	s.Without = unproved
	of := scenariotest.Protocol(t, "recipe-a")
	for _, says := range []bool{true, false} {
		p := isr.Protocol{Name: "keeper", Memoryless: says, New: func(cfg isr.Config) (isr.Handler, error) {
			handler, err := of.New(cfg)
			return keeper{handler, new(isr.Served)}, err
		}}
		if w, differs := through(t, s, p, 1, 60); differs != "" != says {
			t.Errorf("it says that it has no memory: %v; %d steps compared: %q", says, w.repeated, differs)
		}
	}
}

// remove deletes a row that has only a name.
func (h doing) remove(ctx context.Context, name string) error {
	_, err := h.cfg.Client.DeleteItem(ctx,
		&dynamodb.DeleteItemInput{TableName: &h.cfg.Table, Key: pagecache.Key("notes", name)})
	return err
}

// swept makes alice leave a row that TTL may delete, and delete another one herself, unless TTL has deleted that one:
// then TTL may delete no other.
func swept(ctx context.Context, h doing, _ string) error {
	if h.name() == "bob" {
		return nil
	}
	expired := func(name string) error {
		row := pagecache.Key("notes", name)
		row["ttl"] = second(h.cfg.Clock.Now().Add(-time.Minute))
		return h.put(ctx, h.cfg.Table, row)
	}
	if err := errors.Join(expired("A"), h.remove(ctx, "A")); err != nil {
		return err
	}
	return expired("B")
}

// One tick goes to each of these moments before and after the end of a lease: there a comparison may be wrong by the
// smallest step of the rows' times, and there the invariants' tolerance for clocks ends.
func TestATickGoesToEachSideOfADeadline(t *testing.T) {
	const sec, ms = time.Second, time.Millisecond
	millis := strings.Replace(ownRows, "expires: lease_expires_at", "expires: lease_expires_at ms", 1)
	for _, test := range []struct {
		world string
		unit  time.Duration
		at    []time.Duration // after the end
	}{
		{"", sec, []time.Duration{-sec, 0, sec}},
		{"max-clock-skew: 2s\n", sec,
			[]time.Duration{-3 * sec, -sec, 0, sec, 2 * sec, 5 * sec}},
		{millis, ms, []time.Duration{-sec, -ms, 0, ms, sec}},
		{"max-clock-skew: 2s\n" + millis, ms,
			[]time.Duration{-2*sec - ms, -sec, -ms, 0, sec, 2 * sec, 4*sec + ms}},
	} {
		for _, at := range test.at {
			ends := fakeclock.Epoch.Add(10 * sec)
			finds(t, test.world+"bounds: {ticks: 1}\nactors:\n  - {name: alice, script: [get /home, get /home]}\n",
				func(ctx context.Context, h doing, page string) error {
					if h.cfg.Clock.Now().Equal(ends.Add(at)) {
						return h.wrong(ctx, page)
					}
					lock := pagecache.Key(isr.PartitionKey("", page), isr.SortLock)
					lock["lease_token"] = &types.AttributeValueMemberS{Value: h.name()}
					lock["lease_expires_at"] = &types.AttributeValueMemberN{
						Value: strconv.FormatInt(ends.UnixNano()/int64(test.unit), 10)}
					return h.put(ctx, h.cfg.Table, lock)
				})
		}
	}
}

// Machines are interchangeable in a search only if nothing in the world tells them apart.
func TestWhoIsInterchangeable(t *testing.T) {
	const alice, bob = "  - {name: alice, script: [get /home]}\n", "  - {name: bob, script: [get /home]}\n"
	for _, test := range []struct {
		name, world, actors string
		symmetric           int
	}{
		{"two alike", "", alice + bob, 2},
		{"three alike, and one that is not", "",
			alice + bob + "  - {name: carol, script: [get /home]}\n  - {name: dave, script: [change /home]}\n", 3},
		{"a fault of anybody", "faults: [maybe response-lost]\n", alice + bob, 2},
		{"a fault of one of them", "faults: [maybe response-lost actor=bob]\n", alice + bob, 0},
		{"a fault of one of them that is certain", "faults: [request-lost actor=bob]\n", alice + bob, 0},
		{"a fault of a third one", "faults: [maybe response-lost actor=carol]\n",
			alice + bob + "  - {name: carol, script: [get /home]}\n", 0},
		{"a delay", "faults: [latency 1s]\n", alice + bob, 2},
		{"delays that are drawn by name", "faults: [latency 1s-2s]\n", alice + bob, 0},
		{"another script", "", alice + "  - {name: bob, script: [get /home, get /home]}\n", 0},
		{"a page with the name of one of them", "",
			"  - {name: alice, script: [get /alice]}\n  - {name: bob, script: [get /alice]}\n", 1},
		{"another clock", "", alice + "  - {name: bob, script: [get /home], clock: {offset: 1s}}\n", 0},
		{"more pauses", "", alice + "  - {name: bob, script: [get /home], pauses: 1}\n", 0},
		{"another tenant", "", alice + "  - {name: bob, script: [get /home], tenant: b}\n", 0},
		{"two regions", "", alice + bob + "  - {name: carol, script: [get /home], region: eu-west-1}\n", 0},
	} {
		s := scenariotest.Parsed(t, "name: small\ncache: {render: 0s, poll: 11s, patience: 1}\n"+test.world+
			"bounds: {ticks: 0}\nactors:\n"+test.actors)
		p := does(func(context.Context, doing, string) error { return nil })
		p.Memoryless = true
		probe := &hooks.Probe{Search: true}
		x := exhaustive.Exploration{}
		x.Next()
		if _, err := (kernel.Run{Scenario: s, Protocol: p, Strategy: x.Strategy()}).
			Do(hooks.With(t.Context(), probe)); err != nil {
			t.Fatal(test.name, err)
		}
		if len(probe.Symmetric) != test.symmetric {
			t.Errorf("%s: got %v, want %d", test.name, probe.Symmetric, test.symmetric)
		}
	}
}

// If keys contain names, the order of rows depends on the names, and code may see that.
func TestNamesInKeysTellMachinesApart(t *testing.T) {
	for form, interchangeable := range map[string]bool{"note of %s": false, "%s": false, "%s-1": false, "of%s": true,
		"nobody": true} {
		for _, inPartition := range []bool{false, true} {
			p := does(func(ctx context.Context, h doing, _ string) error {
				named := form
				if strings.Contains(form, "%") {
					named = fmt.Sprintf(form, h.name())
				}
				key := pagecache.Key("notes", named)
				if inPartition {
					key = pagecache.Key(named, "note")
				}
				return h.put(ctx, h.cfg.Table, key)
			})
			p.Memoryless = true
			s := scenariotest.Parsed(t,
				"name: small\ncache: {render: 0s, poll: 11s, patience: 1}\nbounds: {ticks: 0}\n"+twoActors)
			var taken *sim.TakenError
			for x := (exhaustive.Exploration{}); x.Next(); {
				_, err := kernel.Run{Scenario: s, Protocol: p, Strategy: x.Strategy()}.
					Do(hooks.With(t.Context(), &hooks.Probe{Search: true}))
				if errors.As(err, &taken) {
					break
				}
			}
			if (taken == nil) != interchangeable || taken != nil && taken.Off != sim.InterchangeableActors {
				t.Errorf("%q, in the partition's key %v: got %v, want interchangeable %v", form, inPartition, taken,
					interchangeable)
			}
		}
	}
}
