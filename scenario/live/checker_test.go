package live_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/live"
)

const table = "cache"

// traffic is a fake with a cache table, a checker, and the findings that the checker has reported.
type traffic struct {
	*testing.T
	clock    *fakeclock.Clock
	db       *ddbfake.DB
	checker  *live.Checker
	reported []string
}

func watch(t *testing.T, keep int, o live.Options) *traffic {
	t.Helper()
	s := &traffic{T: t, clock: fakeclock.New(fakeclock.Epoch)}
	s.db = ddbfake.New(ddbfake.Options{Clock: s.clock, KeepChanges: keep})
	must.Done(t)(s.db.As("setup").CreateTable(t.Context(), isr.TableInput(table)))
	o.Clock, o.Start = s.clock, s.clock.Now()
	o.OnBroken = func(b live.Broken) {
		s.reported = append(s.reported, fmt.Sprintf("%s %s by %s", b.Verdict, b.Invariant.Name, b.Actor))
	}
	s.checker = live.New(s.db, o)
	return s
}

// recipe are options of caches that promise the rules of the recipe.
func recipe(o live.Options) live.Options {
	o.Promise.Recipe = true
	return o
}

// store is a correct writer.
func (s *traffic) store(actor string) *pagecache.RecipeA { return s.storeAt(actor, 0) }

// storeAt is a correct writer whose clock is wrong.
func (s *traffic) storeAt(actor string, off time.Duration) *pagecache.RecipeA {
	s.Helper()
	return s.storeOf(actor, s.db.As(actor), s.clock.Node(fakeclock.Drift{Offset: off}))
}

// storeOf is a correct writer with this client and this clock.
func (s *traffic) storeOf(actor string, client isr.Client, clock clockwork.Clock) *pagecache.RecipeA {
	s.Helper()
	n := 0
	store, err := pagecache.NewRecipeA(isr.Config{
		Client: client, Clock: clock, Table: table, Bodies: scenariotest.Bodies{},
		Tokens: func() string { n++; return fmt.Sprintf("%s-%d", actor, n) },
		Render: func(context.Context, string, func(context.Context) error) ([]byte, error) { return nil, nil },
	})
	must.OK(s, err)
	return store
}

// publish takes the lease and publishes a page, like a correct writer.
func (s *traffic) publish(store *pagecache.RecipeA, key string) {
	s.Helper()
	lease, err := store.Acquire(s.Context(), key)
	if err == nil {
		err = store.Publish(s.Context(), lease, s.meta(store, key, lease.Token))
	}
	if err != nil {
		s.Error(err)
	}
}

func (s *traffic) meta(store *pagecache.RecipeA, key, body string) pagecache.Meta {
	return pagecache.Meta{PK: store.PK(key), S3Key: body, GeneratedAt: store.Now(), RevalidateSeconds: 60}
}

// put writes a row without any condition.
func (s *traffic) put(actor string, item map[string]types.AttributeValue) {
	s.Helper()
	must.Done(s)(s.db.As(actor).PutItem(s.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: item}))
}

func (s *traffic) wantReported(want ...string) {
	s.Helper()
	if diff := cmp.Diff(want, s.reported); diff != "" {
		s.Errorf("reported (-want +got):\n%s", diff)
	}
}

func TestWhatTheLogHasLostIsUnknown(t *testing.T) {
	s := watch(t, 1, live.Options{Invariants: []invariant.Invariant{invariant.Named("stale-writer")}})
	alice := s.store("alice")
	for range 5 {
		s.publish(alice, "/home")
	}
	s.checker.Look()
	if len(s.reported) == 0 || s.reported[0] != "unknown the log by " {
		t.Errorf("reported %q, want first that the log is not whole", s.reported)
	}
	if got := s.checker.Found(); got.Doubts == 0 {
		t.Error("no doubts")
	}
}

func TestARestoreBeginsAnewFromThere(t *testing.T) {
	s := watch(t, 0, live.Options{})
	alice, bob := s.store("alice"), s.store("bob")
	lease := must.Of(alice.Acquire(t.Context(), "/home"))(t)
	held := s.db.Snapshot()
	must.OK(t, alice.Release(t.Context(), lease))
	s.publish(bob, "/home")
	s.checker.Restore(func() { s.db.Restore(held) })
	must.OK(t, alice.Publish(t.Context(), lease, s.meta(alice, "/home", "1")))
	s.checker.Look()
	s.wantReported() // alice has the lease again, and bob has never had it
	s.put("mallory", s.meta(alice, "/home", "2").Item())
	s.checker.Restore(func() { s.db.Restore(held) })
	if got := s.checker.Found().Violations; got != 1 {
		t.Errorf("%d violations, want the one that the restore took back", got)
	}
}

