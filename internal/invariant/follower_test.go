package invariant_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// A history gets the same verdict while it is written as at the end: for every prefix, Check finds a violation if and
// only if a Follower has found one by then.
func TestAFollowerAgreesWithTheCheck(t *testing.T) {
	const window = 10 * time.Second
	seen := map[string]int{}
	random := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		actors, keys, tenants, bodies := []string{"alice", "bob"}, []string{"/a", "/b"}, []string{"t1", "t2"},
			[]string{"one", "two", "three"}
		open := map[string]history.Kind{} // one request at a time for each actor and page
		var events []history.Event
		now := fakeclock.Epoch
		for range 1 + random.IntN(40) {
			now = now.Add(time.Duration(1+random.IntN(4000)) * time.Millisecond)
			e := history.Event{
				Seq: len(events) + 1, Time: now, Actor: actors[random.IntN(2)], Key: keys[random.IntN(2)],
				Tenant: tenants[random.IntN(2)],
			}
			of := e.Actor + e.Tenant + e.Key
			switch step := random.IntN(10); {
			case step == 0:
				e.Kind, e.Key, e.Tenant = history.Crashed, "", ""
				for _, tenant := range tenants {
					for _, key := range keys {
						delete(open, e.Actor+tenant+key)
					}
				}
			case step < 4:
				e.Kind, e.Body = history.Rendered, bodies[random.IntN(3)]
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
				e.Kind, e.Body, e.As = history.Served, bodies[random.IntN(3)], history.Fresh
				delete(open, of)
			}
			events = append(events, e)
		}
		for _, inv := range []invariant.Invariant{invariant.Named("freshness"), invariant.Named("no-lost-invalidation"),
			invariant.Named("tenant-isolation")} {
			judge := inv.Follow(invariant.Promise{Revalidate: window})
			broken := false
			for i := range events {
				broken = broken || judge.Event(&events[i]).Verdict == invariant.Violated
				whole := inv.Check(invariant.Evidence{
					Record: invariant.Record{History: events[:i+1], Revalidate: window},
				})
				// A follower may not be told of all renderings, so a body without a known rendering stays in doubt.
				unmade := strings.Contains(whole.Why, "what nobody has ever made")
				if (whole.Verdict == invariant.Violated && !unmade) != broken {
					t.Fatalf("%s after %d events: the check says %v (%s), the follower has found a violation: %v\n%v",
						inv.Name, i+1, whole.Verdict, whole.Why, broken, events[:i+1])
				}
			}
			seen[fmt.Sprint(inv.Name, broken)]++
		}
	}
	for _, name := range []string{"freshness", "no-lost-invalidation", "tenant-isolation"} {
		for _, broken := range []bool{true, false} {
			if seen[fmt.Sprint(name, broken)] == 0 {
				t.Errorf("%s: no history of which broken is %v", name, broken)
			}
		}
	}
}
