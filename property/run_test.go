package property

import (
	"context"
	"crypto/rand" //nolint:depguard // stores take tokens from it
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/race"
	"github.com/isr-sim/isr-sim/internal/base/storeop"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/engine"
	"github.com/isr-sim/isr-sim/internal/search/worlds"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// TestUnstableStoreIsFound: the store is broken in every other run.
func TestUnstableStoreIsFound(t *testing.T) {
	blind := scenariotest.Protocol(t, "lease-in-milliseconds")
	nodes := 0
	r := newRunner(t, Check{Protocol: defaultName}, func(n Node) (isr.Handler, error) {
		if nodes++; (nodes-1)/2%2 == 0 {
			return blind.New(n.Config)
		}
		return recipe.New(n.Config)
	})
	s := must.Of(worlds.Checked(simple()))(t)
	_, f := r.campaign(s, 1, 50)
	if f == nil || f.kind != kindUnstable || f.repeatable() {
		t.Fatalf("a store that does not repeat itself is reported as %+v", f)
	}
	// The text has, in this order, the violation, its evidence, the note that it cannot be repeated, and the
	// difference.
	rest := f.text
	for _, want := range []string{
		"violated: simple under store-under-test\n\nlock-theft: only its holder replaces, ", "  +0s         ",
		"LOCK of /home: ", "that run cannot be repeated: the store under test is not deterministic",
		"violated: lock-theft after ", " the first time, and then ",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Errorf("the report lacks %q, or it comes too early:\n%s", want, f.text)
		}
		rest = after
	}
}

// TestUnstableStoresAreFoundWithoutAViolation: one schedule in a hundred is run again, and must be the same.
func TestUnstableStoresAreFoundWithoutAViolation(t *testing.T) {
	runs := 0 // like a package's variable
	for name, before := range map[string]func(get func(key string)){
		"":          nil,
		"asks once": func(get func(string)) { get("/a") },
		"by the order of a map": func(get func(string)) {
			for key := range map[string]bool{"/a": true, "/b": true, "/c": true, "/d": true} {
				get(key)
			}
		},
		"by a package's variable": func(get func(string)) {
			if runs++; runs%7 == 0 {
				get("/a")
			}
		},
	} {
		r := newRunner(t, Check{Protocol: defaultName}, func(n Node) (isr.Handler, error) {
			store, err := recipe.New(n.Config)
			return asksFirst{store, n, before}, err
		})
		s := must.Of(worlds.Checked(simple()))(t)
		_, f := r.campaign(s, 1, 200)
		if !strings.HasPrefix(name, "by ") {
			if f != nil {
				t.Errorf("%q: a store that repeats itself is refused: %s", name, f.text)
			}
			continue
		}
		if f == nil || f.kind != kindUnstable || f.repeatable() || !strings.HasPrefix(f.text,
			"broken: simple under store-under-test: the store under test is not deterministic") {
			t.Errorf("%q: a store that does not repeat itself is reported as %+v", name, f)
		}
	}
}

// asksFirst is a store that asks for other rows before each page.
type asksFirst struct {
	isr.Handler
	node   Node
	before func(get func(key string))
}

func (a asksFirst) Get(ctx context.Context, key string) (isr.Served, error) {
	if a.before != nil {
		a.before(func(key string) {
			_, _ = a.node.Client.GetItem(ctx,
				&dynamodb.GetItemInput{TableName: &a.node.Table, Key: pagecache.Key(key, isr.SortMeta)})
		})
	}
	return a.Handler.Get(ctx, key)
}

// TestALivenessFailureStaysOneInItsReplay: a replay makes only one run, and all answers of this run may be errors, as
// here. Only a search, which has seen other runs, can say that the store was never tested.
func TestALivenessFailureStaysOneInItsReplay(t *testing.T) {
	s := simple()
	s.Settle = 10 * time.Second
	s = must.Of(worlds.Checked(s))(t)
	for _, tc := range []struct {
		before answers
		want   string
	}{
		{answers{all: 5, errors: 4, fresh: 1, asked: true}, "violated: liveness"},
		{answers{}, kindVacuous},
	} {
		stuck := func(Node) (isr.Handler, error) { return fails{}, nil }
		r := newRunner(t, Check{Protocol: defaultName}, stuck)
		*r.answers = tc.before
		_, f := r.campaign(s, 1, 1)
		if f == nil || f.kind != tc.want {
			t.Fatalf("found %+v, want %s", f, tc.want)
		}
		if _, again := newRunner(t, Check{Protocol: defaultName}, stuck).replay(s, *f.replay); again == nil ||
			again.kind != tc.want {
			t.Errorf("the replay is %+v, want %s", again, tc.want)
		}
	}
}

// fails is a store whose every answer is an error.
type fails struct{}

func (fails) Get(context.Context, string) (isr.Served, error) {
	return isr.Served{}, errors.New("not today")
}

// patient waits before each request, longer than any configuration of a cache says.
type patient struct {
	isr.Handler
	clock interface{ Sleep(time.Duration) }
}

func (p patient) Get(ctx context.Context, key string) (isr.Served, error) {
	p.clock.Sleep(2 * time.Hour)
	return p.Handler.Get(ctx, key)
}

// TestAClockThatDriftsPastItsPromiseIsNoFault: in runs of a store that waits for hours, a clock drifts by more than its
// world promises. No failure of a correct store is reported for that reason, and a broken store is still found.
func TestAClockThatDriftsPastItsPromiseIsNoFault(t *testing.T) {
	check := func(newStore func(isr.Config) (isr.Handler, error)) *failure {
		t.Helper()
		s := simple()
		s.Skew, s.Cache.Lease, s.Cache.Render, s.Cache.Revalidate = 2*time.Second, 10*time.Second,
			8*time.Second, 5*time.Second
		s.Actors[0].Drift.PPM, s.Actors[1].Drift.PPM = 2000, -2000
		s = must.Of(worlds.Checked(s))(t)
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
	broken := scenariotest.Protocol(t, "lease-in-milliseconds")
	if f := check(broken.New); f == nil || !f.violates() {
		t.Errorf("got %+v for a store with leases in milliseconds, want a violation", f)
	}
}

// simple returns a world of two contenders.
func simple() *spec.Scenario {
	s := spec.Defaults()
	s.Name, s.Protocol = "simple", defaultName
	for _, name := range []string{"alice", "bob"} {
		s.Actors = append(s.Actors, spec.Actor{Name: name, Script: []spec.Command{{Verb: "get", Key: "/home"}}})
	}
	return s
}

// TestTheSimulatorsGoroutinesAreTold: the guard recognises the goroutines of the simulator, in every release of Go that
// runs this test.
func TestTheSimulatorsGoroutinesAreTold(t *testing.T) {
	coroutine := func(run func()) {
		next, stop := iter.Pull(func(yield func(bool) bool) {
			run()
			yield(true)
		})
		defer stop()
		next()
	}
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
		look := func() { got = append(got, calledByTheSimulator()) }
		inStore(func() { tc.call(look) })
		coroutine(func() { inStore(func() { tc.call(look) }) }) // the simulator's actors are coroutines, too
		if want := []bool{tc.want, tc.want}; !slices.Equal(got, want) {
			t.Errorf("%s: the simulator's %v, want %v", tc.where, got, want)
		}
		if calledByTheSimulator() {
			t.Errorf("after %s, the test's own goroutine looks like one of the simulator's", tc.where)
		}
	}
}

