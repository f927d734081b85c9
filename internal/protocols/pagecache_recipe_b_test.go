package protocols_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

func (r *rig) b(actor string) *node {
	n := r.node(actor)
	n.onB = true
	return n
}

func (n *node) rollback(t *testing.T) error {
	t.Helper()
	c := must.Of(n.cache())(t)
	return c.Rollback(n.rig.ctx, key)
}

// versions makes alice publish the given number of versions, a minute apart.
func (r *rig) versions(t *testing.T, alice *node, count int) {
	t.Helper()
	for i := 1; i <= count; i++ {
		alice.wantServed(t, fmt.Sprintf("alice's %d", i), true, i)
		r.clock.Advance(time.Minute)
	}
}

func TestRecipeBWritesAVersionAndPointsAtIt(t *testing.T) {
	r := newRig(t)
	alice := r.b("alice")
	alice.guards, alice.pointerETag = pagecache.AllGuards, true
	alice.wantServed(t, "alice's 1", true, 1)
	r.clock.Advance(time.Minute)
	alice.wantServed(t, "alice's 2", true, 2)
	row := func(sk string, by int, at pagecache.EpochSeconds, rest string) string {
		return strings.NewReplacer("AT", fmt.Sprint(at), "TTL", fmt.Sprint(at+60+86400+
			3600), "BY", fmt.Sprint(by), "NUMBER", fmt.Sprint(int64(t0)+int64(by)-1)).Replace(
			`{` + rest + `generated_at: AT, revalidate_seconds: 60, s3_key: "pages/alice-BY", sk: "` + sk +
				`", ttl: TTL, version: NUMBER}`)
	}
	var etags []string
	for i := 1; i <= 2; i++ {
		etags = append(etags, etagOf(t, r, fmt.Sprintf("VER#alice-%d", i)))
	}
	meta := strings.Replace(row("META", 2, t0+60, `current_sk: "VER#alice-2", etag: `+etags[1]+`, `),
		`s3_key: "pages/alice-2", `, "", 1)
	want := []string{meta, row("VER#alice-1", 1, t0, "etag: "+etags[0]+", "),
		row("VER#alice-2", 2, t0+60, "etag: "+etags[1]+", ")}
	if diff := cmp.Diff(want, r.rows()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// etagOf is the etag in a row, in printed form.
func etagOf(t *testing.T, r *rig, sk string) string {
	t.Helper()
	for _, item := range r.db.Items(table) {
		if got, _ := item.Str("sk"); got == sk {
			return item["etag"].String()
		}
	}
	t.Fatalf("no row %s", sk)
	return ""
}

// A pointer without an etag does not keep the etag of the previous version.
func TestThePointersETagIsThatOfItsVersionOrNone(t *testing.T) {
	r := newRig(t)
	alice, bob := r.b("alice"), r.b("bob")
	alice.pointerETag = true
	alice.wantServed(t, "alice's 1", true, 1)
	if r.meta(t, "etag") == "" {
		t.Error("the pointer has no etag")
	}
	r.clock.Advance(time.Minute)
	bob.wantServed(t, "bob's 1", true, 1)
	if got := r.meta(t, "etag"); got != "" {
		t.Errorf("the pointer has etag %s, want none", got)
	}
}

func TestRecipeBReads(t *testing.T) {
	r := newRig(t)
	cfg := r.config("alice")
	store, err := pagecache.NewRecipeB(cfg)
	must.OK(t, err)
	meta := pagecache.Meta{
		PK: store.PK(key), CurrentSK: "VER#1", GeneratedAt: t0, RevalidateSeconds: 60, Version: 3, TTL: t0 + 7200,
	}
	version := pagecache.Version{
		PK: meta.PK, SK: "VER#1", S3Key: "b", ETag: "e", GeneratedAt: t0, RevalidateSeconds: 60, TTL: t0 + 7200,
	}
	nothing := pagecache.Meta{PK: meta.PK, Version: 3}
	wantMiss := func(name string, want pagecache.Meta) {
		t.Helper()
		if got, err := store.Read(r.ctx, key); !errors.Is(err, isr.ErrMiss) || got != want {
			t.Errorf("%s: got %+v, %v, want %+v and ErrMiss", name, got, err, want)
		}
	}
	wantMiss("no row", pagecache.Meta{})
	r.put(t, meta.Item())
	wantMiss("a pointer to nothing", nothing)
	r.put(t, version.Item())
	want := meta
	want.S3Key, want.ETag = "b", "e"
	if got, err := store.Read(r.ctx, key); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	version.TTL = t0 + 3600
	r.put(t, version.Item())
	wantMiss("a pointer to a version that counts as gone", nothing)
	r.put(t, pagecache.Meta{PK: meta.PK, S3Key: "b", GeneratedAt: t0}.Item())
	_, err = store.Read(r.ctx, key)
	wantMention(t, err, "read", key, "current_sk", "recipe B")
	r.put(t, meta.Item())
	_, err = r.store(t, "bob").Read(r.ctx, key)
	wantMention(t, err, "read", key, "s3_key", "recipe A")
}

// Recipe B refuses what recipe A refuses, and then writes nothing.
func TestRecipeBPublishesUnderTheLease(t *testing.T) {
	for _, test := range guarded {
		t.Run(test.name, func(t *testing.T) {
			r, _, lease := acquired(t)
			alice, err := pagecache.NewRecipeB(r.config("alice"))
			must.OK(t, err)
			test.prepare(t, r)
			before := r.rows()
			meta := pagecache.Meta{
				PK: alice.PK(key), S3Key: "new", GeneratedAt: t0, RevalidateSeconds: 60, ETag: "e", TTL: t0 + 90000,
			}
			err = alice.Publish(r.ctx, lease, meta)
			if test.over || test.others || test.missing {
				wantLost(t, r, "publish", err, before)
				return
			}
			meta.CurrentSK = "VER#alice-1"
			if got, err := alice.Read(r.ctx, key); err != nil || got != meta {
				t.Errorf("Read: got %+v, %v, want %+v", got, err, meta)
			}
			if got := r.lockToken(); got != "" || len(r.rows()) != 2 {
				t.Errorf("rows %v, want META and a version", r.rows())
			}
		})
	}
}

func TestRecipeBSurvivesALostAnswer(t *testing.T) {
	for _, sdk := range []bool{true, false} {
		r := newRig(t)
		alice := r.guarded("alice", true)
		if sdk {
			alice.Client = r.db.Client(ddbfake.WithActor("alice"))
		}
		r.fault(t, "response-lost op=TransactWriteItems")
		alice.wantServed(t, "alice's 1", true, 1)
		if r.lockToken() != "" || len(r.rows()) != 2 || r.meta(t, "version") != fmt.Sprint(t0) {
			t.Errorf("rows %v, want META at its first version, and a version", r.rows())
		}
	}
}

func TestRollback(t *testing.T) {
	for _, all := range []bool{true, false} {
		r := newRig(t)
		alice := r.b("alice")
		if all {
			alice.guards, alice.pointerETag = pagecache.AllGuards, true
		}
		r.versions(t, alice, 3)
		bob := r.b("bob")
		bob.guards, bob.pointerETag = alice.guards, alice.pointerETag
		for _, want := range []int{2, 1} {
			must.OK(t, bob.rollback(t))
			if got, want := r.meta(t, "current_sk"), fmt.Sprintf("VER#alice-%d", want); got != want ||
				r.lockToken() != "" {
				t.Errorf("META leads to %s, lock %q, want %s and no lock", got, r.lockToken(), want)
			}
			if got, want := r.meta(t, "ttl"), fmt.Sprint(t0+pagecache.EpochSeconds(60*want)+86400+3600); got != want {
				t.Errorf("ttl %s, want that of the version, %s", got, want)
			}
		}
		if err := bob.rollback(t); !errors.Is(err, isr.ErrMiss) || r.lockToken() != "" {
			t.Errorf("further than the first: got %v, lock %q, want ErrMiss and no lock", err, r.lockToken())
		}
		if want := map[bool]string{true: fmt.Sprint(t0 + 4), false: ""}[all]; r.meta(t, "version") != want {
			t.Errorf("version %s, want %q", r.meta(t, "version"), want)
		}
		must.Done(t)(r.store(t, "carol").Acquire(r.ctx, key))
		alice.wantServed(t, "alice's 1", false, 3)
		r.clock.Advance(time.Minute)
		alice.wantServed(t, "alice's 4", true, 4)
		if err := bob.rollback(t); err != nil || r.meta(t, "current_sk") != "VER#alice-3" {
			t.Errorf("after a new version: %v, META leads to %s, want alice-3", err, r.meta(t, "current_sk"))
		}
	}
}

// A version that is still within its window is fresh again, unless there was an invalidation.
func TestWhatIsRolledBackToIsAsOldAsItIs(t *testing.T) {
	for _, invalidated := range []bool{false, true} {
		r := newRig(t)
		alice := r.guarded("alice", true)
		alice.wantServed(t, "alice's 1", true, 1)
		r.clock.Advance(time.Second)
		if invalidated {
			alice.invalidate(t)
		} else {
			delete(r.bodies, "pages/alice-1") // so that alice makes another one
		}
		alice.wantServed(t, "alice's 2", true, 2)
		r.bodies["pages/alice-1"] = []byte("alice's 1")
		must.OK(t, alice.rollback(t))
		if invalidated {
			r.clock.Advance(time.Second)
			alice.wantServed(t, "alice's 3", true, 3)
		} else {
			alice.wantServed(t, "alice's 1", true, 2)
		}
	}
}

func TestARollbackThatIsOvertaken(t *testing.T) {
	for _, test := range []struct {
		name      string
		meanwhile func(*testing.T, *rig, *node) // after bob has looked, before he writes
		want      string
	}{
		{"by an invalidation: it goes back all the same",
			func(t *testing.T, _ *rig, carol *node) { carol.invalidate(t) }, "VER#alice-1"},
		{"by a publish, for he has lost his lease: it goes back from there", func(t *testing.T, r *rig, carol *node) {
			r.clock.Advance(30 * time.Second)
			carol.wantServed(t, "carol's 1", true, 1)
		}, "VER#alice-2"},
		{"by TTL, which takes the version: it goes nowhere", func(t *testing.T, r *rig, _ *node) {
			must.Done(t)(r.db.As("setup").DeleteItem(r.ctx, &dynamodb.DeleteItemInput{
				TableName: aws.String(table), Key: pagecache.Key(isr.PartitionKey("", key), "VER#alice-1"),
			}))
		}, "VER#alice-2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			alice, bob, carol := r.guarded("alice", true), r.guarded("bob", true), r.guarded("carol", true)
			r.versions(t, alice, 2)
			beforeFirst[*dynamodb.TransactWriteItemsInput](bob, func() { test.meanwhile(t, r, carol) })
			err := bob.rollback(t)
			if gone := strings.Contains(test.name, "TTL"); gone != errors.Is(err, isr.ErrMiss) || !gone && err != nil {
				t.Errorf("got %v", err)
			}
			if got := r.meta(t, "current_sk"); got != test.want || r.lockToken() != "" {
				t.Errorf("META leads to %s, lock %q, want %s and no lock", got, r.lockToken(), test.want)
			}
		})
	}
}

func TestARollbackWaitsForTheHolder(t *testing.T) {
	r := newRig(t)
	alice, bob := r.b("alice"), r.b("bob")
	r.versions(t, alice, 2)
	r.lock(t, "carol-1", pagecache.Floor(r.clock.Now())+5)
	if err := bob.rollback(t); err != nil || bob.clock.slept != 5 {
		t.Errorf("got %v after %d sleeps, want success after 5", err, bob.clock.slept)
	}
	r.lock(t, "carol-1", pagecache.Floor(r.clock.Now())+500)
	if err := bob.rollback(t); !errors.Is(err, pagecache.ErrUnavailable) || !errors.Is(err, pagecache.ErrHeld) {
		t.Errorf("got %v, want ErrUnavailable, for the lease is held", err)
	}
}

// Versions are found on however many pages the store answers with, but not those past their time.
func TestRollbackReadsEveryPage(t *testing.T) {
	r := newRig(t)
	alice := r.b("alice")
	r.versions(t, alice, 2)
	bob := r.b("bob")
	bob.Client = onePerPage{bob.Client}
	for i := range 5 {
		r.put(t, pagecache.Version{PK: isr.PartitionKey("", key), SK: fmt.Sprintf("VER#%d", i), S3Key: "x",
			GeneratedAt: t0 + 1 + pagecache.EpochSeconds(i), TTL: t0 + 3600 + 120}.Item())
	}
	if err := bob.rollback(t); err != nil || r.meta(t, "current_sk") != "VER#alice-1" {
		t.Errorf("%v, META leads to %s, want alice-1", err, r.meta(t, "current_sk"))
	}
}

// onePerPage answers queries with one row at a time.
type onePerPage struct{ isr.Client }

func (c onePerPage) Query(
	ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options),
) (*dynamodb.QueryOutput, error) {
	limited, one := *in, int32(1)
	limited.Limit = &one
	return c.Client.Query(ctx, &limited, o...)
}

func TestRecipeAHasNoVersionsToRollBackTo(t *testing.T) {
	r := newRig(t)
	alice := r.node("alice")
	alice.wantServed(t, "alice's 1", true, 1)
	err := alice.rollback(t)
	wantMention(t, err, "roll back", key, "recipe A")
	if !errors.Is(err, isr.ErrUnsupported) || r.lockToken() != "" {
		t.Errorf("got %v, lock %q, want ErrUnsupported and no lock", err, r.lockToken())
	}
}

func TestReferencesAreNamed(t *testing.T) {
	var names []string
	for _, p := range recipe.References() {
		names = append(names, p.Name)
		if p.Summary == "" || p.Breaks != "" || !p.Memoryless {
			t.Errorf("%+v: want a summary, nothing broken, and no memory", p)
		}
		if h, err := p.New(newRig(t).config("alice")); err != nil || h == nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if h, err := p.New(isr.Config{}); err == nil {
			t.Errorf("%s: got %v for no configuration, want an error", p.Name, h)
		}
	}
	if diff := cmp.Diff([]string{"recipe-a", "recipe-a-guarded", "recipe-b", "recipe-b-guarded", "recipe-a-home"},
		names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
