package conformance

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

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
			return &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{w.name(usualTable): {Keys: list}}}
		}
	}
	const (
		errors   = parity + "tier3/error-messages/batchGetItem.test.ts"
		ordering = parity + "tier3/validation-ordering/batchOperations.test.ts"
		mapKeys  = "Value '{...}' at 'requestItems' failed to satisfy constraint: Map keys must satisfy constraint: [Member must have length less than or equal to 255, Member must have length greater than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"
		enum     = "Value 'BOGUS' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
		overlap  = "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [x], path two: [x]"
		noTable  = "ResourceNotFoundException: Requested resource not found"
		mismatch = "The provided key element does not match the schema"
	)
	cases := []Case{
		{
			Name: "two tables", Rule: "A batch reads from several tables.", Source: doc,
			tables: two, rows: rows,
			steps: []step{
				expect(put(attrs{"id": 1}, on("other")), ok),
				expect(batchGet(actions{get(key("b", "1")), get(attrs{"id": 1}, on("other"))}), `other: {id: 1}; rows: {pk: "b", sk: "1"}`),
				expect(batchGet(actions{get(key("b", "1")), get(attrs{"id": 2}, on("other"))}), `other: nothing; rows: {pk: "b", sk: "1"}`),
			},
		},
		{
			Name: "projection of a table", Rule: "Each table has a projection of its own.", Source: doc,
			tables: two, rows: rows,
			steps: []step{
				expect(put(attrs{"id": 1, "x": 9}, on("other")), ok),
				expect(batchGet(actions{get(key("a", "1"), only("y")), get(attrs{"id": 1}, on("other"), only("#x"), named("#x", "x"))}), `other: {x: 9}; rows: {y: 2}`),
			},
		},
		{
			Name: "a bad projection of one table", Rule: "A bad projection of one table refuses the whole.", Source: errors,
			tables: two,
			steps: []step{
				expect(batchGet(actions{get(key("a", "1"), only("y")), get(attrs{"id": 1}, on("other"), only("x, x"))}), invalid(overlap)),
			},
		},
		{
			Name: "one key in two tables", Rule: "One key in two tables is no duplicate.", Source: alternator + "test_batch.py",
			tables: map[string]schema{usualTable: usualSchema, "other": usualSchema}, rows: rows,
			steps: []step{
				expect(batchGet(actions{get(key("b", "1")), get(key("b", "1"), on("other"))}), `other: nothing; rows: {pk: "b", sk: "1"}`),
			},
		},
		{
			Name: "capacity of two tables", Rule: "Units are told by table.", Source: dynalite + "batchGetItem.js",
			tables: two, rows: rows,
			steps: []step{
				expect(batchGet(actions{get(key("b", "1"), eventually()), get(key("b", "2"), eventually()), get(attrs{"id": 2}, on("other"), eventually())}, capacity("TOTAL")),
					`other: nothing; rows: {pk: "b", sk: "1"}; 0.5 units; 1 units`),
			},
		},
		{
			Name: "16 MB", Rule: "What is over 16 MB comes back in UnprocessedKeys, as it was asked for.", Source: doc,
			rows: large,
			steps: []step{
				expect(batchGet(largeGets[:41]), "rows: "+repeat("{}", 41)),
				expect(batchGet(largeGets), "rows: "+repeat("{}", 41)+`; left of rows: 1, consistent true, only "#s"`),
			},
		},
		{
			Name: "empty binary key", Rule: "A key binary is not empty.", Source: errors,
			tables: map[string]schema{usualTable: "pk B"},
			steps: []step{
				expect(batchGet(actions{get(attrs{"pk": []byte{}})}), invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty binary value. Key: pk")),
			},
		},
	}
	type batch struct {
		name, rule, source string
		do                 request
		want               string
	}
	for _, b := range []batch{
		{"items", "A batch returns the items that there are, and nothing for the others.", doc, batchGet(actions{get(key("a", "1")), get(key("a", "none")), get(key("a", "2"))}), `rows: {pk: "a", sk: "1", x: 1, y: 2} {pk: "a", sk: "2", x: 3}`},
		{"nothing there", "A table without any of the items has an empty list.", alternator + "test_batch.py", batchGet(actions{get(key("x", "1"))}), "rows: nothing"},
		{"projection", "A projection cuts each item down.", doc, batchGet(actions{get(key("a", "1"), only("x, sk")), get(key("b", "1"))}), `rows: {sk: "1", x: 1} {sk: "1"}`},
		{"projection with names", "Names may be placeholders.", docNames, batchGet(actions{get(key("a", "1"), only("#x"), named("#x", "x"))}), `rows: {x: 1}`},
		{"projection of nothing", "An item without the projected attributes is an empty item.", dynalite + "batchGetItem.js", batchGet(actions{get(key("b", "1"), only("x"))}), "rows: {}"},
		{"100 keys", "A batch has 100 keys at most.", doc, batchGet(gets(100)), "rows: nothing"},
		{"capacity", "Each item takes units, missing or not.", docCapacity, batchGet(actions{get(key("a", "1")), get(key("a", "none"))}, capacity("TOTAL")), `rows: {pk: "a", sk: "1", x: 1, y: 2}; 2 units`},
		{"capacity by index", "INDEXES tells the table's part.", dynalite + "batchGetItem.js", batchGet(actions{get(key("b", "1"), eventually()), get(key("a", "none"))}, capacity("INDEXES")), `rows: {pk: "b", sk: "1"}; 1 units, 1 of the table`},

		{"no RequestItems", "A batch has RequestItems.", dynalite + "batchGetItem.js", batchGet(nil), broken("Value null at 'requestItems' failed to satisfy constraint: Member must not be null")},
		{"empty RequestItems", "A batch has a table.", errors, batchGet(actions{}), broken("Value at 'RequestItems' failed to satisfy constraint: Member must have length greater than or equal to 1")},
		{"no keys", "A table has Keys.", dynalite + "batchGetItem.js", keys(nil), broken("Value null at 'requestItems.rows.member.keys' failed to satisfy constraint: Member must not be null")},
		{"empty keys", "A table has a key.", errors, keys([]map[string]types.AttributeValue{}), broken("Value at 'RequestItems.rows.member.Keys' failed to satisfy constraint: Member must have length greater than or equal to 1")},
		{"101 keys", "A table has 100 keys at most.", errors, batchGet(gets(101)), broken("Value at 'RequestItems.rows.member.Keys' failed to satisfy constraint: Member must have length less than or equal to 100")},
		{"101 keys of two tables", "So have all tables together.", dynalite + "batchGetItem.js", batchGet(append(gets(100), get(key("k", "0"), on("other")))), invalid("Too many items requested for the BatchGetItem call")},
		{"bad name", "A table's name has certain characters.", errors, batchGet(actions{get(key("a", "1"), onName("bad!name"))}), broken(mapKeys)},
		{"short name", "A table's name has three characters at least.", dynalite + "batchGetItem.js", batchGet(actions{get(key("a", "1"), onName("a"))}), broken(mapKeys)},
		{"bad name and detail", "Broken constraints are listed together.", ordering, batchGet(actions{get(key("a", "1"), onName("bad!name"))}, capacity("BOGUS")), broken(mapKeys, enum)},
		{"no such detail", "ReturnConsumedCapacity has three values.", ordering, batchGet(actions{get(key("a", "1"))}, capacity("BOGUS")), broken(enum)},
		{"detail before the table", "Constraints come before the table.", ordering, batchGet(actions{get(key("a", "1"), on("missing"))}, capacity("BOGUS")), broken(enum)},
		{"no table", "A table exists.", errors, batchGet(actions{get(key("a", "1"), on("missing"))}), noTable},
		{"one missing table", "If one table is missing, the whole is refused.", errors, batchGet(actions{get(key("a", "1")), get(key("a", "1"), on("missing"))}), noTable},
		{"duplicates", "No key comes twice.", errors, batchGet(actions{get(key("a", "1")), get(key("a", "2")), get(key("a", "1"))}), invalid("Provided list of item keys contains duplicates")},
		{"half a key", "A key is whole.", dynalite + "batchGetItem.js", batchGet(actions{get(attrs{"pk": "a"})}), invalid(mismatch)},
		{"key of another type", "A key has the table's types.", dynalite + "batchGetItem.js", batchGet(actions{get(attrs{"pk": "a", "sk": 1})}), invalid(mismatch)},
		{"empty key", "A key has attributes.", dynalite + "batchGetItem.js", batchGet(actions{get(attrs{})}), invalid(mismatch)},
		{"empty key in a missing table", "The table is looked for before the key's attributes.", dynalite + "batchGetItem.js", batchGet(actions{get(attrs{}, on("missing"))}), noTable},
		{"empty key value", "A key string is not empty.", docTypes, batchGet(actions{get(key("a", ""))}), invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: sk")},
		{"bad number in a missing table", "Values are checked before the table is looked for.", dynalite + "batchGetItem.js", batchGet(actions{get(attrs{"pk": num("b")}, on("missing"))}), invalid("The parameter cannot be converted to a numeric value: b")},
		{"long key", "A key is not too long.", dynalite + "batchGetItem.js", batchGet(actions{get(key("a", text(1025)))}), badParameter("Aggregated size of all range keys has exceeded the size limit of 1024 bytes")},
		{"overlapping paths", "A projection's paths do not overlap, whether or not there is an item.", errors, batchGet(actions{get(key("none", "1"), only("x, x"))}), invalid(overlap)},
		{"unused name", "A name is used.", docNames, batchGet(actions{get(key("a", "1"), only("x"), named("#y", "y"))}), invalid("Value provided in ExpressionAttributeNames unused in expressions: keys: {#y}")},
		{"names without a projection", "Names are for the projection.", docNames, batchGet(actions{get(key("a", "1"), named("#y", "y"))}), invalid("ExpressionAttributeNames can only be specified when using expressions")},
	} {
		cases = append(cases, Case{Name: b.name, Rule: b.rule, Source: b.source, rows: rows, steps: []step{expect(b.do, b.want)}})
	}
	return cases
}
