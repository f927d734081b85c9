package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/fixtures/ddblocal"
	"github.com/isr-sim/isr-sim/internal/heap"
	"github.com/isr-sim/isr-sim/internal/progress"
	"github.com/isr-sim/isr-sim/internal/prose"
	"github.com/isr-sim/isr-sim/internal/selftest"
	"github.com/isr-sim/isr-sim/internal/shell"
	"github.com/isr-sim/isr-sim/scenario"
)

// museumCommand shows real bugs.
type museumCommand struct {
	out, progress io.Writer
	backend       string
	seed          uint64
	schedules     int
	workers       int
	keeper        keeper
	formats       formats
	local         *ddblocal.Instance // with that backend
}

func newMuseum(out, stderr io.Writer) *cobra.Command {
	m := &museumCommand{out: out, progress: stderr}
	cmd := &cobra.Command{
		Use:   "museum [EXHIBIT...]",
		Short: "Show real bugs: each caught in a broken protocol, and absent from a correct one",
		Long: `Museum shows known bugs of caches, leases and locks in public projects, one row each:
the protocol that has the bug, the invariant that catches it, the schedule in which it
does, and the verdict about a protocol without the bug. Without arguments it shows all
of them. An exhibit is a scenario: isr-sim run, replay, shrink and explain take its
name, too.

With --backend dynamodb-local, museum makes the requests of the schedule that shows the
bug again on DynamoDB Local in a container, and compares every answer.`,
		Example: "  isr-sim museum\n  isr-sim museum paused-after-acquire\n  isr-sim run --protocol blind-publish paused-after-acquire",
		RunE: func(cmd *cobra.Command, args []string) error {
			return m.formats.around(cmd, &m.out, func() error { return m.run(cmd.Context(), args) })
		},
	}
	f := cmd.Flags()
	m.formats.flags(cmd)
	m.keeper.flags(cmd, "the run with the bug")
	f.StringVar(&m.backend, "backend", backendFake, "the store: fake, or dynamodb-local to compare the fake's answers with")
	f.Uint64Var(&m.seed, "seed", 1, "the seed of everything random")
	f.IntVar(&m.schedules, "schedules", 0, "the number of schedules of the correct protocol (default: as the exhibit says)")
	f.IntVar(&m.workers, "workers", 0, "the number of schedules that run at the same time; it changes no result (default: one for each core)")
	return cmd
}

func (m *museumCommand) run(ctx context.Context, names []string) (err error) {
	if err := knownBackend(m.backend); err != nil {
		return err
	}
	if m.schedules < 0 || m.workers < 0 {
		return usage(fmt.Errorf("--schedules, --workers: found %d and %d, expected at least 1 (or 0 for the default)", m.schedules, m.workers), "")
	}
	if len(names) == 0 {
		names = fixtures.Museum()
	}
	scenarios, _, err := loadScenarios(names)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(scenarios, func(s *scenario.Scenario) bool { return s.Broken == "" }); i >= 0 {
		return usage(fmt.Errorf("scenario %s: %w", scenarios[i].Name, selftest.ErrNoExhibit), "isr-sim list names the exhibits")
	}
	if err := m.keeper.ready(len(scenarios) > 1); err != nil {
		return err
	}
	if m.backend == backendLocal {
		var stop func(*error)
		if m.local, stop, err = startLocal(ctx, m.progress, "--backend "+backendFake+", the default, needs no Docker"); err != nil {
			return err
		}
		defer stop(&err)
	}
	defer heap.CollectRarely()()
	fmt.Fprintf(m.out, "seed %d\n%s\n", m.seed, selftest.ExhibitHeader())
	good := 0
	return eachInTurn(ctx, "exhibit", scenarios, func(i int) (int, error) {
		code, err := m.show(ctx, scenarios[i], names[i])
		if err == nil && code == exitOK {
			good++
		}
		return code, err
	}, func() {
		fmt.Fprintf(m.out, "%d exhibits: %d caught where they are broken and clean where they are not\n", len(scenarios), good)
	})
}

// show shows one exhibit and returns its exit code. An error ends the command.
func (m *museumCommand) show(ctx context.Context, s *scenario.Scenario, name string) (int, error) {
	remove := progress.Wait(m.progress, s.Name)
	shown, err := selftest.Exhibit{Scenario: s, Seed: m.seed, Schedules: m.schedules, Workers: m.workers}.Run(ctx)
	remove()
	if brokeOff(m.out, err, name) {
		m.formats.add(ofBroken(err, s, "", name))
		return exitUnknown, nil
	}
	if err != nil {
		return 0, unknown(err, "")
	}
	fmt.Fprintln(m.out, shown.Row())
	code := codeOf(shown.Passed(), shown.Fixed.Verdict)
	if why := prose.Report(shown.Fixed, shell.Program(), shell.Quote(name)); why != "" {
		fmt.Fprintf(m.out, "\n%s\n", why)
	}
	if shown.Broken.Failure != nil {
		run := shown.Broken.Failure.Replay().Run(s, shown.Bug)
		run.Only = shown.Bug.Breaks
		if err := m.keeper.keep(ctx, m.out, run, name, s.Name+"."+shown.Bug.Name); err != nil {
			return 0, err
		}
	}
	of := ofExhibit(shown, name)
	m.formats.add(m.keeper.with(of[0], s.Name+"."+shown.Bug.Name), of[1])
	if m.local == nil || shown.Broken.Failure == nil {
		return code, nil
	}
	same, err := compareWith(ctx, m.out, m.local.Client(), s.Name, []scenario.Run{shown.Broken.Failure.Replay().Run(s, shown.Bug)}, 1)
	if !same {
		code = worse(code, exitUnknown)
	}
	return code, err
}
