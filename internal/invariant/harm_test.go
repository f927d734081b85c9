package invariant_test

import (
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

func TestSmallestViolationsOfPages(t *testing.T) {
	taken := func() *changeLog { return newLog().lock("alice", "a1", 30*second).at(10 * second) }
	log := func(l *changeLog) invariant.Evidence {
		return invariant.Evidence{Record: invariant.Record{Changes: l.changes, Revalidate: time.Minute}}
	}
	lags := newRun().asks("alice").renders("alice", "1").evidence()
	lags.Lags = []recorder.Lagged{{Lag: "48h"}}
	old := newRun().renders("alice", "1").wait(2*time.Minute).asks("bob").getsStale("bob", "1").evidence()
	old.MaxAge = time.Minute
	dead := newRun().event("visitor", history.Settled, 0, "").asks("visitor").wait(time.Hour).
		event("visitor", history.Failed, 0, "").evidence()
	dead.Settle = 30 * second
	named := ownRows().with("r1", "h").asks("alice").claims("alice", "r1", "h")
	invariant.Smallest(t, invariant.All(), map[string]invariant.Evidence{
		"stale-writer": log(taken().at(30*second).lock("bob", "b1", 60*second).meta("alice", "1")),
		"lock-theft":   log(taken().lock("bob", "b1", 60*second)),
		"lock-theft*":  log(taken().meta("alice", "1").lock("bob", "b1", 60*second)),
		"monotonic-publication": log(taken().publish("alice", "1").lock("bob", "b1", 60*second).
			page("bob", "2", attr.Item{"generated_at": attr.Int(in(0))})),
		"no-dangling-pointer": log(taken().point("alice", "1", 0)),
		"ttl-well-formed":     log(taken().page("alice", "1", attr.Item{"ttl": attr.Int(in(30 * second))})),
		"ttl-well-formed*": log(newLog().write("alice", "LOCK", attr.Item{"lease_token": attr.S("a1"),
			"lease_expires_at": attr.Int(in(30 * second)), "ttl": attr.Int(in(10 * second))})),
		"freshness":      newRun().renders("alice", "1").wait(2*time.Minute).gets("bob", "1").evidence(),
		"ttl-is-gc":      lags,
		"single-flight":  newRun().take("alice").renders("alice", "1").take("bob").renders("bob", "2").evidence(),
		"single-flight*": newRun().named(isr.PartitionKey("", "/")).renders("alice", "1").evidence(),
		"no-lost-invalidation": newRun().renders("alice", "1").wait(second).happens("carol", history.Invalidating).
			happens("carol", history.Invalidated).wait(2*second).asks("bob").gets("bob", "1").evidence(),
		"idempotent-regeneration": named.take("alice").renders("alice", "1").puts("alice", "1", nil).take("bob").
			renders("bob", "2").puts("bob", "2", nil).evidence(),
		"tenant-isolation": newRun().of("t1").renders("alice", "1").of("t2").gets("bob", "1").evidence(),
		"linearizable":     ops().acquire("alice", 0, "a1", done).acquire("bob", 1, "b1", done).evidence(0),
		"monotonic-reads": oldAndNew().atNext("alice", history.Fresh, "new").atNext("alice", history.Fresh, "old").
			evidence(),
		"read-your-writes": newRun().renders("bob", "0").wait(second).with("r1", "h").asks("alice").
			renders("alice", "1").gets("alice", "1").with("", "").asks("alice").gets("alice", "0").evidence(),
		"bounded-staleness": old,
		"liveness":          dead,
		"expired-publish":   log(taken().at(40*second).publish("alice", "1")),
		"atomic-publish":    log(taken().meta("alice", "1")),
	})
}
