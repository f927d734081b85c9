package explore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
)

// Night is the work of one shard in one scenario in one night, as a corpus keeps it for isr-sim report dashboard.
type Night struct {
	Night     string  `json:"night"`
	Version   string  `json:"version"`
	Scenario  string  `json:"scenario"`
	Protocol  string  `json:"protocol"`
	Strategy  string  `json:"strategy"`
	Seed      uint64  `json:"seed,string"`
	Shard     Shard   `json:"shard"`
	Schedules int     `json:"schedules"`
	Steps     int     `json:"steps"`
	Seconds   float64 `json:"core_seconds"` // the real time times the workers
	Verdict   string  `json:"verdict"`
	Passed    bool    `json:"passed"`
	// Orders and States are counts with a small sample, from which the counts of several shards are estimated.
	Orders   Coverage `json:"orders"`
	States   Coverage `json:"states"`
	Findings []Count  `json:"findings,omitempty"`
	// Replayed are the files of the corpus whose runs now violate an invariant, or have no verdict.
	Replayed []CorpusRun `json:"replayed,omitempty"`
	Canary   *Canary     `json:"canary,omitempty"`
	Sum      string      `json:"sum"` // the sum of everything else, as in a file of explorations
}

// sum is the sum of the night, so that a changed figure or a lost line is noticed.
func (n Night) sum() (string, error) {
	n.Sum = ""
	data, err := json.Marshal(n)
	return fmt.Sprintf("%x", sha256.Sum256(data)), err
}

// sampleInNight bounds the sample of a Night: an estimate from it is off by a share of about 9 %, and the samples of
// 10,000 shards take 60 MB.
const sampleInNight = 128

// nightPrefix begins the names of the files of nights. No scenario's name has a dot.
const nightPrefix = "night."

var nightName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// CheckNight returns an error if a text cannot name a night.
func CheckNight(name string) error {
	if !nightName.MatchString(name) {
		return fmt.Errorf("found %q, expected letters, digits and hyphens, such as 2026-11-26", name)
	}
	return nil
}

// Remember keeps the work of a shard. The core-seconds are the shard's real time, times its workers. A second run of
// the same shard of the same night writes the same file.
func (c Corpus) Remember(ctx context.Context, x *Exploration, coreSeconds float64, canary *Canary) error {
	if c.Folder == "" {
		return nil
	}
	n := Night{
		Night: c.Night, Version: c.Version, Scenario: x.Scenario, Protocol: x.Protocol, Strategy: x.Strategy,
		Seed: x.Seed, Shard: x.Shard, Schedules: x.Ran, Steps: x.Steps, Seconds: coreSeconds, Verdict: x.Summary(),
		Passed: x.Passed(), Canary: canary,
	}
	for _, kind := range []struct {
		from Coverage
		to   *Coverage
	}{{x.Orders, &n.Orders}, {x.States, &n.States}} {
		sample, err := parseCensus(kind.from.Sample)
		if err != nil {
			return err
		}
		*kind.to = kind.from
		kind.to.Growth, kind.to.Sample = nil, sample.text(sampleInNight)
	}
	for _, f := range x.Findings {
		n.Findings = append(n.Findings, Count{f.Name, f.Count})
	}
	for _, r := range x.Corpus {
		if r.Violates != "" || r.Problem != "" {
			r.File = filepath.Base(r.File)
			n.Replayed = append(n.Replayed, r)
		}
	}
	var err error
	if n.Sum, err = n.sum(); err != nil {
		return err
	}
	data, err := json.MarshalIndent(n, "", " ")
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s%s.%s.%s.%d.%d-%d.%d.json", nightPrefix, n.Night, n.Scenario, inName(n.Protocol), n.Seed,
		n.Shard.Index, n.Shard.Count, n.Schedules)
	if err := c.write(name, append(data, '\n')); err != nil {
		return err
	}
	_ = c.Shared.Push(ctx, []string{name}, nil) // Close tries again, and returns the error
	return nil
}

// Canary is a protocol with a known bug, in the scenario and with the strategy and the seed of a campaign. A campaign
// that does not even find this bug says nothing.
type Canary struct {
	Protocol string `json:"protocol"`
	Breaks   string `json:"breaks"`
	// Schedule is the number, from 1, of the first schedule that shows the bug; 0 if none of 10,000 does.
	Schedule int `json:"schedule"`
}

// canarySchedules bounds the schedules of a canary.
const canarySchedules = 10_000

// Canary runs one of the broken protocols that the scenario is known to catch, or returns nil if it names none. pick
// chooses it, so that each has its turn.
func (e Explorer) Canary(ctx context.Context, pick uint64) (*Canary, error) {
	names := slices.DeleteFunc(append([]string{e.Scenario.Broken}, e.Scenario.Catches...),
		func(name string) bool { return name == "" })
	if len(names) == 0 {
		return nil, nil //nolint:nilnil // there is no canary
	}
	bug, err := kernel.ProtocolNamed(names[pick%uint64(len(names))])
	if err != nil {
		return nil, err
	}
	c := campaign.Campaign{Scenario: e.Scenario, Protocol: bug, Seed: e.Seed, Plan: e.Plan, Schedules: canarySchedules,
		Workers: e.Workers, Options: e.Options}
	c.Only = bug.Breaks
	report, err := c.Run(ctx)
	if err != nil || ctx.Err() != nil {
		return nil, cmp.Or(err, ctx.Err())
	}
	found := &Canary{Protocol: bug.Name, Breaks: bug.Breaks}
	if report.Verdict == invariant.Violated {
		// A protocol that is correct in another setting, such as a single region, is not a planted bug.
		found.Schedule, found.Breaks = report.FailedAt, cmp.Or(bug.Breaks, report.Failure.Violation.Invariant.Name)
	}
	return found, nil
}

// Found reports whether the bug was found.
func (c *Canary) Found() bool { return c.Schedule > 0 }

// In returns a line about the canary in a scenario.
func (c *Canary) In(scenario string) string {
	if !c.Found() {
		return fmt.Sprintf("canary: %s under %s: %s was violated in no schedule of %d, so finding nothing else "+
			"proves nothing",
			scenario, c.Protocol, cmp.Or(c.Breaks, "an invariant"), canarySchedules)
	}
	return fmt.Sprintf("canary: %s under %s: %s is violated in schedule %d", scenario, c.Protocol, c.Breaks, c.Schedule)
}
