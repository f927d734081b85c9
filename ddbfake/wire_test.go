package ddbfake

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/internal/awsjson"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// A caller of Do gets the SDK's output. Only a wire gets the record, because encoding that costs less.
func TestRecordOutputIsNotSeen(t *testing.T) {
	get := &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: rowKey("META")}
	db := New(Options{})
	createTable(t, db, "cache")
	must.Done(t)(db.As("").PutItem(t.Context(),
		&dynamodb.PutItemInput{TableName: aws.String("cache"), Item: metaRow()}))
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

// An answer has the same bytes if its item is encoded from the row and if it is encoded from the SDK's maps. This holds
// with any fault, and with and without a log of requests.
func TestRecordOutputUnderFaults(t *testing.T) {
	for _, keep := range []int{0, 1} {
		clock := fakeclock.New(fakeclock.Epoch)
		db := New(Options{Clock: clock, LogRequests: keep})
		createTable(t, db, "cache")
		write := func(generatedAt string) {
			row := metaRow()
			row["generated_at"] = &types.AttributeValueMemberN{Value: generatedAt}
			must.Done(t)(db.As("").PutItem(t.Context(),
				&dynamodb.PutItemInput{TableName: aws.String("cache"), Item: row}))
		}
		write("1")
		clock.Advance(time.Minute)
		write("2")
		body := awsjson.Append(nil, &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: rowKey("META")})
		for _, kind := range append(FaultKinds(), 0) {
			var fault *Fault
			if kind != 0 {
				fault = &Fault{Kind: kind}
			}
			get := wireCall{target: awsjson.TargetPrefix + "GetItem", body: body}
			answer := func(do do) string {
				text, status, err := get.serve(t.Context(), func(ctx context.Context, c Call) (any, error) {
					c.Fault = fault
					return do(ctx, c)
				}, nil)
				return fmt.Sprintf("%d %s %v", status, text, err)
			}
			got, want := answer(db.doForWire), answer(db.Do)
			if got != want {
				t.Errorf("%v, %d requests kept:\ngot  %s\nwant %s", fault, keep, got, want)
			}
			if kind == 0 && !strings.Contains(got, `"generated_at":{"N":"2"}`) {
				t.Errorf("got %s, want the latest row", got)
			}
		}
	}
}

// metaRow is a META row such as a cache writes.
func metaRow() map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{
			Value: "CACHE#9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		},
		"sk":                 &types.AttributeValueMemberS{Value: "META"},
		"s3_key":             &types.AttributeValueMemberS{Value: "pages/9f86d081884c7d65/0000000042.html"},
		"generated_at":       &types.AttributeValueMemberN{Value: "2208988800"},
		"revalidate_seconds": &types.AttributeValueMemberN{Value: "60"},
		"etag":               &types.AttributeValueMemberS{Value: `"5d41402abc4b2a76b9719d911017c592"`},
		"ttl":                &types.AttributeValueMemberN{Value: "2209075200"},
	}
}

func rowKey(sk string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{
			Value: "CACHE#9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		},
		"sk": &types.AttributeValueMemberS{Value: sk},
	}
}
