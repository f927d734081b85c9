package ddbfake_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// The error of a throttled call names the throttled resource, over the wire, too.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ThrottlingReason.html
func TestThrottlingReasons(t *testing.T) {
	const arn = "arn:aws:dynamodb:us-east-1:000000000000:table/"
	db, door, _ := indexedWorld(t)
	_, err := door.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:             aws.String("provisioned"),
		ProvisionedThroughput: &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(1), WriteCapacityUnits: aws.Int64(1)},
		AttributeDefinitions:  []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}},
		KeySchema:             []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := db.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	for _, tc := range []struct {
		name  string
		fault ddbfake.Fault
		call  func() error
		code  string
		want  [][2]string
	}{
		{"write on demand", ddbfake.Fault{}, func() error {
			_, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("rows"), Item: key("a", "b")})
			return err
		}, "ThrottlingException", [][2]string{{"TableWriteKeyRangeThroughputExceeded", arn + "rows"}}},
		{"read of a provisioned table", ddbfake.Fault{}, func() error {
			_, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("provisioned"), Key: values{"pk": s("a")}})
			return err
		}, "ProvisionedThroughputExceededException", [][2]string{{"TableReadProvisionedThroughputExceeded", arn + "provisioned"}}},
		{"read of an index", ddbfake.Fault{}, func() error {
			_, err := c.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("rows"), IndexName: aws.String("many")})
			return err
		}, "ThrottlingException", [][2]string{{"IndexReadKeyRangeThroughputExceeded", arn + "rows/index/many"}}},
		{"one table of two", ddbfake.Fault{Table: "provisioned"}, func() error {
			_, err := c.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
				"rows":        {Keys: []map[string]types.AttributeValue{key("a", "b"), key("a", "c")}},
				"provisioned": {Keys: []map[string]types.AttributeValue{{"pk": s("a")}}},
			}})
			return err
		}, "ProvisionedThroughputExceededException", [][2]string{{"TableReadProvisionedThroughputExceeded", arn + "provisioned"}}},
		{"no throughput", ddbfake.Fault{}, func() error {
			_, err := c.ListTables(t.Context(), &dynamodb.ListTablesInput{})
			return err
		}, "ThrottlingException", nil},
	} {
		tc.fault.Kind = ddbfake.FaultThrottled
		db.Inject(tc.fault)
		err := tc.call()
		if got, _ := code(err); got != tc.code {
			t.Fatalf("%s: got %v, want %s", tc.name, err, tc.code)
		}
		var got [][2]string
		for _, r := range reasonsOf(err) {
			got = append(got, [2]string{aws.ToString(r.Reason), aws.ToString(r.Resource)})
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// reasonsOf returns the reasons in either exception of a throttled call.
func reasonsOf(err error) []types.ThrottlingReason {
	var provisioned *types.ProvisionedThroughputExceededException
	if errors.As(err, &provisioned) {
		return provisioned.ThrottlingReasons
	}
	var onDemand *types.ThrottlingException
	if errors.As(err, &onDemand) {
		return onDemand.ThrottlingReasons
	}
	return nil
}