func TestNames(t *testing.T) {
	for _, tc := range []struct{ test, file, run string }{
		{"TestStore", "testdata/isr-sim/TestStore.yaml", "^TestStore$"},
		{"TestStore/in_eu-west-1", "testdata/isr-sim/TestStore-in_eu-west-1-e35f2b23.yaml",
			"^TestStore$/^in_eu-west-1$"},
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
	wanted := []spec.Mark{mark.LockTakenOver, mark.TTLDeletion, spec.Mark(ddbfake.FaultResponseLost.String())}
	of := func(worlds, schedules int, marks map[spec.Mark]int) tally {
		return tally{Tally: engine.Tally{Worlds: worlds, Schedules: schedules, Marks: marks}}
	}
	count := of(worlds.EnoughWorlds, worlds.EnoughSchedules, map[spec.Mark]int{
		mark.TTLDeletion: 1, mark.NodePaused: 9,
	})
	if got := count.missing(wanted); len(got) != 2 || got[0] != wanted[0] || got[1] != wanted[2] {
		t.Errorf("missing: %v, want %v and %v", got, wanted[0], wanted[2])
	}
	if got := count.missing([]spec.Mark{}); len(got) != 0 {
		t.Errorf("missing %v of nothing wanted", got)
	}
	for _, few := range []tally{
		of(worlds.EnoughWorlds-1, worlds.EnoughSchedules, count.Marks),
		of(worlds.EnoughWorlds, worlds.EnoughSchedules-1, count.Marks),
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
	pages := []spec.Mark{mark.Published, mark.ServedFresh}
	count.Worlds = 1
	if got := count.missing(pages); !slices.Equal(got, pages) {
		t.Errorf("missing %v, want %v: most worlds reach them", got, pages)
	}
}

// TestTally checks the sums over the worlds of a check, and which of them mean that nothing was judged.
func TestTally(t *testing.T) {
	report := scenariotest.Ran(t, campaign.Campaign{Scenario: simple(), Protocol: recipe.Reference(), Schedules: 2})
	count := tally{Tally: engine.NewTally()}
	want := engine.Tally{
		Worlds: 3, Schedules: 3 * report.Schedules, Steps: 3 * report.Steps, Marks: map[spec.Mark]int{},
		Misfit: "one", Pageless: "one", Judged: true, Asked: true,
	}
	for _, m := range report.Reached() {
		want.Marks[m] = 3
	}
	for _, misfit := range []string{"", "one", "two"} {
		report.Misfit, report.Pageless = misfit, misfit
		count.Add(report)
	}
	if diff := cmp.Diff(want, count.Tally); diff != "" || want.Marks[mark.Published] == 0 {
		t.Errorf("the sum of three worlds (-want +got):\n%s", diff)
	}

	idle := simple()
	idle.Invariants, idle.Bounds.Schedules = []string{"tenant-isolation"}, 1
	report = scenariotest.Ran(t, campaign.Campaign{Scenario: idle, Protocol: recipe.Reference(), Schedules: 1})
	if len(report.Idle()) == 0 {
		t.Fatalf("a world in which nothing is judged: %+v", report)
	}
	none := engine.NewTally()
	none.Add(report)
	if count.Add(report); none.Judged || !count.Judged {
		t.Errorf("a world in which nothing is judged counts as %v, and after others as %v", none.Judged, count.Judged)
	}

	for _, tc := range []struct {
		engine.Tally
		want string
	}{
		{engine.Tally{}, ""},
		{engine.Tally{Pageless: "no page"}, "no page"},
		{engine.Tally{Pageless: "no page", Marks: map[spec.Mark]int{mark.Published: 1}}, ""},
		{engine.Tally{Pageless: "no page", Misfit: "no row"}, "no row"},
	} {
		if got := tc.Rows(); got != tc.want {
			t.Errorf("rows %+v: %q, want %q", tc.Tally, got, tc.want)
		}
	}

	few := tally{Tally: engine.Tally{Worlds: 1}}
	got := few.chance([]spec.Mark{mark.Published, mark.LockTakenOver})
	if !strings.HasPrefix(got, "not tested: published, lock-taken-over: ") {
		t.Errorf("of a mark that most worlds reach, and one that few do, it says %q", got)
	}
	plain, goroutines := &Check{}, &Check{Goroutines: true}
	if plain.hint([]spec.Mark{mark.Published, mark.ClockSet}) != "" ||
		!strings.HasPrefix(plain.hint([]spec.Mark{mark.TTLDeletion}), "hint: TTL deletes ") ||
		!strings.HasPrefix(goroutines.hint([]spec.Mark{mark.ClockSet}), "hint: nothing has read a node's Clock") ||
		goroutines.hint([]spec.Mark{mark.Published}) != "" {
		t.Error("the hint is not for those whose rows TTL never deleted")
	}

	locks := LockCheck{}.check().subject
	published, taken := map[spec.Mark]int{mark.Published: 1}, map[spec.Mark]int{mark.HoldTaken: 1}
	for _, tc := range []struct {
		of     *subject
		worlds int
		marks  map[spec.Mark]int
		answers
		want string
	}{
		{&stores, 0, published, answers{all: 2}, "no world was run"},
		{&stores, 1, nil, answers{all: 2, errors: 2}, "no request reached the node's Client"},
		{&stores, 1, published, answers{asked: true}, "the store served nothing in 1 worlds"},
		{&stores, 1, published, answers{all: 2, errors: 2, asked: true}, "the store served nothing in 1 worlds"},
		{&stores, 1, nil, answers{all: 2, errors: 1, asked: true}, "no page was published in 1 worlds"},
		{&stores, 1, published, answers{all: 2, errors: 1, asked: true}, ""},
		{locks, 0, taken, answers{}, "no world was run"},
		{locks, 1, published, answers{all: 2, asked: true}, "no lock was taken in 1 worlds"},
		{locks, 1, taken, answers{}, "no request reached the node's Client"},
		{locks, 1, taken, answers{asked: true}, ""},
	} {
		count := tally{answers: &tc.answers, Tally: engine.Tally{
			Worlds: tc.worlds, Marks: tc.marks, Judged: tc.of == &stores,
		}}
		if got := count.nothing(tc.of); got != tc.want && (tc.want == "" || !strings.HasPrefix(got, tc.want)) {
			t.Errorf("%s, %d worlds, %v, %+v: %q, want %q", tc.of.function, tc.worlds, tc.marks, tc.answers, got,
				tc.want)
		}
	}
}

// asking asks for an endpoint as the SDK's configuration does, and sends a request there.
type asking struct{ asked *string }

func (a asking) Get(ctx context.Context, _ string) (isr.Served, error) {
	*a.asked = os.Getenv("AWS_ENDPOINT_URL_DYNAMODB")
	_, err := dynamodb.New(dynamodb.Options{
		Region: "eu-west-1", BaseEndpoint: a.asked, Retryer: aws.NopRetryer{}, Credentials: aws.AnonymousCredentials{},
	}).ListTables(ctx, nil)
	return isr.Served{}, err
}

// TestAClientOfItsOwn: a client that the store made connects nowhere. The first message is that nothing reached the
// node's client.
func TestAClientOfItsOwn(t *testing.T) {
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://the-real-one.example")
	settling, asked := simple(), ""
	settling.Settle = 10 * time.Second
	for _, goroutines := range []bool{false, true} {
		r := newRunner(t, Check{Protocol: defaultName, Goroutines: goroutines},
			func(Node) (isr.Handler, error) { return asking{&asked}, nil })
		_, f := r.campaign(settling, 1, 1)
		if want := "vacuous: simple under store-under-test: " + unasked; f == nil || !strings.HasPrefix(f.text, want) ||
			!strings.Contains(f.text, `unsupported protocol scheme "no-dial"`) {
			t.Errorf("goroutines %v: asked for %q: %+v, want %s", goroutines, asked, f, want)
		}
	}
	if got := os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"); got != "http://the-real-one.example" {
		t.Errorf("after the check the endpoint is %s", got)
	}
}

// TestLocksThatNeverExtend: a lock that can extend its leases has been tested only if it did.
func TestLocksThatNeverExtend(t *testing.T) {
	extended := map[spec.Mark]int{mark.HoldExtended: 1}
	for _, tc := range []struct {
		lock   Held
		worlds int
		marks  map[spec.Mark]int
		reach  []spec.Mark
		wrong  bool
	}{
		{extends{}, worlds.EnoughWorlds, nil, nil, true},
		{extends{}, worlds.EnoughWorlds, extended, nil, false},
		{extends{}, 1, nil, nil, false},
		{extends{}, worlds.EnoughWorlds, nil, []spec.Mark{mark.HoldTaken}, false},
		{struct{ Held }{}, worlds.EnoughWorlds, nil, nil, false},
		{nil, worlds.EnoughWorlds, nil, nil, false}, // none was ever taken
	} {
		c := LockCheck{Reach: tc.reach, extends: &atomic.Bool{}}
		store := must.Of(c.store(func(Machine) (Lock, error) { return lends{tc.lock}, nil })(Node{}))(t)
		if tc.lock != nil {
			must.Done(t)(store.(hooks.LockClient).Acquire(t.Context(), "job"))
		}
		count := &tally{Tally: engine.Tally{
			Worlds: tc.worlds, Schedules: worlds.EnoughSchedules, Marks: tc.marks,
		}}
		why, _ := c.check().subject.unmet(count, tc.reach == nil)
		if want := "no Extend has ever succeeded"; strings.HasSuffix(why, want) != tc.wrong {
			t.Errorf("%T, %d worlds, %v, reach %v: %q", tc.lock, tc.worlds, tc.marks, tc.reach, why)
		}
	}
}

// lends is a lock that is always free.
type lends struct{ held Held }

func (l lends) Acquire(context.Context, string) (Held, error) { return l.held, nil }

type extends struct{ Held }

func (extends) Extend(context.Context) error { return nil }

// never is an invariant of the caller with the given name. The store under test gives it nothing to judge.
func never(name string) invariant.Invariant {
	return invariant.Invariant{Name: name, Statement: "nothing", Check: func(invariant.Evidence) invariant.Finding {
		return invariant.Finding{Verdict: invariant.OK}
	}}
}

// TestUnproved checks which searches without a violation prove nothing, and the reason that is printed.
func TestUnproved(t *testing.T) {
	world := simple()
	world.Actors, world.Bounds.Ticks = world.Actors[:1], 0
	r := newRunner(t, Check{Protocol: defaultName}, func(n Node) (isr.Handler, error) { return recipe.New(n.Config) })
	found, f := r.prove(world, 0)
	if f != nil {
		t.Fatal(f.text)
	}
	if !found.Explored.Complete || len(found.Proved()) < 2 || r.answers.all == 0 || r.answers.errors > 0 {
		t.Fatalf("the proof is %+v, and the answers %+v; want a complete one", found, r.answers)
	}
	const served = "none of the store's 3 answers was an error"
	open := []campaign.Deadline{{Of: "the end of alice's lease", Lease: true, Before: true}}
	for _, tc := range []struct {
		name           string
		change         func(p *campaign.Proof, r *runner)
		prefix, suffix string
	}{
		{"a proof", func(*campaign.Proof, *runner) {}, "", ""},
		{"one of one invariant", func(p *campaign.Proof, _ *runner) { p.Scenario.Invariants = found.Proved()[:1] }, "",
			""},
		{"none of any", func(p *campaign.Proof, _ *runner) { p.Scenario.Without = found.Proved() },
			"vacuous: all invariants that a search can prove are left out of world.yaml", ""},
		{"cut", func(p *campaign.Proof, _ *runner) { p.Explored.Complete, p.Why = false, "the bound was met" },
			"not complete: ", "\nit ended because: the bound was met\n" + narrower},
		{"cut by the time of its test",
			func(p *campaign.Proof, r *runner) { p.Explored.Complete = false; r.limit.over.Store(true) },
			"not complete: ",
			"\nit ended because: the time of the test is nearly over (go test -timeout)\n" + narrower},
		{"nothing served", func(_ *campaign.Proof, r *runner) { r.answers.errors = 3 },
			"vacuous: nothing was violated in the ",
			" schedules of world.yaml, but the store served nothing\n" +
				"3 of the store's 3 answers were errors, such as: <nil>"},
		{"nothing served, by rows that do not fit", func(p *campaign.Proof, r *runner) {
			r.answers.errors, p.Misfit = 3, "no row fits"
		},
			"vacuous: ",
			"but the store served nothing\nno row fits\n3 of the store's 3 answers were errors, such as: <nil>"},
		{"a mark was missed", func(p *campaign.Proof, _ *runner) {
			p.Missing, p.Misfit = []spec.Mark{mark.NodeCrashed}, "no row fits"
		},
			"vacuous: simple under store-under-test: ", "\nno row fits\n" + served},
		{"an end was missed, without a tick", func(p *campaign.Proof, _ *runner) { p.Deadlines = open },
			"vacuous: simple under store-under-test: ",
			"\nhint: one tick has time go to the end of any lease at any moment (bounds: {ticks: 1})\n"},
		{"an end was missed, with a tick",
			func(p *campaign.Proof, _ *runner) { p.Deadlines, p.Scenario.Bounds.Ticks = open, 1 },
			"vacuous: simple under store-under-test: ", "\n" + served},
	} {
		proof, s, r := *found, *world, newRunner(t, Check{Protocol: defaultName}, nil)
		proof.Scenario, proof.Deadlines, s.Bounds.Ticks, *r.answers = &s, nil, 0, answers{all: 3, requests: 9}
		tc.change(&proof, &r)
		got := r.unproved(&proof, "world.yaml")
		if (got == "") != (tc.prefix == "") || !strings.HasPrefix(got, tc.prefix) ||
			!strings.HasSuffix(got, tc.suffix) {
			t.Errorf("%s: it is said %q, want %q...%q", tc.name, got, tc.prefix, tc.suffix)
		}
	}

	found.Scenario.Without, found.Deadlines = []string{"mutual-exclusion", "freshness"}, nil
	said := Check{Invariants: []invariant.Invariant{never("own"), never("mutual-exclusion")}}.proved(found,
		"world.yaml")
	judged := "\nown: judged in these schedules, and not proved: it is the test's own\n" +
		"mutual-exclusion: not judged: left out\nfreshness: not judged: left out\n"
	proved := strings.Contains(said, "\nproved within the bounds of world.yaml: ")
	if !proved || !strings.HasPrefix(said, "complete: ") || !strings.HasSuffix(said, judged) {
		t.Errorf("of a proof it is said\n%s", said)
	}
}

const narrower = "hint: narrower bounds in world.yaml make a search short (ticks, sweeps, pauses, crashes, " +
	"faults, actors)\n"

// TestProofsFail checks the message of a search that has found a violation.
func TestProofsFail(t *testing.T) {
	settling := simple()
	settling.Settle = 10 * time.Second
	for _, tc := range []struct {
		name            string
		world           *spec.Scenario
		store           isr.Handler
		kind, text, how string
	}{
		{"no answer but errors", settling, fails{}, kindVacuous,
			"vacuous: simple under store-under-test: no request reached the node's Client: ",
			"found in schedule 1 of a search through all, after "},
		{"no row, and a page each time", simple(), nil, "unknown",
			"unknown: simple under store-under-test: ", "found in a search through all schedules"},
	} {
		r := newRunner(t, Check{Protocol: defaultName}, func(n Node) (isr.Handler, error) {
			if tc.store == nil {
				return renders{n}, nil
			}
			return tc.store, nil
		})
		_, f := r.prove(tc.world, 0)
		if f == nil || f.kind != tc.kind || !strings.HasPrefix(f.text, tc.text) || !strings.HasPrefix(f.how, tc.how) {
			t.Errorf("%s: found %+v, want %s: %s, %s", tc.name, f, tc.kind, tc.text, tc.how)
		}
	}
}

// renders is a store that renders the page for each request.
type renders struct{ Node }

func (r renders) Get(ctx context.Context, key string) (isr.Served, error) {
	body, err := r.Render(ctx, key, func(context.Context) error { return nil })
	return isr.Served{Body: body}, err
}

// TestProvable checks the changes that a check makes to the world of a proof.
func TestProvable(t *testing.T) {
	const plain = "name: plain\nactors:\n  - name: alice\n    script: [get /home]\n"
	silent := Check{Rows: isr.Schema{
		Translate: func(string, map[string]types.AttributeValue) []map[string]types.AttributeValue { return nil },
	}}
	byNames := isr.Schema{Rows: []isr.Row{{Partition: "id = page#{key}", Body: "html", Generated: "at ms"}}}
	pages := []spec.Mark{mark.Published, mark.ServedFresh}
	for _, tc := range []struct {
		name, file string
		Check
		rows    int // how many kinds
		reach   []spec.Mark
		without []string
		wrong   string
	}{
		{"as it is", plain, Check{}, 0, pages, nil, ""},
		{"with its own rows and marks", plain + "rows: tabletheory\nreach: [crash]\n", Check{}, 2,
			[]spec.Mark{mark.NodeCrashed}, nil, ""},
		{"with other marks", plain + "reach: [crash]\n", Check{Reach: pages[:1]}, 0, pages[:1], nil, ""},
		{"with no marks", plain + "reach: [crash]\n", Check{Reach: []spec.Mark{}}, 0, []spec.Mark{}, nil, ""},
		{"with other rows", plain + "rows: tabletheory\n", Check{Rows: byNames}, 1, pages, nil, ""},
		{"with a function", plain + "rows: tabletheory\nfaults: [maybe throttled]\n", silent, 0, pages, nil, ""},
		{"with less judged", plain, Check{Without: []string{"freshness"}}, 0, pages, []string{"freshness"}, ""},
		{"a fault of pages", plain + "faults: [maybe throttled key=META]\n", Check{}, 0, pages, nil, ""},
		{"a fault of pages, by a function", plain + "faults: [maybe throttled key=META]\n", silent, 0, nil, nil,
			"for key META"},
		{"a fault of locks, by a function", plain + "faults: [maybe throttled key=LOCK]\n", silent, 0, nil, nil,
			"for key LOCK"},
		{"with a promise of the check's, and one of its own", plain + "promise: {max-age: 2m}\n",
			Check{Promise: spec.Promise{MaxAge: time.Minute, Recipe: true, AcrossNodes: true}}, 0, pages, nil, ""},
		{"of nothing", "name: none\n", Check{}, 0, nil, nil, "actors"},
	} {
		file := filepath.Join(t.TempDir(), "world.yaml")
		must.OK(t, os.WriteFile(file, []byte(tc.file), 0o600))
		s, err := tc.provable(file)
		switch {
		case tc.wrong != "":
			if err == nil || !strings.Contains(err.Error(), tc.wrong) {
				t.Errorf("%s: the error is %v, want %q", tc.name, err, tc.wrong)
			}
		case err != nil:
			t.Errorf("%s: %v", tc.name, err)
		case s.Promise != tc.Promise, len(s.Rows.Rows) != tc.rows,
			(s.Rows.Translate == nil) != (tc.Rows.Translate == nil),
			!slices.Equal(s.Reach, tc.reach), !slices.Equal(s.Without, tc.without):
			t.Errorf("%s: rows %+v, marks %v, without %v, promise %+v", tc.name, s.Rows, s.Reach, s.Without, s.Promise)
		}
	}
	// Of two promises of freshness, the stricter one is proved.
	for _, of := range []struct{ file, check, want time.Duration }{
		{0, time.Minute, time.Minute}, {time.Minute, 0, time.Minute},
		{30 * time.Second, time.Minute, 30 * time.Second}, {2 * time.Minute, time.Minute, time.Minute},
	} {
		file, text := filepath.Join(t.TempDir(), "world.yaml"), plain
		if of.file > 0 {
			text += fmt.Sprintf("promise: {max-age: %v}\n", of.file)
		}
		must.OK(t, os.WriteFile(file, []byte(text), 0o600))
		s := must.Of(Check{Promise: spec.Promise{MaxAge: of.check}}.provable(file))(t)
		if s.Promise.MaxAge != of.want {
			t.Errorf("the file promises %v and the check %v: %v is proved, want %v", of.file, of.check,
				s.Promise.MaxAge, of.want)
		}
	}

	for _, tc := range []struct{ only, without, more, wantOnly, wantWithout []string }{
		{nil, nil, []string{"a"}, nil, []string{"a"}},
		{nil, []string{"a"}, []string{"a", "b"}, nil, []string{"a", "b"}},
		{[]string{"a", "b", "c"}, nil, []string{"a"}, []string{"b", "c"}, nil},
		{[]string{"a", "b", "c"}, nil, []string{"b", "d"}, []string{"a", "c"}, nil},
	} {
		s := spec.Scenario{Invariants: slices.Clone(tc.only), Without: slices.Clone(tc.without)}
		Check{Without: tc.more}.leaveOut(&s)
		if !slices.Equal(s.Invariants, tc.wantOnly) || !slices.Equal(s.Without, tc.wantWithout) {
			t.Errorf("%v without %v, left out %v: got %v without %v", tc.only, tc.without, tc.more,
				s.Invariants, s.Without)
		}
	}
}

// TestRunsEndBeforeTheirTest tests a limit in a bubble, where time moves when all goroutines sleep.
func TestRunsEndBeforeTheirTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tc := range []struct {
			has, stopped bool
			after        time.Duration
			want         bool
		}{
			{true, false, time.Minute - reserve - 1, false},
			{true, false, time.Minute - reserve, true},
			{true, true, time.Minute, false},
			{false, false, time.Minute, false},
		} {
			l := &limit{Context: t.Context()}
			stop := l.endBefore(time.Now().Add(time.Minute), tc.has) //nolint:forbidigo // the bubble's time
			if tc.stopped {
				stop()
			}
			time.Sleep(tc.after) //nolint:forbidigo // the bubble's time
			synctest.Wait()
			if got := l.Err() != nil; got != tc.want {
				t.Errorf("%+v: the limit is over: %v", tc, got)
			}
			stop()
		}
	})
}

