package tables

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

func load(t *testing.T, text string) (*ddbfake.DB, []string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	must.OK(t, os.WriteFile(file, []byte(text), 0o600))
	db := ddbfake.New(ddbfake.Options{})
	skipped, err := Load(db, "eu-west-1", file)
	return db, skipped, err
}

const sam = `# A template of SAM.
Transform: AWS::Serverless-2016-10-31
Parameters:
  Stage: {Type: String, Default: test}
Resources:
  Cache:
    Type: AWS::DynamoDB::Table
    DeletionPolicy: Retain
    Properties:
      TableName: !Sub "${Stage}-cache"
      BillingMode: PROVISIONED
      ProvisionedThroughput: {ReadCapacityUnits: "5", WriteCapacityUnits: 6}
      AttributeDefinitions:
        - {AttributeName: pk, AttributeType: S}
        - {AttributeName: sk, AttributeType: S}
      KeySchema: &keys
        - {AttributeName: pk, KeyType: HASH}
        - {AttributeName: sk, KeyType: RANGE}
      GlobalSecondaryIndexes:
        - IndexName: reversed
          KeySchema: [{AttributeName: sk, KeyType: HASH}]
          Projection: {ProjectionType: ALL}
          ProvisionedThroughput: {ReadCapacityUnits: 1, WriteCapacityUnits: 1}
      TimeToLiveSpecification: {AttributeName: ttl, Enabled: "true"}
      StreamSpecification: {StreamViewType: NEW_AND_OLD_IMAGES}
      PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: true}
      Tags:
        - Key: region
          Value: !Ref AWS::Region
  Locks:
    Type: AWS::Serverless::SimpleTable
    Properties:
      PrimaryKey: {Name: lock, Type: String}
      Tags: {team: web}
  Site:
    Type: AWS::S3::Bucket
`

// Load makes the tables that templates, plans and the CLI's JSON describe.
func TestLoad(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string // tables, each with the settings that it must have
		rows int      // the number of rows of the first table
	}{
		"SAM, in YAML": {sam,
			[]string{"Locks lock tags=web",
				"test-cache pk sk gsi=1 ttl=ttl stream=NEW_AND_OLD_IMAGES read=5 tags=eu-west-1"}, 0},
		"CDK, in JSON": {`{"Resources": {"Cache4F2": {"Type": "AWS::DynamoDB::GlobalTable", "Properties": {
			"AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}], "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
			"BillingMode": "PAY_PER_REQUEST", "Replicas": [{"Region": {"Ref": "AWS::Region"}, "TableName": {"Ref": "AWS::NoValue"}}],
			"TableName": {"Fn::Join": ["-", ["cache", {"Ref": "AWS::AccountId"}]]}}}}}`,
			[]string{"cache-000000000000 pk"}, 0},
		"Terraform's plan": {`{"format_version": "1.2", "terraform_version": "1.9.0", "planned_values": {"root_module": {"child_modules": [{"resources": [
			{"address": "module.c.aws_dynamodb_table.cache", "type": "aws_dynamodb_table", "values": {"name": "cache", "billing_mode": "PAY_PER_REQUEST", "hash_key": "pk", "range_key": "sk",
			 "attribute": [{"name": "pk", "type": "S"}, {"name": "sk", "type": "S"}], "stream_enabled": true, "stream_view_type": "KEYS_ONLY", "table_class": null,
			 "global_secondary_index": [{"name": "reversed", "hash_key": "sk", "range_key": "", "projection_type": "INCLUDE", "non_key_attributes": ["x"], "read_capacity": null}],
			 "ttl": [{"attribute_name": "ttl", "enabled": true}], "tags": {"team": "web"}}}]}],
			"resources": [{"address": "aws_dynamodb_table_item.one", "type": "aws_dynamodb_table_item", "values": {"table_name": "cache", "item": "{\"pk\":{\"S\":\"a\"},\"sk\":{\"S\":\"b\"}}"}}]}}}`,
			[]string{"cache pk sk gsi=1 ttl=ttl stream=KEYS_ONLY tags=web"}, 1},
		"the AWS CLI's JSON": {`{"TableName": "cache", "BillingMode": "PAY_PER_REQUEST", "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
			"KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]} {"cache": [{"PutRequest": {"Item": {"pk": {"S": "a"}}}}]}`, []string{"cache pk"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			db, _, err := load(t, c.text)
			must.OK(t, err)
			var got []string
			for _, arn := range db.Tables() {
				got = append(got, describe(t, db, arn))
			}
			if strings.Join(got, "; ") != strings.Join(c.want, "; ") {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if n := len(db.Items(db.Tables()[0])); n != c.rows {
				t.Errorf("got %d rows, want %d", n, c.rows)
			}
		})
	}
}

