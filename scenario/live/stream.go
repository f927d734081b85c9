package live

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/internal/audit"
	"github.com/isr-sim/isr-sim/internal/audit/stream"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// StreamOptions configure WatchStream.
type StreamOptions struct {
	Promise invariant.Promise
	Rows    isr.Schema // as in Options
}

// WatchStream judges what is written into a table while the test runs, by the table's stream: a table of DynamoDB Local
// or of AWS, whose view type is NEW_AND_OLD_IMAGES. DescribeTable tells the ARN (LatestStreamArn). When the test ends,
// it fails if an invariant is violated or cannot be judged, and as vacuous if nothing was judged. Changes before
// WatchStream are known, but not judged.
//
// The stream shows less than a ddbfake: not who wrote, no reads, and times in whole seconds. The token of a lock stands
// for its holder, so a publish by one who has lost its lock is found only if an older page replaces a newer one. The
// test's log says what was judged, and for each invariant what was not.
//
// When WatchStream's cleanup runs, nothing may write any more. It waits, by the wall clock, until the stream has had no
// record for a second. What the service delivers later is not judged.
//
//	table, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("cache")})
//	...
//	live.WatchStream(t, dynamodbstreams.NewFromConfig(config), *table.Table.LatestStreamArn, live.StreamOptions{})
func WatchStream(t interface {
	TB
	Context() context.Context
}, client *dynamodbstreams.Client, arn string, o StreamOptions) {
	t.Helper()
	w := streamWatch{TB: t, told: map[brokenKind]int{}}
	var err error
	w.judge, err = audit.New(audit.Options{Rows: o.Rows, Promise: o.Promise, OnFinding: w.found})
	if err != nil {
		w.errorf("unknown: %v", err)
		return
	}
	w.stream = stream.New(client, arn, stream.Options{Clock: clockwork.NewRealClock(), Once: true})
	ctx := context.WithoutCancel(t.Context()) // t.Context() ends before the cleanup
	if !w.read(ctx) {
		return
	}
	w.begun, w.before = true, w.judge.Result()
	t.Cleanup(func() {
		t.Helper()
		w.stream.Settle = time.Second
		if w.read(ctx) {
			w.conclude()
		}
	})
}

// streamWatch is a WatchStream under way.
type streamWatch struct {
	TB
	stream *stream.Follower
	judge  *audit.Judge
	begun  bool // findings are reported from now on
	before audit.Result
	told   map[brokenKind]int
	more   int
}

func (w *streamWatch) errorf(format string, args ...any) {
	w.Helper()
	w.Errorf("live.WatchStream: "+format, args...)
}

// read judges what has come since the last read, and reports whether it could.
func (w *streamWatch) read(ctx context.Context) bool {
	w.Helper()
	for e, err := range w.stream.Read(ctx) {
		switch {
		case err != nil:
			w.errorf("unknown: %v", err)
			return false
		case e.Gap != nil:
			w.judge.Gap(*e.Gap)
		default:
			w.judge.Take(e.Record)
		}
	}
	return true
}

func (w *streamWatch) found(f audit.Finding) {
	w.Helper()
	if !w.begun {
		return
	}
	of := brokenKind{f.Invariant, f.Verdict}
	if w.told[of]++; w.told[of] > 1 {
		w.more++
		return
	}
	w.errorf("%s", f)
}

// conclude fails a test in which nothing was judged, and logs what was.
func (w *streamWatch) conclude() {
	w.Helper()
	w.judge.End()
	if w.more > 0 {
		w.Logf("live.WatchStream: %d more of the same", w.more)
	}
	result := w.judge.Result()
	var judged []string
	for i, o := range result.Outcomes {
		if n := o.Judged - w.before.Outcomes[i].Judged; n > 0 {
			line := fmt.Sprintf("%s: %d %s", o.Invariant, n, o.Shows)
			if o.Hidden != "" {
				line += "; not judged: " + o.Hidden
			}
			judged = append(judged, line)
		}
	}
	if len(judged) > 0 {
		for _, line := range judged {
			w.Logf("live.WatchStream: %s", line)
		}
		w.Logf("live.WatchStream: not judged: %s", strings.Join(slices.Sorted(maps.Keys(result.NotJudged)), ", "))
	}
	switch {
	case w.Failed() || skipped(w.TB):
	case result.Records == w.before.Records:
		w.errorf("vacuous: nothing was judged, for the stream has no record since WatchStream")
	case result.Misfit != "":
		w.errorf("unknown: %s", result.Misfit)
	case len(judged) == 0:
		w.errorf("vacuous: nothing was judged in %d records", result.Records-w.before.Records)
	}
}
