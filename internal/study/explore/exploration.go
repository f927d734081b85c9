package explore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/schedule"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/subject/list"
)

// Exploration is the result of an Explorer, for a whole campaign or one shard. A file keeps all of it: see
// WriteExplorations.
type Exploration struct {
	Scenario string `json:"scenario"`
	File     string `json:"file"` // how the reader named it
	// ScenarioDigest distinguishes scenarios of the same name.
	ScenarioDigest string `json:"scenario_digest"`
	Protocol       string `json:"protocol"`
	Subject        string `json:"subject,omitempty"` // what the scenario checks; "" stands for pages
	// Version is the version of the isr-sim that ran it: another one may run other schedules.
	Version  string `json:"isr_sim,omitempty"`
	Strategy string `json:"strategy"`
	Seed     uint64 `json:"seed,string"`
	Swarm    bool   `json:"swarm,omitempty"`
	Shard    Shard  `json:"shard"`

	Schedules   int           `json:"schedules"` // the number in the whole campaign
	For         time.Duration `json:"for_ns,omitempty"`
	Ran         int           `json:"ran"` // by this shard
	Steps       int           `json:"steps"`
	Interrupted bool          `json:"interrupted,omitempty"`

	Expect  string      `json:"expect"`          // the expected verdict
	Reach   []spec.Mark `json:"reach,omitempty"` // the marks that the scenario declares
	Reached []Reached   `json:"reached,omitempty"`
	// Unmet are the declared faults that could not strike in any schedule so far.
	Unmet []string `json:"unmet,omitempty"`
	// Unjudged says that no invariant had anything to judge in any schedule so far.
	Unjudged bool `json:"unjudged,omitempty"`
	// NotSimulated lists, sorted, the things that the program used and that are not simulated, and so were not judged.
	NotSimulated []string `json:"not_simulated,omitempty"`

	// Findings are the violated invariants and the broken runs, each once, in the order in which a whole campaign finds
	// them.
	Findings []Finding `json:"findings,omitempty"`
	// Strategies say which strategy found how much, by name.
	Strategies []Tried `json:"strategies,omitempty"`
	// Unknown counts the schedules without a verdict; Doubt is the first of them.
	Unknown int      `json:"unknown,omitempty"`
	Doubt   *Example `json:"doubt,omitempty"`
	// Besides are sentences about other things without a verdict: a canary that was not found, corpus files that no
	// campaign can run, scenarios that were not begun. If one of them makes a shard exit with 3, its file says so.
	Besides []string `json:"besides,omitempty"`

	// Orders are the partial orders seen (sim.Order), and States the states (sim.Sim.Fingerprint).
	Orders Coverage    `json:"orders"`
	States Coverage    `json:"states"`
	Corpus []CorpusRun `json:"corpus,omitempty"`
}

// Used adds to the list of unsimulated things that the program used.
func (x *Exploration) Used(uses []string) {
	x.NotSimulated = slices.Concat(x.NotSimulated, uses)
	slices.Sort(x.NotSimulated)
	x.NotSimulated = slices.Compact(x.NotSimulated)
}

// Reached is the number of schedules in which a mark was reached.
type Reached struct {
	Mark spec.Mark `json:"mark"`
	Runs int       `json:"runs"`
}

// reached lists how often each mark was reached, in the order of scenario.Marks.
func reached(marks schedules.MarkSet) []Reached {
	var list []Reached
	for _, mark := range marks.Reached() {
		list = append(list, Reached{mark, marks[mark]})
	}
	return list
}

// Finding is an invariant that some schedules violate, or the fact that some schedules broke off.
type Finding struct {
	Name      string  `json:"name"` // the name of the invariant; or "broken"
	Statement string  `json:"statement,omitempty"`
	Count     int     `json:"count"` // the number of schedules
	Earliest  Example `json:"earliest"`
	// Shortest is the found run with the fewest context switches and, among those, the fewest steps.
	Shortest Example `json:"shortest"`
}

// brokenFinding is the name of the finding without a violation: the protocol panicked, or was not deterministic.
const brokenFinding = "broken"

// Example is one schedule that shows a finding.
type Example struct {
	Schedule int      `json:"schedule"` // its place in the whole campaign, from 1
	Strategy string   `json:"strategy"`
	Steps    int      `json:"steps"`
	Switches int      `json:"switches"`
	Seed     uint64   `json:"seed,string"`
	Choices  string   `json:"choices"`
	Digest   string   `json:"trace,omitempty"`
	Why      string   `json:"why"`
	Lines    []string `json:"lines,omitempty"`
}

func (e *Example) shorter(o *Example) bool {
	return slices.Compare([]int{e.Switches, e.Steps, e.Schedule}, []int{o.Switches, o.Steps, o.Schedule}) < 0
}