// Settings that the reader of Terraform skips are named, except those with Terraform's default.
func TestTerraformTells(t *testing.T) {
	const base = `"name": "cache", "billing_mode": "PAY_PER_REQUEST", "hash_key": "pk", "read_capacity": 0,
		"attribute": [{"name": "pk", "type": "S"}], "arn": "arn:aws:dynamodb:x", "id": "cache", "timeouts": null`
	for values, want := range map[string]string{
		`"point_in_time_recovery": [{"enabled": true, "recovery_period_in_days": 35}]`:                       "point_in_time_recovery",
		`"point_in_time_recovery": [{"enabled": false}], "replica": [], "restore_to_latest_time": null`:      "",
		`"replica": [{"region_name": "eu-west-2", "point_in_time_recovery": false}]`:                         "replica",
		`"on_demand_throughput": [{"max_read_request_units": 9}]`:                                            "on_demand_throughput",
		`"server_side_encryption": [{"enabled": true, "kms_key_arn": ""}]`:                                   "",
		`"local_secondary_index": [{"name": "x", "range_key": "pk", "projection_type": "ALL", "new": true}]`: "local_secondary_index x: new",
	} {
		_, skipped, err := read([]byte(`{"terraform_version": "1.9.0", "values": {"root_module": {"resources": [{
			"address": "aws_dynamodb_table.cache", "type": "aws_dynamodb_table", "values": {`+base+", "+values+"}}]}}}"), "")
		must.OK(t, err)
		if want != "" {
			want = "resource aws_dynamodb_table.cache: " + want + " is left out"
		}
		if got := strings.Join(skipped, "; "); got != want {
			t.Errorf("%s: got %q, want %q", values, got, want)
		}
	}
	db, _, err := load(t, `{"terraform_version": "1.9.0", "values": {"root_module": {"resources": [{
		"address": "c", "type": "aws_dynamodb_table", "values": {`+base+`, "server_side_encryption": [{"enabled": true,
			"kms_key_arn": "arn:aws:kms:eu-west-1:000000000000:key/k"}]}}]}}}`)
	must.OK(t, err)
	out, err := db.As("alice").In("eu-west-1").DescribeTable(t.Context(),
		&dynamodb.DescribeTableInput{TableName: aws.String("cache")})
	if err != nil || out.Table.SSEDescription == nil || out.Table.SSEDescription.SSEType != "KMS" {
		t.Errorf("got %+v and %v, want the encryption", out, err)
	}
}

// describe describes a table in words.
func describe(t *testing.T, db *ddbfake.DB, arn string) string {
	t.Helper()
	client := db.As("alice").In("eu-west-1")
	out, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &arn})
	must.OK(t, err)
	d := out.Table
	words := []string{aws.ToString(d.TableName)}
	for _, k := range d.KeySchema {
		words = append(words, aws.ToString(k.AttributeName))
	}
	if n := len(d.GlobalSecondaryIndexes); n > 0 {
		words = append(words, "gsi=1")
	}
	ttl, err := client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &arn})
	must.OK(t, err)
	if a := aws.ToString(ttl.TimeToLiveDescription.AttributeName); a != "" {
		words = append(words, "ttl="+a)
	}
	if d.StreamSpecification != nil {
		words = append(words, "stream="+string(d.StreamSpecification.StreamViewType))
	}
	if n := aws.ToInt64(d.ProvisionedThroughput.ReadCapacityUnits); n > 0 {
		words = append(words, "read=5")
	}
	tags, err := db.Do(t.Context(),
		ddbfake.Call{Region: "eu-west-1", Input: &dynamodb.ListTagsOfResourceInput{ResourceArn: d.TableArn}})
	must.OK(t, err)
	if of, _ := tags.(*dynamodb.ListTagsOfResourceOutput); len(of.Tags) > 0 {
		words = append(words, "tags="+aws.ToString(of.Tags[0].Value))
	}
	return strings.Join(words, " ")
}

// Skipped settings are named, and a malformed text is refused with the position.
func TestLoadTells(t *testing.T) {
	_, skipped, err := load(t, sam)
	if err != nil || len(skipped) != 1 || skipped[0] != "resource Cache: PointInTimeRecoverySpecification is left out" {
		t.Errorf("got %q and %v, want the recovery", skipped, err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"nothing":      {"", "found nothing in it"},
		"no YAML":      {"Resources:\n  - a: [b\n", "found no YAML"},
		"another file": {"services:\n  db: {image: x}\n", "found YAML without Resources"},
		"no table":     {"Resources:\n  Site: {Type: AWS::S3::Bucket}\n", "found no table in it"},
		"an unknown property": {"Resources:\n  C: {Type: AWS::DynamoDB::Table, Properties: {Tablename: x}}\n",
			"resource C: found the property Tablename"},
		"a parameter without value": {
			"Parameters:\n  S: {Type: String}\nResources:\n" +
				"  C: {Type: AWS::DynamoDB::Table, Properties: {TableName: !Ref S}}\n",
			"resource C: TableName: found the parameter S without a default",
		},
		"a reference to nothing": {
			"Resources:\n  C: {Type: AWS::DynamoDB::Table, Properties: {TableName: !Sub \"${X}\"}}\n",
			"found Ref of X, which is no parameter and no resource",
		},
		"another function": {
			"Resources:\n  C: {Type: AWS::DynamoDB::Table, Properties: {TableName: !ImportValue x}}\n",
			"found Fn::ImportValue",
		},
		"an anchor that is not": {"Resources:\n  C: *none\n", ""},
		"a table that is refused": {"Resources:\n  C: {Type: AWS::DynamoDB::Table, Properties: {KeySchema: []}}\n",
			"table C: "},
		"JSON that is none": {"{\"TableName\": \"x\",\n}", "line 2: found no JSON"},
		"an item that is none": {
			`{"terraform_version": "1", "values": {"root_module": {"resources": [{"address": "a.b", "type": "aws_dynamodb_table_item", "values": {"item": "{"}}]}}}`, "a.b: item: found no JSON",
		},
	} {
		if _, _, err := load(t, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q in it", name, err, c.want)
		}
	}
}

// No template makes Load panic.
func FuzzRead(f *testing.F) {
	f.Add([]byte(sam))
	f.Fuzz(func(_ *testing.T, text []byte) { _, _, _ = read(text, "eu-west-1") })
}
