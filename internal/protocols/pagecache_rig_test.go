package protocols_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

const (
	table = "cache"
	key   = "/home"
)

// t0 is the beginning of every test, in the rows' unit.
var t0 = pagecache.Floor(fakeclock.Epoch)

// rig is a store, a clock and a body store, with any number of nodes on them.
type rig struct {
	ctx    context.Context
	clock  *fakeclock.Clock
	db     *ddbfake.DB
	bodies scenariotest.Bodies
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{ctx: context.Background(), clock: fakeclock.New(fakeclock.Epoch), bodies: scenariotest.Bodies{}}
	r.db = ddbfake.New(ddbfake.Options{Clock: r.clock})
	setup := r.db.As("setup")
	must.Done(t)(setup.CreateTable(r.ctx, isr.TableInput(table)))
	must.Done(t)(setup.UpdateTimeToLive(r.ctx, isr.TTLInput(table)))
	return r
}

// config is the configuration of a node: 30 s leases, pages fresh for 60 s, tokens alice-1, alice-2 and so on.
func (r *rig) config(actor string) isr.Config {
	return isr.Config{
		Client: r.db.As(actor), Clock: &sleepless{Clock: r.clock}, Bodies: r.bodies, Table: table,
		Render: func(context.Context, string, func(context.Context) error) ([]byte, error) {
			return nil, fmt.Errorf("%s was not to render", actor)
		},
		Tokens: counting(actor),
	}
}

// store is only the protocol's store, as a node uses it.
func (r *rig) store(t *testing.T, actor string) *pagecache.RecipeA {
	t.Helper()
	return recipeA(t, r.config(actor))
}

func recipeA(t *testing.T, c isr.Config) *pagecache.RecipeA {
	t.Helper()
	return must.Of(pagecache.NewRecipeA(c))(t)
}

// put writes a row as the actor setup.
func (r *rig) put(t *testing.T, item map[string]types.AttributeValue) {
	t.Helper()
	must.Done(t)(r.db.As("setup").PutItem(r.ctx, &dynamodb.PutItemInput{TableName: aws.String(table), Item: item}))
}

// page puts a page into the cache, generated at the given second and fresh for 60 s.
func (r *rig) page(t *testing.T, body string, generatedAt pagecache.EpochSeconds) {
	t.Helper()
	r.bodies[body] = []byte(body)
	r.put(t, pagecache.Meta{
		PK: isr.PartitionKey("", key), S3Key: body, GeneratedAt: generatedAt, RevalidateSeconds: 60,
	}.Item())
}

// lock puts somebody's lock.
func (r *rig) lock(t *testing.T, token string, expires pagecache.EpochSeconds) {
	t.Helper()
	r.put(t, lockRow(token, expires).Item())
}

func lockRow(token string, expires pagecache.EpochSeconds) pagecache.Lock {
	return pagecache.Lock{
		PK: isr.PartitionKey("", key), LeaseToken: token, LeaseExpiresAt: expires, TTL: expires + 3600,
	}
}

// rows is the table as text, without the long partition key.
func (r *rig) rows() []string {
	var lines []string
	for _, item := range r.db.Items(table) {
		short := maps.Clone(item)
		delete(short, "pk")
		lines = append(lines, short.String())
	}
	return lines
}

// lockToken is the token in the LOCK row of the key; "" if there is no such row.
func (r *rig) lockToken() string {
	for _, item := range r.db.Items(table) {
		if sk, _ := item.Str("sk"); sk == isr.SortLock {
			token, _ := item.Str("lease_token")
			return token
		}
	}
	return ""
}

// fault injects a fault by its text form.
func (r *rig) fault(t *testing.T, text string) {
	t.Helper()
	f := must.Of(ddbfake.ParseFault(text))(t)
	r.db.Inject(f)
}

// counting makes tokens that name their owner.
func counting(actor string) func() string {
	n := 0
	return func() string {
		n++
		return fmt.Sprintf("%s-%d", actor, n)
	}
}

// sleepless is a clock that moves when somebody sleeps on it.
type sleepless struct {
	*fakeclock.Clock
	slept    int
	whenDone func(slept int) // called after each sleep
}

func (s *sleepless) Sleep(d time.Duration) {
	s.Clock.Advance(d)
	s.slept++
	if s.whenDone != nil {
		s.whenDone(s.slept)
	}
}

// spy is a client that lets the test do something before each call.
type spy struct {
	isr.Client
	before func(input any) error
}

func (s spy) GetItem(
	ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.GetItemOutput, error) {
	if err := s.before(in); err != nil {
		return nil, err
	}
	return s.Client.GetItem(ctx, in, o...)
}

func (s spy) PutItem(
	ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.PutItemOutput, error) {
	if err := s.before(in); err != nil {
		return nil, err
	}
	return s.Client.PutItem(ctx, in, o...)
}

func (s spy) UpdateItem(
	ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.UpdateItemOutput, error) {
	if err := s.before(in); err != nil {
		return nil, err
	}
	return s.Client.UpdateItem(ctx, in, o...)
}

func (s spy) Query(
	ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options),
) (*dynamodb.QueryOutput, error) {
	if err := s.before(in); err != nil {
		return nil, err
	}
	return s.Client.Query(ctx, in, o...)
}

func (s spy) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
	if err := s.before(in); err != nil {
		return nil, err
	}
	return s.Client.TransactWriteItems(ctx, in, o...)
}

// wantMention checks that an error's text contains all the words.
func wantMention(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want one that mentions %q", words)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not mention %q", err, word)
		}
	}
}

// meta is the text of an attribute of the key's META row; "" if it is missing.
func (r *rig) meta(t *testing.T, name string) string {
	t.Helper()
	for _, item := range r.db.Items(table) {
		if sk, _ := item.Str("sk"); sk == isr.SortMeta && item[name] != nil {
			return strings.Trim(item[name].String(), `"`)
		}
	}
	return ""
}
