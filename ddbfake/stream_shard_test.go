package ddbfake_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// roll makes the stream of the table "cache" roll over now.
func (w *world) roll(split bool) []string {
	w.Helper()
	return must.Of(w.rolling(split))(w)
}

func (w *world) rolling(split bool) ([]string, error) {
	return w.db.Handler().(interface {
		Roll(table string, split bool) ([]string, error)
	}).Roll("cache", split)
}

// family prints shards: the index of each one's parent in the list, and whether it is open.
func family(shards []streamtypes.Shard) string {
	var all []string
	for _, s := range shards {
		parent := slices.IndexFunc(shards,
			func(p streamtypes.Shard) bool { return aws.ToString(p.ShardId) == aws.ToString(s.ParentShardId) })
		text := fmt.Sprint(parent)
		switch {
		case s.ParentShardId == nil:
			text = "first"
		case parent < 0:
			text = "gone"
		}
		if s.SequenceNumberRange.EndingSequenceNumber == nil {
			text += " open"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func (w *world) wantFamily(arn, want string) {
	w.Helper()
	if got := family(w.shards(arn)); got != want {
		w.Errorf("got shards %s, want %s", got, want)
	}
}

// The shards do not depend on when they are looked at.
func TestShardsWithoutWitness(t *testing.T) {
	run := func(watched bool) (all []string) {
		w := newWorld(t, ddbfake.LagManual)
		arn := w.stream(types.StreamViewTypeKeysOnly)
		for i := range 40 {
			w.clock.Advance(37 * time.Minute)
			w.put(key("a", fmt.Sprint(i)))
			if i%9 == 8 {
				w.roll(i == 17)
			}
			if watched {
				w.shards(arn)
			}
		}
		for _, s := range w.shards(arn) {
			r := s.SequenceNumberRange
			all = append(all,
				strings.Join([]string{*s.ShardId, aws.ToString(s.ParentShardId), *r.StartingSequenceNumber,
					aws.ToString(r.EndingSequenceNumber)}, " "))
		}
		return all
	}
	if diff := cmp.Diff(run(true), run(false)); diff != "" {
		t.Errorf("the shards with a reader, and without:\n%s", diff)
	}
}

// A requested roll closes the open shards at once; a split gives each of them two children. From then on shards roll
// over by themselves again.
func TestRoll(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	if _, err := w.rolling(false); err == nil || err.Error() != "the table has no enabled stream" {
		t.Errorf("without a stream: got %v", err)
	}
	arn := w.stream(types.StreamViewTypeKeysOnly)
	w.put(key("a", "1"))
	w.roll(false)
	w.wantFamily(arn, "first, 0 open")
	if got := w.roll(true); len(got) != 2 {
		t.Errorf("got open shards %v, want two", got)
	}
	w.wantFamily(arn, "first, 0, 1 open, 1 open")
	w.clock.Advance(2 * time.Hour)
	w.roll(false)
	w.clock.Advance(4*time.Hour + time.Second)
	shards := w.shards(arn)
	if len(shards) != 8 {
		t.Fatalf("got %d shards, want 2 and three times 2", len(shards))
	}
	for i, s := range shards[4:] {
		parent := slices.IndexFunc(shards, func(p streamtypes.Shard) bool { return *p.ShardId == *s.ParentShardId })
		if parent/2 != 1+i/2 || slices.ContainsFunc(shards[4:],
			func(o streamtypes.Shard) bool { return o.ShardId != s.ShardId && *o.ParentShardId == *s.ParentShardId }) {
			t.Errorf("shard %d is the child of %d, want an own one of the two before", i+4, parent)
		}
	}

	// One page of shards, then the children of one shard.
	describe := func(in dynamodbstreams.DescribeStreamInput) *streamtypes.StreamDescription {
		in.StreamArn = &arn
		out := must.Of(w.c.DescribeStream(t.Context(), &in))(t)
		return out.StreamDescription
	}
	var ids, want []string
	for start, more := (*string)(nil), true; more; more = start != nil {
		page := describe(dynamodbstreams.DescribeStreamInput{Limit: aws.Int32(3), ExclusiveStartShardId: start})
		for _, s := range page.Shards {
			ids = append(ids, *s.ShardId)
		}
		start = page.LastEvaluatedShardId
	}
	for _, s := range shards {
		want = append(want, *s.ShardId)
	}
	if !slices.Equal(ids, want) {
		t.Errorf("by pages: got shards %v, want %v", ids, want)
	}
	children := describe(dynamodbstreams.DescribeStreamInput{ShardFilter: &streamtypes.ShardFilter{
		Type: streamtypes.ShardFilterTypeChildShards, ShardId: shards[1].ShardId,
	}}).Shards
	if len(children) != 2 || *children[0].ShardId != want[2] || *children[1].ShardId != want[3] {
		t.Errorf("got children %v, want %v", children, want[2:4])
	}

	for range 5 {
		w.roll(true)
	}
	if _, err := w.rolling(true); err == nil || err.Error() != "64 shards are open, and at most 64 can be" {
		t.Errorf("a seventh split: got %v", err)
	}
	w.disableStream()
	w.clock.Advance(24 * time.Hour)
	if got := family(w.shards(arn)); strings.Contains(got, "open") || strings.Count(got, "gone") > 64 {
		t.Errorf("a disabled stream has shards %s", got)
	}
}

// consumer reads a stream and records, for each row, the versions that it saw.
type consumer struct {
	*world
	arn  string
	done map[string]bool // shards that have been read to their end
	at   map[string]*string
	seen map[string][]string
}

// read reads a page of each shard. If parentFirst is true, it skips shards whose parent is not done.
func (c *consumer) read(parentFirst bool) {
	c.Helper()
	shards := c.shards(c.arn)
	if !parentFirst {
		slices.Reverse(shards)
	}
	listed := map[string]bool{}
	for _, s := range shards {
		listed[*s.ShardId] = true
	}
	for _, s := range shards {
		id, parent := *s.ShardId, aws.ToString(s.ParentShardId)
		if c.done[id] || parentFirst && listed[parent] && !c.done[parent] {
			continue
		}
		if c.at[id] == nil {
			c.at[id] = c.iteratorOf(c.arn, id, streamtypes.ShardIteratorTypeTrimHorizon)
		}
		out := c.records(c.at[id])
		for _, r := range out.Records {
			row := r.Dynamodb.Keys["pk"].(*streamtypes.AttributeValueMemberS).Value
			c.seen[row] = append(c.seen[row], r.Dynamodb.NewImage["v"].(*streamtypes.AttributeValueMemberN).Value)
		}
		c.at[id], c.done[id] = out.NextShardIterator, out.NextShardIterator == nil
	}
}

// A consumer that reads each shard after its parent sees each version of a row once, in order, however shards roll over
// and split. One that ignores parents sees them out of order.
func TestConsumerFollowsParents(t *testing.T) {
	inOrder := 0
	for seed := range uint64(effort.Quick(10, 3)) {
		r := rand.New(rand.NewPCG(seed, 0))
		w := newWorld(t, ddbfake.LagManual)
		arn := w.stream(types.StreamViewTypeNewImage)
		newConsumer := func() *consumer {
			return &consumer{
				world: w, arn: arn, done: map[string]bool{}, at: map[string]*string{}, seen: map[string][]string{},
			}
		}
		steady, late, careless := newConsumer(), newConsumer(), newConsumer()
		want := map[string][]string{}
		for range 200 {
			switch r.IntN(12) {
			case 0:
				w.roll(len(w.shards(arn)) < 8 && r.IntN(2) == 0)
			case 1:
				for range r.IntN(9) {
					w.clock.Advance(10 * time.Minute)
					steady.read(true)
				}
			default:
				row, v := string(rune('a'+r.IntN(12))), fmt.Sprint(len(w.db.Changes()))
				w.put(with(key(row, "x"), "v", n(v)))
				want[row] = append(want[row], v)
			}
		}
		for range 3 {
			steady.read(true)
			late.read(true)
			careless.read(false)
		}
		for name, c := range map[string]*consumer{"steady": steady, "late": late} { //isrsim:unordered each by itself
			if diff := cmp.Diff(want, c.seen); diff != "" {
				t.Fatalf("seed %d: a %s consumer that follows parents (-want +got):\n%s", seed, name, diff)
			}
		}
		if cmp.Equal(want, careless.seen) {
			inOrder++
		}
	}
	if inOrder > 1 {
		t.Errorf("%d of 10 times a consumer that does not follow parents saw everything in order", inOrder)
	}
}
