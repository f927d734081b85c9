package conformance

func precedenceCases() []Case {
	const (
		consumed  = "Value 'BOGUS' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
		measured  = "Value 'BOGUS2' at 'returnItemCollectionMetrics' failed to satisfy constraint: Member must satisfy enum value set: [SIZE, NONE]"
		returned  = "Value 'BOGUS3' at 'returnValues' failed to satisfy constraint: Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
		noItem    = "Value null at 'item' failed to satisfy constraint: Member must not be null"
		syntax    = `Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "("`
		noKey     = "Value null at 'key' failed to satisfy constraint: Member must not be null"
		noLength  = "Value '' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 1"
		selected  = "Value 'BOGUS4' at 'select' failed to satisfy constraint: Member must satisfy enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]"
		longToken = "Value '0123456789012345678901234567890123456' at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to 36"
		nameBad   = "Value 'a!b' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
	)
	k := key("a", "b")
	order := parity + "tier3/validation-ordering/transactions.test.ts"
	return []Case{
		{
			Name: "constraints are listed together", Rule: "All constraints that a request breaks are listed, in the order of its members.", Source: dynalite + "putItem.js",
			steps: []step{
				expect(put(nil, onName("a!b"), capacity("BOGUS"), metrics("BOGUS2"), returns("BOGUS3")), broken(consumed, nameBad, noItem, returned, measured)),
			},
		},
		{
			Name: "constraints of a delete", Rule: "Each operation lists constraints in an order of its own: a delete.", Source: dynalite + "deleteItem.js",
			steps: []step{
				expect(remove(nil, onName("a!b"), capacity("BOGUS"), metrics("BOGUS2"), returns("BOGUS3")), broken(consumed, nameBad, returned, measured, noKey)),
			},
		},
		{
			Name: "constraints of an update", Rule: "Each operation lists constraints in an order of its own: an update.", Source: parity + "tier3/validation-ordering/updateItem.test.ts",
			steps: []step{
				expect(update(nil, "SET x = :x", with(attrs{":x": 1}), onName(""), capacity("BOGUS"), returns("BOGUS3")), broken(consumed, noLength, returned, noKey)),
				expect(update(nil, "SET x = :x", with(attrs{":x": 1}), onName("")), broken(noLength, noKey)),
			},
		},
		{
			Name: "constraints of a get", Rule: "Each operation lists constraints in an order of its own: a get.", Source: dynalite + "getItem.js",
			steps: []step{
				expect(get(nil, onName("a!b"), capacity("BOGUS")), broken(consumed, nameBad, noKey)),
				expect(get(nil, noName()), broken("Value null at 'tableName' failed to satisfy constraint: Member must not be null", noKey)),
			},
		},
		{
			Name: "constraints of a query", Rule: "Each operation lists constraints in an order of its own: a query.", Source: dynalite + "query.js",
			steps: []step{
				expect(query("pk = :p", with(attrs{":p": "p"}), onName("a!b"), capacity("BOGUS"), selecting("BOGUS4")), broken(consumed, nameBad, selected)),
			},
		},
		{
			Name: "a key that is empty", Rule: "A key without attributes breaks no constraint: only the table's name is reported.", Source: parity + "tier3/validation-ordering/updateItem.test.ts",
			steps: []step{
				expect(update(attrs{}, "SET x = :x", with(attrs{":x": 1}), onName("")), broken(noLength)),
			},
		},
		{
			Name: "the token first", Rule: "The constraint on a transaction's token is listed first.", Source: order,
			steps: []step{
				expect(transact(actions{put(row("a", "b"))}, token("0123456789012345678901234567890123456"), capacity("BOGUS")), broken(longToken, consumed)),
			},
		},
		{
			Name: "constraints of a transaction", Rule: "So are a transaction's.", Source: order,
			steps: []step{
				expect(transact(actions{put(row("a", "b"))}, capacity("BOGUS"), metrics("BOGUS2")), broken(consumed, measured)),
				expect(get(k), "nothing"),
			},
		},
		{
			Name: "constraints before the table", Rule: "Constraints come before the table's existence.", Source: order,
			steps: []step{
				expect(put(row("a", "b"), on("missing"), capacity("BOGUS")), broken(consumed)),
				expect(get(k, on("missing"), capacity("BOGUS")), broken(consumed)),
				expect(transact(actions{put(row("a", "b"), on("missing"))}, capacity("BOGUS")), broken(consumed)),
			},
		},
		{
			Name: "constraints before an item twice", Rule: "Constraints come before one item twice.", Source: order,
			steps: []step{
				expect(transact(actions{put(row("a", "b")), remove(k)}, capacity("BOGUS")), broken(consumed)),
			},
		},
		{
			Name: "constraints before expressions", Rule: "Constraints come before expressions.", Source: dynalite + "putItem.js",
			steps: []step{
				expect(put(row("a", "b"), where("attribute_not_exists("), capacity("BOGUS")), broken(consumed)),
			},
		},
		{
			Name: "expressions before the table", Rule: "Expressions come before the table's existence.", Source: dynalite + "putItem.js",
			steps: []step{
				expect(put(row("a", "b"), where("attribute_not_exists("), on("missing")), invalid(syntax)),
				expect(remove(k, where("x = :v"), on("missing")),
					invalid("Invalid ConditionExpression: An expression attribute value used in expression is not defined; attribute value: :v")),
				expect(get(k, only("x,"), on("missing")), invalid(`Invalid ProjectionExpression: Syntax error; token: "<EOF>", near: ","`)),
			},
		},
		{
			Name: "values before the table", Rule: "Values that no item could have come before the table's existence.", Source: dynalite + "putItem.js",
			steps: []step{
				expect(put(row("a", "b", "s", strs{}), on("missing")), badParameter("An string set  may not be empty")),
				expect(put(row("a", "b", "n", num("x")), on("missing")), invalid("The parameter cannot be converted to a numeric value: x")),
			},
		},
		{
			Name: "values before expressions", Rule: "An item's values come before expressions.", Source: dynalite + "putItem.js",
			steps: []step{
				expect(put(row("a", "b", "s", strs{}), where("attribute_not_exists(")), badParameter("An string set  may not be empty")),
			},
		},
		{
			Name: "the table before the key", Rule: "The table's existence comes before the key.", Source: dynalite + "getItem.js",
			steps: []step{
				expect(get(attrs{"x": 1}, on("missing")), noTable),
				expect(put(attrs{"x": 1}, on("missing")), noTable),
			},
		},
		{
			Name: "the key before the condition", Rule: "The key comes before the condition.", Source: dynalite + "putItem.js",
			steps: []step{
				expect(put(attrs{"pk": "a"}, where("attribute_exists(pk)")), badParameter("Missing the key sk in the item")),
				expect(update(attrs{"pk": "a"}, "SET x = :v", with(attrs{":v": 1}), where("attribute_exists(pk)")), invalid("The provided key element does not match the schema")),
			},
		},
		{
			Name: "the condition before the update", Rule: "The condition is judged before the errors of the update.", Source: docConditions,
			rows: []attrs{row("a", "b", "s", "text")},
			steps: []step{
				expect(update(k, "SET s = s + :v", with(attrs{":v": 1}), where("attribute_exists(absent)")), conditionFailed),
				expect(update(k, "SET s = absent", where("attribute_exists(absent)")), conditionFailed),
			},
		},
		{
			Name: "update before condition", Rule: "If an update and a condition do not parse, the update is reported.", Source: dynalite + "updateItem.js",
			steps: []step{
				expect(update(k, "SET x", where("attribute_not_exists(")), invalid(`Invalid UpdateExpression: Syntax error; token: "<EOF>", near: "x"`)),
			},
		},
		{
			Name: "size before expressions", Rule: "An item's size comes before expressions.", Source: LocalOnly,
			steps: []step{
				expect(put(row("a", "b", "v", text(500_000)), where("attribute_not_exists(")), invalid("Item size has exceeded the maximum allowed size")),
			},
		},
		{
			Name: "return values before expressions", Rule: "An invalid ReturnValues is reported before invalid expressions.", Source: dynalite + "putItem.js",
			steps: []step{
				expect(put(row("a", "b"), returns("ALL_NEW"), where("attribute_not_exists(")), invalid("ReturnValues can only be ALL_OLD or NONE")),
			},
		},
		{
			Name: "unused before the key", Rule: "Names and values that nothing uses come before the key.", Source: docNames,
			steps: []step{
				expect(get(attrs{"pk": "a"}, only("x"), named("#y", "y")), invalid("Value provided in ExpressionAttributeNames unused in expressions: keys: {#y}")),
			},
		},
		{
			Name: "key attribute before the condition", Rule: "An update of the key is refused before the condition is judged.", Source: "https://github.com/architect/dynalite/blob/main/actions/updateItem.js",
			steps: []step{
				expect(update(k, "SET sk = :v", with(attrs{":v": "x"}), where("attribute_exists(pk)")), badParameter("Cannot update attribute sk. This attribute is part of the key")),
			},
		},
		{
			Name: "query", Rule: "The order of checks of a query: selection, expressions, the table, which attributes the starting key has, the key condition, the starting key's values, the filter.", Source: dynalite + "query.js",
			steps: []step{
				expect(query("pk = ", selecting("COUNT"), only("pk")), invalid("Cannot specify the ProjectionExpression when choosing to get only the Count")),
				expect(query("pk = ", on("missing")), invalid(`Invalid KeyConditionExpression: Syntax error; token: "<EOF>", near: "= "`)),
				expect(query("x = :p", with(attrs{":p": "p"}), on("missing")), noTable),
				expect(query("x = :p", with(attrs{":p": "p"}), startingAfter(attrs{"pk": "p"})), invalid("The provided starting key is invalid")),
				expect(query("x = :p", with(attrs{":p": "p"}), startingAfter(key("q", "a"))), invalid("Query condition missed key schema element: pk")),
				expect(query("pk = :p", with(attrs{":p": "p"}), startingAfter(attrs{"pk": "p"}), filter("pk = :p")), invalid("The provided starting key is invalid")),
			},
		},
		{
			Name: "transaction of reads", Rule: "The order of checks of a transaction of reads: constraints, expressions, tables, keys.", Source: order,
			steps: []step{
				expect(transactGet(actions{get(k, only("x,"))}, capacity("BOGUS")), broken(consumed)),
				expect(transactGet(actions{get(k, on("missing")), get(k, only("x,"))}), invalid(`Invalid ProjectionExpression: Syntax error; token: "<EOF>", near: ","`)),
				expect(transactGet(actions{get(attrs{"x": 1}), get(k, on("missing"))}), noTable),
				expect(transactGet(actions{get(attrs{"x": 1}), get(k)}), cancelled(reasonInvalid("The provided key element does not match the schema"), none)),
			},
		},
		{
			Name: "batch of writes", Rule: "The order of checks of a batch of writes: constraints, values, the table, keys, items named twice.", Source: parity + "tier3/validation-ordering/batchOperations.test.ts",
			steps: []step{
				expect(batchWrite(actions{put(row("a", "b", "n", num("x")))}, capacity("BOGUS")), broken(consumed)),
				expect(batchWrite(actions{put(row("a", "b", "n", num("x")), on("missing"))}), invalid("The parameter cannot be converted to a numeric value: x")),
				expect(batchWrite(actions{put(attrs{"x": 1}, on("missing"))}), noTable),
				expect(batchWrite(actions{put(row("a", "b")), remove(k), put(attrs{"pk": "a"})}), invalid("Provided list of item keys contains duplicates")),
				expect(batchWrite(actions{put(attrs{"pk": "a"}), put(row("a", "b")), remove(k)}), invalid("The provided key element does not match the schema")),
			},
		},
	}
}
