package lab

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/internal/lab/policy"
)

// PrintAccesses prints how each policy answers accesses to one key at regular times, and how old the value that it
// serves is. The value is stored at 0s, and renders take no time.
func PrintAccesses(out io.Writer, policies []policy.Policy, every, lasts time.Duration) error {
	header := []string{"time"}
	caches := make([]*policy.Cache[string, time.Duration], len(policies))
	for i, p := range policies {
		if _, aged := policy.AtAge(p.Lifetime, 0); aged {
			return fmt.Errorf(
				"found policy %s, whose lifetimes depend on the age of data, expected one for data without an age",
				p.Name,
			)
		}
		header = append(header, p.Name)
		caches[i] = &policy.Cache[string, time.Duration]{Policy: p}
		if _, err := access(caches[i], 0); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	table := [][]string{header}
	for now := every; now <= lasts; now += every {
		row := []string{now.String()}
		for i, c := range caches {
			answer, err := access(c, now)
			if err != nil {
				return fmt.Errorf("%s: %w", policies[i].Name, err)
			}
			row = append(row, answer)
		}
		table = append(table, row)
	}
	if err := printTable(out, table); err != nil {
		return err
	}
	var text strings.Builder
	text.WriteString("\n")
	for i, c := range caches {
		s := c.Stats(lasts)
		// The first access stored the value, and is not in the table.
		fmt.Fprintf(&text, "%s: hits %d, stale %d, misses %d, renders %d\n", policies[i].Name, s.Hits, s.Stale,
			s.Misses-1, s.Renders-1)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// access reads the one key of a cache and says how it went. A value is the time at which it was made.
func access(c *policy.Cache[string, time.Duration], now time.Duration) (string, error) {
	before := c.Stats(now)
	made, err := c.GetOrSet(now, "", nil, func() (time.Duration, error) { return now, nil })
	if err != nil {
		return "", err
	}
	after := c.Stats(now)
	switch {
	case after.Misses > before.Misses:
		return "miss", nil
	case after.Stale > before.Stale:
		return fmt.Sprintf("stale, %s old", now-made), nil
	}
	return fmt.Sprintf("hit, %s old", now-made), nil
}
