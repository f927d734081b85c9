package kernel_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// TTL obeys the lag of a scenario.
func TestLagsOfScenarios(t *testing.T) {
	const lingering = "name: lingering\ncache: {revalidate: 1s, retention: 1s, ttl-buffer: 1s}\nttl-lag: LAG\n" +
		"bounds: {ticks: 0}\n" +
		"actors: [{name: alice, script: [get /home, sleep 1000h, get /home]}]\nreach: [ttl-deletion]\n"
	for _, lag := range []string{"at-once", "uniform 1m 48h", "exponential 10m"} {
		s := scenariotest.Parsed(t, strings.Replace(lingering, "LAG", lag, 1))
		first := ""
		for _, seed := range []uint64{1, 1, 2} {
			text, _ := scenariotest.Trace(t,
				kernel.Run{Scenario: s, Protocol: scenariotest.Protocol(t, "recipe-a"), Seed: seed})
			if !strings.Contains(text, "(by TTL)") {
				t.Errorf("%s: TTL deleted nothing:\n%s", lag, text)
			}
			if first == "" {
				first = text
			} else if seed == 1 && text != first {
				t.Errorf("%s: one seed, two traces:\n%s\n%s", lag, first, text)
			}
		}
		if r := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Seed: 1, Schedules: 5}); !r.Passed() {
			t.Errorf("%s: %s", lag, prose.Report(r, "isr-sim", "f.yaml"))
		}
	}
}

// Time stops at the end of a lag, so that steps that race with the deletion can be explored.
func TestTimeStopsAtDeletions(t *testing.T) {
	s := scenariotest.Parsed(t, `
name: lingering
cache: {revalidate: 1s, retention: 1s, ttl-buffer: 1s}
ttl-lag: fixed 10m
actors: [{name: alice, script: [get /home, sleep 1h]}]
`)
	text, _ := scenariotest.Trace(t,
		kernel.Run{Scenario: s, Protocol: scenariotest.Protocol(t, "recipe-a"), Strategy: strategy.Replay(nil)})
	// The page is generated at 0 s. It is stale from 1 s on, and gone for all readers from 2 s on. Its ttl is 3 s; it
	// expires in the following second, and lingers for the lag.
	if !strings.Contains(text, " +10m4s      time ") {
		t.Errorf("time does not stop at +10m4s:\n%s", text)
	}
}

// If the schedule decides when TTL deletes, the scenario says how often TTL may do so.
func TestSweepsAreBounded(t *testing.T) {
	deletions := func(bounds string) (most int) {
		s := scenariotest.Parsed(t,
			"name: two-pages\ncache: {revalidate: 1s, retention: 1s, ttl-buffer: 1s}\nttl-lag: scheduler\nbounds: "+
				bounds+
				"\nactors: [{name: alice, script: [get /one, get /two, sleep 1h, get /one]}]\n")
		for seed := range uint64(100) {
			text, _ := scenariotest.Trace(t,
				kernel.Run{Scenario: s, Protocol: scenariotest.Protocol(t, "recipe-a"), Seed: seed})
			most = max(most, strings.Count(text, "(by TTL)"))
		}
		return most
	}
	if bounded, free := deletions("{sweeps: 1}"), deletions("{}"); bounded != 1 || free < 2 {
		t.Errorf("at most %d deletions with a bound of 1 sweep, %d without one; want 1 and more", bounded, free)
	}
}

// In every schedule, an eventually consistent read right after a write is behind by the scenario's lag. A strongly
// consistent read is never behind.
func TestReplicaLag(t *testing.T) {
	s := scenariotest.Parsed(t, "name: reads\nreplica-lag: 2s\nactors: [{name: alice, script: [get /home]}]\n")
	if s.ReplicaLag != 2*time.Second {
		t.Fatalf("got a lag of %v, want 2s", s.ReplicaLag)
	}
	for _, consistent := range []bool{false, true} {
		p := isr.Protocol{
			Name: "reader", New: func(cfg isr.Config) (isr.Handler, error) { return reader{cfg, consistent}, nil },
		}
		for seed := range uint64(5) {
			text, _ := scenariotest.Trace(t, kernel.Run{Scenario: s, Protocol: p, Seed: seed})
			want := "(eventually consistent) -> absent"
			if consistent {
				want = "-> body second"
			}
			if !strings.Contains(text, want) {
				t.Errorf("consistent %v, seed %d: want a read that ends with %q:\n%s", consistent, seed, want, text)
			}
		}
	}
}

