package trace_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/trace/describe"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// known has the pages by the partition keys of their rows.
type known map[string]string

func (k known) NameOf(pk string) (string, bool) {
	name, ok := k[pk]
	return name, ok
}

// An unknown page is named by its partition key, and so is every page without Pages.
func TestPagesAreCalledByTheirNamesWhereTheseAreKnown(t *testing.T) {
	get := func(pk string) any {
		return &dynamodb.GetItemInput{Key: pagecache.Key(pk, isr.SortMeta), ConsistentRead: aws.Bool(true)}
	}
	pages := known{"CACHE#1": "/home"}
	for _, test := range []struct {
		pages describe.Pages
		pk    string
		want  string
	}{
		{pages, "CACHE#1", "GetItem META of /home"},
		{pages, "CACHE#2", "GetItem META of CACHE#2"},
		{nil, "CACHE#1", "GetItem META of CACHE#1"},
	} {
		if got := (describe.Words{Start: fakeclock.Epoch, Pages: test.pages}).Input(get(test.pk)); got != test.want {
			t.Errorf("pages %v: got %q, want %q", test.pages, got, test.want)
		}
	}
}

func TestAChangeIsOneLine(t *testing.T) {
	clock := fakeclock.New(fakeclock.Epoch)
	db := ddbfake.New(ddbfake.Options{Clock: clock, Lag: ddbfake.LagManual})
	ctx := context.Background()
	table := aws.String("cache")
	for _, create := range []func() error{
		func() error { _, err := db.As("").CreateTable(ctx, isr.TableInput(*table)); return err },
		func() error { _, err := db.As("").UpdateTimeToLive(ctx, isr.TTLInput(*table)); return err },
	} {
		must.OK(t, create())
	}
	clock.Advance(1500*time.Millisecond + 7*time.Microsecond)
	lock := pagecache.Key("CACHE#1", isr.SortLock)
	number := func(n string) types.AttributeValue { return &types.AttributeValueMemberN{Value: n} }
	lock["lease_token"] = &types.AttributeValueMemberS{Value: "alice-1"}
	expires := strconv.FormatInt(fakeclock.Epoch.Add(10*time.Second).Unix(), 10)
	lock["lease_expires_at"], lock["ttl"] = number(expires), number(expires)
	must.Done(t)(db.As("alice").PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: lock}))
	clock.Advance(time.Hour)
	for _, row := range db.Expired() {
		db.Sweep(row)
	}
	want := []string{
		"+1.5s       alice     LOCK of CACHE#1: absent => token alice-1 until +10s",
		"+1h0m1.5s   ttl       LOCK of CACHE#1: token alice-1 until +10s => absent (by TTL)",
	}
	changes := db.Changes()
	if len(changes) != len(want) {
		t.Fatalf("%d changes, want %d", len(changes), len(want))
	}
	for i, c := range changes {
		if got := describe.Change(c, fakeclock.Epoch, nil); got != want[i] {
			t.Errorf("change %d\n got %q\nwant %q", i+1, got, want[i])
		}
	}
}

