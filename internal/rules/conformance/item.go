package conformance

func itemCases() []Case {
	const (
		overflow  = "Number overflow. Attempting to store a number with magnitude larger than supported range"
		underflow = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
		tooLong   = "Attribute name is too large, must be less than 65536 bytes"
		limits    = alternator + "test_limits.py"
	)
	inNames := invalid("ExpressionAttributeNames contains invalid value: " + tooLong + " for key #n")
	return []Case{
		newCase("every type", "An item comes back as it was put: every type, nested as it was.", docTypes,
			expect(put(row("a", "b", "s", "text", "n", num("1.5"), "x", []byte{0, 255}, "t", true, "f", false, "z", nil,
				"l", list{1, "two", list{}, attrs{}}, "m", attrs{"k": attrs{"j": nil}}, "ss", strs{"q", "p"}, "ns",
				nums{"2", "1"}, "bs", bins{"b"})), ok),
			expect(get(key("a", "b")),
				`{bs: <0x62>, f: false, l: [1, "two", [], {}], m: {k: {j: null}}, n: 1.5, ns: <1, 2>, pk: "a", s: "text", sk: "b", ss: <"p", "q">, t: true, x: 0x00ff, z: null}`)),
		newCase("missing", "A get of a missing item answers without an item, and without an error.", api("GetItem"),
			expect(get(key("a", "b")), "nothing")),
		newCase("put replaces", "A put replaces the whole item.", api("PutItem"), holding(row("a", "b", "x", 1)),
			expect(put(row("a", "b", "y", 2)), ok),
			expect(get(key("a", "b")), `{pk: "a", sk: "b", y: 2}`)),
		newCase("put if absent", "attribute_not_exists on a key attribute makes a put a creation.", api("PutItem"),
			expect(put(row("a", "b", "x", 1), where("attribute_not_exists(pk)")), ok),
			expect(put(row("a", "b", "x", 2), where("attribute_not_exists(pk)")), conditionFailed),
			expect(get(key("a", "b")), `{pk: "a", sk: "b", x: 1}`)),
		newCase("delete is idempotent", "A delete of a missing item succeeds.", api("DeleteItem"),
			holding(row("a", "b")),
			expect(remove(key("a", "b")), ok),
			expect(remove(key("a", "b")), ok),
			expect(get(key("a", "b")), "nothing")),
		newCase("eventually consistent",
			"A get may be eventually consistent; without concurrent writes it reads the current item.", docConsistency,
			expect(get(key("a", "b"), eventually()), "nothing")),
		newCase("empty string", "A string that is no key may be empty.", docTypes,
			expect(put(row("a", "b", "s", "", "x", []byte{}, "m", attrs{"e": ""})), ok),
			expect(get(key("a", "b")), `{m: {e: ""}, pk: "a", s: "", sk: "b", x: 0x}`)),
		newCase("empty name", "An attribute has a name.", docTypes,
			// We know a text for it from DynamoDB Local only.
			expect(put(row("a", "b", "", 1)), enveloped(invalid("Empty attribute name"))),
			expect(put(row("a", "b", "m", attrs{"": 1})), enveloped(invalid("Empty attribute name")))),
		newCase("long name", "An attribute's name has less than 64 KB.",
			"https://github.com/scylladb/scylladb/issues/9169",
			expect(put(row("a", "b", text(1<<16-1), 1)), ok),
			expect(put(row("a", "b", text(1<<16), 1)), enveloped(invalid(tooLong)))),
		newCase("long name in an expression", "A name that an expression stands for has less than 64 KB, too.", limits,
			expect(update(key("a", "b"), "SET #n = :v", named("#n", text(1<<16-1)), with(attrs{":v": 1})), ok),
			expect(update(key("a", "b"), "SET #n = :v", named("#n", text(1<<16)), with(attrs{":v": 1})),
				enveloped(inNames)),
			expect(remove(key("a", "b"), where("attribute_exists(#n)"), named("#n", text(1<<16))), enveloped(inNames)),
			expect(get(key("a", "b"), only("#n"), named("#n", text(1<<16))), inNames),
			expect(transact(actions{remove(key("a", "b"), where("attribute_exists(#n)"), named("#n", text(1<<16)))}),
				inNames)),
		newCase("long name in a legacy parameter", "A name in a legacy parameter has less than 64 KB, too.", limits,
			expect(get(key("a", "b"), attributesToGet(text(1<<16-1))), "nothing"),
			expect(get(key("a", "b"), attributesToGet(text(1<<16))), invalid(tooLong)),
			expect(legacyUpdate(key("a", "b"), changes{text(1 << 16): by("PUT", 1)}),
				enveloped(invalid(tooLong)))),
		newCase("exponents", "A number's exponent is read in full, and that of a zero as it is written.",
			parity+"tier3/limits/numberExponent.test.ts",
			expect(put(row("a", "b", "n", num("0e125"), "m", num("0e-130"))), ok),
			expect(put(row("a", "b", "n", num("1e2147483648"))), enveloped(invalid(overflow))),
			expect(put(row("a", "b", "n", num("-1e99999999999"))), enveloped(invalid(overflow))),
			expect(put(row("a", "b", "n", num("1e-99999999999"))), enveloped(invalid(underflow))),
			expect(put(row("a", "b", "n", num("0e126"))), enveloped(invalid(overflow))),
			expect(put(row("a", "b", "n", num("0e-131"))), enveloped(invalid(underflow))),
			expect(put(row("a", "b", "n", num("1e9223372036854775808"))),
				enveloped(invalid("The parameter cannot be converted to a numeric value: 1e9223372036854775808")))),
		newCase("odd names", "An attribute's name may be any text.", docTypes,
			expect(put(row("a", "b", "with space", 1, "1st", 2, "a.b", 3, "ünï", 4)), ok),
			expect(get(key("a", "b"), only("#p, #q"), named("#p", "a.b", "#q", "with space")),
				`{a.b: 3, with space: 1}`)),
		newCase("NULL is true", "NULL comes with true.", parity+"tier3/error-messages/putItem.test.ts",
			expect(put(row("a", "b", "z", nullFalse)),
				enveloped(badParameter("Null attribute value types must have the value of true")))),
		newCase("no item", "A put has an item.", dynalite+"putItem.js",
			expect(put(nil), broken("Value null at 'item' failed to satisfy constraint: Member must not be null"))),
		newCase("no key", "A get has a key.", dynalite+"getItem.js",
			expect(get(nil), broken("Value null at 'key' failed to satisfy constraint: Member must not be null")),
			expect(remove(nil), broken("Value null at 'key' failed to satisfy constraint: Member must not be null")),
			expect(update(nil, "REMOVE x"),
				broken("Value null at 'key' failed to satisfy constraint: Member must not be null"))),
		newCase("no table", "A data operation on a missing table is refused.", dynalite+"getItem.js",
			expect(get(key("a", "b"), on("missing")), noTable),
			expect(put(row("a", "b"), on("missing")), noTable),
			expect(remove(key("a", "b"), on("missing")), noTable),
			expect(update(key("a", "b"), "REMOVE x", on("missing")), noTable),
			expect(query("pk = :a", with(attrs{":a": "a"}), on("missing")), noTable),
			expect(transact(actions{put(row("a", "b"), on("missing"))}), noTable),
			expect(transactGet(actions{get(key("a", "b"), on("missing"))}), noTable)),
		newCase("capacity of a write", "A write takes one unit for each KB begun.", docCapacity,
			expect(put(row("a", "b", "x", text(1024-7)), capacity("TOTAL")), "ok; 1 units"),
			expect(put(row("a", "b", "x", text(1025-7)), capacity("TOTAL")), "ok; 2 units"),
			expect(remove(key("a", "b"), capacity("INDEXES")), "ok; 2 units, 2 of the table"),
			expect(remove(key("a", "b"), capacity("TOTAL")), "ok; 1 units"),
			expect(remove(key("a", "b"), capacity("NONE")), "ok")),
		newCase("capacity of a read", "A read takes one unit for each 4 KB begun, half if eventually consistent.",
			docCapacity, holding(row("a", "b", "x", text(4096-7)), row("a", "c", "x", text(4097-7))),
			expect(get(key("a", "b"), only("pk"), capacity("TOTAL")), `{pk: "a"}; 1 units`),
			expect(get(key("a", "b"), only("pk"), capacity("TOTAL"), eventually()), `{pk: "a"}; 0.5 units`),
			expect(get(key("a", "c"), only("pk"), capacity("TOTAL")), `{pk: "a"}; 2 units`),
			expect(get(key("a", "none"), capacity("TOTAL")), "nothing; 1 units")),
	}
}

