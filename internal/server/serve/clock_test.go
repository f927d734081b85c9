package serve

import (
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/server/control"
)

func TestParseClock(t *testing.T) {
	for text, want := range map[string]string{"wall": "wall", "manual": "manual", "2040-01-01T00:00:00Z": "manual"} {
		if _, mode, err := ParseClock(text); mode != want || err != nil {
			t.Errorf("%s: got %q and %v, want %q", text, mode, err, want)
		}
	}
	if _, _, err := ParseClock("noon"); err == nil {
		t.Error("noon is a clock, want an error")
	}
}

// A manual clock moves forward when told to, and back only by Reset.
func TestManualClock(t *testing.T) {
	parsed, _, err := ParseClock("2040-01-01T01:00:00+01:00")
	must.OK(t, err)
	clock := parsed.(control.Resetter)
	want := func(what string, at time.Time) {
		t.Helper()
		if got := clock.Now(); got != at {
			t.Errorf("%s: got %v, want %v", what, got, at)
		}
	}
	want("start", fakeclock.Epoch)
	clock.Advance(time.Minute)
	clock.Advance(-time.Hour)
	want("advanced", fakeclock.Epoch.Add(time.Minute))
	clock.AdvanceTo(fakeclock.Epoch)
	want("set to the past", fakeclock.Epoch.Add(time.Minute))
	clock.AdvanceTo(fakeclock.Epoch.Add(time.Hour))
	want("set ahead", fakeclock.Epoch.Add(time.Hour))
	clock.Reset(fakeclock.Epoch.Add(time.Second))
	want("reset", fakeclock.Epoch.Add(time.Second))
	if _, resets := control.Clock(newWallClock()).(control.Resetter); resets {
		t.Error("a wall clock can be reset")
	}
}
