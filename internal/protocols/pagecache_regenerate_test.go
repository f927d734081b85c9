package protocols_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

var deploy = isr.Request{ID: "deploy-1", Hash: "h1"}

func (n *node) regenerate(t *testing.T, r isr.Request) (isr.Served, error) {
	t.Helper()
	c, err := n.cache()
	if err != nil {
		t.Fatal(err)
	}
	return c.Regenerate(n.rig.ctx, key, r)
}

// wantMade regenerates for deploy and checks what is served and how often the node has rendered.
func (n *node) wantMade(t *testing.T, body string, fresh bool, made int) {
	t.Helper()
	got, err := n.regenerate(t, deploy)
	if err != nil || string(got.Body) != body || got.Fresh != fresh || n.made != made {
		t.Errorf("got %q, fresh %v, %v, after %d renderings, want %q, fresh %v, after %d", got.Body, got.Fresh, err,
			n.made, body, fresh, made)
	}
}

// status is the status in deploy's row; "" if there is no row.
func (r *rig) status() string {
	for _, item := range r.db.Items(table) {
		if sk, _ := item.Str("sk"); sk == "REQ#deploy-1" {
			status, _ := item.Str("status")
			return status
		}
	}
	return ""
}

// answered counts how often deploy was answered.
func (r *rig) answered() (times int) {
	for _, c := range r.db.Changes() {
		if status, _ := c.After.Str("status"); status == "COMPLETED" {
			times++
		}
	}
	return times
}

// everyReference runs a test on each recipe, with few guards and with all.
func everyReference(t *testing.T, test func(t *testing.T, r *rig, node func(actor string) *node)) {
	for _, all := range []bool{false, true} {
		onBoth(t, func(t *testing.T, onB bool) {
			r := newRig(t)
			test(t, r, func(actor string) *node {
				n := r.node(actor)
				if n.onB = onB; all {
					n.guards = pagecache.AllGuards
				}
				return n
			})
		})
	}
}

func TestARequestIsAnsweredOnce(t *testing.T) {
	everyReference(t, func(t *testing.T, r *rig, node func(string) *node) {
		alice, bob := node("alice"), node("bob")
		alice.wantServed(t, "alice's 1", true, 1)
		r.clock.Advance(time.Second)
		alice.wantMade(t, "alice's 2", true, 2) // although the page is fresh
		alice.wantMade(t, "alice's 2", true, 2)
		bob.wantMade(t, "alice's 2", true, 0)
		bob.wantServed(t, "alice's 2", true, 0)
		if r.status() != "COMPLETED" || r.lockToken() != "" || r.answered() != 1 {
			t.Errorf("status %s, lock %q, answered %d times", r.status(), r.lockToken(), r.answered())
		}
		r.clock.Advance(time.Minute)
		bob.wantMade(t, "alice's 2", false, 0) // the age of its data
		bob.wantServed(t, "bob's 1", true, 1)
		alice.wantMade(t, "alice's 2", false, 2) // it is not the page any more
	})
}

func TestARequestWithOtherInputsIsRefused(t *testing.T) {
	everyReference(t, func(t *testing.T, r *rig, node func(string) *node) {
		alice, bob := node("alice"), node("bob")
		refused := func(when string) {
			t.Helper()
			got, err := bob.regenerate(t, isr.Request{ID: deploy.ID, Hash: "h2"})
			if !errors.Is(err, isr.ErrOtherInputs) || bob.made != 0 {
				t.Errorf("when it has %s: got %q, %v, after %d renderings, want ErrOtherInputs", when, got.Body, err,
					bob.made)
			}
			wantMention(t, err, "deploy-1", key)
		}
		alice.render = func(context.Context, func(context.Context) error) error {
			refused("started")
			return errOrigin
		}
		if _, err := alice.regenerate(t, deploy); !errors.Is(err, errOrigin) {
			t.Errorf("got %v, want the origin's error", err)
		}
		refused("failed")
		alice.render = nil
		alice.wantMade(t, "alice's 2", true, 2)
		refused("been answered")
		r.clock.Advance(time.Second) // within a second, the guard Monotonic would make him render twice
		if got, err := bob.regenerate(t, isr.Request{ID: "deploy-2", Hash: "h2"}); err != nil ||
			string(got.Body) != "bob's 1" {
			t.Errorf("under another key: got %q, %v", got.Body, err)
		}
	})
}

func TestARequestNeedsAnID(t *testing.T) {
	_, err := newRig(t).node("alice").regenerate(t, isr.Request{Hash: "h"})
	wantMention(t, err, "Request.ID")
}

