package conformance

func indexKeyCases() []Case {
	const many = "pk S | gsi: h S, i N HASH, a S, b S RANGE, c N RANGE -> ALL"
	const suite = parity + "tier1/query/multiAttributeGsiKey.test.ts"
	const composite = alternator + "test_gsi_composite.py"
	item := func(pk, a, b string, c any) attrs {
		return attrs{"pk": pk, "h": "o", "i": 1, "a": a, "b": b, "c": c}
	}
	rows := []attrs{
		item("1", "T", "live", 10), item("2", "T", "live", 9), item("3", "T", "draft", 1), item("4", "F", "live", 1), item("5", "TT", "a", 1),
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
		return invalid("RANGE key attributes " + names + " must have equality conditions specified in the query because a condition is present on key attribute " + at)
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
		{"partition", "Items are sorted by one sort attribute after the other; one without all of them is not there.", suite, "h = :h AND i = :i", []option{args(nil), pk}, `5 of 5: {pk: "4"} {pk: "3"} {pk: "2"} {pk: "1"} {pk: "5"}`},
		{"backwards", "The order is turned round as a whole.", suite, "h = :h AND i = :i", []option{args(nil), pk, backwards()}, `5 of 5: {pk: "5"} {pk: "1"} {pk: "2"} {pk: "3"} {pk: "4"}`},
		{"first attribute", "A condition on the first sort attribute narrows to it.", suite, "h = :h AND i = :i AND a = :a", []option{args(attrs{":a": "T"}), pk}, `3 of 3: {pk: "3"} {pk: "2"} {pk: "1"}`},
		{"two attributes", "So do those on the first two.", suite, "h = :h AND i = :i AND a = :a AND b = :b", []option{args(attrs{":a": "T", ":b": "live"}), pk}, `2 of 2: {pk: "2"} {pk: "1"}`},
		{"range on the last", "The last one given may be a range.", suite, "h = :h AND i = :i AND a = :a AND b = :b AND c > :c", []option{args(attrs{":a": "T", ":b": "live", ":c": 9}), pk}, `1 of 1: {pk: "1"}`},
		{"range in the middle", "It need not be the last of the key.", suite, "h = :h AND i = :i AND a = :a AND b < :b", []option{args(attrs{":a": "T", ":b": "live"}), pk}, `1 of 1: {pk: "3"}`},
		{"range on the first", "It may be the first.", suite, "h = :h AND i = :i AND a >= :a", []option{args(attrs{":a": "T"}), pk}, `4 of 4: {pk: "3"} {pk: "2"} {pk: "1"} {pk: "5"}`},
		{"begins_with", "begins_with is such a range.", suite, "h = :h AND i = :i AND begins_with(a, :a)", []option{args(attrs{":a": "T"}), pk}, `4 of 4: {pk: "3"} {pk: "2"} {pk: "1"} {pk: "5"}`},
		{"between", "So is BETWEEN.", suite, "h = :h AND i = :i AND a = :a AND b = :b AND c BETWEEN :c AND :d", []option{args(attrs{":a": "T", ":b": "live", ":c": 1, ":d": 9}), pk}, `1 of 1: {pk: "2"}`},
		{"any order", "Conditions come in any order.", suite, "b = :b AND i = :i AND a = :a AND h = :h", []option{args(attrs{":a": "T", ":b": "live"}), pk}, `2 of 2: {pk: "2"} {pk: "1"}`},
		{"page", "A page ends with the table's key and every key attribute of the index.", suite, "h = :h AND i = :i", []option{args(nil), pk, limit(2)}, `2 of 2: {pk: "4"} {pk: "3"}; last {a: "T", b: "draft", c: 1, h: "o", i: 1, pk: "3"}`},
		{"next page", "The next page starts there.", suite, "h = :h AND i = :i AND a = :a", []option{args(attrs{":a": "T"}), pk, startingAfter(item("3", "T", "draft", 1))}, `2 of 2: {pk: "2"} {pk: "1"}`},
		{"gap", "Sort attributes are given from the left without a gap.", suite, "h = :h AND i = :i AND a = :a AND c = :c", []option{args(attrs{":a": "T", ":c": 1})}, gap("b", "c")},
		{"no first attribute", "The first one comes first.", suite, "h = :h AND i = :i AND b = :b", []option{args(attrs{":b": "live"})}, gap("a", "b")},
		{"several gaps", "All that are missing are named.", LocalOnly, "h = :h AND i = :i AND c = :c", []option{args(attrs{":c": 1})}, gap("a, b", "c")},
		{"range before the last", "Only the last one given is a range.", suite, "h = :h AND i = :i AND a > :a AND b = :b", []option{args(attrs{":a": "A", ":b": "live"})}, gap("a", "b")},
		{"partition attribute missing", "All partition attributes are given.", composite, "h = :h", []option{with(attrs{":h": "o"})}, partition("i")},
		{"partition attribute by a range", "They are given by equality.", composite, "h = :h AND i > :i", []option{args(nil)}, partition("i")},
		{"no partition attribute", "All that are missing are named, of these too.", LocalOnly, "a = :a", []option{with(attrs{":a": "T"})}, partition("h, i")},
		{"another attribute", "There is no condition on anything else.", LocalOnly, "h = :h AND i = :i AND pk = :p", []option{args(attrs{":p": "1"})}, invalid("Query condition missed key schema element: a")},
		{"value of another type", "Each attribute has its own type.", composite, "h = :h AND i = :i", []option{with(attrs{":h": "o", ":i": "1"})}, badParameter("Condition parameter type does not match schema type")},
		{"filter on a key attribute", "A filter is not about any of them.", composite, "h = :h AND i = :i", []option{args(attrs{":b": "live"}), filter("b = :b")}, invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: b")},
		{"consistent read", "Such an index is read eventually consistently, as any global one.", docManyKeys, "h = :h AND i = :i", []option{args(nil), set("ConsistentRead", true)}, invalid("Consistent reads are not supported on global secondary indexes")},
	} {
		cases = append(cases, Case{
			Name: q.name, Rule: q.rule, Source: q.source, tables: map[string]schema{usualTable: many}, rows: rows,
			steps: []step{expect(query(q.keys, append([]option{gsi}, q.options...)...), q.want)},
		})
	}
	return append(cases, Case{
		Name: "attribute of another type", Rule: "Each key attribute of an item has its own type, and none is empty.", Source: composite,
		tables: map[string]schema{usualTable: many},
		steps: []step{
			expect(put(item("1", "T", "live", "10")), badParameter("Type mismatch for Index Key c Expected: N Actual: S IndexName: gsi")),
			expect(put(item("1", "T", "", 1)), invalid("One or more parameter values are not valid. A value specified for a secondary index key is not supported. "+
				"The AttributeValue for a key attribute cannot contain an empty string value. IndexName: gsi, IndexKey: b")),
		},
	})
}
