package ddbfake_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// There is no map of attributes where there is nothing to return.
func TestUpdateReturnsNothing(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.put(key("a", "b"))
	out, err := w.c.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String("cache"), Key: key("a", "b"), ReturnValues: types.ReturnValueUpdatedOld,
		UpdateExpression: aws.String("SET x = :x"), ExpressionAttributeValues: values{":x": n("1")},
	})
	if err != nil || out.Attributes != nil {
		t.Errorf("got %v, %v, want no attributes", out, err)
	}
}

// The caller's maps and the engine's rows share nothing.
func TestInputsAndOutputsAreTheCallers(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	blob := []byte("blob")
	item := with(key("a", "b"), "blob", &types.AttributeValueMemberB{Value: blob})
	w.put(item)
	blob[0] = 'X'
	item["more"] = s("more")
	out, err := w.c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: key("a", "b")})
	if err != nil {
		t.Fatal(err)
	}
	out.Item["pk"].(*types.AttributeValueMemberS).Value = "Y"
	out.Item["blob"].(*types.AttributeValueMemberB).Value[1] = 'Z'
	if d := diff(t, w.get(key("a", "b")).ToSDK(), with(key("a", "b"), "blob", b("blob"))); d != "" {
		t.Error(d)
	}
}

// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
func TestConsumedCapacity(t *testing.T) {
	big := func(bytes int) values { return with(key("a", "b"), "c", s(strings.Repeat("x", bytes-7))) }
	for _, tc := range []struct {
		rule string
		seed values
		in   any
		want float64
	}{
		{"a small write is one unit", nil, &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: key("a", "b")}, 1},
		{"1 KB is one unit", nil, &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: big(1024)}, 1},
		{"a byte more is two", nil, &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: big(1025)}, 2},
		{"the larger image counts", big(3000), &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: key("a", "b")}, 3},
		{"a delete costs what it deletes", big(3000), &dynamodb.DeleteItemInput{TableName: aws.String("cache"), Key: key("a", "b")}, 3},
		{"a delete of nothing is one unit", nil, &dynamodb.DeleteItemInput{TableName: aws.String("cache"), Key: key("a", "b")}, 1},
		{"an eventually consistent read of 4 KB is half a unit", big(4096), &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: key("a", "b")}, 0.5},
		{"a consistent one is a unit", big(4096), &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: key("a", "b"), ConsistentRead: aws.Bool(true)}, 1},
		{"a byte more doubles it", big(4097), &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: key("a", "b"), ConsistentRead: aws.Bool(true)}, 2},
		{"a read of nothing costs like a small one", nil, &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: key("a", "b")}, 0.5},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			for _, ask := range []types.ReturnConsumedCapacity{"", types.ReturnConsumedCapacityNone, types.ReturnConsumedCapacityTotal, types.ReturnConsumedCapacityIndexes} {
				w := newWorld(t, ddbfake.LagManual)
				if tc.seed != nil {
					w.put(tc.seed)
				}
				var got *types.ConsumedCapacity
				switch in := tc.in.(type) {
				case *dynamodb.PutItemInput:
					in.ReturnConsumedCapacity = ask
					out, _ := w.c.PutItem(t.Context(), in)
					got = out.ConsumedCapacity
				case *dynamodb.DeleteItemInput:
					in.ReturnConsumedCapacity = ask
					out, _ := w.c.DeleteItem(t.Context(), in)
					got = out.ConsumedCapacity
				case *dynamodb.GetItemInput:
					in.ReturnConsumedCapacity = ask
					out, _ := w.c.GetItem(t.Context(), in)
					got = out.ConsumedCapacity
				}
				switch ask {
				case "", types.ReturnConsumedCapacityNone:
					if got != nil {
						t.Errorf("%s: got %v, want nothing", ask, got)
					}
					continue
				case types.ReturnConsumedCapacityTotal:
					if got.Table != nil {
						t.Errorf("%s: got a part for the table", ask)
					}
				case types.ReturnConsumedCapacityIndexes:
					if *got.Table.CapacityUnits != tc.want {
						t.Errorf("%s: got %v units of the table, want %v", ask, *got.Table.CapacityUnits, tc.want)
					}
				}
				if *got.CapacityUnits != tc.want || *got.TableName != "cache" || got.ReadCapacityUnits != nil || got.WriteCapacityUnits != nil {
					t.Errorf("%s: got %v of %s, want %v of cache, and no division", ask, *got.CapacityUnits, *got.TableName, tc.want)
				}
			}
		})
	}
}
