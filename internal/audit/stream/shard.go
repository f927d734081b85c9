package stream

import (
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/isr-sim/isr-sim/internal/audit/evidence"
)

// read reads the next page of a shard.
func (f *Follower) read(s *shard) error {
	now := f.Clock.Now()
	s.follow(f.named[s.parent])
	page, err := f.page(s, now)
	s.next = now.Add(interval)
	var expired *types.ExpiredIteratorException
	var trimmed *types.TrimmedDataAccessException
	var gone *types.ResourceNotFoundException
	switch {
	case errors.As(err, &expired):
		s.iterator = nil
		return nil
	case errors.As(err, &trimmed):
		s.iterator, s.last, s.lost = nil, "", s.lost || !s.seen.IsZero()
		return nil
	case errors.As(err, &gone): // if the stream is gone, the next list says so
		page, s.lost = &dynamodbstreams.GetRecordsOutput{}, s.lost || s.last != "" || s.late(now)
	case err != nil:
		return err
	}
	var entries []evidence.Entry
	if s.lost {
		entries = append(entries, evidence.Entry{Gap: s.gap(f.table, now.Add(-retention))})
	}
	var size int64
	for i := range page.Records {
		r, err := evidence.FromSDK(f.arn, &page.Records[i])
		if err != nil {
			return fmt.Errorf("shard %s, after record %s: %w", s.id, s.last, err)
		}
		size += aws.ToInt64(page.Records[i].Dynamodb.SizeBytes)
		s.last, s.at = r.Sequence, r.Time
		entries = append(entries, evidence.Entry{Record: &r})
	}
	s.iterator, s.lost, s.seen, s.begun = page.NextShardIterator, false, now, true
	if len(page.Records) > 0 { // a busy table has no end
		s.empty = 0
		s.atEnd = !s.at.Before(f.began.Add(f.Settle).Truncate(time.Second)) && len(page.Records) < fullRecords &&
			size < fullBytes
	} else {
		if s.empty++; s.empty == 1 {
			s.quiet = now
		}
		if s.atEnd = s.empty >= enough && now.Sub(s.quiet) >= f.Settle; !f.Once {
			s.next = now.Add(idle)
		}
	}
	if s.iterator == nil {
		s.ended, f.stale = true, true
	}
	return f.keepAndTell(s, entries)
}

// page asks for the next page of a shard.
func (f *Follower) page(s *shard, now time.Time) (page *dynamodbstreams.GetRecordsOutput, err error) {
	if s.iterator == nil {
		in := dynamodbstreams.GetShardIteratorInput{
			StreamArn: &f.arn, ShardId: &s.id, ShardIteratorType: types.ShardIteratorTypeTrimHorizon,
		}
		if s.last != "" {
			in.ShardIteratorType = types.ShardIteratorTypeAfterSequenceNumber
			in.SequenceNumber = aws.String(string(s.last))
		} else if s.late(now) {
			s.lost = true
		}
		err := f.call(func() error {
			out, err := f.client.GetShardIterator(f.ctx, &in)
			if err == nil {
				s.iterator = out.ShardIterator
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	err = f.call(func() error {
		page, err = f.client.GetRecords(f.ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: s.iterator})
		return err
	})
	return page, err
}

// follow gives a shard that has not been read yet the times of its parent.
func (s *shard) follow(parent *shard) {
	if parent != nil && !s.begun {
		s.at, s.seen = parent.at, parent.seen
	}
}

// late reports whether records may have been lost before the shard was read.
func (s *shard) late(now time.Time) bool { return !s.seen.IsZero() && now.Sub(s.seen) > retention }

// gap is the gap before the next record.
func (s *shard) gap(table string, until time.Time) *evidence.Gap {
	g := &evidence.Gap{Table: table, From: s.at.UTC(), To: until.UTC(), Why: "the stream was read too late: it keeps " +
		"records for 24 hours, and those of " + s.id + " were gone"}
	if s.at.IsZero() {
		g.From = s.seen.UTC()
	}
	if g.To.Before(g.From) {
		g.To = g.From
	}
	return g
}

// keepAndTell keeps the entries that were read from a shard, and yields them.
func (f *Follower) keepAndTell(s *shard, entries []evidence.Entry) error {
	for _, e := range entries {
		s.records++
		place := evidence.Place{File: s.id, Line: s.records}
		if e.Gap != nil {
			e.Gap.Place = place
		} else {
			e.Record.Place = place
		}
	}
	if f.kept != nil {
		if err := f.kept.append(s, entries); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if err := f.tell(e); err != nil {
			return err
		}
	}
	return nil
}
