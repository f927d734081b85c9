package property

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/atomicfile"
	"github.com/isr-sim/isr-sim/internal/heap"
	"github.com/isr-sim/isr-sim/internal/mutant"
	"github.com/isr-sim/isr-sim/internal/race"
	"github.com/isr-sim/isr-sim/internal/scenariotest"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Flags of the measurement that docs/FOREIGN.md holds.
var (
	foreignSeeds  = flag.Int("foreign.seeds", 0, "check wares with each bug under so many seeds: go test ./property -run TestWares -foreign.seeds 20 -timeout 0")
	foreignUpdate = flag.Bool("foreign.update", false, "write docs/FOREIGN.md")
	foreignRun    = flag.String("foreign.run", "", "only the bugs whose names this regular expression matches")
)

// shopBugs are the bugs of wares, as it asks for them. The cache passes without them, so whatever is violated with one is
// due to it.
var shopBugs = []string{
	"a token that is the time in seconds",
	"a token for all workers of a release",
	"tokens are compared by the time that they begin with",
	"acquire asks whether an attribute is missing that no worker has",
	"acquire begins a moment early",
	"acquire compares milliseconds with microseconds",
	"acquire compares milliseconds with seconds",
	"acquire is a read and a put",
	"acquire waits for TTL",
	"no second look",
	"the second look is eventually consistent",
	"the first look is eventually consistent",
	"rendered before the worker's row is taken",
	"renews without a condition",
	"takes the row again when it renews",
	"the worker's row is deleted by its key alone",
	"the worker's row stays after the publish",
	"the page is put, and then the worker's row deleted",
	"the worker's row is deleted, and then the page put",
	"an error of the release is swallowed",
	"a publish that was refused is put without a condition",
	"the publish asks for nothing",
	"the publish asks for the end of the lease alone",
	"the publish at the end of the lease, >= for >",
	"the publish compares milliseconds with seconds",
	"the publish judges by the time at which it took the lease",
	"the publish judges by the time at which the process started",
	"the clock is read once, at the start of the process",
	"the time of the page is taken after the origin is read",
	"each reader writes the time of its look into the page",
	"whether it is fresh is decided before the body is fetched",
	"fresh for a window in minutes, rounded up",
	"a copy in memory that never expires",
	"a copy in memory that no invalidation reaches",
	"a page that is there is never made again",
	"one body name for all generations",
	"the body is put after the page",
	"the digest is that of the key",
	"the digest is that of the time, in seconds",
	"the update leaves the old body",
	"the update leaves the mark of an invalidation",
	"the update of the page leaves purge_at as it was",
	"purge_at in milliseconds",
	"purge_at of the page is the time of its making",
	"purge_at of the worker is the start of the lease",
	"freshness without the mark of an invalidation",
	"an invalidation does not count",
	"an invalidation passes over a page that is not there",
	"a request is begun without a condition",
	"the inputs of a request are not compared",
	"the request is completed after the transaction",
	"the result of a request counts as fresh",
	"the body is named by the edition",
	"the worker's row stays after an error of the body store",
	"the publish does not look at the edition",
	"an invalidation deletes the page",
	"the worker's row stays after an error of the origin",
}

// shopMissed are bugs that a check does not find in every seed.
var shopMissed = []struct{ name, why string }{
	{"an own put that was sent twice counts as refused", "the page waits for the rest of a lease that nobody uses: where answers are lost a release may be, too, so " +
		"worlds then allow for a lease, as many a cache that teams trust needs it"},
	{"the lease is judged in the process, and not in the condition", "found in 6 of 7 seeds, in the worst of them after 428 worlds: a pause must come between the look at the clock " +
		"and the request, and nobody may take the lease over meanwhile"},
}

// mutantsMissed are those of package mutant that a check does not find, or not in every seed.
var mutantsMissed = map[string]string{
	"dead-holder-costs-two-leases": "worlds allow two leases, which is the price of a lock that is watched from the first look on",
	"fresh-a-second-longer":        "found in all of 20 seeds, and renamed in 7 of 8: a page must be asked for within the one second",
	"lease-floored":                "costs a part of a second, which worlds allow: `CheckLock` finds it",
	"own-commit-as-conflict":       "costs a lease, as an own put that was sent twice does",
	"presence-as-knowledge":        "`ttl-is-gc` compares a scenario's runs under two lags of TTL, which a check does not do",
	"retry-without-token":          "not known yet: 500 worlds of the first seed do not show it",
	"zero-lease-is-for-ever":       "worlds have no lease of less than a second",
}

