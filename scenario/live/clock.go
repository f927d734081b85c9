package live

import (
	"fmt"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// tolerated is how wrong a clock may be, beyond the promised skew. If it is more wrong, its writer's rows are not
// judged.
const tolerated = time.Hour

// longestLease is the longest time that counts as a lease.
const longestLease = 24 * time.Hour

// wrongClock is reported instead of all invariants: if a clock is hours off, no invariant can be judged.
var wrongClock = invariant.Invariant{
	Name: "the clock", Statement: "the times in rows are times of the server's clock, or at most an hour off",
}

// reading is what a row shows of its writer's clock.
type reading struct {
	attribute string
	seconds   int64         // the attribute's value
	off       time.Duration // the difference to the server's clock; negative if the writer's clock is behind
	lease     bool          // the row is a new lease
}

// readClock reads the writer's clock from a new lease or a new page. It returns false for all other changes, whose
// times may come from earlier rows.
func readClock(c *ddbfake.Change) (r reading, ok bool) {
	if c.Cause != ddbfake.CauseClient {
		return r, false
	}
	sk, _ := c.Key.Str("sk")
	now, _ := c.After.Str("lease_token")
	before, _ := c.Before.Str("lease_token")
	switch {
	case sk == "LOCK" && now != before:
		r.attribute, r.lease = "lease_expires_at", true
	case invariant.Publishes(c):
		r.attribute = "generated_at"
	default:
		return r, false
	}
	if r.seconds, ok = c.After.Int(r.attribute); !ok {
		return r, false
	}
	const most = int64(1<<63-1) / int64(time.Second)
	r.off = time.Duration(min(max(r.seconds-c.Time.Unix(), -most), most)) * time.Second
	if r.lease && r.off > 0 {
		r.off = max(0, r.off-longestLease)
	}
	return r, true
}

// String tells how wrong the clock is.
func (r reading) String() string {
	side := "ahead of"
	if r.off < 0 {
		side = "behind"
	}
	text := fmt.Sprintf("%s is %d, hours %s the server's clock", r.attribute, r.seconds, side)
	const year5138 = 100_000_000_000
	if r.seconds > year5138 {
		text += "; it looks like milliseconds, where seconds are expected"
	}
	return text
}

// offClock reports whether the rows of a request were written under a clock that is hours off. The expiry and the order
// of such rows mean nothing. It reports one doubt for each table.
func (c *Checker) offClock(request []ddbfake.Change, judge bool) bool {
	off := false
	for i := range request {
		change := &request[i]
		t := c.table(change)
		if r, ok := readClock(change); ok {
			bound := tolerated + c.options.Promise.MaxClockSkew
			far := r.off > bound || r.off < -bound
			right, known := t.clocks[change.Actor]
			// Any client may put back an old page, so the age of a page shows the clock only if the client's clock is
			// not known yet.
			if !far || r.lease || r.off > 0 || !known || !right {
				t.clocks[change.Actor] = !far
			}
			if !t.clocks[change.Actor] && judge && !t.toldClock {
				t.toldClock = true
				c.note(Broken{
					Invariant: wrongClock, Verdict: invariant.Unknown, Actor: change.Actor,
					Changes: c.shown([]ddbfake.Change{*change}),
					Why: fmt.Sprintf("in %s, %s, which shows %d: what is written under such a clock is not judged; "+
						"give the server and its clients one clock", t.place(), r, change.Time.Unix()),
				})
			}
		}
		off = off || t.off(change)
	}
	return off
}

// off reports whether the clock of a change's actor is wrong. For a deletion by TTL, it reports whether the clock of
// any actor is wrong.
func (t *table) off(c *ddbfake.Change) bool {
	if c.Cause == ddbfake.CauseClient {
		right, known := t.clocks[c.Actor]
		return known && !right
	}
	//isrsim:unordered any wrong clock decides
	for _, right := range t.clocks {
		if !right {
			return true
		}
	}
	return false
}
