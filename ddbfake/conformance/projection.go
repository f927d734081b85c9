package conformance

func projectionCases() []Case {
	item := row("a", "b", "x", 1, "doc", attrs{"k": attrs{"j": 1, "i": 2}, "l": list{10, 11, attrs{"y": 1, "z": 2}}})
	type view struct {
		name, rule, source, projection string
		want                           string
		args                           []option
	}
	var cases []Case
	for _, v := range []view{
		{"attributes", "A projection returns the attributes that it names, keys only if named.", docProjections, "x, pk", `{pk: "a", x: 1}`, nil},
		{"missing attributes", "What is missing is left out.", docProjections, "x, absent", "{x: 1}", nil},
		{"nothing left", "An item without any of the attributes is returned empty.", alternator + "test_projection_expression.py", "absent", "{}", nil},
		{"nested", "A path keeps what it leads through.", docProjections, "doc.k.j", "{doc: {k: {j: 1}}}", nil},
		{"siblings", "Paths into one map come back in one map.", docProjections, "doc.k.j, doc.k.i", "{doc: {k: {i: 2, j: 1}}}", nil},
		{"elements", "Elements of a list come back close together, in the order of the list.", alternator + "test_projection_expression.py", "doc.l[1], doc.l[0]", "{doc: {l: [10, 11]}}", nil},
		{"gaps", "Elements that are left out leave no gap.", alternator + "test_projection_expression.py", "doc.l[2].z", "{doc: {l: [{z: 2}]}}", nil},
		{"index behind the end", "An index behind the end leads nowhere.", alternator + "test_projection_expression.py", "x, doc.l[7]", "{x: 1}", nil},
		{
			"overlap", "Paths must not overlap.", alternator + "test_projection_expression.py", "doc, doc.k",
			invalid("Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [doc], path two: [doc, k]"), nil,
		},
		{
			"conflict", "Paths must not take one value for a map and for a list.", alternator + "test_projection_expression.py", "doc.k, doc[0]",
			invalid("Invalid ProjectionExpression: Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [doc, k], path two: [doc, [0]]"), nil,
		},
		{"names", "A path is made of names and placeholders.", docNames, "doc.#k.j", "{doc: {k: {j: 1}}}", []option{named("#k", "k")}},
		{"undefined name", "A placeholder is defined.", docNames, "doc.#k.j", invalid("Invalid ProjectionExpression: An expression attribute name used in the document path is not defined; attribute name: #k"), nil},
		{"empty", "A projection is not empty.", dynalite + "getItem.js", "", invalid("Invalid ProjectionExpression: The expression can not be empty;"), nil},
		{"syntax", "A projection is a list of paths.", dynalite + "getItem.js", "x,", invalid(`Invalid ProjectionExpression: Syntax error; token: "<EOF>", near: ","`), nil},
		{"function", "A projection has no functions.", alternator + "test_projection_expression.py", "size(x)", invalid(`Invalid ProjectionExpression: Syntax error; token: "(", near: "size(x"`), nil},
	} {
		cases = append(cases, Case{
			Name: v.name, Rule: v.rule, Source: v.source, rows: []attrs{item},
			steps: []step{expect(get(key("a", "b"), append([]option{only(v.projection)}, v.args...)...), v.want)},
		})
	}
	return append(cases, Case{
		Name: "of a missing item", Rule: "A projection of a missing item is nothing, not an empty item.", Source: api("GetItem"),
		steps: []step{expect(get(key("a", "b"), only("x")), "nothing")},
	})
}