// hopeful is a cache that takes an error of its publish for a success. The failed request would also have given the
// lease back.
type hopeful struct{ *pagecache.RecipeA }

func (h hopeful) Publish(ctx context.Context, lease pagecache.Lease, m pagecache.Meta) error {
	if err := h.RecipeA.Publish(ctx, lease, m); errors.Is(err, isr.ErrLeaseLost) {
		return err
	}
	return nil
}

func newHopeful(n Node) (isr.Handler, error) {
	rows, err := pagecache.NewRecipeA(n.Config)
	if err != nil {
		return nil, err
	}
	cache, err := pagecache.NewOn(hopeful{rows}, n.Config)
	if err != nil {
		return nil, err
	}
	return silent{cache}, nil
}

// silent has only Get, and does not report its operations, like another team's code.
type silent struct{ cache isr.Handler }

func (s silent) Get(ctx context.Context, key string) (isr.Served, error) {
	return s.cache.Get(storeop.Hooks{}.In(ctx), key)
}

// TestAReleaseThatWasNeverSentIsNoExcuse: a lock that stays behind after a failed publish is a failure of the store if
// no fault prevented the holder from giving it back: the holder did not try.
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
		"943056000": true, "943055999": false, "946684811": true, "950313600": true, "950313601": false,
		"946684800": true, "946684810": true, "946684810000": true, "946684810000000": true, "946684810000000000": true,
		"2000-01-01T00:00:10Z": true, "2208988800": false, "2208988800000": false, "950400000": false,
		"946684810000000001": false, "123456789": false,
		"1234567890123456789": false,
	} {
		if got := ofWallYear(text); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

// inputOfWall is a request with a time of package time, and inputOfNode a request with a time of a node's clock.
var (
	inputOfWall = &dynamodb.GetItemInput{Key: pagecache.Key("946684800", "x")}
	inputOfNode = &dynamodb.GetItemInput{Key: pagecache.Key("2208988800", "x")}
)

// TestTimesOfPackageTime: if a store reads time.Now, one of its first requests has that time.
func TestTimesOfPackageTime(t *testing.T) {
	for before, want := range map[int]bool{0: true, looked - 1: true, looked: false} {
		g := &guard{answers: &answers{}}
		for range before {
			g.checkTimes("alice", inputOfNode)
		}
		g.checkTimes("alice", inputOfWall)
		if got := g.offence() != nil; got != want {
			t.Errorf("after %d other requests: %v", before, g.offence())
		}
	}
}

// side is the world's part of a node. It notes the calls that reach it.
type side struct {
	clockwork.Clock
	reached []string
}

func (s *side) note(what string) error { s.reached = append(s.reached, what); return nil }

func (s *side) Sleep(time.Duration)                             { _ = s.note("Clock.Sleep") }
func (s *side) PutBody(context.Context, string, []byte) error   { return s.note("PutBody") }
func (s *side) GetBody(context.Context, string) ([]byte, error) { return nil, s.note("GetBody") }
func (s *side) Step(_ context.Context, b hooks.BodyStep) error  { return s.note(b.Text) }
func (s *side) Client() hooks.BodyClient                        { return hooks.BodyClient{} }
func (s *side) Now() time.Time                                  { return time.Time{} }
func (s *side) State(of func() hooks.Kept) hooks.Kept           { return of() }

func (s *side) config() isr.Config {
	return isr.Config{
		Clock: s, Bodies: s,
		Client: ddbfake.NewClient(func(_ context.Context, call ddbfake.Call) (any, error) {
			return &dynamodb.GetItemOutput{}, s.note(fmt.Sprintf("DynamoDB (%T)", call.Input))
		}, ddbfake.WithActor("alice")),
		Render: func(context.Context, string, func(context.Context) error) ([]byte, error) {
			return nil, s.note("Render")
		},
	}
}

// TestWaysIntoTheSimulator: a goroutine started by the store cannot call the simulator in any way, unless the check
// says that the store has goroutines.
func TestWaysIntoTheSimulator(t *testing.T) {
	ctx := t.Context()
	get := func(c isr.Client) error {
		_, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("pages"), Key: pagecache.Key("pk", "sk")})
		return err
	}
	for _, way := range []struct {
		name string
		take func(Node) error
	}{
		{"DynamoDB (*dynamodb.GetItemInput)", func(n Node) error { return get(n.Client) }},
		{"DynamoDB (*dynamodb.GetItemInput)", func(n Node) error { return get(n.Config.Client) }},
		{"Clock.Sleep", func(n Node) error { n.Clock.Sleep(time.Second); return nil }},
		{"Render", func(n Node) error { _, err := n.Render(ctx, "/home", nil); return err }},
		{"PutBody", func(n Node) error { return n.Bodies.PutBody(ctx, "body", nil) }},
		{"GetBody", func(n Node) error { _, err := n.Bodies.GetBody(ctx, "body"); return err }},
		{"a list", func(n Node) error { return n.Bodies.(hooks.BodySteps).Step(ctx, hooks.BodyStep{Text: "a list"}) }},
	} {
		for _, goroutines := range []bool{false, true} {
			for _, inStore := range []func(func()){inStore, func(call func()) { call() }} {
				s, g := &side{}, &guard{goroutines: goroutines, answers: &answers{}}
				n, err := g.node(s.config())
				must.OK(t, err)
				open := goroutines
				inStore(func() { open, err = open || calledByTheSimulator(), way.take(n) })
				offence, want := g.offence(), "the store under test called "+way.name+
					" on alice from a goroutine of its own: "
				switch {
				case open && !goroutines && (g.answers.requests == 1) != strings.HasPrefix(way.name, "DynamoDB"):
					t.Errorf("%s: %d requests", way.name, g.answers.requests)
				case open && (err != nil || offence != nil || !slices.Equal(s.reached, []string{way.name})):
					t.Errorf("%s reached %v, %v, offence %v", way.name, s.reached, err, offence)
				case !open && (len(s.reached) > 0 || offence == nil || !strings.HasPrefix(offence.Error(), want)):
					t.Errorf("%s from a goroutine reached %v; offence %v, want %s", way.name, s.reached, offence, want)
				case !open && way.name != "Clock.Sleep" && !errors.Is(err, offence):
					t.Errorf("%s has the error %v, want %v", way.name, err, offence)
				}
			}
		}
	}

	s, g := &side{}, &guard{answers: &answers{}}
	cfg := s.config()
	cfg.Bodies = struct{ isr.BodyStore }{s}
	n, err := g.node(cfg)
	if _, steps := n.Bodies.(hooks.BodySteps); steps || err != nil {
		t.Errorf("bodies without steps have them: %v, %v", steps, err)
	}
	plain := &guard{answers: &answers{}}
	if n, err := plain.node(cfg); err != nil || n.Bodies.PutBody(ctx, "body", nil) == nil || plain.offence() == nil {
		t.Errorf("bodies without steps are reached from a goroutine: %v, offence %v", err, plain.offence())
	}
	inStore(func() {
		_, err = n.Client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("pages"), Key: inputOfWall.Key})
	})
	first := g.offence()
	const read = "read time.Now instead of the node's clock: alice sends *dynamodb.GetItemInput with 946684800"
	if err != nil || first == nil || !strings.Contains(first.Error(), read) {
		t.Errorf("a request with a time of package time: %v, offence %v", err, first)
	}
	if get(n.Client) == nil || g.offence() != first {
		t.Errorf("the first offence is %v, want %v", g.offence(), first)
	}
}

