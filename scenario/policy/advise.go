package policy

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Demand is what a lifetime is to be chosen for.
type Demand struct {
	// Changes is how often the data changes, Reads how often it is read, a second.
	Changes, Reads float64
	// Miss is what a render costs, Stale what a second costs in which outdated data is served, in one unit.
	Miss, Stale float64
	// Longest is how old served data may be. 0 is any age.
	Longest time.Duration
	// Render is how long a render takes.
	Render time.Duration
	// Retention is how long rows are kept (ttl - generated_at). 0 is not checked.
	Retention time.Duration
}

// Advice is a lifetime, and what to expect of it. Shares are from 0 to 1.
type Advice struct {
	// Lifetime is the cheapest of the values that people write: 1 s, 2 s, 5 s and so on.
	Lifetime time.Duration
	// FirstOrder is the rule of thumb sqrt(2C/(WS)), and Exact the lifetime with the least cost. Data that never
	// changes has no such optimum, and neither has data whose renders never pay: they are 0 then.
	FirstOrder, Exact time.Duration
	// AtExpiry is the chance that data has changed when its lifetime ends, and OverReads the share of reads that are
	// served outdated data. The rule 1 - exp(-WT) gives the former, and is often quoted for the latter.
	AtExpiry, OverReads float64
	// Misses is the share of reads that find no fresh value.
	Misses float64
	// Reasons say in sentences what decided.
	Reasons []string
	// Calculator is what the rule of thumb alone would have said.
	Calculator Calculator
}

// Calculator is the advice of the calculator that is printed in many tutorials: the rule of thumb, held below the
// longest staleness, rounded to the nearest of a list that begins at 5 s.
type Calculator struct {
	Optimum, Lifetime time.Duration
	// Outdated is W*T, which it calls the expected staleness; it may be above 1.
	Outdated float64
	// Misses is 1/(T R).
	Misses float64
}

// ErrImpossible is wrapped by errors of Advise about demands that cannot be met together.
var ErrImpossible = errors.New("the demands cannot be met together")

// practical are the lifetimes that people write, in seconds. The pages of this protocol count whole seconds.
var practical = []int{
	1, 2, 5, 10, 15, 30,
	60, 120, 180, 300, 600, 900, 1800, 3600,
	7200, 14400, 28800, 86400,
}

// Advise chooses a lifetime. The error says what cannot be met, or which figure makes no sense.
func Advise(d Demand) (Advice, error) {
	if err := d.validate(); err != nil {
		return Advice{}, err
	}
	longest := d.longest()
	a := Advice{Calculator: calculate(d)}
	if d.Changes > 0 {
		a.FirstOrder = fromSeconds(firstOrderOptimum(d.Miss, d.Stale, d.Changes))
		if exact := optimum(d.Miss, d.Stale, d.Changes); !math.IsInf(exact, 1) {
			a.Exact = fromSeconds(exact)
		} else {
			a.reason("A render costs more than the staleness it ends (CW/S = %.3g, at least 1): the longest lifetime is the cheapest.",
				d.Miss*d.Changes/d.Stale)
		}
	} else {
		a.reason("The data never changes: the longest lifetime is the cheapest.")
	}
	cost := func(t float64) float64 { return d.Miss/t + d.Stale*(1-freshShare(d.Changes*t)) }
	best := math.Inf(1)
	for _, s := range practical {
		if t := time.Duration(s) * time.Second; t <= longest && cost(float64(s)) < best {
			a.Lifetime, best = t, cost(float64(s))
		}
	}
	if d.Retention > 0 && d.Retention < a.Lifetime {
		return Advice{}, fmt.Errorf("%w: rows are kept for %s, and the lifetime is %s: they would be deleted while they are fresh",
			ErrImpossible, d.Retention, a.Lifetime)
	}
	if d.Longest > 0 && (a.Exact > longest || a.Exact == 0) {
		a.reason("Data may be %s old when it is served: a cheaper lifetime would be longer.", d.Longest)
	}
	t := a.Lifetime.Seconds()
	a.AtExpiry, a.OverReads = outdatedAtExpiry(d.Changes, t), absoluteOutdated(d.Reads, d.Changes, t)
	a.Misses = 1 - absoluteHits(d.Reads, t)
	if d.Changes*t > 0.2 {
		a.reason("The data changes %.2g times in a lifetime: the rule of thumb, made for few changes, is off.", d.Changes*t)
	}
	if d.Reads*t < 1 {
		a.reason("A lifetime sees %.2g reads: the cache saves few renders.", d.Reads*t)
	}
	if c := a.Calculator.Lifetime; d.Longest > 0 && c > longest {
		a.reason("The calculator's %s breaks the demand of %s: its list begins at 5s.", c, d.Longest)
	}
	return a, nil
}

