package evidence

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// record is the message as a record of the file.
func (f *File) record(m *message) (Record, error) {
	if m.kind == Full {
		return f.row(m.change.after)
	}
	r, err := m.record()
	if p := f.part; p != nil {
		r.Table, r.Region = p.table, p.region
		r.Images = r.Images || p.view == bothImages && r.After != nil
	}
	if !r.Images {
		r.Before, r.After = nil, nil
	}
	return r, err
}

// row is a row of a full export as a record.
func (f *File) row(row attr.Item) (Record, error) {
	r := Record{After: row, Images: true, State: true}
	if p := f.part; p != nil {
		r.Table, r.Region, r.Time, r.Unit = p.table, p.region, p.time.Truncate(time.Second), time.Second
	}
	for _, name := range f.KeyNames {
		if row[name] == nil {
			return r, fmt.Errorf("found a row without %s, expected it as a part of the key", name)
		}
		if r.Key == nil {
			r.Key = attr.Item{}
		}
		r.Key[name] = row[name]
	}
	return r, nil
}

// record is the message of a stream or of an incremental export as a record.
func (m *message) record() (r Record, err error) {
	c := &m.change
	r = Record{
		Table: m.table, Region: m.region, Key: c.keys, Before: c.before, After: c.after, ID: m.id,
		Sequence: Sequence(c.sequence),
		TTL:      m.caller.kind == "Service" && m.caller.principal == "dynamodb.amazonaws.com",
		Net:      m.kind == Incremental,
	}
	switch before, after := c.before != nil, c.after != nil; {
	case c.view != "" && c.view != bothImages:
	case m.event == "INSERT":
		r.Images = !before && after
	case m.event == "MODIFY":
		r.Images = before && after
	case m.event == "REMOVE":
		r.Images = before && !after
	case m.kind == Incremental: // the view of new images has none of the rows before
		r.Images = before
	default: // an event of DynamoDB Local
		r.Images = c.view != "" && (before || after)
	}
	if m.arn != "" {
		if r.Table, r.Region, err = tableOf(m.arn); err != nil {
			return r, err
		}
	}
	if len(r.Key) == 0 {
		return r, errors.New("found a record without Keys")
	}
	if strings.Trim(c.sequence, "0123456789") != "" {
		return r, fmt.Errorf("found the SequenceNumber %q, expected digits", c.sequence)
	}
	r.Time, r.Unit, err = instant(c.created)
	if r.Region == "ddblocal" {
		// DynamoDB Local 3.3.1 rounds times down to minutes, and tells the deletions of TTL by an event of their own.
		r.Unit, r.TTL = time.Minute, r.TTL || m.event == "UNKNOWN_TO_SDK_VERSION"
	}
	return r, err
}

// FromSDK is a record that the SDK has read from the stream with an ARN.
func FromSDK(streamARN string, in *types.Record) (r Record, err error) {
	m := message{kind: Stream, id: aws.ToString(in.EventID), event: string(in.EventName), arn: streamARN}
	if u := in.UserIdentity; u != nil {
		m.caller = caller{kind: aws.ToString(u.Type), principal: aws.ToString(u.PrincipalId)}
	}
	if d := in.Dynamodb; d != nil {
		m.change = change{
			created:  strconv.FormatInt(aws.ToTime(d.ApproximateCreationDateTime).Unix(), 10),
			sequence: aws.ToString(d.SequenceNumber), view: string(d.StreamViewType),
		}
		c := &m.change
		c.keys, err = itemOf(d.Keys)
		if err == nil {
			c.before, err = itemOf(d.OldImage)
		}
		if err == nil {
			c.after, err = itemOf(d.NewImage)
		}
		if err != nil {
			return r, err
		}
	}
	return (&File{}).record(&m)
}

func itemOf(row map[string]types.AttributeValue) (attr.Item, error) {
	if row == nil {
		return nil, nil
	}
	return attr.ItemFromSDK(rowOf(row))
}

