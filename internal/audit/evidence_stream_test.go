package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/audit/evidence"
	"github.com/isr-sim/isr-sim/internal/audit/evidence/evidencetest"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// Each way out of the fake's stream leads to the records of its change log: the answer of GetRecords as it is on the
// wire, an event of Lambda, a record a line, the SDK's records, and what evidencetest writes.
func TestStreamOfTheFake(t *testing.T) {
	clock := fakeclock.New(fakeclock.Epoch)
	db := ddbfake.New(ddbfake.Options{Clock: clock, Lag: ddbfake.LagAtOnce})
	c := db.As("alice")
	name := aws.String("sessions")
	created := must.Of(c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: "HASH"}},
		StreamSpecification: &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages,
		},
	}))(t)
	must.Of(c.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName: name,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String("ttl"), Enabled: aws.Bool(true),
		},
	}))(t)
	row := map[string]types.AttributeValue{
		"id":   &types.AttributeValueMemberS{Value: "é\"\n\u2028"},
		"n":    &types.AttributeValueMemberN{Value: "-1.5E-7"},
		"b":    &types.AttributeValueMemberB{Value: []byte{0xff, 0}},
		"bool": &types.AttributeValueMemberBOOL{Value: false},
		"null": &types.AttributeValueMemberNULL{Value: true},
		"m": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
			"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberS{Value: ""}}},
		}},
		"ss":  &types.AttributeValueMemberSS{Value: []string{"b", "a"}},
		"ns":  &types.AttributeValueMemberNS{Value: []string{"10", "9"}},
		"bs":  &types.AttributeValueMemberBS{Value: [][]byte{{2}, {1}}},
		"ttl": &types.AttributeValueMemberN{Value: fmt.Sprint(fakeclock.Epoch.Unix() + 10)},
	}
	must.Of(c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name, Item: row}))(t)
	clock.Advance(1700 * time.Millisecond)
	row["n"] = &types.AttributeValueMemberN{Value: "2"}
	must.Of(c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name, Item: row}))(t)
	clock.Advance(time.Hour)

	streams := db.StreamsClient()
	streamARN := created.TableDescription.LatestStreamArn
	shards := must.Of(streams.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{
		StreamArn: streamARN,
	}))(t)
	iterator := must.Of(streams.GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{
		StreamArn: streamARN, ShardId: shards.StreamDescription.Shards[0].ShardId,
		ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
	}))(t).ShardIterator
	page := must.Of(streams.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: iterator}))(t)

	var want []evidence.Record
	for i, c := range db.Changes() {
		r := evidencetest.Of(&c)
		r.ID, r.Sequence = *page.Records[i].EventID, evidence.Sequence(*page.Records[i].Dynamodb.SequenceNumber)
		want = append(want, r)
	}
	if len(want) != 3 || want[0].After == nil || want[1].Before == nil || !want[2].TTL {
		t.Fatalf("the log is %v", want)
	}
	check := func(form string, got []evidence.Record) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-log +read):\n%s", form, diff)
		}
	}

	var converted []evidence.Record
	for i := range page.Records {
		converted = append(converted, must.Of(evidence.FromSDK(*streamARN, &page.Records[i]))(t))
	}
	check("the SDK's records", converted)

	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(
		`{"ShardIterator":`+string(must.Of(json.Marshal(*iterator))(t))+`}`))
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDBStreams_20120810.GetRecords")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=alice/20400101/us-east-1/dynamodb/aws4_request, "+
		"SignedHeaders=host, Signature=0")
	w := httptest.NewRecorder()
	db.Handler().ServeHTTP(w, r)
	answer := w.Body.Bytes()
	var raw struct{ Records []map[string]any }
	must.OK(t, json.Unmarshal(answer, &raw))
	var lines, written []byte
	for i := range raw.Records {
		raw.Records[i]["eventSourceARN"] = *streamARN
		lines = append(append(lines, must.Of(json.Marshal(raw.Records[i]))(t)...), '\n')
		written = evidencetest.AppendJSON(written, want[i])
	}
	event := must.Of(json.MarshalIndent(raw, "", "\t"))(t)
	check("an event of Lambda", records(t, event))
	check("a record a line", records(t, lines))
	check("what evidencetest writes", records(t, written))
	for i := range want {
		want[i].Table = "" // the answer does not name it
	}
	check("the answer", records(t, answer))
}

// What is kept of a stream of DynamoDB Local is read as it was.
func TestStreamOfLocal(t *testing.T) {
	want := record(1)
	want.Region, want.Unit, want.TTL, want.After = "ddblocal", time.Minute, true, nil
	want.Time = want.Time.UTC()
	if diff := cmp.Diff([]evidence.Record{want}, records(t, evidencetest.AppendJSON(nil, want))); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

// records reads the records of one file, without their places.
func records(t *testing.T, text []byte) (all []evidence.Record) {
	t.Helper()
	for _, f := range must.Of(evidence.Open([]string{"-"}, bytes.NewReader(text)))(t) {
		for e, err := range f.Entries() {
			must.OK(t, err)
			if e.Gap != nil {
				t.Fatalf("found the gap %+v", e.Gap)
			}
			e.Record.Place = evidence.Place{}
			all = append(all, *e.Record)
		}
	}
	return all
}
