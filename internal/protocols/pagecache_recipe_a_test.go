package protocols_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// lockText is a LOCK row as rig.rows prints it.
func lockText(token string, expires pagecache.EpochSeconds) string {
	return fmt.Sprintf("{lease_expires_at: %d, lease_token: %q, sk: \"LOCK\", ttl: %d}", expires, token, expires+3600)
}

func TestAcquire(t *testing.T) {
	for _, test := range []struct {
		name  string
		row   map[string]types.AttributeValue // LOCK before
		after time.Duration                   // when alice asks
		held  bool
		until pagecache.EpochSeconds // the end of alice's lease
	}{
		{"no lock", nil, 0, false, t0 + 30},
		{"no lock, between seconds: the expiry rounds up", nil, 1, false, t0 + 31},
		{"held for an hour more", lockRow("bob-1", t0+3600).Item(), 0, true, 0},
		{"held for a second more", lockRow("bob-1", t0+10).Item(), 9 * time.Second, true, 0},
		{"held for a nanosecond more", lockRow("bob-1", t0+10).Item(), 10*time.Second - 1, true, 0},
		{"over at this very second", lockRow("bob-1", t0+10).Item(), 10 * time.Second, false, t0 + 40},
		{"long over, and not deleted by TTL", lockRow("bob-1", t0+10).Item(), 24 * time.Hour, false, t0 + 86400 + 30},
		{"a lock without an expiry is not known to be over",
			row{"pk": str(isr.PartitionKey("", key)), "sk": str("LOCK")}, time.Hour, true, 0},
		{
			"nor is one whose expiry is text",
			row{"pk": str(isr.PartitionKey("", key)), "sk": str("LOCK"), "lease_token": str("bob-1"),
				"lease_expires_at": str("0")}, 0, true, 0,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			if test.row != nil {
				r.put(t, test.row)
			}
			r.clock.Advance(test.after)
			before := r.rows()

			got, err := r.store(t, "alice").Acquire(r.ctx, key)

			if test.held {
				if !errors.Is(err, pagecache.ErrHeld) {
					t.Errorf("got %+v, %v, want ErrHeld", got, err)
				}
				wantMention(t, err, "acquire", key)
				if diff := cmp.Diff(before, r.rows()); diff != "" {
					t.Errorf("a refusal changed rows (-before +after):\n%s", diff)
				}
				return
			}
			want := pagecache.Lease{Key: key, Token: "alice-1", ExpiresAt: test.until}
			if err != nil || got != want {
				t.Errorf("got %+v, %v, want %+v", got, err, want)
			}
			if diff := cmp.Diff([]string{lockText("alice-1", test.until)}, r.rows()); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

// The SDK repeats a put whose response was lost, and the repetition finds the row of the first attempt.
func TestAcquireMeetsItsOwnCommit(t *testing.T) {
	want := pagecache.Lease{Key: key, Token: "alice-1", ExpiresAt: t0 + 30}

	t.Run("when the SDK tries again", func(t *testing.T) {
		r := newRig(t)
		r.fault(t, "response-lost op=PutItem")
		c := r.config("alice")
		c.Client = r.db.Client(ddbfake.WithActor("alice"))
		alice := recipeA(t, c)
		got, err := alice.Acquire(r.ctx, key)
		if err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	})

	t.Run("when the caller tries again", func(t *testing.T) {
		r := newRig(t)
		r.fault(t, "response-lost op=PutItem")
		c := r.config("alice")
		c.Tokens = func() string { return "alice-1" }
		alice := recipeA(t, c)
		if lease, err := alice.Acquire(r.ctx, key); err == nil || errors.Is(err, pagecache.ErrHeld) {
			t.Errorf("with the response lost: got %+v, %v, want an error that leaves it open", lease, err)
		}
		if got, err := alice.Acquire(r.ctx, key); err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	})

	t.Run("but not somebody else's", func(t *testing.T) {
		r := newRig(t)
		r.lock(t, "bob-1", t0+30)
		r.fault(t, "response-lost op=PutItem")
		c := r.config("alice")
		c.Client = r.db.Client(ddbfake.WithActor("alice"))
		alice := recipeA(t, c)
		if got, err := alice.Acquire(r.ctx, key); !errors.Is(err, pagecache.ErrHeld) {
			t.Errorf("got %+v, %v, want ErrHeld", got, err)
		}
	})
}

// guarded are the states of LOCK in which a holder's write can find it. Alice acquired at t0, until t0+30.
var guarded = []struct {
	name    string
	prepare func(*testing.T, *rig)
	over    bool // the lease is over
	others  bool // another node's lock is in its place
	missing bool
}{
	{name: "own", prepare: func(*testing.T, *rig) {}},
	{name: "own, in its last nanosecond", prepare: func(_ *testing.T, r *rig) { r.clock.Advance(30*time.Second - 1) }},
	{name: "own, over at this very second",
		prepare: func(_ *testing.T, r *rig) { r.clock.Advance(30 * time.Second) }, over: true},
	{name: "own, long over", prepare: func(_ *testing.T, r *rig) { r.clock.Advance(time.Hour) }, over: true},
	{name: "taken over", prepare: func(t *testing.T, r *rig) {
		r.clock.Advance(30 * time.Second)
		must.Done(t)(r.store(t, "bob").Acquire(r.ctx, key))
	}, others: true},
	{name: "somebody else's although it was not over",
		prepare: func(t *testing.T, r *rig) { r.lock(t, "bob-1", t0+30) }, others: true},
	{name: "deleted by TTL", prepare: func(t *testing.T, r *rig) {
		r.clock.Advance(30*time.Second + time.Hour + time.Second)
		if n := r.db.SweepExpired(); n != 1 {
			t.Fatalf("TTL deleted %d rows, want 1", n)
		}
	}, missing: true},
}

// acquired is a rig on which alice holds a lease that began at t0.
func acquired(t *testing.T) (*rig, *pagecache.RecipeA, pagecache.Lease) {
	t.Helper()
	r := newRig(t)
	alice := r.store(t, "alice")
	lease := must.Of(alice.Acquire(r.ctx, key))(t)
	return r, alice, lease
}

func TestRefresh(t *testing.T) {
	for _, test := range guarded {
		t.Run(test.name, func(t *testing.T) {
			r, alice, lease := acquired(t)
			test.prepare(t, r)
			before := r.rows()
			got, err := alice.Refresh(r.ctx, lease)
			if test.over || test.others || test.missing {
				wantLost(t, r, "refresh", err, before)
				return
			}
			want := pagecache.Lease{
				Key: key, Token: lease.Token, ExpiresAt: pagecache.Ceil(r.clock.Now().Add(30 * time.Second)),
			}
			if err != nil || got != want {
				t.Errorf("got %+v, %v, want %+v", got, err, want)
			}
			if diff := cmp.Diff([]string{lockText(lease.Token, want.ExpiresAt)}, r.rows()); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRelease(t *testing.T) {
	for _, test := range guarded {
		t.Run(test.name, func(t *testing.T) {
			r, alice, lease := acquired(t)
			test.prepare(t, r)
			before := r.rows()
			err := alice.Release(r.ctx, lease)
			if test.others || test.missing {
				wantLost(t, r, "release", err, before)
				return
			}
			if err != nil || len(r.rows()) != 0 {
				t.Errorf("got %v and rows %v, want no error and no rows", err, r.rows())
			}
		})
	}
}

// wantLost checks that the lease was lost, and that nothing was written.
func wantLost(t *testing.T, r *rig, operation string, err error, before []string) {
	t.Helper()
	if !errors.Is(err, isr.ErrLeaseLost) {
		t.Errorf("got %v, want ErrLeaseLost", err)
	}
	wantMention(t, err, operation, key)
	if diff := cmp.Diff(before, r.rows()); diff != "" {
		t.Errorf("a refusal changed rows (-before +after):\n%s", diff)
	}
}

// Another error must not be taken for a refusal, because the lease may still be valid.
func TestFailuresOfTheStoreAreNotALostLease(t *testing.T) {
	r, alice, lease := acquired(t)
	meta := pagecache.Meta{PK: alice.PK(key), S3Key: "new", GeneratedAt: t0, RevalidateSeconds: 60}
	for _, kind := range []string{"throttled", "error-before", "request-lost"} {
		r.fault(t, kind+" times=always")
		_, acquireErr := alice.Acquire(r.ctx, "/other")
		_, refreshErr := alice.Refresh(r.ctx, lease)
		_, readErr := alice.Read(r.ctx, key)
		for operation, err := range map[string]error{
			"acquire": acquireErr, "refresh": refreshErr, "read": readErr,
			"publish": alice.Publish(r.ctx, lease, meta), "release": alice.Release(r.ctx, lease),
		} {
			wantMention(t, err, operation)
			for _, verdict := range []error{pagecache.ErrHeld, isr.ErrLeaseLost, isr.ErrMiss} {
				if errors.Is(err, verdict) {
					t.Errorf("%s, %s: got %v", kind, operation, err)
				}
			}
		}
		r.db.ClearFaults()
	}
	if got, want := r.lockToken(), lease.Token; got != want {
		t.Errorf("lock of %q, want %q: none of those took effect", got, want)
	}
}

func TestRead(t *testing.T) {
	r := newRig(t)
	c := r.config("alice")
	var consistent []bool
	c.Client = spy{c.Client, func(in any) error {
		if get, ok := in.(*dynamodb.GetItemInput); ok {
			consistent = append(consistent, aws.ToBool(get.ConsistentRead))
		}
		return nil
	}}
	alice := recipeA(t, c)

	if got, err := alice.Read(r.ctx, key); !errors.Is(err, isr.ErrMiss) || got != (pagecache.Meta{}) {
		t.Errorf("a missing row: got %+v, %v, want ErrMiss", got, err)
	}
	want := pagecache.Meta{
		PK: alice.PK(key), S3Key: "b", GeneratedAt: t0, RevalidateSeconds: 60, ETag: "e", TTL: t0 + 7201,
	}
	r.put(t, want.Item())
	r.clock.Advance(time.Hour)
	if got, err := alice.Read(r.ctx, key); err != nil || got != want {
		t.Errorf("a row an hour and a second before its ttl: got %+v, %v, want %+v", got, err, want)
	}
	r.clock.Advance(time.Second)
	if got, err := alice.Read(r.ctx, key); !errors.Is(err, isr.ErrMiss) || got != (pagecache.Meta{PK: want.PK}) {
		t.Errorf("a row an hour before its ttl: got %+v, %v, want ErrMiss", got, err)
	}
	wrong := want.Item()
	wrong["generated_at"] = str("yesterday")
	r.put(t, wrong)
	_, err := alice.Read(r.ctx, key)
	wantMention(t, err, "read", key, "generated_at", "yesterday")
	if errors.Is(err, isr.ErrMiss) {
		t.Errorf("a wrong row passes for a miss: %v", err)
	}
	if diff := cmp.Diff([]bool{true, true, true, true}, consistent); diff != "" {
		t.Errorf("strongly consistent reads (-want +got):\n%s", diff)
	}
}

func TestFresh(t *testing.T) {
	store := newRig(t).store(t, "alice")
	for _, test := range []struct {
		name string
		meta pagecache.Meta
		now  time.Time
		want bool
	}{
		{"just made", pagecache.Meta{GeneratedAt: 100, RevalidateSeconds: 60}, time.Unix(100, 0), true},
		{"the last nanosecond", pagecache.Meta{GeneratedAt: 100, RevalidateSeconds: 60}, time.Unix(160, -1), true},
		{"the first stale one", pagecache.Meta{GeneratedAt: 100, RevalidateSeconds: 60}, time.Unix(160, 0), false},
		{"made by a clock that is ahead", pagecache.Meta{GeneratedAt: 100, RevalidateSeconds: 60},
			time.Unix(90, 0), true},
		{"never fresh", pagecache.Meta{GeneratedAt: 100}, time.Unix(100, 0), false},
		{"never fresh, by a clock that is behind", pagecache.Meta{GeneratedAt: 100}, time.Unix(90, 0), false},
		{"past its ttl", pagecache.Meta{GeneratedAt: 100, RevalidateSeconds: 60, TTL: 99}, time.Unix(159, 0), true},
		{"long before its ttl", pagecache.Meta{GeneratedAt: 100, RevalidateSeconds: 60, TTL: 1e9},
			time.Unix(160, 0), false},
	} {
		if got := store.Fresh(test.meta, test.now); got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

// TTL must not delete a row that still matters, even if it deletes at once.
func TestRowsOutliveTheirMeaning(t *testing.T) {
	r, alice, lease := acquired(t)
	lock := alice.NewLock(key, "x")
	if got, want := lock.TTL.Time().Sub(lock.LeaseExpiresAt.Time()), alice.Config().TTLBuffer; got < want {
		t.Errorf("LOCK outlives its lease by %v, want %v at least", got, want)
	}
	refreshed := must.Of(alice.Refresh(r.ctx, lease))(t)
	for _, item := range r.db.Items(table) {
		if ttl, _ := item.Int("ttl"); pagecache.EpochSeconds(ttl) < refreshed.ExpiresAt+3600 {
			t.Errorf("after a refresh until %d: ttl %d, want an hour more", refreshed.ExpiresAt, ttl)
		}
	}
}
