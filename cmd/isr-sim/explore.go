package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/atomicfile"
	"github.com/isr-sim/isr-sim/internal/explore"
	"github.com/isr-sim/isr-sim/internal/heap"
	"github.com/isr-sim/isr-sim/internal/jobs"
	"github.com/isr-sim/isr-sim/internal/progress"
	"github.com/isr-sim/isr-sim/internal/prose"
	"github.com/isr-sim/isr-sim/internal/shell"
	"github.com/isr-sim/isr-sim/internal/tally"
)

// exploreCommand runs long campaigns.
type exploreCommand struct {
	out      io.Writer
	progress io.Writer
	campaign campaignFlags
	program  programFlags
	lasts    time.Duration
	shard    string
	file     string
	corpus   string
	keeper   keeper
	formats  formats
}

func newExplore(out, progress io.Writer) *cobra.Command {
	e := &exploreCommand{out: out, progress: progress}
	cmd := &cobra.Command{
		Use:   "explore [SCENARIO...]",
		Short: "Run long campaigns that go on after a violation, and measure their coverage",
		Long: `Explore runs schedules until their number or the time is up, and goes on after a
violation. It reports each violated invariant once: the number of schedules that
violate it, and the earliest and the shortest of them, each with its replay command.
Then it prints the coverage: the number of partial orders and of states that it has
seen, how many of them were new in the last tenth of the schedules, and the chance
that the next schedule has a new order (Good-Turing). Two schedules have the same
partial order if they differ only in the order of steps that do not touch each other.

An interrupt ends the campaign; explore prints and writes everything found so far. A
second interrupt kills it.

With --shard, or under an engine that numbers the copies of a job, explore runs only
its part of the campaign. Such engines are
a Kubernetes Indexed Job (with ISR_SIM_SHARDS set to its completions), GitLab CI/CD,
CircleCI, Buildkite, Bitbucket Pipelines, Semaphore, Azure Pipelines, AWS Batch, and
Cloud Run jobs. isr-sim merge adds the parts up.

A corpus is a folder of scenario files with recorded schedules that failed, or that
were the first to reach a mark. They run before the campaign, failing ones first, then
shorter ones. Explore adds new ones, and deletes none.`,
		Example: "  isr-sim explore --schedules 100000 --protocol blind-publish paused-writer\n" +
			"  isr-sim explore --for 10m --swarm --corpus corpus\n" +
			"  isr-sim explore --schedules 1000000 --shard 2/4 --out shard-2.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.formats.around(cmd, &e.out, func() error { return e.run(cmd.Context(), args) })
		},
	}
	f := cmd.Flags()
	e.formats.flags(cmd)
	e.campaign.register(f)
	e.program.register(f)
	e.keeper.flags(cmd, "the shortest run of each violated invariant")
	f.DurationVar(&e.lasts, "for", 0, "end after this time, shared among the scenarios (default: no limit)")
	f.StringVar(&e.shard, "shard", "", "the part of the campaign to run, such as 2/4 (default: as the engine says, or the whole)")
	f.StringVar(&e.file, "out", "", "write the result to this file, as JSON, for isr-sim merge")
	f.StringVar(&e.corpus, "corpus", "", "a folder of recorded schedules to run first, and to add to")
	return cmd
}

// unbounded is the number of schedules of a campaign that ends by time.
const unbounded = 1_000_000_000

