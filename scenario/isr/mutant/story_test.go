package mutant_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/mutant"
)

const (
	table = "cache"
	key   = "/home"
)

// end is how a story ends.
type end struct {
	Served string   // what alice's last request got, with "stale " before it if she was told so; "" is an error
	Meta   string   // body that META leads to
	Lock   string   // token in LOCK
	Broken []string // invariants
}

// Each story is told of the reference and of every mutant. Alice runs the
// protocol in question; bob and carol are correct. Whoever is not named among
// the exceptions ends as the reference does: that is how a mutant has one bug.
var stories = []struct {
	name      string
	tell      func(*stage)
	reference end
	others    map[string]end
}{
	{
		name: "a quiet life",
		tell: func(s *stage) {
			s.get() // makes alice-1
			s.get()
		},
		reference: end{Served: "alice-1", Meta: "alice-1"},
	},
	{
		name: "a page goes stale",
		tell: func(s *stage) {
			s.oldPage()
			s.get()
		},
		reference: end{Served: "alice-1", Meta: "alice-1"},
		others: map[string]end{
			"freshness-by-ttl": {Served: "old", Meta: "old", Broken: []string{"freshness"}},
		},
	},
	{
		name: "alice makes a page for longer than her lease, and bob takes over",
		tell: func(s *stage) {
			s.rendering = func() error {
				s.clock.Advance(30 * time.Second)
				s.bobAcquires()
				return nil
			}
			s.get()
		},
		reference: end{Served: "alice-1", Lock: "bob-1"},
		others: map[string]end{
			"blind-publish": {Served: "alice-1", Meta: "alice-1", Lock: "bob-1", Broken: []string{"stale-writer"}},
			"blind-release": {Served: "alice-1", Broken: []string{"lock-theft"}},
		},
	},
	{
		name: "alice makes a page for longer than her lease, and nobody cares",
		tell: func(s *stage) {
			s.rendering = func() error {
				s.clock.Advance(30 * time.Second)
				return nil
			}
			s.get()
		},
		reference: end{Served: "alice-1"},
		others: map[string]end{
			"blind-publish": {Served: "alice-1", Meta: "alice-1", Broken: []string{"stale-writer"}},
		},
	},
	{
		name: "alice fails after bob took over",
		tell: func(s *stage) {
			s.rendering = func() error {
				s.clock.Advance(30 * time.Second)
				s.bobAcquires()
				return errors.New("the origin is down")
			}
			s.get()
		},
		reference: end{Lock: "bob-1"},
		others: map[string]end{
			"blind-release": {Broken: []string{"lock-theft"}},
		},
	},
	{
		name: "alice fails, and gives back what is her own",
		tell: func(s *stage) {
			s.rendering = func() error { return errors.New("the origin is down") }
			s.get()
		},
		reference: end{},
	},
	{
		name: "bob acquires while alice's put is on its way",
		tell: func(s *stage) {
			s.oldPage()
			s.beforePut = s.bobAcquires
			s.get()
		},
		reference: end{Served: "stale old", Meta: "old", Lock: "bob-1"},
		others: map[string]end{
			"acquire-by-get-then-put": {Served: "alice-1", Meta: "alice-1", Broken: []string{"lock-theft"}},
			"lease-in-milliseconds":   {Served: "alice-1", Meta: "alice-1", Broken: []string{"lock-theft"}},
			"freshness-by-ttl":        {Served: "old", Meta: "old", Broken: []string{"freshness"}}, // she does not acquire
		},
	},
	{
		name: "bob has held the lease for a while",
		tell: func(s *stage) {
			s.oldPage()
			s.bobAcquires()
			s.clock.Advance(30*time.Second - 1)
			s.get()
		},
		reference: end{Served: "stale old", Meta: "old", Lock: "bob-1"},
		others: map[string]end{
			"lease-in-milliseconds": {Served: "alice-1", Meta: "alice-1", Broken: []string{"lock-theft"}},
			"freshness-by-ttl":      {Served: "old", Meta: "old", Lock: "bob-1", Broken: []string{"freshness"}},
		},
	},
	{
		name: "bob's lease is over",
		tell: func(s *stage) {
			s.bobAcquires()
			s.clock.Advance(30 * time.Second)
			s.get()
		},
		reference: end{Served: "alice-1", Meta: "alice-1"},
	},
}

