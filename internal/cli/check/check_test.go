package check

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/protocols/guard"
	_ "github.com/isr-sim/isr-sim/internal/protocols/mutant" // for freshness-by-ttl
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/search/worlds"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

const drawn = 7

func checkOf(t *testing.T, protocol string, seed uint64) *Check {
	t.Helper()
	p, err := kernel.ProtocolNamed(protocol)
	if err != nil {
		t.Fatal(err)
	}
	return &Check{Protocol: p, Seed: seed, Worlds: drawn, Schedules: 6, Reach: worlds.Reach()}
}

// said is a result that can be compared.
func said(r *Result) string {
	text := fmt.Sprintf("%d worlds, %d schedules, %d steps, %v, last %d", r.Worlds, r.Schedules, r.Steps, r.Marks,
		r.last)
	if r.Failed != nil {
		text += fmt.Sprintf(", %s in schedule %d", r.Failed.Summary(), r.Failed.Schedules)
	}
	return text
}

// Two worlds run side by side, each by a part of the cores.
func TestTheNumberOfCoresChangesNothing(t *testing.T) {
	effort.NotShort(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	failed, broken := 0, 0
	for _, protocol := range []string{"recipe-a", "freshness-by-ttl", "breaks"} {
		for seed := range uint64(effort.Quick(4, 2)) {
			var results []string
			for _, cores := range effort.Quick([]int{1, 2, 5}, []int{1, 5}) {
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
		if why := c.nothing(r); (why != "") != want {
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
	if r, err := c.Run(ctx); err != nil || !strings.Contains(c.nothing(r), "--for") {
		t.Errorf("without a world it says %q, error %v", c.nothing(r), err)
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
		if err != nil || got != want || !promised && c.nothing(r) != "" {
			t.Errorf("promised: %t: %s, error %v, want %s", promised, said(r), err, want)
		}
	}
}

// Renderings of unchanged data have the same bytes in some worlds, where a cache that goes by content leaves out
// writes, and bytes of their own in others.
func TestSomeWorldsRenderTheSameBytes(t *testing.T) {
	c, worlds := checkOf(t, "recipe-a", 1), map[bool]int{}
	for i := range 20 {
		s, err := c.world(i)
		if err != nil {
			t.Fatal(err)
		}
		worlds[s.Cache.SameBytes]++
	}
	if worlds[true] < 2 || worlds[false] < 10 {
		t.Errorf("the same bytes in worlds: %v", worlds)
	}
}
