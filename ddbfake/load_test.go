package ddbfake_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

const createJSON = `{"TableName": "cache", "BillingMode": "PAY_PER_REQUEST",
  "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
  "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]}`

// Each form is read, and several in one file.
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
			// A table that exists does not change, and rows replace rows with the same keys.
			if err := db.Load("", strings.NewReader(text)); err != nil || len(db.Items("cache")) != 3 {
				t.Errorf("loaded again: got %v and %d rows, want 3", err, len(db.Items("cache")))
			}
		})
	}
}

// A text that cannot be loaded is refused with the line, and nothing is loaded.
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

// A table's settings come back: keys, indexes, billing, class, encryption, protection, stream, TTL and tags.
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

// No text breaks Load, whatever is in it.
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
