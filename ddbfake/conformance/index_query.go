package conformance

func indexQueryCases() []Case {
	// lsik has keys only, as gsk has.
	const local = usualSchema + " | gsi: g S, n N -> ALL | gsh: g S -> INCLUDE v | gsk: g S, n N -> KEYS_ONLY | lsi: pk S, n N -> ALL | lsik: pk S, n N -> KEYS_ONLY"
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
		{"order", "An index is read in the order of its sort key.", api("Query"), "g = :g", []option{gsi, g(none), sk}, `3 of 3: {sk: "b"} {sk: "c"} {sk: "a"}`},
		{"backwards", "It is read backwards too.", api("Query"), "g = :g", []option{gsi, g(none), sk, backwards()}, `3 of 3: {sk: "a"} {sk: "c"} {sk: "b"}`},
		{"local order", "A local index is one partition of the table in another order.", docLocal, "pk = :p", []option{lsi, p, sk}, `3 of 3: {sk: "d"} {sk: "b"} {sk: "a"}`},
		{"consistent read of a local index", "A local index can be read consistently.", docLocal, "pk = :p", []option{lsi, p, sk, set("ConsistentRead", true)}, `3 of 3: {sk: "d"} {sk: "b"} {sk: "a"}`},
		{"consistent read of a global index", "A global index cannot.", parity + "tier3/error-messages/indexReads.test.ts", "g = :g", []option{gsi, g(none), set("ConsistentRead", true)}, invalid("Consistent reads are not supported on global secondary indexes")},
		{"no such index", "The index exists.", dynalite + "query.js", "g = :g", []option{index("none"), g(none)}, invalid("The table does not have the specified index: none")},
		{"name of an index", "The name of an index is checked.", dynalite + "query.js", "g = :g", []option{index("a;"), g(none)}, broken(
			"Value 'a;' at 'indexName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
			"Value 'a;' at 'indexName' failed to satisfy constraint: Member must have length greater than or equal to 3")},
		{"equal", "= on the sort key.", docKeyConditions, "g = :g AND n = :n", []option{gsi, g(attrs{":n": 2}), sk}, `1 of 1: {sk: "c"}`},
		{"less", "< on the sort key.", docKeyConditions, "g = :g AND n < :n", []option{gsi, g(attrs{":n": 3}), sk}, `2 of 2: {sk: "b"} {sk: "c"}`},
		{"greater or equal", ">= on the sort key.", docKeyConditions, "g = :g AND n >= :n", []option{gsi, g(attrs{":n": 2}), sk}, `2 of 2: {sk: "c"} {sk: "a"}`},
		{"between backwards", "BETWEEN on the sort key, backwards.", docKeyConditions, "g = :g AND n BETWEEN :n AND :m", []option{gsi, g(attrs{":n": 1, ":m": 2}), sk, backwards()}, `2 of 2: {sk: "c"} {sk: "b"}`},
		{"filter", "A filter is applied after reading.", docFilters, "g = :g", []option{gsi, g(attrs{":v": "2"}), filter("v > :v"), sk}, `1 of 3: {sk: "c"}`},
		{"filter on the table's key", "A filter may be about the table's key: the index has another.", LocalOnly, "g = :g", []option{gsi, g(attrs{":q": "q"}), filter("pk = :q"), sk}, `1 of 3: {sk: "c"}`},
		{"filter on the index's key", "It is not about the index's.", dynalite + "query.js", "g = :g", []option{gsi, g(attrs{":n": 1}), filter("n = :n")}, invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: n")},
		{"filter and projection not there", "Of a filter and a projection by what the index does not have the filter is reported.", LocalOnly, "g = :g", []option{gsk, g(attrs{":v": "2"}), filter("v > :v"), only("w")}, badParameter("Secondary index gsk does not project one or more filter attributes: [v]")},
		{"filter not there and ALL_ATTRIBUTES", "So it is with a selection.", LocalOnly, "g = :g", []option{gsk, g(attrs{":v": "2"}), filter("v > :v"), selecting("ALL_ATTRIBUTES")}, badParameter("Secondary index gsk does not project one or more filter attributes: [v]")},
		{"count", "COUNT counts.", api("Query"), "g = :g", []option{gsi, g(none), selecting("COUNT")}, "3 of 3"},

		{"condition on another attribute", "A key condition is about the index's key.", dynalite + "query.js", "g = :g AND sk = :s", []option{gsi, g(attrs{":s": "a"})}, invalid("Query condition missed key schema element: n")},
		{"no partition key", "It gives the partition.", dynalite + "query.js", "pk = :p", []option{gsi, p}, invalid("Query condition missed key schema element: g")},
		{"no sort key to give", "An index without a sort key has no condition on one.", LocalOnly, "g = :g AND n = :n", []option{gsh, g(attrs{":n": 1})}, invalid("Query key condition not supported")},
		{"key of another type", "A key value has the key's type.", dynalite + "query.js", "g = :g AND n = :n", []option{gsi, g(attrs{":n": "1"})}, badParameter("Condition parameter type does not match schema type")},
		{"three conditions", "A key of two attributes has two conditions.", dynalite + "query.js", "g = :g AND n = :g AND v = :g", []option{gsi, g(none)}, invalid("Conditions can be of length 1 or 2 only")},

		{"keys only", "An index of keys has the table's key and its own.", api("Projection"), "g = :g AND n = :n", []option{index("gsk"), g(attrs{":n": 1})}, `1 of 1: {g: "x", n: 1, pk: "p", sk: "b"}`},
		{"included attributes", "An index has the attributes that it includes.", api("Projection"), "g = :g", []option{gsh, with(attrs{":g": "y"})}, `1 of 1: {g: "y", pk: "p", sk: "d", v: "4"}`},
		{"all attributes of a global index", "A global index that has not all attributes does not give them.", dynalite + "query.js", "g = :g", []option{gsh, g(none), selecting("ALL_ATTRIBUTES")}, badParameter("Select type ALL_ATTRIBUTES is not supported for global secondary index gsh because its projection type is not ALL")},
		{"attribute that a global index has not", "Nor does it give one of them.", nubo + "tier3/error-messages/partiqlIndexQualifier.test.ts", "g = :g", []option{gsh, g(none), only("v, w.#in"), named("#in", "in")}, badParameter("Global secondary index gsh does not project [w]")},
		{"filter on an attribute that an index has not", "A filter is about what the index has.", LocalOnly, "g = :g", []option{gsh, g(none), filter("attribute_exists(w)")}, badParameter("Secondary index gsh does not project one or more filter attributes: [w]")},
		{"projected attributes", "ALL_PROJECTED_ATTRIBUTES is what the index has.", api("Query"), "g = :g", []option{gsh, with(attrs{":g": "y"}), selecting("ALL_PROJECTED_ATTRIBUTES")}, `1 of 1: {g: "y", pk: "p", sk: "d", v: "4"}`},
		{"projection with projected attributes", "It has no projection.", "https://github.com/getmoto/moto/blob/master/tests/test_dynamodb/test_dynamodb_select.py", "g = :g", []option{gsi, g(none), sk, selecting("ALL_PROJECTED_ATTRIBUTES")}, invalid("Cannot specify the ProjectionExpression when choosing to get ALL_PROJECTED_ATTRIBUTES")},
		{"all attributes of a local index", "A local index gives what it has not, too.", docLocal, "pk = :p AND n = :n", []option{lsik, with(attrs{":p": "p", ":n": 1}), selecting("ALL_ATTRIBUTES")}, `1 of 1: {g: "x", n: 1, pk: "p", sk: "b", v: "2", w: {in: 2}}`},
		{"attribute that a local index has not", "A projection may ask for it.", docLocal, "pk = :p AND n = :n", []option{lsik, with(attrs{":p": "p", ":n": 1}), only("w")}, `1 of 1: {w: {in: 2}}`},
		{"keys of a local index", "Otherwise it gives what it has.", docLocal, "pk = :p AND n = :n", []option{lsik, with(attrs{":p": "p", ":n": 1})}, `1 of 1: {n: 1, pk: "p", sk: "b"}`},
		{"filter on an attribute that a local index has not", "It does not filter by what it has not.", LocalOnly, "pk = :p", []option{lsik, p, filter("attribute_exists(w)")}, badParameter("Secondary index lsik does not project one or more filter attributes: [w]")},

		{"capacity of a global index", "A query takes units of the index.", docCapacity, "g = :g", []option{gsi, g(none), selecting("COUNT"), capacity("INDEXES")}, "3 of 3; 0.5 units, 0 of the table, 0.5 of gsi"},
		{"capacity of a local index", "So it does of a local one.", docCapacity, "pk = :p", []option{lsik, p, selecting("COUNT"), capacity("INDEXES"), set("ConsistentRead", true)}, "3 of 3; 1 units, 0 of the table, 1 of lsik"},
		{"capacity of fetching", "What a local index fetches takes a read of the table for each item.", docLocal, "pk = :p", []option{lsik, p, only("v"), capacity("INDEXES")}, `3 of 3: {v: "4"} {v: "2"} {v: "1"}; 2 units, 1.5 of the table, 0.5 of lsik`},

		{"page", "A page of an index ends with the keys of the table and of the index.", nubo + "tier1/query/gsi.test.ts", "g = :g", []option{gsi, g(none), sk, limit(2)}, `2 of 2: {sk: "b"} {sk: "c"}; last {g: "x", n: 2, pk: "q", sk: "c"}`},
		{"next page", "The next page starts there.", nubo + "tier1/query/gsi.test.ts", "g = :g", []option{gsi, g(none), sk, start("q", "c", "x", 2)}, `1 of 1: {sk: "a"}`},
		{"next page backwards", "It does so backwards too.", nubo + "tier1/query/gsi.test.ts", "g = :g", []option{gsi, g(none), sk, backwards(), start("q", "c", "x", 2)}, `1 of 1: {sk: "b"}`},
		{"page of a local index", "A page of a local index ends with the table's key and the sort key.", nubo + "tier1/query/lsi.test.ts", "pk = :p", []option{lsi, p, sk, limit(1)}, `1 of 1: {sk: "d"}; last {n: -5, pk: "p", sk: "d"}`},
		{"starting key that is gone", "A page starts after a key whether or not there is an item.", docPages, "g = :g", []option{gsi, g(none), sk, start("zz", "zz", "x", 1)}, `2 of 2: {sk: "c"} {sk: "a"}`},
		{"starting key without the index's", "A starting key has the index's key.", dynalite + "query.js", "g = :g", []option{gsi, g(none), startingAfter(key("p", "a"))}, invalid(bad)},
		{"starting key without the table's", "It has the table's key.", dynalite + "query.js", "g = :g", []option{gsi, g(none), startingAfter(attrs{"g": "x", "n": 1})}, invalid(bad)},
		{"starting key of another type", "Its values have the types of the key.", dynalite + "query.js", "g = :g", []option{gsi, g(none), startingAfter(row("p", "a", "g", 1, "n", 1))}, invalid("The provided key element does not match the schema")},
		{"starting key of another partition", "It is within the partition.", dynalite + "query.js", "g = :g", []option{gsi, g(none), start("p", "d", "y", -5)}, invalid("The provided starting key is outside query boundaries based on provided conditions")},
		{"starting key outside the range", "It is within the range.", dynalite + "query.js", "g = :g AND n > :n", []option{gsi, g(attrs{":n": 2}), start("p", "b", "x", 1)}, invalid("The provided starting key does not match the range key predicate")},
	} {
		cases = append(cases, Case{
			Name: q.name, Rule: q.rule, Source: q.source, tables: map[string]schema{usualTable: local}, rows: rows,
			steps: []step{expect(query(q.keys, q.options...), q.want)},
		})
	}
	tied := Case{
		Name: "ties", Rule: "Items with the same key in an index come one after the other, each once.", Source: nubo + "tier1/query/gsi.test.ts",
		tables: map[string]schema{usualTable: "pk S, sk S | lsi: pk S, n N -> KEYS_ONLY"},
		rows:   []attrs{row("p", "1", "n", 7), row("p", "2", "n", 7), row("p", "3", "n", 7)},
	}
	page := func(options ...option) request {
		return query("pk = :p AND n = :n", append(options, lsi, with(attrs{":p": "p", ":n": 7}), sk, limit(1))...)
	}
	for i, want := range []string{"1", "2", "3"} {
		var from []option
		if i > 0 {
			from = append(from, startingAfter(row("p", string(rune('0'+i)), "n", 7)))
		}
		tied.steps = append(tied.steps, expect(page(from...), `1 of 1: {sk: "`+want+`"}; last {n: 7, pk: "p", sk: "`+want+`"}`))
	}
	tied.steps = append(tied.steps, expect(page(startingAfter(row("p", "3", "n", 7))), "0 of 0"))
	return append(cases, tied)
}
