package scenario

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/internal/protocols"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/schedule"
)

// Load reads a scenario file. A mistake in its contents is a *SyntaxError. Several mistakes are joined in the way of
// errors.Join.
func Load(file string) (*Scenario, error) {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, fmt.Errorf("scenario: %s is no regular file", file) // opening a pipe would wait for a writer
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, maxReadBytes+1))
	if err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	if len(data) > maxReadBytes {
		return nil, fmt.Errorf("scenario: found more than %d bytes in %s, expected a scenario of at most %d",
			maxReadBytes, file, maxFileBytes)
	}
	return Parse(file, data)
}

// maxReadBytes bounds the part of a file that is read. It is far beyond the size of a scenario, but a device has no
// end, and a database may be larger than memory.
const maxReadBytes = 8 << 20

// Parse reads a scenario from the contents of a file; the name is for errors. A file may name the protocols that
// isr-sim list prints, and also the given protocols, which are for stores under test. A mistake in the file is a
// *SyntaxError. Several mistakes are joined in the order of the file, in the way of errors.Join.
func Parse(file string, data []byte, also ...isr.Protocol) (*Scenario, error) {
	s := defaults()
	s.File = file
	p := parse{reader: reader{file: file, kind: ofScenario}, s: &s, protocols: protocols.Names()}
	for _, a := range also {
		p.protocols = append(p.protocols, a.Name)
	}
	if root := p.open(data); root != nil {
		p.scenario(root)
	}
	if err := p.failed(); err != nil {
		return nil, err
	}
	return &s, nil
}

// parse fills in a Scenario.
type parse struct {
	reader
	s         *Scenario
	protocols []string
}

func (p *parse) scenario(n yamlNode) {
	s := p.s
	if _, is := entries(n); n != nil && !is { // n is nil when only the shape of files is described
		p.fail(n, "a scenario begins with its name, such as name: paused-writer",
			"found %s, expected keys and values", describeNode(n))
		return
	}
	if hasKey(n, "format") && hasKey(n, "steps") {
		p.fail(n, "the scenario is the .yaml file beside it; isr-sim replay, explain and report read a record",
			"found the record of a run, expected a scenario")
		return
	}
	if p.foreignKeys(n) {
		return
	}
	var name, source, broken, actors, faults, compared, apart, only, without yamlNode
	actorsRead, rowsRead := true, true // without a mistake
	complete := p.mapping(n,
		field{"name", func(n yamlNode) { name, s.Name = n, p.name(n) }},
		field{"about", func(n yamlNode) { s.About = strings.TrimSpace(p.text(n)) }},
		field{"source", func(n yamlNode) {
			source = n
			p.list(n, func(n yamlNode) { s.Source = append(s.Source, p.text(n)) })
			if p.err == nil && len(s.Source) == 0 {
				p.fail(n, "source: [owner/repository#1]", "found no source, expected at least one")
			}
		}},
		field{"broken", func(n yamlNode) { broken, s.Broken = n, p.protocol(n) }},
		field{"protocol", func(n yamlNode) { s.Protocol = p.protocol(n) }},
		field{"rows", func(n yamlNode) { s.Rows = p.schema(n); rowsRead = p.err == nil }},
		field{"cache", p.cache},
		field{"promise", p.promise},
		field{"ttl-lag", func(n yamlNode) { s.Lag = p.lag(n, ttlLag) }},
		field{"compare-lags", func(n yamlNode) {
			compared = n
			p.list(n, func(n yamlNode) { s.CompareLags = append(s.CompareLags, p.comparedLag(n)) })
		}},
		field{"region-lag", func(n yamlNode) { apart, s.RegionLag = n, p.lag(n, "region lag") }},
		field{"replica-lag", func(n yamlNode) { s.ReplicaLag = p.duration(n, 0) }},
		field{"max-clock-skew", func(n yamlNode) { s.Skew = p.duration(n, 0) }},
		field{"actors", func(n yamlNode) { actors = n; p.list(n, p.actor); actorsRead = p.err == nil }},
		field{"faults", func(n yamlNode) {
			if faults = n; p.shape != nil {
				p.list(n, func(n yamlNode) { p.fault(n, true, true) })
			}
		}},
		field{"settle", func(n yamlNode) { s.Settle = p.duration(n, 0) }},
		field{"bounds", p.bounds},
		field{"reach", func(n yamlNode) { p.list(n, p.mark) }},
		field{"invariants", func(n yamlNode) { only, s.Invariants = n, p.invariants(n) }},
		field{"without", func(n yamlNode) { without, s.Without = n, p.invariants(n) }},
		field{"expect", func(n yamlNode) { s.Expect = p.verdict(n) }},
		field{"catches",
			func(n yamlNode) { p.list(n, func(n yamlNode) { s.Catches = append(s.Catches, p.protocol(n)) }) }},
		field{"replay", p.replay},
	)
	p.required("name", "actors")
	complete = complete && !p.cut
	nameless := func(a Actor) bool { return a.Name == "" }
	actorsKnown := actors != nil && (actorsRead || len(s.Actors) > 0) && !slices.ContainsFunc(s.Actors, nameless)
	if faults != nil {
		// Faults are read last, because they name actors and tables.
		p.apart(func() { p.list(faults, func(n yamlNode) { p.fault(n, actorsKnown, rowsRead) }) })
	}
	check := func(wrong bool, n yamlNode, hint, problem string) {
		if wrong {
			p.apart(func() { p.fail(n, hint, "%s", problem) })
		}
	}
	check(complete && (source == nil) != (broken == nil), n,
		"source: [owner/repository#1]\nbroken: blind-publish",
		"found one of source and broken, expected both or neither")
	check(only != nil && without != nil, n,
		"invariants: [freshness, single-flight]", "found both invariants and without, expected one of them")
	check(complete && name == nil, n, "name: paused-writer", "found no name, expected one")
	check(complete && actors == nil, n, "actors:\n  - name: alice\n    script: [get /home]",
		"found no actors, expected at least one")
	check(actorsRead && actors != nil && len(s.Actors) == 0, actors,
		"- name: alice\n  script: [get /home]", "found no actors, expected at least one")
	check(actorsKnown && apart != nil && s.regions() == nil, apart,
		"region: eu-west-1 for one of the actors", "found a lag between regions, and all actors in one region")
	if problem, hint := s.unjudged(); problem != "" {
		check(true, actors, hint, problem)
	}
	check(s.Lag.Scheduler && len(s.CompareLags) > 0, compared,
		"leave ttl-lag out, or use another one",
		"found lags to compare with that of the scheduler, whose deletions are steps of the schedule")
}

