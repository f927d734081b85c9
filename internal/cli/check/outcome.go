package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/base/atomicfile"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/progress"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/engine"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/show/results"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// row prints the check on one line.
func (c *command) row(check *engine.Check, r *engine.Result, verdict string) {
	fmt.Fprintf(c.Out, "%s\n%s\n", prose.Header(),
		prose.TableRow(fmt.Sprintf("%d drawn worlds", r.Worlds), check.Protocol.Name,
			fmt.Sprint(r.Schedules), fmt.Sprint(r.Steps), verdict, r.Marks.Reached()))
}

// result is the check as one result for machines.
func (c *command) result(check *engine.Check, r *engine.Result, verdict verdicts.Verdict, why string) {
	c.Add("", verdicts.Result{
		Scenario: engine.Drawn, Protocol: check.Protocol.Name, Verdict: verdict, Passed: verdict == verdicts.OK,
		Message: why, Seed: fmt.Sprint(check.Seed), Schedules: r.Schedules, Steps: r.Steps,
		Reached: prose.Names(r.Marks.Reached()),
	})
}

// broke ends a check whose program broke the rules of nodes. The world of that run is kept.
func (c *command) broke(check *engine.Check, r *engine.Result, broken *kernel.BrokenError) error {
	c.row(check, r, "unknown")
	fmt.Fprintf(c.Out, "\nbroken: %v\n", broken)
	if r.Broken != nil {
		replay := broken.Replay()
		c.Lose(c.write(r.Broken.With(replay)))
		fmt.Fprint(c.Out, prose.ReplayLine(replay, "replay", shell.Program(), shell.Quote(c.file())))
	}
	c.result(check, r, verdicts.Unknown, broken.Error())
	return &cli.Error{Code: cli.ExitUnknown}
}

// nothing returns the reason why no world had anything to judge; "" if some world had.
func nothing(check *engine.Check, r *engine.Result) string {
	return r.Nothing(check.Of, r.Marks[mark.ServedFresh]+r.Marks[mark.ServedStale] > 0, engine.Words{
		NoWorld: "no world came to its end: give it more time (--for), or fewer --schedules",
		Unasked: "no request of the program reached a table in any world", Code: "the program", In: " in any world",
	})
}

// unasked is the hint for a program whose requests did not arrive.
const unasked = "hint: the options of its client are init.client in JavaScript, isr_sim.boto3_options(init) in " +
	"Python, and elsewhere the endpoint and the credentials of the line init\n"

// failed ends a check with a world that is not ok.
func (c *command) failed(cmd *cobra.Command, check *engine.Check, r *engine.Result) error {
	o := r.Failed.Failure
	notAlive := o != nil && o.Violation.Invariant.OfLiveness()
	if notAlive && !r.Asked { // without its table the code could do nothing
		why := nothing(check, r)
		c.row(check, r, string(verdicts.Vacuous))
		c.result(check, r, verdicts.Vacuous, why)
		fmt.Fprintf(c.Out, "\n%s: %s\n%s", verdicts.Vacuous, why, unasked)
		return &cli.Error{Code: cli.ExitViolated}
	}
	c.row(check, r, r.Failed.Summary())
	fmt.Fprintf(c.Out, "\nworld %d of seed %d\n", r.Last+1, check.Seed)
	remove := func() {}
	if r.Failed.Failure != nil {
		remove = progress.Wait(cmd.ErrOrStderr(), "making it smaller")
	}
	defer remove()
	err := c.fails(cmd.Context(), r.Failed)
	if notAlive && check.Of.OfRows() && r.Marks[mark.ServedFresh] == 0 {
		fmt.Fprintln(c.Out, "hint: no page was served as fresh: a program says with each page whether it is, as in "+
			"{body, fresh} in JavaScript and (body, fresh) in Python")
	}
	return err
}

// fails shrinks the run of a world that is not ok, prints it and keeps it.
func (c *command) fails(ctx context.Context, report *campaign.Report) error {
	if report.Failure == nil {
		why := prose.Report(report, shell.Program(), shell.Quote(c.file()))
		fmt.Fprintf(c.Out, "\n%s", why)
		if slices.ContainsFunc(ofLocks, func(name string) bool { return strings.Contains(why, ": "+name+": ") }) {
			c.hintLocks()
		}
		s := report.Scenario
		if report.Doubt != nil {
			s = s.With(report.Doubt.Replay())
		}
		c.Lose(c.write(s))
		c.AddKept("", "", results.OfReport(report, shell.Program(), shell.Quote(c.file()), why))
		return &cli.Error{Code: cli.ExitUnknown}
	}
	s, o := report.Scenario.With(report.Failure.Replay()), report.Failure
	run := kernel.Replay(*s.Replay, s, report.Protocol)
	if c.shrink > 0 {
		within, stop := context.WithTimeout(ctx, c.shrink)
		defer stop()
		if shrunk, err := (campaign.Shrink{Failed: run, Runs: campaign.DefaultShrinkRuns}).Run(within); err == nil {
			fmt.Fprintf(c.Out, "%s\n", prose.Sizes(shrunk.Before, shrunk.After))
			s, o = shrunk.Scenario, shrunk.Outcome
			run = kernel.Replay(*s.Replay, s, report.Protocol)
		}
	}
	c.Lose(c.write(s))
	c.show(ctx, run, o)
	return &cli.Error{Code: cli.ExitViolated}
}

