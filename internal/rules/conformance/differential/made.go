package differential

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// madePrefix begins the names of the tables that sequences create, change and delete. Each has a unique name: Local
// mixes up the streams of tables that had the same name.
const madePrefix = "differential-made-"

// madeTables are the tables that are created under such names, each with all indexes that it may have.
var madeTables = []table{
	{key: []attribute{{"pk", "S"}, {"sk", "S"}}, indexes: []index{
		{name: "byGroup", hash: []attribute{{"g", "S"}}, sort: []attribute{{"n", "N"}}, projection: "ALL"},
		{name: "byBoth", hash: []attribute{{"g", "S"}, {"h", "N"}}, projection: "INCLUDE", include: []any{"x"}},
		{name: "localBytes", local: true, hash: []attribute{{"pk", "S"}}, sort: []attribute{{"b", "B"}},
			projection: "KEYS_ONLY"},
	}},
	{key: []attribute{{"id", "N"}}, indexes: []index{
		{name: "byGroup", hash: []attribute{{"g", "S"}}, projection: "KEYS_ONLY"},
		{name: "byHeight", hash: []attribute{{"h", "N"}}, sort: []attribute{{"b", "B"}}, projection: "ALL"},
	}},
	{key: []attribute{{"pk", "B"}, {"sk", "N"}}, indexes: []index{
		{name: "byGroup", hash: []attribute{{"g", "S"}}, projection: "ALL"},
		{name: "localNumber", local: true, hash: []attribute{{"pk", "B"}},
			sort: []attribute{{"n", "N"}}, projection: "ALL"},
	}},
}

// The operations on tables, TTL and streams.
const (
	onTables  = "CreateTable UpdateTable DeleteTable DescribeTable"
	onTTL     = "UpdateTimeToLive DescribeTimeToLive"
	onStreams = "DescribeStream GetShardIterator GetRecords"
)

// These texts in requests stand for names that a store has made.
const (
	theStream   = "$STREAM"
	theShard    = "$SHARD"
	theIterator = "$ITERATOR"
	theNumber   = "$NUMBER"
)

// maker draws the requests of one table's lifetime.
type maker struct {
	draws
	t       table // with all indexes that it may have
	there   []index
	units   bool
	asked   []Request
	streams bool // it has had a stream
}

// life draws the lifetime of a table: it is created, written, changed and read, and mostly deleted.
func (d draws) life() []Request {
	m := &maker{draws: d, t: oneOf(d, "made", madeTables...)}
	m.t.name = madePrefix + "$RUN-" + strconv.Itoa(d.below(1<<20, "name"))
	m.create()
	steps := []weighted[func()]{
		{8, m.write}, {3, m.index}, {4, m.stream}, {2, m.billing}, {3, m.ttl}, {2, m.describe},
		{3, m.read}, {6, m.records},
	}
	for range 4 + d.below(8, "steps") {
		pick(d, "step", steps)()
	}
	if !d.chance(8, "left") {
		m.add("DeleteTable", object{"TableName": m.t.name})
		pick(d, "after", []weighted[func()]{{4, func() {}}, {1, m.records}, {1, m.describe}})()
	}
	for i, r := range m.asked {
		if r.Operation != "BatchWriteItem" && d.chance(5, "broken") {
			m.asked[i] = d.broken(r)
		}
	}
	return m.asked
}

func (m *maker) add(operation string, body object) {
	m.asked = append(m.asked, Request{Operation: operation, Body: body})
}

// create creates the table, with some of its indexes.
func (m *maker) create() {
	t := m.t
	t.indexes = nil
	for _, x := range m.t.indexes {
		if m.chance(2, "index") {
			t.indexes = append(t.indexes, x)
		}
	}
	m.there = t.indexes
	body := t.create().Body
	if m.units = m.chance(3, "units"); m.units {
		body["BillingMode"], body["ProvisionedThroughput"] = "PROVISIONED", m.throughput()
		for _, x := range list(body, "GlobalSecondaryIndexes") {
			x["ProvisionedThroughput"] = m.throughput()
		}
	}
	if m.streams = m.chance(2, "stream"); m.streams {
		body["StreamSpecification"] = object{"StreamEnabled": true, "StreamViewType": m.view()}
	}
	m.add("CreateTable", body)
}

