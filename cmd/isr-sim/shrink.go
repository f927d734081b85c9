package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/base/atomicfile"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/flags"
	"github.com/isr-sim/isr-sim/internal/cli/progress"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/show/prose"
)

// programShrinkTime is the default limit for shrinking a program's run. A run of a program takes some 50 ms, a hundred
// times that of a built-in protocol. Thousands of runs would take ten minutes, and nearly all is gained in the first
// minute.
const programShrinkTime = 2 * time.Minute

// shrinkCommand makes a violated run small.
type shrinkCommand struct {
	flags.Results
	flags.Recording
	file string
	runs int
	time time.Duration // 0 is no bound
	keep bool          // keep the scenario as it is
}

func newShrink() *cobra.Command {
	k := &shrinkCommand{}
	cmd := &cobra.Command{
		Use:   "shrink SCENARIO",
		Short: "Find a smaller run that violates the same invariant, and print its trace",
		Long: `Shrink tries simpler schedules and simpler scenarios, and keeps those that violate
the same invariant: with fewer context switches first, then with fewer steps, less
true time, fewer faults, actors and commands. A context switch is a step of one
actor's code after a step of another's. Time, TTL, pauses and crashes are not part
of any actor's code.

Shrink prints the sizes before and after, the trace of the smaller run, and the
violation. The result is a scenario file with a replay entry. With -o it is written
to a file, otherwise printed.

Protocol, seed and choices are given as for replay. Exit code 0 says that the run is
shrunk, or that no smaller run was found; 3 that --runs or --time ended the search:
the smallest run so far is printed and written all the same. It may be shrunk again.`,
		Example: "  isr-sim shrink --protocol blind-publish --seed 17911839290282890590 --choices '0000000000' -o " +
			"shrunk.yaml paused-writer\n" +
			"  isr-sim shrink -o shrunk.yaml recorded.yaml",
		Args: cli.OneScenario,
		RunE: k.Around(k.run),
	}
	k.Register(cmd, &k.Results)
	k.RegisterFiles(cmd, "the smaller run")
	f := cmd.Flags()
	f.StringVarP(&k.file, "output", "o", "", "write the shrunk scenario to this file; one that exists is replaced")
	f.BoolVar(&k.keep, "schedule-only", false, "leave the scenario as it is, and shrink the schedule only")
	f.IntVar(&k.runs, "runs", campaign.DefaultShrinkRuns, "the largest number of runs to try")
	f.DurationVar(&k.time, "time", 0,
		"end with the smallest run so far after this time (default: no bound, with --exec 2m)")
	return cmd
}

func (k *shrinkCommand) run(cmd *cobra.Command, args []string) error {
	switch {
	case k.runs < 1:
		return cli.Usage(fmt.Errorf("--runs: found %d, expected at least 1", k.runs), "")
	case k.time < 0:
		return cli.Usage(fmt.Errorf("--time: found %v, expected more than 0s", k.time), "")
	}
	defer k.Close()
	run, err := k.Again(&k.Results, args[0])
	if err != nil {
		return err
	}
	if k.Exec != "" && !cmd.Flags().Changed("time") {
		k.time = programShrinkTime
	}
	ctx, stop := cli.Within(cmd.Context(), k.time, nil)
	defer stop()
	remove := progress.Wait(cmd.ErrOrStderr(), "shrinking "+run.Scenario.Name)
	shrunk, err := campaign.Shrink{Failed: run.Run, Runs: k.runs, ScheduleOnly: k.keep}.Run(ctx)
	remove()
	if err != nil && errors.Is(err, context.DeadlineExceeded) {
		return cli.Unknown(fmt.Errorf("--time: %v did not suffice to run the schedule once", k.time), "raise --time")
	}
	if err != nil {
		return flags.NotViolated(cmd.Context(), err)
	}
	fmt.Fprintf(k.Out, "%s\n\n%s\n", run, prose.Sizes(shrunk.Before, shrunk.After))
	after := kernel.Replay(*shrunk.Scenario.Replay, shrunk.Scenario, run.Protocol)
	after.Trace = k.Out
	if _, err := after.Do(cmd.Context()); err != nil {
		return cli.Unknown(err, "")
	}
	fmt.Fprintf(k.Out, "\n%s\n", prose.Outcome(shrunk.Outcome, shrunk.Scenario.Name, after.Protocol.Name))
	if err := k.write(shrunk); err != nil {
		return err
	}
	after.Trace = nil
	if err := k.Keep(cmd.Context(), after, k.file); err != nil {
		return cli.Unknown(err, "")
	}
	switch {
	case cmd.Context().Err() != nil:
		return cli.Unknown(fmt.Errorf("interrupted after %d runs: there may be a smaller one", shrunk.Runs), "")
	case ctx.Err() != nil:
		return cli.Unknown(fmt.Errorf("--time: after %v and %s there may still be a smaller one", k.time,
			schedules.Plural(shrunk.Runs, "run")),
			"raise --time, or shrink the result again")
	case shrunk.Bounded:
		return cli.Unknown(fmt.Errorf("--runs: after %d runs there may still be a smaller one", shrunk.Runs),
			"raise --runs, or shrink the result again")
	default:
		return nil
	}
}

// write writes the scenario and its test, or prints the scenario.
func (k *shrinkCommand) write(shrunk *campaign.Shrunk) error {
	yaml, err := shrunk.Scenario.YAML()
	if err != nil {
		return cli.Unknown(err, "")
	}
	if k.file != "" {
		err = atomicfile.Write(k.file, yaml, 0o644)
	}
	if k.file == "" || err != nil {
		fmt.Fprintf(k.Out, "the scenario (-o FILE writes it to a file):\n\n%s", yaml)
		if err == nil {
			return nil
		}
		return cli.Unknown(fmt.Errorf("-o: %s: not written: %w", k.file, err), "")
	}
	fmt.Fprintf(k.Out, "scenario: %s\n", k.file)
	file := shell.Quote(k.file)
	if k.Exec != "" {
		file = "--exec " + shell.Quote(k.Exec) + " " + file
	}
	fmt.Fprintf(k.Out, "replay: %s replay %s\nexplain: %s explain %s\n", shell.Program(), file, shell.Program(), file)
	return nil
}
