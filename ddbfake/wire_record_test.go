package ddbfake

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// A row as it is kept is encoded to the byte as the SDK's output is.
func TestRowOutput(t *testing.T) {
	all, err := attr.FromSDK(everyValue(2))
	if err != nil {
		t.Fatal(err)
	}
	consumed := &types.ConsumedCapacity{TableName: aws.String("cache"), CapacityUnits: aws.Float64(0.5)}
	for _, it := range []attr.Item{
		{},
		{"pk": attr.S("a")},
		{"all": all, "pk": attr.S("é\"\\\n\x00\u2028<>&"), `a "quoted" key`: attr.BOOL(true), "ключ": attr.NULL{}},
		{"n": attr.N{Number: attr.FromInt64(-42)}, "empty": attr.M{}, "none": attr.L{}, "blob": attr.B{}},
	} {
		for _, read := range []*dynamodb.GetItemOutput{{}, {ConsumedCapacity: consumed}} {
			want := appendOutput(nil, &dynamodb.GetItemOutput{Item: it.ToSDK(), ConsumedCapacity: read.ConsumedCapacity})
			got := appendOutput(nil, &rowOutput{read, &row{record: attr.RecordOf(it)}})
			if string(got) != string(want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
	}
}

// Whoever looks at an output sees the SDK's.
func TestRowOutputIsNotSeen(t *testing.T) {
	get := &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: rowKey("META")}
	db := New(Options{})
	createTable(t, db, "cache")
	if _, err := db.As("").PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: metaRow()}); err != nil {
		t.Fatal(err)
	}
	out, err := db.Do(t.Context(), Call{Input: get})
	if _, ok := out.(*dynamodb.GetItemOutput); !ok || err != nil {
		t.Errorf("Do: got %T and %v, want a *dynamodb.GetItemOutput", out, err)
	}
	if out, err = db.doForWire(t.Context(), Call{Input: get}); err != nil {
		t.Fatal(err)
	}
	if _, ok := out.(*rowOutput); !ok {
		t.Errorf("for a wire: got %T, want a *rowOutput, which is what the test above is about", out)
	}
}