// name reads a word that can be a part of a file name and of a command line.
func (p *parse) name(n yamlNode) string {
	s := p.text(n)
	if p.shape != nil {
		p.shape.Pattern = "^[A-Za-z0-9_-]{1,100}$"
	}
	fits := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
	}
	if p.err == nil && (s == "" || len(s) > 100 || strings.ContainsFunc(s, func(r rune) bool { return !fits(r) })) {
		p.fail(n, "such as: paused-writer", "found the name %q, expected letters, digits, - and _ (at most 100)", s)
	}
	return s
}

func (p *parse) protocol(n yamlNode) string { return p.word(n, "protocol", p.protocols) }

// recorded reads the name of the protocol of a recorded run, which may be a program. Reading it starts nothing.
func (p *parse) recorded(n yamlNode) string {
	if p.shape != nil {
		p.protocol(n)
		p.describeAlso(func(yamlNode) { p.describeText(shape{Pattern: "^" + shell.ExecPrefix}) })
		return ""
	}
	if s, ok := oneLine(n); ok && strings.HasPrefix(s, shell.ExecPrefix) {
		return s
	}
	return p.protocol(n)
}

func (p *parse) cache(n yamlNode) {
	c := &p.s.Cache
	least := func(d *time.Duration, least time.Duration) func(yamlNode) {
		return func(n yamlNode) { *d = p.duration(n, least) }
	}
	p.mapping(n,
		field{"lease", least(&c.Lease, time.Millisecond)},
		field{"revalidate", func(n yamlNode) {
			c.Revalidate = p.duration(n, time.Second)
			if p.err == nil && c.Revalidate%time.Second != 0 {
				p.fail(n, "revalidate_seconds holds no fractions", "found %v, expected whole seconds", c.Revalidate)
			}
		}},
		field{"retention", least(&c.Retention, time.Millisecond)},
		field{"ttl-buffer", least(&c.TTLBuffer, time.Millisecond)},
		field{"render", least(&c.Render, 0)},
		field{"keep-alive", least(&c.KeepAlive, 0)},
		field{"contention", func(n yamlNode) {
			c.Contention = isr.ServeStale
			if p.word(n, "contention policy", []string{"serve-stale", "wait"}) == "wait" {
				c.Contention = isr.Wait
			}
		}},
		field{"failure", func(n yamlNode) {
			c.Failure = isr.ServeLast
			if p.word(n, "failure policy", []string{"serve-last", "error"}) == "error" {
				c.Failure = isr.Fail
			}
		}},
		field{"poll", least(&c.Poll, time.Millisecond)},
		field{"patience", func(n yamlNode) { c.Patience = p.count(n, 1, hooks.MostPatience) }},
		field{"attempts", func(n yamlNode) { c.Attempts = p.count(n, 1, 100) }},
	)
}

