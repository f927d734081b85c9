package kernel_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// hesitant looks at the lock a number of times before it asks the reference, and waits after each look. The visitor
// does not hesitate.
type hesitant struct {
	isr.Handler
	cfg   isr.Config
	looks int
	notes bool // each look leaves a row
}

func (h hesitant) Get(ctx context.Context, page string) (isr.Served, error) {
	lock := pagecache.Key("p", isr.SortLock)
	for range h.looks {
		_, _ = h.cfg.Client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &h.cfg.Table, Key: lock})
		if h.notes {
			note := pagecache.Key("p", h.cfg.Tokens())
			_, _ = h.cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &h.cfg.Table, Item: note})
		}
		h.cfg.Clock.Sleep(time.Second)
	}
	return h.Handler.Get(ctx, page)
}

func TestALivelockIsACycleWithoutAFaultThatOutlastsTheScenariosTime(t *testing.T) {
	const often = 1000
	for _, test := range []struct {
		name, scenario string
		looks          int
		notes          bool
		livelock       bool
	}{
		{"it looks for ever", "settle: 30s", often, false, true},
		{"it gives up in time", "settle: 30s", 90, false, false},
		{"it gives up after many rounds, and in time", "settle: 200s", 150, false, false},
		{"a fault in each round", "settle: 30s\nfaults: [throttled op=GetItem actor=alice times=always]", often, false,
			false},
		{"a row more in each round", "settle: 30s", often, true, false},
		{"nothing is promised", "settle: 0s", often, false, false},
		{"liveness is not judged", "settle: 30s\nwithout: [liveness]", often, false, false},
	} {
		s := scenariotest.Parsed(t, "name: hesitant\ncache: {attempts: 1}\nbounds: {ticks: 0}\n"+
			"actors: [{name: alice, script: [get /home]}]\n"+test.scenario+"\n")
		p := isr.Protocol{Name: "hesitant", New: func(cfg isr.Config) (isr.Handler, error) {
			h, err := recipe.Reference().New(cfg)
			if strings.HasPrefix(cfg.Tokens(), "visitor") {
				return h, err
			}
			return hesitant{h, cfg, test.looks, test.notes}, err
		}}
		r := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Protocol: p, Schedules: 1})
		got := r.Failure != nil && strings.HasPrefix(r.Failure.Violation.Why, "alice is never served: ")
		if got != test.livelock {
			t.Errorf("%s: %v %s, want a livelock: %v", test.name, r.Verdict, r.Why, test.livelock)
		}
	}
}
