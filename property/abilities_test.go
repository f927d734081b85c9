package property

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/engine"
	"github.com/isr-sim/isr-sim/internal/search/worlds"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/subject/list/draw"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// allVerbs are the verbs of a store that can do everything.
var allVerbs = []spec.Verb{"invalidate", "regenerate", "rollback"}

// getOnly hides the methods of a store other than Get.
type getOnly struct{ isr.Handler }

// breaksWhenAsked is a store whose Invalidate panics.
type breaksWhenAsked struct{ isr.Handler }

func (breaksWhenAsked) Invalidate(context.Context, string) error { panic("not like that") }

func TestAbilities(t *testing.T) {
	for _, test := range []struct {
		name     string
		newStore func(Node) (isr.Handler, error)
		want     []spec.Verb
	}{
		{"everything", func(n Node) (isr.Handler, error) {
			return scenariotest.Protocol(t, "recipe-b-guarded").New(n.Config)
		}, allVerbs},
		{"not without versions", func(n Node) (isr.Handler, error) { return recipe.New(n.Config) },
			[]spec.Verb{"regenerate"}},
		{"Get alone", func(n Node) (isr.Handler, error) {
			h, err := recipe.New(n.Config)
			return getOnly{h}, err
		}, nil},
		{"a method that panics", func(n Node) (isr.Handler, error) {
			h, err := recipe.New(n.Config)
			return breaksWhenAsked{getOnly{h}}, err
		}, []spec.Verb{"invalidate"}},
		{"no store", func(Node) (isr.Handler, error) { return nil, context.Canceled }, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, goroutines := range []bool{false, true} {
				r := newRunner(t, Check{Goroutines: goroutines, Protocol: defaultName}, test.newStore)
				if diff := cmp.Diff(test.want, r.abilities(isr.Schema{})); diff != "" {
					t.Errorf("goroutines %v (-want +got):\n%s", goroutines, diff)
				}
			}
		})
	}
}

// firstViolation returns the number of the first world, up to most, in which the protocol violates an invariant; 0 if
// there is none. Each world has as many schedules as in a check.
func firstViolation(t *testing.T, p isr.Protocol, more worlds.Extras, seed, most int) (world int, broken string) {
	t.Helper()
	generator := draw.Pages.Draw("Extras", recipe.Reference().Name, DefaultSchedules, more)
	for w := 1; w <= most; w++ {
		s := generator.Example(seed*1_000_003 + w).Scenario
		r, err := campaign.Campaign{
			Scenario: s, Protocol: p, Seed: sim.Derive(uint64(seed), w), Workers: 1,
		}.Run(t.Context())
		switch {
		case err != nil:
			t.Fatalf("world %d: %v", w, err)
		case r.Verdict == invariant.Violated:
			return w, r.Failure.Violation.Invariant.Name + ": " + r.Failure.Violation.Why + "\n" + worlds.Text(s)
		case r.Verdict == invariant.Unknown:
			return w, "unknown: " + r.Why + "\n" + worlds.Text(s)
		}
	}
	return 0, ""
}

// aPageADay is the promise that the references keep in worlds: no page is served that is older than a day and two
// hours. The references keep a page for a day after its window, and TTL deletes late.
var aPageADay = spec.Promise{MaxAge: 26 * time.Hour}

func TestReferencesDoEverythingRight(t *testing.T) {
	effort.Long(t)
	most := effort.Fewer(400, 20)
	for name, more := range map[string]worlds.Extras{
		"recipe-a": {Verbs: []spec.Verb{"regenerate"}, Tenants: true,
			Promise: spec.Promise{AcrossNodes: true}},
		"recipe-a-guarded": {Verbs: []spec.Verb{"invalidate", "regenerate"}, Tenants: true},
		"recipe-b":         {Verbs: []spec.Verb{"regenerate", "rollback"}, Tenants: true, Promise: aPageADay},
		"recipe-b-guarded": {Verbs: allVerbs, Tenants: true},
	} {
		t.Run(name, func(t *testing.T) {
			if w, broken := firstViolation(t, scenariotest.Protocol(t, name), more, 1, most); w != 0 {
				t.Errorf("world %d: %s", w, broken)
			}
		})
	}
}

