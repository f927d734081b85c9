// Package spec reads and prints scenario files: the nodes of a cache, the requests of their clients, clocks and faults,
// and the marks that runs must reach. It knows no run.
package spec

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/schedule"
	"github.com/isr-sim/isr-sim/internal/base/yamlfile"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/protocols"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// Scenario is a scenario file, read and checked, with its defaults filled in.
type Scenario struct {
	File     string // the file from which it was read; "" if it was not read from a file
	Name     string
	About    string // the story of the scenario and why it matters, in prose
	Protocol string

	// Source is where the scenario's bug was seen: owner/repository#number, or a sentence. Broken is the protocol that
	// has this bug. Either both are set or neither. They make the scenario an exhibit of the museum.
	Source []string
	Broken string

	// Rows says how the caches keep their pages and locks, if not in META and LOCK. A Schema with a function cannot be
	// written to a file.
	Rows isr.Schema

	Cache   Cache
	Promise Promise
	Lag     Lag
	// CompareLags are lags under which each schedule is run once more, to see whether any decision differs. If there
	// are such lags, Lag must not be that of the scheduler.
	CompareLags []ddbfake.Lag
	// RegionLag is the time for which a write is under way to the other regions. The table has a replica in each region
	// that has an actor.
	RegionLag Lag
	// ReplicaLag is the time by which eventually consistent reads are behind.
	ReplicaLag time.Duration
	Skew       time.Duration // max-clock-skew: the promised bound of |a node's clock - true time|
	Actors     []Actor
	Faults     []Fault
	// S3Store is the kind of the S3 store (promise.Objects); "" means AWS's.
	S3Store string
	// Settle is the time after the run, when faults have stopped, within which every page must be fresh; with 0 this is
	// not checked.
	Settle time.Duration
	Bounds Bounds
	Reach  []Mark // marks that a campaign must reach
	// Invariants are the names of the only invariants that judge; nil means all. Without are the names of invariants
	// that do not judge. At most one of the two is set.
	Invariants, Without []string
	Expect              invariant.Verdict
	Catches             []string // protocols that this scenario is known to catch
	Replay              *Replay  // a recorded run
}

// Cache is the configuration of every node's cache.
type Cache struct {
	Lease      time.Duration
	Revalidate time.Duration
	Retention  time.Duration
	TTLBuffer  time.Duration
	Render     time.Duration // how long the origin takes; 0 means no time at all
	KeepAlive  time.Duration // the time between two calls of keepAlive by the renderer; 0 means no calls
	Contention isr.Contention
	Failure    isr.Failure
	Poll       time.Duration
	Patience   int
	Attempts   int // how often the client, like the SDK, sends a request whose failures can be retried

	// SameBytes says that two renderings of a page have the same bytes if its data has not changed between them. A
	// rendering for a request with an idempotency key still has different bytes, which show the request.
	SameBytes bool
}

// Promise has the promises of the cache beyond the rules of every cache. By default it promises nothing.
type Promise struct {
	// AcrossNodes says that monotonic-reads judges all nodes together, and not each node by itself.
	AcrossNodes bool
	MaxAge      time.Duration // no older page is served, as fresh or as stale; 0 means no bound. See bounded-staleness
	// Recipe says that the cache keeps the rules of the recipe. Breaking one serves no wrong page (INVARIANTS.md). The
	// protocols of isr-sim promise these rules in any case.
	Recipe bool
}

// Lag says when TTL deletes a row, or when a write arrives in another region. Either a lag of the fake decides, or the
// schedule, for which the deletion or arrival is one more kind of step.
type Lag struct {
	Scheduler bool
	Fixed     ddbfake.Lag // if Scheduler is false
}

// String returns the lag as scenario files write it.
func (l Lag) String() string {
	if l.Scheduler {
		return "scheduler"
	}
	return l.Fixed.String()
}

