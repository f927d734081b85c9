package ddbfake_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

func TestFaultText(t *testing.T) {
	for _, tc := range []struct {
		text string
		want ddbfake.Fault
	}{
		{"throttled", ddbfake.Fault{Kind: ddbfake.FaultThrottled}},
		{"response-lost op=TransactWriteItems actor=alice nth=2",
			ddbfake.Fault{Kind: ddbfake.FaultResponseLost, Op: "TransactWriteItems", Actor: "alice", Nth: 2}},
		{"throttled op=PutItem table=cache key=LOCK times=2",
			ddbfake.Fault{Kind: ddbfake.FaultThrottled, Op: "PutItem", Table: "cache", Key: "LOCK", Times: 2}},
		{`error-before key="two words" actor="say \"hi\"" times=always`,
			ddbfake.Fault{Kind: ddbfake.FaultErrorBefore, Key: "two words", Actor: `say "hi"`, Times: ddbfake.Always}},
		{"request-lost key=a=b*", ddbfake.Fault{Kind: ddbfake.FaultRequestLost, Key: "a=b*"}},
		{"conflict op=TransactWriteItems key=LOCK",
			ddbfake.Fault{Kind: ddbfake.FaultConflict, Op: "TransactWriteItems", Key: "LOCK"}},
		{"error-after nth=3 times=4", ddbfake.Fault{Kind: ddbfake.FaultErrorAfter, Nth: 3, Times: 4}},
	} {
		got, err := ddbfake.ParseFault(tc.text)
		if err != nil || got != tc.want {
			t.Errorf("%s: got %+v, %v, want %+v", tc.text, got, err, tc.want)
		}
		if got.String() != tc.text {
			t.Errorf("prints as %s, want %s", got, tc.text)
		}
	}
	// Defaults may be written out, in any order and spacing.
	got, err := ddbfake.ParseFault("  throttled\ttimes=1  nth=1 ")
	if err != nil || got.String() != "throttled" {
		t.Errorf("got %v, %v, want throttled", got, err)
	}
}

func TestFaultTextErrors(t *testing.T) {
	const kinds = "throttled, request-lost, response-lost, error-before, error-after, conflict, duplicate, " +
		"stale-read, unprocessed, short-page"
	for _, tc := range []struct{ text, want string }{
		{"", `fault "" is empty: want a kind (` + kinds + `)`},
		{"lost", `fault "lost": found "lost", want a kind (` + kinds + `)`},
		{"throttled PutItem",
			`fault "throttled PutItem": found "PutItem", want name=value with a name of op, table, key, actor, nth, times`},
		{"throttled who=alice",
			`fault "throttled who=alice": found "who", want one of op, table, key, actor, nth, times`},
		{"throttled op=", `fault "throttled op=": op has no value`},
		{"throttled op=Query op=Scan", `fault "throttled op=Query op=Scan": op is given twice`},
		{"throttled nth=0", `fault "throttled nth=0": found nth=0, want a whole number from 1`},
		{"throttled times=never",
			`fault "throttled times=never": found times=never, want a whole number from 1, or always`},
		{"throttled op=PutItm",
			`fault "throttled op=PutItm": found op=PutItm, want a supported operation, perhaps PutItem`},
		{"throttled op=ImportTable",
			`fault "throttled op=ImportTable": found op=ImportTable, want a supported operation such as PutItem`},
		{`throttled key="open`, `fault "throttled key=\"open": found "open, want a closing quote`},
		{`throttled key="a"b`, `fault "throttled key=\"a\"b": found b after a quoted value, want a space`},
	} {
		if _, err := ddbfake.ParseFault(tc.text); err == nil || err.Error() != tc.want {
			t.Errorf("got  %v\nwant %s", err, tc.want)
		}
	}
}

