package ddbfake_test

import (
	"fmt"
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

// createInput returns a valid CreateTable; each case breaks it in one place.
func createInput(change func(in *dynamodb.CreateTableInput)) *dynamodb.CreateTableInput {
	in := tableInput("fresh", "pk", "S", "sk", "N")
	change(in)
	return in
}

// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CreateTable.html
func TestCreateTableErrors(t *testing.T) {
	for _, tc := range []struct {
		rule          string
		change        func(in *dynamodb.CreateTableInput)
		code, message string
	}{
		{"a name is required", func(in *dynamodb.CreateTableInput) { in.TableName = nil }, validation,
			"The parameter 'TableName' is required but was not present in the request"},
		{"of three characters at least", func(in *dynamodb.CreateTableInput) {
			in.TableName = aws.String("ab")
		}, validation,
			"1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: Member must have " +
				"length greater than or equal to 3"},
		{"a key is required", func(in *dynamodb.CreateTableInput) { in.KeySchema = nil }, validation,
			"1 validation error detected: Value null at 'keySchema' failed to satisfy constraint: Member must " +
				"not be null"},
		{"of two attributes at most", func(in *dynamodb.CreateTableInput) {
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
