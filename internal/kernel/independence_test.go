package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/trace/request"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// relation returns the reads and writes of a call, like accesses.
type relation func(input any) []sim.Access

// plainRequest is a call to the store as a run makes it, without faults.
type plainRequest struct {
	t       *testing.T
	db      *ddbfake.DB
	input   any
	touches relation
	out     any
	err     error
}

func (r *plainRequest) Outcomes() []int           { return subject.Ordinary }
func (r *plainRequest) Accesses(int) []sim.Access { return r.touches(r.input) }
func (r *plainRequest) Describe(int) string       { return fmt.Sprintf("%T", r.input) }
func (r *plainRequest) DescribeAnswer() string    { return fmt.Sprint(r.out, r.err) }
func (r *plainRequest) Apply(int) {
	r.out, r.err = r.db.Do(r.t.Context(), ddbfake.Call{Actor: "actor", Input: r.input})
}
func (r *plainRequest) AnswerFingerprint() (uint64, bool) {
	h, known := request.AnswerFingerprint(r.out, r.err, request.AsItIs)
	return uint64(h), known
}

// ended is the outcome of two requests in one order.
type ended struct {
	Rows        []string
	Answers     []string
	Fingerprint uint64
}

// order is a chooser for two actors whose requests are both under way. It decides in which order they take effect.
type order struct {
	last  bool // the second is first
	sim   *sim.Sim
	races *bool
	print uint64
}

func (o *order) Choose(steps []sim.Step) int {
	effects := 0
	for _, s := range steps {
		if s.Kind == sim.Effect {
			effects++
		}
	}
	if starting := slices.IndexFunc(steps, func(s sim.Step) bool { return s.Kind == sim.Start }); starting >= 0 {
		return starting
	}
	switch {
	case effects == 2:
		*o.races = steps[0].Races(steps[1])
		if o.last {
			return 1
		}
		return 0
	case effects == 1:
		return slices.IndexFunc(steps, func(s sim.Step) bool { return s.Kind == sim.Effect })
	case o.print == 0:
		o.print = o.sim.Fingerprint() // both have taken effect, and neither caller has its answer
	}
	return 0
}

// bothTaken makes the calls of past, and then the two calls of pair in one order or the other. races reports whether
// the two calls race by the rules of the explorer.
func bothTaken(t *testing.T, past []any, pair [2]any, last bool, touches relation) (e ended, races bool) {
	t.Helper()
	clock := fakeclock.New(fakeclock.Epoch)
	db := ddbfake.New(ddbfake.Options{Clock: clock})
	if _, err := db.As("setup").CreateTable(t.Context(), isr.TableInput(hooks.TableName)); err != nil {
		t.Fatal(err)
	}
	for _, input := range past {
		_, _ = db.Do(t.Context(), ddbfake.Call{Actor: "past", Input: input}) // refused or not
	}
	fp, taken := newFingerprinter(&spec.Scenario{}, true, nil, nil), 0
	o := &order{last: last, races: &races}
	s := sim.New(sim.Config{
		Clock: clock, Strategy: sim.Strategy{Name: "order", New: func(*rand.Rand, int) sim.Chooser { return o }},
		Fingerprint: func() uint64 {
			changes := db.ChangesSince(taken)
			for _, c := range changes {
				fp.change(c)
			}
			taken += len(changes)
			return uint64(fp.sum)
		},
	})
	o.sim = s
	var requests []*plainRequest
	for i, input := range pair {
		r := &plainRequest{t: t, db: db, input: input, touches: touches}
		requests = append(requests, r)
		s.Add(sim.Actor{Name: fmt.Sprint("actor", i), Run: func(p *sim.Proc) { p.Do(r) }})
	}
	if result := s.Run(); result.End != sim.Finished {
		t.Fatal(result.End, result.Err)
	}
	for _, r := range requests {
		text := must.Of(json.Marshal([]any{r.out, r.err}))(t)
		e.Answers = append(e.Answers, string(text))
	}
	for _, row := range db.Items(hooks.TableName) {
		e.Rows = append(e.Rows, fmt.Sprint(row))
	}
	slices.Sort(e.Rows)
	e.Fingerprint = o.print
	return e, races
}

