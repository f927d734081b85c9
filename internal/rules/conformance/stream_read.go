package conformance

import (
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// streamReadCases are about how a stream is read.
func streamReadCases() []Case {
	const (
		suite    = alternator + "test_streams.py"
		open     = "stream of rows (pk HASH, sk RANGE) KEYS_ONLY ENABLED; shards [open]"
		closed   = "stream of rows (pk HASH, sk RANGE) KEYS_ONLY DISABLED; shards [closed]"
		iterator = "an iterator: true"
		first    = `INSERT {pk: "a", sk: "1"}`
		second   = `INSERT {pk: "a", sk: "2"}`
		third    = `INSERT {pk: "a", sk: "3"}`
		trimmed  = "TrimmedDataAccessException: The data you are trying to access has been trimmed"
		noStream = "ResourceNotFoundException: Requested resource not found: Stream: " +
			"arn/rows/stream/2015-05-20T20:51:10.252 not found"
		noShard   = "ResourceNotFoundException: Requested resource not found: Shard does not exist"
		typeNames = "[AFTER_SEQUENCE_NUMBER, LATEST, AT_TIMESTAMP, AT_SEQUENCE_NUMBER, TRIM_HORIZON]"
		shard     = "shardId-00000001414576573621-f55eea83"
		fourHours = "https://github.com/opensearch-project/data-prepper/issues/5208"
		gibberish = "sdfadfsdfnlfkajakfgjalksfgklasjklasdjfklasdfasdfgasf" // from the suite's tests
	)
	list, describe, getIteratorAPI, getRecordsAPI := api("streams_ListStreams"), api("streams_DescribeStream"),
		api("streams_GetShardIterator"), api("streams_GetRecords")
	missing := func(w *world, in any) {
		set("StreamArn", *w.arnOf(usualTable)+"/stream/2015-05-20T20:51:10.252")(w, in)
	}
	violation := func(value, member, rule string) string {
		return broken("Value " + value + " at '" + member + "' failed to satisfy constraint: Member must " + rule)
	}
	three := []attrs{row("a", "1"), row("a", "2"), row("a", "3")}
	// streamed is a case about a table with a stream of keys.
	streamed := func(name, rule, source string, rows []attrs, steps ...part) Case {
		return newCase(name, rule, source, inTable(usualSchema+" | stream: KEYS_ONLY"), holding(rows...),
			readsStreams).and(steps...)
	}
	later := func(c Case) Case {
		c.clock = true
		return c
	}
	timed := func(t time.Time) option { return set("Timestamp", aws.Time(t)) }
	sequence := func(number string) option { return set("SequenceNumber", number) }
	shardOf := func(id string) option { return set("ShardId", id) }
	described := expect(describeStream(), open)
	children := func(w *world, in any) {
		set("ShardFilter", &streamtypes.ShardFilter{
			Type: streamtypes.ShardFilterTypeChildShards, ShardId: aws.String(w.seen.shard),
		})(w, in)
	}
	shards := func(list string) string { return strings.Replace(open, "[open]", list, 1) }
	cases := []Case{
		streamed("list", "ListStreams names the streams of a table.", list, nil,
			expect(listStreams(), "streams of [rows]")),
		newCase("list none", "The list of streams is empty for a table without a stream.", suite, readsStreams,
			expect(listStreams(), "streams of []")),
		streamed("list disabled", "Streams that were disabled are listed together with the enabled one.",
			quirks+"details/DDB-TABLE-378.md", nil, expect(updateTable(disabling()), "updating rows"),
			expect(listStreams(), "streams of [rows]"),
			expect(updateTable(enabling("NEW_IMAGE")), "updating rows"),
			expect(listStreams(), "streams of [rows rows]")),
		streamed("list of a deleted table", "The streams of a deleted table are listed.",
			quirks+"details/DDB-TABLE-378.md", nil, expect(deleteTable(), "deleted rows"),
			expect(listStreams(), "streams of [rows]")),
		streamed("list pages", "ListStreams has pages.", list, nil,
			expect(updateTable(disabling()), "updating rows"),
			expect(updateTable(enabling("NEW_IMAGE")), "updating rows"),
			expect(listStreams(limit(1)), "streams of [rows]; more"),
			expect(listStreams(limit(1), func(w *world, in any) { set("ExclusiveStartStreamArn", w.stream(1))(w, in) }),
				"streams of [rows]"),
			expect(listStreams(func(w *world, in any) { set("ExclusiveStartStreamArn", w.stream(2))(w, in) }),
				"streams of []")),
		streamed("list limit", "A page of ListStreams has 1 to 100 streams.", list, nil,
			expect(listStreams(limit(0)), violation("'0'", "limit", "have value greater than or equal to 1")),
			expect(listStreams(limit(101)), violation("'101'", "limit", "have value less than or equal to 100"))),
		streamed("list after what is no ARN", "A list goes on after the ARN of a stream.", suite, nil,
			expect(listStreams(set("ExclusiveStartStreamArn", "kossaapaaasdafsdaasdasdasdasasdasfadfadfasdasdas")),
				invalid("Invalid StreamArn"))),

		streamed("describe", "A stream is described with its table, the table's key, its view and its shards.",
			describe, nil, described),
		streamed("describe disabled", "A stream that was disabled has closed shards.", suite, nil,
			expect(updateTable(disabling()), "updating rows"),
			expect(describeStream(), closed)),
		streamed("describe of a deleted table", "The stream of a deleted table is disabled.",
			quirks+"details/DDB-TABLE-378.md", nil, expect(deleteTable(), "deleted rows"),
			expect(describeStream(), closed)),
		streamed("describe missing", "A stream is described by its ARN.",
			"https://github.com/localstack/localstack/blob/master/localstack-core/localstack/services/dynamodbstreams/provider.py", nil,
			expect(describeStream(missing), noStream)),
		streamed("describe what is no ARN", "The ARN must name a stream.", suite, nil,
			expect(describeStream(set("StreamArn", gibberish)), invalid("Invalid StreamArn")),
			expect(describeStream(func(w *world, in any) { set("StreamArn", *w.arnOf(usualTable))(w, in) }),
				invalid("Invalid StreamArn"))),
		streamed("describe short ARN", "An ARN has 37 to 1,024 characters.", describe, nil,
			expect(describeStream(set("StreamArn", "bumble")),
				violation("'bumble'", "streamArn", "have length greater than or equal to 37")),
			expect(describeStream(set("StreamArn", nil)), violation("null", "streamArn", "not be null"))),
		streamed("describe limit", "A description has 1 to 100 shards.", describe, nil,
			expect(describeStream(limit(1)), open),
			expect(describeStream(limit(0)), violation("'0'", "limit", "have value greater than or equal to 1")),
			expect(describeStream(limit(101)), violation("'101'", "limit", "have value less than or equal to 100"))),
		streamed("describe after the last shard", "Shards have an order, and none comes after the last one.", suite,
			nil, described,
			expect(describeStream(set("ExclusiveStartShardId", strings.Repeat("z", 30))),
				strings.Replace(open, "[open]", "[]", 1))),
		streamed("describe short shard", "The id of a shard has 28 to 65 characters.", describe, nil,
			expect(describeStream(set("ExclusiveStartShardId", "foo")),
				violation("'foo'", "exclusiveStartShardId", "have length greater than or equal to 28"))),
		streamed("describe children", "A shard that goes on has no children.", describe, nil,
			described,
			expect(describeStream(children), strings.Replace(open, "[open]", "[]", 1))),

		streamed("trim horizon", "TRIM_HORIZON starts at the oldest record.", getIteratorAPI, three,
			described, expect(getIterator("TRIM_HORIZON"), iterator),
			expect(getRecords(), "3 records; more\n- "+first+"\n- "+second+"\n- "+third),
			expect(getRecords(), "0 records; more")),
		streamed("latest", "LATEST starts after the newest record.", getIteratorAPI, three,
			described, expect(getIterator("LATEST"), iterator),
			expect(getRecords(), "0 records; more"),
			expect(put(row("a", "4")), ok),
			expect(getRecords(), `1 records; more`+"\n- "+`INSERT {pk: "a", sk: "4"}`)),
		streamed("at a number", "AT_SEQUENCE_NUMBER starts at the record with the number.", getIteratorAPI, three,
			described, expect(getIterator("TRIM_HORIZON"), iterator),
			expect(getRecords(), "3 records; more\n- "+first+"\n- "+second+"\n- "+third),
			expect(getIterator("AT_SEQUENCE_NUMBER", atRecord(2)), iterator),
			expect(getRecords(), "2 records; more\n- "+second+"\n- "+third)),
		streamed("after a number", "AFTER_SEQUENCE_NUMBER starts after the record with the number.", getIteratorAPI,
			three, described, expect(getIterator("TRIM_HORIZON"), iterator),
			expect(getRecords(), "3 records; more\n- "+first+"\n- "+second+"\n- "+third),
			expect(getIterator("AFTER_SEQUENCE_NUMBER", atRecord(2)), iterator),
			expect(getRecords(), "1 records; more\n- "+third)),
		streamed("an iterator twice", "An iterator can be used again: it is a position that does not move.",
			getRecordsAPI, three[:1], described, expect(getIterator("TRIM_HORIZON"), iterator),
			expect(func(w *world) any {
				again := getRecords()(w)
				w.seen.iterator = "" // earlier answers are forgotten
				return again
			}, "1 records; more\n- "+first),
			expect(getIterator("TRIM_HORIZON"), iterator),
			expect(getRecords(), "1 records; more\n- "+first)),
		streamed("limit", "A page has at most as many records as were asked for.", getRecordsAPI, three,
			described, expect(getIterator("TRIM_HORIZON"), iterator),
			expect(getRecords(limit(2)), "2 records; more\n- "+first+"\n- "+second),
			expect(getRecords(limit(2)), "1 records; more\n- "+third),
			expect(getRecords(limit(2)), "0 records; more")),
		streamed("limits of the limit", "A page has 1 to 1,000 records.", getRecordsAPI, nil,
			described, expect(getIterator("TRIM_HORIZON"), iterator),
			expect(func(w *world) any { return getRecords(limit(0))(w) },
				violation("'0'", "limit", "have value greater than or equal to 1"))),
		streamed("limit over 1,000", "A page of 1,001 records is refused.", suite, nil,
			described, expect(getIterator("TRIM_HORIZON"), iterator),
			expect(getRecords(limit(1001)), violation("'1001'", "limit", "have value less than or equal to 1000"))),
		streamed("to the end", "At the end of a closed shard there is no next iterator.", suite, three,
			described, expect(updateTable(disabling()), "updating rows"),
			expect(getIterator("TRIM_HORIZON"), iterator),
			expect(getRecords(), "3 records; end\n- "+first+"\n- "+second+"\n- "+third)),
		streamed("after the end", "LATEST of a closed shard is its end.", getIteratorAPI, three,
			described, expect(updateTable(disabling()), "updating rows"),
			expect(getIterator("LATEST"), iterator),
			expect(getRecords(), "0 records; end")),
		streamed("large pages", "A page has at most 1 MB, and at least one record.", getRecordsAPI, nil,
			expect(updateTable(disabling()), "updating rows"),
			expect(updateTable(enabling("NEW_IMAGE")), "updating rows"),
			expect(put(row("a", "1", "x", text(390_000))),
				ok), expect(put(row("a", "2", "x", text(390_000))), ok),
			expect(put(row("a", "3", "x", text(390_000))), ok),
			expect(describeStream(),
				strings.Replace(open, "KEYS_ONLY", "NEW_IMAGE", 1)), expect(getIterator("TRIM_HORIZON"), iterator),
			expect(getRecords(), `2 records; more
- `+first+` new {pk: "a", sk: "1", x: "xxxxxxxx"...390000}
- `+second+` new {pk: "a", sk: "2", x: "xxxxxxxx"...390000}`),
			expect(getRecords(), `1 records; more
- `+third+` new {pk: "a", sk: "3", x: "xxxxxxxx"...390000}`)),

		streamed("iterator of a missing stream", "An iterator belongs to a stream.",
			"https://github.com/localstack/localstack/blob/master/localstack-core/localstack/services/dynamodbstreams/provider.py", nil,
			described, expect(getIterator("LATEST", missing), noStream)),
		streamed("iterator of what is no ARN", "A stream is named by its ARN.", suite, nil,
			described, expect(getIterator("LATEST", set("StreamArn", gibberish)), invalid("Invalid StreamArn"))),
		streamed("iterator of a missing shard", "An iterator belongs to a shard.", suite, nil,
			expect(getIterator("LATEST", shardOf(shard)), noShard),
			expect(getIterator("LATEST", shardOf("semprinidfaasdasfsdvacsdcfsdsvsdvsdvsdvsdvsdv")), noShard)),
		streamed("iterator of a short shard", "The id of a shard has at least 28 characters.", getIteratorAPI, nil,
			expect(getIterator("LATEST", shardOf("foo")),
				violation("'foo'", "shardId", "have length greater than or equal to 28")),
			expect(getIterator("LATEST", set("ShardId", nil)), violation("null", "shardId", "not be null"))),
		streamed("no such type", "There are five types of iterator.", getIteratorAPI, nil,
			expect(getIterator("bulle", shardOf(shard)),
				violation("'bulle'", "shardIteratorType", "satisfy enum value set: "+typeNames)),
			expect(getIterator("", shardOf(shard)), violation("null", "shardIteratorType", "not be null"))),
		streamed("number missing", "A position by number needs one.", suite, nil,
			described,
			expect(getIterator("AT_SEQUENCE_NUMBER"), badParameter("Invalid SequenceNumber")),
			expect(getIterator("AFTER_SEQUENCE_NUMBER"), badParameter("Invalid SequenceNumber"))),
		streamed("number too many", "Other positions take no number.", suite, nil,
			described,
			expect(getIterator("LATEST", sequence("000000000000000000001")),
				badParameter("SequenceNumber should not be passed for this iterator type")),
			expect(getIterator("TRIM_HORIZON", sequence("000000000000000000001")),
				badParameter("SequenceNumber should not be passed for this iterator type"))),
		streamed("no number", "A sequence number consists of digits.", suite, nil,
			described,
			expect(getIterator("AT_SEQUENCE_NUMBER", sequence("sdfsafglldfngjdafnasdflgnaldklkafdsgkln")),
				badParameter("Invalid SequenceNumber"))),
		streamed("short number", "A sequence number has 21 to 40 digits.", getIteratorAPI, nil,
			described,
			expect(getIterator("AT_SEQUENCE_NUMBER", sequence("1")),
				violation("'1'", "sequenceNumber", "have length greater than or equal to 21")),
			expect(getIterator("AT_SEQUENCE_NUMBER", sequence(strings.Repeat("1", 41))),
				violation("'"+strings.Repeat("1", 41)+"'", "sequenceNumber", "have length less than or equal to 40"))),
		streamed("no iterator", "Records are read with an iterator.", suite, nil,
			expect(getRecords(set("ShardIterator", gibberish)), invalid("Invalid ShardIterator")),
			expect(getRecords(set("ShardIterator", nil)), violation("null", "shardIterator", "not be null")),
			expect(getRecords(set("ShardIterator", "")),
				violation("''", "shardIterator", "have length greater than or equal to 1"))),

		later(streamed("iterators expire",
			"An iterator can be used for 15 minutes, and so can the one that comes with an answer.", getRecordsAPI,
			three[:1], described, expect(getIterator("TRIM_HORIZON"), iterator),
			then(wait(15*time.Minute)),
			expect(getRecords(), "1 records; more\n- "+first),
			then(wait(15*time.Minute)),
			expect(getRecords(), "0 records; more"),
			then(wait(15*time.Minute+time.Millisecond)),
			expect(getRecords(), "ExpiredIteratorException: The provided iterator exceeds the maximum age allowed"))),
		later(streamed("shards roll over",
			"A shard is closed after four hours and read to its end, and its child goes on.", fourHours, three[:1],
			described, expect(getIterator("TRIM_HORIZON"), iterator),
			expect(getRecords(), "1 records; more\n- "+first),
			then(wait(4*time.Hour)),
			expect(describeStream(), shards("[closed open-child]")),
			expect(put(row("a", "2")), ok),
			expect(getIterator("TRIM_HORIZON"), iterator),
			expect(getRecords(), "1 records; end\n- "+first),
			expect(getIterator("LATEST"), iterator),
			expect(getRecords(), "0 records; end"),
			expect(getIterator("TRIM_HORIZON", inLastShard), iterator),
			expect(getRecords(), "1 records; more\n- "+second),
			expect(getIterator("AT_SEQUENCE_NUMBER", atRecord(1)), invalid("Invalid SequenceNumber for the shard")),
			expect(readStream(0), "2 records; more\n- "+first+"\n- "+second))),
		later(streamed("an iterator at a roll over", "A reader who is at the end of a shard when it is closed is told.",
			getRecordsAPI, three[:1], described, then(wait(4*time.Hour-time.Minute)),
			expect(getIterator("LATEST"), iterator),
			expect(put(row("a", "2")), ok),
			then(wait(time.Minute)),
			expect(getRecords(), "1 records; end\n- "+second))),
		later(streamed("children", "The children of a shard are described, and the shards by pages.", describe, nil,
			described, then(wait(4*time.Hour)),
			expect(describeStream(children), shards("[open-child]")),
			expect(describeStream(limit(1)), shards("[closed]")+"; more"),
			expect(describeStream(limit(1),
				func(w *world, in any) { set("ExclusiveStartShardId", w.seen.shard)(w, in) }),
				shards("[open-child]")))),
		later(streamed("shards expire", "A shard goes when its last record is a day old, and a child still names it.",
			docStreams, nil, described, then(wait(28*time.Hour)),
			expect(getIterator("TRIM_HORIZON"), iterator),
			expect(getRecords(), "0 records; end"),
			expect(getIterator("LATEST"), iterator),
			then(wait(time.Millisecond)),
			expect(getRecords(), "0 records; end"),
			expect(getIterator("TRIM_HORIZON"), noShard),
			expect(describeStream(), shards("[closed-child open-child]")))),
		later(streamed("records expire", "A record can be read for 24 hours.", docStreams, three[:1],
			then(wait(12*time.Hour)),
			expect(put(row("a", "2")), ok),
			then(wait(12*time.Hour)),
			expect(readStream(0), "2 records; more\n- "+first+"\n- "+second),
			then(wait(time.Millisecond)),
			expect(readStream(0), "1 records; more\n- "+second),
			then(wait(12*time.Hour)),
			expect(readStream(0), "0 records; more"))),
		later(streamed("too late for a number", "The sequence number of a record that expired is refused.",
			getRecordsAPI, three, described, expect(getIterator("TRIM_HORIZON"), iterator),
			expect(getRecords(), "3 records; more\n- "+first+"\n- "+second+"\n- "+third),
			then(wait(24*time.Hour+time.Second)),
			expect(getIterator("AT_SEQUENCE_NUMBER", atRecord(1)), trimmed))),
		later(streamed("too late with an iterator",
			"An iterator that was given out before a record expired cannot read it after.", getRecordsAPI, three,
			described, then(wait(24*time.Hour)),
			expect(getIterator("TRIM_HORIZON"), iterator),
			then(wait(time.Minute)),
			expect(getRecords(), trimmed),
			expect(getIterator("TRIM_HORIZON"), iterator),
			expect(getRecords(), "0 records; end"))),
		later(streamed("a disabled stream expires", "A stream that was disabled can be read for 24 hours.", docStreams,
			three[:1], described, expect(updateTable(disabling()), "updating rows"),
			then(wait(24*time.Hour)),
			expect(describeStream(), closed),
			expect(listStreams(), "streams of [rows]"),
			then(wait(time.Millisecond)),
			expect(listStreams(), "streams of []"))),
		later(streamed("at a time",
			"AT_TIMESTAMP starts at the first record of that second or later; before the oldest record, at that one.",
			getIteratorAPI, three[:1], described,
			then(wait(2*time.Second)),
			expect(put(row("a", "2")), ok),
			then(wait(2*time.Second)),
			expect(func(w *world) any {
				return getIterator("AT_TIMESTAMP", timed(w.store.Clock.Now().Add(-3*time.Second)))(w)
			}, iterator),
			expect(getRecords(), "1 records; more\n- "+second),
			expect(func(w *world) any {
				return getIterator("AT_TIMESTAMP", timed(w.store.Clock.Now().Add(-time.Hour)))(w)
			},
				iterator),
			expect(getRecords(), "2 records; more\n- "+first+"\n- "+second),
			expect(func(w *world) any { return getIterator("AT_TIMESTAMP", timed(w.store.Clock.Now()))(w) }, iterator),
			expect(getRecords(), "0 records; more"))),
	}
	return cases
}

// streamTableCases are about the setting of a table's stream.
func streamTableCases() []Case {
	const (
		plain     = "table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0"
		done      = "updating rows"
		disabled  = plain + "; latest stream"
		sheet     = quirks + "table-streams-encryption-class.md"
		ddb50     = quirks + "details/DDB-TABLE-050.md"
		ddb442    = quirks + "details/DDB-TABLE-442.md"
		viewNames = "[OLD_IMAGE, KEYS_ONLY, NEW_AND_OLD_IMAGES, NEW_IMAGE]"
	)
	doc := api("UpdateTable")
	enabled := func(view string) string { return plain + "; stream true " + view + "; latest stream" }
	streamed := func(view string) map[string]schema {
		return map[string]schema{usualTable: usualSchema + schema(" | stream: "+view)}
	}
	// refused is a CreateTable that does not create a table.
	refused := func(name, rule, want string, s *types.StreamSpecification) Case {
		return newCase(name, rule, sheet, noTables,
			expect(createTable(usualTable, usualSchema, set("StreamSpecification", s)), want))
	}
	// update is an UpdateTable of a table without a stream.
	update := func(name, rule, source, want string, options ...option) Case {
		return newCase(name, rule, source,
			expect(updateTable(options...), want),
			expect(describeTable(), plain))
	}
	notNull := broken(
		"Value null at 'streamSpecification.streamEnabled' failed to satisfy constraint: Member must not be null",
	)
	badView := broken("Value 'new_image' at 'streamSpecification.streamViewType' failed to satisfy constraint: " +
		"Member must satisfy enum value set: " + viewNames)
	provisioned := createTable(usualTable, usualSchema, set("BillingMode", "PROVISIONED"),
		set("ProvisionedThroughput", units(5, 5)))
	cases := []Case{
		newCase("none", "A table has no stream unless one is enabled.", quirks+"details/DDB-TABLE-029.md",
			expect(describeTable(), plain)),
		newCase("off at creation", "A table may be created with its stream off, as without a StreamSpecification.",
			quirks+"details/DDB-TABLE-029.md", noTables,
			expect(createTable(usualTable, usualSchema, disabling()), plain),
			expect(describeTable(), plain),
			expect(deleteTable(), "deleted rows")),
		refused("on without a view", "A stream that is on has a view.",
			badParameter("Table is being created with a stream enabled, UpdateViewType is required"), streamOn("")),
		refused("off with a view", "A stream that is off has no view.",
			badParameter("Table is being created with a stream disabled, UpdateViewType should not be specified"),
			&types.StreamSpecification{StreamEnabled: aws.Bool(false), StreamViewType: types.StreamViewTypeNewImage}),
		refused("a view alone", "A StreamSpecification says whether the stream is on.", notNull,
			&types.StreamSpecification{StreamViewType: types.StreamViewTypeNewImage}),
		refused("nothing said", "An empty StreamSpecification is refused.", notNull, &types.StreamSpecification{}),
		refused("no such view", "There are four views, in capital letters.", badView, streamOn("new_image")),

		newCase("enable", "UpdateTable enables a stream.", doc,
			expect(updateTable(enabling("NEW_IMAGE")), done),
			expect(describeTable(), enabled("NEW_IMAGE"))),
		newCase("enable again", "Enabling a stream that is enabled is refused, even with the same view.", ddb50,
			inTables(streamed("NEW_IMAGE")),
			expect(updateTable(enabling("NEW_IMAGE")), invalid("Table already has an enabled stream: TableName: rows")),
			expect(updateTable(enabling("KEYS_ONLY")), invalid("Table already has an enabled stream: TableName: rows")),
			expect(describeTable(), enabled("NEW_IMAGE"))),
		newCase("disable",
			"A table whose stream is disabled is described as one without a stream, except for the name of its "+
				"latest stream.",
			ddb50, inTables(streamed("NEW_IMAGE")),
			expect(updateTable(disabling()), done),
			expect(describeTable(), disabled)),
		update("disable nothing", "Disabling a stream needs one.", ddb50,
			invalid("Table has no stream to disable: TableName: rows"), disabling()),
		newCase("disable again", "Disabling a disabled stream is refused.", ddb50, inTables(streamed("NEW_IMAGE")),
			expect(updateTable(disabling()), done),
			expect(updateTable(disabling()), invalid("Table has no stream to disable: TableName: rows"))),
		newCase("enable anew", "A stream can be disabled and enabled anew, with another view.", ddb50,
			inTables(streamed("NEW_IMAGE")),
			expect(updateTable(disabling()), done),
			expect(updateTable(enabling("OLD_IMAGE")), done),
			expect(describeTable(), enabled("OLD_IMAGE"))),
		update("update without a view", "Enabling a stream needs a view.", ddb50,
			badParameter("If stream is being enabled then UpdateViewType is required"), enabling("")),
		newCase("disable with a view", "Disabling a stream takes no view.", ddb50, inTables(streamed("KEYS_ONLY")),
			expect(updateTable(set("StreamSpecification", &types.StreamSpecification{
				StreamEnabled: aws.Bool(false), StreamViewType: types.StreamViewTypeKeysOnly,
			})),
				badParameter("If stream is being disabled, then UpdateViewType must not be specified")),
			expect(describeTable(), enabled("KEYS_ONLY"))),
		update("update to no such view", "UpdateTable knows the same views.", sheet, badView, enabling("new_image")),
		update("update says nothing", "A StreamSpecification of UpdateTable has StreamEnabled.", sheet, notNull,
			set("StreamSpecification", &types.StreamSpecification{})),
		update("with an index", "A stream and indexes are not changed at once.", ddb442,
			badParameter("You cannot create or delete index while changing stream status"), enabling("KEYS_ONLY"),
			adding("gsi: g S -> ALL")),
		update("with protection", "Deletion protection is changed alone.", sheet,
			badParameter("DeletionProtection modification must be the only operation in the request"),
			enabling("KEYS_ONLY"), set("DeletionProtectionEnabled", false)),
		update("with a class", "The class of a table is changed alone.", sheet,
			badParameter("TableClass modification must be the only operation in the request"), enabling("KEYS_ONLY"),
			set("TableClass", "STANDARD_INFREQUENT_ACCESS")),
		newCase("with throughput", "A stream and throughput are not changed at once.", sheet, noTables,
			runsAlone, // see table/provisioned
			expect(provisioned, "table rows (pk S HASH, sk S RANGE) PROVISIONED 5/5"),
			expect(updateTable(enabling("KEYS_ONLY"), set("ProvisionedThroughput", units(6, 6))),
				badParameter("You cannot modify stream status while updating table IOPS")),
			expect(deleteTable(), "deleted rows")),
		newCase("with on demand", "A stream may be enabled in the request that makes a table pay per request.", sheet,
			expect(updateTable(enabling("KEYS_ONLY"), set("BillingMode", "PAY_PER_REQUEST")), done),
			expect(describeTable(), enabled("KEYS_ONLY"))),
	}
	for _, view := range []string{"KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"} {
		cases = append(cases, newCase("created with "+view, "A table may be created with a stream of any view.",
			api("CreateTable"), noTables,
			expect(createTable(usualTable, usualSchema, enabling(view)), enabled(view)),
			expect(describeTable(), enabled(view)),
			expect(deleteTable(), "deleted rows")))
	}
	return cases
}
