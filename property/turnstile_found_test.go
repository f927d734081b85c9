package property_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/race"
	"github.com/isr-sim/isr-sim/property"
)

// locksSeeds is under how many seeds TestBugsOfLocksAreFound looks; 0 is a few.
var locksSeeds = flag.Int("locks.seeds", 0, "")

// TestLockPasses holds that a correct lock passes, with rows and a table of its own.
func TestLockPasses(t *testing.T) {
	t.Parallel()
	property.LockCheck{Table: turnstileTable, Schedules: race.Fewer(5, 2)}.Run(t, newTurnstiles(turnstile{}))
}

// TestBugsOfLocksAreFound holds that each bug is found by a check as it comes,
// whatever rapid's seed.
func TestBugsOfLocksAreFound(t *testing.T) {
	seeds := cmp.Or(*locksSeeds, race.Fewer(3, 1))
	if testing.Short() && *locksSeeds == 0 {
		seeds = 1
	}
	want := map[string]string{ // one of these invariants
		"lock: takes without a condition":  "mutual-exclusion kept-lease guarded-write",
		"lock: releases anyone's":          "mutual-exclusion kept-lease guarded-write",
		"lock: over a second early":        "mutual-exclusion kept-lease guarded-write",
		"lock: lease in whole seconds":     "mutual-exclusion kept-lease",
		"lock: own lock taken for another": "free-lock",
		"lock: never taken over":           "free-lock lock-liveness",
		"lock: never given back":           "free-lock lock-liveness",
		"lock: one token for two":          "guarded-write",
		"lock: tokens begin anew":          "guarded-write",
		"lock: always sure":                "mutual-exclusion",
		"lock: counts from the answer":     "mutual-exclusion",
		"lock: extends anyone's":           "mutual-exclusion guarded-write",
		"lock: extends in seconds":         "mutual-exclusion kept-lease guarded-write",
		"lock: dozes":                      "free-lock",
		"lock: swallows errors":            "mutual-exclusion",
	}
	for _, lock := range slices.Sorted(maps.Keys(turnstiles())) {
		if lock == "lock: correct" {
			continue
		}
		t.Run(lock, func(t *testing.T) {
			t.Parallel()
			for seed := 1; seed <= seeds; seed++ {
				c := runChild(t, t.TempDir(), lock, []string{fmt.Sprintf("-rapid.seed=%d", seed), "-rapid.shrinktime=0s"})
				c.wantFailure(t, "violated: TestChild under lock-under-test", "scenario: "+failFile, "replay: ")
				if !slices.ContainsFunc(strings.Fields(want[lock]), func(inv string) bool { return strings.Contains(c.output, " "+inv+": ") }) {
					t.Errorf("seed %d: none of %q is said to be violated:\n%s", seed, want[lock], c.output)
				}
			}
		})
	}
}

// TestLockReplays is the way of a lock's failure: shrunk, left in a file, and
// replayed with the same words; and what is mended passes on the same file.
func TestLockReplays(t *testing.T) {
	t.Parallel()
	const lock = "lock: lease in whole seconds"
	dir := t.TempDir()
	c := runChild(t, dir, lock, []string{"-rapid.seed=1", "-rapid.shrinktime=" + property.Fewer("3s", "1s")})
	c.wantFailure(t, "violated: TestChild under lock-under-test", "scenario: "+failFile,
		"replay: property.LockCheck{}.Replay(t, \""+failFile+"\", newLock), with the check's own fields")
	runChild(t, dir, lock, nil).wantFailure(t, "effect", "violated: TestChild under lock-under-test")
	property.LockCheck{Table: turnstileTable}.Replay(t, c.file(), newTurnstiles(turnstile{}))
}

// TestLocksOfNothing holds that a lock which shows nothing does not pass.
func TestLocksOfNothing(t *testing.T) {
	for lock, want := range map[string][]string{
		"lock: always refuses":  {"lock-under-test", "free-lock: "},
		"lock: in no table":     {"lock-liveness: ", "ResourceNotFoundException"},
		"lock: neither nor":     {"free-lock: ", "the lock returned neither a hold nor an error"},
		"lock: cannot be made":  {"broken: newStore: no region"},
		"lock: is nil":          {"broken: newStore: it returned neither a lock nor an error"},
		"lock: panics":          {"broken: the store under test: actor ", "panicked: no such lock"},
		"lock: a lock for each": {"mutual-exclusion: "},
	} {
		t.Run(lock, func(t *testing.T) {
			t.Parallel()
			runChild(t, t.TempDir(), lock, []string{"-rapid.seed=1", "-rapid.shrinktime=0s"}).wantFailure(t, want...)
		})
	}
}
