package awsjson

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
	"github.com/isr-sim/isr-sim/ddbfake/internal/sdktest"
)

// A record as the engine keeps it is encoded to the byte as the SDK's output is.
func TestRecordOutput(t *testing.T) {
	all, err := attr.FromSDK(sdktest.Value(2))
	if err != nil {
		t.Fatal(err)
	}
	consumed := &types.ConsumedCapacity{TableName: aws.String("cache"), CapacityUnits: aws.Float64(0.5)}
	for _, it := range []attr.Item{
		{},
		{"pk": attr.S("a")},
		{"all": all, "pk": attr.S("é\"\\\n\x00\u2028<>&"), `a "quoted" key`: attr.BOOL(true), "ключ": attr.NULL{}},
		{"n": attr.Int(-42), "empty": attr.M{}, "none": attr.L{}, "blob": attr.B{}},
	} {
		for _, read := range []*dynamodb.GetItemOutput{{}, {ConsumedCapacity: consumed}} {
			want := Append(nil, &dynamodb.GetItemOutput{Item: it.ToSDK(), ConsumedCapacity: read.ConsumedCapacity})
			record := packed.Of(it)
			got := Append(nil, &RecordOutput{read, &record})
			if string(got) != string(want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
	}
}
