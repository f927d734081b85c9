package live_test

import (
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/live"
)

// A cache with rows of its own tells its history, too: Options.Rows finds the rows of a page by its key, in tables of any
// keys, and the findings have the cache's own names.
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
	render("bob", "y") // it was stale
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
