package campaign

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// A protocol that derives numbers from its tokens behaves differently under other names. If it claims that it does not,
// the search starts anew and tells its machines apart.
func TestActorsWhoseNamesMatterAreToldApart(t *testing.T) {
	s := scenariotest.Parsed(t,
		"name: small\ncache: {lease: 10s, render: 0s, poll: 11s, patience: 1}\nbounds: {ticks: 0}\n"+
			"actors:\n  - {name: alice, script: [get /home]}\n  - {name: bob, script: [get /home]}\n")
	for name, derives := range map[string]bool{"recipe-a": false, "policy-jitter": true} {
		p := scenariotest.Protocol(t, name)
		p.Memoryless = true
		for _, forgetful := range []bool{false, true} {
			var found [2]exhaustive.Explored
			for i, off := range []sim.Reduction{0, sim.InterchangeableActors} {
				proof, err := Prove{Scenario: s, Protocol: p, Seed: 1, off: off, Forgetful: forgetful}.Run(t.Context())
				if err != nil || proof.Verdict != invariant.OK {
					t.Fatal(name, proof, err)
				}
				found[i] = proof.Explored
			}
			if same := found[0] == found[1]; same != derives {
				t.Errorf("%s, forgetful %v: %d states, and %d where machines are told apart; want as many: %v",
					name, forgetful, found[0].States, found[1].States, derives)
			}
		}
	}
}

// The name of an actor may be a number. A number in a row still does not count as a name.
func TestANumberIsNoName(t *testing.T) {
	s := scenariotest.Parsed(t,
		"name: small\ninvariants: [ttl-well-formed]\ncache: {lease: 10s, render: 0s, poll: 11s, patience: 1}\n"+
			"bounds: {ticks: 0}\nactors:\n"+
			"  - {name: \"1\", script: [get /idle]}\n  - {name: \"2\", script: [get /idle]}\n"+
			"  - {name: carol, script: [get /one]}\n  - {name: dave, script: [get /two]}\n"+
			"  - {name: erin, script: [get /read]}\n")
	numbers := map[string]string{"/one": "1", "/two": "2"}
	for _, last := range numbers {
		p := does(func(ctx context.Context, h doing, page string) error {
			row := pagecache.Key("notes", "N")
			switch page {
			case "/one", "/two":
				row["n"] = &types.AttributeValueMemberN{Value: numbers[page]}
				return errors.Join(h.put(ctx, h.cfg.Table, row), h.note(ctx, page))
			case "/read":
				for _, name := range []string{"/one", "/two"} {
					if done, err := h.has(ctx, h.cfg.Table, pagecache.Key("notes", name)); err != nil || !done {
						return err
					}
				}
				out, err := h.cfg.Client.GetItem(ctx,
					&dynamodb.GetItemInput{TableName: &h.cfg.Table, Key: row, ConsistentRead: aws.Bool(true)})
				if n, _ := out.Item["n"].(*types.AttributeValueMemberN); err != nil || n.Value != last {
					return err
				}
				return h.wrong(ctx, page)
			}
			return nil
		})
		p.Memoryless = true
		refutes(t, "a wrong row where "+last+" is the last", Prove{Scenario: s, Protocol: p})
	}
}

// peeping is a client that inspects the ttl of LOCK rows, and writes a wrong ttl after some values.
type peeping struct {
	isr.Client
	clock  clockwork.Clock
	wanted func(left time.Duration) bool
}

func (p peeping) PutItem(
	ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.PutItemOutput, error) {
	lock, err := readLock(ctx, p.Client, *in.TableName, in.Item["pk"].(*types.AttributeValueMemberS).Value)
	if err != nil {
		return nil, err
	}
	now := p.clock.Now() // whatever is in the row
	if ttl, is := lock["ttl"].(*types.AttributeValueMemberN); is {
		second, _ := strconv.ParseInt(ttl.Value, 10, 64)
		if p.wanted(time.Unix(second, 0).Sub(now)) {
			in.Item["ttl"] = &types.AttributeValueMemberN{Value: "1"}
		}
	}
	return p.Client.PutItem(ctx, in, o...)
}

// impatient is a client that makes DynamoDB read the ttl of LOCK rows. With catches, it takes a panic for an error.
type impatient struct {
	isr.Client
	catches bool
}

func (p impatient) PutItem(
	ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options),
) (_ *dynamodb.PutItemOutput, err error) {
	defer func() {
		v := recover()
		if taken, is := v.(*sim.TakenError); is && p.catches {
			err = taken
		} else if v != nil {
			panic(v)
		}
	}()
	own := *in
	own.ConditionExpression = aws.String(*in.ConditionExpression + " OR #ttl < :now")
	own.ExpressionAttributeNames = map[string]string{"#ttl": "ttl"}
	return p.Client.PutItem(ctx, &own, o...)
}

// No tick goes to the ttl of a lock if the protocol never reads it. A protocol that does is detected, in whatever way
// it reads the ttl, and is searched with those ticks: some of these protocols are wrong at no other time.
func TestNoTickGoesWhereNoCodeLooks(t *testing.T) {
	effort.Long(t)
	s := scenariotest.Parsed(t,
		"name: small\ncache: {lease: 10s, revalidate: 2m, ttl-buffer: 30s, render: 0s, poll: 11s, patience: 1}\n"+
			"bounds: {ticks: 1}\n"+
			"actors:\n  - {name: alice, script: [get /home]}\n  - {name: bob, script: [get /home], crashes: 1}\n")
	reference := scenariotest.Protocol(t, "recipe-a")
	with := func(client func(isr.Config) isr.Client) isr.Protocol {
		p := reference
		p.New = func(cfg isr.Config) (isr.Handler, error) {
			cfg.Client = client(cfg)
			return reference.New(cfg)
		}
		return p
	}
	peeps := func(wanted func(time.Duration) bool) isr.Protocol {
		return with(func(cfg isr.Config) isr.Client { return peeping{cfg.Client, cfg.Clock, wanted} })
	}
	type code struct {
		name     string
		protocol isr.Protocol
		most     int // schedules
		verdict  invariant.Verdict
		fewer    bool
	}
	all := []code{
		{"never", reference, 0, invariant.OK, true},
		{"after a year", peeps(func(left time.Duration) bool { return left < -time.Hour*24*365 }),
			effort.Fewer(2000, 200),
			invariant.Unknown, false},
		{"in the second before it", peeps(func(left time.Duration) bool { return left == time.Second }), 0,
			invariant.Violated, false},
		{"in its last second", peeps(func(left time.Duration) bool { return left == 0 }), 0, invariant.Violated, false},
		{"a second later", peeps(func(left time.Duration) bool { return left == -time.Second }), 0,
			invariant.Violated, false},
		{"by a condition", with(func(cfg isr.Config) isr.Client { return impatient{cfg.Client, false} }),
			effort.Fewer(500, 100),
			invariant.Unknown, false},
		{"by a condition, and panics are errors",
			with(func(cfg isr.Config) isr.Client { return impatient{cfg.Client, true} }),
			effort.Fewer(500, 100),
			invariant.Unknown, false},
	}
	for _, test := range effort.Quick(all, all[2:4]) {
		var found [2]exhaustive.Explored
		for i, off := range []sim.Reduction{0, sim.UnreadDeadlines} {
			proof, err := Prove{
				Scenario: s, Protocol: test.protocol, Seed: 1, MaxSchedules: test.most, off: off,
			}.Run(t.Context())
			if err != nil || proof.Verdict != test.verdict {
				t.Fatalf("%s, off %b: verdict %v, error %v; want %v", test.name, off, proof.Verdict, err, test.verdict)
			}
			found[i] = proof.Explored
		}
		if fewer := found[0].States < found[1].States; fewer != test.fewer {
			t.Errorf("%s: %d states, and %d with all ticks; want fewer: %v", test.name, found[0].States,
				found[1].States, test.fewer)
		}
		t.Logf("%s: %d states, and %d with all ticks", test.name, found[0].States, found[1].States)
	}
}

// readLock reads the LOCK row of a page, or returns nil.
func readLock(ctx context.Context, client isr.Client, table, pk string) (map[string]types.AttributeValue, error) {
	out, err := client.GetItem(ctx,
		&dynamodb.GetItemInput{TableName: &table, Key: pagecache.Key(pk, isr.SortLock), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// relocking writes nothing but locks. If it finds its lock gone, it writes it with a wrong ttl.
func relocking(ctx context.Context, h doing, key string) error {
	pk, ttl := isr.PartitionKey("", key), int64(1)
	if lock, err := readLock(ctx, h.cfg.Client, h.cfg.Table, pk); err != nil || lock != nil {
		return err
	}
	now := h.cfg.Clock.Now().Unix()
	seen, err := h.cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &h.cfg.Table, Item: pagecache.Key(pk, "OWN"), ReturnValues: types.ReturnValueAllOld,
	})
	if err != nil {
		return err
	}
	if seen.Attributes == nil {
		ttl = now + map[string]int64{"/early": 40, "/late": 60}[key]
	}
	return h.writeLock(ctx, key, ttl)
}

// One tick is enough to reach the instant at which TTL deletes a lock, even if no code reads its ttl and another lock
// is deleted earlier.
func TestATickGoesWhereALockIsDeleted(t *testing.T) {
	for name, script := range map[string]string{
		"ttl-lag: at-once\n":                        "get /early, get /late, get /late",
		"ttl-lag: fixed 3s\n":                       "get /early, get /late, get /late",
		"ttl-lag: at-once\ncompare-lags: [never]\n": "get /late, get /late",
		"ttl-lag: scheduler\nbounds: {sweeps: 1}\n": "get /early, get /late, get /late",
	} {
		text := "name: small\n" + name +
			"cache: {lease: 10s, render: 0s, poll: 11s, patience: 1}\nactors:\n  - {name: alice, script: [" + script +
			"]}\n"
		s := scenariotest.Parsed(t, text)
		s.Bounds.Ticks = 1
		for _, off := range []sim.Reduction{0, sim.UnreadDeadlines} {
			refutes(t, fmt.Sprintf("%s, off %b: a tick that goes to the end of the lock", name, off),
				Prove{Scenario: s, Protocol: does(relocking), off: off})
		}
	}
}

// patient writes nothing but locks, and takes one over only some time after the end of its lease, with a wrong ttl.
func patient(ctx context.Context, h doing, key string) error {
	now := h.cfg.Clock.Now().Unix()
	lock, err := readLock(ctx, h.cfg.Client, h.cfg.Table, isr.PartitionKey("", key))
	if err != nil {
		return err
	}
	ttl := now + 3600
	if ends, is := lock["lease_expires_at"].(*types.AttributeValueMemberN); is {
		second, _ := strconv.ParseInt(ends.Value, 10, 64)
		if ttl = 1; now <= second+20 {
			return nil
		}
	}
	return h.writeLock(ctx, key, ttl)
}

// The ttl of a lock may be the only stop after an instant that code has computed, so one tick goes there.
func TestATickGoesPastAllLocks(t *testing.T) {
	s := scenariotest.Parsed(t,
		"name: small\ncache: {lease: 10s, render: 0s, poll: 11s, patience: 1}\nbounds: {ticks: 1}\n"+
			"actors:\n  - {name: alice, script: [get /home, get /home]}\n")
	refutes(t, "a wrong row long after the end of a lease", Prove{Scenario: s, Protocol: does(patient)})
}

// A request of a crashed machine that only reads is taken where the scenario wants it to reach a mark.
func TestOrphanedReadsReachMarks(t *testing.T) {
	s := scenariotest.Parsed(t,
		"name: small\ncache: {render: 0s, poll: 11s, patience: 1}\nbounds: {ticks: 0}\nreach: [orphaned-request]\n"+
			"actors:\n  - {name: alice, script: [get /home], crashes: 1}\n  - {name: bob, script: [get /home]}\n")
	p := does(func(ctx context.Context, h doing, key string) error {
		_, err := h.cfg.Client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: &h.cfg.Table, Key: pagecache.Key(isr.PartitionKey("", key), isr.SortMeta),
		})
		return err
	})
	proof, err := Prove{Scenario: s, Protocol: p, Seed: 1}.Run(t.Context())
	if err != nil || !slices.Contains(proof.Reached(), "orphaned-request") ||
		slices.Contains(proof.Missing, "orphaned-request") {
		t.Errorf("got %v, error %v; want the mark reached", proof, err)
	}
}

