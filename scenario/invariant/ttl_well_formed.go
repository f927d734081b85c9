package invariant

import (
	"fmt"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// TTLWellFormed holds that no row asks to be deleted while it is needed, and none
// in a unit that TTL does not know: a ttl that is no number, or one of
// milliseconds, has the row stay for ever. A row without ttl is well-formed.
func TTLWellFormed() Invariant {
	return onLog("ttl-well-formed",
		"ttl is a whole number of epoch seconds, and not before the row's use is over: "+
			"generated_at + revalidate_seconds (META, VER), lease_expires_at (LOCK)",
		func(s *step) Finding {
			finding := ok()
			for _, c := range s.rows {
				ttl := c.After["ttl"]
				if ttl == nil || c.Cause != ddbfake.CauseClient {
					continue
				}
				if why := illFormed(c, ttl); why != "" && finding.Verdict == OK {
					finding = Finding{Verdict: Violated, Why: why, Changes: []int{c.Seq}}
				}
			}
			return finding
		})
}

// lastSecond is of the year 9999. A ttl beyond it is one of milliseconds.
const lastSecond = 253402300799

// illFormed says what is wrong with a row's ttl, or "".
func illFormed(c *ddbfake.Change, ttl attr.Value) string {
	_, sk := role(*c)
	until, use, isISR := useOf(c.After, sk)
	if !isISR {
		return ""
	}
	second, whole := c.After.Int("ttl")
	switch {
	case !whole || second <= 0 || second > lastSecond:
		return fmt.Sprintf("%s gave %s the ttl %s, which is no whole number (N) of epoch seconds", c.Actor, sk, ttl)
	case second < until:
		return fmt.Sprintf("%s gave %s a ttl that comes %s before %s", c.Actor, sk, spanSeconds(minus(until, second)), use)
	default:
		return ""
	}
}

// useOf says until when a row is needed, and what that is called. False if it is
// not a row of the schema.
func useOf(row attr.Item, sk string) (until int64, use string, isISR bool) {
	switch {
	case sk == sortLock:
		until, _ = row.Int("lease_expires_at")
		return until, "the end of its lease", true
	case sk == sortMeta, strings.HasPrefix(sk, sortVersion):
		generated, known := row.Int("generated_at")
		if window, has := row.Int("revalidate_seconds"); known && has {
			until = generated + window
		}
		return until, "the end of its freshness", true
	default:
		return 0, "", strings.HasPrefix(sk, sortRequest)
	}
}
