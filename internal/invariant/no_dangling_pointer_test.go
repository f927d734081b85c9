package invariant_test

import (
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
)

func TestNoDanglingPointerPasses(t *testing.T) {
	for _, test := range []judged{
		{name: "recipe A has no pointer", log: newLog().lock("alice", "a1", 30*second).publish("alice", "1")},
		{name: "a version and the pointer to it", log: newLog().swap("alice", "1").swap("alice", "2")},
		{name: "the pointer first, in the same request",
			log: func() *changeLog {
				l := newLog()
				return l.together(func() { l.point("alice", "1", 0).version("alice", "1") })
			}()},
		{name: "an old version is removed",
			log: newLog().swap("alice", "1").swap("alice", "2").write("alice", "VER#1", nil)},
		{name: "the version goes when META is past its ttl",
			log: newLog().swap("alice", "1").at(3600 * second).sweep("VER#1")},
		{name: "META goes first", log: newLog().swap("alice", "1").sweep("META").sweep("VER#1")},
		{name: "both in one request",
			log: func() *changeLog {
				l := newLog().swap("alice", "1")
				return l.together(func() { l.write("alice", "VER#1", nil).write("alice", "META", nil) })
			}()},
		{name: "equal etags of pointer and version", log: pointed("e", "e")},
		{name: "an etag of the pointer alone",
			log: newLog().version("alice", "1").write("alice", "META",
				attr.Item{"current_sk": attr.S("VER#1"), "etag": attr.S("e")})},
		{name: "an etag of the version alone",
			log: newLog().write("alice", "VER#1", attr.Item{"s3_key": attr.S("1"), "etag": attr.S("e")}).point("alice",
				"1", 0)},
		{name: "a body whose name is a number",
			log: newLog().write("alice", "VER#1", attr.Item{"s3_key": attr.Int(1)}).point("alice", "1", 0)},
		{name: "a version in chunks, whose row counts them",
			log: newLog().write("alice", "VER#1", attr.Item{"body": attr.Int(2)}).point("alice", "1", 0)},
		{name: "a version of another key",
			log: newLog().swap("alice", "1").on("cache", "CACHE#2").version("alice", "1").write("alice", "VER#1", nil)},
	} {
		test.want = invariant.OK
		test.check(t, invariant.Named("no-dangling-pointer"))
	}
}

// pointed is a pointer with an etag to a version with an etag.
func pointed(meta, version string) *changeLog {
	l := newLog()
	return l.write("alice", "VER#1", l.row("1", attr.Item{"etag": attr.S(version)})).
		write("alice", "META", attr.Item{"current_sk": attr.S("VER#1"), "etag": attr.S(meta)})
}

func TestNoDanglingPointerCatches(t *testing.T) {
	for _, test := range []judged{
		{name: "a pointer to nothing", log: newLog().point("alice", "1", 0),
			why: []string{"alice", "VER#1", "not there"}, show: []int{1}},
		{name: "a pointer to nothing, and the lock given back after it in one request",
			log: func() *changeLog {
				l := newLog().lock("alice", "a1", 30*second)
				return l.together(func() { l.point("alice", "1", 0).unlock("alice") })
			}(),
			why: []string{"alice", "VER#1", "not there"}, show: []int{1, 2}},
		{name: "a pointer before its version", log: newLog().point("alice", "1", 0).version("alice", "1"),
			why: []string{"not there"}, show: []int{1}},
		{name: "back to a version that has been collected",
			log: newLog().swap("alice", "1").swap("alice", "2").write("bob", "VER#1", nil).point("alice", "1", 0),
			why: []string{"alice", "VER#1", "not there"}, show: []int{1, 2, 3, 4, 5, 6, 7, 8}},
		{name: "the version is removed", log: newLog().swap("alice", "1").write("bob", "VER#1", nil),
			why: []string{"bob removed VER#1"}, show: []int{1, 2, 3, 4}},
		{name: "TTL deletes the version a nanosecond before META's own ttl",
			log: newLog().swap("alice", "1").at(3600*second - nano).sweep("VER#1"),
			why: []string{"TTL removed VER#1"}, show: []int{1, 2, 3, 4}},
		{name: "a version without a body", log: newLog().write("alice", "VER#1", attr.Item{}).point("alice", "1", 0),
			why: []string{"VER#1", "no body"}, show: []int{1, 2}},
		{name: "two etags", log: pointed("e", "f"), why: []string{"etag e", "f"}, show: []int{1, 2}},
	} {
		test.want = invariant.Violated
		test.check(t, invariant.Named("no-dangling-pointer"))
	}
}