// addFinding adds a finding to a list that has each name once, in the order of the earliest examples.
func addFinding(findings []Finding, f Finding) []Finding {
	i := slices.IndexFunc(findings, func(g Finding) bool { return g.Name == f.Name })
	if i < 0 {
		findings = append(findings, f)
	} else {
		g := &findings[i]
		g.Count += f.Count
		if f.Earliest.Schedule < g.Earliest.Schedule {
			g.Earliest = f.Earliest
		}
		if f.Shortest.shorter(&g.Shortest) {
			g.Shortest = f.Shortest
		}
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return a.Earliest.Schedule - b.Earliest.Schedule })
	return findings
}

// Missing returns the marks that must be reached and that no schedule reached.
func (x *Exploration) Missing() []spec.Mark {
	return schedules.Missing(list.Called(x.Subject), x.Reach, func(m spec.Mark) bool {
		return slices.ContainsFunc(x.Reached, func(r Reached) bool { return r.Mark == m })
	})
}

// Verdict is the verdict of the whole exploration. A violation outweighs unknown.
func (x *Exploration) Verdict() invariant.Verdict {
	violated := slices.ContainsFunc(x.Findings, func(f Finding) bool { return f.Name != brokenFinding }) ||
		slices.ContainsFunc(x.Corpus, func(r CorpusRun) bool { return r.Verdict() == invariant.Violated })
	switch {
	case violated:
		return invariant.Violated
	case x.Unknown > 0 || x.Interrupted || len(x.Findings) > 0 || x.idle():
		return invariant.Unknown
	case slices.ContainsFunc(x.Corpus, func(r CorpusRun) bool { return r.Verdict() == invariant.Unknown }):
		return invariant.Unknown
	default:
		return invariant.OK
	}
}

// idle reports whether no schedule was run although there were some to run.
func (x *Exploration) idle() bool { return x.Ran == 0 && x.Shard.size(x.Schedules) > 0 }

// Vacuous reports whether a campaign without a violation missed a declared mark or judged nothing. A shard is never
// vacuous: only the whole campaign can be.
func (x *Exploration) Vacuous() bool {
	return !x.Shard.partial() && x.Verdict() == invariant.OK && (len(x.Missing())+len(x.Unmet) > 0 || x.Unjudged)
}

// Passed reports whether the exploration has the expected verdict.
func (x *Exploration) Passed() bool { return x.Verdict().String() == x.Expect && !x.Vacuous() }

// Summary is the verdict in a few words.
func (x *Exploration) Summary() string {
	if x.Vacuous() {
		return "vacuous"
	}
	verdict := x.Verdict().String()
	var names []string
	for _, f := range x.Findings {
		names = append(names, f.Name)
	}
	switch {
	case x.Verdict() != invariant.Violated || len(names) == 0:
		return verdict
	case len(names) == 1:
		return verdict + ": " + names[0]
	default:
		return fmt.Sprintf("%s: %d findings", verdict, len(names))
	}
}

// Row prints the exploration as a line of the table of campaigns.
func (x *Exploration) Row() string {
	marks := make([]spec.Mark, len(x.Reached))
	for i, r := range x.Reached {
		marks[i] = r.Mark
	}
	return prose.TableRow(x.Scenario, x.Protocol, fmt.Sprint(x.Ran), fmt.Sprint(x.Steps),
		prose.Expected(x.Summary(), x.Verdict(), x.Passed()), marks)
}

// Explain prints the findings, each with its shortest example, the reason for the verdict unknown, and the coverage.
// program is the reader's name for isr-sim.
func (x *Exploration) Explain(program string) string {
	var b strings.Builder
	for _, f := range x.Findings {
		x.explainFinding(&b, program, f)
	}
	for _, line := range x.CorpusLines(program) {
		fmt.Fprintf(&b, "%s\n\n", line)
	}
	if x.Unknown > 0 {
		fmt.Fprintf(&b, "unknown: %s under %s: %d of %d schedules, the first in schedule %d: %s\n%s\n",
			x.Scenario, x.Protocol, x.Unknown, x.Ran, x.Doubt.Schedule, x.Doubt.Why, x.line("replay", program, x.Doubt))
	}
	if x.Interrupted {
		fmt.Fprintf(&b, "unknown: %s under %s: interrupted after %d of %d schedules\n\n", x.Scenario, x.Protocol, x.Ran,
			x.Shard.size(x.Schedules))
	}
	if x.idle() && !x.Interrupted {
		fmt.Fprintf(&b, "unknown: %s under %s: no schedule of %d was run: the time was up\n\n", x.Scenario, x.Protocol,
			x.Shard.size(x.Schedules))
	}
	for _, line := range x.Besides {
		fmt.Fprintf(&b, "%s\n\n", line)
	}
	x.explainReach(&b)
	x.explainOrders(&b)
	return b.String()
}