// TestFaultKinds checks what the caller gets under each kind, and whether the call took effect.
func TestFaultKinds(t *testing.T) {
	for _, tc := range []struct {
		kind   ddbfake.FaultKind
		put    string // what a put answers
		writes string // what a transaction answers
		effect bool
	}{
		{ddbfake.FaultThrottled, "ThrottlingException", "TransactionCanceledException", false},
		{ddbfake.FaultRequestLost, "not an API error", "not an API error", false},
		{ddbfake.FaultResponseLost, "not an API error", "not an API error", true},
		{ddbfake.FaultErrorBefore, "InternalServerError", "InternalServerError", false},
		{ddbfake.FaultErrorAfter, "InternalServerError", "InternalServerError", true},
		{ddbfake.FaultConflict, "TransactionConflictException", "TransactionCanceledException", false},
	} {
		t.Run(tc.kind.String(), func(t *testing.T) {
			w := newWorld(t, ddbfake.LagManual)
			w.db.Inject(ddbfake.Fault{Kind: tc.kind, Times: 2})
			_, err := w.c.PutItem(t.Context(),
				&dynamodb.PutItemInput{TableName: aws.String("cache"), Item: key("a", "put")})
			if got, message := code(err); got != tc.put {
				t.Errorf("PutItem: got %s (%s), want %s", got, message, tc.put)
			}
			_, err = w.c.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
				TransactItems: []types.TransactWriteItem{putAction(key("a", "written"))},
			})
			if got, message := code(err); got != tc.writes {
				t.Errorf("TransactWriteItems: got %s (%s), want %s", got, message, tc.writes)
			}
			want := 0
			if tc.effect {
				want = 2
			}
			if got := len(w.db.Items("cache")); got != want {
				t.Errorf("got %d rows, want %d", got, want)
			}
			// The fault is spent.
			w.put(key("a", "after"))
			if got := w.db.Injected(); len(got) != 0 {
				t.Errorf("faults still wait: %v", got)
			}
		})
	}
}

// Lost requests and lost responses look the same to the caller, and the SDK's retryers retry them.
func TestNetworkError(t *testing.T) {
	var texts []string
	for _, kind := range []ddbfake.FaultKind{ddbfake.FaultRequestLost, ddbfake.FaultResponseLost} {
		w := newWorld(t, ddbfake.LagManual)
		_, err := w.db.Do(t.Context(), ddbfake.Call{
			Input: &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: key("a", "b")}, Fault: &ddbfake.Fault{
				Kind: kind,
			},
		})
		var lost *ddbfake.NetworkError
		if !errors.As(err, &lost) || lost.ResponseLost != (kind == ddbfake.FaultResponseLost) ||
			lost.Operation != "PutItem" {
			t.Errorf("%v: got %#v", kind, err)
		}
		if timeout, ok := errors.AsType[net.Error](err); !ok || !timeout.Timeout() {
			t.Errorf("%v: not a net.Error that timed out", kind)
		}
		if !retry.NewStandard().IsErrorRetryable(err) {
			t.Errorf("%v: the SDK would not retry", kind)
		}
		if _, ok := errors.AsType[smithy.APIError](err); ok {
			t.Errorf("%v: an answer of the service", kind)
		}
		texts = append(texts, err.Error())
	}
	if texts[0] != texts[1] {
		t.Errorf("got %q and %q, want no difference", texts[0], texts[1])
	}
}

func TestFaultPredicates(t *testing.T) {
	query := &dynamodb.QueryInput{
		TableName: aws.String("cache"), KeyConditionExpression: aws.String("pk = :p AND sk = :s"),
		ExpressionAttributeValues: values{":p": s("a"), ":s": s("LOCK")},
	}
	part := &dynamodb.QueryInput{
		TableName: aws.String("cache"), KeyConditionExpression: aws.String("pk = :p AND sk > :s"),
		ExpressionAttributeValues: values{":p": s("a"), ":s": s("LOCK")},
	}
	span := &dynamodb.QueryInput{
		TableName: aws.String("cache"), KeyConditionExpression: aws.String("pk = :p AND sk BETWEEN :s AND :t"),
		ExpressionAttributeValues: values{":p": s("a"), ":s": s("LOCK"), ":t": s("META")},
	}
	transaction := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		putAction(key("a", "META")), deleteAction(key("a", "LOCK")),
	}}
	get := func(table, pk, sk string) *dynamodb.GetItemInput {
		return &dynamodb.GetItemInput{TableName: &table, Key: key(pk, sk)}
	}
	number := &dynamodb.GetItemInput{TableName: aws.String("log"), Key: values{"pk": s("a"), "at": n("1.50")}}
	for _, tc := range []struct {
		fault string
		in    any
		want  bool
	}{
		{"error-before", get("cache", "a", "LOCK"), true},
		{"error-before op=GetItem", get("cache", "a", "LOCK"), true},
		{"error-before op=PutItem", get("cache", "a", "LOCK"), false},
		{"error-before actor=alice", get("cache", "a", "LOCK"), true},
		{"error-before actor=bob", get("cache", "a", "LOCK"), false},
		{"error-before table=cache", get("arn:aws:dynamodb:us-east-1:000000000000:table/cache", "a", "LOCK"), true},
		{"error-before table=log", get("cache", "a", "LOCK"), false},
		{"error-before key=LOCK", get("cache", "a", "LOCK"), true},
		{"error-before key=a", get("cache", "a", "LOCK"), true},
		{"error-before key=LOC", get("cache", "a", "LOCK"), false},
		{"error-before key=LOC*", get("cache", "a", "LOCK"), true},
		{"error-before key=1.5", number, true},
		{"error-before key=LOCK", query, true},
		{"error-before key=LOCK", part, false},
		{"error-before key=a", part, true},
		{"error-before key=LOCK", span, false},
		{"error-before key=META", transaction, true},
		{"error-before table=cache key=LOCK op=TransactWriteItems", transaction, true},
		{"error-before key=VER#1", transaction, false},
		{"error-before table=cache", &dynamodb.DescribeTableInput{TableName: aws.String("cache")}, true},
		{"error-before table=cache", &dynamodb.ListTablesInput{}, false},
	} {
		w := newWorld(t, ddbfake.LagManual)
		table(t, w.db, "log", "pk", "S", "at", "N")
		fault, err := ddbfake.ParseFault(tc.fault)
		must.OK(t, err)
		w.db.Inject(fault)
		_, err = w.db.Do(t.Context(), ddbfake.Call{Actor: "alice", Input: tc.in})
		got, _ := code(err)
		if (got == "InternalServerError") != tc.want {
			t.Errorf("%s on %T: got %v, want hit: %v", tc.fault, tc.in, err, tc.want)
		}
	}
}

