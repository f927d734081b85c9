package invariant

import (
	"math"
	"strconv"
	"time"
)

// farSeconds is the number of seconds, twenty years, from which on no duration is shown. Rows hold what their writers
// take for seconds: larger numbers are mostly milliseconds, and stay recognisable as numbers.
const farSeconds = 20 * 365 * 24 * 3600

// span prints how long it is from one instant to another. time.Time.Sub would end after 292 years.
func span(from, to time.Time) string {
	if d := to.Sub(from); d.Abs() < farSeconds*time.Second {
		return d.String()
	}
	return spanSeconds(minus(to.Unix(), from.Unix()))
}

// spanSeconds prints a number of seconds. As a time.Duration, it would come round to the other sign after 292 years.
func spanSeconds(n int64) string {
	if n > -farSeconds && n < farSeconds {
		return (time.Duration(n) * time.Second).String()
	}
	return strconv.FormatInt(n, 10) + "s"
}

// minus is a - b, as far as there are numbers.
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
