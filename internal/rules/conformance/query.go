package conformance

import (
	"fmt"
)

func queryCases() []Case {
	rows := []attrs{
		row("p", "a", "v", 1), row("p", "ab", "v", 2), row("p", "abc", "v", 3), row("p", "b", "v", 4),
		row("p", "é", "v", 5), row("q", "a", "v", 6),
	}
	args := func(v attrs) option {
		v[":p"] = "p"
		return with(v)
	}
	type selection struct {
		name, rule, source, keys string
		options                  []option
		want                     string
	}
	var cases []Case
	sk := only("sk")
	for _, q := range []selection{
		{"partition", "A query returns one partition in the order of its sort key.", api("Query"), "pk = :p",
			[]option{args(attrs{}), sk}, `5 of 5: {sk: "a"} {sk: "ab"} {sk: "abc"} {sk: "b"} {sk: "é"}`},
		{"backwards", "ScanIndexForward false turns the order round.", api("Query"), "pk = :p",
			[]option{args(attrs{}), sk, backwards()}, `5 of 5: {sk: "é"} {sk: "b"} {sk: "abc"} {sk: "ab"} {sk: "a"}`},
		{"no such partition", "A partition that is not there is an empty page.", api("Query"), "pk = :p",
			[]option{with(attrs{":p": "none"})}, "0 of 0"},
		{"equal", "= on the sort key.", docKeyConditions, "pk = :p AND sk = :s",
			[]option{args(attrs{":s": "ab"}), sk}, `1 of 1: {sk: "ab"}`},
		{"less", "< on the sort key.", docKeyConditions, "pk = :p AND sk < :s", []option{args(attrs{":s": "abc"}), sk},
			`2 of 2: {sk: "a"} {sk: "ab"}`},
		{"less or equal", "<= on the sort key.", docKeyConditions, "pk = :p AND sk <= :s",
			[]option{args(attrs{":s": "ab"}), sk}, `2 of 2: {sk: "a"} {sk: "ab"}`},
		{"greater", "> on the sort key.", docKeyConditions, "pk = :p AND sk > :s",
			[]option{args(attrs{":s": "abc"}), sk}, `2 of 2: {sk: "b"} {sk: "é"}`},
		{"greater or equal", ">= on the sort key.", docKeyConditions, "pk = :p AND sk >= :s",
			[]option{args(attrs{":s": "b"}), sk}, `2 of 2: {sk: "b"} {sk: "é"}`},
		{"between", "BETWEEN includes both bounds.", docKeyConditions, "pk = :p AND sk BETWEEN :s AND :t",
			[]option{args(attrs{":s": "ab", ":t": "b"}), sk}, `3 of 3: {sk: "ab"} {sk: "abc"} {sk: "b"}`},
		{"begins_with", "begins_with on the sort key.", docKeyConditions, "pk = :p AND begins_with(sk, :s)",
			[]option{args(attrs{":s": "ab"}), sk}, `2 of 2: {sk: "ab"} {sk: "abc"}`},
		{"begins_with backwards", "A range is read backwards from its end.", docKeyConditions,
			"pk = :p AND begins_with(sk, :s)", []option{args(attrs{":s": "a"}), sk, backwards(), limit(2)},
			`2 of 2: {sk: "abc"} {sk: "ab"}; last {pk: "p", sk: "ab"}`},
		{"either order", "The two conditions come in either order.", docKeyConditions, "sk = :s AND pk = :p",
			[]option{args(attrs{":s": "ab"}), sk}, `1 of 1: {sk: "ab"}`},
		{"parentheses", "A key condition may have parentheses.", docKeyConditions, "(pk = :p) AND (sk = :s)",
			[]option{args(attrs{":s": "ab"}), sk}, `1 of 1: {sk: "ab"}`},
		{"value first", "The value may come first.", alternator + "test_key_condition_expression.py",
			":p = pk AND :s > sk", []option{args(attrs{":s": "ab"}), sk}, `1 of 1: {sk: "a"}`},
		{"names", "Names may be placeholders.", docNames, "#p = :p",
			[]option{args(attrs{}), named("#p", "pk"), selecting("COUNT")}, "5 of 5"},
		{"filter", "A filter is applied after reading: count and scanned count differ.", docFilters, "pk = :p",
			[]option{args(attrs{":v": 3}), filter("v >= :v"), sk}, `3 of 5: {sk: "abc"} {sk: "b"} {sk: "é"}`},
		{"filter on a missing attribute", "A filter judges a missing attribute as a condition does.", docFilters,
			"pk = :p", []option{args(attrs{":v": 3}), filter("absent < :v"), sk}, "0 of 5"},
		{"count", "COUNT returns no items.", api("Query"), "pk = :p",
			[]option{args(attrs{}), selecting("COUNT")}, "5 of 5"},
		{"count with a filter", "COUNT counts the items that pass the filter.", api("Query"), "pk = :p",
			[]option{args(attrs{":v": 3}), filter("v = :v"), selecting("COUNT")}, "1 of 5"},
		{"specific attributes", "SPECIFIC_ATTRIBUTES goes with a projection.", api("Query"), "pk = :p AND sk = :s",
			[]option{args(attrs{":s": "a"}), selecting("SPECIFIC_ATTRIBUTES"), only("v")}, "1 of 1: {v: 1}"},
		{"capacity", "A query takes units for the items that it read, half if eventually consistent.", docCapacity,
			"pk = :p",
			[]option{args(attrs{}), selecting("COUNT"), capacity("TOTAL"), eventually()}, "5 of 5; 0.5 units"},

		{"no partition key", "A query is about one partition.", dynalite + "query.js", "sk = :s",
			[]option{with(attrs{":s": "a"})}, invalid("Query condition missed key schema element: pk")},
		{"inequality on the partition key", "A partition key is given by equality.", dynalite + "query.js", "pk > :p",
			[]option{args(attrs{})}, invalid("Query key condition not supported")},
		{"inequality of the sort key", "<> is no key condition.", dynalite + "query.js", "pk = :p AND sk <> :s",
			[]option{args(attrs{":s": "a"})}, invalid("Invalid operator used in KeyConditionExpression: <>")},
		{"OR", "OR is no key condition.", dynalite + "query.js", "pk = :p OR sk = :s", []option{args(attrs{":s": "a"})},
			invalid("Invalid operator used in KeyConditionExpression: OR")},
		{"NOT", "NOT is no key condition.", dynalite + "query.js", "NOT pk = :p", []option{args(attrs{})},
			invalid("Invalid operator used in KeyConditionExpression: NOT")},
		{"IN", "IN is no key condition.", dynalite + "query.js", "pk IN (:p)", []option{args(attrs{})},
			invalid("Invalid operator used in KeyConditionExpression: IN")},
		{"contains", "contains is no key condition.", dynalite + "query.js", "pk = :p AND contains(sk, :s)",
			[]option{args(attrs{":s": "a"})}, invalid("Invalid operator used in KeyConditionExpression: contains")},
		{"two conditions on a key", "A key has one condition.",
			parity + "tier3/error-messages/queryKeyConditionOperands.test.ts", "pk = :p AND sk > :s AND sk < :t",
			[]option{args(attrs{":s": "a", ":t": "b"})},
			invalid("Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key")},
		{"no key attribute", "A key condition is about the key.", dynalite + "query.js", "pk = :p AND v = :v",
			[]option{args(attrs{":v": 1})}, invalid("Query condition missed key schema element: sk")},
		{"three conditions", "A key has two attributes at most.", dynalite + "query.js",
			"pk = :p AND sk = :s AND v = :v", []option{args(attrs{":s": "a", ":v": 1})},
			invalid("Conditions can be of length 1 or 2 only")},
		{"nested key", "A key is no nested attribute.", dynalite + "query.js", "pk.x = :p", []option{args(attrs{})},
			invalid("KeyConditionExpressions cannot have conditions on nested attributes")},
		{"key of another type", "A key value has the key's type.", dynalite + "query.js", "pk = :p",
			[]option{with(attrs{":p": 1})}, badParameter("Condition parameter type does not match schema type")},
		{"sort key of another type", "The value of a sort key has the sort key's type.", dynalite + "query.js",
			"pk = :p AND sk > :s", []option{args(attrs{":s": 1})},
			badParameter("Condition parameter type does not match schema type")},
		{"empty key value", "A key value is not empty.", docTypes, "pk = :p", []option{with(attrs{":p": ""})}, invalid(
			"One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain " +
				"an empty string value. Key: pk",
		)},
		{"undefined value", "A value is defined.", docValues, "pk = :p AND sk = :s", []option{args(attrs{})}, invalid(
			"Invalid KeyConditionExpression: An expression attribute value used in expression is not defined; " +
				"attribute value: :s",
		)},
		{"unused value", "A value is used.", docValues, "pk = :p", []option{args(attrs{":x": 1})},
			invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {:x}")},
		{"bounds upside down", "BETWEEN's bounds " +
			"come in order.", dynalite + "query.js", "pk = :p AND sk BETWEEN :s AND :t",
			[]option{args(attrs{":s": "z", ":t": "a"})},
			invalid("Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than " +
				"or equal to lower bound; lower bound operand: AttributeValue: {S:z}, upper bound operand: " +
				"AttributeValue: {S:a}")},
		{"filter on a key", "A filter is not about the key.", docFilters, "pk = :p",
			[]option{args(attrs{":s": "a"}), filter("sk = :s")},
			invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: sk")},
		{"reserved word", "A reserved word is no name.", docReserved, "status = :p", []option{args(attrs{})},
			invalid("Invalid KeyConditionExpression: Attribute name is a reserved keyword; reserved keyword: status")},
		{"no condition", "A query has a key condition.", dynalite + "query.js", "",
			[]option{set("KeyConditionExpression", nil)},
			invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")},
		{"empty condition", "A key condition is not empty.", dynalite + "query.js", "", []option{},
			invalid("Invalid KeyConditionExpression: The expression can not be empty;")},
		{"projection with COUNT", "COUNT has no projection.", dynalite + "query.js", "pk = :p",
			[]option{args(attrs{}), sk, selecting("COUNT")},
			invalid("Cannot specify the ProjectionExpression when choosing to get only the Count")},
		{"projection with all attributes", "ALL_ATTRIBUTES has no projection.", dynalite + "query.js", "pk = :p",
			[]option{args(attrs{}), sk, selecting("ALL_ATTRIBUTES")},
			invalid("Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES")},
		{"projected attributes", "ALL_PROJECTED_ATTRIBUTES is for indexes.", dynalite + "query.js", "pk = :p",
			[]option{args(attrs{}), selecting("ALL_PROJECTED_ATTRIBUTES")},
			invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")},
		{"no such selection", "Select has four values.", dynalite + "query.js", "pk = :p",
			[]option{args(attrs{}), selecting("SOME")},
			broken("Value 'SOME' at 'select' failed to satisfy constraint: Member must satisfy enum value set: " +
				"[SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]")},
		{"limit zero", "A limit is positive.",
			"https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/tier3/error-messages/query.test.ts",
			"pk = :p", []option{args(attrs{}), limit(0)},
			broken("Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1")},
	} {
		cases = append(cases, newCase(q.name, q.rule, q.source, holding(rows...),
			expect(query(q.keys, q.options...), q.want)))
	}
	p := args(attrs{})
	return append(cases, newCase("among similar keys",
		"A partition is found among its neighbours, whichever way it is read.", api("Query"),
		inTable("pk S"), holding(attrs{"pk": "o"}, attrs{"pk": "p"}, attrs{"pk": "p\x00"}, attrs{"pk": "pp"}),
		expect(query("pk = :p", p), `1 of 1: {pk: "p"}`),
		expect(query("pk = :p", p, backwards()), `1 of 1: {pk: "p"}`)))
}

func scanCases() []Case {
	rows := []attrs{
		row("p", "a", "v", 1), row("p", "b", "v", 2), row("p", "c", "w", 3),
		row("q", "a", "v", 4), row("r", "z", "v", 5),
	}
	one := []attrs{row("p", "a", "v", 1), row("p", "b", "v", 2), row("p", "c", "v", 3)}
	var large []attrs
	for i := range 20 {
		large = append(large, row("p", fmt.Sprintf("%02d", i), "v", text(60_000)))
	}
	const (
		start    = "The provided starting key is invalid: "
		mismatch = start + "The provided key element does not match the schema"
	)
	type selection struct {
		name, rule, source string
		options            []option
		want               string
	}
	cases := []Case{
		newCase("nothing", "A table without items is an empty page.", api("Scan"),
			expect(scan(), "0 of 0"), expect(scan(selecting("COUNT")), "0 of 0")),
		newCase("pages", "Limit ends a page, and LastEvaluatedKey is the last key read.", docScan, holding(one...),
			expect(scan(limit(2), only("sk")), `2 of 2: {sk: "a"} {sk: "b"}; last {pk: "p", sk: "b"}`),
			expect(scan(limit(2), only("sk"), startingAfter(key("p", "b"))), `1 of 1: {sk: "c"}`)),
		newCase("last key with nothing after it", "LastEvaluatedKey may be present with nothing after it.", docScan,
			holding(one...),
			expect(scan(limit(3), only("sk")), `3 of 3: {sk: "a"} {sk: "b"} {sk: "c"}; last {pk: "p", sk: "c"}`),
			expect(scan(limit(3), startingAfter(key("p", "c"))), "0 of 0")),
		newCase("starting key that is gone", "A page starts after a key whether or not there is an item.", docScan,
			holding(one...), expect(scan(startingAfter(key("p", "aa")), only("sk")), `2 of 2: {sk: "b"} {sk: "c"}`)),
		newCase("limit counts before the filter",
			"Limit counts the items that are read, not those that pass the filter.", docScan, holding(one...),
			expect(scan(filter("v = :v"), with(attrs{":v": 3}), limit(2)), `0 of 2; last {pk: "p", sk: "b"}`)),
		newCase("1 MB", "A page ends at 1 MB, counted before the filter.", docScan, holding(large...),
			expect(scan(filter("attribute_not_exists(v)")), `0 of 18; last {pk: "p", sk: "17"}`),
			expect(scan(filter("attribute_not_exists(v)"), startingAfter(key("p", "17"))), "0 of 2"),
			expect(scan(selecting("COUNT")), `18 of 18; last {pk: "p", sk: "17"}`)),
		newCase("segments of a partition",
			"All items of a partition are in one segment, and one segment is the whole.", docScan, holding(one...),
			expect(scan(segment(0, 1), selecting("COUNT")), "3 of 3")),
		newCase("other tables", "A scan reads the table that it names.", api("Scan"),
			inTables(map[string]schema{usualTable: usualSchema, "other": "id N"}), holding(one...),
			expect(put(attrs{"id": 1}, on("other")), ok),
			expect(scan(on("other")), "1 of 1: {id: 1}"),
			expect(scan(on("other"), limit(1)), "1 of 1: {id: 1}; last {id: 1}"),
			expect(scan(on("other"), startingAfter(attrs{"id": 1})), "0 of 0")),
		newCase("binary keys", "Partitions are of any key type.", api("Scan"), inTable("pk B"),
			holding(attrs{"pk": []byte{0}}, attrs{"pk": []byte{255, 0}}),
			expect(scan(), `2 of 2: {pk: 0x00} {pk: 0xff00}`)),
	}
	for _, s := range []selection{
		{"everything", "A scan returns every item, those of a partition in the order of their sort key.", api("Scan"),
			[]option{only("pk, sk")},
			`5 of 5: {pk: "p", sk: "a"} {pk: "p", sk: "b"} {pk: "p", sk: "c"} {pk: "q", sk: "a"} {pk: "r", sk: "z"}`},
		{"filter", "A filter is applied after reading: count and scanned count differ.", docFilters,
			[]option{filter("v >= :v"), with(attrs{":v": 2}), only("pk, v")},
			`3 of 5: {pk: "p", v: 2} {pk: "q", v: 4} {pk: "r", v: 5}`},
		{"filter on the key", "Unlike that of a query, a scan's filter may be about the key.",
			alternator + "test_scan.py",
			[]option{filter("pk = :p AND sk > :s"), with(attrs{":p": "p", ":s": "a"}), only("sk")},
			`2 of 5: {sk: "b"} {sk: "c"}`},
		{"filter with names", "Names may be placeholders.", docNames,
			[]option{filter("#v = :v"), named("#v", "v"), with(attrs{":v": 4}), only("pk")}, `1 of 5: {pk: "q"}`},
		{"projection of nothing", "An item without the projected attributes is an empty item.",
			alternator + "test_scan.py", []option{only("w"), filter("pk = :p"), with(attrs{":p": "q"})}, "1 of 5: {}"},
		{"count", "COUNT returns no items.", api("Scan"), []option{selecting("COUNT")}, "5 of 5"},
		{"count with a filter", "COUNT counts the items that pass the filter.", nubo + "tier1/scan/select.test.ts",
			[]option{selecting("COUNT"), filter("attribute_exists(w)")}, "1 of 5"},
		{"all attributes", "ALL_ATTRIBUTES is the default of a scan.", api("Scan"),
			[]option{selecting("ALL_ATTRIBUTES"), filter("attribute_exists(w)")}, `1 of 5: {pk: "p", sk: "c", w: 3}`},
		{"specific attributes", "SPECIFIC_ATTRIBUTES goes with a projection.", api("Scan"),
			[]option{selecting("SPECIFIC_ATTRIBUTES"), only("w"), filter("attribute_exists(w)")}, "1 of 5: {w: 3}"},
		{"capacity", "A scan takes units for the items that it read.", docCapacity,
			[]option{selecting("COUNT"), capacity("TOTAL")}, "5 of 5; 1 units"},
		{"capacity of an eventually consistent scan", "An eventually consistent scan takes half the units.",
			docCapacity, []option{selecting("COUNT"), capacity("TOTAL"), eventually()}, "5 of 5; 0.5 units"},
		{"capacity by index", "INDEXES tells the table's part.", api("Scan"),
			[]option{selecting("COUNT"), capacity("INDEXES")}, "5 of 5; 1 units, 1 of the table"},

		{"no table", "A table exists.", nubo + "tier3/error-messages/scan.test.ts", []option{on("missing")},
			"ResourceNotFoundException: Requested resource not found"},
		{"no name", "A table name is required.", dynalite + "scan.js", []option{noName()},
			broken("Value null at 'tableName' failed to satisfy constraint: Member must not be null")},
		{"limit zero", "A limit is positive.", nubo + "tier3/error-messages/scan.test.ts", []option{limit(0)}, broken(
			"Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
		)},
		{"no such selection", "Select has four values.", dynalite + "scan.js", []option{selecting("SOME")}, broken(
			"Value 'SOME' at 'select' failed to satisfy constraint: Member must satisfy enum value set: " +
				"[SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]",
		)},
		{"no such detail", "ReturnConsumedCapacity has three values.", dynalite + "scan.js",
			[]option{capacity("BOGUS")},
			broken("Value 'BOGUS' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy " +
				"enum value set: [INDEXES, TOTAL, NONE]")},
		{"projected attributes", "ALL_PROJECTED_ATTRIBUTES is for indexes.", nubo + "tier1/scan/select.test.ts",
			[]option{selecting("ALL_PROJECTED_ATTRIBUTES")},
			invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")},
		{"projection with all attributes", "ALL_ATTRIBUTES has no projection.", nubo + "tier1/scan/select.test.ts",
			[]option{selecting("ALL_ATTRIBUTES"), only("pk")},
			invalid("Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES")},
		{"projection with COUNT", "COUNT has no projection.", alternator + "test_scan.py",
			[]option{selecting("COUNT"), only("pk")},
			invalid("Cannot specify the ProjectionExpression when choosing to get only the Count")},
		{"specific attributes of none", "SPECIFIC_ATTRIBUTES needs a projection.", alternator + "test_scan.py",
			[]option{selecting("SPECIFIC_ATTRIBUTES")},
			invalid(
				"Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES",
			)},

		{"segment alone", "Segment goes with TotalSegments.", nubo + "tier3/error-messages/scan.test.ts",
			[]option{set("Segment", 0)},
			invalid("The TotalSegments parameter is required but was not present in the request when Segment " +
				"parameter is present")},
		{"total segments alone", "TotalSegments goes with Segment.", nubo + "tier3/error-messages/scan.test.ts",
			[]option{set("TotalSegments", 4)},
			invalid("The Segment parameter is required but was not present in the request when parameter " +
				"TotalSegments is present")},
		{"segment too large", "Segments are counted from zero.", nubo + "tier3/error-messages/scan.test.ts",
			[]option{segment(5, 5)},
			invalid("The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 5 " +
				"is not less than TotalSegments: 5")},
		{"negative segment", "A segment is not negative.", nubo + "tier3/validation-ordering/scan.test.ts",
			[]option{segment(-1, 4)},
			broken("Value '-1' at 'segment' failed to satisfy constraint: Member must have value greater than " +
				"or equal to 0")},
		{"no segments", "There is one segment at least.", dynalite + "scan.js", []option{segment(0, 0)}, broken(
			"Value '0' at 'totalSegments' failed to satisfy constraint: Member must have value greater than " +
				"or equal to 1",
		)},
		{"too many segments", "There are a million segments at most.", api("Scan"), []option{segment(0, 1_000_001)},
			broken("Value '1000001' at 'totalSegments' failed to satisfy constraint: Member must have value less " +
				"than or equal to 1000000")},

		{"starting key without its sort key", "A starting key is a key of the table.", dynalite + "scan.js",
			[]option{startingAfter(attrs{"pk": "p"})}, invalid(mismatch)},
		{"starting key of another type", "A starting key has the key's types.", dynalite + "scan.js",
			[]option{startingAfter(attrs{"pk": "p", "sk": 1})}, invalid(mismatch)},
		{"starting key of other names", "A starting key has the key's names.", dynalite + "scan.js",
			[]option{startingAfter(attrs{"pk": "p", "x": "a"})}, invalid(mismatch)},
		{"starting key with a bad number", "A starting key has values.", dynalite + "scan.js",
			[]option{startingAfter(attrs{"pk": "p", "sk": num("x")})},
			invalid(start + "The parameter cannot be converted to a numeric value: x")},
		{"starting key in a missing table", "The table is looked for before the starting key's names.",
			dynalite + "scan.js", []option{on("missing"), startingAfter(attrs{"x": "a"})},
			"ResourceNotFoundException: Requested resource not found"},
		{"starting key before segments", "A starting key's values are checked before segments.", dynalite + "scan.js",
			[]option{set("Segment", 0), startingAfter(attrs{"pk": "p", "sk": num("x")})},
			invalid(start + "The parameter cannot be converted to a numeric value: x")},
		{"segments before expressions", "Segments are checked before expressions.", dynalite + "scan.js",
			[]option{set("Segment", 0), filter("")},
			invalid("The TotalSegments parameter is required but was not present in the request when Segment " +
				"parameter is present")},

		{"empty filter", "A filter is not empty.", dynalite + "scan.js", []option{filter("")},
			invalid("Invalid FilterExpression: The expression can not be empty;")},
		{"empty projection", "A projection is not empty.", dynalite + "scan.js", []option{filter("a > b"), only("")},
			invalid("Invalid ProjectionExpression: The expression can not be empty;")},
		{"filter before projection", "If a filter and a projection are bad, the filter is reported.",
			dynalite + "scan.js", []option{filter(""), only("")},
			invalid("Invalid FilterExpression: The expression can not be empty;")},
		{"values without a filter", "Values are for the filter.", dynalite + "scan.js", []option{with(attrs{":v": 1})},
			invalid(
				"ExpressionAttributeValues can only be specified when using expressions: FilterExpression is null",
			)},
		{"names without an expression", "Names are for expressions.", dynalite + "scan.js", []option{named("#v", "v")},
			invalid("ExpressionAttributeNames can only be specified when using expressions")},
		{"unused value", "A value is used.", docValues, []option{filter("attribute_exists(v)"), with(attrs{":x": 1})},
			invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {:x}")},
		{"undefined value", "A value is defined.", docValues, []option{filter("v = :v")}, invalid(
			"Invalid FilterExpression: An expression attribute value used in expression is not defined; " +
				"attribute value: :v",
		)},
		{"expression before the table", "An expression is checked before the table is looked for.",
			dynalite + "scan.js", []option{on("missing"), filter("v = :v")},
			invalid("Invalid FilterExpression: An expression attribute value used in expression is not defined; " +
				"attribute value: :v")},
	} {
		cases = append(cases, newCase(s.name, s.rule, s.source, holding(rows...), expect(scan(s.options...), s.want)))
	}
	return cases
}

func pageCases() []Case {
	rows := []attrs{row("p", "a", "v", 1), row("p", "b", "v", 2), row("p", "c", "v", 3), row("q", "a", "v", 4)}
	page := func(options ...option) request {
		return query("pk = :p", append([]option{with(attrs{":p": "p"}), only("sk")}, options...)...)
	}
	var large []attrs
	for i := range 20 {
		large = append(large, row("p", fmt.Sprintf("%02d", i), "v", text(60_000)))
	}
	const bad = "The provided starting key is invalid"
	return []Case{
		newCase("limit", "Limit ends a page, and LastEvaluatedKey is the last key read.", docPages, holding(rows...),
			expect(page(limit(2)), `2 of 2: {sk: "a"} {sk: "b"}; last {pk: "p", sk: "b"}`),
			expect(page(limit(2), startingAfter(key("p", "b"))), `1 of 1: {sk: "c"}`)),
		newCase("last key with nothing after it",
			"LastEvaluatedKey may be present with nothing after it: only its absence means the end.", docPages,
			holding(rows...),
			expect(page(limit(3)), `3 of 3: {sk: "a"} {sk: "b"} {sk: "c"}; last {pk: "p", sk: "c"}`),
			expect(page(limit(3), startingAfter(key("p", "c"))), "0 of 0")),
		newCase("limit counts before the filter",
			"Limit counts the items that are read, not those that pass the filter.", docPages, holding(rows...),
			expect(query("pk = :p", with(attrs{":p": "p", ":v": 3}), filter("v = :v"), only("sk"), limit(2)),
				`0 of 2; last {pk: "p", sk: "b"}`)),
		newCase("backwards", "A page backwards goes on backwards.", docPages, holding(rows...),
			expect(page(limit(1), backwards()), `1 of 1: {sk: "c"}; last {pk: "p", sk: "c"}`),
			expect(page(backwards(), startingAfter(key("p", "c"))), `2 of 2: {sk: "b"} {sk: "a"}`)),
		newCase("starting key that is gone", "A page starts after a key whether or not there is an item.", docPages,
			holding(rows...), expect(page(startingAfter(key("p", "aa"))), `2 of 2: {sk: "b"} {sk: "c"}`)),
		newCase("1 MB", "A page ends at 1 MB, counted before the filter.", docPages, holding(large...),
			expect(query("pk = :p", with(attrs{":p": "p"}), filter("attribute_not_exists(v)")),
				`0 of 18; last {pk: "p", sk: "17"}`),
			expect(query("pk = :p", with(attrs{":p": "p"}), filter("attribute_not_exists(v)"),
				startingAfter(key("p", "17"))),
				"0 of 2")),
		newCase("starting key of another partition", "A starting key lies in the partition of the query.",
			dynalite+"query.js", holding(rows...),
			expect(page(startingAfter(key("q", "a"))),
				invalid("The provided starting key is outside query boundaries based on provided conditions"))),
		newCase("starting key outside the range",
			"A starting key lies within the range of the condition on the sort key.", dynalite+"query.js",
			holding(rows...),
			expect(query("pk = :p AND sk > :s", with(attrs{":p": "p", ":s": "b"}), startingAfter(key("p", "a"))),
				invalid("The provided starting key does not match the range key predicate"))),
		newCase("starting key that is none", "A starting key is a key of the table.", dynalite+"query.js",
			holding(rows...),
			expect(page(startingAfter(attrs{"pk": "p"})), invalid(bad)),
			expect(page(startingAfter(attrs{"pk": "p", "sk": 1})), invalid(bad)),
			expect(page(startingAfter(attrs{"pk": "p", "x": "a"})), invalid(bad))),
		newCase("all pages", "Pages of one item make the whole, each item once.", docPages, holding(rows...),
			expect(page(limit(1)), `1 of 1: {sk: "a"}; last {pk: "p", sk: "a"}`),
			expect(page(limit(1), startingAfter(key("p", "a"))), `1 of 1: {sk: "b"}; last {pk: "p", sk: "b"}`),
			expect(page(limit(1), startingAfter(key("p", "b"))), `1 of 1: {sk: "c"}; last {pk: "p", sk: "c"}`),
			expect(page(limit(1), startingAfter(key("p", "c"))), "0 of 0")),
	}
}