// A proof names each kind of read that it treated as consistent.
func TestAProofNamesEveryEventualRead(t *testing.T) {
	s := scenariotest.Parsed(t, "name: reads\nactors: [{name: alice, script: [get /home]}]\nbounds: {ticks: 0}\n")
	key := pagecache.Key("home", isr.SortMeta)
	for name, read := range map[string]func(
		ctx context.Context, db *dynamodb.Client, table string, consistent *bool,
	) error{
		"BatchGetItem": func(ctx context.Context, db *dynamodb.Client, table string, consistent *bool) error {
			_, err := db.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
				table: {Keys: []map[string]types.AttributeValue{key}, ConsistentRead: consistent},
			}})
			return err
		},
		"Scan": func(ctx context.Context, db *dynamodb.Client, table string, consistent *bool) error {
			_, err := db.Scan(ctx, &dynamodb.ScanInput{TableName: &table, ConsistentRead: consistent})
			return err
		},
		"ExecuteStatement": func(ctx context.Context, db *dynamodb.Client, table string, consistent *bool) error {
			text := `SELECT * FROM "` + table + `" WHERE pk = 'home' AND sk = 'META'`
			_, err := db.ExecuteStatement(ctx,
				&dynamodb.ExecuteStatementInput{Statement: &text, ConsistentRead: consistent})
			return err
		},
		"BatchExecuteStatement": func(ctx context.Context, db *dynamodb.Client, table string, consistent *bool) error {
			text := `SELECT * FROM "` + table + `" WHERE pk = 'home' AND sk = 'META'`
			_, err := db.BatchExecuteStatement(ctx, &dynamodb.BatchExecuteStatementInput{
				Statements: []types.BatchStatementRequest{{Statement: &text, ConsistentRead: consistent}},
			})
			return err
		},
	} {
		for _, consistent := range []bool{false, true} {
			p := isr.Protocol{Name: "reader", SDK: true, New: func(cfg isr.Config) (isr.Handler, error) {
				return sdkReader(func(ctx context.Context) error {
					return read(ctx, cfg.Client.(*dynamodb.Client), cfg.Table, &consistent)
				}), nil
			}}
			proof, err := campaign.Prove{
				Scenario: s, Protocol: p, Options: kernel.Options{SDK: true},
			}.Run(t.Context())
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got := proof.ReadsEventually(); got == consistent {
				t.Errorf("%s, consistent %v: the proof says eventual reads: %v", name, consistent, got)
			}
		}
	}
}

// A proof says that a program has set a timer that nothing lets fire. The program is a handler with the method Later.
func TestAProofNamesWhatWasLeftForLater(t *testing.T) {
	s := scenariotest.Parsed(t,
		"name: reads\nactors: [{name: alice, script: [get /home, get /home]}]\nbounds: {ticks: 0}\n")
	for _, later := range [][]bool{{false, false}, {true, false}, {false, true}} {
		p := isr.Protocol{
			Name: "later", New: func(isr.Config) (isr.Handler, error) { return &putsOff{later: later}, nil },
		}
		proof := scenariotest.Ran(t, campaign.Prove{Scenario: s, Protocol: p})
		if got, says := proof.LeavesForLater(), strings.Contains(prose.Proved(proof, ""),
			"a timer was set when a script was over"); got != later[1] || says != later[1] {
			t.Errorf("after its commands %v: the proof says that something is left: %v, %v", later, got, says)
		}
	}
}

// A proof without ticks, in which no deadline of a page was tried, says that time did not pass.
func TestAProofSaysThatTimeDidNotPass(t *testing.T) {
	for ticks, want := range map[string]bool{"0": true, "1": false} {
		s := scenariotest.Parsed(t,
			"name: reads\nactors: [{name: alice, script: [get /home]}]\nbounds: {ticks: "+ticks+"}\n")
		p := isr.Protocol{
			Name: "later", New: func(isr.Config) (isr.Handler, error) { return &putsOff{later: []bool{false}}, nil },
		}
		proof := scenariotest.Ran(t, campaign.Prove{Scenario: s, Protocol: p})
		if got := strings.Contains(prose.Proved(proof, ""),
			"other moments are not proved (bounds: {ticks: 1})"); got != want {
			t.Errorf("ticks %s: the proof says that time did not pass: %v, want %v", ticks, got, want)
		}
	}
}

