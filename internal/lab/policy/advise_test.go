package policy

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// The tutorial's three examples: its calculator's lifetimes, and the better ones.
func TestAdviceForTheTutorialsExamples(t *testing.T) {
	for _, test := range []struct {
		name       string
		demand     Demand
		calculator Calculator
		lifetime   time.Duration
		reason     string
	}{
		{
			"user profile",
			Demand{Changes: 0.1 / 3600, Reads: 100, Miss: 0.5, Stale: 0.8, Longest: 5 * time.Minute,
				Render: 50 * time.Millisecond},
			Calculator{
				Optimum: 212132 * time.Millisecond, Lifetime: 3 * time.Minute, Outdated: 0.005, Misses: 1.0 / 18000,
			},
			3 * time.Minute, "",
		},
		{
			"stock price",
			Demand{Changes: 1, Reads: 1000, Miss: 0.1, Stale: 2, Longest: time.Second, Render: 10 * time.Millisecond},
			Calculator{Optimum: 316 * time.Millisecond, Lifetime: 5 * time.Second, Outdated: 5, Misses: 1.0 / 5000},
			time.Second, "The calculator's 5s breaks the demand of 1s",
		},
		{
			"product catalogue",
			Demand{Changes: 10.0 / 3600, Reads: 500, Miss: 1, Stale: 1.2, Longest: 10 * time.Minute,
				Render: 100 * time.Millisecond},
			Calculator{
				Optimum: 24495 * time.Millisecond, Lifetime: 30 * time.Second, Outdated: 1.0 / 12, Misses: 1.0 / 15000,
			},
			30 * time.Second, "",
		},
	} {
		got := must.Of(Advise(test.demand))(t)
		c := got.Calculator
		if c.Optimum != test.calculator.Optimum || c.Lifetime != test.calculator.Lifetime ||
			math.Abs(c.Outdated-test.calculator.Outdated) > 1e-9 || math.Abs(c.Misses-test.calculator.Misses) > 1e-9 {
			t.Errorf("%s: the calculator says %+v, want %+v", test.name, c, test.calculator)
		}
		if got.Lifetime != test.lifetime {
			t.Errorf("%s: got a lifetime of %s, want %s", test.name, got.Lifetime, test.lifetime)
		}
		if reasons := strings.Join(got.Reasons, "\n"); !strings.Contains(reasons, test.reason) {
			t.Errorf("%s: got reasons\n%s\nwant one with %q", test.name, reasons, test.reason)
		}
	}
}

func TestAdviseRefusesWhatCannotBe(t *testing.T) {
	possible := Demand{
		Changes: 0.01, Reads: 1, Miss: 1, Stale: 1, Longest: time.Minute, Render: time.Second, Retention: time.Hour,
	}
	must.Done(t)(Advise(possible))
	for _, test := range []struct {
		name       string
		change     func(*Demand)
		impossible bool
		want       string
	}{
		{"a render longer than the longest staleness", func(d *Demand) { d.Render = 2 * time.Minute },
			true, "a render takes 2m0s"},
		{"no whole second left", func(d *Demand) { d.Longest = 999 * time.Millisecond; d.Render = 0 }, true,
			"the shortest lifetime is 1s"},
		{"rows deleted while servable", func(d *Demand) { d.Retention = 30 * time.Second }, true,
			"rows are kept for 30s"},
		{"no lifetime between render and staleness", func(d *Demand) {
			d.Render, d.Longest = 2100*time.Millisecond, 2900*time.Millisecond
		}, true, "a render takes 2.1s, and a lifetime may be 2s at most"},
		{"clocks that are too wrong", func(d *Demand) { d.Longest, d.Skew, d.Render = 4*time.Second, 2*time.Second, 0 },
			true, "make its age wrong by up to 4s"},
		{"rows deleted while a slow clock takes them for fresh", func(d *Demand) {
			d.Longest, d.Retention, d.Skew = 0, 15*time.Second, time.Second
		}, true, "and the lifetime is 15s on clocks that are off by 1s"},
		{"rows deleted while fresh", func(d *Demand) { d.Longest, d.Retention = 0, 14*time.Second }, true,
			"and the lifetime is 15s: they would be deleted while they are fresh"},
		{"a negative skew", func(d *Demand) { d.Skew = -1 }, false, "expected 0s or more"},
		{"a negative lag", func(d *Demand) { d.Lag = -1 }, false, "expected 0s or more"},
		{"no reads", func(d *Demand) { d.Reads = 0 }, false, "found 0 reads a second"},
		{"less than no changes", func(d *Demand) { d.Changes = -1 }, false, "found changes -1"},
		{"no number", func(d *Demand) { d.Stale = math.NaN() }, false, "found cost of staleness NaN"},
		{"a negative render", func(d *Demand) { d.Render = -1 }, false, "expected 0s or more"},
	} {
		d := possible
		test.change(&d)
		_, err := Advise(d)
		if err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, ErrImpossible) != test.impossible {
			t.Errorf("%s: got error %v, want one with %q (impossible: %v)", test.name, err, test.want, test.impossible)
		}
	}
}

