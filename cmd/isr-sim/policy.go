package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/lab"
	"github.com/isr-sim/isr-sim/internal/progress"
	"github.com/isr-sim/isr-sim/scenario/policy"
)

// policyCommand measures policies.
type policyCommand struct {
	out, stderr      io.Writer
	settings         lab.Settings
	reads, changes   lab.Rate
	keys, nodes, lru lab.Count
	lag              time.Duration
	workload, format string
	prices, plots    string
}

func newPolicy(out, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Measure lifetimes and stampede protection: how fresh, how cheap, how many renders at once",
		Long: `Policy plays reads, changes and renders on virtual time against a cache that keeps its
rows by a policy, and gives figures with their intervals over seeds. One seed gives
one result on any number of cores.`,
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPolicyRun(out, stderr), newPolicyCompare(out, stderr), newPolicyAdvise(out), newPolicySchedule(out), newPolicyScale(out, stderr))
	return cmd
}

func newPolicyRun(out, stderr io.Writer) *cobra.Command {
	p := &policyCommand{out: out, stderr: stderr}
	cmd := &cobra.Command{
		Use:     "run POLICY",
		Short:   "Measure one policy on one workload",
		Long:    "Run prints every measure of one policy on one workload.\n\nPolicies: " + policyNames() + "\n\nWorkloads:\n  " + strings.Join(lab.WorkloadNames(), "\n  ") + "\n  FILE.csv           reads (and changes) from a file: time in seconds, key, and optionally kind and size",
		Example: "  isr-sim policy run sliding --lifetime 1m --reads 10/s --changes 1/h\n  isr-sim policy run recipe-a-stale --workload visits.csv --format json",
		Args:    onePolicy,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.misplaced(cmd); err != nil {
				return err
			}
			return p.run(cmd.Context(), args[0])
		},
	}
	p.flags(cmd)
	cmd.Flags().StringVar(&p.workload, "workload", "steady", "the workload: a name, or a .csv file")
	return cmd
}

// ofWorkloads are the flags that make workloads. A file has these things of its own.
var ofWorkloads = []string{"reads", "changes", "keys", "zipf", "lasts", "warm-up"}

// misplaced refuses flags that would change nothing.
func (p *policyCommand) misplaced(cmd *cobra.Command) error {
	if !strings.HasSuffix(p.workload, ".csv") {
		return nil
	}
	for _, name := range ofWorkloads {
		if cmd.Flags().Changed(name) {
			return usage(fmt.Errorf("--%s: found it with %s, expected none: the file says when which key is read", name, p.workload), "")
		}
	}
	return nil
}

func newPolicyCompare(out, stderr io.Writer) *cobra.Command {
	p := &policyCommand{out: out, stderr: stderr}
	cmd := &cobra.Command{
		Use:   "compare",
		Short: "Compare all policies on three workloads",
		Long: `Compare prints a table for each workload: steady and bursty reads of many keys, and a
dashboard over a rolling window with late data. Policies by the age of data are
measured on the dashboard alone, where data has an age.`,
		Example: "  isr-sim policy compare\n  isr-sim policy compare --lifetime 5m --plot pictures",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.misplaced(cmd); err != nil {
				return err
			}
			return p.compare(cmd.Context())
		},
	}
	p.flags(cmd)
	cmd.Flags().StringVar(&p.workload, "workload", "", "one workload instead of the three: a name, or a .csv file")
	cmd.Flags().StringVar(&p.plots, "plot", "", "a folder for pictures, one a workload: outdated reads over renders")
	return cmd
}

// flags are those of run and compare.
func (p *policyCommand) flags(cmd *cobra.Command) {
	p.reads, p.changes, p.keys, p.nodes = 100, 1.0/600, 200, 1
	s := &p.settings
	f := cmd.Flags()
	f.DurationVar(&s.Lifetime, "lifetime", time.Minute, "how long a value is fresh")
	f.DurationVar(&s.Render, "render", 500*time.Millisecond, "how long a render takes")
	f.Var(&p.reads, "reads", "reads of all keys together, such as 100/s or 200k/s")
	f.Var(&p.changes, "changes", "changes of the data of each key, such as 1/h")
	f.Var(&p.keys, "keys", "how many keys there are, such as 500 or 1M")
	f.Float64Var(&s.Zipf, "zipf", 0.9, "how unequally keys are read: the k-th as often as 1/k^ZIPF; 0 is equally")
	f.DurationVar(&s.Store.Latency, "latency", 5*time.Millisecond, "how long a read of a row takes")
	f.IntVar(&s.Store.Bytes, "row", 400, "the size of a row in bytes, without the body")
	f.BoolVar(&s.Store.Eventual, "eventual", false, "read eventually consistent, for half the units")
	f.DurationVar(&s.Store.Retention, "retention", 24*time.Hour, "how long after it was stored TTL may delete a row (0: never)")
	f.BoolVar(&s.Store.Redis, "redis", false, "expire rows as Redis does, and not as DynamoDB does")
	f.DurationVar(&p.lag, "lag", time.Hour, "how much later TTL deletes it, on average (exponential)")
	f.Var(&p.nodes, "nodes", "how many nodes have a tier in their memory")
	f.Var(&p.lru, "tier", "how many keys each node keeps in its memory (default: no tier)")
	f.DurationVar(&s.Tier.Lifetime, "tier-lifetime", time.Second, "how long a node serves a copy from its memory")
	f.StringVar(&p.prices, "prices", "", "a YAML file with prices: read_units, write_units (a million), storage (GB and month), render (default: DynamoDB on demand in us-east-1)")
	f.Uint64Var(&s.Seed, "seed", 1, "the first seed")
	f.IntVar(&s.Seeds, "seeds", 5, "how many seeds: more make the intervals narrower")
	f.IntVar(&s.Workers, "workers", 2, "how many runs at the same time, which changes no result")
	f.DurationVar(&s.WarmUp, "warm-up", 10*time.Minute, "simulated time before anything is counted")
	f.DurationVar(&s.Lasts, "lasts", time.Hour, "simulated time that is counted")
	f.StringVar(&p.format, "format", "table", "table, csv or json")
}

