package property

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/search/worlds"
	"github.com/isr-sim/isr-sim/internal/subject/list/draw"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Node is the machine that a store under test runs on. One test makes many nodes: several in a world, one more after
// each restart, and all of them again for each schedule.
type Node struct {
	// Config is the machine's part of the world (Clock, Bodies, Render, Tokens, Table) and the configuration that the
	// world wants for its caches. A store may ignore the configuration except for two values: freshness is judged by
	// Revalidate, and liveness allows a page the time of a Lease and a rendering. A store that compares times written
	// by several machines needs MaxClockSkew, too.
	isr.Config
	// Client is Config.Client: a real client of the SDK, whose requests go to the simulator.
	Client *dynamodb.Client

	calls *calls
}

// defaultName is the name, in reports and files, of a store that Check does not name.
const defaultName = protocols.StoreUnderTest

// Check has the settings of a check of a store. CheckStore uses the zero Check.
type Check struct {
	// Schedules is the number of schedules of each world; default DefaultSchedules.
	Schedules int
	// Reach is the marks that at least one world must reach; nil is Reach(), without scenario.TTLDeletion if Rows name
	// no attribute for TTL. If a store never takes a lock over, or serves nothing stale, leave out the marks that it
	// cannot reach. An empty list demands no mark. In any case, some world must publish a page and serve one: otherwise
	// nothing is judged.
	Reach []scenario.Mark
	// Protocol is the name of the store in files and reports, if the store is one of scenario.Protocols. Then isr-sim
	// can replay the files. Default store-under-test.
	Protocol string
	// Rows says how the store keeps its pages and locks, if not in rows META and LOCK. The world then has the tables
	// that Rows describe; rows whose table is not named are in Node.Table. The file of a failure has Rows under the key
	// rows, unless the Schema has a function.
	Rows isr.Schema
	// Invariants are the caller's own. They judge each run after those of package invariant. Only their Name, Statement
	// and Check are used.
	Invariants []invariant.Invariant
	// Without names the invariants that are not judged, because the store does not promise what they demand. Reports
	// name them.
	Without []string
	// Tenants is for a store that takes Node.Tenant: worlds then have several tenants, whose pages must be kept apart.
	Tenants bool
	// Promise has the promises of the store beyond the rules of every cache. They are monotonic reads across its nodes,
	// the rules of the recipe (breaking one serves no wrong page), and a bound on the age of everything that it serves,
	// whatever the world's revalidate and retention are.
	Promise scenario.Promise
	// Goroutines is for a store with its own goroutines, timers, channels or context timeouts: each schedule
	// runs in a bubble of testing/synctest. See Goroutines in the package's documentation.
	Goroutines bool

	subject *subject // nil is stores
}

// subject is what a check tests, with everything in which the kinds of checks in Go differ.
type subject struct {
	*worlds.Subject
	function string                     // the function that checks the subject
	call     string                     // the call that replays a file, with %q for the file's name
	keys     string                     // what to look at if every request is refused
	anew     string                     // what machines that share a client must do instead
	hint     func(*Check) string        // where to look if nothing was reached
	terms    worlds.Extras              // the terms of code without pages
	table    *dynamodb.CreateTableInput // nil is the schema's
	ttl      *worlds.TTL                // nil is the schema's
	// unmet, if set, returns the reason why a check that found nothing is vacuous, and a further note for the user. The
	// parameter usual says that the check has the usual marks.
	unmet func(count *tally, usual bool) (why, note string)
}

// stores is the subject of Check itself.
var stores = subject{
	Subject:  draw.Pages,
	function: "property.CheckStore", call: "property.Replay(t, %q, newStore)",
	anew: "newStore must make a new store at each call",
	hint: func(c *Check) string {
		return "does it use the node's Client, Clock and Table, and " + c.expectedRows() + "?"
	},
}

