package ddbfake_test

import (
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// underWay prints the writes that are under way as "region:sk=v", with the time until each arrives.
func underWay(db *ddbfake.DB, now time.Time) string {
	var all []string
	for _, c := range db.UnderWay() {
		sk, _ := c.Key.Str("sk")
		v, _ := c.After.Str("v")
		text := c.Region + ":" + sk + "=" + v
		if !c.Time.IsZero() {
			text += " in " + c.Time.Sub(now).String()
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

// A simulator sees the writes that are under way, and can make them arrive in any order.
func TestUnderWay(t *testing.T) {
	db, clock := global(t, ddbfake.Options{}, ireland, tokyo)
	db.SetRegionLag(ddbfake.LagManual)
	want := func(step, want string) {
		t.Helper()
		if got := underWay(db, clock.Now()); got != want {
			t.Errorf("%s: got %q, want %q", step, got, want)
		}
	}
	deliver := func(nth int, changes bool) {
		t.Helper()
		if got := db.Deliver(db.UnderWay()[nth]); got != changes {
			t.Errorf("number %d changed its row: %v, want %v", nth, got, changes)
		}
	}
	want("before", "")
	write(t, db, home, "1", "x")
	write(t, db, home, "1", "y")
	write(t, db, ireland, "2", "z")
	want("three writes",
		"ap-northeast-1:1=x ap-northeast-1:1=y ap-northeast-1:2=z eu-west-1:1=x eu-west-1:1=y us-east-1:2=z")
	if n := db.Sent(); n != 3 {
		t.Errorf("%d writes were sent, want 3", n)
	}
	deliver(4, true) // y overtakes x
	want("the older one never arrives", "ap-northeast-1:1=x ap-northeast-1:1=y ap-northeast-1:2=z us-east-1:2=z")
	wantRows(t, db, "y is there", ireland, "1=y 2=z")
	deliver(0, true)
	deliver(0, true)
	wantRows(t, db, "one after the other", tokyo, "1=y")
	write(t, db, home, "3", "")
	if c := db.UnderWay()[2]; c.Key != nil || c.After != nil || c.Region != ireland {
		t.Errorf("a deletion of nothing is under way as %+v, want it without a key", c)
	}
	deliver(2, false)
	deliver(1, false)
	arrived := db.UnderWay()[0]
	deliver(0, true)
	if db.Deliver(arrived) {
		t.Error("what has arrived arrived once more")
	}
	db.SetRegionLag(ddbfake.LagFixed(2 * time.Second))
	write(t, db, tokyo, "1", "w")
	want("by a lag", "eu-west-1:1=w in 2s us-east-1:1=w in 2s us-east-1:2=z in 2s")
	clock.Advance(2 * time.Second)
	want("which is over", "")
	db.SetRegionLag(ddbfake.LagNever)
	write(t, db, home, "1", "v")
	deliver(0, false)
	wantRows(t, db, "cut off", ireland, "1=w 2=z")
}
