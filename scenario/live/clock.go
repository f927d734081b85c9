package live

import (
	"fmt"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// A clock that is off by no more than that, and by the promised skew, is judged.
const nearby = time.Hour

// longestLease is the longest that is taken for one.
const longestLease = 24 * time.Hour

// clocks stands for all invariants, of which nothing is known under a clock that
// is hours off.
var clocks = invariant.Invariant{Name: "the clock", Statement: "the times in rows are times of the server's clock, or at most an hour off"}

// reading is what a row says of its writer's clock.
type reading struct {
	attribute string
	seconds   int64         // that it holds
	off       time.Duration // from the server's clock; negative is behind
	lease     bool          // it is a new lease's
}

// read reads the clock of a new lease or of a new page; false for all else, which
// may have its times from earlier.
func read(c *ddbfake.Change) (r reading, ok bool) {
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

// String says what is wrong with a clock.
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

// offClock reports whether the rows of a request have been written under a clock
// that is hours off: then their expiry and order say nothing. It tells so once a
// table.
func (c *Checker) offClock(request []ddbfake.Change, judge bool) bool {
	off := false
	for i := range request {
		change := &request[i]
		s := c.at(change)
		if r, ok := read(change); ok {
			bound := nearby + c.options.Promise.MaxClockSkew
			far := r.off > bound || r.off < -bound
			right, known := s.clocks[change.Actor]
			// Anybody may put back an old page. Only a client of whom nothing else is known is judged by its age.
			if !far || r.lease || r.off > 0 || !known || !right {
				s.clocks[change.Actor] = !far
			}
			if !s.clocks[change.Actor] && judge && !s.toldClock {
				s.toldClock = true
				c.note(Broken{
					Invariant: clocks, Verdict: invariant.Unknown, Actor: change.Actor, Changes: []ddbfake.Change{*change},
					Why: fmt.Sprintf("in table %s, %s, which shows %d: what is written under such a clock is not judged; "+
						"give the server and its clients one clock", s.Name, r, change.Time.Unix()),
				})
			}
		}
		off = off || s.off(change)
	}
	return off
}

// off reports whether a change was made by somebody whose clock is off. TTL goes
// by the rows of all.
func (s *seen) off(c *ddbfake.Change) bool {
	if c.Cause == ddbfake.CauseClient {
		right, known := s.clocks[c.Actor]
		return known && !right
	}
	//isrsim:unordered any of them will do
	for _, right := range s.clocks {
		if !right {
			return true
		}
	}
	return false
}