// drawn draws calls on four rows, which may exist or not, with conditions that may hold or not.
type drawn struct{ *rand.Rand }

func (d drawn) key() map[string]types.AttributeValue {
	return pagecache.Key(fmt.Sprint("CACHE#", d.IntN(2)), []string{isr.SortMeta, isr.SortLock}[d.IntN(2)])
}

func (d drawn) value() types.AttributeValue {
	return &types.AttributeValueMemberN{Value: fmt.Sprint(d.IntN(3))}
}

func (d drawn) item(key map[string]types.AttributeValue) map[string]types.AttributeValue {
	item := map[string]types.AttributeValue{"n": d.value()}
	for name, value := range key { //isrsim:unordered a map is made
		item[name] = value
	}
	return item
}

// condition returns no condition, or a condition with its values.
func (d drawn) condition() (*string, map[string]types.AttributeValue) {
	switch d.IntN(4) {
	case 0:
		return aws.String("attribute_not_exists(pk)"), nil
	case 1:
		return aws.String("attribute_exists(pk)"), nil
	case 2:
		return aws.String("n = :n"), map[string]types.AttributeValue{":n": d.value()}
	default:
		return nil, nil
	}
}

var setN = aws.String("SET n = :new")

// updates are the values of an update, without the values of its condition.
func (d drawn) updates(values map[string]types.AttributeValue) map[string]types.AttributeValue {
	all := map[string]types.AttributeValue{":new": d.value()}
	for name, value := range values { //isrsim:unordered a map is made
		all[name] = value
	}
	return all
}

func (d drawn) call() any {
	table, key := aws.String(hooks.TableName), d.key()
	condition, values := d.condition()
	switch d.IntN(6) {
	case 0:
		return &dynamodb.GetItemInput{TableName: table, Key: key, ConsistentRead: aws.Bool(true)}
	case 1:
		return &dynamodb.PutItemInput{
			TableName: table, Item: d.item(key), ConditionExpression: condition, ExpressionAttributeValues: values,
			ReturnValues: types.ReturnValueAllOld,
		}
	case 2:
		return &dynamodb.UpdateItemInput{
			TableName: table, Key: key, UpdateExpression: setN, ConditionExpression: condition,
			ExpressionAttributeValues: d.updates(values), ReturnValues: types.ReturnValueAllOld,
		}
	case 3:
		return &dynamodb.DeleteItemInput{
			TableName: table, Key: key, ConditionExpression: condition, ExpressionAttributeValues: values,
			ReturnValues: types.ReturnValueAllOld,
		}
	default:
		return d.transaction()
	}
}

func (d drawn) transaction() any {
	in := &dynamodb.TransactWriteItemsInput{}
	if d.IntN(3) == 0 {
		in.ClientRequestToken = aws.String("of several calls")
	}
	var keys []string
	for range 1 + d.IntN(2) {
		key := d.key()
		name := fmt.Sprint(rowAccess(true, new(world).partsOf(aws.String(hooks.TableName), key)))
		if slices.Contains(keys, name) {
			continue
		}
		keys = append(keys, name)
		table := aws.String(hooks.TableName)
		condition, values := d.condition()
		const old = types.ReturnValuesOnConditionCheckFailureAllOld
		var action types.TransactWriteItem
		switch d.IntN(4) {
		case 0:
			action.Put = &types.Put{
				TableName: table, Item: d.item(key), ConditionExpression: condition, ExpressionAttributeValues: values,
				ReturnValuesOnConditionCheckFailure: old,
			}
		case 1:
			action.Update = &types.Update{
				TableName: table, Key: key, UpdateExpression: setN, ConditionExpression: condition,
				ExpressionAttributeValues:           d.updates(values),
				ReturnValuesOnConditionCheckFailure: old,
			}
		case 2:
			action.Delete = &types.Delete{
				TableName: table, Key: key, ConditionExpression: condition, ExpressionAttributeValues: values,
				ReturnValuesOnConditionCheckFailure: old,
			}
		default:
			if condition == nil {
				condition = aws.String("attribute_exists(pk)")
			}
			action.ConditionCheck = &types.ConditionCheck{
				TableName: table, Key: key, ConditionExpression: condition, ExpressionAttributeValues: values,
				ReturnValuesOnConditionCheckFailure: old,
			}
		}
		in.TransactItems = append(in.TransactItems, action)
	}
	return in
}

