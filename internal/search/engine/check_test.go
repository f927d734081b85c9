package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/guard"
	_ "github.com/isr-sim/isr-sim/internal/protocols/mutant" // for freshness-by-ttl
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/subject/list/draw"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

const drawn = 7

func checkOf(t *testing.T, protocol string, seed uint64) *Check {
	t.Helper()
	p, err := kernel.ProtocolNamed(protocol)
	if err != nil {
		t.Fatal(err)
	}
	return &Check{Of: draw.Pages, Protocol: p, Seed: seed, Worlds: drawn, Schedules: 6}
}

func nothing(r *Result) string {
	return r.Nothing(draw.Pages, r.Marks.Has(mark.ServedFresh), Words{NoWorld: "none"})
}

// said is a result that can be compared.
func said(r *Result) string {
	text := fmt.Sprintf("%d worlds, %d schedules, %d steps, %v, last %d", r.Worlds, r.Schedules, r.Steps, r.Marks,
		r.Last)
	if r.Failed != nil {
		text += fmt.Sprintf(", %s in schedule %d", r.Failed.Summary(), r.Failed.Schedules)
	}
	return text
}

// Two worlds run side by side, each on a part of the cores.
func TestTheNumberOfCoresChangesNothing(t *testing.T) {
	effort.NotShort(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	failed, broken := 0, 0
	for _, protocol := range []string{"recipe-a", "freshness-by-ttl", "breaks"} {
		for seed := range uint64(effort.Fewer(4, 2)) {
			var results []string
			for _, cores := range effort.Fewer([]int{1, 2, 5}, []int{1, 5}) {
				runtime.GOMAXPROCS(cores)
				name := protocol
				if protocol == "breaks" {
					name = "recipe-a"
				}
				c := checkOf(t, name, seed)
				if protocol == "breaks" {
					c.Protocol = breaks(c.Protocol)
				}
				r, err := c.Run(t.Context())
				if r.Failed != nil {
					failed++
				}
				if err != nil {
					broken++
				}
				results = append(results, fmt.Sprintf("%s, error %v", said(r), err))
			}
			if other := slices.IndexFunc(results, func(r string) bool { return r != results[0] }); other > 0 {
				t.Errorf("%s, seed %d: on one core and on more:\n%s", protocol, seed,
					cmp.Diff(results[0], results[other]))
			}
		}
	}
	if failed == 0 || broken == 0 {
		t.Errorf("%d checks failed, and %d broke: want some", failed, broken)
	}
}

// breaks makes a protocol fail to start in some worlds.
func breaks(p isr.Protocol) isr.Protocol {
	boot := p.New
	p.New = func(c isr.Config) (isr.Handler, error) {
		if c.Lease.Seconds() < 5 {
			return nil, errors.New("no lease so short")
		}
		return boot(c)
	}
	return p
}

// A check whose invariants have nothing to judge is not ok: these worlds compare no lags of TTL, and have no tenants.
func TestACheckThatJudgedNothingIsVacuous(t *testing.T) {
	for left, want := range map[string]bool{
		"tenant-isolation ttl-is-gc bounded-staleness": true, "tenant-isolation stale-writer": false,
	} {
		c := checkOf(t, "recipe-a", 1)
		for _, inv := range invariant.All() {
			if !slices.Contains(strings.Fields(left), inv.Name) {
				c.Without = append(c.Without, inv.Name)
			}
		}
		r, err := c.Run(t.Context())
		if err != nil || r.Failed != nil {
			t.Fatalf("%s: %s, error %v", left, said(r), err)
		}
		if why := nothing(r); (why != "") != want {
			t.Errorf("%s: found %q, expected a reason: %t", left, why, want)
		}
	}
}

// Only judgements made before the end count.
func TestACheckEndsWithItsContext(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	c := checkOf(t, "recipe-a", 1)
	c.Worlds = 1000
	c.Progress = func(done, _ int) {
		if done == 3 {
			end()
		}
	}
	r, err := c.Run(ctx)
	if err != nil || r.Failed != nil || r.Worlds < 3 || r.Worlds > 3+2*atOnce {
		t.Errorf("%s, error %v", said(r), err)
	}
	if r, err := c.Run(ctx); err != nil || !strings.Contains(nothing(r), "none") {
		t.Errorf("without a world it says %q, error %v", nothing(r), err)
	}
}

// A violation that was found before the end counts. Nothing else does that the end may have cut off.
func TestWhatTheEndCutsOff(t *testing.T) {
	over, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		ctx     context.Context
		verdict invariant.Verdict
		err     error
		want    bool
	}{
		{over, invariant.Violated, nil, false}, {over, invariant.OK, nil, true}, {over, invariant.Unknown, nil, true},
		{over, invariant.Violated, context.Canceled, true}, {t.Context(), invariant.OK, nil, false},
		{t.Context(), invariant.OK, errors.New("broken"), false},
	} {
		if got := Cut(c.ctx, &campaign.Report{Verdict: c.verdict}, c.err); got != c.want {
			t.Errorf("context %v, %v, error %v: cut %t, want %t", c.ctx.Err(), c.verdict, c.err, got, c.want)
		}
	}
}