// shopHabits are differences that look like bugs, and break no promise.
var shopHabits = []struct{ name, why string }{
	{"acquire a moment late, < for <=", "a lease that is over can be taken a millisecond later"},
	{"fresh at the end of the window, <= for <", "`freshness` allows data that is as old as the window, to the instant"},
	{"the lease counts from the first look", "the lease is shorter than it should be, and its row says so: others may take it, and the publish is refused"},
	{"the edition is read eventually consistently", "an old edition has the publish refused: that costs a rendering, and shows nothing old"},
	{"a request is not looked at again under the lease", "the page is made in vain: the transaction completes a request once"},
	{"a request that is completed may be completed again", "the look under the lease finds the completed request, and the token says that nothing came in between"},
	{"a page that was refused is served as fresh", "the request was asked before the invalidation was confirmed, and the page is within its window"},
	{"an edition counts from one", "TTL must delete the row during a rendering for a number to come again, a whole retention after the page was made, and an invalidation must follow within the lease"},
	{"the worker's row has no purge_at", "TTL only tidies up: the row stays, and is taken over when its lease has ended"},
}

const foreignPage = "../docs/FOREIGN.md"

// measured is the result of a bug's seeds.
type measured struct {
	caught, seeds, worlds int
	by                    map[string]int
}

func (m measured) String() string {
	var by []string
	for _, inv := range slices.Sorted(maps.Keys(m.by)) {
		by = append(by, fmt.Sprintf("%s %d", inv, m.by[inv]))
	}
	slices.SortStableFunc(by, func(a, b string) int { return cmp.Compare(countOf(b), countOf(a)) })
	return fmt.Sprintf("%s | %d of %d | %d", strings.Join(by, ", "), m.caught, m.seeds, m.worlds)
}

func countOf(words string) (n int) {
	_, _ = fmt.Sscan(words[strings.LastIndex(words, " ")+1:], &n)
	return n
}

// foreign is docs/FOREIGN.md. The cells of a line are those of old, unless it has new ones; a mutant without cells has no
// line.
func foreign(old string, cells map[string]string) string {
	line := func(name string) (text string, measured bool) {
		begin := "| " + name + " | "
		_, rest, known := strings.Cut(old, "\n"+begin)
		rest, _, _ = strings.Cut(rest, " |\n")
		if now, is := cells[name]; is {
			rest, known = now, true
		}
		return begin + rest + " |\n", known && strings.Trim(rest, "| ") != ""
	}
	var bugs, left, habits, mutants strings.Builder
	found := 0
	for _, b := range shopBugs {
		if text, measured := line(b); measured {
			bugs.WriteString(text)
			found++
		} else {
			if left.Len() == 0 {
				left.WriteString("Written, and not measured yet:\n\n")
			}
			fmt.Fprintf(&left, "- %s\n", b)
		}
	}
	if left.Len() > 0 {
		left.WriteString("\n")
	}
	for _, b := range shopHabits {
		fmt.Fprintf(&habits, "| %s | %s |\n", b.name, b.why)
	}
	var missed strings.Builder
	for _, b := range shopMissed {
		fmt.Fprintf(&missed, "| %s | %s |\n", b.name, b.why)
	}
	of := 0
	for _, m := range mutant.All() {
		for _, name := range []string{m.Name, m.Name + renamed} {
			if text, measured := line(name); measured {
				mutants.WriteString(text)
				of++
			}
		}
	}
	var why strings.Builder
	for _, name := range slices.Sorted(maps.Keys(mutantsMissed)) {
		fmt.Fprintf(&why, "| %s | %s |\n", name, mutantsMissed[name])
	}
	return fmt.Sprintf(foreignText, len(shopBugs), found, bugs.String(), left.String(), missed.String(), habits.String(), of, 2*len(mutant.All()), mutants.String(), why.String())
}

// renamed is in the name of a mutant whose rows have other names.
const renamed = ", renamed"

