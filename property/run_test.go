package property

import (
	"context"
	"crypto/rand" //nolint:depguard // what stores take tokens from
	"errors"
	"flag"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	ours "github.com/isr-sim/isr-sim/internal/base/inside" // property has a function of that name
	"github.com/isr-sim/isr-sim/internal/base/race"
	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/internal/protocols/mutant"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/worlds"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// TestUnstableStoreIsFound has a store that is broken in every other run.
func TestUnstableStoreIsFound(t *testing.T) {
	blind, err := scenario.ProtocolNamed("lease-in-milliseconds")
	if err != nil {
		t.Fatal(err)
	}
	nodes := 0
	r := newRunner(t, Check{Protocol: defaultName}, func(n Node) (isr.Handler, error) {
		if nodes++; (nodes-1)/2%2 == 0 {
			return blind.New(n.Config)
		}
		return recipe.New(n.Config)
	})
	s, err := worlds.Checked(simple())
	if err != nil {
		t.Fatal(err)
	}
	_, f := r.campaign(s, 1, 50)
	if f == nil || f.kind != kindUnstable || f.repeatable() {
		t.Fatalf("a store that does not repeat itself is reported as %+v", f)
	}
	// What was found, what shows it, that it cannot be repeated, and what differed.
	rest := f.text
	for _, want := range []string{
		"violated: simple under store-under-test\n\nlock-theft: a write that replaces, ", "  +0s         ", "LOCK of /home: ",
		"that run cannot be repeated: the store under test is not deterministic", "violated: lock-theft after ", " the first time, and then it broke: ",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Errorf("the report lacks %q, or it comes too early:\n%s", want, f.text)
		}
		rest = after
	}
}

// TestALivenessFailureStaysOneInItsReplay: of the one run of a replay, all answers may be errors, as here. Whether that
// says that the store was never tested, the search has decided, which has seen others.
func TestALivenessFailureStaysOneInItsReplay(t *testing.T) {
	s := simple()
	s.Settle = 10 * time.Second
	s, err := worlds.Checked(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		before answers
		want   string
	}{
		{answers{all: 5, errors: 4, fresh: 1}, "violated: liveness"},
		{answers{}, kindVacuous},
	} {
		stuck := func(Node) (isr.Handler, error) { return fails{}, nil }
		r := newRunner(t, Check{Protocol: defaultName}, stuck)
		*r.answers = tc.before
		_, f := r.campaign(s, 1, 1)
		if f == nil || f.kind != tc.want {
			t.Fatalf("found %+v, want %s", f, tc.want)
		}
		if _, again := newRunner(t, Check{Protocol: defaultName}, stuck).replay(s, *f.replay); again == nil || again.kind != tc.want {
			t.Errorf("the replay is %+v, want %s", again, tc.want)
		}
	}
}

// fails is a store that does nothing else.
type fails struct{}

func (fails) Get(context.Context, string) (isr.Served, error) {
	return isr.Served{}, errors.New("not today")
}

// patient waits before each request for longer than any cache is configured to.
type patient struct {
	isr.Handler
	clock interface{ Sleep(time.Duration) }
}

func (p patient) Get(ctx context.Context, key string) (isr.Served, error) {
	p.clock.Sleep(2 * time.Hour)
	return p.Handler.Get(ctx, key)
}