// of returns the Check that a LockCheck or a OnceCheck makes, for code without pages. The parameter thing is the word
// for this code in messages: lock or layer. The parameter hint says what the code must do, besides using the Client,
// Table and Clock of its node.
func (c Check) of(s *worlds.Subject, kind, thing, hint, ttl string) Check {
	seen := &worlds.TTL{Said: ttl}
	c.Protocol = s.UnderTest
	c.subject = &subject{
		Subject:  s,
		function: "property.Check" + kind,
		call:     "property." + kind + "Check{}.Replay(t, %q, new" + kind + "), with the check's own fields",
		keys:     "does " + kind + "Check.Table have the " + thing + "'s keys?",
		anew:     "new" + kind + " must make a new " + thing + " at each call",
		hint:     func(*Check) string { return "does it use the node's Client, Table and Clock, and " + hint + "?" },
		ttl:      seen,
		unmet: func(count *tally, usual bool) (why, note string) {
			return seen.Unmet(count.Marks, count.Worlds, usual, kind+"Check.TTL", "property.NoTTL")
		},
	}
	return c
}

// about returns the subject of the check. Kinds of code without a check in Go are recognised by their UnderTest name.
func (c *Check) about() *subject {
	if c.subject != nil {
		return c.subject
	}
	for _, s := range draw.Subjects() {
		if s != stores.Subject && s.Program.InGo == "" && s.UnderTest == c.Protocol {
			return &subject{
				Subject: s, function: "property.Check", anew: stores.anew,
				call: fmt.Sprintf("property.Check{Protocol: %q}.Replay(t, %%q, newStore)", c.Protocol),
				hint: func(*Check) string { return "does it use the node's Client, Table and Clock?" },
			}
		}
	}
	return &stores
}

// DefaultSchedules is the number of schedules of each world.
//
// The number comes from a measurement: how many worlds it takes to find the bug of a store. There were 56 broken stores
// with bugs that worlds can show, and ten seeds for each. The hardest store leaves a lock behind after a failure. In
// the worst case it took over 600 worlds with 5 schedules a world, 381 worlds with 10 and with 20 schedules, and 301
// worlds with 50. With 5, 10, 20 and 50 schedules, the second hardest store took over 600, 215, 214 and 214 worlds, and
// the third hardest 401, 171, 143 and 103. So 20 schedules find all bugs within the 500 worlds of a check.
//
// Source: go test ./property -run TestMutantsAsStores -foreign.seeds 10 -foreign.schedules 5 -timeout 0
const DefaultSchedules = worlds.DefaultSchedules

// worldsPerCheck is the number of worlds that are drawn for each of rapid's checks. With 100 checks, rapid's default, a
// check draws 500 worlds.
const worldsPerCheck = 5

// CheckStore draws worlds with rapid (nodes and their scripts, cache durations, clocks, pauses, crashes, TTL lag,
// replica lag, faults of the store) and runs each under many schedules, with the cache that newStore makes on every
// node. It fails the test if an invariant of package invariant does not hold. It leaves the failure in testdata/isr-sim
// at once. It then looks for smaller failures for up to -rapid.shrinktime, and prints the smallest one with the fewest
// context switches. The next CheckStore and Replay begin with this failure.
//
// It also fails if the store panics, starts goroutines that call the simulator, waits for ever, is not deterministic,
// or never gets to where bugs would be.
//
// The number of worlds is five times rapid's flag -rapid.checks (default 100, a fifth of it under -short); the seed is
// -rapid.seed.
func CheckStore(t *testing.T, newStore func(Node) (isr.Handler, error)) {
	t.Helper()
	Check{}.Run(t, newStore)
}