const foreignText = `# Bugs of a foreign cache

[property/wares_test.go](../property/wares_test.go) is the page cache of some shop, written against the SDK alone: a row
for the page, one for its worker and one for each request, with the shop's own names, times in milliseconds, bodies in a
store as S3 is, invalidations and regenerations by idempotency key. A row mapping tells the check what the rows mean.
The cache as it is passes: 30 worlds of each of 20 seeds, and 500 of two. Each of the following %d differences is one
that teams write, alone in an otherwise correct cache, for ` + "`property.Check`" + ` at its default settings,
which are 500 worlds; %d are measured so far.

The columns are the invariants that found the bug, with the number of seeds of rapid's in which each was the first; the
number of seeds in which it was found; and the number of worlds that the seed needed that needed the most. "unknown" is
a check that fails because of a row that cannot be read, which the report names. The page is written by

` + "```text\ngo test ./property -run '^TestWaresBugsAreFound$' -foreign.seeds 20 -foreign.update -timeout 0\n```" + `

| the team wrote | invariant, seeds | found | worlds |
|---|---|---|---|
%s
%s## Not found in every seed

These are bugs, and there is a seed whose 500 worlds do not show them: the first one, if nothing else is said.

| the team wrote | why it is not always found |
|---|---|
%s
## No bugs

These look like bugs, and break no promise. A check passes them.

| the team wrote | why it is none |
|---|---|
%s
## The mutants, as stores

[MUTANTS.md](MUTANTS.md) has the broken protocols of isr-sim, in scenarios that are known to catch them. Here each is a
store behind the real SDK, and the check knows nothing of it; "renamed" has other names for every row, key and
attribute, and a row mapping. Mutants of tenants are checked with
` + "`Check.Tenants`, those of a bound on age with `Check.Promise`" + `. %d of %d lines are measured, by

` + "```text\ngo test ./property -run '^TestMutantsAsStores$' -foreign.seeds 20 -foreign.update -timeout 0\n```" + `

| mutant | invariant, seeds | found | worlds |
|---|---|---|---|
%s
Where a seed shows nothing, no other one is tried. These are not found in every seed:

| mutant | reason |
|---|---|
%s`

// TestForeignPage holds that docs/FOREIGN.md is about the bugs that there are, and that each was found in every seed.
func TestForeignPage(t *testing.T) {
	old, err := os.ReadFile(foreignPage)
	if err != nil && !*foreignUpdate {
		t.Fatal(err)
	}
	want := foreign(string(old), nil)
	if *foreignUpdate {
		if err := atomicfile.Write(foreignPage, []byte(want), 0o664); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := gocmp.Diff(string(old), want); diff != "" {
		t.Errorf("run the command that the page names (-page +now):\n%s", diff)
	}
	for line := range strings.Lines(want) {
		cells := strings.Split(line, " | ")
		var found, of int
		name := strings.TrimPrefix(cells[0], "| ")
		original := strings.TrimSuffix(name, renamed)
		isMutant := slices.ContainsFunc(mutant.All(), func(m isr.Protocol) bool { return m.Name == original }) && mutantsMissed[original] == ""
		if len(cells) < 4 || !isMutant && !slices.Contains(shopBugs, name) {
			continue
		}
		if _, err := fmt.Sscanf(cells[2], "%d of %d", &found, &of); err != nil || found != of || of == 0 {
			t.Errorf("%s: found in %q, want all seeds", cells[0], cells[2])
		}
	}
}

// TestWaresPass holds that the cache without bugs, and with differences that are none, passes.
func TestWaresPass(t *testing.T) {
	correct := func(t *testing.T, worlds string, seed int, name string) {
		t.Helper()
		if got := sought(t, Check{Rows: wareRows}, seed, worlds, newWares(name)); got.by != "" {
			t.Errorf("seed %d: %s after %d worlds:\n%s", seed, got.by, got.worlds, got.text)
		}
	}
	if *foreignSeeds == 0 {
		correct(t, race.Fewer("2", "1"), 1, "") // rapid's checks, of five worlds each
		return
	}
	for seed := range *foreignSeeds {
		correct(t, "100", 1+seed, "")
	}
	for _, b := range shopHabits {
		if regexp.MustCompile(*foreignRun).MatchString(b.name) {
			correct(t, "100", 1, b.name)
		}
	}
}

// quickBugs are found in one or two worlds under the first seed.
var quickBugs = []string{
	"the worker's row is deleted by its key alone", "the update leaves the old body", "a token for all workers of a release",
	"acquire asks whether an attribute is missing that no worker has", "the page is put, and then the worker's row deleted",
	"the worker's row is deleted, and then the page put", "the publish asks for nothing", "the digest is that of the key",
	"a publish that was refused is put without a condition", "whether it is fresh is decided before the body is fetched",
}

// TestWaresBugsAreFound holds that a check as it comes finds the bugs: the quick ones without -foreign.seeds.
func TestWaresBugsAreFound(t *testing.T) {
	bugs := shopBugs
	if *foreignSeeds == 0 {
		bugs = quickBugs
		if testing.Short() || race.Enabled {
			bugs = bugs[:2]
		}
	}
	for _, b := range bugs {
		if !slices.Contains(shopBugs, b) {
			t.Errorf("%q is no bug of wares", b)
		}
		if regexp.MustCompile(*foreignRun).MatchString(b) {
			measure(t, b, Check{Rows: wareRows}, newWares(b))
		}
	}
}

// quietTest is a test in which a check may fail without the test's failing.
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
	by     string // the invariant, or the kind of failure; "" is that nothing was found
	worlds int    // that were tried, the one that fails among them
	text   string
}