// A crashed machine's request to the origin is not a mere read: the page is rendered, and that is judged. So it leads
// to new states, and a certificate has them.
func TestACrashedMachinesRequestToTheOriginCounts(t *testing.T) {
	for _, reach := range []string{"", "reach: [orphaned-request]\n"} {
		s := scenariotest.Parsed(t,
			"name: small\ncache: {lease: 10s, render: 0s, poll: 11s, patience: 1, attempts: 1}\nbounds: {ticks: 0}\n"+
				reach+
				"actors:\n  - {name: alice, script: [regenerate /home as order with a], crashes: 1, restarts: 1}\n"+
				"  - {name: bob, script: [regenerate /home as order with b]}\n")
		v := Prove{Scenario: s, Seed: 1, Certify: true}
		proof, err := v.Run(t.Context())
		if err != nil || len(proof.States) == 0 {
			t.Fatal(proof, err)
		}
		of, err := subjectOf(s, proof.Protocol.Name, 1) // without a tick it is vacuous, and has no Certificate
		must.OK(t, err)
		v.Certify, v.Against = false, &Certificate{subject: of, States: proof.States}
		if again, err := v.Run(t.Context()); err != nil || again.Verdict != invariant.OK || !again.Explored.Complete {
			t.Errorf("%sgot %v (%s), error %v; want the certificate confirmed", reach, again.Verdict, again.Why, err)
		}
	}
}

// tokened publishes by transactions with one ClientRequestToken for all machines: the second one is refused. If the
// refused machine is bug, it leaves a wrong row behind. With turns, a machine has the page to itself and leaves nothing
// behind, and alice uses the token only if carol was there.
func tokened(token, bug string, turns bool) func(ctx context.Context, h doing, key string) error {
	return func(ctx context.Context, h doing, key string) error {
		pk, first, name := isr.PartitionKey("", key), aws.String("attribute_not_exists(pk)"), h.name()
		put := func(sk string) error {
			_, err := h.cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{
				TableName: &h.cfg.Table, Item: pagecache.Key(pk, sk), ConditionExpression: first,
			})
			return err
		}
		remove := func(sk string) types.TransactWriteItem {
			return types.TransactWriteItem{Delete: &types.Delete{TableName: &h.cfg.Table, Key: pagecache.Key(pk, sk)}}
		}
		leave := func() {
			_, _ = h.cfg.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
				TransactItems: []types.TransactWriteItem{remove("TURN"), remove(name)},
			})
		}
		if turns && name == "carol" {
			return put("CAROL")
		}
		if turns {
			if err := put("TURN"); err != nil {
				return err
			}
		}
		if turns && name == "alice" {
			if there, err := h.has(ctx, h.cfg.Table, pagecache.Key(pk, "CAROL")); err != nil || !there {
				leave()
				return err
			}
		}
		_, err := h.cfg.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			ClientRequestToken: &token,
			TransactItems: []types.TransactWriteItem{
				{Put: &types.Put{TableName: &h.cfg.Table, Item: pagecache.Key(pk, name)}},
			},
		})
		if _, refused := errors.AsType[*types.IdempotentParameterMismatchException](err); refused && name == bug {
			return h.wrong(ctx, key)
		}
		if turns {
			leave()
		}
		return nil
	}
}

// The order of two transactions with the same token matters, whatever their rows, even when the sender of the first one
// is done.
func TestATokenOfSeveralMachinesCounts(t *testing.T) {
	const text = "name: small\ncache: {lease: 10s, render: 0s, poll: 11s, patience: 1}\nbounds: {ticks: 0}\n" +
		"actors:\n  - {name: alice, script: [get /home]}\n  - {name: bob, script: [get /home]}\n"
	for _, test := range []struct {
		bug   string
		turns bool
		text  string
		token string
	}{
		{"alice", false, text, "phone-call-1"}, {"bob", false, text, "phone-call-1"},
		{"bob", true, text + "  - {name: carol, script: [get /home]}\n", "phone-call-1"},
		{"alice", false, text, "00000000-0000-4000-8000-000000000001"}, // as ddbfake.WithClientID generates them
		{"alice", false, text, "00400001-0000-4000-8000-000000000001"}, // in a world of four machines
	} {
		for _, off := range []sim.Reduction{0, sim.SleepSets} {
			for _, sdk := range []bool{false, true} {
				p := does(tokened(test.token, test.bug, test.turns))
				refutes(t, fmt.Sprintf("turns %v, off %b, sdk %v: a schedule in which %s is refused", test.turns, off,
					sdk, test.bug),
					Prove{Scenario: scenariotest.Parsed(t, test.text), Protocol: p, off: off, Options: kernel.Options{
						SDK: sdk,
					}})
			}
		}
	}
}

// apart publishes by a separate request, which does not touch LOCK. It is sent before the lease ends, and may take
// effect after bob has taken the lock.
func apart(ctx context.Context, h doing, key string) error {
	now := h.cfg.Clock.Now()
	until, err := h.lock(ctx, key, now)
	if err != nil || h.name() == "bob" {
		return err
	}
	body, err := h.cfg.Render(ctx, key, nil)
	if err != nil || !h.cfg.Clock.Now().Before(until) {
		return err
	}
	meta := pagecache.Key(isr.PartitionKey("", key), isr.SortMeta)
	meta["html"], meta["generated_at"], meta["ttl"] = &types.AttributeValueMemberS{Value: string(body)}, second(now),
		second(now.Add(time.Hour))
	return h.put(ctx, h.cfg.Table, meta)
}

// If clocks may differ, invariants tolerate that. So time has to stop beyond their tolerance. Otherwise no mistake can
// be seen.
func TestProofsStopBeyondWhatClocksExcuse(t *testing.T) {
	p := does(func(ctx context.Context, h doing, key string) error { // it takes a lease three seconds before its end
		_, err := h.lock(ctx, key, h.cfg.Clock.Now().Add(3*time.Second))
		return err
	})
	for _, skew := range []string{"0s", "700ms", "1s", "1500ms"} {
		s := scenariotest.Parsed(t, "name: small\nmax-clock-skew: "+skew+
			"\ninvariants: [lock-theft]\ncache: {lease: 10s, render: 0s, patience: 1}\nbounds: {ticks: 1}\n"+
			"actors:\n  - {name: alice, script: [get /home]}\n  - {name: bob, script: [get /home]}\n")
		proof := refutes(t, "clocks off by "+skew+": a lease that is taken too early", Prove{Scenario: s, Protocol: p})
		comesAgain(t, "clocks off by "+skew, s, p, kernel.Options{}, proof.Failure)
	}
}