func TestEachMutantHasItsOneBug(t *testing.T) {
	told := map[string]bool{}
	for _, story := range stories {
		for _, p := range append(mutant.All(), isr.Reference()) {
			t.Run(story.name+"/"+p.Name, func(t *testing.T) {
				want, other := story.others[p.Name]
				if !other {
					want = story.reference
				}
				if slices.Contains(want.Broken, p.Breaks) {
					told[p.Name] = true
				}
				s := newStage(t, p)
				story.tell(s)
				if diff := cmp.Diff(want, s.end()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
	for _, m := range mutant.All() {
		if !told[m.Name] {
			t.Errorf("no story shows how %s breaks %s", m.Name, m.Breaks)
		}
	}
}

// stage is where a story takes place: leases of 30 s, pages fresh for 60 s and kept for a day.
type stage struct {
	*testing.T
	clock  *fakeclock.Clock
	db     *ddbfake.DB
	bodies bodies
	log    history.Log
	served string

	protocol  isr.Protocol
	rendering func() error // while alice renders, once; nil is nothing
	beforePut func()       // before alice's first PutItem; nil is nothing
}

func newStage(t *testing.T, p isr.Protocol) *stage {
	t.Helper()
	s := &stage{T: t, clock: fakeclock.New(fakeclock.Epoch), bodies: bodies{}, protocol: p}
	s.db = ddbfake.New(ddbfake.Options{Clock: s.clock})
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS}
	}
	_, err := s.db.As("setup").CreateTable(s.Context(), &dynamodb.CreateTableInput{
		TableName:            aws.String(table),
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{attribute("pk"), attribute("sk")},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// config is an actor's; its bodies are named as their lease tokens, alice-1 and so on.
func (s *stage) config(actor string) isr.Config {
	n := 0
	return isr.Config{
		Client: s.db.As(actor), Clock: s.clock, Bodies: s.bodies, Table: table,
		Tokens: func() string { n++; return fmt.Sprintf("%s-%d", actor, n) },
		Render: func(context.Context, string, func(context.Context) error) ([]byte, error) {
			body := fmt.Sprintf("%s-%d", actor, n)
			s.record(actor, history.Rendered, history.Unclaimed, body)
			if do := s.rendering; do != nil {
				s.rendering = nil
				if err := do(); err != nil {
					return nil, err
				}
			}
			return []byte(body), nil
		},
	}
}

func (s *stage) record(actor string, k history.Kind, as history.ServedAs, body string) {
	s.log.Add(history.Event{Time: s.clock.Now(), Actor: actor, Kind: k, Key: key, As: as, Body: body})
}

// correct is the reference's store for an actor.
func (s *stage) correct(actor string) *isr.RecipeA {
	s.Helper()
	store, err := isr.NewRecipeA(s.config(actor))
	if err != nil {
		s.Fatal(err)
	}
	return store
}

// oldPage has carol publish a page that goes stale.
func (s *stage) oldPage() {
	s.Helper()
	carol := s.correct("carol")
	lease, err := carol.Acquire(s.Context(), key)
	if err != nil {
		s.Fatal(err)
	}
	s.record("carol", history.Rendered, history.Unclaimed, "old")
	s.bodies["old"] = []byte("old")
	now := carol.Now()
	if err := carol.Publish(s.Context(), lease, isr.Meta{
		PK: carol.PK(key), S3Key: "old", GeneratedAt: now, RevalidateSeconds: 60, TTL: now + 60 + 86400,
	}); err != nil {
		s.Fatal(err)
	}
	s.clock.Advance(time.Minute + time.Second)
}

func (s *stage) bobAcquires() {
	s.Helper()
	if _, err := s.correct("bob").Acquire(s.Context(), key); err != nil {
		s.Fatal(err)
	}
}

// get is a request of alice's.
func (s *stage) get() {
	s.Helper()
	cfg := s.config("alice")
	cfg.Client = putSpy{cfg.Client, func() {
		if do := s.beforePut; do != nil {
			s.beforePut = nil
			do()
		}
	}}
	alice, err := s.protocol.New(cfg)
	if err != nil {
		s.Fatal(err)
	}
	got, err := alice.Get(s.Context(), key)
	s.served = string(got.Body)
	switch {
	case err != nil:
		s.record("alice", history.Failed, history.Unclaimed, "")
	case got.Fresh:
		s.record("alice", history.Served, history.Fresh, s.served)
	default:
		s.record("alice", history.Served, history.Stale, s.served)
		s.served = "stale " + s.served
	}
}

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
	evidence := invariant.Evidence{Changes: s.db.Changes(), History: s.log.Events(), Revalidate: time.Minute}
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

type bodies map[string][]byte

func (b bodies) PutBody(_ context.Context, name string, body []byte) error {
	b[name] = body
	return nil
}

func (b bodies) GetBody(_ context.Context, name string) ([]byte, error) {
	if body, ok := b[name]; ok {
		return body, nil
	}
	return nil, isr.ErrNoBody
}

// putSpy is a client that does something before each PutItem.
type putSpy struct {
	isr.Client
	before func()
}

func (s putSpy) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	s.before()
	return s.Client.PutItem(ctx, in, o...)
}
