package unit

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/examples/articles"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/live"
)

// rows says what the rows of the cache mean.
var rows = isr.Schema{Rows: []isr.Row{{
	Partition: "id = page#{key}", Body: "html", Generated: "updated_at ms", Token: "locked_by",
	Expires: "locked_until ms",
}}}

// promise has the fact that the rows do not hold: an article is fresh for a minute.
var promise = invariant.Promise{Revalidate: time.Minute}

// site is a table and a clock, watched.
type site struct {
	clock   *fakeclock.Clock
	db      *ddbfake.DB
	checker *live.Checker
	written int // articles
}

func newSite(t live.TB) *site {
	t.Helper()
	s := &site{clock: fakeclock.New(fakeclock.Epoch)}
	s.db = ddbfake.Start(t, ddbfake.Options{Clock: s.clock})
	_, err := s.db.Client().CreateTable(context.Background(), &dynamodb.CreateTableInput{
		TableName: aws.String("articles"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"),
			AttributeType: types.ScalarAttributeTypeS}},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Errorf("create table: %v", err)
	}
	s.checker = live.Watch(t, s.db, live.Options{Rows: rows, Promise: promise})
	return s
}

// machine is the cache of one machine. While it writes, meanwhile happens.
func (s *site) machine(name string, meanwhile func()) *articles.Cache {
	tokens := 0
	return &articles.Cache{
		DB: s.db.Client(ddbfake.WithActor(name)), Table: "articles", Lock: 10 * time.Second, FreshFor: time.Minute,
		Now: s.clock.Now, Sleep: func(d time.Duration) { s.clock.Advance(d) },
		NewToken: func() string { tokens++; return fmt.Sprintf("%s-%d", name, tokens) },
		Write: func(_ context.Context, slug string) (string, error) {
			s.written++
			text := fmt.Sprintf("%s, %d", slug, s.written)
			if meanwhile != nil {
				meanwhile()
			}
			return text, nil
		},
	}
}

// want asks for an article.
func want(t *testing.T, c *articles.Cache, html string, fresh bool) {
	t.Helper()
	got, err := c.Article(t.Context(), "news")
	if err != nil || got.HTML != html || got.Fresh != fresh {
		t.Errorf("got %q, fresh %v, %v; want %q, fresh %v", got.HTML, got.Fresh, err, html, fresh)
	}
}

func TestAnArticleIsWrittenAgainAfterAMinute(t *testing.T) {
	s := newSite(t)
	alice, bob := s.machine("alice", nil), s.machine("bob", nil)
	want(t, alice, "news, 1", true)
	s.clock.Advance(time.Minute - 1)
	want(t, bob, "news, 1", true)
	s.clock.Advance(1)
	want(t, bob, "news, 2", true)

	s.checker.Look()
	if got := s.checker.Summary(); got.Publishes != 1 || got.Oldest != time.Minute || got.Overdue != 0 {
		t.Errorf("a stampede, or stale reads: %+v", got)
	}
}

func TestTheOldArticleIsServedWhileAnotherMachineWrites(t *testing.T) {
	s := newSite(t)
	bob := s.machine("bob", nil)
	want(t, bob, "news, 1", true)
	s.clock.Advance(time.Minute)
	alice := s.machine("alice", func() { want(t, bob, "news, 1", false) })
	want(t, alice, "news, 2", true)

	if got := s.checker.Summary(); got.Locks != 2 { // the lock of alice, and the one that was refused to bob
		t.Errorf("%+v", got)
	}
}

func TestAMachineThatSleptDoesNotOverwrite(t *testing.T) {
	s := newSite(t)
	bob := s.machine("bob", nil)
	alice := s.machine("alice", func() {
		s.clock.Advance(10 * time.Second) // her lock is over
		want(t, bob, "news, 2", true)
	})
	if _, err := alice.Article(t.Context(), "news"); err == nil {
		t.Error("alice has published without a lock")
	}
	want(t, alice, "news, 2", true)
}

// found is a test that notes its failures.
type found struct {
	testing.TB
	cleanups []func()
	errors   []string
}

func (f *found) Cleanup(c func())             { f.cleanups = append(f.cleanups, c) }
func (f *found) Failed() bool                 { return len(f.errors) > 0 }
func (f *found) Errorf(text string, a ...any) { f.errors = append(f.errors, fmt.Sprintf(text, a...)) }

// The same story with a machine that publishes without a condition: the articles are right, and the rows are not.
func TestAMachineThatOverwritesIsCaught(t *testing.T) {
	f := &found{TB: t}
	s := newSite(f)
	bob := s.machine("bob", nil)
	alice := s.machine("alice", func() {
		s.clock.Advance(10 * time.Second)
		want(t, bob, "news, 2", true)
	})
	alice.DB = s.db.Client(ddbfake.WithActor("alice"), unconditional)
	want(t, alice, "news, 1", true)
	for _, end := range f.cleanups {
		end()
	}
	const part = "violated: stale-writer by alice\n" +
		"stale-writer: the publisher has taken the lease, "
	if all := strings.Join(f.errors, "\n"); !strings.Contains(all, part) {
		t.Errorf("live.Watch says %q, want %q", all, part)
	}
}

// unconditional takes the condition off the updates that publish.
func unconditional(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("unconditional",
			func(
				ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
			) (middleware.InitializeOutput, middleware.Metadata, error) {
				if update, ok := in.Parameters.(*dynamodb.UpdateItemInput); ok &&
					strings.Contains(*update.UpdateExpression, "html") {
					update.ConditionExpression = nil
					delete(update.ExpressionAttributeValues, ":me")
					delete(update.ExpressionAttributeValues, ":now")
				}
				return next.HandleInitialize(ctx, in)
			}), middleware.Before)
	})
}
