package conformance

func itemCases() []Case {
	return []Case{
		{
			Name: "every type", Rule: "An item comes back as it was put: every type, nested as it was.", Source: docTypes,
			steps: []step{
				expect(put(row("a", "b", "s", "text", "n", num("1.5"), "x", []byte{0, 255}, "t", true, "f", false, "z", nil,
					"l", list{1, "two", list{}, attrs{}}, "m", attrs{"k": attrs{"j": nil}}, "ss", strs{"q", "p"}, "ns", nums{"2", "1"}, "bs", bins{"b"})), ok),
				expect(get(key("a", "b")),
					`{bs: <0x62>, f: false, l: [1, "two", [], {}], m: {k: {j: null}}, n: 1.5, ns: <1, 2>, pk: "a", s: "text", sk: "b", ss: <"p", "q">, t: true, x: 0x00ff, z: null}`),
			},
		},
		{
			Name: "missing", Rule: "A get of a missing item answers without an item, and without an error.", Source: api("GetItem"),
			steps: []step{expect(get(key("a", "b")), "nothing")},
		},
		{
			Name: "put replaces", Rule: "A put replaces the whole item.", Source: api("PutItem"),
			rows: []attrs{row("a", "b", "x", 1)},
			steps: []step{
				expect(put(row("a", "b", "y", 2)), ok),
				expect(get(key("a", "b")), `{pk: "a", sk: "b", y: 2}`),
			},
		},
		{
			Name: "put if absent", Rule: "attribute_not_exists on a key attribute makes a put a creation.", Source: api("PutItem"),
			steps: []step{
				expect(put(row("a", "b", "x", 1), where("attribute_not_exists(pk)")), ok),
				expect(put(row("a", "b", "x", 2), where("attribute_not_exists(pk)")), conditionFailed),
				expect(get(key("a", "b")), `{pk: "a", sk: "b", x: 1}`),
			},
		},
		{
			Name: "delete is idempotent", Rule: "A delete of a missing item succeeds.", Source: api("DeleteItem"),
			rows: []attrs{row("a", "b")},
			steps: []step{
				expect(remove(key("a", "b")), ok),
				expect(remove(key("a", "b")), ok),
				expect(get(key("a", "b")), "nothing"),
			},
		},
		{
			Name: "eventually consistent", Rule: "A get may be eventually consistent; without concurrent writes it reads the current item.", Source: docConsistency,
			steps: []step{expect(get(key("a", "b"), eventually()), "nothing")},
		},
		{
			Name: "empty string", Rule: "A string that is no key may be empty.", Source: docTypes,
			steps: []step{
				expect(put(row("a", "b", "s", "", "x", []byte{}, "m", attrs{"e": ""})), ok),
				expect(get(key("a", "b")), `{m: {e: ""}, pk: "a", s: "", sk: "b", x: 0x}`),
			},
		},
		{
			Name: "empty name", Rule: "An attribute has a name.", Source: docTypes,
			steps: []step{
				// Only DynamoDB Local is known to us to have a text for it.
				expect(put(row("a", "b", "", 1)), invalid("Empty attribute name")),
				expect(put(row("a", "b", "m", attrs{"": 1})), invalid("Empty attribute name")),
			},
		},
		{
			Name: "odd names", Rule: "An attribute's name may be any text.", Source: docTypes,
			steps: []step{
				expect(put(row("a", "b", "with space", 1, "1st", 2, "a.b", 3, "ünï", 4)), ok),
				expect(get(key("a", "b"), only("#p, #q"), named("#p", "a.b", "#q", "with space")), `{a.b: 3, with space: 1}`),
			},
		},
		{
			Name: "NULL is true", Rule: "NULL comes with true.", Source: parity + "tier3/error-messages/putItem.test.ts",
			steps: []step{
				expect(put(row("a", "b", "z", nullFalse)), badParameter("Null attribute value types must have the value of true")),
			},
		},
		{
			Name: "no item", Rule: "A put has an item.", Source: dynalite + "putItem.js",
			steps: []step{
				expect(put(nil), broken("Value null at 'item' failed to satisfy constraint: Member must not be null")),
			},
		},
		{
			Name: "no key", Rule: "A get has a key.", Source: dynalite + "getItem.js",
			steps: []step{
				expect(get(nil), broken("Value null at 'key' failed to satisfy constraint: Member must not be null")),
				expect(remove(nil), broken("Value null at 'key' failed to satisfy constraint: Member must not be null")),
				expect(update(nil, "REMOVE x"), broken("Value null at 'key' failed to satisfy constraint: Member must not be null")),
			},
		},
		{
			Name: "no table", Rule: "Data operations do not name a table that does not exist.", Source: dynalite + "getItem.js",
			steps: []step{
				expect(get(key("a", "b"), on("missing")), noTable),
				expect(put(row("a", "b"), on("missing")), noTable),
				expect(remove(key("a", "b"), on("missing")), noTable),
				expect(update(key("a", "b"), "REMOVE x", on("missing")), noTable),
				expect(query("pk = :a", with(attrs{":a": "a"}), on("missing")), noTable),
				expect(transact(actions{put(row("a", "b"), on("missing"))}), noTable),
				expect(transactGet(actions{get(key("a", "b"), on("missing"))}), noTable),
			},
		},
		{
			Name: "capacity of a write", Rule: "A write takes one unit for each KB begun.", Source: docCapacity,
			steps: []step{
				expect(put(row("a", "b", "x", text(1024-7)), capacity("TOTAL")), "ok; 1 units"),
				expect(put(row("a", "b", "x", text(1025-7)), capacity("TOTAL")), "ok; 2 units"),
				expect(remove(key("a", "b"), capacity("INDEXES")), "ok; 2 units, 2 of the table"),
				expect(remove(key("a", "b"), capacity("TOTAL")), "ok; 1 units"),
				expect(remove(key("a", "b"), capacity("NONE")), "ok"),
			},
		},
		{
			Name: "capacity of a read", Rule: "A read takes one unit for each 4 KB begun, half if eventually consistent.", Source: docCapacity,
			rows: []attrs{row("a", "b", "x", text(4096-7)), row("a", "c", "x", text(4097-7))},
			steps: []step{
				expect(get(key("a", "b"), only("pk"), capacity("TOTAL")), `{pk: "a"}; 1 units`),
				expect(get(key("a", "b"), only("pk"), capacity("TOTAL"), eventually()), `{pk: "a"}; 0.5 units`),
				expect(get(key("a", "c"), only("pk"), capacity("TOTAL")), `{pk: "a"}; 2 units`),
				expect(get(key("a", "none"), capacity("TOTAL")), "nothing; 1 units"),
			},
		},
	}
}

