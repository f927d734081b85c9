// Package explore runs all schedules of a campaign, even after a violation. It collects the findings and measures the
// coverage, keeps a corpus of recorded runs, and splits a campaign into shards whose results are merged.
package explore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/subject/list"
)

// Explorer is a campaign that goes on after a violation, and measures its coverage. That makes it slower by about a
// half.
type Explorer struct {
	campaign.Campaign
	// Shard is the part of the campaign to run.
	Shard Shard
	// Corpus has the recorded runs that are repeated first, and receives the new runs that are worth keeping.
	Corpus Corpus
	// File is the reader's name for the scenario, for the commands that a report prints.
	File string
	// Before is the saved progress of a killed run of the same campaign, or nil. The campaign resumes there, and ends
	// with the result of a run that was not killed.
	Before *Part
	// Save, if set, is called after each schedule, and may store what part returns.
	Save func(part func() *Part)
	// Version is the version of isr-sim, and For the time after which the context of Run ends, or 0. The result has
	// both, for isr-sim merge.
	Version string
	For     time.Duration
}

// BeforeError says that Before belongs to another campaign, or is damaged.
type BeforeError struct{ error }

// Run explores. If ctx is cancelled, the campaign ends between two schedules, and its verdict is unknown unless
// something is violated. If the deadline of ctx passes, it ends there, too, but its verdict is that of the schedules so
// far. The result has all findings until then, even if there is an error. An error concerns the corpus or the scenario,
// never a run.
func (e Explorer) Run(ctx context.Context) (*Exploration, error) {
	run := kernel.Run{Scenario: e.Scenario, Protocol: e.Protocol, Seed: e.Seed, Options: e.Options}
	c, err := schedules.New(run, e.Plan, e.Schedules, e.Workers)
	if err != nil {
		return nil, err
	}
	digest, err := digest(c.Scenario)
	if err != nil {
		return nil, err
	}
	x := &Exploration{
		Scenario: c.Scenario.Name, File: cmp.Or(e.File, c.Scenario.Name), ScenarioDigest: digest,
		Protocol: c.Protocol.Name, Strategy: c.Plan.Name, Seed: c.Seed, Swarm: c.Swarm, Shard: e.Shard.whole(),
		Schedules: c.Schedules, Version: e.Version, For: e.For,
		Expect: campaign.Expected(c.Scenario, c.Protocol.Name).String(), Reach: c.Scenario.Reach,
	}
	if of := c.Scenario.Subject(); of != list.Subjects()[0] {
		x.Subject = of.Name()
	}
	p := progress{Exploration: x}
	if e.Before != nil {
		if p, err = e.Before.again(x, c.Scenario); err != nil {
			return nil, &BeforeError{err}
		}
		if e.Before.Whole {
			return p.Exploration, nil
		}
	}
	known, err := e.Corpus.Run(ctx, c.Scenario, c.Protocol)
	if err != nil {
		return nil, err
	}
	if x = p.Exploration; e.Before == nil {
		x.Corpus = known
	}
	keeper := newKeeper(e.Corpus, c, known)
	total, orders, states := &p.total, &p.orders, &p.states
	size, from := x.Shard.size(c.Schedules), x.Ran
	c.Each(ctx, size-from, func(k int) int { return x.Shard.schedule(from + k) }, c.AttemptCovered,
		func(a schedules.Attempt) bool {
			if a.Err == nil && (x.keeps(a) || c.Suspect(a)) {
				a.Err = c.Confirm(ctx, a.Outcome)
			}
			if errors.Is(a.Err, sim.ErrLeft) {
				return false
			}
			p.last = a.Index
			x.Ran++
			if a.Err == nil {
				a.Err = keeper.note(ctx, a.Outcome)
			}
			if a.Err != nil {
				x.broke(a)
				x.tried(Tried{a.Strategy, 1, []Count{{brokenFinding, 1}}})
			} else {
				x.tried(triedBy(a))
				total.Add(a.Outcome)
				orders.add(a.Order, a.Index)
				for _, state := range a.States {
					states.add(state, a.Index)
				}
				x.note(a)
			}
			if e.Progress != nil {
				e.Progress(x.Ran, size)
			}
			if e.Save != nil {
				e.Save(p.part)
			}
			return true
		})
	x.Interrupted = x.Ran < size && !errors.Is(ctx.Err(), context.DeadlineExceeded)
	p.count()
	x.Orders = orders.coverage(x.Ran, p.last)
	x.States = states.coverage(x.Ran, p.last)
	return x, keeper.finish(ctx, x)
}

