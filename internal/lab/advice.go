package lab

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/internal/lab/policy"
)

// PrintAdvice prints advice as a table, with the tutorials' rule of thumb next to the exact values. Then it prints the
// values to use, the reasons, and how to read the table. A lease of 0 is omitted.
func PrintAdvice(out io.Writer, d policy.Demand, a policy.Advice, lease time.Duration) error {
	optimum := func(d time.Duration) string {
		if d == 0 {
			return "none"
		}
		return d.String()
	}
	c := a.Calculator
	share := policy.HitRatio.Format
	err := printTable(out, [][]string{
		{"", "rule of thumb", "exact"},
		{"optimum", optimum(a.FirstOrder), optimum(a.Exact)},
		{"lifetime", c.Lifetime.String(), a.Lifetime.String()},
		{"outdated at expiry", share(min(1, c.Outdated)), share(a.AtExpiry)},
		{"outdated over reads", "", share(a.OverReads)},
		{"reads that miss", share(min(1, c.Misses)), share(a.Misses)},
		{"renders", policy.Renders.Format(1 / c.Lifetime.Seconds()), policy.Renders.Format(a.Misses * d.Reads)},
		{"cost a second", fmt.Sprintf("%.4g", c.Cost), fmt.Sprintf("%.4g", a.Cost)},
	})
	if err != nil {
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "\nrevalidate_seconds: %d\n", int(a.Lifetime/time.Second))
	if d.Retention > 0 {
		fmt.Fprintf(&text, "ttl: generated_at + %d, %.4g lifetimes\n", int(d.Retention/time.Second),
			d.Retention.Seconds()/a.Lifetime.Seconds())
	}
	if lease > 0 {
		fmt.Fprintf(&text, "lease: %s, the smallest that is safe for a render of %s and clocks that are off by %s\n",
			lease, d.Render, d.Skew)
	}
	for _, r := range a.Reasons {
		fmt.Fprintf(&text, "- %s\n", r)
	}
	var practical []string
	for _, t := range policy.Practical() {
		practical = append(practical, short(t))
	}
	fmt.Fprintf(&text, `
lifetime             exact: the cheapest of the values below that is longer than a render and that the demands
                     allow; rule of thumb: the nearest to its optimum, from 5s on, as tutorials have it
                     %s
outdated at expiry   the chance that the data has changed when the lifetime ends
outdated over reads  the share of all reads that see outdated data: the one that readers notice
cost a second        of renders and outdated seconds together, in the unit of --miss and --stale
`, strings.Join(practical, " "))
	_, err = io.WriteString(out, text.String())
	return err
}

// short prints a duration without zero units: 5m and not 5m0s.
func short(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// PrintSchedule prints the lifetimes that a policy gives to data of growing age, and how often a constantly polled
// bucket is refreshed.
func PrintSchedule(out io.Writer, p policy.Policy) error {
	at := func(age time.Duration) time.Duration {
		lifetime, _ := policy.AtAge(p.Lifetime, age)
		return lifetime
	}
	if _, ok := policy.AtAge(p.Lifetime, 0); !ok {
		return fmt.Errorf("found policy %s, whose lifetimes do not depend on the age of data, expected one of "+
			"age-based, age-linear, age-logarithmic, age-piecewise", p.Name)
	}
	table := [][]string{{"age of the data", "lifetime"}}
	for _, age := range []time.Duration{
		0, time.Minute, 2 * time.Minute, 3 * time.Minute, 4 * time.Minute, 5 * time.Minute, 6 * time.Minute,
		8 * time.Minute, 10 * time.Minute, 11 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour,
		6 * time.Hour, 24 * time.Hour,
	} {
		table = append(table, []string{age.String(), at(age).Round(time.Millisecond).String()})
	}
	if err := printTable(out, table); err != nil {
		return err
	}
	floor := func(time.Duration) time.Duration { return at(0) }
	_, err := fmt.Fprintf(out,
		"\na bucket that is polled all the time is refreshed %d times in its first 10 minutes, %d times in its "+
			"first day,\n"+
			"and %d and %d times under a uniform lifetime of %s\n",
		refreshes(at, 10*time.Minute), refreshes(at, 24*time.Hour), refreshes(floor, 10*time.Minute),
		refreshes(floor, 24*time.Hour), at(0))
	return err
}

// refreshes counts the renders of a bucket that is rendered as soon as its lifetime ends.
func refreshes(at func(time.Duration) time.Duration, lasts time.Duration) (n int) {
	for age := time.Duration(0); age < lasts; age += at(age) {
		n++
	}
	return n
}
