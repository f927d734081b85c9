package conformance

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
			Name: "put ALL_OLD", Rule: "A put with ALL_OLD returns what it replaced.", Source: api("PutItem"),
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
			Name: "delete ALL_OLD", Rule: "A delete with ALL_OLD returns what it deleted, and nothing if there was nothing.", Source: api("DeleteItem"),
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
			Name: "update UPDATED_OLD", Rule: "UPDATED_OLD returns what the update touched, as it was: of a nested path that path alone.", Source: alternator + "test_returnvalues.py",
			rows: []attrs{item}, steps: []step{
				expect(change("UPDATED_OLD"), "{doc: {in: 1}, x: 1, y: 2}"),
			},
		},
		{
			Name: "update UPDATED_NEW", Rule: "UPDATED_NEW returns what the update touched, as it is.", Source: api("UpdateItem"),
			rows: []attrs{item}, steps: []step{expect(change("UPDATED_NEW"), "{doc: {in: 9}, x: 9, z: 9}")},
		},
		{
			Name: "update NONE", Rule: "An update returns nothing unless asked.", Source: api("UpdateItem"),
			rows: []attrs{item}, steps: []step{expect(change("NONE"), ok)},
		},
		{
			Name: "update of a missing item", Rule: "There is nothing old about an item that an update creates.", Source: api("UpdateItem"),
			steps: []step{
				expect(update(k, "SET x = :x", with(attrs{":x": 1}), returns("ALL_OLD")), ok),
				expect(remove(k), ok),
				expect(update(k, "SET x = :x", with(attrs{":x": 1}), returns("UPDATED_OLD")), ok),
				expect(remove(k), ok),
				expect(update(k, "SET x = :x", with(attrs{":x": 1}), returns("ALL_NEW")), `{pk: "a", sk: "b", x: 1}`),
			},
		},
		{
			Name: "UPDATED_NEW of a removal", Rule: "UPDATED_NEW of what was removed is nothing.", Source: alternator + "test_returnvalues.py",
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
			Name: "old item on failure of a put", Rule: "A put that fails its condition returns the item with ALL_OLD, so that nobody has to read it.",
			Source: api("PutItem"),
			rows:   []attrs{item},
			steps: []step{
				expect(put(row("a", "b"), where("attribute_not_exists(pk)"), onFailure("ALL_OLD")), conditionFailed+" "+whole),
				expect(put(row("a", "b"), where("attribute_not_exists(pk)"), onFailure("NONE")), conditionFailed),
				expect(put(row("a", "b"), where("attribute_not_exists(pk)"), returns("ALL_OLD")), conditionFailed),
			},
		},
		{
			Name: "old item on failure of an update", Rule: "So does an update.", Source: api("UpdateItem"),
			rows: []attrs{item},
			steps: []step{
				expect(update(k, "SET x = :x", with(attrs{":x": 3}), where("x = :x"), onFailure("ALL_OLD")), conditionFailed+" "+whole),
			},
		},
		{
			Name: "old item on failure of a delete", Rule: "So does a delete.", Source: api("DeleteItem"),
			rows: []attrs{item},
			steps: []step{
				expect(remove(k, with(attrs{":x": 3}), where("x = :x"), onFailure("ALL_OLD")), conditionFailed+" "+whole),
			},
		},
		{
			Name: "old item on failure without an item", Rule: "A condition that fails for want of an item returns none.", Source: api("PutItem"),
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
