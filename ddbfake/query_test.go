package ddbfake_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// queryWorld has a table "log" (pk S, at N). Partition "p" has rows at -1.5, -1, 0, 0.5, 2 and 10, and partitions with
// similar keys have rows, too.
func queryWorld(t testing.TB) *world {
	w := newWorld(t, ddbfake.LagManual)
	table(t, w.db, "log", "pk", "S", "at", "N")
	for _, at := range []string{"10", "-1", "0.5", "2", "0", "-1.50"} {
		for _, pk := range []string{"p", "o", "p\x00", "pp"} {
			item := values{"pk": s(pk), "at": n(at), "v": s(at)}
			must.Done(t)(w.c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("log"), Item: item}))
		}
	}
	return w
}

// Strings are in the order of their UTF-8 bytes, and binaries in the order of their unsigned bytes. Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
func TestItemsOrder(t *testing.T) {
	db := ddbfake.New(ddbfake.Options{})
	c := db.As("a")
	table(t, db, "strings", "id", "S", "", "")
	table(t, db, "blobs", "id", "B", "", "")
	for _, id := range []string{"\u00ff", "a", "Z", "\U0001F600", "\uFFFD"} {
		must.Done(t)(c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("strings"), Item: values{"id": s(id)}}))
	}
	for _, id := range []string{"\xff", "\x00", "\x80", "\x7f"} {
		must.Done(t)(c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("blobs"), Item: values{"id": b(id)}}))
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
