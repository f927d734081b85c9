package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/base/heap"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/flags"
	"github.com/isr-sim/isr-sim/internal/cli/progress"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/show/results"
	"github.com/isr-sim/isr-sim/internal/study/local"
)

type runCommand struct {
	flags.Results
	backend  string
	campaign flags.Campaign
	corpus   flags.Corpus
	replays  int
	alone    bool // one scenario is run
	metrics  bool
	progress io.Writer     // for output that is not a result
	local    *local.Server // nil for the fake
}

func newRun() *cobra.Command {
	r := &runCommand{}
	cmd := &cobra.Command{
		Use:   "run [SCENARIO...]",
		Short: "Run scenarios, embedded ones by name and others by file; all embedded ones by default",
		Long: `Run tries many schedules of each scenario and prints one row for each scenario. For
a scenario that fails it also prints the invariant, the events that violate it, and
the command that replays them. The first schedule that violates an invariant ends the
campaign of its scenario.

With --backend dynamodb-local, run then repeats the requests of the same schedules
on DynamoDB Local in a container, and compares every answer. It needs a Docker
engine.`,
		Example: "  isr-sim run paused-writer two-contenders\n" +
			"  isr-sim run --protocol blind-publish --seed 7 paused-writer\n  isr-sim run ./my-scenario.yaml",
	}
	r.register(cmd)
	return cmd
}

// register makes a command run scenarios.
func (r *runCommand) register(cmd *cobra.Command) {
	cmd.RunE = r.Around(r.run)
	r.RegisterFormats(cmd)
	r.RegisterFiles(cmd, "the run that fails, or else the first one,")
	r.campaign.Register(cmd, &r.Results)
	r.corpus.Register(cmd, "they run first, and a schedule that fails is added")
	f := cmd.Flags()
	f.StringVar(&r.backend, "backend", backendFake,
		"the store: fake, or dynamodb-local to compare the fake's answers with")
	f.BoolVar(&r.metrics, "metrics", false, "print the store's metrics under each row, by their names in CloudWatch")
	f.IntVar(&r.replays, "replays", 0, "with --backend "+backendLocal+
		": how many of a scenario's schedules to repeat there, besides the one that fails (default: 1000)")
}

func (r *runCommand) run(cmd *cobra.Command, names []string) (err error) {
	ctx := cmd.Context()
	r.progress = cmd.ErrOrStderr()
	switch err := knownBackend(r.backend); {
	case err != nil:
		return err
	case r.replays < 0:
		return cli.Usage(fmt.Errorf("--replays: found %d, expected at least 1", r.replays), "")
	case r.replays > 0 && r.backend == backendFake:
		return cli.Usage(errors.New("--replays needs --backend "+backendLocal), "nothing is run again on the fake")
	case r.replays == 0:
		r.replays = 1000
	}
	c, err := r.campaign.Campaign()
	if err != nil {
		return err
	}
	if r.campaign.Exec != "" && r.backend != backendFake {
		return cli.Usage(errors.New("--exec does not go with --backend"), "")
	}
	defer r.campaign.Close()
	p, scenarios, names, err := r.campaign.Load(&r.Results, names)
	if err != nil {
		return err
	}
	c.Protocol = p
	if err := r.corpus.Ready(ctx, r.Out, r.Version, time.Now().UTC().Format(time.DateOnly)); err != nil {
		return err
	}
	defer func() { err = cli.And(err, flags.Errors(r.corpus.Close(ctx))...) }()
	r.alone = len(scenarios) == 1
	if err := r.Ready(!r.alone); err != nil {
		return err
	}
	if r.backend == backendLocal {
		// This comes first, so that a user without Docker learns of the error at once.
		var stop func(*error)
		if r.local, stop, err = startLocal(ctx, r.progress, withoutDocker); err != nil {
			return err
		}
		defer stop(&err)
	}
	defer heap.CollectRarely()()
	_, strangers, err := r.corpus.Strangers(&r.Results, scenarios, c.Protocol)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.Out, "seed %d\n%s\n", c.Seed, prose.Header())
	return cli.AtLeast(strangers, cli.InTurn(ctx, r.Out, scenarios, func(i int) (*campaign.Report, int, error) {
		return r.one(ctx, c, scenarios[i], names[i])
	}))
}

