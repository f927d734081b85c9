package conformance

import (
	"fmt"
)

func indexQueryCases() []Case {
	// lsik has keys only, as gsk has.
	const local = usualSchema +
		" | gsi: g S, n N -> ALL | gsh: g S -> INCLUDE v | gsk: g S, n N -> KEYS_ONLY | lsi: pk S, n N -> ALL | " +
		"lsik: pk S, n N -> KEYS_ONLY"
	rows := []attrs{
		row("p", "a", "g", "x", "n", 3, "v", "1", "w", attrs{"in": 1}),
		row("p", "b", "g", "x", "n", 1, "v", "2", "w", attrs{"in": 2}),
		row("q", "c", "g", "x", "n", 2, "v", "3", "w", attrs{"in": 3}),
		row("p", "d", "g", "y", "n", -5, "v", "4"),
		row("p", "e", "v", "5"),
	}
	g := func(more attrs) option {
		all := attrs{":g": "x"}
		//isrsim:unordered a map is filled
		for name, v := range more {
			all[name] = v
		}
		return with(all)
	}
	p := with(attrs{":p": "p"})
	sk, none := only("sk"), attrs{}
	gsi, gsh, gsk, lsi, lsik := index("gsi"), index("gsh"), index("gsk"), index("lsi"), index("lsik")
	start := func(pk, sk, g string, n int) option { return startingAfter(row(pk, sk, "g", g, "n", n)) }
	const bad = "The provided starting key is invalid"
	var cases []Case
	for _, q := range []struct {
		name, rule, source, keys string
		options                  []option
		want                     string
	}{
		{"order", "An index is read in the order of its sort key.", api("Query"), "g = :g", []option{gsi, g(none), sk},
			`3 of 3: {sk: "b"} {sk: "c"} {sk: "a"}`},
		{"backwards", "An index is read backwards, too.", api("Query"), "g = :g",
			[]option{gsi, g(none), sk, backwards()}, `3 of 3: {sk: "a"} {sk: "c"} {sk: "b"}`},
		{"local order", "A local index is one partition of the table in another order.", docLocal, "pk = :p",
			[]option{lsi, p, sk}, `3 of 3: {sk: "d"} {sk: "b"} {sk: "a"}`},
		{"consistent read of a local index", "A local index can be read consistently.", docLocal, "pk = :p",
			[]option{lsi, p, sk, set("ConsistentRead", true)}, `3 of 3: {sk: "d"} {sk: "b"} {sk: "a"}`},
		{"consistent read of a global index", "A global index cannot.",
			parity + "tier3/error-messages/indexReads.test.ts", "g = :g",
			[]option{gsi, g(none), set("ConsistentRead", true)},
			invalid("Consistent reads are not supported on global secondary indexes")},
		{"no such index", "The index exists.", dynalite + "query.js", "g = :g", []option{index("none"), g(none)},
			invalid("The table does not have the specified index: none")},
		{"name of an index", "The name of an index is checked.", dynalite + "query.js", "g = :g",
			[]option{index("a;"), g(none)}, broken(
				"Value 'a;' at 'indexName' failed to satisfy constraint: Member must satisfy regular expression "+
					"pattern: [a-zA-Z0-9_.-]+",
				"Value 'a;' at 'indexName' failed to satisfy constraint: Member must have length greater than "+
					"or equal to 3")},
		{"equal", "= on the sort key.", docKeyConditions, "g = :g AND n = :n",
			[]option{gsi, g(attrs{":n": 2}), sk}, `1 of 1: {sk: "c"}`},
		{"less", "< on the sort key.", docKeyConditions, "g = :g AND n < :n", []option{gsi, g(attrs{":n": 3}), sk},
			`2 of 2: {sk: "b"} {sk: "c"}`},
		{"greater or equal", ">= on the sort key.", docKeyConditions, "g = :g AND n >= :n",
			[]option{gsi, g(attrs{":n": 2}), sk}, `2 of 2: {sk: "c"} {sk: "a"}`},
		{"between backwards", "BETWEEN on the sort key, backwards.", docKeyConditions, "g = :g AND n BETWEEN :n AND :m",
			[]option{gsi, g(attrs{":n": 1, ":m": 2}), sk, backwards()}, `2 of 2: {sk: "c"} {sk: "b"}`},
		{"filter", "A filter is applied after reading.", docFilters, "g = :g",
			[]option{gsi, g(attrs{":v": "2"}), filter("v > :v"), sk}, `1 of 3: {sk: "c"}`},
		{"filter on the table's key", "A filter may be about the table's key: the index has another.", LocalOnly,
			"g = :g", []option{gsi, g(attrs{":q": "q"}), filter("pk = :q"), sk}, `1 of 3: {sk: "c"}`},
		{"filter on the index's key", "A filter is not about the index's key.", dynalite + "query.js", "g = :g",
			[]option{gsi, g(attrs{":n": 1}), filter("n = :n")},
			invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: n")},
		{"filter and projection not there", "If a filter and a projection need attributes that the index does not " +
			"have, the filter is reported.", LocalOnly, "g = :g",
			[]option{gsk, g(attrs{":v": "2"}), filter("v > :v"), only("w")},
			badParameter("Secondary index gsk does not project one or more filter attributes: [v]")},
		{"filter not there and ALL_ATTRIBUTES", "If a filter and a selection need attributes that the index does " +
			"not have, the filter is reported.", LocalOnly, "g = :g",
			[]option{gsk, g(attrs{":v": "2"}), filter("v > :v"), selecting("ALL_ATTRIBUTES")},
			badParameter("Secondary index gsk does not project one or more filter attributes: [v]")},
		{"count", "COUNT counts.", api("Query"), "g = :g", []option{gsi, g(none), selecting("COUNT")}, "3 of 3"},

		{"condition on another attribute", "A key condition is about the index's key.", dynalite + "query.js",
			"g = :g AND sk = :s", []option{gsi, g(attrs{":s": "a"})},
			invalid("Query condition missed key schema element: n")},
		{"no partition key", "A key condition gives the partition of the index.", dynalite + "query.js", "pk = :p",
			[]option{gsi, p}, invalid("Query condition missed key schema element: g")},
		{"no sort key to give", "An index without a sort key has no condition on one.", LocalOnly, "g = :g AND n = :n",
			[]option{gsh, g(attrs{":n": 1})}, invalid("Query key condition not supported")},
		{"key of another type", "A key value has the key's type.", dynalite + "query.js", "g = :g AND n = :n",
			[]option{gsi, g(attrs{":n": "1"})}, badParameter("Condition parameter type does not match schema type")},
		{"three conditions", "A key of two attributes has two conditions.", dynalite + "query.js",
			"g = :g AND n = :g AND v = :g", []option{gsi, g(none)}, invalid("Conditions can be of length 1 or 2 only")},

		{"keys only", "An index of keys has the table's key and its own.", api("Projection"), "g = :g AND n = :n",
			[]option{index("gsk"), g(attrs{":n": 1})}, `1 of 1: {g: "x", n: 1, pk: "p", sk: "b"}`},
		{"included attributes", "An index has the attributes that it includes.", api("Projection"), "g = :g",
			[]option{gsh, with(attrs{":g": "y"})}, `1 of 1: {g: "y", pk: "p", sk: "d", v: "4"}`},
		{"all attributes of a global index", "A global index that lacks attributes does not give all attributes.",
			dynalite + "query.js", "g = :g", []option{gsh, g(none), selecting("ALL_ATTRIBUTES")},
			badParameter("Select type ALL_ATTRIBUTES is not supported for global secondary index gsh because its " +
				"projection type is not ALL")},
		{"attribute that a global index has not", "A global index does not give an attribute that it lacks.",
			nubo + "tier3/error-messages/partiqlIndexQualifier.test.ts", "g = :g",
			[]option{gsh, g(none), only("v, w.#in"), named("#in", "in")},
			badParameter("Global secondary index gsh does not project [w]")},
		{"filter on an attribute that an index has not", "A filter is about attributes that the index has.", LocalOnly,
			"g = :g", []option{gsh, g(none), filter("attribute_exists(w)")},
			badParameter("Secondary index gsh does not project one or more filter attributes: [w]")},
		{"projected attributes", "ALL_PROJECTED_ATTRIBUTES gives the attributes that the index has.", api("Query"),
			"g = :g", []option{gsh, with(attrs{":g": "y"}), selecting("ALL_PROJECTED_ATTRIBUTES")},
			`1 of 1: {g: "y", pk: "p", sk: "d", v: "4"}`},
		{"projection with projected attributes", "ALL_PROJECTED_ATTRIBUTES has no projection.",
			"https://github.com/getmoto/moto/blob/master/tests/test_dynamodb/test_dynamodb_select.py", "g = :g",
			[]option{gsi, g(none), sk, selecting("ALL_PROJECTED_ATTRIBUTES")},
			invalid("Cannot specify the ProjectionExpression when choosing to get ALL_PROJECTED_ATTRIBUTES")},
		{"all attributes of a local index", "A local index also gives attributes that it lacks.", docLocal,
			"pk = :p AND n = :n", []option{lsik, with(attrs{":p": "p", ":n": 1}), selecting("ALL_ATTRIBUTES")},
			`1 of 1: {g: "x", n: 1, pk: "p", sk: "b", v: "2", w: {in: 2}}`},
		{"attribute that a local index has not", "A projection may ask a local index for an attribute that it lacks.",
			docLocal, "pk = :p AND n = :n", []option{lsik, with(attrs{":p": "p", ":n": 1}), only("w")},
			`1 of 1: {w: {in: 2}}`},
		{"keys of a local index", "Unless asked for more, a local index gives the attributes that it has.", docLocal,
			"pk = :p AND n = :n", []option{lsik, with(attrs{":p": "p", ":n": 1})}, `1 of 1: {n: 1, pk: "p", sk: "b"}`},
		{"filter on an attribute that a local index has not",
			"A local index does not filter by attributes that it lacks.", LocalOnly, "pk = :p",
			[]option{lsik, p, filter("attribute_exists(w)")},
			badParameter("Secondary index lsik does not project one or more filter attributes: [w]")},

		{"capacity of a global index", "A query takes units of the index.", docCapacity, "g = :g",
			[]option{gsi, g(none), selecting("COUNT"), capacity("INDEXES")},
			"3 of 3; 0.5 units, 0 of the table, 0.5 of gsi"},
		{"capacity of a local index", "A query takes units of a local index.", docCapacity, "pk = :p",
			[]option{lsik, p, selecting("COUNT"), capacity("INDEXES"), set("ConsistentRead", true)},
			"3 of 3; 1 units, 0 of the table, 1 of lsik"},
		{"capacity of fetching", "For each item whose attributes a local index fetches, the table is read once.",
			docLocal, "pk = :p", []option{lsik, p, only("v"), capacity("INDEXES")},
			`3 of 3: {v: "4"} {v: "2"} {v: "1"}; 2 units, 1.5 of the table, 0.5 of lsik`},

		{"page", "A page of an index ends with the keys of the table and of the index.",
			nubo + "tier1/query/gsi.test.ts", "g = :g", []option{gsi, g(none), sk, limit(2)},
			`2 of 2: {sk: "b"} {sk: "c"}; last {g: "x", n: 2, pk: "q", sk: "c"}`},
		{"next page", "The next page starts after the last key of the page before.", nubo + "tier1/query/gsi.test.ts",
			"g = :g", []option{gsi, g(none), sk, start("q", "c", "x", 2)}, `1 of 1: {sk: "a"}`},
		{"next page backwards", "Backwards, too, the next page starts after the last key.",
			nubo + "tier1/query/gsi.test.ts", "g = :g",
			[]option{gsi, g(none), sk, backwards(), start("q", "c", "x", 2)}, `1 of 1: {sk: "b"}`},
		{"page of a local index", "A page of a local index ends with the table's key and the sort key.",
			nubo + "tier1/query/lsi.test.ts", "pk = :p", []option{lsi, p, sk, limit(1)},
			`1 of 1: {sk: "d"}; last {n: -5, pk: "p", sk: "d"}`},
		{"starting key that is gone", "A page starts after a key whether or not there is an item.", docPages, "g = :g",
			[]option{gsi, g(none), sk, start("zz", "zz", "x", 1)}, `2 of 2: {sk: "c"} {sk: "a"}`},
		{"starting key without the index's", "A starting key has the index's key.", dynalite + "query.js", "g = :g",
			[]option{gsi, g(none), startingAfter(key("p", "a"))}, invalid(bad)},
		{"starting key without the table's", "A starting key has the table's key.", dynalite + "query.js", "g = :g",
			[]option{gsi, g(none), startingAfter(attrs{"g": "x", "n": 1})}, invalid(bad)},
		{"starting key of another type", "The values of a starting key have the types of the key.",
			dynalite + "query.js", "g = :g", []option{gsi, g(none), startingAfter(row("p", "a", "g", 1, "n", 1))},
			invalid("The provided key element does not match the schema")},
		{"starting key of another partition", "A starting key is within the partition.", dynalite + "query.js",
			"g = :g", []option{gsi, g(none), start("p", "d", "y", -5)},
			invalid("The provided starting key is outside query boundaries based on provided conditions")},
		{"starting key outside the range", "A starting key is within the range.", dynalite + "query.js",
			"g = :g AND n > :n", []option{gsi, g(attrs{":n": 2}), start("p", "b", "x", 1)},
			invalid("The provided starting key does not match the range key predicate")},
	} {
		cases = append(cases, newCase(q.name, q.rule, q.source, inTable(local), holding(rows...),
			expect(query(q.keys, q.options...), q.want)))
	}
	tied := newCase("ties", "Items with the same key in an index come one after the other, each once.",
		nubo+"tier1/query/gsi.test.ts", inTable("pk S, sk S | lsi: pk S, n N -> KEYS_ONLY"),
		holding(row("p", "1", "n", 7), row("p", "2", "n", 7), row("p", "3", "n", 7)))
	page := func(options ...option) request {
		return query("pk = :p AND n = :n", append(options, lsi, with(attrs{":p": "p", ":n": 7}), sk, limit(1))...)
	}
	for i, want := range []string{"1", "2", "3"} {
		var from []option
		if i > 0 {
			from = append(from, startingAfter(row("p", string(rune('0'+i)), "n", 7)))
		}
		tied = tied.and(expect(page(from...), `1 of 1: {sk: "`+want+`"}; last {n: 7, pk: "p", sk: "`+want+`"}`))
	}
	tied = tied.and(expect(page(startingAfter(row("p", "3", "n", 7))), "0 of 0"))
	return append(cases, tied)
}

func indexScanCases() []Case {
	const indexed = usualSchema +
		" | gsi: g S, n N -> ALL | gsh: g S -> INCLUDE v | lsi: pk S, n N -> ALL | lsik: pk S, n N -> KEYS_ONLY"
	rows := []attrs{
		row("p", "a", "g", "x", "n", 3, "v", "1", "w", attrs{"in": 1}),
		row("p", "b", "g", "x", "n", 1, "v", "2", "w", attrs{"in": 2}),
		row("q", "c", "g", "x", "n", 2, "v", "3"),
		row("r", "d", "g", "x", "v", "4"),
		row("r", "e", "v", "5"),
	}
	gsi, gsh, lsi, lsik := index("gsi"), index("gsh"), index("lsi"), index("lsik")
	sk, all, consistent := only("sk"), selecting("ALL_ATTRIBUTES"), set("ConsistentRead", true)
	start := func(pk, sk, g any, n any) option { return startingAfter(attrs{"pk": pk, "sk": sk, "g": g, "n": n}) }
	const (
		bad      = "The provided starting key is invalid"
		mismatch = "The provided key element does not match the schema"
	)
	notAll := badParameter("Select type ALL_ATTRIBUTES is not supported for global secondary index gsh because its " +
		"projection type is not ALL")
	var cases []Case
	for _, s := range []struct {
		name, rule, source string
		options            []option
		want               string
	}{
		{"global",
			"A scan of an index reads the items that are in it, those of a partition in the order of its sort key.",
			api("Scan"), []option{gsi, sk}, `3 of 3: {sk: "b"} {sk: "c"} {sk: "a"}`},
		{"local", "A local index has the table's partitions.", api("Scan"), []option{lsi, only("pk, sk")},
			`3 of 3: {pk: "p", sk: "b"} {pk: "p", sk: "a"} {pk: "q", sk: "c"}`},
		{"without a sort key", "An index without a sort key has the items without one.", api("Scan"),
			[]option{gsh, selecting("COUNT")}, "4 of 4"},
		{"included attributes", "An index has the attributes that it includes.", nubo + "tier1/scan/gsi.test.ts",
			[]option{gsh, filter("pk = :q"), with(attrs{":q": "q"})}, `1 of 4: {g: "x", pk: "q", sk: "c", v: "3"}`},
		{"filter", "A filter is applied after reading.", nubo + "tier1/scan/gsi.test.ts",
			[]option{gsi, sk, filter("v > :v"), with(attrs{":v": "1"})}, `2 of 3: {sk: "b"} {sk: "c"}`},
		{"filter on its key", "The filter of a scan may be about the index's key.", nubo + "tier1/scan/gsi.test.ts",
			[]option{gsi, sk, filter("n > :n"), with(attrs{":n": 1})}, `2 of 3: {sk: "c"} {sk: "a"}`},
		{"consistent scan of a global index", "A global index cannot be read consistently.",
			parity + "tier3/error-messages/indexReads.test.ts", []option{gsi, consistent},
			invalid("Consistent reads are not supported on global secondary indexes")},
		{"no such index", "The index exists.", dynalite + "scan.js",
			[]option{index("none"), filter("attribute_exists(pk.b)")},
			invalid("The table does not have the specified index: none")},
		{"no such index of no table", "The table is looked for first.", alternator + "test_gsi.py",
			[]option{index("none"), on("missing")}, "ResourceNotFoundException: Requested resource not found"},
		{"no such index and a starting key", "The index is looked for before the starting key.", dynalite + "scan.js",
			[]option{index("none"), startingAfter(attrs{"z": "a", "y": "a", "x": "a"})},
			invalid("The table does not have the specified index: none")},
		{"name of an index", "The name of an index is checked.", dynalite + "scan.js",
			[]option{index("abc;"), set("Segment", -1)}, broken(
				"Value 'abc;' at 'indexName' failed to satisfy constraint: Member must satisfy regular expression "+
					"pattern: [a-zA-Z0-9_.-]+",
				"Value '-1' at 'segment' failed to satisfy constraint: Member must have value greater than "+
					"or equal to 0")},

		{"projected attributes", "ALL_PROJECTED_ATTRIBUTES gives the attributes that the index has.", api("Scan"),
			[]option{lsik, selecting("ALL_PROJECTED_ATTRIBUTES"), filter("pk = :q"), with(attrs{":q": "q"})},
			`1 of 3: {n: 2, pk: "q", sk: "c"}`},
		{"projection with projected attributes", "ALL_PROJECTED_ATTRIBUTES has no projection.",
			"https://github.com/getmoto/moto/blob/master/tests/test_dynamodb/test_dynamodb_select.py",
			[]option{gsi, sk, selecting("ALL_PROJECTED_ATTRIBUTES")},
			invalid("Cannot specify the ProjectionExpression when choosing to get ALL_PROJECTED_ATTRIBUTES")},
		{"all attributes of a global index", "A global index that lacks attributes does not give all attributes.",
			dynalite + "scan.js", []option{gsh, all}, notAll},
		{"attribute that a global index has not", "A global index does not give an attribute that it lacks.",
			nubo + "tier3/error-messages/partiqlIndexQualifier.test.ts", []option{gsh, only("v, w")},
			badParameter("Global secondary index gsh does not project [w]")},
		{"filter on an attribute that a global index has not",
			"Unlike that of a query, the filter of a scan may be about an attribute that the index lacks: it " +
				"counts as absent.", nubo + "tier2/partiql/indexQualifier.test.ts",
			[]option{gsh, filter("attribute_exists(w)")}, "0 of 4"},
		{"filter on an attribute that a local index has not",
			"The filter of a scan may be about an attribute that a local index lacks: it counts as absent.",
			nubo + "tier2/partiql/indexQualifier.test.ts", []option{lsik, filter("attribute_exists(w)")}, "0 of 3"},
		{"all attributes of a local index", "A local index also gives attributes that it lacks.", docLocal,
			[]option{lsik, all, filter("pk = :q"), with(attrs{":q": "q"})},
			`1 of 3: {g: "x", n: 2, pk: "q", sk: "c", v: "3"}`},

		{"capacity of a global index", "A scan takes units of the index.", docCapacity,
			[]option{gsi, selecting("COUNT"), capacity("INDEXES")}, "3 of 3; 0.5 units, 0 of the table, 0.5 of gsi"},
		{"capacity of a local index", "A scan takes units of a local index.", docCapacity,
			[]option{lsi, consistent, selecting("COUNT"), capacity("INDEXES")},
			"3 of 3; 1 units, 0 of the table, 1 of lsi"},
		{"capacity in total", "TOTAL does not show the index's part.", api("Scan"),
			[]option{lsi, selecting("COUNT"), capacity("TOTAL")}, "3 of 3; 0.5 units"},
		{"capacity of fetching", "For each item whose attributes a local index fetches, the table is read once.",
			docLocal, []option{lsik, only("v"), capacity("INDEXES")},
			`3 of 3: {v: "2"} {v: "1"} {v: "3"}; 2 units, 1.5 of the table, 0.5 of lsik`},

		{"page", "A page of an index ends with the keys of the table and of the index.",
			nubo + "tier1/scan/gsiPagination.test.ts", []option{gsi, sk, limit(2)},
			`2 of 2: {sk: "b"} {sk: "c"}; last {g: "x", n: 2, pk: "q", sk: "c"}`},
		{"next page", "The next page starts after the last key of the page before.",
			nubo + "tier1/scan/gsiPagination.test.ts", []option{gsi, sk, start("q", "c", "x", 2)}, `1 of 1: {sk: "a"}`},
		{"starting key that is gone", "A page starts after a key whether or not there is an item.", docScan,
			[]option{gsi, sk, start("zz", "zz", "x", 1)}, `2 of 2: {sk: "c"} {sk: "a"}`},
		{"starting key without the index's", "A starting key has the index's key.", dynalite + "scan.js",
			[]option{gsi, startingAfter(key("p", "a"))}, invalid(bad)},
		{"starting key without the table's", "A starting key has the table's key.", dynalite + "scan.js",
			[]option{gsi, startingAfter(attrs{"g": "x", "n": 1})}, invalid(bad)},
		{"starting key of another type", "The values of a starting key have the types of the index's key.",
			dynalite + "scan.js", []option{gsi, start("p", "a", 1, 1)}, invalid(mismatch)},
		{"starting key of another type of a local index",
			"The values of a starting key have the types of a local index's key.", dynalite + "scan.js",
			[]option{lsi, startingAfter(attrs{"pk": 1, "sk": "a", "n": 1})}, invalid(mismatch)},
		{"starting key of another type for the table",
			"The values of a starting key have the types of the table's key.", dynalite + "scan.js",
			[]option{gsi, start(1, "a", "x", 1)}, invalid(bad + ": " + mismatch)},
		{"starting key with all attributes", "The form of a starting key is checked before what is selected.",
			dynalite + "scan.js", []option{gsh, all, startingAfter(attrs{"g": "x"})}, invalid(bad)},
		{"starting key of the table with all attributes",
			"The values of a starting key are checked after the selection.", dynalite + "scan.js",
			[]option{gsh, all, startingAfter(attrs{"pk": 1, "sk": "a", "g": "x"})}, notAll},
		{"starting key of another segment", "A starting key is in the segment.", dynalite + "scan.js",
			[]option{gsi, startingAfter(row("p", "a", "g", "x", "n", 1)), segment(0, 1000000)}, invalid(
				bad +
					": Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: " +
					"1000000 Segment: 0")},
	} {
		cases = append(cases, newCase(s.name, s.rule, s.source, inTable(indexed), holding(rows...),
			expect(scan(s.options...), s.want)))
	}
	tied := newCase("ties", "Items with the same key in an index come one after the other, each once.",
		nubo+"tier1/scan/lsiPagination.test.ts", inTable("pk S, sk S | lsi: pk S, n N -> KEYS_ONLY"),
		holding(row("p", "1", "n", 7), row("p", "2", "n", 7), row("p", "3", "n", 7)))
	for i := range 3 {
		from := []option{lsi, sk, limit(1)}
		if i > 0 {
			from = append(from, startingAfter(row("p", fmt.Sprint(i), "n", 7)))
		}
		tied = tied.and(expect(scan(from...),
			fmt.Sprintf(`1 of 1: {sk: "%[1]d"}; last {n: 7, pk: "p", sk: "%[1]d"}`, i+1)))
	}
	tied = tied.and(expect(scan(lsi, startingAfter(row("p", "3", "n", 7))), "0 of 0"))
	cases = append(cases, tied)
	return append(cases, newCase("segments", "One segment is the whole index.", docScan,
		inTable("pk S, sk S | gsi: g S -> ALL"),
		holding(row("p", "a", "g", "one"), row("q", "a", "g", "one"), row("r", "a", "g", "two"), row("s", "a")),
		expect(scan(gsi, segment(0, 1), selecting("COUNT")), "3 of 3")))
}

func indexKeyCases() []Case {
	const many = "pk S | gsi: h S, i N HASH, a S, b S RANGE, c N RANGE -> ALL"
	const suite = parity + "tier1/query/multiAttributeGsiKey.test.ts"
	const composite = alternator + "test_gsi_composite.py"
	item := func(pk, a, b string, c any) attrs {
		return attrs{"pk": pk, "h": "o", "i": 1, "a": a, "b": b, "c": c}
	}
	rows := []attrs{
		item("1", "T", "live", 10), item("2", "T", "live", 9), item("3", "T", "draft", 1), item("4", "F", "live", 1),
		item("5", "TT", "a", 1),
		{"pk": "6", "h": "o", "i": 1, "a": "T", "b": "live"}, // no c
		{"pk": "7", "h": "o", "a": "T", "b": "live", "c": 1}, // no i
		{"pk": "8", "h": "o", "i": 2, "a": "T", "b": "live", "c": 1},
	}
	args := func(more attrs) option {
		all := attrs{":h": "o", ":i": 1}
		//isrsim:unordered a map is filled
		for name, v := range more {
			all[name] = v
		}
		return with(all)
	}
	gap := func(names, at string) string {
		return invalid("RANGE key attributes " + names +
			" must have equality conditions specified in the query because a condition is present on key attribute " +
			at)
	}
	partition := func(names string) string {
		return invalid("HASH key attributes " + names + " must have equality conditions specified in the query")
	}
	gsi, pk := index("gsi"), only("pk")
	var cases []Case
	for _, q := range []struct {
		name, rule, source, keys string
		options                  []option
		want                     string
	}{
		{"partition", "Items are sorted by one sort attribute after the other; one without all of them is not there.",
			suite, "h = :h AND i = :i", []option{args(nil), pk},
			`5 of 5: {pk: "4"} {pk: "3"} {pk: "2"} {pk: "1"} {pk: "5"}`},
		{"backwards", "The order is turned round as a whole.", suite, "h = :h AND i = :i",
			[]option{args(nil), pk, backwards()}, `5 of 5: {pk: "5"} {pk: "1"} {pk: "2"} {pk: "3"} {pk: "4"}`},
		{"first attribute", "A condition on the first sort attribute narrows the query to it.", suite,
			"h = :h AND i = :i AND a = :a", []option{args(attrs{":a": "T"}), pk},
			`3 of 3: {pk: "3"} {pk: "2"} {pk: "1"}`},
		{"two attributes", "Conditions on the first two sort attributes narrow the query to them.", suite,
			"h = :h AND i = :i AND a = :a AND b = :b", []option{args(attrs{":a": "T", ":b": "live"}), pk},
			`2 of 2: {pk: "2"} {pk: "1"}`},
		{"range on the last", "The condition on the last sort attribute given may be a range.", suite,
			"h = :h AND i = :i AND a = :a AND b = :b AND c > :c",
			[]option{args(attrs{":a": "T", ":b": "live", ":c": 9}), pk}, `1 of 1: {pk: "1"}`},
		{"range in the middle", "The last sort attribute given need not be the last of the key.", suite,
			"h = :h AND i = :i AND a = :a AND b < :b",
			[]option{args(attrs{":a": "T", ":b": "live"}), pk}, `1 of 1: {pk: "3"}`},
		{"range on the first", "The last sort attribute given may be the first.", suite,
			"h = :h AND i = :i AND a >= :a", []option{args(attrs{":a": "T"}), pk},
			`4 of 4: {pk: "3"} {pk: "2"} {pk: "1"} {pk: "5"}`},
		{"begins_with", "begins_with is such a range.", suite, "h = :h AND i = :i AND begins_with(a, :a)",
			[]option{args(attrs{":a": "T"}), pk}, `4 of 4: {pk: "3"} {pk: "2"} {pk: "1"} {pk: "5"}`},
		{"between", "The condition on a sort attribute may be BETWEEN.", suite,
			"h = :h AND i = :i AND a = :a AND b = :b AND c BETWEEN :c AND :d",
			[]option{args(attrs{":a": "T", ":b": "live", ":c": 1, ":d": 9}), pk}, `1 of 1: {pk: "2"}`},
		{"any order", "Conditions come in any order.", suite, "b = :b AND i = :i AND a = :a AND h = :h",
			[]option{args(attrs{":a": "T", ":b": "live"}), pk}, `2 of 2: {pk: "2"} {pk: "1"}`},
		{"page", "A page ends with the table's key and every key attribute of the index.", suite, "h = :h AND i = :i",
			[]option{args(nil), pk, limit(2)},
			`2 of 2: {pk: "4"} {pk: "3"}; last {a: "T", b: "draft", c: 1, h: "o", i: 1, pk: "3"}`},
		{"next page", "The next page starts after the last key of the page before.", suite,
			"h = :h AND i = :i AND a = :a",
			[]option{args(attrs{":a": "T"}), pk, startingAfter(item("3", "T", "draft", 1))},
			`2 of 2: {pk: "2"} {pk: "1"}`},
		{"gap", "Sort attributes are given from the left without a gap.", suite,
			"h = :h AND i = :i AND a = :a AND c = :c", []option{args(attrs{":a": "T", ":c": 1})}, gap("b", "c")},
		{"no first attribute", "The first one comes first.", suite, "h = :h AND i = :i AND b = :b",
			[]option{args(attrs{":b": "live"})}, gap("a", "b")},
		{"several gaps", "All sort attributes that are missing are named.", LocalOnly, "h = :h AND i = :i AND c = :c",
			[]option{args(attrs{":c": 1})}, gap("a, b", "c")},
		{"range before the last", "Only the condition on the last sort attribute given is a range.", suite,
			"h = :h AND i = :i AND a > :a AND b = :b", []option{args(attrs{":a": "A", ":b": "live"})}, gap("a", "b")},
		{"partition attribute missing", "All partition attributes are given.", composite, "h = :h",
			[]option{with(attrs{":h": "o"})}, partition("i")},
		{"partition attribute by a range", "Partition attributes are given by equality.", composite,
			"h = :h AND i > :i", []option{args(nil)}, partition("i")},
		{"no partition attribute", "All partition attributes that are missing are named.", LocalOnly, "a = :a",
			[]option{with(attrs{":a": "T"})}, partition("h, i")},
		{"another attribute", "A key condition is about nothing but the key.", LocalOnly,
			"h = :h AND i = :i AND pk = :p", []option{args(attrs{":p": "1"})},
			invalid("Query condition missed key schema element: a")},
		{"value of another type", "Each attribute of a key has its own type.", composite, "h = :h AND i = :i",
			[]option{with(attrs{":h": "o", ":i": "1"})},
			badParameter("Condition parameter type does not match schema type")},
		{"filter on a key attribute", "A filter is not about any key attribute.", composite, "h = :h AND i = :i",
			[]option{args(attrs{":b": "live"}), filter("b = :b")},
			invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: b")},
		{"consistent read", "An index with a key of several attributes is read eventually consistently, like any " +
			"global one.", docManyKeys, "h = :h AND i = :i", []option{args(nil), set("ConsistentRead", true)},
			invalid("Consistent reads are not supported on global secondary indexes")},
	} {
		cases = append(cases, newCase(q.name, q.rule, q.source, inTable(many), holding(rows...),
			expect(query(q.keys, append([]option{gsi}, q.options...)...), q.want)))
	}
	return append(cases, newCase("attribute of another type",
		"Each key attribute of an item has its own type, and none is empty.", composite, inTable(many),
		expect(put(item("1", "T", "live", "10")),
			badParameter("Type mismatch for Index Key c Expected: N Actual: S IndexName: gsi")),
		expect(put(item("1", "T", "", 1)),
			invalid("One or more parameter values are not valid. A value specified for a secondary index key is not "+
				"supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: "+
				"gsi, IndexKey: b"))))
}
