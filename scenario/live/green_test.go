package live_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/live"
)

// These are ways to pass without being judged. Watch fails on each, and isr-sim serve --check gets a verdict that
// decides its exit code.
func TestGreenWithoutBeingJudged(t *testing.T) {
	only := func(all ...invariant.Invariant) live.Options { return live.Options{Invariants: all} }
	mapped := func(rows ...isr.Row) live.Options { return live.Options{Rows: isr.Schema{Rows: rows}} }
	lock := func(s *traffic, actor string) pagecache.Lease {
		return must.Of(s.store(actor).Acquire(s.Context(), "/home"))(s)
	}
	page := func(s *traffic, actor string) { s.publish(s.store(actor), "/home") }
	evil := func(s *traffic) {
		s.put("mallory", s.meta(s.store("mallory"), "/home", "evil").Item())
	}
	row := func(pk, sk string, more ...string) map[string]types.AttributeValue {
		item := pagecache.Key(pk, sk)
		for i := 0; i < len(more); i += 2 {
			item[more[i]] = &types.AttributeValueMemberS{Value: more[i+1]}
		}
		return item
	}
	locks := isr.Row{Partition: "pk = {key}", Sort: "sk = L", Token: "owner", Expires: "until iso8601"}
	const tooLittle = "vacuous: something is missing"
	for name, way := range map[string]struct {
		options live.Options
		do      func(s *traffic)
		want    string
	}{
		"nothing was written": {live.Options{}, func(*traffic) {},
			"vacuous: nothing was judged, for nothing was written"},
		"reads alone": {live.Options{}, func(s *traffic) { s.get("alice", "CACHE#1", "META") },
			"vacuous: nothing was judged"},
		"rows outside of the schema": {live.Options{}, func(s *traffic) {
			s.put("alice", row("CACHE#1", "PAGE", "html", "x"))
		}, "vacuous: nothing was judged, for no row is known to be a page or a lock; " +
			"say in Options.Rows which ones are, or keep META and LOCK:\n" +
			"  table cache, keyed pk (S), sk (S), changes: 1, rows such as PAGE"},
		"a request's row alone": {live.Options{},
			func(s *traffic) { s.put("alice", row("CACHE#1", "REQ#1", "request_hash", "h")) },
			"vacuous: nothing was judged"},
		"another table": {live.Options{}, func(s *traffic) {
			s.create("users", "id")
			s.puts("alice", "users", "id", "META", "html", "x")
		}, "vacuous: nothing was judged, for no row is known"},
		"the rows were there before": {live.Options{},
			func(s *traffic) { s.checker.Restore(func() { page(s, "alice") }) }, "vacuous: nothing was judged"},
		"by an excepted actor alone": {live.Options{Except: []string{"alice"}}, func(s *traffic) { page(s, "alice") },
			"vacuous: nothing was judged"},
		"a lock alone": {live.Options{}, func(s *traffic) { lock(s, "alice") }, tooLittle},
		"a lock taken and given back": {live.Options{}, func(s *traffic) {
			must.OK(s, s.store("alice").Release(s.Context(), lock(s, "alice")))
		}, tooLittle},
		"a lock, and a page without content": {live.Options{}, func(s *traffic) {
			lock(s, "alice")
			s.put("alice", row(isr.PartitionKey("", "/home"), "META"))
		}, tooLittle},
		"a page without any lock": {live.Options{}, evil, "unknown: no lock seen"},
		"a lock that is named, alone": {only(invariant.Named("lock-theft")), func(s *traffic) { lock(s, "alice") },
			"lock-theft: no lock was changed or given back"},
		"a publish is named, and none": {only(invariant.Named("stale-writer")), func(s *traffic) { lock(s, "alice") },
			"stale-writer: no page was published"},
		"a pointer is named, and none": {only(invariant.Named("no-dangling-pointer")),
			func(s *traffic) { lock(s, "alice") }, "no-dangling-pointer: no page was written"},
		"no invariants": {live.Options{Invariants: []invariant.Invariant{}},
			func(s *traffic) { page(s, "alice"); evil(s) }, "Options.Invariants is empty"},
		"an invariant without a Watch": {only(invariant.Named("linearizable")), func(s *traffic) { page(s, "alice") },
			"linearizable is not judged: it has no Watch"},
		"a nameless invariant": {only(invariant.Invariant{}),
			func(s *traffic) { page(s, "alice") }, "is not judged"},
		"one's own invariant, no row": {
			only(invariant.Invariant{Name: "own", Watch: invariant.Named("stale-writer").Watch}), func(*traffic) {},
			"vacuous: nothing was judged",
		},
		"a history alone": {live.Options{}, func(s *traffic) { s.tell(asked("alice", "/home")) },
			"vacuous: nothing was judged"},
		"rows, and a history by name": {only(invariant.Named("freshness")), func(s *traffic) { page(s, "alice") },
			"freshness: no history was posted"},
		"served, and none was rendered": {only(invariant.Named("freshness")), tellOnly, "unknown: freshness"},
		"settled, and nobody asks": {live.Options{}, func(s *traffic) {
			page(s, "alice")
			s.tell(history.Event{Kind: history.Settled, Within: time.Second})
		}, "liveness: no page was asked for after faults had stopped"},
		"a violation, then Restore": {live.Options{}, func(s *traffic) {
			to := s.db.Snapshot()
			evil(s)
			s.db.Restore(to)
			page(s, "alice")
		}, "unknown: no lock seen"},
		"a violation between two snapshots": {live.Options{}, func(s *traffic) {
			page(s, "alice")
			before := s.db.Snapshot()
			evil(s)
			after := s.db.Snapshot()
			s.db.Restore(before)
			s.db.Restore(after)
		}, "violated: stale-writer by mallory"},
		"a violation, then the table goes": {live.Options{}, func(s *traffic) {
			page(s, "alice")
			evil(s)
			must.Done(s)(s.db.As("setup").DeleteTable(s.Context(),
				&dynamodb.DeleteTableInput{TableName: aws.String(table)}))
		}, "violated: stale-writer by mallory"},
		"milliseconds for seconds": {live.Options{}, func(s *traffic) {
			lease := lock(s, "alice")
			m := s.meta(s.store("alice"), "/home", "x")
			m.GeneratedAt *= 1000
			must.OK(s, s.store("alice").Publish(s.Context(), lease, m))
		}, "unknown: the clock"},
		"a mapping that fits no row": {mapped(isr.Row{Partition: "id = {key}", Body: "html", Generated: "at"}),
			func(s *traffic) { page(s, "alice") }, "the row mapping fits none"},
		"a wrong mapping": {mapped(isr.Row{Partition: "id = {key}"}), func(s *traffic) { page(s, "alice") },
			"neither a page nor a lock"},
		"a mapping of locks, taken once": {mapped(locks), func(s *traffic) {
			s.put("alice", row("1", "L", "owner", "a", "until", s.in(time.Minute)))
		}, tooLittle},
		"a mapping of pages, and locks alone": {mapped(locks,
			isr.Row{Partition: "pk = {key}", Sort: "sk = P", Body: "html", Generated: "at iso8601"}), func(s *traffic) {
			s.put("alice", row("1", "L", "owner", "a", "until", s.in(time.Minute)))
			s.put("alice", row("1", "L", "owner", "a", "until", s.in(2*time.Minute)))
		}, tooLittle},
	} {
		t.Run(name, func(t *testing.T) {
			clock := fakeclock.New(fakeclock.Epoch)
			way.options.Clock = clock
			s, test := watchedAt(t, clock, way.options)
			way.do(s)
			test.end()
			if all := strings.Join(test.errors, "\n"); !strings.Contains(all, way.want) {
				t.Errorf("Watch says %q, want %q", all, way.want)
			}
			if got := s.checker.Found().Verdict(); got == invariant.OK {
				t.Errorf("the verdict is %v", got)
			}
		})
	}
}