func TestFoundKeepsSome(t *testing.T) {
	s := watch(t, 0, live.Options{Invariants: []invariant.Invariant{invariant.Named("stale-writer")}})
	alice := s.store("alice")
	s.publish(alice, "/other") // so that there are locks
	const kept = 100
	for i := range kept + 10 {
		s.put("mallory", s.meta(alice, "/home", fmt.Sprint(i)).Item())
	}
	s.checker.Look()
	if got := s.checker.Found(); got.Violations != kept+10 || len(got.Broken) != kept || len(s.reported) != kept {
		t.Errorf("%d violations, %d kept, %d reported", got.Violations, len(got.Broken), len(s.reported))
	}
}

// Correct writers run in real parallel. Each calls Look after each of its calls.
func TestConcurrentCallsAreJudgedInTheOrderOfTheLog(t *testing.T) {
	s := watch(t, 50, live.Options{})
	var running sync.WaitGroup
	for i := range 8 {
		store := s.store(fmt.Sprint("writer-", i))
		running.Go(func() {
			for n := range 20 {
				s.publish(store, fmt.Sprintf("/%d/%d", i, n))
				s.checker.Look()
			}
		})
	}
	running.Wait()
	s.wantReported()
	if got := s.checker.Found().Changes; got != 8*20*3 {
		t.Errorf("%d changes were looked at, want %d", got, 8*20*3)
	}
}

// The caller's own invariant gets each request. If it has no Watch, the verdict is not ok.
func TestAnInvariantOfOnesOwnWatches(t *testing.T) {
	own := func(watch func(invariant.Promise) invariant.Watcher) invariant.Invariant {
		return invariant.Invariant{
			Name: "no-locks", Statement: "nothing is locked", Watch: watch,
			Check: func(invariant.Evidence) invariant.Finding { return invariant.Finding{Verdict: invariant.OK} },
		}
	}
	for _, test := range []struct {
		name string
		inv  invariant.Invariant
		want []string
	}{
		{"that watches", own(func(invariant.Promise) invariant.Watcher {
			return func(request []ddbfake.Change) invariant.Finding {
				if sk, _ := request[0].Key.Str("sk"); sk == isr.SortLock {
					return invariant.Finding{Verdict: invariant.Violated, Why: "there is a lock"} // and names no change
				}
				return invariant.Finding{Verdict: invariant.OK}
			}
		}), []string{"violated no-locks by alice"}},
		{"that cannot", own(nil), []string{"unknown no-locks by "}},
		{"that gives no verdict", own(func(invariant.Promise) invariant.Watcher {
			return func([]ddbfake.Change) invariant.Finding { return invariant.Finding{} }
		}), []string{"unknown no-locks by alice"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := watch(t, 0, live.Options{Invariants: []invariant.Invariant{test.inv}})
			must.Done(t)(s.store("alice").Acquire(t.Context(), "/home"))
			s.checker.Look()
			if diff := cmp.Diff(test.want, s.reported); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			if got := s.checker.Found().Verdict(); got == invariant.OK {
				t.Error("its verdict is ok")
			}
		})
	}
}

// A batch is not atomic: another reader, or another writer, may come between its writes.
func TestABatchIsNoTransaction(t *testing.T) {
	s := watch(t, 0, recipe(live.Options{}))
	alice := s.store("alice")
	must.Done(t)(alice.Acquire(t.Context(), "/home"))
	must.Done(t)(s.db.As("alice").BatchWriteItem(t.Context(),
		&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: {
			{PutRequest: &types.PutRequest{Item: s.meta(alice, "/home", "x").Item()}},
			{DeleteRequest: &types.DeleteRequest{Key: pagecache.Key(alice.PK("/home"), "LOCK")}},
		}}}))
	s.checker.Look()
	s.wantReported("violated atomic-publish by alice")
	s.reported = nil
	must.Done(t)(alice.Acquire(t.Context(), "/home"))
	remove := fmt.Sprintf(`DELETE FROM %s WHERE pk='%s' AND sk='LOCK'`, table, alice.PK("/home"))
	change := fmt.Sprintf(`UPDATE %s SET s3_key='y' WHERE pk='%s' AND sk='META'`, table, alice.PK("/home"))
	must.Done(t)(s.db.As("alice").BatchExecuteStatement(t.Context(), &dynamodb.BatchExecuteStatementInput{
		Statements: []types.BatchStatementRequest{{Statement: &remove}, {Statement: &change}}}))
	s.checker.Look()
	s.wantReported("violated expired-publish by alice")
}

