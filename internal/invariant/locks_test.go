package invariant

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
)

type LockTerms = promise.LockTerms

// promised is a lease of ten seconds, under terms.
func promised(terms LockTerms, record Record) Evidence {
	return Evidence{Record: record, Held: 10 * time.Second, Lock: &terms}
}

// told is one event of a history of locks: the node, its hold, the kind and the time.
type told struct {
	at       time.Duration
	actor    string
	kind     history.Kind
	hold     string
	token    int64 // 0 is none
	excused  time.Duration
	troubled bool
	note     string
	silent   time.Duration
}

// of makes a history of the lock "job".
func of(all ...told) []history.Event {
	var events []history.Event
	for i, a := range all {
		e := history.Event{Seq: i + 1, Time: time.Unix(1e9, 0).Add(a.at), Actor: a.actor, Kind: a.kind, Note: a.note}
		if a.hold != "" {
			e.Key = "job"
			e.Hold = &history.Hold{
				ID: a.hold, Token: a.token, Fenced: a.token != 0, Excused: a.excused, Troubled: a.troubled,
				Silent: a.silent,
			}
		}
		events = append(events, e)
	}
	return events
}

// takes asks for the lock and gets it at the same time.
func takes(at time.Duration, actor, hold string, token int64) []told {
	return []told{{at: at, actor: actor, kind: mark.EventLockAsked, hold: hold},
		{at: at, actor: actor, kind: mark.EventLockTaken, hold: hold, token: token}}
}

func is(at time.Duration, actor string, kind history.Kind, hold string, token int64) []told {
	return []told{{at: at, actor: actor, kind: kind, hold: hold, token: token}}
}

func back(at time.Duration, actor, hold string) []told {
	return append(is(at, actor, mark.EventLockReleasing, hold, 0), is(at, actor, mark.EventLockReleased, hold, 0)...)
}

// claims asks whether the lock is still held, and gets the answer yes.
func claims(at time.Duration, actor, hold string) []told {
	return append(is(at, actor, mark.EventLockChecking, hold, 0), is(at, actor, mark.EventLockHeld, hold, 0)...)
}

// stops is the history of a hold: taken at 0, confirmed at claimed, and an event of the given kind, such as a loss, at
// the time at. The last write was at the time failed.
func stops(failed, claimed, at time.Duration, kind history.Kind) []told {
	return join(takes(0, "alice", "a", 0), claims(claimed, "alice", "a"),
		[]told{{at: at, actor: "alice", kind: kind, hold: "a", troubled: true, silent: at - failed}})
}

