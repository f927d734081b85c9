package live_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/live"
)

// ofArticles says what the rows of a cache of articles mean.
var ofArticles = live.StreamOptions{
	Rows: isr.Schema{Rows: []isr.Row{{
		Partition: "id = article#{key}", Body: "html", Generated: "written_at", Token: "writer",
		Expires: "writing_until",
	}}},
	Promise: invariant.Promise{Revalidate: time.Minute},
}

// streamed is a test with a table of articles that has a stream.
type streamed struct {
	*testing.T
	test    someTestWithContext
	clock   clockwork.Clock
	db      *ddbfake.DB
	arn     string
	options live.StreamOptions
}

type someTestWithContext struct {
	*someTest
	ctx context.Context
}

func (s someTestWithContext) Context() context.Context { return s.ctx }

func (s *streamed) stream(view types.StreamViewType) {
	s.Helper()
	out := must.Of(s.db.Client().UpdateTable(s.Context(), &dynamodb.UpdateTableInput{
		TableName:           aws.String("articles"),
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(view != ""), StreamViewType: view},
	}))(s)
	s.arn = *out.TableDescription.LatestStreamArn
}

func (s *streamed) put(row attr.Item) {
	s.Helper()
	row["id"] = attr.S("article#news")
	must.Done(s)(s.db.Client().PutItem(s.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("articles"), Item: row.ToSDK()}))
}

// write puts an article whose text was read from its source some time ago, by one who has the lock or by nobody.
func (s *streamed) write(html, writer string, ago time.Duration) {
	s.Helper()
	row := attr.Item{"html": attr.S(html), "written_at": attr.Int(s.clock.Now().Add(-ago).Unix())}
	if writer != "" {
		row["writer"], row["writing_until"] = attr.S(writer), attr.Int(s.clock.Now().Add(10*time.Second).Unix())
	}
	s.put(row)
}

// A test of code that writes to a real table learns the same as one with a fake, as far as a stream shows it.
func TestWatchStream(t *testing.T) {
	correct := func(s *streamed) {
		s.write("first", "", 0)
		s.write("first", "alice", 0)
		s.clock.Sleep(5 * time.Second)
		s.write("second", "", 0)
	}
	blind := func(s *streamed) {
		s.write("second", "", 0)
		s.write("first", "", 20*time.Second)
	}
	for _, test := range []struct {
		name          string
		before, while func(*streamed)
		want, logs    []string
	}{
		{name: "a cache that is right", while: correct, logs: []string{
			"lock-theft: 1 changes of a lock that was there; not judged: who removed a lock",
			"monotonic-publication: 2 publishes", "not judged: ", "stale-writer",
		}},
		{name: "an older article over a newer one", while: blind, want: []string{
			"live.WatchStream: violated: monotonic-publication\n",
		}},
		{name: "a lock that is taken from its holder", while: func(s *streamed) {
			s.write("first", "alice", 0)
			s.write("first", "bob", 0)
		}, want: []string{"violated: lock-theft\n"}},
		{name: "several of a kind", while: func(s *streamed) { blind(s); blind(s); blind(s) },
			want: []string{"monotonic-publication"}, logs: []string{"2 more of the same"}},
		{name: "what was before is known, and not judged", before: func(s *streamed) {
			blind(s)
			s.write("x", "alice", 0)
		}, while: func(s *streamed) { s.write("x", "bob", 0) }, want: []string{"violated: lock-theft"}},
		{name: "nothing is written", before: correct,
			want: []string{"vacuous: nothing was judged, for the stream has no"}},
		{name: "other rows are written", while: func(s *streamed) {
			must.Done(s)(s.db.Client().PutItem(s.Context(), &dynamodb.PutItemInput{TableName: aws.String("articles"),
				Item: attr.Item{"id": attr.S("author#1"), "name": attr.S("x")}.ToSDK()}))
		}, want: []string{"the row mapping fits none of the rows"}},
		{name: "a lock under another name", before: func(s *streamed) { s.options.Rows.Rows[0].Token = "holder" },
			while: correct, logs: []string{"monotonic-publication: "}, want: []string{"the row mapping"}},
		{name: "a stream without images", before: func(s *streamed) {
			s.stream("")
			s.stream(types.StreamViewTypeKeysOnly)
		}, while: correct, want: []string{"set its view to NEW_AND_OLD_IMAGES"}},
		{name: "another ARN", before: func(s *streamed) { s.arn = strings.Replace(s.arn, "articles", "pages", 1) },
			want: []string{"unknown: found no stream arn:"}},
		{name: "a mapping that is wrong", before: func(s *streamed) { s.options.Rows.Rows[0].Generated = "" },
			want: []string{"unknown: "}},
		{name: "a service that is gone at the end", while: func(s *streamed) {
			correct(s)
			s.db.Inject(ddbfake.Fault{Kind: ddbfake.FaultErrorBefore, Times: 1 << 20})
		}, want: []string{"unknown: "}},
		{name: "a test that was skipped", while: func(s *streamed) { s.test.skipped = true }},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				s := streamed{T: t, clock: clockwork.NewRealClock(), options: ofArticles,
					test: someTestWithContext{&someTest{}, ctx}}
				s.options.Rows.Rows = append([]isr.Row(nil), s.options.Rows.Rows...)
				s.db = ddbfake.New(ddbfake.Options{Clock: s.clock})
				must.Done(t)(s.db.As("").CreateTable(t.Context(), &dynamodb.CreateTableInput{
					TableName: aws.String("articles"), BillingMode: types.BillingModePayPerRequest,
					AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"),
						AttributeType: types.ScalarAttributeTypeS}},
					KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
				}))
				s.stream(types.StreamViewTypeNewAndOldImages)
				if test.before != nil {
					test.before(&s)
				}
				live.WatchStream(s.test, s.db.StreamsClient(), s.arn, s.options)
				if test.while != nil {
					test.while(&s)
				}
				cancel() // as the context of a test before its cleanup
				s.test.end()
				wantTest(t, s.test.someTest, test.want...)
				for _, part := range test.logs {
					if !strings.Contains(s.test.log(), part) {
						t.Errorf("the log lacks %q:\n%s", part, s.test.log())
					}
				}
			})
		})
	}
}