// TestPackageTimeThatMoves: package time counts as moved only in a bubble, and only after a wait.
func TestPackageTimeThatMoves(t *testing.T) {
	if moved() {
		t.Error("time outside of a bubble counts as moved")
	}
	synctest.Test(t, func(t *testing.T) {
		if moved() {
			t.Error("time has moved at the beginning of a bubble")
		}
		if time.Sleep(time.Nanosecond); !moved() { //nolint:forbidigo // the bubble's time
			t.Error("time has not moved by a wait")
		}
	})
}

// TestRequestsAreCounted: requests are counted, including those that no schedule would have let through.
func TestRequestsAreCounted(t *testing.T) {
	code := func(code string) error { return fmt.Errorf("put: %w", &smithy.GenericAPIError{Code: code}) }
	invalid, absent, failed := code("ValidationException"), code("ResourceNotFoundException"),
		code("ConditionalCheckFailedException")
	g := &guard{answers: &answers{}}
	for i, tc := range []struct {
		err  error
		want answers
	}{
		{nil, answers{asked: true, requests: 1}},
		{errors.New("not today"), answers{asked: true, requests: 2}},
		{failed, answers{asked: true, requests: 3}},
		{invalid, answers{asked: true, requests: 4, refused: 1, refusal: invalid}},
		{absent, answers{asked: true, requests: 5, refused: 2, refusal: invalid}},
	} {
		if g.requested(tc.err); *g.answers != tc.want {
			t.Errorf("after request %d: %+v, want %+v", i, *g.answers, tc.want)
		}
	}

	n, told := must.Of(g.node((&side{}).config()))(t), 0
	hooks := storeop.Hooks{Observe: func(storeop.Operation) func(storeop.Operation) { told++; return nil }}
	storeop.HooksOf(g.noting(hooks.In(t.Context()))).Observe(storeop.Operation{})
	if g.answers.operations != 1 || told != 1 {
		t.Errorf("an operation counts as %d, and is told %d times", g.answers.operations, told)
	}
	g.requested(nil) // if the mutex were still held, this would wait for ever
	if err := n.calls.check(t.Context(), "Clock.Sleep"); err == nil {
		t.Error("a call from the test's goroutine is let through")
	}
	if err := (*calls)(nil).check(t.Context(), "Clock.Sleep"); err != nil {
		t.Errorf("a call of a store with goroutines: %v", err)
	}
}