// refusedAfter is a hold whose release fails, and a request that is refused later. The node of the hold was held up for
// the time before until the release began, and for the time after until it ended.
func refusedAfter(release, asked, before, after time.Duration) []told {
	return join(takes(0, "bob", "b", 0), []told{
		{at: release, actor: "bob", kind: mark.EventLockReleasing, hold: "b", excused: before},
		{at: release, actor: "bob", kind: mark.EventLockReleased, hold: "b", excused: after, note: "no"},
	}, is(asked, "alice", mark.EventLockAsked, "a", 0), is(asked, "alice", mark.EventLockRefused, "a", 0))
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
		{"within the lease", "mutual-exclusion", 0, LockTerms{},
			join(takes(0, "alice", "a", 0), takes(9998*ms, "bob", "b", 0)), Violated},
		{"at its end", "mutual-exclusion", 0, LockTerms{},
			join(takes(0, "alice", "a", 0), takes(10*s, "bob", "b", 0)), OK},
		{"within 2e of its end", "mutual-exclusion", s, LockTerms{},
			join(takes(0, "alice", "a", 0), takes(8*s, "bob", "b", 0)), OK},
		{"more than 2e before its end", "mutual-exclusion", s, LockTerms{},
			join(takes(0, "alice", "a", 0), takes(7998*ms, "bob", "b", 0)), Violated},
		{"after the release was called", "mutual-exclusion", 0, LockTerms{},
			join(takes(0, "alice", "a", 0), back(s, "alice", "a"), takes(s, "bob", "b", 0)), OK},
		{"after the loss", "mutual-exclusion", 0, LockTerms{},
			join(takes(0, "alice", "a", 0), is(s, "alice", mark.EventLockLost, "a", 0), takes(s, "bob", "b", 0)), OK},
		{"after the crash", "mutual-exclusion", 0, LockTerms{},
			join(takes(0, "alice", "a", 0), is(s, "alice", history.Crashed, "", 0), takes(s, "bob", "b", 0)), OK},
		{"extended", "mutual-exclusion", 0, LockTerms{},
			join(takes(0, "alice", "a", 0), is(5*s, "alice", mark.EventLockExtending, "a", 0),
				is(5*s, "alice", mark.EventLockExtended, "a", 0), takes(14*s, "bob", "b", 0)), Violated},
		{"extended, and over", "mutual-exclusion", 0, LockTerms{},
			join(takes(0, "alice", "a", 0), is(5*s, "alice", mark.EventLockExtending, "a", 0),
				is(5*s, "alice", mark.EventLockExtended, "a", 0), takes(15*s, "bob", "b", 0)), OK},
		{"told again", "mutual-exclusion", 0, LockTerms{},
			join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0), claims(12*s, "alice", "a")), Violated},
		{"told again in the part of a millisecond that its row has lost", "mutual-exclusion", 0, LockTerms{},
			join(takes(0, "alice", "a", 0), takes(10*s-2, "bob", "b", 0), claims(10*s-1, "alice", "a")), OK},
		{"told again at its end", "mutual-exclusion", 0, LockTerms{},
			join(takes(0, "alice", "a", 0), takes(10*s-2, "bob", "b", 0), claims(10*s, "alice", "a")), Violated},
		{"told again before", "mutual-exclusion", 0, LockTerms{},
			join(takes(0, "alice", "a", 0), claims(12*s, "alice", "a"), takes(12*s, "bob", "b", 0)), OK},
		{"told again within 4e", "mutual-exclusion", s, LockTerms{},
			join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0), claims(16*s, "alice", "a")), OK},
		{"told again after 4e", "mutual-exclusion", s, LockTerms{},
			join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0), claims(16001*ms, "alice", "a")), Violated},
		{"told that it held while another came and went", "mutual-exclusion", 0, LockTerms{},
			join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0), back(13*s, "bob", "b"),
				claims(14*s, "alice", "a")), Violated},
		{"told again long after another came and went within 4e", "mutual-exclusion", s, LockTerms{},
			join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0), back(16*s, "bob", "b"),
				claims(20*s, "alice", "a")), OK},
		{"told again long after another came and went in more than 4e", "mutual-exclusion", s, LockTerms{},
			join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0), back(16001*ms, "bob", "b"),
				claims(20*s, "alice", "a")), Violated},
		{"told again long after the lease of another was over, which came late and was given back late",
			"mutual-exclusion", s, LockTerms{},
			join(takes(0, "alice", "a", 0), is(5*s, "bob", mark.EventLockAsked, "b", 0),
				is(12*s, "bob", mark.EventLockTaken, "b", 0), back(30*s, "bob", "b"), claims(31*s, "alice", "a")), OK},
		{"an answer that came when its lease was over", "mutual-exclusion", 0, LockTerms{},
			join(is(0, "alice", mark.EventLockAsked, "a", 0), takes(11*s, "bob", "b", 0),
				is(11*s, "alice", mark.EventLockTaken, "a", 0)), OK},
		{"two locks", "mutual-exclusion", 0, LockTerms{}, takes(0, "alice", "a", 0), OK},
		{"given back after the other came", "mutual-exclusion", 0, LockTerms{},
			join(takes(0, "alice", "a", 0), takes(5*s, "bob", "b", 0), back(6*s, "alice", "a")), Violated},
		{"told again within 4e of the least skew", "mutual-exclusion", 1, LockTerms{},
			join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0), claims(12*s+4, "alice", "a")), OK},
		{"told again, in the millisecond in which another takes it, that it extends itself", "mutual-exclusion", 0,
			LockTerms{Heartbeats: true},
			join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0), claims(12*s+ms-1, "alice", "a")), OK},
		{"told late, when its lease was over and another had the lock, and told again at once", "mutual-exclusion", 0,
			LockTerms{Heartbeats: true}, join(is(0, "alice", mark.EventLockAsked, "a", 0), takes(11*s, "bob", "b", 0),
				is(16*s, "alice", mark.EventLockTaken, "a", 0), claims(16*s, "alice", "a"), claims(17*s, "bob", "b")),
			Violated},
		{"told again after that millisecond", "mutual-exclusion", 0, LockTerms{Heartbeats: true},
			join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0), claims(12*s+ms, "alice", "a")), Violated},
		{"extended after another had taken it", "mutual-exclusion", 0, LockTerms{},
			join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0), is(12*s, "alice", mark.EventLockExtending, "a",
				0), is(12*s, "alice", mark.EventLockExtended, "a", 0)), Violated},
		{"after something else has happened to its node", "mutual-exclusion", 0, LockTerms{},
			join(takes(0, "alice", "a", 0), is(s, "alice", history.Settled, "", 0), takes(2*s, "bob", "b", 0)),
			Violated},
		{"after the crash of one without a lock", "mutual-exclusion", 0, LockTerms{},
			join(is(0, "carol", history.Crashed, "", 0), takes(0, "alice", "a", 0)), OK},
		{"taken before the history began", "mutual-exclusion", 0, LockTerms{},
			join(is(0, "bob", mark.EventLockTaken, "b", 0), takes(0, "alice", "a", 0)), OK},

		{"a late write within the lease", "guarded-write", 0, LockTerms{},
			join(takes(0, "alice", "a", 0), takes(2*s, "bob", "b", 0), is(2*s, "bob", mark.EventGuardedWrite, "b", 0),
				is(3*s, "alice", mark.EventGuardedWrite, "a", 0)), Violated},
		{"a late write after the lease", "guarded-write", 0, LockTerms{},
			join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0), is(12*s, "bob", mark.EventGuardedWrite, "b", 0),
				is(13*s, "alice", mark.EventGuardedWrite, "a", 0)), OK},
		{"a late write with a token", "guarded-write", 0, LockTerms{},
			join(takes(0, "alice", "a", 1), takes(12*s, "bob", "b", 2), is(12*s, "bob", mark.EventGuardedWrite, "b", 2),
				is(13*s, "alice", mark.EventGuardedWrite, "a", 1)), Violated},
		{"a late write that is refused", "guarded-write", 0, LockTerms{},
			join(takes(0, "alice", "a", 1), takes(12*s, "bob", "b", 2), is(12*s, "bob", mark.EventGuardedWrite, "b", 2),
				is(13*s, "alice", mark.EventGuardedRefused, "a", 1)), OK},
		{"one token for two", "guarded-write", 0, LockTerms{},
			join(takes(0, "alice", "a", 1), back(s, "alice", "a"), takes(12*s, "bob", "b", 1)), Violated},
		{"one token for two at a time", "guarded-write", 0, LockTerms{},
			join(is(0, "bob", mark.EventLockAsked, "b", 0), takes(0, "alice", "a", 2),
				is(s, "bob", mark.EventLockTaken, "b", 1)), OK},
		{"refused for a smaller token", "guarded-write", 0, LockTerms{},
			join(is(0, "alice", mark.EventLockAsked, "a", 0), takes(0, "bob", "b", 2), back(s, "bob", "b"), is(2*s,
				"alice", mark.EventLockTaken, "a", 1), is(3*s, "alice", mark.EventGuardedRefused, "a", 1)), Violated},
		{"refused when its lease is over", "guarded-write", 0, LockTerms{},
			join(takes(0, "alice", "a", 1), takes(12*s, "bob", "b", 2),
				is(13*s, "alice", mark.EventGuardedRefused, "a", 1)), OK},
		{"a token, and then none", "guarded-write", 0, LockTerms{},
			join(takes(0, "alice", "a", 1), takes(12*s, "bob", "b", 0)), OK},
		{"no token, and then a small one", "guarded-write", 0, LockTerms{},
			join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", -1)), OK},
		{"writes of two who asked at a time", "guarded-write", 0, LockTerms{},
			join(is(0, "bob", mark.EventLockAsked, "b", 0), takes(0, "alice", "a", 0), is(
				s, "bob", mark.EventLockTaken, "b", 0,
			), is(2*s, "bob", mark.EventGuardedWrite, "b", 0), is(3*s, "alice", mark.EventGuardedWrite, "a", 0)), OK},

		{"lost before its end", "kept-lease", 0, LockTerms{},
			join(takes(0, "alice", "a", 0), is(9998*ms, "alice", mark.EventLockLost, "a", 0)), Violated},
		{"lost at its end", "kept-lease", 0, LockTerms{},
			join(takes(0, "alice", "a", 0), is(9999*ms, "alice", mark.EventLockLost, "a", 0)), OK},
		{"lost within 2e of its end", "kept-lease", s, LockTerms{},
			join(takes(0, "alice", "a", 0), is(8*s, "alice", mark.EventLockLost, "a", 0)), OK},
		{"lost within the margin", "kept-lease", 0, LockTerms{Margin: 2 * s},
			join(takes(0, "alice", "a", 0), is(8*s, "alice", mark.EventLockLost, "a", 0)), OK},
		{"lost before the margin", "kept-lease", 0, LockTerms{Margin: 2 * s},
			join(takes(0, "alice", "a", 0), is(7*s, "alice", mark.EventLockLost, "a", 0)), Violated},
		{"lost in trouble", "kept-lease", 0, LockTerms{},
			join(takes(0, "alice", "a", 0),
				[]told{{at: s, actor: "alice", kind: mark.EventLockLost, hold: "a", troubled: true}}), OK},
		{"lost although it extends itself", "kept-lease", 0, LockTerms{Heartbeats: true},
			join(takes(0, "alice", "a", 0),
				[]told{{at: 30 * s, actor: "alice", kind: mark.EventLockLost, hold: "a", excused: 2 * s}}), Violated},
		{"held up for a quarter", "kept-lease", 0, LockTerms{Heartbeats: true},
			join(takes(0, "alice", "a", 0),
				[]told{{at: 30 * s, actor: "alice", kind: mark.EventLockLost, hold: "a", excused: 2500 * ms}}), OK},
		{"held up for a quarter, before it was taken and since", "kept-lease", 0, LockTerms{Heartbeats: true}, []told{
			{actor: "alice", kind: mark.EventLockAsked, hold: "a"},
			{at: 2 * s, actor: "alice", kind: mark.EventLockTaken, hold: "a", excused: 1500 * ms},
			{at: 30 * s, actor: "alice", kind: mark.EventLockLost, hold: "a", excused: s},
		}, OK},
		{"held up for a quarter less 2e", "kept-lease", 500 * ms, LockTerms{Heartbeats: true},
			join(takes(0, "alice", "a", 0),
				[]told{{at: 30 * s, actor: "alice", kind: mark.EventLockLost, hold: "a", excused: 1500 * ms}}), OK},
		{"held up for less than that", "kept-lease", 500 * ms, LockTerms{Heartbeats: true},
			join(takes(0, "alice", "a", 0), []told{{at: 30 * s, actor: "alice", kind: mark.EventLockLost, hold: "a",
				excused: 1499 * ms}}), Violated},
		{"given to another although it extends itself", "kept-lease", 0, LockTerms{Heartbeats: true},
			join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0), back(13*s, "alice", "a")), Violated},
		{"given to another, and it does not extend itself", "kept-lease", 0, LockTerms{},
			join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0), back(13*s, "alice", "a")), OK},
		{"given to another after its release", "kept-lease", 0, LockTerms{Heartbeats: true},
			join(takes(0, "alice", "a", 0), back(12*s, "alice", "a"), takes(12*s, "bob", "b", 0)), OK},
		{"given to another who had asked before", "kept-lease", 0, LockTerms{Heartbeats: true},
			join(is(0, "bob", mark.EventLockAsked, "b", 0), takes(0, "alice", "a", 0),
				is(12*s, "bob", mark.EventLockTaken, "b", 0), back(13*s, "alice", "a")), OK},
		{"given to another, and nothing more is known", "kept-lease", 0, LockTerms{Heartbeats: true},
			join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0), is(13*s, "alice", history.Crashed, "", 0)), OK},
		{"given to another while it was held up", "kept-lease", 0, LockTerms{Heartbeats: true},
			join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0), []told{{at: 13 * s, actor: "alice",
				kind: mark.EventLockReleasing, hold: "a", excused: 2500 * ms}}), OK},
		{"given to another in trouble", "kept-lease", 0, LockTerms{Heartbeats: true},
			join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0),
				[]told{{at: 13 * s, actor: "alice", kind: mark.EventLockReleasing, hold: "a", troubled: true}}), OK},
		{"lost more than half a lease after a heartbeat that failed", "kept-lease", 0, LockTerms{Heartbeats: true},
			stops(4*s, 6*s, 9001*ms, mark.EventLockLost), Violated},
		{"lost half a lease after it", "kept-lease", 0, LockTerms{Heartbeats: true},
			stops(4*s, 6*s, 9*s, mark.EventLockLost), OK},
		{"lost half a lease and 2e after it", "kept-lease", s, LockTerms{Heartbeats: true},
			stops(4*s, 6*s, 11*s, mark.EventLockLost), OK},
		{"lost after a heartbeat that failed, and given up then", "kept-lease", 0, LockTerms{Heartbeats: true},
			stops(4*s, 4*s, 10*s, mark.EventLockLost), OK},
		{"lost after a pause", "kept-lease", 0, LockTerms{Heartbeats: true},
			join(stops(4*s, 6*s, 0, 0)[:4], is(6*s, "alice", history.Paused, "", 0), is(8*s, "alice", history.Resumed,
				"", 0), stops(4*s, 6*s, 11*s, mark.EventLockLost)[4:]), OK},
		{"lost after the pause of another", "kept-lease", 0, LockTerms{Heartbeats: true},
			join(stops(4*s, 6*s, 0, 0)[:4], is(6*s, "bob", history.Paused, "", 0), is(8*s, "bob", history.Resumed,
				"", 0), stops(4*s, 6*s, 11*s, mark.EventLockLost)[4:]), Violated},
		{"given to another more than half a lease after a heartbeat that failed", "kept-lease", 0,
			LockTerms{Heartbeats: true}, join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0),
				stops(4*s, 0, 13*s, mark.EventLockReleasing)[4:]), Violated},
		{"held for a lease after a heartbeat that failed", "kept-lease", 0, LockTerms{Heartbeats: true},
			stops(4*s, 4*s, 14*s, mark.EventLockHeld), OK},
		{"held for more than a lease after it", "kept-lease", 0, LockTerms{Heartbeats: true},
			stops(4*s, 4*s, 14001*ms, mark.EventLockHeld), Violated},
		{"held for more than a lease and 2e after it", "kept-lease", s, LockTerms{Heartbeats: true},
			stops(4*s, 4*s, 16001*ms, mark.EventLockHeld), Violated},
		{"given back more than a lease after it", "kept-lease", 0, LockTerms{Heartbeats: true},
			join(takes(0, "alice", "a", 0), stops(4*s, 0, 14001*ms, mark.EventLockReleasing)[4:]), Violated},
		{"given back before its end", "kept-lease", 0, LockTerms{},
			join(takes(0, "alice", "a", 0), back(s, "alice", "a")), OK},
		{"crashed before its end", "kept-lease", 0, LockTerms{},
			join(takes(0, "alice", "a", 0), is(s, "alice", history.Crashed, "", 0)), OK},
		{"held still", "kept-lease", 0, LockTerms{}, takes(0, "alice", "a", 0), OK},

		{"refused a free lock", "free-lock", 0, LockTerms{Wait: s},
			join(is(0, "alice", mark.EventLockAsked, "a", 0), is(0, "alice", mark.EventLockRefused, "a", 0)), Violated},
		{"refused in trouble", "free-lock", 0, LockTerms{Wait: s},
			join(is(0, "alice", mark.EventLockAsked, "a", 0),
				[]told{{actor: "alice", kind: mark.EventLockRefused, hold: "a", troubled: true}}), OK},
		{"refused when its lease was over, because its request was held up", "free-lock", 0, LockTerms{Wait: s},
			join(is(0, "alice", mark.EventLockAsked, "a", 0),
				[]told{{at: 11 * s, actor: "alice", kind: mark.EventLockRefused, hold: "a", excused: 10 * s}}), OK},
		{"refused when less than the margin of its lease was left", "free-lock", 0, LockTerms{Wait: s, Margin: 2 * s},
			join(is(0, "alice", mark.EventLockAsked, "a", 0),
				[]told{{at: 8 * s, actor: "alice", kind: mark.EventLockRefused, hold: "a", excused: 8 * s}}), OK},
		{"refused before its lease was over, and held up", "free-lock", 0, LockTerms{Wait: s},
			join(is(0, "alice", mark.EventLockAsked, "a", 0),
				[]told{{at: 9 * s, actor: "alice", kind: mark.EventLockRefused, hold: "a", excused: 9 * s}}), Violated},
		{"refused when its lease was over, because it waited itself", "free-lock", 0, LockTerms{Wait: s},
			join(is(0, "alice", mark.EventLockAsked, "a", 0), []told{{at: 11 * s, actor: "alice",
				kind: mark.EventLockRefused, hold: "a", excused: 9 * s}}), Violated},
		{"refused a held lock", "free-lock", 0, LockTerms{Wait: s},
			join(takes(0, "bob", "b", 0), is(s, "alice", mark.EventLockAsked, "a", 0),
				is(s, "alice", mark.EventLockRefused, "a", 0), back(2*s, "bob", "b")), OK},
		{"refused after its release", "free-lock", 0, LockTerms{Wait: s},
			join(takes(0, "bob", "b", 0), back(s, "bob", "b"), is(s, "alice", mark.EventLockAsked, "a", 0),
				is(s, "alice", mark.EventLockRefused, "a", 0)), Violated},
		{"refused while it is released", "free-lock", 0, LockTerms{Wait: s},
			join(takes(0, "bob", "b", 0), is(s, "bob", mark.EventLockReleasing, "b", 0),
				is(s, "alice", mark.EventLockAsked, "a", 0), is(s, "alice", mark.EventLockRefused, "a", 0),
				is(s, "bob", mark.EventLockReleased, "b", 0)), OK},
		{"refused after a release that failed by the lock's own doing", "free-lock", 0, LockTerms{Wait: s},
			refusedAfter(s, 12*s, 0, 0), Violated},
		{"refused after a release that failed in trouble", "free-lock", 0, LockTerms{Wait: s},
			join(takes(0, "bob", "b", 0), []told{{kind: mark.EventLockChecking, actor: "bob", hold: "b",
				troubled: true}}, refusedAfter(s, 12*s, 0, 0)[2:]), OK},
		{"refused after a release that was held up, and failed", "free-lock", 0, LockTerms{Wait: s},
			refusedAfter(s, 12*s, 0, s), OK},
		{"refused after a release that failed when the lease was over", "free-lock", 0, LockTerms{Wait: s},
			refusedAfter(10*s, 21*s, 0, 0), OK},
		{"refused after a release that failed while the lock extended itself", "free-lock", 0,
			LockTerms{Wait: s, Heartbeats: true}, refusedAfter(10*s, 21*s, 2*s, 2*s), Violated},
		{"refused after a release that failed when the lock could not have extended itself", "free-lock", 0,
			LockTerms{Wait: s, Heartbeats: true}, refusedAfter(10*s, 21*s, 3*s, 3*s), OK},
		{"refused after a release that failed, of a lock that was lost", "free-lock", 0, LockTerms{Wait: s},
			join(takes(0, "bob", "b", 0), is(s, "bob", mark.EventLockLost, "b", 0), refusedAfter(s, 12*s, 0, 0)[2:]),
			OK},
		{"refused long after a release that failed", "free-lock", 0, LockTerms{Wait: s},
			refusedAfter(10*s, 23*s, 0, 0), Violated},
		{"waits for nobody", "free-lock", 0, LockTerms{Wait: s},
			join(is(0, "alice", mark.EventLockAsked, "a", 0), is(1001*ms, "alice", mark.EventLockTaken, "a", 0)),
			Violated},
		{"waits as long as it may", "free-lock", 0, LockTerms{Wait: s},
			join(is(0, "alice", mark.EventLockAsked, "a", 0), is(s, "alice", mark.EventLockTaken, "a", 0)), OK},
		{"waits for its requests", "free-lock", 0, LockTerms{Wait: s},
			join(is(0, "alice", mark.EventLockAsked, "a", 0),
				[]told{{at: 5 * s, actor: "alice", kind: mark.EventLockTaken, hold: "a", excused: 4 * s}}), OK},
		{"waits for a crashed one", "free-lock", 0, LockTerms{Wait: s, Takeover: 10 * s},
			join(takes(0, "bob", "b", 0), is(s, "bob", history.Crashed, "", 0),
				is(2*s, "alice", mark.EventLockAsked, "a", 0), is(24*s, "alice", mark.EventLockTaken, "a", 0)), OK},
		{"waits for a crashed one for too long", "free-lock", 0, LockTerms{Wait: s, Takeover: 10 * s},
			join(takes(0, "bob", "b", 0), is(s, "bob", history.Crashed, "", 0), is(2*s, "alice", mark.EventLockAsked,
				"a", 0), is(24001*ms, "alice", mark.EventLockTaken, "a", 0)), Violated},
		{"refused at the first look, long after a crash", "free-lock", 0, LockTerms{Wait: s, Takeover: 11 * s},
			join(takes(0, "bob", "b", 0), is(s, "bob", history.Crashed, "", 0),
				is(90*s, "alice", mark.EventLockAsked, "a", 0), is(90*s, "alice", mark.EventLockRefused, "a", 0)), OK},
		{"refused while it watches", "free-lock", 0, LockTerms{Wait: s, Takeover: 11 * s},
			join(takes(0, "bob", "b", 0), is(s, "bob", history.Crashed, "", 0), is(90*s, "alice", mark.EventLockAsked,
				"a", 0), is(90*s, "alice", mark.EventLockRefused, "a", 0), is(103*s, "alice", mark.EventLockAsked, "c",
				0), is(103*s, "alice", mark.EventLockRefused, "c", 0)), OK},
		{"refused after it has watched", "free-lock", 0, LockTerms{Wait: s, Takeover: 11 * s},
			join(takes(0, "bob", "b", 0), is(s, "bob", history.Crashed, "", 0), is(90*s, "alice", mark.EventLockAsked,
				"a", 0), is(90*s, "alice", mark.EventLockRefused, "a", 0), is(104*s, "alice", mark.EventLockAsked, "c",
				0), is(104*s, "alice", mark.EventLockRefused, "c", 0)), Violated},
		{"refused at the first look by a lock that compares clocks", "free-lock", 0,
			LockTerms{Wait: s, Takeover: 10 * s},
			join(takes(0, "bob", "b", 0), is(s, "bob", history.Crashed, "", 0), is(90*s, "alice", mark.EventLockAsked,
				"a", 0), is(90*s, "alice", mark.EventLockRefused, "a", 0)), Violated},
		{"watches for too long", "free-lock", 0, LockTerms{Wait: s, Takeover: 11 * s},
			join(takes(0, "bob", "b", 0), is(s, "bob", history.Crashed, "", 0), is(90*s, "alice", mark.EventLockAsked,
				"a", 0), is(105*s, "alice", mark.EventLockTaken, "a", 0)), Violated},
		{"waits after its release", "free-lock", 0, LockTerms{Wait: s},
			join(takes(0, "bob", "b", 0), is(s, "alice", mark.EventLockAsked, "a", 0), back(2*s, "bob", "b"),
				is(4*s, "alice", mark.EventLockTaken, "a", 0)), Violated},
		{"not answered", "free-lock", 0, LockTerms{Wait: s}, is(0, "alice", mark.EventLockAsked, "a", 0), OK},
		{"refused what another took later", "free-lock", 0, LockTerms{Wait: s},
			join(is(0, "alice", mark.EventLockAsked, "a", 0), is(0, "alice", mark.EventLockRefused, "a", 0),
				takes(0, "bob", "b", 0)), Violated},
		{"refused after another was, in trouble", "free-lock", 0, LockTerms{Wait: s},
			join(is(0, "bob", mark.EventLockAsked, "b", 0), []told{
				{actor: "bob", kind: mark.EventLockRefused, hold: "b", troubled: true},
			}, is(s, "alice", mark.EventLockAsked, "a", 0), is(s, "alice", mark.EventLockRefused, "a", 0)), OK},
		{"refused after a release by one who had been in trouble", "free-lock", 0, LockTerms{Wait: s},
			join(is(0, "bob", mark.EventLockAsked, "b", 0),
				[]told{{actor: "bob", kind: mark.EventLockTaken, hold: "b", troubled: true}}, back(s, "bob", "b"),
				is(2*s, "alice", mark.EventLockAsked, "a", 0), is(2*s, "alice", mark.EventLockRefused, "a", 0)), OK},
		{"refused while another has no answer", "free-lock", 0, LockTerms{Wait: s},
			join(is(0, "bob", mark.EventLockAsked, "b", 0), is(100*s, "alice", mark.EventLockAsked, "a", 0),
				is(100*s, "alice", mark.EventLockRefused, "a", 0)), OK},
		{"refused long after another crashed without an answer", "free-lock", 0, LockTerms{Wait: s},
			join(is(0, "bob", mark.EventLockAsked, "b", 0), is(s, "bob", history.Crashed, "", 0), is(30*s, "alice",
				mark.EventLockAsked, "a", 0), is(30*s, "alice", mark.EventLockRefused, "a", 0)), Violated},
		{"refused long after the lease of one who says no more", "free-lock", 0, LockTerms{Wait: s},
			join(takes(0, "bob", "b", 0), is(30*s, "alice", mark.EventLockAsked, "a", 0),
				is(30*s, "alice", mark.EventLockRefused, "a", 0)), Violated},
		{"refused within 4e and two seconds of the lease of a crashed one", "free-lock", s, LockTerms{Wait: s},
			join(takes(0, "bob", "b", 0), is(s, "bob", history.Crashed, "", 0),
				is(17*s, "alice", mark.EventLockAsked, "a", 0), is(17*s, "alice", mark.EventLockRefused, "a", 0)), OK},
		{"refused after that", "free-lock", s, LockTerms{Wait: s},
			join(takes(0, "bob", "b", 0), is(s, "bob", history.Crashed, "", 0), is(17001*ms, "alice",
				mark.EventLockAsked, "a", 0), is(17001*ms, "alice", mark.EventLockRefused, "a", 0)), Violated},

		{"taken in time", "lock-liveness", 0, LockTerms{},
			join(settled, is(20*s, "visitor", mark.EventLockAsked, "v", 0),
				is(25*s, "visitor", mark.EventLockTaken, "v", 0)), OK},
		{"taken too late", "lock-liveness", 0, LockTerms{},
			join(settled, is(20*s, "visitor", mark.EventLockAsked, "v", 0),
				is(25001*ms, "visitor", mark.EventLockTaken, "v", 0)), Violated},
		{"never taken", "lock-liveness", 0, LockTerms{},
			join(settled, is(20*s, "visitor", mark.EventLockAsked, "v", 0),
				is(26*s, "visitor", mark.EventLockRefused, "v", 0)), Violated},
		{"never answered", "lock-liveness", 0, LockTerms{},
			join(settled, is(20*s, "visitor", mark.EventLockAsked, "v", 0)), Violated},
		{"not asked for", "lock-liveness", 0, LockTerms{}, join(takes(0, "alice", "a", 0), settled), Unknown},
	} {
		t.Run(test.inv+"/"+test.name, func(t *testing.T) {
			found := judge(test.inv, promised(test.terms, Record{
				History: of(test.story...), MaxClockSkew: test.skew, Settle: 5 * s,
			}))
			if found.Verdict != test.want {
				t.Fatalf("got %v %q (events %v), want %v", found.Verdict, found.Why, found.Events, test.want)
			}
			if test.want == Violated && (found.Why == "" || len(found.Events) == 0 ||
				strings.Contains(found.Why, "%!")) {
				t.Errorf("the finding says %q, events %v", found.Why, found.Events)
			}
		})
	}
}

