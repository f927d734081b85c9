package live_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/live"
)

// hear watches a fake whose clients tell their history. Pages are fresh for a minute.
func hear(t *testing.T, o live.Options) *traffic {
	t.Helper()
	o.Promise.Revalidate = time.Minute
	return watch(t, 0, o)
}

func (s *traffic) tell(events ...history.Event) {
	s.Helper()
	must.OK(s, s.checker.Tell(events...))
}

// asked is the event that a client asks for a page.
func asked(actor, key string) history.Event {
	return history.Event{Actor: actor, Kind: history.Asked, Key: key}
}

func served(actor, key, body string, as history.ServedAs) history.Event {
	return history.Event{Actor: actor, Kind: history.Served, Key: key, Body: body, As: as}
}

func rendered(actor, key, body string) history.Event {
	return history.Event{Actor: actor, Kind: history.Rendered, Key: key, Body: body}
}

func invalidating(actor, key string) history.Event {
	return history.Event{Actor: actor, Kind: history.Invalidating, Key: key}
}

func invalidated(actor, key string) history.Event {
	return history.Event{Actor: actor, Kind: history.Invalidated, Key: key}
}

func of(tenant, call string, e history.Event) history.Event {
	e.Tenant, e.Call = tenant, call
	return e
}

// regenerate takes the lease, renders and publishes, and tells the checker of the rendering.
func (s *traffic) regenerate(store *pagecache.RecipeA, actor, key, body string) {
	s.Helper()
	lease := must.Of(store.Acquire(s.Context(), key))(s)
	s.tell(rendered(actor, key, body))
	must.OK(s, store.Publish(s.Context(), lease, s.meta(store, key, body)))
}

// untold are the invariants that judged nothing.
func (s *traffic) untold() (names []string) {
	for _, line := range s.checker.Found().Untold {
		name, _, _ := strings.Cut(line, ":")
		names = append(names, name)
	}
	return names
}

func TestCorrectClientsAreNotHeardOf(t *testing.T) {
	s := hear(t, live.Options{})
	alice, bob := s.store("alice"), s.store("bob")
	all := []string{"freshness", "single-flight", "no-lost-invalidation", "tenant-isolation", "liveness"}
	if got := s.untold(); !slices.Equal(got, all) {
		t.Errorf("not judged without a history: %q, want %q", got, all)
	}
	s.tell(asked("alice", "/home"))
	s.regenerate(alice, "alice", "/home", "one")
	s.tell(served("alice", "/home", "one", history.Fresh))
	s.clock.Advance(30 * time.Second)
	s.tell(asked("bob", "/home"), served("bob", "/home", "one", history.Fresh))
	s.tell(invalidating("bob", "/home"), invalidated("bob", "/home"))
	s.clock.Advance(30 * time.Second)
	s.tell(asked("bob", "/home"), asked("alice", "/home"))
	s.regenerate(bob, "bob", "/home", "two")
	s.tell(served("bob", "/home", "two", history.Fresh), served("alice", "/home", "one", history.Stale))
	s.wantReported()
	if got := s.untold(); !slices.Equal(got, []string{"tenant-isolation", "liveness"}) {
		t.Errorf("not judged: %q", got)
	}
	s.tell(history.Event{Kind: history.Settled, Within: 30 * time.Second})
	if got := s.checker.Found().Verdict(); got != invariant.Unknown {
		t.Errorf("%v after settled and before any request, want unknown", got)
	}
	s.tell(asked("alice", "/home"), served("alice", "/home", "two", history.Fresh))
	if got := s.checker.Found(); got.Verdict() != invariant.OK || got.Events != 15 || len(got.Untold) != 1 {
		t.Errorf("%v, %d events, not judged: %q; want ok, 15, and tenant-isolation", got.Verdict(), got.Events,
			got.Untold)
	}
}