// Bugs that only worlds with extras can show are found within the number of worlds of a check.
func TestWorldsWithExtrasFindTheirBugs(t *testing.T) {
	effort.Long(t)
	seeds := effort.Fewer(3, 1)
	for name, more := range map[string]worlds.Extras{
		"invalidation-overtaken":      {Verbs: []spec.Verb{"invalidate", "regenerate"}},
		"memory-before-meta":          {Verbs: []spec.Verb{"regenerate"}},
		"request-completed-late":      {Verbs: []spec.Verb{"regenerate"}},
		"request-hash-ignored":        {Verbs: []spec.Verb{"regenerate"}},
		"rollback-of-one-page":        {Verbs: []spec.Verb{"regenerate", "rollback"}},
		"rollback-without-lease":      {Verbs: []spec.Verb{"regenerate", "rollback"}},
		"first-look-eventual":         {Promise: spec.Promise{AcrossNodes: true}},
		"last-page-for-ever":          {Promise: aPageADay},
		"tenant-missing":              {Tenants: true},
		"tenant-and-key-concatenated": {Tenants: true},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range seeds {
				w, broken := firstViolation(t, scenariotest.Protocol(t, name), more, seed, 100*worldsPerCheck)
				if w == 0 {
					t.Errorf("seed %d: not found in %d worlds", seed, 100*worldsPerCheck)
				}
				t.Logf("seed %d: world %d: %.60s", seed, w, broken)
			}
		})
	}
}

// closes counts how often it is closed.
type closes struct {
	isr.Handler
	closed *int
	node   Node
}

// Close makes a request, like a client that gives back its leases when it ends.
func (c closes) Close() error {
	*c.closed++
	_, err := c.node.Bodies.GetBody(context.Background(), "last words")
	return err
}

func TestAStoreIsClosedWhenItsScriptIsOver(t *testing.T) {
	made, closed := 0, 0
	s := spec.Defaults()
	s.Name, s.Bounds.Schedules = "closed", 5
	s.Actors = []spec.Actor{{Name: "alice", Script: []spec.Command{{Verb: "get", Key: "/home"}}}}
	r := newRunner(t, Check{Protocol: defaultName}, func(n Node) (isr.Handler, error) {
		made++
		h, err := recipe.New(n.Config)
		return closes{getOnly{h}, &closed, n}, err
	})
	if _, f := r.campaign(s, 1, s.Bounds.Schedules); f != nil {
		t.Fatal(f.text)
	}
	if made == 0 || closed != made {
		t.Errorf("%d of %d stores were closed", closed, made)
	}
}

// An invalidation of several pages may be a batch. The batch may come back in part even in a world without other
// troubles of the store: there a store that forgets the rest is found.
func TestABatchOfInvalidationsComesBackInPart(t *testing.T) {
	generator := draw.Pages.Draw("TestBatches", "recipe-a", 5,
		worlds.Extras{Verbs: []spec.Verb{"invalidate"}, Rows: isr.Schema{
			Rows: []isr.Row{{Partition: "id = {key}", Body: "html"}},
		}})
	found := 0
	for i := range 200 {
		s := generator.Example(i)
		calm := !slices.ContainsFunc(s.Actors, func(a spec.Actor) bool { return a.Crashes > 0 })
		if calm && len(s.Faults) == 2 && s.Faults[0].Kind == ddbfake.FaultUnprocessed &&
			s.Faults[1].Kind == ddbfake.FaultShortPage {
			found++
		}
	}
	if found == 0 {
		t.Error("no world of 200 has this fault alone")
	}
}

// TestWorldsKeepTheirPromises draws worlds, checks that a world's file describes
// the same world, and runs the reference in them: two machines ask for a page,
// the clocks stay within the promised skew, no run is cut, and nothing is violated.
func TestWorldsKeepTheirPromises(t *testing.T) {
	generator := draw.Pages.Draw("TestWorlds", "recipe-a", 5, worlds.Extras{})
	rapid.Check(t, func(rt *rapid.T) {
		w := generator.Draw(rt, "world")
		s, err := worlds.Checked(w.Scenario)
		must.OK(rt, err)
		if diff := cmp.Diff(w.Scenario, s, cmpopts.EquateComparable(ddbfake.Lag{}), cmpopts.EquateEmpty()); diff != "" {
			rt.Fatalf("the file says something else (-drawn +read):\n%s", diff)
		}
		if n := len(s.Actors); n < 2 || n > 4 {
			rt.Fatalf("%d actors, want 2 to 4", n)
		}
		asking := 0
		for _, a := range s.Actors {
			if slices.ContainsFunc(a.Script, func(c spec.Command) bool { return c.Verb == "get" }) {
				asking++
			}
			if a.Pauses > 0 && a.PauseFor <= 0 {
				rt.Fatalf("the pauses of %s have no length", a.Name)
			}
		}
		if asking < 2 {
			rt.Fatalf("%d actors ask for a page, want 2", asking)
		}
		report, err := campaign.Campaign{Scenario: s, Seed: rapid.Uint64().Draw(rt, "seed")}.Run(t.Context())
		must.OK(rt, err)
		if report.Verdict != invariant.OK {
			rt.Fatalf("verdict %v, want ok: %s", report.Verdict, prose.Report(report, "isr-sim", s.Name))
		}
		if slices.Contains(report.Reached(), mark.SkewBroken) {
			rt.Fatal("a clock was off by more than promised")
		}
	})
	skewed := false
	for i := range 200 { // ten worlds without one are not rare
		s := generator.Example(i)
		skewed = skewed ||
			s.Skew > 0 && slices.ContainsFunc(s.Actors, func(a spec.Actor) bool { return a.Drift.PPM != 0 })
	}
	if !skewed {
		t.Error("no clock drifted in any world")
	}
}

