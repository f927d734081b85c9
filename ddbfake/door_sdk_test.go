package ddbfake

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake/internal/sdktest"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/wire/httpbody"
)

// recorder has a method to pass as `do`. It records its calls and answers with the given errors, then with an empty
// GetItemOutput.
type recorder struct {
	calls       []Call
	invocations []string
	errs        []error
}

func (r *recorder) do(ctx context.Context, c Call) (any, error) {
	r.calls = append(r.calls, c)
	r.invocations = append(r.invocations, Invocation(ctx))
	if n := len(r.calls); n <= len(r.errs) && r.errs[n-1] != nil {
		return nil, r.errs[n-1]
	}
	if _, ok := c.Input.(*dynamodb.TransactWriteItemsInput); ok {
		return &dynamodb.TransactWriteItemsOutput{}, nil
	}
	return &dynamodb.GetItemOutput{}, nil
}

func getRow(ctx context.Context, c *dynamodb.Client, optFns ...func(*dynamodb.Options)) error {
	_, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: rowKey("META")}, optFns...)
	return err
}

func TestClientActor(t *testing.T) {
	static := func(o *dynamodb.Options) {
		o.Credentials = credentials.NewStaticCredentialsProvider("AKID", "secret", "")
	}
	tests := []struct {
		name           string
		client, onCall []func(*dynamodb.Options)
		want           string
	}{
		{"no actor", nil, nil, ""},
		{"client", []func(*dynamodb.Options){WithActor("alice")}, nil, "alice"},
		{"call", nil, []func(*dynamodb.Options){WithActor("bob")}, "bob"},
		{"call over client", []func(*dynamodb.Options){WithActor("alice")},
			[]func(*dynamodb.Options){WithActor("bob")}, "bob"},
		{"credentials", []func(*dynamodb.Options){static}, nil, "AKID"},
		{"odd name", []func(*dynamodb.Options){WithActor("node 1/2, ключ")}, nil, "node 1/2, ключ"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var r recorder
			must.OK(t, getRow(t.Context(), NewClient(r.do, test.client...), test.onCall...))
			if got := r.calls[0].Actor; got != test.want {
				t.Errorf("got actor %q, want %q", got, test.want)
			}
		})
	}
}

// Transport serves a client that the user has made: an http.Client around it, a signature, the SDK's random ids.
func TestTransport(t *testing.T) {
	var r recorder
	client := dynamodb.New(dynamodb.Options{
		Region:      "eu-west-1",
		Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", "session"),
		HTTPClient:  &http.Client{Transport: Transport(r.do)},
	})
	must.OK(t, getRow(t.Context(), client))
	if len(r.calls) != 1 || r.calls[0].Actor != "AKID" || r.invocations[0] == "" {
		t.Errorf("got calls %v with invocations %q, want one call by AKID, with an invocation", r.calls, r.invocations)
	}
	in := &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: rowKey("META")}
	if diff := cmp.Diff(in, r.calls[0].Input, sdktest.Equal); diff != "" {
		t.Errorf("input (-sent +received):\n%s", diff)
	}

	tooLarge := &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: map[string]types.AttributeValue{
		"v": &types.AttributeValueMemberS{Value: strings.Repeat("x", httpbody.MaxBytes)},
	}}
	_, err := client.PutItem(t.Context(), tooLarge)
	var status interface{ HTTPStatusCode() int }
	if !errors.As(err, &status) || status.HTTPStatusCode() != http.StatusRequestEntityTooLarge {
		t.Errorf("a body over the limit: got %v, want status 413", err)
	}

	client = NewClient(func(context.Context, Call) (any, error) { return "nonsense", nil })
	if err := getRow(t.Context(), client); err == nil || !strings.Contains(err.Error(), "string") {
		t.Errorf("a do that answers nonsense: got %v, want an error that names its type", err)
	}
}

// The ids that a client generates are the same in every run, differ between clients, and are the same in all attempts
// of a call.
func TestClientIDs(t *testing.T) {
	transact := func(c *dynamodb.Client, token *string) {
		t.Helper()
		_, err := c.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
			ClientRequestToken: token,
			TransactItems: []types.TransactWriteItem{
				{Put: &types.Put{TableName: aws.String("cache"), Item: rowKey("META")}},
			},
		})
		must.OK(t, err)
	}
	run := func() (tokens, invocations []string) {
		db := New(Options{})
		var r recorder
		for range 2 {
			id := db.clients.Add(1)
			c := NewClient(r.do, WithClientID(id))
			r.errs = append(slices.Repeat([]error{nil}, len(r.calls)), &NetworkError{})
			transact(c, nil)
			transact(c, nil)
			transact(c, aws.String("mine"))
		}
		for _, call := range r.calls {
			tokens = append(tokens, *call.Input.(*dynamodb.TransactWriteItemsInput).ClientRequestToken)
		}
		return tokens, r.invocations
	}
	const a, b = "00000001-0000-4000-8000-", "00000002-0000-4000-8000-"
	wantTokens := []string{
		a + "000000000001", a + "000000000001", a + "000000000002", "mine",
		b + "000000000001", b + "000000000001", b + "000000000002", "mine",
	}
	wantInvocations := []string{
		a + "000000000001", a + "000000000001", a + "000000000002", a + "000000000003",
		b + "000000000001", b + "000000000001", b + "000000000002", b + "000000000003",
	}
	for range 2 {
		tokens, invocations := run()
		if diff := cmp.Diff(wantTokens, tokens); diff != "" {
			t.Errorf("tokens (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(wantInvocations, invocations); diff != "" {
			t.Errorf("invocations (-want +got):\n%s", diff)
		}
	}

	var r recorder
	transact(NewClient(r.do), nil)
	transact(NewClient(r.do), nil)
	first := *r.calls[0].Input.(*dynamodb.TransactWriteItemsInput).ClientRequestToken
	second := *r.calls[1].Input.(*dynamodb.TransactWriteItemsInput).ClientRequestToken
	if first == second {
		t.Errorf("two clients of NewClient made up the same token %s", first)
	}
}