// A write of one row of a page is judged by the page's other rows, even if no request names both. So the order of
// writes counts, even if one of them is a deletion by TTL.
func TestTheRowsOfAPageAreOneThing(t *testing.T) {
	effort.Long(t)
	const (
		cache = "name: small\nprotocol: recipe-a\nwithout: [atomic-publish]\n" +
			"cache: {lease: 2s, render: 0s, poll: 11s, patience: 1}\n"
		alice = "actors:\n  - {name: alice, script: [get /home]}\n"
		bob   = "  - {name: bob, script: [get /home]}\n"
		rows  = "rows:\n  - {partition: \"pk = {key}\", sort: sk = META, body: html, generated: generated_at, " +
			"ttl: ttl}\n" +
			"  - {partition: \"pk = {key}\", sort: sk = LOCK, token: lease_token, expires: lease_expires_at, " +
			"ttl: ttl}\n"
	)
	for _, text := range []string{
		cache + "bounds: {ticks: 1}\n" + alice + bob,
		cache + rows + "bounds: {ticks: 1}\n" + alice + bob,
		cache + "bounds: {ticks: 1, sweeps: 1}\nttl-lag: scheduler\n" + alice +
			"  - {name: carol, script: [sleep 1s]}\n",
	} {
		s := scenariotest.Parsed(t, text)
		for _, off := range []sim.Reduction{0, sim.SleepSets, sim.StateComparison | sim.PersistentSets} {
			for _, sdk := range []bool{false, true} {
				refutes(t,
					fmt.Sprintf("%soff %b, sdk %v: a page that is published after its lock was lost", text, off, sdk),
					Prove{Scenario: s, Protocol: does(apart), off: off, Options: kernel.Options{SDK: sdk}})
			}
		}
	}
}

// Locks and calls are judged by the order of answers to clients. So reductions must keep every such order at the end of
// a run. Each bug is found in some world, and correct code is proved in all.
func TestSearchesOfLocksAndCallsLeaveOutNothing(t *testing.T) {
	effort.Long(t)
	const (
		head = "name: small\nprotocol: recipe-a\n" +
			"cache: {lease: 2s, retention: 5s, render: 0s, poll: 3s, patience: %d, attempts: 1}\n" +
			"bounds: {ticks: %d}\nsettle: 20s\nfaults: [%s]\nactors:\n  - {name: alice, script: [%s]%s}\n" +
			"  - {name: bob, script: [%s]}\n"
		hold = "hold job for 1ms"
		once = "once pay with 7"
	)
	for name, of := range map[string]struct {
		protocol func(bug string) isr.Protocol
		bugs     map[string][]string
		worlds   []string
	}{
		"locks": {scenariotest.Lock, scenariotest.LockBugs, []string{
			fmt.Sprintf(head, 2, 0, "", hold, "", hold),
			fmt.Sprintf(head, 1, 0, "", hold, ", crashes: 1", hold),
			// with carol, the end of alice and bob need not be the end of the run
			fmt.Sprintf(head, 1, 0, "", hold, ", crashes: 1", hold) + "  - {name: carol, script: [sleep 1s]}\n",
			fmt.Sprintf(head, 1, 0, "maybe response-lost", hold, "", hold),
			fmt.Sprintf(head, 1, 0, "", "hold job for 1500ms", "", "sleep 1s, hold job for 1500ms"),
			"replica-lag: 1s\n" + fmt.Sprintf(head, 1, 0, "", "sleep 1s, "+hold, "", hold+", "+hold),
			fmt.Sprintf(head, 1, 1, "", hold+", "+hold, "", hold),
		}},
		"calls": {scenariotest.Once, scenariotest.OnceBugs, []string{
			fmt.Sprintf(head, 1, 0, "", once, "", once),
			fmt.Sprintf(head, 2, 0, "", once, ", crashes: 1", "once pay with 8"),
			fmt.Sprintf(head, 1, 0, "maybe response-lost", once, "", once),
			fmt.Sprintf(head, 1, 0, "maybe origin-failed", once, "", once),
			fmt.Sprintf(head, 1, 1, "", once, "", once),
		}},
	} {
		found, all := map[string]map[string]bool{}, []string{""}
		for _, inv := range slices.Sorted(maps.Keys(of.bugs)) {
			all = append(all, of.bugs[inv]...)
		}
		for i, world := range of.worlds {
			s := scenariotest.Parsed(t, world)
			// it tells a lost answer from a refusal
			options := kernel.Options{AllStops: true, SDK: strings.Contains(world, "response-lost")}
			for _, bug := range all {
				p := of.protocol(bug)
				var broken []string
				if large := i == len(of.worlds)-1; effort.Fewer(true, !large && (bug == "" || i == 0)) {
					broken = leavesOutNothing(t, fmt.Sprintf("%s, world %d, bug %q", name, i, bug), s, p, options)
				} else if bug != "" && len(found[bug]) > 0 {
					continue
				}
				proof, err := Prove{Scenario: s, Protocol: p, Seed: 1, Options: options}.Run(t.Context())
				switch {
				case err != nil:
					t.Fatal(err)
				case proof.Failure != nil:
					broken = append(broken, proof.Failure.Broken...)
					comesAgain(t, fmt.Sprintf("%s, world %d, bug %q", name, i, bug), s, p, options, proof.Failure)
				case len(broken) > 0 || !proof.Explored.Complete || proof.Verdict != invariant.OK ||
					len(proof.Proved()) == 0:
					t.Errorf("%s, world %d, bug %q: %v %s, complete: %v, while some schedule breaks %v", name, i, bug,
						proof.Verdict, proof.Why, proof.Explored.Complete, broken)
				}
				for _, inv := range broken {
					if found[bug] == nil {
						found[bug] = map[string]bool{}
					}
					found[bug][inv] = true
				}
				t.Logf("%s, world %d, bug %q: %d schedules, %d states, %v, proved %v", name, i, bug, proof.Schedules,
					proof.Explored.States, broken, proof.Proved())
			}
		}
		if len(found[""]) > 0 {
			t.Errorf("%s: the correct one breaks %v", name, slices.Sorted(maps.Keys(found[""])))
		}
		for inv, bugs := range of.bugs {
			for _, bug := range bugs {
				if !found[bug][inv] {
					t.Errorf("%s: no schedule of %q breaks %s, only %v", name, bug, inv,
						slices.Sorted(maps.Keys(found[bug])))
				}
			}
		}
	}
}

// comesAgain runs a violated schedule again, as its file says.
func comesAgain(
	t *testing.T, name string, s *spec.Scenario, p isr.Protocol, of kernel.Options, failed *kernel.Outcome,
) {
	t.Helper()
	recorded, file := failed.Replay(), *s
	// no file has the name of the test's lock
	recorded.Protocol, recorded.Violates, file.Replay = s.Protocol, "", &recorded
	text, err := file.YAML()
	must.OK(t, err)
	read := scenariotest.Parsed(t, string(text))
	run := kernel.Replay(*read.Replay, s, p)
	run.SDK = of.SDK
	o, err := run.Do(t.Context())
	if err != nil || !slices.Equal(o.Broken, failed.Broken) {
		t.Errorf("%s: the run breaks %v; again: %v, %v\n%s", name, failed.Broken, o.Broken, err, text)
	}
}

