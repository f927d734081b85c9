package lab

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/lab/policy"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// BoundSchedules is the number of schedules that advice about the age of data must pass.
const BoundSchedules = 100

// Cache is the protocol for which advice is given.
type Cache struct {
	Protocol   isr.Protocol
	Contention string // serve-stale or wait, as in scenarios
	Lease      time.Duration
}

// Bounded is advice under which a protocol respects the longest staleness.
type Bounded struct {
	policy.Advice
	// Retention is how long after its lifetime the protocol may serve a page as stale.
	Retention time.Duration
}

// Bound returns the advice for a protocol. A lifetime alone does not bound the age of served data: a protocol that
// serves stale pages does so after the lifetime. So each candidate is run through the simulator, where
// bounded-staleness judges it. The advice is the cheapest that passes. If none does, the error wraps
// policy.ErrImpossible, and has a violation.
func (c Cache) Bound(ctx context.Context, d policy.Demand) (Bounded, error) {
	most := d.Longest - 2*d.Skew
	why := ""
	for {
		a, err := policy.Advise(d)
		if err != nil && why != "" {
			return Bounded{}, fmt.Errorf("%w: under %s, contention %s, no lifetime keeps data from being served "+
				"that is older than %s: %s",
				policy.ErrImpossible, c.Protocol.Name, c.Contention, d.Longest, why)
		}
		if err != nil {
			return Bounded{}, err
		}
		b := Bounded{a, max(time.Second, (most - a.Lifetime).Truncate(time.Second))}
		if why, err = c.breaks(ctx, d, b); err != nil || why == "" {
			return b, err
		}
		shorter := a.Lifetime - time.Second
		for _, t := range slices.Backward(policy.Practical()) {
			if t < a.Lifetime {
				shorter = t
				break
			}
		}
		d.Tolerance = most - shorter
	}
}

// breaks returns how a protocol exceeds the longest staleness; "" if it does not. Two machines, with clocks that are
// off by the skew in opposite directions, do not ask for a page until its age is near its lifetime, or near the longest
// staleness. Then they ask for it together. One of them may crash, so that the other one finds its lock.
//
// Rendering takes no time, so that both keep asking together: the age of data counts from the start of a render.
func (c Cache) breaks(ctx context.Context, d policy.Demand, b Bounded) (string, error) {
	const poll = 500 * time.Millisecond
	script := boundScript(d.Longest+b.Lifetime+b.Retention, b.Lifetime, b.Lifetime+b.Retention, d.Longest)
	s, err := spec.Parse("bound.yaml", fmt.Appendf(nil, `name: bound
about: how old data is that is served
max-clock-skew: %[1]s
promise: {max-age: %[2]s}
cache: {lease: %[3]s, revalidate: %[4]s, retention: %[5]s, render: 0s, contention: %[6]s, poll: %[7]s, patience: %[8]d}
actors:
  - {name: behind, clock: {offset: -%[1]s}, crashes: 1, restarts: 1, script: [%[9]s]}
  - {name: ahead, clock: {offset: %[1]s}, script: [%[9]s]}
bounds: {steps: 100000, ticks: 0}
`, d.Skew, d.Longest, c.Lease, b.Lifetime, b.Retention, c.Contention, poll, int(c.Lease/poll)+10,
		strings.Join(script, ", ")))
	if err != nil {
		return "", err
	}
	s.Invariants = []string{invariant.Named("bounded-staleness").Name}
	report, err := campaign.Campaign{Scenario: s, Protocol: c.Protocol, Seed: 1, Schedules: BoundSchedules}.Run(ctx)
	switch {
	case err != nil:
		return "", err
	case report.Verdict == invariant.Violated:
		return report.Failure.Violation.Why, nil
	case report.Verdict != invariant.OK:
		return "", fmt.Errorf("bounded-staleness under %s: %s", c.Protocol.Name, report.Why)
	}
	return "", nil
}

// boundScript reads a page at ages around the given ones, each time after a pause in which the page is forgotten. Rows
// count whole seconds, so pages are made, and read, both at the start and in the middle of a second.
func boundScript(forgotten time.Duration, around ...time.Duration) (script []string) {
	const half = 500 * time.Millisecond
	now := time.Duration(0)
	sleep := func(d time.Duration) {
		now += d
		script = append(script, "sleep "+d.String(), "get /home")
	}
	var ages []time.Duration
	for _, a := range around {
		for off := -time.Second; off <= time.Second; off += half {
			ages = append(ages, a+off)
		}
	}
	slices.Sort(ages)
	for _, made := range []time.Duration{0, half} {
		for _, age := range slices.Compact(ages) {
			if age <= 0 {
				continue
			}
			begin := (now + forgotten).Truncate(time.Second) + 2*time.Second + made
			sleep(begin - now)
			sleep(age)
		}
	}
	return script
}

// PrintBound prints the protocol of the advice, and the bound on the age of its pages.
func PrintBound(out io.Writer, c Cache, d policy.Demand, b Bounded) error {
	text := fmt.Sprintf(`
protocol: %[1]s, contention %[2]s
retention: %[3]s, for so long after its lifetime the protocol may serve a page as stale (Config.Retention)
bounded-staleness: ok, nothing older than %[4]s was served in %[5]d schedules with this lifetime and retention
`, c.Protocol.Name, c.Contention, b.Retention, d.Longest, BoundSchedules)
	_, err := io.WriteString(out, text)
	return err
}

// Lag is a flag: how long after its ttl a row is deleted. It is written like the fake's lags, or as the mean of an
// exponential lag.
type Lag struct{ policy.Dist }

// Set implements pflag.Value.
func (l *Lag) Set(s string) error {
	if mean, err := time.ParseDuration(s); err == nil && mean == 0 {
		s = "at-once"
	} else if err == nil {
		s = "exponential " + mean.String()
	}
	lag, err := ddbfake.ParseLag(s)
	if err != nil {
		return err
	}
	kind, rest, _ := strings.Cut(lag.String(), " ")
	var times []time.Duration
	for word := range strings.FieldsSeq(rest) {
		d, err := time.ParseDuration(word)
		if err != nil {
			return fmt.Errorf("%q is no lag", s)
		}
		times = append(times, d)
	}
	switch {
	case kind == "never":
		l.Dist = policy.Fixed(policy.Never)
	case kind == "at-once":
		l.Dist = policy.Fixed(0)
	case kind == "fixed" && len(times) == 1:
		l.Dist = policy.Fixed(times[0])
	case kind == "exponential" && len(times) == 1:
		l.Dist = policy.ExponentialWith(times[0])
	case kind == "uniform" && len(times) == 2:
		l.Dist = policy.Between(times[0], times[1])
	default: // the lags that a test or a row decides
		return fmt.Errorf("%q is no lag of a simulation", s)
	}
	return nil
}

// Type implements pflag.Value.
func (*Lag) Type() string { return "lag" }
