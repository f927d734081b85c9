package kernel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel/deadline"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// scribbler is a cache that makes one request for each command of a script. Each verb has another kind of request, so
// small worlds mix many kinds of requests. The scribbler's writes depend on all answers that it has received.
type scribbler struct {
	isr.Config
	of    [3]string // the requests of get, invalidate and rollback
	known int
}

// requests are the requests that a scribbler can make.
var requests = []string{"read", "read stale", "query", "put", "put if new", "update", "delete", "transact", "put body",
	"get body", "origin", "sleep and put"}

func (s *scribbler) Get(ctx context.Context, key string) (isr.Served, error) {
	s.make(ctx, s.of[0], key)
	return isr.Served{}, isr.ErrMiss
}

func (s *scribbler) Invalidate(ctx context.Context, key string) error {
	s.make(ctx, s.of[1], key)
	return isr.ErrMiss
}

func (s *scribbler) Rollback(ctx context.Context, key string) error {
	s.make(ctx, s.of[2], key)
	return isr.ErrMiss
}

// learn makes later requests depend on an answer.
func (s *scribbler) learn(n int, err error) {
	s.known = (3*s.known + n) % 100
	if err != nil {
		s.known++
	}
}

// learnRow makes later requests depend on the number in a row.
func (s *scribbler) learnRow(item map[string]types.AttributeValue, err error) {
	n := 0
	if v, ok := item["n"].(*types.AttributeValueMemberN); ok {
		n, _ = strconv.Atoi(v.Value)
	}
	s.learn(n, err)
}

func (s *scribbler) row(key string) map[string]types.AttributeValue {
	item := pagecache.Key(key, isr.SortLock)
	item["n"] = &types.AttributeValueMemberN{Value: strconv.Itoa(s.known)}
	item["ttl"] = &types.AttributeValueMemberN{Value: strconv.FormatInt(s.Clock.Now().Unix()+1, 10)}
	return item
}

func (s *scribbler) make(ctx context.Context, kind, key string) {
	table, id := aws.String(s.Table), pagecache.Key(key, isr.SortLock)
	values := map[string]types.AttributeValue{":n": s.row(key)["n"]}
	switch kind {
	case "read", "read stale":
		out, err := s.Client.GetItem(ctx,
			&dynamodb.GetItemInput{TableName: table, Key: id, ConsistentRead: aws.Bool(kind == "read")})
		if err != nil {
			out = &dynamodb.GetItemOutput{}
		}
		s.learnRow(out.Item, err)
	case "query":
		out, err := s.Client.Query(ctx, &dynamodb.QueryInput{
			TableName: table, KeyConditionExpression: aws.String("pk = :pk"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":pk": id["pk"]},
		})
		if err != nil || len(out.Items) == 0 {
			s.learn(0, err)
			return
		}
		s.learnRow(out.Items[0], nil)
	case "put if new":
		_, err := s.Client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: table, Item: s.row(key), ConditionExpression: aws.String("attribute_not_exists(pk)"),
		})
		s.learn(0, err)
	case "sleep and put":
		s.Clock.Sleep(time.Second)
		fallthrough
	case "put":
		out, err := s.Client.PutItem(ctx,
			&dynamodb.PutItemInput{TableName: table, Item: s.row(key), ReturnValues: types.ReturnValueAllOld})
		if err != nil {
			out = &dynamodb.PutItemOutput{}
		}
		s.learnRow(out.Attributes, err)
	case "update":
		_, err := s.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: table, Key: id, UpdateExpression: aws.String("SET n = :n"), ExpressionAttributeValues: values,
		})
		s.learn(0, err)
	case "delete":
		_, err := s.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: table, Key: id})
		s.learn(0, err)
	case "transact":
		_, err := s.Client.TransactWriteItems(ctx,
			&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				{Put: &types.Put{TableName: table, Item: s.row(key)}},
				{ConditionCheck: &types.ConditionCheck{
					TableName: table, Key: pagecache.Key(map[string]string{"/a": "/b", "/b": "/a"}[key], isr.SortLock),
					ConditionExpression: aws.String("attribute_not_exists(pk)"),
				}},
			}})
		s.learn(0, err)
	case "put body":
		s.learn(0, s.Bodies.PutBody(ctx, key, []byte(strconv.Itoa(s.known))))
	case "get body":
		body, err := s.Bodies.GetBody(ctx, key)
		n, _ := strconv.Atoi(string(body))
		if errors.Is(err, isr.ErrNoBody) {
			n, err = 7, nil
		}
		s.learn(n, err)
	case "origin":
		body, err := s.Render(ctx, key, nil)
		s.learn(len(body), err)
	}
}

