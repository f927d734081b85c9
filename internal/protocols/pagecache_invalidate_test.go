package protocols_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/protocols/guard"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// guarded returns a node with all guards, on recipe B if onB is true.
func (r *rig) guarded(actor string, onB bool) *node {
	n := r.node(actor)
	n.guards, n.onB = pagecache.AllGuards, onB
	return n
}

func (n *node) invalidate(t *testing.T) {
	t.Helper()
	c := must.Of(n.cache())(t)
	must.OK(t, c.Invalidate(n.rig.ctx, key))
}

// onBoth runs a test on each recipe.
func onBoth(t *testing.T, test func(t *testing.T, onB bool)) {
	for _, onB := range []bool{false, true} {
		t.Run(map[bool]string{false: "recipe A", true: "recipe B"}[onB], func(t *testing.T) { test(t, onB) })
	}
}

func TestAnInvalidatedPageIsMadeAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, onB bool) {
		r := newRig(t)
		alice, bob := r.guarded("alice", onB), r.guarded("bob", onB)
		alice.wantServed(t, "alice's 1", true, 1)
		ttl := r.meta(t, "ttl")
		r.clock.Advance(time.Second)
		bob.invalidate(t)
		if got := r.meta(t, "ttl"); got != ttl {
			t.Errorf("ttl %s, want %s as before: the version is not kept for longer", got, ttl)
		}
		alice.wantServed(t, "alice's 2", true, 2)
		bob.wantServed(t, "alice's 2", true, 0)
	})
}

// The page is only stale: while somebody makes the new page, the old one is served.
func TestAnInvalidatedPageIsServedAsStale(t *testing.T) {
	onBoth(t, func(t *testing.T, onB bool) {
		r := newRig(t)
		alice, bob := r.guarded("alice", onB), r.guarded("bob", onB)
		alice.wantServed(t, "alice's 1", true, 1)
		bob.invalidate(t)
		must.Done(t)(r.store(t, "carol").Acquire(r.ctx, key))
		alice.wantServed(t, "alice's 1", false, 1)
	})
}

// For a clock that is behind, too, the window of an invalidated page must be over.
func TestAnInvalidationReachesClocksThatAreBehind(t *testing.T) {
	r := newRig(t)
	alice := r.guarded("alice", false)
	r.bodies["ahead"] = []byte("ahead")
	r.put(t, pagecache.Meta{
		PK: isr.PartitionKey("", key), S3Key: "ahead", GeneratedAt: t0 + 5, RevalidateSeconds: 60, Version: 1,
	}.Item())
	alice.wantServed(t, "ahead", true, 0)
	alice.invalidate(t)
	alice.render = func(context.Context, func(context.Context) error) error { return errOrigin }
	alice.wantServed(t, "ahead", false, 1)
}

// A page that is being made during an invalidation is neither published nor served as fresh: its data may be too old.
func TestAFillThatAnInvalidationOvertakes(t *testing.T) {
	for _, test := range []struct {
		name    string
		prepare func(*testing.T, *rig, *node)
	}{
		{"no page yet", func(*testing.T, *rig, *node) {}},
		{"an old page", func(t *testing.T, r *rig, alice *node) {
			alice.wantServed(t, "alice's 1", true, 1)
			r.clock.Advance(time.Minute)
		}},
		{"a page that counts as gone", func(t *testing.T, r *rig, alice *node) {
			alice.wantServed(t, "alice's 1", true, 1)
			r.clock.Advance(time.Minute + 24*time.Hour)
		}},
		{"a page that TTL has deleted", func(t *testing.T, r *rig, alice *node) {
			alice.wantServed(t, "alice's 1", true, 1)
			r.clock.Advance(time.Minute + 25*time.Hour + time.Second)
			r.db.SweepExpired()
		}},
		{"an invalidation, and no page", func(t *testing.T, _ *rig, alice *node) { alice.invalidate(t) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, onB bool) {
				r := newRig(t)
				alice, bob := r.guarded("alice", onB), r.guarded("bob", onB)
				test.prepare(t, r, alice)
				made := alice.made
				alice.render = func(context.Context, func(context.Context) error) error {
					bob.invalidate(t)
					return nil
				}
				alice.wantServed(t, fmt.Sprintf("alice's %d", made+1), false, made+1)
				if got := r.lockToken(); got != "" {
					t.Errorf("lock of %s left", got)
				}
				alice.render = nil
				r.clock.Advance(time.Second)
				bob.wantServed(t, "bob's 1", true, 1)
				alice.wantServed(t, "bob's 1", true, made+1)
			})
		})
	}
}