func (p *parse) promise(n yamlNode) {
	v := &p.s.Promise
	p.mapping(n,
		field{"monotonic-reads", func(n yamlNode) {
			v.AcrossNodes = p.word(n, "reach of monotonic reads", []string{perNode, acrossNodes}) == acrossNodes
		}},
		field{"max-age", func(n yamlNode) { v.MaxAge = p.duration(n, time.Second) }},
	)
}

// The values of the promise monotonic-reads.
const (
	perNode     = "per-node"
	acrossNodes = "across-nodes"
)

// lag reads a lag. Errors call it by the given name.
func (p *parse) lag(n yamlNode, name string) Lag {
	text := p.text(n)
	if p.shape != nil {
		p.describeText(shape{Pattern: `^(scheduler$|` + lags + `)`, Examples: lagExamples})
	}
	if p.err != nil {
		return Lag{}
	}
	if text == "scheduler" {
		return Lag{Scheduler: true}
	}
	lag, err := parseLag(text)
	if err != nil && name != ttlLag {
		err = errors.New(strings.NewReplacer(ttlLag, name, "to sweep", "to replicate").Replace(err.Error()))
	}
	if err != nil {
		p.fail(n,
			"use scheduler, never, at-once, fixed 10m, uniform 1m 48h, exponential 10m, or per-item with the name "+
				"of an attribute", "%v", err)
	}
	return Lag{Fixed: lag}
}

// ttlLag is the name of TTL's lag in errors.
const ttlLag = "ttl lag"

// lags matches the first words of the lags of the fake.
const lags = `(never|at-once)$|(fixed|uniform|exponential|per-item)\s`

var lagExamples = []string{"never", "at-once", "scheduler", "fixed 10m", "uniform 1m 48h",
	"exponential 10m", "per-item lag"}

// parseLag reads a lag of the fake.
func parseLag(text string) (ddbfake.Lag, error) {
	lag, err := ddbfake.ParseLag(text)
	if err == nil && lag == ddbfake.LagManual {
		err = fmt.Errorf("ttl lag %q: a scenario has no command to sweep", text)
	} else if err != nil {
		err = errors.New(strings.Replace(err.Error(), "want manual, ", "want ", 1)) // see above
	}
	return lag, err
}

// comparedLag reads a lag to compare with, for which a duration is enough.
func (p *parse) comparedLag(n yamlNode) ddbfake.Lag {
	text := p.text(n)
	if p.shape != nil {
		p.describeText(shape{
			Pattern: `^([0-9.]+[a-zµ]|0$|` + lags + `)`, Examples: []string{"at-once", "1h", "48h", "never"},
		})
	}
	if p.err != nil {
		return ddbfake.Lag{}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return ddbfake.LagFixed(d)
	}
	lag, err := parseLag(text)
	if err != nil {
		p.fail(n, "such as: [at-once, 1h, 48h, never]", "%v", err)
	}
	return lag
}

// reservedNames are names in a trace for steps that belong to no actor.
var reservedNames = []string{"time", "ttl", replication}

// maxActors bounds how long a run takes, because an interrupt does not end a run.
const maxActors = 64

