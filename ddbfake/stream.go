package ddbfake

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// streamRetention is the age up to which a record, or a disabled stream, can be read.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html
const streamRetention = 24 * time.Hour

// stream is a view of the change log: the changes of one table while the stream was enabled.
// It holds no row. It is immutable, so tables, states and snapshots share it.
//
// Deviation: a stream begins with one shard, which splits only when a test asks for it. The service has one for each
// partition of the table, and splits those that get much to do.
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

// enableStream begins a new stream of a table. The label is the time, plus a millisecond for each stream that has the
// name already: a clock may stand still.
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

// replaceStream puts a stream in the place of the table's present one.
func (db *DB) replaceStream(t *table, s *stream, now time.Time) {
	streams := slices.Clone(db.state.streams)
	streams[slices.Index(streams, t.stream)] = s
	t.stream = s
	db.setStreams(streams, now)
}

// setStreams replaces the list of streams, sorted, without those that are gone.
func (db *DB) setStreams(streams []*stream, now time.Time) {
	streams = slices.DeleteFunc(streams, func(s *stream) bool { return s.gone(now) })
	slices.SortFunc(streams, func(a, b *stream) int { return strings.Compare(a.arn, b.arn) })
	db.state.streams = streams
}

// stream returns the stream with an ARN, nil if there is none. It may be gone.
func (s *state) stream(arn string) *stream {
	i, ok := sort.Find(len(s.streams), func(i int) int { return strings.Compare(arn, s.streams[i].arn) })
	if !ok {
		return nil
	}
	return s.streams[i]
}

// describeStreamOf adds a table's stream to its description: the settings of one that is enabled, the name of the
// latest one even if it is not.
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

// stream writes the settings of a table's stream. Its name and its records are history, and a hash leaves history out.
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

// foundStream finds the stream of an operation on streams. No request crosses to another region.
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

// streamNotFound is the error for a stream or a shard that is not there. Streams have types of their own for errors
// whose names are the same.
func streamNotFound(what string) error {
	return &streamtypes.ResourceNotFoundException{Message: aws.String("Requested resource not found: " + what)}
}
