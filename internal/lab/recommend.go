package lab

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/internal/lab/policy"
)

// operation has the settings of a cache, for the function unmet.
type operation struct {
	// revalidate is the time for which a value is fresh, and retention the time after which a stored row may be deleted
	// (its ttl). A retention of 0 keeps rows for ever.
	revalidate, retention time.Duration
	// lag is the further time until TTL deletes a row, on average.
	lag time.Duration
	// keyReads is the number of read units per second that the store spends on its hottest key.
	keyReads float64
	// throttled is the number of requests per second that the store refuses for lack of throughput.
	throttled float64
}

// leastBuffer is the minimum time from the end of a row's freshness to its ttl: "minutes to hours" is the advice of the
// tutorials.
const leastBuffer = time.Minute

// unmet returns the recommendations for ISR caches in DynamoDB that the settings violate, one per line. A line has the
// figures found and expected, with their units, and the benefit of the recommendation.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html (rows are deleted some days after)
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html (3,000 units)
func (o operation) unmet() []string {
	var lines []string
	add := func(name, found, expected, why string) {
		lines = append(lines, fmt.Sprintf("%s: found %s, expected %s: %s", name, found, expected, why))
	}
	if least := o.revalidate + leastBuffer; o.retention > 0 && o.retention < least {
		add("retention", o.retention.String(), "at least "+least.String(),
			fmt.Sprintf("a row is fresh for %s, and may be deleted no sooner than %s after that",
				o.revalidate, leastBuffer))
	}
	if o.retention > 0 && o.lag > o.retention {
		add("ttl-lag", o.lag.String(), "at most "+o.retention.String()+", the retention",
			"most rows in the table are past their ttl, and their storage is paid for")
	}
	if o.keyReads > keyReads {
		add("hot-key", fmt.Sprintf("%.4g read units a second", o.keyReads), fmt.Sprintf("at most %d", keyReads),
			"one partition key takes no more; a tier in the memory of the nodes reads it less often")
	}
	if o.throttled > 0 {
		add("throttled", fmt.Sprintf("%.4g requests a second", o.throttled), "none",
			"an alarm on ThrottledRequests would ring")
	}
	return lines
}

// operation returns these settings as an operation, with the figures of a simulation. The reads of a trace have no rate
// and no known hottest key.
func (s Settings) operation(sum *policy.Summary, tier policy.Tier, trace bool) operation {
	o := operation{
		revalidate: s.Lifetime, retention: s.Store.Retention, lag: s.Store.Lag.Mean(),
		throttled: sum.Of(policy.Throttled).Mean,
	}
	if s.Store.Redis {
		o.lag = 0
	}
	if !trace {
		reads := s.Reads * policy.HottestShare(policy.Zipf{Keys: s.Keys, Exponent: s.Zipf})
		o.keyReads = fromTier(tier, reads) * s.unitsOfRead()
	}
	return o
}

// fromTier returns the number of reads of a key that the store sees per second. A node with a copy asks once per
// lifetime plus the gap until its next read.
func fromTier(tier policy.Tier, reads float64) float64 {
	if tier.Keys == 0 || reads == 0 {
		return reads
	}
	nodes := float64(max(1, tier.Nodes))
	return nodes / (tier.Lifetime.Seconds() + nodes/reads)
}

func (s Settings) unitsOfRead() float64 {
	units := math.Max(1, math.Ceil(float64(s.Store.Bytes)/4096))
	if s.Store.Eventual {
		units /= 2
	}
	return units
}

// PrintRecommendations prints the recommendations that a run does not meet. It prints nothing for a dashboard: the
// lifetimes of its data differ, and it reads many buckets.
func PrintRecommendations(out io.Writer, s Settings, r Row) error {
	if strings.HasPrefix(r.Workload, "dashboard") {
		return nil
	}
	return printUnmet(out, "", s.operation(r.Summary, s.Tier, r.trace).unmet())
}

// PrintRecommendations prints the recommendations that the site does not meet, without a tier and with one.
func (s *Scale) PrintRecommendations(out io.Writer, of Settings) error {
	if err := printUnmet(out, " without a tier", of.operation(s.Bare, policy.Tier{}, false).unmet()); err != nil ||
		s.Tiered == nil {
		return err
	}
	tier := policy.Tier{Nodes: of.Tier.Nodes, Keys: tierKeys, Lifetime: s.Lifetime}
	return printUnmet(out, " with the tier", of.operation(s.Tiered, tier, false).unmet())
}

func printUnmet(out io.Writer, where string, unmet []string) error {
	var text strings.Builder
	if len(unmet) == 0 {
		fmt.Fprintf(&text, "\nrecommendations%s: all met\n", where)
	} else {
		fmt.Fprintf(&text, "\nrecommendations%s:\n", where)
		for _, line := range unmet {
			fmt.Fprintf(&text, "  %s\n", line)
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}
