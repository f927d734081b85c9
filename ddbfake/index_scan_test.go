package ddbfake_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// scanIndex reads a segment of an index page by page, and returns the sort keys of the rows.
func scanIndex(t *testing.T, door *ddbfake.Door, index string, segment, of int32) []string {
	t.Helper()
	var found []string
	in := &dynamodb.ScanInput{
		TableName: aws.String("rows"), IndexName: aws.String(index), Limit: aws.Int32(3),
		Segment: aws.Int32(segment), TotalSegments: aws.Int32(of),
	}
	for {
		out, err := door.Scan(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range out.Items {
			found = append(found, item["sk"].(*types.AttributeValueMemberS).Value)
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return found
		}
	}
}

// Whatever the number of segments is, together they are the whole, each row once; and a row that leaves the index is
// gone from it.
func TestIndexScanSegments(t *testing.T) {
	db, door, _ := indexedWorld(t)
	var want []string
	for i := range 40 {
		item := values{
			"pk": s(fmt.Sprint(i % 3)), "sk": s(fmt.Sprintf("%02d", i)),
			"h": s(fmt.Sprint("h", i%7)), "i": s(fmt.Sprint("i\x00", i%2)), "a": s("a"), "b": n(fmt.Sprint(-i)),
		}
		want = append(want, fmt.Sprintf("%02d", i))
		if _, err := door.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("rows"), Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string, want []string) {
		for _, index := range []string{"many", "local"} {
			for _, of := range []int32{1, 2, 5} {
				var got []string
				for segment := range of {
					got = append(got, scanIndex(t, door, index, segment, of)...)
				}
				slices.Sort(got)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: %s in %d segments (-want +got):\n%s", when, index, of, diff)
				}
			}
		}
	}
	check("all", want)
	before := db.Snapshot()
	_, err := door.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String("rows"), Key: key("0", "00"), UpdateExpression: aws.String("REMOVE a"),
	})
	if err != nil {
		t.Fatal(err)
	}
	check("without one", want[1:])
	db.Restore(before)
	check("restored", want)
}

// A global index is read eventually, so a replica that lags has an index that lags.
func TestIndexScanOfAReplica(t *testing.T) {
	db, door, clock := indexedWorld(t)
	db.SetReplicaLag(10)
	item := values{"pk": s("p"), "sk": s("1"), "h": s("h"), "i": s("i"), "a": s("a"), "b": n("1")}
	if _, err := door.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("rows"), Item: item}); err != nil {
		t.Fatal(err)
	}
	if got := scanIndex(t, door, "many", 0, 1); got != nil {
		t.Errorf("at once: got %v, want nothing", got)
	}
	clock.Advance(10)
	if got := scanIndex(t, door, "many", 0, 1); len(got) != 1 {
		t.Errorf("after the lag: got %v, want the row", got)
	}
}
