package live_test

import (
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/live"
)

// A program that sets rows up is not judged, and what it writes is the past of what others write.
func TestSetupIsExempt(t *testing.T) {
	for _, test := range []struct {
		except   []string
		reported []string
		verdict  invariant.Verdict
		excepted int
	}{
		{[]string{"seed"}, nil, invariant.OK, 2},
		{nil, []string{
			"unknown no lock seen by seed", "violated stale-writer by seed", "unknown monotonic-publication by seed",
		}, invariant.Violated, 0},
	} {
		s := watch(t, 0, live.Options{Except: test.except})
		seed, alice := s.store("seed"), s.store("alice")
		s.put("seed", s.meta(seed, "/home", "first").Item())
		s.clock.Advance(time.Second)
		s.publish(alice, "/home")
		s.put("seed", s.meta(seed, "/home", "second").Item())
		s.checker.Look()
		s.wantReported(test.reported...)
		if got := s.checker.Found(); got.Verdict() != test.verdict || got.Excepted != test.excepted || got.Changes+got.Excepted != 5 {
			t.Errorf("%v: %v, %d excepted, %d judged", test.except, got.Verdict(), got.Excepted, got.Changes)
		}

		// Others are judged by the lock that the setup has written.
		if test.except != nil {
			if _, err := seed.Acquire(t.Context(), "/other"); err != nil {
				t.Fatal(err)
			}
			s.put("bob", s.meta(seed, "/other", "stolen").Item())
			s.checker.Look()
			s.wantReported("violated stale-writer by bob", "unknown monotonic-publication by bob")
		}
	}
}

// Where only the setup has written, nothing is judged.
func TestSetupAloneIsNoPass(t *testing.T) {
	s := watch(t, 0, live.Options{Except: []string{"seed"}})
	s.publish(s.store("seed"), "/home")
	s.checker.Look()
	if got := s.checker.Found(); got.Verdict() != invariant.Unknown || len(got.Unjudged) != 1 {
		t.Errorf("%v, %q; want unknown, and the table", got.Verdict(), got.Unjudged)
	}
}
