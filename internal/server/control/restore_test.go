package control_test

import (
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/server/control"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// settable is a clock that can be set back.
type settable struct{ now time.Time }

func (c *settable) Now() time.Time          { return c.now }
func (c *settable) Advance(d time.Duration) { c.now = c.now.Add(d) }
func (c *settable) AdvanceTo(t time.Time)   { c.now = t }
func (c *settable) Reset(t time.Time)       { c.now = t }

// A restore sets a clock that can be set back to the time of the snapshot. TTL does not see the time in between. A
// clock that cannot be set back stays where it is.
func TestARestoreResetsTheClock(t *testing.T) {
	f := newFake(t)
	clock := &settable{fakeclock.Epoch}
	f.db = ddbfake.New(ddbfake.Options{Clock: clock, Lag: ddbfake.LagFixed(0)})
	door := f.db.As("alice")
	createTable(t, door)
	must.Done(t)(door.UpdateTimeToLive(t.Context(), isr.TTLInput("cache")))
	f.api = control.Handler(f.db, control.Options{Clock: clock})
	f.put("a", 3600)
	clock.Advance(time.Minute)
	f.want("POST", "/snapshot", `{"name":"a minute"}`, `{"snapshots": ["a minute"]}`)
	clock.Advance(2 * time.Hour)
	f.want("POST", "/snapshot", `{"name":"later"}`, `{"snapshots": ["a minute","later"]}`)
	f.want("POST", "/restore", `{"name":"a minute"}`, `{"restored": "a minute"}`)
	if want := fakeclock.Epoch.Add(time.Minute); clock.now != want || len(f.db.Items("cache")) != 1 {
		t.Errorf("the clock stands at %v with %d rows, want %v and one row", clock.now, len(f.db.Items("cache")), want)
	}
	f.want("POST", "/restore", `{"name":"later"}`, `{"restored": "later"}`)
	if want := fakeclock.Epoch.Add(time.Minute + 2*time.Hour); clock.now != want {
		t.Errorf("the clock stands at %v, want %v", clock.now, want)
	}

	plain := newFake(t)
	plain.want("POST", "/snapshot", `{"name":"a"}`, `{"snapshots": ["a"]}`)
	plain.clock.Advance(time.Hour)
	plain.want("POST", "/restore", `{"name":"a"}`, `{"restored": "a"}`)
	if want := fakeclock.Epoch.Add(time.Hour); !plain.clock.Now().Equal(want) {
		t.Errorf("a clock that cannot be set back stands at %v, want %v", plain.clock.Now(), want)
	}
}