// tenth is the first of the last tenth of the schedules from 0 to last.
func tenth(last int) int { return (last + 1) - (last+1)/10 }

// keeps reports whether the exploration will print this attempt.
func (x *Exploration) keeps(a schedules.Attempt) bool {
	o := a.Outcome
	if o.Verdict == invariant.Unknown {
		return x.Unknown == 0
	}
	if o.Verdict != invariant.Violated {
		return false
	}
	i := slices.IndexFunc(x.Findings, func(f Finding) bool { return f.Name == o.Violation.Invariant.Name })
	e := exampleOf(a)
	return i < 0 || e.shorter(&x.Findings[i].Shortest)
}

// digest distinguishes scenarios of the same name. It is the beginning of the SHA-256 of everything that decides their
// runs.
func digest(s *spec.Scenario) (string, error) {
	same := *s
	same.About, same.Source, same.Broken, same.Replay, same.Catches, same.Bounds.Schedules = "", nil, "", nil, nil,
		spec.Defaults().Bounds.Schedules
	data, err := same.YAML()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8]), nil
}

func (x *Exploration) note(a schedules.Attempt) {
	o := a.Outcome
	switch o.Verdict {
	case invariant.Violated:
		x.found(o.Violation.Invariant.Name, o.Violation.Invariant.Statement, exampleOf(a))
	case invariant.Unknown:
		if x.Unknown++; x.Unknown == 1 {
			doubt := exampleOf(a)
			x.Doubt = &doubt
		}
	case invariant.OK:
	}
}

// broke notes an attempt that has no outcome.
func (x *Exploration) broke(a schedules.Attempt) {
	example := Example{Schedule: a.Index + 1, Strategy: a.Strategy, Why: a.Err.Error()}
	if broken, ok := errors.AsType[*kernel.BrokenError](a.Err); ok {
		example.Why = broken.Result.Err.Error()
		example.replay(broken.Replay())
		example.Steps, example.Switches = broken.Result.Steps, broken.Result.Switches
	}
	x.found(brokenFinding, "", example)
}

// found counts a finding.
func (x *Exploration) found(name, statement string, e Example) {
	f := Finding{Name: name, Statement: statement, Count: 1, Earliest: e, Shortest: e}
	x.Findings = addFinding(x.Findings, f)
}

// exampleOf is the part of a run that an exploration keeps.
func exampleOf(a schedules.Attempt) Example {
	o := a.Outcome
	e := Example{
		Schedule: a.Index + 1, Strategy: a.Strategy, Steps: o.Result.Steps,
		Switches: o.Result.Switches, Why: o.Why,
	}
	if o.Violation != nil {
		e.Why, e.Lines = o.Violation.Why, o.Violation.Lines
	}
	e.replay(o.Replay())
	return e
}

func (e *Example) replay(r spec.Replay) {
	e.Seed, e.Choices, e.Digest = r.Seed, r.Choices.String(), r.Digest
}

// String prints the exploration's identity, for errors.
func (x *Exploration) String() string {
	return fmt.Sprintf("shard %s of %s under %s", x.Shard, x.Scenario, x.Protocol)
}

// Tried has the number of schedules that one strategy chose, and their findings.
type Tried struct {
	Strategy  string  `json:"strategy"`
	Schedules int     `json:"schedules"`
	Found     []Count `json:"found,omitempty"` // by name
}

// Count is a finding, with the number of schedules that show it.
type Count struct {
	Name  string `json:"name"` // as in Finding
	Count int    `json:"count"`
}

func triedBy(a schedules.Attempt) Tried {
	t := Tried{Strategy: a.Strategy, Schedules: 1}
	if v := a.Outcome.Violation; v != nil {
		t.Found = []Count{{v.Invariant.Name, 1}}
	}
	return t
}

// tried adds the findings of a strategy.
func (x *Exploration) tried(t Tried) {
	i, known := slices.BinarySearchFunc(x.Strategies, t.Strategy,
		func(o Tried, name string) int { return cmp.Compare(o.Strategy, name) })
	if !known {
		x.Strategies = slices.Insert(x.Strategies, i, Tried{Strategy: t.Strategy})
	}
	to := &x.Strategies[i]
	to.Schedules += t.Schedules
	for _, c := range t.Found {
		j, known := slices.BinarySearchFunc(to.Found, c.Name,
			func(o Count, name string) int { return cmp.Compare(o.Name, name) })
		if !known {
			to.Found = slices.Insert(to.Found, j, Count{Name: c.Name})
		}
		to.Found[j].Count += c.Count
	}
}
