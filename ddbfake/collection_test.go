package ddbfake_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// collectionWorld has a table with five local indexes, so that a row takes six times its size of its collection.
func collectionWorld(t *testing.T) *ddbfake.Door {
	t.Helper()
	in := tableInput("rows", "pk", "S", "sk", "S")
	in.AttributeDefinitions = append(in.AttributeDefinitions, definition("n", "N"))
	for i := range 5 {
		in.LocalSecondaryIndexes = append(in.LocalSecondaryIndexes, types.LocalSecondaryIndex{
			IndexName: aws.String(fmt.Sprint("lsi", i)), Projection: &types.Projection{
				ProjectionType: types.ProjectionTypeAll,
			},
			KeySchema: []types.KeySchemaElement{keyElement("pk", "HASH"), keyElement("n", "RANGE")},
		})
	}
	door := ddbfake.New(ddbfake.Options{}).As("alice")
	must.Done(t)(door.CreateTable(t.Context(), in))
	return door
}

// A collection does not grow beyond 10 GB; it may shrink, and others may grow. The rows share their text, so they take
// no memory.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LSI.html#LSI.ItemCollections.SizeLimit
func TestCollectionLimit(t *testing.T) {
	door := collectionWorld(t)
	const rowBytes = 400 * 1024
	// The other 14 bytes of a row are its keys, a number and all names.
	text := s(strings.Repeat("x", rowBytes-14))
	put := func(pk string, i int, sized types.ReturnItemCollectionMetrics) (*dynamodb.PutItemOutput, error) {
		return door.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("rows"), ReturnItemCollectionMetrics: sized,
			Item: values{"pk": s(pk), "sk": s(fmt.Sprintf("%05d", i)), "n": n("7"), "v": text},
		})
	}
	const fit = 10 << 30 / (6 * rowBytes)
	for i := range fit - 1 {
		if _, err := put("p", i, ""); err != nil {
			t.Fatalf("row %d of %d: %v", i, fit, err)
		}
	}
	out, err := put("p", fit-1, types.ReturnItemCollectionMetricsSize)
	if err != nil {
		t.Fatalf("the last row that fits: %v", err)
	}
	if got := out.ItemCollectionMetrics.SizeEstimateRangeGB; len(got) != 2 || got[0] != 9 || got[1] != 10 {
		t.Errorf("got an estimate of %v, want [9 10]", got)
	}
	_, err = put("p", fit, "")
	var large *types.ItemCollectionSizeLimitExceededException
	if !errors.As(err, &large) || large.ErrorMessage() != "Collection size exceeded." {
		t.Fatalf("one row more: got %v, want that the collection is too large", err)
	}
	_, err = door.TransactWriteItems(t.Context(),
		&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{
			Put: &types.Put{
				TableName: aws.String("rows"), Item: values{"pk": s("p"), "sk": s("more"), "n": n("7"), "v": text},
			},
		}}})
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) || *cancelled.CancellationReasons[0].Code != "ItemCollectionSizeLimitExceeded" {
		t.Errorf("one row more in a transaction: got %v, want a reason of that name", err)
	}
	if _, err := put("q", 0, ""); err != nil {
		t.Errorf("another collection: %v", err)
	}
	if _, err := put("p", 0, ""); err != nil {
		t.Errorf("a row that does not grow: %v", err)
	}
	_, err = door.DeleteItem(t.Context(),
		&dynamodb.DeleteItemInput{TableName: aws.String("rows"), Key: key("p", "00000")})
	if err != nil {
		t.Errorf("a row less: %v", err)
	}
	if _, err := put("p", fit, ""); err != nil {
		t.Errorf("a row in its place: %v", err)
	}
}
