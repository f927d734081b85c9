package conformance

func transactGetCases() []Case {
	rows := []attrs{row("a", "1", "x", 1, "y", 2), row("a", "2", "x", 3)}
	doc := api("TransactGetItems")
	return []Case{
		{
			Name: "in order", Rule: "Items come in the order in which they were asked for, with nothing for those that are not there.", Source: doc,
			rows: rows,
			steps: []step{
				expect(transactGet(actions{get(key("a", "2")), get(key("a", "none")), get(key("a", "1"))}),
					`[{pk: "a", sk: "2", x: 3} nothing {pk: "a", sk: "1", x: 1, y: 2}]`),
			},
		},
		{
			Name: "projection", Rule: "Each get has a projection of its own.", Source: doc,
			rows: rows,
			steps: []step{
				expect(transactGet(actions{get(key("a", "1"), only("#y"), named("#y", "y")), get(key("a", "2"), only("y"))}), `[{y: 2} {}]`),
			},
		},
		{
			Name: "two tables", Rule: "A transaction reads from several tables.", Source: doc,
			tables: map[string]schema{usualTable: usualSchema, "other": "id N"},
			rows:   rows,
			steps: []step{
				expect(put(attrs{"id": 1}, on("other")), ok),
				expect(transactGet(actions{get(key("a", "2"), only("x")), get(attrs{"id": 1}, on("other"))}), `[{x: 3} {id: 1}]`),
			},
		},
		{
			Name: "one item twice", Rule: "No two gets are of one item.", Source: doc,
			rows: rows,
			steps: []step{
				expect(transactGet(actions{get(key("a", "1")), get(key("a", "1"))}), invalid("Transaction request cannot include multiple operations on one item")),
			},
		},
		{
			Name: "no gets", Rule: "A transaction reads something.", Source: dynalite + "getItem.js",
			steps: []step{
				expect(transactGet(actions{}), broken("Value '[]' at 'transactItems' failed to satisfy constraint: Member must have length greater than or equal to 1")),
			},
		},
		{
			Name: "key of another type", Rule: "A key that does not fit cancels the transaction.", Source: parity + "tier3/error-messages/transactGetItems.test.ts",
			rows: rows,
			steps: []step{
				expect(transactGet(actions{get(key("a", "1")), get(attrs{"pk": 1, "sk": "x"})}),
					cancelled(none, reasonInvalid("The provided key element does not match the schema"))),
			},
		},
		{
			Name: "empty key value", Rule: "An empty key value refuses the request.", Source: parity + "tier3/error-messages/transactGetItems.test.ts",
			steps: []step{
				expect(transactGet(actions{get(key("a", ""))}),
					invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: sk")),
			},
		},
		{
			Name: "capacity", Rule: "A read in a transaction takes twice the units of a consistent one.", Source: docTransactions,
			rows: rows,
			steps: []step{
				expect(transactGet(actions{get(key("a", "1"), only("x")), get(key("a", "none"))}, capacity("TOTAL")), "[{x: 1} nothing]; 4 units, 4 read"),
			},
		},
		{
			Name: "enumeration before the table", Rule: "A ReturnConsumedCapacity that is none is reported before a table that does not exist.", Source: parity + "tier3/validation-ordering/transactions.test.ts",
			steps: []step{
				expect(transactGet(actions{get(key("a", "1"), on("missing"))}, capacity("BOGUS")),
					broken("Value 'BOGUS' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]")),
			},
		},
	}
}
