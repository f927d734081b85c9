package subject_test

import (
	"slices"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/worlds"
	"github.com/isr-sim/isr-sim/internal/subject/list/draw"
)

// TestShapes: enough worlds have a node one of whose commands fails at every attempt, after another node has done
// something.
func TestShapes(t *testing.T) {
	const drawn = 400
	counts := map[string]int{}
	for i := range drawn {
		for kind, s := range map[string]*spec.Scenario{
			"pages": draw.Pages.Draw("w", "recipe-a", 1, worlds.Extras{Verbs: draw.Verbs}).Example(i).Scenario,
			"locks": draw.Locks.Draw("w", "lock", 1, worlds.Extras{}).Example(i).Scenario,
			"calls": draw.Calls.Draw("w", "once", 1, worlds.Extras{}).Example(i).Scenario,
		} { //isrsim:unordered each counts for itself
			at := slices.IndexFunc(s.Faults, func(f spec.Fault) bool { return f.From > 0 })
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
		if counts[kind]*most < drawn {
			t.Errorf("%s: %d of %d worlds have the shape, want one of %d at least", kind, counts[kind], drawn, most)
		}
	}
}

// TestSettle: the time within which all must be well again after a command's faults, and after a crash.
func TestSettle(t *testing.T) {
	for _, test := range []struct {
		of             *worlds.Subject
		quiet, crashed time.Duration
	}{
		{draw.Pages, 5 * time.Second, 144 * time.Second}, // half a lease; two leases, two windows and two polls
		{draw.Locks, 3 * time.Second, 20 * time.Second},
		{draw.Calls, 36 * time.Second, 36 * time.Second},
	} {
		s := spec.Defaults()
		s.Actors = []spec.Actor{{Name: "alice", Script: []spec.Command{{Verb: test.of.Verb, Key: "/home"}}}}
		quiet := test.of.Settle(s, worlds.Extras{})
		s.Actors[0].Crashes = 1
		if crashed := test.of.Settle(s, worlds.Extras{}); quiet != test.quiet || crashed != test.crashed {
			t.Errorf("%s: got %v, and %v after a crash; want %v and %v", test.of.Verb, quiet, crashed, test.quiet,
				test.crashed)
		}
	}
}
