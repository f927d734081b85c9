package lab

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/scenario/policy"
)

// What a new on-demand table takes, in units a second, and how it grows: to twice its former peak within half an hour.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html
const (
	newTableReads  = 12_000
	newTableWrites = 4_000
	doubling       = 30 * time.Minute
)

// keyReads is how many read units one key takes in a second.
const keyReads = 3000

// Scale is a site of some size, without a tier in the memory of its nodes and with one.
type Scale struct {
	Policy       string
	Bare, Tiered *policy.Summary // Tiered is nil where no tier is needed
	// Hottest is the reads of the most popular key a second.
	Hottest float64
	// Lifetime is how long nodes have to keep copies, as simulated. Enough is what would be enough if nobody asked again:
	// requests that were throttled come back, and may keep a store busy that could serve all others.
	Lifetime, Enough time.Duration
	// Reads and Writes are the units that the table needs without a tier, Ramp how long a new table takes to them.
	Reads, Writes float64
	Ramp          time.Duration
}

// MeasureScale simulates a site by a policy, and again with the tier that ends the throttling of its hottest key.
func MeasureScale(ctx context.Context, s Settings, p policy.Policy, each func(done, of int)) (*Scale, error) {
	s.Store.Throttles = true
	keys := policy.Zipf{Keys: s.Keys, Exponent: s.Zipf}
	w := Workload{Name: "steady", Workload: poisson(s, nil)}
	nodes := s.Tier.Nodes
	s.Tier = policy.Tier{}
	share := func(from, of int) func(int) {
		return func(done int) {
			if each != nil {
				each(from+done, of)
			}
		}
	}
	bare, err := s.experiment(p, w).Repeat(ctx, s.Seed, s.Seeds, s.Workers, share(0, 2*s.Seeds))
	if err != nil {
		return nil, err
	}
	scale := &Scale{Policy: p.Name, Bare: bare, Hottest: s.Reads * policy.HottestShare(keys)}
	scale.Reads, scale.Writes = bare.Of(policy.ReadUnits).Mean, bare.Of(policy.WriteUnits).Mean
	for need, has := math.Max(scale.Reads/newTableReads, scale.Writes/newTableWrites), 1.0; has < need; has *= 2 {
		scale.Ramp += doubling
	}
	perRead := math.Max(1, math.Ceil(float64(s.Store.Bytes)/4096))
	if s.Store.Eventual {
		perRead /= 2
	}
	// A fifth is left for what comes by chance.
	scale.Enough = policy.TierLifetime(nodes, scale.Hottest, 0.8*keyReads/perRead)
	scale.Lifetime = scale.Enough
	for try := 1; scale.Lifetime > 0; try++ {
		s.Tier = policy.Tier{Nodes: nodes, Keys: tierKeys, Lifetime: scale.Lifetime}
		if scale.Tiered, err = s.experiment(p, w).Repeat(ctx, s.Seed, s.Seeds, s.Workers, share(try*s.Seeds, (1+try)*s.Seeds)); err != nil {
			return nil, err
		}
		if !scale.throttles() || try == mostTiers {
			break
		}
		scale.Lifetime *= 2
	}
	return scale, nil
}

// mostTiers is how many lifetimes of copies are tried, each twice as long as the one before.
const mostTiers = 8

// throttles reports whether the site throttles even with the tier.
func (s *Scale) throttles() bool { return s.Tiered.Of(policy.Throttled).Mean > 0 }

// tierKeys is how many keys each node keeps: enough for those that are hot.
const tierKeys = 1000

// rows are the figures without a tier, and with the one that ends the throttling.
func (s *Scale) rows() []Row {
	all := []Row{{Policy: s.Policy, Workload: "without a tier", Summary: s.Bare}}
	if s.Tiered != nil {
		all = append(all, Row{Policy: s.Policy, Workload: fmt.Sprintf("%d keys a node for %s", tierKeys, s.Lifetime), Summary: s.Tiered})
	}
	return all
}

// PrintCSV prints one line for each measure, without a tier and with one.
func (s *Scale) PrintCSV(out io.Writer) error { return PrintCSV(out, s.rows()) }

// PrintJSON prints an object with all figures. Rates are per second.
func (s *Scale) PrintJSON(out io.Writer) error {
	return encode(out, struct {
		Hottest      float64    `json:"hottest_key_reads"`
		KeyReads     int        `json:"read_units_of_one_key"`
		TierLifetime float64    `json:"tier_lifetime_seconds"` // 0 where no tier is needed
		Ramp         float64    `json:"ramp_seconds"`          // how long a new on-demand table takes to grow
		Rows         []Measured `json:"rows"`
	}{s.Hottest, keyReads, s.Lifetime.Seconds(), s.Ramp.Seconds(), measured(s.rows())})
}

// Print prints where the site throttles, and what would end it.
func (s *Scale) Print(out io.Writer) error {
	header, columns := []string{""}, s.rows()
	for _, c := range columns {
		header = append(header, c.Workload)
	}
	table := [][]string{header}
	for _, m := range []policy.Measure{
		policy.Throttled, policy.Failed, policy.HitRatio, policy.TierRatio, policy.Outdated, policy.OutdatedP99,
		policy.Renders, policy.RendersAtOnce, policy.RendersOfOneKey, policy.LatencyP50, policy.LatencyP99,
		policy.ReadUnits, policy.WriteUnits, policy.CostMonth,
	} {
		cells := []string{m.String()}
		for _, c := range columns {
			cells = append(cells, m.Format(round(c.Of(m).Mean)))
		}
		table = append(table, cells)
	}
	if err := printTable(out, table); err != nil {
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "\nthe hottest key is read %.4g times a second; one key takes %d read units a second\n", s.Hottest, keyReads)
	switch {
	case s.Tiered == nil:
		text.WriteString("no tier is needed\n")
	case s.throttles():
		fmt.Fprintf(&text, "copies in the memory of each node do not end its throttling, even for %s\n", s.Lifetime)
	default:
		fmt.Fprintf(&text, "copies in the memory of each node for %s end its throttling, and may be outdated for as much longer\n", s.Lifetime)
	}
	if s.Lifetime > s.Enough {
		fmt.Fprintf(&text, "%s would be enough if nobody asked again: retries of throttled requests keep the store throttled\n", s.Enough)
	}
	if s.Ramp > 0 {
		fmt.Fprintf(&text, "a new on-demand table takes %d read and %d write units a second: it grows to these within some %s (or is warmed before)\n",
			newTableReads, newTableWrites, s.Ramp)
	}
	_, err := io.WriteString(out, text.String())
	return err
}
