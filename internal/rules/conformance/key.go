package conformance

func keyCases() []Case {
	const (
		mismatch = "The provided key element does not match the schema"
		empty    = "One or more parameter values are not valid. The AttributeValue for a key attribute cannot " +
			"contain an empty string value. Key: "
		emptyBin = "One or more parameter values are not valid. The AttributeValue for a key attribute cannot " +
			"contain an empty binary value. Key: "
		hashSize = "Size of hashkey has exceeded the maximum size limit of2048 bytes"
		sortSize = "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
	)
	const texts = parity + "tier3/error-messages/transactWriteItems.test.ts"
	return []Case{
		newCase("put without a key", "An item has all of its table's key attributes.", dynalite+"putItem.js",
			expect(put(attrs{"pk": "a"}), badParameter("Missing the key sk in the item")),
			expect(put(attrs{"sk": "b"}), badParameter("Missing the key pk in the item"))),
		newCase("put with a key of another type", "A key attribute has the type that the table gives it.", texts,
			expect(put(attrs{"pk": 5, "sk": "b"}), badParameter("Type mismatch for key pk expected: S actual: N")),
			expect(put(attrs{"pk": "a", "sk": list{"x"}}),
				badParameter("Type mismatch for key sk expected: S actual: L"))),
		newCase("key with too little", "A key names all key attributes.", dynalite+"getItem.js",
			expect(get(attrs{"pk": "a"}), invalid(mismatch)),
			expect(remove(attrs{"pk": "a"}), invalid(mismatch)),
			expect(update(attrs{"pk": "a"}, "REMOVE x"), invalid(mismatch))),
		newCase("key with too much", "A key names nothing but key attributes.", dynalite+"getItem.js",
			expect(get(attrs{"pk": "a", "sk": "b", "x": 1}), invalid(mismatch))),
		newCase("key with another name", "A key names the table's key attributes.", dynalite+"getItem.js",
			expect(get(attrs{"pk": "a", "x": "b"}), invalid(mismatch))),
		newCase("key of another type", "A key has the types that the table gives it.", dynalite+"getItem.js",
			expect(get(attrs{"pk": 1, "sk": "b"}), invalid(mismatch)),
			expect(update(attrs{"pk": "a", "sk": true}, "REMOVE x"), invalid(mismatch))),
		newCase("empty key value", "A key value is not empty.", docTypes,
			expect(put(row("", "b")), invalid(empty+"pk")),
			expect(put(row("a", "")), invalid(empty+"sk")),
			expect(get(key("a", "")), invalid(empty+"sk")),
			expect(remove(key("", "b")), invalid(empty+"pk")),
			expect(update(key("a", ""), "REMOVE x"), invalid(empty+"sk"))),
		newCase("empty binary key value", "A binary key value is not empty.",
			parity+"tier3/error-messages/putItem.test.ts", inTable("id B"),
			expect(put(attrs{"id": []byte{}}), invalid(emptyBin+"id")),
			expect(get(attrs{"id": []byte{}}), invalid(emptyBin+"id"))),
		newCase("long partition key", "A partition key has at most 2,048 bytes.", docLimits,
			expect(put(row(text(2048), "b")), ok),
			expect(put(row(text(2049), "b")), badParameter(hashSize)),
			expect(get(key(text(2049), "b")), badParameter(hashSize))),
		newCase("long sort key", "A sort key has at most 1,024 bytes.", docLimits,
			expect(put(row("a", text(1024))), ok),
			expect(put(row("a", text(1025))), badParameter(sortSize)),
			expect(get(key("a", text(1025))), badParameter(sortSize))),
		newCase("partition key alone", "A table may have a partition key alone.", api("CreateTable"), inTable("id S"),
			expect(put(attrs{"id": "x", "sk": 1}), ok),
			expect(get(attrs{"id": "x"}), `{id: "x", sk: 1}`),
			expect(get(attrs{"id": "x", "sk": 1}), invalid(mismatch))),
		newCase("binary keys", "Binary sort keys are ordered by unsigned bytes.", api("Query"), inTable("pk B, sk B"),
			holding(attrs{"pk": []byte("p"), "sk": []byte{0x80}}, attrs{"pk": []byte("p"), "sk": []byte{0x7f}},
				attrs{"pk": []byte("p"), "sk": []byte{0}}),
			expect(query("pk = :p", with(attrs{":p": []byte("p")}), only("sk")),
				"3 of 3: {sk: 0x00} {sk: 0x7f} {sk: 0x80}")),
		newCase("keys do not run together", "(\"a\", \"bc\") and (\"ab\", \"c\") are two keys.", docTypes,
			holding(row("a", "bc"), row("ab", "c")),
			expect(remove(key("a", "bc")), ok),
			expect(get(key("ab", "c")), `{pk: "ab", sk: "c"}`)),
		newCase("keys have a case", "Key values are compared byte by byte.", docTypes, holding(row("A", "b")),
			expect(get(key("a", "b")), "nothing")),
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
			"projection of an element of a key", "A projection does not lead into the key by an index of a list.",
			getItem, get(key("a", "b"), only("x, sk[0]")), invalid(words + "Key: sk"),
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
			"operand of an update", "The value that an update assigns does not come from within the key of an index.",
			LocalOnly, update(key("a", "b"), "SET x = g.x"), invalid(words + "IndexKey: g"),
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
		cases = append(cases, newCase(c.name, c.rule, c.source, inTable(indexed),
			holding(row("a", "b", "m", attrs{"x": 1})), expect(c.do, c.want)))
	}
	return cases
}