const noTable = "ResourceNotFoundException: Requested resource not found"

func returnValuesCases() []Case {
	item := row("a", "b", "x", 1, "y", 2, "doc", attrs{"in": 1, "out": 2})
	k := key("a", "b")
	const whole = `{doc: {in: 1, out: 2}, pk: "a", sk: "b", x: 1, y: 2}`
	change := func(which string) request {
		return update(k, "SET x = :x, doc.#in = :x, z = :x REMOVE y", with(attrs{":x": 9}),
			named("#in", "in"), returns(which))
	}
	const updated = `{doc: {in: 9, out: 2}, pk: "a", sk: "b", x: 9, z: 9}`
	enum := "Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, " +
		"UPDATE_NEW, NONE]"
	return []Case{
		newCase("put ALL_OLD", "A put with ALL_OLD returns the item that it replaced.", api("PutItem"),
			expect(put(item, returns("ALL_OLD")), ok),
			expect(put(row("a", "b"), returns("ALL_OLD")), whole),
			expect(put(row("a", "b"), returns("NONE")), ok)),
		newCase("put ALL_NEW", "A put returns ALL_OLD or nothing.", api("PutItem"),
			expect(put(item, returns("ALL_NEW")), enveloped(invalid("ReturnValues can only be ALL_OLD or NONE"))),
			expect(put(item, returns("UPDATED_OLD")), enveloped(invalid("ReturnValues can only be ALL_OLD or NONE")))),
		newCase("delete ALL_OLD",
			"A delete with ALL_OLD returns the item that it deleted, and nothing if there was no item.",
			api("DeleteItem"), holding(item),
			expect(remove(k, returns("ALL_OLD")), whole),
			expect(remove(k, returns("ALL_OLD")), ok)),
		newCase("delete UPDATED_NEW", "A delete returns ALL_OLD or nothing.", api("DeleteItem"), holding(item),
			expect(remove(k, returns("UPDATED_NEW")), enveloped(invalid("ReturnValues can only be ALL_OLD or NONE")))),
		newCase("update ALL_OLD", "An update with ALL_OLD returns the item before it.", api("UpdateItem"),
			holding(item), expect(change("ALL_OLD"), whole)),
		newCase("update ALL_NEW", "An update with ALL_NEW returns the item after it.", api("UpdateItem"),
			holding(item), expect(change("ALL_NEW"), updated)),
		newCase("update UPDATED_OLD",
			"UPDATED_OLD returns the old values of the updated attributes: of a nested path that path alone.",
			alternator+"test_returnvalues.py", holding(item),
			expect(change("UPDATED_OLD"), "{doc: {in: 1}, x: 1, y: 2}")),
		newCase("update UPDATED_NEW", "UPDATED_NEW returns the new values of the updated attributes.",
			api("UpdateItem"), holding(item), expect(change("UPDATED_NEW"), "{doc: {in: 9}, x: 9, z: 9}")),
		newCase("update NONE", "An update returns nothing unless asked.", api("UpdateItem"), holding(item),
			expect(change("NONE"), ok)),
		newCase("update of a missing item", "UPDATED_OLD and ALL_OLD of an item that an update creates are empty.",
			api("UpdateItem"),
			expect(update(k, "SET x = :x", with(attrs{":x": 1}), returns("ALL_OLD")), ok),
			expect(remove(k), ok),
			expect(update(k, "SET x = :x", with(attrs{":x": 1}), returns("UPDATED_OLD")), ok),
			expect(remove(k), ok),
			expect(update(k, "SET x = :x", with(attrs{":x": 1}), returns("ALL_NEW")), `{pk: "a", sk: "b", x: 1}`),
			expect(update(k, "SET y = :x", with(attrs{":x": 1}), returns("UPDATED_OLD")), ok)),
		newCase("UPDATED_NEW of a removal", "UPDATED_NEW returns nothing for a removed attribute.",
			alternator+"test_returnvalues.py", holding(item),
			expect(update(k, "REMOVE x", returns("UPDATED_NEW")), ok)),
		newCase("no such value", "ReturnValues has five values, the last of which the text spells otherwise.", captures,
			expect(update(k, "REMOVE x", returns("SOME")), broken(enum)),
			expect(put(item, returns("SOME")), broken(enum))),
		newCase("old item on failure of a put",
			"A put that fails its condition returns the item with ALL_OLD, which saves a read.", api("PutItem"),
			holding(item),
			expect(put(row("a", "b"), where("attribute_not_exists(pk)"), onFailure("ALL_OLD")),
				conditionFailed+" "+whole),
			expect(put(row("a", "b"), where("attribute_not_exists(pk)"), onFailure("NONE")), conditionFailed),
			expect(put(row("a", "b"), where("attribute_not_exists(pk)"), returns("ALL_OLD")), conditionFailed)),
		newCase("old item on failure of an update",
			"An update that fails its condition returns the item with ALL_OLD.", api("UpdateItem"), holding(item),
			expect(update(k, "SET x = :x", with(attrs{":x": 3}), where("x = :x"), onFailure("ALL_OLD")),
				conditionFailed+" "+whole)),
		newCase("old item on failure of a delete", "A delete that fails its condition returns the item with ALL_OLD.",
			api("DeleteItem"), holding(item),
			expect(remove(k, with(attrs{":x": 3}), where("x = :x"), onFailure("ALL_OLD")), conditionFailed+" "+whole)),
		newCase("old item on failure without an item",
			"A condition that fails because there is no item returns no item.", api("PutItem"),
			expect(put(item, where("attribute_exists(pk)"), onFailure("ALL_OLD")), conditionFailed)),
		newCase("no such value on failure", "ReturnValuesOnConditionCheckFailure has two values.",
			alternator+"test_returnvalues.py",
			expect(put(item, onFailure("SOME")),
				broken("Value 'SOME' at 'returnValuesOnConditionCheckFailure' failed to satisfy constraint: Member "+
					"must satisfy enum value set: [ALL_OLD, NONE]"))),
	}
}