func TestWhatClientsTellIsJudged(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(s *traffic, alice, bob *pagecache.RecipeA)
		want []string
	}{
		{"a second client renders a page that is fresh", func(s *traffic, alice, bob *pagecache.RecipeA) {
			s.regenerate(alice, "alice", "/home", "one")
			s.regenerate(bob, "bob", "/home", "two")
		}, []string{"violated single-flight by bob"}},
		{"it renders the page once it is stale", func(s *traffic, alice, bob *pagecache.RecipeA) {
			s.regenerate(alice, "alice", "/home", "one")
			s.clock.Advance(time.Minute)
			s.regenerate(bob, "bob", "/home", "two")
		}, nil},
		{"a client renders without the lease", func(s *traffic, alice, bob *pagecache.RecipeA) {
			s.regenerate(alice, "alice", "/home", "one")
			s.publish(bob, "/other")
			s.tell(rendered("bob", "/home", "two"))
		}, []string{"violated single-flight by bob"}},
		{"a name that no client signs with", func(s *traffic, alice, _ *pagecache.RecipeA) {
			s.regenerate(alice, "alice", "/home", "one")
			s.tell(rendered("worker-7", "/home", "two"))
		}, []string{"unknown single-flight by worker-7"}},
		{"another row with the same partition key, in another table", func(s *traffic, alice, _ *pagecache.RecipeA) {
			must.Done(s)(s.db.As("setup").CreateTable(s.Context(), isr.TableInput("stats")))
			must.Done(s)(s.db.As("stats").PutItem(s.Context(),
				&dynamodb.PutItemInput{TableName: aws.String("stats"), Item: pagecache.Key(alice.PK("/home"), "HITS")}))
			s.regenerate(alice, "alice", "/home", "one")
		}, nil},
		{"rows that nobody has written, told once a page", func(s *traffic, _, _ *pagecache.RecipeA) {
			s.tell(rendered("alice", "/none", "x"), rendered("alice", "/none", "y"))
		}, []string{"unknown single-flight by alice"}},
		{"two requests of one client render under one lease", func(s *traffic, alice, _ *pagecache.RecipeA) {
			must.Done(s)(alice.Acquire(s.Context(), "/home"))
			s.tell(of("", "1", rendered("alice", "/home", "x")), of("", "1", rendered("alice", "/home", "x2")))
			s.wantReported()
			s.tell(of("", "2", rendered("alice", "/home", "y")))
		}, []string{"violated single-flight by alice"}},
		{"an old page is served as fresh", func(s *traffic, alice, _ *pagecache.RecipeA) {
			s.regenerate(alice, "alice", "/home", "one")
			s.clock.Advance(time.Minute)
			s.tell(asked("bob", "/home"), served("bob", "/home", "one", history.Fresh)) // at most a minute old
			s.wantReported()
			s.clock.Advance(time.Second)
			s.tell(asked("bob", "/home"), served("bob", "/home", "one", history.Fresh))
		}, []string{"violated freshness by bob"}},
		{"a page with a window of its own", func(s *traffic, alice, _ *pagecache.RecipeA) {
			long, short := rendered("alice", "/long", "one"), rendered("alice", "/short", "two")
			long.Within, short.Within = time.Hour, time.Second
			for _, e := range []history.Event{long, short} {
				must.Done(s)(alice.Acquire(s.Context(), e.Key))
				s.tell(e)
			}
			s.clock.Advance(2 * time.Second)
			s.tell(asked("bob", "/long"), served("bob", "/long", "one", history.Fresh))
			s.wantReported()
			s.tell(asked("bob", "/short"), served("bob", "/short", "two", history.Fresh))
		}, []string{"violated freshness by bob"}},
		{"a page of another key", func(s *traffic, alice, _ *pagecache.RecipeA) {
			s.regenerate(alice, "alice", "/home", "one")
			s.tell(asked("bob", "/other"), served("bob", "/other", "one", history.Stale))
		}, []string{"violated freshness by bob"}},
		{"a page that nobody made", func(s *traffic, _, _ *pagecache.RecipeA) {
			s.tell(asked("bob", "/other"), served("bob", "/other", "one", history.Stale))
		}, []string{"unknown freshness by bob"}},
		{"an invalidation is lost, in no time", func(s *traffic, alice, _ *pagecache.RecipeA) {
			s.regenerate(alice, "alice", "/home", "one")
			s.tell(asked("carol", "/home"), invalidating("bob", "/home"), invalidated("bob", "/home"))
			s.tell(served("carol", "/home", "one", history.Fresh)) // asked for before
			s.tell(asked("carol", "/home"), served("carol", "/home", "one", history.Stale))
			s.wantReported()
			s.tell(asked("carol", "/home"), served("carol", "/home", "one", history.Fresh))
		}, []string{"violated no-lost-invalidation by carol"}},
		{"an invalidation fails", func(s *traffic, alice, _ *pagecache.RecipeA) {
			s.regenerate(alice, "alice", "/home", "one")
			s.tell(invalidating("bob", "/home"), history.Event{Actor: "bob", Kind: history.Failed, Key: "/home"})
			s.tell(asked("carol", "/home"), served("carol", "/home", "one", history.Fresh))
		}, nil},
		{"requests of one client at once, before and after an invalidation",
			func(s *traffic, alice, _ *pagecache.RecipeA) {
				s.regenerate(alice, "alice", "/home", "one")
				s.tell(of("", "1", asked("carol", "/home")), invalidating("bob", "/home"), invalidated("bob", "/home"),
					of("", "2", asked("carol", "/home")))
				s.tell(of("", "1", served("carol", "/home", "one", history.Fresh)))
				s.wantReported()
				s.tell(of("", "2", served("carol", "/home", "one", history.Fresh)))
			}, []string{"violated no-lost-invalidation by carol"}},
		{"a page of another tenant", func(s *traffic, _, _ *pagecache.RecipeA) {
			s.put("alice", pagecache.Key("x", "LOCK"))
			e := of("t1", "", rendered("alice", "/home", "one"))
			s.reported = nil
			s.tell(e, of("t1", "", asked("bob", "/home")), of("t1", "", served("bob", "/home", "one", history.Stale)))
			s.reported = nil // nothing says which rows belong to the page
			s.tell(of("t2", "", asked("bob", "/home")), of("t2", "", served("bob", "/home", "one", history.Stale)))
		}, []string{"violated tenant-isolation by bob"}},
		{"a page never becomes fresh", func(s *traffic, _, _ *pagecache.RecipeA) {
			s.tell(history.Event{Kind: history.Settled, Within: 10 * time.Second}, asked("bob", "/home"))
			s.clock.Advance(10 * time.Second)
			s.checker.Found()
			s.wantReported()
			s.clock.Advance(1)
			s.checker.Found()
			s.checker.Found()
		}, []string{"violated liveness by bob"}},
		{"a page that is in the cache is asked for when its time is over",
			func(s *traffic, alice, _ *pagecache.RecipeA) {
				s.settles(alice)
				s.clock.Advance(11 * time.Second)
				s.tell(asked("bob", "/home"))
				s.clock.Advance(10 * time.Second)
				s.tell(served("bob", "/home", "one", history.Fresh))
				if got := s.checker.Found().Verdict(); got != invariant.OK {
					s.Errorf("%v, want ok", got)
				}
			}, nil},
		{"a page that was made is stale at the next request, and well at the one after that",
			func(s *traffic, alice, _ *pagecache.RecipeA) {
				s.settles(alice)
				s.clock.Advance(time.Minute)
				s.tell(asked("bob", "/home"), served("bob", "/home", "one", history.Stale))
				s.regenerate(alice, "alice", "/home", "two")
				s.clock.Advance(10 * time.Second)
				s.tell(asked("bob", "/home"), served("bob", "/home", "two", history.Fresh))
				if got := s.checker.Found().Verdict(); got != invariant.OK {
					s.Errorf("%v, want ok", got)
				}
			}, nil},
		{"or is not", func(s *traffic, alice, _ *pagecache.RecipeA) {
			s.settles(alice)
			s.clock.Advance(time.Minute)
			s.tell(asked("bob", "/home"), served("bob", "/home", "one", history.Stale))
			s.clock.Advance(10 * time.Second)
			s.tell(asked("bob", "/home"), served("bob", "/home", "one", history.Stale))
			s.clock.Advance(1)
			s.checker.Found()
		}, []string{"violated liveness by bob"}},
		{"it is asked for, and there is no answer for as long again", func(s *traffic, alice, _ *pagecache.RecipeA) {
			s.settles(alice)
			s.clock.Advance(11 * time.Second)
			s.tell(asked("bob", "/home"))
			s.clock.Advance(10*time.Second + 1)
			s.checker.Found()
		}, []string{"violated liveness by bob"}},
		{"a page is made for its last reader", func(s *traffic, alice, _ *pagecache.RecipeA) {
			s.settles(alice)
			s.clock.Advance(time.Minute)
			if got := s.checker.Found().Verdict(); got != invariant.Unknown {
				s.Errorf("%v, want unknown: nothing tells whether it is in the cache", got)
			}
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := hear(t, live.Options{})
			test.do(s, s.store("alice"), s.store("bob"))
			s.wantReported(test.want...)
		})
	}
}

