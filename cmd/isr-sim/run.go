package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/fixtures/ddblocal"
	"github.com/isr-sim/isr-sim/internal/compare"
	"github.com/isr-sim/isr-sim/internal/explore"
	"github.com/isr-sim/isr-sim/internal/heap"
	"github.com/isr-sim/isr-sim/internal/progress"
	"github.com/isr-sim/isr-sim/internal/prose"
	"github.com/isr-sim/isr-sim/internal/schedules"
	"github.com/isr-sim/isr-sim/internal/shell"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// runCommand runs scenarios.
type runCommand struct {
	out      io.Writer
	progress io.Writer // for output that is not a result
	backend  string
	campaign campaignFlags
	program  programFlags
	corpus   string
	replays  int
	metrics  bool
	keeper   keeper
	formats  formats
	local    *ddblocal.Instance // started when first needed
}

func newRun(out, stderr io.Writer) *cobra.Command {
	r := &runCommand{out: out, progress: stderr}
	cmd := &cobra.Command{
		Use:   "run [SCENARIO...]",
		Short: "Run scenarios, embedded ones by name and others by file; all embedded ones by default",
		Long: `Run tries many schedules of each scenario and prints one row for each scenario. For
a scenario that fails it also prints the invariant, the events that violate it, and
the command that replays them. The first schedule that violates an invariant ends the
campaign of its scenario.

With --backend dynamodb-local, run then makes the requests of the same schedules
again on DynamoDB Local in a container, and compares every answer. It needs a Docker
engine.`,
		Example: "  isr-sim run paused-writer two-contenders\n  isr-sim run --protocol blind-publish --seed 7 paused-writer\n  isr-sim run ./my-scenario.yaml",
		RunE:    func(cmd *cobra.Command, args []string) error { return r.judge(cmd, args) },
	}
	r.flags(cmd)
	return cmd
}

// judge runs scenarios, and writes the results in the forms that the user asks for.
func (r *runCommand) judge(cmd *cobra.Command, args []string) error {
	return r.formats.around(cmd, &r.out, func() error { return r.run(cmd.Context(), args) })
}

func (r *runCommand) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	r.formats.flags(cmd)
	r.keeper.flags(cmd, "the run that fails, or else the first one,")
	f.StringVar(&r.backend, "backend", backendFake, "the store: fake, or dynamodb-local to compare the fake's answers with")
	r.campaign.register(f)
	r.program.register(f)
	f.StringVar(&r.corpus, "corpus", "", "a folder of recorded schedules: they run first, and a schedule that fails is added")
	f.BoolVar(&r.metrics, "metrics", false, "print the store's metrics under each row, by their names in CloudWatch")
	f.IntVar(&r.replays, "replays", 0, "with --backend "+backendLocal+": the number of schedules of each scenario to run again, besides the one that fails (default: 1000)")
}

func (r *runCommand) run(ctx context.Context, names []string) (err error) {
	if err := knownBackend(r.backend); err != nil {
		return err
	}
	if r.replays < 0 {
		return usage(fmt.Errorf("--replays: found %d, expected at least 1", r.replays), "")
	}
	if r.replays > 0 && r.backend == backendFake {
		return usage(errors.New("--replays: found it without --backend "+backendLocal), "nothing is run again on the fake")
	}
	if r.replays == 0 {
		r.replays = 1000
	}
	c, err := r.campaign.campaign()
	if err != nil {
		return err
	}
	if r.program.command != "" && (r.corpus != "" || r.backend != backendFake) {
		return usage(errors.New("--exec: found it with --corpus or --backend, expected neither"), "")
	}
	p, err := r.program.protocol(ctx, r.progress, r.campaign.protocol)
	if err != nil {
		return err
	}
	defer r.program.close()
	c.Protocol = p
	scenarios, names, err := loadScenarios(names)
	if err != nil {
		return err
	}
	if err := usableFolder(r.corpus); err != nil {
		return err
	}
	if err := r.keeper.ready(len(scenarios) > 1); err != nil {
		return err
	}
	if r.backend == backendLocal {
		// First of all, so that a user without Docker does not wait for the error.
		var stop func(*error)
		if r.local, stop, err = startLocal(ctx, r.progress, fmt.Sprintf("--backend %s, the default, needs no Docker", backendFake)); err != nil {
			return err
		}
		defer stop(&err)
	}
	defer heap.CollectRarely()()
	fmt.Fprintf(r.out, "seed %d\n%s\n", c.Seed, prose.Header())
	return inTurn(ctx, r.out, scenarios, func(i int) (*campaign.Report, int, error) { return r.one(ctx, c, scenarios[i], names[i]) })
}

