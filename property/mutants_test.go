package property

import (
	"flag"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/base/heap"
	"github.com/isr-sim/isr-sim/internal/protocols/mutant"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/engine"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Flags of the measurement whose result is in docs/CHECK.md.
var (
	foreignSeeds = flag.Int("foreign.seeds", 0,
		"check the mutants as stores under this many seeds: go test ./property -run TestMutantsAsStores "+
			"-foreign.seeds 20 -timeout 0")
	foreignRun  = flag.String("foreign.run", "", "only the mutants whose names this regular expression matches")
	foreignEach = flag.Int("foreign.schedules", DefaultSchedules, "the number of schedules of each world")
)

// TestMutantsAsStores measures how well a check finds the mutants of package mutant, with the rows of the recipes and
// with others. It prints a line of the table for each mutant.
func TestMutantsAsStores(t *testing.T) {
	if *foreignSeeds == 0 {
		t.Skip("a measurement: see the flag -foreign.seeds")
	}
	for _, m := range mutant.All() {
		if !regexp.MustCompile(*foreignRun).MatchString(m.Name) {
			continue
		}
		c := Check{Tenants: m.Breaks == "tenant-isolation"}
		if m.Breaks == "bounded-staleness" {
			c.Promise = aPageADay
		}
		measure(t, m.Name, c, m)
		if !c.Tenants { // Renamed has no names for tenants
			c.Rows = scenariotest.RenamedRows
			measure(t, m.Name+", renamed", c, scenariotest.Renamed(m))
		}
	}
}

// measure checks a mutant as a store under each seed.
func measure(t *testing.T, name string, c Check, m isr.Protocol) {
	t.Helper()
	most, by := 0, map[string]int{}
	for seed := range *foreignSeeds {
		got := sought(t, c, 1+seed, "100", func(n Node) (isr.Handler, error) { return m.New(n.Config) })
		most = max(most, got.worlds)
		if by[got.by]++; !builtIn(got.by) && got.by != invariant.Unknown.String() {
			t.Errorf("%s: seed %d: found %q after %d worlds, want a violated invariant\n%s", name, 1+seed,
				got.by, got.worlds, got.text)
			break // each of the other seeds would take minutes
		}
	}
	//nolint:forbidigo // a line of the table
	fmt.Printf("| %s | %v | %d |\n", name, by, most)
}

// quietTest is a test that does not fail when its check fails.
type quietTest struct {
	*testing.T
	failed bool
	said   strings.Builder
}

type stopped struct{}

func (q *quietTest) Log(args ...any)                 { fmt.Fprintln(&q.said, args...) }
func (q *quietTest) Logf(format string, args ...any) { fmt.Fprintf(&q.said, format+"\n", args...) }
func (q *quietTest) Error(args ...any)               { q.Log(args...); q.failed = true }
func (q *quietTest) Errorf(format string, args ...any) {
	q.Logf(format, args...)
	q.failed = true
}
func (q *quietTest) Fatal(args ...any)                 { q.Error(args...); panic(stopped{}) }
func (q *quietTest) Fatalf(format string, args ...any) { q.Errorf(format, args...); panic(stopped{}) }
func (q *quietTest) Fail()                             { q.failed = true }
func (q *quietTest) FailNow()                          { q.failed = true; panic(stopped{}) }
func (q *quietTest) Failed() bool                      { return q.failed }

// caught is the result of a check.
type caught struct {
	by     string // the invariant, or the kind of failure; "" if nothing was found
	worlds int    // worlds that were tried, including the one that failed
	text   string
}

// setFlag sets a flag and returns a function that sets it back.
func setFlag(t *testing.T, name, value string) (back func()) {
	t.Helper()
	before := flag.Lookup(name).Value.String()
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
	return func() { _ = flag.Set(name, before) }
}

// sought does the same as Check.Run under one of rapid's seeds, up to the first failure.
func sought(t *testing.T, c Check, seed int, checks string, newStore func(Node) (isr.Handler, error)) caught {
	t.Helper()
	defer setFlag(t, "rapid.seed", fmt.Sprint(seed))()
	defer setFlag(t, "rapid.checks", checks)()
	defer setFlag(t, "rapid.shrinktime", "0s")()
	defer setFlag(t, "rapid.nofailfile", "true")()
	c.Schedules = *foreignEach
	c.name(t)
	c.rows(t)
	defer heap.CollectRarely()()
	count := &tally{Tally: engine.NewTally()}
	f := found{runner: newRunner(t, c, newStore), count: count, file: filepath.Join(t.TempDir(), "failure.yaml")}
	count.answers = f.answers
	q := &quietTest{T: t}
	func() {
		defer func() {
			if v := recover(); v != nil && v != (stopped{}) {
				panic(v)
			}
		}()
		c.look(q, &f)
	}()
	r := caught{worlds: count.Worlds}
	if f.last == nil {
		if q.failed {
			t.Fatalf("rapid failed, and no world did:\n%s", q.said.String())
		}
		if missing := count.missing(c.reach()); len(missing) > 0 {
			r.by, r.text = "vacuous", fmt.Sprint(missing)
		}
		return r
	}
	r.worlds++
	r.by, r.text = f.last.kind, f.last.text+"\n"+f.last.how
	if f.last.replay != nil && f.last.replay.Violates != "" {
		r.by = f.last.replay.Violates
	}
	return r
}
