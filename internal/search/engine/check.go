// Package engine checks code under test: it draws worlds, tries each of them under its schedules, and sums up what they
// have shown. Package property is its API for code in Go, and isr-sim check its command for programs in any language.
package engine

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/search/worlds"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Check has the settings of a check whose worlds are drawn by a seed. All fields except Extras, TTL and Progress must
// be set.
type Check struct {
	Of       *worlds.Subject
	Protocol isr.Protocol
	worlds.Extras
	TTL               worlds.TTL
	Seed              uint64
	Worlds, Schedules int         // Schedules is the number for each world
	Reach             []spec.Mark // what some world must reach
	Progress          func(done, all int)
}

// Result is how a check went.
type Result struct {
	Tally
	// Failed is the campaign of the world that is not ok, and ended the check; nil if all are ok.
	Failed *campaign.Report
	Broken *spec.Scenario // the world of the error; nil if there is none
	Last   int            // the number of the world of Failed, or of the error; from 0
	Unmet  []string       // attributes that the mapping of rows names and no row had
}

// Drawn is the name of each world.
const Drawn = "drawn"

// World draws the world with the given number, in the form of its file.
func (c *Check) World(i int) (*spec.Scenario, error) {
	protocol := c.Protocol.Name
	if schedules.OfProgram(c.Protocol) { // a scenario file names a program only in its replay entry
		protocol = spec.Defaults().Protocol
	}
	seed := sim.Derive(c.Seed, i)
	drawn := c.Of.Draw(Drawn, protocol, c.Schedules, c.Extras).Example(int(seed >> 1)).OfSeed(seed)
	return worlds.Checked(drawn.Scenario)
}

// atOnce is the number of worlds that share the cores. The first schedule of a world runs alone; while one world begins
// or ends, the other keeps the cores busy.
const atOnce = 2

// Run draws the worlds, and runs each, until the first one that is not ok. A context that is over ends the check
// between two schedules. An error is not a verdict: see kernel.BrokenError.
func (c *Check) Run(ctx context.Context) (*Result, error) {
	r := &Result{Tally: NewTally()}
	named, err := attributesOf(c.Rows)
	if err != nil {
		return r, err
	}
	type run struct {
		report *campaign.Report
		ttl    worlds.TTL // what this world says of it
		err    error
		cut    bool // ctx was over
	}
	found, stop := context.WithCancel(ctx) // the worlds after the first that is not ok
	defer stop()
	together := min(atOnce, c.Worlds)
	schedules.InOrder(ctx, together, 1, c.Worlds, func(i int) *run {
		done := &run{ttl: worlds.TTL{Said: c.TTL.Said}}
		var s *spec.Scenario
		if s, done.err = c.World(i); done.err != nil {
			return done
		}
		watched := found
		if !c.Of.OfRows() {
			watched = done.ttl.Watch(found)
		} else if len(named.unmet) > 0 {
			watched = hooks.With(found, &hooks.Probe{OnWrite: named.see})
		}
		workers := max(1, (runtime.GOMAXPROCS(0)+i%together)/together)
		done.report, done.err = c.Try(watched, s, sim.Derive(c.Seed, i), workers)
		done.cut = Cut(ctx, done.report, done.err)
		return done
	}, func(i int, done *run) bool {
		if done.cut { // what was judged until then counts
			return true
		}
		if r.Last, err = i, done.err; err != nil {
			if done.report != nil {
				r.Broken = done.report.Scenario
			}
			stop()
			return false
		}
		c.TTL.Add(&done.ttl)
		r.Add(done.report)
		if c.Progress != nil {
			c.Progress(r.Worlds, c.Worlds)
		}
		if done.report.Verdict != invariant.OK {
			r.Failed = done.report
			stop()
		}
		return r.Failed == nil
	})
	r.Unmet = named.never()
	return r, err
}

// attributes are those that a mapping of rows names. One that no row ever had may be misspelt.
type attributes struct {
	mu      sync.Mutex
	unmet   map[string]bool
	written bool // some row was
}

func attributesOf(rows isr.Schema) (*attributes, error) {
	a := &attributes{unmet: map[string]bool{}}
	m, err := rowmap.New(rows)
	if m == nil || err != nil {
		return a, err
	}
	for _, name := range m.Attributes() {
		a.unmet[name] = true
	}
	return a, nil
}

func (a *attributes) see(_, row attr.Item) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.written = true; len(a.unmet) == 0 {
		return
	}
	//isrsim:unordered they are only crossed off
	for name := range row {
		delete(a.unmet, name)
	}
}

func (a *attributes) never() []string {
	if !a.written {
		return nil
	}
	return slices.Sorted(maps.Keys(a.unmet))
}

// Try runs a world under its schedules, workers at a time; 0 means one for each core.
func (c *Check) Try(ctx context.Context, s *spec.Scenario, seed uint64, workers int) (*campaign.Report, error) {
	return Try(ctx, campaign.Campaign{
		Scenario: s, Protocol: c.Protocol, Seed: seed, Plan: worlds.Plan(), Schedules: c.Schedules, Workers: workers,
		Options: kernel.Options{SDK: true},
	})
}

// Try runs a world under its schedules. If a clock drifted by more than the world promises in a run that violates an
// invariant, slower drifts are tried instead; if their time is over before they are judged, the violation stands. A
// report that comes with an error has only the world in which the error occurred.
func Try(ctx context.Context, of campaign.Campaign) (*campaign.Report, error) {
	report, err := of.Run(ctx)
	switch {
	case err != nil:
		return &campaign.Report{Scenario: of.Scenario}, err
	case report.Verdict != invariant.Violated:
		return report, nil
	}
	if of.Scenario = worlds.Steadier(of.Scenario, report.Failure); of.Scenario == nil {
		return report, nil
	}
	if calmer, err := Try(ctx, of); !Cut(ctx, calmer, err) {
		return calmer, err
	}
	return report, nil
}

// Cut says whether the end of a context has cut off the runs of a world. A violation that was found until then counts.
func Cut(ctx context.Context, report *campaign.Report, err error) bool {
	return ctx.Err() != nil && (err != nil || report.Verdict != invariant.Violated)
}
