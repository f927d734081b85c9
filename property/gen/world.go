package gen

import (
	"time"

	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
)

// Tenants draws names of tenants. There are few names, so that the same one is often drawn twice. They break code that
// joins names: they contain the usual separators, differ only in case, or are prefixes of one another.
func Tenants() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"a", "b", "ab", "a#b", "a/b", "a:b", "A", "é", "a b"})
}

// Keys draws keys of pages, as clients ask for them. There are few keys, so that the same one is often drawn twice.
// They break code that joins, cleans or compares keys. The keys of rows are Table.Keys.
func Keys() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{
		"/home", "/", "/about", "/home/", "/Home", "/home?a=1&b=2", "/home?b=2&a=1", "/a#b", "b#/home", "b/home",
		"/a%2Fb", "/caf\u00e9", "/cafe\u0301", "/a b",
	})
}

// Drifts draws how the clock of a machine differs from true time. In a test that takes the given length of true time,
// it never differs by more than bound.
func Drifts(bound, length time.Duration) *rapid.Generator[fakeclock.Drift] {
	return rapid.Custom(func(t *rapid.T) fakeclock.Drift {
		sign := rapid.SampledFrom([]int64{1, -1}).Draw(t, "ahead or behind")
		switch rapid.SampledFrom([]string{"exact", "offset", "drift"}).Draw(t, "clock") {
		case "offset":
			return fakeclock.Drift{
				Offset: time.Duration(sign * rapid.Int64Range(0, int64(max(bound, 0))).Draw(t, "offset")),
			}
		case "drift":
			if length < time.Millisecond { // nothing to drift in
				return fakeclock.Drift{}
			}
			// A drift of 10% is enough.
			return fakeclock.Drift{PPM: sign * min(100_000, int64(max(bound, 0))/(int64(length+1e6-1)/1e6))}
		default:
			return fakeclock.Drift{}
		}
	})
}

// Moves draws how far to move a clock, for code with the given durations: not at all or by one of them, and in each
// case perhaps a nanosecond or a second less or more. Mistakes in comparisons of times show only at these instants.
func Moves(durations ...time.Duration) *rapid.Generator[time.Duration] {
	return rapid.Custom(func(t *rapid.T) time.Duration {
		to := rapid.SampledFrom(append([]time.Duration{0}, durations...)).Draw(t, "to")
		beside := rapid.SampledFrom([]time.Duration{0, -1, 1, -time.Second, time.Second}).Draw(t, "beside it")
		return max(0, to+beside)
	})
}

// Lags draws the ways in which TTL deletes rows: never, at once, after a fixed time, and after a random time for each
// row.
func Lags() *rapid.Generator[ddbfake.Lag] {
	return rapid.SampledFrom([]ddbfake.Lag{
		ddbfake.LagNever, ddbfake.LagAtOnce, ddbfake.LagFixed(10 * time.Minute), ddbfake.LagUniform(0, 48*time.Hour),
		ddbfake.LagExponential(10 * time.Minute),
	})
}
