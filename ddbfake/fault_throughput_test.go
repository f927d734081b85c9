package ddbfake_test

import (
	"context"
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
	const arn = "arn:aws:dynamodb:us-east-1:000000000000:table/rows"
	const configured = "The level of configured provisioned throughput for the table was exceeded. " +
		"Consider increasing your provisioning level with the UpdateTable API."
	const scaling = "Throughput exceeds the current capacity of your table or index. " +
		"DynamoDB is automatically scaling your table or index so please try again shortly. " +
		"If exceptions persist, check if you have a hot key: " +
		"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
	rows := aws.String("rows")
	item := values{"pk": s("a"), "body": s(strings.Repeat("x", 380_000))} // 372 write units, 93 read units
	calls := []struct {
		name string
		do   func(context.Context, *ddbfake.Door) error
		want [2][]string // for a provisioned table, and for a table on demand
	}{
		{"PutItem", func(ctx context.Context, c *ddbfake.Door) error {
			_, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: rows, Item: item})
			return err
		}, [2][]string{
			{"ProvisionedThroughputExceededException", configured, "TableWriteProvisionedThroughputExceeded " + arn},
			{"ThrottlingException", scaling, "TableWriteKeyRangeThroughputExceeded " + arn},
		}},
		{"GetItem", func(ctx context.Context, c *ddbfake.Door) error {
			_, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: rows, Key: values{"pk": s("a")}, ConsistentRead: aws.Bool(true)})
			return err
		}, [2][]string{
			{"ProvisionedThroughputExceededException", configured, "TableReadProvisionedThroughputExceeded " + arn},
			{"ThrottlingException", scaling, "TableReadKeyRangeThroughputExceeded " + arn},
		}},
		{"BatchGetItem", func(ctx context.Context, c *ddbfake.Door) error {
			_, err := c.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
				"rows": {Keys: []values{{"pk": s("a")}}, ConsistentRead: aws.Bool(true)},
			}})
			return err
		}, [2][]string{
			{"ProvisionedThroughputExceededException", configured, "TableReadProvisionedThroughputExceeded " + arn},
			{"ThrottlingException", scaling, "TableReadKeyRangeThroughputExceeded " + arn},
		}},
		{"TransactWriteItems", func(ctx context.Context, c *ddbfake.Door) error {
			_, err := c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				{Put: &types.Put{TableName: rows, Item: item}},
			}})
			return err
		}, [2][]string{
			{"TransactionCanceledException", "Transaction cancelled, please refer cancellation reasons for specific reasons [ProvisionedThroughputExceeded]",
				"ProvisionedThroughputExceeded " + configured},
			{"TransactionCanceledException", "Transaction cancelled, please refer cancellation reasons for specific reasons [ThrottlingError]",
				"ThrottlingError " + scaling},
		}},
		{"TransactGetItems", func(ctx context.Context, c *ddbfake.Door) error {
			_, err := c.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{
				{Get: &types.Get{TableName: rows, Key: values{"pk": s("a")}}},
			}})
			return err
		}, [2][]string{
			{"TransactionCanceledException", "Transaction cancelled, please refer cancellation reasons for specific reasons [ProvisionedThroughputExceeded]",
				"ProvisionedThroughputExceeded " + configured},
			{"TransactionCanceledException", "Transaction cancelled, please refer cancellation reasons for specific reasons [ThrottlingError]",
				"ThrottlingError " + scaling},
		}},
	}
	for kind, name := range []string{"provisioned", "on demand"} {
		for _, call := range calls {
			world := func(limited bool) (*fakeclock.Clock, *ddbfake.DB, *ddbfake.Door) {
				clock := fakeclock.New(fakeclock.Epoch)
				db := ddbfake.New(ddbfake.Options{Clock: clock, Throughput: limited})
				c := db.As("alice")
				in := &dynamodb.CreateTableInput{
					TableName: rows, BillingMode: types.BillingModePayPerRequest,
					AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}},
					KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}},
				}
				if kind == 0 {
					in.BillingMode = types.BillingModeProvisioned
					in.ProvisionedThroughput = &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(400), WriteCapacityUnits: aws.Int64(500)}
				}
				must.Done(t)(c.CreateTable(t.Context(), in))
				must.Done(t)(c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: rows, Item: item}))
				return clock, db, c
			}
			_, db, c := world(false)
			db.Inject(ddbfake.Fault{Kind: ddbfake.FaultThrottled})
			if diff := cmp.Diff(call.want[kind], refusalOf(call.do(t.Context(), c))); diff != "" {
				t.Errorf("%s, %s, by a fault (-want +got):\n%s", name, call.name, diff)
			}
			clock, _, c := world(true)
			clock.Advance(time.Minute)
			var err error
			for range 100 {
				if err = call.do(t.Context(), c); err != nil {
					break
				}
			}
			if diff := cmp.Diff(call.want[kind], refusalOf(err)); diff != "" {
				t.Errorf("%s, %s, by Options.Throughput (-want +got):\n%s", name, call.name, diff)
			}
			clock.Advance(time.Minute)
			if err := call.do(t.Context(), c); err != nil {
				t.Errorf("%s, %s: a minute later: %v", name, call.name, err)
			}
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
