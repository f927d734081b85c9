package audit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/audit/evidence"
	"github.com/isr-sim/isr-sim/internal/audit/stream"
	"github.com/isr-sim/isr-sim/internal/base/mistake"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// world is a table with a stream. Its time moves while Follow waits.
type world struct {
	*testing.T
	*fakeclock.Clock
	db      *ddbfake.DB
	client  stream.Client
	arn     string
	waiting func() // is called after each time that Follow has waited
	waits   int
	written int
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, Clock: fakeclock.New(fakeclock.Epoch)}
	w.db = ddbfake.New(ddbfake.Options{Clock: w.Clock})
	w.client = w.db.StreamsClient()
	must.Done(t)(w.db.As("").CreateTable(t.Context(), isr.TableInput("cache")))
	w.enable(types.StreamViewTypeNewAndOldImages)
	return w
}

func (w *world) update(s *types.StreamSpecification) {
	w.Helper()
	must.Done(w)(w.db.Client().UpdateTable(w.Context(), &dynamodb.UpdateTableInput{
		TableName: aws.String("cache"), StreamSpecification: s,
	}))
}

func (w *world) enable(view types.StreamViewType) {
	w.Helper()
	w.update(&types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: view})
	w.arn = must.Of(stream.Latest(w.Context(), w.db.Client(), "cache"))(w)
}

// After implements stream.Clock.
func (w *world) After(d time.Duration) <-chan time.Time {
	w.Advance(d)
	if w.waits++; w.waiting != nil {
		w.waiting()
	}
	c := make(chan time.Time, 1)
	c <- w.Now()
	return c
}

func (w *world) put(n int) {
	w.Helper()
	for range n {
		w.written++
		must.Done(w)(w.db.As("").PutItem(w.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("cache"),
			Item: attr.Item{
				"pk": attr.S(fmt.Sprintf("CACHE#%d", w.written%13)), "sk": attr.S("META"),
				"n": attr.Int(int64(w.written)),
			}.ToSDK(),
		}))
	}
}

func (w *world) roll(split bool) {
	w.Helper()
	must.Of(w.db.Handler().(interface {
		Roll(table string, split bool) ([]string, error)
	}).Roll("cache", split))(w)
}

func (w *world) fail(op string, kind ddbfake.FaultKind, times int) {
	w.db.Inject(ddbfake.Fault{Kind: kind, Op: op, Times: times})
}