// TestNewStore checks what a check does with the results of a test's newStore.
func TestNewStore(t *testing.T) {
	other := (&side{}).config()
	other.Client = nil
	for _, tc := range []struct {
		name  string
		cfg   isr.Config
		store isr.Handler
		err   error
		want  string
	}{
		{"a store", (&side{}).config(), fails{}, nil, ""},
		{"an error", (&side{}).config(), nil, errors.New("no region"), "newStore: no region"},
		{"both", (&side{}).config(), fails{}, errors.New("no region"), "newStore: no region"},
		{"neither", (&side{}).config(), nil, nil, "newStore: it returned neither a store nor an error"},
		{"another client", other, fails{}, nil, "the simulator's client is a <nil>, not one of the SDK"},
	} {
		asked, g := false, &guard{answers: &answers{}}
		store, err := g.protocol("x", func(Node) (isr.Handler, error) {
			asked = calledByTheSimulator()
			return tc.store, tc.err
		}).New(tc.cfg)
		switch {
		case tc.want == "":
			if c, ok := store.(counted); !ok || c.store != tc.store || err != nil || !asked || g.offence() != nil {
				t.Errorf("%s: got %#v, %v, offence %v", tc.name, store, err, g.offence())
			}
		case store != nil || err == nil || err.Error() != tc.want:
			t.Errorf("%s: got %v, %v, want %s", tc.name, store, err, tc.want)
		case strings.HasPrefix(tc.want, "newStore") != (g.offence() != nil):
			t.Errorf("%s: the offence is %v", tc.name, g.offence())
		}
	}

	nobody := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{}, errors.New("no region")
	})
	for want, options := range map[string]dynamodb.Options{
		"alice":  (&side{}).config().Client.(*dynamodb.Client).Options(),
		"a node": {Region: "eu-west-1", Credentials: nobody},
	} {
		if got := actorOf(dynamodb.New(options)); got != want {
			t.Errorf("the node is %q, want %q", got, want)
		}
	}
	if got := actorOf(dynamodb.New(dynamodb.Options{Region: "eu-west-1"})); got != "a node" {
		t.Errorf("without credentials the node is %q", got)
	}
}

