package policycommand

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/lab"
	"github.com/isr-sim/isr-sim/internal/lab/policy"
	"github.com/isr-sim/isr-sim/internal/show/report"
)

// command measures policies.
type command struct {
	out, stderr      io.Writer
	settings         lab.Settings
	reads, changes   lab.Rate
	keys, nodes, lru lab.Count
	lag              lab.Lag
	workload, format string
	prices, plots    string
}

// tierFlags adds the tier's flags of run and compare; scale finds the tier.
func (p *command) tierFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(&p.lru, "tier", "how many keys each node keeps in its memory (default: no tier)")
	f.DurationVar(&p.settings.Tier.Lifetime, "tier-lifetime", time.Second,
		"how long a node serves a copy from its memory")
}

// flags adds the flags that run, compare and scale share.
func (p *command) flags(cmd *cobra.Command) {
	p.reads, p.changes, p.keys, p.nodes = 100, 1.0/600, 200, 1
	s := &p.settings
	f := cmd.Flags()
	f.DurationVar(&s.Lifetime, "lifetime", time.Minute, "how long a value is fresh")
	f.DurationVar(&s.Render, "render", 500*time.Millisecond, "how long a render takes")
	f.Var(&p.reads, "reads", "reads of all keys together, such as 100/s or 200k/s")
	f.Var(&p.changes, "changes", "changes of the data of each key, such as 1/h")
	f.Var(&p.keys, "keys", "how many keys there are, such as 500 or 1M")
	f.Float64Var(&s.Zipf, "zipf", 0.9,
		"how unequally keys are read: the k-th in proportion to 1/k^ZIPF; 0 means equally")
	f.DurationVar(&s.Store.Latency, "latency", 5*time.Millisecond, "how long a read of a row takes")
	f.IntVar(&s.Store.Bytes, "row", 400, "the size of a row in bytes, without the body")
	f.BoolVar(&s.Store.Eventual, "eventual", false, "use eventually consistent reads, for half the units")
	f.DurationVar(&s.Store.Retention, "retention", 24*time.Hour,
		"the ttl of a row, counted from when it was stored (0: none)")
	f.BoolVar(&s.Store.Redis, "redis", false, "expire rows as Redis does, and not as DynamoDB does")
	p.lag = lab.Lag{Dist: policy.ExponentialWith(time.Hour)}
	f.Var(&p.lag, "lag",
		"how long after its ttl a row stays: never, at-once, fixed 10m, uniform 1m 48h, exponential 10m, or the mean "+
			"of an exponential lag, such as 10m")
	f.Var(&p.nodes, "nodes", "how many nodes have an in-memory tier")
	f.StringVar(&p.prices, "prices", "",
		"a YAML file with prices: read_units, write_units (a million), storage (GB and month), render (default: "+
			"DynamoDB on demand in us-east-1)")
	f.Uint64Var(&s.Seed, "seed", 1, "the first seed")
	f.IntVar(&s.Seeds, "seeds", 5, "how many seeds: more make the intervals narrower")
	f.IntVar(&s.Workers, "workers", 2, "how many runs at the same time, which changes no result")
	f.DurationVar(&s.WarmUp, "warm-up", 10*time.Minute, "simulated time before anything is counted")
	f.DurationVar(&s.Lasts, "lasts", time.Hour, "simulated time that is counted")
	f.StringVar(&p.format, "format", "table", "table, csv or json")
}

// ofWorkloads are the flags that make workloads. A trace from a file has its own reads, keys and so on.
var ofWorkloads = []string{"reads", "changes", "keys", "zipf", "lasts", "warm-up"}

// misplaced refuses flags without an effect.
func (p *command) misplaced(cmd *cobra.Command) error {
	if !strings.HasSuffix(p.workload, ".csv") {
		return nil
	}
	for _, name := range ofWorkloads {
		if cmd.Flags().Changed(name) {
			return cli.Usage(
				fmt.Errorf("--%s does not go with %s: the file says when each key is read", name, p.workload), "",
			)
		}
	}
	return nil
}

// complete turns flags into settings.
func (p *command) complete() error {
	s := &p.settings
	switch {
	case s.Seeds < 1 || s.Workers < 1:
		return cli.Usage(fmt.Errorf("--seeds, --workers: found %d and %d, expected at least 1", s.Seeds, s.Workers), "")
	case s.Lifetime <= 0 || s.Lasts <= 0:
		return cli.Usage(fmt.Errorf("--lifetime, --lasts: found %s and %s, expected more than 0s", s.Lifetime, s.Lasts),
			"")
	case s.Render < 0 || s.Store.Latency < 0 || s.Store.Retention < 0 || s.Tier.Lifetime < 0 || s.WarmUp < 0:
		return cli.Usage(errors.New("a duration is below 0"), "")
	case s.Store.Bytes < 0 || !(s.Zipf >= 0) || math.IsInf(s.Zipf, 1):
		return cli.Usage(fmt.Errorf("--row, --zipf: found %d and %g, expected finite numbers of at least 0",
			s.Store.Bytes, s.Zipf), "")
	case p.format != "table" && p.format != "csv" && p.format != "json":
		return cli.Usage(fmt.Errorf("--format: found %q, expected table, csv or json", p.format), "")
	}
	s.Reads, s.Changes, s.Keys = float64(p.reads), float64(p.changes), int(p.keys)
	s.Store.Lag = p.lag.Dist
	s.Tier.Nodes, s.Tier.Keys = int(p.nodes), int(p.lru)
	s.Prices = policy.OnDemand
	if p.prices != "" {
		var err error
		if s.Prices, err = lab.ReadPrices(p.prices); err != nil {
			return cli.Usage(err, "")
		}
	}
	return nil
}

// Plots reads the output of the command with --format json. Each workload has a plot: outdated reads, the harm of a
// policy, against renders, its cost.
func Plots(in io.Reader) ([]report.Plot, error) {
	measured, err := lab.ReadJSON(in)
	var plots []report.Plot
	for _, m := range measured {
		i := slices.IndexFunc(plots, func(p report.Plot) bool { return p.Title == m.Workload })
		if i < 0 {
			i = len(plots)
			plots = append(plots, report.Plot{Title: m.Workload, X: "renders a second", Y: "reads of outdated data, %"})
		}
		x, y := m.Measures[policy.Renders.String()], m.Measures[policy.Outdated.String()]
		plots[i].Dots = append(plots[i].Dots, report.Dot{
			Name: m.Policy, X: x.Mean, Y: 100 * y.Mean, XText: x.Text(policy.Renders), YText: y.Text(policy.Outdated),
		})
	}
	return plots, err
}
