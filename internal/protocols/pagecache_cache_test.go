package protocols_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/protocols/guard"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// node is a cache, with the behaviour of its renderer.
type node struct {
	isr.Config
	rig   *rig
	clock *sleepless
	// render runs during each rendering; nil does nothing.
	render func(ctx context.Context, keepAlive func(context.Context) error) error
	made   int  // renderings begun
	onB    bool // it runs recipe B
	// These configure the recipe; 0 means its default guards.
	guards      guard.Set
	pointerETag bool
}

// node makes a node whose pages are called alice's 1, alice's 2 and so on.
func (r *rig) node(actor string) *node {
	n := &node{Config: r.config(actor), rig: r}
	n.clock, _ = n.Clock.(*sleepless)
	n.Render = func(ctx context.Context, _ string, keepAlive func(context.Context) error) ([]byte, error) {
		n.made++
		body := fmt.Sprintf("%s's %d", actor, n.made)
		if n.render != nil {
			if err := n.render(ctx, keepAlive); err != nil {
				return nil, err
			}
		}
		return []byte(body), nil
	}
	return n
}

func (n *node) get(ctx context.Context) (isr.Served, error) {
	c, err := n.cache()
	if err != nil {
		return isr.Served{}, err
	}
	return c.Get(ctx, key)
}

func (n *node) cache() (*pagecache.Cache, error) {
	if !n.onB {
		a, err := pagecache.NewRecipeA(n.Config)
		if err != nil {
			return nil, err
		}
		if n.guards != 0 {
			a.Guards = n.guards
		}
		return pagecache.NewOn(a, n.Config)
	}
	b, err := pagecache.NewRecipeB(n.Config)
	if err != nil {
		return nil, err
	}
	if b.PointerETag = n.pointerETag; n.guards != 0 {
		b.Guards = n.guards
	}
	return pagecache.NewOn(b, n.Config)
}

// wantServed gets the page and checks what is served, and how often the page was made since the test began.
func (n *node) wantServed(t *testing.T, body string, fresh bool, made int) {
	t.Helper()
	got, err := n.get(n.rig.ctx)
	if err != nil {
		t.Fatalf("got error %v, want %q", err, body)
	}
	if string(got.Body) != body || got.Fresh != fresh {
		t.Errorf("got %q, fresh %v, want %q, fresh %v", got.Body, got.Fresh, body, fresh)
	}
	if n.made != made {
		t.Errorf("%d renderings, want %d", n.made, made)
	}
}

func (n *node) wantError(t *testing.T, want error) {
	t.Helper()
	if got, err := n.get(n.rig.ctx); !errors.Is(err, want) {
		t.Errorf("got %q, %v, want error %v", got.Body, err, want)
	}
}

var errOrigin = errors.New("the origin is down")

func TestTheRowsOwnWindowCounts(t *testing.T) {
	r := newRig(t)
	alice := r.node("alice")
	alice.Revalidate = 5 * time.Second
	alice.wantServed(t, "alice's 1", true, 1)
	r.clock.Advance(5 * time.Second)
	bob := r.node("bob") // alice's own pages would live for 60 s
	bob.wantServed(t, "bob's 1", true, 1)
}

func TestWhatIsGoneIsAMiss(t *testing.T) {
	t.Run("META, deleted by TTL early", func(t *testing.T) {
		r := newRig(t)
		alice := r.node("alice")
		alice.Revalidate, alice.Retention, alice.TTLBuffer = time.Hour, time.Second, time.Second
		alice.wantServed(t, "alice's 1", true, 1)
		r.clock.Advance(time.Hour + 3*time.Second)
		if n := r.db.SweepExpired(); n != 1 {
			t.Fatalf("TTL deleted %d rows, want 1", n)
		}
		alice.wantServed(t, "alice's 2", true, 2)
	})
	t.Run("the body, of a fresh page", func(t *testing.T) {
		r := newRig(t)
		r.page(t, "old", t0)
		delete(r.bodies, "old")
		r.node("alice").wantServed(t, "alice's 1", true, 1)
	})
}

