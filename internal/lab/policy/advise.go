package policy

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// Demand has the facts and limits that a lifetime is chosen for.
type Demand struct {
	// Changes and Reads are the numbers of changes and of reads of the data per second.
	Changes, Reads float64
	// Miss is the cost of a render, Stale the cost of one second of serving outdated data, in the same unit.
	Miss, Stale float64
	// Longest is how old served data may be. 0 is any age.
	Longest time.Duration
	// Tolerance is how long after its lifetime a value may be served as stale. It is subtracted from Longest, and so
	// shortens lifetimes.
	Tolerance time.Duration
	// Render is how long a render takes.
	Render time.Duration
	// Skew is the maximum error of a machine's clock: a value that one machine stores as new may look older or younger
	// to another by twice the skew.
	Skew time.Duration
	// Retention is how long rows are kept (ttl - generated_at). 0 skips the check. Lag is how much later TTL may delete
	// them.
	Retention, Lag time.Duration
}

// Advice is a lifetime, with its expected effects. Shares are from 0 to 1.
type Advice struct {
	// Lifetime is the cheapest of the usual values ([Practical]) that the demands allow: longer than a render, and at
	// most the allowed age of data less twice the skew. If no usual value is allowed, it is the largest allowed number
	// of whole seconds.
	Lifetime time.Duration
	// FirstOrder is the rule of thumb sqrt(2C/(WS)), and Exact the lifetime with the least cost. Both are 0 if there is
	// no optimum: if data never changes, or if renders never pay.
	FirstOrder, Exact time.Duration
	// AtExpiry is the probability that data has changed when its lifetime ends, and OverReads the share of reads that
	// are served outdated data. The rule 1 - exp(-WT) gives AtExpiry, but is often quoted for OverReads.
	AtExpiry, OverReads float64
	// Misses is the share of reads that find no fresh value.
	Misses float64
	// Cost is the cost per second of renders and outdated reads, in the unit of the demand: C/T + S (1 - F(WT)).
	Cost float64
	// Reasons are sentences with the reasons for the advice.
	Reasons []string
	// Calculator is the advice of the rule of thumb alone.
	Calculator Calculator
}

// Calculator is the advice of the calculator that is printed in many tutorials: the rule of thumb, at most the longest
// staleness, rounded to the nearest value of a list that begins at 5 s.
type Calculator struct {
	Optimum, Lifetime time.Duration
	// Outdated is W*T. The calculator calls this the expected staleness; it may be above 1.
	Outdated float64
	// Misses is 1/(T R).
	Misses float64
	// Cost is the cost of its lifetime, by the formula of [Advice].
	Cost float64
}

// ErrImpossible is wrapped by the errors of Advise about demands that exclude each other.
var ErrImpossible = errors.New("the demands cannot be met together")

// practical are the lifetimes that people write, in seconds. The protocol's rows count whole seconds.
var practical = []int{
	1, 2, 5, 10, 15, 30,
	60, 120, 180, 300, 600, 900, 1800, 3600,
	7200, 14400, 28800, 86400,
}

// Practical returns the usual lifetimes, shortest first. Advice is one of them.
func Practical() []time.Duration {
	all := make([]time.Duration, len(practical))
	for i, s := range practical {
		all[i] = time.Duration(s) * time.Second
	}
	return all
}

// Advise chooses a lifetime. The error says which demand cannot be met, or which figure makes no sense.
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
			a.reason("A render costs more than the staleness it ends (CW/S = %.3g, at least 1): the longest "+
				"lifetime is the cheapest.",
				d.Miss*d.Changes/d.Stale)
		}
	} else {
		a.reason("The data never changes: the longest lifetime is the cheapest.")
	}
	cost := func(t float64) float64 { return d.Miss/t + d.Stale*(1-freshShare(d.Changes*t)) }
	a.Cost, a.Calculator.Cost = math.Inf(1), cost(a.Calculator.Lifetime.Seconds())
	for _, t := range Practical() {
		if c := cost(t.Seconds()); t > d.Render && t <= longest && c < a.Cost {
			a.Lifetime, a.Cost = t, c
		}
	}
	if a.Lifetime == 0 {
		whole := longest.Truncate(time.Second)
		if whole <= d.Render {
			return Advice{}, fmt.Errorf("%w: a render takes %s, and a lifetime may be %s at most, in whole seconds: "+
				"a value would have expired when it is stored",
				ErrImpossible, d.Render, whole)
		}
		a.Lifetime, a.Cost = whole, cost(whole.Seconds())
	}
	if err := d.checkRetention(&a); err != nil {
		return Advice{}, err
	}
	if d.Longest > 0 && (a.Exact > longest || a.Exact == 0) {
		a.reason("Data may be %s old when it is served%s: a cheaper lifetime would be longer.", d.Longest, d.lessSkew())
	}
	if d.Render > 0 && a.Exact > 0 && a.Exact <= d.Render {
		a.reason("A render takes %s: a lifetime that is no longer than that would be over when the value is stored.",
			d.Render)
	}
	t := a.Lifetime.Seconds()
	a.AtExpiry, a.OverReads = outdatedAtExpiry(d.Changes, t), absoluteOutdated(d.Reads, d.Changes, t)
	a.Misses = 1 - absoluteHits(d.Reads, t)
	if d.Changes*t > 0.2 {
		a.reason("The data changes %.2g times in a lifetime: the rule of thumb, made for few changes, is off.",
			d.Changes*t)
	}
	if d.Reads*t < 1 {
		a.reason("A lifetime sees %.2g reads: the cache saves few renders.", d.Reads*t)
	}
	if c := a.Calculator.Lifetime; d.Longest > 0 && c > longest {
		a.reason("The calculator's %s breaks the demand of %s%s: it takes the nearest of a list from 5s on.", c,
			d.Longest, d.lessSkew())
	}
	return a, nil
}

