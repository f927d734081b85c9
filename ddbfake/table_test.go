package ddbfake_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

func definition(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
	return types.AttributeDefinition{AttributeName: &name, AttributeType: kind}
}

func keyElement(name string, kind types.KeyType) types.KeySchemaElement {
	return types.KeySchemaElement{AttributeName: &name, KeyType: kind}
}

// createInput returns a valid CreateTable; change breaks it in one place.
func createInput(change func(in *dynamodb.CreateTableInput)) *dynamodb.CreateTableInput {
	in := tableInput("fresh", "pk", "S", "sk", "N")
	change(in)
	return in
}

// Package conformance has further cases.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CreateTable.html
func TestCreateTableErrors(t *testing.T) {
	for _, tc := range []struct {
		rule          string
		change        func(in *dynamodb.CreateTableInput)
		code, message string
	}{
		{"a key has two attributes at most", func(in *dynamodb.CreateTableInput) {
			in.KeySchema = append(in.KeySchema, keyElement("x", "RANGE"))
		}, validation, "1 validation error detected: Value '[KeySchemaElement(attributeName=pk, keyType=HASH), " +
			"KeySchemaElement(attributeName=sk, keyType=RANGE), KeySchemaElement(attributeName=x, keyType=RANGE)]' " +
			"at 'keySchema' failed to satisfy constraint: Member must have length less than or equal to 2"},
		{"vector indexes are refused, not ignored", func(in *dynamodb.CreateTableInput) {
			in.VectorIndexes = []types.VectorIndex{{}}
		}, "UnknownOperationException", "ddbfake does not support the parameter VectorIndexes of CreateTable"},
		{"a stream that is off is none", func(in *dynamodb.CreateTableInput) {
			in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(false)}
		}, "", ""},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			_, err := newWorld(t, ddbfake.LagManual).c.CreateTable(t.Context(), createInput(tc.change))
			wantError(t, err, tc.code, tc.message)
		})
	}
}

func TestTableLife(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.clock.Advance(time.Minute)
	created, err := w.c.CreateTable(t.Context(),
		createInput(func(in *dynamodb.CreateTableInput) { in.DeletionProtectionEnabled = aws.Bool(false) }))
	must.OK(t, err)
	if got := created.TableDescription.TableStatus; got != types.TableStatusCreating {
		t.Errorf("CreateTable: got %s, want CREATING", got)
	}
	for i := range 4 {
		item := values{"pk": s("a"), "sk": n(fmt.Sprint(i + 1))}
		must.Done(t)(w.c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("fresh"), Item: item}))
	}
	must.Done(t)(w.c.DeleteItem(t.Context(),
		&dynamodb.DeleteItemInput{TableName: aws.String("fresh"), Key: values{"pk": s("a"), "sk": n("4")}}))
	out, err := w.c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("fresh")})
	must.OK(t, err)
	d := out.Table
	got := fmt.Sprint(d.TableStatus, " ", *d.TableName, " ", *d.ItemCount, " ", *d.TableSizeBytes, " ",
		d.BillingModeSummary.BillingMode, " ", d.CreationDateTime.Sub(fakeclock.Epoch))
	if want := "ACTIVE fresh 3 21 PAY_PER_REQUEST 1m0s"; got != want {
		t.Errorf("DescribeTable: got %s, want %s", got, want)
	}
	deleted, err := w.c.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: d.TableArn})
	if err != nil || deleted.TableDescription.TableStatus != types.TableStatusDeleting {
		t.Errorf("DeleteTable: got %v, %v, want DELETING", deleted, err)
	} else if d := deleted.TableDescription; d.KeySchema != nil || d.AttributeDefinitions != nil ||
		d.CreationDateTime != nil || d.WarmThroughput != nil || d.GlobalSecondaryIndexes != nil {
		t.Errorf("DeleteTable: got %v, want no keys, no indexes, no warmth and no time of creation", d)
	}
	_, err = w.c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("fresh")})
	wantError(t, err, "ResourceNotFoundException", "Requested resource not found: Table: fresh not found")
	_, err = w.c.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("fresh")})
	wantError(t, err, "ResourceNotFoundException", "Requested resource not found: Table: fresh not found")
}

