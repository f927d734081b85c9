package ddbfake

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// streamRetention is the maximum age of a record, or of a disabled stream, that can be read.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html
const streamRetention = 24 * time.Hour

// stream is a view of the change log: the changes of one table while the stream was enabled. It holds no row. It is
// immutable, so tables, states and snapshots share it.
//
// Deviation: a stream begins with one shard, which splits only when a test asks for it. The service has one shard per
// partition of the table, and splits busy ones.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html
type stream struct {
	region  string
	table   string
	arn     string
	label   string
	view    types.StreamViewType
	keys    []types.KeySchemaElement
	created time.Time
	eras    []era // at least one

	disabled time.Time // zero while it is enabled
	until    int       // Seq of the last change before it was disabled
}

func (s *stream) enabled() bool { return s.disabled.IsZero() }

// gone reports whether the stream can no longer be read.
func (s *stream) gone(now time.Time) bool {
	return !s.enabled() && now.Sub(s.disabled) > streamRetention
}

// enableStream begins a new stream of a table. The label is the time, plus a millisecond for each stream that already
// has the name, because a clock may stand still.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TableDescription.html (LatestStreamLabel)
func (db *DB) enableStream(t *table, view types.StreamViewType, now time.Time) {
	at := now.UTC().Truncate(time.Millisecond)
	label := func() string { return at.Format("2006-01-02T15:04:05.000") }
	arn := func() string { return tableARN(t.region, t.name) + streamInARN + label() }
	for db.state.stream(arn()) != nil {
		at = at.Add(time.Millisecond)
	}
	s := &stream{
		region: t.region, table: t.name, arn: arn(), label: label(), view: view, keys: t.keys, created: now,
		eras: []era{{began: at, after: db.state.log.lastSeq(), shards: 1}},
	}
	t.stream = s
	db.setStreams(append(slices.Clone(db.state.streams), s), now)
}

// disableStream ends a table's stream, if it has one. Its records stay readable.
func (db *DB) disableStream(t *table, now time.Time) {
	if t.stream == nil || !t.stream.enabled() {
		return
	}
	s := *t.stream
	s.disabled, s.until = now, db.state.log.lastSeq()
	db.replaceStream(t, &s, now)
}

// replaceStream replaces the table's present stream by s.
func (db *DB) replaceStream(t *table, s *stream, now time.Time) {
	streams := slices.Clone(db.state.streams)
	streams[slices.Index(streams, t.stream)] = s
	t.stream = s
	db.setStreams(streams, now)
}

// setStreams replaces the list of streams by a sorted one, without those that are gone.
func (db *DB) setStreams(streams []*stream, now time.Time) {
	streams = slices.DeleteFunc(streams, func(s *stream) bool { return s.gone(now) })
	slices.SortFunc(streams, func(a, b *stream) int { return strings.Compare(a.arn, b.arn) })
	db.state.streams = streams
}

// stream returns the stream with an ARN, or nil. The stream may be gone.
func (s *state) stream(arn string) *stream {
	i, ok := sort.Find(len(s.streams), func(i int) int { return strings.Compare(arn, s.streams[i].arn) })
	if !ok {
		return nil
	}
	return s.streams[i]
}

// describeStreamOf adds a table's stream to its description: its settings if it is enabled, and the name of the latest
// one in any case.
//
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/details/DDB-TABLE-050.md
func (t *table) describeStreamOf(d *types.TableDescription) {
	s := t.stream
	if s == nil {
		return
	}
	d.LatestStreamArn, d.LatestStreamLabel = aws.String(s.arn), aws.String(s.label)
	if s.enabled() {
		d.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: s.view}
	}
}

// stream writes the settings of a table's stream. Its name and records are history, which a hash leaves out.
func (f *printer) stream(s *stream) {
	if s != nil && s.enabled() {
		f.text("stream")
		f.text(string(s.view))
	}
}

// streamViewTypes are in the order in which the service prints them.
var streamViewTypes = []string{"OLD_IMAGE", "KEYS_ONLY", "NEW_AND_OLD_IMAGES", "NEW_IMAGE"}

// streamSpecification checks the settings of a stream one by one.
func (c *constraints) streamSpecification(s *types.StreamSpecification) {
	if s == nil {
		return
	}
	if s.StreamEnabled == nil {
		c.null("streamSpecification.streamEnabled")
	}
	c.enum(string(s.StreamViewType), "streamSpecification.streamViewType", streamViewTypes)
}

