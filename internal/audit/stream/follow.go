package stream

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/isr-sim/isr-sim/internal/audit/evidence"
)

// Client is the part of *dynamodbstreams.Client that Follow needs.
type Client interface {
	DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput,
		...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error)
	GetShardIterator(context.Context, *dynamodbstreams.GetShardIteratorInput,
		...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error)
	GetRecords(context.Context, *dynamodbstreams.GetRecordsInput,
		...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error)
}

// Clock is the time by which Follow waits.
type Clock interface {
	Now() time.Time
	After(time.Duration) <-chan time.Time
}

// Options configure Follow.
type Options struct {
	Clock Clock // required
	// Once ends Follow when it has read all that is there: each shard has had no record for Settle, or has yielded a
	// record that is at least Settle younger than the beginning of Follow.
	Once   bool
	Settle time.Duration
	// Keep names the file that keeps the records that were read; "" is none.
	Keep string
}

// Follow yields the records of a stream, and the gaps. It ends without an error when ctx ends, when the stream was
// switched off and has been read to its end, or as Options.Once says. Any other error ends it, too.
func Follow(ctx context.Context, client Client, arn string, o Options) iter.Seq2[evidence.Entry, error] {
	return func(yield func(evidence.Entry, error) bool) {
		f := New(client, arn, o)
		defer f.Close()
		f.Read(ctx)(yield)
	}
}

// New returns a Follower that has read nothing. The caller must call Close.
func New(client Client, arn string, o Options) *Follower {
	return &Follower{client: client, arn: arn, Options: o, named: map[string]*shard{}}
}

// Read does the same as Follow, from where the previous Read ended.
func (f *Follower) Read(ctx context.Context) iter.Seq2[evidence.Entry, error] {
	return func(yield func(evidence.Entry, error) bool) {
		f.ctx, f.yield, f.began = ctx, yield, f.Clock.Now()
		for _, s := range f.shards {
			s.empty, s.atEnd = 0, false
		}
		if err := f.follow(); err != nil && !errors.Is(err, errStop) && ctx.Err() == nil {
			yield(evidence.Entry{}, f.explained(err))
		}
	}
}

// Close ends the use of the file of Options.Keep.
func (f *Follower) Close() {
	if f.kept != nil {
		f.kept.close()
	}
}

// errStop stops the reading when the caller of Read wants no more.
var errStop = errors.New("enough")

const (
	// listEvery is how often shards are looked for if none has ended.
	listEvery = 30 * time.Second
	// interval is the time between two reads of a shard, and idle the time after a read without records.
	//
	// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html (five reads a second)
	interval, idle = 200 * time.Millisecond, time.Second
	// retention is how long a record can surely be read.
	//
	// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html
	retention = 24 * time.Hour
	// fullBytes is the size of a page after which more records are likely. A page has at most 1 MB or 1000 records.
	fullBytes, fullRecords = 1 << 19, 1000
	// enough is the number of reads without records after which a shard has no more for now.
	enough = 2
)

// Follower reads a stream, in one part or in several.
type Follower struct {
	Options
	ctx    context.Context
	client Client
	arn    string
	table  string
	yield  func(evidence.Entry, error) bool
	began  time.Time

	shards   []*shard // in the order of their IDs
	named    map[string]*shard
	listed   time.Time // when shards were last looked for
	stale    bool      // a shard has ended since then
	disabled bool      // the stream has been switched off
	answered bool      // a request has had an answer
	kept     *keep     // nil without Options.Keep
}

// shard is how far one shard has been read.
type shard struct {
	id, parent string
	iterator   *string
	last       evidence.Sequence // the last record that was read; "" if none was, or if it can no longer be found
	at         time.Time         // the last record's time or, if there was none, the parent's
	seen       time.Time         // nothing was missing up to this time; zero at the beginning of the history
	next       time.Time         // when it may be read again
	lost       bool              // records are missing before the next one
	begun      bool              // it has been read
	ended      bool
	empty      int       // the reads without records, since the last record
	quiet      time.Time // when the first of these reads was
	atEnd      bool      // it has no more records for now
	records    int
}