func rowOf(row map[string]types.AttributeValue) map[string]dynamodbtypes.AttributeValue {
	converted := make(map[string]dynamodbtypes.AttributeValue, len(row))
	//isrsim:unordered from map to map
	for name, v := range row {
		converted[name] = valueOf(v)
	}
	return converted
}

// valueOf converts a value of a stream to the SDK's type for tables; nil if its type is unknown. A module of the SDK
// does this, too, but a user's test would have to download it.
func valueOf(v types.AttributeValue) dynamodbtypes.AttributeValue {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return &dynamodbtypes.AttributeValueMemberS{Value: v.Value}
	case *types.AttributeValueMemberN:
		return &dynamodbtypes.AttributeValueMemberN{Value: v.Value}
	case *types.AttributeValueMemberB:
		return &dynamodbtypes.AttributeValueMemberB{Value: v.Value}
	case *types.AttributeValueMemberBOOL:
		return &dynamodbtypes.AttributeValueMemberBOOL{Value: v.Value}
	case *types.AttributeValueMemberNULL:
		return &dynamodbtypes.AttributeValueMemberNULL{Value: v.Value}
	case *types.AttributeValueMemberSS:
		return &dynamodbtypes.AttributeValueMemberSS{Value: v.Value}
	case *types.AttributeValueMemberNS:
		return &dynamodbtypes.AttributeValueMemberNS{Value: v.Value}
	case *types.AttributeValueMemberBS:
		return &dynamodbtypes.AttributeValueMemberBS{Value: v.Value}
	case *types.AttributeValueMemberM:
		return &dynamodbtypes.AttributeValueMemberM{Value: rowOf(v.Value)}
	case *types.AttributeValueMemberL:
		l := make([]dynamodbtypes.AttributeValue, len(v.Value))
		for i, e := range v.Value {
			l[i] = valueOf(e)
		}
		return &dynamodbtypes.AttributeValueMemberL{Value: l}
	}
	return nil
}

// bothImages is a view of streams and of exports.
const bothImages = "NEW_AND_OLD_IMAGES"

// instant reads a time as it stands in the text: a number, or a text such as the AWS CLI and the SDK for Python write.
// The number tells its unit. The member ApproximateCreationDateTimePrecision does not: older records of Kinesis, in
// milliseconds, lack it, and records of streams, in seconds, may have it.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_StreamRecord.html
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_EnableKinesisStreamingConfiguration.html
// Source: https://github.com/aws/aws-lambda-java-libs/issues/543
func instant(text string) (at time.Time, unit time.Duration, err error) {
	if strings.HasPrefix(text, `"`) {
		at, err = time.Parse(time.RFC3339, strings.Replace(strings.Trim(text, `"`), " ", "T", 1))
		if err != nil {
			err = fmt.Errorf("found the time %s, expected one such as 2026-01-31T12:00:00Z", text)
		}
		return at.Truncate(time.Second).UTC(), time.Second, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil { // it has decimals or an exponent
		var f float64
		f, err = strconv.ParseFloat(text, 64)
		n = int64(math.Floor(f))
	}
	switch {
	case err != nil, n < 0, n > latest*1e6:
		return at, 0, fmt.Errorf("found the time %s, expected seconds, milliseconds or microseconds since 1970",
			cmp.Or(text, "nowhere"))
	case n <= latest:
		return time.Unix(n, 0).UTC(), time.Second, nil
	case n <= latest*1e3:
		return time.UnixMilli(n).UTC(), time.Millisecond, nil
	}
	return time.UnixMicro(n).UTC(), time.Microsecond, nil
}

// latest is a second in the year 5138. As milliseconds, it is in 1973.
const latest = 1e11

// tableOf returns the table and the region in the ARN of a table, or of its stream.
//
// Source: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html
func tableOf(arn string) (table, region string, err error) {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) == 6 {
		table, _, _ = strings.Cut(strings.TrimPrefix(parts[5], "table/"), "/")
	}
	if len(parts) < 6 || parts[2] != "dynamodb" || !strings.HasPrefix(parts[5], "table/") || table == "" {
		return "", "", fmt.Errorf("found the ARN %q, expected one of a table of DynamoDB", arn)
	}
	return table, parts[3], nil
}