// drawWorld draws a scenario, and the requests of a scribbler in it. By the number nth, each kind of thing that a world
// can have appears in turn.
func drawWorld(rng *rand.Rand, nth uint64) (text string, p isr.Protocol) {
	one := func(of ...string) string { return of[rng.IntN(len(of))] }
	var about []string // the further things that the world has
	var faults []string
	var more [2]string
	ticks := 0
	for i := range 1 + rng.IntN(3) {
		actor, kind := rng.IntN(2), rng.IntN(9)
		if i == 0 {
			kind = int(nth % 9)
		}
		switch kind {
		case 0, 1, 2:
			faults = append(faults, drawFault(rng))
		case 3:
			more[actor] = ", crashes: 1" + one("", ", restarts: 1")
		case 4:
			more[actor] = one(", pauses: 1, pause-for: 1s", ", clock: {steps: [-1s]}", ", clock: {steps: [1h]}",
				", clock: {offset: 1s}")
		case 5:
			more[actor] = ", events: [" +
				one("crash at 1s", "pause at 1s for 1s", "clock +1s at 1s", "crash at 0s, restart at 1s") + "]"
		case 6:
			about = append(about,
				one("ttl-lag: scheduler", "ttl-lag: at-once", "ttl-lag: fixed 1s", "ttl-lag: uniform 1s 2s"))
		case 7:
			about = append(about, "replica-lag: 1s")
		case 8:
			ticks = 1
		}
	}
	var actors []string
	for i, name := range []string{"alice", "bob"} {
		var script []string
		for range 2 + rng.IntN(2)*(1-i) {
			script = append(script, one("get /a", "get /a", "get /b", "invalidate /a", "invalidate /b", "rollback /a",
				"change /a", "sleep 1s"))
		}
		actors = append(actors,
			fmt.Sprintf("  - {name: %s, script: [%s]%s}", name, strings.Join(script, ", "), more[i]))
	}
	slices.Sort(about)
	about = slices.CompactFunc(about, func(a, b string) bool { return a[:4] == b[:4] })
	text = fmt.Sprintf("name: world\ncache: {attempts: %d, render: %s}\nmax-clock-skew: 2h\n"+
		"bounds: {ticks: %d, sweeps: 1}\n%s\nfaults: [%s]\nactors:\n%s\n",
		1+rng.IntN(2), one("0s", "0s", "1s"), ticks, strings.Join(about, "\n"), strings.Join(faults, ", "),
		strings.Join(actors, "\n"))
	of := [3]string{one(requests...), one(requests...), one(requests...)}
	p = isr.Protocol{Name: strings.Join(of[:], ", "), New: func(c isr.Config) (isr.Handler, error) {
		return &scribbler{Config: c, of: of}, nil
	}}
	return text, p
}

// drawFault draws a fault, certain or possible, of the store, a dependency or the network.
func drawFault(rng *rand.Rand) string {
	one := func(of ...string) string { return of[rng.IntN(len(of))] }
	kind := one("throttled", "request-lost", "response-lost", "error-after", "conflict", "duplicate", "stale-read",
		"latency 1s", "latency 1s-2s", "body-put-failed", "body-put-lost", "body-get-failed",
		"origin-failed", "cut-off")
	text := kind + one("", "", " actor=alice")
	if rng.IntN(2) == 0 {
		return "maybe " + text + one("", " times=2", " times=always", " from 0s to 1s")
	}
	return text + one("", " nth=2", " nth=2", " times=2", " from 0s to 1s")
}

// searched is the result of a search.
type searched struct {
	Ends   []string // the final states, each once, sorted
	Broken []string // the invariants that some run violated
}

