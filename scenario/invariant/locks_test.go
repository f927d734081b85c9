package invariant

import (
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// told is one event of a history of locks: what a node's hold came to, and when.
type told struct {
	at       time.Duration
	actor    string
	kind     history.Kind
	hold     string
	token    int64 // 0 is none
	excused  time.Duration
	troubled bool
	note     string
}

// of makes a history of lock job.
func of(all ...told) []history.Event {
	var events []history.Event
	for i, a := range all {
		e := history.Event{Seq: i + 1, Time: time.Unix(1e9, 0).Add(a.at), Actor: a.actor, Kind: a.kind, Note: a.note}
		if a.hold != "" {
			e.Key = "job"
			e.Hold = &history.Hold{ID: a.hold, Token: a.token, Fenced: a.token != 0, Excused: a.excused, Troubled: a.troubled}
		}
		events = append(events, e)
	}
	return events
}

// takes is a hold that begins at a time.
func takes(at time.Duration, actor, hold string, token int64) []told {
	return []told{{at: at, actor: actor, kind: history.LockAsked, hold: hold}, {at: at, actor: actor, kind: history.LockTaken, hold: hold, token: token}}
}

// is is one event of a hold.
func is(at time.Duration, actor string, kind history.Kind, hold string, token int64) []told {
	return []told{{at: at, actor: actor, kind: kind, hold: hold, token: token}}
}

// back gives a hold back.
func back(at time.Duration, actor, hold string) []told {
	return append(is(at, actor, history.LockReleasing, hold, 0), is(at, actor, history.LockReleased, hold, 0)...)
}

// claims asks whether a hold lasts, and is told so.
func claims(at time.Duration, actor, hold string) []told {
	return append(is(at, actor, history.LockChecking, hold, 0), is(at, actor, history.LockHeld, hold, 0)...)
}

func join(parts ...[]told) []told {
	var all []told
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

const s, ms = time.Second, time.Millisecond

// TestInvariantsOfLocks has histories on both sides of each boundary in the
// statements. The lease is 10 s.
func TestInvariantsOfLocks(t *testing.T) {
	settled := is(20*s, "visitor", history.Settled, "", 0)
	for _, test := range []struct {
		name  string
		inv   string
		skew  time.Duration
		terms LockTerms
		story []told
		want  Verdict
	}{
		{"within the lease", "mutual-exclusion", 0, LockTerms{}, join(takes(0, "alice", "a", 0), takes(9998*ms, "bob", "b", 0)), Violated},
		{"at its end", "mutual-exclusion", 0, LockTerms{}, join(takes(0, "alice", "a", 0), takes(10*s, "bob", "b", 0)), OK},
		{"within 2e of its end", "mutual-exclusion", s, LockTerms{}, join(takes(0, "alice", "a", 0), takes(8*s, "bob", "b", 0)), OK},
		{"more than 2e before its end", "mutual-exclusion", s, LockTerms{}, join(takes(0, "alice", "a", 0), takes(7998*ms, "bob", "b", 0)), Violated},
		{"after the release was called", "mutual-exclusion", 0, LockTerms{}, join(takes(0, "alice", "a", 0), back(s, "alice", "a"), takes(s, "bob", "b", 0)), OK},
		{"after the loss", "mutual-exclusion", 0, LockTerms{}, join(takes(0, "alice", "a", 0), is(s, "alice", history.LockLost, "a", 0), takes(s, "bob", "b", 0)), OK},
		{"after the crash", "mutual-exclusion", 0, LockTerms{}, join(takes(0, "alice", "a", 0), is(s, "alice", history.Crashed, "", 0), takes(s, "bob", "b", 0)), OK},
		{"extended", "mutual-exclusion", 0, LockTerms{}, join(takes(0, "alice", "a", 0), is(5*s, "alice", history.LockExtending, "a", 0), is(5*s, "alice", history.LockExtended, "a", 0), takes(14*s, "bob", "b", 0)), Violated},
		{"extended, and over", "mutual-exclusion", 0, LockTerms{}, join(takes(0, "alice", "a", 0), is(5*s, "alice", history.LockExtending, "a", 0), is(5*s, "alice", history.LockExtended, "a", 0), takes(15*s, "bob", "b", 0)), OK},
		{"told again", "mutual-exclusion", 0, LockTerms{}, join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0), claims(12*s, "alice", "a")), Violated},
		{"told again before", "mutual-exclusion", 0, LockTerms{}, join(takes(0, "alice", "a", 0), claims(12*s, "alice", "a"), takes(12*s, "bob", "b", 0)), OK},
		{"told again within 4e", "mutual-exclusion", s, LockTerms{}, join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0), claims(16*s, "alice", "a")), OK},
		{"told again after 4e", "mutual-exclusion", s, LockTerms{}, join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0), claims(16001*ms, "alice", "a")), Violated},
		{"told that it held while another came and went", "mutual-exclusion", 0, LockTerms{}, join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0), back(13*s, "bob", "b"), claims(14*s, "alice", "a")), Violated},
		{"an answer that came when its lease was over", "mutual-exclusion", 0, LockTerms{}, join(is(0, "alice", history.LockAsked, "a", 0), takes(11*s, "bob", "b", 0), is(11*s, "alice", history.LockTaken, "a", 0)), OK},
		{"two locks", "mutual-exclusion", 0, LockTerms{}, takes(0, "alice", "a", 0), OK},

		{"a late write within the lease", "guarded-write", 0, LockTerms{}, join(takes(0, "alice", "a", 0), takes(2*s, "bob", "b", 0), is(2*s, "bob", history.GuardedWrite, "b", 0), is(3*s, "alice", history.GuardedWrite, "a", 0)), Violated},
		{"a late write after the lease", "guarded-write", 0, LockTerms{}, join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0), is(12*s, "bob", history.GuardedWrite, "b", 0), is(13*s, "alice", history.GuardedWrite, "a", 0)), OK},
		{"a late write with a token", "guarded-write", 0, LockTerms{}, join(takes(0, "alice", "a", 1), takes(12*s, "bob", "b", 2), is(12*s, "bob", history.GuardedWrite, "b", 2), is(13*s, "alice", history.GuardedWrite, "a", 1)), Violated},
		{"a late write that is refused", "guarded-write", 0, LockTerms{}, join(takes(0, "alice", "a", 1), takes(12*s, "bob", "b", 2), is(12*s, "bob", history.GuardedWrite, "b", 2), is(13*s, "alice", history.GuardedRefused, "a", 1)), OK},
		{"one token for two", "guarded-write", 0, LockTerms{}, join(takes(0, "alice", "a", 1), back(s, "alice", "a"), takes(12*s, "bob", "b", 1)), Violated},
		{"one token for two at a time", "guarded-write", 0, LockTerms{}, join(is(0, "bob", history.LockAsked, "b", 0), takes(0, "alice", "a", 2), is(s, "bob", history.LockTaken, "b", 1)), OK},

		{"lost before its end", "kept-lease", 0, LockTerms{}, join(takes(0, "alice", "a", 0), is(9998*ms, "alice", history.LockLost, "a", 0)), Violated},
		{"lost at its end", "kept-lease", 0, LockTerms{}, join(takes(0, "alice", "a", 0), is(9999*ms, "alice", history.LockLost, "a", 0)), OK},
		{"lost within 2e of its end", "kept-lease", s, LockTerms{}, join(takes(0, "alice", "a", 0), is(8*s, "alice", history.LockLost, "a", 0)), OK},
		{"lost within the margin", "kept-lease", 0, LockTerms{Margin: 2 * s}, join(takes(0, "alice", "a", 0), is(8*s, "alice", history.LockLost, "a", 0)), OK},
		{"lost before the margin", "kept-lease", 0, LockTerms{Margin: 2 * s}, join(takes(0, "alice", "a", 0), is(7*s, "alice", history.LockLost, "a", 0)), Violated},
		{"lost in trouble", "kept-lease", 0, LockTerms{}, join(takes(0, "alice", "a", 0), []told{{at: s, actor: "alice", kind: history.LockLost, hold: "a", troubled: true}}), OK},
		{"lost although it extends itself", "kept-lease", 0, LockTerms{Heartbeats: true}, join(takes(0, "alice", "a", 0), []told{{at: 30 * s, actor: "alice", kind: history.LockLost, hold: "a", excused: 2 * s}}), Violated},
		{"held up for a quarter", "kept-lease", 0, LockTerms{Heartbeats: true}, join(takes(0, "alice", "a", 0), []told{{at: 30 * s, actor: "alice", kind: history.LockLost, hold: "a", excused: 2500 * ms}}), OK},

		{"refused a free lock", "free-lock", 0, LockTerms{Wait: s}, join(is(0, "alice", history.LockAsked, "a", 0), is(0, "alice", history.LockRefused, "a", 0)), Violated},
		{"refused in trouble", "free-lock", 0, LockTerms{Wait: s}, join(is(0, "alice", history.LockAsked, "a", 0), []told{{actor: "alice", kind: history.LockRefused, hold: "a", troubled: true}}), OK},
		{"refused a held lock", "free-lock", 0, LockTerms{Wait: s}, join(takes(0, "bob", "b", 0), is(s, "alice", history.LockAsked, "a", 0), is(s, "alice", history.LockRefused, "a", 0), back(2*s, "bob", "b")), OK},
		{"refused after its release", "free-lock", 0, LockTerms{Wait: s}, join(takes(0, "bob", "b", 0), back(s, "bob", "b"), is(s, "alice", history.LockAsked, "a", 0), is(s, "alice", history.LockRefused, "a", 0)), Violated},
		{"refused while it is released", "free-lock", 0, LockTerms{Wait: s}, join(takes(0, "bob", "b", 0), is(s, "bob", history.LockReleasing, "b", 0), is(s, "alice", history.LockAsked, "a", 0), is(s, "alice", history.LockRefused, "a", 0), is(s, "bob", history.LockReleased, "b", 0)), OK},
		{"refused after a release that failed", "free-lock", 0, LockTerms{Wait: s}, join(takes(0, "bob", "b", 0), []told{
			{at: s, actor: "bob", kind: history.LockReleasing, hold: "b"}, {at: s, actor: "bob", kind: history.LockReleased, hold: "b", note: "no"},
		}, is(12*s, "alice", history.LockAsked, "a", 0), is(12*s, "alice", history.LockRefused, "a", 0)), OK},
		{"refused long after a release that failed", "free-lock", 0, LockTerms{Wait: s}, join(takes(0, "bob", "b", 0), []told{
			{at: s, actor: "bob", kind: history.LockReleasing, hold: "b"}, {at: s, actor: "bob", kind: history.LockReleased, hold: "b", note: "no"},
		}, is(14*s, "alice", history.LockAsked, "a", 0), is(14*s, "alice", history.LockRefused, "a", 0)), Violated},
		{"waits for nobody", "free-lock", 0, LockTerms{Wait: s}, join(is(0, "alice", history.LockAsked, "a", 0), is(1001*ms, "alice", history.LockTaken, "a", 0)), Violated},
		{"waits as long as it may", "free-lock", 0, LockTerms{Wait: s}, join(is(0, "alice", history.LockAsked, "a", 0), is(s, "alice", history.LockTaken, "a", 0)), OK},
		{"waits for its requests", "free-lock", 0, LockTerms{Wait: s}, join(is(0, "alice", history.LockAsked, "a", 0), []told{{at: 5 * s, actor: "alice", kind: history.LockTaken, hold: "a", excused: 4 * s}}), OK},
		{"waits for a crashed one", "free-lock", 0, LockTerms{Wait: s, Takeover: 10 * s}, join(takes(0, "bob", "b", 0), is(s, "bob", history.Crashed, "", 0), is(2*s, "alice", history.LockAsked, "a", 0), is(24*s, "alice", history.LockTaken, "a", 0)), OK},
		{"waits for a crashed one for too long", "free-lock", 0, LockTerms{Wait: s, Takeover: 10 * s}, join(takes(0, "bob", "b", 0), is(s, "bob", history.Crashed, "", 0), is(2*s, "alice", history.LockAsked, "a", 0), is(24001*ms, "alice", history.LockTaken, "a", 0)), Violated},

		{"taken in time", "lock-liveness", 0, LockTerms{}, join(settled, is(20*s, "visitor", history.LockAsked, "v", 0), is(25*s, "visitor", history.LockTaken, "v", 0)), OK},
		{"taken too late", "lock-liveness", 0, LockTerms{}, join(settled, is(20*s, "visitor", history.LockAsked, "v", 0), is(25001*ms, "visitor", history.LockTaken, "v", 0)), Violated},
		{"never taken", "lock-liveness", 0, LockTerms{}, join(settled, is(20*s, "visitor", history.LockAsked, "v", 0), is(26*s, "visitor", history.LockRefused, "v", 0)), Violated},
		{"not asked for", "lock-liveness", 0, LockTerms{}, join(takes(0, "alice", "a", 0), settled), Unknown},
	} {
		t.Run(test.inv+"/"+test.name, func(t *testing.T) {
			ev := Evidence{History: of(test.story...), MaxClockSkew: test.skew, Lease: 10 * s, Lock: &test.terms, Settle: 5 * s}
			var found Finding
			for _, inv := range OfLocks() {
				if inv.Name == test.inv {
					found = inv.Check(ev)
				}
			}
			if found.Verdict != test.want {
				t.Fatalf("got %v %q (events %v), want %v", found.Verdict, found.Why, found.Events, test.want)
			}
			if test.want == Violated && (found.Why == "" || len(found.Events) == 0 || strings.Contains(found.Why, "%!")) {
				t.Errorf("the finding says %q, events %v", found.Why, found.Events)
			}
		})
	}
}

// TestALateWriteOfADeadHolder holds that a write in the change log makes its node
// count as a holder: a request that was in the network when it crashed.
func TestALateWriteOfADeadHolder(t *testing.T) {
	story := join(takes(0, "bob", "b", 0), is(s, "bob", history.Crashed, "", 0), is(20*s, "alice", history.LockAsked, "a", 0), is(20*s, "alice", history.LockRefused, "a", 0))
	ev := Evidence{History: of(story...), Lease: 10 * s, Lock: &LockTerms{Wait: s}}
	if f := freeLock().Check(ev); f.Verdict != Violated {
		t.Errorf("without a late write: got %v", f)
	}
	start := time.Unix(1e9, 0)
	ev.Changes = []ddbfake.Change{{Seq: 1, Actor: "bob", Cause: ddbfake.CauseClient, Sent: start.Add(s), Time: start.Add(15 * s)}}
	if f := freeLock().Check(ev); f.Verdict != OK {
		t.Errorf("with a late write: got %v", f)
	}
}