// TestAClockThatDriftsPastItsPromiseIsNoFault: in runs of a store that waits for hours, a clock drifts by more than its
// world promises. A correct store is not accused of that, and a broken one is still found.
func TestAClockThatDriftsPastItsPromiseIsNoFault(t *testing.T) {
	check := func(newStore func(isr.Config) (isr.Handler, error)) *failure {
		t.Helper()
		s := simple()
		s.Skew, s.Cache.Lease, s.Cache.Render, s.Cache.Revalidate = 2*time.Second, 10*time.Second, 8*time.Second, time.Second
		s.Actors[0].Drift.PPM, s.Actors[1].Drift.PPM = 2000, -2000
		s, err := worlds.Checked(s)
		if err != nil {
			t.Fatal(err)
		}
		r := newRunner(t, Check{Protocol: defaultName}, func(n Node) (isr.Handler, error) {
			h, err := newStore(n.Config)
			return patient{h, n.Clock}, err
		})
		_, f := r.campaign(s, 1, 50)
		return f
	}
	if f := check(recipe.New); f != nil {
		t.Errorf("a correct store is accused:\n%s", f.text)
	}
	broken, err := scenario.ProtocolNamed("lease-in-milliseconds")
	if err != nil {
		t.Fatal(err)
	}
	if f := check(broken.New); f == nil || !f.violates() {
		t.Errorf("got %+v for a store with leases in milliseconds, want a violation", f)
	}
}

// simple returns a world of two contenders.
func simple() *scenario.Scenario {
	s := scenario.Defaults()
	s.Name, s.Protocol = "simple", defaultName
	for _, name := range []string{"alice", "bob"} {
		s.Actors = append(s.Actors, scenario.Actor{Name: name, Script: []scenario.Command{{Verb: "get", Key: "/home"}}})
	}
	return s
}

// TestTheSimulatorsGoroutinesAreTold holds the stack of a goroutine to what the guard takes it for, on every release of Go
// that runs this test.
func TestTheSimulatorsGoroutinesAreTold(t *testing.T) {
	if calledByTheSimulator() {
		t.Error("the test's own goroutine looks like one of the simulator's")
	}
	coroutine := func(run func()) {
		next, stop := iter.Pull(func(yield func(bool) bool) {
			run()
			yield(true)
		})
		defer stop()
		next()
	}
	for _, depth := range []int{0, 1, 50, 500} {
		for _, tc := range []struct {
			where string
			call  func(then func())
			want  bool
		}{
			{"a call of the simulator's", func(then func()) { then() }, true},
			{"a deferred call after a panic", func(then func()) {
				defer func() { _ = recover(); then() }()
				panic("on the way")
			}, true},
			{"a goroutine of the store's own", func(then func()) {
				done := make(chan struct{})
				go func() { then(); close(done) }()
				<-done
			}, false},
			{"a coroutine of the store's own", coroutine, false},
		} {
			got := make([]bool, 0, 2)
			look := func() { got = append(got, deep(depth)) }
			inStore(func() { tc.call(look) })
			coroutine(func() { inStore(func() { tc.call(look) }) }) // as the simulator's actors are
			if want := []bool{tc.want, tc.want}; !slices.Equal(got, want) {
				t.Errorf("%s, %d calls deep: the simulator's %v, want %v", tc.where, depth, got, want)
			}
		}
	}
}

// deep calls calledByTheSimulator at the given depth.
func deep(n int) bool {
	if n == 0 {
		return calledByTheSimulator()
	}
	return deep(n - 1)
}

func TestNames(t *testing.T) {
	for _, tc := range []struct{ test, file, run string }{
		{"TestStore", "testdata/isr-sim/TestStore.yaml", "^TestStore$"},
		{"TestStore/in_eu-west-1", "testdata/isr-sim/TestStore-in_eu-west-1-e35f2b23.yaml", "^TestStore$/^in_eu-west-1$"},
		{"TestStore/a.b", "testdata/isr-sim/TestStore-a-b-81a40abe.yaml", `^TestStore$/^a\.b$`},
	} {
		if got := fileName(tc.test); got != tc.file {
			t.Errorf("fileName(%q) = %q, want %q", tc.test, got, tc.file)
		}
		if got := runPattern(tc.test); got != tc.run {
			t.Errorf("runPattern(%q) = %q, want %q", tc.test, got, tc.run)
		}
	}
	long := strings.Repeat("é", 200)
	if name := safeName("Test" + long); len(name) != 100 {
		t.Errorf("a long name has %d bytes, want 100: %s", len(name), name)
	}
	if safeName("TestA/b") == safeName("TestA.b") {
		t.Error("two tests share a file")
	}
}

