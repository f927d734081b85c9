package lab

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/isr-sim/isr-sim/internal/lab/policy"
	public "github.com/isr-sim/isr-sim/scenario/policy"
)

// operation is how these settings run a cache, with the figures that a simulation has given. The reads of a trace have
// no rate, and no hottest key is known for them.
func (s Settings) operation(sum *policy.Summary, tier policy.Tier, trace bool) public.Operation {
	o := public.Operation{
		Revalidate: s.Lifetime, Retention: s.Store.Retention, Lag: s.Store.Lag.Mean(), Throttled: sum.Of(policy.Throttled).Mean,
	}
	if s.Store.Redis {
		o.Lag = 0
	}
	if !trace {
		reads := s.Reads * policy.HottestShare(policy.Zipf{Keys: s.Keys, Exponent: s.Zipf})
		o.KeyReads = fromTier(tier, reads) * s.unitsOfRead()
	}
	return o
}

// fromTier returns how many of a key's reads the store sees a second. A node with a copy asks once in a lifetime and
// the gap until the next read.
func fromTier(tier policy.Tier, reads float64) float64 {
	if tier.Keys == 0 || reads == 0 {
		return reads
	}
	nodes := float64(max(1, tier.Nodes))
	return nodes / (tier.Lifetime.Seconds() + nodes/reads)
}

// unitsOfRead returns the read units that one read of a row takes.
func (s Settings) unitsOfRead() float64 {
	units := math.Max(1, math.Ceil(float64(s.Store.Bytes)/4096))
	if s.Store.Eventual {
		units /= 2
	}
	return units
}

// PrintRecommendations prints those that a run does not meet. The lifetimes of a dashboard's data are not all the same,
// and its reads are of many buckets: nothing is said about it.
func PrintRecommendations(out io.Writer, s Settings, r Row) error {
	if strings.HasPrefix(r.Workload, "dashboard") {
		return nil
	}
	return printUnmet(out, "", public.Recommend(s.operation(r.Summary, s.Tier, r.trace)))
}

// PrintRecommendations prints those that the site does not meet, without a tier and with one.
func (s *Scale) PrintRecommendations(out io.Writer, of Settings) error {
	if err := printUnmet(out, " without a tier", public.Recommend(of.operation(s.Bare, policy.Tier{}, false))); err != nil || s.Tiered == nil {
		return err
	}
	tier := policy.Tier{Nodes: of.Tier.Nodes, Keys: tierKeys, Lifetime: s.Lifetime}
	return printUnmet(out, " with the tier", public.Recommend(of.operation(s.Tiered, tier, false)))
}

func printUnmet(out io.Writer, where string, unmet []public.Recommendation) error {
	var text strings.Builder
	if len(unmet) == 0 {
		fmt.Fprintf(&text, "\nrecommendations%s: all met\n", where)
	} else {
		fmt.Fprintf(&text, "\nrecommendations%s:\n", where)
		for _, r := range unmet {
			fmt.Fprintf(&text, "  %s\n", r)
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}