// A publish after the end of one's own lease, and one that keeps the lock, harm nobody: they count only if the rules of
// the recipe are promised.
func TestRulesOfTheRecipeAreJudgedWherePromised(t *testing.T) {
	for name, test := range map[string]struct {
		o    live.Options
		want []string
	}{
		"by default": {live.Options{}, nil},
		"promised": {recipe(live.Options{}),
			[]string{"violated atomic-publish by alice", "violated expired-publish by alice"}},
		"named": {live.Options{Invariants: []invariant.Invariant{invariant.Named("expired-publish")}},
			[]string{"violated expired-publish by alice"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := watch(t, 0, test.o)
			alice := s.store("alice")
			must.Done(t)(alice.Acquire(t.Context(), "/home"))
			s.put("alice", s.meta(alice, "/home", "kept").Item())
			s.checker.Look()
			s.clock.Advance(time.Hour)
			s.put("alice", s.meta(alice, "/home", "late").Item())
			s.checker.Look()
			s.wantReported(test.want...)
			if got := s.checker.Found().Verdict(); (got == invariant.OK) != (test.want == nil) {
				t.Errorf("the verdict is %v", got)
			}
		})
	}
}

// If clocks may differ by a whole lease, no theft of a lease can be found: that is reported, and does not pass.
func TestALargeSkewLeavesNothingOfLeases(t *testing.T) {
	for skew, want := range map[time.Duration]invariant.Verdict{
		0: invariant.OK, time.Second: invariant.OK, time.Hour: invariant.Unknown,
	} {
		s := watch(t, 0, live.Options{Promise: invariant.Promise{MaxClockSkew: skew}})
		s.publish(s.store("alice"), "/home")
		s.checker.Look()
		found := s.checker.Found()
		said := strings.Join(found.Untold, "\n")
		excused := strings.Contains(said, "lock-theft: max-clock-skew of 1h0m0s leaves nothing of a lease of ")
		if got := found.Verdict(); got != want || excused != (want == invariant.Unknown) {
			t.Errorf("clocks off by %v: %v, want %v; not judged:\n%s", skew, got, want, said)
		}
	}
}

// Loaded rows are not judged, neither now nor after a restore: they are only the past of the clients' writes.
func TestLoadedRowsAreNotJudged(t *testing.T) {
	s := watch(t, 0, live.Options{})
	alice := s.store("alice")
	load := func(key, token string) {
		t.Helper()
		pk, now := alice.PK(key), s.clock.Now().Unix()
		text :=
			fmt.Sprintf(`{"cache": [{"PutRequest": {"Item": {"pk": {"S": %q}, "sk": {"S": "META"}, "s3_key": {"S": "x"}, "generated_at": {"N": "%d"}, "revalidate_seconds": {"N": "60"}}}},
			{"PutRequest": {"Item": {"pk": {"S": %q}, "sk": {"S": "LOCK"}, "lease_token": {"S": %q}, "lease_expires_at": {"N": "%d"}}}}]}`, pk, now, pk, token, now+30)
		must.OK(t, s.db.Load("", strings.NewReader(text)))
	}
	s.publish(alice, "/home")
	empty := s.db.Snapshot()
	load("/home", "one")
	load("/home", "two") // a client's write of this row would steal the lease
	s.checker.Look()
	s.wantReported()
	if got := s.checker.Found(); got.Changes != 3 || got.Verdict() != invariant.OK {
		t.Errorf("%d changes were judged, and the verdict is %v; want 3 and ok", got.Changes, got.Verdict())
	}
	if got := s.checker.Summary().String(); !strings.Contains(got, `all changes are signed "alice"`) {
		t.Errorf("the summary is\n%s\nwant that alice alone has signed", got)
	}
	s.put("bob", s.meta(alice, "/home", "stolen").Item())
	s.checker.Look()
	s.wantReported("violated stale-writer by bob", "unknown monotonic-publication by bob")
	s.reported = nil
	s.db.Restore(empty)
	s.put("bob", s.meta(alice, "/home", "stolen").Item()) // has the number of a request that was a Load
	s.checker.Look()
	s.wantReported("violated stale-writer by bob", "unknown monotonic-publication by bob")
}