func (p *parse) actor(n yamlNode) {
	if len(p.s.Actors) >= maxActors {
		if len(p.s.Actors) == maxActors {
			p.fail(n, "several actors of one kind show as much", "found more than %d actors", maxActors)
		}
		p.s.Actors = append(p.s.Actors, Actor{})
		return
	}
	a := Actor{}
	var name, script, many yamlNode
	var events []yamlNode
	machines, times := 1, 1
	complete := p.mapping(n,
		field{"name", func(n yamlNode) {
			name, a.Name = n, p.name(n)
			if slices.Contains(reservedNames, a.Name) {
				p.fail(n, "give the actor another name",
					"found an actor called %q, which traces call something else", a.Name)
			}
			if slices.ContainsFunc(p.s.Actors, func(other Actor) bool { return other.Name == a.Name }) {
				p.fail(n, "give each actor a name of its own", "found a second actor called %q", a.Name)
			}
		}},
		field{"count", func(n yamlNode) { many, machines = n, p.count(n, 1, maxActors) }},
		field{"tenant", func(n yamlNode) { a.Tenant = p.name(n) }},
		field{"region", func(n yamlNode) { a.Region = p.name(n) }},
		field{"script", func(n yamlNode) {
			script = n
			p.list(n, func(n yamlNode) { a.Script = append(a.Script, p.command(n)) })
			if p.err == nil && len(a.Script) == 0 {
				p.fail(n, "script: [get /home]", "found no commands, expected at least one")
			}
		}},
		field{"repeat", func(n yamlNode) { times = p.count(n, 1, maxRepeat) }},
		field{"clock", func(n yamlNode) { p.clock(n, &a) }},
		field{"pauses", func(n yamlNode) { a.Pauses = p.count(n, 0, 100) }},
		field{"pause-for", func(n yamlNode) { a.PauseFor = p.duration(n, 0) }},
		field{"crashes", func(n yamlNode) { a.Crashes = p.count(n, 0, 100) }},
		field{"restarts", func(n yamlNode) { a.Restarts = p.count(n, 0, 100) }},
		field{"events", func(n yamlNode) {
			p.list(n, func(n yamlNode) {
				e := p.event(n)
				a.Events, events = append(a.Events, e), append(events, n)
			})
		}},
	)
	p.required("name", "script")
	switch {
	case !complete:
	case name == nil:
		p.apart(func() { p.fail(n, "- name: alice", "found an actor without a name") })
	case script == nil:
		p.apart(func() {
			p.fail(n, "script: [get /home]", "found no script for actor %s, expected at least one command", a.Name)
		})
	case len(p.s.Actors)+machines > maxActors:
		p.fail(many, "several actors of one kind show as much", "found more than %d actors", maxActors)
		machines = 1
	}
	for i, e := range a.Events {
		if e.Kind == sim.Restart && !sim.MayBeDown(a.Crashes, a.Events, e.At) {
			p.apart(func() {
				p.fail(events[i], fmt.Sprintf("crash at a time before, or crashes: 1, for %s", a.Name),
					"found a restart at %v of a machine that nothing has crashed by then", e.At)
			})
		}
	}
	a.Script = slices.Repeat(a.Script, times)
	if many == nil {
		p.s.Actors = append(p.s.Actors, a)
		return
	}
	for i := range machines {
		one := a
		one.Name = fmt.Sprintf("%s-%d", a.Name, i+1)
		one.Script, one.ClockSteps, one.Events = slices.Clone(a.Script),
			slices.Clone(a.ClockSteps), slices.Clone(a.Events)
		if slices.ContainsFunc(p.s.Actors, func(other Actor) bool { return other.Name == one.Name }) {
			p.fail(many, "give each actor a name of its own", "found a second actor called %q", one.Name)
		}
		p.s.Actors = append(p.s.Actors, one)
	}
}

// maxRepeat bounds how often a script is repeated.
const maxRepeat = 100

