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

// TestTableSettings: encryption and throughput are described as the service does, in the answer and afterwards, through
// the SDK's own client.
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

// A provisioned table that was never paid per request has no BillingModeSummary, and the answer to its CreateTable no
// warm throughput that was not asked for.
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
