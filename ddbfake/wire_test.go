package ddbfake

import (
	"context"
	"fmt"
	"hash/crc32"
	"net/http"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/internal/awsjson"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/wire/httpdoor"
)

// A caller of Do gets the SDK's output. Only a wire gets a RecordOutput, which is cheaper to encode.
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

// An answer has the same bytes whether its item is encoded from the row or from the SDK's maps. This holds with any
// fault, and with or without a log of requests.
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

// metaRow is a META row as a cache writes it.
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

// fleeting are strings whose memory a server reuses once a request was served.
type fleeting [][]byte

func (f *fleeting) string(s string) string {
	b := []byte(s)
	*f = append(*f, b)
	return unsafe.String(unsafe.SliceData(b), len(b))
}

func (f *fleeting) reuse() {
	for _, b := range *f {
		for i := range b {
			b[i] = '!'
		}
	}
}

// Nothing of a request outlives it except the values decoded from its body.
func TestHandlerKeepsNothing(t *testing.T) {
	var memory fleeting
	var calls []Call
	var invocation string
	d := &handler{do: func(ctx context.Context, c Call) (any, error) {
		calls = append(calls, c)
		invocation = Invocation(ctx)
		return &dynamodb.PutItemOutput{}, nil
	}}
	serve := func(r *httpdoor.Request) (to httpdoor.Reply) {
		r.Method, r.Path, r.ContentType, r.Target = http.MethodPost, "/", awsjson.ContentType,
			memory.string(awsjson.TargetPrefix+"PutItem")
		r.Body = strings.NewReader(`{"TableName":"cache"}`)
		must.OK(t, d.Serve(t.Context(), r, &to))
		return to
	}
	serve(&httpdoor.Request{
		Authorization: memory.string(awsjson.Authorization("alice", "eu-west-1")), Invocation: memory.string("first"),
	})
	serve(&httpdoor.Request{
		Authorization: memory.string("AWS4-ECDSA-P256-SHA256 Credential=bob/20400101/dynamodb/aws4_request"),
		RegionSet:     memory.string("eu-west-2,eu-west-3"),
		Invocation:    memory.string("second"),
	})
	serve(&httpdoor.Request{
		Query: memory.string(
			"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=carol/20400101/eu-west-3/dynamodb/aws4_request",
		),
	})
	memory.reuse()
	for i, want := range []awsjson.Signer{{Actor: "alice", Region: "eu-west-1"}, {Actor: "bob", Region: "eu-west-2"},
		{Actor: "carol", Region: "eu-west-3"}} {
		if got := (awsjson.Signer{Actor: calls[i].Actor, Region: calls[i].Region}); got != want {
			t.Errorf("call %d: got %v, want %v", i, got, want)
		}
	}
	if invocation != "" {
		t.Errorf("got the invocation %q of a request that has none", invocation)
	}

	d.do = func(ctx context.Context, _ Call) (any, error) {
		invocation = Invocation(ctx)
		return nil, &UnsupportedError{Operation: "none"}
	}
	serve(&httpdoor.Request{Authorization: awsjson.Authorization("alice", ""), Invocation: memory.string("third")})
	memory.reuse()
	if invocation != "third" {
		t.Errorf("got the invocation %q, want third", invocation)
	}
}

// Serve overwrites a reply: it reuses the memory of its body, and nothing else.
func TestReplyIsUsedAgain(t *testing.T) {
	d := &handler{do: New(Options{}).doForWire}
	to := httpdoor.Reply{
		Status: 1, Close: true, ContentType: "x", Body: append(make([]byte, 0, 100), "what was there"...),
	}
	room := &to.Body[0]
	ids := map[[52]byte]bool{}
	for range 3 {
		must.OK(t, d.Serve(t.Context(), &httpdoor.Request{Method: http.MethodGet, Path: "/"}, &to))
		ids[to.RequestID] = true
		to.RequestID = [52]byte{}
		want := httpdoor.Reply{
			Status: 200, ContentType: "text/plain", CRC32: crc32.ChecksumIEEE([]byte(healthy)), Body: []byte(healthy),
		}
		if string(to.Body) != healthy || to.Status != want.Status || to.ContentType != want.ContentType ||
			to.CRC32 != want.CRC32 || to.Close {
			t.Errorf("got %+v, want %+v", to, want)
		}
		if &to.Body[0] != room {
			t.Error("the room of the body is not used again")
		}
	}
	if len(ids) != 3 {
		t.Errorf("three requests have %d ids", len(ids))
	}
}
