package lab

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units of rates, in seconds.
var units = map[string]float64{"s": 1, "m": 60, "h": 3600, "d": 86_400}

// Rate is a flag: events per second, given as "200/s", "0.1/h", "1k/m". The command says what it expects.
type Rate float64

// mostRate bounds a rate. The gaps between events are whole nanoseconds. At a larger rate they would be far too short,
// or 0, and virtual time would stand still.
const mostRate = 1e7

// Set implements pflag.Value.
func (r *Rate) Set(s string) error {
	amount, unit, ok := strings.Cut(s, "/")
	seconds, known := units[unit]
	n, err := count(amount)
	if !ok || !known || err != nil || n/seconds > mostRate {
		return fmt.Errorf("%q is no rate", s)
	}
	*r = Rate(n / seconds)
	return nil
}

// Type implements pflag.Value.
func (*Rate) Type() string { return "rate" }

// String implements pflag.Value.
func (r *Rate) String() string {
	if *r != 0 && *r < 0.01 {
		return strconv.FormatFloat(float64(*r)*3600, 'g', 4, 64) + "/h"
	}
	return strconv.FormatFloat(float64(*r), 'g', 4, 64) + "/s"
}

// Count is a flag: a whole number, given as "1000", "1k" or "1M".
type Count int

// Set implements pflag.Value.
func (c *Count) Set(s string) error {
	n, err := count(s)
	if err != nil || n != math.Trunc(n) || n < 1 || n > 1e9 {
		return fmt.Errorf("%q is no count", s)
	}
	*c = Count(n)
	return nil
}

// Type implements pflag.Value.
func (*Count) Type() string { return "count" }

// String implements pflag.Value.
func (c *Count) String() string { return strconv.Itoa(int(*c)) }

// count parses a number of at least 0 with an optional k or M.
func count(s string) (float64, error) {
	factor := 1.0
	if rest, ok := strings.CutSuffix(s, "k"); ok {
		s, factor = rest, 1e3
	} else if rest, ok := strings.CutSuffix(s, "M"); ok {
		s, factor = rest, 1e6
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !(n >= 0) || math.IsInf(n, 1) {
		return 0, fmt.Errorf("%q is no number", s)
	}
	return n * factor, nil
}
