package invariant_test

import (
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/invariant"
)

// to moves the next changes to the replica of a region.
func (l *changeLog) to(region string) *changeLog {
	l.region = region
	return l
}

// arrive makes the latest write of a row in another region arrive here.
func (l *changeLog) arrive(from, sk string) *changeLog {
	c := ddbfake.Change{Cause: ddbfake.CauseReplica, Sent: l.sent}
	for _, other := range l.changes {
		if name, _ := other.Key.Str("sk"); other.Region == from && name == sk && other.Cause != ddbfake.CauseReplica {
			c.Actor = other.Actor
		}
	}
	return l.append(c, sk, l.rows[place{from, l.table, l.pk, sk}])
}

// If the judgement of several regions depends on how two pasts differ, their memories differ, so that an exhaustive
// search keeps both.
func TestRegionsAreRemembered(t *testing.T) {
	copied := func(cause ddbfake.Cause) *run {
		return newRun().do(func(l *changeLog) {
			l.to("b").append(ddbfake.Change{Cause: cause, Actor: "alice", Request: 1}, "LOCK",
				attr.Item{"lease_token": attr.S("a1"), "lease_expires_at": attr.Int(in30)})
		})
	}
	checkPast(t, invariant.Named("lock-theft"), invariant.Past{Name: "a copy of a lease",
		A: copied(ddbfake.CauseClient).evidence(), B: copied(ddbfake.CauseReplica).evidence()})
}

// in30 is 30 s after the beginning.
var in30 = in(30 * second)

// A request with an idempotency key may have been answered from the rows of any region.
func TestRequestsInSeveralRegionsAreUnknown(t *testing.T) {
	r := newRun().do(func(l *changeLog) { l.to("a") }).with("r1", "h").claims("alice", "r1", "h").asks("alice").
		take("alice").makes("alice", "1").shows("alice", "1")
	checkFinding(t, invariant.Named("idempotent-regeneration").Check(r.evidence()), invariant.OK, nil, nil)
	r.do(func(l *changeLog) { l.to("b").arrive("a", "REQ#r1") })
	checkFinding(t, invariant.Named("idempotent-regeneration").Check(r.evidence()), invariant.Unknown, nil, nil)
}
