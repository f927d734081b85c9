package property

import (
	"context"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/scenario"
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
	r := newRunner(t, Check{Protocol: DefaultName}, func(n Node) (isr.Handler, error) {
		if nodes++; (nodes-1)/2%2 == 0 {
			return blind.New(n.Config)
		}
		return recipe.New(n.Config)
	})
	s, err := world{simple()}.checked()
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
		s, err := world{s}.checked()
		if err != nil {
			t.Fatal(err)
		}
		r := newRunner(t, Check{Protocol: DefaultName}, func(n Node) (isr.Handler, error) {
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
	s.Name, s.Protocol = "simple", DefaultName
	for _, name := range []string{"alice", "bob"} {
		s.Actors = append(s.Actors, scenario.Actor{Name: name, Script: []scenario.Command{{Verb: scenario.Get, Key: "/home"}}})
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
	wanted := []scenario.Mark{scenario.LockTakenOver, scenario.TTLDeletion, scenario.Mark(ddbfake.FaultResponseLost.String())}
	count := tally{worlds: enoughWorlds, marks: map[scenario.Mark]int{scenario.TTLDeletion: 1, scenario.NodePaused: 9}}
	if got := count.missing(wanted); len(got) != 2 || got[0] != wanted[0] || got[1] != wanted[2] {
		t.Errorf("missing: %v, want %v and %v", got, wanted[0], wanted[2])
	}
	if got := count.missing([]scenario.Mark{}); len(got) != 0 {
		t.Errorf("missing %v of nothing wanted", got)
	}
	count.worlds--
	if got := count.missing(wanted); len(got) != 0 {
		t.Errorf("missing %v after too few worlds to say so", got)
	}
	pages := []scenario.Mark{scenario.Published, scenario.ServedFresh}
	if got := count.missing(pages); !slices.Equal(got, pages) {
		t.Errorf("missing %v, want %v", got, pages)
	}
	count.worlds = enoughForThePages - 1
	if got := count.missing(pages); len(got) != 0 {
		t.Errorf("missing %v after too few worlds to say so", got)
	}
}
