package kernel

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/internal/trace/request"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// TestTheClientRetriesWhatTheSDKRetries compares the two clients of a node: the simulator's own client retries exactly
// the errors that the SDK's client retries.
func TestTheClientRetriesWhatTheSDKRetries(t *testing.T) {
	coded := func(code string) error { return &smithy.GenericAPIError{Code: code, Fault: smithy.FaultClient} }
	again := 0
	for _, err := range []error{
		&types.ConditionalCheckFailedException{},
		&types.DuplicateItemException{},
		&types.IdempotentParameterMismatchException{},
		&types.InternalServerError{},
		&types.InvalidEndpointException{},
		&types.ItemCollectionSizeLimitExceededException{},
		&types.LimitExceededException{},
		&types.PolicyNotFoundException{},
		&types.ProvisionedThroughputExceededException{},
		&types.ReplicatedWriteConflictException{},
		&types.RequestLimitExceeded{},
		&types.ResourceInUseException{},
		&types.ResourceNotFoundException{},
		&types.ThrottlingException{},
		&types.TransactionCanceledException{},
		&types.TransactionConflictException{},
		&types.TransactionInProgressException{},
		coded("AccessDeniedException"),
		coded("InvalidSignatureException"),
		coded("ThrottlingException"),
		coded("ValidationException"),
		&smithy.GenericAPIError{Code: "ServiceUnavailable", Fault: smithy.FaultServer},
		&ddbfake.NetworkError{Operation: "GetItem"},
		&ddbfake.NetworkError{Operation: "PutItem", ResponseLost: true},
		&ddbfake.UnsupportedError{Operation: "ImportTable"},
	} {
		sent := 0
		client := ddbfake.NewClient(func(context.Context, ddbfake.Call) (any, error) { sent++; return nil, err },
			func(o *dynamodb.Options) { o.Retryer = ddbfake.Retryer(2) })
		if _, failed := client.GetItem(t.Context(), &dynamodb.GetItemInput{
			TableName: aws.String("cache"), Key: map[string]types.AttributeValue{
				"pk": &types.AttributeValueMemberS{Value: "1"},
			},
		}); failed == nil || sent == 0 {
			t.Fatalf("%T: sent %d times, %v", err, sent, failed)
		}
		if got, want := request.Retryable(err), sent == 2; got != want {
			t.Errorf("%T (%v): sent again %v, by the SDK %v", err, err, got, want)
		}
		if got, want := request.Retryable(fmt.Errorf("wrapped: %w", err)), sent == 2; got != want {
			t.Errorf("%T in another error: sent again %v, by the SDK %v", err, got, want)
		}
		again += sent - 1
	}
	if again < 6 {
		t.Errorf(
			"the SDK retries %d of these errors, want those of throttling, of the server and of the wire among them",
			again,
		)
	}
}