// one runs one scenario and returns its exit code. The report is nil if a run broke off. An error ends the command.
func (r *runCommand) one(
	ctx context.Context, c campaign.Campaign, s *spec.Scenario, name string,
) (*campaign.Report, int, error) {
	c.Scenario = s
	code, err := r.corpus.Run(ctx, &r.Results, s, c.Protocol)
	if err != nil {
		return nil, 0, err
	}
	show, remove := progress.Of(r.progress, s.Name, "schedules", 0)
	c.Progress = show
	report, err := c.Run(ctx)
	remove()
	if r.BrokeOff(err, s, c.Protocol.Name, name) {
		return nil, cli.Worse(code, cli.ExitUnknown), nil
	}
	if err != nil {
		return nil, 0, cli.Unknown(err, "")
	}
	fmt.Fprint(r.Out, prose.Row(report)+"\n"+r.campaign.Real())
	if r.metrics {
		fmt.Fprint(r.Out, prose.Metrics(report.Metrics))
	}
	// If there are several scenarios, the row of a violation says that it is expected.
	told := r.alone || !report.Passed()
	if out := kernel.NotJudged(s); len(out) > 0 && (report.Failure == nil || !told) { // else the explanation does
		fmt.Fprintf(r.Out, "  not judged, left out by the scenario: %s\n", strings.Join(out, ", "))
	}
	if text := prose.Excused(report); text != "" && report.Verdict == invariant.Violated { // else the reason says it
		fmt.Fprint(r.Out, "  "+text)
	}
	code = cli.Worse(code, cli.CodeOf(report.Passed(), report.Verdict))
	if report.Failure != nil {
		_, err := r.corpus.Keep(ctx, s, report.Protocol, report.Failure.Replay(),
			report.Failure.Violation.Invariant.Name)
		r.Lose(r.corpus.NotWritten(err))
	}
	why := r.explain(report, name)
	if why != "" && told {
		fmt.Fprintf(r.Out, "\n%s\n", why)
	}
	r.Campaign(ctx, &c, report, name, results.OfReport(report, shell.Program(), shell.Quote(name), why))
	if r.backend == backendLocal && ctx.Err() == nil {
		same, err := r.compare(ctx, c, report)
		if err != nil {
			return nil, 0, err
		}
		if !same {
			code = cli.Worse(code, cli.ExitUnknown) // if the fake is wrong, its verdict means nothing
		}
	}
	return report, code, nil
}

// compare repeats the campaign's first runs, and the one that fails, on DynamoDB Local.
func (r *runCommand) compare(ctx context.Context, c campaign.Campaign, report *campaign.Report) (same bool, err error) {
	run := kernel.Run{Scenario: c.Scenario, Protocol: c.Protocol, Seed: c.Seed, Options: c.Options}
	set, err := schedules.New(run, c.Plan, report.Schedules, c.Workers)
	if err != nil {
		return false, cli.Unknown(err, "")
	}
	runs, err := set.First(ctx, r.replays)
	if err != nil {
		return false, cli.Unknown(err, "")
	}
	if report.FailedAt > r.replays {
		runs = append(runs, kernel.Replay(report.Failure.Replay(), report.Scenario, report.Protocol))
	}
	fmt.Fprintf(r.progress, "running %d schedules again on %s\n", len(runs), backendLocal)
	return compareWith(ctx, r.Out, r.local.Client(), report.Scenario.Name, runs, report.Schedules)
}

// explain returns the details that the row does not show, and the next commands.
func (r *runCommand) explain(report *campaign.Report, name string) string {
	why := prose.Report(report, shell.Program(), shell.Quote(name))
	bounds := report.Scenario.Bounds.Schedules
	switch {
	case report.Vacuous() && report.Schedules < bounds:
		why += fmt.Sprintf("hint: the scenario asks for %d schedules: leave out --schedules\n", bounds)
	case report.Vacuous() && len(report.Missing) > 0 && report.Protocol.Name != report.Scenario.Protocol:
		why += otherProtocol(report)
	case report.Vacuous():
		why += "hint: more schedules reach more (--schedules), and so do more steps of time (bounds: ticks in the " +
			"scenario)\n"
	case report.Verdict == invariant.OK && !report.Passed():
		why += fmt.Sprintf("expected %s: %s under %s: no schedule of %d (seed %d) violates an invariant\n",
			report.Scenario.Expect, report.Scenario.Name, report.Protocol.Name, report.Schedules, report.Seed)
	}
	return why
}

// otherProtocol is the hint why a campaign may lack a mark.
func otherProtocol(report *campaign.Report) string {
	return fmt.Sprintf("hint: a scenario declares the marks of its own protocol (%s); another protocol may never "+
		"reach them\n", report.Scenario.Protocol)
}
