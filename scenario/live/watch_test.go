package live_test

import (
	"fmt"
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
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/live"
)

var _ live.TB = testing.TB(nil)

// someTest is a test that notes its own failures and logs.
type someTest struct {
	cleanups []func()
	errors   []string
	logs     []string
	skipped  bool
}

func (s *someTest) Helper()                   {}
func (s *someTest) Cleanup(f func())          { s.cleanups = append(s.cleanups, f) }
func (s *someTest) Failed() bool              { return len(s.errors) > 0 }
func (s *someTest) Skipped() bool             { return s.skipped }
func (s *someTest) Logf(f string, a ...any)   { s.logs = append(s.logs, fmt.Sprintf(f, a...)) }
func (s *someTest) Errorf(f string, a ...any) { s.errors = append(s.errors, fmt.Sprintf(f, a...)) }

func (s *someTest) end() {
	for i := len(s.cleanups) - 1; i >= 0; i-- {
		s.cleanups[i]()
	}
}

// watched makes a test that watches a fake with a cache table.
func watched(t *testing.T, o live.Options) (*traffic, *someTest) {
	t.Helper()
	return watchedAt(t, fakeclock.New(fakeclock.Epoch), o)
}

func watchedAt(t *testing.T, clock *fakeclock.Clock, o live.Options) (*traffic, *someTest) {
	t.Helper()
	s, test := &traffic{T: t, clock: clock}, &someTest{}
	s.db = ddbfake.Start(test, ddbfake.Options{Clock: s.clock})
	must.Done(t)(s.db.As("setup").CreateTable(t.Context(), isr.TableInput(table)))
	s.checker = live.Watch(test, s.db, o)
	return s, test
}

// wantTest compares the errors of a test with their beginnings or parts.
func wantTest(t *testing.T, test *someTest, want ...string) {
	t.Helper()
	if len(test.errors) != len(want) {
		t.Fatalf("%d errors, want %d:\n%s", len(test.errors), len(want), strings.Join(test.errors, "\n"))
	}
	for i, part := range want {
		if !strings.Contains(test.errors[i], part) {
			t.Errorf("error %d lacks %q:\n%s", i, part, test.errors[i])
		}
	}
}

func (s *someTest) log() string { return strings.Join(s.logs, "\n") }

func TestWatchPassesACorrectWriter(t *testing.T) {
	s, test := watched(t, live.Options{})
	s.publish(s.store("alice"), "/home")
	s.clock.Advance(time.Minute)
	s.publish(s.store("bob"), "/home")
	test.end()
	wantTest(t, test)
	for _, part := range []string{
		"live.Watch: pages published: 1", "most publishes of a page while once is enough: 1, of cache{",
		"most attempts at a page's lock in that time: 1, of cache{",
	} {
		if !strings.Contains(test.log(), part) {
			t.Errorf("the log lacks %q:\n%s", part, test.log())
		}
	}
}

func TestWatchFailsTheTestOfAWriterWithoutAFence(t *testing.T) {
	s, test := watched(t, live.Options{})
	alice := s.store("alice")
	s.publish(alice, "/home")
	must.Done(t)(alice.Acquire(t.Context(), "/home"))
	s.clock.Advance(1500 * time.Millisecond)
	s.put("mallory", s.meta(alice, "/home", "evil").Item())
	s.checker.Look()
	wantTest(t, test, "violated: stale-writer by mallory", "unknown: monotonic-publication by mallory") // at once
	s.put("mallory", s.meta(alice, "/home", "worse").Item())
	test.end()
	wantTest(t, test, "violated: stale-writer by mallory", "unknown: monotonic-publication by mallory") // each once
	for _, part := range []string{
		"live.Watch: violated: stale-writer by mallory\nstale-writer: the publisher has taken the lease",
		"\nmallory published without having taken the lease\n", "\n  +1.5s       mallory   META of CACHE#",
	} {
		if !strings.Contains(strings.Join(test.errors, "\n"), part) {
			t.Errorf("%s\nlacks %q", strings.Join(test.errors, "\n"), part)
		}
	}
	if !strings.Contains(test.log(), "more of the same") {
		t.Errorf("the second violation is not counted:\n%s", test.log())
	}
}

func TestWatchOfNothingIsVacuous(t *testing.T) {
	_, test := watched(t, live.Options{})
	test.end()
	wantTest(t, test, "live.Watch: vacuous: nothing was judged, for nothing was written into this ddbfake since Watch")

	_, test = watched(t, live.Options{})
	test.skipped = true
	test.end()
	wantTest(t, test)

	_, test = watched(t, live.Options{})
	test.Errorf("before anything was written")
	test.end()
	wantTest(t, test, "before anything was written")
}

func TestWatchKnowsAndDoesNotJudgeFormerRows(t *testing.T) {
	s, test := &traffic{T: t, clock: fakeclock.New(fakeclock.Epoch)}, &someTest{}
	s.db = ddbfake.New(ddbfake.Options{Clock: s.clock})
	must.Done(t)(s.db.As("setup").CreateTable(t.Context(), isr.TableInput(table)))
	s.put("setup", s.meta(s.store("setup"), "/home", "1").Item()) // without a lock
	live.Watch(test, s.db, live.Options{})
	s.clock.Advance(time.Minute)
	s.publish(s.store("alice"), "/home")
	test.end()
	wantTest(t, test)
}