// complete turns flags into settings.
func (p *policyCommand) complete() error {
	s := &p.settings
	switch {
	case s.Seeds < 1 || s.Workers < 1:
		return usage(fmt.Errorf("--seeds, --workers: found %d and %d, expected at least 1", s.Seeds, s.Workers), "")
	case s.Lifetime <= 0 || s.Lasts <= 0:
		return usage(fmt.Errorf("--lifetime, --lasts: found %s and %s, expected more than 0s", s.Lifetime, s.Lasts), "")
	case s.Render < 0 || s.Store.Latency < 0 || s.Store.Retention < 0 || p.lag < 0 || s.Tier.Lifetime < 0 || s.WarmUp < 0:
		return usage(errors.New("found a negative duration, expected none"), "")
	case s.Store.Bytes < 0 || s.Zipf < 0:
		return usage(fmt.Errorf("--row, --zipf: found %d and %g, expected at least 0", s.Store.Bytes, s.Zipf), "")
	case p.format != "table" && p.format != "csv" && p.format != "json":
		return usage(fmt.Errorf("--format: found %q, expected table, csv or json", p.format), "")
	}
	s.Reads, s.Changes, s.Keys = float64(p.reads), float64(p.changes), int(p.keys)
	s.Store.Lag = policy.ExponentialWith(p.lag)
	s.Tier.Nodes, s.Tier.Keys = int(p.nodes), int(p.lru)
	s.Prices = policy.OnDemand
	if p.prices != "" {
		var err error
		if s.Prices, err = lab.ReadPrices(p.prices); err != nil {
			return usage(err, "")
		}
	}
	return nil
}

func (p *policyCommand) run(ctx context.Context, name string) error {
	if err := p.complete(); err != nil {
		return err
	}
	one, err := policy.Named(name, p.settings.Lifetime)
	if err != nil {
		return usage(err, "")
	}
	return p.measure(ctx, []policy.Policy{one}, []string{p.workload}, func(rows []lab.Row) error { return lab.PrintRun(p.out, rows[0]) })
}

func (p *policyCommand) compare(ctx context.Context) error {
	if err := p.complete(); err != nil {
		return err
	}
	on := []string{"steady", "bursty", "dashboard"}
	if p.workload != "" {
		on = []string{p.workload}
	}
	return p.measure(ctx, policy.All(p.settings.Lifetime), on, func(rows []lab.Row) error {
		return lab.PrintComparison(p.out, rows)
	})
}

// measure runs policies on workloads and prints what they gave.
func (p *policyCommand) measure(ctx context.Context, policies []policy.Policy, names []string, table func([]lab.Row) error) error {
	var on []lab.Workload
	for _, name := range names {
		w, err := lab.WorkloadNamed(name, p.settings)
		if err != nil {
			return usage(err, "")
		}
		on = append(on, w)
	}
	show, remove := progress.Of(p.stderr, "policy", 0)
	rows, err := lab.Compare(ctx, p.settings, policies, on, show)
	remove()
	if err != nil {
		return unknown(err, "")
	}
	if len(rows) == 0 {
		return usage(fmt.Errorf("found policy %s on a workload whose data has no age, expected --workload dashboard", policies[0].Name), "")
	}
	if p.plots != "" {
		files, err := lab.Plot(p.plots, rows)
		if err != nil {
			return unknown(err, "")
		}
		defer func() { fmt.Fprintf(p.stderr, "pictures: %s\n", strings.Join(files, " ")) }()
	}
	switch p.format {
	case "csv":
		return lab.PrintCSV(p.out, rows)
	case "json":
		return lab.PrintJSON(p.out, rows)
	}
	return table(rows)
}

