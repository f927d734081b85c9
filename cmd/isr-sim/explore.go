package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/base/heap"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/flags"
	"github.com/isr-sim/isr-sim/internal/cli/progress"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/study/explore"
)

// exploreCommand runs long campaigns.
type exploreCommand struct {
	flags.Results
	campaign flags.Campaign
	corpus   flags.Corpus
	lasts    time.Duration
	shard    string
	file     string
	stderr   io.Writer
}

func newExplore() *cobra.Command {
	e := &exploreCommand{}
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
	}
	cmd.RunE = e.Around(e.run)
	e.RegisterFormats(cmd)
	e.RegisterFiles(cmd, "the shortest run of each violated invariant")
	e.campaign.Register(cmd)
	e.corpus.Register(cmd, "they run first, and new ones are added")
	f := cmd.Flags()
	f.DurationVar(&e.lasts, "for", 0, "end after this time, shared among the scenarios (default: no limit)")
	f.StringVar(&e.shard, "shard", "", "the part of the campaign to run, such as 2/4 (default: as the engine says, or the whole)")
	f.StringVar(&e.file, "out", "", "write the result to this file, as JSON, for isr-sim merge; in a folder/ it is named by the shard")
	return cmd
}

// unbounded is the number of schedules of a campaign that ends by time.
const unbounded = 1_000_000_000

func (e *exploreCommand) run(cmd *cobra.Command, names []string) error {
	ctx := cmd.Context()
	e.stderr = cmd.ErrOrStderr()
	c, err := e.campaign.Campaign()
	if err != nil {
		return err
	}
	if e.campaign.Exec != "" && e.corpus.Given() {
		return cli.Usage(errors.New("--exec does not go with --corpus"), "")
	}
	if cmd.Flags().Changed("for") && e.lasts <= 0 {
		return cli.Usage(fmt.Errorf("--for: found %v, expected more than 0s", e.lasts), "leave --for out for no limit")
	}
	if e.lasts > 0 && c.Schedules == 0 {
		c.Schedules = unbounded
	}
	shard, by, err := flags.FindShard(e.shard, os.Getenv)
	if err != nil {
		return err
	}
	defer e.campaign.Close()
	p, scenarios, names, err := e.campaign.Load(&e.Results, names)
	if err != nil {
		return err
	}
	c.Protocol = p
	if err := e.corpus.Ready(e.Out); err != nil {
		return err
	}
	if err := e.Ready(true); err != nil {
		return err
	}
	// This comes before the campaign, so that nobody waits for the error of a file that cannot be written.
	file, err := flags.NewFile(e.file, fmt.Sprintf("shard-%d-of-%d.json", shard.Index, shard.Count))
	if err != nil {
		return err
	}
	defer file.Discard()

	defer heap.CollectRarely()()
	strangers, err := e.corpus.Strangers(&e.Results, scenarios, c.Protocol)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Out, "seed %d, strategy %s", c.Seed, c.Plan.Name)
	if c.Swarm {
		fmt.Fprint(e.Out, ", swarm")
	}
	if shard.Count > 1 {
		fmt.Fprintf(e.Out, ", shard %s (%s)", shard, by)
	}
	fmt.Fprintf(e.Out, "\n%s\n", prose.Header())
	var found []*explore.Exploration
	var sum flags.Sum
	info, _ := debug.ReadBuildInfo() // nil where there is none
	module, commit := built(info)
	for i, s := range scenarios {
		c.Scenario = s
		explorer := explore.Explorer{
			Campaign: c, Shard: shard, Corpus: e.corpus.Corpus, File: shell.Quote(names[i]), Version: module + commit,
		}
		x, err := e.one(ctx, explorer, len(scenarios))
		if x != nil {
			found = append(found, x)
			sum.Print(e.Out, x)
			e.Lose(e.corpus.NotWritten(err))
			err = nil
			e.Exploration(ctx, s, x, names[i])
		}
		if err != nil {
			e.Lose(flags.Save(file, found))
			return cli.And(cli.AtLeast(strangers, sum.End(e.Out)), err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	e.Lose(flags.Save(file, found))
	if ctx.Err() != nil && (len(found) < len(scenarios) || found[len(found)-1].Interrupted) {
		return &cli.Error{
			Code: cli.Worse(sum.Code, cli.ExitUnknown),
			Err:  fmt.Errorf("interrupted in scenario %d of %d (%s)", len(found), len(scenarios), scenarios[len(found)-1].Name),
		}
	}
	return cli.AtLeast(strangers, sum.End(e.Out))
}

// one explores one of n scenarios.
func (e *exploreCommand) one(ctx context.Context, explorer explore.Explorer, n int) (*explore.Exploration, error) {
	share := e.lasts / time.Duration(n)
	if e.lasts > 0 {
		share = max(share, 1) // 0 is no limit
	}
	ctx, cancel := within(ctx, share, nil)
	defer cancel()
	show, remove := progress.Of(e.stderr, explorer.Scenario.Name, "schedules", share)
	defer remove()
	explorer.Progress, explorer.For = show, share
	return explorer.Run(ctx)
}

// within returns a context that ends after d of real time, for a cause; 0 is never.
func within(ctx context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, d, cause)
}
