package lab

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/internal/lab/policy"
)

// The limits of a new on-demand table, in units per second, and its growth: to twice its former peak within half an
// hour.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html
const (
	newTableReads  = 12_000
	newTableWrites = 4_000
	doubling       = 30 * time.Minute
)

// keyReads is the number of read units that one key can take per second.
const keyReads = 3000

// Scale is a site of some size, without a tier in the memory of its nodes and with one. Each is measured twice: in its
// steady state, for which the ages of rows and copies are drawn, and after a cold start, with empty memories and an
// empty store.
type Scale struct {
	Policy                 string
	Bare, Tiered           *policy.Summary // Tiered is nil if no tier is needed
	ColdBare, ColdTiered   *policy.Summary
	WarmUp, Lasts, Started time.Duration // steady state: warm-up and counted time; cold start: counted time
	// Ended is true if the tier ends the throttling, in the steady state and some time after a cold start.
	Ended bool
	// Hottest is the number of reads per second of the most popular key.
	Hottest float64
	// Lifetime is how long nodes must keep copies, according to the simulation. Enough is the lifetime that would
	// suffice without retries: throttled requests come back, and may keep a store busy that could serve all others.
	Lifetime, Enough time.Duration
	// Reads and Writes are the units that the table needs without a tier, and Ramp is the time that a new table takes
	// to grow to them.
	Reads, Writes float64
	Ramp          time.Duration
}

// someRenders is the minimum length of a warm-up, in renders: renders in progress are not drawn.
const someRenders = 5

// MeasureScale simulates a site under a policy, and again with the tier that ends the throttling of its hottest key.
func MeasureScale(ctx context.Context, s Settings, p policy.Policy, each func(done, of int)) (*Scale, error) {
	s.Store.Throttles = true
	keys := policy.Zipf{Keys: s.Keys, Exponent: s.Zipf}
	w := Workload{Name: "steady", Workload: poisson(s, nil)}
	nodes := s.Tier.Nodes
	s.Tier = policy.Tier{}
	s.WarmUp = max(s.WarmUp, someRenders*s.Render)
	scale := &Scale{
		Policy: p.Name, Hottest: s.Reads * policy.HottestShare(keys), WarmUp: s.WarmUp,
		Lasts: s.Lasts, Started: s.Lasts,
	}
	measured := 0
	measure := func(begin beginning) (*policy.Summary, error) {
		x := s.experiment(p, w)
		switch begin {
		case steady:
			x.Steady = true
		case cold:
			x.WarmUp, x.Lasts = 0, scale.Started
		}
		from := measured * s.Seeds
		measured++
		return x.Repeat(ctx, s.Seed, s.Seeds, s.Workers, func(done int) {
			if each != nil {
				each(from+done, (measured+1)*s.Seeds)
			}
		})
	}
	var err error
	if scale.Bare, err = measure(steady); err != nil {
		return nil, err
	}
	if scale.ColdBare, err = measure(cold); err != nil {
		return nil, err
	}
	scale.Reads, scale.Writes = scale.Bare.Of(policy.ReadUnits).Mean, scale.Bare.Of(policy.WriteUnits).Mean
	for need, has := math.Max(scale.Reads/newTableReads, scale.Writes/newTableWrites), 1.0; has < need; has *= 2 {
		scale.Ramp += doubling
	}
	// A fifth of the limit is a reserve for chance.
	scale.Enough = policy.TierLifetime(nodes, scale.Hottest, 0.8*keyReads/s.unitsOfRead())
	scale.Lifetime = scale.Enough
	for try := 1; scale.Lifetime > 0; try++ {
		s.Tier = policy.Tier{Nodes: nodes, Keys: tierKeys, Lifetime: scale.Lifetime}
		s.WarmUp = max(s.WarmUp, scale.Lifetime)
		started, err := measure(afterStart)
		if err != nil {
			return nil, err
		}
		if calm(started) || try == mostTiers {
			if scale.Tiered, err = measure(steady); err != nil {
				return nil, err
			}
		}
		if try == mostTiers || scale.Tiered != nil && calm(scale.Tiered) {
			scale.WarmUp, scale.Ended = s.WarmUp, calm(started) && calm(scale.Tiered)
			if scale.ColdTiered, err = measure(cold); err != nil {
				return nil, err
			}
			break
		}
		scale.Lifetime *= 2
	}
	return scale, nil
}

// beginning is the state in which a run begins.
type beginning int

const (
	steady     beginning = iota // rows and copies with drawn ages
	cold                        // empty; the start is counted
	afterStart                  // empty; a warm-up is not counted
)

// calm reports whether no request is throttled.
func calm(s *policy.Summary) bool { return s.Of(policy.Throttled).Mean == 0 }

// mostTiers is the maximum number of copy lifetimes to try, each twice the previous one.
const mostTiers = 8

// tierKeys is the number of keys that each node keeps: enough for the hot ones.
const tierKeys = 1000

// rows are the figures without a tier, and with the tier that ends the throttling. Each is followed by the figures of a
// cold start.
func (s *Scale) rows() []Row {
	row := func(name string, sum *policy.Summary, cold bool) Row {
		return Row{Policy: s.Policy, Workload: name, Summary: sum, cold: cold}
	}
	all := []Row{row("steady state", s.Bare, false), row("cold start", s.ColdBare, true)}
	if s.Tiered != nil {
		all = append(all, row("steady state, tier", s.Tiered, false), row("cold start, tier", s.ColdTiered, true))
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
			if c.cold && m == policy.CostMonth {
				cells = append(cells, "-") // a cold start does not last a month
				continue
			}
			cells = append(cells, m.Format(round(c.Of(m).Mean)))
		}
		table = append(table, cells)
	}
	if err := printTable(out, table); err != nil {
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "\nsteady state: begun with rows whose ages are drawn, %s after %s that are not counted\n"+
		"cold start:   the first %s of an empty store\n", s.Lasts, s.WarmUp, s.Started)
	if s.Tiered != nil {
		fmt.Fprintf(&text,
			"tier:         %d keys in the memory of each node, for %s; in a cold start it is empty, too\n", tierKeys,
			s.Lifetime)
	}
	fmt.Fprintf(&text,
		"\nthe hottest key is read %.4g times a second; one key takes %d read units a second\n", s.Hottest, keyReads)
	switch {
	case s.Tiered == nil:
		text.WriteString("no tier is needed\n")
	case !s.Ended:
		fmt.Fprintf(&text, "copies in the memory of each node do not end its throttling, even for %s\n", s.Lifetime)
	default:
		fmt.Fprintf(&text,
			"copies in the memory of each node for %s end its throttling, and may be outdated for as much longer\n",
			s.Lifetime)
	}
	if s.Lifetime > s.Enough {
		fmt.Fprintf(&text,
			"%s would be enough if nobody asked again: after a cold start, retries of throttled requests keep the "+
				"store throttled\n", s.Enough)
	}
	if s.Ramp > 0 {
		fmt.Fprintf(&text,
			"a new on-demand table takes %d read and %d write units a second: it grows to these within some %s (or "+
				"is warmed before)\n",
			newTableReads, newTableWrites, s.Ramp)
	}
	_, err := io.WriteString(out, text.String())
	return err
}
