package scenario

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// TestWhatANodeNamesTellsThePage follows the requests of one question.
func TestWhatANodeNamesTellsThePage(t *testing.T) {
	home := page{key: "/home"}
	own := isr.PartitionKey("", home.key)
	get := func(pk, sk string) any { return &dynamodb.GetItemInput{Key: pagecache.Key(pk, sk)} }
	for _, test := range []struct {
		name  string
		calls []any
		want  string
	}{
		{"nothing", nil, ""},
		{"one page", []any{get("CACHE#/home", "META"), get("CACHE#/home", "LOCK")}, "CACHE#/home"},
		{"rows of another kind do not count", []any{get("CACHE#/home", "META"), get("TAG#1", "TAG")}, "CACHE#/home"},
		{"two pages", []any{get("CACHE#/home", "META"), get("CACHE#/about", "LOCK")}, ""},
		{"two pages, one of them by the schema", []any{get("CACHE#/about", "META"), get(own, "LOCK")}, own},
		{"a transaction", []any{&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{Item: pagecache.Key("CACHE#/home", "META")}}, {Delete: &types.Delete{Key: pagecache.Key("CACHE#/home", "LOCK")}},
			{Update: &types.Update{Key: pagecache.Key("STATS", "DAY")}}, {ConditionCheck: &types.ConditionCheck{Key: pagecache.Key("STATS", "DAY")}}, {},
		}}}, "CACHE#/home"},
		{"what is read in a batch or a transaction", []any{
			&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"cache": {Keys: []map[string]types.AttributeValue{pagecache.Key("CACHE#/home", "META")}}}},
			&dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{{Get: &types.Get{Key: pagecache.Key("CACHE#/about", "META")}}}},
		}, ""},
		{"keys that are not strings", []any{&dynamodb.GetItemInput{Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberN{Value: "1"}}}}, ""},
	} {
		var a named
		for _, call := range test.calls {
			a.note(call, nil)
		}
		if got := a.partition(home); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