// OfStore is the lag of the fake.
func (l Lag) OfStore() ddbfake.Lag {
	if l.Scheduler {
		return ddbfake.LagManual
	}
	return l.Fixed
}

// Regions returns the regions that have a replica of the table: first the default region, then the others in the order
// of the actors. It returns nil if there is only the default region.
func (s *Scenario) Regions() []string {
	all := []string{ddbfake.DefaultRegion}
	for i := range s.Actors {
		if r := s.Actors[i].Region; r != "" && !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	if len(all) == 1 {
		return nil
	}
	return all
}

// Actor is one node and the commands of its client.
type Actor struct {
	Name       string
	Tenant     string // the tenant whose pages it serves; "" without tenants
	Region     string // of the node and its table; "" means ddbfake.DefaultRegion, which always has a replica
	Script     []Command
	Drift      fakeclock.Drift
	ClockSteps []time.Duration
	Pauses     int
	PauseFor   time.Duration
	Crashes    int
	Restarts   int
	Events     []schedule.Planned // events of the machine that happen at a certain time in every schedule
}

// Bounds limit a run and a campaign.
type Bounds struct {
	Schedules int // how many schedules a campaign runs
	Steps     int // the number of steps after which a run is cut; its verdict is then unknown
	Ticks     int // how often time moves while something else could happen
	Sweeps    int // how many rows TTL may delete if the schedule decides when; 0 means no bound
}

// Defaults returns a scenario with the values that keys have if a file leaves them out. It is for programs that build
// scenarios. It has no name and no actors yet.
func Defaults() *Scenario {
	s := defaults()
	return &s
}

func defaults() Scenario {
	return Scenario{
		Protocol: recipe.Reference().Name,
		Cache: Cache{
			Lease: 10 * time.Second, Revalidate: time.Minute, Retention: 24 * time.Hour, TTLBuffer: time.Hour,
			Contention: isr.ServeStale, Poll: time.Second, Patience: 10, Attempts: 3,
		},
		Lag:       Lag{Fixed: ddbfake.LagNever},
		RegionLag: Lag{Scheduler: true},
		Bounds:    Bounds{Schedules: 1000, Steps: 2000, Ticks: 6},
		Expect:    invariant.OK,
	}
}

// YAML returns the scenario as a file that Parse reads back. It leaves out values that are defaults.
func (s *Scenario) YAML() ([]byte, error) {
	d := defaults()
	var doc document
	doc.Add("name", s.Name, s.Name != "")
	doc.Add("about", s.About, s.About != "")
	doc.Add("source", s.Source, len(s.Source) > 0)
	doc.Add("broken", s.Broken, s.Broken != "")
	doc.Add("protocol", s.Protocol, s.Protocol != d.Protocol)
	rows := rowsDocument(s.Rows)
	doc.Add("rows", rows, rows != nil)
	doc.Add("cache", s.Cache.document(d.Cache), s.Cache != d.Cache)
	var promise document
	promise.Add("monotonic-reads", acrossNodes, s.Promise.AcrossNodes)
	promise.Add("max-age", s.Promise.MaxAge.String(), s.Promise.MaxAge != 0)
	promise.Add("recipe", true, s.Promise.Recipe)
	doc.Add("promise", promise, len(promise) > 0)
	doc.Add("ttl-lag", s.Lag.String(), s.Lag != d.Lag)
	doc.Add("compare-lags", texts(s.CompareLags), len(s.CompareLags) > 0)
	doc.Add("region-lag", s.RegionLag.String(), s.RegionLag != d.RegionLag && s.Regions() != nil)
	doc.Add("replica-lag", s.ReplicaLag.String(), s.ReplicaLag != 0)
	doc.Add("max-clock-skew", s.Skew.String(), s.Skew != 0)
	actors := make([]document, len(s.Actors))
	for i, a := range s.Actors {
		actors[i] = a.document()
	}
	doc.Add("actors", actors, true)
	doc.Add("faults", texts(s.Faults), len(s.Faults) > 0)
	doc.Add("s3-store", s.S3Store, s.S3Store != "")
	doc.Add("settle", s.Settle.String(), s.Settle != 0)
	bounds := document{
		{Key: "schedules", Value: s.Bounds.Schedules}, {Key: "steps", Value: s.Bounds.Steps},
		{Key: "ticks", Value: s.Bounds.Ticks},
	}
	bounds.Add("sweeps", s.Bounds.Sweeps, s.Bounds.Sweeps != d.Bounds.Sweeps)
	doc.Add("bounds", bounds, s.Bounds != d.Bounds)
	doc.Add("reach", s.Reach, len(s.Reach) > 0)
	doc.Add("invariants", s.Invariants, s.Invariants != nil)
	doc.Add("without", s.Without, s.Without != nil)
	doc.Add("expect", s.Expect.String(), s.Expect != d.Expect)
	doc.Add("catches", s.Catches, len(s.Catches) > 0)
	if r := s.Replay; r != nil {
		replay := document{
			{Key: "protocol", Value: r.Protocol}, {Key: "seed", Value: r.Seed},
			{Key: "choices", Value: r.Choices.String()},
		}
		replay.Add("swarm", r.Swarm, r.Swarm)
		replay.Add("all-stops", r.AllStops, r.AllStops)
		replay.Add("steps", r.Steps, r.Steps > 0)
		replay.Add("goroutines", r.Goroutines, r.Goroutines)
		replay.Add("trace", r.Digest, r.Digest != "")
		replay.Add("violates", r.Violates, r.Violates != "")
		doc.Add("replay", replay, true)
	}
	out, err := doc.Text()
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", s.Name, err)
	}
	return out, nil
}