func TestMissing(t *testing.T) {
	wanted := []scenario.Mark{mark.LockTakenOver, mark.TTLDeletion, scenario.Mark(ddbfake.FaultResponseLost.String())}
	count := tally{worlds: worlds.EnoughWorlds, schedules: worlds.EnoughSchedules, marks: map[scenario.Mark]int{mark.TTLDeletion: 1, mark.NodePaused: 9}}
	if got := count.missing(wanted); len(got) != 2 || got[0] != wanted[0] || got[1] != wanted[2] {
		t.Errorf("missing: %v, want %v and %v", got, wanted[0], wanted[2])
	}
	if got := count.missing([]scenario.Mark{}); len(got) != 0 {
		t.Errorf("missing %v of nothing wanted", got)
	}
	for _, few := range []tally{
		{worlds: worlds.EnoughWorlds - 1, schedules: worlds.EnoughSchedules, marks: count.marks},
		{worlds: worlds.EnoughWorlds, schedules: worlds.EnoughSchedules - 1, marks: count.marks},
	} {
		if got := few.missing(wanted); len(got) != 0 {
			t.Errorf("missing %v after too few to say so", got)
		}
		if got := few.chance(wanted); !strings.HasPrefix(got, "not tested: lock-taken-over, response-lost: ") {
			t.Errorf("of marks not reached in few worlds it says %q", got)
		}
	}
	if got := count.chance(wanted[1:2]); got != "" {
		t.Errorf("of a mark that was reached it says %q", got)
	}
	pages := []scenario.Mark{mark.Published, mark.ServedFresh}
	count.worlds = 1
	if got := count.missing(pages); !slices.Equal(got, pages) {
		t.Errorf("missing %v, want %v: most worlds reach them", got, pages)
	}
}

// hopeful is a cache that takes an error of its publish, which gives the lease back as well, for a success.
type hopeful struct{ *pagecache.RecipeA }

func (h hopeful) Publish(ctx context.Context, lease pagecache.Lease, m pagecache.Meta) error {
	if err := h.RecipeA.Publish(ctx, lease, m); errors.Is(err, isr.ErrLeaseLost) {
		return err
	}
	return nil
}

func newHopeful(n Node) (isr.Handler, error) {
	ours.In(&n).Observe = nil // a team's own code tells nobody of its operations
	rows, err := pagecache.NewRecipeA(n.Config)
	if err != nil {
		return nil, err
	}
	cache, err := pagecache.NewOn(hopeful{rows}, n.Config)
	if err != nil {
		return nil, err
	}
	return getOnly{cache}, nil
}

// TestAReleaseThatWasNeverSentIsNoExcuse has a lock stay behind after a publish that failed: no fault has kept its holder
// from giving it back, which has not tried.
func TestAReleaseThatWasNeverSentIsNoExcuse(t *testing.T) {
	effort.Long(t)
	for seed := range effort.Fewer(3, 1) {
		if got := sought(t, Check{}, 1+seed, "100", newHopeful); got.by != "liveness" {
			t.Errorf("seed %d: got %q after %d worlds, want liveness", 1+seed, got.by, got.worlds)
		} else {
			t.Logf("seed %d: after %d worlds\n%s", 1+seed, got.worlds, got.text)
		}
	}
}

