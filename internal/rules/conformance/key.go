package conformance

func keyCases() []Case {
	const (
		mismatch = "The provided key element does not match the schema"
		empty    = "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: "
		emptyBin = "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty binary value. Key: "
		hashSize = "Size of hashkey has exceeded the maximum size limit of2048 bytes"
		sortSize = "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
	)
	const texts = parity + "tier3/error-messages/transactWriteItems.test.ts"
	return []Case{
		{
			Name: "put without a key", Rule: "An item has all of its table's key attributes.", Source: dynalite + "putItem.js",
			steps: []step{
				expect(put(attrs{"pk": "a"}), badParameter("Missing the key sk in the item")),
				expect(put(attrs{"sk": "b"}), badParameter("Missing the key pk in the item")),
			},
		},
		{
			Name: "put with a key of another type", Rule: "A key attribute has the type that the table gives it.", Source: texts,
			steps: []step{
				expect(put(attrs{"pk": 5, "sk": "b"}), badParameter("Type mismatch for key pk expected: S actual: N")),
				expect(put(attrs{"pk": "a", "sk": list{"x"}}), badParameter("Type mismatch for key sk expected: S actual: L")),
			},
		},
		{
			Name: "key with too little", Rule: "A key names all key attributes.", Source: dynalite + "getItem.js",
			steps: []step{
				expect(get(attrs{"pk": "a"}), invalid(mismatch)),
				expect(remove(attrs{"pk": "a"}), invalid(mismatch)),
				expect(update(attrs{"pk": "a"}, "REMOVE x"), invalid(mismatch)),
			},
		},
		{
			Name: "key with too much", Rule: "A key names nothing but key attributes.", Source: dynalite + "getItem.js",
			steps: []step{
				expect(get(attrs{"pk": "a", "sk": "b", "x": 1}), invalid(mismatch)),
			},
		},
		{
			Name: "key with another name", Rule: "A key names the table's key attributes.", Source: dynalite + "getItem.js",
			steps: []step{
				expect(get(attrs{"pk": "a", "x": "b"}), invalid(mismatch)),
			},
		},
		{
			Name: "key of another type", Rule: "A key has the types that the table gives it.", Source: dynalite + "getItem.js",
			steps: []step{
				expect(get(attrs{"pk": 1, "sk": "b"}), invalid(mismatch)),
				expect(update(attrs{"pk": "a", "sk": true}, "REMOVE x"), invalid(mismatch)),
			},
		},
		{
			Name: "empty key value", Rule: "A key value is not empty.", Source: docTypes,
			steps: []step{
				expect(put(row("", "b")), invalid(empty+"pk")),
				expect(put(row("a", "")), invalid(empty+"sk")),
				expect(get(key("a", "")), invalid(empty+"sk")),
				expect(remove(key("", "b")), invalid(empty+"pk")),
				expect(update(key("a", ""), "REMOVE x"), invalid(empty+"sk")),
			},
		},
		{
			Name: "empty binary key value", Rule: "A binary key value is not empty.", Source: parity + "tier3/error-messages/putItem.test.ts",
			tables: map[string]schema{usualTable: "id B"},
			steps: []step{
				expect(put(attrs{"id": []byte{}}), invalid(emptyBin+"id")),
				expect(get(attrs{"id": []byte{}}), invalid(emptyBin+"id")),
			},
		},
		{
			Name: "long partition key", Rule: "A partition key has at most 2,048 bytes.", Source: docLimits,
			steps: []step{
				expect(put(row(text(2048), "b")), ok),
				expect(put(row(text(2049), "b")), badParameter(hashSize)),
				expect(get(key(text(2049), "b")), badParameter(hashSize)),
			},
		},
		{
			Name: "long sort key", Rule: "A sort key has at most 1,024 bytes.", Source: docLimits,
			steps: []step{
				expect(put(row("a", text(1024))), ok),
				expect(put(row("a", text(1025))), badParameter(sortSize)),
				expect(get(key("a", text(1025))), badParameter(sortSize)),
			},
		},
		{
			Name: "partition key alone", Rule: "A table may have a partition key alone.", Source: api("CreateTable"),
			tables: map[string]schema{usualTable: "id S"},
			steps: []step{
				expect(put(attrs{"id": "x", "sk": 1}), ok),
				expect(get(attrs{"id": "x"}), `{id: "x", sk: 1}`),
				expect(get(attrs{"id": "x", "sk": 1}), invalid(mismatch)),
			},
		},
		{
			Name: "binary keys", Rule: "Binary sort keys are ordered by unsigned bytes.", Source: api("Query"),
			tables: map[string]schema{usualTable: "pk B, sk B"},
			rows: []attrs{
				{"pk": []byte("p"), "sk": []byte{0x80}}, {"pk": []byte("p"), "sk": []byte{0x7f}}, {"pk": []byte("p"), "sk": []byte{0}},
			},
			steps: []step{
				expect(query("pk = :p", with(attrs{":p": []byte("p")}), only("sk")), "3 of 3: {sk: 0x00} {sk: 0x7f} {sk: 0x80}"),
			},
		},
		{
			Name: "keys do not run together", Rule: "(\"a\", \"bc\") and (\"ab\", \"c\") are two keys.", Source: docTypes,
			rows: []attrs{row("a", "bc"), row("ab", "c")},
			steps: []step{
				expect(remove(key("a", "bc")), ok),
				expect(get(key("ab", "c")), `{pk: "ab", sk: "c"}`),
			},
		},
		{
			Name: "keys have a case", Rule: "Key values are compared byte by byte.", Source: docTypes,
			rows:  []attrs{row("A", "b")},
			steps: []step{expect(get(key("a", "b")), "nothing")},
		},
	}
}

