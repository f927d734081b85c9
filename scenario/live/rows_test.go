package live_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/live"
)

// apart is a cache whose locks are in a separate table.
var apart = isr.Schema{Rows: []isr.Row{
	{Table: "pages", Partition: "path = {key}", Body: "html", Generated: "at iso8601"},
	{Table: "locks", Partition: "name = lock/{key}", Token: "owner", Expires: "until iso8601"},
}}

// own is a fake with the tables of such a cache.
func own(t *testing.T, rows isr.Schema) *traffic {
	t.Helper()
	s := watch(t, 0, live.Options{Rows: rows})
	s.create("pages", "path")
	s.create("locks", "name")
	return s
}

func (s *traffic) create(table, key string) {
	s.Helper()
	must.Done(s)(s.db.As("setup").CreateTable(context.Background(), &dynamodb.CreateTableInput{
		TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String(key), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String(key), KeyType: "HASH"}},
	}))
}

// puts writes a row of text attributes.
func (s *traffic) puts(actor, table string, pairs ...string) {
	s.Helper()
	item := map[string]types.AttributeValue{}
	for i := 0; i < len(pairs); i += 2 {
		item[pairs[i]] = &types.AttributeValueMemberS{Value: pairs[i+1]}
	}
	must.Done(s)(s.db.As(actor).PutItem(s.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: item}))
	s.checker.Look()
}

func (s *traffic) in(d time.Duration) string {
	return s.clock.Now().Add(d).UTC().Format(time.RFC3339Nano)
}

func TestOwnRowsInTwoTables(t *testing.T) {
	s := own(t, apart)
	s.puts("alice", "locks", "name", "lock//home", "owner", "a1", "until", s.in(1500*time.Millisecond))
	s.puts("alice", "pages", "path", "/home", "html", "x", "at", s.in(0))
	s.wantReported()
	s.clock.Advance(1500 * time.Millisecond)
	s.puts("bob", "locks", "name", "lock//home", "owner", "b1", "until", s.in(time.Second))
	s.puts("alice", "pages", "path", "/home", "html", "y", "at", s.in(0))
	s.wantReported("violated stale-writer by alice")
	found := s.checker.Found()
	if found.Changes != 4 || found.Judged != 4 || found.Misfit != "" || len(found.Unjudged) != 0 {
		t.Errorf("%d changes, %d judged, misfit %q, unjudged %q", found.Changes, found.Judged,
			found.Misfit, found.Unjudged)
	}
	text := found.Broken[0].String()
	for _, part := range []string{"alice published, although bob had taken the lease", "lock//home in locks: {",
		`owner: "b1", until: +2.5s}`, "/home in pages: {at: +0s, html: \"x\"} => {at: +1.5s, html: \"y\"}"} {
		if !strings.Contains(text, part) {
			t.Errorf("%s\nlacks %q", text, part)
		}
	}
}

// again deletes a table and creates it again.
func (s *traffic) again(table, key string) {
	s.Helper()
	must.Done(s)(s.db.As("setup").DeleteTable(s.Context(), &dynamodb.DeleteTableInput{TableName: aws.String(table)}))
	s.create(table, key)
}

// A lease of a cache outlives a table that is not the cache's, even after a restore to a state from before that table.
func TestOwnRowsBesideATableCreatedAgain(t *testing.T) {
	s := own(t, apart)
	s.create("sessions", "sid")
	sessions := func() {
		s.again("sessions", "sid")
		s.puts("carol", "sessions", "sid", "1")
	}
	s.puts("carol", "sessions", "sid", "1")
	sessions()
	s.puts("alice", "locks", "name", "lock//home", "owner", "a1", "until", s.in(time.Minute))
	sessions()
	held := s.db.Snapshot()
	s.puts("bob", "locks", "name", "lock//home", "owner", "b1", "until", s.in(time.Minute))
	s.wantReported("violated lock-theft by bob")
	s.reported = nil
	s.again("pages", "path")
	s.puts("bob", "pages", "path", "/home", "html", "x", "at", s.in(0))
	s.reported = nil
	s.db.Restore(held)
	s.puts("bob", "pages", "path", "/home", "html", "x", "at", s.in(0))
	s.wantReported("violated stale-writer by bob", "unknown monotonic-publication by bob")
	if why := s.checker.Found().Broken; !strings.Contains(why[len(why)-2].Why, "without having taken the lease") {
		t.Errorf("got %s, want that alice has the lease", why[len(why)-2].Why)
	}
}

// A mapping that finds no holder, or no end, of any lease accuses nobody.
func TestOwnRowsThatShowNoLease(t *testing.T) {
	page := isr.Row{Table: "pages", Partition: "path = {key}", Body: "html", Generated: "at iso8601", Window: "window"}
	timed := page
	timed.Expires = "until" // which is no number
	locks := func(partition, token, expires string) []isr.Row {
		return []isr.Row{page, {Table: "locks", Partition: partition, Token: token, Expires: expires + " iso8601"}}
	}
	for name, rows := range map[string][]isr.Row{
		"no lock":            {page},
		"a lock in no time":  {timed},
		"the lock elsewhere": locks("name = locks/{key}", "owner", "until"),
		"another holder":     locks("name = lock/{key}", "ownr", "until"),
		"another end":        locks("name = lock/{key}", "owner", "untl"),
	} {
		s := hear(t, live.Options{Rows: isr.Schema{Rows: rows}})
		s.create("pages", "path")
		s.create("locks", "name")
		until := s.in(time.Minute)
		for _, who := range []string{"alice", "bob"} {
			s.puts(who, "locks", "name", "lock//home", "owner", who, "until", until)
			s.tell(asked(who, "/home"), rendered(who, "/home", who))
			s.puts(who, "pages", "path", "/home", "html", who, "at", s.in(0), "window", "60", "until", until)
			s.tell(served(who, "/home", who, history.Fresh))
		}
		if found := s.checker.Found(); found.Verdict() != invariant.Unknown || found.Violations > 0 ||
			!slices.Contains(s.reported, "unknown no lock seen by alice") ||
			!slices.Contains(s.reported, "unknown single-flight by alice") ||
			name == "the lock elsewhere" && !strings.Contains(found.Misfit, "name is not of the form locks/{key}") {
			t.Errorf("%s: %v, reported %q, misfit %q", name, found.Verdict(), s.reported, found.Misfit)
		}
	}
}

func TestOwnRowsUnderAWrongClock(t *testing.T) {
	s := own(t, isr.Schema{
		Rows: []isr.Row{{Partition: "path = {key}", Body: "html", Generated: "at", Token: "owner", Expires: "until"}},
	})
	s.puts("alice", "pages", "path", "/home", "owner", "a1", "until",
		fmt.Sprint(s.clock.Now().Add(time.Second).UnixMilli()))
	s.wantReported("unknown the clock by alice")
	if why := s.checker.Found().Broken[0].Why; !strings.Contains(why, "until is ") ||
		!strings.Contains(why, "looks like milliseconds") {
		t.Errorf("got %s", why)
	}
}

func TestTableTheory(t *testing.T) {
	rows := must.Of(isr.SchemaNamed("tabletheory"))(t)
	s := watch(t, 0, live.Options{Rows: rows})
	alice := s.store("alice")
	s.publish(alice, "/home")
	s.checker.Look()
	s.wantReported()
	must.Done(t)(alice.Acquire(t.Context(), "/home"))
	s.put("mallory", s.meta(alice, "/home", "evil").Item())
	s.checker.Look()
	s.wantReported("violated stale-writer by mallory", "unknown monotonic-publication by mallory")
}
