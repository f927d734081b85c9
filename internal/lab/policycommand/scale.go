package policycommand

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/progress"
	"github.com/isr-sim/isr-sim/internal/lab"
	"github.com/isr-sim/isr-sim/internal/lab/policy"
)

func newScale(out, stderr io.Writer) *cobra.Command {
	p := &command{out: out, stderr: stderr}
	name := "recipe-a-stale"
	cmd := &cobra.Command{
		Use:   "scale",
		Short: "Simulate the size of a large site: where it throttles, and what ends it",
		Long: `Scale plays the reads of a fleet against a table with DynamoDB's limits for one
partition key: 3,000 read units and 1,000 write units a second. It prints where the
site throttles, and simulates it again with the shortest tier in the memory of the
nodes that ends the throttling, also after a cold start.

Figures and bill are those of the steady state, whatever the lifetime: the run begins
with rows and copies whose ages are drawn from their stationary distribution. A column
of its own shows what a cold start costs, with an empty store and empty memories.`,
		Example: "  isr-sim policy scale --nodes 1000 --reads 200k/s --keys 1M --zipf 0.9",
		Args:    cli.NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return p.scale(cmd.Context(), name) },
	}
	p.flags(cmd)
	p.reads, p.keys, p.nodes = 200_000, 1_000_000, 1000
	p.settings.Seeds, p.settings.WarmUp, p.settings.Lasts = 1, 20*time.Second, 10*time.Second
	f := cmd.Flags()
	for _, flag := range [][2]string{
		{"reads", "200k/s"}, {"keys", "1M"}, {"nodes", "1000"}, {"seeds", "1"}, {"warm-up", "20s"}, {"lasts", "10s"},
	} {
		f.Lookup(flag[0]).DefValue = flag[1]
	}
	f.StringVar(&name, "policy", name, "the policy")
	return cmd
}

func (p *command) scale(ctx context.Context, name string) error {
	if err := p.complete(); err != nil {
		return err
	}
	one, err := policy.Named(name, p.settings.Lifetime)
	if err != nil {
		return cli.Usage(err, "")
	}
	if _, aged := policy.AtAge(one.Lifetime, 0); aged {
		return cli.Usage(
			fmt.Errorf("--policy: found %s, whose lifetimes depend on the age of data, expected one for data "+
				"without an age", name), "",
		)
	}
	if p.reads == 0 {
		return vacuous("--reads is 0, and a site without readers says nothing")
	}
	show, remove := progress.Of(p.stderr, "policy", "runs", 0)
	scale, err := lab.MeasureScale(ctx, p.settings, one, show)
	remove()
	if err != nil {
		return cli.Unknown(err, "")
	}
	switch p.format {
	case "csv":
		return scale.PrintCSV(p.out)
	case "json":
		return scale.PrintJSON(p.out)
	}
	if err := scale.Print(p.out); err != nil {
		return err
	}
	return scale.PrintRecommendations(p.out, p.settings)
}