// A page is as old as its data, not as its body.
func TestGeneratedAtIsTakenBeforeTheOriginIsRead(t *testing.T) {
	r := newRig(t)
	alice := r.node("alice")
	r.clock.Advance(900 * time.Millisecond)
	alice.render = func(context.Context, func(context.Context) error) error {
		r.clock.Advance(20 * time.Second)
		return nil
	}
	alice.wantServed(t, "alice's 1", true, 1)
	meta := must.Of(r.store(t, "bob").Read(r.ctx, key))(t)
	if meta.GeneratedAt != t0 || meta.RevalidateSeconds != 60 || meta.TTL != t0+60+86400+3600 {
		t.Errorf("got %+v, want it generated at %d, fresh for 60 s, and kept for a day and an hour", meta, t0)
	}
	if string(r.bodies[meta.S3Key]) != "alice's 1" || !strings.HasPrefix(meta.ETag, `"`) ||
		!strings.HasSuffix(meta.ETag, `"`) {
		t.Errorf("body %q, etag %s, want alice's 1 and a quoted etag", r.bodies[meta.S3Key], meta.ETag)
	}
}

func TestAPageThatTookLongerThanItsWindowIsServedAsStale(t *testing.T) {
	r := newRig(t)
	alice := r.node("alice")
	alice.Lease = time.Hour
	alice.render = func(context.Context, func(context.Context) error) error {
		r.clock.Advance(time.Minute)
		return nil
	}
	alice.wantServed(t, "alice's 1", false, 1)
}

func TestContentionWithAnOldPage(t *testing.T) {
	for _, test := range []struct {
		policy    isr.Contention
		publishes int // bob publishes after this number of alice's sleeps; 0 means never
		want      string
		fresh     bool
		sleeps    int
	}{
		{isr.ServeStale, 0, "old", false, 0},
		{isr.Wait, 3, "bob's", true, 3},
		{isr.Wait, 0, "old", false, 10},
	} {
		t.Run(fmt.Sprintf("policy %d, published after %d", test.policy, test.publishes), func(t *testing.T) {
			r := newRig(t)
			r.page(t, "old", t0-100)
			alice := r.contend(t, test.policy, test.publishes)
			alice.wantServed(t, test.want, test.fresh, 0)
			if alice.clock.slept != test.sleeps {
				t.Errorf("slept %d times, want %d", alice.clock.slept, test.sleeps)
			}
		})
	}
}

func TestContentionWithoutAnyPageWaits(t *testing.T) {
	for _, policy := range []isr.Contention{isr.ServeStale, isr.Wait} {
		t.Run(fmt.Sprintf("policy %d, the holder publishes", policy), func(t *testing.T) {
			alice := newRig(t).contend(t, policy, 4)
			alice.wantServed(t, "bob's", true, 0)
			if alice.clock.slept != 4 {
				t.Errorf("slept %d times, want 4", alice.clock.slept)
			}
		})
		t.Run(fmt.Sprintf("policy %d, no page is published", policy), func(t *testing.T) {
			alice := newRig(t).contend(t, policy, 0)
			alice.Patience = 3
			alice.wantError(t, pagecache.ErrUnavailable)
			if alice.clock.slept != 3 || alice.made != 0 {
				t.Errorf("slept %d times and rendered %d times, want 3 and 0", alice.clock.slept, alice.made)
			}
		})
		t.Run(fmt.Sprintf("policy %d, the holder is dead", policy), func(t *testing.T) {
			alice := newRig(t).contend(t, policy, 0)
			alice.Poll = 10 * time.Second
			alice.wantServed(t, "alice's 1", true, 1)
			if alice.clock.slept != 3 {
				t.Errorf("slept %d times, want 3: the lease has 30 s left", alice.clock.slept)
			}
		})
	}
}

// contend makes a rig on which bob holds a lease until t0+30, and publishes after the given number of alice's sleeps.
// It returns alice's node.
func (r *rig) contend(t *testing.T, policy isr.Contention, publishes int) *node {
	t.Helper()
	bob := r.store(t, "bob")
	lease := must.Of(bob.Acquire(r.ctx, key))(t)
	alice := r.node("alice")
	alice.Contention = policy
	alice.clock.whenDone = func(slept int) {
		if slept == publishes {
			r.publish(t, bob, lease, "bob's")
		}
	}
	return alice
}

// publish publishes a page that is new now.
func (r *rig) publish(t *testing.T, by *pagecache.RecipeA, lease pagecache.Lease, body string) {
	t.Helper()
	r.bodies[body] = []byte(body)
	meta := pagecache.Meta{PK: by.PK(key), S3Key: body, GeneratedAt: by.Now(), RevalidateSeconds: 60}
	must.OK(t, by.Publish(r.ctx, lease, meta))
}

// beforeFirst calls do before a node's first request of the given type.
func beforeFirst[Input any](n *node, do func()) {
	done := false
	n.Client = spy{n.Client, func(in any) error {
		if _, is := in.(Input); is && !done {
			done = true
			do()
		}
		return nil
	}}
}