func (c Cache) document(d Cache) document {
	var doc document
	doc.AddDuration("lease", c.Lease, d.Lease)
	doc.AddDuration("revalidate", c.Revalidate, d.Revalidate)
	doc.AddDuration("retention", c.Retention, d.Retention)
	doc.AddDuration("ttl-buffer", c.TTLBuffer, d.TTLBuffer)
	doc.AddDuration("render", c.Render, d.Render)
	doc.AddDuration("keep-alive", c.KeepAlive, d.KeepAlive)
	doc.Add("same-bytes", true, c.SameBytes)
	doc.Add("contention", "wait", c.Contention == isr.Wait)
	doc.Add("failure", "error", c.Failure == isr.Fail)
	doc.AddDuration("poll", c.Poll, d.Poll)
	doc.Add("patience", c.Patience, c.Patience != d.Patience)
	doc.Add("attempts", c.Attempts, c.Attempts != d.Attempts)
	return doc
}

func (a Actor) document() document {
	var doc, clock document
	doc.Add("name", a.Name, true)
	doc.Add("tenant", a.Tenant, a.Tenant != "")
	doc.Add("region", a.Region, a.Region != "")
	doc.Add("script", texts(a.Script), true)
	clock.AddDuration("offset", a.Drift.Offset, 0)
	clock.Add("drift-ppm", a.Drift.PPM, a.Drift.PPM != 0)
	clock.Add("steps", texts(a.ClockSteps), len(a.ClockSteps) > 0)
	doc.Add("clock", clock, len(clock) > 0)
	doc.Add("pauses", a.Pauses, a.Pauses != 0)
	doc.AddDuration("pause-for", a.PauseFor, 0)
	doc.Add("crashes", a.Crashes, a.Crashes != 0)
	doc.Add("restarts", a.Restarts, a.Restarts != 0)
	doc.Add("events", texts(a.Events), len(a.Events) > 0)
	return doc
}

func texts[T fmt.Stringer](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v.String()
	}
	return out
}

// With returns the scenario with a recorded run as its replay entry.
func (s *Scenario) With(r Replay) *Scenario {
	same := *s
	same.Replay = &r
	return &same
}