// settles tells that faults have stopped. Then the page is made for its first reader.
func (s *traffic) settles(alice *pagecache.RecipeA) {
	s.tell(history.Event{Kind: history.Settled, Within: 10 * time.Second}, asked("alice", "/home"))
	s.regenerate(alice, "alice", "/home", "one")
	s.tell(served("alice", "/home", "one", history.Fresh))
}

// The findings name the events, and the changes between them.
func TestAFindingShowsWhatWasTold(t *testing.T) {
	s := hear(t, live.Options{})
	s.regenerate(s.store("alice"), "alice", "/home", strings.Repeat("long\x1b", 100))
	s.clock.Advance(time.Second)
	s.regenerate(s.store("bob"), "bob", "/home", "two")
	text := s.checker.Found().Broken[0].String()
	for _, part := range []string{
		"violated: single-flight by bob\n",
		"bob made /home, which had been fresh since it took the lease and was so for another 59s",
		"\n  +1s         bob       LOCK of CACHE#", "\n  +1s         bob       rendered /home body \"two\"\n",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%s\nlacks %q", text, part)
		}
	}
}

// If one event of a list is wrong, none is accepted.
func TestWrongHistoryIsRefusedWhole(t *testing.T) {
	ask := asked("alice", "/home")
	for _, test := range []struct {
		events []history.Event
		want   string
	}{
		{[]history.Event{ask, ask}, "event 2: found alice asked /home, expected the answer to asked first\nhint: give"},
		{[]history.Event{ask, served("bob", "/home", "x", history.Fresh)},
			"event 2: found bob served /home, expected asked before it"},
		{[]history.Event{ask, invalidated("alice", "/home")},
			"event 2: found alice invalidated /home, expected invalidating before it"},
		{[]history.Event{ask, served("alice", "/home", "x", 0)},
			"event 2: served: found no claim, expected fresh or stale"},
		{[]history.Event{ask, served("alice", "/home", "", history.Fresh)}, "event 2: served: found no body"},
		{[]history.Event{ask, rendered("", "/home", "x")}, "event 2: rendered: found no actor"},
		{[]history.Event{ask, rendered("alice", "", "x")}, "event 2: rendered: found no key"},
		{[]history.Event{ask, {Kind: history.Settled}}, "event 2: settled: found within 0s"},
		{[]history.Event{ask, {Kind: history.Paused, Actor: "alice"}},
			"event 2: found the kind paused, expected asked, served"},
		{[]history.Event{{Actor: "alice", Kind: history.Crashed}, ask, ask}, "event 3: found alice asked"},
	} {
		s := hear(t, live.Options{})
		s.tell(asked("alice", "/open"))
		err := s.checker.Tell(test.events...)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("got %v, want %s", err, test.want)
		}
		if got := s.checker.Found().Events; got != 1 {
			t.Errorf("%s: %d events were taken in, want the first", test.want, got)
		}
		s.tell(ask, served("alice", "/open", "x", history.Stale)) // both requests are still open
	}
	s := watch(t, 0, live.Options{})
	if err := live.New(s.db, live.Options{}).Tell(ask); err == nil || !strings.Contains(err.Error(), "no clock") {
		t.Errorf("without a clock: %v", err)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	effort.Long(t)
	s := hear(t, live.Options{})
	s.tell(slices.Repeat([]history.Event{{Actor: "a", Kind: history.Crashed}}, 200_000)...)
	for range 2 {
		if err := s.checker.Tell(asked("a", "/home")); err == nil ||
			!strings.Contains(err.Error(), "too much history is kept: found 200001 events") {
			t.Errorf("got %v", err)
		}
	}
	s.wantReported("unknown the history by ")

	s = hear(t, live.Options{})
	if err := s.checker.Tell(rendered("a", "/home", strings.Repeat("x", 65<<20))); err == nil ||
		!strings.Contains(err.Error(), "too much history") {
		t.Errorf("a long body: got %v", err)
	}
	s = hear(t, live.Options{})
	for i := range 10_000 {
		s.tell(asked("a", fmt.Sprint(i)))
	}
	if err := s.checker.Tell(asked("a", "one more")); err == nil ||
		!strings.Contains(err.Error(), "more than 10000 requests without an answer") {
		t.Errorf("open requests: got %v", err)
	}
	s.tell(history.Event{Actor: "a", Kind: history.Crashed}, asked("a", "one more"))
}