// follow reads the stream until the function waiting, if there is one, ends the context.
func (w *world) follow(o stream.Options, waiting func(wait int, end func())) (all []evidence.Entry, err error) {
	w.Helper()
	ctx, end := context.WithCancel(w.Context())
	defer end()
	w.waiting, w.waits, o.Clock = nil, 0, w
	if waiting != nil {
		w.waiting = func() { waiting(w.waits, end) }
	}
	for e, err := range stream.Follow(ctx, w.client, w.arn, o) {
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
	return all, nil
}

// gaps checks that each row's records are there once, in their order, except those in gaps. It returns the gaps.
func (w *world) gaps(all []evidence.Entry) (gaps []evidence.Gap) {
	w.Helper()
	got, want := map[string][]string{}, map[string][]string{}
	note := func(to map[string][]string, key, after attr.Item, at time.Time) {
		to[key.String()] = append(to[key.String()], fmt.Sprintf("%v at %v", after["n"], at.Truncate(time.Second).UTC()))
	}
	for _, e := range all {
		if e.Gap != nil {
			gaps = append(gaps, *e.Gap)
		} else {
			note(got, e.Record.Key, e.Record.After, e.Record.Time)
		}
	}
	for _, c := range w.db.Changes() {
		lost := false
		for _, g := range gaps {
			lost = lost || c.Time.After(g.From) && c.Time.Before(g.To)
		}
		if !lost {
			note(want, c.Key, c.After, c.Time)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.Errorf("the records (-want +got):\n%s", diff)
	}
	return gaps
}

// Whatever the service does, each record comes once and in the order of its row, or its loss is told.
func TestFollow(t *testing.T) {
	effort.OneAtATime(t)
	for _, test := range []struct {
		name    string
		before  func(*world)
		waiting func(w *world, wait int, end func()) // nil is Options.Once
		gaps    int
	}{
		{name: "an empty stream"},
		{name: "several pages", before: func(w *world) { w.put(2500) }},
		{name: "pages of long rows", before: func(w *world) {
			for i := range 20 {
				must.OK(w, w.db.Put("cache", attr.Item{
					"pk": attr.S("long"), "sk": attr.S("META"), "n": attr.Int(int64(i)),
					"x": attr.S(strings.Repeat("x", 300_000)),
				}))
			}
		}},
		{name: "generations of shards, in two pages of a list", before: func(w *world) {
			for i := range 8 {
				w.put(40)
				w.roll(i < 6)
			}
		}},
		{name: "the stream was switched off", before: func(w *world) {
			w.put(10)
			w.update(&types.StreamSpecification{StreamEnabled: aws.Bool(false)})
		}, waiting: func(w *world, wait int, _ func()) {
			if wait > 100 {
				w.Fatal("it goes on")
			}
		}},
		{name: "shards roll over and split while they are read", waiting: func(w *world, wait int, end func()) {
			switch {
			case wait == 600:
				end()
			case wait < 390:
				w.put(rand.New(rand.NewPCG(uint64(wait), 1)).IntN(5))
				if wait%40 == 0 {
					w.roll(wait <= 160)
				}
			}
		}},
		{name: "by themselves", waiting: func(w *world, wait int, end func()) {
			if w.Advance(10 * time.Minute); wait == 100 {
				end()
			} else if wait < 95 {
				w.put(2)
			}
		}},
		{name: "iterators expire", waiting: func(w *world, wait int, end func()) {
			if wait < 25 {
				w.put(1)
			}
			switch wait {
			case 10, 20:
				w.Advance(20 * time.Minute)
			case 30:
				end()
			}
		}},
		{name: "an iterator expires before the first record", waiting: func(w *world, wait int, end func()) {
			switch wait {
			case 3:
				w.Advance(20 * time.Minute)
				w.put(3)
			case 9:
				end()
			}
		}},
		{name: "the service is busy", before: func(w *world) {
			w.put(10)
			for _, op := range []string{"DescribeStream", "GetShardIterator", "GetRecords"} {
				w.fail(op, ddbfake.FaultThrottled, 20)
				w.fail(op, ddbfake.FaultErrorBefore, 20)
			}
		}},
		{name: "a day's sleep", before: func(w *world) { w.put(5) }, waiting: func(w *world, wait int, end func()) {
			switch wait {
			case 3:
				w.put(5)
				w.Advance(25 * time.Hour)
				w.put(5)
			case 20:
				end()
			}
		}, gaps: 1},
		{name: "a day's sleep before the first record", waiting: func(w *world, wait int, end func()) {
			switch wait {
			case 3:
				w.put(5)
				w.Advance(25 * time.Hour)
				w.put(5)
			case 20:
				end()
			}
		}, gaps: 1},
		{name: "a week's sleep", before: func(w *world) { w.put(5) }, waiting: func(w *world, wait int, end func()) {
			switch wait {
			case 3:
				w.put(5)
				w.Advance(7 * 24 * time.Hour)
				w.put(5)
			case 20:
				end()
			}
		}, gaps: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			if test.before != nil {
				test.before(w)
			}
			var waiting func(int, func())
			if test.waiting != nil {
				waiting = func(wait int, end func()) { test.waiting(w, wait, end) }
			}
			all, err := w.follow(stream.Options{Once: test.waiting == nil}, waiting)
			must.OK(t, err)
			if gaps := w.gaps(all); len(gaps) != test.gaps {
				t.Errorf("got gaps %v, want %d", gaps, test.gaps)
			}
		})
	}
}

func TestOnceEndsThoughTheTableIsBusy(t *testing.T) {
	w := newWorld(t)
	w.put(1500)
	all, err := w.follow(stream.Options{Once: true}, func(wait int, end func()) {
		if w.put(1); wait == 10 {
			end()
			t.Error("it goes on")
		}
	})
	must.OK(t, err)
	if len(all) < 1500 {
		t.Errorf("got %d entries, want what was there", len(all))
	}
}

// service is the client of a service that answers as the function get does, which calls real for the real answer.
type service struct {
	stream.Client
	get func(real func() (*dynamodbstreams.GetRecordsOutput, error)) (*dynamodbstreams.GetRecordsOutput, error)
}

func (s *service) GetRecords(ctx context.Context, in *dynamodbstreams.GetRecordsInput,
	options ...func(*dynamodbstreams.Options),
) (*dynamodbstreams.GetRecordsOutput, error) {
	return s.get(func() (*dynamodbstreams.GetRecordsOutput, error) { return s.Client.GetRecords(ctx, in, options...) })
}

// What the service says that it has trimmed is a gap, whatever the clock says. A history may begin late.
func TestTrimmedByTheService(t *testing.T) {
	for _, broken := range []error{
		&streamtypes.TrimmedDataAccessException{}, &streamtypes.ResourceNotFoundException{},
	} {
		for after, want := range []int{0, 1} {
			w := newWorld(t)
			w.put(3)
			w.Advance(time.Minute)
			calls := 0
			w.client = &service{w.client, func(real func() (*dynamodbstreams.GetRecordsOutput, error),
			) (*dynamodbstreams.GetRecordsOutput, error) {
				if calls++; calls == after+1 {
					return nil, broken
				}
				return real()
			}}
			all, err := w.follow(stream.Options{Once: true}, nil)
			must.OK(t, err)
			gaps := 0
			for _, e := range all {
				if e.Gap != nil {
					gaps++
					if e.Gap.From.After(e.Gap.To) || e.Gap.Table != "cache" {
						t.Errorf("got %+v", *e.Gap)
					}
				}
			}
			if gaps != want {
				t.Errorf("%T after %d pages: got %v, want %d gaps", broken, after, all, want)
			}
		}
	}
}

// A stream may be read in parts, and be late.
func TestReadInParts(t *testing.T) {
	w := newWorld(t)
	w.put(3)
	hidden := 0 // reads that do not see the latest record
	f := stream.New(&service{w.client, func(real func() (*dynamodbstreams.GetRecordsOutput, error),
	) (*dynamodbstreams.GetRecordsOutput, error) {
		if hidden--; hidden >= 0 {
			return &dynamodbstreams.GetRecordsOutput{NextShardIterator: aws.String("hidden")}, nil
		}
		out, err := real()
		if err != nil { // the iterator is that of an answer above
			return nil, &streamtypes.ExpiredIteratorException{}
		}
		return out, nil
	}}, w.arn, stream.Options{Clock: w, Once: true})
	defer f.Close()
	var all []evidence.Entry
	read := func() {
		t.Helper()
		for e, err := range f.Read(t.Context()) {
			must.OK(t, err)
			all = append(all, e)
		}
		w.gaps(all)
	}
	read()
	w.roll(true)
	w.put(20)
	read()
	f.Settle = time.Second
	w.put(2)
	hidden = 5
	read()
	w.AdvanceTo(w.Now().Truncate(time.Second).Add(time.Second))
	w.put(13)
	w.waits, w.waiting = 0, func() {
		if w.waits == 2 { // still in the second in which the reading began
			w.put(13)
		}
	}
	if read(); w.waits < 5 {
		t.Errorf("it waited %d times for what comes late", w.waits)
	}
}

// A reader that has enough gets no more.
func TestFollowEnds(t *testing.T) {
	w := newWorld(t)
	w.put(10)
	n := 0
	for range stream.Follow(t.Context(), w.client, w.arn, stream.Options{Clock: w}) {
		if n++; n == 3 {
			break
		}
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct {
		name       string
		do         func(w *world) error
		want, hint string
	}{
		{"a stream of another region", func(w *world) error {
			w.arn = strings.Replace(w.arn, "us-east-1", "eu-west-1", 1)
			_, err := w.follow(stream.Options{Once: true}, nil)
			return err
		}, "found no stream arn:aws:dynamodb:eu-west-1:", "check its region"},
		{"no ARN", func(w *world) error {
			w.arn = "the stream of the table cache, which is long"
			_, err := w.follow(stream.Options{Once: true}, nil)
			return err
		}, "the stream of the table cache, which is long: ValidationException: Invalid StreamArn", "is like arn:aws"},
		{"a table that is deleted meanwhile", func(w *world) error {
			w.put(3)
			_, err := w.follow(stream.Options{}, func(wait int, _ func()) {
				if wait == 5 {
					must.Done(w)(w.db.Client().DeleteTable(w.Context(), &dynamodb.DeleteTableInput{
						TableName: aws.String("cache")}))
					w.Advance(49 * time.Hour)
				}
			})
			return err
		}, "found no stream arn:", "can be read for 24 hours"},
		{"a service that stays busy", func(w *world) error {
			w.fail("GetRecords", ddbfake.FaultThrottled, 1000)
			_, err := w.follow(stream.Options{}, nil)
			if waited := w.Now().Sub(fakeclock.Epoch); waited < 5*time.Minute || waited > 6*time.Minute {
				w.Errorf("it gave up after %v", waited)
			}
			return err
		}, "LimitExceededException", ""},
		{"nobody answers", func(w *world) error {
			w.client = dynamodbstreams.New(dynamodbstreams.Options{Region: "us-east-1", Retryer: aws.NopRetryer{},
				BaseEndpoint: aws.String("http://127.0.0.1:1"), Credentials: aws.AnonymousCredentials{}})
			_, err := w.follow(stream.Options{}, func(int, func()) { w.Error("it waits") })
			return err
		}, "connection refused", ""},
		{"no table", func(w *world) error {
			_, err := stream.Latest(w.Context(), w.db.Client(), "pages")
			return err
		}, "found no table pages", "check the region"},
		{"a table without a stream", func(w *world) error {
			must.Done(w)(w.db.As("").CreateTable(w.Context(), isr.TableInput("pages")))
			_, err := stream.Latest(w.Context(), w.db.Client(), "pages")
			return err
		}, "the table pages has no stream", "--table-name pages"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.do(newWorld(t))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got the error %v, want %q in it", err, test.want)
			}
			hint := ""
			if m, is := errors.AsType[*mistake.Error](err); is {
				hint = m.Hint
			}
			if !strings.Contains(hint, test.hint) || test.hint == "" && hint != "" {
				t.Errorf("got the hint %q, want %q in it", hint, test.hint)
			}
		})
	}
}