// TestWorldsShrinkToTheSimplest: a failure that occurs in every world
// shrinks to the simplest world.
func TestWorldsShrinkToTheSimplest(t *testing.T) {
	simplest := "\n" + `name: TestSimple
actors:
  - name: alice
    script:
      - get /home
  - name: bob
    script:
      - get /home
settle: 5s
bounds:
  schedules: 7
  steps: 10000
  ticks: 0
`
	w := draw.Pages.Draw("TestSimple", "recipe-a", 7, worlds.Extras{}).Example(0)
	must.Done(t)(worlds.Checked(w.Scenario))
	// rapid shrinks to an all-zero bit stream.
	found := ""
	rapid.MakeFuzz(func(rt *rapid.T) {
		found = worlds.Text(draw.Pages.Draw("TestSimple", "recipe-a", 7, worlds.Extras{}).Draw(rt, "world").Scenario)
	})(t, slices.Repeat([]byte{0}, 8*1000))
	if diff := cmp.Diff(simplest, found); diff != "" {
		t.Errorf("the simplest world (-want +got):\n%s", diff)
	}
}

// wrapped is a lock, or an idempotency layer. It notes the calls that the simulator makes.
type wrapped struct {
	busy
	held  Held
	layer func(effect func() (string, error)) (string, error)
}

func (w *wrapped) Acquire(_ context.Context, name string) (Held, error) {
	return w.held, w.note("acquire " + name)
}

func (w *wrapped) Do(
	ctx context.Context, key, payload string, effect func(context.Context) (string, error),
) (string, error) {
	_ = w.note("do " + key + " with " + payload)
	return w.layer(func() (string, error) { return effect(ctx) })
}

// plainHeld is a lock that was taken and that can do nothing but be given back.
type plainHeld struct{ *wrapped }

func (h plainHeld) Release(context.Context) error { return h.note("release") }

// ableHeld can do everything.
type ableHeld struct{ plainHeld }

func (h ableHeld) StillHeld(context.Context) (bool, error) { return true, h.note("holds") }
func (h ableHeld) Extend(context.Context) error            { return h.note("extend") }
func (h ableHeld) Token() int64                            { return 7 }

// made makes the store that runs in a world's node from a lock or a layer, and checks whether newStore returns a store
// or an error, as expected.
func made(t *testing.T, newStore func(Node) (isr.Handler, error), what string, wants, closes bool) isr.Handler {
	t.Helper()
	store, err := newStore(Node{Config: isr.Config{Lease: 10 * time.Second}})
	_, can := store.(io.Closer)
	if (err == nil) != wants || (store != nil) != wants || can != closes {
		t.Errorf("%s is a %T, %v; can be closed: %v", what, store, err, can)
	}
	return store
}

// TestLocksAsStores: the simulator uses exactly the operations that a lock offers.
func TestLocksAsStores(t *testing.T) {
	w := &wrapped{}
	lock := func(l Lock, err error) func(Node) (isr.Handler, error) {
		return LockCheck{}.store(func(Machine) (Lock, error) { return l, err })
	}
	made(t, lock(nil, errors.New("no region")), "an error", false, false)
	made(t, lock(w, errors.New("no region")), "an error with a lock", false, false)
	made(t, lock(nil, nil), "nothing", false, false)
	made(t, lock(struct{ Lock }{w}, nil), "a lock", true, false)
	client := made(t, lock(w, nil), "a lock that can be closed", true, true).(hooks.LockClient)

	ctx, refused := t.Context(), errors.New("taken")
	for _, tc := range []struct {
		held Held
		err  error
		can  bool
	}{{nil, nil, false}, {plainHeld{w}, refused, false}, {nil, refused, false}, {plainHeld{w}, nil, false},
		{ableHeld{plainHeld{w}}, nil, true}} {
		w.busy, w.held = busy{err: tc.err}, tc.held
		held, err := client.Acquire(ctx, "job")
		if !errors.Is(err, tc.err) || (held != nil) != (tc.held != nil && tc.err == nil) {
			t.Errorf("of %T, %v the simulator is told %v, %v", tc.held, tc.err, held, err)
		}
		if held == nil {
			continue
		}
		if (held.Holds != nil) != tc.can || (held.Extend != nil) != tc.can || (held.Token != nil) != tc.can {
			t.Errorf("of a %T the simulator asks for %+v", tc.held, held)
			continue
		}
		want := []string{"acquire job"}
		w.err = refused
		if tc.can {
			want = append(want, "holds", "extend")
			if yes, err := held.Holds(ctx); !yes || !errors.Is(err, refused) {
				t.Errorf("it is held: %v, %v", yes, err)
			}
			if err := held.Extend(ctx); !errors.Is(err, refused) || held.Token() != 7 {
				t.Errorf("its extension has the error %v, and its token is %d", err, held.Token())
			}
		}
		if err := held.Release(ctx); !errors.Is(err, refused) {
			t.Errorf("its release has the error %v", err)
		}
		if diff := cmp.Diff(append(want, "release"), w.asked); diff != "" {
			t.Errorf("a %T was asked (-want +got):\n%s", tc.held, diff)
		}
	}
}

