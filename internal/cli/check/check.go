// Package check judges a program in drawn worlds. It is property.Check for nodes in any language, and has the command
// isr-sim check.
package check

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/search/worlds"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Check has the settings of a check. All fields but Extras, Other, Without and Progress must be set.
type Check struct {
	Protocol isr.Protocol
	worlds.Extras
	Other             *Other     // nil is a cache
	TTL               worlds.TTL // of another one
	Without           []string   // names of invariants that do not judge
	Seed              uint64
	Worlds, Schedules int // Schedules is the number for each world
	Reach             []kernel.Mark
	Progress          func(done, all int)
}

// Other is a program that is no cache: a lock, or an idempotency layer.
type Other struct {
	Worlds  worlds.Kind
	Basic   kernel.Mark // some world must reach it, whatever Check.Reach says
	Nothing string      // the words for a check that did not reach it
}

// Result is how a check went.
type Result struct {
	Worlds, Schedules, Steps int
	Marks                    map[kernel.Mark]int // in how many worlds each was reached
	// Failed is the campaign of the world that is not ok, and ended the check; nil if all are ok.
	Failed   *campaign.Report
	asked    bool     // in some world, a request reached a table
	judged   bool     // in some world, an invariant that judges had something to judge
	last     int      // the number of the world of Failed, or of the error; from 0
	pageless string   // why no row of some world was a page
	misfit   string   // why the mapping of rows does not fit the rows of some world
	unmet    []string // attributes that the mapping names and no row had
}

// name is the name of each world.
const name = "drawn"

// world draws the world with the given number, in the form of its file.
func (c *Check) world(i int) (*kernel.Scenario, error) {
	protocol := c.Protocol.Name
	if schedules.OfProgram(c.Protocol) { // a scenario file does not name them: its replay entry does
		protocol = kernel.Defaults().Protocol
	}
	generator := worlds.Pages(name, protocol, c.Schedules, c.Extras)
	if c.Other != nil {
		generator = c.Other.Worlds.Generator(name, protocol, c.Schedules)
	}
	seed := sim.Derive(c.Seed, i)
	drawn := generator.Example(int(seed >> 1))
	if c.Other == nil {
		drawn = drawn.OfSeed(seed)
	}
	drawn.Rows, drawn.Without = c.Rows, c.Without
	return worlds.Checked(drawn.Scenario)
}

// atOnce is how many worlds run at the same time, by the cores together. While one begins, by a schedule alone, or
// ends, the other has them.
const atOnce = 2

// Run draws the worlds, and runs each, until the first one that is not ok. A context that is over ends the check
// between two schedules. An error is not a verdict: see kernel.BrokenError.
func (c *Check) Run(ctx context.Context) (*Result, error) {
	r := &Result{Marks: map[kernel.Mark]int{}}
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
		var s *kernel.Scenario
		if s, done.err = c.world(i); done.err != nil {
			return done
		}
		watched := found
		if c.Other != nil {
			watched = done.ttl.Watch(found)
		} else if len(named.unmet) > 0 {
			watched = hooks.With(found, &hooks.Probe{OnWrite: named.see})
		}
		workers := max(1, (runtime.GOMAXPROCS(0)+i%together)/together)
		done.report, done.err = c.try(watched, s, sim.Derive(c.Seed, i), workers)
		done.cut = cut(ctx, done.report, done.err)
		return done
	}, func(i int, done *run) bool {
		if done.cut { // what was judged until then counts
			return true
		}
		if r.last, err = i, done.err; err != nil {
			stop()
			return false
		}
		c.TTL.Add(&done.ttl)
		r.add(done.report)
		if c.Progress != nil {
			c.Progress(r.Worlds, c.Worlds)
		}
		if done.report.Verdict != invariant.OK {
			r.Failed = done.report
			stop()
		}
		return r.Failed == nil
	})
	r.unmet = named.never()
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

// try runs a world under its schedules, so many at the same time.
func (c *Check) try(ctx context.Context, s *kernel.Scenario, seed uint64, workers int) (*campaign.Report, error) {
	report, err := campaign.Campaign{
		Scenario: s, Protocol: c.Protocol, Seed: seed, Plan: worlds.Plan(), Schedules: c.Schedules, Workers: workers,
		Options: kernel.Options{SDK: true},
	}.Run(ctx)
	if err != nil || report.Verdict != invariant.Violated {
		return report, err
	}
	steadier := worlds.Steadier(s, report.Failure)
	if steadier == nil {
		return report, nil
	}
	if calmer, err := c.try(ctx, steadier, seed, workers); !cut(ctx, calmer, err) {
		return calmer, err
	}
	return report, nil // the violation stands
}

// cut says whether the end of a context has cut off the runs of a world. A violation that was found until then counts.
func cut(ctx context.Context, report *campaign.Report, err error) bool {
	return ctx.Err() != nil && (err != nil || report.Verdict != invariant.Violated)
}

func (r *Result) add(report *campaign.Report) {
	r.Worlds++
	r.Schedules += report.Schedules
	r.Steps += report.Steps
	r.judged = r.judged || len(report.Idle()) == 0
	r.asked = r.asked || slices.ContainsFunc(report.Metrics, func(m ddbfake.Metrics) bool {
		return m.UserErrors+len(m.Operation) > 0 || m.ConsumedReadCapacityUnits+m.ConsumedWriteCapacityUnits > 0
	})
	if r.misfit == "" {
		r.misfit = report.Misfit
	}
	if r.pageless == "" {
		r.pageless = report.Pageless
	}
	for _, m := range report.Reached() {
		r.Marks[m]++
	}
}

// nothing says why no world had anything to judge; "" if some world had.
func (c *Check) nothing(r *Result) string {
	switch {
	case r.Worlds == 0:
		return "no world came to its end: give it more time (--for), or fewer --schedules"
	case !r.asked:
		return "no request of the program reached a table in any world"
	case c.Other != nil && r.Marks[c.Other.Basic] == 0:
		return c.Other.Nothing + " in any world"
	case c.Other != nil:
		return ""
	case r.Marks[mark.ServedFresh]+r.Marks[mark.ServedStale] == 0:
		return "the program served nothing in any world"
	case r.Marks[mark.Published] == 0:
		return "no page was published in any world"
	case !r.judged:
		return "no invariant that judges had anything to judge in any world"
	default:
		return ""
	}
}

// reached are the marks, in their order.
func (r *Result) reached() (all []kernel.Mark) {
	for _, m := range kernel.Marks() {
		if r.Marks[m] > 0 {
			all = append(all, m)
		}
	}
	return all
}
