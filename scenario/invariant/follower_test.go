package invariant_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// A history that is judged while it is written gets the verdict that it gets as a whole: for every prefix, Check finds a
// violation if and only if a Follower has found one by then.
func TestAFollowerAgreesWithTheCheck(t *testing.T) {
	const window = 10 * time.Second
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		actors, keys, bodies := []string{"alice", "bob"}, []string{"/a", "/b"}, []string{"one", "two", "three"}
		open := map[string]history.Kind{} // one request at a time for each actor and page
		var events []history.Event
		now := fakeclock.Epoch
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.IntRange(1, 4000).Draw(t, "passes")) * time.Millisecond)
			e := history.Event{
				Seq: len(events) + 1, Time: now, Actor: rapid.SampledFrom(actors).Draw(t, "actor"), Key: rapid.SampledFrom(keys).Draw(t, "key"),
				Tenant: rapid.SampledFrom([]string{"t1", "t2"}).Draw(t, "tenant"),
			}
			of := e.Actor + e.Tenant + e.Key
			switch step := rapid.IntRange(0, 9).Draw(t, "step"); {
			case step == 0:
				e.Kind, e.Key, e.Tenant = history.Crashed, "", ""
				for _, tenant := range []string{"t1", "t2"} {
					for _, key := range keys {
						delete(open, e.Actor+tenant+key)
					}
				}
			case step < 4:
				e.Kind, e.Body = history.Rendered, rapid.SampledFrom(bodies).Draw(t, "body")
			case open[of] == 0 && step < 8:
				e.Kind = history.Asked
				open[of] = e.Kind
			case open[of] == 0:
				e.Kind = history.Invalidating
				open[of] = e.Kind
			case step == 4:
				e.Kind = history.Failed
				delete(open, of)
			case open[of] == history.Invalidating:
				e.Kind = history.Invalidated
				delete(open, of)
			default:
				e.Kind, e.Body, e.As = history.Served, rapid.SampledFrom(bodies).Draw(t, "body"), history.Fresh
				delete(open, of)
			}
			events = append(events, e)
		}
		for _, inv := range []invariant.Invariant{invariant.Freshness(), invariant.NoLostInvalidation(), invariant.TenantIsolation()} {
			judge := inv.Follow(invariant.Promise{Revalidate: window})
			broken := false
			for i := range events {
				broken = broken || judge.Event(&events[i]).Verdict == invariant.Violated
				whole := inv.Check(invariant.Evidence{History: events[:i+1], Revalidate: window})
				if (whole.Verdict == invariant.Violated) != broken {
					t.Fatalf("%s after %d events: the check says %v (%s), the follower has found a violation: %v\n%v",
						inv.Name, i+1, whole.Verdict, whole.Why, broken, events[:i+1])
				}
			}
			seen[fmt.Sprint(inv.Name, broken)]++
		}
	})
	for _, name := range []string{"freshness", "no-lost-invalidation", "tenant-isolation"} {
		for _, broken := range []bool{true, false} {
			if seen[fmt.Sprint(name, broken)] == 0 {
				t.Errorf("%s: no history of which broken is %v", name, broken)
			}
		}
	}
}