func (e *exploreCommand) run(ctx context.Context, names []string) error {
	c, err := e.campaign.campaign()
	if err != nil {
		return err
	}
	if e.program.command != "" && e.corpus != "" {
		return usage(errors.New("--exec: found it with --corpus, expected one of them"), "")
	}
	p, err := e.program.protocol(ctx, os.Stderr, e.campaign.protocol)
	if err != nil {
		return err
	}
	defer e.program.close()
	c.Protocol = p
	if e.campaign.set.Changed("for") && e.lasts <= 0 {
		return usage(fmt.Errorf("--for: found %v, expected more than 0s", e.lasts), "leave --for out for no limit")
	}
	if e.lasts > 0 && c.Schedules == 0 {
		c.Schedules = unbounded
	}
	shard, by, err := findShard(e.shard, os.Getenv)
	if err != nil {
		return err
	}
	scenarios, names, err := loadScenarios(names)
	if err != nil {
		return err
	}
	if err := usableFolder(e.corpus); err != nil {
		return err
	}
	if err := e.keeper.ready(true); err != nil {
		return err
	}
	// Before the campaign, so that the user of a file that cannot be written does not wait for the error.
	file, err := newFile(e.file)
	if err != nil {
		return usage(fmt.Errorf("--out: %w", err), "")
	}
	defer file.Discard()

	defer heap.CollectRarely()()
	fmt.Fprintf(e.out, "seed %d, strategy %s", c.Seed, c.Plan.Name)
	if c.Swarm {
		fmt.Fprint(e.out, ", swarm")
	}
	if shard.Count > 1 {
		fmt.Fprintf(e.out, ", shard %s (%s)", shard, by)
	}
	fmt.Fprintf(e.out, "\n%s\n", prose.Header())
	var found []*explore.Exploration
	var results results
	for i, s := range scenarios {
		c.Scenario = s
		explorer := explore.Explorer{Campaign: c, Shard: shard, Corpus: explore.Corpus(e.corpus), File: shell.Quote(names[i])}
		x, err := e.one(ctx, explorer, len(scenarios))
		if x != nil {
			found = append(found, x)
			results.print(e.out, x)
			err = errors.Join(err, e.keeper.keepFindings(ctx, e.out, s, x, names[i]))
			for _, r := range ofExploration(x, names[i]) {
				e.formats.add(e.keeper.with(r, x.Scenario+"."+x.Protocol+"."+r.Invariant))
			}
		}
		if err != nil {
			return errors.Join(unknown(err, ""), save(file, found))
		}
		if ctx.Err() != nil {
			break
		}
	}
	if err := save(file, found); err != nil {
		return unknown(fmt.Errorf("--out: %w", err), "")
	}
	if ctx.Err() != nil && (len(found) < len(scenarios) || found[len(found)-1].Interrupted) {
		return &exitError{
			Code: worse(results.code, exitUnknown),
			Err:  fmt.Errorf("interrupted in scenario %d of %d (%s)", len(found), len(scenarios), scenarios[len(found)-1].Name),
		}
	}
	return results.end(e.out)
}

// findShard returns the shard that the flag or the environment says this is, and its source. Without either it is the
// whole.
func findShard(flag string, getenv func(string) string) (s explore.Shard, by string, err error) {
	if flag != "" {
		s, err := explore.ParseShard(flag)
		if err != nil {
			return s, "", usage(fmt.Errorf("--%w", err), "")
		}
		return s, "--shard", nil
	}
	job, err := jobs.Find(getenv)
	return explore.Shard{Index: max(job.Index, 1), Count: max(job.Count, 1)}, job.Engine, wrapUsage(err)
}

// one explores one of n scenarios.
func (e *exploreCommand) one(ctx context.Context, explorer explore.Explorer, n int) (*explore.Exploration, error) {
	share := e.lasts / time.Duration(n)
	ctx, cancel := within(ctx, share)
	defer cancel()
	show, remove := progress.Of(e.progress, explorer.Scenario.Name, "schedules", share)
	defer remove()
	explorer.Progress = show
	return explorer.Run(ctx)
}

// within returns a context that ends after d of real time; 0 is never.
func within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}

// results adds up the verdicts of explorations.
type results struct {
	tally tally.Tally
	code  int
}

// print prints an exploration and counts it.
func (r *results) print(out io.Writer, x *explore.Exploration) {
	r.code = worse(r.code, codeOf(x.Passed(), x.Verdict()))
	r.tally.Add(x.Passed(), x.Verdict(), x.Vacuous())
	fmt.Fprintf(out, "%s\n\n%s\n", x.Row(), x.Explain(shell.Program()))
}

// end prints the sum and returns the command's result.
func (r *results) end(out io.Writer) error {
	if r.tally.Total() > 1 {
		fmt.Fprintf(out, "%s\n", &r.tally)
	}
	if r.code != exitOK {
		return &exitError{Code: r.code}
	}
	return nil
}

// usableFolder makes sure that there is a folder, or can be.
func usableFolder(name string) error {
	if name == "" {
		return nil
	}
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return usage(fmt.Errorf("--corpus: found the file %s, expected a folder", name), "")
	}
	if err := os.MkdirAll(name, 0o777); err != nil {
		return usage(fmt.Errorf("--corpus: %w", err), "")
	}
	return nil
}

// newFile begins the file of results; nil is none.
func newFile(name string) (*atomicfile.Draft, error) {
	if name == "" {
		return nil, nil //nolint:nilnil // no file is wanted
	}
	return atomicfile.Create(name)
}

func save(file *atomicfile.Draft, found []*explore.Exploration) error {
	if file == nil {
		return nil
	}
	if err := explore.WriteExplorations(file, found); err != nil {
		return err
	}
	return file.Commit(0o644)
}