// TestWhatANodeNamesTellsThePage follows the requests that a node makes for one request of a client.
func TestWhatANodeNamesTellsThePage(t *testing.T) {
	home := subject.Key{Name: "/home"}
	own := isr.PartitionKey("", home.Name)
	get := func(pk, sk string) any { return &dynamodb.GetItemInput{Key: pagecache.Key(pk, sk)} }
	for _, test := range []struct {
		name  string
		calls []any
		want  string
	}{
		{"nothing", nil, ""},
		{"one page", []any{get("CACHE#/home", "META"), get("CACHE#/home", "LOCK")}, "CACHE#/home"},
		{"rows of another kind do not count", []any{get("CACHE#/home", "META"), get("TAG#1", "TAG")}, "CACHE#/home"},
		{"two pages", []any{get("CACHE#/home", "META"), get("CACHE#/about", "LOCK")}, ""},
		{"two pages, one of them by the schema", []any{get("CACHE#/about", "META"), get(own, "LOCK")}, own},
		{"a transaction", []any{&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{Item: pagecache.Key("CACHE#/home", "META")}},
			{Delete: &types.Delete{Key: pagecache.Key("CACHE#/home", "LOCK")}},
			{Update: &types.Update{Key: pagecache.Key("STATS", "DAY")}},
			{ConditionCheck: &types.ConditionCheck{Key: pagecache.Key("STATS", "DAY")}}, {},
		}}}, "CACHE#/home"},
		{"what is read in a batch or a transaction", []any{
			&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
				"cache": {Keys: []map[string]types.AttributeValue{pagecache.Key("CACHE#/home", "META")}},
			}},
			&dynamodb.TransactGetItemsInput{
				TransactItems: []types.TransactGetItem{{Get: &types.Get{Key: pagecache.Key("CACHE#/about", "META")}}},
			},
		}, ""},
		{"keys that are not strings", []any{&dynamodb.GetItemInput{
			Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberN{Value: "1"}},
		}}, ""},
	} {
		var a named
		for _, call := range test.calls {
			a.note(call, nil)
		}
		if got := a.partition(home); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// lockAndMeta are rows with a ttl. Only the ttl of LOCK is hidden.
func lockAndMeta() (lock, meta map[string]types.AttributeValue) {
	row := func(sk string) map[string]types.AttributeValue {
		return map[string]types.AttributeValue{
			"sk": &types.AttributeValueMemberS{Value: sk}, "ttl": &types.AttributeValueMemberN{Value: "7200"},
		}
	}
	return row(isr.SortLock), row(isr.SortMeta)
}

// Copies of an answer have another ttl in each LOCK row: a second from now, now, a second ago, long ago, or not a
// number. The answer itself does not change, and nothing else is hidden.
func TestTheTTLOfALockIsVeiled(t *testing.T) {
	lock, meta := lockAndMeta()
	refused := func(rows ...map[string]types.AttributeValue) error {
		cancelled := &types.TransactionCanceledException{}
		for _, row := range rows {
			cancelled.CancellationReasons = append(cancelled.CancellationReasons, types.CancellationReason{Item: row})
		}
		return cancelled
	}
	r := &storeRequest{node: &node{world: &world{unread: true, skewed: true}}}
	now := time.Unix(3600, 0)
	for name, of := range map[string]func(lock, meta map[string]types.AttributeValue) (any, error){
		"GetItem": func(lock, _ map[string]types.AttributeValue) (any, error) {
			return &dynamodb.GetItemOutput{Item: lock}, nil
		},
		"PutItem": func(lock, _ map[string]types.AttributeValue) (any, error) {
			return &dynamodb.PutItemOutput{Attributes: lock}, nil
		},
		"UpdateItem": func(lock, _ map[string]types.AttributeValue) (any, error) {
			return &dynamodb.UpdateItemOutput{Attributes: lock}, nil
		},
		"DeleteItem": func(lock, _ map[string]types.AttributeValue) (any, error) {
			return &dynamodb.DeleteItemOutput{Attributes: lock}, nil
		},
		"Query": func(lock, meta map[string]types.AttributeValue) (any, error) {
			return &dynamodb.QueryOutput{Items: []map[string]types.AttributeValue{meta, lock}}, nil
		},
		"a refusal": func(lock, _ map[string]types.AttributeValue) (any, error) {
			return nil, &types.ConditionalCheckFailedException{Item: lock}
		},
		"a cancellation": func(lock, meta map[string]types.AttributeValue) (any, error) {
			return nil, refused(meta, lock)
		},
	} {
		out, err := of(lock, meta)
		answer := storeAnswer{out: out, err: err}
		for way, ttl := range []types.AttributeValue{
			&types.AttributeValueMemberN{Value: "1"}, &types.AttributeValueMemberS{Value: "veiled"},
			&types.AttributeValueMemberN{Value: "3601"}, &types.AttributeValueMemberN{Value: "3600"},
			&types.AttributeValueMemberN{Value: "3599"},
			&types.AttributeValueMemberN{Value: "3591"}, &types.AttributeValueMemberN{Value: "3590"},
			&types.AttributeValueMemberN{Value: "3589"},
		} {
			veiled := r.Hidden(answer, now, now.Add(-10*time.Second))
			other, _ := lockAndMeta()
			other["ttl"] = ttl
			wantOut, wantErr := of(other, meta)
			got, is := veiled[way].(storeAnswer)
			if diff := cmp.Diff([]any{wantOut, wantErr}, []any{got.out, got.err}, cmp.Exporter(func(reflect.Type) bool {
				return true
			})); diff != "" || !is || len(veiled) != 8 {
				t.Errorf("%s, way %d of %d (-want +got):\n%s", name, way, len(veiled), diff)
			}
		}
		if r.node.world.skewed = false; len(r.Hidden(answer, now, now)) != 5 {
			t.Errorf("%s: clocks that show true time are counted twice", name)
		}
		r.node.world.skewed = true
		if plain, _ := lockAndMeta(); !reflect.DeepEqual(plain, lock) {
			t.Fatalf("%s: the row is now %v", name, lock)
		}
		if r.Hidden(storeAnswer{out: &dynamodb.GetItemOutput{Item: meta}}, now, now) != nil {
			t.Error("the ttl of META is veiled")
		}
	}
	r.node.world.unread = false
	if r.Hidden(storeAnswer{out: &dynamodb.GetItemOutput{Item: lock}}, now, now) != nil {
		t.Error("a ttl at which time stops anyway is veiled")
	}
}

// A request makes DynamoDB read the ttl of a LOCK row if a condition or a filter names it, or an update reads it.
func TestRequestsThatAskForTheTTLOfALock(t *testing.T) {
	lock, meta := lockAndMeta()
	alias := map[string]string{"#t": "ttl", "#e": "lease_expires_at"}
	update := func(key map[string]types.AttributeValue, update, condition string) *dynamodb.UpdateItemInput {
		return &dynamodb.UpdateItemInput{
			Key: key, ExpressionAttributeNames: alias, UpdateExpression: &update, ConditionExpression: &condition,
		}
	}
	transact := func(item types.TransactWriteItem) *dynamodb.TransactWriteItemsInput {
		return &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{}, item}}
	}
	asking, condition := aws.String("#e < :now OR #t < :now"), aws.String("#e < :now")
	for _, test := range []struct {
		name  string
		input any
		asks  bool
	}{
		{"a put without",
			&dynamodb.PutItemInput{Item: lock, ExpressionAttributeNames: alias, ConditionExpression: condition}, false},
		{"a put",
			&dynamodb.PutItemInput{Item: lock, ExpressionAttributeNames: alias, ConditionExpression: asking}, true},
		{"a put of META",
			&dynamodb.PutItemInput{Item: meta, ExpressionAttributeNames: alias, ConditionExpression: asking}, false},
		{"a put with Expected",
			&dynamodb.PutItemInput{Item: lock, Expected: map[string]types.ExpectedAttributeValue{}}, true},
		{"a name without an alias",
			&dynamodb.PutItemInput{Item: lock, ConditionExpression: aws.String("attribute_exists(ttl)")}, true},
		{"another name", &dynamodb.PutItemInput{
			Item: lock, ConditionExpression: aws.String("attribute_exists(ttls) OR a.attl = :ttl"),
		}, false},
		{"an update that sets it", update(lock, "SET #e = :e, #t = :t", "#e < :now"), false},
		{"an update that copies it", update(lock, "SET #e = #t, #t = :t", "#e < :now"), true},
		{"an update that counts it up", update(lock, "SET #t = #t + :t", "#e < :now"), true},
		{"an update that adds to it", update(lock, "ADD #t :t", "#e < :now"), true},
		{"an update on a condition", update(lock, "SET #t = :t", "#t = :now"), true},
		{"an update with AttributeUpdates",
			&dynamodb.UpdateItemInput{Key: lock, AttributeUpdates: map[string]types.AttributeValueUpdate{}}, true},
		{"a deletion",
			&dynamodb.DeleteItemInput{Key: lock, ExpressionAttributeNames: alias, ConditionExpression: asking}, true},
		{"a deletion without",
			&dynamodb.DeleteItemInput{Key: lock, ExpressionAttributeNames: alias, ConditionExpression: condition},
			false},
		{"a query", &dynamodb.QueryInput{ExpressionAttributeNames: alias, FilterExpression: asking}, true},
		{"a query without", &dynamodb.QueryInput{ExpressionAttributeNames: alias, FilterExpression: condition}, false},
		{"a query of an index", &dynamodb.QueryInput{IndexName: aws.String("by-ttl")}, true},
		{"a transaction's put", transact(types.TransactWriteItem{
			Put: &types.Put{Item: lock, ExpressionAttributeNames: alias, ConditionExpression: asking},
		}), true},
		{"a transaction's update", transact(types.TransactWriteItem{Update: &types.Update{
			Key: lock, ExpressionAttributeNames: alias, UpdateExpression: aws.String("SET #e = #t"),
		}}), true},
		{"a transaction's deletion", transact(types.TransactWriteItem{
			Delete: &types.Delete{Key: lock, ExpressionAttributeNames: alias, ConditionExpression: asking},
		}), true},
		{"a transaction's check", transact(types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
			Key: lock, ExpressionAttributeNames: alias, ConditionExpression: asking,
		}}), true},
		{"a transaction's check without", transact(types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
			Key: lock, ExpressionAttributeNames: alias, ConditionExpression: condition,
		}}), false},
		{"a read", &dynamodb.GetItemInput{Key: lock}, false},
	} {
		if asks := request.AsksLockTTL(test.input); asks != test.asks {
			t.Errorf("%s asks for the ttl of a lock: %v, want %v", test.name, asks, test.asks)
		}
	}
}

