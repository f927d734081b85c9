package conformance

import "fmt"

func indexScanCases() []Case {
	const indexed = usualSchema + " | gsi: g S, n N -> ALL | gsh: g S -> INCLUDE v | lsi: pk S, n N -> ALL | lsik: pk S, n N -> KEYS_ONLY"
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
	notAll := badParameter("Select type ALL_ATTRIBUTES is not supported for global secondary index gsh because its projection type is not ALL")
	var cases []Case
	for _, s := range []struct {
		name, rule, source string
		options            []option
		want               string
	}{
		{"global", "A scan of an index reads the items that are in it, those of a partition in the order of its sort key.", api("Scan"), []option{gsi, sk}, `3 of 3: {sk: "b"} {sk: "c"} {sk: "a"}`},
		{"local", "A local index has the table's partitions.", api("Scan"), []option{lsi, only("pk, sk")}, `3 of 3: {pk: "p", sk: "b"} {pk: "p", sk: "a"} {pk: "q", sk: "c"}`},
		{"without a sort key", "An index without a sort key has the items without one.", api("Scan"), []option{gsh, selecting("COUNT")}, "4 of 4"},
		{"included attributes", "It has the attributes that it includes.", nubo + "tier1/scan/gsi.test.ts", []option{gsh, filter("pk = :q"), with(attrs{":q": "q"})}, `1 of 4: {g: "x", pk: "q", sk: "c", v: "3"}`},
		{"filter", "A filter is applied after reading.", nubo + "tier1/scan/gsi.test.ts", []option{gsi, sk, filter("v > :v"), with(attrs{":v": "1"})}, `2 of 3: {sk: "b"} {sk: "c"}`},
		{"filter on its key", "It may be about the index's key.", nubo + "tier1/scan/gsi.test.ts", []option{gsi, sk, filter("n > :n"), with(attrs{":n": 1})}, `2 of 3: {sk: "c"} {sk: "a"}`},
		{"consistent scan of a global index", "A global index cannot be read consistently.", parity + "tier3/error-messages/indexReads.test.ts", []option{gsi, consistent}, invalid("Consistent reads are not supported on global secondary indexes")},
		{"no such index", "The index exists.", dynalite + "scan.js", []option{index("none"), filter("attribute_exists(pk.b)")}, invalid("The table does not have the specified index: none")},
		{"no such index of no table", "The table is looked for first.", alternator + "test_gsi.py", []option{index("none"), on("missing")}, "ResourceNotFoundException: Requested resource not found"},
		{"no such index and a starting key", "The index is looked for before the starting key.", dynalite + "scan.js", []option{index("none"), startingAfter(attrs{"z": "a", "y": "a", "x": "a"})}, invalid("The table does not have the specified index: none")},
		{"name of an index", "The name of an index is checked.", dynalite + "scan.js", []option{index("abc;"), set("Segment", -1)}, broken(
			"Value 'abc;' at 'indexName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
			"Value '-1' at 'segment' failed to satisfy constraint: Member must have value greater than or equal to 0")},

		{"projected attributes", "ALL_PROJECTED_ATTRIBUTES is what the index has.", api("Scan"), []option{lsik, selecting("ALL_PROJECTED_ATTRIBUTES"), filter("pk = :q"), with(attrs{":q": "q"})}, `1 of 3: {n: 2, pk: "q", sk: "c"}`},
		{"projection with projected attributes", "It has no projection.", "https://github.com/getmoto/moto/blob/master/tests/test_dynamodb/test_dynamodb_select.py", []option{gsi, sk, selecting("ALL_PROJECTED_ATTRIBUTES")}, invalid("Cannot specify the ProjectionExpression when choosing to get ALL_PROJECTED_ATTRIBUTES")},
		{"all attributes of a global index", "A global index that has not all attributes does not give them.", dynalite + "scan.js", []option{gsh, all}, notAll},
		{"attribute that a global index has not", "Nor does it give one of them.", nubo + "tier3/error-messages/partiqlIndexQualifier.test.ts", []option{gsh, only("v, w")}, badParameter("Global secondary index gsh does not project [w]")},
		{"filter on an attribute that a global index has not", "Unlike that of a query, a filter may be about what the index does not have: that is not there.", nubo + "tier2/partiql/indexQualifier.test.ts", []option{gsh, filter("attribute_exists(w)")}, "0 of 4"},
		{"filter on an attribute that a local index has not", "So it is with a local index.", nubo + "tier2/partiql/indexQualifier.test.ts", []option{lsik, filter("attribute_exists(w)")}, "0 of 3"},
		{"all attributes of a local index", "A local index gives what it has not, too.", docLocal, []option{lsik, all, filter("pk = :q"), with(attrs{":q": "q"})}, `1 of 3: {g: "x", n: 2, pk: "q", sk: "c", v: "3"}`},

		{"capacity of a global index", "A scan takes units of the index.", docCapacity, []option{gsi, selecting("COUNT"), capacity("INDEXES")}, "3 of 3; 0.5 units, 0 of the table, 0.5 of gsi"},
		{"capacity of a local index", "So it does of a local one.", docCapacity, []option{lsi, consistent, selecting("COUNT"), capacity("INDEXES")}, "3 of 3; 1 units, 0 of the table, 1 of lsi"},
		{"capacity in total", "TOTAL does not tell the index's part.", api("Scan"), []option{lsi, selecting("COUNT"), capacity("TOTAL")}, "3 of 3; 0.5 units"},
		{"capacity of fetching", "What a local index fetches takes a read of the table for each item.", docLocal, []option{lsik, only("v"), capacity("INDEXES")}, `3 of 3: {v: "2"} {v: "1"} {v: "3"}; 2 units, 1.5 of the table, 0.5 of lsik`},

		{"page", "A page of an index ends with the keys of the table and of the index.", nubo + "tier1/scan/gsiPagination.test.ts", []option{gsi, sk, limit(2)}, `2 of 2: {sk: "b"} {sk: "c"}; last {g: "x", n: 2, pk: "q", sk: "c"}`},
		{"next page", "The next page starts there.", nubo + "tier1/scan/gsiPagination.test.ts", []option{gsi, sk, start("q", "c", "x", 2)}, `1 of 1: {sk: "a"}`},
		{"starting key that is gone", "A page starts after a key whether or not there is an item.", docScan, []option{gsi, sk, start("zz", "zz", "x", 1)}, `2 of 2: {sk: "c"} {sk: "a"}`},
		{"starting key without the index's", "A starting key has the index's key.", dynalite + "scan.js", []option{gsi, startingAfter(key("p", "a"))}, invalid(bad)},
		{"starting key without the table's", "It has the table's key.", dynalite + "scan.js", []option{gsi, startingAfter(attrs{"g": "x", "n": 1})}, invalid(bad)},
		{"starting key of another type", "Its values have the types of the index's key.", dynalite + "scan.js", []option{gsi, start("p", "a", 1, 1)}, invalid(mismatch)},
		{"starting key of another type of a local index", "So they do for a local one.", dynalite + "scan.js", []option{lsi, startingAfter(attrs{"pk": 1, "sk": "a", "n": 1})}, invalid(mismatch)},
		{"starting key of another type for the table", "They have the types of the table's key.", dynalite + "scan.js", []option{gsi, start(1, "a", "x", 1)}, invalid(bad + ": " + mismatch)},
		{"starting key with all attributes", "The form of a starting key is checked before what is selected.", dynalite + "scan.js", []option{gsh, all, startingAfter(attrs{"g": "x"})}, invalid(bad)},
		{"starting key of the table with all attributes", "Its values are checked after that.", dynalite + "scan.js", []option{gsh, all, startingAfter(attrs{"pk": 1, "sk": "a", "g": "x"})}, notAll},
		{"starting key of another segment", "It is in the segment.", dynalite + "scan.js", []option{gsi, startingAfter(row("p", "a", "g", "x", "n", 1)), segment(0, 1000000)}, invalid(
			bad + ": Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: 1000000 Segment: 0")},
	} {
		cases = append(cases, Case{
			Name: s.name, Rule: s.rule, Source: s.source, tables: map[string]schema{usualTable: indexed}, rows: rows,
			steps: []step{expect(scan(s.options...), s.want)},
		})
	}
	tied := Case{
		Name: "ties", Rule: "Items with the same key in an index come one after the other, each once.", Source: nubo + "tier1/scan/lsiPagination.test.ts",
		tables: map[string]schema{usualTable: "pk S, sk S | lsi: pk S, n N -> KEYS_ONLY"},
		rows:   []attrs{row("p", "1", "n", 7), row("p", "2", "n", 7), row("p", "3", "n", 7)},
	}
	for i := range 3 {
		from := []option{lsi, sk, limit(1)}
		if i > 0 {
			from = append(from, startingAfter(row("p", fmt.Sprint(i), "n", 7)))
		}
		tied.steps = append(tied.steps, expect(scan(from...), fmt.Sprintf(`1 of 1: {sk: "%[1]d"}; last {n: 7, pk: "p", sk: "%[1]d"}`, i+1)))
	}
	tied.steps = append(tied.steps, expect(scan(lsi, startingAfter(row("p", "3", "n", 7))), "0 of 0"))
	cases = append(cases, tied)
	return append(cases, Case{
		Name: "segments", Rule: "One segment is the whole.", Source: docScan,
		tables: map[string]schema{usualTable: "pk S, sk S | gsi: g S -> ALL"},
		rows:   []attrs{row("p", "a", "g", "one"), row("q", "a", "g", "one"), row("r", "a", "g", "two"), row("s", "a")},
		steps:  []step{expect(scan(gsi, segment(0, 1), selecting("COUNT")), "3 of 3")},
	})
}