// busy is a store that has all methods, and notes the calls of the simulator.
type busy struct {
	asked []string
	err   error
}

func (b *busy) note(what string) error {
	if calledByTheSimulator() {
		b.asked = append(b.asked, what)
	}
	return b.err
}

func (b *busy) Get(_ context.Context, key string) (isr.Served, error) {
	return isr.Served{}, b.note("get " + key)
}
func (b *busy) Invalidate(_ context.Context, key string) error { return b.note("invalidate " + key) }
func (b *busy) Rollback(_ context.Context, key string) error   { return b.note("rollback " + key) }
func (b *busy) Close() error                                   { return b.note("close") }
func (b *busy) Regenerate(_ context.Context, key string, _ isr.Request) (isr.Served, error) {
	return isr.Served{}, b.note("regenerate " + key)
}

// TestCountedStores: counting a store's answers does not change what the store does.
func TestCountedStores(t *testing.T) {
	ctx, store, g := t.Context(), &busy{err: errors.New("not today")}, &guard{answers: &answers{}}
	c, ok := g.counted(store).(interface {
		isr.Handler
		isr.Invalidator
		isr.Rollbacker
		isr.Regenerator
		io.Closer
	})
	if !ok {
		t.Fatalf("it has lost a method: %T", g.counted(store))
	}
	_, err1 := c.Get(ctx, "/a")
	_, err2 := c.Regenerate(ctx, "/b", isr.Request{})
	for i, err := range []error{err1, err2, c.Invalidate(ctx, "/c"), c.Rollback(ctx, "/d"), c.Close()} {
		if !errors.Is(err, store.err) {
			t.Errorf("the error of call %d is %v", i, err)
		}
	}
	if diff := cmp.Diff([]string{"get /a", "regenerate /b", "invalidate /c", "rollback /d", "close"},
		store.asked); diff != "" {
		t.Errorf("the store was asked (-want +got):\n%s", diff)
	}
	if want := (answers{all: 2, errors: 2, first: store.err}); *g.answers != want {
		t.Errorf("answers %+v, want %+v", *g.answers, want)
	}
	if _, closes := g.counted(getOnly{store}).(io.Closer); closes {
		t.Error("a store that cannot be closed can")
	}
	g.pageless = true
	for _, store := range []isr.Handler{lockClient{}, onceClient{}} {
		if got := g.counted(store); got != store {
			t.Errorf("a %T, which answers nothing, becomes a %T", store, got)
		}
	}
	defer func() {
		const want = "a script asks for the method Rollback, which a property.getOnly does not have"
		if v := recover(); v == nil || fmt.Sprint(v) != want {
			t.Errorf("a store without the method that a script asks for: %v", v)
		}
	}()
	_ = counted{getOnly{store}, g}.Rollback(ctx, "/home")
}