// Time need not stop at the ttl of a lock that no code reads, except where the schedule may delete the row.
func TestTimeStopsWhereALockMayBeDeleted(t *testing.T) {
	for _, test := range []struct {
		name      string
		unread    bool
		scheduler bool
		sk        string
		at        []int64
		unreadAt  []int64
	}{
		{"code looks", false, true, isr.SortLock, []int64{99, 100, 101}, nil},
		{"no code looks", true, false, isr.SortLock, nil, []int64{99, 100, 101}},
		{"the schedule deletes", true, true, isr.SortLock, []int64{101}, []int64{99, 100, 101}},
		{"META", true, false, isr.SortMeta, []int64{99, 100, 101}, nil},
	} {
		w := &world{stage: newStage(), scenario: &spec.Scenario{Lag: spec.Lag{Scheduler: test.scheduler}},
			ttl: defaultTTL, unread: test.unread}
		w.noteTTL(attr.Item{"sk": attr.S(test.sk)}, attr.Item{"ttl": attr.Int(100)})
		if !slices.Equal(w.deadlines.At, test.at) || !slices.Equal(w.deadlines.Unread, test.unreadAt) {
			t.Errorf("%s: stops at %v, and at %v for nobody, want %v and %v", test.name, w.deadlines.At,
				w.deadlines.Unread, test.at, test.unreadAt)
		}
	}
}

