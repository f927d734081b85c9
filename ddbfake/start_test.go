package ddbfake_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

var (
	_ ddbfake.TB = (*testing.T)(nil)
	_ ddbfake.TB = (*testing.B)(nil)
	_ ddbfake.TB = (*testing.F)(nil)
)

// fakeTest is a test that ends when told to.
type fakeTest struct {
	failed   bool
	lines    []string
	cleanups []func()
}

func (f *fakeTest) Helper()           {}
func (f *fakeTest) Cleanup(do func()) { f.cleanups = append(f.cleanups, do) }
func (f *fakeTest) Failed() bool      { return f.failed }
func (f *fakeTest) Logf(format string, args ...any) {
	f.lines = append(f.lines, fmt.Sprintf(format, args...))
}

func (f *fakeTest) end() []string {
	for _, do := range f.cleanups {
		do()
	}
	return f.lines
}

// Only a failed test gets a report of the DB.
func TestStart(t *testing.T) {
	for _, failed := range []bool{false, true} {
		f := &fakeTest{failed: failed}
		db := ddbfake.Start(f, ddbfake.Options{})
		table(t, db, "cache", "pk", "S", "sk", "S")
		must.OK(t, db.Put("cache", attr.Item{"pk": attr.S("a"), "sk": attr.S("META")}))
		for _, text := range []string{"response-lost op=DeleteItem", "throttled op=Query"} {
			fault := must.Of(ddbfake.ParseFault(text))(t)
			db.Inject(fault)
		}
		alice := db.As("alice")
		_, _ = alice.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("cache"), Item: key("a", "META"),
			ConditionExpression: aws.String("attribute_not_exists(pk)"),
		})
		_, _ = alice.DeleteItem(t.Context(),
			&dynamodb.DeleteItemInput{TableName: aws.String("cache"), Key: key("a", "LOCK")})
		_, _ = alice.TransactWriteItems(t.Context(),
			&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				putAction(with(key("a", "LOCK"), "x", n("1"))), deleteAction(key("a", "META")),
			}})
		_, _ = alice.GetItem(t.Context(),
			&dynamodb.GetItemInput{TableName: aws.String("nowhere"), Key: key("a", "LOCK")})
		var want []string
		if failed {
			want = []string{
				`ddbfake: request 1 setup CreateTable cache: ok`,
				`ddbfake: request 2 PutItem cache{pk: "a", sk: "META"}: ok`,
				`ddbfake: request 3 alice PutItem cache{pk: "a", sk: "META"}: ConditionalCheckFailedException: The conditional request failed`,
				`ddbfake: request 4 alice DeleteItem cache{pk: "a", sk: "LOCK"}: ddbfake: DeleteItem: the connection was lost before a response was read (response-lost op=DeleteItem)`,
				`ddbfake: request 5 alice TransactWriteItems cache{pk: "a", sk: "LOCK"}, cache{pk: "a", sk: "META"}: ok`,
				`ddbfake: request 6 alice GetItem nowhere: ResourceNotFoundException: Requested resource not found`,
				`ddbfake: row of cache {pk: "a", sk: "LOCK", x: 1}`,
				`ddbfake: fault still waits: throttled op=Query`,
			}
		}
		if d := cmp.Diff(want, f.end()); d != "" {
			t.Errorf("failed %v: log (-want +got):\n%s", failed, d)
		}
	}
}

// The log of requests keeps the latest requests; by default it keeps none.
func TestRequestsAreBounded(t *testing.T) {
	for _, keep := range []int{-1, 0, 1, 3, 10} {
		db := ddbfake.New(ddbfake.Options{LogRequests: keep})
		for range 7 {
			must.Done(t)(db.As("alice").ListTables(t.Context(), &dynamodb.ListTablesInput{}))
		}
		var got, want []int
		for _, r := range db.Requests() {
			got = append(got, r.ID)
		}
		for id := max(8-max(keep, 0), 1); id <= 7; id++ {
			want = append(want, id)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("LogRequests %d (-want +got):\n%s", keep, d)
		}
	}
}