// What the rows of the worlds have as a ttl is known after the check.
func TestTheCheckKnowsTheTTLOfItsWorlds(t *testing.T) {
	c := checkOf(t, "recipe-a", 1)
	c.Of, c.Protocol, c.Worlds, c.TTL.Said = draw.Calls, scenariotest.Once(""), 2, "tried_until"
	r := must.Of(c.Run(t.Context()))(t)
	if why, _ := c.TTL.Unmet(r.Marks, r.Worlds, true, "the ttl", "none"); why != "" {
		t.Errorf("%s: %s", said(r), why)
	}
}

// A cache that checks only the token harms nobody: it passes, unless the recipe is promised.
func TestATokenIsFenceEnough(t *testing.T) {
	effort.NotShort(t)
	for promised, want := range map[bool]string{false: "ok", true: "violated: expired-publish"} {
		c := checkOf(t, "recipe-a", 1)
		c.Worlds, c.Promise.Recipe = 40, promised
		tokenOnly := func(r *pagecache.RecipeA) pagecache.Store { r.Guards = guard.Token; return r }
		c.Protocol = isr.Protocol{Name: "token only", New: pagecache.OnRecipeA(tokenOnly)}
		r, err := c.Run(t.Context())
		got := "ok"
		if r.Failed != nil {
			got = r.Failed.Summary()
		}
		if err != nil || got != want || !promised && nothing(r) != "" {
			t.Errorf("promised: %t: %s, error %v, want %s", promised, said(r), err, want)
		}
	}
}

// In some worlds, renderings of unchanged data have the same bytes, so a cache that compares contents leaves out
// writes. In the others, each rendering has different bytes.
func TestSomeWorldsRenderTheSameBytes(t *testing.T) {
	c, worlds := checkOf(t, "recipe-a", 1), map[bool]int{}
	for i := range 20 {
		s, err := c.World(i)
		if err != nil {
			t.Fatal(err)
		}
		worlds[s.Cache.SameBytes]++
	}
	if worlds[true] < 2 || worlds[false] < 10 {
		t.Errorf("the same bytes in worlds: %v", worlds)
	}
}

// patient waits for hours before each answer, in which clocks drift apart.
type patient struct {
	isr.Handler
	isr.Config
}

func (p patient) Get(ctx context.Context, key string) (isr.Served, error) {
	p.Clock.Sleep(2 * time.Hour)
	return p.Handler.Get(ctx, key)
}

// A violation in which clocks drifted by more than promised stands, unless slower clocks have been judged.
func TestAViolationStandsUntilSlowerClocksAreJudged(t *testing.T) {
	p := checkOf(t, "recipe-a", 1).Protocol
	boot, refuses := p.New, error(nil)
	p.New = func(c isr.Config) (isr.Handler, error) {
		if refuses != nil {
			return nil, refuses
		}
		h, err := boot(c)
		return patient{h, c}, err
	}
	s := spec.Defaults()
	s.Name, s.Skew = "drifts", 2*time.Second
	s.Cache.Lease, s.Cache.Render, s.Cache.Revalidate = 10*time.Second, 8*time.Second, 5*time.Second
	for _, name := range []string{"alice", "bob"} {
		s.Actors = append(s.Actors, spec.Actor{Name: name, Script: []spec.Command{{Verb: "get", Key: "/home"}}})
	}
	s.Actors[0].Drift.PPM, s.Actors[1].Drift.PPM = 2000, -2000
	of := campaign.Campaign{Scenario: s, Protocol: p, Seed: 1, Schedules: 50, Workers: 1}
	report, err := of.Run(t.Context())
	if err != nil || report.Verdict != invariant.Violated {
		t.Fatalf("without slower clocks: %v, error %v, want a violation", report, err)
	}
	for cut, want := range map[bool]invariant.Verdict{false: invariant.OK, true: invariant.Violated} {
		ctx, end := context.WithCancel(t.Context())
		of.Progress = func(done, _ int) {
			if cut && done == report.FailedAt {
				end()
			}
		}
		if got, err := Try(ctx, of); err != nil || got.Verdict != want {
			t.Errorf("cut off: %v: %v, error %v, want %v", cut, got.Verdict, err, want)
		}
		end()
	}
	of.Progress = func(done, _ int) {
		if done == report.FailedAt {
			refuses = errors.New("no slower clocks")
		}
	}
	if got, err := Try(t.Context(), of); !errors.Is(err, refuses) || got.Scenario.Actors[0].Drift.PPM != 1000 {
		t.Errorf("found error %v in the world %v, want the slower clocks", err, got.Scenario)
	}
}