// ofLocks are the invariants that a cache without a lock does not promise.
var ofLocks = []string{"stale-writer", "lock-theft", "atomic-publish", "single-flight"}

// hintLocks names the invariants to leave out for a cache without a lock, if --rows describes none.
func (c *command) hintLocks() {
	if c.lockless {
		fmt.Fprintf(c.Out, "hint: --rows describes no lock; for a cache that has none: --without %s\n",
			strings.Join(ofLocks, ","))
	}
}

// show prints a run that violates an invariant, writes its record and its report, and prints the commands for it.
func (c *command) show(ctx context.Context, run kernel.Run, o *kernel.Outcome) {
	file := shell.Quote(c.file())
	why := prose.Outcome(o, run.Scenario.Name, run.Protocol.Name)
	fmt.Fprintf(c.Out, "%s\n", why)
	c.Lose(c.Keep(ctx, run, c.file()))
	if c.Exec != "" {
		file = "--exec " + shell.Quote(c.Exec) + " " + file
	}
	fmt.Fprintf(c.Out, "scenario: %s\nreplay: %s replay %s\nexplain: %s explain %s\n", c.file(), shell.Program(),
		file, shell.Program(), file)
	if o.Violation != nil && slices.Contains(ofLocks, o.Violation.Invariant.Name) {
		c.hintLocks()
	}
	result := results.OfOutcome(run, o, shell.Program(), shell.Quote(c.file()))
	result.Details = why
	c.AddKept(c.file(), run.Scenario.Name+"."+run.Protocol.Name, result)
}

// write writes a scenario into the folder.
func (c *command) write(s *spec.Scenario) error {
	yaml, err := s.YAML()
	if err != nil {
		return err
	}
	if err = atomicfile.Write(c.file(), yaml, 0o644); err != nil {
		fmt.Fprintf(c.Out, "the scenario, which is in no file:\n\n%s\n", yaml)
		return fmt.Errorf("--keep: %s: not written: %w", c.file(), err)
	}
	return nil
}

// ended ends a check in which nothing was violated.
func (c *command) ended(cmd *cobra.Command, check *engine.Check, r *engine.Result) error {
	missing, untested := r.Missing(check.Reach)
	why, verdict := "", verdicts.OK
	ttl, note := "", ""
	if !check.Of.OfRows() || check.TTL.Said == hooks.NoTTL {
		ttl, note = check.TTL.Unmet(r.Marks, r.Worlds, !cmd.Flags().Changed("reach"),
			"the ttl of a row of --rows", "no ttl")
	}
	switch nothing := nothing(check, r); {
	case cmd.Context().Err() != nil:
		verdict, why = verdicts.Unknown, fmt.Sprintf("interrupted after %d of %d worlds", r.Worlds, check.Worlds)
	case nothing != "":
		verdict, why = verdicts.Vacuous, nothing
	case len(missing) > 0:
		verdict, why = verdicts.Vacuous, fmt.Sprintf("no world of %d reached %s: it was not tested there", r.Worlds,
			strings.Join(prose.Names(missing), ", "))
	case ttl != "":
		verdict, why = verdicts.Vacuous, ttl
	}
	c.row(check, r, string(verdict))
	if note != "" {
		fmt.Fprintln(c.Out, note)
	}
	if c.lockless {
		fmt.Fprintln(c.Out, "locks: not tested: --rows describes none")
	}
	// A ready-made mapping has attributes that some caches leave out.
	if _, err := isr.SchemaNamed(c.rows); err != nil && len(r.Unmet) > 0 {
		fmt.Fprintf(c.Out, "--rows: no row that was written had %s: is it misspelt?\n", strings.Join(r.Unmet, ", or "))
	}
	if r.Worlds < check.Worlds && verdict == verdicts.OK {
		fmt.Fprintf(c.Out, "--for: ended after %d of %d worlds\n", r.Worlds, check.Worlds)
	}
	for _, name := range c.extra.Without {
		fmt.Fprintf(c.Out, "%s: not judged: left out by --without\n", name)
	}
	fmt.Fprint(c.Out, c.Real())
	if len(untested) > 0 {
		fmt.Fprintln(c.Out, engine.Untested(untested))
	}
	c.result(check, r, verdict, why)
	if verdict == verdicts.OK {
		return nil
	}
	fmt.Fprintf(c.Out, "\n%s: %s\n", verdict, why)
	switch {
	case !r.Asked && r.Worlds > 0:
		fmt.Fprint(c.Out, unasked)
	case r.Rows() != "":
		fmt.Fprintln(c.Out, r.Rows())
	}
	if slices.Contains(missing, mark.TTLDeletion) {
		fmt.Fprintln(c.Out,
			"hint: TTL deletes a row by a time in seconds in the attribute that --rows names as its ttl; a cache "+
				"without TTL leaves ttl out of --rows")
	}
	if verdict == verdicts.Unknown {
		return &cli.Error{Code: cli.ExitUnknown}
	}
	return &cli.Error{Code: cli.ExitViolated}
}