// A node that saw a stale page, and gets the lease just after the winner released it, must not make the page again.
func TestMETAIsReadAgainAfterAcquire(t *testing.T) {
	r := newRig(t)
	r.page(t, "old", t0-100)
	alice := r.node("alice")
	beforeFirst[*dynamodb.PutItemInput](alice, func() {
		bob := r.store(t, "bob")
		lease := must.Of(bob.Acquire(r.ctx, key))(t)
		r.publish(t, bob, lease, "bob's")
	})
	alice.wantServed(t, "bob's", true, 0)
	if got := r.lockToken(); got != "" {
		t.Errorf("lock of %s left, want it released", got)
	}
}

func TestAFailedRenderingReleasesTheLeaseAndServesTheLastKnownPage(t *testing.T) {
	down := func(context.Context, func(context.Context) error) error { return errOrigin }

	t.Run("known from the look under the lease", func(t *testing.T) {
		r := newRig(t)
		alice := r.node("alice")
		alice.render = down
		beforeFirst[*dynamodb.PutItemInput](alice, func() { r.page(t, "old", t0-100) })
		alice.wantServed(t, "old", false, 1)
	})
	t.Run("none", func(t *testing.T) {
		r := newRig(t)
		alice := r.node("alice")
		alice.render = down
		alice.wantError(t, errOrigin)
		if got := r.lockToken(); got != "" || alice.made != 1 {
			t.Errorf("lock of %q left, %d renderings, want none and 1", got, alice.made)
		}
	})
	t.Run("which is fresh by now", func(t *testing.T) {
		r := newRig(t)
		r.page(t, "old", t0-100)
		alice := r.node("alice")
		alice.render = func(context.Context, func(context.Context) error) error {
			r.clock.Advance(time.Minute)
			bob := r.store(t, "bob")
			lease := must.Of(bob.Acquire(r.ctx, key))(t)
			r.publish(t, bob, lease, "bob's")
			return errOrigin
		}
		alice.wantServed(t, "old", false, 1) // no node has looked again, and the page is marked as stale
	})
}

// The policy decides whether the last page or the error is the answer, whatever fails. A held lease is no failure.
func TestTheFailurePolicy(t *testing.T) {
	down := func(context.Context, func(context.Context) error) error { return errOrigin }
	for _, test := range []struct {
		name    string
		prepare func(*testing.T, *rig, *node)
		served  bool // even under Fail
	}{
		{"the origin", func(_ *testing.T, _ *rig, alice *node) { alice.render = down }, false},
		{"the body store",
			func(_ *testing.T, r *rig, alice *node) { alice.Bodies = failing{r.bodies, errOrigin, nil} }, false},
		{"acquire", func(t *testing.T, r *rig, _ *node) { r.fault(t, "request-lost op=PutItem") }, false},
		{"publish", func(t *testing.T, r *rig, _ *node) { r.fault(t, "throttled op=TransactWriteItems") }, false},
		{"nothing, but the lease is held", func(t *testing.T, r *rig, _ *node) { r.lock(t, "bob-1", t0+1000) }, true},
		{"nothing, but the lease is held, and she waits", func(t *testing.T, r *rig, alice *node) {
			r.lock(t, "bob-1", t0+1000)
			alice.Contention = isr.Wait
		}, true},
	} {
		for _, policy := range []isr.Failure{isr.ServeLast, isr.Fail} {
			t.Run(fmt.Sprintf("%s, policy %d", test.name, policy), func(t *testing.T) {
				r := newRig(t)
				r.page(t, "old", t0-100)
				alice := r.node("alice")
				alice.Failure = policy
				test.prepare(t, r, alice)
				got, err := alice.get(r.ctx)
				if want := test.served || policy == isr.ServeLast; want != (err == nil && string(got.Body) == "old" &&
					!got.Fresh) {
					t.Errorf("got %q, fresh %v, %v, want the old page as stale: %v", got.Body, got.Fresh, err, want)
				}
				if policy == isr.Fail && !test.served && err == nil {
					t.Error("got no error")
				}
				if left := r.lockToken(); left == "alice-1" {
					t.Error("she has not given her lease back")
				}
			})
		}
	}
}

func TestABodyThatCannotBeStoredIsNotPublished(t *testing.T) {
	r := newRig(t)
	alice := r.node("alice")
	errFull := errors.New("the bucket is full")
	alice.Bodies = failing{r.bodies, errFull, nil}
	alice.wantError(t, errFull)
	if got := r.rows(); len(got) != 0 {
		t.Errorf("rows %v, want none", got)
	}
}

