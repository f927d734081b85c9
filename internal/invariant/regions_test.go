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

func TestInvariantsOfTheLogInSeveralRegions(t *testing.T) {
	both := func() *changeLog { // alice takes the lease in region a, and bob in region b
		return newLog().to("a").lock("alice", "a1", 30*second).to("b").lock("bob", "b1", 30*second)
	}
	page := func(region, actor, body string, generated int64) func(*changeLog) {
		return func(l *changeLog) {
			l.to(region).lock(actor, actor, 30*second).page(actor, body,
				attr.Item{"generated_at": attr.Int(t0.Unix() + generated)})
		}
	}
	after := func(l *changeLog, steps ...func(*changeLog)) *changeLog {
		for _, step := range steps {
			step(l)
		}
		return l
	}
	// Versions 1 and 3 are made in region a, and 2 in region b. Then version 3 is set back to 1.
	backPast := func(arrives, later func(*changeLog)) *changeLog {
		return after(newLog().to("a").lock("alice", "a1", 30*second).swap("alice", "1").
			at(100*second).to("b").lock("bob", "b1", 130*second).swap("bob", "2").to("a"), arrives, func(l *changeLog) {
			l.at(200*second).lock("alice", "a2", 230*second).swap("alice", "3")
		}, later, func(l *changeLog) { l.rollback("alice", "1", 0) })
	}
	for _, test := range []struct {
		invariant string
		judged
	}{
		{"lock-theft", judged{name: "two leases, as long as none arrives", log: both(), want: invariant.OK}},
		{"lock-theft",
			judged{name: "the later one arrives where the other was taken", log: both().to("a").arrive("b", "LOCK"),
				want: invariant.Violated,
				why:  []string{"bob replaced the lock of alice", "30s before"}, show: []int{1, 3}}},
		{"lock-theft", judged{
			name: "when that is over", log: both().at(30*second).to("a").arrive("b", "LOCK"), want: invariant.OK,
		}},
		{"lock-theft", judged{name: "a release arrives on a lease that was taken here",
			log:  both().to("a").unlock("alice").to("b").arrive("a", "LOCK"),
			want: invariant.Violated, why: []string{"alice removed the lock of bob"}, show: []int{2, 4}}},
		{"lock-theft", judged{name: "a copy misses that the lease was given back", want: invariant.OK,
			log: newLog().to("a").lock("alice", "a1", 30*second).to("b").arrive("a", "LOCK").
				to("a").unlock("alice").lock("carol", "c1", 30*second).to("b").arrive("a", "LOCK")}},
		{"lock-theft", judged{name: "a client's write of a copy", want: invariant.Violated,
			why: []string{"bob replaced the lock of alice"}, show: []int{2, 3},
			log: after(newLog().to("a").lock("alice", "a1", 30*second).to("b").arrive("a", "LOCK").
				lock("bob", "b1", 30*second))}},
		{"lock-theft", judged{name: "what TTL deleted in another region", want: invariant.Violated,
			why: []string{"TTL of another region removed the lock of bob"},
			log: newLog().to("a").lock("alice", "a1", 10*second).at(20*second).to("b").lock("bob", "b1", 60*second).
				to("a").sweep("LOCK").to("b").arrive("a", "LOCK"),
			show: []int{2, 4}}},

		{"stale-writer", judged{name: "each under its own lease", want: invariant.OK,
			log: both().to("a").publish("alice", "1").to("b").publish("bob", "2")}},
		{"stale-writer", judged{name: "an arrival is no publish", want: invariant.OK,
			log: both().to("a").publish("alice", "1").to("c").arrive("a", "META")}},
		{"stale-writer", judged{name: "the other lease has arrived", want: invariant.Violated,
			why: []string{"although bob had taken the lease"},
			log: both().to("a").arrive("b", "LOCK").publish("alice", "1"), show: []int{1, 3, 4}}},

		{"atomic-publish", judged{name: "META arrives before LOCK goes", want: invariant.OK,
			log: newLog().to("a").lock("alice", "a1", 30*second).to("b").arrive("a", "LOCK").to("a").
				publish("alice", "1").to("b").arrive("a", "META")}},

		{"monotonic-publication", judged{name: "newer data arrives", want: invariant.OK,
			log: after(newLog(), page("a", "alice", "1", 0), page("b", "bob", "2", 5),
				func(l *changeLog) { l.to("a").arrive("b", "META") })}},
		{"monotonic-publication", judged{name: "older data arrives", want: invariant.Violated,
			why: []string{"bob published what was generated 5s before"},
			log: after(newLog(), page("a", "alice", "1", 5), page("b", "bob", "2", 0),
				func(l *changeLog) { l.to("a").arrive("b", "META") }),
			show: []int{1, 2, 5}}},
		{"monotonic-publication", judged{name: "older data is published after newer data has arrived",
			want: invariant.Violated, why: []string{"bob published"},
			log: after(newLog(), page("a", "alice", "1", 5), func(l *changeLog) { l.to("b").arrive("a", "META") },
				page("b", "bob", "2", 0)),
			show: []int{3, 4, 5}}},
		{"monotonic-publication",
			judged{name: "a pointer to an older version arrives", want: invariant.Unknown, why: []string{"rolled back"},
				log: newLog().to("b").lock("bob", "b1", 30*second).version("bob", "2").point("bob", "2", 5*second).
					to("a").lock("alice", "a1", 30*second).version("alice", "1").point("alice", "1", 0).to("b").
					arrive("a", "META")}},
		{"monotonic-publication", judged{name: "a rollback past a version that had arrived", want: invariant.Violated,
			why:  []string{"alice set the page back", "VER#2"},
			log:  backPast(func(l *changeLog) { l.arrive("b", "VER#2").arrive("b", "META") }, func(*changeLog) {}),
			show: []int{10, 11, 12, 13, 14, 15}}},
		{"monotonic-publication",
			judged{name: "past one whose row may have arrived after the decision", want: invariant.OK,
				log: backPast(func(l *changeLog) { l.arrive("b", "META") },
					func(l *changeLog) { l.arrive("b", "VER#2") })}},

		{"no-dangling-pointer", judged{name: "META arrives before its version", want: invariant.Violated,
			why: []string{"alice has META lead to VER#1, which is not there"},
			log: newLog().to("a").lock("alice", "a1", 30*second).swap("alice", "1").to("b").
				arrive("a", "META"), show: []int{5}}},
		{"no-dangling-pointer", judged{name: "by nobody that is known", want: invariant.Violated,
			why: []string{"a client without a name has META lead to VER#1"},
			log: newLog().lock("", "a1", 30*second).point("", "1", 0), show: []int{1, 2}}},
		{"no-dangling-pointer", judged{name: "and after it", want: invariant.OK,
			log: newLog().to("a").lock("alice", "a1", 30*second).swap("alice", "1").to("b").arrive("a", "VER#1").
				arrive("a", "META")}},
	} {
		test.name = test.invariant + ": " + test.name
		test.check(t, invariant.Named(test.invariant))
	}
}