// The log does not show who holds a lock that was loaded, or restored from a backup. A client that gives it back may be
// its holder, which is a doubt. A client that replaces it is a thief. Loaded rows may have old times: they do not show
// that a client's clock is wrong.
func TestTheHolderOfALoadedLockIsUnknown(t *testing.T) {
	for _, restored := range []bool{false, true} {
		for _, actor := range []string{"bob", ""} {
			s := watch(t, 0, live.Options{})
			bob := s.store("bob")
			pk, now := bob.PK("/home"), s.clock.Now().Unix()
			text :=
				fmt.Sprintf(`{"cache": [{"PutRequest": {"Item": {"pk": {"S": %[1]q}, "sk": {"S": "LOCK"}, "lease_token": {"S": "t"}, "lease_expires_at": {"N": "%[2]d"}}}},
				{"PutRequest": {"Item": {"pk": {"S": "old"}, "sk": {"S": "LOCK"}, "lease_token": {"S": "t"}, "lease_expires_at": {"N": "1"}}}},
				{"PutRequest": {"Item": {"pk": {"S": "old"}, "sk": {"S": "VER#1"}, "s3_key": {"S": "x"}, "ttl": {"N": "%[3]d"}}}},
				{"PutRequest": {"Item": {"pk": {"S": "old"}, "sk": {"S": "META"}, "current_sk": {"S": "VER#1"}, "generated_at": {"N": "1"}}}}]}`, pk, now+30, now-1)
			must.OK(t, s.db.Load("", strings.NewReader(text)))
			if restored {
				ops := s.db.Client(ddbfake.WithActor("ops"))
				made, err := ops.CreateBackup(t.Context(),
					&dynamodb.CreateBackupInput{TableName: aws.String(table), BackupName: aws.String("one")})
				must.OK(t, err)
				must.Done(t)(s.db.As("ops").DeleteTable(t.Context(),
					&dynamodb.DeleteTableInput{TableName: aws.String(table)}))
				must.Done(t)(ops.RestoreTableFromBackup(t.Context(), &dynamodb.RestoreTableFromBackupInput{
					TargetTableName: aws.String(table), BackupArn: made.BackupDetails.BackupArn,
				}))
			}
			before := s.db.Snapshot()
			must.Done(t)(s.db.As(actor).TransactWriteItems(t.Context(),
				&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
					{Put: &types.Put{TableName: aws.String(table), Item: s.meta(bob, "/home", "x").Item()}},
					{Delete: &types.Delete{TableName: aws.String(table), Key: pagecache.Key(pk, "LOCK")}},
				}}))
			s.checker.Look()
			s.wantReported("unknown the holder by " + actor)
			s.reported = nil
			s.db.Restore(before)
			lock := pagecache.Key(pk, "LOCK")
			lock["lease_token"] = &types.AttributeValueMemberS{Value: "another"}
			lock["lease_expires_at"] = &types.AttributeValueMemberN{Value: fmt.Sprint(now + 60)}
			s.put(actor, lock)
			s.checker.Look()
			s.wantReported("violated lock-theft by " + actor)
			s.reported = nil
			ttl := &types.TimeToLiveSpecification{AttributeName: aws.String("ttl"), Enabled: aws.Bool(true)}
			must.Done(t)(s.db.As("ops").UpdateTimeToLive(t.Context(),
				&dynamodb.UpdateTimeToLiveInput{TableName: aws.String(table), TimeToLiveSpecification: ttl}))
			s.db.SetLag(ddbfake.LagAtOnce)
			s.checker.Look()
			s.wantReported("violated no-dangling-pointer by ")
		}
	}
}

// A program that sets up rows is not judged. Other writes are judged with its writes as their past.
func TestSetupIsExempt(t *testing.T) {
	for _, test := range []struct {
		except   []string
		reported []string
		verdict  invariant.Verdict
		excepted int
	}{
		{[]string{"seed"}, nil, invariant.OK, 2},
		{nil, []string{
			"unknown no lock seen by seed", "violated stale-writer by seed", "unknown monotonic-publication by seed",
		}, invariant.Violated, 0},
	} {
		s := watch(t, 0, live.Options{Except: test.except})
		seed, alice := s.store("seed"), s.store("alice")
		s.put("seed", s.meta(seed, "/home", "first").Item())
		s.clock.Advance(time.Second)
		s.publish(alice, "/home")
		s.put("seed", s.meta(seed, "/home", "second").Item())
		s.checker.Look()
		s.wantReported(test.reported...)
		if got := s.checker.Found(); got.Verdict() != test.verdict || got.Excepted != test.excepted ||
			got.Changes+got.Excepted != 5 {
			t.Errorf("%v: %v, %d excepted, %d judged", test.except, got.Verdict(), got.Excepted, got.Changes)
		}

		// Nor do the caller's own invariants judge it, and so they have judged nothing.
		loud := invariant.Invariant{Name: "loud", Watch: func(invariant.Promise) invariant.Watcher {
			return func([]ddbfake.Change) invariant.Finding { return invariant.Finding{Verdict: invariant.Violated} }
		}}
		own := watch(t, 0, live.Options{Except: test.except, Invariants: []invariant.Invariant{loud}})
		own.publish(own.store("seed"), "/home")
		own.checker.Look()
		if got := own.checker.Found(); (got.Violations == 0) != (test.except != nil) || got.Verdict() == invariant.OK {
			t.Errorf("%v, an invariant of one's own: %d violations, %v", test.except, got.Violations, got.Verdict())
		}

		// Other actors are judged by the lock that the setup has written.
		if test.except != nil {
			must.Done(t)(seed.Acquire(t.Context(), "/other"))
			s.put("bob", s.meta(seed, "/other", "stolen").Item())
			s.checker.Look()
			s.wantReported("violated stale-writer by bob", "unknown monotonic-publication by bob")
		}
	}
}