func TestOfWallYear(t *testing.T) {
	for text, want := range map[string]bool{
		"946684800": true, "946684810": true, "946684810000": true, "946684810000000": true, "946684810000000000": true, "2000-01-01T00:00:10Z": true,
		"2208988800": false, "2208988800000": false, "950400000": false, "946684810000000001": false, "123456789": false,
		"1234567890123456789": false,
	} {
		if got := ofWallYear(text); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

var effortSeeds = flag.Int("effort", 0, "measure with how many seeds the default effort finds each mutant: go test ./property -run '^TestEffort$' -effort 20 -timeout 0")

// TestEffort prints, for each mutant and for several ways to spend schedules, how many worlds it takes to find it: what
// DefaultSchedules and worldsPerCheck were chosen by.
func TestEffort(t *testing.T) {
	if *effortSeeds == 0 {
		t.Skip("a measurement: see the flag -effort")
	}
	spends := []int{5, 10, 20, 50} // schedules a world
	const most = 600               // worlds
	type line struct {
		name string
		text string
		hard int
	}
	var lines []line
	var mu sync.Mutex
	t.Run("mutants", func(t *testing.T) {
		for _, p := range mutant.All() {
			t.Run(p.Name, func(t *testing.T) {
				t.Parallel()
				took := make([][]int, len(spends)) // worlds, of each seed
				for seed := range *effortSeeds {
					first := firstWorlds(t, p, seed, most, spends)
					for i, n := range first {
						took[i] = append(took[i], n)
					}
					if seed == 1 && slices.Max(took[len(spends)-1]) > most {
						break // it needs something that no world has
					}
				}
				text := fmt.Sprintf("%-32s", p.Name)
				for i, k := range spends {
					slices.Sort(took[i])
					found := 0
					for _, n := range took[i] {
						if n <= most {
							found++
						}
					}
					last := took[i][len(took[i])-1]
					text += fmt.Sprintf(" | %d: %d/%d max %d (%d)", k, found, len(took[i]), last, last*k)
				}
				mu.Lock()
				lines = append(lines, line{p.Name, text, took[2][len(took[2])-1]})
				mu.Unlock()
			})
		}
	})
	slices.SortFunc(lines, func(a, b line) int { return a.hard - b.hard })
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintln(&b, l.text)
	}
	t.Logf("\n%s", b.String())
}

// firstWorlds returns which world was the first that showed the bug under as many schedules each, for each way to spend
// them.
func firstWorlds(t *testing.T, p isr.Protocol, seed, most int, spends []int) []int {
	first := slices.Repeat([]int{most + 1}, len(spends))
	generator := worlds.Pages("Effort", "recipe-a", 50, worlds.Extras{})
	for w := 1; w <= most && first[0] > most; w++ {
		s := generator.Example(seed*1_000_003 + w).Scenario
		limit := 0
		for i, k := range spends {
			if first[i] > most {
				limit = k
			}
		}
		r, err := campaign.Campaign{Scenario: s, Protocol: p, Seed: sim.Derive(uint64(seed), w), Schedules: limit, Workers: 1}.Run(context.Background())
		at := 0
		switch {
		case err != nil:
			at = 1
		case r.Verdict == invariant.Violated:
			at = r.FailedAt
		default:
			continue
		}
		for i, k := range spends {
			if at <= k {
				first[i] = min(first[i], w)
			}
		}
	}
	return first
}

// randomStore is broken, and takes its tokens from crypto/rand, as lock clients take the versions of their records.
func randomStore(t *testing.T, goroutines bool) (runner, func() (*failure, string)) {
	t.Helper()
	broken := mutantNamed(t, "blind-release")
	r := newRunner(t, Check{Protocol: defaultName, Goroutines: goroutines}, func(n Node) (isr.Handler, error) {
		n.Tokens = rand.Text
		return broken.New(n.Config)
	})
	drawn := simple()
	drawn.Bounds.Schedules = 400
	s, err := worlds.Checked(drawn)
	if err != nil {
		t.Fatal(err)
	}
	return r, func() (*failure, string) {
		_, f := r.campaign(s, 1, s.Bounds.Schedules)
		if f == nil || f.replay == nil {
			return f, ""
		}
		trace, again := r.replay(s, *f.replay)
		if again == nil || again.kind != f.kind {
			t.Errorf("replayed to %+v, want %s", again, f.kind)
		}
		return f, trace
	}
}

func TestCryptoRandIsSeededForEachRun(t *testing.T) {
	effort.Long(t)
	for name, goroutines := range map[string]bool{"one goroutine": false, "goroutines": true} {
		t.Run(name, func(t *testing.T) {
			r, search := randomStore(t, goroutines)
			first, trace := search()
			if first == nil || first.kind != "violated: lock-theft" {
				t.Fatalf("found %+v, want a lock theft", first)
			}
			second, again := search()
			if second == nil || second.replay.Digest != first.replay.Digest || trace != again {
				t.Errorf("two campaigns of one seed:\n%+v\n%s\n%+v\n%s", first, trace, second, again)
			}
			if small := r.shrunk(first); small == first {
				t.Error("the schedule was not shrunk")
			}
		})
	}
	if a, b := rand.Text(), rand.Text(); a == b {
		t.Errorf("crypto/rand gives %s twice", a)
	}
}

// TestCryptoRandOfParallelTests is shared with other tests, so it stays as it is; what was found is reported all the same.
func TestCryptoRandOfParallelTests(t *testing.T) {
	t.Parallel()
	_, search := randomStore(t, false)
	f, _ := search()
	if f == nil || f.kind != kindUnstable {
		t.Fatalf("found %+v, want a store that does not repeat itself", f)
	}
	rest := f.text
	for _, want := range []string{
		"violated: simple under store-under-test\n\nlock-theft: ", "that run cannot be repeated: ", " of alice was \"", "\" in one run, and ",
		"crypto/rand was not seeded for each run, which takes a test that is not parallel: ",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Errorf("the report lacks %q, or it comes too early:\n%s", want, f.text)
		}
		rest = after
	}
}