func list(o object, member string) (all []object) {
	of, _ := o[member].([]any)
	for _, v := range of {
		o, _ := v.(object)
		all = append(all, o)
	}
	return all
}

func (m *maker) throughput() object {
	return object{"ReadCapacityUnits": 1 + m.below(5, "read"), "WriteCapacityUnits": 1 + m.below(5, "write")}
}

func (m *maker) view() string {
	return oneOf(m.draws, "view", "NEW_AND_OLD_IMAGES", "KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE")
}

// write writes one item, or several.
func (m *maker) write() {
	body := object{"TableName": m.t.name}
	switch m.below(5, "write") {
	case 0, 1:
		body["Item"] = m.sound()
		m.add("PutItem", body)
	case 2:
		body["Key"], body["UpdateExpression"] = m.key(m.t), oneOf(m.draws, "update", "SET x = :x",
			"SET spare = if_not_exists(spare, :x) REMOVE x", "SET y = :x, x = :x")
		body["ExpressionAttributeValues"] = object{":x": m.value("", 1)}
		m.add("UpdateItem", body)
	case 3:
		body["Key"] = m.key(m.t)
		m.add("DeleteItem", body)
	case 4:
		item, key := m.sound(), m.key(m.t)
		writes := []any{object{"PutRequest": object{"Item": item}}}
		if encoded(keyOf(m.t, object{"Item": item})) != encoded(keyOf(m.t, object{"Key": key})) {
			writes = append(writes, object{"DeleteRequest": object{"Key": key}})
		}
		m.add("BatchWriteItem", object{"RequestItems": object{m.t.name: writes}})
	}
}

func encoded(v any) string { return string(encode(v)) }

// sound returns an item whose attributes have the types that indexes need.
func (m *maker) sound() object {
	item := m.key(m.t)
	for _, a := range plain {
		if kind := m.t.indexed(a.name); kind != "" && !m.t.isKey(a.name) && m.chance(2, "has "+a.name) {
			item[a.name] = m.keyValue(attribute{a.name, kind})
		}
	}
	item["x"] = m.value("", 1)
	return item
}

// index creates or deletes a global index.
func (m *maker) index() {
	global := slices.DeleteFunc(slices.Clone(m.t.indexes), func(x index) bool { return x.local })
	x := oneOf(m.draws, "index", global...)
	at := slices.IndexFunc(m.there, func(o index) bool { return o.name == x.name })
	body := object{"TableName": m.t.name}
	if at >= 0 {
		m.there = slices.Delete(slices.Clone(m.there), at, at+1)
		body["GlobalSecondaryIndexUpdates"] = []any{object{"Delete": object{"IndexName": x.name}}}
		m.add("UpdateTable", body)
		return
	}
	m.there = append(slices.Clone(m.there), x)
	alone := m.t
	alone.indexes = []index{x}
	of := alone.create().Body
	made := list(of, "GlobalSecondaryIndexes")[0]
	if m.units {
		made["ProvisionedThroughput"] = m.throughput()
	}
	body["AttributeDefinitions"] = of["AttributeDefinitions"]
	body["GlobalSecondaryIndexUpdates"] = []any{object{"Create": made}}
	m.add("UpdateTable", body)
}

// stream turns the stream on or off.
func (m *maker) stream() {
	s := object{"StreamEnabled": false}
	if !m.streams || m.chance(3, "on") {
		s = object{"StreamEnabled": true, "StreamViewType": m.view()}
	}
	m.streams = true
	m.add("UpdateTable", object{"TableName": m.t.name, "StreamSpecification": s})
}

// billing changes units, or the billing mode.
func (m *maker) billing() {
	body := object{"TableName": m.t.name}
	if m.units && m.chance(2, "on demand") {
		m.units = false
		body["BillingMode"] = "PAY_PER_REQUEST"
		m.add("UpdateTable", body)
		return
	}
	body["ProvisionedThroughput"] = m.throughput()
	if !m.units {
		if slices.ContainsFunc(m.there, func(x index) bool { return !x.local }) {
			return // Local never finishes giving units to an index
		}
		m.units = true
		body["BillingMode"] = "PROVISIONED"
	}
	m.add("UpdateTable", body)
}

