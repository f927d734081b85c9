package conformance

import "strings"

func indexWriteCases() []Case {
	const indexed = usualSchema + " | gsi: g S -> INCLUDE v | gsn: n N, b B -> KEYS_ONLY | lsi: pk S, l S -> ALL"
	tables := map[string]schema{usualTable: indexed}
	byG := func(options ...option) request {
		return query("g = :g", append([]option{index("gsi"), with(attrs{":g": "x"})}, options...)...)
	}
	mismatch := func(name, want, got, index string) string {
		return badParameter("Type mismatch for Index Key " + name + " Expected: " + want + " Actual: " + got + " IndexName: " + index)
	}
	empty := func(kind, index, name string) string {
		return invalid("One or more parameter values are not valid. A value specified for a secondary index key is not supported. " +
			"The AttributeValue for a key attribute cannot contain an empty " + kind + " value. IndexName: " + index + ", IndexKey: " + name)
	}
	const emptyUpdate = "ValidationException: One or more parameter values are not valid. The update expression attempted to update a secondary index key to a value that is not supported. " +
		"The AttributeValue for a key attribute cannot contain an empty string value."
	full := row("a", "b", "g", "x", "l", "y", "v", 1, "w", 2)
	detail := capacity("INDEXES")
	type ladder struct {
		name, rule string
		do         request
		want       string
	}
	cases := []Case{
		{
			Name: "sparse", Rule: "An item without a key attribute of an index is not in it.", Source: docGlobal, tables: tables,
			steps: []step{
				expect(put(row("a", "b", "v", 1)), ok), expect(byG(), "0 of 0"),
				expect(update(key("a", "b"), "SET g = :g", with(attrs{":g": "x"})), ok), expect(byG(only("v")), "1 of 1: {v: 1}"),
				expect(update(key("a", "b"), "REMOVE g"), ok), expect(byG(), "0 of 0"),
			},
		},
		{
			Name: "moves", Rule: "An item moves in an index when its key there changes.", Source: docGlobal, tables: tables,
			steps: []step{
				expect(put(row("a", "b", "g", "x")), ok), expect(put(row("a", "b", "g", "z")), ok), expect(byG(), "0 of 0"),
				expect(query("g = :g", index("gsi"), with(attrs{":g": "z"}), selecting("COUNT")), "1 of 1"),
			},
		},
		{
			Name: "deletes", Rule: "A deleted item is deleted from the indexes.", Source: docGlobal, tables: tables,
			steps: []step{expect(put(full), ok), expect(remove(key("a", "b")), ok), expect(byG(), "0 of 0")},
		},
		{
			Name: "transaction", Rule: "A transaction changes the indexes too.", Source: docTransactions, tables: tables,
			steps: []step{
				expect(transact(actions{put(row("a", "1", "g", "x")), put(row("a", "2", "g", "x"))}), ok), expect(byG(selecting("COUNT")), "2 of 2"),
			},
		},
		{
			Name: "duplicates", Rule: "Items may have the same key in an index.", Source: docGlobal, tables: tables,
			steps: []step{expect(put(row("a", "1", "g", "x")), ok), expect(put(row("b", "1", "g", "x")), ok), expect(byG(selecting("COUNT")), "2 of 2")},
		},
		{
			Name: "put with a key of another type", Rule: "A key attribute of an index has the key's type.", Source: dynalite + "putItem.js", tables: tables,
			steps: []step{
				expect(put(row("a", "b", "g", 1)), mismatch("g", "S", "N", "gsi")), expect(put(row("a", "b", "l", nil)), mismatch("l", "S", "NULL", "lsi")),
				expect(put(row("a", "b", "n", "1")), mismatch("n", "N", "S", "gsn")),
			},
		},
		{
			Name: "put with an empty key", Rule: "A key attribute of an index is not empty.", Source: nubo + "tier3/error-messages/putItem.test.ts", tables: tables,
			steps: []step{
				expect(put(row("a", "b", "g", "")), empty("string", "gsi", "g")), expect(put(row("a", "b", "b", []byte{})), empty("binary", "gsn", "b")),
				expect(put(row("a", "b", "v", "")), ok),
			},
		},
		{
			Name: "key before the condition", Rule: "Keys of indexes are checked before the condition.", Source: LocalOnly, tables: tables, rows: []attrs{row("a", "b")},
			steps: []step{
				expect(put(row("a", "b", "g", 1), where("attribute_not_exists(pk)")), mismatch("g", "S", "N", "gsi")),
				expect(put(row("a", "b", "g", ""), where("attribute_not_exists(pk)")), empty("string", "gsi", "g")),
			},
		},
		{
			Name: "update to another type", Rule: "An update leaves key attributes of indexes their type.", Source: dynalite + "updateItem.js", tables: tables, rows: []attrs{full},
			steps: []step{
				expect(update(key("a", "b"), "SET g = :v", with(attrs{":v": 1})), mismatch("g", "S", "N", "gsi")),
				expect(update(key("a", "b"), "SET g = v"), invalid("The update expression attempted to update the secondary index key to unsupported type")),
				expect(update(key("c", "d"), "ADD l :v", with(attrs{":v": 1})), mismatch("l", "S", "N", "lsi")),
				expect(update(key("c", "d"), "SET g = v + :v", with(attrs{":v": 1})), mismatch("g", "S", "N", "gsi")),
			},
		},
		{
			Name: "type before the condition", Rule: "A type that the request alone shows to be wrong is reported before the condition, another one after it.", Source: dynalite + "updateItem.js", tables: tables, rows: []attrs{full},
			steps: []step{
				expect(update(key("a", "b"), "SET g = :v", with(attrs{":v": 1}), where("attribute_not_exists(pk)")), mismatch("g", "S", "N", "gsi")),
				expect(update(key("a", "b"), "SET g = v", where("attribute_not_exists(pk)")), conditionFailed),
			},
		},
		{
			Name: "update to a long key", Rule: "An update does not make them too long.", Source: api("TransactWriteItems") + "#API_TransactWriteItems_Errors", tables: tables, rows: []attrs{full},
			steps: []step{
				expect(update(key("a", "b"), "SET g = :v", with(attrs{":v": text(2048)})), ok),
				expect(update(key("a", "b"), "SET g = :v", with(attrs{":v": text(2049)})), invalid("The update expression attempted to update the secondary index key beyond allowed size limits")),
				expect(update(key("a", "b"), "SET l = :v", with(attrs{":v": text(1024)})), ok),
				expect(update(key("a", "b"), "SET l = :v", with(attrs{":v": text(1025)})), invalid("The update expression attempted to update the secondary index key beyond allowed size limits")),
			},
		},
		{
			Name: "update to an empty key", Rule: "An update does not empty them.", Source: nubo + "tier2/transactions/transactWrite.test.ts", tables: tables, rows: []attrs{full},
			steps: []step{
				expect(update(key("a", "b"), "SET g = :v", with(attrs{":v": ""})), emptyUpdate),
				expect(transact(actions{update(key("a", "b"), "SET g = :v", with(attrs{":v": ""}))}), emptyUpdate),
			},
		},
		{
			Name: "transaction with a key of another type", Rule: "A transaction is cancelled for a key attribute of another type, and refused for an empty one.", Source: parity + "tier3/error-messages/transactWriteItems.test.ts", tables: tables,
			steps: []step{
				expect(transact(actions{put(row("a", "b", "g", 1)), put(row("c", "d"))}), cancelled(reasonInvalid("One or more parameter values were invalid: Type mismatch for Index Key g Expected: S Actual: N IndexName: gsi"), none)),
				expect(transact(actions{put(row("c", "d")), put(row("a", "b", "g", ""))}), empty("string", "gsi", "g")),
				expect(transact(actions{update(key("a", "b"), "SET g = :v", with(attrs{":v": 1}))}), cancelled(reasonInvalid("One or more parameter values were invalid: Type mismatch for Index Key g Expected: S Actual: N IndexName: gsi"))),
			},
		},
		{
			Name: "long partition key", Rule: "A partition key of an index has at most 2,048 bytes.", Source: alternator + "test_gsi_updatetable.py", tables: tables,
			steps: []step{
				expect(put(row("a", "b", "g", strings.Repeat("x", 2048))), ok),
				expect(put(row("a", "b", "g", strings.Repeat("x", 2049))), badParameter("Size of hashkey has exceeded the maximum size limit of2048 bytes")),
			},
		},
		{
			Name: "long sort key", Rule: "A sort key of an index has at most 1,024 bytes.", Source: alternator + "test_lsi.py", tables: tables,
			steps: []step{
				expect(put(row("a", "b", "l", strings.Repeat("x", 1024))), ok),
				expect(put(row("a", "b", "l", strings.Repeat("x", 1025))), badParameter("Aggregated size of all range keys has exceeded the size limit of 1024 bytes")),
			},
		},
	}
	for _, l := range []ladder{
		{"capacity of nothing", "An index that a write does not change takes nothing.", put(row("a", "c", "w", 1), detail), "ok; 1 units, 1 of the table"},
		{"capacity of a global index", "A write takes a unit of each index that it changes.", put(row("a", "c", "g", "x"), detail), "ok; 2 units, 1 of the table, 1 of gsi"},
		{"capacity of a local index", "So it does of a local one.", put(row("a", "c", "l", "x"), detail), "ok; 2 units, 1 of the table, 1 of lsi"},
		{"capacity in total", "The total has the units of indexes in it.", put(row("a", "c", "g", "x", "l", "x"), capacity("TOTAL")), "ok; 3 units"},
		{"capacity of the same item", "A write that changes nothing takes nothing of indexes.", put(full, detail), "ok; 1 units, 1 of the table"},
		{"capacity of an attribute that is not there", "An attribute that an index does not have does not count.", update(key("a", "b"), "SET w = :v", with(attrs{":v": 3}), detail), "ok; 2 units, 1 of the table, 1 of lsi"},
		{"capacity of an attribute", "One that it has does.", update(key("a", "b"), "SET v = :v", with(attrs{":v": 3}), detail), "ok; 3 units, 1 of the table, 1 of gsi, 1 of lsi"},
		{"capacity of a move", "A key that changes takes a delete and a put.", update(key("a", "b"), "SET g = :v", with(attrs{":v": "z"}), detail), "ok; 4 units, 1 of the table, 2 of gsi, 1 of lsi"},
		{"capacity of leaving", "A key that goes takes a delete.", update(key("a", "b"), "REMOVE g", detail), "ok; 3 units, 1 of the table, 1 of gsi, 1 of lsi"},
		{"capacity of a delete", "A deleted item takes a unit of each index that it was in.", remove(key("a", "b"), detail), "ok; 3 units, 1 of the table, 1 of gsi, 1 of lsi"},
	} {
		cases = append(cases, Case{
			Name: l.name, Rule: l.rule, Source: nubo + "tier1/putItem/indexConsumedCapacity.test.ts", tables: tables, rows: []attrs{full},
			steps: []step{expect(l.do, l.want)},
		})
	}
	return cases
}

// index reads an index, eventually consistently as all can.
func index(name string) option {
	return func(w *world, in any) {
		set("IndexName", name)(w, in)
		eventually()(w, in)
	}
}