// independence tries random pairs of calls in both orders if the explorer says that they do not race. It returns the
// number of these pairs, and the first pair with different results.
func independence(t *testing.T, pairs int, touches relation) (independent int, difference string) {
	t.Helper()
	for seed := range uint64(pairs) {
		d := drawn{sim.Stream(seed, "pair of calls")}
		var past []any
		for range d.IntN(6) {
			past = append(past, d.call())
		}
		pair := [2]any{d.call(), d.call()}
		one, races := bothTaken(t, past, pair, false, touches)
		if races {
			continue
		}
		independent++
		if other, _ := bothTaken(t, past, pair, true, touches); !cmp.Equal(one, other) {
			return independent, fmt.Sprintf("pair %d, %T and %T (-in this order +in the other):\n%s", seed, pair[0],
				pair[1], cmp.Diff(one, other))
		}
	}
	return independent, ""
}

// Calls that are independent by the rules of the explorer really are: both orders give the same rows, answers and
// fingerprints. A proof may leave out schedules only because of this.
func TestIndependentCallsComeOutTheSameInBothOrders(t *testing.T) {
	pairs := effort.Fewer(4000, 200)
	independent, difference := independence(t, pairs, accesses)
	if difference != "" {
		t.Error(difference)
	}
	if independent < pairs/4 {
		t.Errorf("%d of %d pairs were independent: too few to say anything", independent, pairs)
	}
	t.Logf("%d of %d pairs", independent, pairs)
}

// Two strikes of the same possible fault race, whatever they strike, because the fault may be allowed to strike only
// once.
func TestStrikesOfOnePossibleFaultRace(t *testing.T) {
	for _, test := range []struct {
		one, other int
		race       bool
	}{{1, 1, true}, {2, 2, true}, {1, 2, false}, {0, 1, false}, {1, 0, false}, {0, 0, false}} {
		race := false
		for _, a := range withPossible([]sim.Access{{Object: 1, Write: true}}, test.one) {
			for _, b := range withPossible([]sim.Access{{Object: 2, Write: true}}, test.other) {
				race = race || a.Object == b.Object && (a.Write || b.Write)
			}
		}
		if race != test.race {
			t.Errorf("fault %d of one request and %d of another (0 is none) race: %v, want %v", test.one,
				test.other, race, test.race)
		}
	}
}

// accesses are the reads and writes of a call in a world of META and LOCK rows.
func accesses(input any) []sim.Access { return new(world).accessesIn("", input) }

// The function independence notices a relation that leaves something out.
func TestAWrongRelationIsNoticed(t *testing.T) {
	// but returns a relation that is wrong about some actions of transactions.
	but := func(wrong func(types.TransactWriteItem) bool, instead func(sim.Access) []sim.Access) relation {
		return func(input any) (all []sim.Access) {
			in, is := input.(*dynamodb.TransactWriteItemsInput)
			if !is {
				return accesses(input)
			}
			all = []sim.Access{}
			for i, a := range accesses(input) {
				if i < len(in.TransactItems) && wrong(in.TransactItems[i]) {
					all = append(all, instead(a)...)
				} else {
					all = append(all, a)
				}
			}
			return all
		}
	}
	read := func(a sim.Access) []sim.Access { return []sim.Access{{Object: a.Object}} }
	nothing := func(sim.Access) []sim.Access { return nil }
	readOnly := func(which func(any) bool) relation {
		return func(input any) []sim.Access {
			all := accesses(input)
			if which(input) {
				all = read(all[0])
			}
			return all
		}
	}
	for name, wrong := range map[string]relation{
		"a transaction's put is a read": but(func(a types.TransactWriteItem) bool { return a.Put != nil }, read),
		"a transaction's update is a read": but(func(a types.TransactWriteItem) bool { return a.Update != nil },
			read),
		"a transaction's delete is a read": but(func(a types.TransactWriteItem) bool { return a.Delete != nil },
			read),
		"a transaction's check reads nothing": but(
			func(a types.TransactWriteItem) bool { return a.ConditionCheck != nil }, nothing,
		),
		"a transaction is left out altogether": but(func(types.TransactWriteItem) bool { return true }, nothing),
		"a transaction's token is nothing": func(input any) []sim.Access {
			all := accesses(input)
			if in, is := input.(*dynamodb.TransactWriteItemsInput); is {
				return all[:len(in.TransactItems)]
			}
			return all
		},
		"a put is a read":     readOnly(func(in any) bool { _, is := in.(*dynamodb.PutItemInput); return is }),
		"an update is a read": readOnly(func(in any) bool { _, is := in.(*dynamodb.UpdateItemInput); return is }),
		"a delete is a read":  readOnly(func(in any) bool { _, is := in.(*dynamodb.DeleteItemInput); return is }),
		"a get reads nothing": func(input any) []sim.Access {
			if _, is := input.(*dynamodb.GetItemInput); is {
				return []sim.Access{}
			}
			return accesses(input)
		},
	} {
		t.Run(name, func(t *testing.T) {
			independent, difference := independence(t, 4000, wrong)
			if difference == "" {
				t.Fatal("nothing came out differently")
			}
			t.Logf("noticed at the %dth pair that it calls independent", independent)
		})
	}
}