// A restore forgets requests under way and later events. A page from before may still be served.
func TestARestoreForgetsHistory(t *testing.T) {
	s := hear(t, live.Options{})
	s.regenerate(s.store("alice"), "alice", "/home", "one")
	held := s.db.Snapshot()
	s.tell(asked("alice", "/home"), invalidating("bob", "/home"), invalidated("bob", "/home"))
	s.checker.Restore(func() { s.db.Restore(held) })
	s.tell(asked("alice", "/home"), served("alice", "/home", "one", history.Fresh))
	s.wantReported()
	s.regenerate(s.store("bob"), "bob", "/home", "two")
	s.wantReported("violated single-flight by bob")
}

// Invariants that the caller names must be judged.
func TestAHistoryThatWasAskedForAndNotTold(t *testing.T) {
	only := func(inv invariant.Invariant) live.Options {
		return live.Options{Invariants: []invariant.Invariant{inv}}
	}
	s := hear(t, only(invariant.Named("single-flight")))
	s.publish(s.store("alice"), "/home")
	s.checker.Look()
	if got := s.checker.Found().Verdict(); got != invariant.Unknown {
		t.Errorf("%v without a history, want unknown", got)
	}
	s.clock.Advance(time.Minute)
	s.regenerate(s.store("alice"), "alice", "/home", "one")
	if got := s.checker.Found().Verdict(); got != invariant.OK {
		t.Errorf("%v with one, want ok", got)
	}
	s = hear(t, live.Options{Except: []string{"seed"}})
	s.regenerate(s.store("alice"), "alice", "/home", "one")
	s.regenerate(s.store("seed"), "seed", "/home", "two")
	s.tell(history.Event{Actor: "seed", Kind: history.Settled, Within: time.Second}, asked("seed", "/home"),
		served("seed", "/home", "two", history.Stale))
	s.clock.Advance(2 * time.Second)
	s.checker.Found()
	s.wantReported()
	s.tell(asked("alice", "/home"), served("alice", "/home", "two", history.Stale))
	s.clock.Advance(2 * time.Second)
	s.checker.Found()
	s.wantReported("violated liveness by alice")
}

