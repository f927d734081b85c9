package kernel_test

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/nodes/objects"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/s3fake"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// hesitant looks at the lock a number of times before it asks the reference, and waits after each look. The visitor
// does not hesitate.
type hesitant struct {
	isr.Handler
	cfg   isr.Config
	looks int
	also  func(cfg isr.Config, look int) // in each look
	wait  time.Duration
	once  bool // only the first one that is made does
}

func (h hesitant) Get(ctx context.Context, page string) (isr.Served, error) {
	lock := pagecache.Key("p", isr.SortLock)
	for n := range h.looks {
		_, _ = h.cfg.Client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &h.cfg.Table, Key: lock})
		if h.also != nil {
			h.also(h.cfg, n)
		}
		h.cfg.Clock.Sleep(cmp.Or(h.wait, time.Second))
	}
	return h.Handler.Get(ctx, page)
}

// hesitates runs a scenario with alice, who hesitates in the same way each time that she is made.
func hesitates(t *testing.T, scenario string, of hesitant) (*campaign.Report, error) {
	t.Helper()
	if !strings.Contains(scenario, "actors") {
		scenario += "\nactors: [{name: alice, script: [get /home]}]"
	}
	s := scenariotest.Parsed(t, "name: hesitant\ncache: {attempts: 1}\n"+scenario+"\n")
	made := 0
	p := isr.Protocol{Name: "hesitant", New: func(cfg isr.Config) (isr.Handler, error) {
		h, err := recipe.Reference().New(cfg)
		if made++; strings.HasPrefix(cfg.Tokens(), "visitor") || of.once && made > 1 {
			return h, err
		}
		of.Handler, of.cfg = h, cfg
		return of, err
	}}
	return campaign.Campaign{
		Scenario: s, Protocol: p, Schedules: 1, Options: kernel.Options{SDK: true},
	}.Run(t.Context())
}

// noted puts a row with a new token.
func noted(cfg isr.Config, region string) {
	elsewhere, key := func(o *dynamodb.Options) { o.Region = region }, pagecache.Key("p", cfg.Tokens())
	_, _ = cfg.Client.(*dynamodb.Client).CreateTable(context.Background(), &dynamodb.CreateTableInput{
		TableName: &cfg.Table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: "S"},
			{AttributeName: aws.String("sk"), AttributeType: "S"},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: "HASH"}, {AttributeName: aws.String("sk"), KeyType: "RANGE"},
		},
	}, elsewhere)
	_, _ = cfg.Client.PutItem(context.Background(),
		&dynamodb.PutItemInput{TableName: &cfg.Table, Item: key}, elsewhere)
}

// stored puts an object, with metadata, by S3's protocol. With a client of the SDK, each module that
// imports package property would need the SDK of S3 in its go.sum.
func stored(cfg isr.Config, name, body, about string) {
	do, _ := objects.Do(cfg.Bodies)
	address := "https://s3.us-east-1.amazonaws.com/" + objects.Bucket + "/" + name
	put, _ := http.NewRequest(http.MethodPut, address, strings.NewReader(body))
	put.Header.Set("x-amz-meta-about", about)
	if answer, err := s3fake.Transport(do).RoundTrip(put); err == nil {
		_ = answer.Body.Close()
	}
}

