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
			return &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{w.name(usualTable): list}}
		}
	}
	const (
		errors     = parity + "tier3/error-messages/batchWriteItem.test.ts"
		ordering   = parity + "tier3/validation-ordering/batchOperations.test.ts"
		mapKeys    = "Value '{...}' at 'requestItems' failed to satisfy constraint: Map keys must satisfy constraint: [Member must have length less than or equal to 255, Member must have length greater than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"
		mapValues  = "Value '{...}' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: [Member must have length less than or equal to 25, Member must have length greater than or equal to 1]"
		enum       = "Value 'BOGUS' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
		enum2      = "Value 'BOGUS' at 'returnItemCollectionMetrics' failed to satisfy constraint: Member must satisfy enum value set: [SIZE, NONE]"
		noTable    = "ResourceNotFoundException: Requested resource not found"
		mismatch   = "The provided key element does not match the schema"
		duplicates = "Provided list of item keys contains duplicates"
		oneOf      = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
	)
	cases := []Case{
		{
			Name: "puts and deletes", Rule: "A batch puts and deletes.", Source: doc,
			rows: rows,
			steps: []step{
				expect(batchWrite(actions{put(row("a", "3", "x", 3)), remove(key("a", "1"))}), ok),
				expect(query("pk = :p", with(attrs{":p": "a"}), only("sk, x")), `2 of 2: {sk: "2", x: 2} {sk: "3", x: 3}`),
			},
		},
		{
			Name: "put replaces", Rule: "A put replaces the whole item.", Source: alternator + "test_batch.py",
			rows: rows,
			steps: []step{
				expect(batchWrite(actions{put(row("a", "1", "y", 9))}), ok),
				expect(get(key("a", "1")), `{pk: "a", sk: "1", y: 9}`),
			},
		},
		{
			Name: "delete of nothing", Rule: "Deleting what is not there succeeds.", Source: doc,
			steps: []step{expect(batchWrite(actions{remove(key("a", "1"))}), ok)},
		},
		{
			Name: "two tables", Rule: "A batch writes to several tables, and one key in two tables is no duplicate.", Source: dynalite + "batchWriteItem.js",
			tables: map[string]schema{usualTable: usualSchema, "other": usualSchema, "third": "id N"},
			steps: []step{
				expect(batchWrite(actions{put(key("a", "1")), put(key("a", "1"), on("other")), put(attrs{"id": 1}, on("third"))}), ok),
				expect(get(key("a", "1"), on("other")), `{pk: "a", sk: "1"}`),
				expect(get(attrs{"id": 1}, on("third")), `{id: 1}`),
			},
		},
		{
			Name: "25 writes", Rule: "A batch has 25 writes at most.", Source: doc,
			steps: []step{
				expect(batchWrite(puts(25)), ok),
				expect(count("k"), "25 of 25"),
			},
		},
		{
			Name: "26 writes", Rule: "More are refused, and none is done.", Source: errors,
			steps: []step{
				expect(batchWrite(puts(26)), broken(mapValues)),
				expect(count("k"), "0 of 0"),
			},
		},
		{
			Name: "26 writes to two tables", Rule: "So are those of all tables together.", Source: doc,
			tables: two,
			steps: []step{
				expect(batchWrite(append(puts(25), put(attrs{"id": 1}, on("other")))), invalid("Too many items requested for the BatchWriteItem call")),
				expect(count("k"), "0 of 0"),
			},
		},
		{
			Name: "all or nothing of what is not valid", Rule: "One write that is not valid refuses the batch before any is done.", Source: alternator + "test_batch.py",
			steps: []step{
				expect(batchWrite(actions{put(key("k", "1")), put(attrs{"pk": "k", "sk": 2}), put(key("k", "3"))}), invalid(mismatch)),
				expect(batchWrite(actions{put(key("k", "1")), put(attrs{"x": "k"}), put(key("k", "3"))}), invalid(mismatch)),
				expect(count("k"), "0 of 0"),
			},
		},
		{
			Name: "one missing table", Rule: "If one table is missing, nothing is written.", Source: doc,
			steps: []step{
				expect(batchWrite(actions{put(key("k", "1")), put(key("k", "1"), on("missing"))}), noTable),
				expect(count("k"), "0 of 0"),
			},
		},
		{
			Name: "no such detail", Rule: "ReturnConsumedCapacity has three values, and another one refuses the batch.", Source: ordering,
			steps: []step{
				expect(batchWrite(actions{put(key("k", "1"))}, capacity("BOGUS")), broken(enum)),
				expect(count("k"), "0 of 0"),
			},
		},
		{
			Name: "duplicates", Rule: "No item comes twice: the batch is refused.", Source: errors,
			steps: []step{
				expect(batchWrite(actions{put(key("k", "1")), remove(key("k", "1"))}), invalid(duplicates)),
				expect(batchWrite(actions{remove(key("k", "1")), put(key("k", "1"))}), invalid(duplicates)),
				expect(batchWrite(actions{put(row("k", "1", "x", 1)), put(row("k", "1", "x", 2))}), invalid(duplicates)),
				expect(batchWrite(actions{remove(key("k", "1")), remove(key("k", "1"))}), invalid(duplicates)),
				expect(batchWrite(actions{put(key("k", "1")), put(key("k", "2")), put(key("l", "1"))}), ok),
				expect(count("k"), "2 of 2"),
			},
		},
		{
			Name: "equal numbers", Rule: "Numbers that are equal are one key.", Source: docTypes,
			tables: map[string]schema{usualTable: "id N"},
			steps: []step{
				expect(batchWrite(actions{put(attrs{"id": num("1")}), put(attrs{"id": num("1.0")})}), invalid(duplicates)),
			},
		},
		{
			Name: "400 KB", Rule: "Each item has 400 KB at most.", Source: docLimits,
			steps: []step{
				expect(batchWrite(actions{put(key("k", "1")), put(row("k", "2", "v", text(400*1024)))}), invalid("Item size has exceeded the maximum allowed size")),
				expect(batchWrite(actions{put(row("k", "2", "v", text(400*1024)), on("missing"))}), invalid("Item size has exceeded the maximum allowed size")),
				expect(count("k"), "0 of 0"),
			},
		},
		{
			Name: "25 large writes", Rule: "25 items of nearly 400 KB are not too large a batch.", Source: doc,
			steps: []step{expect(batchWrite(puts(25, "v", text(400_000))), ok)},
		},
		{
			Name: "capacity", Rule: "Each write takes units, by the larger of the images.", Source: docCapacity,
			rows: []attrs{row("a", "1", "v", text(2000))},
			steps: []step{
				expect(batchWrite(actions{put(row("a", "2", "v", text(1500))), put(key("a", "1"))}, capacity("TOTAL")), "ok; 4 units"),
			},
		},
		{
			Name: "capacity by index", Rule: "INDEXES tells the table's part.", Source: doc,
			steps: []step{
				expect(batchWrite(actions{put(key("a", "2")), put(key("a", "1"))}, capacity("INDEXES")), "ok; 2 units, 2 of the table"),
			},
		},
		{
			Name: "empty binary key", Rule: "A key binary is not empty, put or deleted.", Source: errors,
			tables: map[string]schema{usualTable: "pk B"},
			steps: []step{
				expect(batchWrite(actions{put(attrs{"pk": []byte{}})}), invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty binary value. Key: pk")),
				expect(batchWrite(actions{remove(attrs{"pk": []byte{}})}), invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty binary value. Key: pk")),
			},
		},
	}
	type batch struct {
		name, rule, source string
		do                 request
		want               string
	}
	for _, b := range []batch{
		{"no RequestItems", "A batch has RequestItems.", dynalite + "batchWriteItem.js", batchWrite(nil), broken("Value null at 'requestItems' failed to satisfy constraint: Member must not be null")},
		{"empty RequestItems", "A batch has a table.", errors, batchWrite(actions{}), invalid("The requestItems parameter is required for BatchWriteItem")},
		{"no writes", "A table has a write.", errors, writes(), broken(mapValues)},
		{"nothing in a write", "A write puts or deletes.", dynalite + "batchWriteItem.js", batchWrite(actions{nothing()}), invalid(oneOf)},
		{"no item", "A put has an item.", dynalite + "batchWriteItem.js", writes(types.WriteRequest{PutRequest: &types.PutRequest{}}), broken("Value null at 'requestItems.rows.member.1.member.putRequest.item' failed to satisfy constraint: Member must not be null")},
		{"no key", "A delete has a key.", dynalite + "batchWriteItem.js", writes(types.WriteRequest{DeleteRequest: &types.DeleteRequest{}}), broken("Value null at 'requestItems.rows.member.1.member.deleteRequest.key' failed to satisfy constraint: Member must not be null")},
		{"bad name", "A table's name has certain characters.", errors, batchWrite(actions{put(key("a", "1"), onName("bad!name"))}), broken(mapKeys)},
		{"bad name and detail", "Enumerations come before the names of tables.", ordering, batchWrite(actions{put(key("a", "1"), onName("bad!name"))}, capacity("BOGUS")), broken(enum)},
		{"no such metrics", "ReturnItemCollectionMetrics has two values.", ordering, batchWrite(actions{put(key("a", "1"))}, metrics("BOGUS")), broken(enum2)},
		{"two enumerations", "Broken enumerations are listed together.", ordering, batchWrite(actions{put(key("a", "1"))}, capacity("BOGUS"), metrics("BOGUS")), broken(enum, enum2)},
		{"detail before the table", "Constraints come before the table.", ordering, batchWrite(actions{put(key("a", "1"), on("missing"))}, capacity("BOGUS")), broken(enum)},
		{"no table", "A table exists.", errors, batchWrite(actions{put(key("a", "1"), on("missing"))}), noTable},
		{"empty item in a missing table", "The table is looked for before the key.", dynalite + "batchWriteItem.js", batchWrite(actions{put(attrs{}, on("missing"))}), noTable},
		{"empty item", "An item has its key.", dynalite + "batchWriteItem.js", batchWrite(actions{put(attrs{})}), invalid(mismatch)},
		{"key of another type", "A key has the table's types.", errors, batchWrite(actions{put(attrs{"pk": "a", "sk": list{"x"}})}), invalid(mismatch)},
		{"delete by half a key", "A key is whole.", errors, batchWrite(actions{remove(attrs{"pk": "a"})}), invalid(mismatch)},
		{"empty key value", "A key string is not empty.", errors, batchWrite(actions{put(key("", "1"))}), invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk")},
		{"long key", "A key is not too long.", dynalite + "batchWriteItem.js", batchWrite(actions{put(key(text(2049), "1"))}), badParameter("Size of hashkey has exceeded the maximum size limit of2048 bytes")},
		{"bad number in a missing table", "Values are checked before the table is looked for.", dynalite + "batchWriteItem.js", batchWrite(actions{put(attrs{"pk": num("b")}, on("missing"))}), invalid("The parameter cannot be converted to a numeric value: b")},
		{"empty set", "A set is not empty.", dynalite + "batchWriteItem.js", batchWrite(actions{put(row("a", "1", "s", strs{}))}), badParameter("An string set  may not be empty")},
	} {
		cases = append(cases, Case{Name: b.name, Rule: b.rule, Source: b.source, steps: []step{expect(b.do, b.want)}})
	}
	return cases
}