// A deletion by TTL is a separate step, and races with each request for the row, whatever the table calls its keys.
func TestDeletionsByTTLRaceWithRequests(t *testing.T) {
	keyed := func(names ...string) *dynamodb.CreateTableInput {
		in := &dynamodb.CreateTableInput{BillingMode: types.BillingModePayPerRequest}
		for i, name := range names {
			in.AttributeDefinitions = append(in.AttributeDefinitions,
				types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS})
			in.KeySchema = append(in.KeySchema, types.KeySchemaElement{
				AttributeName: &name, KeyType: []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i],
			})
		}
		return in
	}
	pages := isr.Schema{
		Rows: []isr.Row{{Table: "pages", Partition: "id = {key}", Body: "html", Generated: "made", TTL: "ttl"}},
	}
	for name, test := range map[string]struct {
		like  *dynamodb.CreateTableInput // the table of a lock
		rows  isr.Schema
		also  *dynamodb.CreateTableInput // a table that the code itself creates
		table string
		keys  []string
	}{
		"META and LOCK":              {table: hooks.TableName, keys: []string{"pk", "sk"}},
		"a lock's partition key":     {like: keyed("id"), table: hooks.TableName, keys: []string{"id"}},
		"a lock's key is pk":         {like: keyed("pk"), table: hooks.TableName, keys: []string{"pk"}},
		"a lock's keys":              {like: keyed("pk", "kind"), table: hooks.TableName, keys: []string{"pk", "kind"}},
		"a mapped table":             {rows: pages, table: "pages", keys: []string{"id"}},
		"a table beside a mapping's": {rows: pages, also: keyed("name"), table: "others", keys: []string{"name"}},
		"a table of code's own":      {also: keyed("name"), table: "others", keys: []string{"name"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec.Defaults()
			s.Rows, s.Lag = test.rows, byScheduler
			w := &world{stage: newStage(), scenario: s, clock: fakeclock.New(fakeclock.Epoch), start: fakeclock.Epoch,
				ttl: defaultTTL, ownKeys: request.HasOwnKeys(test.like)}
			rows, empty, err := tablesOf(t.Context(), s, tableKind{like: test.like, ttl: defaultTTL})
			must.OK(t, err)
			w.rows = rows
			w.db.Reset(ddbfake.Options{Clock: w.clock, Lag: s.Lag.OfStore()}, empty)
			client := w.db.As("code")
			if test.also != nil {
				test.also.TableName = &test.table
				ttl := isr.TTLInput(test.table)
				must.OK(t, createTable(t.Context(), client, test.also, hooks.NoTTL))
				if _, err := client.UpdateTimeToLive(t.Context(), ttl); err != nil {
					t.Fatal(err)
				}
			}
			key := func(of string) map[string]types.AttributeValue {
				key := map[string]types.AttributeValue{}
				for _, name := range test.keys {
					key[name] = &types.AttributeValueMemberS{Value: of}
				}
				return key
			}
			names := []string{"one", "two"}
			put := func(of string) *dynamodb.PutItemInput {
				item := key(of)
				for _, other := range []string{"pk", "sk"} {
					if item[other] == nil {
						item[other] = &types.AttributeValueMemberS{Value: "no key"}
					}
				}
				item[defaultTTL] = &types.AttributeValueMemberN{Value: fmt.Sprint(w.clock.Now().Unix() - 1)}
				return &dynamodb.PutItemInput{TableName: &test.table, Item: item}
			}
			for _, name := range names {
				if _, err := client.PutItem(t.Context(), put(name)); err != nil {
					t.Fatal(err)
				}
			}
			ttl := &sweeper{w: w}
			steps := slices.Clone(ttl.Steps())
			if len(steps) != len(names) || steps[0] == steps[1] {
				t.Fatalf("TTL has the steps %v, want one for each of two rows", steps)
			}
			arn := aws.String("arn:aws:dynamodb:us-east-1:000000000000:table/" + test.table)
			for i, step := range steps {
				name := names[i]
				if _, is := ttl.rows[i].Key.Str(test.keys[0]); !is ||
					!strings.Contains(ttl.rows[i].Key.String(), name) {
					name = names[1-i]
				}
				for _, in := range []any{
					put(name), &dynamodb.GetItemInput{TableName: arn, Key: key(name)},
					&dynamodb.UpdateItemInput{TableName: &test.table, Key: key(name)},
					&dynamodb.DeleteItemInput{TableName: &test.table, Key: key(name)},
					&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
						{ConditionCheck: &types.ConditionCheck{TableName: arn, Key: key(name)}},
					}},
				} {
					if !touchTheSame(w.accessesIn("", in), ttl.Accesses(step)) {
						t.Errorf("%T of the row %s does not race with its deletion", in, name)
					}
				}
			}
		})
	}
}

