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
			Name: "eventually consistent", Rule: "A get need not be consistent; where nothing is written it reads what there is.", Source: docConsistency,
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
			Name: "no table", Rule: "Data operations do not name the table that they miss.", Source: dynalite + "getItem.js",
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
