package live

import (
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// loader is the actor of loaded rows for the watchers: no client has this name, so no client holds a loaded lock.
const loader = "a load"

// unknownHolder is reported if a client changes a loaded lock as only its holder may.
var unknownHolder = invariant.Invariant{Name: "the holder", Statement: "the log shows who holds a lock"}

// lockOf names a lock.
type lockOf struct{ region, table, pk string }

// byLoader notes the locks that were written by a DB.Load or by the restore of a backup. It returns the request with
// the actor loader.
func (c *Checker) byLoader(request []ddbfake.Change) []ddbfake.Change {
	request = slices.Clone(request)
	for i := range request {
		request[i].Actor = loader
		if of, is := lockIn(&request[i]); is && request[i].After != nil {
			c.loaded[of] = true
		}
	}
	return request
}

func lockIn(c *ddbfake.Change) (of lockOf, is bool) {
	pk, _ := c.Key.Str("pk")
	sk, _ := c.Key.Str("sk")
	return lockOf{c.Region, c.Table, pk}, sk == "LOCK"
}

// adopt looks for loaded locks that a client's request gives back or extends. The log does not show whether the client
// is the holder, which is a doubt. From then on the client counts as the holder: adopt returns requests by which the
// client would have taken these locks.
func (c *Checker) adopt(request []ddbfake.Change, judge bool) (taken [][]ddbfake.Change) {
	for i := range request {
		change := &request[i]
		of, is := lockIn(change)
		if !is || !c.loaded[of] {
			continue
		}
		delete(c.loaded, of)
		if change.Cause != ddbfake.CauseClient || !keeps(change, c.options.Promise.MaxClockSkew) {
			continue
		}
		gone, held := *change, *change
		gone.Actor, gone.After = loader, nil
		held.Before, held.After = nil, change.Before
		taken = append(taken, []ddbfake.Change{gone}, []ddbfake.Change{held})
		if judge {
			c.note(Broken{
				Invariant: unknownHolder, Verdict: invariant.Unknown, Actor: change.Actor,
				Changes: c.shown([]ddbfake.Change{*change}),
				Why: change.Actor +
					" gave back or extended a lock that was loaded, or restored from a backup: whether it held the " +
					"lock is not known",
			})
		}
	}
	return taken
}

// keeps reports whether a change gives a lock back, or leaves its token, before the end of its lease.
func keeps(c *ddbfake.Change, skew time.Duration) bool {
	before, _ := c.Before.Str("lease_token")
	after, _ := c.After.Str("lease_token")
	_, endless := c.Before["lease_expires_at"].(attr.NULL)
	until, known := rowmap.Instant(c.Before, "lease_expires_at")
	return before != "" && (after == "" || after == before) && (endless || known && until.After(c.Time.Add(skew)))
}
