package protocols_test

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/protocols/guard"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

func TestGuardsPrint(t *testing.T) {
	for g, want := range map[guard.Set]string{
		0: "none", guard.Token: "token", guard.Token | guard.Expiry: "token+expiry",
		guard.Version | guard.Monotonic: "version+monotonic", pagecache.AllGuards: "token+expiry+version+monotonic",
	} {
		if got := g.String(); got != want {
			t.Errorf("%#x prints as %s, want %s", uint8(g), got, want)
		}
	}
}

// overtakings are possible changes of META after alice looked at it, at t0+1: it was generated at t0-100, and had
// version 3.
var overtakings = []struct {
	name              string
	meta              *pagecache.Meta // nil means no row
	version, monotone bool            // the guards that refuse a page that was generated at t0+1
}{
	{"as it was", &pagecache.Meta{GeneratedAt: t0 - 100, Version: 3}, false, false},
	{"published again, of older data", &pagecache.Meta{GeneratedAt: t0, Version: 4}, true, false},
	{"published again, of data as old", &pagecache.Meta{GeneratedAt: t0 + 1, Version: 4}, true, true},
	{"published by somebody who does not count", &pagecache.Meta{GeneratedAt: t0 + 2}, true, true},
	{"deleted", nil, false, false},
	{"gone, and not deleted", &pagecache.Meta{GeneratedAt: t0 + 2, Version: 3, TTL: t0 + 3600}, false, false},
	{"deleted, and published again", &pagecache.Meta{GeneratedAt: t0, Version: int64(t0)}, true, false},
	{"gone, and published again", &pagecache.Meta{GeneratedAt: t0, Version: 4}, true, false},
}

// Every combination of guards is tried against every state of LOCK and META.
func TestEachGuardRefusesWhatItIsThereFor(t *testing.T) {
	for g := guard.Token; g <= pagecache.AllGuards; g++ {
		if effort.Fewer(false, true) && bits.OnesCount8(uint8(g)) > 1 && g != pagecache.AllGuards {
			continue
		}
		for _, lock := range guarded {
			for _, meta := range overtakings {
				t.Run(fmt.Sprintf("%v/LOCK %s/META %s", g, lock.name, meta.name), func(t *testing.T) {
					r := newRig(t)
					alice := recipeA(t, r.config("alice"))
					alice.Guards = g
					lease, err := alice.Acquire(r.ctx, key)
					if err != nil {
						t.Fatal(err)
					}
					lease.Seen = 3
					lock.prepare(t, r)
					if meta.meta != nil {
						found := *meta.meta
						found.PK, found.S3Key = alice.PK(key), "found"
						r.put(t, found.Item())
					}
					before := r.rows()

					err = alice.Publish(r.ctx, lease, pagecache.Meta{
						PK: alice.PK(key), S3Key: "new", GeneratedAt: t0 + 1, RevalidateSeconds: 60,
						TTL: pagecache.Floor(r.clock.Now()) + 7200,
					})

					var want error
					switch {
					case g&guard.Version != 0 && meta.version, g&guard.Monotonic != 0 && meta.monotone:
						want = pagecache.ErrOvertaken
					case g&guard.Token != 0 && (lock.others || lock.missing),
						g&guard.Expiry != 0 && (lock.over || lock.missing):
						want = isr.ErrLeaseLost
					}
					if !errors.Is(err, want) {
						t.Fatalf("got %v, want %v", err, want)
					}
					if want != nil {
						if got := r.rows(); fmt.Sprint(got) != fmt.Sprint(before) {
							t.Errorf("a refusal changed rows from %v to %v", before, got)
						}
						return
					}
					got, err := alice.Read(r.ctx, key)
					if err != nil || got.S3Key != "new" || (got.Version == 4) != (g&guard.Version != 0) {
						t.Errorf("META is %+v, %v, want the new page, with a version only if versions are counted", got,
							err)
					}
					left := ""
					if lock.others && g&(guard.Token|guard.Expiry) == 0 {
						left = "bob-1" // bob's lock is not given back for him
					}
					if got := r.lockToken(); got != left {
						t.Errorf("lock of %q left, want %q", got, left)
					}
				})
			}
		}
	}
}

// Only another first page can overtake the first page.
func TestTheFirstPublishUnderGuards(t *testing.T) {
	for g := guard.Token; g <= pagecache.AllGuards; g++ {
		r := newRig(t)
		alice := r.node("alice")
		alice.guards = g
		for i := 1; i <= 3; i++ {
			alice.wantServed(t, fmt.Sprintf("alice's %d", i), true, i)
			if want := fmt.Sprint(int64(t0) + int64(i-1)); g&guard.Version != 0 && r.meta(t, "version") != want {
				t.Errorf("%v: version %s after publish %s", g, r.meta(t, "version"), want)
			}
			r.clock.Advance(time.Minute)
		}
	}
}

// A row whose time is over still has its version. A deleted row has none: then the count begins again, higher.
func TestVersionsAfterARowThatIsGone(t *testing.T) {
	for _, deleted := range []bool{false, true} {
		r := newRig(t)
		alice := r.node("alice")
		alice.guards = pagecache.AllGuards
		alice.wantServed(t, "alice's 1", true, 1)
		r.clock.Advance(time.Minute + 24*time.Hour)
		want := int64(t0) + 1
		if deleted {
			r.clock.Advance(time.Hour + time.Second)
			r.db.SweepExpired()
			want = r.clock.Now().Unix()
		}
		alice.wantServed(t, "alice's 2", true, 2)
		if got := r.meta(t, "version"); got != fmt.Sprint(want) {
			t.Errorf("deleted %v: version %s, want %d", deleted, got, want)
		}
	}
}

// TTL may delete the row that was seen while a page is being made: that does not overtake the page. An invalidation
// after that does overtake it, and has a version that no earlier row had.
func TestARowThatTTLDeletesWhileThePageIsMade(t *testing.T) {
	for _, invalidated := range []bool{false, true} {
		onBoth(t, func(t *testing.T, onB bool) {
			r := newRig(t)
			alice, bob := r.guarded("alice", onB), r.guarded("bob", onB)
			alice.wantServed(t, "alice's 1", true, 1)
			r.clock.Advance(time.Minute + 25*time.Hour + time.Second)
			alice.render = func(context.Context, func(context.Context) error) error {
				if r.db.SweepExpired() == 0 {
					t.Fatal("TTL deleted nothing")
				}
				if invalidated {
					bob.invalidate(t)
				}
				return nil
			}
			alice.wantServed(t, "alice's 2", !invalidated, 2)
		})
	}
}

// A page that was overtaken while it was being made may be older than the change that overtook it: it is served, but
// not as fresh.
func TestAnOvertakenPageIsNotFresh(t *testing.T) {
	r := newRig(t)
	r.page(t, "old", t0-100)
	alice := r.node("alice")
	alice.guards = pagecache.AllGuards
	alice.render = func(context.Context, func(context.Context) error) error {
		r.bodies["other"] = []byte("other")
		r.put(t, pagecache.Meta{
			PK: isr.PartitionKey("", key), S3Key: "other", GeneratedAt: t0 - 99, RevalidateSeconds: 60, Version: 1,
		}.Item())
		return nil
	}
	alice.wantServed(t, "alice's 1", false, 1)
	if got := r.lockToken(); got != "" {
		t.Errorf("lock of %s left", got)
	}
	alice.render = nil
	alice.wantServed(t, "alice's 2", true, 2)
}
