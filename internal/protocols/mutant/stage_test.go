package mutant_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/inside"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// stage is where a story takes place: leases of 30 s, pages fresh for 60 s and kept for a day.
type stage struct {
	*testing.T
	clock  *fakeclock.Clock
	db     *ddbfake.DB
	bodies scenariotest.Bodies
	log    recorder.Log
	calls  recorder.Operations
	served string

	protocol    isr.Protocol
	rendering   func(keepAlive func() error) error // called while alice renders, once; may be nil
	beforeWrite func()                             // called before alice's first write of a row; may be nil
	beforeMeta  func()                             // called before alice's first write of META; may be nil
}

func newStage(t *testing.T, p isr.Protocol) *stage {
	t.Helper()
	s := &stage{T: t, clock: fakeclock.New(fakeclock.Epoch), bodies: scenariotest.Bodies{}, protocol: p}
	s.db = ddbfake.New(ddbfake.Options{Clock: s.clock})
	if _, err := s.db.As("setup").CreateTable(s.Context(), isr.TableInput(table)); err != nil {
		t.Fatal(err)
	}
	return s
}

// config is the configuration of an actor, whose bodies are named like lease tokens, alice-1 and so on.
func (s *stage) config(actor string) isr.Config {
	n := 0
	cfg := isr.Config{
		Client: s.db.As(actor), Clock: scenariotest.Sleepless{Clock: s.clock}, Bodies: s.bodies, Table: table,
		Tokens: func() string { n++; return fmt.Sprintf("%s-%d", actor, n) },
		Render: func(ctx context.Context, _ string, keepAlive func(context.Context) error) ([]byte, error) {
			body := fmt.Sprintf("%s-%d", actor, n)
			s.record(actor, history.Rendered, history.Unclaimed, body)
			if do := s.rendering; do != nil {
				s.rendering = nil
				if err := do(func() error { return keepAlive(ctx) }); err != nil {
					return nil, err
				}
			}
			return []byte(body), nil
		},
	}
	inside.In(&cfg).Observe = s.calls.Observer(actor, s.clock.Now)
	return cfg
}

func (s *stage) record(actor string, k history.Kind, as history.ServedAs, body string) {
	s.log.Add(history.Event{Time: s.clock.Now(), Actor: actor, Kind: k, Key: key, As: as, Body: body, Change: len(s.db.Changes())})
}

// correct is the reference's store for an actor.
func (s *stage) correct(actor string) *pagecache.RecipeA {
	s.Helper()
	store, err := pagecache.NewRecipeA(s.config(actor))
	if err != nil {
		s.Fatal(err)
	}
	return store
}

func (*stage) observed(r *pagecache.RecipeA) pagecache.Store {
	cfg := r.Config()
	return pagecache.Observed(r, inside.In(&cfg).Observe)
}

// oldPage makes carol publish a page that goes stale.
func (s *stage) oldPage() {
	s.Helper()
	carol := s.correct("carol")
	store := s.observed(carol)
	lease, err := store.Acquire(s.Context(), key)
	if err != nil {
		s.Fatal(err)
	}
	s.record("carol", history.Rendered, history.Unclaimed, "old")
	s.bodies["old"] = []byte("old")
	now := carol.Now()
	if err := store.Publish(s.Context(), lease, pagecache.Meta{
		PK: carol.PK(key), S3Key: "old", GeneratedAt: now, RevalidateSeconds: 60, TTL: now + 60 + 86400,
	}); err != nil {
		s.Fatal(err)
	}
	s.clock.Advance(time.Minute + time.Second)
}

func (s *stage) bobAcquires() pagecache.Lease {
	s.Helper()
	lease, err := s.observed(s.correct("bob")).Acquire(s.Context(), key)
	if err != nil {
		s.Fatal(err)
	}
	return lease
}

func (s *stage) bobReleases(lease pagecache.Lease) {
	s.Helper()
	if err := s.observed(s.correct("bob")).Release(s.Context(), lease); err != nil {
		s.Fatal(err)
	}
}

// get is a request of alice's.
func (s *stage) get() {
	s.Helper()
	cfg := s.config("alice")
	cfg.Client = spy{cfg.Client, s}
	served, err := s.getAs("alice", cfg)
	switch {
	case err != nil:
		s.served = ""
	case served.Fresh:
		s.served = string(served.Body)
	default:
		s.served = "stale " + string(served.Body)
	}
}

// getAs is a request of a machine that runs the protocol in question.
func (s *stage) getAs(actor string, cfg isr.Config) (isr.Served, error) {
	s.Helper()
	handler, err := s.protocol.New(cfg)
	if err != nil {
		s.Fatal(err)
	}
	s.record(actor, history.Asked, history.Unclaimed, "")
	got, err := handler.Get(s.Context(), key)
	switch {
	case err != nil:
		s.record(actor, history.Failed, history.Unclaimed, "")
	case got.Fresh:
		s.record(actor, history.Served, history.Fresh, string(got.Body))
	default:
		s.record(actor, history.Served, history.Stale, string(got.Body))
	}
	return got, err
}

// settled says that nothing hinders alice from now on.
func (s *stage) settled() {
	s.log.Add(history.Event{Time: s.clock.Now(), Actor: "visitor", Kind: history.Settled})
}

// daveDies makes dave, who also runs the protocol, acquire the lease and die with it.
func (s *stage) daveDies() {
	s.Helper()
	cfg := s.config("dave")
	cfg.Render = func(context.Context, string, func(context.Context) error) ([]byte, error) { panic(errDied) }
	defer func() {
		if v := recover(); v != nil && v != errDied {
			panic(v)
		}
	}()
	_, _ = s.getAs("dave", cfg) // he dies
}

var errDied = errors.New("died")

func (s *stage) end() end {
	s.Helper()
	e := end{Served: s.served}
	for _, item := range s.db.Items(table) {
		if name, ok := item.Str("s3_key"); ok {
			e.Meta = string(s.bodies[name])
		}
		if token, ok := item.Str("lease_token"); ok {
			e.Lock = token
		}
	}
	evidence := invariant.Evidence{Changes: s.db.Changes(), History: s.log.Events(), Revalidate: time.Minute, Settle: 10 * time.Second}
	inside.In(&evidence).Operations = s.calls.All()
	for _, inv := range invariant.All() {
		switch f := inv.Check(evidence); f.Verdict {
		case invariant.OK:
		case invariant.Violated:
			e.Broken = append(e.Broken, inv.Name)
		default:
			s.Errorf("%s is %v: %s", inv.Name, f.Verdict, f.Why)
		}
	}
	return e
}

// spy is alice's client, which lets others go first.
type spy struct {
	isr.Client
	*stage
}

func once(do *func()) {
	if f := *do; f != nil {
		*do = nil
		f()
	}
}

func (s spy) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	once(&s.beforeWrite)
	if sk, ok := in.Item["sk"].(*types.AttributeValueMemberS); ok && sk.Value == isr.SortMeta {
		once(&s.beforeMeta)
	}
	return s.Client.PutItem(ctx, in, o...)
}

func (s spy) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	once(&s.beforeWrite)
	return s.Client.UpdateItem(ctx, in, o...)
}

func (s spy) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	once(&s.beforeMeta)
	return s.Client.TransactWriteItems(ctx, in, o...)
}
