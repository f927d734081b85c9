package conformance

// legacyProjectionCases are about AttributesToGet.
func legacyProjectionCases() []Case {
	k := key("a", "b")
	rows := []attrs{row("a", "b", "x", 1, "y", attrs{"in": 2}, "y.in", 3, "status", 4), row("a", "c", "z", 5)}
	partition := tests{"pk": is("EQ", "a")}
	const (
		twice   = "Duplicate value in attribute name: x"
		nothing = "Value '[]' at 'attributesToGet' failed to satisfy constraint: Member must have length greater than or equal to 1"
	)
	build := func(name, rule, source string, steps ...step) Case {
		return Case{Name: name, Rule: rule, Source: source, rows: rows, steps: steps}
	}
	return []Case{
		build("get", "AttributesToGet cuts an item down to attributes, of the key only if asked for.", docLegacyAttributes,
			expect(get(k, attributesToGet("x")), "{x: 1}"),
			expect(get(k, attributesToGet("sk", "x")), `{sk: "b", x: 1}`),
			expect(get(k, attributesToGet("absent", "y")), "{y: {in: 2}}"),
		),
		build("top-level names", "A name is the name of a top-level attribute, whatever is in it.", docLegacyAttributes,
			expect(get(k, attributesToGet("y.in", "status")), "{status: 4, y.in: 3}"),
			expect(get(k, attributesToGet("y[0]", "#x")), "{}"),
		),
		build("none of them", "Of an item that has none of the attributes an empty one is returned, of no item none.", alternator+"test_item.py",
			expect(get(k, attributesToGet("absent")), "{}"),
			expect(get(key("a", "z"), attributesToGet("x")), "nothing"),
		),
		build("batch", "In a batch each table has its own.", api("BatchGetItem"),
			expect(batchGet(actions{get(k, attributesToGet("x")), get(key("a", "c"))}), "rows: {x: 1} {}"),
		),
		build("query", "A query takes it.", api("Query"),
			expect(legacyQuery(partition, attributesToGet("x", "sk")), `2 of 2: {sk: "b", x: 1} {sk: "c"}`),
			expect(legacyQuery(partition, attributesToGet("x"), selecting("SPECIFIC_ATTRIBUTES")), "2 of 2: {x: 1} {}"),
		),
		build("scan", "A scan takes it.", api("Scan"),
			expect(scan(attributesToGet("sk", "z")), `2 of 2: {sk: "b"} {sk: "c", z: 5}`),
		),
		build("twice", "An attribute is asked for once.", dynalite+"getItem.js",
			expect(get(k, attributesToGet("x", "y", "x")), badParameter(twice)),
			expect(batchGet(actions{get(k, attributesToGet("x", "x"))}), badParameter(twice)),
			expect(legacyQuery(partition, attributesToGet("x", "x")), badParameter(twice)),
			expect(scan(attributesToGet("x", "x")), badParameter(twice)),
		),
		build("empty list", "One attribute is asked for at least.", alternator+"test_item.py",
			expect(get(k, attributesToGet()), broken(nothing)),
			expect(legacyQuery(partition, attributesToGet()), broken(nothing)),
			expect(scan(attributesToGet()), broken(nothing)),
		),
		build("select", "Select goes with it as with a projection.", dynalite+"query.js",
			expect(legacyQuery(partition, attributesToGet("x"), selecting("COUNT")), invalid("Cannot specify the AttributesToGet when choosing to get only the Count")),
			expect(legacyQuery(partition, attributesToGet("x"), selecting("ALL_ATTRIBUTES")), invalid("Cannot specify the AttributesToGet when choosing to get ALL_ATTRIBUTES")),
			expect(scan(attributesToGet("x"), selecting("COUNT")), invalid("Cannot specify the AttributesToGet when choosing to get only the Count")),
			expect(scan(attributesToGet("x"), selecting("ALL_ATTRIBUTES")), invalid("Cannot specify the AttributesToGet when choosing to get ALL_ATTRIBUTES")),
		),
	}
}