// TestALockMayRefuseWhileReplicasAreBehind: reads without ConsistentRead may not show yet that the lock was given back,
// or that its lease is over.
func TestALockMayRefuseWhileReplicasAreBehind(t *testing.T) {
	for _, test := range []struct {
		name    string
		before  []told
		refused time.Duration
		behind  time.Duration
		want    Verdict
	}{
		{"given back", join(takes(0, "bob", "b", 0), back(s, "bob", "b")), 2 * s, s, OK},
		{"given back before", join(takes(0, "bob", "b", 0), back(s, "bob", "b")), 2*s + ms, s, Violated},
		{"given back, and none behind", join(takes(0, "bob", "b", 0), back(s, "bob", "b")), s, 0, Violated},
		// its lease, and two seconds
		{"over", join(takes(0, "bob", "b", 0), is(s, "bob", history.Crashed, "", 0)), 14 * s, s, OK},
		{"over before", join(takes(0, "bob", "b", 0), is(s, "bob", history.Crashed, "", 0)), 14*s + ms, s, Violated},
	} {
		ev := promised(LockTerms{Wait: s}, Record{
			History: of(join(test.before, is(test.refused, "alice", mark.EventLockAsked, "a", 0),
				is(test.refused, "alice", mark.EventLockRefused, "a", 0))...),
		})
		ev.Behind = test.behind
		if f := judge("free-lock", ev); f.Verdict != test.want {
			t.Errorf("%s: got %v: %s, want %v", test.name, f.Verdict, f.Why, test.want)
		}
	}
}