// tellOnly tells which pages were served, but writes nothing.
func tellOnly(s *traffic) {
	s.tell(asked("alice", "/home"), served("alice", "/home", "x", history.Fresh))
}

// A lock library has no pages. It is judged if locks change hands.
func TestLocksAloneAreJudged(t *testing.T) {
	rows := isr.Schema{
		Rows: []isr.Row{{Partition: "pk = {key}", Sort: "sk = L", Token: "owner", Expires: "until iso8601"}},
	}
	for name, options := range map[string]live.Options{
		"mapped": {Rows: rows},
		"named":  {Rows: rows, Invariants: []invariant.Invariant{invariant.Named("lock-theft")}},
	} {
		t.Run(name, func(t *testing.T) {
			s, of := watched(t, options)
			put := func(actor string) {
				item := pagecache.Key("1", "L")
				item["owner"] = &types.AttributeValueMemberS{Value: actor}
				item["until"] = &types.AttributeValueMemberS{Value: s.in(time.Minute)}
				s.put(actor, item)
			}
			put("alice")
			s.clock.Advance(time.Minute)
			put("bob")
			of.end()
			wantTest(t, of)
			if got := s.checker.Found().Verdict(); got != invariant.OK {
				t.Errorf("%v, want ok", got)
			}
		})
	}
}
