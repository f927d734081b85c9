package ddbfake_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// The fault throttled answers as Options.Throughput does: the same exception, the same text and the same reasons, for
// tables of both kinds.
func TestThrottledAsByThroughput(t *testing.T) {
	const configured = "The level of configured provisioned throughput for the table was exceeded. " +
		"Consider increasing your provisioning level with the UpdateTable API."
	const scaling = "Throughput exceeds the current capacity of your table or index. " +
		"DynamoDB is automatically scaling your table or index so please try again shortly. " +
		"If exceptions persist, check if you have a hot key: " +
		"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
	rows := aws.String("rows")
	item := values{"pk": s("a"), "body": s(strings.Repeat("x", 380_000))} // 372 write units, 93 read units
	exception := func(of string) [2][]string {
		return [2][]string{
			{"ProvisionedThroughputExceededException", configured,
				"Table" + of + "ProvisionedThroughputExceeded " + rowsARN},
			{"ThrottlingException", scaling, "Table" + of + "KeyRangeThroughputExceeded " + rowsARN},
		}
	}
	const cancelled = "Transaction cancelled, please refer cancellation reasons for specific reasons "
	transaction := [2][]string{
		{"TransactionCanceledException", cancelled + "[ProvisionedThroughputExceeded]",
			"ProvisionedThroughputExceeded " + configured},
		{"TransactionCanceledException", cancelled + "[ThrottlingError]", "ThrottlingError " + scaling},
	}
	put := &dynamodb.PutItemInput{TableName: rows, Item: item}
	calls := []struct {
		in   any
		want [2][]string // for a provisioned table, and for a table on demand
	}{
		{put, exception("Write")},
		{&dynamodb.GetItemInput{TableName: rows, Key: values{"pk": s("a")}, ConsistentRead: aws.Bool(true)},
			exception("Read")},
		{&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			"rows": {Keys: []values{{"pk": s("a")}}, ConsistentRead: aws.Bool(true)},
		}}, exception("Read")},
		{&dynamodb.TransactWriteItemsInput{
			TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: rows, Item: item}}},
		}, transaction},
		{&dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{
			{Get: &types.Get{TableName: rows, Key: values{"pk": s("a")}}},
		}}, transaction},
	}
	for kind, provisioned := range []*types.ProvisionedThroughput{units(400, 500), nil} {
		for _, call := range calls {
			clock := fakeclock.New(fakeclock.Epoch)
			db, door := limited(t, clock, provisioned)
			must.Done(t)(door.PutItem(t.Context(), put))
			do := func() error {
				_, err := db.Do(t.Context(), ddbfake.Call{Input: call.in})
				return err
			}
			check := func(by string, err error) {
				t.Helper()
				if diff := cmp.Diff(call.want[kind], refusalOf(err)); diff != "" {
					t.Errorf("%T of a table with %v, by %s (-want +got):\n%s", call.in, provisioned, by, diff)
				}
			}
			clock.Advance(time.Minute)
			var err error
			for n := 0; err == nil && n < 100; n++ {
				err = do()
			}
			check("Options.Throughput", err)
			clock.Advance(time.Minute)
			must.OK(t, do())
			db.Reset(ddbfake.Options{Clock: clock}, db.Snapshot())
			db.Inject(ddbfake.Fault{Kind: ddbfake.FaultThrottled})
			check("a fault", do())
		}
	}
}

// refusalOf returns the code, the text and the reasons of an error.
func refusalOf(err error) []string {
	is, message := code(err)
	all := []string{is, message}
	for _, r := range reasonsOf(err) {
		all = append(all, aws.ToString(r.Reason)+" "+aws.ToString(r.Resource))
	}
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) {
		for _, r := range cancelled.CancellationReasons {
			all = append(all, aws.ToString(r.Code)+" "+aws.ToString(r.Message))
		}
	}
	return all
}