// longest returns how long a lifetime may be at most. It counts from the beginning of the render, so the age of a fresh
// value is below it.
func (d Demand) longest() time.Duration {
	if d.Longest == 0 {
		return never
	}
	return d.Longest
}

func (d Demand) validate() error {
	for _, f := range []struct {
		name  string
		value float64
		least float64
	}{{"changes", d.Changes, 0}, {"reads", d.Reads, 0}, {"cost of a miss", d.Miss, 0}, {"cost of staleness", d.Stale, 0}} {
		if math.IsNaN(f.value) || math.IsInf(f.value, 0) || f.value < f.least {
			return fmt.Errorf("found %s %g, expected a finite number of at least 0", f.name, f.value)
		}
	}
	switch {
	case d.Reads == 0 || d.Miss == 0 || d.Stale == 0:
		return fmt.Errorf("found %g reads a second, a miss that costs %g and a second of staleness that costs %g, expected all above 0",
			d.Reads, d.Miss, d.Stale)
	case d.Longest < 0 || d.Render < 0 || d.Retention < 0:
		return fmt.Errorf("found a longest staleness of %s, a render of %s, a retention of %s, expected none below 0s",
			d.Longest, d.Render, d.Retention)
	case d.Longest > 0 && d.Longest <= d.Render:
		return fmt.Errorf("%w: data may be %s old at most, and a render takes %s: data is older than that when it is stored",
			ErrImpossible, d.Longest, d.Render)
	case d.Longest > 0 && d.Longest < time.Second:
		return fmt.Errorf("%w: data may be %s old at most, and revalidate_seconds counts whole seconds: the shortest lifetime is 1s",
			ErrImpossible, d.Longest)
	case d.Retention > 0 && d.Longest > 0 && d.Retention < d.Longest:
		return fmt.Errorf("%w: rows are kept for %s, and may be served for %s: they would be deleted while they are servable",
			ErrImpossible, d.Retention, d.Longest)
	}
	return nil
}

func (a *Advice) reason(format string, args ...any) {
	a.Reasons = append(a.Reasons, fmt.Sprintf(format, args...))
}

// calculate is the tutorials' calculator.
func calculate(d Demand) Calculator {
	optimum := 3600.0
	if d.Longest > 0 {
		optimum = d.Longest.Seconds()
	}
	if d.Changes > 0 {
		optimum = firstOrderOptimum(d.Miss, d.Stale, d.Changes)
	}
	constrained := optimum
	if d.Longest > 0 {
		constrained = min(constrained, d.Longest.Seconds())
	}
	nearest := 5.0
	for _, s := range practical {
		if s >= 5 && math.Abs(float64(s)-constrained) < math.Abs(nearest-constrained) {
			nearest = float64(s)
		}
	}
	return Calculator{
		Optimum: fromSeconds(optimum), Lifetime: fromSeconds(nearest),
		Outdated: d.Changes * nearest, Misses: 1 / (nearest * d.Reads),
	}
}

// fromSeconds is a duration of so many seconds, to the millisecond.
func fromSeconds(s float64) time.Duration {
	if s > never.Seconds() {
		return never
	}
	return time.Duration(math.Round(s*1000)) * time.Millisecond
}
