package protocols_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// A holder whose publish conflicts with other transactions publishes after them, and gives up after the fourth.
func TestPublishPastConflicts(t *testing.T) {
	for conflicts := range 6 {
		t.Run(fmt.Sprintf("%d conflicts", conflicts), func(t *testing.T) {
			r := newRig(t)
			alice := r.node("alice")
			if conflicts > 0 {
				r.fault(t, fmt.Sprintf("conflict op=TransactWriteItems times=%d", conflicts))
			}
			start := r.clock.Now()
			if conflicts < 4 {
				alice.wantServed(t, "alice's 1", true, 1)
				r.node("bob").wantServed(t, "alice's 1", true, 0)
			} else if _, err := alice.get(r.ctx); err == nil || errors.Is(err, isr.ErrLeaseLost) {
				t.Errorf("got %v, want the store's error: the lease is not lost", err)
			}
			if r.lockToken() != "" {
				t.Error("the lock stays behind")
			}
			if waited, want := r.clock.Now().Sub(start),
				[]time.Duration{0, 50, 150, 350, 350, 350}[conflicts]*time.Millisecond; waited != want {
				t.Errorf("waited %v, want %v", waited, want)
			}
		})
	}
}

// A write that is sent again must pass its guards at that time.
func TestALeaseThatEndsDuringAConflictIsNotPublished(t *testing.T) {
	r := newRig(t)
	c := r.config("alice")
	alice := recipeA(t, c)
	lease, err := alice.Acquire(r.ctx, key)
	must.OK(t, err)
	c.Clock.(*sleepless).whenDone = func(int) { r.clock.Advance(30 * time.Second) }
	r.fault(t, "conflict op=TransactWriteItems")
	err = alice.Publish(r.ctx, lease,
		pagecache.Meta{PK: alice.PK(key), S3Key: "late", GeneratedAt: t0, RevalidateSeconds: 60})
	if !errors.Is(err, isr.ErrLeaseLost) || len(r.rows()) != 1 {
		t.Errorf("got %v, want ErrLeaseLost and no META:\n%v", err, r.rows())
	}
}

// If the caller has gone, the write does not wait.
func TestAConflictAfterTheCallerHasGone(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancel(r.ctx)
	sent := 0
	c := r.config("alice")
	c.Client = spy{c.Client, func(in any) error {
		if _, ok := in.(*dynamodb.TransactWriteItemsInput); !ok {
			return nil
		}
		sent++
		cancel()
		return cancelledFor("None", "TransactionConflict")
	}}
	alice := recipeA(t, c)
	lease := must.Of(alice.Acquire(ctx, key))(t)
	if err := alice.Publish(ctx, lease, pagecache.Meta{PK: alice.PK(key)}); err == nil || sent != 1 {
		t.Errorf("got %v after %d attempts, want an error after one", err, sent)
	}
}

// Only a conflict is retried: together with any other reason it is hopeless.
func TestWhatCountsAsAConflict(t *testing.T) {
	for _, test := range []struct {
		answer error
		again  bool
		lost   bool
	}{
		{cancelledFor("TransactionConflict", "None"), true, false},
		{cancelledFor("TransactionConflict", "TransactionConflict"), true, false},
		{cancelledFor("TransactionConflict", "ConditionalCheckFailed"), false, true},
		{cancelledFor("None", "ConditionalCheckFailed"), false, true},
		{cancelledFor("ProvisionedThroughputExceeded", "None"), false, false},
		{cancelledFor("TransactionConflict", "ValidationError"), false, false},
		{errors.New("the network is down"), false, false},
	} {
		r := newRig(t)
		sent := 0
		c := r.config("alice")
		c.Client = spy{c.Client, func(in any) error {
			if _, ok := in.(*dynamodb.TransactWriteItemsInput); !ok {
				return nil
			}
			sent++
			return test.answer
		}}
		alice := recipeA(t, c)
		lease, err := alice.Acquire(r.ctx, key)
		must.OK(t, err)
		err = alice.Publish(r.ctx, lease, pagecache.Meta{PK: alice.PK(key)})
		if err == nil || errors.Is(err, isr.ErrLeaseLost) != test.lost || sent > 1 != test.again {
			t.Errorf("%v: got %v after %d attempts, want again %v, lost %v", test.answer, err, sent, test.again,
				test.lost)
		}
	}
}

func cancelledFor(codes ...string) error {
	e := &types.TransactionCanceledException{Message: aws.String("Transaction cancelled")}
	for _, code := range codes {
		e.CancellationReasons = append(e.CancellationReasons, types.CancellationReason{Code: aws.String(code)})
	}
	return e
}

// The holder's other writes go past a conflict, too. An acquire does not: it conflicted with the holder.
func TestConflictsOfTheLock(t *testing.T) {
	r := newRig(t)
	alice := r.store(t, "alice")
	r.fault(t, "conflict op=PutItem key=LOCK")
	if _, err := alice.Acquire(r.ctx, key); !errors.Is(err, pagecache.ErrHeld) {
		t.Errorf("Acquire: got %v, want ErrHeld", err)
	}
	lease, err := alice.Acquire(r.ctx, key)
	must.OK(t, err)
	r.clock.Advance(20 * time.Second)
	r.fault(t, "conflict op=UpdateItem times=2")
	refreshed, err := alice.Refresh(r.ctx, lease)
	if want := t0 + 51; err != nil || refreshed.ExpiresAt != want { // 150 ms later, rounded up
		t.Errorf("Refresh: got %+v, %v, want a lease until %d", refreshed, err, want)
	}
	r.fault(t, "conflict op=DeleteItem")
	if err := alice.Release(r.ctx, refreshed); err != nil || r.lockToken() != "" {
		t.Errorf("Release: got %v, lock %q, want none", err, r.lockToken())
	}
}