func TestABodyThatCannotBeReadIsAnErrorAndNoMiss(t *testing.T) {
	r := newRig(t)
	r.page(t, "old", t0)
	alice := r.node("alice")
	errAway := errors.New("the bucket is away")
	alice.Bodies = failing{r.bodies, nil, errAway}
	alice.wantError(t, errAway)
	if alice.made != 0 {
		t.Errorf("%d renderings, want none", alice.made)
	}
}

// failing is a body store that fails.
type failing struct {
	isr.BodyStore
	put, get error
}

func (f failing) PutBody(ctx context.Context, name string, body []byte) error {
	if f.put != nil {
		return f.put
	}
	return f.BodyStore.PutBody(ctx, name, body)
}

func (f failing) GetBody(ctx context.Context, name string) ([]byte, error) {
	if f.get != nil {
		return nil, f.get
	}
	return f.BodyStore.GetBody(ctx, name)
}

// A render that outlives its lease is not published, but its page is served as far as its age allows.
func TestARefusedPublish(t *testing.T) {
	for _, test := range []struct {
		name      string
		meanwhile func(*testing.T, *rig) // while alice renders, for longer than her lease
		want      string
		meta      string // the body that META leads to in the end; "" for no META
		lock      string
	}{
		{"no takeover: her own page", func(*testing.T, *rig) {}, "alice's 1", "old", ""},
		{"the successor is at work: her own page, and his lock stays", func(t *testing.T, r *rig) {
			must.Done(t)(r.store(t, "bob").Acquire(r.ctx, key))
		}, "alice's 1", "old", "bob-1"},
		{"the successor has published: his page", func(t *testing.T, r *rig) {
			bob := r.store(t, "bob")
			lease := must.Of(bob.Acquire(r.ctx, key))(t)
			r.publish(t, bob, lease, "bob's")
		}, "bob's", "bob's", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			r.page(t, "old", t0-100)
			alice := r.node("alice")
			alice.render = func(context.Context, func(context.Context) error) error {
				r.clock.Advance(30 * time.Second)
				test.meanwhile(t, r)
				return nil
			}
			alice.wantServed(t, test.want, true, 1)
			if meta, err := r.store(t, "x").Read(r.ctx, key); err != nil || meta.S3Key != test.meta {
				t.Errorf("META leads to %q, %v, want %q", meta.S3Key, err, test.meta)
			}
			if got := r.lockToken(); got != test.lock {
				t.Errorf("lock of %q, want %q", got, test.lock)
			}
		})
	}
}

// The transaction took effect but its answer was lost. A client that retries learns that from the answer; one that does
// not retry learns it from META.
func TestALostAnswerToThePublish(t *testing.T) {
	for _, sdk := range []bool{true, false} {
		t.Run(fmt.Sprintf("SDK=%v", sdk), func(t *testing.T) {
			r := newRig(t)
			r.page(t, "old", t0-100)
			alice := r.node("alice")
			if sdk {
				alice.Client = r.db.Client(ddbfake.WithActor("alice"))
			}
			r.fault(t, "response-lost op=TransactWriteItems")
			alice.wantServed(t, "alice's 1", true, 1)
			if r.lockToken() != "" || len(r.rows()) != 1 {
				t.Errorf("rows %v, want META alone", r.rows())
			}
			r.node("bob").wantServed(t, "alice's 1", true, 0)
		})
	}
}

func TestAPublishThatFails(t *testing.T) {
	r := newRig(t)
	r.fault(t, "throttled op=TransactWriteItems times=always")
	_, err := r.node("alice").get(r.ctx)
	wantMention(t, err, "publish", key, "ThrottlingError")
	if got := r.lockToken(); got != "" {
		t.Errorf("lock of %s left, want it released for the next to try", got)
	}
}

func TestALongRenderingKeepsItsLease(t *testing.T) {
	r := newRig(t)
	alice := r.node("alice")
	alice.Revalidate = time.Hour
	alice.render = func(ctx context.Context, keepAlive func(context.Context) error) error {
		for range 10 {
			r.clock.Advance(10 * time.Second)
			if err := keepAlive(ctx); err != nil {
				return err
			}
			if lease, err := r.store(t, "bob").Acquire(r.ctx, key); !errors.Is(err, pagecache.ErrHeld) {
				t.Fatalf("bob got %+v, %v", lease, err)
			}
		}
		return nil
	}
	alice.wantServed(t, "alice's 1", true, 1)
	// A refresh is due once half of the lease of 30 s is over. keepAlive is called every 10 s, so it refreshes at 20 s.
	var refreshed []int
	for _, c := range r.db.Changes() {
		if c.Before != nil && c.After != nil {
			refreshed = append(refreshed, int(pagecache.Floor(c.Time)-t0))
		}
	}
	if diff := cmp.Diff([]int{20, 40, 60, 80, 100}, refreshed); diff != "" {
		t.Errorf("seconds of the refreshes (-want +got):\n%s", diff)
	}
}

