package scenario_test

import (
	"context"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/internal/scenariotest"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// locker takes a lock, and does not ask for the row that refuses it unless it is told to.
type locker struct {
	isr.Config
	values types.ReturnValuesOnConditionCheckFailure
}

func (l locker) Get(ctx context.Context, key string) (isr.Served, error) {
	row := pagecache.Key(isr.PartitionKey("", key), isr.SortLock)
	row["lease_token"] = &types.AttributeValueMemberS{Value: l.Tokens()}
	row["lease_expires_at"] = &types.AttributeValueMemberN{Value: "99999999999"}
	_, err := l.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &l.Table, Item: row, ConditionExpression: aws.String("attribute_not_exists(pk)"), ReturnValuesOnConditionCheckFailure: l.values,
	})
	return isr.Served{}, err
}

// A put of a lock that is sent again after a lost response meets its own row, whether or not it asks which row that is.
// A put that meets the row of another one does not, and neither does one whose first attempt did not take effect.
func TestALockMeetsItsOwnRow(t *testing.T) {
	for _, test := range []struct {
		name, fault, script string
		want                bool
	}{
		{"its response was lost", "response-lost op=PutItem", "get /home", true},
		{"its request was lost", "request-lost op=PutItem", "get /home", false},
		{"the row is of another put", "request-lost op=PutItem nth=2", "get /home, get /home", false},
	} {
		for _, values := range []types.ReturnValuesOnConditionCheckFailure{"", types.ReturnValuesOnConditionCheckFailureAllOld} {
			s, err := scenario.Parse("f.yaml", []byte("name: own\ncache: {attempts: 2}\nactors: [{name: alice, script: ["+test.script+"]}]\nfaults: ["+test.fault+"]\n"))
			if err != nil {
				t.Fatal(err)
			}
			p := isr.Protocol{Name: "locker", New: func(cfg isr.Config) (isr.Handler, error) { return locker{cfg, values}, nil }}
			text, o := scenariotest.Trace(t, scenario.Run{Scenario: s, Protocol: p, Seed: 1})
			if got := slices.Contains(o.Marks, scenario.OwnCommitMet); got != test.want {
				t.Errorf("%s, it asks for %q: own-commit-met %v, want %v\n%s", test.name, values, got, test.want, text)
			}
		}
	}
}
