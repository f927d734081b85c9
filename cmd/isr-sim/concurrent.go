package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/jonboulle/clockwork"
	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/concurrent"
	"github.com/isr-sim/isr-sim/internal/progress"
	"github.com/isr-sim/isr-sim/internal/record"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// concurrentCommand runs nodes in real parallel.
type concurrentCommand struct {
	out, progress io.Writer
	backend       string
	protocol      string
	actors        int
	lasts         time.Duration
	seed          uint64
	history       string
	keep          keeper
	forms         formats
}

func newConcurrent(out, progress io.Writer) *cobra.Command {
	c := &concurrentCommand{out: out, progress: progress}
	cmd := &cobra.Command{
		Use:   "concurrent",
		Short: "Run nodes in real parallel against DynamoDB Local, and judge their answers",
		Long: `Concurrent has several nodes ask for pages at the same time, in real time, with leases
of one second. Now and then a node stops before a write for longer than its lease, or
does not wait for an answer. These invariants judge the answers of the store: ` + concurrentInvariants() + `.

It needs a Docker engine, or --backend fake. These runs cannot be replayed: to study
a bug, find it with isr-sim run.`,
		Example: "  isr-sim concurrent --for 60s\n  isr-sim concurrent --protocol blind-publish --history history.html",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.forms.around(cmd, &c.out, func() error { return c.run(cmd.Context()) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.backend, "backend", backendLocal, "the store: dynamodb-local, or fake")
	f.StringVar(&c.protocol, "protocol", recipe.Reference().Name, "the protocol to run (see isr-sim list)")
	f.IntVar(&c.actors, "actors", 16, "the number of nodes that ask at the same time")
	f.DurationVar(&c.lasts, "for", time.Minute, "the time to run; the first violation ends it")
	f.Uint64Var(&c.seed, "seed", 1, "the seed of the nodes' intentions; it does not decide what happens")
	f.StringVar(&c.history, "history", "", "write a page of HTML to this file: each node's operations in the last seconds")
	c.keep.flags(cmd, "the last round")
	c.forms.flags(cmd)
	return cmd
}

func concurrentInvariants() string {
	var names []string
	for _, inv := range concurrent.Invariants() {
		names = append(names, inv.Name)
	}
	return strings.Join(names, ", ")
}

func (c *concurrentCommand) run(ctx context.Context) (err error) {
	if err := knownBackend(c.backend); err != nil {
		return err
	}
	if c.actors < 2 || c.actors > 1000 {
		return usage(fmt.Errorf("--actors: found %d, expected 2 to 1000", c.actors), "")
	}
	if c.lasts < 5*time.Second {
		return usage(fmt.Errorf("--for: found %v, expected at least 5s", c.lasts), "leases last a second, and pauses longer")
	}
	p, err := protocol(c.protocol)
	if err != nil {
		return err
	}
	if err := c.keep.ready(false); err != nil {
		return err
	}
	clock := clockwork.NewRealClock()
	var client *dynamodb.Client
	if c.backend == backendFake {
		client = ddbfake.New(ddbfake.Options{Clock: clock}).Client()
	} else {
		local, stop, startErr := startLocal(ctx, c.progress, "--backend "+backendFake+" needs no Docker")
		if startErr != nil {
			return startErr
		}
		defer stop(&err)
		client = local.Client()
	}
	say := func(asked int) { fmt.Fprintf(c.progress, "%d pages asked for\n", asked) }
	show, remove := progress.Of(c.progress, p.Name, "pages", c.lasts)
	if show != nil {
		say = func(asked int) { show(asked, 0) }
	}
	o, err := concurrent.Run{
		Protocol: p, Client: client, Table: "isr-sim-concurrent", Clock: clock, Actors: c.actors, For: c.lasts, Seed: c.seed,
		Progress: say,
	}.Do(ctx)
	remove()
	if err != nil {
		return unknown(err, "")
	}
	fmt.Fprintf(c.out, "%s on %s, %d nodes: %d pages asked for, %d operations, %d writes after a pause, %d leases taken over, %d requests abandoned\n",
		p.Name, c.backend, c.actors, o.Asked, o.Operations, o.Paused, o.Taken, o.Abandoned)
	if c.history != "" {
		if err := drawHistory(c.history, func(w io.Writer) error { return invariant.Visualize(o.Seen, w) }); err != nil {
			return unknown(err, "")
		}
	}
	if err := c.keep.keepWatched(c.out, record.Watched{
		Name: "concurrent", About: fmt.Sprintf("%d nodes in real parallel on %s: the last round.", c.actors, c.backend), Protocol: p.Name, Seed: c.seed,
		Start: o.Began, Evidence: o.Seen, Verdict: o.Verdict, Why: o.Why, Invariant: o.Violated, Finding: o.Finding, Lines: o.Lines,
	}); err != nil {
		return err
	}
	if o.Verdict != invariant.Unknown { // then the error says it
		c.forms.add(c.keep.with(ofConcurrent(o, p.Name, c.seed), "concurrent"))
	}
	switch o.Verdict {
	case invariant.Violated:
		fmt.Fprintf(c.out, "violated: %s\n  %s\n  %s\n\n  %s\n", o.Violated.Name, o.Violated.Statement, o.Why, strings.Join(o.Lines, "\n  "))
		return &exitError{Code: exitViolated}
	case invariant.Unknown:
		return unknown(fmt.Errorf("no verdict: %s", o.Why), "")
	default:
		fmt.Fprintf(c.out, "ok: %s\n", concurrentInvariants())
		return nil
	}
}
