package differential

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// seen are the names that a store has given: of the latest stream and of its shard, of the latest iterator, and the
// number of the first record that was read last.
type seen map[string]string

// unseen stand in a request until a store has named something.
var unseen = seen{
	theStream: "arn:aws:dynamodb:us-east-1:000000000000:table/differential-none/stream/2015-05-20T20:51:10.252",
	theShard:  "shardId-00000000000000000000-00000000", theIterator: "none", theNumber: "999999999999999999999",
}

// named puts the names that the store has given into a request.
func (s Store) named(body []byte) []byte {
	if !bytes.Contains(body, []byte(`"$`)) {
		return body
	}
	for _, name := range sortedKeys(unseen) {
		text, ok := s.seen[name]
		if !ok {
			text = unseen[name]
		}
		body = bytes.ReplaceAll(body, []byte(name), []byte(text))
	}
	return body
}

// plainAnswer removes from an answer about a table or a stream what only this store can have: names, times, sizes, and
// whether a change is done yet. It notes the names.
func (s Store) plainAnswer(operation string, body object) {
	switch operation {
	case "CreateTable", "UpdateTable", "DeleteTable":
		if operation == "CreateTable" {
			clear(s.seen)
		}
		of, _ := body["TableDescription"].(object)
		s.plainTable(of)
	case "DescribeTable":
		of, _ := body["Table"].(object)
		s.plainTable(of)
	case "DescribeStream":
		s.plainStream(body)
	case "GetShardIterator":
		s.note(body, "ShardIterator", theIterator)
	case "GetRecords":
		s.note(body, "NextShardIterator", theIterator)
		for i, r := range list(body, "Records") {
			data, _ := r["dynamodb"].(object)
			if i == 0 {
				s.note(data, "SequenceNumber", theNumber)
			}
			drop(data, "SequenceNumber", "ApproximateCreationDateTime")
			drop(r, "eventID", "eventVersion", "awsRegion")
		}
	}
}

// note notes a name of the store, and takes it out of the answer. The names within a former stream are forgotten.
func (s Store) note(body object, member, as string) {
	text, ok := body[member].(string)
	if !ok {
		return
	}
	if as == theStream && s.seen[as] != text {
		clear(s.seen)
	}
	s.seen[as] = text
	body[member] = as
}

func drop(o object, members ...string) {
	for _, name := range members {
		delete(o, name)
	}
}

func (s Store) plainTable(t object) {
	if t["LatestStreamArn"] != nil {
		t["LatestStreamArn"] = theStream
	}
	drop(t, "TableId", "TableArn", "TableStatus", "CreationDateTime", "ItemCount",
		"TableSizeBytes", "LatestStreamLabel")
	sortTexts(t["AttributeDefinitions"])
	plainUnits := func(o object) {
		units, _ := o["ProvisionedThroughput"].(object)
		drop(units, "LastIncreaseDateTime", "LastDecreaseDateTime")
	}
	plainUnits(t)
	if billing, ok := t["BillingModeSummary"].(object); ok {
		drop(billing, "LastUpdateToPayPerRequestDateTime")
	}
	for _, member := range []string{"GlobalSecondaryIndexes", "LocalSecondaryIndexes"} {
		for _, x := range list(t, member) {
			drop(x, "IndexArn", "IndexStatus", "Backfilling", "IndexSizeBytes", "ItemCount")
			plainUnits(x)
		}
		sortTexts(t[member])
	}
}

func (s Store) plainStream(body object) {
	d, _ := body["StreamDescription"].(object)
	drop(d, "StreamArn", "StreamLabel", "CreationRequestDateTime")
	if status, ok := d["StreamStatus"].(string); ok {
		d["StreamStatus"] = strings.Replace(status, "ABLING", "ABLED", 1)
	}
	for _, shard := range list(d, "Shards") {
		s.note(shard, "ShardId", theShard)
		ends := shard["SequenceNumberRange"].(object)["EndingSequenceNumber"] != nil
		shard["SequenceNumberRange"] = ends
	}
}

// records goes on once where a page is empty, which AWS allows anywhere.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetRecords.html
func (s Store) records(ctx context.Context, first answer) (answer, error) {
	next, ok := first.body["NextShardIterator"]
	if !ok || len(list(first.body, "Records")) > 0 {
		return first, nil
	}
	return s.do(ctx, "GetRecords", Request{Body: object{"ShardIterator": next}}.text(0))
}

// settled waits until a change of a made table is done, and notes its stream.
func (s Store) settled(ctx context.Context, name any, run int) error {
	describe := Request{Body: object{"TableName": name}}.text(run)
	for range 4000 {
		a, err := s.do(ctx, "DescribeTable", describe)
		if err != nil {
			return err
		}
		t, _ := a.body["Table"].(object)
		busy := func(o object, member string) bool { return o[member] != nil && o[member] != "ACTIVE" }
		if a.failed() || !busy(t, "TableStatus") &&
			!slices.ContainsFunc(list(t, "GlobalSecondaryIndexes"),
				func(x object) bool { return busy(x, "IndexStatus") }) {
			if t["StreamSpecification"] != nil { // otherwise it is the name of a former one
				s.note(t, "LatestStreamArn", theStream)
			}
			return nil
		}
		time.Sleep(5 * time.Millisecond) //nolint:forbidigo // the store's time is real
	}
	return fmt.Errorf("%s: the table %s is not done", s.Name, name)
}

// dropMade deletes the made tables that are there, and forgets what the stores have named.
func (p *Pair) dropMade(ctx context.Context) error {
	clear(p.Fake.seen)
	clear(p.Real.seen)
	return p.both(func(s Store) error {
		a, err := s.do(ctx, "ListTables", []byte("{}"))
		if err != nil {
			return err
		}
		names, _ := a.body["TableNames"].([]any)
		for _, name := range names {
			if text, _ := name.(string); !strings.HasPrefix(text, madePrefix) {
				continue
			}
			if err := s.must(ctx, Request{Operation: "DeleteTable", Body: object{"TableName": name}}); err != nil {
				return err
			}
			if err := s.settled(ctx, name, 0); err != nil {
				return err
			}
		}
		return nil
	})
}
