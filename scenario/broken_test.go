package scenario_test

import (
	"context"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// recipeA is a recipe A with a bug.
func recipeA(cfg isr.Config, g isr.Guards, breakIt func(*isr.RecipeA) isr.Store) (isr.Handler, error) {
	cfg.Guards = g
	store, err := isr.NewRecipeA(cfg)
	if err != nil {
		return nil, err
	}
	return isr.AsHandler(isr.NewOn(breakIt(store), store.Config()))
}

const (
	onLease    = isr.GuardToken | isr.GuardExpiry
	allOfThese = onLease | isr.GuardVersion | isr.GuardMonotonic
)

// oldStock publishes what it has published before, if it has.
type oldStock struct {
	*isr.RecipeA
	last *isr.Meta
}

func (s *oldStock) Publish(ctx context.Context, l isr.Lease, m isr.Meta) error {
	if s.last == nil {
		s.last = &m
	}
	return s.RecipeA.Publish(ctx, l, *s.last)
}

// twoSteps publishes on the condition that it has the lease, and then gives it back.
type twoSteps struct{ *isr.RecipeA }

func (s twoSteps) Publish(ctx context.Context, l isr.Lease, m isr.Meta) error {
	cfg := s.Config()
	_, err := cfg.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: &cfg.Table, Item: m.Item()}},
		{ConditionCheck: &types.ConditionCheck{
			TableName: &cfg.Table, Key: isr.Key(s.PK(l.Key), isr.SortLock),
			ConditionExpression: aws.String("lease_token = :token AND lease_expires_at > :now"),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":token": &types.AttributeValueMemberS{Value: l.Token}, ":now": isr.Meta{TTL: s.Now()}.Item()["ttl"],
			},
		}},
	}})
	if _, refused := isr.Refused(err); refused {
		return isr.ErrLeaseLost
	}
	if err == nil {
		_ = s.Release(ctx, l)
	}
	return err
}

// changed publishes another META row than it should.
type changed struct {
	*isr.RecipeA
	change func(*isr.Meta)
}

func (s changed) Publish(ctx context.Context, l isr.Lease, m isr.Meta) error {
	s.change(&m)
	return s.RecipeA.Publish(ctx, l, m)
}

// bodyLast stores a body when it has been published.
type bodyLast struct {
	*isr.RecipeA
	*lateBodies
}

func (s bodyLast) Publish(ctx context.Context, l isr.Lease, m isr.Meta) error {
	if err := s.RecipeA.Publish(ctx, l, m); err != nil {
		return err
	}
	return s.BodyStore.PutBody(ctx, s.name, s.body)
}

// lateBodies keeps the last body until somebody asks for it.
type lateBodies struct {
	isr.BodyStore
	name string
	body []byte
}

func (b *lateBodies) PutBody(_ context.Context, name string, body []byte) error {
	b.name, b.body = name, body
	return nil
}

// noSecondLook takes the page for missing once it has the lease.
type noSecondLook struct {
	*isr.RecipeA
	took *bool
}

func (s noSecondLook) Acquire(ctx context.Context, key string) (isr.Lease, error) {
	l, err := s.RecipeA.Acquire(ctx, key)
	*s.took = err == nil
	return l, err
}

func (s noSecondLook) Read(ctx context.Context, key string) (isr.Meta, error) {
	if *s.took {
		*s.took = false
		return isr.Meta{}, isr.ErrMiss
	}
	return s.RecipeA.Read(ctx, key)
}

// unguarded invalidates as it should, and publishes under the lease alone.
type unguarded struct{ *isr.RecipeA }

func (s unguarded) Publish(ctx context.Context, l isr.Lease, m isr.Meta) error {
	cfg := s.Config()
	cfg.Guards = onLease
	plain, err := isr.NewRecipeA(cfg)
	if err != nil {
		return err
	}
	m.Version = l.Seen + 1
	return plain.Publish(ctx, l, m)
}

// forgetful does not ask whether a request has been answered.
type forgetful struct{ *isr.RecipeA }

func (s forgetful) Begin(ctx context.Context, key string, r isr.Request) (isr.RequestRow, error) {
	row, err := s.RecipeA.Begin(ctx, key, r)
	row.Status = isr.RequestStarted
	return row, err
}

func (s forgetful) Asked(ctx context.Context, key string, r isr.Request) (isr.RequestRow, error) {
	row, err := s.RecipeA.Asked(ctx, key, r)
	row.Status = isr.RequestStarted
	return row, err
}

func (s forgetful) Publish(ctx context.Context, l isr.Lease, m isr.Meta) error {
	l.Request = isr.Request{}
	return s.RecipeA.Publish(ctx, l, m)
}

// careless does not ask for what inputs either.
type careless struct{ forgetful }

func (s careless) Begin(ctx context.Context, key string, r isr.Request) (isr.RequestRow, error) {
	row, err := s.forgetful.Begin(ctx, key, r)
	if err != nil {
		row.Status = isr.RequestStarted
		err = nil
	}
	return row, err
}

