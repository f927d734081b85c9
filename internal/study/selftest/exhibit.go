package selftest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Exhibit is a scenario with a known bug of a public project. It is run twice: under the protocol with the bug
// (Scenario.Broken), and under its own protocol, which does not have the bug.
//
//	result, err := Exhibit{Scenario: s, Seed: 1}.Run(ctx)
//	fmt.Println(result.Row())
type Exhibit struct {
	Scenario *spec.Scenario
	Seed     uint64
	// Schedules is the number of schedules of the protocol without the bug; 0 means the scenario's own number.
	Schedules int
	// Workers means the same as in campaign.Campaign.
	Workers int
}

// Within is the number of schedules in which a bug must be found.
const Within = 10_000

// ExhibitResult is the result of an exhibit.
type ExhibitResult struct {
	Scenario *spec.Scenario
	Bug      isr.Protocol
	Broken   *campaign.Report // the report of the protocol with the bug, judged by the invariant that it breaks
	Fixed    *campaign.Report // the report of the protocol without it, judged by all invariants
}

// ErrNoExhibit says that a scenario is no exhibit: it names no bug of a public project.
var ErrNoExhibit = errors.New("the scenario has no source and no broken protocol")

// Run runs both campaigns. An error is not a verdict; see kernel.Run.Do.
func (e Exhibit) Run(ctx context.Context) (*ExhibitResult, error) {
	if e.Scenario.Broken == "" {
		return nil, fmt.Errorf("scenario %s: %w", e.Scenario.Name, ErrNoExhibit)
	}
	bug, err := kernel.ProtocolNamed(e.Scenario.Broken)
	if err != nil {
		return nil, err
	}
	result := &ExhibitResult{Scenario: e.Scenario, Bug: bug}
	c := campaign.Campaign{Scenario: e.Scenario, Protocol: bug, Seed: e.Seed, Schedules: Within, Workers: e.Workers}
	c.Only = bug.Breaks
	if result.Broken, err = c.Run(ctx); err != nil {
		return nil, err
	}
	result.Fixed, err = campaign.Campaign{
		Scenario: e.Scenario, Seed: e.Seed, Schedules: e.Schedules, Workers: e.Workers,
	}.Run(ctx)
	return result, err
}

// Passed reports whether the bug was found in the broken protocol, and nothing in the fixed one.
func (r *ExhibitResult) Passed() bool {
	return r.Broken.Verdict == invariant.Violated && r.Fixed.Passed()
}

// ExhibitHeader is the first line of a table of exhibits; Row is one line of it.
func ExhibitHeader() string {
	return exhibitRow("exhibit", "broken", "violates", "found in", "fixed", "schedules", "seen in")
}

// Row prints the exhibit on one line: scenario, broken protocol, the invariant that it violates and the number of the
// schedule, the fixed protocol's verdict and the number of its schedules, and the place where the bug was seen.
func (r *ExhibitResult) Row() string {
	found := "not found"
	if r.Broken.Failure != nil {
		found = fmt.Sprint(r.Broken.FailedAt)
	}
	return exhibitRow(r.Scenario.Name, r.Bug.Name, r.Bug.Breaks, found, r.Fixed.Summary(),
		fmt.Sprint(r.Fixed.Schedules), strings.Join(r.Scenario.Source, ", "))
}

func exhibitRow(name, broken, violates, found, fixed, schedules, source string) string {
	return fmt.Sprintf("%-30s  %-28s  %-25s  %9s  %-8s  %9s  %s", name, broken, violates, found, fixed, schedules,
		source)
}
