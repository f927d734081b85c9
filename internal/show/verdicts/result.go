// Package verdicts writes the results of commands for machines: JSON, JUnit, SARIF, annotations of GitHub and Markdown.
package verdicts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Result is one judgement: of a scenario under a protocol, or of a file.
type Result struct {
	// Scenario is the scenario's name, or the name of a file that holds no scenario.
	Scenario string `json:"scenario"`
	Protocol string `json:"protocol,omitempty"`
	// File is the scenario's file, as the user named it; an embedded scenario has none. Line and Column are a place in
	// this file.
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	// Verdict is ok, violated, unknown, vacuous (nothing was violated, and the campaign never reached what its scenario
	// declares), skipped (the program lacks a verb of the scenario: nothing was run or judged) or mistake (nothing was
	// run).
	Verdict Verdict `json:"verdict" jsonschema:"enum=ok,enum=violated,enum=unknown,enum=vacuous,enum=skipped,enum=mistake"`
	// Passed says whether the verdict is the expected one. A skipped scenario has not failed.
	Passed bool `json:"passed"`
	// Invariant is the violated invariant, and Statement its statement.
	Invariant string `json:"invariant,omitempty"`
	Statement string `json:"statement,omitempty"`
	// Message says in a sentence why the verdict is not ok, and Details is the text that a terminal shows.
	Message string `json:"message,omitempty"`
	Details string `json:"details,omitempty"`
	// Seed is the campaign's seed.
	Seed      string `json:"seed,omitempty"`
	Schedules int    `json:"schedules,omitempty"`
	Steps     int    `json:"steps,omitempty"`
	// Reached are the marks that were reached.
	Reached []string `json:"reached,omitempty"`
	// Proved are the invariants that a complete proof has proved, and NothingToJudge are the invariants that had
	// nothing to judge.
	Proved         []string `json:"proved,omitempty"`
	NothingToJudge []string `json:"nothing_to_judge,omitempty"`
	// NotProved has sentences about the gaps of the proof.
	NotProved []string `json:"not_proved,omitempty"`
	// NotSimulated lists the means of the program that are not simulated and so were not judged, such as "what workers
	// do".
	NotSimulated []string `json:"not_simulated,omitempty"`
	// Deadlines are the ends of leases and of freshness in a proof, and the sides on which it met them.
	Deadlines []Deadline `json:"deadlines,omitempty"`
	// Replay is the command that runs the failed schedule again, and Shrink is the command that makes it small.
	Replay string `json:"replay,omitempty"`
	Shrink string `json:"shrink,omitempty"`
	// Record and Report are the files that the command has left about the run.
	Record string `json:"record,omitempty"`
	Report string `json:"report,omitempty"`
	// Breaks is the invariant that the protocol, a mutant or an exhibit, is made to violate.
	Breaks string `json:"breaks,omitempty"`
	// Found are the invariants that some schedules violate.
	Found []Found `json:"found,omitempty"`
	// Strategies says how much each strategy found, and Coverage is the measurement of explore and merge. If a scenario
	// has several results under one protocol, only the first of these results has both, for all results together.
	Strategies []Strategy `json:"strategies,omitempty"`
	Coverage   *Coverage  `json:"coverage,omitempty"`
}

// Deadline is the end of a lease or of a freshness that rows held. Before, At and After say whether a request to the
// row was sent in the second before the end, at the end, or after it.
type Deadline struct {
	Of     string `json:"of"`
	Before bool   `json:"before"`
	At     bool   `json:"at"`
	After  bool   `json:"after"`
}

// Found is an invariant that some schedules violate.
type Found struct {
	Invariant string `json:"invariant"`
	// Scenario is the scenario in which it was found; empty if that is the result's scenario.
	Scenario string `json:"scenario,omitempty"`
	// Schedule is the first schedule that violates it, from 1.
	Schedule int `json:"schedule,omitempty"`
	// Schedules is the number of schedules that violate it. Commands that end with the first such schedule leave it
	// out.
	Schedules int `json:"schedules,omitempty"`
}

// Strategy has the findings of the schedules of one strategy.
type Strategy struct {
	Strategy  string  `json:"strategy"`
	Schedules int     `json:"schedules"`
	Found     []Found `json:"found,omitempty"`
}