func TestAnAnswerIsWhatItsCallerGetsToKnow(t *testing.T) {
	words := describe.Words{Start: fakeclock.Epoch, Pages: known{"CACHE#1": "/home"}}
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	now := &types.AttributeValueMemberN{Value: strconv.FormatInt(fakeclock.Epoch.Unix(), 10)}
	meta := map[string]types.AttributeValue{"pk": text("CACHE#1"), "sk": text("META"), "s3_key": text("b"),
		"generated_at": now, "revalidate_seconds": &types.AttributeValueMemberN{Value: "5"}}
	lock := map[string]types.AttributeValue{
		"pk": text("CACHE#1"), "sk": text("LOCK"), "lease_token": text("a"), "lease_expires_at": now,
	}
	key := func(item map[string]types.AttributeValue) map[string]types.AttributeValue {
		return map[string]types.AttributeValue{"pk": item["pk"], "sk": item["sk"]}
	}
	// Batches are maps: their tables come in the order of their names.
	reads := map[string]types.KeysAndAttributes{
		"two": {Keys: []map[string]types.AttributeValue{key(lock)}},
		"one": {Keys: []map[string]types.AttributeValue{key(meta)}, ConsistentRead: new(true)},
	}
	writes := map[string][]types.WriteRequest{
		"two": {{DeleteRequest: &types.DeleteRequest{Key: key(lock)}}},
		"one": {{PutRequest: &types.PutRequest{Item: meta}}},
	}
	for in, want := range map[any]string{
		&dynamodb.BatchGetItemInput{
			RequestItems: reads,
		}: "BatchGetItem [META of /home; LOCK of /home (eventually consistent)]",
		&dynamodb.BatchWriteItemInput{
			RequestItems: writes,
		}: "BatchWriteItem [Put META of /home body b generated +0s fresh until +5s; Delete LOCK of /home]",
		&dynamodb.TransactGetItemsInput{
			TransactItems: []types.TransactGetItem{{Get: &types.Get{Key: key(lock)}}, {}},
		}: "TransactGetItems [LOCK of /home; ]",
	} {
		if got := words.Input(in); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, test := range []struct {
		out  any
		err  error
		want string
	}{
		{&dynamodb.GetItemOutput{}, nil, "absent"},
		{&dynamodb.PutItemOutput{}, nil, "ok"},
		{nil, &ddbfake.NetworkError{Operation: "PutItem"}, "connection lost"},
		{nil, &types.ProvisionedThroughputExceededException{}, "ProvisionedThroughputExceededException"},
		{nil, &types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{
			{Code: aws.String("None")}, {Code: aws.String("ConditionalCheckFailed")},
		}}, "TransactionCanceledException [None, ConditionalCheckFailed]"},
		{nil, errors.New("something else"), "something else"},
		{&dynamodb.TransactGetItemsOutput{Responses: []types.ItemResponse{{Item: lock}, {}}}, nil,
			"[LOCK token a until +0s; absent]"},
		{&dynamodb.BatchGetItemOutput{
			Responses: map[string][]map[string]types.AttributeValue{"two": {meta}, "one": {lock}},
		}, nil,
			"[LOCK token a until +0s; META body b generated +0s fresh until +5s]"},
		{&dynamodb.BatchGetItemOutput{UnprocessedKeys: reads}, nil,
			"[], undone: [META of /home; LOCK of /home (eventually consistent)]"},
		{&dynamodb.BatchWriteItemOutput{}, nil, "ok"},
		{&dynamodb.BatchWriteItemOutput{UnprocessedItems: writes}, nil,
			"ok, undone: [Put META of /home; Delete LOCK of /home]"},
	} {
		if got := words.Outcome(test.out, test.err); got != test.want {
			t.Errorf("%T %v: got %q, want %q", test.out, test.err, got, test.want)
		}
	}
}

func TestAStatementIsSaidWithItsParameters(t *testing.T) {
	words := describe.Words{Start: fakeclock.Epoch, Pages: known{"CACHE#1": "/home"}}
	read := aws.String("SELECT * FROM cache WHERE pk = ? AND ttl > ?")
	parameters := []types.AttributeValue{
		&types.AttributeValueMemberS{Value: "CACHE#1"},
		&types.AttributeValueMemberN{Value: strconv.FormatInt(fakeclock.Epoch.Unix()+5, 10)},
	}
	write := aws.String("DELETE FROM cache WHERE pk = 'a'")
	for _, test := range []struct {
		in   any
		want string
	}{
		{&dynamodb.ExecuteStatementInput{Statement: read, Parameters: parameters},
			"ExecuteStatement " + *read + " {/home +5s}"},
		{&dynamodb.ExecuteStatementInput{Statement: write}, "ExecuteStatement " + *write},
		{&dynamodb.BatchExecuteStatementInput{
			Statements: []types.BatchStatementRequest{{Statement: write}, {Statement: write}},
		},
			"BatchExecuteStatement [" + *write + "; " + *write + "]"},
		{&dynamodb.ExecuteTransactionInput{TransactStatements: []types.ParameterizedStatement{{Statement: write}}},
			"ExecuteTransaction [" + *write + "]"},
	} {
		if got := words.Input(test.in); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
	rows := &dynamodb.ExecuteStatementOutput{Items: []map[string]types.AttributeValue{
		{"pk": &types.AttributeValueMemberS{Value: "x"}, "v": &types.AttributeValueMemberS{Value: "y"}},
	}}
	if got, want := words.Outcome(rows, nil), `[{pk: "x", v: "y"}]`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := words.Outcome(&dynamodb.ExecuteStatementOutput{}, nil); got != "ok" {
		t.Errorf("got %q, want ok", got)
	}
}