func TestALivelockIsACycleWithoutAFaultThatOutlastsTheScenariosTime(t *testing.T) {
	const often = 1000
	letters := func(n int) string { return strings.Repeat("x", n) }
	stores := func(name, body, about func(int) string) func(isr.Config, int) {
		return func(cfg isr.Config, n int) { stored(cfg, name(n), body(n), about(n)) }
	}
	same := func(int) string { return "lock" }
	for _, test := range []struct {
		name, scenario string
		looks          int
		also           func(isr.Config, int)
		livelock       string // who is never served
	}{
		{"it looks for ever", "settle: 30s", often, nil, "alice is"},
		{"three look for ever", "settle: 30s\nactors: [{name: alice, script: [get /home]}, " +
			"{name: bob, script: [get /home]}, {name: carol, script: [get /home]}]", often, nil,
			"alice, bob and carol are"},
		{"it gives up in time", "settle: 30s", 90, nil, ""},
		{"it gives up after many rounds, and in time", "settle: 200s", 150, nil, ""},
		{"a fault in each round", "settle: 30s\nfaults: [throttled op=GetItem times=always]", often, nil, ""},
		{"a fault of the body store in each round", "settle: 30s\nfaults: [body-get-failed times=always]", often,
			func(cfg isr.Config, _ int) { _, _ = cfg.Bodies.GetBody(context.Background(), "none") }, ""},
		{"a row more in each round", "settle: 30s", often, func(cfg isr.Config, _ int) { noted(cfg, "") }, ""},
		{"a row more in another region", "settle: 30s", often,
			func(cfg isr.Config, _ int) { noted(cfg, "eu-west-1") }, ""},
		{"another body in each round", "settle: 30s", often, func(cfg isr.Config, n int) {
			_ = cfg.Bodies.PutBody(context.Background(), "lock", []byte(letters(n)))
		}, ""},
		{"another body is deleted in each round", "settle: 30s", often,
			func(cfg isr.Config, _ int) { _ = cfg.Bodies.PutBody(context.Background(), cfg.Tokens(), nil) },
			"alice is"},
		{"the same object in each round", "settle: 30s", often, stores(same, same, same), "alice is"},
		{"an object with the time and a new token", "settle: 30s", often, func(cfg isr.Config, _ int) {
			stored(cfg, "lock", cfg.Clock.Now().Format("by 15 ")+cfg.Tokens(), "")
		}, "alice is"},
		{"another object in each round", "settle: 30s", often, stores(same, letters, same), ""},
		{"other metadata in each round", "settle: 30s", often, stores(same, same, letters), ""},
		{"an object more in each round", "settle: 30s", often, stores(letters, same, same), ""},
		{"nothing is promised", "settle: 0s", often, nil, ""},
		{"liveness is not judged", "settle: 30s\nwithout: [liveness]", often, nil, ""},
	} {
		r, err := hesitates(t, test.scenario+"\nbounds: {ticks: 0}", hesitant{looks: test.looks, also: test.also})
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		got := ""
		if r.Failure != nil {
			got, _, _ = strings.Cut(r.Failure.Violation.Why, " never served: ")
		}
		if got != test.livelock || got != "" && r.Failure.Harm == 0 {
			t.Errorf("%s: %v %s, %q never served; want %q", test.name, r.Verdict, r.Why, got, test.livelock)
		}
	}
}

// A run that goes round may come to what the first run did not come to.
func TestWhatARunThatGoesRoundComesToIsTold(t *testing.T) {
	for _, test := range []struct {
		name string
		of   hesitant
		want string
	}{
		{"it panics", hesitant{also: func(_ isr.Config, look int) {
			if look == 50 {
				panic("fifty")
			}
		}}, "when steps 5 to 8 were repeated: actor alice panicked: fifty"},
		{"the user leaves", hesitant{also: func(_ isr.Config, look int) {
			if look == 50 {
				panic(sim.ErrLeft)
			}
		}}, "interrupted after 0 of 1 schedules"},
		{"it goes on for too long", hesitant{wait: time.Microsecond},
			"liveness: steps 5 to 8 were repeated 4998 times, in 4.998ms, and might be so for longer than settle"},
		{"it does something else", hesitant{once: true}, "were repeated: not deterministic: "},
	} {
		test.of.looks = 1_000_000
		r, err := hesitates(t, "settle: 30s\nbounds: {ticks: 0, steps: 100}", test.of)
		if err != nil {
			r = &campaign.Report{Why: err.Error()}
		}
		if !strings.Contains(r.Why, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, r.Why, test.want)
		}
	}
}
