package ddbfake

import (
	"context"
	"hash/crc32"
	"net/http"
	"strings"
	"testing"
	"unsafe"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake/internal/awsjson"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/wire/httpdoor"
)

// fleeting are strings whose memory a server reuses after a request has been served.
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

// Serve overwrites a reply: it uses the memory of its body again, and nothing else of it.
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