// Data that never changes, and data whose renders never pay, get the longest lifetime there is.
func TestAdviceWithoutAnOptimum(t *testing.T) {
	for _, d := range []Demand{
		{Reads: 1, Miss: 1, Stale: 1, Longest: time.Hour},
		{Changes: 2, Reads: 1, Miss: 1, Stale: 1, Longest: time.Hour},
	} {
		a, err := Advise(d)
		if err != nil || a.Lifetime != time.Hour || a.Exact != 0 {
			t.Errorf("%+v: got %s (exact %s), %v; want 1h0m0s and no optimum", d, a.Lifetime, a.Exact, err)
		}
	}
}

// A lifetime is longer than the render; otherwise no value is ever fresh. It is below the longest staleness by twice
// the skew.
func TestAdviceFitsRenderAndClocks(t *testing.T) {
	dear := Demand{Changes: 1, Reads: 100, Miss: 0.01, Stale: 10} // its optimum is far below a second
	for _, test := range []struct {
		name   string
		change func(*Demand)
		want   time.Duration
		reason string
	}{
		{"no render", func(*Demand) {}, time.Second, ""},
		{"a render of a second", func(d *Demand) { d.Render = time.Second }, 2 * time.Second, "A render takes 1s"},
		{"a render of a minute", func(d *Demand) { d.Render = time.Minute }, 2 * time.Minute, "A render takes 1m0s"},
		{"between two practical lifetimes",
			func(d *Demand) { d.Render, d.Longest = 2*time.Second, 3500*time.Millisecond }, 3 * time.Second, ""},
		{"cheap staleness", func(d *Demand) { d.Stale, d.Longest = 0.001, time.Minute }, time.Minute,
			"Data may be 1m0s old"},
		{
			"cheap staleness, wrong clocks",
			func(d *Demand) { d.Stale, d.Longest, d.Skew = 0.001, time.Minute, 2*time.Second },
			30 * time.Second, "a lifetime of 56s at most, for clocks that are off by 2s",
		},
		{"few lifetimes of retention", func(d *Demand) { d.Retention = 9 * time.Second }, time.Second,
			"Rows are kept for 9 lifetimes"},
		{"lag", func(d *Demand) { d.Retention, d.Lag = 24*time.Hour, 48*time.Hour }, time.Second,
			"serves data that is up to 72h0m0s old"},
	} {
		d := dear
		test.change(&d)
		a, err := Advise(d)
		if err != nil || a.Lifetime != test.want || !strings.Contains(strings.Join(a.Reasons, "\n"), test.reason) {
			t.Errorf("%s: got %s, %v, %q; want %s and a reason with %q", test.name, a.Lifetime, err,
				a.Reasons, test.want, test.reason)
		}
	}
}

// No other usual lifetime is cheaper, and the calculator's never is.
func TestAdviceIsTheCheapest(t *testing.T) {
	for _, d := range []Demand{
		{Changes: 0.1 / 3600, Reads: 100, Miss: 0.5, Stale: 0.8},
		{Changes: 10.0 / 3600, Reads: 500, Miss: 1, Stale: 1.2},
		{Changes: 0.4, Reads: 1, Miss: 1, Stale: 1},
	} {
		a := must.Of(Advise(d))(t)
		for _, other := range Practical() {
			_, overReads := Staleness(d.Changes, other)
			if cost := d.Miss/other.Seconds() + d.Stale*overReads; cost < a.Cost-1e-12 {
				t.Errorf("%+v: %s costs %g a second, the advice %s costs %g", d, other, cost, a.Lifetime, a.Cost)
			}
		}
		if a.Calculator.Cost < a.Cost {
			t.Errorf("%+v: the calculator's %s costs %g, the advice %s costs %g", d, a.Calculator.Lifetime,
				a.Calculator.Cost, a.Lifetime, a.Cost)
		}
	}
}
