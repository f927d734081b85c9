package policyprotocol_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/protocols/policyprotocol"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

const (
	table = "cache"
	key   = "/home"
)

// rig has a store, a clock and bodies, for any number of nodes. Windows last ten seconds.
type rig struct {
	*testing.T
	clock    *fakeclock.Clock
	db       *ddbfake.DB
	bodies   scenariotest.Bodies
	rendered []int // the seconds at which the origin was read
	takes    time.Duration
	broken   bool // the origin is broken
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{T: t, clock: fakeclock.New(fakeclock.Epoch), bodies: scenariotest.Bodies{}}
	r.db = ddbfake.New(ddbfake.Options{Clock: r.clock})
	if _, err := r.db.As("setup").CreateTable(t.Context(), isr.TableInput(table)); err != nil {
		t.Fatal(err)
	}
	return r
}

// node makes a node under a policy.
func (r *rig) node(policy, actor string, options ...func(*isr.Config)) isr.Handler {
	r.Helper()
	all := policyprotocol.All()
	i := slices.IndexFunc(all, func(p isr.Protocol) bool { return p.Name == policy })
	if i < 0 {
		r.Fatalf("no policy is called %s", policy)
	}
	n := 0
	cfg := isr.Config{
		Client: r.db.As(actor), Clock: scenariotest.Sleepless{Clock: r.clock}, Bodies: r.bodies, Table: table,
		Revalidate: 10 * time.Second, Tokens: func() string { n++; return fmt.Sprintf("%s-%d", actor, n) },
		Render: func(context.Context, string, func(context.Context) error) ([]byte, error) {
			if r.broken {
				return nil, errors.New("the origin is broken")
			}
			now := r.second()
			r.rendered = append(r.rendered, now)
			r.clock.Advance(r.takes)
			return fmt.Appendf(nil, "of second %d", now), nil
		},
	}
	for _, option := range options {
		option(&cfg)
	}
	h, err := all[i].New(cfg)
	if err != nil {
		r.Fatal(err)
	}
	return h
}

// second is the present second, counted from the beginning of the test.
func (r *rig) second() int { return int(r.clock.Now().Sub(fakeclock.Epoch) / time.Second) }

// at moves the clock to the given second.
func (r *rig) at(second int) {
	r.Helper()
	left := time.Duration(second)*time.Second - r.clock.Now().Sub(fakeclock.Epoch)
	if left < 0 {
		r.Fatalf("it is second %d already, want %d", r.second(), second)
	}
	r.clock.Advance(left)
}

// want asks a node for the page.
func (r *rig) want(h isr.Handler, body string, fresh bool) {
	r.Helper()
	served, err := h.Get(r.Context(), key)
	if err != nil || string(served.Body) != body || served.Fresh != fresh {
		r.Errorf("second %d: served %q, fresh %v, %v; want %q, fresh %v", r.second(), served.Body, served.Fresh, err,
			body, fresh)
	}
}

// wantRendered checks the times at which pages were made so far.
func (r *rig) wantRendered(seconds ...int) {
	r.Helper()
	if !slices.Equal(r.rendered, seconds) {
		r.Errorf("pages were made at %v, want %v", r.rendered, seconds)
	}
}

// locked puts another node's lock, which lasts until the given second.
func (r *rig) locked(until int) {
	r.Helper()
	expires := pagecache.Floor(fakeclock.Epoch) + pagecache.EpochSeconds(until)
	lock := pagecache.Lock{
		PK: isr.PartitionKey("", key), LeaseToken: "theirs", LeaseExpiresAt: expires, TTL: expires + 3600,
	}
	if _, err := r.db.As("carol").PutItem(r.Context(),
		&dynamodb.PutItemInput{TableName: aws.String(table), Item: lock.Item()}); err != nil {
		r.Fatal(err)
	}
}

// before calls a function once, before a node puts a row.
type before struct {
	isr.Client
	put func()
}

func (b *before) PutItem(
	ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options),
) (*dynamodb.PutItemOutput, error) {
	if do := b.put; do != nil {
		b.put = nil
		do()
	}
	return b.Client.PutItem(ctx, in, options...)
}

// asking runs a function before a body is put.
type asking struct {
	scenariotest.Bodies
	put func()
}

func (a asking) PutBody(ctx context.Context, name string, body []byte) error {
	a.put()
	return a.Bodies.PutBody(ctx, name, body)
}
