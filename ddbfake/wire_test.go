package ddbfake

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake/internal/awsjson"
)

// Whoever looks at an output sees the SDK's.
func TestRecordOutputIsNotSeen(t *testing.T) {
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
	if _, ok := out.(*awsjson.RecordOutput); !ok {
		t.Errorf("for a wire: got %T, want a *awsjson.RecordOutput, which costs less", out)
	}
}
