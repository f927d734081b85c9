package ddbfake_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// scanned returns the partition keys that a Scan of the table "ids" returns.
func scanned(t *testing.T, db *ddbfake.DB, in dynamodb.ScanInput) (keys []string, last values) {
	t.Helper()
	in.TableName = aws.String("ids")
	out := must.Of(db.As("test").Scan(t.Context(), &in))(t)
	for _, item := range out.Items {
		keys = append(keys, fmt.Sprint(fromSDK(t, item)["id"]))
	}
	return keys, out.LastEvaluatedKey
}

func fill(t *testing.T, db *ddbfake.DB, ids ...types.AttributeValue) {
	t.Helper()
	for _, id := range ids {
		in := &dynamodb.PutItemInput{TableName: aws.String("ids"), Item: values{"id": id}}
		must.Done(t)(db.As("test").PutItem(t.Context(), in))
	}
}

// The service answered with these orders and segments.
//
// Source: https://github.com/architect/dynalite/blob/main/test/scan.js
func TestScanOrder(t *testing.T) {
	t.Run("strings", func(t *testing.T) {
		db := ddbfake.New(ddbfake.Options{})
		table(t, db, "ids", "id", "S", "", "")
		want := []string{"2", "8", "9", "1", "6", "hello", "0", "5", "4", "äáöü", "aardman", "7", "3", "zapf"}
		for _, id := range slices.Sorted(slices.Values(want)) {
			fill(t, db, s(id))
		}
		got, _ := scanned(t, db, dynamodb.ScanInput{})
		for i := range got {
			got[i], _ = strconv.Unquote(got[i])
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
	t.Run("numbers", func(t *testing.T) {
		db := ddbfake.New(ddbfake.Options{})
		table(t, db, "ids", "id", "N", "", "")
		want := []string{"7", "999.9", "8", "3", "2", "-999.9", "9", "4", "-0.09", "6", "1", "0", "0.012345", "5"}
		for _, id := range slices.Sorted(slices.Values(want)) {
			fill(t, db, n(id))
		}
		if got, _ := scanned(t, db, dynamodb.ScanInput{}); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
	for _, tc := range []struct {
		kind    types.ScalarAttributeType
		segment int32
		ids     []types.AttributeValue
	}{
		{"S", 0, []types.AttributeValue{s("3635"), s("228")}},
		{"S", 1, []types.AttributeValue{s("1668")}},
		{"S", 4, []types.AttributeValue{s("3435")}},
		{"N", 1, []types.AttributeValue{n("251")}},
		{"N", 4095, []types.AttributeValue{n("2388")}},
	} {
		t.Run(fmt.Sprintf("segment %d of %s", tc.segment, tc.kind), func(t *testing.T) {
			db := ddbfake.New(ddbfake.Options{})
			table(t, db, "ids", "id", tc.kind, "", "")
			fill(t, db, tc.ids...)
			got, _ := scanned(t, db, dynamodb.ScanInput{Segment: aws.Int32(tc.segment), TotalSegments: aws.Int32(4096)})
			if len(got) != len(tc.ids) {
				t.Errorf("got %v, want all %d", got, len(tc.ids))
			}
		})
	}
}

// pages scans to the end, in pages of limit rows.
func pages(t *testing.T, db *ddbfake.DB, in dynamodb.ScanInput, limit int32) (keys []string) {
	t.Helper()
	in.Limit = aws.Int32(limit)
	for {
		page, last := scanned(t, db, in)
		keys = append(keys, page...)
		if last == nil {
			return keys
		}
		in.ExclusiveStartKey = last
	}
}

// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Scan.html#Scan.ParallelScan
func TestScanSegments(t *testing.T) {
	for _, kind := range []types.ScalarAttributeType{"S", "N", "B"} {
		db := ddbfake.New(ddbfake.Options{})
		table(t, db, "ids", "id", kind, "", "")
		for i := range 200 {
			id := map[types.ScalarAttributeType]types.AttributeValue{
				"S": s(fmt.Sprint("key-", i)), "N": n(strconv.FormatFloat(float64(i-100)/7, 'g', 9, 64)),
				"B": b(fmt.Sprint("\x00", i)),
			}[kind]
			fill(t, db, id)
		}
		all, _ := scanned(t, db, dynamodb.ScanInput{})
		if len(all) != 200 {
			t.Fatalf("%s: got %d rows, want 200", kind, len(all))
		}
		halves := map[string]int32{}
		for _, total := range []int32{1, 2, 3, 4, 17, 1_000_000} {
			var joined []string
			empty := 0
			for number := range min(total, 50) {
				in := dynamodb.ScanInput{Segment: aws.Int32(number), TotalSegments: aws.Int32(total)}
				part := pages(t, db, in, 7)
				if len(part) == 0 {
					empty++
				}
				for _, key := range part {
					if total == 2 {
						halves[key] = number
					} else if total == 4 && halves[key] != number/2 {
						t.Errorf("%s: %s is in half %d and quarter %d", kind, key, halves[key], number)
					}
				}
				joined = append(joined, part...)
			}
			if total <= 50 && !slices.Equal(joined, all) {
				t.Errorf("%s: %d segments in turn: got %v, want all rows in the order of a whole scan, %v", kind, total,
					joined, all)
			}
			if total <= 4 && empty > 0 {
				t.Errorf("%s: %d of %d segments are empty", kind, empty, total)
			}
		}
	}
}

func TestScanStartsInItsSegment(t *testing.T) {
	db := ddbfake.New(ddbfake.Options{})
	table(t, db, "ids", "id", "S", "", "")
	_, err := db.As("test").Scan(t.Context(), &dynamodb.ScanInput{
		TableName: aws.String("ids"), Segment: aws.Int32(1), TotalSegments: aws.Int32(4096), ExclusiveStartKey: values{
			"id": s("228"),
		},
	})
	wantError(t, err, validation, "The provided starting key is invalid: Invalid ExclusiveStartKey. "+
		"Please use ExclusiveStartKey with correct Segment. TotalSegments: 4096 Segment: 1")
	if got, _ := scanned(t, db, dynamodb.ScanInput{
		Segment: aws.Int32(0), TotalSegments: aws.Int32(4096), ExclusiveStartKey: values{"id": s("228")},
	}); len(got) > 0 {
		t.Errorf("got %v, want nothing", got)
	}
}

// A scan that goes on sees rows that were written meanwhile behind the place that it has reached. This holds for
// restored states, too.
func TestScanOfAChangingTable(t *testing.T) {
	db := ddbfake.New(ddbfake.Options{})
	table(t, db, "ids", "id", "S", "", "")
	fill(t, db, s("2"), s("9"), s("4")) // in this order
	if got, _ := scanned(t, db, dynamodb.ScanInput{}); strings.Join(got, " ") != `"2" "9" "4"` {
		t.Fatalf("got %v", got)
	}
	before := db.Snapshot()
	_, last := scanned(t, db, dynamodb.ScanInput{Limit: aws.Int32(2)})
	fill(t, db, s("8"), s("3")) // between 2 and 9, and last
	rest := dynamodb.ScanInput{ExclusiveStartKey: last}
	if got, _ := scanned(t, db, rest); strings.Join(got, " ") != `"4" "3"` {
		t.Errorf("after two new rows: got %v", got)
	}
	must.Done(t)(db.As("test").DeleteItem(t.Context(),
		&dynamodb.DeleteItemInput{TableName: aws.String("ids"), Key: values{"id": s("4")}}))
	if got, _ := scanned(t, db, rest); strings.Join(got, " ") != `"3"` {
		t.Errorf("after a deletion: got %v", got)
	}
	db.Restore(before)
	if got, _ := scanned(t, db, dynamodb.ScanInput{}); strings.Join(got, " ") != `"2" "9" "4"` {
		t.Errorf("restored: got %v", got)
	}
}