func (p *parse) clock(n yamlNode, a *Actor) {
	p.mapping(n,
		field{"offset", func(n yamlNode) { a.Drift.Offset = p.duration(n, -24*time.Hour) }},
		// With these bounds a clock has between half and twice the true rate, and every sleep that a script may ask for
		// still ends.
		field{"drift-ppm", func(n yamlNode) { a.Drift.PPM = int64(p.count(n, -fakeclock.MaxPPM/2, fakeclock.MaxPPM)) }},
		field{"steps", func(n yamlNode) {
			p.list(n, func(n yamlNode) { a.ClockSteps = append(a.ClockSteps, p.duration(n, -24*time.Hour)) })
		}},
	)
}

func (p *parse) command(n yamlNode) Command {
	text := p.text(n)
	if p.err != nil {
		return Command{}
	}
	if p.shape != nil {
		var verbs, examples []string
		for _, f := range forms {
			verbs, examples = append(verbs, string(f.verb)), append(examples, string(f.verb)+" "+f.example)
		}
		p.describeWords("", verbs, examples)
	}
	c, wrong := parseCommand(text)
	if wrong != nil {
		p.fail(n, wrong.hint, "%s", wrong.problem)
	}
	return c
}

// fault reads a fault. If there are mistakes in the actors or the tables, their names may not be known.
func (p *parse) fault(n yamlNode, actorsKnown, tablesKnown bool) {
	text := p.text(n)
	if p.shape != nil {
		p.describeWords(`(maybe\s+)?`, faultKinds(),
			[]string{"throttled op=PutItem key=LOCK times=2", "maybe response-lost op=TransactWriteItems actor=alice",
				"throttled op=PutItem from 10s to 20s", "cut-off actor=alice from 10s to 20s",
				"latency 100ms-2s op=GetItem"})
	}
	if p.err != nil {
		return
	}
	rest, maybe := strings.CutPrefix(strings.TrimSpace(text), "maybe ")
	f, hint, err := parseFault(rest)
	if err != nil {
		p.fail(n, cmp.Or(hint, "such as: maybe response-lost op=TransactWriteItems actor=alice"), "%v", err)
		return
	}
	f.Maybe = maybe
	var actors []string
	for _, a := range p.s.Actors {
		if !slices.Contains(actors, a.Name) { // a name that is there twice is reported as another mistake
			actors = append(actors, a.Name)
		}
	}
	switch {
	case actorsKnown && f.Actor != "" && !slices.Contains(actors, f.Actor):
		p.fail(n, suggest.Hint(f.Actor, actors, ""), "found a fault of actor %q, expected one of %s", f.Actor,
			strings.Join(actors, ", "))
	case f.Op != "" && !slices.Contains(ddbfake.Operations(), f.Op):
		p.fail(n, suggest.Hint(f.Op, ddbfake.Operations(), ""), "found a fault of operation %q, expected one of %s",
			f.Op, strings.Join(ddbfake.Operations(), ", "))
	case maybe && f.Nth > 0:
		p.fail(n, "leave out nth, or leave out maybe",
			"found nth=%d in a fault that strikes when the schedule says so", f.Nth)
	case tablesKnown && f.Table != "" && !slices.Contains(tableNames(p.s.Rows), f.Table):
		p.fail(n, "leave the table out", "found a fault of table %q, but the only table is %s", f.Table,
			oneOf(tableNames(p.s.Rows)))
	}
	p.s.Faults = append(p.s.Faults, f)
}

func (p *parse) bounds(n yamlNode) {
	b := &p.s.Bounds
	p.mapping(n,
		field{"schedules", func(n yamlNode) { b.Schedules = p.count(n, 1, 1_000_000_000) }},
		field{"steps", func(n yamlNode) { b.Steps = p.count(n, 1, 1_000_000) }},
		field{"ticks", func(n yamlNode) { b.Ticks = p.count(n, 0, 10_000) }},
		field{"sweeps", func(n yamlNode) { b.Sweeps = p.count(n, 0, 10_000) }},
	)
}

func (p *parse) mark(n yamlNode) {
	var names []string
	for _, m := range Marks() {
		names = append(names, string(m))
	}
	p.s.Reach = append(p.s.Reach, Mark(p.word(n, "mark", names)))
}

func (p *parse) verdict(n yamlNode) invariant.Verdict {
	if p.word(n, "verdict",
		[]string{invariant.OK.String(), invariant.Violated.String()}) == invariant.Violated.String() {
		return invariant.Violated
	}
	return invariant.OK
}

