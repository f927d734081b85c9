package live_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/live"
)

func TestNothingJudgedIsNoPass(t *testing.T) {
	s := watch(t, 0, live.Options{})
	must.Done(t)(s.db.As("setup").CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("users"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "N"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: "HASH"}},
	}))
	for i := range 10 {
		must.Done(t)(s.db.As("alice").PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("users"),
			Item: map[string]types.AttributeValue{"id": &types.AttributeValueMemberN{Value: fmt.Sprint(i % 2)},
				"n": &types.AttributeValueMemberN{Value: fmt.Sprint(i)}}}))
	}
	s.put("alice", pagecache.Key("CACHE#1", "LEASE"))
	s.put("alice", pagecache.Key("CACHE#2", "LEASE"))
	s.checker.Look()
	got := s.checker.Found()
	want := []string{
		"table " + table + ", keyed pk (S), sk (S), changes: 2, rows such as LEASE",
		"table users, keyed id (N), changes: 10, rows such as 0, 1",
	}
	if diff := cmp.Diff(want, got.Unjudged); got.Verdict() != invariant.Unknown || diff != "" {
		t.Errorf("%v, unjudged (-want +got):\n%s", got.Verdict(), diff)
	}
	s.publish(s.store("alice"), "/home")
	s.checker.Look()
	if got := s.checker.Found(); got.Verdict() != invariant.OK || len(got.Unjudged) != 1 {
		t.Errorf("with a page: %v, unjudged %v, want ok, and users", got.Verdict(), got.Unjudged)
	}
}

// A table that was deleted and created again is a new table: leases and pages of the old one do not matter.
func TestADeletedTableIsForgotten(t *testing.T) {
	s := watch(t, 0, live.Options{})
	alice, bob := s.store("alice"), s.store("bob")
	again := func() {
		t.Helper()
		must.Done(t)(s.db.As("setup").DeleteTable(t.Context(),
			&dynamodb.DeleteTableInput{TableName: aws.String(table)}))
		must.Done(t)(s.db.As("setup").CreateTable(t.Context(), isr.TableInput(table)))
	}
	s.clock.Advance(50 * time.Minute)
	s.publish(alice, "/home")
	if _, err := alice.Acquire(t.Context(), "/home"); err != nil { // she keeps it
		t.Fatal(err)
	}
	again()
	now := s.clock.Now()
	s.publish(bob, "/home") // alice no longer holds anything
	s.put("bob", pagecache.Meta{
		PK: bob.PK("/other"), S3Key: "x", GeneratedAt: pagecache.EpochSeconds(now.Unix()), RevalidateSeconds: 60,
	}.Item())
	s.checker.Look()
	s.wantReported("violated stale-writer by bob", "unknown monotonic-publication by bob")
	for _, c := range s.checker.Found().Broken[0].Changes {
		if c.Actor != "bob" {
			t.Errorf("%s wrote into the table before this one", c.Actor)
		}
	}
	s.reported = nil
	again()
	s.put("alice", pagecache.Meta{
		PK: bob.PK("/home"), S3Key: "y", GeneratedAt: pagecache.EpochSeconds(now.Unix()), RevalidateSeconds: 60,
	}.Item())
	s.checker.Look()
	// The lock of the old table is no excuse.
	s.wantReported("violated stale-writer by alice", "unknown monotonic-publication by alice")
	if why := s.checker.Found().Broken[2].Why; !strings.Contains(why, "without having taken the lease") {
		t.Errorf("got %q, want that the lease was not taken", why)
	}
	again()
	lease := must.Of(alice.Acquire(t.Context(), "/home"))(t)
	old := s.meta(alice, "/home", lease.Token)
	old.GeneratedAt -= 600 // older than the page in the former table
	must.OK(t, alice.Publish(t.Context(), lease, old))
	s.reported = nil
	s.checker.Look()
	s.wantReported()
}

