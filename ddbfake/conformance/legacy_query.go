package conformance

// legacyQueryCases are about KeyConditions and QueryFilter.
func legacyQueryCases() []Case {
	rows := []attrs{
		row("p", "a", "v", 1), row("p", "ab", "v", 2), row("p", "abc", "v", 3), row("p", "b", "v", 4), row("p", "é", "v", 5, "w", "x"),
		row("q", "a", "v", 6),
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
		{"partition", "EQ on the partition key returns the partition in order.", docLegacyKeys, tests{"pk": pk}, []option{sk}, `5 of 5: {sk: "a"} {sk: "ab"} {sk: "abc"} {sk: "b"} {sk: "é"}`},
		{"backwards", "ScanIndexForward false turns the order round.", docLegacyKeys, tests{"pk": pk}, []option{sk, backwards()}, `5 of 5: {sk: "é"} {sk: "b"} {sk: "abc"} {sk: "ab"} {sk: "a"}`},
		{"EQ", "EQ on the sort key.", docLegacyKeys, tests{"pk": pk, "sk": is("EQ", "ab")}, []option{sk}, `1 of 1: {sk: "ab"}`},
		{"LT", "LT on the sort key.", docLegacyKeys, tests{"pk": pk, "sk": is("LT", "abc")}, []option{sk}, `2 of 2: {sk: "a"} {sk: "ab"}`},
		{"LE", "LE on the sort key.", docLegacyKeys, tests{"pk": pk, "sk": is("LE", "ab")}, []option{sk}, `2 of 2: {sk: "a"} {sk: "ab"}`},
		{"GT", "GT on the sort key.", docLegacyKeys, tests{"pk": pk, "sk": is("GT", "abc")}, []option{sk}, `2 of 2: {sk: "b"} {sk: "é"}`},
		{"GE", "GE on the sort key.", docLegacyKeys, tests{"pk": pk, "sk": is("GE", "b")}, []option{sk}, `2 of 2: {sk: "b"} {sk: "é"}`},
		{"BETWEEN", "BETWEEN includes both bounds.", docLegacyKeys, tests{"pk": pk, "sk": is("BETWEEN", "ab", "b")}, []option{sk}, `3 of 3: {sk: "ab"} {sk: "abc"} {sk: "b"}`},
		{"BEGINS_WITH", "BEGINS_WITH on the sort key.", docLegacyKeys, tests{"pk": pk, "sk": is("BEGINS_WITH", "ab")}, []option{sk}, `2 of 2: {sk: "ab"} {sk: "abc"}`},
		{"no such partition", "A partition that is not there is an empty page.", docLegacyKeys, tests{"pk": is("EQ", "none")}, nil, "0 of 0"},
		{"page", "A page ends where Limit says.", api("Query"), tests{"pk": pk}, []option{sk, limit(2), startingAfter(key("p", "ab"))}, `2 of 2: {sk: "abc"} {sk: "b"}; last {pk: "p", sk: "b"}`},
		{"count", "COUNT returns no items.", api("Query"), tests{"pk": pk}, []option{selecting("COUNT")}, "5 of 5"},
		{"capacity", "A query takes units for what it read.", docCapacity, tests{"pk": pk}, []option{selecting("COUNT"), capacity("TOTAL")}, "5 of 5; 1 units"},

		{"filter", "QueryFilter is applied after reading: count and scanned count tell.", docLegacyQueryFilter, tests{"pk": pk}, []option{sk, queryFilter(tests{"v": is("GE", 3)})}, `3 of 5: {sk: "abc"} {sk: "b"} {sk: "é"}`},
		{"filter of two", "Filters are joined by AND.", docLegacyQueryFilter, tests{"pk": pk}, []option{sk, queryFilter(tests{"v": is("GE", 3), "w": is("NULL")})}, `2 of 5: {sk: "abc"} {sk: "b"}`},
		{"filter of two by OR", "Filters are joined by OR if asked.", docLegacyOperator, tests{"pk": pk}, []option{sk, joinedBy("OR"), queryFilter(tests{"v": is("EQ", 1), "w": is("NOT_NULL")})}, `2 of 5: {sk: "a"} {sk: "é"}`},
		{"empty filter", "An empty QueryFilter filters nothing.", alternator + "test_query_filter.py", tests{"pk": pk}, []option{selecting("COUNT"), queryFilter(tests{})}, "5 of 5"},
		{"filter on a missing attribute", "NE holds of a missing attribute, NOT_CONTAINS does not.", alternator + "test_query_filter.py", tests{"pk": pk}, []option{selecting("COUNT"), queryFilter(tests{"w": is("NE", "x")})}, "4 of 5"},
		{"filter expression", "KeyConditions may stand beside a FilterExpression.", extenddb213, tests{"pk": pk}, []option{filter("v >= :v"), with(attrs{":v": 4}), selecting("COUNT")}, "2 of 5"},
		{"projection expression", "KeyConditions may stand beside a ProjectionExpression.", extenddb213, tests{"pk": pk, "sk": is("EQ", "a")}, []option{only("v")}, "1 of 1: {v: 1}"},

		{"partition key alone", "A query is about one partition.", alternator + "test_key_conditions.py", tests{"sk": is("EQ", "a")}, nil, invalid("Query condition missed key schema element: pk")},
		{"LE on the partition key", "A partition key is given by EQ.", dynalite + "query.js", tests{"pk": is("LE", "p")}, nil, invalid("Query key condition not supported")},
		{"BETWEEN on the partition key", "A partition key is given by EQ.", dynalite + "query.js", tests{"pk": is("BETWEEN", "p", "q")}, nil, invalid("Query key condition not supported")},
		{"BEGINS_WITH on the partition key", "A partition key is given by EQ.", dynalite + "query.js", tests{"pk": is("BEGINS_WITH", "p")}, nil, invalid("Query key condition not supported")},
		{"NE", "NE is for filters.", alternator + "test_key_conditions.py", tests{"pk": pk, "sk": is("NE", "a")}, nil, invalid("Attempted conditional constraint is not an indexable operation")},
		{"IN", "IN is for filters.", dynalite + "query.js", tests{"pk": is("IN", "p")}, nil, invalid("Attempted conditional constraint is not an indexable operation")},
		{"CONTAINS", "CONTAINS is for filters.", dynalite + "query.js", tests{"pk": pk, "sk": is("CONTAINS", "a")}, nil, invalid("Attempted conditional constraint is not an indexable operation")},
		{"NOT_CONTAINS", "NOT_CONTAINS is for filters.", dynalite + "query.js", tests{"pk": pk, "sk": is("NOT_CONTAINS", "a")}, nil, invalid("Attempted conditional constraint is not an indexable operation")},
		{"NULL", "NULL is for filters.", dynalite + "query.js", tests{"pk": is("NULL")}, nil, invalid("Attempted conditional constraint is not an indexable operation")},
		{"NOT_NULL", "NOT_NULL is for filters.", dynalite + "query.js", tests{"pk": pk, "sk": is("NOT_NULL")}, nil, invalid("Attempted conditional constraint is not an indexable operation")},
		{"another attribute", "A key condition is about the key.", alternator + "test_key_conditions.py", tests{"pk": pk, "v": is("EQ", 1)}, nil, invalid("Query condition missed key schema element: sk")},
		{"three conditions", "A key has two attributes at most.", dynalite + "query.js", tests{"pk": pk, "sk": is("EQ", "a"), "v": is("EQ", 1)}, nil, invalid("Conditions can be of length 1 or 2 only")},
		{"no conditions", "A query has a key condition.", dynalite + "query.js", tests{}, nil, invalid("Conditions can be of length 1 or 2 only")},
		{"nothing", "A query has a key condition, whatever else it has.", alternator + "test_query_filter.py", nil, []option{queryFilter(tests{"v": is("EQ", 1)})}, invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")},
		{"key of another type", "A key value has the key's type.", alternator + "test_key_conditions.py", tests{"pk": is("EQ", 3)}, nil, badParameter("Condition parameter type does not match schema type")},
		{"sort key of another type", "So has the sort key's.", alternator + "test_key_conditions.py", tests{"pk": pk, "sk": is("GT", 3)}, nil, badParameter("Condition parameter type does not match schema type")},
		{"empty key value", "A key value is not empty.", docTypes, tests{"pk": is("EQ", "")}, nil, invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk")},
		{"two values", "EQ has one value.", alternator + "test_key_conditions.py", tests{"pk": is("EQ", "p", "p")}, nil, badParameter("Invalid number of argument(s) for the EQ ComparisonOperator")},
		{"no value", "EQ has one value.", alternator + "test_key_conditions.py", tests{"pk": listing("EQ")}, nil, badParameter("Invalid number of argument(s) for the EQ ComparisonOperator")},
		{"BEGINS_WITH a number", "BEGINS_WITH takes a string or a binary.", alternator + "test_key_conditions.py", tests{"pk": pk, "sk": is("BEGINS_WITH", 3)}, nil, badParameter("ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type")},
		{"bounds upside down", "BETWEEN's bounds come in order.", dynalite + "query.js", tests{"pk": pk, "sk": is("BETWEEN", "z", "a")}, nil, invalid("The BETWEEN condition was provided a range where the lower bound is greater than the upper bound")},
		{"bad number", "A value is a value.", dynalite + "query.js", tests{"pk": is("EQ", num("b"))}, nil, invalid("The parameter cannot be converted to a numeric value: b")},
		{"no such operator", "There are thirteen operators, in capitals.", dynalite + "query.js", tests{"pk": is("eq", "p")}, nil, broken("Value 'eq' at 'keyConditions.pk.member.comparisonOperator' failed to satisfy constraint: Member must satisfy enum value set: [IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, GE, CONTAINS]")},
		{"filter on the partition key", "A filter is not about the key.", alternator + "test_query_filter.py", tests{"pk": pk}, []option{queryFilter(tests{"pk": pk})}, invalid("QueryFilter can only contain non-primary key attributes: Primary key attribute: pk")},
		{"filter on the sort key", "A filter is not about the key, not even beside another.", alternator + "test_query_filter.py", tests{"pk": pk}, []option{queryFilter(tests{"sk": is("EQ", "a"), "v": is("EQ", 1)})}, invalid("QueryFilter can only contain non-primary key attributes: Primary key attribute: sk")},
		{"filter without a value", "EQ has one value.", dynalite + "query.js", tests{"pk": pk}, []option{queryFilter(tests{"v": is("EQ")})}, badParameter("Invalid number of argument(s) for the EQ ComparisonOperator")},
		{"filter of a list", "The orders take strings, numbers and binaries.", alternator + "test_query_filter.py", tests{"pk": pk}, []option{queryFilter(tests{"v": is("LT", list{})})}, badParameter("ComparisonOperator LT is not valid for L AttributeValue type")},
		{"filter with no such operator", "There are thirteen operators.", alternator + "test_query_filter.py", tests{"pk": pk}, []option{queryFilter(tests{"v": is("DOG", 3)})}, broken("Value 'DOG' at 'queryFilter.v.member.comparisonOperator' failed to satisfy constraint: Member must satisfy enum value set: [IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, GE, CONTAINS]")},
	} {
		cases = append(cases, Case{
			Name: q.name, Rule: q.rule, Source: q.source, rows: rows,
			steps: []step{expect(legacyQuery(q.keys, q.options...), q.want)},
		})
	}
	return append(cases, legacyIndexCases()...)
}

func legacyIndexCases() []Case {
	const indexed = "pk S, sk S | gsi: g S, n N -> ALL | lsi: pk S, n N -> KEYS_ONLY | multi: g S HASH, h S HASH, n N -> ALL"
	one := func(sk string, more ...any) request { return put(row("p", sk, more...), on("indexed")) }
	fill := []step{
		expect(one("a", "g", "x", "h", "y", "n", 3, "v", 1), ok),
		expect(one("b", "g", "x", "h", "z", "n", 1, "v", 2), ok),
		expect(one("c", "n", 2), ok),
	}
	index := func(name string, t tests, options ...option) request {
		return legacyQuery(t, append([]option{on("indexed"), set("IndexName", name), eventually()}, options...)...)
	}
	sk := attributesToGet("sk")
	build := func(name, rule, source string, steps ...step) Case {
		return Case{
			Name: name, Rule: rule, Source: source, tables: map[string]schema{"indexed": indexed},
			steps: append(fill[:len(fill):len(fill)], steps...),
		}
	}
	return []Case{
		build("global index", "KeyConditions on an index are about its key.", docLegacyKeys,
			expect(index("gsi", tests{"g": is("EQ", "x")}, sk), `2 of 2: {sk: "b"} {sk: "a"}`),
			expect(index("gsi", tests{"g": is("EQ", "x"), "n": is("GT", 1)}, sk), `1 of 1: {sk: "a"}`),
			expect(index("gsi", tests{"pk": is("EQ", "p")}), invalid("Query condition missed key schema element: g")),
			expect(index("gsi", tests{"g": is("LT", "x")}), invalid("Query key condition not supported")),
			expect(index("gsi", tests{"g": is("EQ", "x"), "n": is("NE", 1)}), invalid("Attempted conditional constraint is not an indexable operation")),
			expect(index("gsi", tests{"g": is("EQ", "x")}, queryFilter(tests{"n": is("EQ", 1)})), invalid("QueryFilter can only contain non-primary key attributes: Primary key attribute: n")),
			expect(index("gsi", tests{"g": is("EQ", "x")}, queryFilter(tests{"v": is("EQ", 1)}), sk), `1 of 2: {sk: "a"}`),
		),
		build("local index", "A local index gives attributes that it does not have, and does not filter by them.", docLocal,
			expect(index("lsi", tests{"pk": is("EQ", "p"), "n": is("LE", 2)}), `2 of 2: {n: 1, pk: "p", sk: "b"} {n: 2, pk: "p", sk: "c"}`),
			expect(index("lsi", tests{"pk": is("EQ", "p"), "n": is("EQ", 1)}, attributesToGet("v")), "1 of 1: {v: 2}"),
			expect(index("lsi", tests{"pk": is("EQ", "p")}, queryFilter(tests{"v": is("EQ", 1)})), badParameter("Secondary index lsi does not project one or more filter attributes: [v]")),
		),
		build("scan of an index", "A scan of an index takes ScanFilter, of its key too, and AttributesToGet.", api("Scan"),
			expect(scan(on("indexed"), set("IndexName", "gsi"), eventually(), scanFilter(tests{"n": is("GT", 1), "v": is("NE", 9)}), sk), `1 of 2: {sk: "a"}`),
		),
		build("key of several attributes", "KeyConditions on an index have as many attributes as its key.", LocalOnly,
			expect(index("multi", tests{"g": is("EQ", "x")}), invalid("HASH key attributes h must have equality conditions specified in the query")),
			expect(index("multi", tests{"g": is("EQ", "x"), "h": is("EQ", "y")}, sk), `1 of 1: {sk: "a"}`),
			expect(index("multi", tests{"g": is("EQ", "x"), "h": is("EQ", "y"), "n": is("LT", 9)}, sk), `1 of 1: {sk: "a"}`),
			expect(index("multi", tests{"g": is("EQ", "x"), "h": is("EQ", "y"), "n": is("IN", 3)}), invalid("Attempted conditional constraint is not an indexable operation")),
			expect(index("gsi", tests{"g": is("EQ", "x"), "h": is("EQ", "y"), "n": is("EQ", 3)}), invalid("Conditions can be of length 1 or 2 only")),
		),
	}
}