// Whenever the fake is set back, by whatever means, all earlier changes are judged first. Later changes are judged from
// the restored state on.
func TestAFakeThatIsSetBackIsJudgedBefore(t *testing.T) {
	for name, set := range map[string]func(s *traffic, to *ddbfake.Snapshot){
		"to fewer changes": func(s *traffic, to *ddbfake.Snapshot) { s.db.Restore(to) },
		"by the checker":   func(s *traffic, to *ddbfake.Snapshot) { s.checker.Restore(func() { s.db.Restore(to) }) },
		"to nothing":       func(s *traffic, _ *ddbfake.Snapshot) { s.db.Reset(ddbfake.Options{Clock: s.clock}, nil) },
		"and as many were made": func(s *traffic, to *ddbfake.Snapshot) {
			s.db.Restore(to)
			s.publish(s.store("bob"), "/about")
		},
		"and more were made": func(s *traffic, to *ddbfake.Snapshot) {
			s.db.Restore(to)
			s.publish(s.store("bob"), "/about")
			s.publish(s.store("bob"), "/home")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, test := watched(t, live.Options{})
			to := s.db.Snapshot()
			s.publish(s.store("alice"), "/home")
			set(s, to)
			test.end()
			wantTest(t, test)
			if found := s.checker.Found(); found.Changes%3 != 0 || found.Judged != found.Changes || found.Changes == 0 {
				t.Errorf("changes %d, judged %d; want all of each publish", found.Changes, found.Judged)
			}

			s, test = watched(t, live.Options{})
			to = s.db.Snapshot()
			s.publish(s.store("alice"), "/home")
			s.put("mallory", s.meta(s.store("mallory"), "/home", "evil").Item())
			set(s, to)
			test.end()
			wantTest(t, test, "violated: stale-writer by mallory", "unknown: monotonic-publication by mallory")
			bad := s.meta(s.store("mallory"), "/home", "late").Item()
			bad["ttl"] = &types.AttributeValueMemberS{Value: "soon"}
			if name != "to nothing" {
				s.put("mallory", bad)
			}
			s.db.Restore(to) // nothing is reported to a test that is over
			wantTest(t, test, "violated: stale-writer by mallory", "unknown: monotonic-publication by mallory")
		})
	}
}

// get reads a row.
func (s *traffic) get(actor, pk, sk string) {
	s.Helper()
	must.Done(s)(s.db.As(actor).GetItem(s.Context(),
		&dynamodb.GetItemInput{TableName: aws.String(table), Key: pagecache.Key(pk, sk)}))
}

func TestSummaryOfAStampedeAndOfStaleReads(t *testing.T) {
	s, _ := watched(t, live.Options{})
	alice, bob := s.store("alice"), s.store("bob")
	pk := alice.PK("/home")
	s.get("alice", pk, "META") // nothing is there
	lease := must.Of(alice.Acquire(t.Context(), "/home"))(t)
	for range 2 {
		if _, err := bob.Acquire(t.Context(), "/home"); err == nil {
			t.Fatal("bob has the lease of alice")
		}
	}
	must.OK(t, alice.Publish(t.Context(), lease, s.meta(alice, "/home", "1")))
	s.publish(bob, "/home") // although the page is fresh: a stampede
	s.clock.Advance(59 * time.Second)
	s.get("alice", pk, "META")
	got := s.checker.Summary()
	row := fmt.Sprintf("cache{pk: %q, sk: ", pk)
	if got.Pages != 1 || got.Publishes != 2 || got.Locks != 4 {
		t.Errorf("stampede: %+v", got)
	}
	if got.Reads != 1 || got.Oldest != 59*time.Second || got.Overdue != 0 {
		t.Errorf("reads of a fresh page: %+v", got)
	}
	s.clock.Advance(31 * time.Second) // the next window
	s.get("bob", pk, "META")
	s.publish(bob, "/home")
	got = s.checker.Summary()
	if got.Publishes != 2 || got.Locks != 4 || got.Reads != 2 || got.Oldest != 90*time.Second ||
		got.Overdue != 30*time.Second {
		t.Errorf("in the next window: %+v", got)
	}
	for _, part := range []string{
		", of " + row + `"META"}` + "\n", ", of " + row + `"LOCK"}, refused ones included` + "\n",
		" after it was generated, " + row + `"META"};`,
	} {
		if text := got.String(); !strings.Contains(text, part) || strings.Contains(text, "all changes are signed") {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}

// The pages and locks of this cache are in two tables. The cache in examples/unit has both in one row.
func TestSummaryOfOwnRows(t *testing.T) {
	s := own(t, apart)
	s.puts("alice", "locks", "name", "lock//home", "owner", "a1", "until", s.in(time.Second))
	s.puts("alice", "pages", "path", "/home", "html", "x", "at", s.in(0))
	got := s.checker.Summary()
	if got.Publishes != 1 || got.Locks != 1 {
		t.Errorf("%+v", got)
	}
	text := got.String()
	for _, part := range []string{
		`, of pages{path: "/home"}`, `, of locks{name: "lock//home"}`,
		"; refused ones are not known without ddbfake.Options.LogRequests\n", "no read of a page is known without ",
		`all changes are signed "alice"`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%s\nlacks %q", text, part)
		}
	}
}
