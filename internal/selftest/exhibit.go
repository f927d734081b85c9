package selftest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Exhibit shows a real bug twice: the scenario under the protocol that has the
// bug (Scenario.Broken), and under its own, which has not.
//
//	shown, err := Exhibit{Scenario: s, Seed: 1}.Run(ctx)
//	fmt.Println(shown.Row())
type Exhibit struct {
	Scenario *scenario.Scenario
	Seed     uint64
	// Schedules is how many are run of the protocol without the bug; 0 is what the scenario says.
	Schedules int
	// Workers is as in campaign.Campaign.
	Workers int
}

// Within is how many schedules a bug gets to show itself.
const Within = 10_000

// Shown is what an exhibit came to.
type Shown struct {
	Scenario *scenario.Scenario
	Bug      isr.Protocol
	Broken   *campaign.Report // of the protocol that has the bug, judged by the invariant that it breaks
	Fixed    *campaign.Report // of the one that has not, judged by all
}

// ErrNoExhibit says that a scenario is about no bug that was seen somewhere.
var ErrNoExhibit = errors.New("the scenario has no source and no broken protocol")

// Run runs both campaigns. An error is not a verdict; see scenario.Run.Do.
func (e Exhibit) Run(ctx context.Context) (*Shown, error) {
	if e.Scenario.Broken == "" {
		return nil, fmt.Errorf("scenario %s: %w", e.Scenario.Name, ErrNoExhibit)
	}
	bug, err := scenario.ProtocolNamed(e.Scenario.Broken)
	if err != nil {
		return nil, err
	}
	shown := &Shown{Scenario: e.Scenario, Bug: bug}
	c := campaign.Campaign{Scenario: e.Scenario, Protocol: bug, Seed: e.Seed, Schedules: Within, Workers: e.Workers}
	c.Only = bug.Breaks
	if shown.Broken, err = c.Run(ctx); err != nil {
		return nil, err
	}
	shown.Fixed, err = campaign.Campaign{Scenario: e.Scenario, Seed: e.Seed, Schedules: e.Schedules, Workers: e.Workers}.Run(ctx)
	return shown, err
}

// Passed says whether the bug was caught, and nothing where it is not.
func (s *Shown) Passed() bool { return s.Broken.Verdict == invariant.Violated && s.Fixed.Passed() }

// ExhibitHeader is the first line of a table of exhibits; Row is one line of it.
func ExhibitHeader() string {
	return exhibitRow("exhibit", "broken", "violates", "found in", "fixed", "schedules", "seen in")
}

// Row prints the exhibit on one line: scenario, broken protocol, the invariant
// that it violates, in which schedule, the fixed protocol's verdict after how many
// schedules, and where the bug was seen.
func (s *Shown) Row() string {
	found := "not found"
	if s.Broken.Failure != nil {
		found = fmt.Sprint(s.Broken.FailedAt)
	}
	return exhibitRow(s.Scenario.Name, s.Bug.Name, s.Bug.Breaks, found, s.Fixed.Summary(), fmt.Sprint(s.Fixed.Schedules), strings.Join(s.Scenario.Source, ", "))
}

func exhibitRow(name, broken, violates, found, fixed, schedules, source string) string {
	return fmt.Sprintf("%-30s  %-28s  %-25s  %9s  %-8s  %9s  %s", name, broken, violates, found, fixed, schedules, source)
}
