package conformance

// keyPathCases are about paths that lead into key attributes, which are
// scalars.
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
			"projection of an element of a key", "Neither does it by an index.", getItem,
			get(key("a", "b"), only("x, sk[0]")), invalid(words + "Key: sk"),
		},
		{
			"projection of an index's key", "A key of an index is a key.", getItem,
			get(key("a", "b"), only("g.x")), invalid(words + "IndexKey: g"),
		},
		{
			"projection of a local index's key", "So is one of a local index.", getItem,
			get(key("a", "b"), only("n[0]")), invalid(words + "IndexKey: n"),
		},
		{
			"projection in a batch", "That holds in a batch.", getItem,
			batchGet(actions{get(key("a", "b"), only("g.x"))}), invalid(words + "IndexKey: g"),
		},
		{
			"filter of a scan", "A filter does not lead into the key.", dynalite + "scan.js",
			scan(filter("attribute_exists(pk.x)")), invalid(words + "Key: pk"),
		},
		{
			"projection of a scan", "Nor does the projection of a scan.", dynalite + "scan.js",
			scan(only("g.x")), invalid(words + "IndexKey: g"),
		},
		{
			"filter of a query", "The same holds for a query.", dynalite + "query.js",
			query("pk = :p", filter("attribute_exists(g.x)"), with(attrs{":p": "a"})), invalid(words + "IndexKey: g"),
		},
		{
			"update of an index's key", "An update does not lead into the key of an index.", gsiUpdates,
			update(key("a", "b"), "SET g.x = :v", v), invalid(words + "IndexKey: g"),
		},
		{
			"operand of an update", "Nor does what it assigns.", LocalOnly,
			update(key("a", "b"), "SET x = g.x"), invalid(words + "IndexKey: g"),
		},
		{
			"condition", "Nor does a condition.", LocalOnly,
			put(row("a", "b"), where("attribute_not_exists(n.x)")), invalid(words + "IndexKey: n"),
		},
		{
			"by an alias", "A placeholder makes no difference.", getItem,
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
