package ddbfake_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// waitForLock takes the lock of /home as soon as it is free. It waits by package time, as most code does.
func waitForLock(ctx context.Context, client *dynamodb.Client) error {
	clock := clockwork.NewRealClock()
	for {
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String("cache"),
			Item: attr.Item{
				"pk": attr.S("/home"), "sk": attr.S("LOCK"), "ttl": attr.Int(clock.Now().Add(time.Minute).Unix()),
			}.ToSDK(),
			ConditionExpression: aws.String("attribute_not_exists(pk)"),
		})
		if _, ok := errors.AsType[*types.ConditionalCheckFailedException](err); !ok {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-clock.After(time.Second):
		}
	}
}

// lockInBubble is the test. It takes no real time: the bubble's time stands still while anything runs, and jumps when
// everything waits.
func lockInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := clockwork.NewRealClock() // in a bubble, the time of the bubble
		db := newCache(ddbfake.Options{Clock: clock, Lag: ddbfake.LagAtOnce})
		began := clock.Now()
		if err := db.Put("cache", attr.Item{
			"pk": attr.S("/home"), "sk": attr.S("LOCK"), "ttl": attr.Int(began.Add(90 * time.Second).Unix()),
		}); err != nil {
			t.Fatal(err)
		}
		db.Inject(ddbfake.Fault{Kind: ddbfake.FaultThrottled, Op: "PutItem", Times: 2}) // the SDK waits and retries

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := waitForLock(ctx, db.Client()); ctx.Err() == nil || err == nil {
			t.Errorf("the lock is held for 90 s: after 60 s got %v, want the context's error", err)
		}
		done := make(chan error)
		go func() { done <- waitForLock(t.Context(), db.Client()) }()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if waited := clock.Now().Sub(began); waited < 90*time.Second || waited > 92*time.Second {
			t.Errorf("the lock was taken after %s, want some 90 s", waited)
		}
	})
}

// A test in a bubble of testing/synctest, with the time of the bubble: neither the client nor the fake waits in real
// time or leaves a goroutine behind.
func Example_synctest() {
	// In a file that ends in _test.go, this is func TestLock.
	_ = lockInBubble
}