// If the checker has seen no lock, it does not report that a lock was not taken.
func TestRenderingsWithoutLockRows(t *testing.T) {
	s := hear(t, live.Options{Invariants: []invariant.Invariant{invariant.Named("single-flight")}})
	alice := s.store("alice")
	s.put("alice", s.meta(alice, "/home", "one").Item())
	s.tell(rendered("alice", "/home", "two"))
	s.wantReported("unknown single-flight by alice")
}

// A cache with its own rows tells its history, too: Options.Rows finds the rows of a page by the page's key, in tables
// with any keys, and the findings have the cache's own names.
func TestOwnRowsAndHistory(t *testing.T) {
	s := hear(t, live.Options{Rows: apart, Invariants: []invariant.Invariant{invariant.Named("single-flight")}})
	s.create("pages", "path")
	s.create("locks", "name")
	render := func(actor, html string) {
		t.Helper()
		s.puts(actor, "locks", "name", "lock//home", "owner", actor, "until", s.in(time.Second))
		s.tell(rendered(actor, "/home", html))
		s.puts(actor, "pages", "path", "/home", "html", html, "at", s.in(0))
	}
	render("alice", "x")
	s.clock.Advance(time.Minute)
	render("bob", "y") // the page was stale
	s.wantReported()
	if got := s.checker.Found().Verdict(); got != invariant.OK {
		t.Errorf("%v, want ok", got)
	}
	s.clock.Advance(30 * time.Second)
	render("alice", "z")
	s.wantReported("violated single-flight by alice")
	text := s.checker.Found().Broken[0].String()
	if !strings.Contains(text, "lock//home in locks: {") || !strings.Contains(text, `rendered /home body "z"`) {
		t.Errorf("%s\nlacks the lock's own name or the rendering", text)
	}
}

// Each client of a fleet may tell that faults have stopped. The time of every page then begins anew, and a page that is
// undecided at that moment stays undecided until it is found to be well.
func TestAnotherSettledLeavesNoPageBehind(t *testing.T) {
	s := hear(t, live.Options{})
	bob, settled := s.store("bob"), history.Event{Kind: history.Settled, Within: 10 * time.Second}
	for _, key := range []string{"/other", "/third"} {
		s.tell(asked("bob", key))
		s.regenerate(bob, "bob", key, "body of "+key)
		s.tell(served("bob", key, "body of "+key, history.Fresh))
	}
	ask := func(key string, as history.ServedAs) {
		s.tell(asked("bob", key), served("bob", key, "body of "+key, as))
		s.clock.Advance(5 * time.Second)
	}
	s.tell(settled)
	ask("/other", history.Stale)
	s.tell(settled)
	ask("/third", history.Fresh)
	if got := s.untold(); !slices.Contains(got, "liveness") {
		t.Errorf("not judged: %q, want liveness among it: nobody has found a fresh page of /other", got)
	}
	s.checker.Restore(func() {})
	s.tell(settled)
	ask("/third", history.Fresh)
	if got := s.checker.Found().Verdict(); got != invariant.Unknown {
		t.Errorf("%v after a restore, want unknown", got)
	}
	s.tell(settled)
	ask("/other", history.Fresh)
	if got := s.untold(); slices.Contains(got, "liveness") {
		t.Errorf("not judged: %q, want liveness judged", got)
	}
}