func TestAFailedRequestMayBeTakenUpAgain(t *testing.T) {
	everyReference(t, func(t *testing.T, r *rig, node func(string) *node) {
		alice, bob := node("alice"), node("bob")
		alice.wantServed(t, "alice's 1", true, 1)
		r.clock.Advance(time.Second)
		alice.render = func(context.Context, func(context.Context) error) error { return errOrigin }
		if got, err := alice.regenerate(t, deploy); !errors.Is(err, errOrigin) {
			t.Errorf("got %q, %v, want the origin's error: the page was not made", got.Body, err)
		}
		if r.status() != "FAILED" || r.lockToken() != "" {
			t.Errorf("status %s, lock %q, want FAILED and none", r.status(), r.lockToken())
		}
		bob.wantMade(t, "bob's 1", true, 1)
	})
}

// A node that dies leaves a started request, and its lock.
func TestARequestOfTheDeadIsTakenUpAgain(t *testing.T) {
	everyReference(t, func(t *testing.T, r *rig, node func(string) *node) {
		alice, bob := node("alice"), node("bob")
		died := errors.New("died")
		alice.render = func(context.Context, func(context.Context) error) error { panic(died) }
		func() {
			defer func() {
				if v := recover(); v != died {
					t.Fatal(v)
				}
			}()
			_, _ = alice.regenerate(t, deploy)
		}()
		bob.Patience = 40
		bob.wantMade(t, "bob's 1", true, 1)
		if bob.clock.slept != 30 {
			t.Errorf("slept %d times, want 30: until the lease is over", bob.clock.slept)
		}
	})
}

func TestWhoWaitsIsServedWhatTheHolderMakes(t *testing.T) {
	everyReference(t, func(t *testing.T, r *rig, node func(string) *node) {
		alice, bob := node("alice"), node("bob")
		alice.render = func(context.Context, func(context.Context) error) error {
			bob.Patience = 2
			_, err := bob.regenerate(t, deploy)
			if !errors.Is(err, pagecache.ErrUnavailable) || !errors.Is(err, pagecache.ErrHeld) || bob.made != 0 {
				t.Errorf("got %v after %d renderings, want ErrUnavailable, for the lease is held", err, bob.made)
			}
			return nil
		}
		// Carol's put of LOCK arrives just after alice has given it back.
		carol := node("carol")
		asked := 0
		carol.Client = spy{carol.Client, func(in any) error {
			if put, ok := in.(*dynamodb.PutItemInput); ok && strings.Contains(fmt.Sprint(put.Item["sk"]), "LOCK") &&
				asked == 0 {
				asked++
				alice.wantMade(t, "alice's 1", true, 1)
			}
			return nil
		}}
		carol.wantMade(t, "alice's 1", true, 0)
		if asked != 1 || r.lockToken() != "" {
			t.Errorf("lock %q, asked %d times", r.lockToken(), asked)
		}
	})
}

// A node that sleeps past its lease, while another node answers the request, publishes nothing.
func TestASleeperFindsItsRequestAnswered(t *testing.T) {
	everyReference(t, func(t *testing.T, r *rig, node func(string) *node) {
		alice, bob := node("alice"), node("bob")
		alice.render = func(context.Context, func(context.Context) error) error {
			r.clock.Advance(30 * time.Second)
			bob.wantMade(t, "bob's 1", true, 1)
			return nil
		}
		alice.wantMade(t, "bob's 1", true, 1)
		if r.answered() != 1 {
			t.Errorf("answered %d times, want once", r.answered())
		}
	})
}

// A holder does not publish if its request has been answered, even if its lease is still valid.
func TestAnAnsweredRequestIsNotPublishedAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, onB bool) {
		r := newRig(t)
		alice := r.node("alice")
		alice.onB = onB
		alice.render = func(context.Context, func(context.Context) error) error {
			r.bodies["x"] = []byte("x")
			r.put(t, pagecache.RequestRow{PK: isr.PartitionKey("", key), SK: "REQ#deploy-1", RequestHash: "h1",
				Status: pagecache.RequestCompleted, ResultS3Key: "x", TTL: t0 + 90000}.Item())
			return nil
		}
		alice.wantMade(t, "x", false, 1)
		if r.meta(t, "generated_at") != "" || r.lockToken() != "" {
			t.Errorf("rows %v, want no META and no lock", r.rows())
		}
	})
}