// putsOff is a cache that has something left to do after some of its commands.
type putsOff struct {
	later []bool
	asked int
}

func (p *putsOff) Get(context.Context, string) (isr.Served, error) {
	p.asked++
	return isr.Served{}, nil
}

func (p *putsOff) Later() bool { return p.later[p.asked-1] }

// A handler that has something left to do does it while its client sleeps.
func TestAHandlerRestsWhileItsClientSleeps(t *testing.T) {
	s := scenariotest.Parsed(t,
		"name: reads\nactors: [{name: alice, script: [get /home, sleep 5s, get /home, sleep 7s, get /home]}]\n")
	h := &rests{putsOff: putsOff{later: []bool{true, false, false}}}
	p := isr.Protocol{Name: "rests", New: func(isr.Config) (isr.Handler, error) { return h, nil }}
	if _, err := (kernel.Run{Scenario: s, Protocol: p}).Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []time.Duration{5 * time.Second}; !slices.Equal(h.rested, want) {
		t.Errorf("rested %v, want %v: only the first get left something", h.rested, want)
	}
}

// rests is a cache that can finish its postponed work meanwhile.
type rests struct {
	putsOff
	rested []time.Duration
}

func (r *rests) Rest(_ context.Context, d time.Duration) error {
	r.rested = append(r.rested, d)
	return nil
}

// sdkReader is a cache that only reads from the table.
type sdkReader func(context.Context) error

func (r sdkReader) Get(ctx context.Context, _ string) (isr.Served, error) {
	return isr.Served{}, r(ctx)
}

// The reference uses strongly consistent reads where it matters, so a lag of any length does no harm. A mutant is
// caught as without a lag.
func TestReplicaLagOfTheReference(t *testing.T) {
	s := scenariotest.Embedded(t, "paused-writer")
	s.ReplicaLag = 5 * time.Second
	if r := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Seed: 1, Schedules: 200}); r.Verdict != invariant.OK {
		t.Errorf("the reference: got %v, want ok", r.Verdict)
	}
	s.Protocol = "blind-publish"
	if r := scenariotest.Ran(t,
		campaign.Campaign{Scenario: s, Seed: 1, Schedules: 200}); r.Verdict != invariant.Violated {
		t.Errorf("blind-publish: got %v, want a violation", r.Verdict)
	}
}

// A read that a lagging replica may answer cannot be compared with another store's.
func TestReplicaLagIsNotCompared(t *testing.T) {
	s := scenariotest.Parsed(t, "name: reads\nreplica-lag: 2s\nactors: [{name: alice, script: [get /home]}]\n")
	p := isr.Protocol{Name: "reader", New: func(cfg isr.Config) (isr.Handler, error) { return reader{cfg, false}, nil }}
	recorded := hooks.Probe{Record: true}
	if _, err := (kernel.Run{Scenario: s, Protocol: p, Seed: 1}).Do(hooks.With(t.Context(), &recorded)); err != nil {
		t.Fatal(err)
	}
	hidden := 0
	for _, e := range recorded.Exchanges {
		if e.Hidden {
			hidden++
		}
	}
	if hidden != 1 {
		t.Errorf("got %d exchanges that are not compared, want the one read", hidden)
	}
}

// reader writes a META row twice and reads it.
type reader struct {
	isr.Config
	consistent bool
}

func (r reader) Get(ctx context.Context, key string) (isr.Served, error) {
	meta := pagecache.Meta{PK: isr.PartitionKey("", key), S3Key: "first", GeneratedAt: 1, RevalidateSeconds: 1}
	for _, body := range []string{"first", "second"} {
		meta.S3Key = body
		if _, err := r.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &r.Table, Item: meta.Item()}); err != nil {
			return isr.Served{}, err
		}
	}
	out, err := r.Client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &r.Table, Key: pagecache.Key(meta.PK, isr.SortMeta), ConsistentRead: &r.consistent,
	})
	if err != nil {
		return isr.Served{}, err
	}
	body, ok := out.Item["s3_key"].(*types.AttributeValueMemberS)
	if !ok {
		return isr.Served{}, nil
	}
	return isr.Served{Body: []byte(body.Value)}, nil
}

