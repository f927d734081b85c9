package lab

import (
	"fmt"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/lab/policy"
)

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