// Two clocks that differ do not agree on when a page is gone. Either heeds an invalidation.
func TestAnInvalidationAtTheEndOfAPagesTime(t *testing.T) {
	for _, page := range []bool{true, false} {
		onBoth(t, func(t *testing.T, onB bool) {
			for early := time.Duration(0); early <= 10*time.Second; early += time.Second {
				r := newRig(t)
				carol, ahead, behind := r.guarded("carol", onB), r.guarded("ahead", onB), r.guarded("behind", onB)
				if page {
					carol.wantServed(t, "carol's 1", true, 1)
				} else {
					carol.invalidate(t)
				}
				ahead.Clock = r.clock.Node(fakeclock.Drift{Offset: 2 * time.Second})
				behind.Clock = r.clock.Node(fakeclock.Drift{Offset: -2 * time.Second})
				end := 24 * time.Hour
				if page {
					end += time.Minute
				}
				r.clock.Advance(end + 5*time.Second - early)
				ahead.render = func(context.Context, func(context.Context) error) error {
					behind.invalidate(t)
					return nil
				}
				ahead.wantServed(t, "ahead's 1", false, 1)
				r.clock.Advance(10 * time.Second)
				behind.wantServed(t, "behind's 1", true, 1)
			}
		})
	}
}

// A page that was read after the invalidation is served as usual.
func TestAFillThatBeginsAfterAnInvalidation(t *testing.T) {
	onBoth(t, func(t *testing.T, onB bool) {
		r := newRig(t)
		alice, bob := r.guarded("alice", onB), r.guarded("bob", onB)
		beforeFirst[*dynamodb.PutItemInput](alice, func() { bob.invalidate(t) }) // between alice's look and her lease
		alice.wantServed(t, "alice's 1", true, 1)
	})
}

func TestAnInvalidationThatMeetsFaults(t *testing.T) {
	onBoth(t, func(t *testing.T, onB bool) {
		for _, fault := range []string{"response-lost op=UpdateItem", "request-lost op=UpdateItem",
			"duplicate op=UpdateItem", "throttled op=UpdateItem",
			"conflict op=UpdateItem times=3"} {
			for _, page := range []bool{true, false} {
				r := newRig(t)
				alice := r.guarded("alice", onB)
				if page {
					alice.wantServed(t, "alice's 1", true, 1)
				}
				bob := r.guarded("bob", onB)
				bob.Client = r.db.Client(ddbfake.WithActor("bob"))
				r.fault(t, fault)
				bob.invalidate(t)
				r.clock.Advance(time.Second)
				made := alice.made
				alice.wantServed(t, fmt.Sprintf("alice's %d", made+1), true, made+1)
				alice.wantServed(t, fmt.Sprintf("alice's %d", made+1), true, made+1)
			}
		}
	})
}

func TestAnInvalidationThatFailsSaysSo(t *testing.T) {
	r := newRig(t)
	alice := r.guarded("alice", false)
	alice.wantServed(t, "alice's 1", true, 1)
	c := must.Of(alice.cache())(t)
	for _, fault := range []string{"request-lost op=UpdateItem", "conflict op=UpdateItem times=always"} {
		r.fault(t, fault)
		wantMention(t, c.Invalidate(r.ctx, key), "invalidate", key)
		r.db.ClearFaults()
		alice.wantServed(t, "alice's 1", true, 1)
	}
}

// A page may come between the two requests of an invalidation.
func TestAnInvalidationWhileThePageIsMade(t *testing.T) {
	r := newRig(t)
	alice, bob := r.guarded("alice", false), r.guarded("bob", false)
	sent := 0
	bob.Client = spy{bob.Client, func(in any) error {
		if _, ok := in.(*dynamodb.UpdateItemInput); ok {
			if sent++; sent == 2 {
				alice.wantServed(t, "alice's 1", true, 1)
			}
		}
		return nil
	}}
	bob.invalidate(t)
	r.clock.Advance(time.Second)
	alice.wantServed(t, "alice's 2", true, 2)
}

func TestInvalidateNeedsTheVersion(t *testing.T) {
	onBoth(t, func(t *testing.T, onB bool) {
		n := newRig(t).node("alice")
		n.onB, n.guards = onB, pagecache.AllGuards&^guard.Version
		c, err := n.cache()
		must.OK(t, err)
		err = c.Invalidate(n.rig.ctx, key)
		wantMention(t, err, "invalidate", key, "Guards", "token+expiry+monotonic", "version")
		if !errors.Is(err, isr.ErrUnsupported) {
			t.Errorf("got %v, want ErrUnsupported", err)
		}
	})
}