// Evidence covers the time, because a lag deletes rows as time passes.
func TestEvidenceHoldsAtATime(t *testing.T) {
	w := &world{stage: newStage(), clock: fakeclock.New(fakeclock.Epoch)}
	before := w.evidence()
	w.clock.Advance(time.Second)
	if w.evidence() == before {
		t.Error("the time does not count")
	}
}

// Runs of a search with equal evidence are judged once. So every part of the evidence must count.
func TestEvidenceCountsEveryPart(t *testing.T) {
	show := func(v any) fingerprint.Hash {
		w := &world{stage: newStage(), memory: sim.Memory{Search: &exhaustive.Exploration{}}}
		switch v := v.(type) {
		case ddbfake.Change:
			w.showChange(&v)
		case history.Event:
			w.showEvent(&v)
		case recorder.Body:
			w.showBody(&v)
		}
		return w.shows
	}
	for _, zero := range []any{ddbfake.Change{}, history.Event{}, recorder.Body{}} {
		of := reflect.TypeOf(zero)
		for i := range of.NumField() {
			field := of.Field(i)
			other := reflect.New(of).Elem()
			switch v := other.Field(i); {
			case field.Name == "Before" || field.Name == "Hold": // see showChange; no search of pages has a Hold
				continue
			case field.Type == reflect.TypeFor[time.Time]():
				v.Set(reflect.ValueOf(time.Unix(7, 0)))
			case field.Type == reflect.TypeFor[attr.Item]():
				v.Set(reflect.ValueOf(attr.Item{"a": attr.S("b")}))
			case v.CanInt():
				v.SetInt(7)
			case v.CanUint():
				v.SetUint(7)
			case v.Kind() == reflect.Bool:
				v.SetBool(true)
			case v.Kind() == reflect.String:
				v.SetString("other")
			default:
				t.Fatalf("%v.%s: found a %v, expected a kind that this test knows", of, field.Name, field.Type)
			}
			if show(zero) == show(other.Interface()) {
				t.Errorf("%v.%s does not count", of, field.Name)
			}
		}
	}
}