// lessSkew prints how much of the longest staleness is left for the lifetime after skew and tolerance.
func (d Demand) lessSkew() string {
	var why []string
	if d.Skew > 0 {
		why = append(why, fmt.Sprintf("clocks that are off by %s", d.Skew))
	}
	if d.Tolerance > 0 {
		why = append(why, fmt.Sprintf("values that are served as stale for %s", d.Tolerance))
	}
	if why == nil {
		return ""
	}
	return fmt.Sprintf(" (a lifetime of %s at most, for %s)", d.longest(), strings.Join(why, " and "))
}

// manyLifetimes is the minimum number of lifetimes in a retention: ttl should be much larger than revalidate_seconds,
// because a row that is deleted soon is missing when someone asks what was served.
const manyLifetimes = 10

// checkRetention checks the ttl of rows against their freshness. If the writer's clock is behind, the ttl is too early
// by its error. If the reader's clock is behind, the row looks fresh for too long by its error. The freshness has the
// writer's error, too, so only the reader's error is left.
func (d Demand) checkRetention(a *Advice) error {
	switch {
	case d.Retention == 0:
		return nil
	case d.Retention < a.Lifetime+d.Skew && d.Skew > 0:
		return fmt.Errorf("%w: rows are kept for %s, and the lifetime is %s on clocks that are off by %s: they "+
			"could be deleted while a reader takes them for fresh",
			ErrImpossible, d.Retention, a.Lifetime, d.Skew)
	case d.Retention < a.Lifetime:
		return fmt.Errorf("%w: rows are kept for %s, and the lifetime is %s: they would be deleted while "+
			"they are fresh",
			ErrImpossible, d.Retention, a.Lifetime)
	}
	if d.Retention < manyLifetimes*a.Lifetime {
		a.reason("Rows are kept for %.3g lifetimes: a ttl should be much later than the end of freshness, at least "+
			"%d lifetimes.",
			d.Retention.Seconds()/a.Lifetime.Seconds(), manyLifetimes)
	}
	if d.Lag > 0 {
		a.reason("TTL may delete a row %s after its ttl: a reader who trusts each row that is there serves data "+
			"that is up to %s old.",
			d.Lag, d.Retention+d.Lag)
	}
	return nil
}

// longest returns the longest allowed lifetime. It counts from the start of the render, so the age of a fresh value is
// below it. If the writer's clock is ahead and the reader's behind, the age may exceed it by twice the skew. The age of
// a stale value may exceed it by the tolerance, too.
func (d Demand) longest() time.Duration {
	if d.Longest == 0 {
		return never
	}
	return d.Longest - 2*d.Skew - d.Tolerance
}

func (d Demand) validate() error {
	for _, f := range []struct {
		name  string
		value float64
		least float64
	}{{"changes", d.Changes, 0}, {"reads", d.Reads, 0}, {"cost of a miss", d.Miss, 0},
		{"cost of staleness", d.Stale, 0}} {
		if math.IsNaN(f.value) || math.IsInf(f.value, 0) || f.value < f.least {
			return fmt.Errorf("found %s %g, expected a finite number of at least 0", f.name, f.value)
		}
	}
	switch {
	case d.Reads == 0 || d.Miss == 0 || d.Stale == 0:
		return fmt.Errorf("found %g reads a second, a miss that costs %g and a second of staleness that costs %g, "+
			"expected all above 0",
			d.Reads, d.Miss, d.Stale)
	case d.Longest < 0 || d.Tolerance < 0 || d.Render < 0 || d.Retention < 0 || d.Skew < 0 || d.Lag < 0:
		return fmt.Errorf("found a longest staleness of %s, a tolerance of %s, a render of %s, a retention of %s, "+
			"a skew of %s, a lag of %s, expected 0s or more",
			d.Longest, d.Tolerance, d.Render, d.Retention, d.Skew, d.Lag)
	case d.Longest > 0 && d.Longest <= d.Render:
		return fmt.Errorf("%w: data may be %s old at most, and a render takes %s: data is older than that when "+
			"it is stored",
			ErrImpossible, d.Longest, d.Render)
	case d.Longest > 0 && d.Longest < time.Second:
		return fmt.Errorf("%w: data may be %s old at most, and revalidate_seconds counts whole seconds: the "+
			"shortest lifetime is 1s",
			ErrImpossible, d.Longest)
	case d.Longest > 0 && d.longest() < time.Second && d.Tolerance > 0:
		return fmt.Errorf("%w: data may be %s old at most, and is served as stale for %s: less than the shortest "+
			"lifetime is left, 1s",
			ErrImpossible, d.Longest, d.Tolerance)
	case d.Longest > 0 && d.longest() < time.Second:
		return fmt.Errorf("%w: data may be %s old at most, and clocks that are off by %s make its age wrong by up "+
			"to %s: less than the shortest lifetime is left, 1s",
			ErrImpossible, d.Longest, d.Skew, 2*d.Skew)
	case d.Retention > 0 && d.Longest > 0 && d.Retention < d.Longest:
		return fmt.Errorf("%w: rows are kept for %s, and may be served for %s: they would be deleted while they "+
			"are servable",
			ErrImpossible, d.Retention, d.Longest)
	}
	return nil
}

func (a *Advice) reason(format string, args ...any) {
	a.Reasons = append(a.Reasons, fmt.Sprintf(format, args...))
}

// calculate does what the tutorials' calculator does.
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

// fromSeconds returns s seconds as a duration, to the millisecond.
func fromSeconds(s float64) time.Duration {
	if s > never.Seconds() {
		return never
	}
	return time.Duration(math.Round(s*1000)) * time.Millisecond
}
