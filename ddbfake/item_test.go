package ddbfake_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// If there are no attributes to return, Attributes is nil.
func TestUpdateReturnsNothing(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.put(key("a", "b"))
	out, err := w.c.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String("cache"), Key: key("a", "b"), ReturnValues: types.ReturnValueUpdatedOld,
		UpdateExpression: aws.String("SET x = :x"), ExpressionAttributeValues: values{":x": n("1")},
	})
	if err != nil || out.Attributes != nil {
		t.Errorf("got %v, %v, want no attributes", out, err)
	}
}

// The caller's maps and the engine's rows share nothing.
func TestInputsAndOutputsAreTheCallers(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	blob := []byte("blob")
	item := with(key("a", "b"), "blob", &types.AttributeValueMemberB{Value: blob})
	w.put(item)
	blob[0] = 'X'
	item["more"] = s("more")
	out, err := w.c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: key("a", "b")})
	must.OK(t, err)
	out.Item["pk"].(*types.AttributeValueMemberS).Value = "Y"
	out.Item["blob"].(*types.AttributeValueMemberB).Value[1] = 'Z'
	if d := diff(t, w.get(key("a", "b")).ToSDK(), with(key("a", "b"), "blob", b("blob"))); d != "" {
		t.Error(d)
	}
}