// testRegions are the regions of the tests' global table.
var testRegions = []string{ddbfake.DefaultRegion, "eu-west-1", "ap-south-1"}

// regionStep is a call in a region, or the arrival of one of the writes under way, by its number.
type regionStep struct {
	region  string
	input   any // nil means an arrival
	arrival uint64
}

func (s regionStep) String() string {
	if s.input == nil {
		return fmt.Sprint("arrival ", s.arrival)
	}
	return fmt.Sprintf("%T in %s", s.input, s.region)
}

// emptyInRegions is a store with the table cache in several regions.
var emptyInRegions = sync.OnceValues(func() (*ddbfake.Snapshot, error) {
	db := ddbfake.New(ddbfake.Options{})
	_, err := db.As("setup").CreateTable(context.Background(), isr.TableInput(hooks.TableName))
	_, also := db.As("setup").CreateTable(context.Background(), isr.TableInput(hooks.TableName+"2"))
	err = errors.Join(err, also, replicate(context.Background(), db, strings.Join(testRegions, " ")))
	return db.Snapshot(), err
})

// regionWorld is a world with a table in several regions, and nobody in it.
func regionWorld(t *testing.T, lag spec.Lag) *world {
	t.Helper()
	s := spec.Defaults()
	s.RegionLag = lag
	for i, r := range testRegions {
		s.Actors = append(s.Actors, spec.Actor{Name: fmt.Sprint("actor", i), Region: r})
	}
	stage := newStage()
	w := &world{
		stage: stage, scenario: s, clock: fakeclock.New(fakeclock.Epoch), start: fakeclock.Epoch, keys: &keys{},
		fingerprinter: newFingerprinter(s, true, nil, nil), ttl: defaultTTL,
	}
	empty := must.Of(emptyInRegions())(t)
	w.db.Reset(ddbfake.Options{Clock: w.clock}, empty)
	w.replicator = &replicator{w: w}
	w.db.SetRegionLag(lag.OfStore())
	return w
}

// take makes a step, and returns its answer.
func (s regionStep) take(t *testing.T, w *world) string {
	t.Helper()
	if s.input == nil {
		w.replicator.Steps()
		w.replicator.Take(s.arrival)
		return ""
	}
	out, err := w.db.Do(t.Context(), ddbfake.Call{Actor: "actor", Region: s.region, Input: s.input})
	w.noteChanges()
	text, _ := json.Marshal([]any{out, err})
	return string(text)
}