// TestLayersAsStores: an idempotency layer is called in the simulator's goroutine, and calls the effect
// there.
func TestLayersAsStores(t *testing.T) {
	w, own := &wrapped{}, false
	w.layer = func(effect func() (string, error)) (result string, err error) {
		if !own {
			return effect()
		}
		done := make(chan struct{})
		go func() { result, err = effect(); close(done) }()
		<-done
		return result, err
	}
	layer := func(goroutines bool, o Once, err error) func(Node) (isr.Handler, error) {
		return OnceCheck{Goroutines: goroutines}.store(func(Machine) (Once, error) { return o, err })
	}
	made(t, layer(false, nil, errors.New("no region")), "an error", false, false)
	made(t, layer(false, w, errors.New("no region")), "an error with a layer", false, false)
	made(t, layer(false, nil, nil), "nothing", false, false)
	made(t, layer(false, struct{ Once }{w}, nil), "a layer", true, false)

	happened := errors.New("it did not happen")
	for _, tc := range []struct {
		goroutines, own bool
		wrong           string
	}{{false, false, ""}, {true, false, ""}, {true, true, ""},
		{false, true, "the store under test called effect on alice from a goroutine of its own"}} {
		node := Node{}
		if !tc.goroutines {
			node.calls = &calls{&guard{}, "alice"}
		}
		store, err := layer(tc.goroutines, w, nil)(node)
		must.OK(t, err)
		client := store.(hooks.OnceClient)
		w.asked, own = nil, tc.own
		effects := 0
		result, err := client.Once(t.Context(), "order", "a",
			func(context.Context) (string, error) { effects++; return "r", happened })
		if tc.wrong == "" && (result != "r" || !errors.Is(err, happened) || effects != 1) ||
			tc.wrong != "" && (result != "" || err == nil || !strings.HasPrefix(err.Error(), tc.wrong) ||
				effects != 0) {
			t.Errorf("%+v: result %q, %v, %d effects", tc, result, err, effects)
		}
		if diff := cmp.Diff([]string{"do order with a"}, w.asked); diff != "" {
			t.Errorf("the layer was asked (-want +got):\n%s", diff)
		}
	}
}

// TestChecksOfLocksAndCalls: the marks are the usual ones, unless the check names others. If TTL deletes nothing, that
// is a mistake only in a check with the usual marks.
func TestChecksOfLocksAndCalls(t *testing.T) {
	for name, c := range map[string]Check{"LockCheck": LockCheck{}.check(), "OnceCheck": OnceCheck{}.check()} {
		if want := map[string][]spec.Mark{"LockCheck": LockReach(), "OnceCheck": OnceReach()}[name]; !slices.Equal(
			c.reach(), want) {
			t.Errorf("%s wants the marks %v, want %v", name, c.reach(), want)
		}
		hooks.Of(c.subject.ttl.Watch(t.Context())).OnWrite(nil, attr.Item{"ttl": attr.Int(2208988800)})
		for _, usual := range []bool{true, false} {
			why, note := c.subject.unmet(&tally{Tally: engine.Tally{Worlds: worlds.EnoughWorlds}}, usual)
			if (why != "") != usual || (note != "") == usual {
				t.Errorf("%s, usual marks: %v, of a TTL that deleted no row: %q, %q", name, usual, why, note)
			}
		}
	}
}

// A request that a program has given up on may still take the lock later, without any fault. The lock is then free
// after its lease.
func TestTimeLimitsOfAProgramAreAllowedFor(t *testing.T) {
	short := map[bool]int{}
	for _, program := range []bool{false, true} {
		generator := draw.Locks.Draw("TestTimeLimits", "recipe-a", 5, worlds.Extras{Program: program})
		for seed := range 200 {
			if s := generator.Example(seed).Scenario; s.Bounds.Ticks > 0 && s.Settle < s.Cache.Lease {
				short[program]++
			}
		}
	}
	if short[false] == 0 || short[true] > 0 {
		t.Errorf("got %v worlds in which time passes freely and a lock must be free before its lease is over, want "+
			"some only without a program", short)
	}
}