// Retries are the same as in the SDK's standard mode, and take no time.
func TestRetryer(t *testing.T) {
	own := errors.New("the simulator's own")
	throttled := &types.ProvisionedThroughputExceededException{Message: aws.String("slow down")}
	server := &types.InternalServerError{Message: aws.String("oops")}
	lost := &NetworkError{Operation: "GetItem"}
	conflict := &types.TransactionConflictException{Message: aws.String("conflict")}
	tests := []struct {
		name     string
		attempts int
		errs     []error
		calls    int
		want     error
	}{
		{"throttled twice", 3, []error{throttled, throttled}, 3, nil},
		{"throttled thrice", 3, []error{throttled, throttled, throttled}, 3, throttled},
		{"status 500", 3, []error{server}, 2, nil},
		{"lost", 3, []error{lost, lost}, 3, nil},
		{"lost, one attempt", 1, []error{lost}, 1, lost},
		{"lost, five attempts", 5, []error{lost, lost, lost, lost}, 5, nil},
		{"zero attempts mean the default", 0, []error{lost, lost, lost}, 3, lost},
		{"validation", 3, []error{invalid("no")}, 1, invalid("no")},
		{"condition", 3, []error{conditionFailed(nil)}, 1, conditionFailed(nil)},
		{"conflict", 3, []error{conflict}, 1, conflict},
		{"an error that is none of the service's", 3, []error{own, own, own}, 3, own},
	}
	for _, env := range []string{"", "true"} {
		t.Setenv("AWS_NEW_RETRIES_2026", env) // must make no difference
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					start := time.Now() //nolint:forbidigo // the clock of the bubble
					r := recorder{errs: test.errs}
					err := getRow(t.Context(),
						NewClient(r.do, func(o *dynamodb.Options) { o.Retryer = Retryer(test.attempts) }))
					if len(r.calls) != test.calls {
						t.Errorf("got %d calls, want %d", len(r.calls), test.calls)
					}
					if errors.Is(test.want, own) {
						if !errors.Is(err, own) {
							t.Errorf("got %v, want an error that wraps %v", err, own)
						}
					} else if got, want := describe(err), describe(test.want); got.Code != want.Code ||
						got.Message != want.Message {
						t.Errorf("got  %v\nwant %v", got, want)
					}
					if elapsed := time.Since(start); elapsed != 0 { //nolint:forbidigo // the clock of the bubble
						t.Errorf("took %s, want no time", elapsed)
					}
				})
			})
		}
	}
}

// There are no retries for a caller whose context is done.
func TestRetryStopsWithTheContext(t *testing.T) {
	for range 20 { // repeated, because the SDK's select could choose at random
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		err := getRow(ctx, NewClient(func(context.Context, Call) (any, error) {
			calls++
			cancel()
			return nil, &types.InternalServerError{Message: aws.String("oops")}
		}))
		var server *types.InternalServerError
		if calls != 1 || !errors.Is(err, context.Canceled) || !errors.As(err, &server) {
			t.Fatalf("got %d calls and %v, want one call and both its error and the context's", calls, err)
		}
	}
}

// A transport calls `do` in the goroutine of its caller: a coroutine may switch inside it, which panics in any other
// goroutine.
func TestClientInCoroutine(t *testing.T) {
	next, stop := iter.Pull(func(yield func(string) bool) {
		client := NewClient(func(_ context.Context, c Call) (any, error) {
			yield(inputName(c.Input))
			return &dynamodb.GetItemOutput{}, nil
		})
		for range 2 {
			if err := getRow(context.Background(), client); err != nil {
				t.Error(err)
			}
		}
	})
	defer stop()
	for i := range 2 {
		if got, ok := next(); !ok || got != "GetItem" {
			t.Errorf("call %d: got %q, %t, want GetItem", i, got, ok)
		}
	}
	if _, ok := next(); ok {
		t.Error("the coroutine did not end")
	}
}