// judge returns the finding of one invariant of locks.
func judge(name string, ev Evidence) Finding {
	all := OfLocks()
	return all[slices.IndexFunc(all, func(inv Invariant) bool { return inv.Name == name })].Check(ev)
}

// TestFindingsOfLocksShowWhatViolatesThem: a finding names the reason and, in their order, the events that show it.
func TestFindingsOfLocksShowWhatViolatesThem(t *testing.T) {
	for _, test := range []struct {
		name, inv string
		terms     LockTerms
		story     []told
		why       string
		want      []int
	}{
		{"asked at a time", "mutual-exclusion", LockTerms{},
			join(is(0, "bob", mark.EventLockAsked, "b", 0), takes(0, "alice", "a", 0),
				is(s, "bob", mark.EventLockTaken, "b", 0)), "bob was told", []int{1, 2, 3, 4}},
		{"lost early", "kept-lease", LockTerms{Heartbeats: true},
			join(takes(0, "alice", "a", 0), is(s, "alice", mark.EventLockLost, "a", 0)),
			"its lease is 10s", []int{1, 2, 3}},
		{"lost although it extends itself", "kept-lease", LockTerms{Heartbeats: true},
			join(takes(0, "alice", "a", 0), is(30*s, "alice", mark.EventLockLost, "a", 0)),
			"which extends itself", []int{1, 2, 3}},
		{"waits after a release", "free-lock", LockTerms{Wait: s},
			join(takes(0, "bob", "b", 0), is(s, "alice", mark.EventLockAsked, "a", 0), back(2*s, "bob", "b"),
				is(4*s, "alice", mark.EventLockTaken, "a", 0)), "waited 2s", []int{1, 3, 5, 6}},
	} {
		f := judge(test.inv, promised(test.terms, Record{History: of(test.story...)}))
		if f.Verdict != Violated || !strings.Contains(f.Why, test.why) || !slices.Equal(f.Events, test.want) {
			t.Errorf("%s: got %v %q, events %v; want it violated, with %q and events %v", test.name, f.Verdict, f.Why,
				f.Events, test.why, test.want)
		}
	}
}

