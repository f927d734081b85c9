package invariant

import (
	"fmt"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
)

// ttlWellFormed holds that the ttl of a row is not before the end of its use, and that every ttl is a number of
// seconds. If a ttl is not a number, or counts milliseconds, the row stays for ever. A row without ttl is well-formed.
func ttlWellFormed() Invariant {
	return onLog("ttl-well-formed",
		"ttl is a whole number of epoch seconds, and not before the row's use ends: generated_at + "+
			"revalidate_seconds (META, VER), lease_expires_at (LOCK)",
		func(s *step) Finding {
			finding := ok()
			for _, c := range s.rows {
				_, sk := role(*c)
				if ttl := c.After["ttl"]; ttl == nil || sk == sortLock && !s.Promise.Recipe {
					continue
				} else if f := s.judgeTTL(c, ttl); f.Verdict == Violated && sk == sortLock {
					finding = finding.and(f.asRule("a token that was replaced refuses its holder's publish"))
				} else {
					finding = finding.and(f)
				}
			}
			return finding
		})
}

// lastSecond is the last second of the year 9999. A larger ttl must be in milliseconds.
const lastSecond = 253402300799

// judgeTTL judges the ttl that a change has given a row.
func (p Promise) judgeTTL(c *ddbfake.Change, ttl attr.Value) Finding {
	_, sk := role(*c)
	use := p.useOf(c.After, sk)
	if !use.isISR {
		return ok()
	}
	violated := func(why string, args ...any) Finding {
		return Finding{Verdict: Violated, Why: fmt.Sprintf(why, args...), Changes: []int{c.Seq}}
	}
	second, _ := c.After.Int("ttl") // 0 is none
	at := time.Unix(second, 0)
	switch {
	case second > lastSecond:
		return violated(
			"%s gave %s the ttl %s, which is after the year 9999 in epoch seconds: it looks like milliseconds", c.Actor,
			sk, ttl,
		)
	case second <= 0:
		return violated("%s gave %s the ttl %s, which is no whole number (N) of epoch seconds", c.Actor, sk, ttl)
	case use.unread != "":
		return unknown("change %d gives %s a ttl, and the row does not say when its use is over: it lacks %s", c.Seq,
			sk, use.unread).change(c.Seq)
	case at.Before(use.until):
		return violated("%s gave %s a ttl that comes %s before %s", c.Actor, sk, span(at, use.until), use.end)
	default:
		return ok()
	}
}

// use is the purpose of a row.
type use struct {
	isISR  bool      // the row belongs to the schema
	until  time.Time // zero if any ttl is late enough
	end    string    // the name of that time in messages
	unread string    // the attributes of that time that cannot be read
}

func (p Promise) useOf(row attr.Item, sk string) use {
	switch {
	case sk == sortLock:
		until, known := rowmap.Instant(row, "lease_expires_at")
		if held, _ := readLease(row); held.endless() {
			return use{isISR: true} // its holder counts as dead after its ttl
		}
		if !known {
			return use{isISR: true, unread: "lease_expires_at (N)"}
		}
		return use{isISR: true, until: until, end: "the end of its lease"}
	case sk == sortMeta && !isPage(row):
		return use{isISR: true}
	case sk == sortMeta, strings.HasPrefix(sk, sortVersion):
		until, known := p.freshUntil(row)
		if !known {
			return use{isISR: true, unread: "generated_at (N) or revalidate_seconds (N)"}
		}
		return use{isISR: true, until: until, end: "the end of its freshness"}
	default:
		return use{isISR: strings.HasPrefix(sk, sortRequest)}
	}
}