// leavesOutNothing compares a search with a plain enumeration. It returns the invariants that schedules break.
func leavesOutNothing(t *testing.T, name string, s *spec.Scenario, p isr.Protocol, o kernel.Options) []string {
	t.Helper()
	ends, broken, plain := endsOf(t, s, p, o, sim.SleepSets|sim.PersistentSets|sim.StateComparison)
	if !plain.Complete {
		ends, broken, plain = endsOf(t, s, p, o, sim.SleepSets|sim.PersistentSets)
	}
	if !plain.Complete && s.Bounds.Ticks > 0 { // with some bugs, there are too many schedules
		t.Logf("%s: not compared: more than %d schedules", name, plain.Schedules)
		return broken
	}
	if !plain.Complete {
		t.Errorf("%s: more than %d schedules", name, plain.Schedules)
	}
	got, breaks, _ := endsOf(t, s, p, o, 0)
	if !slices.Equal(ends, got) || !slices.Equal(broken, breaks) {
		t.Errorf("%s: %d ends that break %v, of %d that break %v", name, len(got), breaks, len(ends), broken)
	}
	return broken
}

// endsOf explores a scenario. It returns the states in which runs end, and the invariants that they break.
func endsOf(
	t *testing.T, s *spec.Scenario, p isr.Protocol, o kernel.Options, off sim.Reduction,
) (ends, broken []string, explored exhaustive.Explored) {
	t.Helper()
	x, end, breaks := exhaustive.Exploration{Off: off, MaxSchedules: 40_000}, map[string]bool{}, map[string]bool{}
	for x.Next() {
		probe := &hooks.Probe{Search: true, Off: off}
		o, err := kernel.Run{Scenario: s, Protocol: p, Strategy: x.Strategy(), Options: o}.Do(hooks.With(t.Context(),
			probe))
		must.OK(t, err)
		if o.Result.End == sim.Finished {
			end[strconv.FormatUint(probe.State(), 16)] = true
		}
		for _, name := range o.Broken {
			breaks[name] = true
		}
	}
	return slices.Sorted(maps.Keys(end)), slices.Sorted(maps.Keys(breaks)), x.Explored()
}

// doing is a cache that serves no page. It does what its node does in the test.
type doing struct {
	cfg isr.Config
	do  func(ctx context.Context, h doing, key string) error
}

// does is a protocol whose nodes call do for each page.
func does(do func(ctx context.Context, h doing, key string) error) isr.Protocol {
	return isr.Protocol{Name: "doing", New: func(cfg isr.Config) (isr.Handler, error) { return doing{cfg, do}, nil }}
}

func (h doing) Get(ctx context.Context, key string) (isr.Served, error) {
	return isr.Served{}, errors.Join(h.do(ctx, h, key), errors.New("no page is made"))
}

func (h doing) name() string {
	name, _, _ := strings.Cut(h.cfg.Tokens(), "-")
	return name
}

// second is the second of an instant, as rows have it.
func second(at time.Time) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(at.Unix(), 10)}
}

// writeLock writes the LOCK row of a page, with a lease of ten seconds.
func (h doing) writeLock(ctx context.Context, key string, ttl int64) error {
	row := pagecache.Key(isr.PartitionKey("", key), isr.SortLock)
	row["lease_token"] = &types.AttributeValueMemberS{Value: h.cfg.Tokens()}
	row["lease_expires_at"], row["ttl"] = second(h.cfg.Clock.Now().Add(10*time.Second)), second(time.Unix(ttl, 0))
	return h.put(ctx, h.cfg.Table, row)
}

// lock takes the lock of a page if its lease is over by then.
func (h doing) lock(ctx context.Context, key string, by time.Time) (until time.Time, err error) {
	row, until := pagecache.Key(isr.PartitionKey("", key), isr.SortLock), h.cfg.Clock.Now().Add(h.cfg.Lease)
	row["lease_token"], row["lease_expires_at"], row["ttl"] = &types.AttributeValueMemberS{Value: h.cfg.Tokens()},
		second(until), second(until)
	_, err = h.cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &h.cfg.Table, Item: row,
		ConditionExpression:       aws.String("attribute_not_exists(pk) OR lease_expires_at <= :by"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":by": second(by)},
	})
	return until, err
}

func (h doing) put(ctx context.Context, table string, item map[string]types.AttributeValue) error {
	_, err := h.cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: item})
	return err
}

// note writes a row that has only a name.
func (h doing) note(ctx context.Context, name string) error {
	return h.put(ctx, h.cfg.Table, pagecache.Key("notes", name))
}

// has says whether a table has a row.
func (h doing) has(ctx context.Context, table string, key map[string]types.AttributeValue) (bool, error) {
	out, err := h.cfg.Client.GetItem(ctx,
		&dynamodb.GetItemInput{TableName: &table, Key: key, ConsistentRead: aws.Bool(true)})
	return err == nil && out.Item != nil, err
}

// own creates a table with the key id, whose rows TTL deletes by the attribute gone.
func (h doing) own(ctx context.Context, table string) error {
	db := h.cfg.Client.(*dynamodb.Client)
	id := aws.String("id")
	_, err := db.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: id,
			AttributeType: types.ScalarAttributeTypeS}},
		KeySchema: []types.KeySchemaElement{{AttributeName: id, KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		return err
	}
	gone := &types.TimeToLiveSpecification{AttributeName: aws.String("gone"), Enabled: aws.Bool(true)}
	_, err = db.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: &table, TimeToLiveSpecification: gone})
	return err
}

// wrong leaves a wrong row behind. It is called when the machine has seen the bug.
func (h doing) wrong(ctx context.Context, key string) error { return h.writeLock(ctx, key, 1) }

// refutes returns a proof's violation; the test fails if the search finds none.
func refutes(t *testing.T, what string, v Prove) *Proof {
	t.Helper()
	v.Seed = 1
	v.Scenario.Promise.Recipe = true // the ttl of a lock is one
	proof, err := v.Run(t.Context())
	if err != nil || proof.Verdict != invariant.Violated {
		t.Fatalf("got %v, error %v; want %s", proof, err, what)
	}
	return proof
}

