package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/base/heap"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/flags"
	"github.com/isr-sim/isr-sim/internal/cli/progress"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/study/explore"
)

// exploreCommand runs long campaigns.
type exploreCommand struct {
	flags.Results
	campaign flags.Campaign
	corpus   flags.Corpus
	batches  Batches
	lasts    time.Duration
	every    time.Duration
	shard    string
	file     string
	stderr   io.Writer
	clock    clockwork.Clock // how long the user waits
	began    time.Time
	saved    time.Time     // when a part was last saved
	pause    time.Duration // the time until the next save
}

// NewExplore returns isr-sim explore.
func NewExplore() *cobra.Command {
	e := &exploreCommand{clock: clockwork.NewRealClock()}
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

A corpus has scenario files with recorded schedules that failed, or that were the first
to reach a mark. They run before the campaign, failing ones first, then shorter ones.
Explore adds new ones. The corpus is a folder, or many machines share it in an S3 bucket
or on a branch of a git repository. isr-sim report dashboard draws it.

All scenarios, under each of --protocols, share the time of --for in proportion to
--weight; one that ends early leaves the rest of its share to the others. With --for, each scenario
that names a protocol with a known bug must find that bug first: a canary. With --out, a
shard that is killed goes on where it last saved, when the same command runs again.`,
		Example: "  isr-sim explore --schedules 100000 --protocol blind-publish paused-writer\n" +
			"  isr-sim explore --for 10m --swarm --corpus corpus\n" +
			"  isr-sim explore --schedules 1000000 --shard 2/4 --out shard-2.json",
	}
	cmd.RunE = e.Around(e.run)
	e.RegisterFormats(cmd)
	e.RegisterFiles(cmd, "the shortest run of each violated invariant")
	e.campaign.Register(cmd, &e.Results)
	e.corpus.Register(cmd, "they run first, and new ones are added")
	e.batches.Register(cmd)
	f := cmd.Flags()
	f.DurationVar(&e.every, "save-every", time.Minute,
		"with --out: how often progress is saved, from which the next start goes on if this one is killed")
	f.DurationVar(&e.lasts, "for", 0, "end after this time, shared among the scenarios (default: no limit)")
	f.StringVar(&e.shard, "shard", "",
		"the part of the campaign to run, such as 2/4 (default: as the engine says, or the whole)")
	f.StringVar(&e.file, "out", "",
		"write the result to this file, as JSON, for isr-sim merge; a folder/ gets a file named after the shard")
	return cmd
}

// unbounded is the number of schedules of a campaign that ends by time.
const unbounded = 1_000_000_000

func (e *exploreCommand) run(cmd *cobra.Command, names []string) (err error) {
	ctx := cmd.Context()
	e.stderr = cmd.ErrOrStderr()
	c, err := e.campaign.Campaign()
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("for") && e.lasts <= 0 {
		return cli.Usage(fmt.Errorf("--for: found %v, expected more than 0s", e.lasts), "leave --for out for no limit")
	}
	if e.lasts > 0 && c.Schedules == 0 {
		c.Schedules = unbounded
	}
	shard, by, err := FindShard(e.shard, os.Getenv)
	if err != nil {
		return err
	}
	defer e.campaign.Close()
	e.campaign.Others = e.batches.Commands()
	p, scenarios, names, err := e.campaign.Load(&e.Results, names)
	if err != nil {
		return err
	}
	batches, err := e.batches.Of(scenarios, names, p, &e.campaign.Program, cmd.Flags().Changed("for"))
	if err != nil {
		return err
	}
	for _, b := range batches {
		if n := cmp.Or(c.Schedules, b.Scenario.Bounds.Schedules); shard.Count > n {
			return cli.Usage(fmt.Errorf("%s: found %d shards of %s of %s, expected at least one for each", by,
				shard.Count, schedules.Plural(n, "schedule"), b.Scenario.Name), "more --schedules, or fewer shards")
		}
	}
	if err := e.corpus.Ready(ctx, e.Out, e.Version, e.clock.Now().UTC().Format(time.DateOnly)); err != nil {
		return err
	}
	defer func() { err = cli.And(err, flags.Errors(e.corpus.Close(ctx))...) }()
	if err := e.Ready(true); err != nil {
		return err
	}
	// This comes before the campaign, so that an error about the file is reported at once.
	file, err := NewFile(e.file, fmt.Sprintf("shard-%d-of-%d.json", shard.Index, shard.Count))
	if err != nil {
		return err
	}
	defer file.Discard()
	e.began, e.saved, e.pause = e.clock.Now(), e.clock.Now(), e.every
	saved, err := NewSaved(e.Out, file, e.Version, e.due)
	if err != nil {
		return err
	}

	defer heap.CollectRarely()()
	strange, strangers, err := e.corpus.Strangers(&e.Results, scenarios, batches[0].Protocol)
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
	var sum Sum
	for i, b := range batches {
		c.Scenario, c.Protocol = b.Scenario, b.Protocol
		explorer := explore.Explorer{
			Campaign: c, Shard: shard, Corpus: e.corpus.Corpus, File: shell.Quote(b.Name),
			Version: e.Version, For: Share(e.lasts, 0, b, batches), Before: saved.Of(i),
		}
		x, err := e.one(ctx, explorer, saved, i, batches[i:], &sum)
		if x != nil {
			found = append(found, x)
			e.Lose(e.corpus.NotWritten(err))
			err = nil
			e.Exploration(ctx, b.Scenario, b.Protocol, x, b.Name)
		}
		if err != nil && len(found) == 0 {
			return err
		}
		if err != nil {
			e.Lose(Save(file, besides(found, append(strange, fmt.Sprintf("%s was not run: %v", b.Scenario.Name, err)))))
			return cli.And(cli.AtLeast(strangers, sum.End(e.Out)), err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	if left := batches[len(found):]; len(left) > 0 {
		strange = append(strange, fmt.Sprintf("interrupted: %d of %d scenarios were not begun, the first is %s",
			len(left), len(batches), left[0].Scenario.Name))
	}
	if lost := Save(file, besides(found, strange)); lost != nil {
		e.Lose(lost)
	} else {
		saved.Done()
	}
	if ctx.Err() != nil && (len(found) < len(batches) || found[len(found)-1].Interrupted) {
		return &cli.Error{
			Code: cli.Worse(sum.Code, cli.ExitUnknown),
			Err: fmt.Errorf("interrupted in scenario %d of %d (%s)", len(found), len(batches),
				batches[len(found)-1].Scenario.Name),
		}
	}
	return cli.AtLeast(strangers, sum.End(e.Out))
}

// besides adds lines without a verdict, which belong to no exploration, to the file of explorations.
func besides(found []*explore.Exploration, lines []string) []*explore.Exploration {
	if len(found) > 0 {
		found[0].Besides = slices.Concat(found[0].Besides, lines)
	}
	return found
}

// due returns how long the command has run, and whether it is time to save.
func (e *exploreCommand) due() (seconds float64, due bool) {
	now := e.clock.Now()
	return now.Sub(e.began).Seconds(), now.Sub(e.saved) >= e.pause
}

// one explores the first of the remaining batches, which is the i-th of all.
func (e *exploreCommand) one(
	ctx context.Context, explorer explore.Explorer, saved *Saved, i int, left []Batch, sum *Sum,
) (*explore.Exploration, error) {
	whole := explorer.Before != nil && explorer.Before.Whole
	var canary *explore.Canary
	if left[0].Canary && !whole {
		var err error
		if canary, err = explorer.Canary(ctx, explorer.Seed+uint64(explorer.Shard.Index)); err != nil &&
			ctx.Err() == nil {
			return nil, cli.Unknown(err, "")
		}
	}
	begin := e.clock.Now()
	share := Share(e.lasts, begin.Sub(e.began)+time.Duration(saved.Seconds*float64(time.Second)), left[0], left)
	within, cancel := cli.Within(ctx, share, nil)
	defer cancel()
	show, remove := progress.Of(e.stderr, explorer.Scenario.Name, "schedules", share)
	explorer.Progress = show
	explorer.Save = func(part func() *explore.Part) {
		used := func() *explore.Part { // with what the nodes used so far: the process may be killed
			t := part()
			if e.NotSimulated != nil {
				t.Used(e.NotSimulated(t.Protocol))
			}
			return t
		}
		if now := e.clock.Now(); saved.Put(i, used, false) { // saving takes a tenth of the time at most
			e.saved = e.clock.Now()
			e.pause = max(e.every, 9*e.saved.Sub(now))
		}
	}
	x, err := explorer.Run(within)
	remove()
	if x == nil {
		if _, foreign := errors.AsType[*explore.BeforeError](err); foreign {
			return nil, saved.Foreign(err)
		}
		return nil, cli.Unknown(err, "")
	}
	if e.NotSimulated != nil {
		x.Used(e.NotSimulated(x.Protocol))
	}
	if canary != nil && !canary.Found() {
		x.Besides = append(x.Besides, canary.In(x.Scenario))
	}
	sum.Print(e.Out, x)
	e.corpus.SaysNone(e.Out, len(x.Corpus), x.Scenario, x.Protocol)
	if canary != nil && canary.Found() {
		fmt.Fprintf(e.Out, "%s\n\n", canary.In(x.Scenario))
	}
	if whole {
		return x, err
	}
	if !x.Interrupted {
		saved.Put(i, func() *explore.Part { return &explore.Part{Exploration: x, Whole: true} }, true)
	}
	coreSeconds := e.clock.Now().Sub(begin).Seconds() * float64(cmp.Or(explorer.Workers, runtime.GOMAXPROCS(0)))
	return x, errors.Join(err, e.corpus.Remember(ctx, x, coreSeconds, canary))
}