// search explores a scenario. It returns the number of states, if states are compared, and whether the search was
// complete.
func search(
	t *testing.T, s *spec.Scenario, p isr.Protocol, off sim.Reduction, bound int,
) (searched, exhaustive.Explored) {
	t.Helper()
	x := exhaustive.Exploration{Off: off, MaxSchedules: bound}
	ends, broken := map[string]bool{}, map[string]bool{}
	stage := newStage()
	defer stage.Close()
	for x.Next() {
		w, o, err := Run{
			Scenario: s, Protocol: p, Strategy: x.Strategy(), probe: &hooks.Probe{Search: true}, stage: stage,
		}.do(t.Context(), nil)
		must.OK(t, err)
		w.judge(o, nil, must.Of(judgesOf(s, Options{}, w.recipe))(t))
		for _, name := range o.Broken {
			broken[name] = true
		}
		if o.Result.End == sim.Finished {
			ends[fmt.Sprint(w.since(), w.db.Items(hooks.TableName), w.bodies, w.state)] = true
		}
	}
	return searched{slices.Sorted(maps.Keys(ends)), slices.Sorted(maps.Keys(broken))}, x.Explored()
}

// Package sim leaves out schedules because of facts that it gets from this package: the things that a request touches,
// and the state. So this test has small worlds with everything that a scenario can have.
func TestSearchesOfSmallWorldsLeaveOutNothing(t *testing.T) {
	effort.Long(t)
	const few, many = 200, 1000
	compared, plainly := 0, 0
	worlds := uint64(effort.Fewer(270, 54))
	for seed := range worlds {
		text, p := drawWorld(sim.Stream(seed, "world"), seed)
		s, err := spec.Parse("f.yaml", []byte(text))
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		same := func(what string, want, got any) {
			t.Helper()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d: %s:\n%s\n%s\nrequests: %s", seed, what, diff, text, p.Name)
			}
		}
		want, states := search(t, s, p, sim.SleepSets|sim.PersistentSets|sim.UnreadClocks, many)
		if !states.Complete {
			continue
		}
		compared++
		got, asleep := search(t, s, p, sim.PersistentSets|sim.UnreadClocks, 0)
		same("sleep sets (-without +with)", want, got)
		same("states with sleep sets (-without +with)", states.States, asleep.States)
		got, _ = search(t, s, p, 0, 0)
		same("all reductions (-state comparison alone +all)", want, got)
		plain, e := search(t, s, p, sim.SleepSets|sim.StateComparison|sim.PersistentSets, few)
		if !e.Complete {
			plain, e = search(t, s, p, sim.StateComparison|sim.PersistentSets, few)
		}
		if e.Complete {
			plainly++
			same("state comparison (-without +with)", plain, want)
		}
	}
	t.Logf("%d worlds of %d compared, %d of them with all their schedules", compared, worlds, plainly)
	if compared < int(worlds)/2 || plainly < int(worlds)/4 {
		t.Errorf("%d worlds of %d were compared, %d of them with all their schedules: too few", compared, worlds,
			plainly)
	}
}

// hasty takes the lease of a page, publishes the page, and never looks at its clock.
type hasty struct{ isr.Config }

func (h hasty) Get(ctx context.Context, key string) (isr.Served, error) {
	lock, meta := pagecache.Key(key, isr.SortLock), pagecache.Key(key, isr.SortMeta)
	lock["lease_token"] = &types.AttributeValueMemberS{Value: "t"}
	lock["lease_expires_at"] = &types.AttributeValueMemberN{Value: strconv.FormatInt(fakeclock.Epoch.Unix()+1, 10)}
	meta["html"] = &types.AttributeValueMemberS{Value: "page"}
	for _, item := range []map[string]types.AttributeValue{lock, meta} {
		_, _ = h.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(h.Table), Item: item})
	}
	return isr.Served{}, isr.ErrMiss
}

