package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/fixtures/ddblocal"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// The backends.
const (
	backendFake  = "fake"
	backendLocal = "dynamodb-local"
)

// replays is how many runs of a scenario are run again on DynamoDB Local, beside
// the one that violates something.
const replays = 100

// runCommand runs scenarios.
type runCommand struct {
	out       io.Writer
	backend   string
	protocol  string
	seed      uint64
	schedules int
	local     *ddblocal.Instance // started when first needed
}

func newRun(out io.Writer) *cobra.Command {
	r := &runCommand{out: out}
	cmd := &cobra.Command{
		Use:   "run [SCENARIO...]",
		Short: "Run scenarios, embedded ones by name and others by file; all embedded ones by default",
		Long: `Run explores many schedules of each scenario and prints one row a scenario; for
one that fails also what was violated, how, and the command that replays it.

With --backend dynamodb-local the same schedules are then run again on DynamoDB
Local in a container, request by request, and every answer is compared.`,
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), args) },
	}
	r.flags(cmd)
	return cmd
}

func (r *runCommand) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.backend, "backend", backendFake, "the store: fake, or dynamodb-local to compare the fake's answers with")
	f.StringVar(&r.protocol, "protocol", "", "the protocol to run instead of the scenario's own (see isr-sim list)")
	f.Uint64Var(&r.seed, "seed", 1, "where all randomness comes from")
	f.IntVar(&r.schedules, "schedules", 0, "how many schedules a scenario (default: what the scenario says)")
}

func (r *runCommand) run(ctx context.Context, names []string) (err error) {
	if r.backend != backendFake && r.backend != backendLocal {
		return usage(fmt.Errorf("--backend: found %q, expected %s or %s", r.backend, backendFake, backendLocal))
	}
	if r.schedules < 0 {
		return usage(fmt.Errorf("--schedules: found %d, expected at least 1 (or 0 for what the scenario says)", r.schedules))
	}
	p, err := protocol(r.protocol)
	if err != nil {
		return err
	}
	scenarios, names, err := loadScenarios(names)
	if err != nil {
		return err
	}
	defer func() {
		if r.local == nil {
			return
		}
		// The container is to go even when the run was interrupted.
		if closeErr := r.local.Close(context.WithoutCancel(ctx)); closeErr != nil && err == nil {
			err = unknown(closeErr)
		}
	}()
	fmt.Fprintf(r.out, "seed %d\n%s\n", r.seed, scenario.Header())
	worst := exitOK
	for i, s := range scenarios {
		code, err := r.one(ctx, s, names[i], p)
		if err != nil {
			return err
		}
		worst = worse(worst, code)
	}
	if worst != exitOK {
		return &exitError{code: worst}
	}
	return nil
}

// worse orders exit codes by what a reader must hear first: a violation, then
// what is unknown.
func worse(a, b int) int {
	rank := map[int]int{exitOK: 0, exitUnknown: 1, exitViolated: 2}
	if rank[b] > rank[a] {
		return b
	}
	return a
}

// one runs one scenario and returns its exit code. An error ends the command.
func (r *runCommand) one(ctx context.Context, s *scenario.Scenario, name string, p isr.Protocol) (int, error) {
	c := scenario.Campaign{Scenario: s, Protocol: p, Seed: r.seed, Schedules: r.schedules}
	if r.backend == backendLocal {
		c.Record = replays
	}
	report, err := c.Run(ctx)
	if err != nil {
		return 0, unknown(err)
	}
	fmt.Fprintln(r.out, report.Row())
	code := exitOK
	switch {
	case report.Verdict == invariant.Unknown:
		code = exitUnknown
	case !report.Passed():
		code = exitViolated
	}
	if why := report.Explain(program(), name); why != "" {
		fmt.Fprintf(r.out, "\n%s\n", why)
	}
	if r.backend == backendLocal {
		same, err := r.compare(ctx, report)
		if err != nil {
			return 0, err
		}
		if !same {
			code = worse(code, exitUnknown) // where the fake is wrong, its verdict is worth nothing
		}
	}
	return code, nil
}

// compare runs the recorded runs again on DynamoDB Local and says whether all
// answers were the same.
func (r *runCommand) compare(ctx context.Context, report *scenario.Report) (same bool, err error) {
	if r.local == nil {
		r.local, err = ddblocal.Start(ctx)
		if err != nil {
			return false, unknown(err)
		}
	}
	c, err := scenario.Compare(ctx, r.local.Client(), report.Recorded, nil)
	for _, d := range c.Differences {
		fmt.Fprintln(r.out, d)
	}
	fmt.Fprintf(r.out, "%s: %d of %d schedules replayed, %d requests, %d differences\n",
		backendLocal, c.Runs, report.Schedules, c.Requests, len(c.Differences))
	if err != nil && errors.Is(err, context.Canceled) {
		return false, unknown(errors.New("interrupted"))
	}
	if err != nil {
		return false, unknown(err)
	}
	return len(c.Differences) == 0, nil
}
