package conformance

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// repeat is a word n times.
func repeat(word string, n int) string { return strings.TrimSuffix(strings.Repeat(word+" ", n), " ") }

func batchWriteCases() []Case {
	doc := api("BatchWriteItem")
	rows := []attrs{row("a", "1", "x", 1), row("a", "2", "x", 2)}
	two := map[string]schema{usualTable: usualSchema, "other": "id N"}
	puts := func(n int, more ...any) actions {
		var list actions
		for i := range n {
			list = append(list, put(row("k", fmt.Sprint(i), more...)))
		}
		return list
	}
	count := func(of string) request {
		return query("pk = :p", with(attrs{":p": of}), selecting("COUNT"))
	}
	// writes gives the usual table's requests as they are.
	writes := func(list ...types.WriteRequest) request {
		return func(w *world) any {
			return &dynamodb.BatchWriteItemInput{
				RequestItems: map[string][]types.WriteRequest{w.name(usualTable): list},
			}
		}
	}
	const (
		errors   = parity + "tier3/error-messages/batchWriteItem.test.ts"
		ordering = parity + "tier3/validation-ordering/batchOperations.test.ts"
		mapKeys  = "Value '{...}' at 'requestItems' failed to satisfy constraint: Map keys must satisfy " +
			"constraint: [Member must have length less than or equal to 255, Member must have length greater than " +
			"or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"
		mapValues = "Value '{...}' at 'requestItems' failed to satisfy constraint: Map value must satisfy " +
			"constraint: [Member must have length less than or equal to 25, Member must have length greater than or " +
			"equal to 1]"
		enum = "Value 'BOGUS' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy " +
			"enum value set: [INDEXES, TOTAL, NONE]"
		enum2 = "Value 'BOGUS' at 'returnItemCollectionMetrics' failed to satisfy constraint: Member must " +
			"satisfy enum value set: [SIZE, NONE]"
		noTable    = "ResourceNotFoundException: Requested resource not found"
		mismatch   = "The provided key element does not match the schema"
		duplicates = "Provided list of item keys contains duplicates"
		oneOf      = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the " +
			"supported datatypes"
	)
	cases := []Case{
		newCase("puts and deletes", "A batch puts and deletes.", doc, holding(rows...),
			expect(batchWrite(actions{put(row("a", "3", "x", 3)), remove(key("a", "1"))}), ok),
			expect(query("pk = :p", with(attrs{":p": "a"}), only("sk, x")), `2 of 2: {sk: "2", x: 2} {sk: "3", x: 3}`)),
		newCase("put replaces", "A put replaces the whole item.", alternator+"test_batch.py", holding(rows...),
			expect(batchWrite(actions{put(row("a", "1", "y", 9))}), ok),
			expect(get(key("a", "1")), `{pk: "a", sk: "1", y: 9}`)),
		newCase("delete of nothing", "Deleting an item that does not exist succeeds.", doc,
			expect(batchWrite(actions{remove(key("a", "1"))}), ok)),
		newCase("two tables", "A batch writes to several tables, and one key in two tables is no duplicate.",
			dynalite+"batchWriteItem.js",
			inTables(map[string]schema{usualTable: usualSchema, "other": usualSchema, "third": "id N"}),
			expect(batchWrite(actions{put(key("a", "1")), put(key("a", "1"), on("other")),
				put(attrs{"id": 1}, on("third"))}),
				ok),
			expect(get(key("a", "1"), on("other")), `{pk: "a", sk: "1"}`),
			expect(get(attrs{"id": 1}, on("third")), `{id: 1}`)),
		newCase("25 writes", "A batch has 25 writes at most.", doc,
			expect(batchWrite(puts(25)), ok),
			expect(count("k"), "25 of 25")),
		newCase("26 writes", "A batch of more than 25 writes is refused, and writes nothing.", errors,
			expect(batchWrite(puts(26)), broken(mapValues)),
			expect(count("k"), "0 of 0")),
		newCase("26 writes to two tables", "The limit of 25 writes is one for all tables together.", doc,
			inTables(two),
			expect(batchWrite(append(puts(25), put(attrs{"id": 1}, on("other")))),
				invalid("Too many items requested for the BatchWriteItem call")),
			expect(count("k"), "0 of 0")),
		newCase("all or nothing of what is not valid",
			"A batch with one invalid write is refused, and writes nothing.", alternator+"test_batch.py",
			expect(batchWrite(actions{put(key("k", "1")), put(attrs{"pk": "k", "sk": 2}), put(key("k", "3"))}),
				invalid(mismatch)),
			expect(batchWrite(actions{put(key("k", "1")), put(attrs{"x": "k"}), put(key("k", "3"))}),
				invalid(mismatch)),
			expect(count("k"), "0 of 0")),
		newCase("one missing table", "If one table is missing, nothing is written.", doc,
			expect(batchWrite(actions{put(key("k", "1")), put(key("k", "1"), on("missing"))}), noTable),
			expect(count("k"), "0 of 0")),
		newCase("no such detail", "ReturnConsumedCapacity has three values; a batch with any other is refused.",
			ordering,
			expect(batchWrite(actions{put(key("k", "1"))}, capacity("BOGUS")), broken(enum)),
			expect(count("k"), "0 of 0")),
		newCase("duplicates", "No item comes twice: the batch is refused.", errors,
			expect(batchWrite(actions{put(key("k", "1")), remove(key("k", "1"))}), invalid(duplicates)),
			expect(batchWrite(actions{remove(key("k", "1")), put(key("k", "1"))}), invalid(duplicates)),
			expect(batchWrite(actions{put(row("k", "1", "x", 1)), put(row("k", "1", "x", 2))}), invalid(duplicates)),
			expect(batchWrite(actions{remove(key("k", "1")), remove(key("k", "1"))}), invalid(duplicates)),
			expect(batchWrite(actions{put(key("k", "1")), put(key("k", "2")), put(key("l", "1"))}), ok),
			expect(count("k"), "2 of 2")),
		newCase("equal numbers", "Numbers that are equal are one key.", docTypes, inTable("id N"),
			expect(batchWrite(actions{put(attrs{"id": num("1")}), put(attrs{"id": num("1.0")})}), invalid(duplicates))),
		newCase("400 KB", "Each item has 400 KB at most.", docLimits,
			expect(batchWrite(actions{put(key("k", "1")), put(row("k", "2", "v", text(400*1024)))}),
				invalid("Item size has exceeded the maximum allowed size")),
			expect(batchWrite(actions{put(row("k", "2", "v", text(400*1024)), on("missing"))}),
				invalid("Item size has exceeded the maximum allowed size")),
			expect(count("k"), "0 of 0")),
		newCase("25 large writes", "25 items of nearly 400 KB are not too large a batch.", doc,
			expect(batchWrite(puts(25, "v", text(400_000))), ok)),
		newCase("capacity", "Each write takes units, by the larger of the images.", docCapacity,
			holding(row("a", "1", "v", text(2000))),
			expect(batchWrite(actions{put(row("a", "2", "v", text(1500))), put(key("a", "1"))}, capacity("TOTAL")),
				"ok; 4 units")),
		newCase("capacity by index", "INDEXES tells the table's part.", doc,
			expect(batchWrite(actions{put(key("a", "2")), put(key("a", "1"))}, capacity("INDEXES")),
				"ok; 2 units, 2 of the table")),
		newCase("empty binary key", "A key binary is not empty, put or deleted.", errors, inTable("pk B"),
			expect(batchWrite(actions{put(attrs{"pk": []byte{}})}),
				invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot "+
					"contain an empty binary value. Key: pk")),
			expect(batchWrite(actions{remove(attrs{"pk": []byte{}})}),
				invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot "+
					"contain an empty binary value. Key: pk"))),
	}
	type batch struct {
		name, rule, source string
		do                 request
		want               string
	}
	for _, b := range []batch{
		{"no RequestItems", "A batch has RequestItems.", dynalite + "batchWriteItem.js", batchWrite(nil),
			broken("Value null at 'requestItems' failed to satisfy constraint: Member must not be null")},
		{"empty RequestItems", "A batch has a table.", errors, batchWrite(actions{}),
			invalid("The requestItems parameter is required for BatchWriteItem")},
		{"no writes", "A table has a write.", errors, writes(), broken(mapValues)},
		{"nothing in a write", "A write puts or deletes.", dynalite + "batchWriteItem.js",
			batchWrite(actions{nothing()}), invalid(oneOf)},
		{"no item", "A put has an item.", dynalite + "batchWriteItem.js",
			writes(types.WriteRequest{PutRequest: &types.PutRequest{}}),
			broken("Value null at 'requestItems.rows.member.1.member.putRequest.item' failed to satisfy constraint: " +
				"Member must not be null")},
		{"no key", "A delete has a key.", dynalite + "batchWriteItem.js",
			writes(types.WriteRequest{DeleteRequest: &types.DeleteRequest{}}),
			broken("Value null at 'requestItems.rows.member.1.member.deleteRequest.key' failed to satisfy " +
				"constraint: Member must not be null")},
		{"bad name", "A table's name has certain characters.", errors,
			batchWrite(actions{put(key("a", "1"), onName("bad!name"))}), broken(mapKeys)},
		{"bad name and detail", "Enumerations come before the names of tables.", ordering,
			batchWrite(actions{put(key("a", "1"), onName("bad!name"))}, capacity("BOGUS")), broken(enum)},
		{"no such metrics", "ReturnItemCollectionMetrics has two values.", ordering,
			batchWrite(actions{put(key("a", "1"))}, metrics("BOGUS")), broken(enum2)},
		{"two enumerations", "Broken enumerations are listed together.", ordering,
			batchWrite(actions{put(key("a", "1"))}, capacity("BOGUS"), metrics("BOGUS")), broken(enum, enum2)},
		{"detail before the table", "Constraints come before the table.", ordering,
			batchWrite(actions{put(key("a", "1"), on("missing"))}, capacity("BOGUS")), broken(enum)},
		{"no table", "A table exists.", errors, batchWrite(actions{put(key("a", "1"), on("missing"))}), noTable},
		{"empty item in a missing table", "The table is looked for before the key.", dynalite + "batchWriteItem.js",
			batchWrite(actions{put(attrs{}, on("missing"))}), noTable},
		{"empty item", "An item has its key.", dynalite + "batchWriteItem.js",
			batchWrite(actions{put(attrs{})}), invalid(mismatch)},
		{"key of another type", "A key has the table's types.", errors,
			batchWrite(actions{put(attrs{"pk": "a", "sk": list{"x"}})}), invalid(mismatch)},
		{"delete by half a key", "A key has all key attributes.", errors,
			batchWrite(actions{remove(attrs{"pk": "a"})}), invalid(mismatch)},
		{"empty key value", "A key string is not empty.", errors, batchWrite(actions{put(key("", "1"))}), invalid(
			"One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain " +
				"an empty string value. Key: pk",
		)},
		{"long key", "A key is not too long.", dynalite + "batchWriteItem.js",
			batchWrite(actions{put(key(text(2049), "1"))}),
			badParameter("Size of hashkey has exceeded the maximum size limit of2048 bytes")},
		{"bad number in a missing table", "Values are checked before the table is looked for.",
			dynalite + "batchWriteItem.js", batchWrite(actions{put(attrs{"pk": num("b")}, on("missing"))}),
			invalid("The parameter cannot be converted to a numeric value: b")},
		{"empty set", "A set is not empty.", dynalite + "batchWriteItem.js",
			batchWrite(actions{put(row("a", "1", "s", strs{}))}), badParameter("An string set  may not be empty")},
	} {
		cases = append(cases, newCase(b.name, b.rule, b.source, expect(b.do, b.want)))
	}
	return cases
}

func batchGetCases() []Case {
	rows := []attrs{row("a", "1", "x", 1, "y", 2), row("a", "2", "x", 3), row("b", "1")}
	doc := api("BatchGetItem")
	two := map[string]schema{usualTable: usualSchema, "other": "id N"}
	gets := func(n int, options ...option) actions {
		var list actions
		for i := range n {
			list = append(list, get(key("k", fmt.Sprint(i)), options...))
		}
		return list
	}
	var large []attrs
	for i := range 42 {
		large = append(large, row("l", fmt.Sprintf("%02d", i), "v", text(400_000)))
	}
	var largeGets actions
	for _, r := range large {
		largeGets = append(largeGets, get(key("l", r["sk"].(string)), only("#s"), named("#s", "absent")))
	}
	// keys gives the usual table's keys as they are, nil and empty lists too.
	keys := func(list []map[string]types.AttributeValue) request {
		return func(w *world) any {
			return &dynamodb.BatchGetItemInput{
				RequestItems: map[string]types.KeysAndAttributes{w.name(usualTable): {Keys: list}},
			}
		}
	}
	const (
		errors   = parity + "tier3/error-messages/batchGetItem.test.ts"
		ordering = parity + "tier3/validation-ordering/batchOperations.test.ts"
		mapKeys  = "Value '{...}' at 'requestItems' failed to satisfy constraint: Map keys must satisfy constraint: " +
			"[Member must have length less than or equal to 255, Member must have length greater than or equal to " +
			"3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"
		enum = "Value 'BOGUS' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy " +
			"enum value set: [INDEXES, TOTAL, NONE]"
		overlap = "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or " +
			"rewrite one of these paths; path one: [x], path two: [x]"
		noTable  = "ResourceNotFoundException: Requested resource not found"
		mismatch = "The provided key element does not match the schema"
	)
	cases := []Case{
		newCase("two tables", "A batch reads from several tables.", doc, inTables(two), holding(rows...),
			expect(put(attrs{"id": 1}, on("other")), ok),
			expect(batchGet(actions{get(key("b", "1")), get(attrs{"id": 1}, on("other"))}),
				`other: {id: 1}; rows: {pk: "b", sk: "1"}`),
			expect(batchGet(actions{get(key("b", "1")), get(attrs{"id": 2}, on("other"))}),
				`other: nothing; rows: {pk: "b", sk: "1"}`)),
		newCase("projection of a table", "Each table has a projection of its own.", doc, inTables(two),
			holding(rows...),
			expect(put(attrs{"id": 1, "x": 9}, on("other")), ok),
			expect(batchGet(actions{get(key("a", "1"), only("y")),
				get(attrs{"id": 1}, on("other"), only("#x"), named("#x", "x"))}),
				`other: {x: 9}; rows: {y: 2}`)),
		newCase("a bad projection of one table", "A bad projection of one table refuses the whole.", errors,
			inTables(two),
			expect(batchGet(actions{get(key("a", "1"), only("y")), get(attrs{"id": 1}, on("other"), only("x, x"))}),
				invalid(overlap))),
		newCase("one key in two tables",
			"The tables of a batch may name equal keys: one key in two tables is no duplicate.",
			alternator+"test_batch.py", inTables(map[string]schema{usualTable: usualSchema, "other": usualSchema}),
			holding(rows...),
			expect(batchGet(actions{get(key("b", "1")), get(key("b", "1"), on("other"))}),
				`other: nothing; rows: {pk: "b", sk: "1"}`)),
		newCase("capacity of two tables", "Units are reported by table.", dynalite+"batchGetItem.js", inTables(two),
			holding(rows...),
			expect(batchGet(actions{get(key("b", "1"), eventually()), get(key("b", "2"), eventually()),
				get(attrs{"id": 2}, on("other"), eventually())}, capacity("TOTAL")),
				`other: nothing; rows: {pk: "b", sk: "1"}; 0.5 units; 1 units`)),
		newCase("16 MB", "Keys beyond 16 MB come back in UnprocessedKeys, with the parameters of the request.", doc,
			holding(large...),
			expect(batchGet(largeGets[:41]), "rows: "+repeat("{}", 41)),
			expect(batchGet(largeGets), "rows: "+repeat("{}", 41)+`; left of rows: 1, consistent true, only "#s"`)),
		newCase("empty binary key", "A key binary is not empty.", errors, inTable("pk B"),
			expect(batchGet(actions{get(attrs{"pk": []byte{}})}),
				invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot "+
					"contain an empty binary value. Key: pk"))),
	}
	type batch struct {
		name, rule, source string
		do                 request
		want               string
	}
	for _, b := range []batch{
		{"items", "A batch returns the items that there are, and nothing for the others.", doc,
			batchGet(actions{get(key("a", "1")), get(key("a", "none")), get(key("a", "2"))}),
			`rows: {pk: "a", sk: "1", x: 1, y: 2} {pk: "a", sk: "2", x: 3}`},
		{"nothing there", "A table without any of the items has an empty list.", alternator + "test_batch.py",
			batchGet(actions{get(key("x", "1"))}), "rows: nothing"},
		{"projection", "A projection cuts each item down.", doc,
			batchGet(actions{get(key("a", "1"), only("x, sk")), get(key("b", "1"))}),
			`rows: {sk: "1", x: 1} {sk: "1"}`},
		{"projection with names", "Names may be placeholders.", docNames,
			batchGet(actions{get(key("a", "1"), only("#x"), named("#x", "x"))}), `rows: {x: 1}`},
		{"projection of nothing", "An item without the projected attributes is an empty item.",
			dynalite + "batchGetItem.js", batchGet(actions{get(key("b", "1"), only("x"))}), "rows: {}"},
		{"100 keys", "A batch has 100 keys at most.", doc, batchGet(gets(100)), "rows: nothing"},
		{"capacity", "Each item takes units, missing or not.", docCapacity,
			batchGet(actions{get(key("a", "1")), get(key("a", "none"))}, capacity("TOTAL")),
			`rows: {pk: "a", sk: "1", x: 1, y: 2}; 2 units`},
		{"capacity by index", "INDEXES tells the table's part.", dynalite + "batchGetItem.js",
			batchGet(actions{get(key("b", "1"), eventually()), get(key("a", "none"))}, capacity("INDEXES")),
			`rows: {pk: "b", sk: "1"}; 1 units, 1 of the table`},

		{"no RequestItems", "A batch has RequestItems.", dynalite + "batchGetItem.js", batchGet(nil),
			broken("Value null at 'requestItems' failed to satisfy constraint: Member must not be null")},
		{"empty RequestItems", "A batch has a table.", errors, batchGet(actions{}), broken(
			"Value at 'RequestItems' failed to satisfy constraint: Member must have length greater than " +
				"or equal to 1",
		)},
		{"no keys", "A table has Keys.", dynalite + "batchGetItem.js", keys(nil), broken(
			"Value null at 'requestItems.rows.member.keys' failed to satisfy constraint: Member must not be null",
		)},
		{"empty keys", "A table has a key.", errors, keys([]map[string]types.AttributeValue{}), broken(
			"Value at 'RequestItems.rows.member.Keys' failed to satisfy constraint: Member must have length " +
				"greater than or equal to 1",
		)},
		{"101 keys", "A table has 100 keys at most.", errors, batchGet(gets(101)), broken(
			"Value at 'RequestItems.rows.member.Keys' failed to satisfy constraint: Member must have length " +
				"less than or equal to 100",
		)},
		{"101 keys of two tables", "All tables of a batch together have 100 keys at most.",
			dynalite + "batchGetItem.js", batchGet(append(gets(100), get(key("k", "0"), on("other")))),
			invalid("Too many items requested for the BatchGetItem call")},
		{"bad name", "A table's name has certain characters.", errors,
			batchGet(actions{get(key("a", "1"), onName("bad!name"))}), broken(mapKeys)},
		{"short name", "A table's name has three characters at least.", dynalite + "batchGetItem.js",
			batchGet(actions{get(key("a", "1"), onName("a"))}), broken(mapKeys)},
		{"bad name and detail", "Broken constraints are listed together.", ordering,
			batchGet(actions{get(key("a", "1"), onName("bad!name"))}, capacity("BOGUS")), broken(mapKeys, enum)},
		{"no such detail", "ReturnConsumedCapacity has three values.", ordering,
			batchGet(actions{get(key("a", "1"))}, capacity("BOGUS")), broken(enum)},
		{"detail before the table", "Constraints come before the table.", ordering,
			batchGet(actions{get(key("a", "1"), on("missing"))}, capacity("BOGUS")), broken(enum)},
		{"no table", "A table exists.", errors, batchGet(actions{get(key("a", "1"), on("missing"))}), noTable},
		{"one missing table", "If one table is missing, the whole is refused.", errors,
			batchGet(actions{get(key("a", "1")), get(key("a", "1"), on("missing"))}), noTable},
		{"duplicates", "No key comes twice.", errors,
			batchGet(actions{get(key("a", "1")), get(key("a", "2")), get(key("a", "1"))}),
			invalid("Provided list of item keys contains duplicates")},
		{"half a key", "A key has all key attributes.", dynalite + "batchGetItem.js",
			batchGet(actions{get(attrs{"pk": "a"})}), invalid(mismatch)},
		{"key of another type", "A key has the table's types.", dynalite + "batchGetItem.js",
			batchGet(actions{get(attrs{"pk": "a", "sk": 1})}), invalid(mismatch)},
		{"empty key", "A key has attributes.", dynalite + "batchGetItem.js",
			batchGet(actions{get(attrs{})}), invalid(mismatch)},
		{"empty key in a missing table", "The table is looked for before the key's attributes.",
			dynalite + "batchGetItem.js", batchGet(actions{get(attrs{}, on("missing"))}), noTable},
		{"empty key value", "A key string is not empty.", docTypes, batchGet(actions{get(key("a", ""))}), invalid(
			"One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain " +
				"an empty string value. Key: sk",
		)},
		{"bad number in a missing table", "Values are checked before the table is looked for.",
			dynalite + "batchGetItem.js", batchGet(actions{get(attrs{"pk": num("b")}, on("missing"))}),
			invalid("The parameter cannot be converted to a numeric value: b")},
		{"long key", "A key is not too long.", dynalite + "batchGetItem.js",
			batchGet(actions{get(key("a", text(1025)))}),
			badParameter("Aggregated size of all range keys has exceeded the size limit of 1024 bytes")},
		{"overlapping paths", "A projection's paths do not overlap, whether or not there is an item.", errors,
			batchGet(actions{get(key("none", "1"), only("x, x"))}), invalid(overlap)},
		{"unused name", "A name is used.", docNames, batchGet(actions{get(key("a", "1"), only("x"), named("#y", "y"))}),
			invalid("Value provided in ExpressionAttributeNames unused in expressions: keys: {#y}")},
		{"names without a projection", "Names are for the projection.", docNames,
			batchGet(actions{get(key("a", "1"), named("#y", "y"))}),
			invalid("ExpressionAttributeNames can only be specified when using expressions")},
	} {
		cases = append(cases, newCase(b.name, b.rule, b.source, holding(rows...), expect(b.do, b.want)))
	}
	return cases
}