// Code that does not read its clock does the same at any time. But the judgement differs, because a publish is judged
// by the time at which it was sent.
func TestWhenARequestWasSentIsNotLeftOut(t *testing.T) {
	s, err := spec.Parse("f.yaml", []byte(
		"name: world\nbounds: {ticks: 1}\nactors:\n  - {name: alice, script: [get /a]}\n"+
			"  - {name: bob, script: [sleep 1s]}\n",
	))
	must.OK(t, err)
	s.Promise.Recipe = true
	p := isr.Protocol{Name: "hasty", New: func(c isr.Config) (isr.Handler, error) { return hasty{c}, nil }}
	want, all := search(t, s, p, sim.UnreadClocks, 0)
	got, fewer := search(t, s, p, 0, 0)
	if diff := cmp.Diff(want, got); diff != "" || !slices.Contains(want.Broken, "expired-publish") {
		t.Errorf("broken is %v, want expired-publish (-all times +those that are read):\n%s", want.Broken, diff)
	}
	if fewer.States >= all.States {
		t.Errorf("%d states with the times that are read, %d with all; want fewer", fewer.States, all.States)
	}
}

// The next attempt of a call counts as sent at the time of the first attempt, and the store remembers a used token for
// some minutes. So the fingerprint of an answer needs these times.
func TestAnAnswerHasTheTimesThatTheNextAttemptDependsOn(t *testing.T) {
	transaction := &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String("t")}
	for name, test := range map[string]struct {
		input  any
		err    error
		hidden bool
		counts bool
	}{
		"refused": {&dynamodb.PutItemInput{},
			&types.ConditionalCheckFailedException{}, false, false},
		"to be sent again":                   {&dynamodb.PutItemInput{}, &types.ThrottlingException{}, false, true},
		"a transaction that is done":         {transaction, nil, false, true},
		"a transaction whose answer is lost": {transaction, &types.ConditionalCheckFailedException{}, true, true},
		"a transaction that is refused":      {transaction, &types.ConditionalCheckFailedException{}, false, false},
	} {
		answer := func(later time.Duration) uint64 {
			clock := fakeclock.New(fakeclock.Epoch.Add(later))
			r := &storeRequest{
				node: &node{world: &world{clock: clock}}, call: ddbfake.Call{Sent: clock.Now(), Input: test.input},
				out: &dynamodb.TransactWriteItemsOutput{}, err: test.err, hidden: test.hidden, changed: 1,
			}
			h, known := r.AnswerFingerprint()
			if !known {
				t.Errorf("%s: the answer is not known", name)
			}
			return h
		}
		if counts := answer(0) != answer(time.Second); counts != test.counts {
			t.Errorf("%s: the time counts %v, want %v", name, counts, test.counts)
		}
	}
}

// States tell rows apart in any table, with any names of keys.
func TestStatesTellRowsApart(t *testing.T) {
	for name, keys := range map[string][2]ddbfake.Change{
		"pk and kind": {{Table: hooks.TableName, Key: attr.Item{"pk": attr.S("a"), "kind": attr.S("x")}},
			{Table: hooks.TableName, Key: attr.Item{"pk": attr.S("a"), "kind": attr.S("y")}}},
		"id and sk": {{Table: hooks.TableName, Key: attr.Item{"id": attr.S("1"), "sk": attr.S("x")}},
			{Table: hooks.TableName, Key: attr.Item{"id": attr.S("2"), "sk": attr.S("x")}}},
		"two tables": {{Table: "pages", Key: attr.Item{"pk": attr.S("a")}},
			{Table: "locks", Key: attr.Item{"pk": attr.S("a")}}},
		"the same keys in two tables": {
			{Table: "pages", Key: attr.Item{"pk": attr.S("a"), "sk": attr.S("x")}},
			{Table: hooks.TableName, Key: attr.Item{"pk": attr.S("a"), "sk": attr.S("x")}},
		},
	} {
		sum := func(first, second string) fingerprint.Hash {
			p := newFingerprinter(&spec.Scenario{}, true, asItIs, nil)
			for i, value := range []string{first, second} {
				c := keys[i]
				c.After = maps.Clone(c.Key)
				c.After["value"] = attr.S(value)
				p.change(c)
			}
			return p.sum
		}
		if sum("1", "2") == sum("2", "2") || sum("1", "2") == sum("2", "1") {
			t.Errorf("%s: two states count as one", name)
		}
	}
}