const noTable = "ResourceNotFoundException: Requested resource not found"

func returnValuesCases() []Case {
	item := row("a", "b", "x", 1, "y", 2, "doc", attrs{"in": 1, "out": 2})
	k := key("a", "b")
	const whole = `{doc: {in: 1, out: 2}, pk: "a", sk: "b", x: 1, y: 2}`
	change := func(which string) request {
		return update(k, "SET x = :x, doc.#in = :x, z = :x REMOVE y", with(attrs{":x": 9}), named("#in", "in"), returns(which))
	}
	const updated = `{doc: {in: 9, out: 2}, pk: "a", sk: "b", x: 9, z: 9}`
	enum := "Value 'SOME' at 'returnValues' failed to satisfy constraint: Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
	return []Case{
		{
			Name: "put ALL_OLD", Rule: "A put with ALL_OLD returns the item that it replaced.", Source: api("PutItem"),
			steps: []step{
				expect(put(item, returns("ALL_OLD")), ok),
				expect(put(row("a", "b"), returns("ALL_OLD")), whole),
				expect(put(row("a", "b"), returns("NONE")), ok),
			},
		},
		{
			Name: "put ALL_NEW", Rule: "A put returns ALL_OLD or nothing.", Source: api("PutItem"),
			steps: []step{
				expect(put(item, returns("ALL_NEW")), invalid("ReturnValues can only be ALL_OLD or NONE")),
				expect(put(item, returns("UPDATED_OLD")), invalid("ReturnValues can only be ALL_OLD or NONE")),
			},
		},
		{
			Name: "delete ALL_OLD", Rule: "A delete with ALL_OLD returns the item that it deleted, and nothing if there was no item.", Source: api("DeleteItem"),
			rows: []attrs{item},
			steps: []step{
				expect(remove(k, returns("ALL_OLD")), whole),
				expect(remove(k, returns("ALL_OLD")), ok),
			},
		},
		{
			Name: "delete UPDATED_NEW", Rule: "A delete returns ALL_OLD or nothing.", Source: api("DeleteItem"),
			rows:  []attrs{item},
			steps: []step{expect(remove(k, returns("UPDATED_NEW")), invalid("ReturnValues can only be ALL_OLD or NONE"))},
		},
		{
			Name: "update ALL_OLD", Rule: "An update with ALL_OLD returns the item before it.", Source: api("UpdateItem"),
			rows: []attrs{item}, steps: []step{expect(change("ALL_OLD"), whole)},
		},
		{
			Name: "update ALL_NEW", Rule: "An update with ALL_NEW returns the item after it.", Source: api("UpdateItem"),
			rows: []attrs{item}, steps: []step{expect(change("ALL_NEW"), updated)},
		},
		{
			Name: "update UPDATED_OLD", Rule: "UPDATED_OLD returns the old values of the updated attributes: of a nested path that path alone.", Source: alternator + "test_returnvalues.py",
			rows: []attrs{item}, steps: []step{
				expect(change("UPDATED_OLD"), "{doc: {in: 1}, x: 1, y: 2}"),
			},
		},
		{
			Name: "update UPDATED_NEW", Rule: "UPDATED_NEW returns the new values of the updated attributes.", Source: api("UpdateItem"),
			rows: []attrs{item}, steps: []step{expect(change("UPDATED_NEW"), "{doc: {in: 9}, x: 9, z: 9}")},
		},
		{
			Name: "update NONE", Rule: "An update returns nothing unless asked.", Source: api("UpdateItem"),
			rows: []attrs{item}, steps: []step{expect(change("NONE"), ok)},
		},
		{
			Name: "update of a missing item", Rule: "UPDATED_OLD and ALL_OLD of an item that an update creates are empty.", Source: api("UpdateItem"),
			steps: []step{
				expect(update(k, "SET x = :x", with(attrs{":x": 1}), returns("ALL_OLD")), ok),
				expect(remove(k), ok),
				expect(update(k, "SET x = :x", with(attrs{":x": 1}), returns("UPDATED_OLD")), ok),
				expect(remove(k), ok),
				expect(update(k, "SET x = :x", with(attrs{":x": 1}), returns("ALL_NEW")), `{pk: "a", sk: "b", x: 1}`),
			},
		},
		{
			Name: "UPDATED_NEW of a removal", Rule: "UPDATED_NEW returns nothing for a removed attribute.", Source: alternator + "test_returnvalues.py",
			rows: []attrs{item}, steps: []step{expect(update(k, "REMOVE x", returns("UPDATED_NEW")), ok)},
		},
		{
			Name: "no such value", Rule: "ReturnValues has five values.", Source: dynalite + "updateItem.js",
			steps: []step{
				expect(update(k, "REMOVE x", returns("SOME")), broken(enum)),
				expect(put(item, returns("SOME")), broken(enum)),
			},
		},
		{
			Name: "old item on failure of a put", Rule: "A put that fails its condition returns the item with ALL_OLD, which saves a read.",
			Source: api("PutItem"),
			rows:   []attrs{item},
			steps: []step{
				expect(put(row("a", "b"), where("attribute_not_exists(pk)"), onFailure("ALL_OLD")), conditionFailed+" "+whole),
				expect(put(row("a", "b"), where("attribute_not_exists(pk)"), onFailure("NONE")), conditionFailed),
				expect(put(row("a", "b"), where("attribute_not_exists(pk)"), returns("ALL_OLD")), conditionFailed),
			},
		},
		{
			Name: "old item on failure of an update", Rule: "An update that fails its condition returns the item with ALL_OLD.", Source: api("UpdateItem"),
			rows: []attrs{item},
			steps: []step{
				expect(update(k, "SET x = :x", with(attrs{":x": 3}), where("x = :x"), onFailure("ALL_OLD")), conditionFailed+" "+whole),
			},
		},
		{
			Name: "old item on failure of a delete", Rule: "A delete that fails its condition returns the item with ALL_OLD.", Source: api("DeleteItem"),
			rows: []attrs{item},
			steps: []step{
				expect(remove(k, with(attrs{":x": 3}), where("x = :x"), onFailure("ALL_OLD")), conditionFailed+" "+whole),
			},
		},
		{
			Name: "old item on failure without an item", Rule: "A condition that fails because there is no item returns no item.", Source: api("PutItem"),
			steps: []step{
				expect(put(item, where("attribute_exists(pk)"), onFailure("ALL_OLD")), conditionFailed),
			},
		},
		{
			Name: "no such value on failure", Rule: "ReturnValuesOnConditionCheckFailure has two values.", Source: alternator + "test_returnvalues.py",
			steps: []step{
				expect(put(item, onFailure("SOME")), broken("Value 'SOME' at 'returnValuesOnConditionCheckFailure' failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, NONE]")),
			},
		},
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
		{
			Name: "put", Rule: "A put reports the size of the collection it wrote to, in whole gigabytes.", Source: source,
			tables: tables, steps: []step{expect(put(row1, size), ok+small)},
		},
		{
			Name: "update", Rule: "An update reports the size of the collection it wrote to.", Source: source,
			tables: tables, rows: []attrs{row1},
			steps: []step{
				expect(update(key("p", "a"), "SET v = :v", with(attrs{":v": 1}), size), ok+small),
				expect(update(key("p", "b"), "SET v = :v", with(attrs{":v": 1}), size, returns("ALL_NEW")), `{pk: "p", sk: "b", v: 1}`+small),
			},
		},
		{
			Name: "delete", Rule: "A delete reports the size of the collection it wrote to.", Source: source,
			tables: tables, rows: []attrs{row1},
			steps: []step{expect(remove(key("p", "a"), size, returns("ALL_OLD")), `{n: 1, pk: "p", sk: "a"}`+small)},
		},
		{
			Name: "not asked for", Rule: "The size of a collection is reported only if it is asked for.", Source: source,
			tables: tables,
			steps: []step{
				expect(put(row1, metrics("NONE")), ok),
				expect(put(row1), ok),
				expect(batchWrite(actions{put(row1)}), ok),
				expect(transact(actions{put(row1)}), ok),
			},
		},
		{
			Name: "no local index", Rule: "A table without a local index has no collections.", Source: api("ItemCollectionMetrics"),
			tables: tables,
			steps: []step{
				expect(put(attrs{"pk": "p"}, on("other"), size), ok),
				expect(put(row("p", "a", "g", "g"), on("global"), size), ok),
				expect(batchWrite(actions{put(attrs{"pk": "p"}, on("other"))}, size), ok),
				expect(transact(actions{put(attrs{"pk": "p"}, on("other"))}, size), ok),
			},
		},
		{
			Name: "number", Rule: "The key of a collection is that of its items.", Source: api("ItemCollectionMetrics"),
			tables: tables,
			steps:  []step{expect(put(attrs{"pk": num("7"), "sk": "a"}, on("number"), size), ok+"; collection {pk: 7} of [0 1] GB")},
		},
		{
			Name: "batch", Rule: "A batch reports the size of each collection, by table.", Source: api("BatchWriteItem"),
			tables: tables, rows: []attrs{row1},
			steps: []step{
				expect(batchWrite(actions{put(row("q", "a")), remove(key("p", "a")), put(attrs{"pk": "p"}, on("other"))}, size),
					ok+"; rows"+small+`; collection {pk: "q"} of [0 1] GB`),
			},
		},
		{
			Name: "transaction", Rule: "A transaction reports the size of each collection that it wrote to.", Source: api("TransactWriteItems"),
			tables: tables, rows: []attrs{row1},
			steps: []step{
				expect(transact(actions{
					put(row("q", "a")), update(key("p", "b"), "SET v = :v", with(attrs{":v": 1})), put(attrs{"pk": "p"}, on("other")),
				}, size), ok+"; rows"+small+`; collection {pk: "q"} of [0 1] GB`),
			},
		},
		{
			Name: "capacity and collections", Rule: "The size of a collection and the units can be asked for together.", Source: api("PutItem"),
			tables: tables, steps: []step{expect(put(row1, size, capacity("TOTAL")), ok+"; 2 units"+small)},
		},
	}
}
