package ddbfake_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// queryWorld has a table "log" (pk S, at N) with rows at -1.5, -1, 0, 0.5, 2, 10 of partition "p", and rows of its
// neighbours.
func queryWorld(t testing.TB) *world {
	w := newWorld(t, ddbfake.LagManual)
	table(t, w.db, "log", "pk", "S", "at", "N")
	for _, at := range []string{"10", "-1", "0.5", "2", "0", "-1.50"} {
		for _, pk := range []string{"p", "o", "p\x00", "pp"} {
			item := values{"pk": s(pk), "at": n(at), "v": s(at)}
			if _, err := w.c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("log"), Item: item}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return w
}

// at lists the sort keys of a page.
func at(t testing.TB, items []values) string {
	var list []string
	for _, item := range items {
		list = append(list, fromSDK(t, item)["at"].String())
	}
	return strings.Join(list, " ")
}

// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.KeyConditionExpressions.html
func TestQueryRange(t *testing.T) {
	w := queryWorld(t)
	for _, tc := range []struct {
		condition string
		args      values
		want      string
	}{
		{"pk = :p", nil, "-1.5 -1 0 0.5 2 10"},
		{"pk = :p AND #at = :x", values{":x": n("2.0")}, "2"},
		{"pk = :p AND #at < :x", values{":x": n("0")}, "-1.5 -1"},
		{"pk = :p AND #at <= :x", values{":x": n("0")}, "-1.5 -1 0"},
		{"pk = :p AND #at > :x", values{":x": n("-1")}, "0 0.5 2 10"},
		{"pk = :p AND #at >= :x", values{":x": n("-1")}, "-1 0 0.5 2 10"},
		{"pk = :p AND #at BETWEEN :x AND :y", values{":x": n("-1"), ":y": n("2")}, "-1 0 0.5 2"},
		{"#at > :x AND pk = :p", values{":x": n("100")}, ""},
	} {
		for _, forward := range []bool{true, false} {
			t.Run(fmt.Sprint(tc.condition, forward), func(t *testing.T) {
				in := &dynamodb.QueryInput{
					TableName: aws.String("log"), KeyConditionExpression: &tc.condition, ScanIndexForward: &forward,
					ExpressionAttributeValues: with(values{":p": s("p")}),
				}
				for name, v := range tc.args {
					in.ExpressionAttributeValues[name] = v
				}
				if tc.args != nil {
					in.ExpressionAttributeNames = map[string]string{"#at": "at"}
				}
				want := strings.Fields(tc.want)
				if !forward {
					for i, j := 0, len(want)-1; i < j; i, j = i+1, j-1 {
						want[i], want[j] = want[j], want[i]
					}
				}
				out, err := w.c.Query(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(strings.Join(want, " "), at(t, out.Items)); d != "" {
					t.Errorf("in one page (-want +got):\n%s", d)
				}
				if out.Count != int32(len(want)) || out.ScannedCount != out.Count || out.LastEvaluatedKey != nil {
					t.Errorf("got %d of %d, last %v, want %d of %[4]d, no last", out.Count, out.ScannedCount, out.LastEvaluatedKey, len(want))
				}
				// Page by page, each with one row.
				var paged []values
				in.Limit = aws.Int32(1)
				for range 20 {
					out, err := w.c.Query(t.Context(), in)
					if err != nil {
						t.Fatal(err)
					}
					paged = append(paged, out.Items...)
					if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
						break
					}
				}
				if d := cmp.Diff(strings.Join(want, " "), at(t, paged)); d != "" {
					t.Errorf("page by page (-want +got):\n%s", d)
				}
			})
		}
	}
}

// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.Pagination.html
func TestQueryPages(t *testing.T) {
	t.Run("Limit counts what is evaluated, not what passes the filter", func(t *testing.T) {
		w := queryWorld(t)
		out, err := w.c.Query(t.Context(), &dynamodb.QueryInput{
			TableName: aws.String("log"), KeyConditionExpression: aws.String("pk = :p"), FilterExpression: aws.String("v = :v"),
			ExpressionAttributeValues: values{":p": s("p"), ":v": s("2")}, Limit: aws.Int32(3),
		})
		if err != nil {
			t.Fatal(err)
		}
		if out.Count != 0 || out.ScannedCount != 3 || out.Items == nil {
			t.Errorf("got %d of %d (items %v), want 0 of 3, an empty list", out.Count, out.ScannedCount, out.Items)
		}
		if d := diff(t, out.LastEvaluatedKey, values{"pk": s("p"), "at": n("0")}); d != "" {
			t.Errorf("last evaluated key (-want +got):\n%s", d)
		}
	})
	t.Run("COUNT returns no items", func(t *testing.T) {
		w := queryWorld(t)
		out, err := w.c.Query(t.Context(), &dynamodb.QueryInput{
			TableName: aws.String("log"), KeyConditionExpression: aws.String("pk = :p"), Select: types.SelectCount,
			ExpressionAttributeValues: values{":p": s("p")},
		})
		if err != nil || out.Count != 6 || out.Items != nil {
			t.Errorf("got %v, %v, want a count of 6 and nothing else", out, err)
		}
	})
}

// A partition is found among its neighbours, whichever way it is read.
func TestQueryWithoutSortKey(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	table(t, w.db, "flat", "id", "S", "", "")
	for _, id := range []string{"o", "p", "p\x00", "pp"} {
		if _, err := w.c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("flat"), Item: values{"id": s(id)}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, forward := range []bool{true, false} {
		out, err := w.c.Query(t.Context(), &dynamodb.QueryInput{
			TableName: aws.String("flat"), KeyConditionExpression: aws.String("id = :p"),
			ExpressionAttributeValues: values{":p": s("p")}, ScanIndexForward: &forward,
		})
		if err != nil {
			t.Fatal(err)
		}
		if out.Count != 1 || diff(t, out.Items[0], values{"id": s("p")}) != "" {
			t.Errorf("forward %v: got %v, want p alone", forward, out.Items)
		}
	}
}

// Strings are in the order of their UTF-8 bytes, binaries of unsigned bytes.
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
func TestItemsOrder(t *testing.T) {
	db := ddbfake.New(ddbfake.Options{})
	c := db.As("a")
	table(t, db, "strings", "id", "S", "", "")
	table(t, db, "blobs", "id", "B", "", "")
	for _, id := range []string{"\u00ff", "a", "Z", "\U0001F600", "\uFFFD"} {
		if _, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("strings"), Item: values{"id": s(id)}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"\xff", "\x00", "\x80", "\x7f"} {
		if _, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("blobs"), Item: values{"id": b(id)}}); err != nil {
			t.Fatal(err)
		}
	}
	got := fmt.Sprint(db.Items("strings"), db.Items("blobs"))
	want := `[{id: "Z"} {id: "a"} {id: "ÿ"} {id: "�"} {id: "😀"}] [{id: 0x00} {id: 0x7f} {id: 0x80} {id: 0xff}]`
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if db.Items("nowhere") != nil {
		t.Error("a table that is not there has items")
	}
}
