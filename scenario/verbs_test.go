package scenario

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// versatile is a cache that can do what the verbs of scripts ask for, in the simplest way.
type versatile struct {
	*pagecache.Cache
	cfg isr.Config
}

func newVersatile(cfg isr.Config) (isr.Handler, error) {
	cache, err := pagecache.New(cfg)
	return versatile{cache, cfg}, err
}

func (v versatile) Invalidate(ctx context.Context, key string) error {
	_, err := v.cfg.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &v.cfg.Table, Key: pagecache.Key(isr.PartitionKey(v.cfg.Tenant, key), isr.SortMeta), ConditionExpression: aws.String("attribute_exists(pk)"),
	})
	return err
}

// Rollback looks for versions, and finds none.
func (v versatile) Rollback(ctx context.Context, key string) error {
	out, err := v.cfg.Client.Query(ctx, &dynamodb.QueryInput{
		TableName: &v.cfg.Table, ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("pk = :pk AND begins_with(sk, :of)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk": &types.AttributeValueMemberS{Value: isr.PartitionKey(v.cfg.Tenant, key)}, ":of": &types.AttributeValueMemberS{Value: "M"},
		},
	})
	if err == nil && len(out.Items) == 0 {
		return isr.ErrMiss
	}
	return err
}

// Regenerate makes a page that is in no cache.
func (v versatile) Regenerate(ctx context.Context, key string, r isr.Request) (isr.Served, error) {
	item := pagecache.Key(isr.PartitionKey(v.cfg.Tenant, key), "REQ#"+r.ID)
	item["request_hash"], item["status"] = &types.AttributeValueMemberS{Value: r.Hash}, &types.AttributeValueMemberS{Value: "STARTED"}
	_, err := v.cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &v.cfg.Table, Item: item, ConditionExpression: aws.String("attribute_not_exists(pk)")})
	if err != nil {
		return isr.Served{}, isr.ErrOtherInputs
	}
	body, err := v.cfg.Render(ctx, key, func(context.Context) error { return nil })
	return isr.Served{Body: body}, err
}

const everyVerb = `
name: verbs
protocol: recipe-a
actors:
  - name: alice
    script: [get /home, rollback /home, invalidate /home, invalidate /home, rollback /home, regenerate /home as r1, regenerate /home as r1 with v2]
`

func TestVerbsAskAndAreRecorded(t *testing.T) {
	p := isr.Protocol{Name: "versatile", New: newVersatile}
	w := happened(t, everyVerb, p)
	type seen struct {
		Kind                  history.Kind
		Body, Request, Inputs string
	}
	var got []seen
	for _, e := range w.history.Events() {
		got = append(got, seen{e.Kind, e.Body, e.Request, e.Inputs})
	}
	want := []seen{
		{history.Asked, "", "", ""}, {history.Rendered, "/home@0#alice-render-1", "", ""}, {history.Served, "/home@0#alice-render-1", "", ""},
		{history.RollingBack, "", "", ""}, // whether it succeeds is in the change log alone
		{history.Invalidating, "", "", ""}, {history.Invalidated, "", "", ""},
		{history.Invalidating, "", "", ""}, {history.Failed, "", "", ""}, // there is nothing left to invalidate
		{history.RollingBack, "", "", ""}, {history.Failed, "", "", ""}, // nor to go back to
		{history.Asked, "", "r1", "none"}, {history.Rendered, "/home@0#alice-render-2", "r1", "none"}, {history.Served, "/home@0#alice-render-2", "r1", "none"},
		{history.Asked, "", "r1", "v2"}, {history.Failed, "", "r1", "v2"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for _, m := range []Mark{RolledBack, PageInvalidated, RequestRepeated} {
		if !w.marks[m] {
			t.Errorf("%s is not marked", m)
		}
	}
}

func TestARequestIsRepeatedOnlyIfSomebodyAskedForItBefore(t *testing.T) {
	w := happened(t, strings.Replace(everyVerb, "regenerate /home as r1 with v2", "regenerate /home as r2 with v2", 1), isr.Protocol{Name: "versatile", New: newVersatile})
	if w.marks[RequestRepeated] {
		t.Error("request-repeated is marked, although the two requests have two names")
	}
}

func TestVerbsPrintAsTheyAreWrittenAndTheirCallsInWords(t *testing.T) {
	s, err := Parse("f.yaml", []byte(everyVerb))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"get /home", "rollback /home", "invalidate /home", "invalidate /home", "rollback /home", "regenerate /home as r1", "regenerate /home as r1 with v2"}
	if got := texts(s.Actors[0].Script); !slices.Equal(got, want) {
		t.Errorf("the script prints %q, want %q", got, want)
	}
	var trace bytes.Buffer
	run := Run{Scenario: s, Protocol: isr.Protocol{Name: "versatile", New: newVersatile}, Strategy: sim.DelayBound(0), Trace: &trace}
	if _, err := run.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Query if pk = :pk AND begins_with(sk, :of) {:of=M :pk=/home} -> [META body pages/alice-1 generated +0s fresh until +1m0s]",
		"REQ#r1 of /home: absent => STARTED with none",
		"alice failed /home: " + isr.ErrOtherInputs.Error(),
	} {
		if !strings.Contains(trace.String(), want) {
			t.Errorf("the trace does not say %q:\n%s", want, trace.String())
		}
	}
}

func TestAProtocolThatCannotDoWhatAVerbAsksForBreaksTheRun(t *testing.T) {
	for _, verb := range []string{"invalidate /home", "rollback /home", "regenerate /home as r1"} {
		s, err := Parse("f.yaml", []byte("name: unable\nactors: [{name: alice, script: ["+verb+"]}]"))
		if err != nil {
			t.Fatal(err)
		}
		p := isr.Protocol{Name: "simple", New: func(cfg isr.Config) (isr.Handler, error) {
			cache, err := pagecache.New(cfg)
			return getter{cache}, err
		}}
		_, err = Run{Scenario: s, Protocol: p}.Do(t.Context())
		broken, ok := errors.AsType[*BrokenError](err)
		name, _, _ := strings.Cut(verb, " ")
		if want := "protocol simple cannot " + name; !ok || !strings.Contains(broken.Error(), want) {
			t.Errorf("%s: %v, want a *BrokenError that says %q", verb, err, want)
		}
	}
}

// getter is a Handler and nothing else.
type getter struct{ cache *pagecache.Cache }

func (g getter) Get(ctx context.Context, key string) (isr.Served, error) {
	return g.cache.Get(ctx, key)
}