// TestFindingsOfMutualExclusionNameTheLateClaim: the reason names the holder whose answer came too late. The events are
// the takes, the claim with its answer, and the extension before it.
func TestFindingsOfMutualExclusionNameTheLateClaim(t *testing.T) {
	extends := func(at time.Duration, actor, hold string) []told {
		return append(is(at, actor, mark.EventLockExtending, hold, 0),
			is(at, actor, mark.EventLockExtended, hold, 0)...)
	}
	alice, bob := takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0)
	late := is(0, "bob", mark.EventLockAsked, "b", 0)
	for _, test := range []struct {
		name  string
		skew  time.Duration
		story []told
		why   string
		want  []int
	}{
		{"within the lease", 0, join(alice, takes(9*s, "bob", "b", 0), claims(9*s, "alice", "a")),
			"bob was told that it has lock job, which alice had taken 9s before and could still rely on",
			[]int{1, 2, 3, 4}},
		{"within the lease and 4e", s, join(alice, takes(7*s, "bob", "b", 0), claims(12*s, "alice", "a")),
			"bob was told that it has lock job, which alice had taken 7s before and could still rely on",
			[]int{1, 2, 3, 4}},
		{"within an extended lease", 0,
			join(alice, extends(4*s, "alice", "a"), extends(5*s, "alice", "a"), takes(14*s, "bob", "b", 0)),
			"bob was told that it has lock job, which alice had taken 14s before and could still rely on",
			[]int{1, 2, 5, 6, 7, 8}},
		{"within an extended lease, and told again", 0,
			join(alice, extends(5*s, "alice", "a"), takes(14*s, "bob", "b", 0), claims(14*s, "alice", "a")),
			"bob was told that it has lock job, which alice had taken 14s before and could still rely on",
			[]int{1, 2, 3, 4, 5, 6}},
		{"told again at once", 0, join(alice, bob, claims(12*s, "alice", "a")),
			"alice was told that it still has lock job, although bob had taken it 0s before", []int{1, 2, 3, 4, 5, 6}},
		{"told again", 0, join(alice, bob, claims(13*s, "alice", "a")),
			"alice was told that it still has lock job, although bob had taken it 1s before", []int{1, 2, 3, 4, 5, 6}},
		{"told again often", 0, join(alice, bob, claims(13*s, "alice", "a"), claims(14*s, "alice", "a")),
			"alice was told that it still has lock job, although bob had taken it 1s before", []int{1, 2, 3, 4, 5, 6}},
		{"told again after one who was told, too, and need not have been", 0,
			join(alice, bob, claims(13*s, "bob", "b"), claims(14*s, "alice", "a")),
			"alice was told that it still has lock job, although bob had taken it 2s before", []int{1, 2, 3, 4, 7, 8}},
		{"told again before and after", 0, join(alice, claims(12*s, "alice", "a"), bob, claims(13*s, "alice", "a")),
			"alice was told that it still has lock job, although bob had taken it 1s before", []int{1, 2, 5, 6, 7, 8}},
		{"the question " +
			"came before", 0,
			join(alice, is(11*s, "alice", mark.EventLockChecking, "a", 0), bob, is(13*s, "alice", mark.EventLockHeld,
				"a", 0), claims(14*s, "alice", "a")),
			"alice was told that it still has lock job, although bob had taken it 2s before", []int{1, 2, 4, 5, 7, 8}},
		{"told again more than 4e after", s,
			join(alice, bob, claims(16*s, "alice", "a"), claims(16001*ms, "alice", "a")),
			"alice was told that it still has lock job, although bob had taken it 4.001s before",
			[]int{1, 2, 3, 4, 7, 8}},
		{"told again after an extension", s, join(alice, extends(3*s, "alice", "a"), bob, claims(17*s, "alice", "a")),
			"alice was told that it still has lock job, although bob had taken it 5s before",
			[]int{1, 2, 3, 4, 5, 6, 7, 8}},
		{"extended", 0, join(alice, bob, extends(13*s, "alice", "a"), claims(13*s, "alice", "a")),
			"alice was told that it has extended lock job, although bob had taken it 1s before",
			[]int{1, 2, 3, 4, 5, 6}},
		{"extended anew", s, join(alice, extends(3*s, "alice", "a"), bob, extends(13*s, "alice", "a")),
			"alice was told that it has extended lock job, although bob had taken it 1s before",
			[]int{1, 2, 3, 4, 5, 6, 7, 8}},
		{"extended at the same time", 0,
			join(alice, is(11*s, "alice", mark.EventLockExtending, "a", 0), bob,
				is(13*s, "alice", mark.EventLockExtended, "a", 0)),
			"alice was told that it has extended lock job, although bob had taken it 1s before",
			[]int{1, 2, 3, 4, 5, 6}},
		{"extended too long ago", 0,
			join(alice, is(2*s, "alice", mark.EventLockExtending, "a", 0), bob,
				is(13*s, "alice", mark.EventLockExtended, "a", 0), claims(14*s, "alice", "a")),
			"alice was told that it still has lock job, although bob had taken it 2s before",
			[]int{1, 2, 3, 4, 5, 6, 7, 8}},
		{"the later one " +
			"was told late", 0,
			join(late, takes(11*s, "alice", "a", 0), is(12*s, "bob", mark.EventLockTaken, "b", 0),
				claims(13*s, "alice", "a"), claims(14*s, "bob", "b")),
			"bob was told that it still has lock job, although alice had taken it 3s before", []int{1, 2, 3, 4, 7, 8}},
		{"the later one was told late, and again more than 4e after", s,
			join(late, takes(11*s, "alice", "a", 0), is(12*s, "bob", mark.EventLockTaken, "b", 0),
				claims(13*s, "bob", "b"), claims(17*s, "bob", "b")),
			"bob was told that it still has lock job, although alice had taken it 6s before", []int{1, 2, 3, 4, 7, 8}},
		{"extended for less than 4e, and both told again", 2 * s,
			join(alice, bob, extends(13*s, "alice", "a"), claims(21*s, "bob", "b"), claims(22*s, "alice", "a")),
			"alice was told that it still has lock job, although bob had taken it 10s before",
			[]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
		{"both told again, the first one last", 0,
			join(alice, late, is(12*s, "bob", mark.EventLockTaken, "b", 0), claims(13*s, "bob", "b"),
				claims(14*s, "alice", "a")),
			"alice was told that it still has lock job, although bob had taken it 2s before",
			[]int{1, 2, 3, 4, 5, 6, 7, 8}},
		{"both told again, the second one last", 0,
			join(alice, late, is(12*s, "bob", mark.EventLockTaken, "b", 0), claims(13*s, "alice", "a"),
				claims(14*s, "bob", "b")),
			"bob was told that it still has lock job, although alice had taken it 14s before",
			[]int{1, 2, 3, 4, 5, 6, 7, 8}},
		{"both told again, whose leases end within 4e", s,
			join(alice, is(5*s, "bob", mark.EventLockAsked, "b", 0), is(12*s, "bob", mark.EventLockTaken, "b", 0),
				claims(17*s, "bob", "b"), claims(18*s, "alice", "a")),
			"alice was told that it still has lock job, although bob had taken it 6s before",
			[]int{1, 2, 3, 4, 5, 6, 7, 8}},
	} {
		f := judge("mutual-exclusion",
			promised(LockTerms{}, Record{History: of(test.story...), MaxClockSkew: test.skew}))
		if f.Verdict != Violated || f.Why != test.why || !slices.Equal(f.Events, test.want) {
			t.Errorf("%s: got %v %q, events %v; want it violated, with %q and events %v", test.name, f.Verdict, f.Why,
				f.Events, test.why, test.want)
		}
	}
}

