package invariant

import (
	"math"
	"testing"
	"time"
)

func TestSpansDoNotOverflow(t *testing.T) {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	milliseconds := time.Unix(start.UnixMilli()+10_000, 0)
	for _, tc := range []struct {
		from, to time.Time
		want     string
	}{
		{start, start, "0s"},
		{start, start.Add(1500 * time.Millisecond), "1.5s"},
		{start.Add(61 * time.Second), start, "-1m1s"},
		{start, start.Add((farSeconds - 1) * time.Second), "175199h59m59s"},
		{start, start.Add(farSeconds * time.Second), "630720000s"},
		{start, time.Unix(0, 0), "-946684800s"},
		{start, milliseconds, "945738125200s"},
		{milliseconds, start, "-945738125200s"},
	} {
		if got := span(tc.from, tc.to); got != tc.want {
			t.Errorf("from %v to %v: %s, want %s", tc.from, tc.to, got, tc.want)
		}
	}
	for _, tc := range []struct {
		a, b int64
		want string
	}{
		{946684860, 946684800, "1m0s"},
		{946684800, 946684860, "-1m0s"},
		{946684800_000, 946684800, "945738115200s"},
		{0, 946684800, "-946684800s"},
		{math.MaxInt64, -1, "9223372036854775807s"},
		{math.MinInt64, 1, "-9223372036854775808s"},
		{-1, math.MaxInt64, "-9223372036854775808s"},
		{0, math.MinInt64, "9223372036854775807s"},
		{math.MinInt64, math.MinInt64, "0s"},
	} {
		if got := spanSeconds(minus(tc.a, tc.b)); got != tc.want {
			t.Errorf("%d - %d: %s, want %s", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestTheGrainOfTwoTimesIsThatOfTheFinerOne(t *testing.T) {
	whole, fine := time.Unix(1, 0), time.Unix(1, 5)
	for _, test := range []struct {
		a, b time.Time
		want time.Duration
	}{{whole, whole, time.Second}, {whole, fine, time.Millisecond}, {fine, whole, time.Millisecond}} {
		if got := grain(test.a, test.b); got != test.want {
			t.Errorf("%v and %v: got %v, want %v", test.a, test.b, got, test.want)
		}
	}
}