// Two goroutines in a bubble, each with a client: requests are parked, and released in an order that the test chooses.
func TestClientInSynctest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := New(Options{})
		createTable(t, db, "cache")
		type parked struct {
			actor   string
			release chan struct{}
		}
		requests := make(chan parked, 2)
		park := func(ctx context.Context, c Call) (any, error) {
			p := parked{c.Actor, make(chan struct{})}
			requests <- p
			<-p.release
			return db.Do(ctx, c)
		}
		results := map[string]error{}
		done := make(chan string)
		for _, actor := range []string{"alice", "bob"} {
			client := NewClient(park, WithActor(actor))
			go func() {
				_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{
					TableName:           aws.String("cache"),
					Item:                rowKey("LOCK"),
					ConditionExpression: aws.String("attribute_not_exists(pk)"),
				})
				results[actor] = err
				done <- actor
			}()
		}
		synctest.Wait()
		waiting := map[string]parked{}
		for range 2 {
			p := <-requests
			waiting[p.actor] = p
		}
		for _, actor := range []string{"bob", "alice"} {
			close(waiting[actor].release)
			if got := <-done; got != actor {
				t.Errorf("got an answer for %s, want one for %s", got, actor)
			}
		}
		var lost *types.ConditionalCheckFailedException
		if results["bob"] != nil || !errors.As(results["alice"], &lost) {
			t.Errorf("bob came first: got %v for bob, %v for alice", results["bob"], results["alice"])
		}
	})
}

// If the response is lost after the commit, the SDK's own retry of a conditional put finds its own write.
func TestLostResponseOfConditionalPut(t *testing.T) {
	db := New(Options{})
	createTable(t, db, "cache")
	lock := rowKey("LOCK")
	lock["lease_token"] = &types.AttributeValueMemberS{Value: "mine"}
	in := &dynamodb.PutItemInput{
		TableName:                           aws.String("cache"),
		Item:                                lock,
		ConditionExpression:                 aws.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	db.Inject(Fault{Kind: FaultResponseLost, Op: "PutItem", Actor: "alice"})
	_, err := db.Client(WithActor("alice")).PutItem(t.Context(), in)

	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) {
		t.Fatalf("got %v, want a ConditionalCheckFailedException", err)
	}
	if diff := cmp.Diff(lock, failed.Item, sdktest.Equal); diff != "" {
		t.Errorf("the caller's own lock in the error (-want +got):\n%s", diff)
	}
	if changes := db.Changes(); len(changes) != 1 || changes[0].Actor != "alice" {
		t.Errorf("got changes %v, want one, by alice", changes)
	}

	db.Inject(Fault{Kind: FaultResponseLost, Op: "PutItem"})
	_, err = db.Client(func(o *dynamodb.Options) { o.Retryer = Retryer(1) }).PutItem(t.Context(),
		&dynamodb.PutItemInput{TableName: aws.String("cache"), Item: rowKey("META")})
	if network, ok := errors.AsType[*NetworkError](err); !ok || !network.ResponseLost {
		t.Errorf("without retries: got %v, want the NetworkError of the lost response", err)
	}
}

// A lost response of a transaction is harmless: the retry carries the same token.
func TestLostResponseOfTransaction(t *testing.T) {
	db := New(Options{})
	createTable(t, db, "cache")
	db.Inject(Fault{Kind: FaultResponseLost, Op: "TransactWriteItems"})
	_, err := db.Client().TransactWriteItems(t.Context(),
		&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: aws.String("cache"), Item: rowKey("META"),
				ConditionExpression: aws.String("attribute_not_exists(pk)")}},
		}})
	if err != nil {
		t.Error(err)
	}
	if n := len(db.Changes()); n != 1 {
		t.Errorf("got %d changes, want 1", n)
	}
}

func createTable(t testing.TB, db *DB, name string) {
	t.Helper()
	_, err := db.As("").CreateTable(context.Background(), createInput(name))
	must.OK(t, err)
}

func createInput(name string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName:   aws.String(name),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	}
}

// failure is the part of an error that a caller can see.
type failure struct {
	Type, Code, Message string
	Item                map[string]types.AttributeValue
	Reasons             []types.CancellationReason
}

func describe(err error) failure {
	var f failure
	if err == nil {
		return f
	}
	f.Message = err.Error()
	var api smithy.APIError
	var condition *types.ConditionalCheckFailedException
	var cancelled *types.TransactionCanceledException
	var network *NetworkError
	switch {
	case errors.As(err, &api):
		f.Type, f.Code, f.Message = fmt.Sprintf("%T", api), api.ErrorCode(), api.ErrorMessage()
	case errors.As(err, &network):
		f.Type, f.Code, f.Message = fmt.Sprintf("%T", network), "network", network.Error()
	}
	if errors.As(err, &condition) {
		f.Item = condition.Item
	}
	if errors.As(err, &cancelled) {
		f.Reasons = cancelled.CancellationReasons
	}
	return f
}