func TestNoLockSeen(t *testing.T) {
	s := watch(t, 0, live.Options{})
	alice := s.store("alice")
	for i := range 5 {
		s.put("alice", pagecache.Key(alice.PK("/home"), "LEASE"))
		s.put("alice", s.meta(alice, "/home", fmt.Sprint(i)).Item())
		s.put("bob", s.meta(alice, "/other", fmt.Sprint(i)).Item())
	}
	s.checker.Look()
	s.wantReported("unknown no lock seen by alice") // once
	if got := s.checker.Found(); got.Judged != 0 || got.Verdict() != invariant.Unknown {
		t.Errorf("%d judged, %v; want 0, unknown", got.Judged, got.Verdict())
	}
	// Other invariants do not need a lock.
	bad := s.meta(alice, "/home", "bad").Item()
	bad["ttl"] = &types.AttributeValueMemberS{Value: "soon"}
	s.put("alice", bad)
	// From the first LOCK on, a publisher without a lock is a stale writer.
	must.Done(t)(s.store("carol").Acquire(t.Context(), "/third"))
	s.reported = nil
	s.put("mallory", s.meta(alice, "/home", "evil").Item())
	s.checker.Look()
	s.wantReported("violated ttl-well-formed by alice", "violated stale-writer by mallory",
		"unknown monotonic-publication by mallory")
}

// If no invariant needs locks, the checker does not report that it has seen none.
func TestNoLockNeeded(t *testing.T) {
	s := watch(t, 0, live.Options{Invariants: []invariant.Invariant{invariant.Named("ttl-well-formed")}})
	s.put("alice", s.meta(s.store("alice"), "/home", "1").Item())
	s.checker.Look()
	s.wantReported()
	if got := s.checker.Found().Verdict(); got != invariant.OK {
		t.Errorf("got %v, want ok", got)
	}
}

func TestAClockThatIsHoursOffIsOneHint(t *testing.T) {
	for _, off := range []time.Duration{-13 * 365 * 24 * time.Hour, -2 * time.Hour, 2 * time.Hour,
		30 * 365 * 24 * time.Hour} {
		t.Run(off.String(), func(t *testing.T) {
			s := watch(t, 0, recipe(live.Options{}))
			for _, actor := range []string{"alice", "bob"} {
				store := s.storeAt(actor, off)
				for i := range 20 {
					s.publish(store, "/home")
					meta := s.meta(store, "/home", fmt.Sprint(actor, i))
					s.put(actor, meta.Item()) // the lease has been given back before
				}
			}
			s.checker.Look()
			s.wantReported("unknown the clock by alice")
			side := "ahead of the server's clock"
			if off < 0 {
				side = "behind the server's clock"
			}
			if got := s.checker.Found().Broken[0].Why; !strings.Contains(got, side) {
				t.Errorf("got %q, want it to say %q", got, side)
			}
			// Actors whose clocks are right are judged.
			s.reported = nil
			carol := s.store("carol")
			s.publish(carol, "/carol")
			s.put("carol", s.meta(carol, "/carol", "evil").Item())
			s.checker.Look()
			s.wantReported("violated expired-publish by carol")
		})
	}
}

// A client whose clock is nearly an hour off is judged. So is an old page of a client whose clock has shown to be
// right.
func TestAClockThatIsNearIsJudged(t *testing.T) {
	s := watch(t, 0, recipe(live.Options{}))
	alice := s.store("alice")
	s.publish(alice, "/home")
	old := s.meta(alice, "/home", "old")
	old.GeneratedAt -= 7200
	s.put("alice", old.Item())
	s.checker.Look()
	s.wantReported("violated monotonic-publication by alice", "violated expired-publish by alice")
	s.reported = nil
	near := s.storeAt("bob", -59*time.Minute)
	s.publish(near, "/near")
	s.checker.Look()
	s.wantReported("violated expired-publish by bob")
}