// The schedule decides whether an eventually consistent read is stale. A strongly consistent read is never stale; with
// such reads only, the campaign has not reached the mark.
func TestStaleReadsAreTheSchedulesChoice(t *testing.T) {
	s := scenariotest.Parsed(t, "name: reads\nactors: [{name: alice, script: [get /home]}]\n"+
		"faults: [maybe stale-read op=GetItem]\nreach: [stale-read]\n")
	for _, consistent := range []bool{false, true} {
		p := isr.Protocol{
			Name: "reader", New: func(cfg isr.Config) (isr.Handler, error) { return reader{cfg, consistent}, nil },
		}
		seen := map[bool]bool{}
		for seed := range uint64(20) {
			text, o := scenariotest.Trace(t, kernel.Run{Scenario: s, Protocol: p, Seed: seed})
			stale := strings.Contains(text, "(eventually consistent) -> body first")
			seen[stale] = true
			if reached := slices.Contains(o.Marks, spec.Mark("stale-read")); reached != stale {
				t.Errorf("consistent %v, seed %d: the mark is reached: %v, want %v\n%s", consistent, seed, reached,
					stale, text)
			}
		}
		if !seen[false] || seen[true] == consistent {
			t.Errorf("consistent %v: seen stale: %v, seen as it is: %v", consistent, seen[true], seen[false])
		}
	}
}

// tombstones is a cache that writes invalidations as separate rows. A tombstone holds the second of the invalidation; a
// page generated in that second or before is not fresh.
type tombstones struct {
	*pagecache.RecipeA
	forEver bool // bug: a tombstone counts even against a younger page
	blind   bool // bug: a page counts as fresh although nobody looked for its tombstone
	margin  bool // allows for two clocks that differ by twice the promised skew
}

const sortTombstone = "GONE"

var tombstoneRows = isr.Schema{Rows: []isr.Row{
	{Partition: "pk = {key}", Sort: "sk = META", BodyKey: "s3_key", Generated: "generated_at",
		Window: "revalidate_seconds", TTL: "ttl"},
	{Partition: "pk = {key}", Sort: "sk = LOCK", Token: "lease_token", Expires: "lease_expires_at", TTL: "ttl"},
	{Partition: "pk = {key}", Sort: "sk = " + sortTombstone, Invalidated: "at s"},
}}

func (s tombstones) Invalidate(ctx context.Context, key string) error {
	cfg := s.Config()
	row := pagecache.Key(s.PK(key), sortTombstone)
	row["at"] = &types.AttributeValueMemberN{Value: strconv.FormatInt(int64(s.Now()), 10)}
	_, err := cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &cfg.Table, Item: row})
	return err
}

// allowed returns by how many seconds a tombstone may seem older than a page that was made before it.
func (s tombstones) allowed() int64 {
	if !s.margin {
		return 0
	}
	return int64(2 * s.Config().MaxClockSkew / time.Second)
}

func (s tombstones) Read(ctx context.Context, key string) (pagecache.Meta, error) {
	m, err := s.RecipeA.Read(ctx, key)
	if err != nil || s.blind {
		return m, err
	}
	row, err := s.GetRow(ctx, key, sortTombstone)
	if err != nil {
		return m, err
	}
	if at, is := row["at"].(*types.AttributeValueMemberN); is {
		if gone, err := strconv.ParseInt(at.Value, 10, 64); err != nil || s.forEver ||
			gone+s.allowed() >= int64(m.GeneratedAt) {
			m.RevalidateSeconds = 0
		}
	}
	return m, nil
}