func newPolicyScale(out, stderr io.Writer) *cobra.Command {
	p := &policyCommand{out: out, stderr: stderr}
	name := "recipe-a-stale"
	cmd := &cobra.Command{
		Use:   "scale",
		Short: "Simulate the size of a large site: where it throttles, and what ends it",
		Long: `Scale plays the reads of a fleet against a table with DynamoDB's limits for one
partition key: 3,000 read units and 1,000 write units a second. It prints where the
site throttles, and simulates it again with the shortest tier in the memory of the
nodes that ends the throttling.`,
		Example: "  isr-sim policy scale --nodes 1000 --reads 200k/s --keys 1M --zipf 0.9",
		Args:    noArguments,
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
	_ = f.MarkHidden("tier") // the command finds it
	_ = f.MarkHidden("tier-lifetime")
	_ = f.MarkHidden("format")
	f.StringVar(&name, "policy", name, "the policy")
	return cmd
}

func (p *policyCommand) scale(ctx context.Context, name string) error {
	if err := p.complete(); err != nil {
		return err
	}
	one, err := policy.Named(name, p.settings.Lifetime)
	if err != nil {
		return usage(err, "")
	}
	show, remove := progress.Of(p.stderr, "policy", 0)
	scale, err := lab.MeasureScale(ctx, p.settings, one, show)
	remove()
	if err != nil {
		return unknown(err, "")
	}
	return scale.Print(p.out)
}

func newPolicyAdvise(out io.Writer) *cobra.Command {
	var (
		d              policy.Demand
		reads, changes lab.Rate
		skew, lease    time.Duration
	)
	cmd := &cobra.Command{
		Use:   "advise",
		Short: "Choose a lifetime from rates, costs and the staleness allowed",
		Long: `Advise prints the lifetime of least cost, C/T + S (1 - F(WT)), beside the rule of
thumb sqrt(2C/(WS)), and what each of them means: the chance that data has changed
when its lifetime ends is not the share of reads that see outdated data. Given how
long a render takes, it also finds the smallest lease under which no holder loses its
lock while it renders, by running recipe A on clocks that are off by the skew. A
holder that may pause needs as much more. Exit code 2 says that the demands cannot be
met together, and why.`,
		Example: "  isr-sim policy advise --changes 10/h --reads 500/s --miss 1 --stale 1.2 --longest 10m --render 100ms --skew 2s",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.Reads, d.Changes = float64(reads), float64(changes)
			a, err := policy.Advise(d)
			switch {
			case err != nil:
			case skew < 0:
				err = fmt.Errorf("--skew: found %s, expected at least 0s", skew)
			case skew > 0 && d.Render == 0:
				err = fmt.Errorf("--skew: found it without --render, expected both: the lease depends on both")
			}
			if err != nil {
				return usage(err, "")
			}
			if d.Render > 0 {
				if lease, err = lab.SafeLease(cmd.Context(), d.Render, skew); err != nil {
					return unknown(err, "")
				}
			}
			return lab.PrintAdvice(out, d, a, lease, skew)
		},
	}
	reads, changes = 100, 1.0/3600
	f := cmd.Flags()
	f.Var(&changes, "changes", "how often the data changes, such as 0.1/h")
	f.Var(&reads, "reads", "how often it is read, such as 100/s")
	f.Float64Var(&d.Miss, "miss", 1, "what a render costs")
	f.Float64Var(&d.Stale, "stale", 1, "what a second costs in which outdated data is served, in the same unit")
	f.DurationVar(&d.Longest, "longest", 0, "how old served data may be (default: any age)")
	f.DurationVar(&d.Render, "render", 0, "how long a render takes")
	f.DurationVar(&skew, "skew", 0, "how far a machine's clock may be off")
	f.DurationVar(&d.Retention, "retention", 0, "how long rows are kept (default: not checked)")
	return cmd
}

func newPolicySchedule(out io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:     "schedule [POLICY]",
		Short:   "Print the lifetimes of a policy by the age of data",
		Example: "  isr-sim policy schedule\n  isr-sim policy schedule age-linear",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"age-based"}
			}
			if err := onePolicy(cmd, args); err != nil {
				return err
			}
			name := args[0]
			p, err := policy.Named(name, time.Minute)
			if err == nil {
				err = lab.PrintSchedule(out, p)
			}
			if err != nil {
				return usage(err, "")
			}
			return nil
		},
	}
}

// onePolicy asks for exactly one argument.
func onePolicy(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return usage(fmt.Errorf("%s: found %d policies, expected one: %s", cmd.Name(), len(args), policyNames()), cmd.CommandPath()+" --help")
}

// policyNames lists the policies.
func policyNames() string {
	var names []string
	for _, p := range policy.All(time.Minute) {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}