// Old versions of a row are a part of the state if a read may be stale: by a fault, or at a replica.
func TestStatesHaveWhatStaleReadsMaySee(t *testing.T) {
	var faulty spec.Scenario
	faulty.Faults = make([]spec.Fault, 1)
	faulty.Faults[0].Kind = ddbfake.FaultStaleRead
	for name, s := range map[string]*spec.Scenario{"": {}, "a fault": &faulty, "a replica": {ReplicaLag: time.Second}} {
		print := func(values ...string) fingerprint.Hash {
			p := newFingerprinter(s, true, asItIs, nil)
			for _, value := range values {
				p.change(put(rowKey("x"), value))
			}
			return p.sum
		}
		if counts := print("a", "c") != print("b", "c"); counts != (name != "") {
			t.Errorf("%q makes reads stale: what the row was before counts %t", name, counts)
		}
	}
}

// A row of the table still counts if it is translated to a row with the same name that leaves something out.
func TestStatesHaveRowsBesideTheirTranslations(t *testing.T) {
	s := spec.Defaults()
	s.Rows.Translate = func(_ string, row map[string]types.AttributeValue) []map[string]types.AttributeValue {
		row = maps.Clone(row)
		delete(row, "note")
		return []map[string]types.AttributeValue{row}
	}
	print := func(note string) fingerprint.Hash {
		w := &world{stage: newStage(), scenario: s, clock: fakeclock.New(fakeclock.Epoch), ttl: defaultTTL,
			fingerprinter: newFingerprinter(s, true, nil, nil)}
		rows, empty, err := tablesOf(t.Context(), s, tableKind{ttl: defaultTTL})
		must.OK(t, err)
		w.rows = rows
		w.db.Reset(ddbfake.Options{Clock: w.clock}, empty)
		key := attr.Item{"pk": attr.S("a"), "sk": attr.S(isr.SortMeta)}
		after := maps.Clone(key)
		after["note"], after["body"] = attr.S(note), attr.S("page")
		w.noteOwn(&ddbfake.Change{Table: hooks.TableName, Key: key, After: after})
		return w.fingerprinter.sum
	}
	if print("one") == print("other") {
		t.Error("two rows that differ in what is not translated count as one state")
	}
}

// If actors are interchangeable, only an etag that is a digest is replaced by a number. A version or a time counts as
// it is, because other attributes may have it, too.
func TestEtagsThatAreNoDigestsCountAsTheyAre(t *testing.T) {
	print := func(etag, version string) fingerprint.Hash {
		s := spec.Defaults()
		s.Actors = []spec.Actor{{Name: "alice"}, {Name: "bob"}}
		p := newFingerprinter(s, true, asItIs, nil)
		p.symmetric = symmetricOf(s)
		number := must.Of(attr.ParseNumber(version))(t)
		key := attr.Item{"pk": attr.S("a"), "sk": attr.S(isr.SortMeta)}
		p.change(ddbfake.Change{
			Table: hooks.TableName, Key: key, After: attr.Item{"etag": attr.S(etag), "version": attr.N{Number: number}},
		})
		return p.sum
	}
	for _, times := range [][2]string{{"2", "3"}, {"2208988800000000000", "2208988801000000000"}} {
		if print(times[0], times[0]) == print(times[1], times[1]) {
			t.Errorf("rows of version %s and of %s count as one, where their etags say so, too", times[0], times[1])
		}
	}
	if of := `"0123456789abcdef"`; print(of, "2") != print(`"fedcba9876543210"`, "2") ||
		print(of, "2") == print(of, "3") {
		t.Error("two digests count as two names, or two versions as one")
	}
}

