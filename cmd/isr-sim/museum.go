package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/base/heap"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/flags"
	"github.com/isr-sim/isr-sim/internal/cli/progress"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/study/local"
	"github.com/isr-sim/isr-sim/internal/study/selftest"
)

// museumCommand shows real bugs.
type museumCommand struct {
	flags.Results
	backend   string
	seed      uint64
	schedules int
	workers   int
	progress  io.Writer
	local     *local.Server // nil for the fake
}

func newMuseum() *cobra.Command {
	m := &museumCommand{}
	cmd := &cobra.Command{
		Use:   "museum [EXHIBIT...]",
		Short: "Show real bugs: each caught in a broken protocol, and absent from a correct one",
		Long: `Museum shows known bugs of caches, leases and locks in public projects, one row each:
the protocol that has the bug, the invariant that catches it, the schedule in which it
does, and the verdict about a protocol without the bug. Without arguments it shows all
of them. An exhibit is a scenario: isr-sim run, replay, shrink and explain take its
name, too.

With --backend dynamodb-local, museum repeats the requests of the schedule that shows
the bug on DynamoDB Local in a container, and compares every answer.`,
		Example: "  isr-sim selftest museum\n  isr-sim selftest museum paused-after-acquire\n" +
			"  isr-sim run --protocol blind-publish paused-after-acquire",
	}
	cmd.RunE = m.Around(m.run)
	m.RegisterFormats(cmd)
	m.RegisterFiles(cmd, "the run with the bug")
	flags.Seed(cmd, &m.seed)
	flags.Workers(cmd, &m.workers)
	f := cmd.Flags()
	f.StringVar(&m.backend, "backend", backendFake,
		"the store: fake, or dynamodb-local to compare the fake's answers with")
	f.IntVar(&m.schedules, "schedules", 0,
		"the number of schedules of the correct protocol (default: as the exhibit says)")
	return cmd
}

func (m *museumCommand) run(cmd *cobra.Command, names []string) (err error) {
	ctx := cmd.Context()
	m.progress = cmd.ErrOrStderr()
	if err := knownBackend(m.backend); err != nil {
		return err
	}
	if m.schedules < 0 || m.workers < 0 {
		return cli.Usage(fmt.Errorf(
			"--schedules, --workers: found %d and %d, expected at least 1 (or 0 for the default)",
			m.schedules, m.workers), "")
	}
	if len(names) == 0 {
		names = fixtures.Museum()
	}
	scenarios, _, err := cli.Scenarios(names)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(scenarios, func(s *spec.Scenario) bool { return s.Broken == "" }); i >= 0 {
		return cli.Usage(fmt.Errorf("scenario %s: %w", scenarios[i].Name, selftest.ErrNoExhibit),
			"isr-sim list names the exhibits")
	}
	if err := m.Ready(len(scenarios) > 1); err != nil {
		return err
	}
	if m.backend == backendLocal {
		var stop func(*error)
		if m.local, stop, err = startLocal(ctx, m.progress, withoutDocker); err != nil {
			return err
		}
		defer stop(&err)
	}
	defer heap.CollectRarely()()
	fmt.Fprintf(m.Out, "seed %d\n%s\n", m.seed, selftest.ExhibitHeader())
	good := 0
	return cli.EachInTurn(ctx, "exhibit", scenarios, func(i int) (int, error) {
		code, err := m.show(ctx, scenarios[i], names[i])
		if err == nil && code == cli.ExitOK {
			good++
		}
		return code, err
	}, func() {
		fmt.Fprintf(m.Out,
			"%d exhibits: %d caught where they are broken and clean where they are not\n", len(scenarios), good)
	})
}

// show shows one exhibit and returns its exit code. An error ends the command.
func (m *museumCommand) show(ctx context.Context, s *spec.Scenario, name string) (int, error) {
	remove := progress.Wait(m.progress, s.Name)
	shown, err := selftest.Exhibit{Scenario: s, Seed: m.seed, Schedules: m.schedules, Workers: m.workers}.Run(ctx)
	remove()
	if m.BrokeOff(err, s, "", name) {
		return cli.ExitUnknown, nil
	}
	if err != nil {
		return 0, cli.Unknown(err, "")
	}
	fmt.Fprintln(m.Out, shown.Row())
	code := cli.CodeOf(shown.Passed(), shown.Fixed.Verdict)
	if why := prose.Report(shown.Fixed, shell.Program(), shell.Quote(name)); why != "" {
		fmt.Fprintf(m.Out, "\n%s\n", why)
	}
	if shown.Broken.Failure != nil {
		run := kernel.Replay(shown.Broken.Failure.Replay(), s, shown.Bug)
		run.Only = shown.Bug.Breaks
		m.Lose(m.Keep(ctx, run, name))
	}
	broken, fixed := shown.Results(shell.Program(), shell.Quote(name))
	m.AddKept(name, s.Name+"."+shown.Bug.Name, broken)
	m.Add(name, fixed)
	if m.local == nil || shown.Broken.Failure == nil {
		return code, nil
	}
	same, err := compareWith(ctx, m.Out, m.local.Client(), s.Name,
		[]kernel.Run{kernel.Replay(shown.Broken.Failure.Replay(), s, shown.Bug)}, 1)
	if !same {
		code = cli.Worse(code, cli.ExitUnknown)
	}
	return code, err
}