// one runs one scenario and returns its exit code, and no report if it broke off. An error ends the command.
func (r *runCommand) one(ctx context.Context, c campaign.Campaign, s *scenario.Scenario, name string) (*campaign.Report, int, error) {
	c.Scenario = s
	code, err := r.runCorpus(ctx, c)
	if err != nil {
		return nil, 0, err
	}
	show, remove := progress.Of(r.progress, s.Name, "schedules", 0)
	c.Progress = show
	report, err := c.Run(ctx)
	remove()
	if brokeOff(r.out, err, name) {
		r.formats.add(ofBroken(err, s, c.Protocol.Name, name))
		return nil, worse(code, exitUnknown), nil
	}
	if err != nil {
		return nil, 0, unknown(err, "")
	}
	fmt.Fprintln(r.out, prose.Row(report))
	if r.metrics {
		fmt.Fprint(r.out, prose.Metrics(report.Metrics))
	}
	if report.Failure == nil { // whose explanation says it
		for _, line := range s.NotJudged() {
			fmt.Fprintf(r.out, "  %s\n", line)
		}
	}
	code = worse(code, codeOf(report.Passed(), report.Verdict))
	if report.Failure != nil {
		if err := explore.Corpus(r.corpus).Keep(c.Scenario, report.Failure.Replay(), report.Failure.Violation.Invariant.Name); err != nil {
			return nil, 0, unknown(err, "")
		}
	}
	why := r.explain(report, name)
	if why != "" {
		fmt.Fprintf(r.out, "\n%s\n", why)
	}
	if err := r.keeper.keepTelling(ctx, r.out, &c, report, name); err != nil {
		return nil, 0, err
	}
	r.formats.add(r.keeper.with(ofReport(report, name, why), s.Name+"."+report.Protocol.Name))
	if r.backend == backendLocal && ctx.Err() == nil {
		same, err := r.compare(ctx, c, report)
		if err != nil {
			return nil, 0, err
		}
		if !same {
			code = worse(code, exitUnknown) // where the fake is wrong, its verdict is worth nothing
		}
	}
	return report, code, nil
}

// compare makes the campaign's first runs, and the one that fails, again on DynamoDB Local.
func (r *runCommand) compare(ctx context.Context, c campaign.Campaign, report *campaign.Report) (same bool, err error) {
	run := scenario.Run{Scenario: c.Scenario, Protocol: c.Protocol, Seed: c.Seed, Options: c.Options}
	set, err := schedules.New(run, c.Plan, report.Schedules, c.Workers)
	if err != nil {
		return false, unknown(err, "")
	}
	runs, err := compare.First(ctx, set, r.replays)
	if err != nil {
		return false, unknown(err, "")
	}
	if report.FailedAt > r.replays {
		runs = append(runs, report.Failure.Replay().Run(report.Scenario, report.Protocol))
	}
	fmt.Fprintf(r.progress, "running %d schedules again on %s\n", len(runs), backendLocal)
	return compareWith(ctx, r.out, r.local.Client(), report.Scenario.Name, runs, report.Schedules)
}

// runCorpus runs the files of the corpus with the campaign's scenario and protocol, and returns the exit code.
func (r *runCommand) runCorpus(ctx context.Context, c campaign.Campaign) (int, error) {
	runs, err := explore.Corpus(r.corpus).Run(ctx, c.Scenario, c.Protocol)
	if err != nil {
		return 0, unknown(err, "")
	}
	code := exitOK
	for _, run := range runs {
		if run.Violates != "" && c.Scenario.Expected(cmp.Or(c.Protocol.Name, c.Scenario.Protocol)) == invariant.OK {
			code = exitViolated
		}
		if line := run.Explain(shell.Program()); line != "" {
			fmt.Fprintln(r.out, line)
		}
	}
	return code, nil
}

// explain returns the details that the row does not show, and the next commands.
func (r *runCommand) explain(report *campaign.Report, name string) string {
	why := prose.Report(report, shell.Program(), shell.Quote(name))
	bounds := report.Scenario.Bounds.Schedules
	switch {
	case report.Vacuous() && report.Schedules < bounds:
		why += fmt.Sprintf("hint: the scenario asks for %d schedules: leave out --schedules\n", bounds)
	case report.Vacuous() && report.Protocol.Name != report.Scenario.Protocol:
		why += fmt.Sprintf("hint: a scenario declares the marks of its own protocol (%s); another protocol may never reach them\n", report.Scenario.Protocol)
	case report.Vacuous():
		why += "hint: more schedules reach more (--schedules), and so do more steps of time (bounds: ticks in the scenario)\n"
	case report.Verdict == invariant.OK && !report.Passed():
		why += fmt.Sprintf("expected %s: %s under %s: no schedule of %d (seed %d) violates an invariant\n",
			report.Scenario.Expect, report.Scenario.Name, report.Protocol.Name, report.Schedules, report.Seed)
	}
	return why
}