// invariants reads a list of names of invariants.
func (p *parse) invariants(n yamlNode) (names []string) {
	p.list(n, func(n yamlNode) {
		name := p.word(n, "invariant", invariantNames())
		if p.err == nil && slices.Contains(names, name) {
			p.fail(n, "keep one of the two", "found the invariant %s twice", name)
		}
		names = append(names, name)
	})
	if p.err == nil && names == nil {
		p.fail(n, "leave the key out for all invariants", "found no invariant, expected the name of one at least")
	}
	return names
}

func invariantNames() []string {
	var names []string
	for _, inv := range slices.Concat(invariant.All(), invariant.OfLocks(), invariant.OfCalls()) {
		names = append(names, inv.Name)
	}
	return names
}

// digest reads the digest of a trace.
func (p *parse) digest(n yamlNode) string {
	s := p.text(n)
	if b, err := hex.DecodeString(s); p.err == nil && (err != nil || len(b) != 4) {
		p.fail(n, "quote it, for it may look like a number",
			"found the digest %q, expected eight hexadecimal digits", s)
	}
	return s
}

func (p *parse) replay(n yamlNode) {
	r := &Replay{Protocol: p.s.Protocol}
	p.mapping(n,
		field{"protocol", func(n yamlNode) { r.Protocol = p.recorded(n) }},
		field{"seed", func(n yamlNode) { r.Seed = p.seed(n) }},
		field{"choices", func(n yamlNode) {
			choices, err := schedule.ParseChoices(p.text(n))
			if err != nil {
				p.fail(n, "copy the choices that a report printed, all of them", "%v", err)
			}
			r.Choices = choices
		}},
		field{"swarm", func(n yamlNode) { r.Swarm = p.boolean(n) }},
		field{"all-stops", func(n yamlNode) { r.AllStops = p.boolean(n) }},
		field{"steps", func(n yamlNode) { r.Steps = p.count(n, 1, 1_000_000) }},
		field{"goroutines", func(n yamlNode) { r.Goroutines = p.boolean(n) }},
		field{"trace", func(n yamlNode) { r.Digest = p.digest(n) }},
		field{"violates", func(n yamlNode) { r.Violates = p.word(n, "invariant", invariantNames()) }},
	)
	p.s.Replay = r
}

// SyntaxError is a mistake in a scenario file, and the place of the mistake.
type SyntaxError struct {
	File         string
	Line, Column int    // from 1; columns count characters
	Problem      string // the text that was found and the expected one
	Hint         string // how to mend it; may be empty
	source       string // the line
}

// excerptWidth is how much of a line an error shows around its column.
const excerptWidth = 100

// Error prints the position and the problem, the line with a caret below the column, and the hint.
func (e *SyntaxError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: %s", e.File, e.Line, e.Column, e.Problem)
	excerpt, caret := e.excerpt()
	number := fmt.Sprint(e.Line)
	fmt.Fprintf(&b, "\n  %s | %s\n  %*s | %*s^", number, excerpt, len(number), "", caret, "")
	if e.Hint != "" {
		fmt.Fprintf(&b, "\nhint: %s", e.Hint)
	}
	return b.String()
}

// excerpt returns the part of the line around the column, and the position of the caret in this part.
func (e *SyntaxError) excerpt() (text string, caret int) {
	// It looks only at the beginning of the line, because the line may be megabytes long.
	const enough = 1 << 17
	source := e.source[:min(len(e.source), enough)]
	line := []rune(strings.ToValidUTF8(source, "\uFFFD"))
	for i, r := range line {
		if !unicode.IsPrint(r) {
			line[i] = ' ' // a tab or a control character would put the caret in a wrong place
		}
	}
	at := min(max(e.Column-1, 0), len(line))
	start := max(at-excerptWidth/2, 0)
	if len(line) <= excerptWidth {
		start = 0
	}
	end := min(start+excerptWidth, len(line))
	text, caret = string(line[start:end]), at-start
	if start > 0 {
		text, caret = "..."+text, caret+3
	}
	if end < len(line) || len(source) < len(e.source) {
		text += "..."
	}
	return text, caret
}