// Replay is a recorded run of the scenario. It has everything that decides the run.
type Replay struct {
	Protocol string
	Seed     uint64
	Choices  schedule.Choices
	Swarm    bool // as in kernel.Run
	AllStops bool // as in kernel.Run
	Steps    int  // as in kernel.Run; 0 means the whole run
	// Goroutines says that the run was in a bubble, because the store has goroutines. Package property then replays it
	// in a bubble, too.
	Goroutines bool
	Digest     string // the digest of the recorded trace: see kernel.Outcome; "" if it is not known
	Violates   string // the name of the invariant that the run violates; "" if none or unknown
}

// FileShape is the shape of scenario files.
func FileShape() *yamlfile.Shape {
	s := defaults()
	root := &yamlfile.Shape{}
	p := parse{reader: reader{yamlfile.Reader{Shape: root}}, s: &s, protocols: protocols.Names()}
	p.scenario(nil)
	return root
}

var ofScenario = yamlfile.Kind{
	What: "a scenario", Hint: "a scenario begins with its name, such as name: paused-writer", Keys: func() []string {
		root := FileShape()
		keys := slices.Clone(root.Required)
		for _, key := range slices.Sorted(maps.Keys(root.Properties)) {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
		return keys
	}}

// lag reads a lag. Errors call it by the given name.
func (p *parse) lag(n yamlNode, name string) Lag {
	text := p.Text(n)
	if p.Shape != nil {
		p.DescribeText(yamlfile.Shape{Pattern: `^(scheduler$|` + lags + `)`, Examples: lagExamples})
	}
	if p.Err != nil {
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
		p.Fail(n,
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
		err = errors.New(strings.Replace(err.Error(), "want manual, ", "want ", 1)) // scenarios have none
	}
	return lag, err
}

// comparedLag reads an entry of compare-lags, which may be just a duration.
func (p *parse) comparedLag(n yamlNode) ddbfake.Lag {
	text := p.Text(n)
	if p.Shape != nil {
		p.DescribeText(yamlfile.Shape{
			Pattern: `^([0-9.]+[a-zµ]|0$|` + lags + `)`, Examples: []string{"at-once", "1h", "48h", "never"},
		})
	}
	if p.Err != nil {
		return ddbfake.Lag{}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return ddbfake.LagFixed(d)
	}
	lag, err := parseLag(text)
	if err != nil {
		p.Fail(n, "such as: [at-once, 1h, 48h, never]", "%v", err)
	}
	return lag
}

// digest reads the digest of a trace.
func (p *parse) digest(n yamlNode) string {
	s := p.Text(n)
	if b, err := hex.DecodeString(s); p.Err == nil && (err != nil || len(b) != 4) {
		p.Fail(n, "quote it, for it may look like a number",
			"found the digest %q, expected eight hexadecimal digits", s)
	}
	return s
}

func (p *parse) replay(n yamlNode) {
	r := &Replay{Protocol: p.s.Protocol}
	p.mapping(n,
		field{"protocol", func(n yamlNode) { r.Protocol = p.recorded(n) }},
		field{"seed", func(n yamlNode) { r.Seed = p.Seed(n) }},
		field{"choices", func(n yamlNode) {
			choices, err := schedule.ParseChoices(p.Text(n))
			if err != nil {
				p.Fail(n, "copy the choices that a report printed, all of them", "%v", err)
			}
			r.Choices = choices
		}},
		field{"swarm", func(n yamlNode) { r.Swarm = p.Boolean(n) }},
		field{"all-stops", func(n yamlNode) { r.AllStops = p.Boolean(n) }},
		field{"steps", func(n yamlNode) { r.Steps = p.Count(n, 1, 1_000_000) }},
		field{"goroutines", func(n yamlNode) { r.Goroutines = p.Boolean(n) }},
		field{"trace", func(n yamlNode) { r.Digest = p.digest(n) }},
		field{"violates", func(n yamlNode) { r.Violates = p.Word(n, "invariant", invariantNames()) }},
	)
	p.s.Replay = r
}
