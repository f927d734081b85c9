package ddbfake_test

import (
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
)

// settable is a clock that can be set back, as that of isr-sim serve can.
type settable struct{ time.Time }

func (c *settable) Now() time.Time { return c.Time }

// After a restore no units are spent, also where the clock goes back to the time of the snapshot.
func TestARestoreGivesUnitsBack(t *testing.T) {
	clock := &settable{fakeclock.Epoch}
	db, door := limited(t, clock, nil)
	held := db.Snapshot()
	clock.Time = clock.Add(time.Hour)
	if n, _ := writes(t, door, hot); n != 1000 {
		t.Fatalf("%d writes, want 1000", n)
	}
	if n, _ := writes(t, door, hot); n != 0 {
		t.Errorf("%d more writes, want none", n)
	}
	clock.Time = fakeclock.Epoch
	db.Restore(held)
	if n, _ := writes(t, door, hot); n != 1000 {
		t.Errorf("%d writes after the restore, want 1000", n)
	}
}