// TestCryptoRandAfterARunThatDoesNotEnd is what it was before, though that run keeps its own.
func TestCryptoRandAfterARunThatDoesNotEnd(t *testing.T) {
	effort.Long(t)
	if race.Enabled {
		t.Skip("with the race detector it keeps the seed")
	}
	reader := rand.Reader
	var after [2]string
	for i := range after {
		t.Run("check", func(t *testing.T) {
			r, _ := randomStore(t, true)
			r.newStore = func(Node) (isr.Handler, error) {
				var mu sync.Mutex
				mu.Lock()
				mu.Lock() // no bubble knows of this wait
				return nil, nil
			}
			r.limit.began, r.limit.end = true, time.Time{} // the least patience
			s, err := worlds.Checked(simple())
			if err != nil {
				t.Fatal(err)
			}
			if _, f := r.campaign(s, 1, 1); f == nil || f.kind != kindStuck {
				t.Errorf("found %+v, want a run that does not end", f)
			}
		})
		after[i] = rand.Text()
	}
	if rand.Reader != reader || after[0] == after[1] {
		t.Errorf("crypto/rand gives %q after two runs of one seed, and its Reader is what it was: %v", after, rand.Reader == reader)
	}
}

// TestTheScheduleOfAFailureIsShrunk holds that a store's failure gets a schedule of fewer context switches in the same
// world, which still is that failure.
func TestTheScheduleOfAFailureIsShrunk(t *testing.T) {
	effort.Long(t)
	broken, err := scenario.ProtocolNamed("blind-release")
	if err != nil {
		t.Fatal(err)
	}
	r := newRunner(t, Check{Protocol: defaultName}, func(n Node) (isr.Handler, error) { return broken.New(n.Config) })
	drawn := simple()
	drawn.Bounds.Schedules = 400
	s, err := worlds.Checked(drawn)
	if err != nil {
		t.Fatal(err)
	}
	shrunk := 0
	for seed := range effort.Fewer[uint64](10, 2) {
		_, f := r.campaign(s, seed, s.Bounds.Schedules)
		if f == nil || f.kind != "violated: lock-theft" {
			t.Fatalf("seed %d: found %+v, want a lock theft", seed, f)
		}
		small := r.shrunk(f)
		if small.kind != f.kind || small.world != f.world || !small.repeatable() {
			t.Fatalf("seed %d: shrunk to %+v", seed, small)
		}
		switch trace, again := r.replay(small.world, *small.replay); {
		case again == nil || again.kind != f.kind:
			t.Errorf("seed %d: the shrunk schedule replays to %+v", seed, again)
		case again.replay.Digest != small.replay.Digest:
			t.Errorf("seed %d: digest %s of the replay, want %s\n%s", seed, again.replay.Digest, small.replay.Digest, trace)
		}
		if small != f {
			shrunk++
			if !strings.HasPrefix(small.how, f.how+"\nits schedule shrunk from ") {
				t.Errorf("seed %d: found %q, shrunk %q", seed, f.how, small.how)
			}
		}
	}
	if shrunk == 0 {
		t.Error("no schedule was shrunk")
	}
}

