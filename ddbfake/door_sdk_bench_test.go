package ddbfake

import (
	"bytes"
	"context"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/internal/awsjson"
)

// canned answers every request with the same bytes, to measure the cost of the SDK itself.
type canned struct{ body []byte }

func (c canned) Do(*http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK,
		Header: http.Header{
			"X-Amz-Crc32":      {strconv.FormatUint(uint64(crc32.ChecksumIEEE(c.body)), 10)},
			"X-Amzn-Requestid": {strings.Repeat("0", 52)},
		},
		Body:          io.NopCloser(bytes.NewReader(c.body)),
		ContentLength: int64(len(c.body)),
	}, nil
}

// metaRow is a META row as a cache has it.
func metaRow() map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"pk":                 &types.AttributeValueMemberS{Value: "CACHE#9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
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
		"pk": &types.AttributeValueMemberS{Value: "CACHE#9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
		"sk": &types.AttributeValueMemberS{Value: sk},
	}
}

type benchCall struct {
	name string
	out  any
	call func(*dynamodb.Client) error
}

func benchCalls() []benchCall {
	ctx := context.Background()
	get := &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: rowKey("META"), ConsistentRead: aws.Bool(true)}
	put := &dynamodb.PutItemInput{
		TableName: aws.String("cache"), Item: metaRow(),
		ConditionExpression:       aws.String("attribute_not_exists(pk) OR generated_at <= :now"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":now": &types.AttributeValueMemberN{Value: "2208988800"}},
	}
	update := &dynamodb.UpdateItemInput{
		TableName: aws.String("cache"), Key: rowKey("LOCK"),
		UpdateExpression:    aws.String("SET lease_expires_at = :exp"),
		ConditionExpression: aws.String("lease_token = :token AND lease_expires_at > :now"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":now":   &types.AttributeValueMemberN{Value: "2208988800"},
			":exp":   &types.AttributeValueMemberN{Value: "2208988830"},
			":token": &types.AttributeValueMemberS{Value: "0b9c6a52-5f0f-4f39-9ab8-3f1f8d0a1a77"},
		},
	}
	publish := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: aws.String("cache"), Item: metaRow()}},
		{Delete: &types.Delete{
			TableName: aws.String("cache"), Key: rowKey("LOCK"),
			ConditionExpression: aws.String("attribute_not_exists(pk) OR lease_token = :token AND lease_expires_at > :now"),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":now":   &types.AttributeValueMemberN{Value: "2208988800"},
				":token": &types.AttributeValueMemberS{Value: "0b9c6a52-5f0f-4f39-9ab8-3f1f8d0a1a77"},
			},
		}},
	}}
	return []benchCall{
		{"GetItem", &dynamodb.GetItemOutput{Item: metaRow()}, func(c *dynamodb.Client) error { _, err := c.GetItem(ctx, get); return err }},
		{"PutItem", &dynamodb.PutItemOutput{}, func(c *dynamodb.Client) error { _, err := c.PutItem(ctx, put); return err }},
		{"UpdateItem", &dynamodb.UpdateItemOutput{}, func(c *dynamodb.Client) error { _, err := c.UpdateItem(ctx, update); return err }},
		{"TransactWriteItems", &dynamodb.TransactWriteItemsOutput{}, func(c *dynamodb.Client) error {
			once := *publish // the SDK puts a ClientRequestToken into it, and with that token it is done only once
			_, err := c.TransactWriteItems(ctx, &once)
			return err
		}},
	}
}

// BenchmarkSDKDoor compares the SDK on a canned answer (floor), the same client on our wire with nothing behind it
// (wire) and with the engine (door), and the wire's own decoding and encoding without the SDK (codec).
func BenchmarkSDKDoor(b *testing.B) {
	db := New(Options{})
	createTable(b, db, "cache")
	lock := rowKey("LOCK")
	lock["lease_token"] = &types.AttributeValueMemberS{Value: "0b9c6a52-5f0f-4f39-9ab8-3f1f8d0a1a77"}
	lock["lease_expires_at"] = &types.AttributeValueMemberN{Value: "2208988830"}
	for _, row := range []map[string]types.AttributeValue{metaRow(), lock} {
		if _, err := db.As("").PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: row}); err != nil {
			b.Fatal(err)
		}
	}
	for _, bc := range benchCalls() {
		stub := func(context.Context, Call) (any, error) { return bc.out, nil }
		var body []byte
		var target string
		record := NewClient(stub, func(o *dynamodb.Options) {
			o.HTTPClient = doFunc(func(r *http.Request) (*http.Response, error) {
				body, _ = io.ReadAll(r.Body)
				target = first(r.Header, headerTarget)
				return canned{[]byte("{}")}.Do(r)
			})
		})
		if err := bc.call(record); err != nil {
			b.Fatal(err)
		}
		floor := NewClient(stub, func(o *dynamodb.Options) { o.HTTPClient = canned{awsjson.Append(nil, bc.out.(awsjson.Shape))} })
		for _, side := range []struct {
			name   string
			client *dynamodb.Client
		}{{"floor", floor}, {"wire", NewClient(stub)}, {"door", db.Client()}} {
			b.Run(bc.name+"/"+side.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := bc.call(side.client); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(bc.name+"/codec", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			var answer []byte
			for b.Loop() {
				var err error
				call := wireCall{target: target, body: body}
				if answer, _, err = call.serve(context.Background(), stub, answer[:0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

type doFunc func(*http.Request) (*http.Response, error)

func (f doFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }
