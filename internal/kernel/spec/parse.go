package spec

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/base/yamlfile"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/protocols"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/subject/list"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Load reads a scenario file. A mistake in its contents is a *SyntaxError. Several mistakes are joined as by
// errors.Join.
func Load(file string) (*Scenario, error) {
	const readable = os.ModeDir | os.ModeNamedPipe // reading a folder fails with a clear error; a pipe is read once
	if info, err := os.Stat(file); err == nil && info.Mode().Type()&^readable != 0 {
		return nil, fmt.Errorf("scenario: %s is no regular file", file)
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
			maxReadBytes, file, yamlfile.MaxBytes)
	}
	return Parse(file, data)
}

// maxReadBytes bounds the part of a file that is read. It is far beyond the size of a scenario, but a device has no
// end, and a database may be larger than memory.
const maxReadBytes = 8 << 20

// Parse reads a scenario from the contents of a file; the name is for errors. A file may name the protocols that
// isr-sim list prints, and also the given protocols, which are for stores under test. A mistake in the file is a
// *SyntaxError. Several mistakes are joined in the order of the file, as by errors.Join.
func Parse(file string, data []byte, also ...isr.Protocol) (*Scenario, error) {
	s := defaults()
	s.File = file
	p := parse{reader: newReader(file, ofScenario), s: &s, protocols: protocols.Names()}
	for _, a := range also {
		p.protocols = append(p.protocols, a.Name)
	}
	if root := p.Open(data); root != nil {
		p.scenario(root)
	}
	if err := p.Failed(syntaxError); err != nil {
		return nil, err
	}
	return &s, nil
}

// reader reads the values of files.
type reader struct{ yamlfile.Reader }

func newReader(file string, kind yamlfile.Kind) reader {
	return reader{yamlfile.Reader{File: file, Kind: kind, Hint: func(word string) string {
		if !protocols.UnderTest(word) {
			return ""
		}
		return "this run is of code in a Go test: go test -v -run '^" +
			strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) + "$'"
	}}}
}

type (
	yamlNode = yamlfile.Node
	document = yamlfile.Document
)

// field is a key of a mapping, and the function that reads its value.
type field struct {
	name string
	read func(yamlNode)
}

// mapping calls Mapping with these fields.
func (r *reader) mapping(n yamlNode, fields ...field) (complete bool) {
	all := make([]yamlfile.Field, len(fields))
	for i, f := range fields {
		all[i] = yamlfile.Field{Name: f.name, Read: f.read}
	}
	return r.Mapping(n, all...)
}

func syntaxError(m *yamlfile.Mistake) error {
	return &SyntaxError{m.File, m.Line, m.Column, m.Problem, m.Hint, m.Source}
}

// parse fills in a Scenario.
type parse struct {
	reader
	s         *Scenario
	protocols []string
}

