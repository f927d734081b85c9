package conformance

// legacyScanCases are about ScanFilter. What its operators mean stands in
// legacy_condition.
func legacyScanCases() []Case {
	rows := []attrs{row("p", "a", "v", 1), row("p", "b", "v", 2, "w", "x"), row("q", "a", "s", strs{"x", "y"})}
	var cases []Case
	for _, c := range []struct {
		name, rule, source string
		filter             tests
		options            []option
		want               string
	}{
		{"filter", "ScanFilter is applied after reading: count and scanned count tell.", docLegacyScanFilter, tests{"v": is("GT", 1)}, nil, `1 of 3: {pk: "p", sk: "b", v: 2, w: "x"}`},
		{"filter on the key", "Unlike a QueryFilter it may be about the key.", docLegacyScanFilter, tests{"pk": is("EQ", "q"), "sk": is("BEGINS_WITH", "a")}, nil, `1 of 3: {pk: "q", s: <"x", "y">, sk: "a"}`},
		{"AND", "Filters are joined by AND.", docLegacyOperator, tests{"v": is("NOT_NULL"), "w": is("NULL")}, nil, `1 of 3: {pk: "p", sk: "a", v: 1}`},
		{"OR", "Filters are joined by OR if asked.", docLegacyOperator, tests{"v": is("EQ", 1), "s": is("CONTAINS", "y")}, []option{joinedBy("OR"), selecting("COUNT")}, "2 of 3"},
		{"IN", "IN asks whether the attribute is one of the values.", docLegacyScanFilter, tests{"v": is("IN", 2, 3, 4)}, []option{attributesToGet("v")}, "1 of 3: {v: 2}"},
		{"empty filter", "An empty ScanFilter filters nothing.", docLegacyScanFilter, tests{}, []option{selecting("COUNT")}, "3 of 3"},
		{"capacity", "A scan takes units for what it read.", docCapacity, tests{"v": is("EQ", 99)}, []option{capacity("TOTAL")}, "0 of 3; 1 units"},

		{"no value", "EQ has one value.", dynalite + "scan.js", tests{"v": is("EQ")}, nil, badParameter("Invalid number of argument(s) for the EQ ComparisonOperator")},
		{"value for NULL", "NULL has no values.", dynalite + "scan.js", tests{"v": is("NULL", "a")}, nil, badParameter("Invalid number of argument(s) for the NULL ComparisonOperator")},
		{"BETWEEN one", "BETWEEN has two values.", dynalite + "scan.js", tests{"v": is("BETWEEN", "a")}, nil, badParameter("Invalid number of argument(s) for the BETWEEN ComparisonOperator")},
		{"IN of nothing", "IN has a value.", dynalite + "scan.js", tests{"v": is("IN")}, nil, badParameter("Invalid number of argument(s) for the IN ComparisonOperator")},
		{"two types", "Values of one list have one type.", dynalite + "scan.js", tests{"v": is("IN", 1, "a")}, nil, badParameter("AttributeValues inside AttributeValueList must be of same type")},
		{"BETWEEN upside down", "The bounds come in order.", dynalite + "scan.js", tests{"v": is("BETWEEN", 2, 1)}, nil, invalid("The BETWEEN condition was provided a range where the lower bound is greater than the upper bound")},
		{"LT of a set", "The orders take strings, numbers and binaries.", dynalite + "scan.js", tests{"v": is("LT", nums{"1"})}, nil, badParameter("ComparisonOperator LT is not valid for NS AttributeValue type")},
		{"CONTAINS a set", "CONTAINS takes a string, a number or a binary.", dynalite + "scan.js", tests{"v": is("CONTAINS", strs{"a"})}, nil, badParameter("ComparisonOperator CONTAINS is not valid for SS AttributeValue type")},
		{"BEGINS_WITH a number", "BEGINS_WITH takes a string or a binary.", dynalite + "scan.js", tests{"v": is("BEGINS_WITH", 1)}, nil, badParameter("ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type")},
		{"bad number", "A value is a value.", dynalite + "scan.js", tests{"v": is("EQ", num("b"))}, nil, invalid("The parameter cannot be converted to a numeric value: b")},
		{"no operator", "A condition has an operator.", dynalite + "scan.js", tests{"v": is("", 1)}, nil, broken("Value null at 'scanFilter.v.member.comparisonOperator' failed to satisfy constraint: Member must not be null")},
		{"no such operator", "There are thirteen operators.", dynalite + "scan.js", tests{"v": is("LIKE", 1)}, nil, broken("Value 'LIKE' at 'scanFilter.v.member.comparisonOperator' failed to satisfy constraint: Member must satisfy enum value set: [IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, GE, CONTAINS]")},
	} {
		cases = append(cases, Case{
			Name: c.name, Rule: c.rule, Source: c.source, rows: rows,
			steps: []step{expect(scan(append([]option{scanFilter(c.filter)}, c.options...)...), c.want)},
		})
	}
	return append(cases, Case{
		Name: "limit", Rule: "Limit counts what is read and not what the filter leaves.", Source: docScan, rows: rows[:2],
		steps: []step{expect(scan(scanFilter(tests{"v": is("EQ", 2)}), limit(1)), `0 of 1; last {pk: "p", sk: "a"}`)},
	})
}