// streamInARN is the part of a stream's ARN between its table and its label.
const streamInARN = "/stream/"

// tableOfStream returns the name of the table in the ARN of a stream.
func tableOfStream(arn string) (name string, ok bool) {
	if !strings.HasPrefix(arn, "arn:") {
		return "", false
	}
	name, label, ok := strings.Cut(nameInARN(arn), streamInARN)
	return name, ok && name != "" && label != ""
}

// foundStream finds the stream that an operation on streams names. No request reaches another region.
func (db *DB) foundStream(r *request, arn string) (*stream, error) {
	if _, ok := tableOfStream(arn); !ok {
		return nil, errStreamARN
	}
	if s := db.state.stream(arn); s != nil && s.region == r.region && !s.gone(r.now) {
		return s, nil
	}
	return nil, streamNotFound("Stream: " + arn + " not found")
}

// Source: https://github.com/spring-cloud/spring-cloud-stream-binder-aws-kinesis (the text, in a comment of a test)
var errStreamARN = invalid("Invalid StreamArn")

// streamNotFound is the error for a missing stream or shard. The API of streams has its own types for errors of the
// same names.
func streamNotFound(what string) error {
	return &streamtypes.ResourceNotFoundException{Message: aws.String("Requested resource not found: " + what)}
}

// checkStreamUpdate checks the StreamSpecification of an UpdateTable, and the parameters that come with it.
//
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/details/DDB-TABLE-442.md
// (the texts)
// Source:
// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-streams-encryption-class.md
// (DDB-TABLE-382)
func checkStreamUpdate(in *dynamodb.UpdateTableInput) error {
	enable, view := *in.StreamSpecification.StreamEnabled, in.StreamSpecification.StreamViewType != ""
	switch {
	case enable && !view:
		return badParameter("If stream is being enabled then UpdateViewType is required")
	case !enable && view:
		return badParameter("If stream is being disabled, then UpdateViewType must not be specified")
	case in.ProvisionedThroughput != nil || in.BillingMode == types.BillingModeProvisioned:
		return badParameter("You cannot modify stream status while updating table IOPS")
	}
	for i := range in.GlobalSecondaryIndexUpdates {
		if in.GlobalSecondaryIndexUpdates[i].Update == nil {
			return badParameter("You cannot create or delete index while changing stream status")
		}
	}
	return nil
}

// checkStream checks the change of the stream against the table. It also refuses a change to the present settings.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateTable.html#DDB-UpdateTable-request-StreamSpecification
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/details/DDB-TABLE-050.md
// (the texts)
func (u *tableUpdate) checkStream() error {
	if u.in.StreamSpecification == nil {
		return nil
	}
	enable, enabled := *u.in.StreamSpecification.StreamEnabled, u.table.stream != nil && u.table.stream.enabled()
	switch {
	case !enable && u.table.members != nil && !u.table.strong:
		// Source:
		// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-replicas.md#ddb-table-222
		return badParameter("Disabling Stream is not allowed for a Global Table replica.")
	case enable && enabled:
		return invalid("Table already has an enabled stream: TableName: %s", u.table.name)
	case !enable && !enabled:
		return invalid("Table has no stream to disable: TableName: %s", u.table.name)
	}
	return nil
}

// updateStream makes the change of the stream.
func (db *DB) updateStream(u *tableUpdate) {
	switch s := u.in.StreamSpecification; {
	case s == nil:
	case *s.StreamEnabled:
		db.enableStream(u.table, s.StreamViewType, u.now)
	default:
		db.disableStream(u.table, u.now)
	}
}

// Documented limits on the members of operations on streams.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetShardIterator.html
const (
	minStreamARN, maxStreamARN     = 37, 1024
	minShardID, maxShardID         = 28, 65
	minSequence, maxSequence       = 21, 40
	minIterator, maxIterator       = 1, 2048
	maxListedStreams, maxShards    = 100, 100
	maxRecords, maxRecordPageBytes = 1000, 1 << 20
)