func settingsInput() *dynamodb.CreateTableInput {
	in := tableInput("rows", "pk", "S", "", "")
	in.AttributeDefinitions = append(in.AttributeDefinitions, definition("g", "S"))
	in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{{
		IndexName: aws.String("gsi"), Projection: &types.Projection{ProjectionType: "ALL"},
		KeySchema:          []types.KeySchemaElement{keyElement("g", "HASH")},
		OnDemandThroughput: &types.OnDemandThroughput{MaxReadRequestUnits: aws.Int64(7)},
		WarmThroughput:     &types.WarmThroughput{WriteUnitsPerSecond: aws.Int64(5000)},
	}}
	in.SSESpecification = &types.SSESpecification{Enabled: aws.Bool(true)}
	in.OnDemandThroughput = &types.OnDemandThroughput{
		MaxReadRequestUnits: aws.Int64(20), MaxWriteRequestUnits: aws.Int64(15),
	}
	in.WarmThroughput = &types.WarmThroughput{ReadUnitsPerSecond: aws.Int64(13000)}
	return in
}

// settings prints a table's settings as a client sees them.
func settings(d *types.TableDescription) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s", d.TableStatus)
	if b := d.BillingModeSummary; b != nil {
		fmt.Fprintf(&s, " %s since %s", b.BillingMode, b.LastUpdateToPayPerRequestDateTime.UTC().Format("15:04"))
	}
	ceiling := func(c *types.OnDemandThroughput) {
		if c != nil {
			fmt.Fprintf(&s, " at most %d/%d", aws.ToInt64(c.MaxReadRequestUnits), aws.ToInt64(c.MaxWriteRequestUnits))
		}
	}
	ceiling(d.OnDemandThroughput)
	if w := d.WarmThroughput; w != nil {
		fmt.Fprintf(&s, " warm %d/%d %s", *w.ReadUnitsPerSecond, *w.WriteUnitsPerSecond, w.Status)
	}
	if e := d.SSEDescription; e != nil {
		fmt.Fprintf(&s, " %s %s %s", e.Status, e.SSEType, aws.ToString(e.KMSMasterKeyArn))
	}
	for _, g := range d.GlobalSecondaryIndexes {
		s.WriteString("; " + *g.IndexName)
		ceiling(g.OnDemandThroughput)
		if w := g.WarmThroughput; w != nil {
			fmt.Fprintf(&s, " warm %d/%d %s", *w.ReadUnitsPerSecond, *w.WriteUnitsPerSecond, w.Status)
		}
	}
	return s.String()
}

// updates changes the settings of the index gsi.
func updates(u types.UpdateGlobalSecondaryIndexAction) []types.GlobalSecondaryIndexUpdate {
	u.IndexName = aws.String("gsi")
	return []types.GlobalSecondaryIndexUpdate{{Update: &u}}
}

