package ddbfake_test

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// The log shows the requests of the code under test, and their outcomes.
func ExampleDB_Requests() {
	db := newCache(ddbfake.Options{LogRequests: 2})
	if err := db.Put("cache", attr.Item{"pk": attr.S("CACHE#1"), "sk": attr.S("LOCK"), "lease_token": attr.S("bob-1")}); err != nil {
		panic(err)
	}
	_, _ = db.As("alice").PutItem(context.Background(), &dynamodb.PutItemInput{
		TableName: aws.String("cache"), Item: attr.Item{"pk": attr.S("CACHE#1"), "sk": attr.S("LOCK")}.ToSDK(),
		ConditionExpression: aws.String("attribute_not_exists(pk)"),
	})
	for _, r := range db.Requests() {
		fmt.Println(r)
	}
	// Output:
	// 3 PutItem cache{pk: "CACHE#1", sk: "LOCK"}: ok
	// 4 alice PutItem cache{pk: "CACHE#1", sk: "LOCK"}: ConditionalCheckFailedException: The conditional request failed
}

// The front door of a test.
func ExampleStart() {
	t := &fakeTest{failed: true} // in a test, the *testing.T
	db := ddbfake.Start(t, ddbfake.Options{})
	_, _ = db.Client(ddbfake.WithActor("alice")).ListTables(context.Background(), &dynamodb.ListTablesInput{})
	for _, line := range t.end() {
		fmt.Println(line)
	}
	// Output:
	// ddbfake: request 1 alice ListTables: ok
}