func TestSingleFlightInSeveralRegions(t *testing.T) {
	in := func(r *run, region string) *run { return r.do(func(l *changeLog) { l.to(region) }) }
	arrive := func(r *run, to, from, sk string) *run { return r.do(func(l *changeLog) { l.to(to).arrive(from, sk) }) }
	both := func() *run { return in(in(newRun(), "a").take("alice").renders("alice", "1"), "b").take("bob") }
	// fresh until 60 s in a
	shown := func() *run { return in(newRun(), "a").take("alice").renders("alice", "1").shows("alice", "1") }
	for _, test := range []struct {
		name            string
		run             *run
		want            invariant.Verdict
		changes, events []int
	}{
		{name: "two leases at once", run: both().renders("bob", "2"), want: invariant.Violated,
			changes: []int{1, 2}, events: []int{1, 2}},
		{name: "the first one's is over", run: in(in(newRun(), "a").take("alice").renders("alice", "1").
			wait(30*second), "b").take("bob").renders("bob", "2")},
		{name: "a lease that arrives is no turn of its node", want: invariant.Violated, events: []int{2},
			run: arrive(shown(), "b", "a", "LOCK").wait(60*second).renders("alice", "2")},
		{name: "a lease that goes elsewhere ends no turn", want: invariant.Violated, changes: []int{1, 2},
			events: []int{1, 2}, run: arrive(both(), "a", "b", "LOCK").renders("bob", "2")},
		{name: "fresh in the region of the lease", run: shown().take("bob").renders("bob", "2"),
			want: invariant.Violated, changes: []int{1, 2, 3, 4}, events: []int{2}},
		{name: "missing in another region alone",
			run:  arrive(shown().take("bob"), "b", "a", "LOCK").renders("bob", "2"),
			want: invariant.Violated, changes: []int{1, 2, 3, 4}, events: []int{2}},
		{name: "fresh in another region alone", run: in(shown(), "b").take("bob").renders("bob", "2")},
		{name: "fresh there since it arrived", want: invariant.Violated, changes: []int{4, 5}, events: []int{2},
			run: arrive(shown(), "b", "a", "META").take("bob").renders("bob", "2")},
		{name: "it arrived after the lease was taken",
			run: arrive(in(shown(), "b").take("bob"), "b", "a", "META").renders("bob", "2")},
	} {
		t.Run(test.name, func(t *testing.T) {
			checkFinding(t, invariant.Named("single-flight").Check(test.run.evidence()), max(test.want, invariant.OK),
				test.changes, test.events)
		})
	}
}

// If the judgement of several regions depends on how two pasts differ, their memories differ, so that an exhaustive
// search keeps both.
func TestRegionsAreRemembered(t *testing.T) {
	in := func(r *run, region string) *run { return r.do(func(l *changeLog) { l.to(region) }) }
	for _, name := range []string{"single-flight", "lock-theft"} {
		for _, test := range []past{
			{name: "a lease in another region", a: in(newRun(), "a").take("alice"), b: in(newRun(), "b").take("alice")},
			{name: "the same one", a: in(newRun(), "a").take("alice"), b: in(newRun(), "a").take("alice"), equal: true},
		} {
			test.check(t, invariant.Named(name))
		}
	}
	lease := func(first, then string) *run { return in(in(newRun(), first).take("alice"), then).take("bob") }
	past{name: "which region gave it away first", a: lease("a", "b"),
		b: in(in(newRun(), "b").take("bob"), "a").take("alice")}.
		check(t, invariant.Named("single-flight"))
	copied := func(cause ddbfake.Cause) *run {
		return newRun().do(func(l *changeLog) {
			l.to("b").append(ddbfake.Change{Cause: cause, Actor: "alice", Request: 1}, "LOCK",
				attr.Item{"lease_token": attr.S("a1"), "lease_expires_at": attr.Int(in30)})
		})
	}
	past{name: "a copy of a lease", a: copied(ddbfake.CauseClient), b: copied(ddbfake.CauseReplica)}.check(t,
		invariant.Named("lock-theft"))
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