// TestTableSettings checks that encryption and throughput are described as at the service, in the answer and
// afterwards, through the SDK's own client.
func TestTableSettings(t *testing.T) {
	clock := fakeclock.New(fakeclock.Epoch)
	client := ddbfake.New(ddbfake.Options{Clock: clock}).Client()
	created := must.Of(client.CreateTable(t.Context(), settingsInput()))(t)
	const index = "; gsi at most 7/0 warm 12000/5000 ACTIVE"
	key := aws.ToString(created.TableDescription.SSEDescription.KMSMasterKeyArn)
	if !strings.HasPrefix(key, "arn:aws:kms:us-east-1:000000000000:key/") {
		t.Errorf("got key %q", key)
	}
	kms := " ENABLED KMS " + key
	const on = "PAY_PER_REQUEST since 00:00"
	want := "CREATING " + on + " at most 20/15 warm 13000/4000 ACTIVE" + kms + index
	if got := settings(created.TableDescription); got != want {
		t.Errorf("created:\ngot  %s\nwant %s", got, want)
	}
	const own = "arn:aws:kms:us-east-1:000000000000:key/11111111-2222-4333-8444-555555555555"
	clock.Advance(time.Hour)
	for _, step := range []struct {
		in            dynamodb.UpdateTableInput
		answer, after string
	}{
		{dynamodb.UpdateTableInput{SSESpecification: &types.SSESpecification{
			SSEType: "KMS", KMSMasterKeyId: aws.String("11111111-2222-4333-8444-555555555555"),
		}},
			"ACTIVE " + on + " at most 20/15 warm 13000/4000 ACTIVE UPDATING KMS " + key + index,
			"ACTIVE " + on + " at most 20/15 warm 13000/4000 ACTIVE ENABLED KMS " + own + index},
		{dynamodb.UpdateTableInput{SSESpecification: &types.SSESpecification{Enabled: aws.Bool(false)}},
			"ACTIVE " + on + " at most 20/15 warm 13000/4000 ACTIVE UPDATING KMS " + own + index,
			"ACTIVE " + on + " at most 20/15 warm 13000/4000 ACTIVE" + index},
		{dynamodb.UpdateTableInput{OnDemandThroughput: &types.OnDemandThroughput{MaxWriteRequestUnits: aws.Int64(-1)}},
			"ACTIVE " + on + " at most 20/-1 warm 13000/4000 ACTIVE" + index,
			"ACTIVE " + on + " at most 20/0 warm 13000/4000 ACTIVE" + index},
		{dynamodb.UpdateTableInput{WarmThroughput: &types.WarmThroughput{WriteUnitsPerSecond: aws.Int64(4001)}},
			"ACTIVE " + on + " at most 20/0 warm 13000/4000 UPDATING" + index,
			"ACTIVE " + on + " at most 20/0 warm 13000/4001 ACTIVE" + index},
		{dynamodb.UpdateTableInput{GlobalSecondaryIndexUpdates: updates(types.UpdateGlobalSecondaryIndexAction{
			OnDemandThroughput: &types.OnDemandThroughput{
				MaxReadRequestUnits: aws.Int64(8), MaxWriteRequestUnits: aws.Int64(9),
			},
			WarmThroughput: &types.WarmThroughput{ReadUnitsPerSecond: aws.Int64(12001)}})},
			"UPDATING " + on + " at most 20/0 warm 13000/4001 ACTIVE; gsi at most 8/9 warm 12001/5000 ACTIVE",
			"ACTIVE " + on + " at most 20/0 warm 13000/4001 ACTIVE; gsi at most 8/9 warm 12001/5000 ACTIVE"},
		{dynamodb.UpdateTableInput{
			BillingMode: "PROVISIONED", ProvisionedThroughput: units(5, 5000),
			GlobalSecondaryIndexUpdates: updates(types.UpdateGlobalSecondaryIndexAction{
				ProvisionedThroughput: units(1, 1)})},
			"UPDATING PROVISIONED since 00:00 warm 13000/5000 ACTIVE; gsi warm 12001/5000 ACTIVE",
			"ACTIVE PROVISIONED since 00:00 warm 13000/5000 ACTIVE; gsi warm 12001/5000 ACTIVE"},
		{dynamodb.UpdateTableInput{BillingMode: "PAY_PER_REQUEST"},
			"UPDATING PAY_PER_REQUEST since 01:00 warm 13000/5000 ACTIVE; gsi warm 12001/5000 ACTIVE",
			"ACTIVE PAY_PER_REQUEST since 01:00 warm 13000/5000 ACTIVE; gsi warm 12001/5000 ACTIVE"},
	} {
		step.in.TableName = aws.String("rows")
		out, err := client.UpdateTable(t.Context(), &step.in)
		if err != nil {
			t.Fatalf("%+v: %v", step.in, err)
		}
		if got := settings(out.TableDescription); got != step.answer {
			t.Errorf("answer:\ngot  %s\nwant %s", got, step.answer)
		}
		after, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("rows")})
		must.OK(t, err)
		if got := settings(after.Table); got != step.after {
			t.Errorf("afterwards:\ngot  %s\nwant %s", got, step.after)
		}
	}
}

// A provisioned table that was never paid per request has no BillingModeSummary, and the answer to its CreateTable
// shows no warm throughput unless asked for.
func TestBillingModeSummaryOfProvisioned(t *testing.T) {
	in := settingsInput()
	in.BillingMode = ""
	units := units(3, 4)
	in.ProvisionedThroughput, in.OnDemandThroughput, in.WarmThroughput, in.SSESpecification = units, nil, nil, nil
	g := &in.GlobalSecondaryIndexes[0]
	g.ProvisionedThroughput, g.OnDemandThroughput, g.WarmThroughput = units, nil, nil
	out := must.Of(ddbfake.New(ddbfake.Options{}).As("alice").CreateTable(t.Context(), in))(t)
	if got, want := settings(out.TableDescription), "CREATING; gsi"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
