package conformance

// collectionCases are about item collections: the items of a partition of a
// table with local indexes.
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
			Name: "put", Rule: "A put tells the size of the collection it wrote to, in whole gigabytes.", Source: source,
			tables: tables, steps: []step{expect(put(row1, size), ok+small)},
		},
		{
			Name: "update", Rule: "An update tells it.", Source: source,
			tables: tables, rows: []attrs{row1},
			steps: []step{
				expect(update(key("p", "a"), "SET v = :v", with(attrs{":v": 1}), size), ok+small),
				expect(update(key("p", "b"), "SET v = :v", with(attrs{":v": 1}), size, returns("ALL_NEW")), `{pk: "p", sk: "b", v: 1}`+small),
			},
		},
		{
			Name: "delete", Rule: "A delete tells it.", Source: source,
			tables: tables, rows: []attrs{row1},
			steps: []step{expect(remove(key("p", "a"), size, returns("ALL_OLD")), `{n: 1, pk: "p", sk: "a"}`+small)},
		},
		{
			Name: "not asked for", Rule: "It is told only to those who ask.", Source: source,
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
			Name: "batch", Rule: "A batch tells it of each collection, by table.", Source: api("BatchWriteItem"),
			tables: tables, rows: []attrs{row1},
			steps: []step{
				expect(batchWrite(actions{put(row("q", "a")), remove(key("p", "a")), put(attrs{"pk": "p"}, on("other"))}, size),
					ok+"; rows"+small+`; collection {pk: "q"} of [0 1] GB`),
			},
		},
		{
			Name: "transaction", Rule: "A transaction tells it of each collection that it wrote to.", Source: api("TransactWriteItems"),
			tables: tables, rows: []attrs{row1},
			steps: []step{
				expect(transact(actions{
					put(row("q", "a")), update(key("p", "b"), "SET v = :v", with(attrs{":v": 1})), put(attrs{"pk": "p"}, on("other")),
				}, size), ok+"; rows"+small+`; collection {pk: "q"} of [0 1] GB`),
			},
		},
		{
			Name: "capacity and collections", Rule: "Both can be asked for.", Source: api("PutItem"),
			tables: tables, steps: []step{expect(put(row1, size, capacity("TOTAL")), ok+"; 2 units"+small)},
		},
	}
}