// finds checks that a search finds the wrong row to which only one order or one moment in the world leads.
func finds(t *testing.T, text string, do func(ctx context.Context, h doing, key string) error) {
	t.Helper()
	s := scenariotest.Parsed(t,
		"name: small\ninvariants: [ttl-well-formed]\n"+
			"cache: {lease: 10s, render: 0s, poll: 11s, patience: 1, attempts: 1}\n"+text)
	refutes(t, "a wrong row in\n"+text, Prove{Scenario: s, Protocol: does(do), Options: kernel.Options{SDK: true}})
}

const (
	twoActors = "actors:\n  - {name: alice, script: [get /home]}\n  - {name: bob, script: [get /home]}\n"
	ownRows   = "rows:\n  - {partition: \"pk = {key}\", sort: sk = META, body: html, generated: generated_at, " +
		"ttl: ttl}\n" +
		"  - {partition: \"pk = {key}\", sort: sk = LOCK, token: lease_token, expires: lease_expires_at, ttl: ttl}\n"
)

// A row may have the key of another table among its attributes. It is still one row, whether a request has all of it or
// only its key. That holds for tables of the mapping, and for tables that the cache creates.
func TestARowHasOneName(t *testing.T) {
	key := func(page string) map[string]types.AttributeValue {
		return map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "lock#" + page}}
	}
	for _, writer := range []string{"alice", "bob"} {
		for of, rows := range map[string]string{
			"mapped": ownRows + "  - {table: leases, partition: \"id = lock#{key}\", token: owner, expires: until}\n",
			"made":   ownRows,
		} {
			finds(t, rows+"bounds: {ticks: 0}\n"+twoActors, func(ctx context.Context, h doing, page string) error {
				if h.name() == writer {
					row := pagecache.Key("home", isr.SortMeta)
					maps.Copy(row, key(page))
					var err error
					if of == "made" {
						err = h.own(ctx, "leases")
					}
					return errors.Join(err, h.note(ctx, "begun"), h.put(ctx, "leases", row), h.note(ctx, "done"))
				}
				if begun, err := h.has(ctx, h.cfg.Table, pagecache.Key("notes", "begun")); err != nil || !begun {
					return err
				}
				if locked, err := h.has(ctx, "leases", key(page)); err != nil || locked {
					return err
				}
				if done, err := h.has(ctx, h.cfg.Table, pagecache.Key("notes", "done")); err != nil || !done {
					return err
				}
				return h.wrong(ctx, page)
			})
		}
	}
}

// A stale read of several rows shows the order of their last writes.
func TestTheOrderCountsThatAStaleReadSees(t *testing.T) {
	for _, missing := range []string{"X", "Y"} {
		for _, of := range []string{"faults: [maybe stale-read op=Query]\n",
			"replica-lag: 1s\nfaults: [maybe stale-read]\n"} {
			finds(t, of+"bounds: {ticks: 1}\n"+twoActors+"  - {name: carol, script: [get /home]}\n",
				func(ctx context.Context, h doing, page string) error {
					switch h.name() {
					case "alice":
						return h.note(ctx, "X")
					case "bob":
						return h.note(ctx, "Y")
					}
					for _, name := range []string{"X", "Y"} {
						if there, err := h.has(ctx, h.cfg.Table, pagecache.Key("notes", name)); err != nil || !there {
							return err
						}
					}
					out, err := h.cfg.Client.Query(ctx, &dynamodb.QueryInput{
						TableName: &h.cfg.Table, KeyConditionExpression: aws.String("pk = :notes"),
						ExpressionAttributeValues: map[string]types.AttributeValue{
							":notes": &types.AttributeValueMemberS{Value: "notes"},
						},
					})
					if err != nil || len(out.Items) != 1 ||
						out.Items[0]["sk"].(*types.AttributeValueMemberS).Value == missing {
						return err
					}
					return h.wrong(ctx, page)
				})
		}
	}
}

// counting is a lock that everybody gets. It counts how often.
type counting struct{ doing }

// Terms implements hooks.LockClient.
func (counting) Terms() promise.LockTerms { return promise.LockTerms{} }

// Acquire implements hooks.LockClient.
func (c counting) Acquire(ctx context.Context, name string) (*hooks.Held, error) {
	_, err := c.cfg.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &c.cfg.Table, Key: pagecache.Key(name, "COUNT"), UpdateExpression: aws.String("ADD held :one"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
	})
	return &hooks.Held{Release: func(context.Context) error { return nil }}, err
}

// The caller's own invariants judge each run that a search makes, even a run of a lock that leads to a known state.
func TestOwnInvariantsJudgeWhatLeadsToAKnownState(t *testing.T) {
	p := isr.Protocol{
		Name: "counting", New: func(cfg isr.Config) (isr.Handler, error) { return counting{doing{cfg: cfg}}, nil },
	}
	s := scenariotest.Parsed(t, "name: small\ninvariants: [free-lock]\nbounds: {ticks: 0}\n"+
		strings.ReplaceAll(twoActors, "get /home", "hold job for 1ms"))
	for _, first := range []string{"alice", "bob"} {
		own := invariant.Invariant{Name: "own", Statement: "its answer is not overtaken",
			Check: func(ev invariant.Evidence) invariant.Finding {
				told := slices.IndexFunc(ev.History,
					func(e history.Event) bool { return e.Kind == mark.EventLockTaken })
				if len(ev.Changes) == 2 && ev.Changes[0].Actor == first &&
					(told < 0 || ev.History[told].Actor != first) {
					return invariant.Finding{Verdict: invariant.Violated, Why: "it is"}
				}
				return invariant.Finding{Verdict: invariant.OK}
			}}
		proof, err := Prove{
			Scenario: s, Protocol: p, Seed: 1, Options: kernel.Options{Invariants: []invariant.Invariant{own}},
		}.Run(t.Context())
		if err != nil || proof.Verdict != invariant.Violated || !slices.Equal(proof.Failure.Broken, []string{"own"}) {
			t.Errorf("%s: got %+v, error %v; want it to be the first in some run", first, proof, err)
		}
	}
}

// As on S3, a stored body does not change when the code later modifies the bytes that it put or got.
func TestABodyIsNotTheMemoryOfTheCode(t *testing.T) {
	finds(t, "bounds: {ticks: 0}\nactors:\n  - {name: alice, script: [get /home]}\n",
		func(ctx context.Context, h doing, page string) error {
			bodies, buffer := h.cfg.Bodies, []byte("one")
			put := bodies.PutBody(ctx, "first", buffer)
			copy(buffer, "two")
			again := bodies.PutBody(ctx, "second", buffer)
			got, err := bodies.GetBody(ctx, "first")
			if text := string(got); put != nil || again != nil || err != nil || text != "one" {
				return errors.Join(put, again, err)
			}
			copy(got, "six")
			if got, err = bodies.GetBody(ctx, "first"); err != nil || string(got) != "one" {
				return err
			}
			return h.wrong(ctx, page)
		})
}

