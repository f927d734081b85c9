package ddbfake_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

const cacheARN = "arn:aws:dynamodb:us-east-1:000000000000:table/cache"

// tagsOf returns a table's tags in the order in which they are listed.
func tagsOf(t *testing.T, c *ddbfake.Door, arn string) (tags []string) {
	t.Helper()
	out := must.Of(c.ListTagsOfResource(t.Context(), &dynamodb.ListTagsOfResourceInput{ResourceArn: &arn}))(t)
	for _, tag := range out.Tags {
		tags = append(tags, *tag.Key+"="+*tag.Value)
	}
	return tags
}

func tag(key, value string) types.Tag { return types.Tag{Key: &key, Value: &value} }

func TestCreateTableWithTags(t *testing.T) {
	db := ddbfake.New(ddbfake.Options{})
	c := db.As("test")
	in := createInput(func(in *dynamodb.CreateTableInput) { in.Tags = []types.Tag{tag("env", "test")} })
	out := must.Of(c.CreateTable(t.Context(), in))(t)
	arn := *out.TableDescription.TableArn
	if d := cmp.Diff([]string{"env=test"}, tagsOf(t, c, arn)); d != "" {
		t.Error(d)
	}
	must.Done(t)(c.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: in.TableName}))
	in.Tags = nil
	must.Done(t)(c.CreateTable(t.Context(), in))
	if got := tagsOf(t, c, arn); got != nil {
		t.Errorf("another table of that name: got %v, want no tags", got)
	}
}

// ARNs that name no table. The cases of package conformance have others.
func TestBadARNs(t *testing.T) {
	const prefix = "One or more parameter values were invalid: "
	w := newWorld(t, ddbfake.LagManual)
	for arn, want := range map[string]struct{ code, message string }{
		"":            {validation, prefix + "ARNs must start with 'arn:': "},
		"arn":         {validation, prefix + "ARNs must start with 'arn:': arn"},
		"arn:sth":     {validation, prefix + "Second colon partition not found: arn:sth"},
		"arn:sth:aws": {validation, prefix + "Third colon vendor not found: arn:sth:aws"},
		"arn:aws:dynamodb:us-east-1": {validation,
			prefix + "Fourth colon (region/namespace delimiter) not found: arn:aws:dynamodb:us-east-1"},
		"arn:aws:dynamodb:us-east-1:1": {validation,
			prefix + "Fifth colon (namespace/relative-id delimiter) not found: arn:aws:dynamodb:us-east-1:1"},
		"arn:aws:dynamodb:us-east-1::table": {"AccessDeniedException", "Access is denied"},
		"arn:aws:dynamodb:eu-west-1:000000000000:table/cache": {validation,
			"Invalid TableArn: Invalid ResourceArn provided as input " +
				"arn:aws:dynamodb:eu-west-1:000000000000:table/cache"},
		"arn:aws:dynamodb:us-east-1:000000000000:table/ab": {validation,
			"Invalid TableArn: Invalid ResourceArn provided as input arn:aws:dynamodb:us-east-1:000000000000:table/ab"},
		"arn:aws:dynamodb:us-east-1:000000000000:global/x": {validation,
			prefix + "Provided Arn is not a DynamoDB resource arn: arn:aws:dynamodb:us-east-1:000000000000:global/x"},
		cacheARN + "/stream/2040-01-01T00:00:00.000": {"ResourceNotFoundException",
			"Requested resource not found: ResourceArn: " + cacheARN + "/stream/2040-01-01T00:00:00.000 not found"},
	} {
		t.Run(arn, func(t *testing.T) {
			_, err := w.c.ListTagsOfResource(t.Context(), &dynamodb.ListTagsOfResourceInput{ResourceArn: &arn})
			wantError(t, err, want.code, want.message)
		})
	}
	_, err := w.c.ListTagsOfResource(t.Context(),
		&dynamodb.ListTagsOfResourceInput{ResourceArn: aws.String(cacheARN), NextToken: aws.String("x")})
	wantError(t, err, "UnknownOperationException",
		"ddbfake does not support the parameter NextToken of ListTagsOfResource")
}
