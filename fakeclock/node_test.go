package fakeclock_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/fakeclock"
)

const year = 365 * 24 * time.Hour

func TestNodeNow(t *testing.T) {
	for _, tt := range []struct {
		drift   fakeclock.Drift
		elapsed time.Duration
		want    time.Duration // since Epoch
	}{
		{fakeclock.Drift{Offset: -2 * s}, time.Hour, time.Hour - 2*s},
		{fakeclock.Drift{PPM: -1}, 1, 0},                            // rounded down
		{fakeclock.Drift{PPM: 5_000_000}, time.Hour, 2 * time.Hour}, // clamped
		{fakeclock.Drift{PPM: -5_000_000}, time.Hour, 0},            // clamped
		{fakeclock.Drift{PPM: math.MinInt64}, time.Hour, 0},         // clamped
	} {
		c := newClock()
		node := c.Node(tt.drift)
		c.Advance(tt.elapsed)
		checkNow(t, node, at(tt.want))
		if got, want := node.True(), at(tt.elapsed); got != want {
			t.Errorf("%v: True() = %v, want %v", tt.drift, got, want)
		}
		if got, want := node.Now().Sub(node.True()), tt.want-tt.elapsed; got != want {
			t.Errorf("%v after %v: Now() - True() = %v, want %v", tt.drift, tt.elapsed, got, want)
		}
		if got, want := node.Local(at(tt.elapsed)), at(tt.want); got != want {
			t.Errorf("%v: Local(%v) = %v, want %v", tt.drift, tt.elapsed, got, want)
		}
	}
}

func TestNodeStep(t *testing.T) {
	c := newClock()
	node := c.Node(fakeclock.Drift{Offset: s})
	j := &journal{clock: c}
	node.AfterFunc(10*s, j.note("timer"))
	ticker := node.NewTicker(10 * s)

	node.Step(time.Hour)
	checkNow(t, node, at(time.Hour+s))
	checkNow(t, c, at(0))
	j.check(t) // a step fires nothing
	node.Step(-2 * time.Hour)
	checkNow(t, node, at(s-time.Hour)) // and may go back
	c.Advance(10 * s)
	j.check(t, "10s timer")
	checkReceive(t, ticker.Chan(), at(11*s-time.Hour)) // the node's reading

	before := node.Now()
	node.Step(5 * s)
	if got := node.Since(before); got != 5*s {
		t.Errorf("Since over a step of 5s = %v, want 5s", got)
	}
	if got := node.Until(before); got != -5*s {
		t.Errorf("Until over a step of 5s = %v, want -5s", got)
	}
}

func TestNodeStepsSaturate(t *testing.T) {
	node := newClock().Node(fakeclock.Drift{})
	node.Step(math.MaxInt64)
	node.Step(math.MaxInt64)
	checkNow(t, node, at(math.MaxInt64))
	for range 3 {
		node.Step(math.MinInt64)
	}
	checkNow(t, node, at(-math.MaxInt64))
	if got, ok := node.TrueTime(node.Now()); !ok || got != at(0) {
		t.Errorf("TrueTime(Now()) = %v, %v, want the start", got, ok)
	}
}

func TestNodeMeasuresByItsOwnRate(t *testing.T) {
	for _, tt := range []struct {
		ppm  int64
		d    time.Duration
		want time.Duration // true time of firing; 0 for never
	}{
		{0, time.Hour, time.Hour},
		{1_000_000, time.Hour, time.Hour / 2},
		{-500_000, time.Hour, 2 * time.Hour},
		{100, 10_001 * s, 10_000 * s},
		{-100, 9_999 * s, 10_000 * s},
		{1_000_000, 1, 1}, // half a nanosecond is rounded up
		{-999_999, 1, 1_000_000},
		{-999_999, s, 1_000_000 * s},
		{-999_999, time.Hour, 1_000_000 * time.Hour},
		{-999_999, 3 * time.Hour, 0}, // 342 years
		{-1_000_000, 1, 0},
		{-1_000_000, math.MaxInt64, 0},
	} {
		t.Run(fmt.Sprintf("%d ppm, %v", tt.ppm, tt.d), func(t *testing.T) {
			c := newClock()
			node := c.Node(fakeclock.Drift{Offset: 3 * s, PPM: tt.ppm})
			timer, ticker := node.NewTimer(tt.d), node.NewTicker(tt.d)
			ctx, cancel := node.WithTimeout(t.Context(), tt.d)
			defer cancel()
			checkWaiters(t, c, 3)
			next, ok := c.Next()
			if tt.want == 0 {
				if ok {
					t.Errorf("Next() = %v, want none", next)
				}
				c.Advance(200 * year)
				checkReceive(t, timer.Chan(), time.Time{})
				checkWaiters(t, c, 3)
				if !timer.Stop() {
					t.Error("Stop() = false, want true: the timer is active, if in vain")
				}
				return
			}
			if !ok || next != at(tt.want) {
				t.Errorf("Next() = %v, %v, want %v", next, ok, at(tt.want))
			}
			c.Advance(tt.want - 1)
			checkReceive(t, timer.Chan(), time.Time{})
			checkReceive(t, ticker.Chan(), time.Time{})
			c.Advance(1)
			checkReceive(t, timer.Chan(), node.Now())
			checkReceive(t, ticker.Chan(), node.Now())
			if ctx.Err() == nil {
				t.Error("the context goes on, want it ended")
			}
		})
	}
}

// A fast node skips some of its own nanoseconds, so most of these ticks come a nanosecond late. After 100,000 of them
// the ticker still agrees with the node's clock.
func TestNodeTickerDoesNotAccumulateRounding(t *testing.T) {
	const ticks = 100_000
	c := newClock()
	node := c.Node(fakeclock.Drift{PPM: 333_333})
	start := node.Now()
	ticker := node.NewTicker(7)
	for range ticks {
		next, _ := c.Next()
		c.AdvanceTo(next)
		<-ticker.Chan()
	}
	if late := node.Now().Sub(start) - 7*ticks; late < 0 || late > 1 {
		t.Errorf("tick %d comes %v late, want at most 1ns", ticks, late)
	}
}

// The conversions are compared with their definition in unbounded numbers.
func TestNodeConversionsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const decades = 100 * year
		drift := fakeclock.Drift{
			Offset: time.Duration(rapid.Int64Range(-int64(year), int64(year)).Draw(t, "offset")),
			PPM:    rapid.Int64Range(-fakeclock.MaxPPM, fakeclock.MaxPPM).Draw(t, "ppm"),
		}
		step := time.Duration(rapid.Int64Range(-int64(year), int64(year)).Draw(t, "step"))
		elapsed := time.Duration(rapid.Int64Range(0, int64(decades)).Draw(t, "elapsed"))
		c := newClock()
		node := c.Node(drift)
		node.Step(step)

		// Now is compared with floor(elapsed * (1 + ppm/1e6)).
		c.Advance(elapsed)
		product := new(big.Int).Mul(big.NewInt(int64(elapsed)), big.NewInt(fakeclock.MaxPPM+drift.PPM))
		mono := new(big.Int).Div(product, big.NewInt(fakeclock.MaxPPM))
		now := at(0).Add(time.Duration(mono.Int64())).Add(drift.Offset).Add(step)
		late := c.Node(drift)
		late.Step(step)
		if got, same := node.Now(), late.Now(); got != now || same != now {
			t.Fatalf("Now() = %v, and that of a node made now %v, want %v", got, same, now)
		}

		// TrueTime(Now) shows Now, and no earlier time does.
		first, ok := node.TrueTime(now)
		if !ok {
			t.Fatalf("TrueTime(Now()) = none, want a time")
		}
		if got := node.Local(first); got != now {
			t.Errorf("Local(TrueTime(Now())) = %v, want %v", got, now)
		}
		if first.After(c.Now()) {
			t.Errorf("TrueTime(Now()) = %v, after True() = %v", first, c.Now())
		}
		if got := node.Local(first.Add(-1)); drift.PPM > -fakeclock.MaxPPM && !got.Before(now) {
			t.Errorf("Local(TrueTime(Now()) - 1ns) = %v, want earlier than %v", got, now)
		}

		// TrueTime of any time is the earliest true time that shows it or later.
		local := at(time.Duration(rapid.Int64Range(-int64(decades), int64(decades)).Draw(t, "local")))
		first, ok = node.TrueTime(local)
		// The arithmetic covers 292 years before the start of the clock, and 292 years after it.
		onNode := new(big.Int).Mul(big.NewInt(int64(local.Sub(at(0))-drift.Offset-step)), big.NewInt(fakeclock.MaxPPM))
		rate := big.NewInt(fakeclock.MaxPPM + drift.PPM)
		earliest, latest := new(big.Int).Mul(big.NewInt(math.MinInt64), rate),
			new(big.Int).Mul(big.NewInt(math.MaxInt64), rate)
		switch {
		case rate.Sign() == 0:
			return
		case onNode.Cmp(earliest) < 0:
			if want := at(math.MinInt64); !ok || first != want {
				t.Errorf("TrueTime(%v) = %v, %v, want %v, where its span begins", local, first, ok, want)
			}
			return
		case onNode.Cmp(latest) > 0:
			if ok {
				t.Errorf("TrueTime(%v) = %v, want none, beyond its span", local, first)
			}
			return
		case !ok:
			t.Fatalf("TrueTime(%v) = none, want a time", local)
		}
		shown, before := node.Local(first), node.Local(first.Add(-1))
		if late := shown.Sub(local); late < 0 || late > 1 || late == 1 && drift.PPM <= 0 {
			t.Errorf("Local(TrueTime(l)) - l = %v, want 0, or 1 on a fast node", late)
		}
		if !before.Before(local) {
			t.Errorf("TrueTime(l) is not the earliest: 1ns before it the node shows %v, want less than %v", before,
				local)
		}

		// A timer fires when d has passed on the node, not before.
		d := time.Duration(rapid.Int64Range(1, int64(year)).Draw(t, "d"))
		node.AfterFunc(d, func() {})
		if due, ok := c.Next(); ok {
			if got := node.Local(due).Sub(now); got < d {
				t.Errorf("a timer for %v fires after %v", d, got)
			}
			if got := node.Local(due.Add(-1)).Sub(now); got >= d {
				t.Errorf("a timer for %v fires at %v, late", d, got)
			}
		}
	})
}

func TestDriftString(t *testing.T) {
	for want, d := range map[string]fakeclock.Drift{
		"+0s +0ppm":      {},
		"+1.5s -200ppm":  {Offset: 3 * s / 2, PPM: -200},
		"-1m0s +1000ppm": {Offset: -time.Minute, PPM: 1000},
	} {
		if got := d.String(); got != want {
			t.Errorf("String() = %q, want %q", got, want)
		}
	}
}
