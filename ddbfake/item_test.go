package ddbfake_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

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
