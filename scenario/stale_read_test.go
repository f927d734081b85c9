package scenario_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/internal/scenariotest"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// reader writes a META row twice and reads it.
type reader struct {
	isr.Config
	consistent bool
}

func (r reader) Get(ctx context.Context, key string) (isr.Served, error) {
	meta := pagecache.Meta{PK: isr.PartitionKey("", key), S3Key: "first", GeneratedAt: 1, RevalidateSeconds: 1}
	for _, body := range []string{"first", "second"} {
		meta.S3Key = body
		if _, err := r.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &r.Table, Item: meta.Item()}); err != nil {
			return isr.Served{}, err
		}
	}
	out, err := r.Client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &r.Table, Key: pagecache.Key(meta.PK, isr.SortMeta), ConsistentRead: &r.consistent})
	if err != nil {
		return isr.Served{}, err
	}
	body, ok := out.Item["s3_key"].(*types.AttributeValueMemberS)
	if !ok {
		return isr.Served{}, nil
	}
	return isr.Served{Body: []byte(body.Value)}, nil
}

// The schedule decides whether an eventually consistent read is stale; a strongly consistent one never is, and then the
// campaign has not reached it.
func TestStaleReadsAreTheSchedulesChoice(t *testing.T) {
	s, err := scenario.Parse("f.yaml", []byte("name: reads\nactors: [{name: alice, script: [get /home]}]\n"+
		"faults: [maybe stale-read op=GetItem]\nreach: [stale-read]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, consistent := range []bool{false, true} {
		p := isr.Protocol{Name: "reader", New: func(cfg isr.Config) (isr.Handler, error) { return reader{cfg, consistent}, nil }}
		seen := map[bool]bool{}
		for seed := range uint64(20) {
			text, o := scenariotest.Trace(t, scenario.Run{Scenario: s, Protocol: p, Seed: seed})
			stale := strings.Contains(text, "(eventually consistent) -> body first")
			seen[stale] = true
			if reached := slices.Contains(o.Marks, scenario.Mark("stale-read")); reached != stale {
				t.Errorf("consistent %v, seed %d: the mark is reached: %v, want %v\n%s", consistent, seed, reached, stale, text)
			}
		}
		if !seen[false] || seen[true] == consistent {
			t.Errorf("consistent %v: seen stale: %v, seen as it is: %v", consistent, seen[true], seen[false])
		}
	}
}