func stored(bodies ...recorder.Body) []recorder.Body { return bodies }

// put is alice's storing of a body when the log had the given number of changes.
func put(name, text string, change int) recorder.Body {
	return recorder.Body{Time: t0, Actor: "alice", Name: name, Body: text, Change: change}
}

func removed(name string, change int, at time.Duration) recorder.Body {
	return recorder.Body{Time: t0.Add(at), Actor: "carol", Name: name, Gone: true, Change: change}
}

func TestNoDanglingPointerFollowsMETAToTheBody(t *testing.T) {
	tagged := func(l *changeLog, name, etag string) *changeLog {
		return l.page("alice", name, attr.Item{"etag": attr.S(etag), "ttl": attr.Int(in(3600 * second))})
	}
	for _, test := range []struct {
		name   string
		log    *changeLog
		bodies []recorder.Body
		want   invariant.Verdict
		show   []int
	}{
		{"nobody looked at bodies", newLog().meta("alice", "1"), nil, invariant.OK, nil},
		{"put before", newLog().meta("alice", "1"), stored(put("1", "x", 0)), invariant.OK, nil},
		{"put after", newLog().meta("alice", "1"), stored(put("1", "x", 1)), invariant.Violated, []int{1}},
		{"never put", newLog().meta("alice", "1"), stored(put("2", "x", 0)), invariant.Violated, []int{1}},
		{"put for the version", newLog().swap("alice", "1"), stored(put("1", "x", 0)), invariant.OK, nil},
		{"not put for the version", newLog().swap("alice", "1"), stored(put("2", "x", 0)),
			invariant.Violated, []int{1, 2}},
		{"deleted before", newLog().lock("alice", "a1", 0).meta("alice", "1"),
			stored(put("1", "x", 0), removed("1", 1, 0)), invariant.Violated, []int{1, 2}},
		{"deleted while META leads to it", tagged(newLog(), "1", "e"),
			stored(put("1", "x", 0), removed("1", 1, 3600*second-nano)), invariant.Violated, []int{1}},
		{"deleted when META is past its ttl", tagged(newLog(), "1", "e"),
			stored(put("1", "x", 0), removed("1", 1, 3600*second)), invariant.OK, nil},
		{"a lock taken after that", tagged(newLog(), "1", "e").at(3600*second).lock("bob", "b1", 3630*second),
			stored(put("1", "x", 0), removed("1", 1, 3600*second)), invariant.OK, nil},
		{"a pointer to nothing that is past its ttl", newLog().at(second).
			write("alice", "META", attr.Item{
				"current_sk": attr.S("VER#1"), "etag": attr.S("e"), "ttl": attr.Int(in(second)),
			}), stored(put("1", "x", 0)), invariant.OK, nil},
		{"an old one deleted", newLog().meta("alice", "1").meta("alice", "2"),
			stored(put("1", "x", 0), put("2", "y", 0), removed("1", 2, 0)), invariant.OK, nil},
		{"an etag of two bodies", tagged(tagged(newLog(), "1", "e"), "2", "e"),
			stored(put("1", "x", 0), put("2", "y", 0)), invariant.Violated, []int{1, 2}},
		{"an etag of two bodies, with another between them",
			tagged(tagged(tagged(newLog(), "1", "e"), "2", "f"), "3", "e"),
			stored(put("1", "x", 0), put("2", "y", 0), put("3", "z", 0)), invariant.Violated, []int{1, 2, 3}},
		{"an etag of equal bodies", tagged(tagged(newLog(), "1", "e"), "2", "e"),
			stored(put("1", "x", 0), put("2", "x", 0)), invariant.OK, nil},
		{"two etags of one body", tagged(tagged(newLog(), "1", "e"), "1", "f"), stored(put("1", "x", 0)), invariant.OK,
			nil},
		{"an etag of two keys", tagged(tagged(newLog(), "1", "e").on("cache", "CACHE#2"), "2", "e"),
			stored(put("1", "x", 0), put("2", "y", 0)), invariant.OK, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			ev := invariant.Evidence{Record: invariant.Record{Changes: test.log.changes}}
			ev.Bodies = test.bodies
			got := invariant.Named("no-dangling-pointer").Check(ev)
			checkFinding(t, got, test.want, test.show, nil)
		})
	}
}
