package conformance

// legacyQueryCases are about KeyConditions and QueryFilter.
func legacyQueryCases() []Case {
	rows := []attrs{
		row("p", "a", "v", 1), row("p", "ab", "v", 2), row("p", "abc", "v", 3), row("p", "b", "v", 4),
		row("p", "é", "v", 5, "w", "x"), row("q", "a", "v", 6),
	}
	pk := is("EQ", "p")
	sk := attributesToGet("sk")
	type selection struct {
		name, rule, source string
		keys               tests
		options            []option
		want               string
	}
	var cases []Case
	for _, q := range []selection{
		{"partition", "EQ on the partition key returns the partition in order.", docLegacyKeys, tests{"pk": pk},
			[]option{sk}, `5 of 5: {sk: "a"} {sk: "ab"} {sk: "abc"} {sk: "b"} {sk: "é"}`},
		{"backwards", "ScanIndexForward false turns the order round.", docLegacyKeys, tests{"pk": pk},
			[]option{sk, backwards()}, `5 of 5: {sk: "é"} {sk: "b"} {sk: "abc"} {sk: "ab"} {sk: "a"}`},
		{"EQ", "EQ on the sort key.", docLegacyKeys, tests{"pk": pk, "sk": is("EQ", "ab")},
			[]option{sk}, `1 of 1: {sk: "ab"}`},
		{"LT", "LT on the sort key.", docLegacyKeys, tests{"pk": pk, "sk": is("LT", "abc")}, []option{sk},
			`2 of 2: {sk: "a"} {sk: "ab"}`},
		{"LE", "LE on the sort key.", docLegacyKeys, tests{"pk": pk, "sk": is("LE", "ab")}, []option{sk},
			`2 of 2: {sk: "a"} {sk: "ab"}`},
		{"GT", "GT on the sort key.", docLegacyKeys, tests{"pk": pk, "sk": is("GT", "abc")}, []option{sk},
			`2 of 2: {sk: "b"} {sk: "é"}`},
		{"GE", "GE on the sort key.", docLegacyKeys, tests{"pk": pk, "sk": is("GE", "b")}, []option{sk},
			`2 of 2: {sk: "b"} {sk: "é"}`},
		{"BETWEEN", "BETWEEN includes both bounds.", docLegacyKeys, tests{"pk": pk, "sk": is("BETWEEN", "ab", "b")},
			[]option{sk}, `3 of 3: {sk: "ab"} {sk: "abc"} {sk: "b"}`},
		{"BEGINS_WITH", "BEGINS_WITH on the sort key.", docLegacyKeys, tests{"pk": pk, "sk": is("BEGINS_WITH", "ab")},
			[]option{sk}, `2 of 2: {sk: "ab"} {sk: "abc"}`},
		{"no such partition", "A partition that is not there is an empty page.", docLegacyKeys,
			tests{"pk": is("EQ", "none")}, nil, "0 of 0"},
		{"page", "A page ends where Limit says.", api("Query"), tests{"pk": pk},
			[]option{sk, limit(2), startingAfter(key("p", "ab"))},
			`2 of 2: {sk: "abc"} {sk: "b"}; last {pk: "p", sk: "b"}`},
		{"count", "COUNT returns no items.", api("Query"), tests{"pk": pk}, []option{selecting("COUNT")}, "5 of 5"},
		{"capacity", "A query takes units for what it read.", docCapacity, tests{"pk": pk},
			[]option{selecting("COUNT"), capacity("TOTAL")}, "5 of 5; 1 units"},

		{"filter", "QueryFilter is applied after reading: count and scanned count differ.", docLegacyQueryFilter,
			tests{"pk": pk}, []option{sk, queryFilter(tests{"v": is("GE", 3)})},
			`3 of 5: {sk: "abc"} {sk: "b"} {sk: "é"}`},
		{"filter of two", "Filters are joined by AND.", docLegacyQueryFilter, tests{"pk": pk},
			[]option{sk, queryFilter(tests{"v": is("GE", 3), "w": is("NULL")})}, `2 of 5: {sk: "abc"} {sk: "b"}`},
		{"filter of two by OR", "Filters are joined by OR if asked.", docLegacyOperator, tests{"pk": pk},
			[]option{sk, joinedBy("OR"), queryFilter(tests{"v": is("EQ", 1), "w": is("NOT_NULL")})},
			`2 of 5: {sk: "a"} {sk: "é"}`},
		{"empty filter", "An empty QueryFilter filters nothing.", alternator + "test_query_filter.py", tests{"pk": pk},
			[]option{selecting("COUNT"), queryFilter(tests{})}, "5 of 5"},
		{"filter on a missing attribute", "NE holds of a missing attribute, NOT_CONTAINS does not.",
			alternator + "test_query_filter.py", tests{"pk": pk},
			[]option{selecting("COUNT"), queryFilter(tests{"w": is("NE", "x")})}, "4 of 5"},
		{"filter expression", "KeyConditions may come together with a FilterExpression.", extenddb213, tests{"pk": pk},
			[]option{filter("v >= :v"), with(attrs{":v": 4}), selecting("COUNT")}, "2 of 5"},
		{"projection expression", "KeyConditions may come together with a ProjectionExpression.", extenddb213,
			tests{"pk": pk, "sk": is("EQ", "a")}, []option{only("v")}, "1 of 1: {v: 1}"},

		{"partition key alone", "A query is about one partition.", alternator + "test_key_conditions.py",
			tests{"sk": is("EQ", "a")}, nil, invalid("Query condition missed key schema element: pk")},
		{"LE on the partition key", "A partition key is given by EQ.", dynalite + "query.js",
			tests{"pk": is("LE", "p")}, nil, invalid("Query key condition not supported")},
		{"BETWEEN on the partition key", "A partition key is given by EQ.", dynalite + "query.js",
			tests{"pk": is("BETWEEN", "p", "q")}, nil, invalid("Query key condition not supported")},
		{"BEGINS_WITH on the partition key", "A partition key is given by EQ.", dynalite + "query.js",
			tests{"pk": is("BEGINS_WITH", "p")}, nil, invalid("Query key condition not supported")},
		{"NE", "NE is for filters.", alternator + "test_key_conditions.py", tests{"pk": pk, "sk": is("NE", "a")}, nil,
			invalid("Attempted conditional constraint is not an indexable operation")},
		{"IN", "IN is for filters.", dynalite + "query.js", tests{"pk": is("IN", "p")}, nil,
			invalid("Attempted conditional constraint is not an indexable operation")},
		{"CONTAINS", "CONTAINS is for filters.", dynalite + "query.js", tests{"pk": pk, "sk": is("CONTAINS", "a")}, nil,
			invalid("Attempted conditional constraint is not an indexable operation")},
		{"NOT_CONTAINS", "NOT_CONTAINS is for filters.", dynalite + "query.js",
			tests{"pk": pk, "sk": is("NOT_CONTAINS", "a")}, nil,
			invalid("Attempted conditional constraint is not an indexable operation")},
		{"NULL", "NULL is for filters.", dynalite + "query.js", tests{"pk": is("NULL")}, nil,
			invalid("Attempted conditional constraint is not an indexable operation")},
		{"NOT_NULL", "NOT_NULL is for filters.", dynalite + "query.js", tests{"pk": pk, "sk": is("NOT_NULL")}, nil,
			invalid("Attempted conditional constraint is not an indexable operation")},
		{"another attribute", "A key condition is about the key.", alternator + "test_key_conditions.py",
			tests{"pk": pk, "v": is("EQ", 1)}, nil, invalid("Query condition missed key schema element: sk")},
		{"three conditions", "A key has two attributes at most.", dynalite + "query.js",
			tests{"pk": pk, "sk": is("EQ", "a"), "v": is("EQ", 1)}, nil,
			invalid("Conditions can be of length 1 or 2 only")},
		{"no conditions", "A query has a key condition.", dynalite + "query.js", tests{}, nil,
			invalid("Conditions can be of length 1 or 2 only")},
		{"nothing", "A query has a key condition, whatever else it has.", alternator + "test_query_filter.py", nil,
			[]option{queryFilter(tests{"v": is("EQ", 1)})},
			invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")},
		{"key of another type", "A key value has the key's type.", alternator + "test_key_conditions.py",
			tests{"pk": is("EQ", 3)}, nil, badParameter("Condition parameter type does not match schema type")},
		{"sort key of another type", "The value of a sort key has the sort key's type.",
			alternator + "test_key_conditions.py", tests{"pk": pk, "sk": is("GT", 3)}, nil,
			badParameter("Condition parameter type does not match schema type")},
		{"empty key value", "A key value is not empty.", docTypes, tests{"pk": is("EQ", "")}, nil, invalid(
			"One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain " +
				"an empty string value. Key: pk",
		)},
		{"two values", "EQ has one value.", alternator + "test_key_conditions.py", tests{"pk": is("EQ", "p", "p")}, nil,
			badParameter("Invalid number of argument(s) for the EQ ComparisonOperator")},
		{"no value", "EQ has one value.", alternator + "test_key_conditions.py", tests{"pk": listing("EQ")}, nil,
			badParameter("Invalid number of argument(s) for the EQ ComparisonOperator")},
		{"BEGINS_WITH a number", "BEGINS_WITH takes a string or a binary.", alternator + "test_key_conditions.py",
			tests{"pk": pk, "sk": is("BEGINS_WITH", 3)}, nil,
			badParameter("ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type")},
		{"bounds upside down", "BETWEEN's bounds come in order.", dynalite + "query.js",
			tests{"pk": pk, "sk": is("BETWEEN", "z", "a")}, nil,
			invalid(
				"The BETWEEN condition was provided a range where the lower bound is greater than the upper bound",
			)},
		{"bad number", "The values of a condition have types.", dynalite + "query.js", tests{"pk": is("EQ", num("b"))},
			nil, invalid("The parameter cannot be converted to a numeric value: b")},
		{"no such operator", "There are thirteen operators, in capitals.", dynalite + "query.js", tests{
			"pk": is("eq", "p"),
		}, nil, broken("Value 'eq' at 'keyConditions.pk.member.comparisonOperator' failed to satisfy " +
			"constraint: Member must satisfy enum value set: [IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, " +
			"NOT_NULL, NE, LE, BEGINS_WITH, GE, CONTAINS]")},
		{"filter on the partition key", "A filter is not about the key.", alternator + "test_query_filter.py",
			tests{"pk": pk}, []option{queryFilter(tests{"pk": pk})},
			invalid("QueryFilter can only contain non-primary key attributes: Primary key attribute: pk")},
		{"filter on the sort key", "A filter is not about the key, also if it is about another attribute as well.",
			alternator + "test_query_filter.py", tests{"pk": pk},
			[]option{queryFilter(tests{"sk": is("EQ", "a"), "v": is("EQ", 1)})},
			invalid("QueryFilter can only contain non-primary key attributes: Primary key attribute: sk")},
		{"filter without a value", "EQ has one value.", dynalite + "query.js", tests{"pk": pk},
			[]option{queryFilter(tests{"v": is("EQ")})},
			badParameter("Invalid number of argument(s) for the EQ ComparisonOperator")},
		{"filter of a list", "The orders take strings, numbers and binaries.", alternator + "test_query_filter.py",
			tests{"pk": pk}, []option{queryFilter(tests{"v": is("LT", list{})})},
			badParameter("ComparisonOperator LT is not valid for L AttributeValue type")},
		{"filter with no such operator", "There are thirteen operators.", alternator + "test_query_filter.py",
			tests{"pk": pk}, []option{queryFilter(tests{"v": is("DOG", 3)})},
			broken("Value 'DOG' at 'queryFilter.v.member.comparisonOperator' failed to satisfy constraint: Member " +
				"must satisfy enum value set: [IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, " +
				"BEGINS_WITH, GE, CONTAINS]")},
	} {
		cases = append(cases, newCase(q.name, q.rule, q.source, holding(rows...),
			expect(legacyQuery(q.keys, q.options...), q.want)))
	}
	return append(cases, legacyIndexCases()...)
}

func legacyIndexCases() []Case {
	const indexed = "pk S, sk S | gsi: g S, n N -> ALL | lsi: pk S, n N -> KEYS_ONLY | multi: g S HASH, h S " +
		"HASH, n N -> ALL"
	one := func(sk string, more ...any) request { return put(row("p", sk, more...), on("indexed")) }
	fill := []part{
		expect(one("a", "g", "x", "h", "y", "n", 3, "v", 1), ok),
		expect(one("b", "g", "x", "h", "z", "n", 1, "v", 2), ok),
		expect(one("c", "n", 2), ok),
	}
	index := func(name string, t tests, options ...option) request {
		return legacyQuery(t, append([]option{on("indexed"), set("IndexName", name), eventually()}, options...)...)
	}
	sk := attributesToGet("sk")
	build := func(name, rule, source string, steps ...part) Case {
		return newCase(name, rule, source, inTables(map[string]schema{"indexed": indexed})).and(fill...).and(steps...)
	}
	return []Case{
		build("global index", "KeyConditions on an index are about its key.", docLegacyKeys,
			expect(index("gsi", tests{"g": is("EQ", "x")}, sk), `2 of 2: {sk: "b"} {sk: "a"}`),
			expect(index("gsi", tests{"g": is("EQ", "x"), "n": is("GT", 1)}, sk), `1 of 1: {sk: "a"}`),
			expect(index("gsi", tests{"pk": is("EQ", "p")}), invalid("Query condition missed key schema element: g")),
			expect(index("gsi", tests{"g": is("LT", "x")}), invalid("Query key condition not supported")),
			expect(index("gsi", tests{"g": is("EQ", "x"), "n": is("NE", 1)}),
				invalid("Attempted conditional constraint is not an indexable operation")),
			expect(index("gsi", tests{"g": is("EQ", "x")}, queryFilter(tests{"n": is("EQ", 1)})),
				invalid("QueryFilter can only contain non-primary key attributes: Primary key attribute: n")),
			expect(index("gsi", tests{"g": is("EQ", "x")}, queryFilter(tests{"v": is("EQ", 1)}), sk),
				`1 of 2: {sk: "a"}`),
		),
		build("local index", "A local index gives attributes that it does not have, and does not filter by them.",
			docLocal, expect(index("lsi", tests{"pk": is("EQ", "p"), "n": is("LE", 2)}),
				`2 of 2: {n: 1, pk: "p", sk: "b"} {n: 2, pk: "p", sk: "c"}`),
			expect(index("lsi", tests{"pk": is("EQ", "p"), "n": is("EQ", 1)}, attributesToGet("v")), "1 of 1: {v: 2}"),
			expect(index("lsi", tests{"pk": is("EQ", "p")}, queryFilter(tests{"v": is("EQ", 1)})),
				badParameter("Secondary index lsi does not project one or more filter attributes: [v]")),
		),
		build("scan of an index", "A scan of an index takes ScanFilter, of its key too, and AttributesToGet.",
			api("Scan"), expect(scan(on("indexed"), set("IndexName", "gsi"), eventually(),
				scanFilter(tests{"n": is("GT", 1), "v": is("NE", 9)}), sk),
				`1 of 2: {sk: "a"}`),
		),
		build("key of several attributes", "KeyConditions on an index have as many attributes as its key.", LocalOnly,
			expect(index("multi", tests{"g": is("EQ", "x")}),
				invalid("HASH key attributes h must have equality conditions specified in the query")),
			expect(index("multi", tests{"g": is("EQ", "x"), "h": is("EQ", "y")}, sk), `1 of 1: {sk: "a"}`),
			expect(index("multi", tests{"g": is("EQ", "x"), "h": is("EQ", "y"), "n": is("LT", 9)}, sk),
				`1 of 1: {sk: "a"}`),
			expect(index("multi", tests{"g": is("EQ", "x"), "h": is("EQ", "y"), "n": is("IN", 3)}),
				invalid("Attempted conditional constraint is not an indexable operation")),
			expect(index("gsi", tests{"g": is("EQ", "x"), "h": is("EQ", "y"), "n": is("EQ", 3)}),
				invalid("Conditions can be of length 1 or 2 only")),
		),
	}
}

// legacyScanCases are about ScanFilter. The meaning of its operators is in legacy_condition.
func legacyScanCases() []Case {
	rows := []attrs{row("p", "a", "v", 1), row("p", "b", "v", 2, "w", "x"), row("q", "a", "s", strs{"x", "y"})}
	var cases []Case
	for _, c := range []struct {
		name, rule, source string
		filter             tests
		options            []option
		want               string
	}{
		{"filter", "ScanFilter is applied after reading: count and scanned count differ.", docLegacyScanFilter,
			tests{"v": is("GT", 1)}, nil, `1 of 3: {pk: "p", sk: "b", v: 2, w: "x"}`},
		{"filter on the key", "Unlike a QueryFilter, a ScanFilter may be about the key.", docLegacyScanFilter,
			tests{"pk": is("EQ", "q"), "sk": is("BEGINS_WITH", "a")}, nil, `1 of 3: {pk: "q", s: <"x", "y">, sk: "a"}`},
		{"AND", "Filters are joined by AND.", docLegacyOperator, tests{"v": is("NOT_NULL"), "w": is("NULL")}, nil,
			`1 of 3: {pk: "p", sk: "a", v: 1}`},
		{"OR", "Filters are joined by OR if asked.", docLegacyOperator,
			tests{"v": is("EQ", 1), "s": is("CONTAINS", "y")}, []option{joinedBy("OR"), selecting("COUNT")}, "2 of 3"},
		{"IN", "IN asks whether the attribute is one of the values.", docLegacyScanFilter,
			tests{"v": is("IN", 2, 3, 4)}, []option{attributesToGet("v")}, "1 of 3: {v: 2}"},
		{"empty filter", "An empty ScanFilter filters nothing.", docLegacyScanFilter, tests{},
			[]option{selecting("COUNT")}, "3 of 3"},
		{"capacity", "A scan takes units for the items that it read.", docCapacity, tests{"v": is("EQ", 99)},
			[]option{capacity("TOTAL")}, "0 of 3; 1 units"},

		{"no value", "EQ has one value.", dynalite + "scan.js", tests{"v": is("EQ")}, nil,
			badParameter("Invalid number of argument(s) for the EQ ComparisonOperator")},
		{"value for NULL", "NULL has no values.", dynalite + "scan.js", tests{"v": is("NULL", "a")}, nil,
			badParameter("Invalid number of argument(s) for the NULL ComparisonOperator")},
		{"BETWEEN one", "BETWEEN has two values.", dynalite + "scan.js", tests{"v": is("BETWEEN", "a")}, nil,
			badParameter("Invalid number of argument(s) for the BETWEEN ComparisonOperator")},
		{"IN of nothing", "IN has a value.", dynalite + "scan.js", tests{"v": is("IN")}, nil,
			badParameter("Invalid number of argument(s) for the IN ComparisonOperator")},
		{"two types", "Values of one list have one type.", dynalite + "scan.js", tests{"v": is("IN", 1, "a")}, nil,
			badParameter("AttributeValues inside AttributeValueList must be of same type")},
		{"BETWEEN upside down", "The bounds come in order.", dynalite + "scan.js", tests{"v": is("BETWEEN", 2, 1)}, nil,
			invalid(
				"The BETWEEN condition was provided a range where the lower bound is greater than the upper bound",
			)},
		{"LT of a set", "The orders take strings, numbers and binaries.", dynalite + "scan.js",
			tests{"v": is("LT", nums{"1"})}, nil,
			badParameter("ComparisonOperator LT is not valid for NS AttributeValue type")},
		{"CONTAINS a set", "CONTAINS takes a string, a number or a binary.", dynalite + "scan.js",
			tests{"v": is("CONTAINS", strs{"a"})}, nil,
			badParameter("ComparisonOperator CONTAINS is not valid for SS AttributeValue type")},
		{"BEGINS_WITH a number", "BEGINS_WITH takes a string or a binary.", dynalite + "scan.js",
			tests{"v": is("BEGINS_WITH", 1)}, nil,
			badParameter("ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type")},
		{"bad number", "The values of a condition have types.", dynalite + "scan.js", tests{"v": is("EQ", num("b"))},
			nil, invalid("The parameter cannot be converted to a numeric value: b")},
		{"no operator", "A condition has an operator.", dynalite + "scan.js", tests{"v": is("", 1)}, nil, broken(
			"Value null at 'scanFilter.v.member.comparisonOperator' failed to satisfy constraint: Member must " +
				"not be null",
		)},
		{"no such operator", "There are thirteen operators.", dynalite + "scan.js", tests{"v": is("LIKE", 1)}, nil,
			broken("Value 'LIKE' at 'scanFilter.v.member.comparisonOperator' failed to satisfy constraint: Member " +
				"must satisfy enum value set: [IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, " +
				"BEGINS_WITH, GE, CONTAINS]")},
	} {
		cases = append(cases, newCase(c.name, c.rule, c.source, holding(rows...),
			expect(scan(append([]option{scanFilter(c.filter)}, c.options...)...), c.want)))
	}
	return append(cases, newCase("limit", "Limit counts the items that are read, not those that pass the filter.",
		docScan, holding(rows[:2]...),
		expect(scan(scanFilter(tests{"v": is("EQ", 2)}), limit(1)), `0 of 1; last {pk: "p", sk: "a"}`)))
}

// legacyProjectionCases are about AttributesToGet.
func legacyProjectionCases() []Case {
	k := key("a", "b")
	rows := []attrs{row("a", "b", "x", 1, "y", attrs{"in": 2}, "y.in", 3, "status", 4), row("a", "c", "z", 5)}
	partition := tests{"pk": is("EQ", "a")}
	const (
		twice   = "Duplicate value in attribute name: x"
		nothing = "Value '[]' at 'attributesToGet' failed to satisfy constraint: Member must have length greater " +
			"than or equal to 1"
	)
	build := func(name, rule, source string, steps ...part) Case {
		return newCase(name, rule, source, holding(rows...)).and(steps...)
	}
	return []Case{
		build("get", "AttributesToGet cuts an item down to attributes, of the key only if asked for.",
			docLegacyAttributes, expect(get(k, attributesToGet("x")), "{x: 1}"),
			expect(get(k, attributesToGet("sk", "x")), `{sk: "b", x: 1}`),
			expect(get(k, attributesToGet("absent", "y")), "{y: {in: 2}}"),
		),
		build("top-level names", "A name is the name of a top-level attribute, whatever is in it.", docLegacyAttributes,
			expect(get(k, attributesToGet("y.in", "status")), "{status: 4, y.in: 3}"),
			expect(get(k, attributesToGet("y[0]", "#x")), "{}"),
		),
		build("none of them",
			"An item that has none of the attributes comes back empty; a missing item does not come back.",
			alternator+"test_item.py", expect(get(k, attributesToGet("absent")), "{}"),
			expect(get(key("a", "z"), attributesToGet("x")), "nothing"),
		),
		build("batch", "In a batch each table has AttributesToGet of its own.", api("BatchGetItem"),
			expect(batchGet(actions{get(k, attributesToGet("x")), get(key("a", "c"))}), "rows: {x: 1} {}"),
		),
		build("query", "A query takes AttributesToGet.", api("Query"),
			expect(legacyQuery(partition, attributesToGet("x", "sk")), `2 of 2: {sk: "b", x: 1} {sk: "c"}`),
			expect(legacyQuery(partition, attributesToGet("x"), selecting("SPECIFIC_ATTRIBUTES")), "2 of 2: {x: 1} {}"),
		),
		build("scan", "A scan takes AttributesToGet.", api("Scan"),
			expect(scan(attributesToGet("sk", "z")), `2 of 2: {sk: "b"} {sk: "c", z: 5}`),
		),
		build("twice", "An attribute is asked for once.", dynalite+"getItem.js",
			expect(get(k, attributesToGet("x", "y", "x")), badParameter(twice)),
			expect(batchGet(actions{get(k, attributesToGet("x", "x"))}), badParameter(twice)),
			expect(legacyQuery(partition, attributesToGet("x", "x")), badParameter(twice)),
			expect(scan(attributesToGet("x", "x")), badParameter(twice)),
		),
		build("empty list", "AttributesToGet has one attribute at least.", alternator+"test_item.py",
			expect(get(k, attributesToGet()), broken(nothing)),
			expect(legacyQuery(partition, attributesToGet()), broken(nothing)),
			expect(scan(attributesToGet()), broken(nothing)),
		),
		build("select", "Select goes with AttributesToGet as with a projection.", dynalite+"query.js",
			expect(legacyQuery(partition, attributesToGet("x"), selecting("COUNT")),
				invalid("Cannot specify the AttributesToGet when choosing to get only the Count")),
			expect(legacyQuery(partition, attributesToGet("x"), selecting("ALL_ATTRIBUTES")),
				invalid("Cannot specify the AttributesToGet when choosing to get ALL_ATTRIBUTES")),
			expect(scan(attributesToGet("x"), selecting("COUNT")),
				invalid("Cannot specify the AttributesToGet when choosing to get only the Count")),
			expect(scan(attributesToGet("x"), selecting("ALL_ATTRIBUTES")),
				invalid("Cannot specify the AttributesToGet when choosing to get ALL_ATTRIBUTES")),
		),
	}
}
