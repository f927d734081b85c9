package invariant

import (
	"math"
	"strconv"
	"time"
)

// farSeconds is the number of seconds in twenty years. Differences from there on are not shown as durations. Rows hold
// numbers that their writers take for seconds. Larger numbers are usually milliseconds, and readers can recognise them
// if they are printed as numbers.
const farSeconds = 20 * 365 * 24 * 3600

// span prints the time between two instants. A time.Duration, which time.Time.Sub returns, cannot hold more than 292
// years.
func span(from, to time.Time) string {
	if d := to.Sub(from); d.Abs() < farSeconds*time.Second {
		return d.String()
	}
	return spanSeconds(minus(to.Unix(), from.Unix()))
}

// spanSeconds prints a number of seconds. In a time.Duration it would overflow after 292 years.
func spanSeconds(n int64) string {
	if n > -farSeconds && n < farSeconds {
		return (time.Duration(n) * time.Second).String()
	}
	return strconv.FormatInt(n, 10) + "s"
}

// minus is a - b, or the nearest int64 if that overflows.
func minus(a, b int64) int64 {
	switch {
	case b < 0 && a > math.MaxInt64+b:
		return math.MaxInt64
	case b > 0 && a < math.MinInt64+b:
		return math.MinInt64
	default:
		return a - b
	}
}
