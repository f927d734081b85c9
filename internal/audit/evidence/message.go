package evidence

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// Kind is the kind of records in a file.
type Kind string

// The kinds of files.
const (
	Empty       Kind = "no records"
	Stream      Kind = "records of DynamoDB Streams"
	Kinesis     Kind = "records of Kinesis"
	Full        Kind = "a full export"
	Incremental Kind = "an incremental export"
	CloudTrail  Kind = "events of CloudTrail"

	manifest Kind = "the manifest of an export"
	listing  Kind = "a list of files" // manifest-files.json, and the digests of CloudTrail
)

// message is one object of a source, whatever its form: the members that count.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_Record.html
// Source: https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/kds.html
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.Output.html
// Source: https://docs.aws.amazon.com/awscloudtrail/latest/userguide/cloudtrail-event-reference-record-contents.html
type message struct {
	kind  Kind
	names []string // of its members, if the kind is not known

	id, event, source, arn, region, table string
	caller                                caller
	change                                change
	data                                  []byte // another message, in a record of Kinesis

	time, address, failure string // of an event of CloudTrail
	parameters             jsontext.Value

	gap      *Gap // in a file that was kept, as package stream does
	shardEnd bool // in such a file: all of a shard has been read
}

// caller is a userIdentity.
type caller struct{ kind, principal, accessKey, service string }

// change is the part of a record about the row.
type change struct {
	created             string // as it stands in the text
	sequence, view      string
	keys, before, after attr.Item
}

// messages visits the messages in the next value: the elements of an array; the records in an answer of GetRecords, in
// a Lambda event or in a file of CloudTrail; otherwise the value itself.
func (d decoder) messages(visit func(*message) error) error {
	if d.PeekKind() == '[' {
		return d.array(func() error { return d.messages(visit) })
	}
	var m message
	several := false
	err := d.fields(func(name string) error {
		if name == "Records" {
			several = true
			return d.array(func() error { return d.messages(visit) })
		}
		return d.member(&m, name)
	})
	switch {
	case err != nil:
		return err
	case m.data != nil:
		return d.within(m.data, visit)
	case several:
		return nil
	}
	return visit(&m)
}

// within visits the message in a record of Kinesis.
func (d decoder) within(data []byte, visit func(*message) error) error {
	if d.inner == nil {
		d.inner = &decoder{new(jsontext.Decoder), &shared{names: d.names}}
	}
	d.inner.Reset(bytes.NewBuffer(data), anyNames)
	err := d.inner.messages(visit)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("found data that ends within a record")
	}
	if err == nil && d.inner.PeekKind() != jsontext.KindInvalid {
		err = errors.New("found data with more than one record")
	}
	return err
}

// member reads a member of a message. Members that only one kind of message has tell the kind.
func (d decoder) member(m *message, name string) (err error) {
	switch name {
	case "eventID":
		m.id, err = d.text()
	case "eventName":
		m.event, err = d.name()
	case "eventSource":
		m.source, err = d.name()
	case "eventSourceARN":
		m.arn, err = d.name()
	case "awsRegion":
		m.region, err = d.name()
	case "userIdentity":
		err = d.fields(func(name string) error { return d.caller(&m.caller, name) })
	case "dynamodb":
		m.kind = cmp.Or(m.kind, Stream)
		err = d.fields(func(name string) error { return d.change(&m.change, name) })
	case "shardGap":
		m.kind, m.gap = Stream, &Gap{}
		err = d.fields(func(name string) error { return d.gap(m.gap, name) })
	case "shardEnd":
		m.kind, m.shardEnd = Stream, true
		err = d.SkipValue()
	case "tableName":
		m.kind = Kinesis
		m.table, err = d.name()
	case "kinesis": // in an event of Lambda
		err = d.fields(func(name string) error { return d.member(m, name) })
	case "Data", "data":
		m.data, err = d.binary()
	case "Item":
		m.kind = Full
		m.change.after, err = d.item()
	case "Metadata", "Keys", "NewImage", "OldImage":
		m.kind = Incremental
		err = d.change(&m.change, name)
	case "eventTime":
		m.kind = CloudTrail
		m.time, err = d.text()
	case "sourceIPAddress":
		m.address, err = d.name()
	case "errorCode":
		m.failure, err = d.name()
	case "requestParameters":
		var raw jsontext.Value
		raw, err = d.ReadValue()
		m.parameters = raw.Clone()
	case "resources":
		err = d.array(func() error { return d.fields(func(name string) error { return d.member(m, name) }) })
	case "ARN":
		var arn string
		arn, err = d.name()
		m.arn = cmp.Or(m.arn, arn)
	case "manifestFilesS3Key":
		m.kind = manifest
		err = d.SkipValue()
	case "dataFileS3Key", "digestStartTime":
		m.kind = listing
		err = d.SkipValue()
	default:
		if m.kind == "" && len(m.names) < 5 {
			m.names = append(m.names, name)
		}
		err = d.SkipValue()
	}
	return err
}

func (d decoder) caller(c *caller, name string) (err error) {
	switch name {
	case "type", "Type":
		c.kind, err = d.name()
	case "principalId", "PrincipalId":
		c.principal, err = d.name()
	case "accessKeyId":
		c.accessKey, err = d.name()
	case "invokedBy":
		c.service, err = d.name()
	default:
		err = d.SkipValue()
	}
	return err
}

func (d decoder) change(c *change, name string) (err error) {
	switch name {
	case "ApproximateCreationDateTime":
		var raw jsontext.Value
		raw, err = d.ReadValue()
		c.created = string(raw)
	case "Keys":
		c.keys, err = d.item()
	case "NewImage":
		c.after, err = d.item()
	case "OldImage":
		c.before, err = d.item()
	case "SequenceNumber":
		c.sequence, err = d.text()
	case "StreamViewType":
		c.view, err = d.name()
	case "Metadata": // of an incremental export
		err = d.fields(func(name string) error {
			if name != "WriteTimestampMicros" {
				return d.SkipValue()
			}
			v, err := d.value(1)
			if err == nil {
				c.created = v.String()
			}
			return err
		})
	default:
		err = d.SkipValue()
	}
	return err
}

func (d decoder) gap(g *Gap, name string) error {
	text, err := d.text()
	if err != nil {
		return err
	}
	switch name {
	case "from":
		g.From, err = time.Parse(time.RFC3339Nano, text)
	case "to":
		g.To, err = time.Parse(time.RFC3339Nano, text)
	case "why":
		g.Why = text
	}
	return err
}

// of checks that a message is one of the kind, or of any kind if the kind is Empty.
func (m *message) of(kind Kind) error {
	switch {
	case m.kind == "" && len(m.names) == 0:
		return errors.New("found an object without members that are known, expected a record")
	case m.kind == "":
		slices.Sort(m.names)
		return fmt.Errorf("found an object with %q, expected a record", m.names)
	case kind != Empty && m.kind != kind:
		return fmt.Errorf("found %s among %s", m.kind, kind)
	}
	return nil
}