// regionState is the whole state of a world with several regions.
type regionState struct {
	Rows, UnderWay, Answers []string
	Fingerprint             uint64
}

func stateOf(w *world, answers ...string) regionState {
	s := regionState{Answers: answers, Fingerprint: uint64(w.fingerprinter.sum) + uint64(w.replicator.fingerprint())}
	for _, table := range w.db.Tables() {
		for _, row := range w.db.Items(table) {
			s.Rows = append(s.Rows, table+" "+row.String())
		}
	}
	for _, c := range w.db.UnderWay() {
		s.UnderWay = append(s.UnderWay, fmt.Sprint(c.Region, c.Key, c.After, c.Actor, c.Time))
	}
	return s
}

// regionRelation says which things steps touch.
type regionRelation struct {
	call    func(w *world, region string, input any) []sim.Access
	arrival func(w *world, step uint64) []sim.Access
}

var ownRelation = regionRelation{(*world).accessesIn,
	func(w *world, step uint64) []sim.Access { return w.replicator.Accesses(step) }}

func (r regionRelation) of(w *world, s regionStep) []sim.Access {
	if s.input == nil {
		return r.arrival(w, s.arrival)
	}
	return r.call(w, s.region, s.input)
}

func touchTheSame(a, b []sim.Access) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Object == y.Object && (x.Write || y.Write) {
				return true
			}
		}
	}
	return a == nil || b == nil
}

// independentInRegions tries random pairs of steps in both orders, as independence does.
func independentInRegions(
	t *testing.T, lag spec.Lag, pairs int, by regionRelation,
) (independent, arrivals int, difference string) {
	t.Helper()
	for seed := range uint64(pairs) {
		d := drawn{sim.Stream(seed, "pair of steps in regions")}
		step := func(w *world) regionStep {
			if under := w.replicator.Steps(); len(under) > 0 && d.IntN(2) == 0 {
				return regionStep{arrival: under[d.IntN(len(under))]}
			}
			return regionStep{region: testRegions[d.IntN(len(testRegions))], input: d.call()}
		}
		var past []regionStep
		w := regionWorld(t, lag)
		for range d.IntN(8) {
			s := step(w)
			s.take(t, w)
			past = append(past, s)
		}
		one, other := step(w), step(w)
		// steps of one source race
		if one.input == nil && other.input == nil || touchTheSame(by.of(w, one), by.of(w, other)) {
			continue
		}
		independent++
		if one.input == nil || other.input == nil {
			arrivals++
		}
		again := regionWorld(t, lag)
		for _, s := range past {
			s.take(t, again)
		}
		first, second := one.take(t, w), other.take(t, w)
		last, before := other.take(t, again), one.take(t, again)
		if diff := cmp.Diff(stateOf(w, first, second), stateOf(again, before, last)); diff != "" {
			return independent, arrivals,
				fmt.Sprintf("pair %d, %v and %v (-in this order +in the other):\n%s", seed, one, other, diff)
		}
	}
	return independent, arrivals, ""
}

func TestIndependentStepsInSeveralRegionsComeOutTheSame(t *testing.T) {
	for _, lag := range []spec.Lag{byScheduler, {Fixed: ddbfake.LagAtOnce}, {Fixed: ddbfake.LagUniform(0, time.Hour)}} {
		pairs := effort.Fewer(3000, 200)
		independent, arrivals, difference := independentInRegions(t, lag, pairs, ownRelation)
		if difference != "" {
			t.Errorf("%v: %s", lag, difference)
		}
		if independent < pairs/10 || lag.Scheduler && arrivals < pairs/10 {
			t.Errorf("%v: %d of %d pairs were independent, %d with an arrival: too few to say anything", lag,
				independent, pairs, arrivals)
		}
		t.Logf("%v: %d of %d pairs, %d with an arrival", lag, independent, pairs, arrivals)
	}
}

// byScheduler is the lag with which the schedule decides when a write arrives.
var byScheduler = spec.Lag{Scheduler: true}