// A token is given out only once, even to the visitor, and even if a cache takes a token while it is being made.
func TestTheVisitorsTokensAreUnique(t *testing.T) {
	given := isr.Protocol{Name: "doing", New: func(cfg isr.Config) (isr.Handler, error) {
		first := cfg.Tokens()
		return doing{cfg, func(ctx context.Context, h doing, page string) error {
			if h.cfg.Tokens() != first {
				return nil
			}
			return h.wrong(ctx, page)
		}}, nil
	}}
	s := scenariotest.Parsed(t, "name: small\ninvariants: [ttl-well-formed]\nsettle: 1s\nbounds: {ticks: 0}\n"+
		"actors:\n  - {name: alice, tenant: a, script: [get /home]}\n  - {name: bob, tenant: b, script: [get /home]}\n")
	proof, err := Prove{Scenario: s, Protocol: given, Seed: 1, strict: true}.Run(t.Context())
	if err != nil || proof.Verdict != invariant.OK || !proof.Explored.Complete {
		t.Errorf("got %+v, error %v; want no token twice", proof, err)
	}
}

// A certificate with all states is confirmed. One that lacks a state is refused for that reason, whichever state it is,
// including the first.
func TestACertificateLacksAnyState(t *testing.T) {
	p := does(func(ctx context.Context, h doing, page string) error {
		_, err := h.cfg.Client.(*dynamodb.Client).BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{
				h.cfg.Table: {Keys: []map[string]types.AttributeValue{pagecache.Key("notes", "none")}},
			},
		})
		if h.name() == "bob" {
			return errors.Join(err, h.put(ctx, h.cfg.Table, pagecache.Key(isr.PartitionKey("", page), "OWN")))
		}
		_, failed := h.cfg.Render(ctx, page, nil) // without a row of the page: bob may write the first one before
		return errors.Join(err, failed)
	})
	v := Prove{Scenario: scenariotest.Parsed(t, "name: small\nwithout: [single-flight]\nbounds: {ticks: 0}\n"+
		twoActors), Protocol: p, Seed: 1, Certify: true, Options: kernel.Options{SDK: true}}
	proof, err := v.Run(t.Context())
	if err != nil || len(proof.States) == 0 {
		t.Fatal(proof, err)
	}
	of, err := subjectOf(v.Scenario, p.Name, 1)
	must.OK(t, err)
	v.Certify, v.Against = false, &Certificate{subject: of, States: proof.States}
	if again, err := v.Run(t.Context()); err != nil || again.Verdict != invariant.OK || !again.Explored.Complete {
		t.Errorf("got %+v, error %v; want the certificate confirmed", again, err)
	}
	for i := range proof.States {
		v.Against = &Certificate{subject: of, States: slices.Delete(slices.Clone(proof.States), i, i+1)}
		if again, err := v.Run(t.Context()); err != nil || again.Verdict != invariant.Unknown ||
			!strings.Contains(again.Why, "lacks state") {
			t.Errorf("without state %d: got %+v, error %v; want the certificate refused", i, again, err)
		}
	}
}

// Time stops where TTL deletes a row, even if no entry matches the row, in another region, and in a table that the
// cache creates.
func TestTimeStopsAtEachTTL(t *testing.T) {
	for of, text := range map[string]string{
		"region": "region-lag: never\n" + ownRows +
			"actors:\n  - {name: alice, script: [sleep 1s]}\n" +
			"  - {name: bob, region: eu-west-1, script: [get /home, get /home]}\n",
		"made": "actors:\n  - {name: alice, script: [get /home, get /home]}\n",
	} {
		finds(t, "ttl-lag: scheduler\nbounds: {ticks: 1}\n"+text,
			func(ctx context.Context, h doing, page string) error {
				table, key, ttl := h.cfg.Table, pagecache.Key("own", "row"), "ttl"
				if of == "made" {
					table, key, ttl = "leases",
						map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "row"}}, "gone"
				}
				if begun, err := h.has(ctx, h.cfg.Table, pagecache.Key("notes", "begun")); err != nil || !begun {
					row := maps.Clone(key)
					row[ttl] = &types.AttributeValueMemberN{Value: strconv.FormatInt(h.cfg.Clock.Now().Unix()+60, 10)}
					if of == "made" {
						err = errors.Join(err, h.own(ctx, table))
					}
					return errors.Join(err, h.put(ctx, table, row), h.note(ctx, "begun"))
				}
				if there, err := h.has(ctx, table, key); err != nil || there {
					return err
				}
				return h.wrong(ctx, page)
			})
	}
}

// A search tries both an expired row that is deleted at once and one that is still there, whatever other rows exist.
func TestAnExpiredRowIsThereOrNot(t *testing.T) {
	const (
		here  = "actors:\n  - {name: alice, script: [get /home, get /home]}\n"
		there = "region-lag: never\n" + ownRows + "actors:\n  - {name: alice, script: [sleep 1s]}\n" +
			"  - {name: bob, region: eu-west-1, script: [get /home, get /home]}\n"
	)
	for _, text := range []string{here, there} {
		for _, wrong := range [][2]bool{{false, false}, {false, true}, {true, false}, {true, true}} {
			sweeps := "sweeps: 1"
			if wrong == [2]bool{} {
				sweeps = "sweeps: 2"
			}
			finds(t, "ttl-lag: scheduler\nbounds: {ticks: 0, "+sweeps+"}\n"+text,
				func(ctx context.Context, h doing, page string) error {
					begun, err := h.has(ctx, h.cfg.Table, pagecache.Key("notes", "begun"))
					left := [2]bool{}
					for i, name := range []string{"a", "b"} {
						row := pagecache.Key("own", name)
						if begun && err == nil {
							left[i], err = h.has(ctx, h.cfg.Table, row)
						} else if err == nil {
							row["ttl"] = second(h.cfg.Clock.Now().Add(-time.Minute))
							err = h.put(ctx, h.cfg.Table, row)
						}
					}
					if err != nil || !begun {
						return errors.Join(err, h.note(ctx, "begun"))
					}
					if left == wrong {
						return h.wrong(ctx, page)
					}
					return nil
				})
		}
	}
}