func TestKeepAliveSaysThatTheLeaseIsLost(t *testing.T) {
	r := newRig(t)
	alice := r.node("alice")
	alice.render = func(ctx context.Context, keepAlive func(context.Context) error) error {
		r.clock.Advance(30 * time.Second)
		must.Done(t)(r.store(t, "bob").Acquire(r.ctx, key))
		return keepAlive(ctx)
	}
	alice.wantError(t, isr.ErrLeaseLost)
	if got := r.lockToken(); got != "bob-1" {
		t.Errorf("lock of %q, want bob's untouched", got)
	}
}

func TestACallerThatGoesAwayLeavesNoLock(t *testing.T) {
	r := newRig(t)
	ctx, leave := context.WithCancel(r.ctx)
	alice := r.node("alice")
	alice.render = func(ctx context.Context, _ func(context.Context) error) error {
		leave()
		return ctx.Err()
	}
	if got, err := alice.get(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %q, %v, want context.Canceled", got.Body, err)
	}
	if got := r.lockToken(); got != "" {
		t.Errorf("lock of %s left for those who stay", got)
	}
}

func TestAStoreThatFails(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault string
		old   bool
		want  string // served as stale; "" means an error
	}{
		{"the first read", "request-lost op=GetItem", true, ""},
		{"acquire, without a page", "request-lost op=PutItem", false, ""},
		{"the second read, with an old page", "request-lost op=GetItem nth=2 times=always", true, "old"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			if test.old {
				r.page(t, "old", t0-100)
			}
			r.lock(t, "bob-1", t0+30)
			r.fault(t, test.fault)
			alice := r.node("alice")
			alice.Contention = isr.Wait
			if test.want != "" {
				alice.wantServed(t, test.want, false, 0)
				return
			}
			var lost *ddbfake.NetworkError
			if got, err := alice.get(r.ctx); !errors.As(err, &lost) {
				t.Errorf("got %q, %v, want the network's error", got.Body, err)
			}
		})
	}
}

// A failed read under the lease does not show whether another page has been published: making the page anyway could be
// a stampede. The lease is given back, so that the next request need not wait.
func TestAFailedReadUnderTheLeaseGivesItBack(t *testing.T) {
	r := newRig(t)
	r.fault(t, "request-lost op=GetItem nth=2")
	alice := r.node("alice")
	var lost *ddbfake.NetworkError
	if got, err := alice.get(r.ctx); !errors.As(err, &lost) {
		t.Errorf("got %q, %v, want the network's error", got.Body, err)
	}
	alice.wantServed(t, "alice's 1", true, 1)
}

func TestTenantsDoNotShareAPage(t *testing.T) {
	r := newRig(t)
	alice, bob := r.node("alice"), r.node("bob")
	alice.Tenant, bob.Tenant = "t1", "t2"
	alice.wantServed(t, "alice's 1", true, 1)
	bob.wantServed(t, "bob's 1", true, 1)
	alice.wantServed(t, "alice's 1", true, 1)
}

// With one request at a time and exact clocks, a cache is simple: a page is made if and only if the last one is 60 s
// old, and no lock is left behind.
func TestOneRequestAtATimeIsAnOrdinaryCache(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRig(t)
		nodes := []*node{r.node("alice"), r.node("bob")}
		var madeAt pagecache.EpochSeconds
		var body string
		for range rapid.IntRange(1, 20).Draw(rt, "requests") {
			r.clock.Advance(time.Duration(rapid.Int64Range(0, int64(90*time.Second)).Draw(rt, "pause")))
			if rapid.Bool().Draw(rt, "TTL sweeps") {
				r.db.SweepExpired() // deletes nothing that matters
			}
			now := pagecache.Floor(r.clock.Now())
			n := rapid.SampledFrom(nodes).Draw(rt, "node")
			made := n.made
			got := must.Of(n.get(r.ctx))(rt)
			due := body == "" || now >= madeAt+60
			if rendered := n.made > made; rendered != due {
				rt.Fatalf("rendered: %v, want %v: the page was made at %d and it is %d", rendered, due, madeAt, now)
			}
			if due {
				madeAt, body = now, string(got.Body)
			}
			if !got.Fresh || string(got.Body) != body || r.lockToken() != "" {
				rt.Fatalf("got %q, fresh %v, lock %q, want %q, fresh, unlocked", got.Body, got.Fresh, r.lockToken(),
					body)
			}
		}
	})
}