// Put goes through the engine, but no injected fault hits it.
func TestPut(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.db.Inject(ddbfake.Fault{Kind: ddbfake.FaultErrorBefore, Times: ddbfake.Always})
	row := func(sk string) attr.Item { return attr.Item{"pk": attr.S("a"), "sk": attr.S(sk)} }
	if err := w.db.Put("cache", row("1"), row("2")); err != nil {
		t.Error(err)
	}
	err := w.db.Put("cache", row("3"), attr.Item{"pk": attr.S("a")}, row("4"))
	const want = "put item 2 of 3 into cache: api error ValidationException: One or more parameter values were " +
		"invalid: Missing the key sk in the item"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if got := len(w.db.Items("cache")); got != 3 {
		t.Errorf("%d rows, want 3", got)
	}
	if last := w.db.Changes()[2]; last.Actor != "" || last.Cause != ddbfake.CauseClient || last.Request == 0 {
		t.Errorf("the change is %+v, want one of a request of actor \"\"", last)
	}
	if err := w.db.Put("nowhere", row("1")); err == nil {
		t.Error("a table that does not exist takes rows")
	}
}

const createJSON = `{"TableName": "cache", "BillingMode": "PAY_PER_REQUEST",
  "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
  "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]}`

// Each form can be loaded, and so can several in one file.
func TestLoad(t *testing.T) {
	for name, text := range map[string]string{
		"a request to create, and rows": createJSON + `
{"TableName": "cache", "Item": {"pk": {"S": "a"}, "n": {"N": "1.50"}}}
{"RequestItems": {"cache": [{"PutRequest": {"Item": {"pk": {"S": "b"}}}}]}}
{"cache": [{"PutRequest": {"Item": {"pk": {"S": "c"}}}}]}`,
		"a description, with times as the AWS CLI prints them": `{"Table": {"TableName": "cache", "TableStatus": "ACTIVE", "CreationDateTime": "2026-11-01T10:00:00+01:00",
  "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}], "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
  "ProvisionedThroughput": {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0, "NumberOfDecreasesToday": 0}, "ItemCount": 7,
  "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST", "LastUpdateToPayPerRequestDateTime": "2026-11-01T10:00:00+01:00"},
  "WarmThroughput": {"ReadUnitsPerSecond": 12000, "WriteUnitsPerSecond": 4000, "Status": "ACTIVE"}}}
{"cache": [{"PutRequest": {"Item": {"pk": {"S": "a"}}}}, {"PutRequest": {"Item": {"pk": {"S": "b"}}}}, {"PutRequest": {"Item": {"pk": {"S": "c"}}}}]}`,
		"a dump": `{"tables": [{"region": "us-east-1", "name": "cache",
  "settings": {"table": ` + createJSON + `, "timeToLive": "ttl", "tags": {"team": "web"}},
  "items": [{"pk": {"S": "a"}}, {"pk": {"S": "b"}}, {"pk": {"S": "c"}}]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			db := ddbfake.New(ddbfake.Options{Throughput: true})
			db.Inject(ddbfake.Fault{Kind: ddbfake.FaultThrottled, Times: ddbfake.Always})
			must.OK(t, db.Load("", strings.NewReader(text)))
			if n := len(db.Items("cache")); n != 3 {
				t.Errorf("got %d rows, want 3", n)
			}
			// An existing table does not change, and rows replace rows with the same keys.
			if err := db.Load("", strings.NewReader(text)); err != nil || len(db.Items("cache")) != 3 {
				t.Errorf("loaded again: got %v and %d rows, want 3", err, len(db.Items("cache")))
			}
		})
	}
}

// A bad text is refused, with the line, and nothing is loaded.
func TestLoadRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no JSON": {createJSON + "\n{\"TableName\": cache}", "line 4: found no JSON"},
		"half a file": {`{"tables": [{"name": "cache", "items": [` + "\n" + `{"pk": {"S": "a"}}, `,
			"line 2: found no JSON"},
		"an array": {"\n[1, 2]", "line 2: found [1, 2], expected an object"},
		"another object": {`{"Tabel": {}}`,
			"line 1: found an object with the members Tabel, expected a dump (tables), a table"},
		"nothing in it": {`{}`, "with the members none"},
		"no such table": {"\n" + `{"TableName": "other", "Item": {"pk": {"S": "a"}}}`,
			"line 2: table other: ResourceNotFoundException"},
		"a row without its key": {createJSON + "\n" + `{"TableName": "cache", "Item": {"x": {"S": "a"}}}`,
			"line 4: table cache: "},
		"a value of two types": {createJSON + "\n" + `{"TableName": "cache", "Item": {"pk": {"S": "a", "N": "1"}}}`,
			"line 4: "},
		"a delete": {createJSON + "\n" + `{"cache": [{"DeleteRequest": {"Key": {"pk": {"S": "a"}}}}]}`,
			"expected a PutRequest"},
		"a table without a name": {`{"tables": [{"items": []}]}`, "line 1: found a table without its name"},
		"a region that is none": {
			`{"tables": [{"region": "us:east", "name": "cache", "settings": {"table": ` + createJSON + `}}]}`, "region",
		},
		"a bad key schema": {strings.Replace(createJSON, `"HASH"`, `"HUSH"`, 1),
			"line 1: table cache: ValidationException"},
	} {
		t.Run(name, func(t *testing.T) {
			db := ddbfake.New(ddbfake.Options{})
			err := db.Load("", strings.NewReader(c.text))
			if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "api error ", ""), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
			if len(db.Tables()) > 0 || len(db.Changes()) > 0 {
				t.Errorf("got tables %v and changes %v, want none", db.Tables(), db.Changes())
			}
		})
	}
}

// Loading restores a table's settings: keys, indexes, billing, class, encryption, protection, stream, TTL and tags.
func TestLoadSettings(t *testing.T) {
	const text = `{"tables": [{"region": "eu-west-1", "name": "all", "settings": {"timeToLive": "expires", "tags": {"team": "web"}, "table": {
  "TableName": "all", "TableStatus": "ACTIVE", "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6},
  "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "N"}],
  "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
  "GlobalSecondaryIndexes": [{"IndexName": "byNumber", "IndexStatus": "ACTIVE", "KeySchema": [{"AttributeName": "sk", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "KEYS_ONLY"}, "ProvisionedThroughput": {"ReadCapacityUnits": 7, "WriteCapacityUnits": 8}}],
  "DeletionProtectionEnabled": true, "TableClassSummary": {"TableClass": "STANDARD_INFREQUENT_ACCESS"},
  "SSEDescription": {"Status": "ENABLED", "SSEType": "KMS", "KMSMasterKeyArn": "arn:aws:kms:eu-west-1:000000000000:key/k"},
  "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_IMAGE"}}}, "items": [{"pk": {"S": "a"}, "sk": {"N": "1"}}]}]}`
	db := ddbfake.New(ddbfake.Options{})
	must.OK(t, db.Load("us-east-1", strings.NewReader(text)))
	client := db.As("alice").In("eu-west-1")
	out, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("all")})
	must.OK(t, err)
	d := out.Table
	if aws.ToInt64(d.ProvisionedThroughput.ReadCapacityUnits) != 5 || len(d.GlobalSecondaryIndexes) != 1 ||
		aws.ToInt64(d.GlobalSecondaryIndexes[0].ProvisionedThroughput.WriteCapacityUnits) != 8 ||
		!aws.ToBool(d.DeletionProtectionEnabled) ||
		d.TableClassSummary.TableClass != types.TableClassStandardInfrequentAccess ||
		d.SSEDescription.SSEType != types.SSETypeKms ||
		d.StreamSpecification.StreamViewType != types.StreamViewTypeNewImage || aws.ToInt64(d.ItemCount) != 1 {
		t.Errorf("got %+v", d)
	}
	ttl, err := client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: aws.String("all")})
	if err != nil || aws.ToString(ttl.TimeToLiveDescription.AttributeName) != "expires" {
		t.Errorf("got TTL %+v and %v", ttl, err)
	}
	tags, err := client.ListTagsOfResource(t.Context(), &dynamodb.ListTagsOfResourceInput{ResourceArn: d.TableArn})
	if err != nil || len(tags.Tags) != 1 {
		t.Errorf("got tags %+v and %v", tags, err)
	}
}

// No text breaks Load, whatever its content.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(createJSON + `{"cache": [{"PutRequest": {"Item": {"pk": {"S": "c"}}}}]}`))
	f.Add([]byte(`{"tables": [{"region": "us-east-1", "name": "cache", "settings": {"table": ` + createJSON +
		`}, "items": [{"pk": {"S": "a"}}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		db := ddbfake.New(ddbfake.Options{})
		if err := db.Load("", bytes.NewReader(text)); err != nil && len(db.Tables()) > 0 {
			t.Errorf("got %v, and the tables %v", err, db.Tables())
		}
	})
}

func TestInBubble(t *testing.T) { lockInBubble(t) }
