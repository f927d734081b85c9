package conformance

// streamRecordCases are about the records of a stream.
func streamRecordCases() []Case {
	k := key("a", "b")
	const (
		keys  = `{pk: "a", sk: "b"}`
		one   = `{n: 1, pk: "a", sk: "b"}`
		two   = `{n: 2, pk: "a", sk: "b"}`
		suite = alternator + "test_streams.py"
		basic = nubo + "tier2/streams/basic.test.ts"
	)
	record := api("streams_StreamRecord")
	streamed := func(view string) map[string]schema {
		return map[string]schema{usualTable: usualSchema + schema(" | stream: "+view)}
	}
	set2 := func() request { return update(k, "SET n = :n", with(attrs{":n": 2})) }
	// life is a row that comes, changes and goes.
	life := func(name, rule, source, want string) Case {
		return newCase(name, rule, source, inTables(streamed(name)), readsStreams,
			expect(put(row("a", "b", "n", 1)), ok),
			expect(set2(), ok),
			expect(remove(k), ok),
			expect(readStream(0), want))
	}
	// both is a case about a stream with both images.
	both := func(name, rule, source string, steps ...part) Case {
		return newCase(name, rule, source, inTables(streamed("NEW_AND_OLD_IMAGES")), readsStreams).and(steps...)
	}
	return []Case{
		life("KEYS_ONLY", "A stream of keys shows the keys of each change.", record,
			"3 records; more\n- INSERT "+keys+"\n- MODIFY "+keys+"\n- REMOVE "+keys),
		life("NEW_IMAGE", "A stream of new images shows the item as it is after each change.", basic,
			"3 records; more\n- INSERT "+keys+" new "+one+"\n- MODIFY "+keys+" new "+two+"\n- REMOVE "+keys),
		life("OLD_IMAGE", "A stream of old images shows the item as it was before each change.", suite,
			"3 records; more\n- INSERT "+keys+"\n- MODIFY "+keys+" old "+one+"\n- REMOVE "+keys+" old "+two),
		life("NEW_AND_OLD_IMAGES", "A stream of both images shows both.", suite,
			"3 records; more\n- INSERT "+keys+" new "+one+"\n- MODIFY "+keys+" old "+one+" new "+two+"\n- REMOVE "+keys+
				" old "+two),
		both("empty", "A stream in which nothing has happened has an empty list of records, and goes on.", suite,
			expect(readStream(0), "0 records; more")),
		both("nothing changes", "A write that changes nothing leaves no record.", guide+"Streams.html",
			expect(put(row("a", "b", "n", 1)), ok),
			expect(put(row("a", "b", "n", num("1.0"))), ok),
			expect(update(k, "SET n = :n", with(attrs{":n": 1})), ok),
			expect(batchWrite(actions{remove(key("no", "row"))}), ok),
			expect(put(row("a", "b"), where("attribute_not_exists(pk)")), conditionFailed),
			expect(readStream(0), "1 records; more\n- INSERT "+keys+" new "+one)),
		both("created by an update", "An update that creates its row is an INSERT.", suite,
			expect(set2(), ok),
			expect(readStream(0), "1 records; more\n- INSERT "+keys+" new "+two)),
		both("put over", "A put over a row is a MODIFY, with the whole old image.", suite,
			expect(put(row("a", "b", "x", "old")), ok),
			expect(put(row("a", "b", "n", 1)), ok),
			expect(readStream(0),
				"2 records; more\n- INSERT "+keys+` new {pk: "a", sk: "b", x: "old"}`+"\n- MODIFY "+keys+
					` old {pk: "a", sk: "b", x: "old"} new `+one)),
		both("only a key", "An image of a row that is only a key has the key.", suite,
			expect(put(row("a", "b")), ok),
			expect(update(k, "SET n = :n", with(attrs{":n": 1})), ok),
			expect(update(k, "REMOVE n"), ok),
			expect(readStream(0),
				"3 records; more\n- INSERT "+keys+" new "+keys+"\n- MODIFY "+keys+" old "+keys+" new "+one+
					"\n- MODIFY "+keys+" old "+one+" new "+keys)),
		both("every type", "Images have values of every type.", record,
			expect(put(row("a", "b", "b", []byte{1}, "f", false, "l", list{1, "x"}, "m", attrs{"x": nil}, "s",
				strs{"q", "p"}, "t", nums{"2", "1"}, "u", bins{"x"})),
				ok),
			expect(readStream(0), "1 records; more\n- INSERT "+keys+
				` new {b: 0x01, f: false, l: [1, "x"], m: {x: null}, pk: "a", s: <"p", "q">, sk: "b", t: <1, 2>, u: <0x78>}`)),
		both("transaction", "Each row that a transaction changes has a record, and a failed one leaves none.",
			docTransactions, expect(transact(actions{put(row("a", "1", "n", 1)), put(row("a", "2", "n", 1)),
				check(key("a", "3"), "attribute_not_exists(pk)")}),
				ok),
			expect(transact(actions{remove(key("a", "1")), put(row("a", "2"), where("n = :n"), with(attrs{":n": 2}))}),
				cancelled(none, reasonCondition)),
			expect(readStream(0),
				"2 records; more\n- INSERT "+`{pk: "a", sk: "1"} new {n: 1, pk: "a", sk: "1"}`+"\n- INSERT "+
					`{pk: "a", sk: "2"} new {n: 1, pk: "a", sk: "2"}`)),
		both("batch", "Each row that a batch changes has a record.", suite,
			expect(put(row("a", "b", "n", 1)), ok),
			expect(batchWrite(actions{put(row("a", "b", "n", 2)), remove(key("no", "row"))}), ok),
			expect(readStream(0),
				"2 records; more\n- INSERT "+keys+" new "+one+"\n- MODIFY "+keys+" old "+one+" new "+two)),
		newCase("of one table", "A stream shows the changes of one table.", docStreams,
			inTables(map[string]schema{usualTable: usualSchema, "other": "pk S | stream: KEYS_ONLY"}), readsStreams,
			expect(put(row("a", "b")), ok),
			expect(put(attrs{"pk": "x"}, on("other")), ok),
			expect(put(row("a", "c")), ok),
			expect(readStream(0), "1 records; more\n- INSERT {pk: \"x\"}")),
		newCase("before it was enabled", "A stream has the changes since it was enabled.", docStreams, readsStreams,
			expect(put(row("a", "b", "n", 1)), ok),
			expect(updateTable(enabling("NEW_AND_OLD_IMAGES")), "updating rows"),
			expect(set2(), ok),
			expect(readStream(0), "1 records; more\n- MODIFY "+keys+" old "+one+" new "+two)),
		newCase("after it was disabled", "A stream that was disabled ends, and its records can still be read.",
			docStreams, inTables(streamed("NEW_IMAGE")), readsStreams,
			expect(put(row("a", "b", "n", 1)), ok),
			expect(updateTable(disabling()), "updating rows"),
			expect(set2(), ok),
			expect(readStream(1), "1 records; end\n- INSERT "+keys+" new "+one),
			expect(updateTable(enabling("KEYS_ONLY")), "updating rows"),
			expect(remove(k), ok),
			expect(readStream(1), "1 records; end\n- INSERT "+keys+" new "+one),
			expect(readStream(2), "1 records; more\n- REMOVE "+keys)),
		newCase("of a deleted table",
			"The stream of a deleted table ends, without a record of its rows, and can still be read.",
			quirks+"details/DDB-TABLE-378.md", inTables(streamed("KEYS_ONLY")), readsStreams,
			expect(put(row("a", "b")), ok),
			expect(deleteTable(), "deleted rows"),
			expect(readStream(0), "1 records; end\n- INSERT "+keys)),
		newCase("sizes", "The size of a record is the size of the keys and the images in it.",
			"https://docs.aws.amazon.com/lambda/latest/dg/with-ddb-example.html",
			inTable("Id N | stream: NEW_AND_OLD_IMAGES"), readsStreams,
			// AWS's own example
			expect(put(attrs{"Id": 101, "Message": "New item!"}), ok),
			expect(update(attrs{"Id": 101}, "SET Message = :m", with(attrs{":m": "This item has changed"})), ok),
			expect(remove(attrs{"Id": 101}), ok),
			expect(recordSizes(), "26 59 38 bytes")),
		newCase("by TTL", "A deletion by TTL is a REMOVE by the service; a deletion by a client has no user identity.",
			docTTLStreams, inTables(streamed("KEYS_ONLY")), movesClock, needsSweep, readsStreams,
			expect(updateTTL("ttl", true), "ttl ttl true"),
			expect(after(func(now int64) request { return put(row("a", "b", "ttl", int(now)-60)) }), ok),
			expect(put(row("a", "c")), ok),
			then(sweep()),
			expect(remove(key("a", "c")), ok),
			expect(readStream(0), "4 records; more\n- INSERT "+keys+`
- INSERT {pk: "a", sk: "c"}
- REMOVE `+keys+` by Service dynamodb.amazonaws.com
- REMOVE {pk: "a", sk: "c"}`)),
	}
}
