package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/jonboulle/clockwork"
	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/flags"
	"github.com/isr-sim/isr-sim/internal/cli/progress"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/show/keep"
	"github.com/isr-sim/isr-sim/internal/show/record"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
	"github.com/isr-sim/isr-sim/internal/study/concurrent"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// concurrentCommand runs nodes in real parallel.
type concurrentCommand struct {
	flags.Results
	backend  string
	protocol string
	actors   int
	lasts    time.Duration
	seed     uint64
	history  string
}

func newConcurrent() *cobra.Command {
	c := &concurrentCommand{}
	cmd := &cobra.Command{
		Use:   "concurrent",
		Short: "Run nodes in real parallel against DynamoDB Local, and judge their answers",
		Long: `Concurrent has several nodes ask for pages at the same time, in real time, with leases
of one second. Now and then a node stops before a write for longer than its lease, or
does not wait for an answer. These invariants judge the answers of the store: ` + concurrentInvariants() + `.

It needs a Docker engine, or --backend fake. These runs cannot be replayed: to study
a bug, find it with isr-sim run.`,
		Example: "  isr-sim run concurrent --for 60s\n" +
			"  isr-sim run concurrent --protocol blind-publish --history history.html",
		Args: cli.NoArguments,
		RunE: c.Around(c.run),
	}
	f := cmd.Flags()
	f.StringVar(&c.backend, "backend", backendLocal, "the store: dynamodb-local, or fake")
	f.StringVar(&c.protocol, "protocol", recipe.Reference().Name, "the protocol to run (see isr-sim list)")
	f.IntVar(&c.actors, "actors", 16, "the number of nodes that ask at the same time")
	f.DurationVar(&c.lasts, "for", time.Minute, "the time to run; the first violation ends it")
	f.Uint64Var(&c.seed, "seed", 1, "the seed of what the nodes try; it does not make a run repeatable")
	f.StringVar(&c.history, "history", "",
		"write a page of HTML to this file: each node's operations in the last seconds")
	c.RegisterFiles(cmd, "the last round")
	c.RegisterFormats(cmd)
	return cmd
}

func concurrentInvariants() string {
	var names []string
	for _, inv := range concurrent.Invariants() {
		names = append(names, inv.Name)
	}
	return strings.Join(names, ", ")
}

func (c *concurrentCommand) run(cmd *cobra.Command, _ []string) (err error) {
	ctx, stderr := cmd.Context(), cmd.ErrOrStderr()
	if err := knownBackend(c.backend); err != nil {
		return err
	}
	if c.actors < 2 || c.actors > 1000 {
		return cli.Usage(fmt.Errorf("--actors: found %d, expected 2 to 1000", c.actors), "")
	}
	if c.lasts < 5*time.Second {
		return cli.Usage(fmt.Errorf("--for: found %v, expected at least 5s", c.lasts),
			"leases last a second, and pauses longer")
	}
	p, err := cli.Protocol(c.protocol)
	if err != nil {
		return err
	}
	if err := c.Ready(false); err != nil {
		return err
	}
	clock := clockwork.NewRealClock()
	var client *dynamodb.Client
	if c.backend == backendFake {
		client = ddbfake.New(ddbfake.Options{Clock: clock}).Client()
	} else {
		local, stop, startErr := startLocal(ctx, stderr, "--backend "+backendFake+" needs no Docker")
		if startErr != nil {
			return startErr
		}
		defer stop(&err)
		client = local.Client()
	}
	say := func(asked int) { fmt.Fprintf(stderr, "%d pages asked for\n", asked) }
	show, remove := progress.Of(stderr, p.Name, "pages", c.lasts)
	if show != nil {
		say = func(asked int) { show(asked, 0) }
	}
	o, err := concurrent.Run{
		Protocol: p, Client: client, Table: "isr-sim-concurrent", Clock: clock, Actors: c.actors, For: c.lasts,
		Seed: c.seed, Progress: say,
	}.Do(ctx)
	remove()
	if err != nil {
		return cli.Unknown(err, "")
	}
	fmt.Fprintf(c.Out,
		"%s on %s, %d nodes: %d pages asked for, %d operations, %d writes after a pause, %d leases taken over, %d "+
			"requests abandoned\n",
		p.Name, c.backend, c.actors, o.Asked, o.Operations, o.Paused, o.Taken, o.Abandoned)
	if c.history != "" {
		c.Lose(keep.History(c.history, o.Seen.Visualize))
	}
	c.Lose(c.KeepWatched(record.Watched{
		Name: "concurrent", About: fmt.Sprintf("%d nodes in real parallel on %s: the last round.", c.actors, c.backend),
		Protocol: p.Name, Seed: c.seed, Start: o.Began, Evidence: o.Seen, Verdict: o.Verdict, Why: o.Why,
		Invariant: o.Violated, Finding: o.Finding, Lines: o.Lines,
	}))
	if o.Verdict != invariant.Unknown { // an unknown verdict is in the error below
		c.AddKept("", "concurrent", verdicts.Result{
			Scenario: "concurrent", Protocol: p.Name, Verdict: verdicts.Verdict(o.Verdict.String()),
			Passed: o.Verdict == invariant.OK, Invariant: o.Violated.Name, Statement: o.Violated.Statement,
			Message: o.Why, Details: strings.Join(o.Lines, "\n"), Seed: fmt.Sprint(c.seed),
		})
	}
	switch o.Verdict {
	case invariant.Violated:
		fmt.Fprintf(c.Out, "violated: %s\n  %s\n  %s\n\n  %s\n", o.Violated.Name, o.Violated.Statement, o.Why,
			strings.Join(o.Lines, "\n  "))
		return &cli.Error{Code: cli.ExitViolated}
	case invariant.Unknown:
		return cli.Unknown(fmt.Errorf("no verdict: %s", o.Why), "")
	default:
		fmt.Fprintf(c.Out, "ok: %s\n", concurrentInvariants())
		return nil
	}
}