// The stops to come are a part of the state. Past stops are not.
func TestStatesHaveTheStopsToCome(t *testing.T) {
	now := fakeclock.Epoch
	print := func(d deadline.Stops) uint64 {
		w := &world{stage: newStage(), scenario: spec.Defaults(), clock: fakeclock.New(now),
			fingerprinter: newFingerprinter(spec.Defaults(), true, nil, nil)}
		w.deadlines = d
		return w.fingerprint()
	}
	for name, at := range map[string]func(time.Time) deadline.Stops{
		"a second":        func(at time.Time) deadline.Stops { return deadline.Stops{At: []int64{at.Unix()}} },
		"finer":           func(at time.Time) deadline.Stops { return deadline.Stops{Fine: []int64{at.UnixNano()}} },
		"the last unread": func(at time.Time) deadline.Stops { return deadline.Stops{Unread: []int64{at.Unix()}} },
	} {
		none := print(deadline.Stops{})
		if one := print(at(now.Add(time.Second))); one == none || one == print(at(now.Add(2*time.Second))) {
			t.Errorf("%s: two states that differ in a stop to come count as one", name)
		}
		if print(at(now)) != none {
			t.Errorf("%s: a stop that is past makes another state", name)
		}
	}
}

// Time stops at the ttl of a row, even if the translation of the row is empty or has no ttl.
func TestTimeStopsWhereTTLDeletesARowOfNoMeaning(t *testing.T) {
	s := spec.Defaults()
	s.Rows.Rows = []isr.Row{{Partition: "id = page#{key}", Body: "html", Generated: "made", TTL: "gone_at"},
		{Partition: "id = lock#{key}", Token: "by", Expires: "until"}}
	rows, empty, err := tablesOf(t.Context(), s, tableKind{ttl: defaultTTL})
	must.OK(t, err)
	for _, id := range []string{"page#a", "lock#a", "count#a"} {
		w := &world{stage: newStage(), scenario: s, clock: fakeclock.New(fakeclock.Epoch), start: fakeclock.Epoch,
			ttl: defaultTTL, rows: rows}
		w.db.Reset(ddbfake.Options{Clock: w.clock}, empty)
		end := fakeclock.Epoch.Add(time.Hour)
		item := map[string]types.AttributeValue{
			"id": &types.AttributeValueMemberS{Value: id}, "gone_at": &types.AttributeValueMemberN{
				Value: strconv.FormatInt(end.Unix(), 10),
			},
		}
		if _, err := w.db.As("alice").PutItem(t.Context(),
			&dynamodb.PutItemInput{TableName: aws.String(hooks.TableName), Item: item}); err != nil {
			t.Fatal(err)
		}
		w.noteChanges()
		if next, ok := w.deadlines.Next(end); !ok || !next.Equal(end.Add(time.Second)) {
			t.Errorf("%s: after its ttl time stops next at %v, %v; want it a second later", id, next, ok)
		}
	}
}

// Time stops around a deadline in whole seconds, or in the steps of the rows. A time far outside of any world, which
// may stand for "never", is no deadline.
func TestTimeStopsAtDeadlinesOfOwnRows(t *testing.T) {
	const last = deadline.Latest
	for _, test := range []struct {
		unit     string
		at       int64
		want     []int64
		wantFine []int64 // in milliseconds
	}{
		{"", 0, nil, nil}, {"", 1, []int64{0, 1, 2}, nil}, {"", last, []int64{last - 1, last, last + 1}, nil},
		{"", last + 1, nil, nil}, {" ms", 0, nil, nil}, {" ms", 1, nil, []int64{0, 999, 1000, 2000}},
		{" ms", last + 1, nil, nil},
	} {
		s := spec.Defaults()
		s.Rows.Rows = []isr.Row{{Partition: "id = {key}", Token: "by", Expires: "until" + test.unit}}
		rows, _, err := tablesOf(t.Context(), s, tableKind{ttl: defaultTTL})
		must.OK(t, err)
		w := &world{stage: newStage(), scenario: s, rows: rows}
		w.addDeadline(time.Unix(test.at, 0))
		fine := slices.Clone(w.deadlines.Fine)
		for i := range fine {
			fine[i] /= int64(time.Millisecond)
		}
		if !slices.Equal(w.deadlines.At, test.want) || !slices.Equal(fine, test.wantFine) {
			t.Errorf("second %d%s: time stops at %v and %v, want %v and %v", test.at, test.unit, w.deadlines.At, fine,
				test.want, test.wantFine)
		}
	}
}