// setFlag sets a flag and returns what sets it back.
func setFlag(t *testing.T, name, value string) (back func()) {
	t.Helper()
	before := flag.Lookup(name).Value.String()
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
	return func() { _ = flag.Set(name, before) }
}

// sought does what Check.Run does with a seed of rapid's, up to the first failure.
func sought(t *testing.T, c Check, seed int, checks string, newStore func(Node) (isr.Handler, error)) caught {
	t.Helper()
	defer setFlag(t, "rapid.seed", fmt.Sprint(seed))()
	defer setFlag(t, "rapid.checks", checks)()
	defer setFlag(t, "rapid.shrinktime", "0s")()
	defer setFlag(t, "rapid.nofailfile", "true")()
	c.Schedules = DefaultSchedules
	c.name(t)
	c.rows(t)
	defer heap.CollectRarely()()
	count := &tally{marks: map[scenario.Mark]int{}}
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
	r := caught{worlds: count.worlds}
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

// measure checks a store under one seed, or as many as the flag says, and writes the result into the page if a flag says
// so.
func measure(t *testing.T, name string, c Check, newStore func(Node) (isr.Handler, error)) {
	t.Helper()
	m := measured{by: map[string]int{}}
	for seed := range max(1, *foreignSeeds) {
		got := sought(t, c, 1+seed, "100", newStore)
		m.seeds++
		m.worlds = max(m.worlds, got.worlds)
		if by, unknown := strings.CutPrefix(got.by, invariant.Unknown.String()); unknown && by == "" || builtIn(got.by) {
			m.caught++
			m.by[got.by]++
		} else {
			t.Errorf("%s: seed %d: found %q after %d worlds, want a violated invariant\n%s", name, 1+seed, got.by, got.worlds, got.text)
		}
		if *foreignSeeds > 0 {
			fmt.Printf("%s: seed %d: %s after %d worlds\n", name, 1+seed, got.by, got.worlds) //nolint:forbidigo // it takes minutes
		}
		if got.by == "" {
			break // the other seeds would take minutes each
		}
	}
	if *foreignUpdate {
		old, _ := os.ReadFile(foreignPage)
		if err := atomicfile.Write(foreignPage, []byte(foreign(string(old), map[string]string{name: m.String()})), 0o664); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMutantsAsStores measures how a check finds the mutants of package mutant.
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
		measure(t, m.Name, c, func(n Node) (isr.Handler, error) { return m.New(n.Config) })
		if c.Tenants {
			continue // the other names have no tenant
		}
		r := scenariotest.Renamed(m)
		measure(t, m.Name+renamed, Check{Rows: scenariotest.RenamedRows, Promise: c.Promise}, func(n Node) (isr.Handler, error) { return r.New(n.Config) })
	}
}
