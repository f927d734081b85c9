package conformance

func precedenceCases() []Case {
	const (
		consumed = "Value 'BOGUS' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy " +
			"enum value set: [INDEXES, TOTAL, NONE]"
		measured = "Value 'BOGUS2' at 'returnItemCollectionMetrics' failed to satisfy constraint: Member must " +
			"satisfy enum value set: [SIZE, NONE]"
		returned = "Value 'BOGUS3' at 'returnValues' failed to satisfy constraint: Member must satisfy enum value " +
			"set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
		noItem = "Value null at 'item' failed to satisfy constraint: Member must not be null"
		syntax = `Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "("`
		noKey  = "Value null at 'key' failed to satisfy constraint: Member must not be null"
		newer  = "Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, " +
			"ALL_NEW, UPDATE_NEW, NONE]"
		nameless = "Value at 'TableName' failed to satisfy constraint: Member must have length greater than " +
			"or equal to 1"
		noLength = "Value '' at 'tableName' failed to satisfy constraint: Member must have length greater than " +
			"or equal to 1"
		selected = "Value 'BOGUS4' at 'select' failed to satisfy constraint: Member must satisfy enum value set: " +
			"[SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]"
		longToken = "Value '0123456789012345678901234567890123456' at 'clientRequestToken' failed to satisfy " +
			"constraint: Member must have length less than or equal to 36"
		nameBad = "Value 'a!b' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression " +
			"pattern: [a-zA-Z0-9_.-]+"
	)
	k := key("a", "b")
	order := parity + "tier3/validation-ordering/transactions.test.ts"
	return []Case{
		newCase("constraints are listed together",
			"All constraints that a request breaks are listed, in the order of its members.", dynalite+"putItem.js",
			expect(put(nil, onName("a!b"), capacity("BOGUS"), metrics("BOGUS2"), returns("BOGUS3")),
				broken(consumed, nameBad, noItem, returned, measured))),
		newCase("constraints of a delete", "Each operation lists constraints in an order of its own: a delete.",
			dynalite+"deleteItem.js",
			expect(remove(nil, onName("a!b"), capacity("BOGUS"), metrics("BOGUS2"), returns("BOGUS3")),
				broken(consumed, nameBad, returned, measured, noKey))),
		newCase("constraints of an update", "Each operation lists constraints in an order of its own: an update.",
			parity+"tier3/validation-ordering/updateItem.test.ts",
			expect(update(nil, "SET x = :x", with(attrs{":x": 1}), onName(""), capacity("BOGUS"), returns("BOGUS3")),
				broken(consumed, noLength, returned, noKey)),
			expect(update(nil, "SET x = :x", with(attrs{":x": 1}), onName("")), broken(noLength, noKey))),
		newCase("constraints of a get", "Each operation lists constraints in an order of its own: a get.",
			dynalite+"getItem.js",
			expect(get(nil, onName("a!b"), capacity("BOGUS")), broken(consumed, nameBad, noKey)),
			expect(get(nil, noName()),
				broken("Value null at 'tableName' failed to satisfy constraint: Member must not be null", noKey))),
		newCase("constraints of a query", "Each operation lists constraints in an order of its own: a query.",
			dynalite+"query.js",
			expect(query("pk = :p", with(attrs{":p": "p"}), onName("a!b"), capacity("BOGUS"), selecting("BOGUS4")),
				broken(consumed, nameBad, selected))),
		newCase("a key that is empty",
			"A key without attributes breaks no constraint: only the table's name is reported.",
			parity+"tier3/validation-ordering/updateItem.test.ts",
			expect(update(attrs{}, "SET x = :x", with(attrs{":x": 1}), onName("")), broken(nameless)),
			expect(put(attrs{}, onName(""), returns("BOGUS3")), broken(nameless)),
			expect(remove(attrs{}, onName("")), broken(nameless))),
		newCase("enumerations", "ReturnValues has a text of its own, which an update reports alone.", captures,
			expect(put(row("a", "b"), returns("BOGUS3"), capacity("BOGUS"), metrics("BOGUS2")),
				broken(consumed, newer, measured)),
			expect(remove(k, returns("BOGUS3"), capacity("BOGUS")), broken(consumed, newer)),
			expect(update(k, "REMOVE x", returns("BOGUS3"), capacity("BOGUS")), broken(newer))),
		newCase("the token first", "The constraint on a transaction's token is listed first.", order,
			expect(transact(actions{put(row("a", "b"))},
				token("0123456789012345678901234567890123456"), capacity("BOGUS")),
				broken(longToken, consumed))),
		newCase("constraints of a transaction", "So are a transaction's.", order,
			expect(transact(actions{put(row("a", "b"))}, capacity("BOGUS"), metrics("BOGUS2")),
				broken(consumed, measured)),
			expect(get(k), "nothing")),
		newCase("constraints before the table", "Constraints come before the table's existence.", order,
			expect(put(row("a", "b"), on("missing"), capacity("BOGUS")), broken(consumed)),
			expect(get(k, on("missing"), capacity("BOGUS")), broken(consumed)),
			expect(transact(actions{put(row("a", "b"), on("missing"))}, capacity("BOGUS")), broken(consumed))),
		newCase("constraints before an item twice", "Constraints come before one item twice.", order,
			expect(transact(actions{put(row("a", "b")), remove(k)}, capacity("BOGUS")), broken(consumed))),
		newCase("constraints before expressions", "Constraints come before expressions.", dynalite+"putItem.js",
			expect(put(row("a", "b"), where("attribute_not_exists("), capacity("BOGUS")), broken(consumed))),
		newCase("expressions before the table", "Expressions come before the table's existence.",
			dynalite+"putItem.js",
			expect(put(row("a", "b"), where("attribute_not_exists("), on("missing")), enveloped(invalid(syntax))),
			expect(remove(k, where("x = :v"), on("missing")),
				enveloped(invalid("Invalid ConditionExpression: An expression attribute value used in expression is "+
					"not defined; attribute value: :v"))),
			expect(get(k, only("x,"), on("missing")),
				invalid(`Invalid ProjectionExpression: Syntax error; token: "<EOF>", near: ","`))),
		newCase("values before the table", "Values that no item could have come before the table's existence.",
			dynalite+"putItem.js",
			expect(put(row("a", "b", "s", strs{}), on("missing")),
				enveloped(badParameter("An string set  may not be empty"))),
			expect(put(row("a", "b", "n", num("x")), on("missing")),
				enveloped(invalid("The parameter cannot be converted to a numeric value: x")))),
		newCase("values before expressions", "An item's values come before expressions.", dynalite+"putItem.js",
			expect(put(row("a", "b", "s", strs{}), where("attribute_not_exists(")),
				enveloped(badParameter("An string set  may not be empty")))),
		newCase("the table before the key", "The table's existence comes before the key.", dynalite+"getItem.js",
			expect(get(attrs{"x": 1}, on("missing")), noTable),
			expect(put(attrs{"x": 1}, on("missing")), noTable)),
		newCase("the key before the condition", "The key comes before the condition.", dynalite+"putItem.js",
			expect(put(attrs{"pk": "a"}, where("attribute_exists(pk)")),
				badParameter("Missing the key sk in the item")),
			expect(update(attrs{"pk": "a"}, "SET x = :v", with(attrs{":v": 1}), where("attribute_exists(pk)")),
				invalid("The provided key element does not match the schema"))),
		newCase("the condition before the update", "The condition is judged before the errors of the update.",
			docConditions, holding(row("a", "b", "s", "text")),
			expect(update(k, "SET s = s + :v", with(attrs{":v": 1}), where("attribute_exists(absent)")),
				conditionFailed),
			expect(update(k, "SET s = absent", where("attribute_exists(absent)")), conditionFailed)),
		newCase("update before condition", "If an update and a condition do not parse, the update is reported.",
			dynalite+"updateItem.js",
			expect(update(k, "SET x", where("attribute_not_exists(")),
				enveloped(invalid(`Invalid UpdateExpression: Syntax error; token: "<EOF>", near: "x"`)))),
		newCase("size before expressions", "An item's size comes before expressions.", LocalOnly,
			expect(put(row("a", "b", "v", text(500_000)), where("attribute_not_exists(")),
				invalid("Item size has exceeded the maximum allowed size"))),
		newCase("return values before expressions", "An invalid ReturnValues is reported before invalid expressions.",
			dynalite+"putItem.js",
			expect(put(row("a", "b"), returns("ALL_NEW"), where("attribute_not_exists(")),
				enveloped(invalid("ReturnValues can only be ALL_OLD or NONE")))),
		newCase("unused before the key", "Names and values that nothing uses come before the key.", docNames,
			expect(get(attrs{"pk": "a"}, only("x"), named("#y", "y")),
				invalid("Value provided in ExpressionAttributeNames unused in expressions: keys: {#y}"))),
		newCase("key attribute before the condition",
			"An update of the key is refused before the condition is judged.",
			"https://github.com/architect/dynalite/blob/main/actions/updateItem.js",
			expect(update(k, "SET sk = :v", with(attrs{":v": "x"}), where("attribute_exists(pk)")),
				badParameter("Cannot update attribute sk. This attribute is part of the key"))),
		newCase("query",
			"The order of checks of a query: selection, expressions, the table, which attributes the starting key "+
				"has, the key condition, the starting key's values, the filter.",
			dynalite+"query.js",
			expect(query("pk = ", selecting("COUNT"), only("pk")),
				invalid("Cannot specify the ProjectionExpression when choosing to get only the Count")),
			expect(query("pk = ", on("missing")),
				invalid(`Invalid KeyConditionExpression: Syntax error; token: "<EOF>", near: "= "`)),
			expect(query("x = :p", with(attrs{":p": "p"}), on("missing")), noTable),
			expect(query("x = :p", with(attrs{":p": "p"}), startingAfter(attrs{"pk": "p"})),
				invalid("The provided starting key is invalid")),
			expect(query("x = :p", with(attrs{":p": "p"}), startingAfter(key("q", "a"))),
				invalid("Query condition missed key schema element: pk")),
			expect(query("pk = :p", with(attrs{":p": "p"}), startingAfter(attrs{"pk": "p"}), filter("pk = :p")),
				invalid("The provided starting key is invalid"))),
		newCase("transaction of reads",
			"The order of checks of a transaction of reads: constraints, expressions, tables, keys.", order,
			expect(transactGet(actions{get(k, only("x,"))}, capacity("BOGUS")), broken(consumed)),
			expect(transactGet(actions{get(k, on("missing")), get(k, only("x,"))}),
				invalid(`Invalid ProjectionExpression: Syntax error; token: "<EOF>", near: ","`)),
			expect(transactGet(actions{get(attrs{"x": 1}), get(k, on("missing"))}), noTable),
			expect(transactGet(actions{get(attrs{"x": 1}), get(k)}),
				cancelled(reasonInvalid("The provided key element does not match the schema"), none))),
		newCase("batch of writes",
			"The order of checks of a batch of writes: constraints, values, the table, keys, items named twice.",
			parity+"tier3/validation-ordering/batchOperations.test.ts",
			expect(batchWrite(actions{put(row("a", "b", "n", num("x")))}, capacity("BOGUS")), broken(consumed)),
			expect(batchWrite(actions{put(row("a", "b", "n", num("x")), on("missing"))}),
				invalid("The parameter cannot be converted to a numeric value: x")),
			expect(batchWrite(actions{put(attrs{"x": 1}, on("missing"))}), noTable),
			expect(batchWrite(actions{put(row("a", "b")), remove(k), put(attrs{"pk": "a"})}),
				invalid("Provided list of item keys contains duplicates")),
			expect(batchWrite(actions{put(attrs{"pk": "a"}), put(row("a", "b")), remove(k)}),
				invalid("The provided key element does not match the schema"))),
	}
}