// TestFindingsOfMutualExclusionShowTheRows: the changes of a finding are those, between its first and its last event,
// of the rows that either holder wrote in that time.
func TestFindingsOfMutualExclusionShowTheRows(t *testing.T) {
	row := func(table, key string) ddbfake.Change {
		return ddbfake.Change{
			Table: table, Key: attr.Item{"gate": attr.S(key)}, Actor: "alice", Cause: ddbfake.CauseClient,
		}
	}
	by := func(actor string, c ddbfake.Change) ddbfake.Change {
		c.Actor = actor
		return c
	}
	purged := by("", row("t", "job"))
	purged.Cause = ddbfake.CauseTTL
	copied := row("t", "copy")
	copied.Cause = ddbfake.CauseReplica
	job := row("t", "job")
	for _, test := range []struct {
		name string
		log  []ddbfake.Change
		want []int // the first change precedes the first event, and the last one follows the last event
	}{
		{"of both", []ddbfake.Change{job, job, by("bob", job), job, job}, []int{2, 3, 4}},
		{"of one", []ddbfake.Change{job, by("bob", job), job}, []int{2}},
		{"none", []ddbfake.Change{job, job}, nil},
		{"of others, too", []ddbfake.Change{job, by("carol", job), job, purged, job}, []int{2, 3, 4}},
		{"of others only", []ddbfake.Change{job, by("carol", job), purged, job}, nil},
		{"of another row",
			[]ddbfake.Change{job, job, by("carol", row("t", "mail")), by("carol", row("u", "job")), job}, []int{2}},
		{"that was copied", []ddbfake.Change{job, copied, job}, nil},
		{"that fill a story", slices.Repeat([]ddbfake.Change{job}, 10), []int{2, 3, 4, 5, 6, 7, 8, 9}},
		{"one too many", slices.Repeat([]ddbfake.Change{job}, 11), []int{2, 4, 5, 6, 7, 8, 9, 10}},
		{"too many", slices.Repeat([]ddbfake.Change{job}, 12), []int{2, 5, 6, 7, 8, 9, 10, 11}},
	} {
		for i := range test.log {
			test.log[i].Seq = i + 1
		}
		ev := promised(LockTerms{}, Record{
			Changes: test.log, History: of(join(takes(0, "alice", "a", 0), takes(12*s, "bob", "b", 0),
				claims(12*s, "alice", "a"))...),
		})
		for i := range ev.History {
			ev.History[i].Change = 2
		}
		ev.History[0].Change, ev.History[len(ev.History)-1].Change = 1, len(test.log)-1
		if f := judge("mutual-exclusion", ev); f.Verdict != Violated || !slices.Equal(f.Changes, test.want) {
			t.Errorf("%s: got %v, changes %v; want it violated, with changes %v", test.name, f.Verdict, f.Changes,
				test.want)
		}
	}
}