// Which of six equal calls does each fault hit?
func TestFaultCounters(t *testing.T) {
	for _, tc := range []struct {
		faults []string
		want   string
	}{
		{[]string{"error-before"}, "x....."},
		{[]string{"error-before nth=3"}, "..x..."},
		{[]string{"error-before nth=2 times=3"}, ".xxx.."},
		{[]string{"error-before times=always"}, "xxxxxx"},
		{[]string{"error-before nth=5 times=always"}, "....xx"},
		{[]string{"error-before", "error-before"}, "xx...."},
		{[]string{"error-before nth=2", "error-before nth=2"}, ".xx..."},
		{[]string{"error-before op=PutItem"}, "......"},
	} {
		w := newWorld(t, ddbfake.LagManual)
		for _, text := range tc.faults {
			fault := must.Of(ddbfake.ParseFault(text))(t)
			w.db.Inject(fault)
		}
		got := ""
		for range 6 {
			_, err := w.c.GetItem(t.Context(),
				&dynamodb.GetItemInput{TableName: aws.String("cache"), Key: key("a", "b")})
			if err != nil {
				got += "x"
			} else {
				got += "."
			}
		}
		if got != tc.want {
			t.Errorf("%v: got %s, want %s", tc.faults, got, tc.want)
		}
		w.db.ClearFaults()
		w.get(key("a", "b"))
	}
}

// A fault given with the call strikes whatever its predicates are, and injected ones do not see the call.
func TestFaultOfCall(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.db.Inject(ddbfake.Fault{Kind: ddbfake.FaultThrottled})
	_, err := w.db.Do(t.Context(), ddbfake.Call{
		Input: &dynamodb.ListTablesInput{}, Fault: &ddbfake.Fault{Kind: ddbfake.FaultErrorBefore, Op: "PutItem"},
	})
	if got, _ := code(err); got != "InternalServerError" || len(w.db.Injected()) != 1 {
		t.Errorf("got %v and %v, want the call's own fault", err, w.db.Injected())
	}
}

// A fault injected with a bad kind is not ignored: every caller gets an error, even through a client that retries.
func TestAFaultWithoutAKindIsSaidToBeNone(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	for _, kind := range []ddbfake.FaultKind{0, ddbfake.FaultShortPage + 1, 255} {
		w.db.Inject(ddbfake.Fault{Kind: kind, Op: "ListTables"})
		for range 2 {
			_, err := w.db.Client().ListTables(t.Context(), &dynamodb.ListTablesInput{})
			none, ok := errors.AsType[*ddbfake.NotAFaultError](err)
			if !ok || none.Fault.Kind != kind {
				t.Errorf("kind %d: got %v, want a *NotAFaultError", kind, err)
			}
			if want := fmt.Sprintf(
				"found a fault of the kind %d, expected Fault.Kind to be one of FaultKinds (throttled, ", kind,
			); ok && !strings.Contains(none.Error(), want) {
				t.Errorf("the error reads %q, want %q in it", none, want)
			}
		}
		if _, err := w.db.Client().DescribeLimits(t.Context(), &dynamodb.DescribeLimitsInput{}); err != nil {
			t.Errorf("a call that the predicates do not match: %v", err)
		}
		w.db.ClearFaults()
		if _, err := w.db.Client().ListTables(t.Context(), &dynamodb.ListTablesInput{}); err != nil {
			t.Errorf("after ClearFaults: %v", err)
		}
		_, err := w.db.Do(t.Context(),
			ddbfake.Call{Input: &dynamodb.ListTablesInput{}, Fault: &ddbfake.Fault{Kind: kind}})
		if _, ok := errors.AsType[*ddbfake.NotAFaultError](err); !ok {
			t.Errorf("as a call's own fault: %v, want a *NotAFaultError", err)
		}
	}
}

// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html#API_TransactWriteItems_Errors
func TestThrottledTransaction(t *testing.T) {
	const message = "ThrottlingError: Throughput exceeds the current capacity of your table or index. " +
		"DynamoDB is automatically scaling your table or index so please try again shortly. " +
		"If exceptions persist, check if you have a hot key: " +
		"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
	for _, tc := range []struct {
		fault string
		want  []string
	}{
		{"throttled", []string{message, message}},
		{"throttled key=LOCK", []string{"None", message}},
	} {
		w := newWorld(t, ddbfake.LagManual)
		fault, err := ddbfake.ParseFault(tc.fault)
		must.OK(t, err)
		w.db.Inject(fault)
		_, err = w.c.TransactWriteItems(t.Context(),
			&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				putAction(key("a", "META")), deleteAction(key("a", "LOCK")),
			}})
		if d := cmp.Diff(tc.want, reasons(t, err)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.fault, d)
		}
	}
}

// A context that is done refuses a call before it takes effect.
func TestContext(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.c.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: key("a", "b")})
	if !errors.Is(err, context.Canceled) || len(w.db.Items("cache")) != 0 {
		t.Errorf("got %v, want context.Canceled and no effect", err)
	}
}

func TestUnsupported(t *testing.T) {
	db := ddbfake.New(ddbfake.Options{})
	for _, tc := range []struct {
		in   any
		want string
	}{
		{&dynamodb.ImportTableInput{}, "ddbfake does not support the operation ImportTable"},
		{"PutItem", "ddbfake does not support the operation input of type string"},
		{nil, "ddbfake does not support the operation a nil input"},
	} {
		_, err := db.Do(t.Context(), ddbfake.Call{Input: tc.in})
		wantError(t, err, "UnknownOperationException", tc.want)
		if _, ok := errors.AsType[*ddbfake.UnsupportedError](err); !ok {
			t.Errorf("got %T, want *UnsupportedError", err)
		}
	}
	_, err := db.Do(t.Context(), ddbfake.Call{Input: (*dynamodb.PutItemInput)(nil)})
	wantError(t, err, validation,
		"2 validation errors detected: Value null at 'tableName' failed to satisfy constraint: Member must "+
			"not be null; Value null at 'item' failed to satisfy constraint: Member must not be null")
	if got := ddbfake.Operations(); !slices.IsSorted(got) || !slices.Contains(got, "PutItem") {
		t.Errorf("operations: got %v, want them sorted", got)
	}
}

// Errors of the engine have the namespace of their type on the wire.
func TestErrorsOnTheWire(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.put(key("a", "b"))
	for _, tc := range []struct {
		target, body string
		fault        ddbfake.FaultKind
		status       int
		kind         string
	}{
		{"DynamoDB_20120810.GetItem", `{}`, 0, 400, "com.amazon.coral.validate#ValidationException"},
		{"DynamoDB_20120810.ImportTable", `{}`, 0, 400, "com.amazon.coral.service#UnknownOperationException"},
		{"DynamoDB_20120810.DescribeTable", `{"TableName":"nowhere"}`, 0, 400,
			"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"},
		{"DynamoDB_20120810.ListTables", `{}`, ddbfake.FaultErrorBefore, 500,
			"com.amazonaws.dynamodb.v20120810#InternalServerError"},
		{"DynamoDB_20120810.TransactWriteItems",
			`{"TransactItems":[{"Put":{"TableName":"cache","Item":{"pk":{"S":"a"},"sk":{"S":"b"}},
			"ConditionExpression":"attribute_not_exists(pk)"}}]}`, 0, 400,
			"com.amazonaws.dynamodb.v20120810#TransactionCanceledException"},
	} {
		if tc.fault != 0 {
			w.db.Inject(ddbfake.Fault{Kind: tc.fault})
		}
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(tc.body))
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header.Set("X-Amz-Target", tc.target)
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=a/20400101/us-east-1/dynamodb/aws4_request")
		got := httptest.NewRecorder()
		w.db.Handler().ServeHTTP(got, r)
		var answer struct {
			Type    string `json:"__type"`
			Lower   string `json:"message"`
			Capital string `json:"Message"`
		}
		must.OK(t, json.Unmarshal(got.Body.Bytes(), &answer))
		if got.Code != tc.status || answer.Type != tc.kind || answer.Lower+answer.Capital == "" {
			t.Errorf("%s: got %d %s, want %d %s", tc.target, got.Code, got.Body, tc.status, tc.kind)
		}
	}
}