func TestAWrongRelationOfRegionsIsNoticed(t *testing.T) {
	// This is the relation for the lag byScheduler. Under other lags it is wrong.
	asScheduled := regionRelation{func(w *world, region string, input any) []sim.Access {
		own := w.scenario.RegionLag
		defer func() { w.scenario.RegionLag = own }()
		w.scenario.RegionLag = byScheduler
		return w.accessesIn(region, input)
	}, ownRelation.arrival}
	for _, lag := range []spec.Lag{{Fixed: ddbfake.LagAtOnce}, {Fixed: ddbfake.LagUniform(0, time.Hour)}} {
		if _, _, difference := independentInRegions(t, lag, 3000, asScheduled); difference == "" {
			t.Errorf("%v: nothing came out differently", lag)
		}
	}
	for name, wrong := range map[string]regionRelation{
		"a write is in no order": {func(w *world, region string, input any) (own []sim.Access) {
			order := map[uint64]bool{}
			for _, a := range w.accessesIn("", input) { // the objects that belong to no region
				order[a.Object] = true
			}
			own = []sim.Access{}
			for _, a := range w.accessesIn(region, input) {
				if !order[a.Object] {
					own = append(own, a)
				}
			}
			return own
		}, ownRelation.arrival},
		"an arrival touches nothing": {ownRelation.call, func(*world, uint64) []sim.Access { return []sim.Access{} }},
		"an arrival reads": {ownRelation.call, func(w *world, step uint64) []sim.Access {
			all := slices.Clone(w.replicator.Accesses(step))
			for i := range all {
				all[i].Write = false
			}
			return all
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, difference := independentInRegions(t, byScheduler, 3000, wrong); difference == "" {
				t.Error("nothing came out differently")
			}
		})
	}
}

// Writes under way are a part of the state: which write arrives where, when, in which order with other writes to the
// row, and from whom; and with a lag of the store, how many were sent before.
func TestWhatIsUnderWayIsAPartOfTheState(t *testing.T) {
	for _, lag := range []spec.Lag{byScheduler, {Fixed: ddbfake.LagFixed(time.Second)}} {
		prints := map[uint64]string{}
		ways := []string{"", "a", "b", "ab", "ba", "aB", "a2b", "a eu-west-1", "-"}
		if lag.Scheduler {
			ways = append(ways, "a>") // it has arrived in one region
		} else {
			ways = append(ways, ".a", "a.")
		}
		for _, way := range ways {
			w := regionWorld(t, lag)
			writes, region, _ := strings.Cut(way, " ")
			table := hooks.TableName
			for _, does := range writes {
				key, call := pagecache.Key("a", "b"), ddbfake.Call{Actor: "alice", Region: region}
				switch does {
				case '.':
					before := w.fingerprinter.sum
					w.clock.Advance(2 * time.Second)
					if w.replicator.Steps(); way == "a." && w.fingerprinter.sum == before {
						t.Error("what has arrived by itself is no part of the state")
					}
					continue
				case '2':
					table += "2"
					continue
				case '>':
					regionStep{arrival: w.replicator.Steps()[0]}.take(t, w)
					continue
				case '-':
					call.Input = &dynamodb.DeleteItemInput{TableName: &table, Key: key}
				default:
					key["v"] = &types.AttributeValueMemberS{Value: strings.ToLower(string(does))}
					call.Input = &dynamodb.PutItemInput{TableName: &table, Item: key}
				}
				if does == 'B' {
					call.Actor = "bob"
				}
				must.Done(t)(w.db.Do(t.Context(), call))
				w.noteChanges()
			}
			print := uint64(w.replicator.fingerprint())
			if other, known := prints[print]; known {
				t.Errorf("%v: %q and %q have one fingerprint", lag, way, other)
			}
			prints[print] = way
		}
	}
}

// Time stops at the next arrival of a write, whatever the order of the rows.
func TestTimeStopsAtArrivals(t *testing.T) {
	at := func(seconds int) time.Time { return fakeclock.Epoch.Add(time.Duration(seconds) * time.Second) }
	r := replicator{under: []ddbfake.Change{{Time: at(3)}, {Time: at(1)}, {Time: at(2)}, {Time: at(2)}}}
	for now, want := range []int{1, 2, 3, 0} {
		if next, ok := r.Next(at(now)); ok != (want > 0) || ok && !next.Equal(at(want)) {
			t.Errorf("after %ds: time stops at %v, %t; want %ds", now, next, ok, want)
		}
	}
}