// A page that an invalidation overtakes is made again, because the request asks for a visible page.
func TestARequestThatIsOvertakenIsMadeAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, onB bool) {
		r := newRig(t)
		alice := r.guarded("alice", onB)
		alice.render = func(context.Context, func(context.Context) error) error {
			if alice.made == 1 {
				r.guarded("bob", onB).invalidate(t)
			}
			return nil
		}
		alice.wantMade(t, "alice's 2", true, 2)
		alice.wantServed(t, "alice's 2", true, 2)
	})
}

// A request is forgotten once its time is over, whether TTL has deleted its row or not.
func TestARequestIsForgotten(t *testing.T) {
	for _, deleted := range []bool{false, true} {
		everyReference(t, func(t *testing.T, r *rig, node func(string) *node) {
			alice := node("alice")
			alice.wantMade(t, "alice's 1", true, 1)
			r.clock.Advance(24*time.Hour - time.Second)
			alice.wantMade(t, "alice's 1", false, 1)
			r.clock.Advance(time.Second)
			if deleted {
				r.clock.Advance(time.Hour + time.Minute + time.Second)
				if r.db.SweepExpired() == 0 {
					t.Fatal("TTL deleted nothing")
				}
			}
			if got, err := alice.regenerate(t, isr.Request{ID: deploy.ID, Hash: "h2"}); err != nil ||
				string(got.Body) != "alice's 2" {
				t.Errorf("deleted %v: got %q, %v, want alice's 2", deleted, got.Body, err)
			}
		})
	}
}

// A repetition of a request finds the outcome of the first call, whatever one fault did to that call: one page was
// published, and every caller that was given a page was given that page.
func TestARequestIsAnsweredOnceThroughFaults(t *testing.T) {
	for _, op := range []string{"GetItem", "PutItem", "TransactWriteItems", "UpdateItem", "DeleteItem"} {
		for _, kind := range []string{"response-lost", "request-lost", "error-before", "error-after", "throttled",
			"conflict", "duplicate"} {
			if kind == "conflict" && op == "GetItem" {
				continue
			}
			for nth := 1; nth <= effort.Fewer(3, 1); nth++ {
				for _, sdk := range []bool{false, true} {
					fault := fmt.Sprintf("%s op=%s nth=%d", kind, op, nth)
					t.Run(fmt.Sprintf("%s/SDK=%v", fault, sdk), func(t *testing.T) {
						everyReference(t, func(t *testing.T, r *rig, node func(string) *node) {
							alice := node("alice")
							if sdk {
								alice.Client = r.db.Client(ddbfake.WithActor("alice"))
							}
							failures := 0
							if op == "DeleteItem" || op == "UpdateItem" {
								failures = 1 // otherwise there would be no such operation
							}
							alice.render = func(context.Context, func(context.Context) error) error {
								if alice.made <= failures {
									return errOrigin
								}
								return nil
							}
							r.fault(t, fault)
							first, err := alice.regenerate(t, deploy)
							leftToTheCaller := kind == "throttled" && op == "TransactWriteItems" // as the SDK leaves it
							if sdk && failures == 0 && err != nil && !leftToTheCaller {
								t.Errorf("with the SDK's own attempts: got %v, want success", err)
							}
							r.db.ClearFaults()
							bob := node("bob")
							bob.Patience = 40
							second, again := bob.regenerate(t, deploy)
							if again != nil {
								t.Fatalf("asked again: got %v", again)
							}
							if err == nil && string(first.Body) != string(second.Body) {
								t.Errorf("told %q, and then %q", first.Body, second.Body)
							}
							if r.answered() != 1 || r.lockToken() != "" || r.status() != "COMPLETED" {
								t.Errorf("answered %d times, lock %q, status %s, want once, none, COMPLETED",
									r.answered(), r.lockToken(), r.status())
							}
						})
					})
				}
			}
		}
	}
}

func TestRequestRowsSurvive(t *testing.T) {
	want := pagecache.RequestRow{
		PK: "p", SK: "REQ#1", RequestHash: "h", Status: pagecache.RequestCompleted, ResultS3Key: "b", TTL: 9,
	}
	for _, change := range []func(){func() {},
		func() { want.Status, want.ResultS3Key = pagecache.RequestStarted, "" }} {
		change()
		if got, err := pagecache.ParseRequestRow(want.Item()); err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
	for _, name := range []string{"pk", "sk", "request_hash", "status", "ttl"} {
		item := want.Item()
		delete(item, name)
		_, err := pagecache.ParseRequestRow(item)
		wantMention(t, err, "REQ#", name, "nothing")
	}
	want.Status = pagecache.RequestCompleted
	_, err := pagecache.ParseRequestRow(want.Item())
	wantMention(t, err, "result_s3_key", "completed")
}