func (f *Follower) follow() (err error) {
	if err := f.list(); err != nil {
		return err
	}
	if f.Keep != "" && f.kept == nil {
		if f.kept, err = openKeep(f.Keep, f.arn); err != nil {
			return err
		}
		if err := f.resume(); err != nil {
			return err
		}
	}
	for f.ctx.Err() == nil {
		if f.stale || f.Clock.Now().Sub(f.listed) >= listEvery {
			if err := f.list(); err != nil {
				return err
			}
		}
		s := f.first()
		switch {
		case s != nil:
			f.sleep(s.next)
			err = f.read(s)
		case f.Once || f.disabled:
			return nil
		default: // the children of the last shards are not listed yet
			f.sleep(f.listed.Add(listEvery))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *Follower) sleep(until time.Time) {
	d := until.Sub(f.Clock.Now())
	if d <= 0 {
		return
	}
	select {
	case <-f.ctx.Done():
	case <-f.Clock.After(d):
	}
}

// list looks for new shards.
func (f *Follower) list() error {
	now := f.Clock.Now()
	listed := map[string]bool{}
	in := dynamodbstreams.DescribeStreamInput{StreamArn: &f.arn}
	for {
		var d *types.StreamDescription
		err := f.call(func() error {
			out, err := f.client.DescribeStream(f.ctx, &in)
			if err == nil {
				d = out.StreamDescription
			}
			return err
		})
		if err != nil {
			return err
		}
		f.table, f.disabled = aws.ToString(d.TableName), d.StreamStatus == types.StreamStatusDisabled
		for _, found := range d.Shards {
			id := aws.ToString(found.ShardId)
			listed[id] = true
			s := f.shard(id)
			s.parent = aws.ToString(found.ParentShardId)
			s.follow(f.named[s.parent])
		}
		if in.ExclusiveStartShardId = d.LastEvaluatedShardId; in.ExclusiveStartShardId == nil {
			break
		}
	}
	f.shards = slices.DeleteFunc(f.shards, func(s *shard) bool {
		gone := s.ended && !listed[s.id]
		if gone {
			delete(f.named, s.id)
		}
		return gone
	})
	slices.SortFunc(f.shards, func(a, b *shard) int { return cmp.Compare(a.id, b.id) })
	f.listed, f.stale = now, false
	return nil
}

// shard returns the shard with an ID, which may be a new one.
func (f *Follower) shard(id string) *shard {
	s := f.named[id]
	if s == nil {
		s = &shard{id: id}
		f.named[id], f.shards = s, append(f.shards, s)
	}
	return s
}

// resume yields what was kept, and goes on from there.
func (f *Follower) resume() error {
	var latest time.Time
	for _, k := range f.kept.shards {
		s := f.shard(k.id)
		k.parent = s.parent
		*s = *k
		if s.seen.After(latest) {
			latest = s.seen
		}
	}
	for _, s := range f.shards {
		if s.follow(f.named[s.parent]); s.seen.IsZero() {
			s.seen = latest
		}
	}
	for entry, err := range f.kept.entries() {
		if err != nil {
			return err
		}
		if err := f.tell(entry); err != nil {
			return err
		}
	}
	return nil
}

func (f *Follower) tell(e evidence.Entry) error {
	if f.ctx.Err() != nil || !f.yield(e, nil) {
		return errStop
	}
	return nil
}

// first returns the shard that is to be read next, nil if there is none.
func (f *Follower) first() (first *shard) {
	for _, s := range f.shards {
		parent := f.named[s.parent]
		switch {
		case s.ended, parent != nil && !parent.ended, f.Once && s.atEnd:
		case first == nil || s.next.Before(first.next):
			first = s
		}
	}
	return first
}