// keyPathCases are about paths that lead into key attributes, which are scalars.
func keyPathCases() []Case {
	const indexed = usualSchema + " | gsi: g S -> KEYS_ONLY | lsi: pk S, n N -> ALL"
	const (
		words      = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
		getItem    = dynalite + "getItem.js"
		gsiUpdates = alternator + "test_gsi.py"
	)
	v := with(attrs{":v": 1})
	var cases []Case
	for _, c := range []struct {
		name, rule, source string
		do                 request
		want               string
	}{
		{
			"projection of a key", "A projection does not lead into the key.", getItem,
			get(key("a", "b"), only("pk.x")), invalid(words + "Key: pk"),
		},
		{
			"projection of an element of a key", "A projection does not lead into the key by an index of a list.", getItem,
			get(key("a", "b"), only("x, sk[0]")), invalid(words + "Key: sk"),
		},
		{
			"projection of an index's key", "A key of an index is a key.", getItem,
			get(key("a", "b"), only("g.x")), invalid(words + "IndexKey: g"),
		},
		{
			"projection of a local index's key", "A key of a local index is a key.", getItem,
			get(key("a", "b"), only("n[0]")), invalid(words + "IndexKey: n"),
		},
		{
			"projection in a batch", "The projection of a batch does not lead into the key.", getItem,
			batchGet(actions{get(key("a", "b"), only("g.x"))}), invalid(words + "IndexKey: g"),
		},
		{
			"filter of a scan", "A filter does not lead into the key.", dynalite + "scan.js",
			scan(filter("attribute_exists(pk.x)")), invalid(words + "Key: pk"),
		},
		{
			"projection of a scan", "The projection of a scan does not lead into the key.", dynalite + "scan.js",
			scan(only("g.x")), invalid(words + "IndexKey: g"),
		},
		{
			"filter of a query", "The filter of a query does not lead into the key.", dynalite + "query.js",
			query("pk = :p", filter("attribute_exists(g.x)"), with(attrs{":p": "a"})), invalid(words + "IndexKey: g"),
		},
		{
			"update of an index's key", "An update does not lead into the key of an index.", gsiUpdates,
			update(key("a", "b"), "SET g.x = :v", v), invalid(words + "IndexKey: g"),
		},
		{
			"operand of an update", "The value that an update assigns does not come from within the key of an index.", LocalOnly,
			update(key("a", "b"), "SET x = g.x"), invalid(words + "IndexKey: g"),
		},
		{
			"condition", "A condition does not lead into the key of an index.", LocalOnly,
			put(row("a", "b"), where("attribute_not_exists(n.x)")), invalid(words + "IndexKey: n"),
		},
		{
			"by an alias", "A placeholder in the path makes no difference.", getItem,
			get(key("a", "b"), only("#k.x"), named("#k", "pk")), invalid(words + "Key: pk"),
		},
		{
			"no key of an index", "Where no index has it, an attribute may hold a map.", docPaths,
			get(key("a", "b"), only("m.x")), "{m: {x: 1}}",
		},
	} {
		cases = append(cases, Case{
			Name: c.name, Rule: c.rule, Source: c.source, tables: map[string]schema{usualTable: indexed},
			rows: []attrs{row("a", "b", "m", attrs{"x": 1})}, steps: []step{expect(c.do, c.want)},
		})
	}
	return cases
}