// TestALateWriteOfADeadHolder: a write in the change log makes its node count as
// a holder, even if the request was still in the network when the node crashed.
func TestALateWriteOfADeadHolder(t *testing.T) {
	story := join(takes(0, "bob", "b", 0), is(s, "bob", history.Crashed, "", 0),
		is(20*s, "alice", mark.EventLockAsked, "a", 0), is(20*s, "alice", mark.EventLockRefused, "a", 0))
	ev := promised(LockTerms{Wait: s}, Record{History: of(story...)})
	if f := freeLock.Check(ev); f.Verdict != Violated {
		t.Errorf("without a late write: got %v", f)
	}
	start := time.Unix(1e9, 0).Add(s)
	ev.History =
		of(join(is(0, "carol", history.Settled, "", 0), is(s, "bob", mark.EventLockAsked, "b", 0), story[1:])...)
	late := ddbfake.Change{Seq: 1, Actor: "bob", Cause: ddbfake.CauseClient, Sent: start, Time: start.Add(14 * s)}
	for _, test := range []struct {
		name   string
		change func(c *ddbfake.Change)
		want   Verdict
	}{
		{"with a late write", func(*ddbfake.Change) {}, OK},
		{"with one of another node", func(c *ddbfake.Change) { c.Actor = "carol" }, Violated},
		{"with a deletion by TTL", func(c *ddbfake.Change) { c.Cause = ddbfake.CauseTTL }, Violated},
		{"with one that was sent before", func(c *ddbfake.Change) { c.Sent = start.Add(-1) }, Violated},
	} {
		c := late
		test.change(&c)
		ev.Changes = []ddbfake.Change{c}
		if f := freeLock.Check(ev); f.Verdict != test.want {
			t.Errorf("%s: got %v, want %v", test.name, f, test.want)
		}
	}
}