// listStreams serves ListStreams: sorted by ARN. The streams of deleted tables are listed, too, until they are gone.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_ListStreams.html
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/details/DDB-TABLE-378.md
func (db *DB) listStreams(
	r *request, in *dynamodbstreams.ListStreamsInput,
) (*dynamodbstreams.ListStreamsOutput, error) {
	var c constraints
	c.optionalText(in.ExclusiveStartStreamArn, "exclusiveStartStreamArn", minStreamARN, maxStreamARN)
	limit := c.limit(in.Limit, maxListedStreams)
	if in.TableName != nil {
		c.plainName(*in.TableName, "tableName")
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	start := aws.ToString(in.ExclusiveStartStreamArn)
	if _, ok := tableOfStream(start); !ok && start != "" {
		return nil, errStreamARN
	}
	out := &dynamodbstreams.ListStreamsOutput{Streams: []streamtypes.Stream{}}
	for _, s := range db.state.streams {
		switch {
		case s.region != r.region, s.arn <= start, s.gone(r.now), in.TableName != nil && *in.TableName != s.table:
			continue
		case len(out.Streams) == limit:
			out.LastEvaluatedStreamArn = aws.String(*out.Streams[limit-1].StreamArn)
			return out, nil
		}
		out.Streams = append(out.Streams, streamtypes.Stream{
			StreamArn: aws.String(s.arn), StreamLabel: aws.String(s.label), TableName: aws.String(s.table),
		})
	}
	return out, nil
}

// describeStream serves DescribeStream.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_DescribeStream.html
//
// Deviation: a stream is ENABLED or DISABLED at once. A shard's starting sequence number belongs to none of its
// records: it stands before the first record that can still be read, and may be the one that ends the shard's parent.
func (db *DB) describeStream(
	r *request, in *dynamodbstreams.DescribeStreamInput,
) (*dynamodbstreams.DescribeStreamOutput, error) {
	var c constraints
	c.requiredText(in.StreamArn, "streamArn", minStreamARN, maxStreamARN)
	limit := c.limit(in.Limit, maxShards)
	c.optionalText(in.ExclusiveStartShardId, "exclusiveStartShardId", minShardID, maxShardID)
	if f := in.ShardFilter; f != nil {
		c.optionalText(f.ShardId, "shardFilter.shardId", minShardID, maxShardID)
		c.enum(string(f.Type), "shardFilter.type", []string{"CHILD_SHARDS"})
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	if in.ShardFilter != nil && in.ExclusiveStartShardId != nil {
		// DynamoDB Local's text
		return nil, invalid("ShardFilter and ExclusiveStartShardId both should not be specified in the request.")
	}
	s, err := db.foundStream(r, *in.StreamArn)
	if err != nil {
		return nil, err
	}
	d := &streamtypes.StreamDescription{
		StreamArn:               aws.String(s.arn),
		StreamLabel:             aws.String(s.label),
		StreamStatus:            streamtypes.StreamStatusEnabled,
		StreamViewType:          streamtypes.StreamViewType(s.view),
		CreationRequestDateTime: aws.Time(s.created),
		TableName:               aws.String(s.table),
		Shards:                  []streamtypes.Shard{},
	}
	for _, k := range s.keys {
		d.KeySchema = append(d.KeySchema, streamtypes.KeySchemaElement{
			AttributeName: aws.String(*k.AttributeName), KeyType: streamtypes.KeyType(k.KeyType),
		})
	}
	if !s.enabled() {
		d.StreamStatus = streamtypes.StreamStatusDisabled
	}
	for _, one := range db.shards(s, r.now, streamRetention) {
		f := in.ShardFilter
		switch {
		case one.id <= aws.ToString(in.ExclusiveStartShardId),
			f != nil && (one.parent == "" || one.parent != aws.ToString(f.ShardId)):
			continue
		case len(d.Shards) == limit:
			d.LastEvaluatedShardId = d.Shards[limit-1].ShardId
			return &dynamodbstreams.DescribeStreamOutput{StreamDescription: d}, nil
		}
		d.Shards = append(d.Shards, db.describeShard(&one, r.now))
	}
	return &dynamodbstreams.DescribeStreamOutput{StreamDescription: d}, nil
}

func (db *DB) describeShard(s *shard, now time.Time) streamtypes.Shard {
	d := streamtypes.Shard{ShardId: aws.String(s.id), SequenceNumberRange: &streamtypes.SequenceNumberRange{
		StartingSequenceNumber: aws.String(sequenceNumber(db.firstPosition(s, now))),
	}}
	if s.parent != "" {
		d.ParentShardId = aws.String(s.parent)
	}
	if !s.open {
		d.SequenceNumberRange.EndingSequenceNumber = aws.String(sequenceNumber(s.until))
	}
	return d
}
