package packed

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// metaRow is a row as a cache has it.
var metaRow = map[string]types.AttributeValue{
	"pk":                 &types.AttributeValueMemberS{Value: "CACHE#9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
	"sk":                 &types.AttributeValueMemberS{Value: "META"},
	"s3_key":             &types.AttributeValueMemberS{Value: "pages/9f86d081884c7d65/0000000042.html"},
	"generated_at":       &types.AttributeValueMemberN{Value: "2208988800"},
	"revalidate_seconds": &types.AttributeValueMemberN{Value: "60"},
	"etag":               &types.AttributeValueMemberS{Value: `"5d41402abc4b2a76b9719d911017c592"`},
	"ttl":                &types.AttributeValueMemberN{Value: "2209075200"},
}

func BenchmarkFromSDK(b *testing.B) {
	b.Run("like=nothing", func(b *testing.B) { benchmarkFromSDK(b, nil) })
	b.Run("like=the-same", func(b *testing.B) {
		like, _, err := FromSDK(metaRow, nil)
		if err != nil {
			b.Fatal(err)
		}
		benchmarkFromSDK(b, &like)
	})
}

func benchmarkFromSDK(b *testing.B, like *Record) {
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := FromSDK(metaRow, like); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkToSDK(b *testing.B) {
	row, err := attr.ItemFromSDK(metaRow)
	if err != nil {
		b.Fatal(err)
	}
	record := Of(row)
	texts := record.Texts()
	b.ReportAllocs()
	for b.Loop() {
		record.ToSDK(texts)
	}
}