// ttl changes or describes the setting of TTL. No attribute that it names contains a time of the last five years.
func (m *maker) ttl() {
	body := object{"TableName": m.t.name}
	if m.chance(3, "describe") {
		m.add("DescribeTimeToLive", body)
		return
	}
	body["TimeToLiveSpecification"] = object{
		"AttributeName": oneOf(m.draws, "attribute", "n", "n", "x", "status"), "Enabled": !m.chance(3, "off"),
	}
	m.add("UpdateTimeToLive", body)
	m.add("DescribeTimeToLive", object{"TableName": m.t.name})
}

func (m *maker) describe() { m.add("DescribeTable", object{"TableName": m.t.name}) }

// read reads the table, or an index of it.
func (m *maker) read() {
	r := Request{Operation: "Scan", Pages: true, Body: object{"TableName": m.t.name}}
	if len(m.there) > 0 && m.chance(2, "of an index") {
		r.Body["IndexName"] = oneOf(m.draws, "index", m.there...).name
	}
	m.asked = append(m.asked, r)
}

// records reads the table's latest stream.
func (m *maker) records() {
	if m.chance(4, "list") {
		m.add("DescribeTable", object{"TableName": m.t.name})
	}
	m.add("DescribeStream", object{"StreamArn": theStream})
	from := object{"StreamArn": theStream, "ShardId": theShard, "ShardIteratorType": oneOf(m.draws, "from",
		"TRIM_HORIZON", "TRIM_HORIZON", "LATEST")}
	m.add("GetShardIterator", from)
	page := object{"ShardIterator": theIterator}
	m.some(page, 3, "Limit", 1, 2, 1000)
	m.add("GetRecords", page)
	if m.chance(2, "by number") {
		m.add("GetShardIterator", object{
			"StreamArn": theStream, "ShardId": theShard,
			"ShardIteratorType": oneOf(m.draws, "from", "AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"),
			"SequenceNumber":    theNumber,
		})
		m.add("GetRecords", object{"ShardIterator": theIterator})
	}
	if m.chance(2, "write") {
		m.write()
		m.add("GetRecords", object{"ShardIterator": theIterator})
	}
}

// ofMade reports whether a request concerns a table that a sequence makes, or its stream.
func (r Request) ofMade() bool {
	name, _ := r.Body["TableName"].(string)
	return contains(onTables+" "+onTTL+" "+onStreams, r.Operation) || strings.HasPrefix(name, madePrefix)
}

// seen are the names that a store has made: those of the latest stream, of its shard and of the latest iterator, and
// the number of the first record of the last read.
type seen map[string]string

// unseen replaces such a name in a request until the store has made one.
var unseen = seen{
	theStream: "arn:aws:dynamodb:us-east-1:000000000000:table/differential-none/stream/2015-05-20T20:51:10.252",
	theShard:  "shardId-00000000000000000000-00000000", theIterator: "none", theNumber: "999999999999999999999",
}

// named puts the names that the store has made into a request.
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

// plainAnswer removes from an answer about a table or a stream what is specific to this store: names, times, sizes, and
// whether a change is done yet. It records the names.
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

// note records a name of the store, and removes it from the answer. It forgets the names within a former stream.
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

// records reads one more page after an empty one: AWS may answer with an empty page anywhere.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetRecords.html
func (s Store) records(ctx context.Context, first answer) (answer, error) {
	next, ok := first.body["NextShardIterator"]
	if !ok || len(list(first.body, "Records")) > 0 {
		return first, nil
	}
	return s.do(ctx, "GetRecords", Request{Body: object{"ShardIterator": next}}.text(0))
}

// settled waits until a change of a made table is done, and records its stream.
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

// dropMade deletes the remaining made tables, and forgets the names (ARNs and such) that the stores made.
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