// CorpusLines names the files of the corpus that violate an invariant, or have no verdict.
func (x *Exploration) CorpusLines(program string) (lines []string) {
	for _, r := range x.Corpus {
		if line := r.Explain(program); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// Doubts are sentences about things other than schedules that have no verdict. A violation outweighs corpus files
// without a verdict, unless it is expected.
func (x *Exploration) Doubts(program string) []string {
	doubts := slices.Clone(x.Besides)
	for _, r := range x.Corpus {
		if x.Verdict() == invariant.Violated && r.Verdict() == invariant.Unknown {
			doubts = append(doubts, r.Explain(program))
		}
	}
	return doubts
}

func (x *Exploration) explainFinding(b *strings.Builder, program string, f Finding) {
	if f.Name == brokenFinding {
		fmt.Fprintf(b, "broken: %s under %s\n\n%s\n\n", x.Scenario, x.Protocol, f.Shortest.Why)
	} else {
		shortest := kernel.Outcome{Verdict: invariant.Violated, Violation: &kernel.Violation{
			Invariant: invariant.Invariant{Name: f.Name, Statement: f.Statement}, Why: f.Shortest.Why,
			Lines: f.Shortest.Lines,
		}}
		b.WriteString(prose.Outcome(&shortest, x.Scenario, x.Protocol) + "\n")
	}
	fmt.Fprintf(b, "found in %d of %d schedules of seed %d\n", f.Count, x.Ran, x.Seed)
	which := "earliest and shortest"
	if f.Earliest.Schedule != f.Shortest.Schedule {
		fmt.Fprintf(b, "earliest: %s\n%s", f.Earliest.words(), x.line("replay", program, &f.Earliest))
		which = "shortest"
	}
	fmt.Fprintf(b, "%s: %s\n%s", which, f.Shortest.words(), x.line("replay", program, &f.Shortest))
	if f.Name != brokenFinding {
		b.WriteString(x.line("shrink", program, &f.Shortest))
	}
	b.WriteByte('\n')
}

func (e *Example) words() string {
	return fmt.Sprintf("schedule %d (%s), %s, %s", e.Schedule, e.Strategy, schedules.Plural(e.Steps, "step"),
		schedules.Plural(e.Switches, "context switch"))
}

// line is a command for an example: replay or shrink.
func (x *Exploration) line(command, program string, e *Example) string {
	r, err := x.Recorded(e)
	if err != nil {
		return fmt.Sprintf("replay: %v\n", err)
	}
	return prose.ReplayLine(r, command, program, x.File)
}

// Recorded returns an example as a replay entry.
func (x *Exploration) Recorded(e *Example) (spec.Replay, error) {
	choices, err := schedule.ParseChoices(e.Choices)
	return spec.Replay{Protocol: x.Protocol, Seed: e.Seed, Choices: choices, Swarm: x.Swarm, Digest: e.Digest}, err
}

// explainReach prints the marks that were not reached.
func (x *Exploration) explainReach(b *strings.Builder) {
	missing := x.Missing()
	switch {
	case x.Vacuous():
		which := fmt.Sprintf("vacuous: %s under %s: no schedule of %d (seed %d)", x.Scenario, x.Protocol, x.Ran, x.Seed)
		prose.Missing(b, which, missing, x.Unmet)
		if x.Unjudged {
			fmt.Fprintf(b, "%s had anything to judge for the invariants of the scenario\n", which)
		}
		b.WriteByte('\n')
	case x.Shard.partial() && len(missing)+len(x.Unmet) > 0:
		prose.Missing(b,
			fmt.Sprintf("shard %s of %s under %s: no schedule of %d", x.Shard, x.Scenario, x.Protocol, x.Ran), missing,
			x.Unmet)
		b.WriteString("the shards are judged together: isr-sim merge\n\n")
	case x.Verdict() == invariant.OK && !x.Passed():
		fmt.Fprintf(b, "expected %s: %s under %s: no schedule of %d (seed %d) violates an invariant\n\n", x.Expect,
			x.Scenario, x.Protocol, x.Ran, x.Seed)
	}
}

// explainOrders prints the coverage.
func (x *Exploration) explainOrders(b *strings.Builder) {
	c := x.Orders
	if c.Schedules == 0 {
		return
	}
	fmt.Fprintf(b, "coverage: %s: %s, %s in %s", x.Scenario, c.number(c.Distinct, "partial order"),
		x.States.number(x.States.Distinct, "state"), schedules.Plural(c.Schedules, "schedule"))
	if c.Latest > 0 {
		fmt.Fprintf(b, "; new in the last %d: %s, %s", c.Latest, c.number(c.New, "order"),
			x.States.number(x.States.New, "state"))
	}
	fmt.Fprintf(b, "; the next schedule has a new order with a chance of %.3g %%\n", 100*c.NextIsNew())
}