// brokenBy runs a scenario on a store that is made from recipe A. It returns the invariants that are violated, or
// unknown, in some schedule.
func brokenBy(
	t *testing.T, name string, skewed bool, rows isr.Schema, made func(*pagecache.RecipeA) pagecache.Store,
) []string {
	t.Helper()
	data, err := fixtures.Read(name)
	must.OK(t, err)
	s, err := spec.Parse(name, data)
	must.OK(t, err)
	s.Rows = rows
	if skewed {
		s.Skew = 2 * time.Second
		s.Actors[0].Drift.Offset, s.Actors[2].Drift.Offset = s.Skew, -s.Skew
	}
	p := isr.Protocol{Name: "made", New: func(cfg isr.Config) (isr.Handler, error) {
		a, err := pagecache.NewRecipeA(cfg)
		if err != nil {
			return nil, err
		}
		return pagecache.AsHandler(pagecache.NewOn(made(a), cfg))
	}}
	var broken []string
	for seed := range uint64(effort.Fewer(200, 60)) {
		o, err := kernel.Run{
			Scenario: s, Protocol: p, Seed: seed, Strategy: strategy.PCT(3), ExpectedSteps: 200,
		}.Do(t.Context())
		must.OK(t, err)
		if o.Misfit != "" {
			t.Fatalf("seed %d: %s", seed, o.Misfit)
		}
		if o.Verdict == invariant.Unknown {
			broken = append(broken, "unknown: "+o.Why)
		}
		broken = append(broken, o.Broken...)
	}
	slices.Sort(broken)
	return slices.Compact(broken)
}

// If a cache writes invalidations as separate rows, it is judged by the meaning of these rows: correct code passes the
// scenario of invalidations, and each bug violates its invariant.
func TestInvalidationsThatAreRows(t *testing.T) {
	effort.OneAtATime(t)
	for _, test := range []struct {
		name   string
		store  tombstones
		rows   isr.Schema
		want   []string
		skewed bool
	}{
		{"correct", tombstones{}, tombstoneRows, nil, false},
		{"a tombstone that counts for ever", tombstones{forEver: true}, tombstoneRows,
			[]string{"single-flight"}, false},
		{"a read that looks for none", tombstones{blind: true}, tombstoneRows, []string{"no-lost-invalidation"}, false},
		// The mapping must have the tombstones. Without them a node seems to render a page that is still fresh.
		{"correct, and unmapped", tombstones{}, isr.Schema{Rows: tombstoneRows.Rows[:2]},
			[]string{"single-flight"}, false},
		// By the clocks of the two machines, a page may be four seconds younger than a tombstone that came after it.
		{"skewed clocks, no margin", tombstones{}, tombstoneRows, []string{"no-lost-invalidation"}, true},
		{"skewed clocks, the promised margin", tombstones{margin: true}, tombstoneRows, nil, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			broken := brokenBy(t, "invalidation", test.skewed, test.rows, func(a *pagecache.RecipeA) pagecache.Store {
				store := test.store
				store.RecipeA = a
				return store
			})
			if !slices.Equal(broken, test.want) {
				t.Errorf("violated or unknown: %q, want %q", broken, test.want)
			}
		})
	}
}

// reviver sends a heartbeat without a condition after its publish has released the lock.
type reviver struct{ *pagecache.RecipeA }

func (s reviver) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	err := s.RecipeA.Publish(ctx, l, m)
	cfg := s.Config()
	_, _ = cfg.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &cfg.Table, Key: pagecache.Key(s.PK(l.Key), isr.SortLock),
		UpdateExpression: aws.String("SET lease_expires_at = :until"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":until": &types.AttributeValueMemberN{
				Value: strconv.FormatInt(int64(s.NewLock(l.Key, l.Token).LeaseExpiresAt), 10),
			},
		},
	})
	return err
}

// In every schedule, the update that extends the lock is theft, whoever has the lock, and whether or not the lock still
// exists.
func TestAHeartbeatWithoutAConditionIsLockTheft(t *testing.T) {
	broken := brokenBy(t, "two-contenders", false, isr.Schema{},
		func(a *pagecache.RecipeA) pagecache.Store { return reviver{a} })
	if !slices.Contains(broken, "lock-theft") ||
		slices.ContainsFunc(broken, func(b string) bool { return strings.HasPrefix(b, "unknown") }) {
		t.Errorf("violated or unknown: %q, want lock-theft and nothing unknown", broken)
	}
}
