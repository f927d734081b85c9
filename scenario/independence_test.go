package scenario

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// relation returns the reads and writes of a call, as accesses does.
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

func (r *plainRequest) Outcomes() []int           { return ordinary }
func (r *plainRequest) Accesses(int) []sim.Access { return r.touches(r.input) }
func (r *plainRequest) Describe(int) string       { return fmt.Sprintf("%T", r.input) }
func (r *plainRequest) DescribeAnswer() string    { return fmt.Sprint(r.out, r.err) }
func (r *plainRequest) Apply(int) {
	r.out, r.err = r.db.Do(r.t.Context(), ddbfake.Call{Actor: "actor", Input: r.input})
}
func (r *plainRequest) AnswerFingerprint() (uint64, bool) {
	h, known := answerFingerprint(r.out, r.err)
	return uint64(h), known
}

// ended is the outcome of two requests in one order.
type ended struct {
	Rows        []string
	Answers     []string
	Fingerprint uint64
}

// order is a chooser for two actors whose requests are both under way: it lets them take effect in one order.
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

// bothTaken makes two calls after some others, in one order or the other, and says whether the explorer takes them to
// race.
func bothTaken(t *testing.T, past []any, pair [2]any, last bool, touches relation) (e ended, races bool) {
	t.Helper()
	clock := fakeclock.New(fakeclock.Epoch)
	db := ddbfake.New(ddbfake.Options{Clock: clock})
	if _, err := db.As("setup").CreateTable(t.Context(), isr.TableInput("cache")); err != nil {
		t.Fatal(err)
	}
	for _, input := range past {
		_, _ = db.Do(t.Context(), ddbfake.Call{Actor: "past", Input: input}) // refused or not
	}
	fp, taken := newFingerprinter(&Scenario{}), 0
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
		text, err := json.Marshal([]any{r.out, r.err})
		if err != nil {
			t.Fatal(err)
		}
		e.Answers = append(e.Answers, string(text))
	}
	for _, row := range db.Items("cache") {
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

// condition is none, or one with its values.
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

// updates are the values of an update, without those of its condition.
func (d drawn) updates(values map[string]types.AttributeValue) map[string]types.AttributeValue {
	all := map[string]types.AttributeValue{":new": d.value()}
	for name, value := range values { //isrsim:unordered a map is made
		all[name] = value
	}
	return all
}

func (d drawn) call() any {
	table, key := aws.String("cache"), d.key()
	condition, values := d.condition()
	switch d.IntN(6) {
	case 0:
		return &dynamodb.GetItemInput{TableName: table, Key: key, ConsistentRead: aws.Bool(true)}
	case 1:
		return &dynamodb.PutItemInput{
			TableName: table, Item: d.item(key), ConditionExpression: condition, ExpressionAttributeValues: values, ReturnValues: types.ReturnValueAllOld,
		}
	case 2:
		return &dynamodb.UpdateItemInput{
			TableName: table, Key: key, UpdateExpression: setN, ConditionExpression: condition,
			ExpressionAttributeValues: d.updates(values), ReturnValues: types.ReturnValueAllOld,
		}
	case 3:
		return &dynamodb.DeleteItemInput{
			TableName: table, Key: key, ConditionExpression: condition, ExpressionAttributeValues: values, ReturnValues: types.ReturnValueAllOld,
		}
	default:
		return d.transaction()
	}
}

func (d drawn) transaction() any {
	in := &dynamodb.TransactWriteItemsInput{}
	var keys []string
	for range 1 + d.IntN(2) {
		key := d.key()
		name := fmt.Sprint(rowAccess(key, true))
		if slices.Contains(keys, name) {
			continue
		}
		keys = append(keys, name)
		table := aws.String("cache")
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
				TableName: table, Key: key, UpdateExpression: setN, ConditionExpression: condition, ExpressionAttributeValues: d.updates(values),
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
			return independent, fmt.Sprintf("pair %d, %T and %T (-in this order +in the other):\n%s", seed, pair[0], pair[1], cmp.Diff(one, other))
		}
	}
	return independent, ""
}

// Steps that the explorer takes to be independent really are: both orders give the same rows, answers and fingerprints.
// Everything that a proof leaves out rests on this.
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

// Two strikes of one possible fault race, whatever they strike: the fault may strike only once.
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
			t.Errorf("fault %d of one request and %d of another (0 is none) race: %v, want %v", test.one, test.other, race, test.race)
		}
	}
}

// A relation that leaves something out is found.
func TestAWrongRelationIsNoticed(t *testing.T) {
	// but returns the relation with some actions of transactions replaced.
	but := func(wrong func(types.TransactWriteItem) bool, instead func(sim.Access) []sim.Access) relation {
		return func(input any) (all []sim.Access) {
			in, is := input.(*dynamodb.TransactWriteItemsInput)
			if !is {
				return accesses(input)
			}
			all = []sim.Access{}
			for i, a := range accesses(input) {
				if wrong(in.TransactItems[i]) {
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
		"a transaction's put is a read":        but(func(a types.TransactWriteItem) bool { return a.Put != nil }, read),
		"a transaction's update is a read":     but(func(a types.TransactWriteItem) bool { return a.Update != nil }, read),
		"a transaction's delete is a read":     but(func(a types.TransactWriteItem) bool { return a.Delete != nil }, read),
		"a transaction's check reads nothing":  but(func(a types.TransactWriteItem) bool { return a.ConditionCheck != nil }, nothing),
		"a transaction is left out altogether": but(func(types.TransactWriteItem) bool { return true }, nothing),
		"a put is a read":                      readOnly(func(in any) bool { _, is := in.(*dynamodb.PutItemInput); return is }),
		"an update is a read":                  readOnly(func(in any) bool { _, is := in.(*dynamodb.UpdateItemInput); return is }),
		"a delete is a read":                   readOnly(func(in any) bool { _, is := in.(*dynamodb.DeleteItemInput); return is }),
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