// TestStopsAroundAPromise: in a proof of locks or calls, time stops right before the invariant's guarantee ends. From
// then on, no error can be seen.
func TestStopsAroundAPromise(t *testing.T) {
	start := time.Unix(2000, 0)
	for _, test := range []struct {
		skew, rounded time.Duration
		want          []time.Duration
	}{
		{0, promise.LeaseRounding,
			[]time.Duration{9 * time.Second, 9998 * time.Millisecond, 10 * time.Second, 11 * time.Second}},
		{0, promise.RetentionRounding,
			[]time.Duration{8999 * time.Millisecond, 9 * time.Second, 10 * time.Second, 11 * time.Second}},
		{time.Second, promise.LeaseRounding,
			[]time.Duration{7998 * time.Millisecond, 9 * time.Second, 10 * time.Second, 11 * time.Second}},
	} {
		w := &world{
			stage: newStage(), allStops: true, scenario: &spec.Scenario{Skew: test.skew}, clock: fakeclock.New(start),
		}
		w.StopAround("alice", 10*time.Second, test.rounded)
		var got []time.Duration
		for _, at := range w.deadlines.Fine {
			got = append(got, time.Unix(0, at).Sub(start))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("clocks off by %v, rounded by %v: stops after %v, want %v", test.skew, test.rounded, got,
				test.want)
		}
	}
}

// TestNumbersOfClients: no two clients of a run have the same number, whatever starts first, and isClient knows each of
// these numbers.
func TestNumbersOfClients(t *testing.T) {
	w, given := &world{scenario: &spec.Scenario{Actors: make([]spec.Actor, 40)}}, map[uint64]bool{}
	for place := 1; place <= 40; place++ {
		for life := 1; life <= 101; life++ {
			given[clientOf(place, life)] = true
		}
	}
	for node := 1; node <= 40; node++ {
		given[w.visitorsClient(node)] = true
	}
	if len(given) != 40*101+40 {
		t.Errorf("%d numbers, expected %d", len(given), 40*101+40)
	}
	for number := range given {
		if !w.isClient(number) || number > math.MaxUint32 {
			t.Errorf("%x is no number of a client", number)
		}
	}
	for _, number := range []uint64{0, 1, 42 << clientBits} {
		if w.isClient(number) {
			t.Errorf("%x is a number of a client", number)
		}
	}
}