// collectionCases are about item collections: the items of a partition of a table with local indexes.
func collectionCases() []Case {
	const (
		local  = usualSchema + " | lsi: pk S, n N -> ALL"
		global = usualSchema + " | gsi: g S -> ALL"
		number = "pk N, sk S | lsi: pk N, n N -> KEYS_ONLY"
		small  = `; collection {pk: "p"} of [0 1] GB`
	)
	size := metrics("SIZE")
	tables := map[string]schema{usualTable: local, "other": "pk S", "global": global, "number": number}
	row1 := row("p", "a", "n", 1)
	source := parity + "tier1/putItem/itemCollectionMetrics.test.ts"
	return []Case{
		newCase("put", "A put reports the size of the collection it wrote to, in whole gigabytes.", source,
			inTables(tables), expect(put(row1, size), ok+small)),
		newCase("update", "An update reports the size of the collection it wrote to.", source, inTables(tables),
			holding(row1),
			expect(update(key("p", "a"), "SET v = :v", with(attrs{":v": 1}), size), ok+small),
			expect(update(key("p", "b"), "SET v = :v", with(attrs{":v": 1}), size, returns("ALL_NEW")),
				`{pk: "p", sk: "b", v: 1}`+small)),
		newCase("delete", "A delete reports the size of the collection it wrote to.", source, inTables(tables),
			holding(row1), expect(remove(key("p", "a"), size, returns("ALL_OLD")), `{n: 1, pk: "p", sk: "a"}`+small)),
		newCase("not asked for", "The size of a collection is reported only if it is asked for.", source,
			inTables(tables),
			expect(put(row1, metrics("NONE")), ok),
			expect(put(row1), ok),
			expect(batchWrite(actions{put(row1)}), ok),
			expect(transact(actions{put(row1)}), ok)),
		newCase("no local index", "A table without a local index has no collections.", api("ItemCollectionMetrics"),
			inTables(tables),
			expect(put(attrs{"pk": "p"}, on("other"), size), ok),
			expect(put(row("p", "a", "g", "g"), on("global"), size), ok),
			expect(batchWrite(actions{put(attrs{"pk": "p"}, on("other"))}, size), ok),
			expect(transact(actions{put(attrs{"pk": "p"}, on("other"))}, size), ok)),
		newCase("number", "A collection has the partition key of its items.", api("ItemCollectionMetrics"),
			inTables(tables),
			expect(put(attrs{"pk": num("7"), "sk": "a"}, on("number"), size), ok+"; collection {pk: 7} of [0 1] GB")),
		newCase("batch", "A batch reports the size of each collection, by table.", api("BatchWriteItem"),
			inTables(tables), holding(row1),
			expect(batchWrite(actions{put(row("q", "a")), remove(key("p", "a")), put(attrs{"pk": "p"}, on("other"))},
				size),
				ok+"; rows"+small+`; collection {pk: "q"} of [0 1] GB`)),
		newCase("transaction", "A transaction reports the size of each collection that it wrote to.",
			api("TransactWriteItems"), inTables(tables), holding(row1),
			expect(transact(actions{
				put(row("q", "a")), update(key("p", "b"), "SET v = :v", with(attrs{":v": 1})),
				put(attrs{"pk": "p"}, on("other")),
			}, size), ok+"; rows"+small+`; collection {pk: "q"} of [0 1] GB`)),
		newCase("capacity and collections", "The size of a collection and the units can be asked for together.",
			api("PutItem"), inTables(tables), expect(put(row1, size, capacity("TOTAL")), ok+"; 2 units"+small)),
	}
}