// Rows outside the mapping do not make a run differ from its repetition, although the search judges equal evidence only
// once.
func TestRowsOfNoEntryAreRepeated(t *testing.T) {
	p := does(func(ctx context.Context, h doing, _ string) error {
		if h.name() == "carol" {
			return h.note(ctx, "begun")
		}
		_, err := h.has(ctx, h.cfg.Table, pagecache.Key("notes", "begun"))
		_, again := h.has(ctx, h.cfg.Table, pagecache.Key("notes", "begun"))
		return errors.Join(err, again)
	})
	s := scenariotest.Parsed(t, "name: small\nbounds: {ticks: 0}\ncache: {poll: 11s, patience: 1}\n"+ownRows+twoActors+
		"  - {name: carol, script: [get /home]}\n")
	proof, err := Prove{Scenario: s, Protocol: p, Seed: 1, Options: kernel.Options{SDK: true}}.Run(t.Context())
	if err != nil || !proof.Explored.Complete {
		t.Errorf("got %v, error %v; want a complete search", proof, err)
	}
}

// A fault of pages strikes each request that names a page's row by its key, including a statement of PartiQL or a
// Query. The fault also strikes the cache's GetItem, so a mark would not show that the other request escapes it.
func TestAFaultOfPagesStrikesEachFormOfRequest(t *testing.T) {
	home := isr.PartitionKey("", "/home")
	for name, ask := range map[string]func(context.Context, *dynamodb.Client, string) error{
		"statement": func(ctx context.Context, db *dynamodb.Client, table string) error {
			_, err := db.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{
				Statement:      aws.String("SELECT * FROM \"" + table + "\" WHERE pk = '" + home + "' AND sk = 'META'"),
				ConsistentRead: aws.Bool(true),
			})
			return err
		},
		"transaction": func(ctx context.Context, db *dynamodb.Client, table string) error {
			_, err := db.ExecuteTransaction(ctx,
				&dynamodb.ExecuteTransactionInput{TransactStatements: []types.ParameterizedStatement{
					{Statement: aws.String("DELETE FROM \"" + table + "\" WHERE pk = '" + home + "' AND sk = 'META'")},
				}})
			return err
		},
		"query": func(ctx context.Context, db *dynamodb.Client, table string) error {
			_, err := db.Query(ctx, &dynamodb.QueryInput{
				TableName: &table, KeyConditionExpression: aws.String("pk = :pk AND sk = :sk"),
				ExpressionAttributeValues: valuesOf(home, isr.SortMeta),
			})
			return err
		},
	} {
		for _, rows := range []string{"", ownRows} {
			t.Run(name, func(t *testing.T) {
				finds(t,
					rows+"faults: [maybe throttled key=META]\nbounds: {ticks: 0}\nactors:\n"+
						"  - {name: alice, script: [get /home]}\n",
					func(ctx context.Context, h doing, page string) error {
						if _, err := h.has(ctx, h.cfg.Table, pagecache.Key(home, isr.SortMeta)); err != nil {
							return err
						}
						if err := ask(ctx, h.cfg.Client.(*dynamodb.Client), h.cfg.Table); err != nil {
							return h.wrong(ctx, page)
						}
						return nil
					})
			})
		}
	}
}

func valuesOf(pk, sk string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		":pk": &types.AttributeValueMemberS{Value: pk}, ":sk": &types.AttributeValueMemberS{Value: sk},
	}
}

// Reading a lock by a statement tries the end of its lease, just as GetItem does.
func TestStatementsMeetTheEndsOfLeases(t *testing.T) {
	home := isr.PartitionKey("", "/home")
	p := does(func(ctx context.Context, h doing, _ string) error {
		if h.name() == "alice" {
			return h.writeLock(ctx, "/home", h.cfg.Clock.Now().Unix()+20)
		}
		_, err := h.cfg.Client.(*dynamodb.Client).ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{
			Statement: aws.String("SELECT * FROM \"" + h.cfg.Table + "\" WHERE pk = '" + home +
				"' AND sk = 'LOCK'"),
			ConsistentRead: aws.Bool(true),
		})
		return err
	})
	s := scenariotest.Parsed(t,
		"name: small\nbounds: {ticks: 1}\ncache: {lease: 10s, poll: 11s, patience: 1}\n"+twoActors)
	proof, err := Prove{Scenario: s, Protocol: p, Seed: 1, Options: kernel.Options{SDK: true}}.Run(t.Context())
	if err != nil || !proof.Explored.Complete || len(proof.Deadlines) != 1 || len(proof.Unreached()) > 0 {
		t.Errorf("got %v, error %v; want the end of one lease, met on all sides", proof, err)
	}
}

// A fault of pages or locks hits these rows of a batch or a transaction, and no others.
func TestAFaultOfPagesHitsTheirPartOfARequest(t *testing.T) {
	mapped := "rows:\n  - {table: pages, partition: \"path = {key}\", body: html, generated: made, ttl: ttl}\n" +
		"  - {table: locks, partition: \"id = {key}\", token: owner, expires: until}\n" + ownRows[len("rows:\n"):]
	page := map[string]types.AttributeValue{"path": &types.AttributeValueMemberS{Value: "/home"}}
	lock := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "/home"}}
	for fault, hit := range map[string]string{"unprocessed key=META": "pages", "conflict key=LOCK": "locks"} {
		finds(t,
			mapped+"faults: [maybe "+fault+"]\nbounds: {ticks: 0}\nactors:\n  - {name: alice, script: [get /home]}\n",
			func(ctx context.Context, h doing, key string) error {
				db := h.cfg.Client.(*dynamodb.Client)
				var left []string
				if hit == "pages" {
					out, err := db.BatchWriteItem(ctx,
						&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
							"pages": {{PutRequest: &types.PutRequest{Item: page}}},
							"locks": {{PutRequest: &types.PutRequest{Item: lock}}},
						}})
					if err != nil {
						return err
					}
					left = slices.Collect(maps.Keys(out.UnprocessedItems))
				} else {
					_, err := db.TransactWriteItems(ctx,
						&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
							{Put: &types.Put{TableName: aws.String("pages"), Item: page}},
							{Put: &types.Put{TableName: aws.String("locks"), Item: lock}},
						}})
					if refused, is := errors.AsType[*types.TransactionCanceledException](err); is {
						for i, reason := range refused.CancellationReasons {
							if aws.ToString(reason.Code) == "TransactionConflict" {
								left = append(left, []string{"pages", "locks"}[i])
							}
						}
					}
				}
				if slices.Equal(left, []string{hit}) {
					return h.wrong(ctx, key)
				}
				return nil
			})
	}
}