// Run checks the store as CheckStore does.
func (c Check) Run(t *testing.T, newStore func(Node) (isr.Handler, error)) {
	t.Helper()
	if c.Schedules <= 0 {
		c.Schedules = DefaultSchedules
	}
	c.name(t)
	c.rows(t)
	usual := c.Reach == nil
	if usual {
		c.Reach = c.reach()
	}
	c.judges(t)
	c.wants(t)
	file := fileName(t.Name())
	if exists(file) {
		c.begin(t, file, newStore)
	}
	count := c.search(t, newStore, file)
	idle, all := c.idle(count)
	nothing := count.nothing(c.subject)
	if nothing == "" && all {
		nothing = "no world had anything to judge for the invariants that Check.Without leaves: " +
			strings.Join(idle, "; ")
	}
	if nothing != "" {
		t.Fatalf("vacuous: nothing was violated, but %s (%s)\n%s%v\n%v", nothing, c.subject.hint(&c),
			count.rows(), count.answers, count)
	}
	if c.Goroutines && !count.answers.clock {
		delete(count.Marks, mark.ClockSet) // setting clocks that no code reads tests nothing
	}
	if also := c.subject.Also; usual && slices.Contains(count.verbs, also.Verb) { // no invariant would miss it
		c.Reach = append(slices.Clone(c.Reach), also.Mark)
	}
	if missing := count.missing(c.Reach); len(missing) > 0 {
		names := make([]string, len(missing))
		for i, m := range missing {
			names[i] = string(m)
		}
		t.Fatalf("vacuous: nothing was violated, but none of %d worlds reached %s: it was not tested there (%s)\n"+
			"%s%s%v\n%v",
			count.Worlds, strings.Join(names, ", "), c.subject.hint(&c), count.rows(),
			c.say(c.hint(missing)), count.answers, count)
	}
	if c.subject.unmet != nil {
		why, note := c.subject.unmet(count, usual)
		if why != "" {
			t.Fatalf("vacuous: nothing was violated, but %s\n%v", why, count)
		}
		if note != "" {
			t.Log(note)
		}
	}
	if count.early { // as a failure: nobody reads the log of a test that passes without -v
		t.Fatalf("cut short: nothing was violated in %d worlds, but the check asks for more, and the time of the test "+
			"is nearly over (go test -timeout): give it more time, or ask for fewer worlds (-rapid.checks)\n%v",
			count.Worlds, count)
	}
	for _, name := range c.Without {
		t.Logf("%s: not judged: left out by the check", name)
	}
	for _, line := range idle {
		t.Log(line)
	}
	if line := count.chance(c.Reach); line != "" { // with enough worlds, it would have failed above
		t.Log(line)
	}
	t.Log(count)
}

// name gives the store a name that files can have. It fails the test if no code could break a promise under the terms
// of the subject.
func (c *Check) name(t *testing.T) {
	t.Helper()
	c.subject = c.about()
	ofCode := func(s *worlds.Subject) bool { return s.UnderTest == c.Protocol }
	if err := protocols.Known(c.Protocol); err != nil && c.Protocol != "" &&
		!slices.ContainsFunc(draw.Subjects(), ofCode) {
		t.Fatalf("property: Check.Protocol: %v", err) // the file of a failure would not be read again
	}
	if c.Protocol == "" {
		c.Protocol = defaultName
	}
	if c.subject.Wrong == nil {
		return
	}
	if field, why := c.subject.Wrong(c.subject.terms); field != "" {
		t.Fatalf("%s.%s: %s", strings.Replace(c.subject.Program.InGo, ".", ": ", 1), field, why)
	}
}

// judges fails the test if Invariants and Without have mistakes, or if they leave no invariant.
func (c *Check) judges(t *testing.T) {
	t.Helper()
	own := map[string]bool{}
	var names []string
	for _, inv := range c.subject.About().All {
		names = append(names, inv.Name)
	}
	for _, inv := range c.Invariants {
		names = append(names, inv.Name)
	}
	for i, inv := range c.Invariants {
		switch {
		case inv.Name == "" || inv.Statement == "" || inv.Check == nil:
			t.Fatalf("property: Check.Invariants: found %q as number %d, expected an invariant with a name, a "+
				"statement and a check", inv.Name, i+1)
		case slices.Index(names, inv.Name) < len(names)-len(c.Invariants) || own[inv.Name]:
			t.Fatalf(
				"property: Check.Invariants: found a second invariant with the name %s, expected a name of its own",
				inv.Name,
			)
		}
		own[inv.Name] = true
	}
	left := len(names)
	for i, name := range c.Without {
		switch {
		case !slices.Contains(names, name):
			hint := ""
			if option, ok := suggest.Nearest(name, names); ok {
				hint = fmt.Sprintf("; did you mean %q?", option)
			}
			t.Fatalf("property: Check.Without: found %q, expected one of %s%s", name, strings.Join(names, ", "), hint)
		case own[name]:
			t.Fatalf("property: Check.Without: found %s, which is one of Check.Invariants: leave it out there", name)
		case slices.Contains(c.Without[:i], name):
			t.Fatalf("property: Check.Without: found %s twice", name)
		}
		left--
	}
	if left == 0 {
		t.Fatal("vacuous: Check.Without leaves out all invariants: nothing would be judged")
	}
}