// TestAnswersAreCounted: an error that the world does not explain is shown, if there is one.
func TestAnswersAreCounted(t *testing.T) {
	api := func(code string) error { return &smithy.GenericAPIError{Code: code} }
	errs := map[error]bool{
		&ddbfake.NetworkError{}: true, api("InternalServerError"): true,
		api("ProvisionedThroughputExceededException"): true,
		api("ThrottlingException"):                    true, api("ValidationException"): false,
		errors.New("not today"): false,
	}
	for err, want := range errs {
		if got := injected(fmt.Errorf("get: %w", err)); got != want {
			t.Errorf("%v is a fault of the world: %v, want %v", err, got, want)
		}
	}
	lost, slow, wrong, worse := &ddbfake.NetworkError{}, api("ThrottlingException"), errors.New("not today"),
		errors.New("nor tomorrow")
	c := counted{fails{}, &guard{answers: &answers{}}}
	for i, tc := range []struct {
		served isr.Served
		err    error
		want   answers
	}{
		{isr.Served{Fresh: true}, nil, answers{all: 1, errors: 0, fresh: 1, first: nil}},
		{isr.Served{}, nil, answers{all: 2, errors: 0, fresh: 1, first: nil}},
		{isr.Served{Fresh: true}, lost, answers{all: 3, errors: 1, fresh: 1, first: lost}},
		{isr.Served{}, slow, answers{all: 4, errors: 2, fresh: 1, first: lost}},
		{isr.Served{}, wrong, answers{all: 5, errors: 3, fresh: 1, first: wrong}},
		{isr.Served{}, worse, answers{all: 6, errors: 4, fresh: 1, first: wrong}},
		{isr.Served{}, slow, answers{all: 7, errors: 5, fresh: 1, first: wrong}},
	} {
		if c.count(tc.served, tc.err); *c.guard.answers != tc.want {
			t.Errorf("after answer %d: %+v, want %+v", i, *c.guard.answers, tc.want)
		}
	}
}