// Coverage says how much of the possible behaviour a campaign has seen.
type Coverage struct {
	// Orders are the different partial orders, and States the different states, that the schedules have seen.
	Orders int `json:"orders"`
	States int `json:"states"`
	// About says that Orders and States are estimates from a sample.
	About bool `json:"about,omitempty"`
	// NextIsNew is the estimated chance that one more schedule has a new order, from 0 to 1 (Good-Turing).
	NextIsNew float64 `json:"next_is_new"`
	// Growth is the coverage over time: at most fifty points.
	Growth []Growth `json:"growth,omitempty"`
}

// Growth is the coverage up to a schedule.
type Growth struct {
	Schedule int `json:"schedule"` // its place in the campaign, from 1
	Orders   int `json:"orders"`
	States   int `json:"states"`
}

// Verdict is the verdict of a Result.
type Verdict string

// The verdicts.
const (
	OK       Verdict = "ok"
	Violated Verdict = "violated"
	Unknown  Verdict = "unknown"
	Vacuous  Verdict = "vacuous"
	Skipped  Verdict = "skipped"
	Mistake  Verdict = "mistake"
)

// Document is the output of the format json.
type Document struct {
	// Format is the version of the document. Fields may be added to it; any other change makes a new version.
	Format int `json:"format"`
	// Version is the version of isr-sim.
	Version string `json:"version"`
	// Command is the command of isr-sim, such as run.
	Command string `json:"command"`
	// ExitCode is the exit code of the command.
	ExitCode int      `json:"exit_code"`
	Results  []Result `json:"results"`
}

// String is a result on one line.
func (r *Result) String() string {
	if r.Message == "" {
		return r.title()
	}
	return r.title() + ": " + r.Message
}

// Unjudged is a sentence about NotSimulated, or "".
func Unjudged(uses []string) string {
	if len(uses) == 0 {
		return ""
	}
	return "not simulated, and so not judged: " + strings.Join(uses, ", ")
}

// title is a result in a few words.
func (r *Result) title() string {
	switch {
	case r.Verdict == Mistake:
		return "mistake in " + r.Scenario
	case r.Invariant != "" && r.Protocol != "":
		return r.Invariant + " is violated: " + r.subject()
	case r.Verdict == OK && !r.Passed:
		return "no violation found, expected one: " + r.subject()
	}
	return string(r.Verdict) + ": " + r.subject()
}

// subject names the thing that was judged.
func (r *Result) subject() string {
	if r.Protocol == "" {
		return r.Scenario
	}
	return r.Scenario + " under " + r.Protocol
}

// part reports whether a result passed but still has a message.
func (r *Result) part() bool { return r.Passed && r.Verdict == OK && r.Message != "" }

// reason is the rule that a failed result breaks: an invariant, or a kind of failure.
func (r *Result) reason() string {
	switch {
	case r.Invariant != "":
		return r.Invariant
	case r.Verdict == OK:
		return "not-violated"
	}
	return string(r.Verdict)
}

// clean removes characters that XML must not have, or that would move the cursor of a terminal.
func clean(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c == 0xfffe || c == 0xffff {
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

const documentFormat = 1

// ErrNoResults says that a file holds no results of a command.
var ErrNoResults = errors.New("found no results of a command, expected what isr-sim wrote with --format json=FILE")

// Read reads the format json. The error is ErrNoResults if the input is JSON of another kind.
func Read(in io.Reader) (*Document, error) {
	var d struct {
		Document
		Format  json.RawMessage `json:"format"`
		Results *[]Result       `json:"results"`
	}
	if err := json.NewDecoder(in).Decode(&d); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoResults, err)
	}
	if d.Results == nil || d.Command == "" {
		return nil, ErrNoResults
	}
	if string(d.Format) != fmt.Sprint(documentFormat) {
		return nil, fmt.Errorf("found results of format %s, expected %d: another version of isr-sim has written them",
			d.Format, documentFormat)
	}
	d.Document.Format, d.Document.Results = documentFormat, *d.Results
	return &d.Document, nil
}