const inTurns = `
name: in-turns
about: Alice and bob make the page in turns.
cache: {revalidate: 10s, render: 1s}
actors:
  - name: alice
    script: [get /home, sleep 25s, get /home]
  - name: bob
    script: [sleep 12s, get /home]
bounds: {ticks: 2}
`

const oneOrder = `
name: one-order
about: An order comes twice, one after the other, and then with other inputs.
protocol: recipe-a-guarded
cache: {revalidate: 10s, render: 1s}
actors:
  - name: alice
    script: [regenerate /home as order with v1]
  - name: bob
    script: [sleep 5s, regenerate /home as order with v1]
  - name: carol
    script: [sleep 10s, regenerate /home as order with v2]
bounds: {ticks: 2}
`

// Each of these protocols has one bug, which one invariant is there to catch.
func TestEachInvariantHasAProtocolThatItAloneCatches(t *testing.T) {
	onA := func(breakIt func(*isr.RecipeA) isr.Store) func(isr.Config) (isr.Handler, error) {
		return func(cfg isr.Config) (isr.Handler, error) { return recipeA(cfg, onLease, breakIt) }
	}
	onGuarded := func(breakIt func(*isr.RecipeA) isr.Store) func(isr.Config) (isr.Handler, error) {
		return func(cfg isr.Config) (isr.Handler, error) { return recipeA(cfg, allOfThese, breakIt) }
	}
	for _, test := range []struct {
		breaks, how, in string
		protocol        func(isr.Config) (isr.Handler, error)
	}{
		{"monotonic-publication", "old stock", inTurns, onA(func(r *isr.RecipeA) isr.Store { return &oldStock{RecipeA: r} })},
		{"atomic-publish", "two steps", "paused-writer", onA(func(r *isr.RecipeA) isr.Store { return twoSteps{r} })},
		{"no-dangling-pointer", "the body comes last", "paused-writer", func(cfg isr.Config) (isr.Handler, error) {
			late := &lateBodies{BodyStore: cfg.Bodies}
			cfg.Bodies = late
			return recipeA(cfg, onLease, func(r *isr.RecipeA) isr.Store { return bodyLast{r, late} })
		}},
		{"no-dangling-pointer", "one etag for all", inTurns, onA(func(r *isr.RecipeA) isr.Store {
			return changed{r, func(m *isr.Meta) { m.ETag = "one" }}
		})},
		{"ttl-well-formed", "milliseconds", "paused-writer", onA(func(r *isr.RecipeA) isr.Store {
			return changed{r, func(m *isr.Meta) { m.TTL *= 1000 }}
		})},
		{"ttl-is-gc", "a lock that is there is held", "ttl-lags", protocolNamed(t, "acquire-waits-for-ttl").New},
		{"single-flight", "no second look", "two-contenders", onA(func(r *isr.RecipeA) isr.Store { return noSecondLook{r, new(bool)} })},
		{"no-lost-invalidation", "no version", "invalidation", onGuarded(func(r *isr.RecipeA) isr.Store { return unguarded{r} })},
		{"idempotent-regeneration", "answered twice", oneOrder, onGuarded(func(r *isr.RecipeA) isr.Store { return forgetful{r} })},
		{"idempotent-regeneration", "whatever the inputs", oneOrder, onGuarded(func(r *isr.RecipeA) isr.Store { return careless{forgetful{r}} })},
		{"tenant-isolation", "one key for all", "tenants", func(cfg isr.Config) (isr.Handler, error) {
			cfg.Tenant = ""
			return isr.AsHandler(isr.New(cfg))
		}},
	} {
		t.Run(test.breaks+"/"+test.how, func(t *testing.T) {
			var s *scenario.Scenario
			if test.in[0] == '\n' {
				var err error
				if s, err = scenario.Parse("inline.yaml", []byte(test.in)); err != nil {
					t.Fatal(err)
				}
				if r := campaign(t, scenario.Campaign{Scenario: s, Seed: 1, Schedules: 200}); r.Verdict != invariant.OK {
					t.Fatal(r.Explain("isr-sim", "inline.yaml"))
				}
			} else {
				s = embedded(t, test.in)
			}
			for _, seed := range seeds {
				r := campaign(t, scenario.Campaign{Scenario: s, Protocol: isr.Protocol{Name: "broken", New: test.protocol}, Seed: seed, Schedules: 1000})
				if r.Verdict != invariant.Violated {
					t.Fatalf("seed %d: verdict %v, want violated", seed, r.Verdict)
				}
				// What nodes are told has no explanation either, where there was a page for them.
				linearizable := func(name string) bool { return name == invariant.Linearizable().Name }
				if got := slices.DeleteFunc(r.Failure.Broken, linearizable); !slices.Equal(got, []string{test.breaks}) {
					t.Errorf("seed %d: broken are %v\n%s", seed, got, r.Explain("isr-sim", s.Name))
				}
			}
		})
	}
}