func TestWhatIsNoViolationIsNotShrunk(t *testing.T) {
	r := newRunner(t, Check{Protocol: defaultName}, func(n Node) (isr.Handler, error) { return recipe.New(n.Config) })
	for _, f := range []*failure{
		{kind: kindUnstable}, {kind: kindPanic, replay: &scenario.Replay{}, world: simple()}, {kind: "unknown", replay: &scenario.Replay{}, world: simple()},
		// It does not violate anything when it is run again.
		{kind: "violated: lock-theft", replay: &scenario.Replay{}, world: simple()},
	} {
		if got := r.shrunk(f); got != f {
			t.Errorf("%s was shrunk to %+v", f.kind, got)
		}
	}
}

// TestShrinkingAScheduleEnds with the first run that does not end, and at the latest when its time is over.
func TestShrinkingAScheduleEnds(t *testing.T) {
	effort.Long(t)
	for _, goroutines := range effort.Fewer([]bool{true, false}, []bool{true}) {
		t.Run(fmt.Sprintf("goroutines=%v", goroutines), func(t *testing.T) {
			t.Parallel()
			var stuck atomic.Bool
			var nodes atomic.Int64 // a run that is stuck is never waited for
			r := newRunner(t, Check{Protocol: defaultName, Goroutines: goroutines}, func(n Node) (isr.Handler, error) {
				if nodes.Add(1); stuck.Load() {
					var mu sync.Mutex
					mu.Lock()
					mu.Lock() // no bubble knows of this wait
				}
				return mutantNamed(t, "blind-release").New(n.Config)
			})
			drawn := simple()
			drawn.Bounds.Schedules = 400
			s, err := worlds.Checked(drawn)
			if err != nil {
				t.Fatal(err)
			}
			_, f := r.campaign(s, 1, s.Bounds.Schedules)
			if f == nil || f.kind != "violated: lock-theft" {
				t.Fatalf("found %+v, want a lock theft", f)
			}
			r.limit.began, r.limit.most = true, 2*time.Second
			r.limit.end = time.Now().Add(r.limit.most) //nolint:forbidigo // the time that people wait
			stuck.Store(true)
			nodes.Store(0)
			began := time.Now() //nolint:forbidigo // as above
			if small := r.shrunk(f); small != f {
				t.Errorf("shrunk to %+v, want what was found", small)
			}
			if took := time.Since(began); nodes.Load() != 1 || took > 10*time.Second { //nolint:forbidigo // as above
				t.Errorf("%d runs were tried, in %v; want one, in some 2 to 3 s", nodes.Load(), took)
			}
			if !strings.HasPrefix(r.limit.ended(), "shrinking ended with a run that did not end within ") {
				t.Errorf("it ended because: %q", r.limit.ended())
			}
		})
	}
}

// mutantNamed returns a protocol that is broken on purpose.
func mutantNamed(t *testing.T, name string) isr.Protocol {
	t.Helper()
	p, err := scenario.ProtocolNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