func (p *parse) scenario(n yamlNode) {
	s := p.s
	if _, is := yamlfile.Entries(n); n != nil && !is { // n is nil when only the shape of files is described
		p.Fail(n, "a scenario begins with its name, such as name: paused-writer",
			"found %s, expected keys and values", yamlfile.DescribeNode(n))
		return
	}
	if yamlfile.HasKey(n, "format") && yamlfile.HasKey(n, "steps") {
		p.Fail(n, "the scenario is the .yaml file beside it; isr-sim replay, explain and report read a record",
			"found the record of a run, expected a scenario")
		return
	}
	if p.ForeignKeys(n) {
		return
	}
	var name, source, broken, actors, faults, compared, apart, only, without yamlNode
	actorsRead, rowsRead := true, true // without a mistake
	complete := p.mapping(n,
		field{"name", func(n yamlNode) { name, s.Name = n, p.name(n) }},
		field{"about", func(n yamlNode) { s.About = strings.TrimSpace(p.Text(n)) }},
		field{"source", func(n yamlNode) {
			source = n
			p.List(n, func(n yamlNode) { s.Source = append(s.Source, p.Text(n)) })
			if p.Err == nil && len(s.Source) == 0 {
				p.Fail(n, "source: [owner/repository#1]", "found no source, expected at least one")
			}
		}},
		field{"broken", func(n yamlNode) { broken, s.Broken = n, p.protocol(n) }},
		field{"protocol", func(n yamlNode) { s.Protocol = p.protocol(n) }},
		field{"rows", func(n yamlNode) { s.Rows = p.schema(n); rowsRead = p.Err == nil }},
		field{"cache", p.cache},
		field{"promise", p.promise},
		field{"ttl-lag", func(n yamlNode) { s.Lag = p.lag(n, ttlLag) }},
		field{"compare-lags", func(n yamlNode) {
			compared = n
			p.List(n, func(n yamlNode) { s.CompareLags = append(s.CompareLags, p.comparedLag(n)) })
		}},
		field{"region-lag", func(n yamlNode) { apart, s.RegionLag = n, p.lag(n, "region lag") }},
		field{"replica-lag", func(n yamlNode) { s.ReplicaLag = p.Duration(n, 0) }},
		field{"max-clock-skew", func(n yamlNode) { s.Skew = p.Duration(n, 0) }},
		field{"actors", func(n yamlNode) { actors = n; p.List(n, p.actor); actorsRead = p.Err == nil }},
		field{"faults", func(n yamlNode) {
			if faults = n; p.Shape != nil {
				p.List(n, func(n yamlNode) { p.fault(n, true, true) })
			}
		}},
		field{"s3-store", func(n yamlNode) { s.S3Store = p.Word(n, "S3 store", promise.ObjectStores()) }},
		field{"settle", func(n yamlNode) { s.Settle = p.Duration(n, 0) }},
		field{"bounds", p.bounds},
		field{"reach", func(n yamlNode) { p.List(n, p.mark) }},
		field{"invariants", func(n yamlNode) { only, s.Invariants = n, p.invariants(n) }},
		field{"without", func(n yamlNode) { without, s.Without = n, p.invariants(n) }},
		field{"expect", func(n yamlNode) { s.Expect = p.verdict(n) }},
		field{"catches",
			func(n yamlNode) { p.List(n, func(n yamlNode) { s.Catches = append(s.Catches, p.protocol(n)) }) }},
		field{"replay", p.replay},
	)
	p.Required("name", "actors")
	complete = complete && !p.Cut
	nameless := func(a Actor) bool { return a.Name == "" }
	actorsKnown := actors != nil && (actorsRead || len(s.Actors) > 0) && !slices.ContainsFunc(s.Actors, nameless)
	if faults != nil {
		// Faults are read last, because they name actors and tables.
		p.Apart(func() { p.List(faults, func(n yamlNode) { p.fault(n, actorsKnown, rowsRead) }) })
	}
	check := func(wrong bool, n yamlNode, hint, problem string) {
		if wrong {
			p.Apart(func() { p.Fail(n, hint, "%s", problem) })
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
	check(actorsKnown && apart != nil && s.Regions() == nil, apart,
		"region: eu-west-1 for one of the actors", "found a lag between regions, and all actors in one region")
	if problem, hint := s.Unjudged(); problem != "" {
		check(true, actors, hint, problem)
	}
	check(s.Lag.Scheduler && len(s.CompareLags) > 0, compared,
		"leave ttl-lag out, or use another one",
		"found lags to compare with that of the scheduler, whose deletions are steps of the schedule")
}

// name reads a word that can be a part of a file name and of a command line.
func (p *parse) name(n yamlNode) string {
	s := p.Text(n)
	if p.Shape != nil {
		p.Shape.Pattern = "^[A-Za-z0-9_-]{1,100}$"
	}
	fits := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
	}
	if p.Err == nil && (s == "" || len(s) > 100 || strings.ContainsFunc(s, func(r rune) bool { return !fits(r) })) {
		p.Fail(n, "such as: paused-writer", "found the name %q, expected letters, digits, - and _ (at most 100)", s)
	}
	return s
}

func (p *parse) protocol(n yamlNode) string { return p.Word(n, "protocol", p.protocols) }

// recorded reads the name of the protocol of a recorded run, which may be a program. Reading it starts nothing.
func (p *parse) recorded(n yamlNode) string {
	if p.Shape != nil {
		p.protocol(n)
		p.DescribeAlso(func(yamlNode) { p.DescribeText(yamlfile.Shape{Pattern: "^" + shell.ExecPrefix}) })
		return ""
	}
	if s, ok := yamlfile.OneLine(n); ok && strings.HasPrefix(s, shell.ExecPrefix) {
		return s
	}
	return p.protocol(n)
}

func (p *parse) cache(n yamlNode) {
	c := &p.s.Cache
	least := func(d *time.Duration, least time.Duration) func(yamlNode) {
		return func(n yamlNode) { *d = p.Duration(n, least) }
	}
	p.mapping(n,
		field{"lease", least(&c.Lease, time.Millisecond)},
		field{"revalidate", func(n yamlNode) {
			c.Revalidate = p.Duration(n, time.Second)
			if p.Err == nil && c.Revalidate%time.Second != 0 {
				p.Fail(n, "revalidate_seconds holds no fractions", "found %v, expected whole seconds", c.Revalidate)
			}
		}},
		field{"retention", least(&c.Retention, time.Millisecond)},
		field{"ttl-buffer", least(&c.TTLBuffer, time.Millisecond)},
		field{"render", least(&c.Render, 0)},
		field{"keep-alive", least(&c.KeepAlive, 0)},
		field{"same-bytes", func(n yamlNode) { c.SameBytes = p.Boolean(n) }},
		field{"contention", func(n yamlNode) {
			c.Contention = isr.ServeStale
			if p.Word(n, "contention policy", []string{"serve-stale", "wait"}) == "wait" {
				c.Contention = isr.Wait
			}
		}},
		field{"failure", func(n yamlNode) {
			c.Failure = isr.ServeLast
			if p.Word(n, "failure policy", []string{"serve-last", "error"}) == "error" {
				c.Failure = isr.Fail
			}
		}},
		field{"poll", least(&c.Poll, time.Millisecond)},
		field{"patience", func(n yamlNode) { c.Patience = p.Count(n, 1, hooks.MostPatience) }},
		field{"attempts", func(n yamlNode) { c.Attempts = p.Count(n, 1, 100) }},
	)
}

func (p *parse) promise(n yamlNode) {
	v := &p.s.Promise
	p.mapping(n,
		field{"monotonic-reads", func(n yamlNode) {
			v.AcrossNodes = p.Word(n, "reach of monotonic reads", []string{perNode, acrossNodes}) == acrossNodes
		}},
		field{"max-age", func(n yamlNode) { v.MaxAge = p.Duration(n, time.Second) }},
		field{"recipe", func(n yamlNode) { v.Recipe = p.Boolean(n) }},
	)
}

// The values of the promise monotonic-reads.
const (
	perNode     = "per-node"
	acrossNodes = "across-nodes"
)

// reservedNames are names in a trace for steps that belong to no actor.
var reservedNames = []string{"time", "ttl", "replication"}

// maxActors is the highest number of actors. It keeps runs short, because an interrupt does not end a run.
const maxActors = 64

func (p *parse) actor(n yamlNode) {
	if len(p.s.Actors) >= maxActors {
		if len(p.s.Actors) == maxActors {
			p.Fail(n, "several actors of one kind show as much", "found more than %d actors", maxActors)
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
				p.Fail(n, "give the actor another name",
					"found an actor called %q, which traces call something else", a.Name)
			}
			if slices.ContainsFunc(p.s.Actors, func(other Actor) bool { return other.Name == a.Name }) {
				p.Fail(n, "give each actor a name of its own", "found a second actor called %q", a.Name)
			}
		}},
		field{"count", func(n yamlNode) { many, machines = n, p.Count(n, 1, maxActors) }},
		field{"tenant", func(n yamlNode) { a.Tenant = p.name(n) }},
		field{"region", func(n yamlNode) { a.Region = p.name(n) }},
		field{"script", func(n yamlNode) {
			script = n
			p.List(n, func(n yamlNode) { a.Script = append(a.Script, p.command(n)) })
			if p.Err == nil && len(a.Script) == 0 {
				p.Fail(n, "script: [get /home]", "found no commands, expected at least one")
			}
		}},
		field{"repeat", func(n yamlNode) { times = p.Count(n, 1, maxRepeat) }},
		field{"clock", func(n yamlNode) { p.clock(n, &a) }},
		field{"pauses", func(n yamlNode) { a.Pauses = p.Count(n, 0, 100) }},
		field{"pause-for", func(n yamlNode) { a.PauseFor = p.Duration(n, 0) }},
		field{"crashes", func(n yamlNode) { a.Crashes = p.Count(n, 0, 100) }},
		field{"restarts", func(n yamlNode) { a.Restarts = p.Count(n, 0, 100) }},
		field{"events", func(n yamlNode) {
			p.List(n, func(n yamlNode) {
				e := p.event(n)
				a.Events, events = append(a.Events, e), append(events, n)
			})
		}},
	)
	p.Required("name", "script")
	switch {
	case !complete:
	case name == nil:
		p.Apart(func() { p.Fail(n, "- name: alice", "found an actor without a name") })
	case script == nil:
		p.Apart(func() {
			p.Fail(n, "script: [get /home]", "found no script for actor %s, expected at least one command", a.Name)
		})
	case len(p.s.Actors)+machines > maxActors:
		p.Fail(many, "several actors of one kind show as much", "found more than %d actors", maxActors)
		machines = 1
	}
	for i, e := range a.Events {
		if e.Kind == sim.Restart && !sim.MayBeDown(a.Crashes, a.Events, e.At) {
			p.Apart(func() {
				p.Fail(events[i], fmt.Sprintf("crash at a time before, or crashes: 1, for %s", a.Name),
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
			p.Fail(many, "give each actor a name of its own", "found a second actor called %q", one.Name)
		}
		p.s.Actors = append(p.s.Actors, one)
	}
}

// maxRepeat bounds how often a script is repeated.
const maxRepeat = 100

func (p *parse) clock(n yamlNode, a *Actor) {
	p.mapping(n,
		field{"offset", func(n yamlNode) { a.Drift.Offset = p.Duration(n, -24*time.Hour) }},
		// With these bounds a clock has between half and twice the true rate, and every sleep that a script may ask for
		// still ends.
		field{"drift-ppm", func(n yamlNode) { a.Drift.PPM = int64(p.Count(n, -fakeclock.MaxPPM/2, fakeclock.MaxPPM)) }},
		field{"steps", func(n yamlNode) {
			p.List(n, func(n yamlNode) { a.ClockSteps = append(a.ClockSteps, p.Duration(n, -24*time.Hour)) })
		}},
	)
}

func (p *parse) bounds(n yamlNode) {
	b := &p.s.Bounds
	p.mapping(n,
		field{"schedules", func(n yamlNode) { b.Schedules = p.Count(n, 1, 1_000_000_000) }},
		field{"steps", func(n yamlNode) { b.Steps = p.Count(n, 1, 1_000_000) }},
		field{"ticks", func(n yamlNode) { b.Ticks = p.Count(n, 0, 10_000) }},
		field{"sweeps", func(n yamlNode) { b.Sweeps = p.Count(n, 0, 10_000) }},
	)
}

func (p *parse) mark(n yamlNode) {
	var names []string
	for _, m := range Marks() {
		names = append(names, string(m))
	}
	p.s.Reach = append(p.s.Reach, Mark(p.Word(n, "mark", names)))
}

func (p *parse) verdict(n yamlNode) invariant.Verdict {
	if p.Word(n, "verdict",
		[]string{invariant.OK.String(), invariant.Violated.String()}) == invariant.Violated.String() {
		return invariant.Violated
	}
	return invariant.OK
}

// invariants reads a list of names of invariants.
func (p *parse) invariants(n yamlNode) (names []string) {
	p.List(n, func(n yamlNode) {
		name := p.Word(n, "invariant", invariantNames())
		if p.Err == nil && slices.Contains(names, name) {
			p.Fail(n, "keep one of the two", "found the invariant %s twice", name)
		}
		names = append(names, name)
	})
	if p.Err == nil && names == nil {
		p.Fail(n, "leave the key out for all invariants", "found no invariant, expected the name of one at least")
	}
	return names
}

func invariantNames() []string {
	var names []string
	for _, s := range list.Subjects() {
		for _, inv := range s.All {
			names = append(names, inv.Name)
		}
	}
	return names
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