// randomStore is broken, and takes its tokens from crypto/rand, as lock clients take the versions of their records.
func randomStore(t *testing.T, goroutines bool) (runner, func() (*failure, string)) {
	t.Helper()
	broken := scenariotest.Protocol(t, "blind-release")
	r := newRunner(t, Check{Protocol: defaultName, Goroutines: goroutines}, func(n Node) (isr.Handler, error) {
		n.Tokens = rand.Text
		return broken.New(n.Config)
	})
	drawn := simple()
	drawn.Bounds.Schedules = 400
	s := must.Of(worlds.Checked(drawn))(t)
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

// TestCryptoRandOfParallelTests: a parallel test shares crypto/rand with others, so it is not seeded. The failure is
// still reported.
func TestCryptoRandOfParallelTests(t *testing.T) {
	t.Parallel()
	_, search := randomStore(t, false)
	f, _ := search()
	if f == nil || f.kind != kindUnstable {
		t.Fatalf("found %+v, want a store that does not repeat itself", f)
	}
	rest := f.text
	for _, want := range []string{
		"violated: simple under store-under-test\n\nlock-theft: ", "that run cannot be repeated: ", " was \"",
		"\" in one run, and ", "crypto/rand was not seeded for each run, which takes a test that is not parallel: ",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Errorf("the report lacks %q, or it comes too early:\n%s", want, f.text)
		}
		rest = after
	}
}

// TestCryptoRandAfterARunThatDoesNotEnd: after the test crypto/rand is as before, although the run that does not end
// still uses its seed.
func TestCryptoRandAfterARunThatDoesNotEnd(t *testing.T) {
	effort.Long(t)
	if race.Enabled {
		t.Skip("with the race detector it keeps the seed")
	}
	reader := rand.Reader
	outside := make(chan struct{}) // made outside of every bubble
	var after [2]string
	for i := range after {
		t.Run("check", func(t *testing.T) {
			r, _ := randomStore(t, true)
			r.newStore = func(Node) (isr.Handler, error) {
				<-outside // a bubble does not notice this wait, and no step of the simulator ends it
				return nil, nil
			}
			r.limit.began, r.limit.end = true, time.Time{} // the least patience
			s := must.Of(worlds.Checked(simple()))(t)
			if _, f := r.campaign(s, 1, 1); f == nil || f.kind != kindStuck {
				t.Errorf("found %+v, want a run that does not end", f)
			}
		})
		after[i] = rand.Text()
	}
	if rand.Reader != reader || after[0] == after[1] {
		t.Errorf("crypto/rand gives %q after two runs of one seed, and its Reader is what it was: %v",
			after, rand.Reader == reader)
	}
}

// TestTheScheduleOfAFailureIsShrunk: a store's failure gets a schedule with fewer context switches in the same world,
// and remains the same failure.
func TestTheScheduleOfAFailureIsShrunk(t *testing.T) {
	effort.Long(t)
	broken := scenariotest.Protocol(t, "blind-release")
	r := newRunner(t, Check{Protocol: defaultName}, func(n Node) (isr.Handler, error) { return broken.New(n.Config) })
	drawn := simple()
	drawn.Bounds.Schedules = 400
	s := must.Of(worlds.Checked(drawn))(t)
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
			t.Errorf("seed %d: digest %s of the replay, want %s\n%s", seed, again.replay.Digest,
				small.replay.Digest, trace)
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
		{kind: kindUnstable}, {kind: kindPanic, replay: &spec.Replay{}, world: simple()},
		{kind: "unknown", replay: &spec.Replay{}, world: simple()},
		// Run again, this one violates nothing.
		{kind: "violated: lock-theft", replay: &spec.Replay{}, world: simple()},
	} {
		if got := r.shrunk(f); got != f {
			t.Errorf("%s was shrunk to %+v", f.kind, got)
		}
	}
}

// TestShrinkingAScheduleEnds: shrinking ends with the first run that does not end, and at the latest when its time is
// over.
func TestShrinkingAScheduleEnds(t *testing.T) {
	effort.Long(t)
	for _, goroutines := range effort.Fewer([]bool{true, false}, []bool{true}) {
		t.Run(fmt.Sprintf("goroutines=%v", goroutines), func(t *testing.T) {
			t.Parallel()
			var stuck atomic.Bool
			var nodes atomic.Int64         // nobody waits for a run that is stuck
			outside := make(chan struct{}) // made outside of every bubble
			r := newRunner(t, Check{Protocol: defaultName, Goroutines: goroutines}, func(n Node) (isr.Handler, error) {
				if nodes.Add(1); stuck.Load() {
					<-outside // a bubble does not notice this wait, and no step of the simulator ends it
				}
				return scenariotest.Protocol(t, "blind-release").New(n.Config)
			})
			drawn := simple()
			drawn.Bounds.Schedules = 400
			s := must.Of(worlds.Checked(drawn))(t)
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
