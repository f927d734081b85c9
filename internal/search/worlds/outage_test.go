package worlds

import (
	"slices"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/kernel"
)

// TestShapes: enough worlds have a node whose command fails at each attempt after another node has done something.
func TestShapes(t *testing.T) {
	const worlds = 400
	counts := map[string]int{}
	for i := range worlds {
		for kind, s := range map[string]*kernel.Scenario{
			"pages": Pages.Draw("w", "recipe-a", 1, Extras{Verbs: Verbs}).Example(i).Scenario,
			"locks": Locks.Draw("w", "lock", 1, Extras{}).Example(i).Scenario,
			"calls": Calls.Draw("w", "once", 1, Extras{}).Example(i).Scenario,
		} { //isrsim:unordered each counts for itself
			at := slices.IndexFunc(s.Faults, func(f kernel.Fault) bool { return f.From > 0 })
			if at < 0 {
				continue
			}
			counts[kind]++
			if kind == "pages" && s.Actors[1].Script[1].Verb == "invalidate" && s.Actors[0].Script[2].Verb == "get" &&
				s.Faults[at].Nth == 0 {
				counts["a read after an invalidation"]++
			}
		}
	}
	for kind, most := range map[string]int{
		"pages": 10, "locks": 5, "calls": 10, "a read after an invalidation": 40,
	} { //isrsim:unordered each is judged by itself
		if counts[kind]*most < worlds {
			t.Errorf("%s: %d of %d worlds have the shape, want one of %d at least", kind, counts[kind], worlds, most)
		}
	}
}

// TestSettle: a world says how soon all must be well after its faults. A later time would leave bugs unseen.
func TestSettle(t *testing.T) {
	for verb, c := range map[kernel.Verb]struct {
		settle         func(*kernel.Scenario) time.Duration
		quiet, crashes time.Duration
	}{
		"get":  {settle, 5 * time.Second, 144 * time.Second}, // half a lease; two leases, two windows and two polls
		"hold": {Extras{}.settleLocks, 3 * time.Second, 20 * time.Second},
		"once": {Extras{}.settleCalls, 36 * time.Second, 36 * time.Second},
	} {
		s := kernel.Defaults()
		s.Actors = []kernel.Actor{{Name: "alice", Script: []kernel.Command{{Verb: verb, Key: "/home"}}}}
		if got := c.settle(s); got != c.quiet {
			t.Errorf("%s: settle %v, want %v", verb, got, c.quiet)
		}
		s.Actors[0].Crashes = 1
		if got := c.settle(s); got != c.crashes {
			t.Errorf("%s: settle %v after a crash, want %v", verb, got, c.crashes)
		}
	}
}