// wants fails the test if Reach demands a mark that no world can reach.
func (c *Check) wants(t *testing.T) {
	t.Helper()
	var names []string
	for _, m := range spec.Marks() {
		if c.subject.Reaches(m) {
			names = append(names, string(m))
		}
	}
	for _, m := range c.Reach {
		if !slices.Contains(names, string(m)) {
			hint := ""
			if option, ok := suggest.Nearest(string(m), names); ok {
				hint = fmt.Sprintf("; did you mean %q?", option)
			}
			t.Fatalf("property: Check.Reach: found %q, expected one of %s%s", m, strings.Join(names, ", "), hint)
		}
	}
}

// idle returns a line, with the reason, for each invariant that had nothing to judge in any world. The result all
// reports whether no invariant had anything to judge.
func (c *Check) idle(count *tally) (lines []string, all bool) {
	if !c.subject.OfRows() {
		return nil, false
	}
	all = len(c.Invariants) == 0
	for _, inv := range c.subject.About().All {
		if slices.Contains(c.Without, inv.Name) {
			continue
		}
		if why := c.lacks(inv.Name, count); why != "" {
			lines = append(lines, inv.Name+": had nothing to judge: "+why)
			continue
		}
		all = false
	}
	return lines, all
}

// lacks names what an invariant needs and no world had; otherwise it returns "".
func (c *Check) lacks(name string, count *tally) string {
	switch {
	case name == "tenant-isolation" && !c.Tenants:
		return "pages had no tenants (Check.Tenants)"
	case name == "bounded-staleness" && c.Promise.MaxAge == 0:
		return "no bound is promised (Check.Promise)"
	case (name == "expired-publish" || name == "atomic-publish") && !c.Promise.Recipe && !protocols.BuiltIn(c.Protocol):
		return "it is a rule of the recipe, which is not promised (Check.Promise)"
	case name == "ttl-is-gc":
		return "drawn worlds compare no lags of TTL; a scenario with compare-lags does"
	case name == "no-lost-invalidation" && count.Marks[mark.PageInvalidated] == 0:
		return "no page was invalidated (isr.Invalidator)"
	case (name == "idempotent-regeneration" || name == "read-your-writes") &&
		!slices.Contains(count.verbs, "regenerate"):
		return "no page was asked for by an idempotency key (isr.Regenerator)"
	case name == "linearizable" && c.Goroutines:
		return "it sees no operations of stores with goroutines"
	case name == "linearizable" && count.answers.operations == 0:
		return "it sees the operations of the caches of package recipe only"
	case name == "ttl-well-formed" && c.noTTL():
		return "Check.Rows name no attribute for TTL"
	default:
		return ""
	}
}

// noTTL reports whether Rows name no attribute by which TTL deletes rows.
func (c *Check) noTTL() bool {
	m, err := rowmap.New(c.Rows)
	return err == nil && m != nil && !m.Expires()
}

// rows fails the test if Check.Rows has a mistake.
func (c *Check) rows(t *testing.T) {
	t.Helper()
	if _, err := rowmap.New(c.Rows); err != nil {
		t.Fatalf("property: Check.Rows: %v", err)
	}
}

// reach is the marks that a check must reach unless it says otherwise.
func (c *Check) reach() []spec.Mark {
	reach := slices.Clone(c.subject.Reach)
	if c.noTTL() {
		return worlds.WithoutTTL(reach)
	}
	return reach
}

// say translates a sentence about META and LOCK into the store's own names of rows.
func (c *Check) say(text string) string {
	m, err := rowmap.New(c.Rows)
	if err != nil {
		return text
	}
	return m.Say(text)
}

// expectedRows names the rows that the store should write, for use in a question.
func (c *Check) expectedRows() string {
	if len(c.Rows.Rows) == 0 && c.Rows.Translate == nil {
		return "rows META and LOCK"
	}
	return "the rows of Check.Rows"
}