// A search takes two moments for one only if clients were told the same until then, in the same order.
func TestAllThatClientsWereToldIsRemembered(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	event := func(change func(*history.Event, *history.Hold)) history.Event {
		e := history.Event{Time: at(1), Actor: "alice", Kind: mark.EventLockTaken, Key: "job"}
		facts := &history.Hold{ID: "alice-hold-1"}
		change(&e, facts)
		e.Hold = facts
		return e
	}
	same := event(func(*history.Event, *history.Hold) {})
	other := event(func(e *history.Event, h *history.Hold) { e.Actor, h.ID = "bob", "bob-hold-1" })
	crash := history.Event{Time: at(1), Actor: "alice", Kind: history.Crashed}
	wrote := ddbfake.Change{Actor: "alice", Cause: ddbfake.CauseClient, Sent: at(1), Time: at(1)}
	sum := func(events []history.Event, changes ...ddbfake.Change) uint64 {
		inv := OfLocks()[0]
		m := inv.Memory(Promise{})
		for _, c := range changes {
			m.Change(c)
		}
		for _, e := range events {
			m.Event(e)
		}
		return m.Fingerprint(at(9))
	}
	pasts := map[string]uint64{
		"nothing":         sum(nil),
		"one event":       sum([]history.Event{same}),
		"two events":      sum([]history.Event{same, other}),
		"the other order": sum([]history.Event{other, same}),
		"a crash":         sum([]history.Event{same, crash}),
		"a crash before":  sum([]history.Event{crash, same}),
		"a write":         sum(nil, wrote),
		"two writes":      sum(nil, wrote, wrote),
		"a write sent later": sum(nil,
			ddbfake.Change{Actor: "alice", Cause: ddbfake.CauseClient, Sent: at(2), Time: at(1)}),
		"a later write": sum(nil,
			ddbfake.Change{Actor: "alice", Cause: ddbfake.CauseClient, Sent: at(1), Time: at(2)}),
		"a write of bob": sum(nil, ddbfake.Change{Actor: "bob", Cause: ddbfake.CauseClient, Sent: at(1), Time: at(1)}),
	}
	for name, change := range map[string]func(*history.Event, *history.Hold){
		"time":     func(e *history.Event, _ *history.Hold) { e.Time = at(2) },
		"node":     func(e *history.Event, _ *history.Hold) { e.Actor = "bob" },
		"kind":     func(e *history.Event, _ *history.Hold) { e.Kind = mark.EventLockLost },
		"lock":     func(e *history.Event, _ *history.Hold) { e.Key = "mail" },
		"payload":  func(e *history.Event, _ *history.Hold) { e.Inputs = "7" },
		"result":   func(e *history.Event, _ *history.Hold) { e.Body = "7" },
		"an error": func(e *history.Event, _ *history.Hold) { e.Note = "no" },
		"hold":     func(_ *history.Event, h *history.Hold) { h.ID = "alice-hold-2" },
		"troubled": func(_ *history.Event, h *history.Hold) { h.Troubled = true },
		"excused":  func(_ *history.Event, h *history.Hold) { h.Excused = time.Second },
		"token":    func(_ *history.Event, h *history.Hold) { h.Token = 1 },
		"fenced":   func(_ *history.Event, h *history.Hold) { h.Fenced = true },
		"done":     func(_ *history.Event, h *history.Hold) { h.Done = true },
	} {
		pasts[name] = sum([]history.Event{event(change)})
	}
	known := map[uint64]string{}
	for _, name := range slices.Sorted(maps.Keys(pasts)) {
		if before, is := known[pasts[name]]; is {
			t.Errorf("%q and %q count as one", before, name)
		}
		known[pasts[name]] = name
	}
	replaced := wrote
	replaced.Cause = ddbfake.CauseTTL
	if sum(nil, replaced) != sum(nil) {
		t.Error("a deletion by TTL is no write of a node's")
	}
}
